//! `spec.diskSetup`: partitions and file systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::node::{PartitionLayout, TableType};

/// Disks of the node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskSetup {
    /// Partition tables to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub partitions: Option<Vec<Partition>>,
    /// File systems to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub filesystems: Option<Vec<Filesystem>>,
}

/// The partition table of a disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Partition {
    /// Device, such as `/dev/sdb`.
    #[schemars(length(min = 1, max = 256))]
    pub device: String,
    /// Whether one partition fills the disk. `diskLayout` wins.
    pub layout: bool,
    /// Partitions of the disk, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub disk_layout: Option<Vec<PartitionLayout>>,
    /// Whether an existing partition table is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<bool>,
    /// Kind of the partition table. Absent: `mbr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_type: Option<TableType>,
}

/// A file system to make.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Filesystem {
    /// Device, such as `/dev/sdb` or an alias of cloud-init.
    #[schemars(length(min = 1, max = 256))]
    pub device: String,
    /// Kind of the file system, such as `ext4`.
    #[schemars(length(min = 1, max = 128))]
    pub filesystem: String,
    /// Label of the file system. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub label: Option<String>,
    /// Partition of the device: a number, `auto`, `any` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub partition: Option<String>,
    /// Whether an existing file system is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<bool>,
    /// Kind of file system that is replaced even without `overwrite`.
    #[serde(rename = "replaceFS", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub replace_fs: Option<String>,
    /// Further options of the command that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 256)))]
    pub extra_opts: Option<Vec<String>>,
}
