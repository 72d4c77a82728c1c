//! A config with what is above it: its Machine or MachinePool, as far as the contract lets a
//! bootstrap provider read it (checklist BC-73), and the Cluster.

use serde_json::{Value, json};

use super::pass::{Pass, Walk};
use super::world::Key;
use windlass_bootstrap::render::FeatureGates;
use windlass_bootstrap::render::input::owner::Owner;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::WindlassConfigSpec;
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::Object;

/// A config with what is above it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) config: &'a Object,
    pub(super) owner: Owner<'a>,
    pub(super) cluster: &'a Object,
}

impl Subject<'_> {
    pub(super) fn owner_key(&self) -> Key {
        let owner = self.owner.object;
        Key::of(CORE_GROUP, owner.kind(), owner.namespace(), owner.name())
    }

    pub(super) fn cluster_key(&self) -> Key {
        Key::cluster(self.cluster.namespace(), self.cluster.name())
    }
}

impl<'a> Pass<'a> {
    /// Config, owner and Cluster; `None` while one of them is not there, or is going.
    pub(super) fn subject(&self) -> Walk<Option<Subject<'a>>> {
        let config = self.world.config();
        let failure = ["failureReason", "failureMessage"]
            .map(|field| config.text(&["status", "deprecated", "v1beta1", field]));
        if is_going(config) || failure.iter().any(|text| !text.is_empty()) {
            return Ok(None);
        }
        let gates = FeatureGates {
            machine_pool: self.settings.machine_pools,
            ..FeatureGates::default()
        };
        let Some(reference) = Owner::reference(config, gates) else {
            return Ok(None);
        };
        let key = Key::of(
            CORE_GROUP,
            &reference.kind,
            config.namespace(),
            &reference.name,
        );
        let Some(object) = self.look(&key)? else {
            return Ok(None);
        };
        if !belongs_to(config, object) {
            // A cache that lags behind has one of the same name that is gone, and whose data is
            // none of this config.
            self.confirm(key)?;
        }
        let owner = Owner { object };
        // The contract knows no other place for it.
        let cluster_name = object.text(&["spec", "clusterName"]);
        if cluster_name.is_empty() {
            return Ok(None);
        }
        let cluster = self.look(&Key::cluster(config.namespace(), cluster_name))?;
        let subject = cluster.map(|cluster| Subject {
            config,
            owner,
            cluster,
        });
        Ok(subject.filter(|subject| !is_going(subject.owner.object) && !is_going(subject.cluster)))
    }
}

/// Whether a config belongs to this very object, and not to another one of its name.
fn belongs_to(config: &Object, object: &Object) -> bool {
    let uid = object.text(&["metadata", "uid"]);
    config
        .items(&["metadata", "ownerReferences"])
        .iter()
        .any(|reference| reference["uid"] == uid)
}

fn is_going(object: &Object) -> bool {
    object.field(&["metadata", "deletionTimestamp"]).is_some()
}

/// The reference to a Cluster by which what is made for it goes with it.
pub(super) fn cluster_reference(cluster: &Object) -> Value {
    json!({
        "apiVersion": cluster.api_version(), "kind": "Cluster", "name": cluster.name(), "uid": cluster.text(&["metadata", "uid"]),
    })
}

/// Whether the status says that the data is there.
pub(super) fn is_created(config: &Object) -> bool {
    let created = config
        .field(&["status", "initialization", "dataSecretCreated"])
        .and_then(Value::as_bool);
    created == Some(true) && !config.text(&["status", "dataSecretName"]).is_empty()
}

pub(super) fn token_of(spec: Option<&WindlassConfigSpec>) -> Option<Sensitive<String>> {
    let discovery = spec?.join_configuration.as_ref()?.discovery.as_ref()?;
    discovery
        .bootstrap_token
        .as_ref()?
        .token
        .clone()
        .filter(|token| !token.expose().is_empty())
}

/// Whether machines find their cluster by a file, and so need no token.
pub(super) fn has_file_discovery(spec: Option<&WindlassConfigSpec>) -> bool {
    let discovery = spec.and_then(|spec| spec.join_configuration.as_ref()?.discovery.as_ref());
    discovery.is_some_and(|discovery| discovery.file.is_some())
}
