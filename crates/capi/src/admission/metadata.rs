//! Names, labels and annotations that the API server rejects of an object, and of the machines that
//! Cluster API makes of a template (`k8s.io/apimachinery/pkg/api/validation`,
//! `ValidateObjectMeta`).

use serde_json::Value;

use super::metadata_types::{self, METADATA_REJECTED};
use crate::api::names::GROUP;
use crate::contract::CORE_GROUP;
use windlass_objects::{Object, fields};
use windlass_schema::{
    Violation, annotation_violations, annotations_too_large, label_violations, subdomain_errors,
};
use windlass_source::diag::{Diagnostic, FieldPath, Place};

/// What configures clusterctl is in no cluster, but for its inventory, which it makes itself.
const CLUSTERCTL_GROUP: &str = "clusterctl.cluster.x-k8s.io";
/// Kinds whose machines get `spec.template.metadata`; no webhook looks at it, and no machine comes.
const OF_MACHINES: [&str; 3] = ["MachineDeployment", "MachineSet", "MachinePool"];

/// Reports the metadata of an object that the API server rejects, and for kinds that make machines
/// also that of `spec.template`.
pub fn check(object: &Object) -> Vec<Diagnostic> {
    let is_of_machines = object.group() == CORE_GROUP && OF_MACHINES.contains(&object.kind());
    let own = Some(&["metadata"][..]);
    let of_machines = is_of_machines.then_some(&["spec", "template", "metadata"][..]);
    let of_name = is_stored(object)
        .then(|| nameless(object).or_else(|| misnamed(object)))
        .flatten();
    own.into_iter()
        .chain(of_machines)
        .flat_map(|steps| rejected(object, steps))
        .chain(of_name)
        .chain(metadata_types::check(object))
        .collect()
}

/// Whether an object is one that an API server has, with a name that is a DNS subdomain: documents
/// of kustomize, clusterctl, kubeadm and the kubelet only look so, and roles and addresses are
/// named otherwise.
fn is_stored(object: &Object) -> bool {
    let group = object.group();
    if !metadata_types::is_stored(object) {
        return false;
    }
    let is_of_cluster_api = group == CORE_GROUP || group.ends_with(&format!(".{CORE_GROUP}"));
    group.is_empty()
        || group == "apps"
        || group == GROUP
        || (is_of_cluster_api && group != CLUSTERCTL_GROUP)
}

/// An object that has no name and gets none.
fn nameless(object: &Object) -> Option<Diagnostic> {
    let is_named =
        !object.name().is_empty() || !object.text(&["metadata", "generateName"]).is_empty();
    let path = FieldPath::of_fields("metadata.name");
    if object
        .at(&path)
        .is_some_and(|value| !value.is_null() && !value.is_string())
    {
        return None;
    }
    let finding = Diagnostic::of(
        &METADATA_REJECTED,
        format!("the {} has no name", object.kind()),
    );
    (!is_named).then(|| {
        finding
            .at(object.place(&FieldPath::of_fields("metadata")))
            .help("write `name: NAME` under `metadata`")
    })
}

/// A name that is not a DNS subdomain.
fn misnamed(object: &Object) -> Option<Diagnostic> {
    if object.name().is_empty() {
        return None;
    }
    let why = subdomain_errors(object.name()).into_iter().next()?;
    let path = FieldPath::of_fields("metadata.name");
    let finding =
        Diagnostic::of(&METADATA_REJECTED, format!("{path}: {why}")).at(object.place(&path));
    Some(finding.help(
        "write lower-case letters, digits, `-` and `.`, with a letter or a digit at both ends",
    ))
}

fn rejected(object: &Object, steps: &[&str]) -> Vec<Diagnostic> {
    let metadata = steps
        .iter()
        .fold(FieldPath::root(), |path, step| path.field(*step));
    let entries = |kind: &str| {
        fields::field(object.value(), steps)
            .and_then(|metadata| metadata.get(kind))
            .and_then(Value::as_object)
    };
    let mut found = Vec::new();
    let labels = metadata.field("labels");
    for (key, value) in entries("labels").into_iter().flatten() {
        let violations = label_violations(key, value.as_str().unwrap_or_default(), &labels);
        // Finding a place reads the document again.
        found.extend(violations.iter().map(|violation| {
            let place = object.key_place(&labels.field(key));
            finding(&labels, violation, place, LABEL_FORM)
        }));
    }
    let annotations = metadata.field("annotations");
    for key in entries("annotations")
        .into_iter()
        .flat_map(serde_json::Map::keys)
    {
        let violations = annotation_violations(key, &annotations);
        found.extend(violations.iter().map(|violation| {
            let place = object.key_place(&annotations.field(key));
            finding(&annotations, violation, place, KEY_FORM)
        }));
    }
    let too_large =
        entries("annotations").and_then(|entries| annotations_too_large(entries, &annotations));
    found.extend(too_large.map(|violation| {
        finding(
            &annotations,
            &violation,
            object.key_place(&annotations),
            SIZE,
        )
    }));
    found
}

const LABEL_FORM: &str = "change the name or the value: letters, digits, `-`, `_` and `.`, at most 63 of them; a name may have a `prefix/`";
const KEY_FORM: &str = "change the name: letters, digits, `-`, `_` and `.`, at most 63 of them, after a `prefix/` if you like; the value is free";
const SIZE: &str = "take some away: all annotations of an object together have at most 256 KiB";

fn finding(path: &FieldPath, violation: &Violation, place: Place, help: &str) -> Diagnostic {
    Diagnostic::of(&METADATA_REJECTED, format!("{path}: {}", violation.body()))
        .at(place)
        .help(help)
}
