//! What a rendering adds to a config on its own, and from where: fields of kubeadm's documents that
//! the config leaves open, and files of the provider.

use super::placeholder::Placeholder;
use windlass_source::diag::{FieldPath, Setting};

/// Something that the config does not say itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The field or file that is filled in.
    pub what: FilledPart,
    /// The origin of its value.
    pub from: Filling,
}

/// A part of a machine's data that the config leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilledPart {
    /// A field of kubeadm's documents, as it would be called in the spec of a config.
    Field(FieldPath),
    /// A file, by its path on the node.
    File(String),
}

/// From where something is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filling {
    /// This field of the Cluster.
    Cluster(&'static str),
    /// The version of what makes the machine.
    Version,
    /// This setting of the request.
    Setting(Setting),
    /// The input does not have it, and a placeholder is used: what it is, and the setting that gives the real
    /// one.
    Placeholder(&'static str, Option<Setting>),
    /// The Secret of that name, or its placeholder.
    Secret {
        /// The name of the Secret, in the namespace of the config.
        name: String,
        /// Whether it is not in the input, and a placeholder is used.
        is_placeholder: bool,
    },
    /// The provider itself, and why.
    Provider(&'static str),
}

/// The fields of kubeadm's documents that come from the Cluster where the config leaves them open,
/// and its fields (`bootstrap/kubeadm` of Cluster API: `additionalData`).
pub const FROM_CLUSTER: [(&str, &str); 4] = [
    (
        "clusterConfiguration.controlPlaneEndpoint",
        "spec.controlPlaneEndpoint",
    ),
    (
        "clusterConfiguration.networking.dnsDomain",
        "spec.clusterNetwork.serviceDomain",
    ),
    (
        "clusterConfiguration.networking.serviceSubnet",
        "spec.clusterNetwork.services.cidrBlocks",
    ),
    (
        "clusterConfiguration.networking.podSubnet",
        "spec.clusterNetwork.pods.cidrBlocks",
    ),
];

impl Filling {
    pub(crate) fn of(placeholder: &Placeholder) -> Self {
        Filling::Placeholder(placeholder.name, placeholder.setting)
    }
}

impl Filled {
    /// A field of kubeadm's documents, by its dotted path below the spec.
    pub(crate) fn field(dotted: &str, from: Filling) -> Self {
        Filled {
            what: FilledPart::Field(FieldPath::of_fields(dotted)),
            from,
        }
    }

    pub(crate) fn file(path: impl Into<String>, from: Filling) -> Self {
        Filled {
            what: FilledPart::File(path.into()),
            from,
        }
    }
}
