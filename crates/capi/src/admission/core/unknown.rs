//! Fields of an object of the core that its version does not have.

use serde_json::Value;

use crate::admission::renamed;
use windlass_objects::Object;
use windlass_schema::Schema;
use windlass_schema::document::{self, Part, Wording};
use windlass_source::diag::{Diagnostic, FieldPath, Remedy, rules};

rules! {
    /// a Cluster API object has an unknown field
    pub FIELD_UNKNOWN = error("core-field-unknown");
}

/// The findings about an object, as admission sees it.
pub fn unknown_fields(object: &Object, admitted: &Value, schema: &Schema) -> Vec<Diagnostic> {
    let wording = Wording {
        unknown: &FIELD_UNKNOWN,
        missing: &FIELD_UNKNOWN,
        rejected: &FIELD_UNKNOWN,
    };
    let at = |path: &FieldPath, part| match part {
        Part::Key => object.key_place(path),
        Part::Value => object.place(path),
    };
    let fields = schema.unknown_fields(admitted);
    let findings = fields.iter().map(|field| {
        let finding = document::unknown_finding(field, &wording, &at);
        with_new_form(object, finding)
    });
    findings.collect()
}

/// A finding about a field of v1beta1 proposes what v1beta2 has in its place.
pub fn with_new_form(object: &Object, mut finding: Diagnostic) -> Diagnostic {
    if finding.rule == &FIELD_UNKNOWN {
        let new_form = renamed::in_v1beta2(object, &finding.place.path).map(Remedy::from);
        finding.help = new_form.or(finding.help);
    }
    finding
}
