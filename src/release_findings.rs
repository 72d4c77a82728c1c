//! What `release build` reports about a provider, for `lint`, which builds nothing.

use std::collections::BTreeSet;

use crate::rules;
use windlass_provider::{Declared, Inputs};
use windlass_release::commands::generate::newest_version;
use windlass_release::commands::release_build::{Order, run};
use windlass_source::diag::{Diagnostic, Report};

/// Returns what `release build` reports about providers in addition to `reported`, for the next
/// release of the newest series. Findings that depend on the version are left out.
pub fn findings(
    providers: &[Declared],
    parsed: Report,
    inputs: &Inputs,
    reported: &Report,
) -> Report {
    let version = newest_version(providers, inputs);
    let release = run(providers, parsed, inputs, Order::of(&version));
    let identity = |finding: &Diagnostic| {
        (
            finding.rule.id,
            finding.place.start(),
            finding.message.to_string(),
        )
    };
    let mut known: BTreeSet<_> = reported.findings().iter().map(identity).collect();
    let found = release.report.into_findings().into_iter();
    found
        .filter(|finding| !rules::depends_on_version(finding.rule))
        .filter(|finding| known.insert(identity(finding)))
        .collect()
}
