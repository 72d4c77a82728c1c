//! `migrate`: what a document becomes, what of its text stays, and what is said.

mod anchors;
#[path = "../../migrate/corpus.rs"]
mod corpus;
mod lists;
mod never_empty;
mod patch_values;
mod promises;
mod separators;
mod shared_data;
mod valid;

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_capi::api::names::Version;
use windlass_checks::commands::migrate::{self, Family, Wanted};
use windlass_source::Source;
use windlass_source::diag::Diagnostic;

const NEW: Wanted = Wanted {
    version: Some(Version::V1Beta2),
    family: None,
};
const OLD: Wanted = Wanted {
    version: Some(Version::V1Beta1),
    family: None,
};

fn family(family: Family) -> Wanted {
    Wanted {
        version: None,
        family: Some(family),
    }
}

/// A text after its migration, beside others, and what is found.
fn migrated_beside(text: &str, others: &str, wanted: Wanted) -> (String, Vec<Diagnostic>) {
    let sources = [
        Source::new("f.yaml", text),
        Source::new("others.yaml", others),
    ];
    let migration = migrate::run(&sources, &wanted, &BTreeSet::new(), &Arc::default());
    (
        migration.sources[0].text().to_owned(),
        migration.report.into_findings(),
    )
}

fn migrated(text: &str, wanted: Wanted) -> (String, Vec<Diagnostic>) {
    migrated_beside(text, "", wanted)
}

/// The rules of findings with the lines at which they stand.
fn told(findings: &[Diagnostic]) -> Vec<(&'static str, u32)> {
    findings
        .iter()
        .map(|finding| {
            (
                finding.rule.id,
                finding.place.span.map_or(0, |span| span.start.line),
            )
        })
        .collect()
}
