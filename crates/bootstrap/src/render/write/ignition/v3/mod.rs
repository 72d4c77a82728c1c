//! Ignition 3.4: its configs as far as plans need them (Ignition configuration specification
//! v3.4.0).

mod encoder;
mod files;
mod findings;
mod mounts;
mod specification;

use serde::Serialize;

pub use encoder::encode;
pub use files::Unfit;
pub(super) use findings::render;
pub use specification::{Fault, check};

const VERSION: &str = "3.4.0";

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Config {
    ignition: Ignition,
    #[serde(skip_serializing_if = "Option::is_none")]
    passwd: Option<Passwd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<Storage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    systemd: Option<Systemd>,
}

/// What the config is, and other configs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Ignition {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<OtherConfigs>,
}

/// Other configs: those that are merged into this one, or the one that replaces it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct OtherConfigs {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    merge: Vec<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replace: Option<Resource>,
}

/// Data by its URL.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Resource {
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<&'static str>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Passwd {
    users: Vec<User>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct User {
    #[serde(skip_serializing_if = "String::is_empty")]
    gecos: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    home_dir: String,
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    password_hash: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    primary_group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    shell: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ssh_authorized_keys: Vec<String>,
}

/// Disks, file systems and what is on them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Storage {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    directories: Vec<Directory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disks: Vec<Disk>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<File>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filesystems: Vec<Filesystem>,
}

/// A user or a group, by name or number.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Owner {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Directory {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Owner>,
    mode: u32,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Owner>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct File {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    append: Vec<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Owner>,
    mode: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    overwrite: Option<bool>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<Owner>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Disk {
    device: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partitions: Vec<Partition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wipe_table: Option<bool>,
}

/// A partition; without a size it is as large as there is room.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Partition {
    number: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Filesystem {
    device: String,
    format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wipe_filesystem: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Systemd {
    units: Vec<Unit>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Unit {
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<String>,
    enabled: bool,
    name: String,
}
