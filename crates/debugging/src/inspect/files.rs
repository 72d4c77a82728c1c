//! Files that do not reach the node as the data has them: owner, permissions, folder.

use std::collections::BTreeSet;

use super::findings::{OWNER_MISSING, OWNER_UNKNOWN, PATH_VOLATILE, PERMISSIONS_INVALID};
use super::step::{Action, Document, FileOnNode, Form, Step};
use super::windows::has_drive;
use windlass_bootstrap::pyyaml::{self, Scalar};
use windlass_bootstrap::render::write::file_facts::{
    Created, DEFAULT_MODE, Unresolved, mode, unresolved, volatile_folder,
};
use windlass_capi::api::boot::Format;
use windlass_source::diag::{Diagnostic, Quoted};

/// What the documents of a machine create together.
pub(super) struct Accounts<'d> {
    users: BTreeSet<&'d str>,
    groups: BTreeSet<&'d str>,
}

impl<'d> Accounts<'d> {
    pub(super) fn of(documents: &'d [Document]) -> Self {
        let of_ignition = |section: &'static str| {
            documents
                .iter()
                .flat_map(|document| &document.steps)
                .filter_map(move |step| match &step.action {
                    Action::Other(name) if step.by.starts_with(section) => Some(name.as_str()),
                    _ => None,
                })
        };
        let users = documents.iter().flat_map(|document| &document.users);
        let groups = documents.iter().flat_map(|document| &document.groups);
        Accounts {
            users: users
                .map(String::as_str)
                .chain(of_ignition("passwd.users["))
                .collect(),
            groups: groups
                .map(String::as_str)
                .chain(of_ignition("passwd.groups["))
                .collect(),
        }
    }
}

/// What becomes of the files of a document, with the steps that write them.
pub(super) fn check<'d>(
    document: &'d Document,
    accounts: &Accounts<'d>,
) -> impl Iterator<Item = (&'d Step, Diagnostic)> {
    let format = match document.form {
        Form::CloudConfig => Some(Format::CloudConfig),
        Form::Ignition(_) => Some(Format::Ignition),
        _ => None,
    };
    let created = |is_first| Created {
        users: accounts.users.clone(),
        groups: accounts.groups.clone(),
        is_first,
    };
    let (before, after) = (created(true), created(false));
    let of_step = move |step: &'d Step| {
        let format = format.filter(|_| step.runs())?;
        let found = match &step.action {
            Action::File(file) if !has_drive(&file.path) => {
                let is_first = format == Format::Ignition || file.is_deferred;
                let created = if is_first { &before } else { &after };
                vec![
                    owner(step, file, format, created),
                    permissions(step, file, format),
                    volatile(step, &file.path, format),
                ]
            }
            Action::Other(path) if is_folder_or_link(step) => vec![volatile(step, path, format)],
            _ => return None,
        };
        Some(
            found
                .into_iter()
                .flatten()
                .map(move |finding| (step, finding)),
        )
    };
    let found: Vec<_> = document
        .steps
        .iter()
        .filter_map(of_step)
        .flatten()
        .collect();
    found.into_iter()
}

/// Whether a finding is about the owner of a file.
pub(super) fn is_of_owner(finding: &Diagnostic) -> bool {
    [&OWNER_MISSING, &OWNER_UNKNOWN].contains(&finding.rule)
}

fn owner(
    step: &Step,
    file: &FileOnNode,
    format: Format,
    created: &Created<'_>,
) -> Option<Diagnostic> {
    let (name, why) = unresolved(&file.owner, created)?;
    let consequence = match format {
        Format::CloudConfig => "cloud-init skips the entries of `write_files` after it",
        Format::Ignition => "Ignition stops the boot",
    };
    let (by, name) = (&step.by, Quoted(name));
    let (rule, message) = match why {
        Unresolved::CreatedLater => (
            &OWNER_MISSING,
            format!("the owner `{name}` of {by} is created after files are written: {consequence}"),
        ),
        Unresolved::Number => (
            &OWNER_MISSING,
            format!(
                "the owner `{name}` of {by} is a number, and owners are looked up by name: {consequence}"
            ),
        ),
        Unresolved::NotCreated => (
            &OWNER_UNKNOWN,
            format!(
                "the owner `{name}` of {by} is not created before the file is written: unless the image has it, {consequence}"
            ),
        ),
    };
    let help = match format {
        _ if why == Unresolved::Number => "write names, such as `root:root`",
        Format::CloudConfig => "set `defer: true`, or remove the owner and run `chown` in `runcmd`",
        Format::Ignition => "add the user to `passwd.users`, or use one that the image has",
    };
    Some(Diagnostic::of(rule, message).help(help))
}

