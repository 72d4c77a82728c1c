//! The configs among the objects, and the machines that each is for.

use super::owner::Owner;
use super::role::Role;
use super::unresolved::CONTROL_PLANE_GROUP;
use windlass_capi::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use windlass_capi::contract::labels;
use windlass_objects::{Object, Pool};
use windlass_source::diag::FieldPath;

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
            KUBEADM_GROUP => Kind::ALL
                .into_iter()
                .find(|known| known.kubeadm() == kind)
                .map(ConfigKind::Kubeadm),
            GROUP => Kind::parse(kind).map(ConfigKind::Windlass),
            CONTROL_PLANE_GROUP if kind == "KubeadmControlPlane" => {
                Some(ConfigKind::ControlPlane { template: false })
            }
            CONTROL_PLANE_GROUP if kind == "KubeadmControlPlaneTemplate" => {
                Some(ConfigKind::ControlPlane { template: true })
            }
            _ => None,
        }
    }

    /// The fields from the root of the object to the spec of the config.
    pub fn spec_path(self) -> &'static [&'static str] {
        match self {
            ConfigKind::Kubeadm(Kind::Config) | ConfigKind::Windlass(Kind::Config) => &["spec"],
            ConfigKind::Kubeadm(Kind::Template) | ConfigKind::Windlass(Kind::Template) => {
                &["spec", "template", "spec"]
            }
            ConfigKind::ControlPlane { template: false } => &["spec", "kubeadmConfigSpec"],
            ConfigKind::ControlPlane { template: true } => {
                &["spec", "template", "spec", "kubeadmConfigSpec"]
            }
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
    /// The role; `None` when the render context has it.
    pub role: Option<Role>,
    /// The one of several MachineDeployments or MachineSets of a template that it is for; `None`
    /// where there is but one.
    pub set: Option<&'a Object>,
}

/// All machines of the pool, in the order of the objects.
pub fn targets(pool: &Pool) -> Vec<Target<'_>> {
    pool.objects()
        .iter()
        .flat_map(|object| targets_of(pool, object))
        .collect()
}

/// The machines of an object of the pool; none, when it is not a config.
pub fn targets_of<'a>(pool: &'a Pool, config: &'a Object) -> Vec<Target<'a>> {
    let Some(kind) = ConfigKind::of(config) else {
        return Vec::new();
    };
    let target = Target {
        config,
        kind,
        role: None,
        set: None,
    };
    if let ConfigKind::ControlPlane { .. } = kind {
        return [Role::Init, Role::ControlPlaneJoin]
            .map(|role| Target {
                role: Some(role),
                ..target
            })
            .to_vec();
    }
    let sets = if target.is_template() {
        Owner::sets(pool, config)
    } else {
        Vec::new()
    };
    if sets.len() < 2 {
        return vec![target];
    }
    sets.into_iter()
        .map(|set| Target {
            set: Some(set),
            ..target
        })
        .collect()
}

impl<'a> Target<'a> {
    /// The path from the root of the object to the spec of the config.
    pub fn spec_path(&self) -> FieldPath {
        self.kind
            .spec_path()
            .iter()
            .fold(FieldPath::root(), |path, step| path.field(*step))
    }

    /// The spec of the config as it is written; `None` when there is none.
    pub fn spec(&self) -> Option<&serde_json::Value> {
        self.kind
            .spec_path()
            .iter()
            .try_fold(self.config.value(), |value, step| value.get(step))
    }

    /// The object whose machine it is: the one that makes it of a template that others share, else
    /// the config.
    pub fn named(&self) -> &'a Object {
        self.set.unwrap_or(self.config)
    }

    /// The version of the API; `None` when it is not known.
    pub(crate) fn version(&self) -> Option<Version> {
        Version::parse(self.config.version())
    }

    /// Whether machines are made of it by copying.
    pub fn is_template(&self) -> bool {
        matches!(
            self.kind,
            ConfigKind::Kubeadm(Kind::Template)
                | ConfigKind::Windlass(Kind::Template)
                | ConfigKind::ControlPlane { template: true }
        )
    }

    /// Whether the config is a KubeadmControlPlane or a KubeadmControlPlaneTemplate.
    pub fn is_control_plane_object(&self) -> bool {
        matches!(self.kind, ConfigKind::ControlPlane { .. })
    }

    /// The role that the config was most likely written for.
    pub fn likely_role(&self) -> Role {
        let has = |field: &str| self.spec().is_some_and(|spec| spec.get(field).is_some());
        let joins_control_plane = self
            .spec()
            .is_some_and(|spec| spec["joinConfiguration"].get("controlPlane").is_some());
        let is_labelled = self.config.value()["metadata"]["labels"]
            .get(labels::CONTROL_PLANE)
            .is_some();
        if is_labelled
            || joins_control_plane
            || has("clusterConfiguration")
            || has("initConfiguration")
        {
            self.likely_control_plane_role()
        } else {
            Role::WorkerJoin
        }
    }

    /// Whether the content of a file of this field is in another object, which may be a Secret.
    pub fn is_referred(&self, file: &FieldPath) -> bool {
        self.config.at(&file.field("contentFrom")).is_some()
    }

    /// The role that the config of a control-plane machine was most likely written for.
    pub(crate) fn likely_control_plane_role(&self) -> Role {
        let has = |field: &str| self.spec().is_some_and(|spec| spec.get(field).is_some());
        if has("joinConfiguration") && !has("initConfiguration") && !has("clusterConfiguration") {
            Role::ControlPlaneJoin
        } else {
            Role::Init
        }
    }
}
