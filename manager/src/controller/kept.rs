//! Objects of the API server as they are kept: as text, which takes a tenth of the memory of their
//! values.

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

use super::workload::Name;
use crate::reading::Fields;

/// The field of an object's metadata that is its version.
const VERSION: &str = "resourceVersion";

/// Which objects are kept, and how much of them.
pub(super) trait Keeping: Sized + 'static {
    type Kind: Send + Sync + 'static;

    /// The field of the spec that many of them have the same of.
    const COMMON: Option<&str>;

    /// Group, version, kind and plural.
    fn names(kind: &Self::Kind) -> [Cow<'_, str>; 4];

    fn fields() -> Fields;

    /// Drops what cannot be told by its path.
    fn reduce(_object: &mut Value) {}

    fn cluster(object: &Value) -> Option<&str>;
}

pub(super) struct Kept<K> {
    name: Name,
    /// Empty where it has none, as the version.
    uid: Box<str>,
    version: Box<str>,
    /// All but the field that many have in common, and the version, which changes with what is not
    /// kept, too.
    text: Box<str>,
    common: Option<Arc<str>>,
    cluster: Option<Arc<str>>,
    /// The value, while somebody has it.
    value: Mutex<Weak<Value>>,
    keeping: PhantomData<fn() -> K>,
}

impl<K: Keeping> Kept<K> {
    /// Keeps an object of which only the fields are there that are read.
    pub(super) fn of(mut object: Value) -> Self {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        let name = (text("namespace").into(), text("name").into());
        let (uid, version) = (text("uid").into(), text(VERSION).into());
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove(VERSION);
        }
        K::reduce(&mut object);
        let cluster = K::cluster(&object).map(Into::into);
        let spec = object.get_mut("spec").and_then(Value::as_object_mut);
        let common = spec
            .zip(K::COMMON)
            .and_then(|(spec, field)| spec.remove(field))
            .map(|common| common.to_string().into());
        Kept {
            name,
            uid,
            version,
            text: object.to_string().into(),
            common,
            cluster,
            value: Mutex::default(),
            keeping: PhantomData,
        }
    }

    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    pub(super) fn namespace(&self) -> &str {
        &self.name.0
    }

    pub(super) fn uid(&self) -> Option<&str> {
        (!self.uid.is_empty()).then_some(&*self.uid)
    }

    /// `metadata.resourceVersion`; empty where it has none.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn value(&self) -> Value {
        let mut object: Value = serde_json::from_str(&self.text).unwrap_or_default();
        if let Some((field, common)) = K::COMMON.zip(self.common.as_ref()) {
            object["spec"][field] = serde_json::from_str(common).unwrap_or_default();
        }
        if !self.version.is_empty() {
            object["metadata"][VERSION] = (*self.version).into();
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

    pub(super) fn cluster(&self) -> Option<&Arc<str>> {
        self.cluster.as_ref()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len() + self.common.as_ref().map_or(0, |common| common.len())
    }

    /// A number that changes with what is kept of it, and with its version does not.
    pub(super) fn content(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.text, &self.common).hash(&mut hasher);
        hasher.finish()
    }

    /// Whether as much is kept of another version of it.
    pub(super) fn has_content_of(&self, other: &Self) -> bool {
        self.text == other.text && self.common == other.common
    }

    /// The texts that others have, too: namespace, Cluster, and the field that many have in common.
    pub(super) fn shared(&self) -> impl Iterator<Item = &Arc<str>> {
        [&self.name.0]
            .into_iter()
            .chain(&self.cluster)
            .chain(&self.common)
    }

    /// The same, to be replaced by those that others have.
    pub(super) fn shared_mut(&mut self) -> impl Iterator<Item = &mut Arc<str>> {
        [&mut self.name.0]
            .into_iter()
            .chain(&mut self.cluster)
            .chain(&mut self.common)
    }

    /// Replaces the name by an equal one that is already allocated.
    pub(super) fn rename(&mut self, name: Name) {
        self.name = name;
    }
}

/// Nobody has the value of another one.
impl<K> Clone for Kept<K> {
    fn clone(&self) -> Self {
        let Kept {
            name,
            uid,
            version,
            text,
            common,
            cluster,
            value: _,
            keeping,
        } = self;
        Kept {
            name: name.clone(),
            uid: uid.clone(),
            version: version.clone(),
            text: text.clone(),
            common: common.clone(),
            cluster: cluster.clone(),
            value: Mutex::default(),
            keeping: *keeping,
        }
    }
}

/// The text may hold a token.
impl<K> fmt::Debug for Kept<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (namespace, name) = &self.name;
        write!(formatter, "Kept({namespace}/{name})")
    }
}

impl<'de, K: Keeping> Deserialize<'de> for Kept<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        K::fields().deserialize(deserializer).map(Kept::of)
    }
}

/// An object as a watch of kube's brings it.
pub(super) struct Read<K> {
    /// The version alone, by which the watch goes on.
    metadata: ObjectMeta,
    pub(super) kept: Arc<Kept<K>>,
}

impl<K> Clone for Read<K> {
    fn clone(&self) -> Self {
        Read {
            metadata: self.metadata.clone(),
            kept: self.kept.clone(),
        }
    }
}

impl<K> fmt::Debug for Read<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kept.fmt(formatter)
    }
}

impl<'de, K: Keeping> Deserialize<'de> for Read<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kept = Kept::deserialize(deserializer)?;
        let resource_version = (!kept.version.is_empty()).then(|| String::from(&*kept.version));
        Ok(Read {
            metadata: ObjectMeta {
                resource_version,
                ..ObjectMeta::default()
            },
            kept: Arc::new(kept),
        })
    }
}

impl<K: Keeping> Resource for Read<K> {
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
    use crate::controller::caches::{Config, CoreObject};

    #[test]
    fn the_version_is_no_part_of_the_content() {
        let kept = |version: &str, paused: bool| -> CoreObject {
            let metadata = json!({"name": "c", "resourceVersion": version});
            serde_json::from_value(
                json!({"kind": "Cluster", "metadata": metadata, "spec": {"paused": paused}}),
            )
            .unwrap()
        };
        assert_eq!(kept("1", true).content(), kept("2", true).content());
        assert_ne!(kept("1", true).content(), kept("1", false).content());
        assert_eq!(
            kept("1", true).value()["metadata"],
            json!({"name": "c", "resourceVersion": "1"}),
            "writes name it"
        );
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
    /// The files of a config are kept apart, and are part of it nevertheless.
    #[test]
    fn what_many_have_in_common_is_part_of_each() {
        let value = |content: &str| {
            let metadata = json!({"name": "w", "namespace": "n", "resourceVersion": "1"});
            json!({"kind": "WindlassConfig", "metadata": metadata, "spec": {"files": [{"content": content}], "ntp": {"enabled": true}}})
        };
        let kept = |value: &Value| -> Config { serde_json::from_value(value.clone()).unwrap() };
        let [one, other] = ["a", "b"].map(|content| kept(&value(content)));
        assert_eq!(one.value(), value("a"));
        assert!(one.has_content_of(&kept(&value("a"))) && !one.has_content_of(&other));
        assert_ne!(one.content(), other.content());
        assert_eq!(kept(&value(&"a".repeat(1001))).len() - one.len(), 1000);
        for spec in [
            json!({"ntp": {"enabled": true}}),
            json!({}),
            json!(null),
            json!({"files": null}),
            json!({"files": []}),
        ] {
            let mut without = value("a");
            without["spec"] = spec;
            assert_eq!(kept(&without).value(), without);
        }
    }
}
