//! A plan as Ignition 3.4. Names and places are those of 2.3, so that drop-ins keep working.

use std::collections::BTreeSet;

use super::files::{self, Unfit};
use super::mounts;
use super::{
    Config, Disk, Filesystem, Ignition, OtherConfigs, Partition, Passwd, Resource, Storage,
    Systemd, Unit, User, VERSION, check,
};
use crate::render::plan::node_plan::{NodePlan, PlannedUser};
use crate::render::write::ignition::{data_url, json, texts};
use windlass_capi::api::boot::Compression;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::{self, DiskSetup, Ntp};
use windlass_source::diag::FieldPath;
use windlass_source::gzip;

/// A plan as Ignition 3.4, with another config that is merged into it. `spec` is where the plan's
/// fields are in the user's object.
///
/// # Errors
///
/// What Ignition cannot express, at the user's fields.
pub fn encode(
    plan: &NodePlan,
    additional: Option<&str>,
    spec: &FieldPath,
) -> Result<Sensitive<Vec<u8>>, Vec<Unfit>> {
    let mut encoder = Encoder {
        spec,
        origins: Vec::new(),
        unfit: Vec::new(),
    };
    let mut config = encoder.config(plan);
    if let Some(text) = additional {
        let merge = vec![Resource {
            source: data_url::of_text(text.as_bytes()),
            compression: None,
        }];
        config.ignition.config = Some(OtherConfigs {
            merge,
            replace: None,
        });
    }
    let value = serde_json::to_value(&config).expect("internal error: a config is plain data");
    for fault in check(&value) {
        let help = "change the field so that Ignition takes it";
        encoder.unfit.push(Unfit {
            origin: encoder.origin(&fault.path),
            message: fault.message,
            help,
        });
    }
    if !encoder.unfit.is_empty() {
        return Err(encoder.unfit);
    }
    let document = json::to_bytes(&config);
    Ok(Sensitive::new(match plan.compression {
        Compression::None => document,
        Compression::Gzip => compressed(&document),
    }))
}

/// A config that is replaced by the one that it holds.
fn compressed(document: &[u8]) -> Vec<u8> {
    let replace = Resource {
        source: data_url::of_bytes(&gzip::compress(document)),
        compression: Some("gzip"),
    };
    let config = Some(OtherConfigs {
        merge: Vec::new(),
        replace: Some(replace),
    });
    json::to_bytes(&Config {
        ignition: Ignition {
            config,
            version: VERSION,
        },
        ..Config::default()
    })
}

/// Texts in their order, each once: Ignition rejects others.
fn each_once<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known = BTreeSet::new();
    texts
        .filter(|text| known.insert(*text))
        .map(str::to_owned)
        .collect()
}

/// Collects where parts of the config come from, and what does not fit.
struct Encoder<'a> {
    spec: &'a FieldPath,
    /// Paths within the config and the fields they come from.
    origins: Vec<(String, FieldPath)>,
    unfit: Vec<Unfit>,
}

