//! kubeadm's configuration documents, with the keys and values that the kubeadm bootstrap provider
//! writes.
//!
//! Source: `bootstrap/kubeadm/types` of Cluster API, and kubeadm's API of each version. A document
//! is a value; the bytes are those of Go's YAML writer ([`goyaml`]), which sorts keys, so their
//! order here has no meaning.

mod cluster;
mod dropped;
mod durations;
mod fields;
mod init;
mod join;
mod kubeconfig;
mod registration;

use semver::Version;
use serde_json::Value;

pub(crate) use cluster::{ClusterValues, cluster_configuration};
pub(crate) use dropped::dropped;
pub(crate) use durations::Durations;
pub(crate) use init::init_configuration;
pub(crate) use join::join_configuration;
pub(crate) use kubeconfig::discovery_kubeconfig;

use crate::render::input::profile::Profile;
use windlass_go_yaml::goyaml::{self, EmitError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KubeadmApi {
    /// For Kubernetes 1.15 to 1.21; only CAPI v1.10 writes it.
    V1Beta2,
    /// For Kubernetes 1.22 to 1.30.
    V1Beta3,
    /// For Kubernetes 1.31 and newer.
    V1Beta4,
}

impl KubeadmApi {
    /// The version that is written for a Kubernetes version; pre-releases count as the release.
    ///
    /// # Errors
    ///
    /// The provider does not support that version; its own words.
    pub(crate) fn for_kubernetes(version: &Version, profile: &Profile) -> Result<Self, String> {
        match (version.major, version.minor) {
            (1.., 31..) | (2.., _) => Ok(KubeadmApi::V1Beta4),
            (1, 22..) => Ok(KubeadmApi::V1Beta3),
            (1, minor) if minor >= profile.oldest_kubernetes => Ok(KubeadmApi::V1Beta2),
            _ => Err(format!(
                "the bootstrap provider for kubeadm doesn't support Kubernetes version lower than v1.{}.0",
                profile.oldest_kubernetes
            )),
        }
    }

    /// The first Kubernetes version for which it is written.
    pub(crate) fn first_kubernetes(self) -> &'static str {
        match self {
            KubeadmApi::V1Beta2 => "v1.15.0",
            KubeadmApi::V1Beta3 => "v1.22.0",
            KubeadmApi::V1Beta4 => "v1.31.0",
        }
    }

    /// `apiVersion` of the documents.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            KubeadmApi::V1Beta2 => "kubeadm.k8s.io/v1beta2",
            KubeadmApi::V1Beta3 => "kubeadm.k8s.io/v1beta3",
            KubeadmApi::V1Beta4 => "kubeadm.k8s.io/v1beta4",
        }
    }

    /// The bytes of a document.
    ///
    /// # Errors
    ///
    /// A text holds a character that the writer rejects; the provider's own words.
    pub(crate) fn write(self, document: &Value) -> Result<String, String> {
        goyaml::to_string(document).map_err(|error| {
            let cause = match error {
                EmitError::NextLine => "line 1: did not find expected ',' or '}'",
                EmitError::Character(_) | EmitError::Depth => "control characters are not allowed",
            };
            format!(
                "failed to generate yaml for the Kubeadm API for version {}: yaml: {cause}",
                self.as_str()
            )
        })
    }
}
