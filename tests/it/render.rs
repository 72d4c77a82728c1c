//! Bootstrap data: the bytes, or the refusal, of CAPI's own kubeadm bootstrap provider for each of the shared vectors.
//!
//! The vectors hold what the provider's code wrote when it was run; `KNOWN_GAPS` names those that do not pass yet, and one that passes
//! although it is named fails the test.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use windlass::diag::{Diagnostic, Severity};
use windlass::render::{self, FeatureGates, Notes, Pool, Profile, Request};
use windlass::text::source::Source;

use crate::support::shared;

/// Vectors that do not pass yet.
const KNOWN_GAPS: &[&str] = &[
    "error-template-compare",
    "error-template-exec",
    "template-funcs",
    "template-version",
    "template-version-normalised",
    "template-version-prerelease",
    "v110-retry-join-cp-v1.31.2",
    "v110-retry-join-worker-v1.30.9",
];

/// One vector.
struct Case {
    name: String,
    profile: String,
    exact: bool,
    normalized: Option<String>,
    ignition_gate: bool,
    folder: std::path::PathBuf,
    expected: String,
}

fn cases(root: &Path) -> Vec<Case> {
    let index: Value = serde_json::from_slice(&std::fs::read(root.join("index.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of_index = |case: &Value| Case {
        name: text(&case["name"]),
        profile: text(&case["profile"]),
        exact: case["error"]["exactText"].as_bool().unwrap_or(true),
        normalized: case["error"]["normalizedText"].as_str().map(str::to_owned),
        ignition_gate: case["featureGates"]["KubeadmBootstrapFormatIgnition"].as_bool().unwrap_or_default(),
        folder: root.join(text(&case["name"])),
        expected: text(&case["expected"]),
    };
    let cases = index["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["format"] == "cloud-config").map(of_index).collect()
}

/// Renders the only config of a vector as the provider would.
fn rendered(case: &Case) -> (Option<Vec<u8>>, Vec<Diagnostic>) {
    let input = std::fs::read_to_string(case.folder.join("input.yaml")).unwrap();
    let (pool, report) = Pool::read(&[Source::new("input.yaml", input)]);
    let request = Request {
        profile: Profile::parse(case.profile.split("-ae7ff").next().unwrap()).unwrap(),
        stand_ins: false,
        token: Some("abcdef.0123456789abcdef".into()),
        show_secrets: true,
        feature_gates: FeatureGates { ignition: case.ignition_gate, machine_pool: true },
        ..Request::new()
    };
    let mut notes = Notes { report, ..Notes::default() };
    let targets: Vec<_> = render::targets(&pool).into_iter().filter(|target| target.config.kind() == "KubeadmConfig").collect();
    assert!(targets.len() <= 1, "{}: several configs", case.name);
    let data = targets.first().and_then(|target| render::render(&pool, target, &request, &mut notes));
    let findings = notes.report.into_findings();
    (data.map(|rendered| rendered.data.into_inner()), findings)
}

fn check(case: &Case) -> Result<(), String> {
    let expected = std::fs::read(case.folder.join(&case.expected)).unwrap();
    let (data, findings) = rendered(case);
    let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let shown = || errors.iter().map(|finding| format!("{finding:?}")).collect::<Vec<_>>().join("\n");
    if case.expected != "expected.error.txt" {
        return match data {
            Some(data) if data == expected && errors.is_empty() => Ok(()),
            Some(data) => Err(format!("{}\n{}", first_difference(&data, &expected), shown())),
            None => Err(format!("refused: {}", shown())),
        };
    }
    let expected = String::from_utf8(expected).unwrap();
    if data.is_some() || errors.is_empty() {
        return Err(format!("not refused; expected {expected:?}\n{}", shown()));
    }
    let upstream: Vec<&str> = errors.iter().filter_map(|finding| finding.upstream.as_deref()).collect();
    let passes = match &case.normalized {
        Some(normalized) => upstream.iter().any(|text| without_positions(text) == *normalized),
        None if case.exact => upstream.contains(&expected.as_str()),
        None => true,
    };
    if passes { Ok(()) } else { Err(format!("expected {expected:?}\n{}", shown())) }
}

/// The numbers after `line` and `column` replaced by `*`.
fn without_positions(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for index in 1..words.len() {
        if words[index - 1] == "line" || words[index - 1] == "column" {
            let rest = words[index].trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
            words[index] = format!("*{rest}");
        }
    }
    words.join(" ")
}

fn first_difference(ours: &[u8], theirs: &[u8]) -> String {
    let (ours, theirs) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(theirs));
    let lines = ours.lines().zip(theirs.lines()).enumerate();
    let differing = lines
        .filter(|(_, (ours, theirs))| ours != theirs)
        .map(|(at, (ours, theirs))| format!("line {}:\n  ours   {ours:?}\n  theirs {theirs:?}", at + 1));
    differing.take(1).next().unwrap_or_else(|| format!("lengths {} and {}", ours.len(), theirs.len()))
}

#[test]
fn cloud_config_vectors() {
    let Some(root) = shared("vectors/render") else { return };
    let cases = cases(&root);
    let mut failures: BTreeMap<&str, String> = BTreeMap::new();
    let mut stale = Vec::new();
    for case in &cases {
        match check(case) {
            Ok(()) if KNOWN_GAPS.contains(&case.name.as_str()) => stale.push(case.name.as_str()),
            Err(difference) if !KNOWN_GAPS.contains(&case.name.as_str()) => drop(failures.insert(&case.name, difference)),
            _ => {}
        }
    }
    let shown: Vec<_> = failures.iter().map(|(name, difference)| format!("{name}: {difference}")).collect();
    assert!(failures.is_empty(), "{} of {} vectors differ:\n{}", failures.len(), cases.len(), shown.join("\n"));
    assert!(stale.is_empty(), "these pass now, take them off KNOWN_GAPS: {stale:?}");
}
