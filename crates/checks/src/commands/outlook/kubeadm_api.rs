//! kubeadm's configuration in files and commands, in a version that kubeadm no longer reads.
//! Cluster API itself writes the version that the Kubernetes version needs.

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use super::specs::last;
use super::strings;
use windlass_capi::contract::endings::{self, Subject};
use windlass_source::diag::{FieldPath, rules};

rules! {
    /// kubeadm of a Kubernetes version no longer reads the version of its configuration
    KUBEADM_API = warning("outlook-kubeadm-api");
}

/// Fields of a config whose `apiVersion` Cluster API does not use.
const WRITTEN_BY_CLUSTER_API: [&str; 3] = [
    "clusterConfiguration",
    "initConfiguration",
    "joinConfiguration",
];

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    let facts = endings::endings(Subject::KubeadmApi);
    strings::find(document, |line| {
        let ending = facts.iter().find(|ending| {
            let is_inner = |c: char| c.is_ascii_alphanumeric() || "-./".contains(c);
            strings::has_word(line.text, ending.what[0], is_inner)
        })?;
        if is_unused(line.path) {
            return None;
        }
        let message = format!(
            "{} has {}, which kubeadm of {} does not read",
            line.path,
            ending.what[0],
            Ends::of(ending)
        );
        let help = format!(
            "write `{}`; `kubeadm config migrate` converts the document",
            ending.instead.unwrap_or_default()
        );
        Some(Ends::of(ending).predict(&KUBEADM_API, message, line.place(document), help))
    })
}

fn is_unused(path: &FieldPath) -> bool {
    let parent = path.parent();
    last(path) == "apiVersion"
        && parent.is_some_and(|parent| WRITTEN_BY_CLUSTER_API.contains(&last(&parent)))
}
