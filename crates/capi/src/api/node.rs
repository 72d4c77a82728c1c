//! Parts of kubeadm's and of the node's configuration that are the same in both versions.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enumeration::string_enum;
use super::files::SecretKeyReference;
use super::rules;
use super::time::Timestamp;

/// A taint that the node registers with (Kubernetes `Taint` of core/v1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Key of the taint.
    pub key: String,
    /// Value of the taint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What happens to pods that do not tolerate it: `NoSchedule`, `PreferNoSchedule` or
    /// `NoExecute`.
    pub effect: String,
    /// When the taint was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Timestamp>,
}

/// A directory or file of the host that is mounted into a control-plane component.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostPathMount {
    /// Name of the volume in the pod.
    #[schemars(length(min = 1, max = 512))]
    pub name: String,
    /// Path on the host.
    #[schemars(length(min = 1, max = 512))]
    pub host_path: String,
    /// Path in the pod.
    #[schemars(length(min = 1, max = 512))]
    pub mount_path: String,
    /// Whether the component may only read. Absent: it may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Kubernetes `HostPathType` of the host path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_type: Option<String>,
}

/// The image of the cluster's DNS server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dns {
    /// Registry and path of the image. Absent: `clusterConfiguration.imageRepository`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub image_repository: Option<String>,
    /// Tag of the image. Absent: the one that fits the Kubernetes version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub image_tag: Option<String>,
}

/// Patches that kubeadm applies to the manifests it writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Patches {
    /// Folder on the node with files such as `kube-apiserver0+merge.yaml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub directory: Option<String>,
}

/// Where the password of a user comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordSource {
    /// A key of a Secret in the namespace of the config.
    pub secret: SecretKeyReference,
}

/// One partition of a disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartitionLayout {
    /// Share of the disk in percent.
    #[schemars(range(min = 1, max = 100))]
    pub percentage: i32,
    /// Kind of the partition: a name of cloud-init, or a GUID of GPT. Absent: `Linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 36))]
    #[x_kube(validation = rules::PARTITION_TYPE)]
    pub partition_type: Option<String>,
}

string_enum! {
    /// When the kubelet pulls the images of the control plane.
    pub enum ImagePullPolicy {
        /// Always.
        Always = "Always",
        /// When the image is not there yet.
        IfNotPresent = "IfNotPresent",
        /// Never: the image must be there.
        Never = "Never",
    }
}

string_enum! {
    /// Algorithm of the keys that kubeadm makes.
    pub enum EncryptionAlgorithm {
        /// ECDSA on the curve P-256.
        EcdsaP256 = "ECDSA-P256",
        /// ECDSA on the curve P-384.
        EcdsaP384 = "ECDSA-P384",
        /// RSA with 2048 bits.
        Rsa2048 = "RSA-2048",
        /// RSA with 3072 bits.
        Rsa3072 = "RSA-3072",
        /// RSA with 4096 bits.
        Rsa4096 = "RSA-4096",
    }
}

string_enum! {
    /// Kind of a partition table.
    pub enum TableType {
        /// Master boot record.
        Mbr = "mbr",
        /// GUID partition table.
        Gpt = "gpt",
    }
}
