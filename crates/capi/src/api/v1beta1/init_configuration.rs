//! `spec.initConfiguration`: kubeadm's InitConfiguration as Cluster API exposes it in v1beta1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_registration::{ApiEndpoint, NodeRegistration};
use crate::api::node::Patches;
use crate::api::secret::Sensitive;
use crate::api::time::{GoDuration, Timestamp};

/// What kubeadm configures on the first control-plane node (kubeadm `InitConfiguration`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitConfiguration {
    /// API version of the kubeadm document; without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Kind of the kubeadm document; without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Tokens that `kubeadm init` makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub bootstrap_tokens: Option<Vec<BootstrapToken>>,
    /// How the first node registers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_registration: Option<NodeRegistration>,
    /// Where the API server of this node listens.
    #[serde(rename = "localAPIEndpoint", skip_serializing_if = "Option::is_none")]
    pub local_api_endpoint: Option<ApiEndpoint>,
    /// Phases of `kubeadm init` that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), inner(length(min = 1, max = 256)))]
    pub skip_phases: Option<Vec<String>>,
    /// Patches of the manifests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<Patches>,
}

/// A token with which nodes join (kubeadm `BootstrapToken`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapToken {
    /// The token, as `abcdef.0123456789abcdef`.
    pub token: Sensitive<String>,
    /// What the token is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub description: Option<String>,
    /// How long the token is valid; 0 is for ever. Excludes `expires`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<GoDuration>,
    /// When the token ends. Excludes `ttl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// What the token may be used for: `signing`, `authentication`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 256)))]
    pub usages: Option<Vec<String>>,
    /// Groups that whoever shows the token belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 256)))]
    pub groups: Option<Vec<String>>,
}