/// Permissions that are not an octal number, and a number without quotes that YAML reads as decimal:
/// cloud-init takes a number as it is (`cc_write_files.py`, `decode_perms`).
fn permissions(step: &Step, file: &FileOnNode, format: Format) -> Option<Diagnostic> {
    if format != Format::CloudConfig || file.mode.is_empty() {
        return None;
    }
    let by = &step.by;
    let message = match decimal(file) {
        Some(number) => {
            let is_meant = is_plausible(number) || mode(&file.mode).is_none();
            (!is_meant).then(|| {
                format!("the permissions of {by} are the decimal number {number}, which is the mode {number:04o}")
            })?
        }
        None => mode(&file.mode).is_none().then(|| {
            format!(
                "the permissions `{}` of {by} are not an octal number: cloud-init uses {DEFAULT_MODE}",
                Quoted(&file.mode)
            )
        })?,
    };
    Some(
        Diagnostic::of(&PERMISSIONS_INVALID, message)
            .help("write octal digits in quotes, such as `'0640'`"),
    )
}

/// The number that YAML reads, if the permissions stand without quotes and are one.
fn decimal(file: &FileOnNode) -> Option<u32> {
    match pyyaml::scalar(&file.mode) {
        Scalar::Value(number) if file.is_mode_plain => number.parse().ok(),
        _ => None,
    }
}

/// Whether a mode gives its owner as much as the group, and the group as much as others.
fn is_plausible(mode: u32) -> bool {
    let [owner, group, other] = [mode >> 6 & 7, mode >> 3 & 7, mode & 7];
    mode <= 0o777 && owner & 4 == 4 && group & !owner == 0 && other & !group == 0
}

/// Whether a step of Ignition creates a folder or a link.
fn is_folder_or_link(step: &Step) -> bool {
    ["storage.directories[", "storage.links["]
        .iter()
        .any(|list| step.by.starts_with(list))
}

fn volatile(step: &Step, path: &str, format: Format) -> Option<Diagnostic> {
    let folder = volatile_folder(format, path)?;
    let message = match format {
        Format::Ignition => format!(
            "{} writes {path} before `{folder}` is mounted: the node does not see it",
            step.by
        ),
        Format::CloudConfig => format!(
            "{path} of {} is in `{folder}`, which belongs to the kernel and keeps no files",
            step.by
        ),
    };
    let help = "use a path below /etc or /opt, or let a command or `tmpfiles.d` create it";
    Some(Diagnostic::of(&PATH_VOLATILE, message).help(help))
}

#[cfg(test)]
mod tests {
    use crate::inspect::inspect;
    use windlass_capi::api::time::Timestamp;
    use windlass_source::budget::Budget;

    fn found(data: &str) -> Vec<(&'static str, usize)> {
        let found = inspect(
            "f",
            data.as_bytes(),
            Timestamp::of_second(0),
            &Budget::default(),
        );
        let line =
            |place: &windlass_source::diag::Place| place.span.map_or(0, |span| span.start.line);
        let findings = found.report.findings().iter();
        findings
            .map(|finding| (finding.rule.id, line(&finding.place) as usize))
            .filter(|(rule, _)| *rule != "inspect-sentinel-missing")
            .collect()
    }

    #[test]
    fn owners_are_those_of_the_time_of_writing() {
        let users = "users: [{name: u}]\ngroups: [g, {h: [u]}]\n";
        for (owner, expected) in [
            ("root:root", None),
            ("u:u", Some("inspect-owner-missing")),
            ("root:g", Some("inspect-owner-missing")),
            ("root:h", Some("inspect-owner-missing")),
            ("x:x", Some("inspect-owner-unknown")),
            ("'1000:1000'", Some("inspect-owner-missing")),
        ] {
            let data =
                format!("#cloud-config\n{users}write_files:\n- {{path: /a, owner: {owner}}}\n");
            let rules: Vec<_> = found(&data).into_iter().map(|(rule, _)| rule).collect();
            assert_eq!(rules, expected.into_iter().collect::<Vec<_>>(), "{owner}");
        }
        let deferred = format!(
            "#cloud-config\n{users}write_files:\n- {{path: /a, owner: 'u:g', defer: true}}\n"
        );
        assert_eq!(found(&deferred), []);
    }

    #[test]
    fn ignition_creates_users_first_and_loses_volatile_folders() {
        let data = r#"{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"u"}]},"storage":{"files":[
            {"path":"/a","user":{"name":"u"}},{"path":"/b","user":{"name":"x"}},{"path":"/run/c"},{"path":"/etc/d"}],
            "directories":[{"path":"/tmp/e"},{"path":"/etc/e"}],"links":[{"path":"/dev/f","target":"/g"}]}}"#;
        let rules: Vec<_> = found(data).into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(
            rules,
            [
                "inspect-path-volatile",
                "inspect-path-volatile",
                "inspect-owner-unknown",
                "inspect-path-volatile"
            ]
        );
    }

    /// Numbers as PyYAML reads them: 644 without quotes is decimal, 0644 octal.
    #[test]
    fn permissions_are_those_that_cloud_init_reads() {
        for (written, is_told) in [
            ("'0644'", false),
            ("0644", false),
            ("0o644", false),
            ("420", false),
            ("'0999'", true),
            ("0999", true),
            ("644", true),
            ("u=rw", true),
        ] {
            let data =
                format!("#cloud-config\nwrite_files:\n- {{path: /a, permissions: {written}}}\n");
            assert_eq!(!found(&data).is_empty(), is_told, "{written}");
        }
    }
}
