//! `crdMetadata` of provider.yaml: labels and annotations of CRDs beyond those of the contracts.

use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::Object;
use windlass_provider::Declared;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_source::nearest::nearest;

rules! {
    /// `crdMetadata` in provider.yaml names a kind that no CRD defines
    KIND_UNKNOWN = error("provider-crd-metadata-kind-unknown");
}

/// Puts labels and annotations on the CRDs among some objects.
pub(super) fn add(declared: &Declared, objects: &mut [Object]) -> Report {
    let mut report = unknown_kinds(declared, objects);
    let entries = &declared.provider.crd_metadata;
    for crd in objects
        .iter_mut()
        .filter(|object| object.is(CRD_GROUP, CRD_KIND))
    {
        let kind = crd.text(&["spec", "names", "kind"]).to_owned();
        for entry in entries
            .iter()
            .filter(|entry| entry.kinds.is_empty() || entry.kinds.contains(&kind))
        {
            let labelled = entry
                .labels
                .iter()
                .try_for_each(|(key, value)| crd.set_label(key, value));
            let done = labelled.and_then(|()| {
                entry
                    .annotations
                    .iter()
                    .try_for_each(|(key, value)| crd.set_annotation(key, value))
            });
            report.extend(crd.rejected(done));
        }
    }
    report
}

fn unknown_kinds(declared: &Declared, objects: &[Object]) -> Report {
    let crds = objects
        .iter()
        .filter(|object| object.is(CRD_GROUP, CRD_KIND));
    let known: Vec<&str> = crds
        .map(|crd| crd.text(&["spec", "names", "kind"]))
        .collect();
    let named = declared.provider.crd_metadata.iter().enumerate();
    let named = named.flat_map(|(at, entry)| {
        entry
            .kinds
            .iter()
            .enumerate()
            .map(move |(kind_at, kind)| (at, kind_at, kind))
    });
    named
        .filter(|(_, _, kind)| !known.contains(&kind.as_str()))
        .map(|(at, kind_at, kind)| {
            let path = FieldPath::root()
                .field("crdMetadata")
                .index(at)
                .field("kinds")
                .index(kind_at);
            let finding = Diagnostic::of(
                &KIND_UNKNOWN,
                format!("{path} is `{kind}`, which no CRD of the release defines"),
            );
            let help = match nearest(kind, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("name kinds of the CRDs: {}", known.join(", ")),
            };
            finding.at(declared.place(&path)).help(help)
        })
        .collect()
}
