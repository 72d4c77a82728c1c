//! The sections of CAPI's cloud-config that come after the commands: time, users, disks, mounts. Texts are not escaped.

use super::capi::put;
use super::partition_type;
use crate::api::node::PartitionLayout;
use crate::api::v1beta2::{DiskSetup, Filesystem, Ntp, Partition};
use crate::render::plan::PlannedUser;

/// Appends `prefix` and a text, unless the text is empty.
fn line(out: &mut Vec<u8>, prefix: &str, text: &str) {
    if !text.is_empty() {
        put(out, prefix);
        put(out, text);
    }
}

/// Appends `prefix` and a flag, when it is set.
fn flag(out: &mut Vec<u8>, prefix: &str, flag: Option<bool>) {
    if let Some(flag) = flag {
        line(out, prefix, if flag { "true" } else { "false" });
    }
}

/// Appends `prefix` and an item, for each item; an empty one too.
fn items(out: &mut Vec<u8>, prefix: &str, items: &[String]) {
    for item in items {
        put(out, prefix);
        put(out, item);
    }
}

/// The section `ntp`; there as soon as the user said anything.
pub(super) fn ntp(out: &mut Vec<u8>, ntp: Option<&Ntp>) {
    let Some(Ntp { servers, enabled }) = ntp else { return };
    put(out, "\nntp:\n  ");
    if let Some(enabled) = enabled {
        put(out, if *enabled { "enabled: true\n  " } else { "enabled: false\n  " });
    }
    put(out, "servers:");
    items(out, "\n    - ", servers.as_deref().unwrap_or_default());
}

/// The section `users`.
pub(super) fn users(out: &mut Vec<u8>, users: &[PlannedUser]) {
    if users.is_empty() {
        return;
    }
    put(out, "\nusers:");
    for user in users {
        let PlannedUser { name, passwd, gecos, groups, home_dir, inactive, lock_password, shell, primary_group, sudo, ssh_authorized_keys } =
            user;
        put(out, "\n  - name: ");
        put(out, name);
        if !passwd.expose().is_empty() {
            put(out, "\n    passwd: ");
            out.extend_from_slice(passwd.expose());
        }
        line(out, "\n    gecos: ", gecos);
        line(out, "\n    groups: ", groups);
        line(out, "\n    homedir: ", home_dir);
        flag(out, "\n    inactive: ", *inactive);
        flag(out, "\n    lock_passwd: ", *lock_password);
        line(out, "\n    shell: ", shell);
        line(out, "\n    primary_group: ", primary_group);
        line(out, "\n    sudo: ", sudo);
        if !ssh_authorized_keys.is_empty() {
            put(out, "\n    ssh_authorized_keys:");
            items(out, "\n      - ", ssh_authorized_keys);
        }
    }
}

/// The sections `disk_setup` and `fs_setup`; both are there as soon as the user said anything of disks.
pub(super) fn disk_setup(out: &mut Vec<u8>, setup: Option<&DiskSetup>) {
    let Some(DiskSetup { partitions, filesystems }) = setup else { return };
    put(out, "\ndisk_setup:");
    for disk in partitions.as_deref().unwrap_or_default() {
        partition(out, disk);
    }
    put(out, "\nfs_setup:");
    for filesystem in filesystems.as_deref().unwrap_or_default() {
        file_system(out, filesystem);
    }
}

fn partition(out: &mut Vec<u8>, partition: &Partition) {
    let Partition { device, layout, disk_layout, overwrite, table_type } = partition;
    put(out, "\n  ");
    put(out, device);
    put(out, ":");
    line(out, "\n    table_type: ", table_type.map_or("", |table| table.as_str()));
    match (disk_layout.as_deref().unwrap_or_default(), layout) {
        ([], Some(layout)) => flag(out, "\n    layout: ", Some(*layout)),
        ([], None) => put(out, "\n    layout: <nil>"),
        (parts, _) => {
            put(out, "\n    layout:");
            for PartitionLayout { percentage, partition_type } in parts {
                let item = match partition_type.as_deref().unwrap_or_default() {
                    "" => format!("\n      - {percentage}"),
                    name => format!("\n      - [{percentage}, {}]", partition_type::code(name)),
                };
                put(out, &item);
            }
        }
    }
    flag(out, "\n    overwrite: ", *overwrite);
}

fn file_system(out: &mut Vec<u8>, system: &Filesystem) {
    let Filesystem { device, filesystem, label, partition, overwrite, replace_fs, extra_opts } = system;
    put(out, "\n  - label: ");
    put(out, label.as_deref().unwrap_or_default());
    put(out, "\n    filesystem: ");
    put(out, filesystem);
    put(out, "\n    device: ");
    put(out, device);
    line(out, "\n    partition: ", partition.as_deref().unwrap_or_default());
    flag(out, "\n    overwrite: ", *overwrite);
    line(out, "\n    replace_fs: ", replace_fs.as_deref().unwrap_or_default());
    if let Some(options) = extra_opts.as_ref().filter(|options| !options.is_empty()) {
        put(out, "\n    extra_opts:");
        items(out, "\n      - ", options);
    }
}

/// The section `mounts`; a line of blanks follows each mount.
pub(super) fn mounts(out: &mut Vec<u8>, mounts: &[Vec<String>]) {
    if mounts.is_empty() {
        return;
    }
    put(out, "\nmounts:");
    for mount in mounts {
        put(out, "\n  - ");
        for field in mount {
            put(out, "- ");
            put(out, field);
            put(out, "\n    ");
        }
    }
}
