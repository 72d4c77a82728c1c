//! The sections that come after the commands: time, users, disks, mounts.
//!
//! `capi` writes what the provider's templates write, also keys without a value; `typed` leaves
//! those out.

use super::partition_type;
use super::scalar::{put, put_scalar};
use crate::render::input::request::Encoder;
use crate::render::plan::node_plan::PlannedUser;
use windlass_capi::api::node::PartitionLayout;
use windlass_capi::api::v1beta2::{DiskSetup, Filesystem, Ntp, Partition};

pub(super) struct Sections<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) encoder: Encoder,
}

impl Sections<'_> {
    fn put(&mut self, text: &str) {
        put(self.out, text);
    }

    fn scalar(&mut self, prefix: &str, text: &str) {
        self.put(prefix);
        put_scalar(self.out, self.encoder, text.as_bytes());
    }

    /// Appends `prefix` and a text, unless the text is empty.
    fn text(&mut self, prefix: &str, text: &str) {
        if !text.is_empty() {
            self.scalar(prefix, text);
        }
    }

    /// Appends `prefix` and a flag, when it is set.
    fn flag(&mut self, prefix: &str, flag: Option<bool>) {
        if let Some(flag) = flag {
            self.put(prefix);
            self.put(if flag { "true" } else { "false" });
        }
    }

    /// Appends a key and its items; without items `typed` leaves out the key.
    fn list(&mut self, key: &str, prefix: &str, items: &[String]) {
        if items.is_empty() && self.encoder == Encoder::Typed {
            return;
        }
        self.put(key);
        for item in items {
            self.scalar(prefix, item);
        }
    }

    /// The section `ntp`; there as soon as the user said anything.
    pub(super) fn ntp(&mut self, ntp: Option<&Ntp>) {
        let Some(Ntp { servers, enabled }) = ntp else {
            return;
        };
        let servers = servers.as_deref().unwrap_or_default();
        if self.encoder == Encoder::Typed && servers.is_empty() && enabled.is_none() {
            return;
        }
        self.put("\nntp:");
        self.flag("\n  enabled: ", *enabled);
        self.list("\n  servers:", "\n    - ", servers);
    }

    pub(super) fn users(&mut self, users: &[PlannedUser]) {
        if users.is_empty() {
            return;
        }
        self.put("\nusers:");
        for user in users {
            self.user(user);
        }
    }

    fn user(&mut self, user: &PlannedUser) {
        let PlannedUser {
            name,
            passwd,
            writes_empty_passwd,
            gecos,
            groups,
            home_dir,
            inactive,
            lock_password,
            shell,
            primary_group,
            sudo,
            ssh_authorized_keys,
        } = user;
        self.scalar("\n  - name: ", name);
        if *writes_empty_passwd || !passwd.expose().is_empty() {
            self.put("\n    passwd: ");
            put_scalar(self.out, self.encoder, passwd.expose());
        }
        self.text("\n    gecos: ", gecos);
        self.text("\n    groups: ", groups);
        self.text("\n    homedir: ", home_dir);
        self.inactive(*inactive);
        self.flag("\n    lock_passwd: ", *lock_password);
        self.text("\n    shell: ", shell);
        self.text("\n    primary_group: ", primary_group);
        self.text("\n    sudo: ", sudo);
        if !ssh_authorized_keys.is_empty() {
            self.list(
                "\n    ssh_authorized_keys:",
                "\n      - ",
                ssh_authorized_keys,
            );
        }
    }

    /// cloud-init takes the number of days until an account is disabled after its password expired,
    /// and ignores `true`.
    fn inactive(&mut self, inactive: Option<bool>) {
        match (self.encoder, inactive) {
            (Encoder::Capi, inactive) => self.flag("\n    inactive: ", inactive),
            (Encoder::Typed, Some(true)) => self.put("\n    inactive: \"0\""),
            (Encoder::Typed, _) => {}
        }
    }

    /// The sections `disk_setup` and `fs_setup`; `capi` writes both as soon as the user said
    /// anything of disks.
    pub(super) fn disk_setup(&mut self, setup: Option<&DiskSetup>) {
        let Some(DiskSetup {
            partitions,
            filesystems,
        }) = setup
        else {
            return;
        };
        let (partitions, filesystems) = (
            partitions.as_deref().unwrap_or_default(),
            filesystems.as_deref().unwrap_or_default(),
        );
        let both = self.encoder == Encoder::Capi;
        if both || !partitions.is_empty() {
            self.put("\ndisk_setup:");
            partitions.iter().for_each(|disk| self.partition(disk));
        }
        if both || !filesystems.is_empty() {
            self.put("\nfs_setup:");
            filesystems
                .iter()
                .for_each(|filesystem| self.file_system(filesystem));
        }
    }

    fn partition(&mut self, partition: &Partition) {
        let Partition {
            device,
            layout,
            disk_layout,
            overwrite,
            table_type,
        } = partition;
        self.scalar("\n  ", device);
        self.put(":");
        self.text(
            "\n    table_type: ",
            table_type.map_or("", |table| table.as_str()),
        );
        match (disk_layout.as_deref().unwrap_or_default(), layout) {
            ([], Some(layout)) => self.flag("\n    layout: ", Some(*layout)),
            ([], None) => self.put("\n    layout: <nil>"),
            (parts, _) => {
                self.put("\n    layout:");
                parts.iter().for_each(|part| self.part(part));
            }
        }
        self.flag("\n    overwrite: ", *overwrite);
    }

    fn part(&mut self, part: &PartitionLayout) {
        let PartitionLayout {
            percentage,
            partition_type,
        } = part;
        match partition_type.as_deref().unwrap_or_default() {
            "" => self.put(&format!("\n      - {percentage}")),
            name => {
                self.put(&format!("\n      - [{percentage}, "));
                match partition_type::code(name) {
                    Some(code) => self.put(code),
                    None => self.scalar("", name),
                }
                self.put("]");
            }
        }
    }

    fn file_system(&mut self, system: &Filesystem) {
        let Filesystem {
            device,
            filesystem,
            label,
            partition,
            overwrite,
            replace_fs,
            extra_opts,
        } = system;
        let label = label.as_deref().unwrap_or_default();
        match (label, self.encoder) {
            ("", Encoder::Typed) => self.scalar("\n  - filesystem: ", filesystem),
            _ => {
                self.put("\n  - label: ");
                if !label.is_empty() {
                    self.scalar("", label);
                }
                self.scalar("\n    filesystem: ", filesystem);
            }
        }
        self.scalar("\n    device: ", device);
        match partition.as_deref().unwrap_or_default() {
            // cloud-init takes numbers of partitions as numbers alone.
            number if is_number(number) => self.put(&format!("\n    partition: {number}")),
            name => self.text("\n    partition: ", name),
        }
        self.flag("\n    overwrite: ", *overwrite);
        self.text(
            "\n    replace_fs: ",
            replace_fs.as_deref().unwrap_or_default(),
        );
        if let Some(options) = extra_opts.as_ref().filter(|options| !options.is_empty()) {
            self.list("\n    extra_opts:", "\n      - ", options);
        }
    }

    /// The section `mounts`; a line of blanks follows each mount. `typed` leaves out a mount
    /// without fields.
    pub(super) fn mounts(&mut self, mounts: &[Vec<String>]) {
        let is_written = |mount: &&Vec<String>| self.encoder == Encoder::Capi || !mount.is_empty();
        let mounts: Vec<&Vec<String>> = mounts.iter().filter(is_written).collect();
        if mounts.is_empty() {
            return;
        }
        self.put("\nmounts:");
        for mount in mounts {
            self.put("\n  - ");
            for field in mount {
                self.scalar("- ", field);
                self.put("\n    ");
            }
        }
    }
}

/// Whether a text is a number to every reader of YAML.
fn is_number(text: &str) -> bool {
    let digits = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && (text == "0" || !text.starts_with('0'))
}
