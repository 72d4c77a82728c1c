//! `spec.clusterConfiguration`: kubeadm's ClusterConfiguration as Cluster API exposes it in
//! v1beta1.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::env::EnvVar;
use crate::api::node::{Dns, EncryptionAlgorithm, HostPathMount};
use crate::api::time::GoDuration;

/// What kubeadm configures for the cluster as a whole (kubeadm `ClusterConfiguration`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterConfiguration {
    /// API version of the kubeadm document; without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Kind of the kubeadm document; without effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The etcd of the cluster. Absent: a local member on each control-plane node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd: Option<Etcd>,
    /// Network of the cluster. Without effect: the Cluster has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<Networking>,
    /// Kubernetes version. Without effect: the Machine has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub kubernetes_version: Option<String>,
    /// Stable address of the control plane, with or without a port. Absent: that of the Cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub control_plane_endpoint: Option<String>,
    /// The API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<ApiServer>,
    /// The controller manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller_manager: Option<ControlPlaneComponent>,
    /// The scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<ControlPlaneComponent>,
    /// The DNS server of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<Dns>,
    /// Folder of the certificates on the node. Absent: `/etc/kubernetes/pki`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub certificates_dir: Option<String>,
    /// Registry that the images of the control plane come from. Absent: that of Kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub image_repository: Option<String>,
    /// Feature gates of kubeadm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_gates: Option<BTreeMap<String, bool>>,
    /// Name of the cluster. Without effect: the Cluster has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub cluster_name: Option<String>,
    /// Days that certificates of kubeadm are valid. Absent: 365. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1095))]
    pub certificate_validity_period_days: Option<i32>,
    /// Days that the CAs made by the provider are valid. Absent: 3650.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 36500))]
    pub ca_certificate_validity_period_days: Option<i32>,
    /// Algorithm of the keys of kubeadm's certificates. Absent: `RSA-2048`. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption_algorithm: Option<EncryptionAlgorithm>,
}

/// The API server of the control plane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiServer {
    /// Further flags of the API server, as names without leading dashes and their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_args: Option<BTreeMap<String, String>>,
    /// Host paths that are mounted into the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub extra_volumes: Option<Vec<HostPathMount>>,
    /// Environment variables of the API server. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub extra_envs: Option<Vec<EnvVar>>,
    /// Further names and addresses in the serving certificate.
    #[serde(rename = "certSANs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 253)))]
    pub cert_sans: Option<Vec<String>>,
    /// How long kubeadm waits for the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_for_control_plane: Option<GoDuration>,
}

/// A component of the control plane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ControlPlaneComponent {
    /// Further flags of the component, as names without leading dashes and their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_args: Option<BTreeMap<String, String>>,
    /// Host paths that are mounted into the component.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub extra_volumes: Option<Vec<HostPathMount>>,
    /// Environment variables of the component. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub extra_envs: Option<Vec<EnvVar>>,
}

/// The etcd of the cluster, either local or external.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Etcd {
    /// A member on each control-plane node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalEtcd>,
    /// An etcd that somebody else runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalEtcd>,
}

/// An etcd member on each control-plane node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalEtcd {
    /// Registry and path of the image. Absent: `clusterConfiguration.imageRepository`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub image_repository: Option<String>,
    /// Tag of the image. Absent: the one that fits the Kubernetes version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub image_tag: Option<String>,
    /// Folder of the data. Absent: `/var/lib/etcd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub data_dir: Option<String>,
    /// Further flags of etcd, as names without leading dashes and their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_args: Option<BTreeMap<String, String>>,
    /// Environment variables of etcd. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub extra_envs: Option<Vec<EnvVar>>,
    /// Further names and addresses in the serving certificate.
    #[serde(rename = "serverCertSANs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 253)))]
    pub server_cert_sans: Option<Vec<String>>,
    /// Further names and addresses in the certificate towards other members.
    #[serde(rename = "peerCertSANs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 253)))]
    pub peer_cert_sans: Option<Vec<String>>,
}

/// An etcd outside of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalEtcd {
    /// URLs of the members.
    #[schemars(length(max = 50), inner(length(min = 1, max = 512)))]
    pub endpoints: Vec<String>,
    /// Path of the CA certificate on the node.
    #[schemars(length(min = 1, max = 512))]
    pub ca_file: String,
    /// Path of the client certificate on the node.
    #[schemars(length(min = 1, max = 512))]
    pub cert_file: String,
    /// Path of the client key on the node.
    #[schemars(length(min = 1, max = 512))]
    pub key_file: String,
}

/// Network of the cluster; the Cluster has the same values and wins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Networking {
    /// Addresses of Services, as CIDR blocks with commas between.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub service_subnet: Option<String>,
    /// Addresses of pods, as CIDR blocks with commas between.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub pod_subnet: Option<String>,
    /// DNS domain of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub dns_domain: Option<String>,
}
