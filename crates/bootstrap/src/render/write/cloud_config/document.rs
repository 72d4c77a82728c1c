//! The document: its header, files and commands.
//!
//! With the encoder `capi` these are the bytes that CAPI's kubeadm bootstrap provider writes: its
//! templates put the user's texts into the document as they are, commands aside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::content::{Carried, carried};
use super::files::{kubeadm_documents, retry_script};
use super::run::{Phase, RunItem, run_items};
use super::scalar::{Block, block, put, put_quoted, put_scalar};
use super::sections::Sections;
use super::{PLACEHOLDER, Paths};
use crate::render::input::request::Encoder;
use crate::render::plan::node_plan::{Kubeadm, NodePlan, PlannedFile};
use windlass_capi::api::boot::Templating;
use windlass_capi::api::secret::Sensitive;
use windlass_go_text as go;

/// The owner of all files that the user does not choose.
const ROOT: &str = "root:root";

/// The line that makes cloud-init take the document for a template.
const JINJA: &str = "## template: jinja\n";

const HEADER: &str = "#cloud-config\n\nwrite_files:";

/// Each line of a content is indented so far.
const INDENT: &[u8] = b"      ";

/// The document, before it is compressed.
pub fn encode(plan: &NodePlan, encoder: Encoder) -> Sensitive<Vec<u8>> {
    let NodePlan {
        files,
        kubeadm,
        verbosity: _,
        boot_commands,
        pre_kubeadm_commands: _,
        post_kubeadm_commands: _,
        users,
        ntp,
        disk_setup,
        mounts,
        directories: _,
        platform,
        on_failure: _,
        templating,
        compression: _,
    } = plan;
    let mut out = Vec::with_capacity(
        2048 + files
            .iter()
            .map(|file| file.content.expose().len() * 5 / 4 + 128)
            .sum::<usize>(),
    );
    if *templating == Templating::Jinja {
        put(&mut out, JINJA);
    }
    put(&mut out, HEADER);
    for planned in files.iter().chain(retry_script(plan).iter()) {
        file(&mut out, encoder, planned);
    }
    let paths = Paths::on(*platform);
    kubeadm_file(&mut out, encoder, paths.configuration(kubeadm), kubeadm);
    entry(
        &mut out,
        encoder,
        &Entry {
            path: paths.placeholder,
            ..OWN
        },
    );
    put(&mut out, "content: \"");
    put(&mut out, PLACEHOLDER);
    put(&mut out, "\"");
    if !boot_commands.is_empty() {
        put(&mut out, "\nbootcmd:");
        boot_commands
            .iter()
            .for_each(|command| put_command(&mut out, command.expose()));
    }
    put(&mut out, "\nruncmd:");
    run_items(plan)
        .iter()
        .for_each(|item| put_run_item(&mut out, item, kubeadm));
    let mut sections = Sections {
        out: &mut out,
        encoder,
    };
    sections.ntp(ntp.as_ref());
    sections.users(users);
    sections.disk_setup(disk_setup.as_ref());
    sections.mounts(mounts);
    put(&mut out, "\n");
    Sensitive::new(out)
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
const OWN: Entry<'static> = Entry {
    path: "",
    encoding: "",
    owner: ROOT,
    permissions: "0640",
    append: None,
};

/// A file with its content as a block.
fn file(out: &mut Vec<u8>, encoder: Encoder, file: &PlannedFile) {
    let PlannedFile {
        path,
        owner,
        permissions,
        encoding: _,
        append,
        transfer_encoding: _,
        content: _,
        origin: _,
    } = file;
    let Carried {
        encoding,
        bytes,
        indicated,
    } = carried(file, encoder);
    entry(
        out,
        encoder,
        &Entry {
            path,
            encoding,
            owner,
            permissions,
            append: *append,
        },
    );
    put(
        out,
        if indicated {
            "content: |2\n"
        } else {
            "content: |\n"
        },
    );
    indented(out, &bytes);
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
        put(out, "\n    permissions: ");
        put_quoted(out, encoder, entry.permissions);
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

/// kubeadm's file. On a control-plane join the line `---` is missing. `typed` encodes documents
/// with line breaks that cloud-init's reader would take for the end of a line.
fn kubeadm_file(out: &mut Vec<u8>, encoder: Encoder, path: &str, kubeadm: &Kubeadm) {
    let documents = match kubeadm {
        Kubeadm::Init { cluster, init } => [Some(cluster), Some(init)],
        Kubeadm::Join { join, .. } => [Some(join), None],
    };
    let is_carried =
        |document: &Sensitive<String>| block(document.expose().as_bytes()) == Block::Plain;
    if encoder == Encoder::Typed
        && !documents
            .iter()
            .flatten()
            .all(|document| is_carried(document))
    {
        entry(
            out,
            encoder,
            &Entry {
                path,
                encoding: "base64",
                ..OWN
            },
        );
        put(out, "content: |\n");
        return indented(out, STANDARD.encode(kubeadm_documents(kubeadm)).as_bytes());
    }
    entry(out, encoder, &Entry { path, ..OWN });
    put(out, "content: |\n");
    let marker = !matches!(
        kubeadm,
        Kubeadm::Join {
            control_plane: true,
            ..
        }
    );
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

/// A command as an item of a list, quoted.
fn put_command(out: &mut Vec<u8>, command: &str) {
    put(out, "\n  - ");
    put(out, &go::quote(command));
}

/// An item of `runcmd`: kubeadm's own command is in single quotes for `init` and plain for `join`,
/// all others are quoted.
fn put_run_item(out: &mut Vec<u8>, item: &RunItem<'_>, kubeadm: &Kubeadm) {
    if item.phase != Phase::Kubeadm {
        return put_command(out, &item.command);
    }
    let quote = if matches!(kubeadm, Kubeadm::Init { .. }) {
        "'"
    } else {
        ""
    };
    put(out, "\n  - ");
    put(out, quote);
    put(out, &item.command);
    put(out, quote);
}
