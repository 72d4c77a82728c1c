//! The kind WindlassConfig in v1beta2 (storage).

#![allow(
    dead_code,
    reason = "the derive of the schema copies the spec into a struct that is never read"
)]
#![allow(
    clippy::duplicated_attributes,
    reason = "printer columns repeat keys such as `type_`"
)]

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::cluster_configuration::ClusterConfiguration;
use super::disks::DiskSetup;
use super::ignition::Ignition;
use super::init_configuration::InitConfiguration;
use super::join_configuration::JoinConfiguration;
use super::status::WindlassConfigStatus;
use super::users::{Ntp, User};
use crate::api::absent::absent_as_empty;
use crate::api::boot::{CloudConfig, Compression, Format, OnFailure, Platform};
use crate::api::files::{Directory, File, FileDefaults};
use crate::api::rules;
use crate::api::secret::Sensitive;

/// The configuration of a machine: KubeadmConfigSpec of the same version and the additions of
/// WindlassConfig.
#[derive(CustomResource, Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "bootstrap.windlass.dev",
    version = "v1beta2",
    kind = "WindlassConfig",
    plural = "windlassconfigs",
    shortname = "wlc",
    category = "cluster-api",
    namespaced,
    status = "WindlassConfigStatus",
    schema = "disabled",
    doc = "Bootstrap data of one machine: the configuration of kubeadm and of the node, and what became of it.",
    derive = "Default",
    derive = "PartialEq",
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/cluster-name']",
        description = "Cluster that the config belongs to"
    ),
    printcolumn(
        name = "Paused",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Paused")].status"#,
        description = "Whether reconciliation is paused",
        priority = 10
    ),
    printcolumn(
        name = "Data secret created",
        type_ = "string",
        json_path = ".status.initialization.dataSecretCreated",
        description = "Whether the bootstrap data is complete"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp",
        description = "Time since the WindlassConfig was made"
    )
)]
#[serde(remote = "Self")]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
#[x_kube(validation = rules::CLOUD_CONFIG)]
#[x_kube(validation = rules::COMPRESSION)]
#[x_kube(validation = rules::WINDOWS_FORMAT)]
#[x_kube(validation = rules::WINDOWS_BOOT_COMMANDS)]
#[x_kube(validation = rules::WINDOWS_DISK_SETUP)]
#[x_kube(validation = rules::WINDOWS_MOUNTS)]
#[x_kube(validation = rules::WINDOWS_CLUSTER_CONFIGURATION)]
#[x_kube(validation = rules::WINDOWS_INIT_CONFIGURATION)]
#[x_kube(validation = rules::WINDOWS_CONTROL_PLANE)]
#[x_kube(validation = rules::WINDOWS_DIRECTORIES)]
#[x_kube(validation = rules::WINDOWS_ON_FAILURE)]
pub struct WindlassConfigSpec {
    /// kubeadm's configuration of the cluster, for the first control-plane node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_configuration: Option<ClusterConfiguration>,
    /// kubeadm's configuration of the first control-plane node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init_configuration: Option<InitConfiguration>,
    /// kubeadm's configuration of a node that joins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_configuration: Option<JoinConfiguration>,
    /// Files that the node gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200), extend("x-kubernetes-list-type" = "atomic"))]
    pub files: Option<Vec<File>>,
    /// Owner and permissions for entries of `files` that name none. An addition of WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_defaults: Option<FileDefaults>,
    /// Directories that are made before the commands run. An addition of WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["path"]))]
    pub directories: Option<Vec<Directory>>,
    /// Partitions and file systems of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_setup: Option<DiskSetup>,
    /// Mounts of the node; each has the fields of a line in fstab.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 100),
        inner(length(min = 1, max = 100), inner(length(min = 1, max = 512))),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub mounts: Option<Vec<Vec<String>>>,
    /// Commands that run early in every boot, before anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000), inner(length(min = 1, max = 10240)), extend("x-kubernetes-list-type" = "atomic"))]
    pub boot_commands: Option<Vec<Sensitive<String>>>,
    /// Commands that run before kubeadm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000), inner(length(min = 1, max = 10240)), extend("x-kubernetes-list-type" = "atomic"))]
    pub pre_kubeadm_commands: Option<Vec<Sensitive<String>>>,
    /// Commands that run after kubeadm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000), inner(length(min = 1, max = 10240)), extend("x-kubernetes-list-type" = "atomic"))]
    pub post_kubeadm_commands: Option<Vec<Sensitive<String>>>,
    /// Users of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub users: Option<Vec<User>>,
    /// Time synchronisation of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ntp: Option<Ntp>,
    /// Format of the bootstrap data. Absent: `cloud-config`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Verbosity of kubeadm's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<i32>,
    /// Options of the format `ignition`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignition: Option<Ignition>,
    /// Options of the format `cloud-config`. An addition of WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_config: Option<CloudConfig>,
    /// Operating system that reads the data. Absent: `linux`. An addition of WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// Compression of the data as a whole. Absent: `none`. An addition of WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Largest size of the data in bytes, after compression. Absent: what a Secret can hold. An
    /// addition of WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_data_bytes: Option<i32>,
    /// What happens on the node when a step fails. Absent: `Continue`. An addition of
    /// WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
}

absent_as_empty!(WindlassConfigSpec);
