//! The document: its header, files and commands.
//!
//! With the encoder `capi` these are the bytes that CAPI's kubeadm bootstrap provider writes: its templates put the user's texts into the
//! document as they are, commands aside.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::files::{kubeadm_command, retry_script};
use super::scalar::{Block, block, put_scalar, put_single_quoted};
use super::sections::Sections;
use super::{Encoder, INIT_FILE, JOIN_FILE, PLACEHOLDER, PLACEHOLDER_FILE};
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
pub fn encode(plan: &NodePlan, encoder: Encoder) -> Sensitive<Vec<u8>> {
    let NodePlan {
        files,
        kubeadm,
        verbosity,
        boot_commands,
        pre_kubeadm_commands,
        post_kubeadm_commands,
        users,
        ntp,
        disk_setup,
        mounts,
        directories: _,
        platform: _,
        on_failure: _,
        templating: _,
        compression: _,
    } = plan;
    let mut out = Vec::with_capacity(2048 + files.iter().map(|file| file.content.expose().len() * 5 / 4 + 128).sum::<usize>());
    put(&mut out, HEADER);
    for planned in files {
        file(&mut out, encoder, planned);
    }
    if let Some(script) = retry_script(kubeadm, *verbosity) {
        file(&mut out, encoder, &script);
    }
    kubeadm_file(&mut out, encoder, kubeadm);
    entry(&mut out, encoder, &Entry { path: PLACEHOLDER_FILE, ..OWN });
    put(&mut out, "content: \"");
    put(&mut out, PLACEHOLDER);
    put(&mut out, "\"");
    if !boot_commands.is_empty() {
        put(&mut out, "\nbootcmd:");
        commands(&mut out, boot_commands);
    }
    put(&mut out, "\nruncmd:");
    commands(&mut out, pre_kubeadm_commands);
    put_kubeadm(&mut out, kubeadm, *verbosity);
    commands(&mut out, post_kubeadm_commands);
    let mut sections = Sections { out: &mut out, encoder };
    sections.ntp(ntp.as_ref());
    sections.users(users);
    sections.disk_setup(disk_setup.as_ref());
    sections.mounts(mounts);
    put(&mut out, "\n");
    Sensitive::new(out)
}

/// Appends a text.
pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// What stands before the content of a file.
struct Entry<'a> {
    path: &'a str,
    encoding: &'a str,
    owner: &'a str,
    permissions: &'a str,
    append: Option<bool>,
}

/// The entry of a file that the user does not choose.
const OWN: Entry<'static> = Entry { path: "", encoding: "", owner: ROOT, permissions: "0640", append: None };

/// A file with its content as a block.
fn file(out: &mut Vec<u8>, encoder: Encoder, file: &PlannedFile) {
    let PlannedFile { path, owner, permissions, encoding, append, transfer_encoding: _, content, origin: _ } = file;
    let mut content = Cow::Borrowed(content.expose().as_slice());
    let mut encoding = *encoding;
    let needs = if encoder == Encoder::Typed { block(&content) } else { Block::Plain };
    if needs == Block::Binary && encoding.is_empty() {
        encoding = "base64";
        content = Cow::Owned(STANDARD.encode(&content).into_bytes());
    }
    entry(out, encoder, &Entry { path, encoding, owner, permissions, append: *append });
    put(out, if needs == Block::Indicated { "content: |2\n" } else { "content: |\n" });
    indented(out, &content);
}

/// A file up to its content.
fn entry(out: &mut Vec<u8>, encoder: Encoder, entry: &Entry<'_>) {
    put(out, "\n-   path: ");
    put_scalar(out, encoder, entry.path.as_bytes());
    if !entry.encoding.is_empty() {
        put(out, "\n    encoding: \"");
        put(out, entry.encoding);
        put(out, "\"");
    }
    if !entry.owner.is_empty() {
        put(out, "\n    owner: ");
        put_scalar(out, encoder, entry.owner.as_bytes());
    }
    if !entry.permissions.is_empty() {
        put(out, "\n    permissions: '");
        put_single_quoted(out, encoder, entry.permissions);
        put(out, "'");
    }
    put(
        out,
        match entry.append {
            Some(true) => "\n    append: true\n    ",
            Some(false) => "\n    append: false\n    ",
            None => "\n    ",
        },
    );
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
fn kubeadm_file(out: &mut Vec<u8>, encoder: Encoder, kubeadm: &Kubeadm) {
    let (path, documents) = match kubeadm {
        Kubeadm::Init { cluster, init } => (INIT_FILE, [Some(cluster), Some(init)]),
        Kubeadm::Join { join, .. } => (JOIN_FILE, [Some(join), None]),
    };
    entry(out, encoder, &Entry { path, ..OWN });
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

/// kubeadm's command as an item of the list: quoted for `init`, plain for `join`.
fn put_kubeadm(out: &mut Vec<u8>, kubeadm: &Kubeadm, verbosity: Option<i32>) {
    let quote = if matches!(kubeadm, Kubeadm::Init { .. }) { "'" } else { "" };
    put(out, "\n  - ");
    put(out, quote);
    put(out, &kubeadm_command(kubeadm, verbosity));
    put(out, quote);
}
