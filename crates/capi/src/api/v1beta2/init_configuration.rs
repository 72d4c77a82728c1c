//! `spec.initConfiguration`: kubeadm's InitConfiguration as Cluster API exposes it in v1beta2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_registration::{ApiEndpoint, NodeRegistration, Timeouts};
use crate::api::node::Patches;
use crate::api::secret::Sensitive;
use crate::api::time::Timestamp;

/// What kubeadm configures on the first control-plane node (kubeadm `InitConfiguration`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct InitConfiguration {
    /// Tokens that `kubeadm init` makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub bootstrap_tokens: Option<Vec<BootstrapToken>>,
    /// How the first node registers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_registration: Option<NodeRegistration>,
    /// Where the API server of this node listens.
    #[serde(rename = "localAPIEndpoint", skip_serializing_if = "Option::is_none")]
    pub local_api_endpoint: Option<ApiEndpoint>,
    /// Phases of `kubeadm init` that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 256)), extend("x-kubernetes-list-type" = "atomic"))]
    pub skip_phases: Option<Vec<String>>,
    /// Patches of the manifests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minProperties" = 1))]
    pub patches: Option<Patches>,
    /// How long kubeadm waits for what. Needs Kubernetes 1.31, except
    /// `controlPlaneComponentHealthCheckSeconds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
}

/// A token with which nodes join (kubeadm `BootstrapToken`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapToken {
    /// The token, as `abcdef.0123456789abcdef`.
    #[schemars(length(min = 1, max = 23))]
    pub token: Sensitive<String>,
    /// What the token is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub description: Option<String>,
    /// Seconds that the token is valid; 0 is for ever. Excludes `expires`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ttl_seconds: Option<i32>,
    /// When the token ends. Excludes `ttlSeconds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// What the token may be used for: `signing`, `authentication`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 256)), extend("x-kubernetes-list-type" = "atomic"))]
    pub usages: Option<Vec<String>>,
    /// Groups that whoever shows the token belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 256)), extend("x-kubernetes-list-type" = "atomic"))]
    pub groups: Option<Vec<String>>,
}
