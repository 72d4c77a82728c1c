//! The files that a plan comes to in cloud-config, for those who want to look at them one by one.

use std::borrow::Cow;

use super::content::carried;
use super::run::verbosity_flag;
use super::{PLACEHOLDER, Paths, retry_join};
use crate::render::input::request::Encoder;
use crate::render::plan::node_plan::{Kubeadm, NodePlan, PlannedFile};
use windlass_source::diag::FieldPath;

/// A file that the bootstrap data writes on the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFile<'a> {
    /// The path on the node, as the bootstrap data has it.
    pub path: Cow<'a, str>,
    /// `user:group`; empty: not said.
    pub owner: Cow<'a, str>,
    /// Octal digits; empty: not said.
    pub permissions: Cow<'a, str>,
    /// How the content is encoded; empty: it is not.
    pub encoding: &'a str,
    /// The content as the document carries it. Secret.
    pub content: Cow<'a, [u8]>,
    /// Whether the content is added to what the file holds.
    pub append: bool,
    /// Whether the node gets the content byte for byte.
    pub is_exact: bool,
    /// The field of the config that it comes from.
    pub origin: Option<&'a FieldPath>,
}

/// All files, in the order in which they are written.
pub fn node_files(plan: &NodePlan, encoder: Encoder) -> Vec<NodeFile<'_>> {
    let planned = plan.files.iter().map(|file| {
        let carried = carried(file, encoder);
        NodeFile {
            path: file.path.as_str().into(),
            owner: file.owner.as_str().into(),
            permissions: file.permissions.as_str().into(),
            encoding: carried.encoding,
            content: carried.bytes,
            append: file.append.unwrap_or_default(),
            is_exact: false,
            origin: file.origin.as_ref(),
        }
    });
    let own = |path: &'static str, content: String| NodeFile {
        path: path.into(),
        owner: "root:root".into(),
        permissions: "0640".into(),
        encoding: "",
        content: Cow::Owned(content.into_bytes()),
        append: false,
        is_exact: false,
        origin: None,
    };
    let script = retry_script(plan).map(|file| NodeFile {
        path: retry_join::PATH.into(),
        owner: "root".into(),
        permissions: "0755".into(),
        encoding: "",
        content: Cow::Owned(file.content.into_inner()),
        append: false,
        is_exact: false,
        origin: None,
    });
    let paths = Paths::on(plan.platform);
    let kubeadm = own(
        paths.configuration(&plan.kubeadm),
        kubeadm_documents(&plan.kubeadm),
    );
    planned
        .chain(script)
        .chain([kubeadm, own(paths.placeholder, PLACEHOLDER.to_owned())])
        .collect()
}

/// The content of kubeadm's file. On a control-plane join the line `---` is missing.
pub(super) fn kubeadm_documents(kubeadm: &Kubeadm) -> String {
    match kubeadm {
        Kubeadm::Init { cluster, init } => {
            format!("---\n{}\n---\n{}", cluster.expose(), init.expose())
        }
        Kubeadm::Join {
            join,
            control_plane: true,
            ..
        } => join.expose().clone(),
        Kubeadm::Join { join, .. } => format!("---\n{}", join.expose()),
    }
}

/// The file with the script that tries again to join.
pub(super) fn retry_script(plan: &NodePlan) -> Option<PlannedFile> {
    match &plan.kubeadm {
        Kubeadm::Join {
            control_plane,
            retry: Some(retry),
            ..
        } => Some(retry_join::file(
            *retry,
            *control_plane,
            &verbosity_flag(plan.verbosity),
        )),
        _ => None,
    }
}
