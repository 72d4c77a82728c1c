//! The configs among the objects, and the machines that each is for.

use super::role::Role;
use crate::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use crate::contract::labels;
use crate::diag::FieldPath;
use crate::objects::{Object, Pool};

/// The API group of KubeadmControlPlane.
const CONTROL_PLANE_GROUP: &str = "controlplane.cluster.x-k8s.io";

/// A kind that holds the configuration of machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigKind {
    /// KubeadmConfig.
    Kubeadm(Kind),
    /// WindlassConfig.
    Windlass(Kind),
    /// KubeadmControlPlane or, with `template`, KubeadmControlPlaneTemplate.
    ControlPlane {
        /// Whether it is the template.
        template: bool,
    },
}

impl ConfigKind {
    /// The kind of an object, if it is one of these.
    pub fn of(object: &Object) -> Option<Self> {
        let (group, kind) = (object.group(), object.kind());
        match group {
            KUBEADM_GROUP => Kind::ALL.into_iter().find(|known| known.kubeadm() == kind).map(ConfigKind::Kubeadm),
            GROUP => Kind::parse(kind).map(ConfigKind::Windlass),
            CONTROL_PLANE_GROUP if kind == "KubeadmControlPlane" => Some(ConfigKind::ControlPlane { template: false }),
            CONTROL_PLANE_GROUP if kind == "KubeadmControlPlaneTemplate" => Some(ConfigKind::ControlPlane { template: true }),
            _ => None,
        }
    }

    /// Where the spec of the config is.
    pub fn spec_path(self) -> &'static [&'static str] {
        match self {
            ConfigKind::Kubeadm(Kind::Config) | ConfigKind::Windlass(Kind::Config) => &["spec"],
            ConfigKind::Kubeadm(Kind::Template) | ConfigKind::Windlass(Kind::Template) => &["spec", "template", "spec"],
            ConfigKind::ControlPlane { template: false } => &["spec", "kubeadmConfigSpec"],
            ConfigKind::ControlPlane { template: true } => &["spec", "template", "spec", "kubeadmConfigSpec"],
        }
    }
}

/// A machine that can be rendered: a config, and a role where the config is for several.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The object.
    pub config: &'a Object,
    /// Its kind.
    pub kind: ConfigKind,
    /// The role; `None` when the surroundings say it.
    pub role: Option<Role>,
}

/// All machines of the pool, in the order of the objects.
pub fn targets(pool: &Pool) -> Vec<Target<'_>> {
    let of_object = |config| {
        let kind = ConfigKind::of(config)?;
        let roles: &[Option<Role>] = match kind {
            ConfigKind::ControlPlane { .. } => &[Some(Role::Init), Some(Role::ControlPlaneJoin)],
            _ => &[None],
        };
        Some(roles.iter().map(move |role| Target { config, kind, role: *role }))
    };
    pool.objects().iter().filter_map(of_object).flatten().collect()
}

impl Target<'_> {
    /// Where the spec of the config is.
    pub fn spec_path(&self) -> FieldPath {
        self.kind.spec_path().iter().fold(FieldPath::root(), |path, step| path.field(*step))
    }

    /// The spec of the config as it is written; `None` when there is none.
    pub fn spec(&self) -> Option<&serde_json::Value> {
        self.kind.spec_path().iter().try_fold(self.config.value(), |value, step| value.get(step))
    }

    /// The version of the API; `None` when it is not known.
    pub fn version(&self) -> Option<Version> {
        Version::parse(self.config.version())
    }

    /// Whether machines are made of it by copying.
    pub fn is_template(&self) -> bool {
        matches!(
            self.kind,
            ConfigKind::Kubeadm(Kind::Template) | ConfigKind::Windlass(Kind::Template) | ConfigKind::ControlPlane { template: true }
        )
    }

    /// Whether it is the control plane itself.
    pub fn is_control_plane_object(&self) -> bool {
        matches!(self.kind, ConfigKind::ControlPlane { .. })
    }

    /// The role that the config was most likely written for.
    pub fn likely_role(&self) -> Role {
        let has = |field: &str| self.spec().is_some_and(|spec| spec.get(field).is_some());
        let joins_control_plane = self.spec().is_some_and(|spec| spec["joinConfiguration"].get("controlPlane").is_some());
        let is_labelled = self.config.value()["metadata"]["labels"].get(labels::CONTROL_PLANE).is_some();
        if is_labelled || joins_control_plane || has("clusterConfiguration") || has("initConfiguration") {
            self.likely_control_plane_role()
        } else {
            Role::WorkerJoin
        }
    }

    /// The role that the config of a control-plane machine was most likely written for.
    pub fn likely_control_plane_role(&self) -> Role {
        let has = |field: &str| self.spec().is_some_and(|spec| spec.get(field).is_some());
        if has("joinConfiguration") && !has("initConfiguration") && !has("clusterConfiguration") {
            Role::ControlPlaneJoin
        } else {
            Role::Init
        }
    }
}