impl Encoder<'_> {
    /// The field that a part of the config comes from.
    fn origin(&self, path: &str) -> FieldPath {
        let within = |known: &str| {
            path.strip_prefix(known)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let found = self.origins.iter().find(|(known, _)| within(known));
        found.map_or_else(|| self.spec.clone(), |(_, origin)| origin.clone())
    }

    fn from(&mut self, list: &str, index: usize, origin: Option<FieldPath>) {
        self.origins
            .extend(origin.map(|origin| (format!("{list}[{index}]"), origin)));
    }

    fn config(&mut self, plan: &NodePlan) -> Config {
        // Commands at boot and other platforms are rejected before; there is no jinja in Ignition.
        let NodePlan {
            files: _,
            kubeadm: _,
            verbosity: _,
            boot_commands: _,
            pre_kubeadm_commands: _,
            post_kubeadm_commands: _,
            users,
            ntp,
            disk_setup,
            mounts,
            directories,
            platform: _,
            on_failure: _,
            templating: _,
            compression: _,
        } = plan;
        let passwd = (!users.is_empty()).then(|| Passwd {
            users: self.users(users),
        });
        let mut storage = self.disk_setup(disk_setup.as_ref(), mounts);
        for (index, directory) in directories.iter().enumerate() {
            self.from("storage.directories", index, directory.origin.clone());
            storage
                .directories
                .extend(files::directory(directory, &mut self.unfit));
        }
        for (file, origin) in files::files(plan, self.spec, &mut self.unfit) {
            self.from("storage.files", storage.files.len(), origin);
            storage.files.push(file);
        }
        let systemd = Systemd {
            units: self.units(ntp.as_ref(), mounts, disk_setup.as_ref()),
        };
        Config {
            ignition: Ignition {
                config: None,
                version: VERSION,
            },
            passwd,
            storage: Some(storage),
            systemd: Some(systemd),
        }
    }

    fn users(&mut self, users: &[PlannedUser]) -> Vec<User> {
        let mut encoded = Vec::with_capacity(users.len());
        for (index, user) in users.iter().enumerate() {
            // Who may log in with a password and who may use sudo is said in files; an inactive
            // user is rejected before.
            let PlannedUser {
                name,
                passwd,
                writes_empty_passwd: _,
                gecos,
                groups,
                home_dir,
                inactive: _,
                lock_password: _,
                shell,
                primary_group,
                sudo: _,
                ssh_authorized_keys,
            } = user;
            let origin = self.spec.field("users").index(index);
            self.from("passwd.users", index, Some(origin.clone()));
            let password_hash = std::str::from_utf8(passwd.expose()).unwrap_or_else(|_| {
                self.unfit.push(Unfit::new(
                    origin.field("passwd"),
                    "is not text",
                    "store the hash of the password as text",
                ));
                ""
            });
            encoded.push(User {
                gecos: gecos.clone(),
                groups: each_once(
                    groups
                        .split(',')
                        .map(str::trim)
                        .filter(|group| !group.is_empty()),
                ),
                home_dir: home_dir.clone(),
                name: name.clone(),
                password_hash: password_hash.to_owned(),
                primary_group: primary_group.clone(),
                shell: shell.clone(),
                ssh_authorized_keys: each_once(ssh_authorized_keys.iter().map(String::as_str)),
            });
        }
        encoded
    }

    fn disk_setup(&mut self, setup: Option<&DiskSetup>, mounts: &[Vec<String>]) -> Storage {
        let mut storage = Storage::default();
        let Some(DiskSetup {
            partitions,
            filesystems,
        }) = setup
        else {
            return storage;
        };
        let origin = self.spec.field("diskSetup");
        for (index, partition) in partitions.iter().flatten().enumerate() {
            // The table is always GPT; another one is rejected before.
            let v1beta2::Partition {
                device,
                layout,
                disk_layout,
                overwrite,
                table_type: _,
            } = partition;
            let origin = origin.field("partitions").index(index);
            self.from("storage.disks", index, Some(origin.clone()));
            if disk_layout.as_ref().is_some_and(|parts| !parts.is_empty()) {
                let message = "cuts the disk up by percentages, which Ignition does not know";
                self.unfit.push(Unfit::new(
                    origin.field("diskLayout"),
                    message,
                    "write `layout: true`, or use cloud-config",
                ));
            }
            let whole = (*layout == Some(true)).then_some(Partition { number: 1 });
            storage.disks.push(Disk {
                device: files::clean(device),
                partitions: whole.into_iter().collect(),
                wipe_table: overwrite.filter(|wipe| *wipe),
            });
        }
        for (index, filesystem) in filesystems.iter().flatten().enumerate() {
            // Partitions and file systems to replace are rejected before.
            let v1beta2::Filesystem {
                device,
                filesystem: format,
                label,
                partition: _,
                overwrite,
                replace_fs: _,
                extra_opts,
            } = filesystem;
            self.from(
                "storage.filesystems",
                index,
                Some(origin.field("filesystems").index(index)),
            );
            storage.filesystems.push(Filesystem {
                device: files::clean(device),
                format: format.clone(),
                label: label.clone().filter(|label| !label.is_empty()),
                options: extra_opts.clone().unwrap_or_default(),
                path: mounts::mount_point(mounts, filesystem),
                wipe_filesystem: overwrite.filter(|wipe| *wipe),
            });
        }
        storage
    }

    fn units(
        &mut self,
        ntp: Option<&Ntp>,
        mounts: &[Vec<String>],
        setup: Option<&DiskSetup>,
    ) -> Vec<Unit> {
        let kubeadm = Unit {
            contents: Some(texts::kubeadm_unit(true)),
            enabled: true,
            name: "kubeadm.service".to_owned(),
        };
        let mut units = vec![kubeadm];
        if ntp.is_some_and(|ntp| ntp.enabled == Some(true)) {
            units.push(Unit {
                contents: None,
                enabled: true,
                name: "ntpd.service".to_owned(),
            });
        }
        for (index, mount) in mounts.iter().enumerate() {
            let origin = self.spec.field("mounts").index(index);
            self.from("systemd.units", units.len(), Some(origin.clone()));
            match mounts::unit(mount, setup) {
                Ok((name, contents)) => units.push(Unit {
                    contents: Some(contents),
                    enabled: true,
                    name,
                }),
                Err(message) => self.unfit.push(Unfit::new(
                    origin,
                    message,
                    "write the mount as [device, mount point, option…]",
                )),
            }
        }
        units
    }
}
