//! From a source to objects.

use super::Object;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Report, rules};

rules! {
    /// a document lacks `apiVersion`, `kind` or `metadata.name`
    OBJECT_INCOMPLETE = error("object-incomplete"), catalogue("C01");
    /// a document is a List instead of a single object
    OBJECT_LIST = error("object-list-unexpanded");
}

/// The documents of a source, whatever they are. Documents without content are passed over.
pub fn documents(source: &Source, budget: &Budget) -> (Vec<Object>, Report) {
    let read = yaml::values(source, budget);
    let documents = read
        .documents
        .into_iter()
        .filter(|document| !document.value.is_null());
    (documents.map(Object::of_document).collect(), read.report)
}

/// The objects of a source. Documents without content are passed over; what is not an object is a
/// finding.
pub fn read(source: &Source, budget: &Budget) -> (Vec<Object>, Report) {
    let (mut objects, mut report) = documents(source, budget);
    objects.retain(|object| {
        let fault = fault(object);
        let is_sound = fault.is_none();
        report.extend(fault);
        is_sound
    });
    (objects, report)
}

fn fault(object: &Object) -> Option<Diagnostic> {
    if object.kind() == "List" && object.api_version() == "v1" {
        let finding = Diagnostic::of(&OBJECT_LIST, "a List is where objects are expected");
        return Some(
            finding
                .at(object.place(&FieldPath::of_fields("kind")))
                .help("write each item as a document of its own, with `---` between them"),
        );
    }
    let missing = [
        (object.api_version(), "apiVersion"),
        (object.kind(), "kind"),
        (object.name(), "metadata.name"),
    ]
    .into_iter()
    .find(|(value, _)| value.is_empty())?
    .1;
    let path = FieldPath::of_fields(missing);
    // YAML 1.1 reads `n`, `no` and `1` as something else than text.
    if let Some(other) = object
        .at(&path)
        .filter(|value| value.is_boolean() || value.is_number())
    {
        let finding = Diagnostic::of(
            &OBJECT_INCOMPLETE,
            format!(
                "{missing} is read as `{other}`, not as text",
                other = Quoted(other)
            ),
        );
        return Some(
            finding
                .at(object.place(&path))
                .help("put the value in quotes"),
        );
    }
    let finding = Diagnostic::of(
        &OBJECT_INCOMPLETE,
        format!("the document has no {missing}, so it is not a Kubernetes object"),
    );
    Some(
        finding
            .at(object.place(&path))
            .help(format!("add `{missing}`, or remove the document")),
    )
}
