//! Objects of the API server as they are kept: as text, which takes a tenth of the memory of their values.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::DynamicResourceScope;
use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::reading::Fields;

/// The field of an object's metadata that is its version.
const VERSION: &str = "resourceVersion";

/// Which objects are kept, and how much of them.
pub(super) trait Keeping: Sized + 'static {
    /// What the kind is called.
    type Kind: Send + Sync + 'static;

    /// Group, version, kind and plural.
    fn names(kind: &Self::Kind) -> [Cow<'_, str>; 4];

    /// Those that are read.
    fn fields() -> Fields;

    /// Drops what cannot be told by its path.
    fn reduce(_object: &mut Value) {}

    /// The Cluster whose it is.
    fn cluster(object: &Value) -> Option<&str>;
}

/// An object.
pub(super) struct Kept<K> {
    /// Name, namespace, uid and version alone.
    metadata: ObjectMeta,
    /// All but the version, which changes with what is not kept, too.
    text: Box<str>,
    cluster: Option<Box<str>>,
    /// The value, while somebody has it.
    value: Mutex<Weak<Value>>,
    keeping: PhantomData<fn() -> K>,
}

impl<K: Keeping> Kept<K> {
    /// Keeps an object of which only the fields are there that are read.
    pub(super) fn of(mut object: Value) -> Self {
        let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
        let metadata = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text(VERSION),
            ..ObjectMeta::default()
        };
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove(VERSION);
        }
        K::reduce(&mut object);
        let cluster = K::cluster(&object).map(Into::into);
        Kept { metadata, text: object.to_string().into(), cluster, value: Mutex::default(), keeping: PhantomData }
    }

    /// The object, of what is kept.
    pub(super) fn value(&self) -> Value {
        let mut object: Value = serde_json::from_str(&self.text).unwrap_or_default();
        if let Some(version) = &self.metadata.resource_version {
            object["metadata"][VERSION] = version.as_str().into();
        }
        object
    }

    /// The same, for many at once: it is read from the text when nobody has it.
    pub(super) fn shared_value(&self) -> Arc<Value> {
        let mut shared = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let value = Arc::new(self.value());
            *shared = Arc::downgrade(&value);
            value
        })
    }

    /// The name of the Cluster whose it is.
    pub(super) fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    /// How many bytes of text it has.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// A number that changes with what is kept of it, and with its version does not.
    pub(super) fn content(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        hasher.finish()
    }
}

impl<K> Clone for Kept<K> {
    fn clone(&self) -> Self {
        Kept {
            metadata: self.metadata.clone(),
            text: self.text.clone(),
            cluster: self.cluster.clone(),
            value: Mutex::default(),
            keeping: PhantomData,
        }
    }
}

/// The text may hold a token.
impl<K> fmt::Debug for Kept<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Kept({:?}/{:?})", self.metadata.namespace, self.metadata.name)
    }
}

impl<'de, K: Keeping> Deserialize<'de> for Kept<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        K::fields().deserialize(deserializer).map(Kept::of)
    }
}

impl<K: Keeping> Resource for Kept<K> {
    type DynamicType = K::Kind;
    type Scope = DynamicResourceScope;

    fn kind(kind: &K::Kind) -> Cow<'_, str> {
        let [_, _, kind, _] = K::names(kind);
        kind
    }

    fn group(kind: &K::Kind) -> Cow<'_, str> {
        let [group, ..] = K::names(kind);
        group
    }

    fn version(kind: &K::Kind) -> Cow<'_, str> {
        let [_, version, ..] = K::names(kind);
        version
    }

    fn plural(kind: &K::Kind) -> Cow<'_, str> {
        let [.., plural] = K::names(kind);
        plural
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::controller::caches::CoreObject;

    #[test]
    fn the_version_is_no_part_of_the_content() {
        let kept = |version: &str, paused: bool| -> CoreObject {
            let metadata = json!({"name": "c", "resourceVersion": version});
            serde_json::from_value(json!({"kind": "Cluster", "metadata": metadata, "spec": {"paused": paused}})).unwrap()
        };
        assert_eq!(kept("1", true).content(), kept("2", true).content());
        assert_ne!(kept("1", true).content(), kept("1", false).content());
        assert_eq!(kept("1", true).value()["metadata"], json!({"name": "c", "resourceVersion": "1"}), "writes name it");
    }

    #[test]
    fn who_comes_while_another_has_the_value_gets_the_same() {
        let cluster = json!({"apiVersion": "x/y", "kind": "Cluster", "metadata": {"name": "c", "namespace": "n"}});
        let kept: CoreObject = serde_json::from_value(cluster.clone()).unwrap();
        let first = kept.shared_value();
        assert_eq!(*first, cluster);
        assert!(Arc::ptr_eq(&first, &kept.shared_value()));
        let gone = Arc::downgrade(&first);
        drop(first);
        assert!(gone.upgrade().is_none(), "it is held for nobody");
        assert_eq!(*kept.shared_value(), cluster);
    }
}
