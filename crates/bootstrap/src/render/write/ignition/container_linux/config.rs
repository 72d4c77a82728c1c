//! A Container Linux Config: the transpiler's types with their own checks
//! (container-linux-config-transpiler v0.9.4, `config/types`).

use super::decode::{Bytes, Decoded, Decoder, FromMapping};
use super::go_struct::go_struct;
use super::services::{Docker, Etcd, Flannel};
use super::update;
use crate::render::write::ignition::checked::{Checked, Shape};
use crate::render::write::ignition::findings::{Entry, Severity};
use windlass_go_yaml::yaml_v3::NodeId;

go_struct! {
    /// The whole document.
    Config = "types.Config" {
        version: i64 = "version",
        ignition: Ignition = "ignition",
        storage: Storage = "storage",
        systemd: Systemd = "systemd",
        networkd: Networkd = "networkd",
        passwd: Passwd = "passwd",
        etcd: Option<Etcd> = "etcd",
        flannel: Option<Flannel> = "flannel",
        update: Option<update::Update> = "update",
        docker: Option<Docker> = "docker",
        locksmith: Option<update::Locksmith> = "locksmith",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            let is_wrong = key == "version" && self.version != 0;
            is_wrong.then(|| Entry::error("Invalid version. Only version 0 is supported")).into_iter().collect()
        }
    }
}

go_struct! {
    /// Settings of Ignition itself.
    Ignition = "types.Ignition" {
        config: IgnitionConfig = "config",
        timeouts: Timeouts = "timeouts",
        security: Security = "security",
    }
}

go_struct! {
    /// Other configs.
    IgnitionConfig = "types.IgnitionConfig" {
        append: Vec<Reference> = "append",
        replace: Option<Reference> = "replace",
    }
}

go_struct! {
    /// Another config, or the certificate of an authority.
    Reference = "types.ConfigReference" {
        source: String = "source",
        verification: Verification = "verification",
    }
}

go_struct! {
    /// How long requests may last.
    Timeouts = "types.Timeouts" {
        http_response_headers: Option<i64> = "http_response_headers",
        http_total: Option<i64> = "http_total",
    }
}

go_struct! {
    /// Whom Ignition trusts.
    Security = "types.Security" {
        tls: Tls = "tls",
    }
}

go_struct! {
    /// The authorities for TLS.
    Tls = "types.TLS" {
        certificate_authorities: Vec<CaReference> = "certificate_authorities",
    }
}

go_struct! {
    /// The certificate of an authority.
    CaReference = "types.CaReference" {
        source: String = "source",
        verification: Verification = "verification",
    }
}

go_struct! {
    /// What a download must be.
    Verification = "types.Verification" {
        hash: Hash = "hash",
    }
}

go_struct! {
    /// A hash.
    Hash = "types.Hash" {
        function: String = "function",
        sum: String = "sum",
    }
}

go_struct! {
    /// Disks, file systems and what is on them.
    Storage = "types.Storage" {
        disks: Vec<Disk> = "disks",
        arrays: Vec<Raid> = "raid",
        filesystems: Vec<Filesystem> = "filesystems",
        files: Vec<File> = "files",
        directories: Vec<Directory> = "directories",
        links: Vec<Link> = "links",
    }
}

go_struct! {
    /// A disk.
    Disk = "types.Disk" {
        device: String = "device",
        wipe_table: bool = "wipe_table",
        partitions: Vec<Partition> = "partitions",
    }
}

go_struct! {
    /// A partition.
    Partition = "types.Partition" {
        label: Option<String> = "label",
        number: i64 = "number",
        size: String = "size",
        start: String = "start",
        guid: String = "guid",
        type_guid: String = "type_guid",
    }
}

go_struct! {
    /// A RAID array.
    Raid = "types.Raid" {
        name: String = "name",
        level: String = "level",
        devices: Vec<String> = "devices",
        spares: i64 = "spares",
        options: Vec<String> = "options",
    }
}

go_struct! {
    /// A file system.
    Filesystem = "types.Filesystem" {
        name: String = "name",
        mount: Option<Mount> = "mount",
        path: Option<String> = "path",
    }
}

go_struct! {
    /// How a file system is made.
    Mount = "types.Mount" {
        device: String = "device",
        format: String = "format",
        create: Option<Create> = "create",
        wipe_filesystem: bool = "wipe_filesystem",
        label: Option<String> = "label",
        uuid: Option<String> = "uuid",
        options: Vec<String> = "options",
    }
}

go_struct! {
    /// How a file system was made in earlier versions.
    Create = "types.Create" {
        force: bool = "force",
        options: Vec<String> = "options",
    }
}

go_struct! {
    /// A user by number or name.
    FileUser = "types.FileUser" {
        id: Option<i64> = "id",
        name: String = "name",
    }
}

go_struct! {
    /// A group by number or name.
    FileGroup = "types.FileGroup" {
        id: Option<i64> = "id",
        name: String = "name",
    }
}

