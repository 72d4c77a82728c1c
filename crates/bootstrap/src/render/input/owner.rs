//! What is above a config: the Machine or MachinePool that it is for, or the object that will
//! make such.

use serde_json::Value;

use super::cluster::Reference;
use super::request::FeatureGates;
use windlass_capi::contract::{CORE_GROUP, labels};
use windlass_objects::fields::field;
use windlass_objects::{Object, Pool, Spot};
use windlass_source::diag::FieldPath;

/// The kinds that a config of a machine can be for.
pub(super) const OWNER_KINDS: [&str; 2] = ["Machine", "MachinePool"];

/// The kinds that make machines of a template.
pub(super) const SET_KINDS: [&str; 2] = ["MachineDeployment", "MachineSet"];

/// Whether a config can be for that kind; MachinePools have a feature gate.
fn is_owner_kind(kind: &str, gates: FeatureGates) -> bool {
    OWNER_KINDS.contains(&kind) && (gates.machine_pool || kind != "MachinePool")
}

/// The object that says what machine it is.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// Machine, MachinePool, MachineDeployment, MachineSet or the control plane itself.
    pub object: &'a Object,
}

impl<'a> Owner<'a> {
    /// The first owner reference of a config to a Machine or MachinePool; the version in it does
    /// not matter.
    pub fn reference(config: &Object, gates: FeatureGates) -> Option<Reference> {
        let references = config
            .items(&["metadata", "ownerReferences"])
            .iter()
            .filter_map(Reference::read);
        references.into_iter().find(|reference| {
            reference.group == CORE_GROUP && is_owner_kind(&reference.kind, gates)
        })
    }

    /// The Machine or MachinePool of a config's owner reference: kind and name, and the object when
    /// it is there.
    pub(super) fn of_reference(
        pool: &'a Pool,
        config: &'a Object,
        gates: FeatureGates,
    ) -> Option<(Reference, Option<Self>)> {
        let reference = Owner::reference(config, gates)?;
        let owner = pool.find(
            CORE_GROUP,
            &reference.kind,
            config.namespace_or_default(),
            &reference.name,
        );
        Some((reference, owner.map(|object| Owner { object })))
    }

    /// The object whose `configRef` names the config or template.
    pub(super) fn by_config_ref(
        pool: &'a Pool,
        config: &Object,
        gates: FeatureGates,
    ) -> Option<Self> {
        let is_one = |object: &&Object| {
            object.group() == CORE_GROUP
                && (is_owner_kind(object.kind(), gates) || SET_KINDS.contains(&object.kind()))
        };
        pool.referrers(config)
            .find(is_one)
            .map(|object| Owner { object })
    }

    /// The MachineDeployments and MachineSets that make machines of a template; of MachineSets
    /// those that no MachineDeployment owns.
    pub(super) fn sets(pool: &'a Pool, template: &Object) -> Vec<&'a Object> {
        let is_owned = |object: &Object| {
            let owners = object.items(&["metadata", "ownerReferences"]);
            owners
                .iter()
                .filter_map(Reference::read)
                .any(|owner| owner.kind == "MachineDeployment")
        };
        let is_one = |object: &&Object| {
            object.group() == CORE_GROUP && SET_KINDS.contains(&object.kind()) && !is_owned(object)
        };
        pool.referrers(template).filter(is_one).collect()
    }

    /// Whether it is a MachinePool, whose machines all boot with one config.
    pub fn is_machine_pool(&self) -> bool {
        self.object.kind() == "MachinePool"
    }

    /// Whether it is a Machine of the control plane.
    pub fn is_control_plane_machine(&self) -> bool {
        self.object.kind() == "Machine"
            && self.object.value()["metadata"]["labels"]
                .get(labels::CONTROL_PLANE)
                .is_some()
    }

    /// The Kubernetes version, with the `v` that the webhooks of these kinds add; `""` when
    /// there is none.
    pub fn kubernetes_version(&self) -> String {
        with_v(self.object.text(self.version_path()))
    }

    pub(super) fn version_spot(&self) -> Spot<'a> {
        Spot::new(
            self.object,
            FieldPath::of_fields(&self.version_path().join(".")),
        )
    }

    fn version_path(&self) -> &'static [&'static str] {
        match self.object.kind() {
            "Machine" | "KubeadmControlPlane" => &["spec", "version"],
            _ => &["spec", "template", "spec", "version"],
        }
    }

    /// The name of the owner's Cluster; `""` if it is not set.
    pub(super) fn cluster_name(&self) -> &'a str {
        match self.object.text(&["spec", "clusterName"]) {
            "" => self
                .object
                .text(&["metadata", "labels", labels::CLUSTER_NAME]),
            name => name,
        }
    }

    /// The data Secret that it was given already: by this provider before a move, or by another one.
    pub fn data_secret_name(&self) -> &'a str {
        match self.is_machine_pool() {
            true => self
                .object
                .text(&["spec", "template", "spec", "bootstrap", "dataSecretName"]),
            false => self.object.text(&["spec", "bootstrap", "dataSecretName"]),
        }
    }

    /// The reference to the infrastructure that runs it.
    pub fn infrastructure(&self) -> Option<&'a Value> {
        match self.is_machine_pool() {
            true => self
                .object
                .field(&["spec", "template", "spec", "infrastructureRef"]),
            false => self.object.field(&["spec", "infrastructureRef"]),
        }
    }

    /// Whether every machine of it is a node.
    pub fn has_joined(&self) -> bool {
        if !self.is_machine_pool() {
            return self
                .object
                .field(&["status", "nodeRef"])
                .and_then(Value::as_object)
                .is_some_and(|node| !node.is_empty());
        }
        let replicas = field(self.object.value(), &["spec", "replicas"])
            .and_then(Value::as_u64)
            .unwrap_or(1);
        u64::try_from(self.object.items(&["status", "nodeRefs"]).len())
            .is_ok_and(|joined| joined == replicas)
    }
}

pub(super) fn with_v(version: &str) -> String {
    if version.is_empty() || version.starts_with('v') {
        version.to_owned()
    } else {
        format!("v{version}")
    }
}
