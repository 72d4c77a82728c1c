//! One config after another, as Ignition 2.3 merges them: lists one after the other, values of the
//! later one before those of the earlier (`config/v2_3/append.go`). Nothing is matched by name.

use super::{Config, Ignition, Networkd, Passwd, Security, Storage, Systemd, Timeouts, Tls};

impl Config {
    /// The config with another one after it: its version stays, and the other's references to
    /// configs replace its own.
    pub(crate) fn append(self, later: Config) -> Config {
        fn chain<T>(mut one: Vec<T>, later: Vec<T>) -> Vec<T> {
            one.extend(later);
            one
        }
        let Config {
            ignition,
            networkd,
            passwd,
            storage,
            systemd,
        } = later;
        let authorities = self.ignition.security.tls.certificate_authorities;
        Config {
            ignition: Ignition {
                config: ignition.config,
                security: Security {
                    tls: Tls {
                        certificate_authorities: chain(
                            authorities,
                            ignition.security.tls.certificate_authorities,
                        ),
                    },
                },
                timeouts: Timeouts {
                    http_response_headers: ignition
                        .timeouts
                        .http_response_headers
                        .or(self.ignition.timeouts.http_response_headers),
                    http_total: ignition
                        .timeouts
                        .http_total
                        .or(self.ignition.timeouts.http_total),
                },
                version: self.ignition.version,
            },
            networkd: Networkd {
                units: chain(self.networkd.units, networkd.units),
            },
            passwd: Passwd {
                groups: chain(self.passwd.groups, passwd.groups),
                users: chain(self.passwd.users, passwd.users),
            },
            storage: Storage {
                directories: chain(self.storage.directories, storage.directories),
                disks: chain(self.storage.disks, storage.disks),
                files: chain(self.storage.files, storage.files),
                filesystems: chain(self.storage.filesystems, storage.filesystems),
                links: chain(self.storage.links, storage.links),
                raid: chain(self.storage.raid, storage.raid),
            },
            systemd: Systemd {
                units: chain(self.systemd.units, systemd.units),
            },
        }
    }
}