go_struct! {
    /// A file.
    File = "types.File" {
        filesystem: String = "filesystem",
        path: String = "path",
        user: Option<FileUser> = "user",
        group: Option<FileGroup> = "group",
        mode: Option<i64> = "mode",
        contents: FileContents = "contents",
        overwrite: Option<bool> = "overwrite",
        append: bool = "append",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            let entry = match self.append {
                _ if key != "mode" || self.mode.is_some() => return Vec::new(),
                true => Entry::new(Severity::Info, "mode unspecified for file, defaulting to 0644 if the file does not exist"),
                false => Entry::warning("mode unspecified for file, defaulting to 0644"),
            };
            vec![entry]
        }
    }
}

go_struct! {
    /// What a file holds.
    FileContents = "types.FileContents" {
        remote: Remote = "remote",
        inline: Bytes = "inline",
        local: String = "local",
    } {
        fn check(&self) -> Vec<Entry> {
            let given = [!self.remote.url.is_empty(), !self.inline.0.is_empty(), !self.local.is_empty()];
            let several = given.into_iter().filter(|given| *given).count() > 1;
            several.then(|| Entry::error("only one of the following can be set: local, inline, remote.url")).into_iter().collect()
        }
    }
}

go_struct! {
    /// A download.
    Remote = "types.Remote" {
        url: String = "url",
        compression: String = "compression",
        verification: Verification = "verification",
    }
}

go_struct! {
    /// A directory.
    Directory = "types.Directory" {
        filesystem: String = "filesystem",
        path: String = "path",
        user: Option<FileUser> = "user",
        group: Option<FileGroup> = "group",
        mode: Option<i64> = "mode",
        overwrite: Option<bool> = "overwrite",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            let is_missing = key == "mode" && self.mode.is_none();
            is_missing.then(|| Entry::warning("mode unspecified for directory, defaulting to 0755")).into_iter().collect()
        }
    }
}

go_struct! {
    /// A link.
    Link = "types.Link" {
        filesystem: String = "filesystem",
        path: String = "path",
        user: Option<FileUser> = "user",
        group: Option<FileGroup> = "group",
        hard: bool = "hard",
        target: String = "target",
        overwrite: Option<bool> = "overwrite",
    }
}

go_struct! {
    /// Units of systemd.
    Systemd = "types.Systemd" {
        units: Vec<SystemdUnit> = "units",
    }
}

go_struct! {
    /// A unit of systemd.
    SystemdUnit = "types.SystemdUnit" {
        name: String = "name",
        enable: bool = "enable",
        enabled: Option<bool> = "enabled",
        mask: bool = "mask",
        contents: String = "contents",
        dropins: Vec<SystemdDropIn> = "dropins",
    }
}

go_struct! {
    /// A drop-in of a unit of systemd.
    SystemdDropIn = "types.SystemdUnitDropIn" {
        name: String = "name",
        contents: String = "contents",
    }
}

go_struct! {
    /// Units of networkd.
    Networkd = "types.Networkd" {
        units: Vec<NetworkdUnit> = "units",
    }
}

go_struct! {
    /// A unit of networkd.
    NetworkdUnit = "types.NetworkdUnit" {
        name: String = "name",
        contents: String = "contents",
        dropins: Vec<NetworkdDropIn> = "dropins",
    }
}

go_struct! {
    /// A drop-in of a unit of networkd.
    NetworkdDropIn = "types.NetworkdUnitDropIn" {
        name: String = "name",
        contents: String = "contents",
    }
}

go_struct! {
    /// Users and groups.
    Passwd = "types.Passwd" {
        users: Vec<User> = "users",
        groups: Vec<Group> = "groups",
    }
}

go_struct! {
    /// A user.
    User = "types.User" {
        name: String = "name",
        password_hash: Option<String> = "password_hash",
        ssh_authorized_keys: Vec<String> = "ssh_authorized_keys",
        create: Option<UserCreate> = "create",
        uid: Option<i64> = "uid",
        gecos: String = "gecos",
        home_dir: String = "home_dir",
        no_create_home: bool = "no_create_home",
        primary_group: String = "primary_group",
        groups: Vec<String> = "groups",
        no_user_group: bool = "no_user_group",
        system: bool = "system",
        no_log_init: bool = "no_log_init",
        shell: String = "shell",
    }
}

go_struct! {
    /// How a user was made in earlier versions.
    UserCreate = "types.UserCreate" {
        uid: Option<u64> = "uid",
        gecos: String = "gecos",
        home_dir: String = "home_dir",
        no_create_home: bool = "no_create_home",
        primary_group: String = "primary_group",
        groups: Vec<String> = "groups",
        no_user_group: bool = "no_user_group",
        system: bool = "system",
        no_log_init: bool = "no_log_init",
        shell: String = "shell",
    }
}

go_struct! {
    /// A group.
    Group = "types.Group" {
        name: String = "name",
        gid: Option<u64> = "gid",
        password_hash: String = "password_hash",
        system: bool = "system",
    }
}
