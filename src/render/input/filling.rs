//! What a rendering adds to a config on its own, and from where: fields of kubeadm's documents that
//! the config leaves open, and files of the provider.

use super::stand_in::StandIn;
use crate::diag::{FieldPath, Setting};

/// Something that the config does not say itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    pub(crate) what: FilledPart,
    pub(crate) from: Filling,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilledPart {
    /// A field of kubeadm's documents, as it would be called in the spec of a config.
    Field(FieldPath),
    /// A file, by its path on the node.
    File(String),
}

/// From where something is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filling {
    /// This field of the Cluster.
    Cluster(&'static str),
    /// The version of what makes the machine.
    Version,
    Setting(Setting),
    /// Nobody says it, and something stands in: what it is, and the setting that gives the real
    /// one.
    StandIn(&'static str, Option<Setting>),
    /// The Secret of that name, or what stands in for it.
    Secret {
        name: String,
        /// Whether the input holds it not, and something stands in.
        is_stand_in: bool,
    },
    /// The provider itself, and why.
    Provider(&'static str),
}

/// The fields of kubeadm's documents that come from the Cluster where the config leaves them open,
/// and its fields (`bootstrap/kubeadm` of Cluster API: `additionalData`).
pub(crate) const FROM_CLUSTER: [(&str, &str); 4] = [
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
    pub(crate) fn of(stand_in: &StandIn) -> Self {
        Filling::StandIn(stand_in.name, stand_in.setting)
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
