//! The files and the command that a plan comes to in cloud-config, for those who want to look at them one by one.

use std::borrow::Cow;

use super::retry_join;
use super::{INIT_FILE, JOIN_FILE, PLACEHOLDER, PLACEHOLDER_FILE, SENTINEL_FILE};
use crate::diag::FieldPath;
use crate::render::plan::{Kubeadm, NodePlan, PlannedFile};

/// A file of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFile<'a> {
    /// Where it is on the node.
    pub path: &'a str,
    /// `user:group`; empty: not said.
    pub owner: &'a str,
    /// Octal digits; empty: not said.
    pub permissions: &'a str,
    /// How the content is encoded; empty: it is not.
    pub encoding: &'a str,
    /// The content as the document carries it. Secret.
    pub content: Cow<'a, [u8]>,
    /// The field of the config that it comes from.
    pub origin: Option<&'a FieldPath>,
}

/// All files, in the order in which they are written.
pub fn node_files(plan: &NodePlan) -> Vec<NodeFile<'_>> {
    let planned = plan.files.iter().map(|file| NodeFile {
        path: &file.path,
        owner: &file.owner,
        permissions: &file.permissions,
        encoding: file.encoding,
        content: Cow::Borrowed(file.content.expose().as_slice()),
        origin: file.origin.as_ref(),
    });
    let own = |path, content: String| {
        let content = Cow::Owned(content.into_bytes());
        NodeFile { path, owner: "root:root", permissions: "0640", encoding: "", content, origin: None }
    };
    let kubeadm = match &plan.kubeadm {
        Kubeadm::Init { cluster, init } => own(INIT_FILE, format!("---\n{}\n---\n{}", cluster.expose(), init.expose())),
        Kubeadm::Join { join, control_plane: true, .. } => own(JOIN_FILE, join.expose().clone()),
        Kubeadm::Join { join, .. } => own(JOIN_FILE, format!("---\n{}", join.expose())),
    };
    let script = retry_script(&plan.kubeadm, plan.verbosity).map(|file| NodeFile {
        path: retry_join::PATH,
        owner: "root",
        permissions: "0755",
        encoding: "",
        content: Cow::Owned(file.content.into_inner()),
        origin: None,
    });
    planned.chain(script).chain([kubeadm, own(PLACEHOLDER_FILE, PLACEHOLDER.to_owned())]).collect()
}

/// The file with the script that tries again to join.
pub(super) fn retry_script(kubeadm: &Kubeadm, verbosity: Option<i32>) -> Option<PlannedFile> {
    match kubeadm {
        Kubeadm::Join { control_plane, retry: Some(retry), .. } => {
            Some(retry_join::file(*retry, *control_plane, &verbosity_flag(verbosity)))
        }
        _ => None,
    }
}

fn verbosity_flag(verbosity: Option<i32>) -> String {
    verbosity.map(|level| format!("--v {level}")).unwrap_or_default()
}

/// The command that runs kubeadm; without verbosity two blanks remain.
pub fn kubeadm_command(kubeadm: &Kubeadm, verbosity: Option<i32>) -> String {
    if matches!(kubeadm, Kubeadm::Join { retry: Some(_), .. }) {
        return format!("{} && echo success > {SENTINEL_FILE}", retry_join::PATH);
    }
    let verbosity = verbosity_flag(verbosity);
    let (verb, file) = match kubeadm {
        Kubeadm::Init { .. } => ("init", INIT_FILE),
        Kubeadm::Join { .. } => ("join", JOIN_FILE),
    };
    format!("kubeadm {verb} --config {file} {verbosity} && echo success > {SENTINEL_FILE}")
}
