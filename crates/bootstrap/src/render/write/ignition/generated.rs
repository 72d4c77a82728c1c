//! The Container Linux Config that CAPI's kubeadm bootstrap provider makes of a plan, and where
//! each of its lines comes from.
//!
//! The provider writes it with a template, texts of the user without quotes; what YAML makes of
//! them is what the node gets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::script::{KUBEADM_FILE, SCRIPT_FILE, kubeadm_documents, script};
use super::texts::{self, NTP_FILE};
use crate::render::plan::node_plan::{NodePlan, PlannedDirectory, PlannedFile, PlannedUser};
use windlass_capi::api::v1beta2::{DiskSetup, Filesystem, Ntp, Partition};
use windlass_source::diag::FieldPath;

/// The text, and the fields of the config that its lines come from.
#[derive(Debug, Clone, Default)]
pub(super) struct Generated {
    pub(super) text: Vec<u8>,
    /// The first line, from 1, of each stretch, in order; `None` for what comes from no field of
    /// the user.
    origins: Vec<(u32, Option<FieldPath>)>,
    line: u32,
}

/// What the provider's template cannot write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unwritable {
    pub(super) upstream: String,
    pub(super) origin: FieldPath,
}

/// How releases differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Release {
    /// Whether the unit calls the script with `/bin/bash`.
    pub(super) calls_bash: bool,
    /// Whether `layout: false` means no partition.
    pub(super) layout_is_flag: bool,
    /// Whether files without permissions get some, as in a WindlassConfig.
    pub(super) fills_mode: bool,
}

pub(super) fn generate(
    plan: &NodePlan,
    release: Release,
    spec: &FieldPath,
) -> Result<Generated, Unwritable> {
    let NodePlan {
        files,
        users,
        ntp,
        disk_setup,
        mounts,
        ..
    } = plan;
    let mut out = Generated {
        line: 1,
        ..Generated::default()
    };
    out.put("---");
    out.users(users, spec);
    out.units(ntp.as_ref(), mounts, disk_setup.as_ref(), release, spec)?;
    out.put("\nstorage:");
    out.disks(disk_setup.as_ref(), release, spec);
    out.directories(&plan.directories);
    out.put("\n  files:");
    out.files_of_users(users, spec);
    for file in files {
        out.file(file, release);
    }
    out.kubeadm(plan, spec);
    out.ntp_file(ntp.as_ref(), spec);
    out.put("\n");
    Ok(out)
}

/// The devices of file systems by their labels, as the provider's map has them: the last one
/// counts.
pub(super) fn device_of<'a>(setup: Option<&'a DiskSetup>, label: &str) -> Option<&'a str> {
    let filesystems = setup
        .and_then(|setup| setup.filesystems.as_deref())
        .unwrap_or_default();
    filesystems
        .iter()
        .rev()
        .find(|filesystem| filesystem.label.as_deref().unwrap_or_default() == label)
        .map(|one| one.device.as_str())
}

impl Generated {
    pub(super) fn origin(&self, line: u32) -> Option<&FieldPath> {
        let after = self.origins.partition_point(|(first, _)| *first <= line);
        self.origins[..after]
            .last()
            .and_then(|(_, origin)| origin.as_ref())
    }

    /// The field whose text most likely breaks the document where it cannot be read on at a line:
    /// the last one before it whose lines leave their indentation, else that of the line, else
    /// the one before it.
    pub(super) fn breaks_at(&self, line: u32) -> Option<&FieldPath> {
        let lines: Vec<&[u8]> = self.text.split(|byte| *byte == b'\n').collect();
        let indent = |line: &[u8]| line.iter().position(|byte| *byte != b' ');
        let leaves = |first: u32, end: u32| {
            let mut indents = lines
                .get(first as usize - 1..(end as usize - 1).min(lines.len()))
                .into_iter()
                .flatten()
                .filter_map(|line| indent(line));
            indents
                .next()
                .is_some_and(|first| indents.any(|other| other < first))
        };
        let ends = self
            .origins
            .iter()
            .skip(1)
            .map(|(first, _)| *first)
            .chain([u32::MAX]);
        let before: Vec<_> = self
            .origins
            .iter()
            .zip(ends)
            .take_while(|((first, _), _)| *first <= line)
            .collect();
        let of_user = before
            .iter()
            .rev()
            .filter_map(|((first, origin), end)| Some((*first, *end, origin.as_ref()?)));
        let broken = of_user.clone().find(|(first, end, _)| leaves(*first, *end));
        broken
            .map(|(.., origin)| origin)
            .or_else(|| self.origin(line))
            .or_else(|| of_user.map(|(.., origin)| origin).next())
    }

