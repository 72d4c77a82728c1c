//! Debian's `cloud-init schema` checks what `typed` writes, for every vector. Where the package
//! cloud-init is not installed this is said and passed over; `.ci/run` installs it and requires it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use windlass_bootstrap::render::Encoder;
use windlass_go_yaml::yaml;
use windlass_source::Source;

use super::vectors::{Case, cases, rendered};
use crate::support::{root, runs, vectors};

/// Debian's own, for which cloud-init is installed.
const PYTHON: &str = "/usr/bin/python3";

/// The judgement of each file, in the order of the files.
fn judged(files: &[PathBuf]) -> Vec<Value> {
    let script = root().join("tests/it/render/cloud_init.py");
    let output = Command::new(PYTHON)
        .arg(script)
        .args(files)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let judged: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(judged.len(), files.len());
    judged
}

/// Whether nothing is rejected but the number of a partition: the text of cloud-init's schema allows
/// it, its list of values forgot it, and cloud-init itself reads it.
fn is_slip_of_the_schema(errors: &str) -> bool {
    let errors = errors.trim_start_matches("Cloud config schema errors: ");
    let is_slip = |error: &str| {
        let number = error
            .strip_suffix(" is not valid under any of the given schemas")
            .and_then(|rest| rest.split_once(".partition: "));
        number.is_some_and(|(place, number)| {
            place.starts_with("fs_setup.") && number.parse::<u32>().is_ok()
        })
    };
    errors.is_empty() || errors.split(", ").all(is_slip)
}

/// What our own reader finds in a document.
fn our_reading(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = yaml::parse(
        &Source::new("user-data", text.trim_start_matches("## template: jinja\n")),
        &Default::default(),
    );
    assert!(!parsed.report.has_errors(), "{:?}", parsed.report);
    parsed.documents[0].root.to_json()
}

/// Every document of `typed` is accepted, also where upstream's is not, and PyYAML, with which
/// cloud-init reads, finds in it what our reader finds, by which the other tests check.
#[test]
fn cloud_init_accepts_what_typed_writes() {
    if !runs(&[PYTHON, "-c", "import cloudinit"]) {
        return;
    }
    let root = vectors("render");
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<_> = cases(&root)
        .into_iter()
        .filter(|case| case.expected == "expected.cloud-config")
        .collect();
    let upstream: Vec<PathBuf> = cases
        .iter()
        .map(|case| case.folder.join(&case.expected))
        .collect();
    let typed = |case: &Case| {
        let path = folder.path().join(&case.name);
        std::fs::write(
            &path,
            rendered(case, Encoder::Typed).0.unwrap().data.expose(),
        )
        .unwrap();
        path
    };
    let ours: Vec<PathBuf> = cases.iter().map(typed).collect();
    let theirs_rejected = judged(&upstream)
        .iter()
        .filter(|judgement| !judgement["errors"].is_null())
        .count();
    assert!(
        theirs_rejected >= 20,
        "the check rejects only {theirs_rejected} of upstream's documents"
    );
    for (path, judgement) in ours.iter().zip(judged(&ours)) {
        let errors = judgement["errors"].as_str().unwrap_or_default();
        assert!(
            is_slip_of_the_schema(errors),
            "{}: {errors}",
            path.display()
        );
        if errors.is_empty() {
            assert_eq!(judgement["value"], our_reading(path), "{}", path.display());
        }
    }
}
