//! What the renderer finds, as conditions of the config. Findings name fields and sizes, never
//! content.

use super::outcome::{Observed, Outcome, reason};
use windlass_bootstrap::render::plan::{certificate, content};
use windlass_source::diag::{Class, Diagnostic, Report};

/// Rules about what `spec.files` is made of, whose messages upstream begins in one way.
const OF_FILES: [&windlass_source::diag::Rule; 5] = [
    &content::SECRET_MISSING,
    &content::SECRET_KEY_MISSING,
    &content::CONFIG_MAP_MISSING,
    &content::CONFIG_MAP_KEY_MISSING,
    &content::TEMPLATE_REJECTED,
];

/// The outcome of a rendering that gave no data: what only a change of the objects fixes comes
/// first.
pub(super) fn outcome(report: &Report) -> Outcome {
    let of_class = |class| {
        report
            .findings()
            .iter()
            .find(|finding| finding.rule.class == class)
    };
    let missing = report
        .findings()
        .iter()
        .find(|finding| finding.rule == &certificate::MISSING);
    let certificates = missing.map(|finding| Observed::certificates_failed(message(finding)));
    if let Some(finding) = of_class(Class::Reject) {
        let reason = if finding.rule == &content::TOO_LARGE {
            reason::DATA_TOO_LARGE
        } else {
            reason::INVALID_CONFIGURATION
        };
        // Where upstream sets no condition, ours names the field.
        let said = if OF_FILES.contains(&finding.rule) {
            message(finding)
        } else {
            finding.message.to_string()
        };
        return Outcome {
            certificates,
            ..Outcome::without_data(Observed::rejected(reason, said))
        };
    }
    let Some(finding) = of_class(Class::Requeue) else {
        return Outcome::default().with_fault("nothing was rendered, and nothing says why");
    };
    let message = message(finding);
    if finding.rule == &certificate::MISSING {
        return Outcome {
            certificates,
            ..Outcome::default()
        }
        .with_fault(message);
    }
    let mut outcome = Outcome {
        certificates,
        ..Outcome::without_data(Observed::failed(message.as_str()))
    };
    // Secrets and ConfigMaps of users are not watched.
    if OF_FILES.contains(&finding.rule) {
        outcome.fault = Some(message);
    }
    outcome
}

/// What is said of a finding: upstream's words where it has some.
fn message(finding: &Diagnostic) -> String {
    let said = finding
        .upstream
        .as_deref()
        .filter(|text| !text.is_empty())
        .unwrap_or(&finding.message);
    let is_password = said.starts_with("failed to resolve passwd source");
    match OF_FILES.contains(&finding.rule) {
        true if is_password => {
            format!("Failed to read password from secrets for spec.users: {said}")
        }
        true => format!("Failed to prepare spec.files: {said}"),
        false => said.to_owned(),
    }
}
