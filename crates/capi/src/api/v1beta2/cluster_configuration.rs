//! `spec.clusterConfiguration`: kubeadm's ClusterConfiguration as Cluster API exposes it in
//! v1beta2.

use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::env::EnvVar;
use crate::api::node::{Dns, EncryptionAlgorithm, HostPathMount};
use crate::api::rules;

/// What kubeadm configures for the cluster as a whole (kubeadm `ClusterConfiguration`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct ClusterConfiguration {
    /// The etcd of the cluster. Absent: a local member on each control-plane node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd: Option<Etcd>,
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
    #[schemars(extend("minProperties" = 1))]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct ApiServer {
    /// Further flags of the API server; the order is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name", "value"]))]
    #[x_kube(validation = rules::UNIQUE_EXTRA_ARGS)]
    pub extra_args: Option<Vec<Arg>>,
    /// Host paths that are mounted into the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub extra_volumes: Option<Vec<HostPathMount>>,
    /// Environment variables of the API server. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub extra_envs: Option<Vec<EnvVar>>,
    /// Further names and addresses in the serving certificate.
    #[serde(rename = "certSANs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "atomic"))]
    pub cert_sans: Option<Vec<String>>,
}

/// A component of the control plane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct ControlPlaneComponent {
    /// Further flags of the component; the order is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name", "value"]))]
    #[x_kube(validation = rules::UNIQUE_EXTRA_ARGS)]
    pub extra_args: Option<Vec<Arg>>,
    /// Host paths that are mounted into the component.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub extra_volumes: Option<Vec<HostPathMount>>,
    /// Environment variables of the component. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub extra_envs: Option<Vec<EnvVar>>,
}

/// The etcd of the cluster, either local or external.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct Etcd {
    /// A member on each control-plane node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalEtcd>,
    /// An etcd that somebody else runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalEtcd>,
}

/// An etcd member on each control-plane node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
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
    /// Further flags of etcd; the order is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name", "value"]))]
    #[x_kube(validation = rules::UNIQUE_EXTRA_ARGS)]
    pub extra_args: Option<Vec<Arg>>,
    /// Environment variables of etcd. Needs Kubernetes 1.31.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub extra_envs: Option<Vec<EnvVar>>,
    /// Further names and addresses in the serving certificate.
    #[serde(rename = "serverCertSANs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "atomic"))]
    pub server_cert_sans: Option<Vec<String>>,
    /// Further names and addresses in the certificate towards other members.
    #[serde(rename = "peerCertSANs", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "atomic"))]
    pub peer_cert_sans: Option<Vec<String>>,
}

/// An etcd outside of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalEtcd {
    /// URLs of the members.
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 512)), extend("x-kubernetes-list-type" = "atomic"))]
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

/// A flag of a component.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arg {
    /// Name of the flag, without leading dashes.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Value of the flag; may be empty.
    #[schemars(length(min = 0, max = 1024))]
    pub value: String,
}
