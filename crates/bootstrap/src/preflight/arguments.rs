//! The arguments that a config gives to the components of Kubernetes, in both shapes: a map in
//! v1beta1, a list of names and values in v1beta2.

use serde_json::Value;

use windlass_objects::{Object, fields};
use windlass_source::diag::{Diagnostic, FieldPath, Place};

/// A program that gets arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    Kubelet,
    ApiServer,
    ControllerManager,
    Scheduler,
    Etcd,
}

impl Component {
    pub(super) const ALL: [Self; 5] = [
        Self::Kubelet,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Etcd,
    ];

    /// Its letter in the table of flags.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Component::Kubelet => "k",
            Component::ApiServer => "a",
            Component::ControllerManager => "c",
            Component::Scheduler => "s",
            Component::Etcd => "e",
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Component::Kubelet => "kubelet",
            Component::ApiServer => "kube-apiserver",
            Component::ControllerManager => "kube-controller-manager",
            Component::Scheduler => "kube-scheduler",
            Component::Etcd => "etcd",
        }
    }

    pub(super) fn version(self, minor: u64) -> String {
        if self == Component::Etcd {
            format!("v3.{minor}")
        } else {
            format!("v1.{minor}")
        }
    }

    /// What of that minor version it came with: itself, or Kubernetes.
    pub(super) fn release(self, minor: u64) -> String {
        if self == Component::Etcd {
            self.version(minor)
        } else {
            format!("Kubernetes {}", self.version(minor))
        }
    }
}

/// Where a spec has arguments (Cluster API: `KubeadmConfigSpec`).
const LISTS: [(Component, &[&str]); 6] = [
    (
        Component::ApiServer,
        &["clusterConfiguration", "apiServer", "extraArgs"],
    ),
    (
        Component::ControllerManager,
        &["clusterConfiguration", "controllerManager", "extraArgs"],
    ),
    (
        Component::Scheduler,
        &["clusterConfiguration", "scheduler", "extraArgs"],
    ),
    (
        Component::Etcd,
        &["clusterConfiguration", "etcd", "local", "extraArgs"],
    ),
    (
        Component::Kubelet,
        &["initConfiguration", "nodeRegistration", "kubeletExtraArgs"],
    ),
    (
        Component::Kubelet,
        &["joinConfiguration", "nodeRegistration", "kubeletExtraArgs"],
    ),
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument<'a> {
    pub(super) component: Component,
    /// The list or map that contains it.
    pub(super) list: FieldPath,
    /// The name as it is written.
    pub(super) name: &'a str,
    /// The value; empty when it is not text.
    pub(super) value: &'a str,
    /// The field with the name.
    pub(super) path: FieldPath,
    pub(super) value_path: FieldPath,
}

impl Argument<'_> {
    /// The name as the component has it: `_` is `-` (component-base, `WordSepNormalizeFunc`), but
    /// not to etcd.
    pub(super) fn flag(&self) -> String {
        if self.component == Component::Etcd {
            self.name.to_owned()
        } else {
            self.name.replace('_', "-")
        }
    }

    /// Where the name stands: in a map of v1beta1 it is the key.
    pub(super) fn place(&self, config: &Object) -> Place {
        if self.path == self.value_path {
            config.key_place(&self.path)
        } else {
            config.place(&self.path)
        }
    }
}

/// Whether a text gets its last form on the machine: a template of cloud-init's, or a variable that
/// a script replaces.
pub(super) fn is_filled_in_later(text: &str) -> bool {
    ["{{", "{%", "${", "$("]
        .iter()
        .any(|start| text.contains(start))
}

/// How many faults of one text are reported.
const MOST_TOLD: usize = 20;

/// The first findings about one string or list: each shows the whole line, so their number is
/// limited. A note of the last one has the number of those left out.
pub(super) fn first_told(mut found: impl Iterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let mut told: Vec<Diagnostic> = found.by_ref().take(MOST_TOLD).collect();
    let more = found.count();
    let last = told.pop().map(|last| {
        if more > 0 {
            last.note(format!("{more} more parts of it have such faults"))
        } else {
            last
        }
    });
    told.extend(last);
    told
}

/// All arguments of a spec, in their order.
pub(super) fn arguments<'a>(spec: &'a Value, spec_path: &FieldPath) -> Vec<Argument<'a>> {
    let mut found = Vec::new();
    for (component, steps) in LISTS {
        let list = steps
            .iter()
            .fold(spec_path.clone(), |path, step| path.field(*step));
        match fields::field(spec, steps) {
            Some(Value::Object(map)) => found.extend(map.iter().map(|(name, value)| {
                let path = list.field(name);
                let value = value.as_str().unwrap_or_default();
                Argument {
                    component,
                    list: list.clone(),
                    name,
                    value,
                    value_path: path.clone(),
                    path,
                }
            })),
            Some(Value::Array(items)) => {
                found.extend(items.iter().enumerate().map(|(index, item)| {
                    let item_path = list.index(index);
                    let text = |field| fields::text(item, &[field]);
                    let (path, value_path) = (item_path.field("name"), item_path.field("value"));
                    Argument {
                        component,
                        list: list.clone(),
                        name: text("name"),
                        value: text("value"),
                        path,
                        value_path,
                    }
                }))
            }
            _ => {}
        }
    }
    found
}