    fn put(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    fn put_bytes(&mut self, text: &[u8]) {
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        self.line += u32::try_from(lines).unwrap_or_default();
        self.text.extend_from_slice(text);
    }

    /// What is put next, in the next line, comes from there.
    fn from(&mut self, origin: Option<FieldPath>) {
        self.origins.push((self.line + 1, origin));
    }

    /// A key with its text, unless that is empty.
    fn text(&mut self, key: &str, text: &str, origin: &FieldPath, field: &str) {
        if !text.is_empty() {
            self.from(Some(origin.field(field)));
            self.put(key);
            self.put(text);
        }
    }

    /// A text of several lines, indented as a block in a file is.
    fn indented(&mut self, text: &[u8]) {
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                self.put("\n          ");
            }
            self.put_bytes(line);
        }
    }

    fn users(&mut self, users: &[PlannedUser], spec: &FieldPath) {
        if users.is_empty() {
            return;
        }
        self.put("\npasswd:\n  users:");
        for (index, user) in users.iter().enumerate() {
            let origin = spec.field("users").index(index);
            self.text("\n    - name: ", &user.name, &origin, "name");
            self.text("\n      gecos: ", &user.gecos, &origin, "gecos");
            if !user.groups.is_empty() {
                self.from(Some(origin.field("groups")));
                self.put("\n      groups:");
                for group in user.groups.split(", ") {
                    self.put("\n        - ");
                    self.put(group);
                }
            }
            self.text("\n      home_dir: ", &user.home_dir, &origin, "homeDir");
            self.text("\n      shell: ", &user.shell, &origin, "shell");
            if user.writes_empty_passwd || !user.passwd.expose().is_empty() {
                self.from(Some(origin.field("passwd")));
                self.put("\n      password_hash: ");
                self.put_bytes(user.passwd.expose());
            }
            self.text(
                "\n      primary_group: ",
                &user.primary_group,
                &origin,
                "primaryGroup",
            );
            if !user.ssh_authorized_keys.is_empty() {
                self.put("\n      ssh_authorized_keys:");
                for (index, key) in user.ssh_authorized_keys.iter().enumerate() {
                    self.from(Some(origin.field("sshAuthorizedKeys").index(index)));
                    self.put("\n        - ");
                    self.put(key);
                }
            }
        }
        self.from(None);
    }

    fn units(
        &mut self,
        ntp: Option<&Ntp>,
        mounts: &[Vec<String>],
        setup: Option<&DiskSetup>,
        release: Release,
        spec: &FieldPath,
    ) -> Result<(), Unwritable> {
        self.put("\nsystemd:\n  units:\n    - name: kubeadm.service\n      enabled: true\n      contents: |");
        for line in texts::kubeadm_unit(release.calls_bash).lines() {
            self.put("\n        ");
            self.put(line);
        }
        if ntp.is_some_and(|ntp| ntp.enabled.is_some()) {
            self.put("\n    - name: ntpd.service\n      enabled: true");
        }
        for (index, mount) in mounts.iter().enumerate() {
            let origin = spec.field("mounts").index(index);
            let [label, mount_point, options @ ..] = mount.as_slice() else {
                let upstream = if mount.is_empty() {
                    texts::MOUNT_EMPTY
                } else {
                    texts::MOUNT_TOO_SHORT
                };
                return Err(Unwritable {
                    upstream: upstream.to_owned(),
                    origin,
                });
            };
            self.from(Some(origin));
            let name = mount_point.replace('/', "-");
            self.put("\n    - name: ");
            self.put(name.strip_prefix('-').unwrap_or(&name));
            self.put(".mount\n      enabled: true\n      contents: |\n        [Unit]\n        Description = Mount ");
            self.put(label);
            self.put("\n\n        [Mount]\n        What=");
            self.put(device_of(setup, label).unwrap_or_default());
            self.put("\n        Where=");
            self.put(mount_point);
            self.put("\n        Options=");
            self.put(&options.join(","));
            self.put("\n\n        [Install]\n        WantedBy=multi-user.target");
        }
        self.from(None);
        Ok(())
    }

    fn disks(&mut self, setup: Option<&DiskSetup>, release: Release, spec: &FieldPath) {
        let Some(DiskSetup {
            partitions,
            filesystems,
        }) = setup
        else {
            return;
        };
        let origin = spec.field("diskSetup");
        let (partitions, filesystems) = (
            partitions.as_deref().unwrap_or_default(),
            filesystems.as_deref().unwrap_or_default(),
        );
        if !partitions.is_empty() {
            self.put("\n  disks:");
        }
        // What the table is and how the disk is cut up is not written.
        for (
            index,
            Partition {
                device,
                layout,
                disk_layout: _,
                overwrite,
                table_type: _,
            },
        ) in partitions.iter().enumerate()
        {
            self.from(Some(origin.field("partitions").index(index)));
            self.put("\n    - device: ");
            self.put(device);
            if let Some(overwrite) = overwrite {
                self.put(&format!("\n      wipe_table: {overwrite}"));
            }
            if layout.is_some_and(|layout| layout || !release.layout_is_flag) {
                self.put("\n      partitions:\n      - {}");
            }
        }
        if !filesystems.is_empty() {
            self.put("\n  filesystems:");
        }
        for (index, filesystem) in filesystems.iter().enumerate() {
            let Filesystem {
                device,
                filesystem,
                label,
                partition: _,
                overwrite,
                replace_fs: _,
                extra_opts,
            } = filesystem;
            let origin = origin.field("filesystems").index(index);
            let label = label.as_deref().unwrap_or_default();
            self.from(Some(origin.clone()));
            self.put("\n    - name: ");
            self.put(label);
            self.put("\n      mount:");
            for (key, text, field) in [
                ("\n        device: ", device, "device"),
                ("\n        format: ", filesystem, "filesystem"),
            ] {
                self.from(Some(origin.field(field)));
                self.put(key);
                self.put(text);
            }
            let overwrite_text =
                overwrite.map_or_else(|| "<nil>".to_owned(), |overwrite| overwrite.to_string());
            self.from(Some(if overwrite.is_some() {
                origin.field("overwrite")
            } else {
                origin.clone()
            }));
            self.put("\n        wipe_filesystem: ");
            self.put(&overwrite_text);
            self.from(Some(origin.field("label")));
            self.put("\n        label: ");
            self.put(label);
            let options = extra_opts.as_deref().unwrap_or_default();
            if !options.is_empty() {
                self.put("\n        options:");
            }
            for (index, option) in options.iter().enumerate() {
                self.from(Some(origin.field("extraOpts").index(index)));
                self.put("\n          - ");
                self.put(option);
            }
        }
        self.from(None);
    }

    /// Directories, which upstream does not know.
    fn directories(&mut self, directories: &[PlannedDirectory]) {
        if directories.is_empty() {
            return;
        }
        self.put("\n  directories:");
        for PlannedDirectory {
            path,
            owner,
            permissions,
            origin,
        } in directories
        {
            self.from(origin.clone());
            self.put("\n    - path: ");
            self.put(path);
            let (user, group) = owner.split_once(':').unwrap_or((owner, ""));
            for (key, name) in [("user", user), ("group", group)]
                .into_iter()
                .filter(|(_, name)| !name.is_empty())
            {
                self.put(&format!("\n      {key}:\n        name: {name}"));
            }
            self.put(&format!(
                "\n      mode: 0{}",
                permissions.trim_start_matches('0')
            ));
        }
        self.from(None);
    }

    fn files_of_users(&mut self, users: &[PlannedUser], spec: &FieldPath) {
        for (index, user) in users
            .iter()
            .enumerate()
            .filter(|(_, user)| !user.sudo.is_empty())
        {
            self.from(Some(spec.field("users").index(index).field("sudo")));
            self.put("\n    - path: /etc/sudoers.d/");
            self.put(&user.name);
            self.put("\n      mode: 0600\n      contents:\n        inline: |\n          ");
            self.put(&format!("{} {}", user.name, user.sudo));
        }
        let with_password: Vec<_> = users
            .iter()
            .filter(|user| user.lock_password == Some(false))
            .map(|user| user.name.as_str())
            .collect();
        if !with_password.concat().is_empty() || with_password.len() > 1 {
            self.from(Some(spec.field("users")));
            self.put("\n    - path: /etc/ssh/sshd_config\n      mode: 0600\n      contents:\n        inline: |\n          ");
            self.indented(texts::SSHD_CONFIG.as_bytes());
            self.put(&format!(
                "\n\n          Match User {}\n            PasswordAuthentication yes",
                with_password.join(",")
            ));
        }
        self.from(None);
    }

    fn file(&mut self, file: &PlannedFile, release: Release) {
        // That the content is to be appended is not written; a compressed transfer is rejected
        // before.
        let PlannedFile {
            path,
            owner,
            permissions,
            encoding,
            append: _,
            transfer_encoding,
            content,
            origin,
        } = file;
        let permissions = if permissions.is_empty() && release.fills_mode {
            "0644"
        } else {
            permissions
        };
        self.from(origin.clone());
        self.put("\n    - path: ");
        self.put(path);
        let of_field = |field: &str| origin.as_ref().map(|origin| origin.field(field));
        let mut names = owner.split(':').map(|name| (name, name.trim()));
        self.from(of_field("owner"));
        for key in ["user", "group"] {
            self.put("\n      ");
            if let Some((_, name)) = names.next().filter(|(written, _)| !written.is_empty()) {
                self.put(&format!("{key}:\n        name: {name}"));
            }
        }
        self.from(if permissions.is_empty() {
            origin.clone()
        } else {
            of_field("permissions")
        });
        self.put("\n      # Owner\n      ");
        if !permissions.is_empty() {
            self.put("mode: ");
            self.put(permissions);
            self.from(origin.clone());
            self.put("\n      ");
        }
        self.put("contents:\n        ");
        let encoded = transfer_encoding.map(|_| STANDARD.encode(content.expose()));
        self.put(if *encoding == "base64" || encoded.is_some() {
            "inline: !!binary |"
        } else {
            "inline: |"
        });
        self.put("\n          ");
        self.indented(
            encoded
                .as_deref()
                .map_or(content.expose().as_slice(), str::as_bytes),
        );
        self.from(None);
    }

    fn kubeadm(&mut self, plan: &NodePlan, spec: &FieldPath) {
        self.put("\n    - path: ");
        self.put(SCRIPT_FILE);
        self.put("\n      mode: 0700\n      contents:\n        inline: |");
        for lines in script(plan) {
            self.from(
                lines
                    .command
                    .map(|(field, index)| spec.field(field).index(index)),
            );
            self.put("\n          ");
            self.indented(lines.text.as_bytes());
        }
        self.from(None);
        self.put("\n    - path: ");
        self.put(KUBEADM_FILE);
        self.put(
            "\n      mode: 0600\n      contents:\n        inline: |\n          ---\n          ",
        );
        self.indented(kubeadm_documents(&plan.kubeadm).as_bytes());
    }

    fn ntp_file(&mut self, ntp: Option<&Ntp>, spec: &FieldPath) {
        let Some(Ntp {
            servers: Some(servers),
            enabled: Some(_),
        }) = ntp
        else {
            return;
        };
        if servers.is_empty() {
            return;
        }
        self.put("\n    - path: ");
        self.put(NTP_FILE);
        self.put("\n      mode: 0644\n      contents:\n        inline: |\n          # Common pool");
        for (index, server) in servers.iter().enumerate() {
            self.from(Some(spec.field("ntp").field("servers").index(index)));
            self.put("\n          server ");
            self.put(server);
        }
        self.from(None);
        self.put("\n\n          ");
        self.indented(texts::NTP_CONF.as_bytes());
    }
}
