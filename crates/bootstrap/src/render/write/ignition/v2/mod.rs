//! Ignition 2.3: the types of its configs with their checks (flatcar/ignition v0.36.2,
//! `config/v2_3/types`), in the order in which Go writes them.

mod append;
mod checks;
mod storage;

use serde::Serialize;

pub(crate) use self::storage::{
    Create, Directory, Disk, File, FileContents, Filesystem, Link, Mount, Owner, Partition, Raid,
    Storage,
};

use super::checked::{Checked, Shape};
use super::findings::Entry;

/// What Go leaves out when it is empty.
trait Empty {
    fn is_empty(&self) -> bool;
}

impl Empty for String {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

impl Empty for bool {
    fn is_empty(&self) -> bool {
        !self
    }
}

impl Empty for i64 {
    fn is_empty(&self) -> bool {
        *self == 0
    }
}

impl<T> Empty for Option<T> {
    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl<T> Empty for Vec<T> {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

fn empty(value: &impl Empty) -> bool {
    value.is_empty()
}

/// Declares a struct of Ignition: its fields with their keys, in the order of Go; `? "empty"` is
/// `omitempty`.
macro_rules! ignition_struct {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty = $key:literal $(? $skip:literal)?),* $(,)? } $({ $($rules:item)* })?) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize)]
        pub(crate) struct $name {
            $(#[serde(rename = $key $(, skip_serializing_if = $skip)?)] pub(crate) $field: $type),*
        }

        impl Checked for $name {
            fn shape(&self) -> Shape<'_> {
                Shape::Struct(vec![$(($key, &self.$field as &dyn Checked)),*])
            }

            $($($rules)*)?
        }
    };
}

use ignition_struct;

ignition_struct! {
    /// A config.
    Config {
        ignition: Ignition = "ignition",
        networkd: Networkd = "networkd",
        passwd: Passwd = "passwd",
        storage: Storage = "storage",
        systemd: Systemd = "systemd",
    } {
        fn check(&self) -> Vec<Entry> {
            checks::config(self)
        }
    }
}

ignition_struct! {
    /// Settings of Ignition itself.
    Ignition {
        config: IgnitionConfig = "config",
        security: Security = "security",
        timeouts: Timeouts = "timeouts",
        version: String = "version" ? "empty",
    }
}

ignition_struct! {
    /// Other configs.
    IgnitionConfig {
        append: Vec<Reference> = "append" ? "empty",
        replace: Option<Reference> = "replace" ? "empty",
    }
}

ignition_struct! {
    /// Another config, or the certificate of an authority.
    Reference {
        source: String = "source",
        verification: Verification = "verification",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            if key == "source" { checks::url(&self.source) } else { Vec::new() }
        }
    }
}

ignition_struct! {
    /// What a download must be.
    Verification {
        hash: Option<String> = "hash" ? "empty",
    } {
        fn check(&self) -> Vec<Entry> {
            checks::hash(self.hash.as_deref())
        }
    }
}

/// Whom Ignition trusts. Go embeds the type of `tls`, so its key is looked for one level too high.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Security {
    pub(crate) tls: Tls,
}

impl Checked for Security {
    fn shape(&self) -> Shape<'_> {
        self.tls.shape()
    }
}

ignition_struct! {
    /// The authorities for TLS.
    Tls {
        certificate_authorities: Vec<Reference> = "certificateAuthorities" ? "empty",
    }
}

ignition_struct! {
    /// How long requests may last.
    Timeouts {
        http_response_headers: Option<i64> = "httpResponseHeaders" ? "empty",
        http_total: Option<i64> = "httpTotal" ? "empty",
    }
}

ignition_struct! {
    /// Units of networkd.
    Networkd {
        units: Vec<NetworkdUnit> = "units" ? "empty",
    }
}

ignition_struct! {
    /// A unit of networkd.
    NetworkdUnit {
        contents: String = "contents" ? "empty",
        dropins: Vec<NetworkdDropin> = "dropins" ? "empty",
        name: String = "name",
    } {
        fn check(&self) -> Vec<Entry> {
            checks::file_of_unit(&self.name, &self.contents, &["link", "netdev", "network"], "invalid networkd unit extension")
        }
    }
}

ignition_struct! {
    /// A drop-in of a unit of networkd.
    NetworkdDropin {
        contents: String = "contents" ? "empty",
        name: String = "name",
    } {
        fn check(&self) -> Vec<Entry> {
            checks::file_of_unit(&self.name, &self.contents, &["conf"], "invalid networkd drop-in extension")
        }
    }
}

ignition_struct! {
    /// Groups and users.
    Passwd {
        groups: Vec<PasswdGroup> = "groups" ? "empty",
        users: Vec<PasswdUser> = "users" ? "empty",
    }
}

ignition_struct! {
    /// A group.
    PasswdGroup {
        gid: Option<i64> = "gid" ? "empty",
        name: String = "name",
        password_hash: String = "passwordHash" ? "empty",
        system: bool = "system" ? "empty",
    }
}

ignition_struct! {
    /// A user.
    PasswdUser {
        create: Option<UserCreate> = "create" ? "empty",
        gecos: String = "gecos" ? "empty",
        groups: Vec<String> = "groups" ? "empty",
        home_dir: String = "homeDir" ? "empty",
        name: String = "name",
        no_create_home: bool = "noCreateHome" ? "empty",
        no_log_init: bool = "noLogInit" ? "empty",
        no_user_group: bool = "noUserGroup" ? "empty",
        password_hash: Option<String> = "passwordHash" ? "empty",
        primary_group: String = "primaryGroup" ? "empty",
        ssh_authorized_keys: Vec<String> = "sshAuthorizedKeys" ? "empty",
        shell: String = "shell" ? "empty",
        system: bool = "system" ? "empty",
        uid: Option<i64> = "uid" ? "empty",
    } {
        fn check(&self) -> Vec<Entry> {
            checks::user(self)
        }
    }
}

ignition_struct! {
    /// How a user was made in earlier versions.
    UserCreate {
        gecos: String = "gecos" ? "empty",
        groups: Vec<String> = "groups" ? "empty",
        home_dir: String = "homeDir" ? "empty",
        no_create_home: bool = "noCreateHome" ? "empty",
        no_log_init: bool = "noLogInit" ? "empty",
        no_user_group: bool = "noUserGroup" ? "empty",
        primary_group: String = "primaryGroup" ? "empty",
        shell: String = "shell" ? "empty",
        system: bool = "system" ? "empty",
        uid: Option<i64> = "uid" ? "empty",
    }
}

ignition_struct! {
    /// Units of systemd.
    Systemd {
        units: Vec<Unit> = "units" ? "empty",
    }
}

ignition_struct! {
    /// A unit of systemd.
    Unit {
        contents: String = "contents" ? "empty",
        dropins: Vec<SystemdDropin> = "dropins" ? "empty",
        enable: bool = "enable" ? "empty",
        enabled: Option<bool> = "enabled" ? "empty",
        mask: bool = "mask" ? "empty",
        name: String = "name",
    } {
        fn check_field(&self, key: &str) -> Vec<Entry> {
            match key {
                "contents" => checks::unit_contents(self),
                "name" => checks::unit_name(&self.name),
                _ => Vec::new(),
            }
        }
    }
}

ignition_struct! {
    /// A drop-in of a unit of systemd.
    SystemdDropin {
        contents: String = "contents" ? "empty",
        name: String = "name",
    } {
        fn check(&self) -> Vec<Entry> {
            checks::file_of_unit(&self.name, &self.contents, &["conf"], "invalid systemd drop-in extension")
        }
    }
}
