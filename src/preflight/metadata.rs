//! Labels and annotations that the API server refuses of an object, and of the machines that Cluster API makes of a template
//! (`k8s.io/apimachinery/pkg/api/validation`, `ValidateObjectMeta`).

use serde_json::Value;

use crate::contract::CORE_GROUP;
use crate::diag::{Diagnostic, FieldPath, rules};
use crate::objects::{Object, fields};
use crate::schema::{validate_annotations, validate_labels};

rules! {
    /// the API server refuses a label or an annotation of an object, or of the machines that come of it
    pub(crate) METADATA_REFUSED = error("object-metadata-refused");
}

/// Kinds whose machines get `spec.template.metadata`; no webhook looks at it, and no machine comes.
const OF_MACHINES: [&str; 3] = ["MachineDeployment", "MachineSet", "MachinePool"];

/// Judges the metadata of an object.
pub(crate) fn check(object: &Object) -> Vec<Diagnostic> {
    let is_of_machines = object.group() == CORE_GROUP && OF_MACHINES.contains(&object.kind());
    let own = Some(&["metadata"][..]);
    let of_machines = is_of_machines.then_some(&["spec", "template", "metadata"][..]);
    own.into_iter().chain(of_machines).flat_map(|steps| refused(object, steps)).collect()
}

fn refused(object: &Object, steps: &[&str]) -> Vec<Diagnostic> {
    let metadata = steps.iter().fold(FieldPath::root(), |path, step| path.field(*step));
    let mut found = Vec::new();
    for (kind, judge) in [("labels", validate_labels as fn(&_, &_) -> _), ("annotations", validate_annotations)] {
        let path = metadata.field(kind);
        let entries = fields::field(object.value(), steps).and_then(|metadata| metadata.get(kind)).and_then(Value::as_object);
        let violations: Vec<crate::schema::Violation> = entries.map(|entries| judge(entries, &path)).unwrap_or_default();
        found.extend(violations.into_iter().map(|violation| {
            let message = format!("{path}: {}", violation.body());
            let finding = Diagnostic::of(&METADATA_REFUSED, message).at(object.place(&path));
            finding.help("change the name or the value: letters, digits, `-`, `_` and `.`, at most 63 of them")
        }));
    }
    found
}
