//! What `initConfiguration` and `joinConfiguration` share: registration of the node, address of its
//! API server.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::node::{ImagePullPolicy, Taint};

/// How a node registers with the cluster (kubeadm `NodeRegistrationOptions`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
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
    #[schemars(length(max = 100))]
    pub taints: Option<Vec<Taint>>,
    /// Further flags of the kubelet, as names without leading dashes and their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet_extra_args: Option<BTreeMap<String, String>>,
    /// Preflight checks that may fail; `all` for every one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), inner(length(min = 1, max = 512)))]
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
pub struct ApiEndpoint {
    /// Address that it tells others. Absent: that of the default interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 39))]
    pub advertise_address: Option<String>,
    /// Port. Absent: 6443.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind_port: Option<i32>,
}
