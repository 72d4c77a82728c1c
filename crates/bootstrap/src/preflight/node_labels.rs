//! Labels that a kubelet may not give to its own node, and those that no node can have: it does not
//! start with them, or the API server does not take the node (kubelet: `ValidateKubeletFlags`;
//! `k8s.io/kubelet/pkg/apis`, well known labels; the admission plugin NodeRestriction has the
//! same list).

use super::Subject;
use super::arguments::{Argument, Component, arguments, first_told, is_filled_in_later};
use windlass_capi::contract::labels::is_synced_to_nodes;
use windlass_schema::name::{label_key_errors, label_value_errors};
use windlass_source::diag::{Diagnostic, Place, Quoted, rules};

rules! {
    /// the kubelet may not set this Kubernetes label on its node
    pub(crate) LABEL_RESTRICTED = error("node-label-restricted");
    /// the name or value of a node label is invalid
    pub(crate) LABEL_MALFORMED = error("node-label-malformed");
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
    let lists = arguments.iter().filter(|argument| {
        argument.component == Component::Kubelet && argument.flag() == "node-labels"
    });
    let of_list = |argument: &Argument<'_>| {
        let (place, is_final) = (
            subject.place(&argument.value_path),
            !is_filled_in_later(argument.value),
        );
        let faults = labels(argument.value).filter_map(|label| {
            restricted(argument, &label, &place)
                .or_else(|| malformed(argument, &label, &place).filter(|_| is_final))
        });
        first_told(faults)
    };
    lists.flat_map(of_list).collect()
}

/// A label: its name and its value.
type Label<'a> = (&'a str, &'a str);

/// The labels of a list, as the kubelet reads it (`component-base/cli/flag`, `ConfigurationMap`).
fn labels(list: &str) -> impl Iterator<Item = Label<'_>> {
    let pairs = list.split(',').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        pair.split_once('=')
            .map_or((pair.trim(), ""), |(key, value)| (key.trim(), value.trim()))
    })
}

/// That a label is Kubernetes' own.
fn restricted(argument: &Argument<'_>, (key, _): &Label<'_>, place: &Place) -> Option<Diagnostic> {
    let message = format!(
        "{} gives the node the label `{key}`, with which the kubelet does not start",
        argument.value_path,
        key = Quoted(key)
    );
    let finding = || {
        Diagnostic::of(&LABEL_RESTRICTED, message)
            .at(place.clone())
            .help(help(key))
    };
    let why = "a node could otherwise attract what is meant for others (admission plugin NodeRestriction)";
    is_restricted(key)
        .then(finding)
        .map(|finding| finding.note(why))
}

/// That a label is written as none can be.
fn malformed(
    argument: &Argument<'_>,
    (key, value): &Label<'_>,
    place: &Place,
) -> Option<Diagnostic> {
    let (of_key, of_value) = (label_key_errors(key), label_value_errors(value));
    let message = match (of_key.is_empty(), of_value.is_empty()) {
        (true, true) => return None,
        (false, _) => format!(
            "{} has a label with the name `{key}`, which no node can have: {}",
            argument.value_path,
            of_key.join("; "),
            key = Quoted(key)
        ),
        _ => format!(
            "{} gives the label `{key}` the value `{value}`, which no node can have: {}",
            argument.value_path,
            of_value.join("; "),
            key = Quoted(key),
            value = Quoted(value)
        ),
    };
    Some(
        Diagnostic::of(&LABEL_MALFORMED, message)
            .at(place.clone())
            .help("write `name=value`, with `,` between labels"),
    )
}

fn help(key: &str) -> String {
    match is_synced_to_nodes(key) {
        true => format!(
            "remove it, and write `{key}` into the labels of the machines' template, which Cluster API copies to their nodes"
        ),
        false => "remove it, or choose a name outside of `kubernetes.io` and `k8s.io`".to_owned(),
    }
}

fn is_below(namespace: &str, parent: &str) -> bool {
    namespace == parent
        || namespace
            .strip_suffix(parent)
            .is_some_and(|rest| rest.ends_with('.'))
}

/// Whether a label is Kubernetes' own and none that a kubelet may set.
fn is_restricted(key: &str) -> bool {
    let Some((namespace, _)) = key.split_once('/') else {
        return false;
    };
    let is_of_kubernetes = ["kubernetes.io", "k8s.io"]
        .iter()
        .any(|own| is_below(namespace, own));
    is_of_kubernetes
        && !ALLOWED.contains(&key)
        && !NAMESPACES
            .iter()
            .any(|allowed| is_below(namespace, allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kubelet takes blanks around names and values, empty items and labels without a value.
    #[test]
    fn lists_are_read_as_the_kubelet_does() {
        assert_eq!(
            labels("a=b, c = d,,e,f=g=h").collect::<Vec<_>>(),
            [("a", "b"), ("c", "d"), ("e", ""), ("f", "g=h")]
        );
        assert_eq!(labels("").count(), 0);
    }

    /// kubelet's own table and its tests (`cmd/kubelet/app/options/options_test.go`).
    #[test]
    fn labels_of_kubernetes_are_restricted_but_for_a_few() {
        for rejected in [
            "kubernetes.io/foo",
            "foo.kubernetes.io/bar",
            "node-role.kubernetes.io/worker",
            "k8s.io/a",
            "node-restriction.kubernetes.io/x",
        ] {
            assert!(is_restricted(rejected), "{rejected}");
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
