//! Files and directories on the node, the same in both versions. `transferEncoding`,
//! `contentFrom.configMap`, `fileDefaults` and `directories` are additions of WindlassConfig.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enumeration::string_enum;
use super::rules;
use super::secret::Sensitive;

/// A file that the node gets before anything runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::TRANSFER_ENCODING)]
pub struct File {
    /// Where the file goes, with its name.
    #[schemars(length(min = 1, max = 512))]
    pub path: String,
    /// Owner of the file, such as `root:root`. Absent: `fileDefaults.owner`, else the default of
    /// the boot software.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub owner: Option<String>,
    /// Permissions of the file, such as `0640`. Absent: `fileDefaults.permissions`, else the
    /// default of the boot software.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    pub permissions: Option<String>,
    /// How the given content is already encoded. Absent: it is plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// How the provider encodes the content for the way to the node, where the file holds exactly
    /// the given bytes. Absent: the content is carried as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_encoding: Option<TransferEncoding>,
    /// Whether the content is added to an existing file instead of replacing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<bool>,
    /// Content of the file. Excludes `contentFrom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10240))]
    pub content: Option<Sensitive<String>>,
    /// Source of the content when it is not given inline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_from: Option<FileSource>,
    /// Whether the content is used unchanged or is a template that the provider renders. Absent:
    /// `Raw`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_format: Option<ContentFormat>,
}

/// Where the content of a file comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::ONE_FILE_SOURCE)]
pub struct FileSource {
    /// A key of a Secret in the namespace of the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretKeyReference>,
    /// A key of a ConfigMap in the namespace of the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapKeyReference>,
}

/// A key of a Secret in the namespace of the config.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyReference {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Key of the value in the Secret.
    #[schemars(length(min = 1, max = 256))]
    pub key: String,
}

/// A key of a ConfigMap in the namespace of the config; `binaryData` is read when `data` lacks the
/// key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapKeyReference {
    /// Name of the ConfigMap.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Key of the value in the ConfigMap.
    #[schemars(length(min = 1, max = 256))]
    pub key: String,
}

/// Owner and permissions for entries of `files` that name none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct FileDefaults {
    /// Owner, as `user` or `user:group`. Absent: the default of the boot software.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), regex(pattern = r"^[^:\s]+(:[^:\s]+)?$"))]
    pub owner: Option<String>,
    /// Permissions in octal digits. Absent: the default of the boot software, with Ignition 0644.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 4), regex(pattern = r"^0?[0-7]{3}$"))]
    pub permissions: Option<String>,
}

/// A directory that is made before the commands run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Directory {
    /// Absolute path of the directory; missing parents are made too.
    #[schemars(length(min = 1, max = 512))]
    #[x_kube(validation = rules::ABSOLUTE_PATH)]
    pub path: String,
    /// Owner, as `user` or `user:group`. Absent: `root:root`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256), regex(pattern = r"^[^:\s]+(:[^:\s]+)?$"))]
    pub owner: Option<String>,
    /// Permissions in octal digits. Absent: `0755`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 4), regex(pattern = r"^0?[0-7]{3}$"))]
    pub permissions: Option<String>,
}

string_enum! {
    /// How the given content of a file is encoded.
    pub enum Encoding {
        /// Base64.
        Base64 = "base64",
        /// Gzip.
        Gzip = "gzip",
        /// Gzip, then base64.
        GzipBase64 = "gzip+base64",
    }
}

string_enum! {
    /// How the provider encodes a file's content for the way to the node.
    pub enum TransferEncoding {
        /// Base64: any bytes pass unchanged.
        Base64 = "base64",
        /// Gzip, then base64: any bytes pass unchanged, and smaller.
        GzipBase64 = "gzip+base64",
    }
}

string_enum! {
    /// Whether content is final or a template.
    pub enum ContentFormat {
        /// The content is written as it is.
        Raw = "Raw",
        /// The content is a Go template that the provider renders first.
        Template = "Template",
    }
}
