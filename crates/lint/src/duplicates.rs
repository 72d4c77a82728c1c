//! Objects that are there twice, of which the second overwrites the first.

use std::collections::BTreeMap;

use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// the components contain the same object twice
    pub OBJECT_DUPLICATED = error("components-object-duplicated"), catalogue("C07");
}

pub(super) fn check(objects: &[Object]) -> Report {
    let mut seen: BTreeMap<(&str, &str, &str, &str), &Object> = BTreeMap::new();
    let name = &FieldPath::of_fields("metadata.name");
    let mut report = Report::new();
    // A second Namespace is a finding of its own.
    for object in objects.iter().filter(|object| !object.is("", "Namespace")) {
        let key = (
            object.group(),
            object.kind(),
            object.namespace(),
            object.name(),
        );
        if let Some(first) = seen.get(&key) {
            let finding = Diagnostic::of(
                &OBJECT_DUPLICATED,
                format!("{} is there twice", object.title()),
            );
            let finding = finding
                .at(object.place(name))
                .related(first.place(name), "the first");
            report.push(finding.help("remove one of the two"));
        } else {
            seen.insert(key, object);
        }
    }
    report
}
