//! `spec.joinConfiguration`: kubeadm's JoinConfiguration as Cluster API exposes it in v1beta2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::discovery::Discovery;
use super::node_registration::{ApiEndpoint, NodeRegistration, Timeouts};
use crate::api::node::Patches;

/// What kubeadm configures on a node that joins (kubeadm `JoinConfiguration`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct JoinConfiguration {
    /// How the node registers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_registration: Option<NodeRegistration>,
    /// Path of the cluster CA on the node. Absent: `/etc/kubernetes/pki/ca.crt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub ca_cert_path: Option<String>,
    /// How the kubelet finds and trusts the cluster. Absent: the provider makes a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discovery: Option<Discovery>,
    /// Makes the node a control-plane node; `{}` is meaningful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<JoinControlPlane>,
    /// Phases of `kubeadm join` that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 256)), extend("x-kubernetes-list-type" = "atomic"))]
    pub skip_phases: Option<Vec<String>>,
    /// Patches of the manifests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minProperties" = 1))]
    pub patches: Option<Patches>,
    /// How long kubeadm waits for what. Needs Kubernetes 1.31, except `tlsBootstrapSeconds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
}

/// A control-plane node that joins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinControlPlane {
    /// Where the API server of this node listens.
    #[serde(rename = "localAPIEndpoint", skip_serializing_if = "Option::is_none")]
    pub local_api_endpoint: Option<ApiEndpoint>,
}
