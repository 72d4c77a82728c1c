//! What `initConfiguration` and `joinConfiguration` share: registration of the node, address of its
//! API server, timeouts.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cluster_configuration::Arg;
use crate::api::node::{ImagePullPolicy, Taint};
use crate::api::rules;

/// How a node registers with the cluster (kubeadm `NodeRegistrationOptions`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct NodeRegistration {
    /// Name of the Node. Absent: the host name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Socket of the container runtime. Absent: kubeadm looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub cri_socket: Option<String>,
    /// Taints of the node. Absent: the usual ones of its role; `[]`: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 0, max = 100))]
    pub taints: Option<Vec<Taint>>,
    /// Further flags of the kubelet; the order is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name", "value"]))]
    #[x_kube(validation = rules::UNIQUE_KUBELET_EXTRA_ARGS)]
    pub kubelet_extra_args: Option<Vec<Arg>>,
    /// Preflight checks that may fail; `all` for every one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 512)), extend("x-kubernetes-list-type" = "atomic"))]
    pub ignore_preflight_errors: Option<Vec<String>>,
    /// When images are pulled. Absent: `IfNotPresent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<ImagePullPolicy>,
    /// Whether images are pulled one after another. Absent: they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_serial: Option<bool>,
}

/// Where an API server listens (kubeadm `APIEndpoint`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct ApiEndpoint {
    /// Address that it tells others. Absent: that of the default interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 39))]
    pub advertise_address: Option<String>,
    /// Port. Absent: 6443.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub bind_port: Option<i32>,
}

/// How long kubeadm waits, in seconds (kubeadm `Timeouts`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct Timeouts {
    /// For a component of the control plane to become healthy. Absent: 240.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub control_plane_component_health_check_seconds: Option<i32>,
    /// For the kubelet to become healthy. Absent: 240.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub kubelet_health_check_seconds: Option<i32>,
    /// For a call of the API server. Absent: 60.
    #[serde(
        rename = "kubernetesAPICallSeconds",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0))]
    pub kubernetes_api_call_seconds: Option<i32>,
    /// For a call of etcd. Absent: 120.
    #[serde(rename = "etcdAPICallSeconds", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub etcd_api_call_seconds: Option<i32>,
    /// For the kubelet to obtain its certificate. Absent: 300.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub tls_bootstrap_seconds: Option<i32>,
    /// For discovery when joining. Absent: 300.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub discovery_seconds: Option<i32>,
}
