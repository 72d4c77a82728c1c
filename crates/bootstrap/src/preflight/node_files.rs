//! Files that do not reach the node as written: owners that no earlier step creates, permissions
//! that cloud-init cannot read, and folders that are mounted over.
//!
//! Modules are cloud-init's unit of failure: `cc_write_files.py` has no `try` around an entry, so
//! the failed lookup of one owner (`util.chownbyname`) skips all entries after it, and the modules
//! of later stages run all the same.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Subject;
use crate::render::Rendered;
use crate::render::plan::node_plan::PlannedFile;
use crate::render::write::file_facts::{
    Created, DEFAULT_MODE, Unresolved, mode, unresolved, volatile_folder,
};
use windlass_capi::api::boot::{Format, Platform};
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, rules};

rules! {
    /// the owner of a file does not exist when the file is written
    pub(crate) OWNER_MISSING = error("file-owner-missing");
    /// the owner of a file may be missing from the image
    pub(crate) OWNER_UNKNOWN = warning("file-owner-unknown");
    /// cloud-init cannot read the permissions of a file
    pub(crate) PERMISSIONS_INVALID = warning("file-permissions-invalid");
    /// a file is written to a folder that is mounted over or cleared during the boot
    pub(crate) PATH_VOLATILE = warning("file-path-volatile");
}

pub(super) fn check(subject: &Subject<'_>, rendered: &Rendered) -> Vec<Diagnostic> {
    let plan = &rendered.plan;
    if plan.platform == Platform::Windows {
        return Vec::new();
    }
    let groups = plan.users.iter().flat_map(|user| {
        let more = user.groups.split(',').map(str::trim);
        more.chain([user.primary_group.as_str()])
    });
    let created = Created {
        users: plan.users.iter().map(|user| user.name.as_str()).collect(),
        groups: groups
            .filter(|group| !group.is_empty())
            .collect::<BTreeSet<_>>(),
        is_first: rendered.format == Format::Ignition,
    };
    let of_plan = plan.files.iter().filter_map(|file| {
        let origin = file.origin.as_ref()?;
        let owner = owner(subject, rendered.format, file, origin, &created);
        Some(
            owner
                .into_iter()
                .chain(permissions(subject, rendered.format, file, origin)),
        )
    });
    of_plan
        .flatten()
        .chain(volatile(subject, rendered))
        .collect()
}

fn owner(
    subject: &Subject<'_>,
    format: Format,
    file: &PlannedFile,
    origin: &FieldPath,
    created: &Created<'_>,
) -> Option<Diagnostic> {
    let (name, why) = unresolved(&file.owner, created)?;
    let consequence = match format {
        Format::CloudConfig => {
            "cloud-init skips all files after this one, kubeadm's configuration included"
        }
        Format::Ignition => "Ignition stops the boot",
    };
    let path = &file.path;
    let name = Quoted(name);
    let (rule, message) = match why {
        Unresolved::CreatedLater => (
            &OWNER_MISSING,
            format!(
                "the owner `{name}` of {path} is created after files are written: {consequence}"
            ),
        ),
        Unresolved::Number => (
            &OWNER_MISSING,
            format!(
                "the owner `{name}` of {path} is a number, and owners are looked up by name: {consequence}"
            ),
        ),
        Unresolved::NotCreated => (
            &OWNER_UNKNOWN,
            format!(
                "the owner `{name}` of {path} is not created before files are written: unless the image has it, {consequence}"
            ),
        ),
    };
    let help = match why {
        Unresolved::Number => "write names, such as `root:root`".to_owned(),
        _ => format!(
            "remove the owner, and set it with `chown {} {}` in `preKubeadmCommands`",
            Quoted(&windlass_shell::quoted(&file.owner)),
            windlass_shell::quoted(path)
        ),
    };
    Some(
        Diagnostic::of(rule, message)
            .at(subject.place(&origin.field("owner")))
            .help(help),
    )
}

/// Ignition's own reader rejects permissions that are not octal.
fn permissions(
    subject: &Subject<'_>,
    format: Format,
    file: &PlannedFile,
    origin: &FieldPath,
) -> Option<Diagnostic> {
    let is_read = file.permissions.is_empty() || mode(&file.permissions).is_some();
    if format != Format::CloudConfig || is_read {
        return None;
    }
    let message = format!(
        "the permissions `{}` of {} are not an octal number: cloud-init uses {DEFAULT_MODE}",
        Quoted(&file.permissions),
        file.path
    );
    Some(
        Diagnostic::of(&PERMISSIONS_INVALID, message)
            .at(subject.place(&origin.field("permissions")))
            .help("write octal digits, such as `\"0640\"`"),
    )
}

/// Files of the data, those of `ignition.containerLinuxConfig.additionalConfig` included, and in
/// Ignition folders and links.
fn volatile(subject: &Subject<'_>, rendered: &Rendered) -> Vec<Diagnostic> {
    let config = FieldPath::of_fields("ignition.containerLinuxConfig.additionalConfig");
    let config = subject.spec_path.join(&config);
    let files = rendered.node_files().into_iter().map(|file| {
        let origin = file.origin.map(|origin| origin.field("path"));
        (file.path.into_owned(), origin)
    });
    let entries = files.chain(folders_and_links(rendered));
    let found = entries.filter_map(|(path, origin)| {
        let folder = volatile_folder(rendered.format, &path)?;
        let place = match origin {
            Some(origin) => subject.place(&origin),
            None if rendered.format == Format::Ignition => subject.place(&config),
            None => return None,
        };
        let message = match rendered.format {
            Format::Ignition => format!(
                "Ignition writes {path} before `{folder}` is mounted: the node does not see it"
            ),
            Format::CloudConfig => {
                format!("{path} is in `{folder}`, which belongs to the kernel and keeps no files")
            }
        };
        let help = match folder {
            "/run" | "/tmp" | "/var/run" => {
                "use a path below /etc or /opt, or let a command or `tmpfiles.d` create it"
            }
            _ => "set kernel parameters with a file in /etc/sysctl.d, and devices with udev rules",
        };
        Some(Diagnostic::of(&PATH_VOLATILE, message).at(place).help(help))
    });
    found.collect()
}

/// The folders and links that Ignition creates, with the fields of the config that have them.
fn folders_and_links(rendered: &Rendered) -> Vec<(String, Option<FieldPath>)> {
    if rendered.format != Format::Ignition {
        return Vec::new();
    }
    let data: Value = serde_json::from_slice(rendered.data.expose()).unwrap_or_default();
    let of_list = |list: &str| {
        let items = data.pointer(list).and_then(Value::as_array).cloned();
        items.unwrap_or_default()
    };
    let items = of_list("/storage/directories")
        .into_iter()
        .chain(of_list("/storage/links"));
    let planned = |path: &str| {
        let mut folders = rendered.plan.directories.iter();
        let found = folders.find(|folder| folder.path == path)?;
        found.origin.as_ref().map(|origin| origin.field("path"))
    };
    items
        .filter_map(|item| item["path"].as_str().map(str::to_owned))
        .map(|path| {
            let origin = planned(&path);
            (path, origin)
        })
        .collect()
}
