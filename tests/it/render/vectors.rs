//! Bootstrap data: the bytes, or the rejection, of CAPI's own kubeadm bootstrap provider for each
//! vector.
//!
//! The vectors hold what the provider's code wrote when it was run.

use std::path::Path;

use serde_json::Value;
use windlass_bootstrap::render::Encoder;
use windlass_bootstrap::render::{self, FeatureGates, Notes, Pool, Profile, Rendered, Request};
use windlass_capi::api::boot::IgnitionVersion;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};

use crate::support::vectors;

/// One vector.
pub(super) struct Case {
    pub(super) name: String,
    profile: String,
    exact: bool,
    normalized: Option<String>,
    pub(super) is_ignition: bool,
    ignition_gate: bool,
    pub(super) folder: std::path::PathBuf,
    pub(super) expected: String,
}

/// All vectors.
pub(super) fn cases(root: &Path) -> Vec<Case> {
    let index: Value =
        serde_json::from_slice(&std::fs::read(root.join("index.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of_index = |case: &Value| Case {
        name: text(&case["name"]),
        profile: text(&case["profile"]),
        exact: case["error"]["exactText"].as_bool().unwrap_or(true),
        normalized: case["error"]["normalizedText"].as_str().map(str::to_owned),
        is_ignition: case["format"] == "ignition",
        ignition_gate: case["featureGates"]["KubeadmBootstrapFormatIgnition"]
            .as_bool()
            .unwrap_or_default(),
        folder: root.join(text(&case["name"])),
        expected: text(&case["expected"]),
    };
    let cases = index["cases"].as_array().unwrap();
    cases.iter().map(of_index).collect()
}

/// Renders the only config of a vector as the provider would.
pub(super) fn rendered(case: &Case, encoder: Encoder) -> (Option<Rendered>, Vec<Diagnostic>) {
    rendered_with(case, encoder, None)
}

/// Renders the only config of a vector, in a version of Ignition.
pub(super) fn rendered_with(
    case: &Case,
    encoder: Encoder,
    ignition: Option<IgnitionVersion>,
) -> (Option<Rendered>, Vec<Diagnostic>) {
    let input = std::fs::read_to_string(case.folder.join("input.yaml")).unwrap();
    let (pool, report) = Pool::read(&[Source::new("input.yaml", input)], &Budget::default());
    let request = Request {
        profile: Profile::parse(case.profile.split("-ae7ff").next().unwrap()).unwrap(),
        placeholders: false,
        token: Some("abcdef.0123456789abcdef".into()),
        show_secrets: true,
        encoder: Some(encoder),
        ignition,
        feature_gates: FeatureGates {
            ignition: case.ignition_gate,
            ..FeatureGates::default()
        },
        ..Request::new()
    };
    let mut notes = Notes {
        report,
        ..Notes::default()
    };
    let targets: Vec<_> = render::targets(&pool)
        .into_iter()
        .filter(|target| target.config.kind() == "KubeadmConfig")
        .collect();
    assert!(targets.len() <= 1, "{}: several configs", case.name);
    let rendered = targets
        .first()
        .and_then(|target| render::render(&pool, target, &request, &mut notes).rendered());
    (rendered, notes.report.into_findings())
}

fn check(case: &Case) -> Result<(), String> {
    let expected = std::fs::read(case.folder.join(&case.expected)).unwrap();
    let (rendered, findings) = rendered(case, Encoder::Capi);
    let data = rendered.map(|rendered| rendered.data.into_inner());
    let errors: Vec<_> = findings
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
        .collect();
    let shown = || {
        errors
            .iter()
            .map(|finding| format!("{finding:?}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    if case.expected != "expected.error.txt" {
        return match data {
            Some(data) if data == expected && errors.is_empty() => Ok(()),
            Some(data) => Err(format!(
                "{}\n{}",
                first_difference(&data, &expected),
                shown()
            )),
            None => Err(format!("rejected: {}", shown())),
        };
    }
    let expected = String::from_utf8(expected).unwrap();
    if data.is_some() || errors.is_empty() {
        return Err(format!("not rejected; expected {expected:?}\n{}", shown()));
    }
    let upstream: Vec<&str> = errors
        .iter()
        .filter_map(|finding| finding.upstream.as_deref())
        .collect();
    let passes = match &case.normalized {
        Some(normalized) => upstream
            .iter()
            .any(|text| without_positions(text) == *normalized),
        None if case.exact => upstream.contains(&expected.as_str()),
        None => true,
    };
    if passes {
        Ok(())
    } else {
        Err(format!("expected {expected:?}\n{}", shown()))
    }
}

/// The numbers after `line` and `column` replaced by `*`.
fn without_positions(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for index in 1..words.len() {
        if words[index - 1] == "line" || words[index - 1] == "column" {
            let rest = words[index]
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .to_owned();
            words[index] = format!("*{rest}");
        }
    }
    words.join(" ")
}

/// The first line that differs.
pub(super) fn first_difference(ours: &[u8], theirs: &[u8]) -> String {
    let (ours, theirs) = (
        String::from_utf8_lossy(ours),
        String::from_utf8_lossy(theirs),
    );
    let lines = ours.lines().zip(theirs.lines()).enumerate();
    let differing =
        lines
            .filter(|(_, (ours, theirs))| ours != theirs)
            .map(|(at, (ours, theirs))| {
                format!("line {}:\n  ours   {ours:?}\n  theirs {theirs:?}", at + 1)
            });
    differing
        .take(1)
        .next()
        .unwrap_or_else(|| format!("lengths {} and {}", ours.len(), theirs.len()))
}

#[test]
fn cloud_config_vectors() {
    check_vectors(|case| !case.is_ignition, 324, 64);
}

#[test]
fn ignition_vectors() {
    check_vectors(|case| case.is_ignition, 96, 26);
}

/// Checks the vectors of a format, of which at least so many have data and so many an error.
fn check_vectors(are_meant: fn(&Case) -> bool, data: usize, errors: usize) {
    let root = vectors("render");
    let cases: Vec<_> = cases(&root).into_iter().filter(are_meant).collect();
    let with_error = cases
        .iter()
        .filter(|case| case.expected == "expected.error.txt")
        .count();
    let with_data = cases.len() - with_error;
    assert!(
        with_data >= data && with_error >= errors,
        "vectors are missing: {with_data} of {}",
        cases.len()
    );
    let failures: Vec<_> = cases
        .iter()
        .filter_map(|case| {
            check(case)
                .err()
                .map(|difference| format!("{}: {difference}", case.name))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} vectors differ:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}
