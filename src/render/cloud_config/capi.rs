//! The bytes that CAPI's kubeadm bootstrap provider writes.
//!
//! Its templates put the user's texts into the document as they are, commands aside. So does this encoder, and `quirks` warns where that
//! changes what cloud-init reads.

use super::sections::{disk_setup, mounts, ntp, users};
use super::{INIT_FILE, JOIN_FILE, PLACEHOLDER, PLACEHOLDER_FILE, SENTINEL_FILE};
use crate::api::secret::Sensitive;
use crate::render::plan::{Kubeadm, NodePlan, PlannedFile};
use crate::text::go_value;

/// The owner of all files that the user does not choose.
const ROOT: &str = "root:root";

/// What all documents begin with.
const HEADER: &str = "## template: jinja\n#cloud-config\n\nwrite_files:";

/// Each line of a content is indented so far.
const INDENT: &[u8] = b"      ";

/// The document.
pub fn encode(plan: &NodePlan) -> Sensitive<Vec<u8>> {
    let NodePlan {
        files,
        kubeadm,
        verbosity,
        boot_commands,
        pre_kubeadm_commands,
        post_kubeadm_commands,
        users: planned_users,
        ntp: planned_ntp,
        disk_setup: disks,
        mounts: planned_mounts,
    } = plan;
    let mut out = Vec::with_capacity(2048 + files.iter().map(|file| file.content.expose().len() * 5 / 4 + 128).sum::<usize>());
    put(&mut out, HEADER);
    for planned in files {
        file(&mut out, planned);
    }
    kubeadm_file(&mut out, kubeadm);
    entry(&mut out, PLACEHOLDER_FILE, "", ROOT, "0640", None);
    put(&mut out, "content: \"");
    put(&mut out, PLACEHOLDER);
    put(&mut out, "\"");
    if !boot_commands.is_empty() {
        put(&mut out, "\nbootcmd:");
        commands(&mut out, boot_commands);
    }
    put(&mut out, "\nruncmd:");
    commands(&mut out, pre_kubeadm_commands);
    kubeadm_command(&mut out, kubeadm, *verbosity);
    commands(&mut out, post_kubeadm_commands);
    ntp(&mut out, planned_ntp.as_ref());
    users(&mut out, planned_users);
    disk_setup(&mut out, disks.as_ref());
    mounts(&mut out, planned_mounts);
    put(&mut out, "\n");
    Sensitive::new(out)
}

/// Appends a text.
pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// A file with its content as a block.
fn file(out: &mut Vec<u8>, file: &PlannedFile) {
    let PlannedFile { path, owner, permissions, encoding, append, content, origin: _ } = file;
    entry(out, path, encoding, owner, permissions, *append);
    put(out, "content: |\n");
    indented(out, content.expose());
}

/// A file up to its content.
fn entry(out: &mut Vec<u8>, path: &str, encoding: &str, owner: &str, permissions: &str, append: Option<bool>) {
    let mut texts = |parts: [&str; 3]| parts.into_iter().for_each(|part| put(out, part));
    texts(["\n-   path: ", path, "\n    "]);
    if !encoding.is_empty() {
        texts(["encoding: \"", encoding, "\"\n    "]);
    }
    if !owner.is_empty() {
        texts(["owner: ", owner, "\n    "]);
    }
    if !permissions.is_empty() {
        texts(["permissions: '", permissions, "'\n    "]);
    }
    match append {
        Some(true) => put(out, "append: true\n    "),
        Some(false) => put(out, "append: false\n    "),
        None => {}
    }
}

/// Each line with the indentation of a block, the last one without a line break.
fn indented(out: &mut Vec<u8>, content: &[u8]) {
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(INDENT);
        out.extend_from_slice(line);
    }
}

/// kubeadm's file. On a control-plane join the line `---` is missing.
fn kubeadm_file(out: &mut Vec<u8>, kubeadm: &Kubeadm) {
    let (path, documents) = match kubeadm {
        Kubeadm::Init { cluster, init } => (INIT_FILE, [Some(cluster), Some(init)]),
        Kubeadm::Join { join, .. } => (JOIN_FILE, [Some(join), None]),
    };
    entry(out, path, "", ROOT, "0640", None);
    put(out, "content: |\n");
    let marker = !matches!(kubeadm, Kubeadm::Join { control_plane: true, .. });
    for (index, document) in documents.into_iter().flatten().enumerate() {
        if index > 0 {
            put(out, "\n");
        }
        if marker {
            put(out, "      ---\n");
        }
        indented(out, document.expose().as_bytes());
    }
}

/// Commands as items of a list, quoted.
fn commands(out: &mut Vec<u8>, commands: &[Sensitive<String>]) {
    for command in commands {
        put(out, "\n  - ");
        put(out, &go_value::quote(command.expose()));
    }
}

/// kubeadm's command as an item of the list; without verbosity two blanks remain.
fn kubeadm_command(out: &mut Vec<u8>, kubeadm: &Kubeadm, verbosity: Option<i32>) {
    let verbosity = verbosity.map(|level| format!("--v {level}")).unwrap_or_default();
    let sentinel = format!("echo success > {SENTINEL_FILE}");
    let line = match kubeadm {
        Kubeadm::Init { .. } => format!("\n  - 'kubeadm init --config {INIT_FILE} {verbosity} && {sentinel}'"),
        Kubeadm::Join { .. } => format!("\n  - kubeadm join --config {JOIN_FILE} {verbosity} && {sentinel}"),
    };
    put(out, &line);
}
