//! Disks, file systems and what is on them.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Verification, checks, empty, ignition_struct};
use crate::render::write::ignition::checked::{Checked, Shape};
use crate::render::write::ignition::findings::Entry;
use windlass_go_text as go;

ignition_struct! {
    /// Disks, file systems and what is on them.
    Storage {
        directories: Vec<Directory> = "directories" ? "empty",
        disks: Vec<Disk> = "disks" ? "empty",
        files: Vec<File> = "files" ? "empty",
        filesystems: Vec<Filesystem> = "filesystems" ? "empty",
        links: Vec<Link> = "links" ? "empty",
        raid: Vec<Raid> = "raid" ? "empty",
    }
}

ignition_struct! {
    /// A directory.
    Directory {
        filesystem: String = "filesystem",
        group: Option<Owner> = "group" ? "empty",
        overwrite: Option<bool> = "overwrite" ? "empty",
        path: String = "path",
        user: Option<Owner> = "user" ? "empty",
        mode: Option<i64> = "mode" ? "empty",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "mode" => checks::mode(self.mode),
                "path" => checks::path(&self.path),
                "filesystem" => checks::filesystem_name(&self.filesystem),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// A file.
    File {
        filesystem: String = "filesystem",
        group: Option<Owner> = "group" ? "empty",
        overwrite: Option<bool> = "overwrite" ? "empty",
        path: String = "path",
        user: Option<Owner> = "user" ? "empty",
        append: bool = "append" ? "empty",
        contents: FileContents = "contents",
        mode: Option<i64> = "mode" ? "empty",
    } {
        fn check(&self) -> Vec<Entry> {
            let both = self.append && self.overwrite == Some(true);
            both.then(|| Entry::error("cannot set both append and overwrite to true")).into_iter().collect()
        }

        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "mode" => checks::mode(self.mode),
                "path" => checks::path(&self.path),
                "filesystem" => checks::filesystem_name(&self.filesystem),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// A link.
    Link {
        filesystem: String = "filesystem",
        group: Option<Owner> = "group" ? "empty",
        overwrite: Option<bool> = "overwrite" ? "empty",
        path: String = "path",
        user: Option<Owner> = "user" ? "empty",
        hard: bool = "hard" ? "empty",
        target: String = "target",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "path" => checks::path(&self.path),
                "filesystem" => checks::filesystem_name(&self.filesystem),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// A user or a group by number or name.
    Owner {
        id: Option<i64> = "id" ? "empty",
        name: String = "name" ? "empty",
    } {
        fn check(&self) -> Vec<Entry> {
            let both = self.id.is_some() && !self.name.is_empty();
            both.then(|| Entry::error("cannot set both id and name")).into_iter().collect()
        }
    }
}

ignition_struct! {
    /// What a file holds.
    FileContents {
        compression: String = "compression" ? "empty",
        source: String = "source" ? "empty",
        verification: Verification = "verification",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "compression" => checks::compression(&self.compression),
                "source" => checks::file_source(&self.source),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// A disk.
    Disk {
        device: String = "device",
        partitions: Vec<Partition> = "partitions" ? "empty",
        wipe_table: bool = "wipeTable" ? "empty",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "device" if self.device.is_empty() => vec![Entry::error("disk device is required")],
                "device" => checks::path(&self.device),
                "partitions" => partition_numbers(&self.partitions),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// A partition.
    Partition {
        guid: String = "guid" ? "empty",
        label: Option<String> = "label" ? "empty",
        number: i64 = "number" ? "empty",
        size_mib: Option<i64> = "sizeMiB" ? "empty",
        start_mib: Option<i64> = "startMiB" ? "empty",
        type_guid: String = "typeGuid" ? "empty",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "guid" => checks::guid(&self.guid),
                "typeGuid" => checks::guid(&self.type_guid),
                "label" => checks::partition_label(self.label.as_deref()),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// A file system.
    Filesystem {
        mount: Option<Mount> = "mount" ? "empty",
        name: String = "name" ? "empty",
        path: Option<String> = "path" ? "empty",
    } {
        fn check(&self) -> Vec<Entry> {
            filesystem(self)
        }

        fn check_field(&self, key: &str) -> Vec<Entry> {
            let is_relative = key == "path" && self.path.as_ref().is_some_and(|path| !path.starts_with('/'));
            is_relative.then(|| Entry::error(format!("filesystem {}: path not absolute", go::quote(&self.name)))).into_iter().collect()
        }
    }
}

ignition_struct! {
    /// How a file system is made.
    Mount {
        create: Option<Create> = "create" ? "empty",
        device: String = "device",
        format: String = "format",
        label: Option<String> = "label" ? "empty",
        options: Vec<String> = "options" ? "empty",
        uuid: Option<String> = "uuid" ? "empty",
        wipe_filesystem: bool = "wipeFilesystem" ? "empty",
    } {
        fn check(&self) -> Vec<Entry> {
            let is_known = matches!(self.format.as_str(), "ext4" | "btrfs" | "xfs" | "swap" | "vfat");
            (!is_known).then(|| Entry::error("invalid filesystem format")).into_iter().collect()
        }

        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "device" => checks::path(&self.device),
                "label" => checks::filesystem_label(&self.format, self.label.as_deref()),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// The deprecated `create` object of a file system.
    Create {
        force: bool = "force" ? "empty",
        options: Vec<String> = "options" ? "empty",
    }
}

ignition_struct! {
    /// A RAID array. Go writes `null` where it has no devices.
    Raid {
        devices: Option<Vec<String>> = "devices",
        level: String = "level",
        name: String = "name",
        options: Vec<String> = "options" ? "empty",
        spares: i64 = "spares" ? "empty",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "devices" => self.devices.iter().flatten().flat_map(|device| checks::path(device)).collect(),
                "level" => checks::raid_level(&self.level, self.spares),
                _ => Vec::new(),
            }
        }
    }
}

fn partition_numbers(partitions: &[Partition]) -> Vec<Entry> {
    let mut numbers = BTreeSet::new();
    let mut given = partitions
        .iter()
        .map(|partition| partition.number)
        .filter(|number| *number != 0);
    checks::error_if(
        !given.all(|number| numbers.insert(number)),
        "partition numbers collide",
    )
}

fn filesystem(filesystem: &Filesystem) -> Vec<Entry> {
    let Some(mount) = &filesystem.mount else {
        return checks::error_if(
            filesystem.path.is_none(),
            "filesystem is missing mount or path",
        );
    };
    let mut found = checks::error_if(
        filesystem.path.is_some(),
        "filesystem has both mount and path defined",
    );
    if mount.create.is_some() {
        found.extend(checks::error_if(
            mount.wipe_filesystem,
            "cannot use both create object and wipeFilesystem field",
        ));
        found.extend(checks::error_if(
            !mount.options.is_empty(),
            "cannot use both create object and mount-level options field",
        ));
        found.push(Entry::warning(
            "the create object has been deprecated in favor of mount-level options",
        ));
    }
    found
}
