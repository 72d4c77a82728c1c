//! Labels that a kubelet may not give to its own node: it does not start with them (kubelet: `ValidateKubeletFlags`; `k8s.io/kubelet/pkg/apis`,
//! well known labels; the admission plugin NodeRestriction has the same list).

use super::Subject;
use super::arguments::{Component, arguments};
use crate::contract::labels::is_synced_to_nodes;
use crate::diag::{Diagnostic, rules};

rules! {
    /// the kubelet may not give its node a label of Kubernetes' own
    pub(crate) LABEL_RESTRICTED = error("node-label-restricted");
}

/// The labels of Kubernetes that a kubelet may set.
const ALLOWED: [&str; 11] = [
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

/// The namespaces of labels that it may set, and theirs.
const NAMESPACES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let arguments = arguments(subject.spec, &subject.spec_path);
    let lists = arguments.iter().filter(|argument| argument.component == Component::Kubelet && argument.flag() == "node-labels");
    let restricted = lists.flat_map(|argument| {
        let keys = argument.value.split(',').map(|label| label.split('=').next().unwrap_or_default().trim());
        keys.filter(|key| is_restricted(key)).map(move |key| (argument, key))
    });
    restricted
        .map(|(argument, key)| {
            let message = format!("{} gives the node the label `{key}`, with which the kubelet does not start", argument.value_path);
            let finding = Diagnostic::of(&LABEL_RESTRICTED, message).at(subject.place(&argument.value_path));
            finding.help(help(key)).note("a node could otherwise attract what is meant for others (admission plugin NodeRestriction)")
        })
        .collect()
}

fn help(key: &str) -> String {
    match is_synced_to_nodes(key) {
        true => format!("remove it, and write `{key}` into the labels of the machines' template, which Cluster API copies to their nodes"),
        false => "remove it, or choose a name outside of `kubernetes.io` and `k8s.io`".to_owned(),
    }
}

fn is_below(namespace: &str, parent: &str) -> bool {
    namespace == parent || namespace.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// Whether a label is Kubernetes' own and none that a kubelet may set.
fn is_restricted(key: &str) -> bool {
    let Some((namespace, _)) = key.split_once('/') else { return false };
    let is_of_kubernetes = ["kubernetes.io", "k8s.io"].iter().any(|own| is_below(namespace, own));
    is_of_kubernetes && !ALLOWED.contains(&key) && !NAMESPACES.iter().any(|allowed| is_below(namespace, allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kubelet's own table and its tests (`cmd/kubelet/app/options/options_test.go`).
    #[test]
    fn labels_of_kubernetes_are_restricted_but_for_a_few() {
        for refused in
            ["kubernetes.io/foo", "foo.kubernetes.io/bar", "node-role.kubernetes.io/worker", "k8s.io/a", "node-restriction.kubernetes.io/x"]
        {
            assert!(is_restricted(refused), "{refused}");
        }
        for taken in [
            "foo",
            "example.com/a",
            "kubernetes.io/hostname",
            "kubelet.kubernetes.io/a",
            "foo.node.kubernetes.io/b",
            "mykubernetes.io/a",
            "",
        ] {
            assert!(!is_restricted(taken), "{taken}");
        }
    }
}
