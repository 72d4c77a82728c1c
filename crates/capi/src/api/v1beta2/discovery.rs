//! `spec.joinConfiguration.discovery`: how a joining kubelet finds and trusts the cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::secret::{Base64Bytes, Sensitive};

/// How a joining kubelet finds and trusts the cluster (kubeadm `Discovery`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct Discovery {
    /// Discovery with a token. The provider fills in what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_token: Option<BootstrapTokenDiscovery>,
    /// Discovery with a kubeconfig on the node. Excludes `bootstrapToken`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileDiscovery>,
    /// Token with which the kubelet asks for its certificate. Absent: the discovery token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub tls_bootstrap_token: Option<Sensitive<String>>,
}

/// Discovery with a bootstrap token.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct BootstrapTokenDiscovery {
    /// The token. Absent: the provider makes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub token: Option<Sensitive<String>>,
    /// Address of the API server, without a scheme. Absent: that of the Cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub api_server_endpoint: Option<String>,
    /// Hashes of the public keys of CAs that are trusted, as `sha256:` and hex digits. Absent:
    /// that of the cluster CA.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 512)), extend("x-kubernetes-list-type" = "atomic"))]
    pub ca_cert_hashes: Option<Vec<String>>,
    /// Whether the CA is trusted unseen. Absent: only if there are no hashes.
    #[serde(
        rename = "unsafeSkipCAVerification",
        skip_serializing_if = "Option::is_none"
    )]
    pub unsafe_skip_ca_verification: Option<bool>,
}

/// Discovery with a kubeconfig.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiscovery {
    /// Path of the kubeconfig on the node, or its URL.
    #[schemars(length(min = 1, max = 512))]
    pub kube_config_path: String,
    /// Content of the kubeconfig, which the provider writes to `kubeConfigPath`. If absent, the
    /// file must already exist on the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<KubeConfig>,
}

/// Content of a discovery kubeconfig.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeConfig {
    /// How the API server is reached. Absent fields: those of the Cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<KubeConfigCluster>,
    /// How the kubelet proves who it is.
    pub user: KubeConfigUser,
}

/// How a kubeconfig reaches the API server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct KubeConfigCluster {
    /// URL of the API server. Absent: that of the Cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub server: Option<String>,
    /// Name that the server certificate is checked against. Absent: the host of `server`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub tls_server_name: Option<String>,
    /// Whether the server certificate goes unchecked.
    #[serde(
        rename = "insecureSkipTLSVerify",
        skip_serializing_if = "Option::is_none"
    )]
    pub insecure_skip_tls_verify: Option<bool>,
    /// CA certificates in PEM. Absent: that of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 51200))]
    pub certificate_authority_data: Option<Sensitive<Base64Bytes>>,
    /// URL of a proxy.
    #[serde(rename = "proxyURL", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub proxy_url: Option<String>,
}

/// How a kubeconfig proves who the kubelet is, either by plugin or by command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct KubeConfigUser {
    /// A plugin of the client library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_provider: Option<AuthProvider>,
    /// A command that prints credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<Exec>,
}

/// A plugin of the client library that provides credentials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthProvider {
    /// Name of the plugin.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Settings of the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<BTreeMap<String, Sensitive<String>>>,
}

/// A command that prints credentials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exec {
    /// The command.
    #[schemars(length(min = 1, max = 1024))]
    pub command: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 512)), extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Option<Vec<String>>,
    /// Environment variables that it gets besides those of the kubelet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub env: Option<Vec<ExecEnv>>,
    /// API version in which it answers. Absent: `client.authentication.k8s.io/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub api_version: Option<String>,
    /// Whether it is told about the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provide_cluster_info: Option<bool>,
}

/// An environment variable of the command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecEnv {
    /// Name of the variable.
    #[schemars(length(min = 1, max = 512))]
    pub name: String,
    /// Its value.
    #[schemars(length(min = 1, max = 512))]
    pub value: Sensitive<String>,
}
