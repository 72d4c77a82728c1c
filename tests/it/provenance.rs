//! `release build --provenance`: what the statement says, and when none is written.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const SOURCE: &str = "git+https://example.com/o/r@refs/tags/v0.2.0";

fn build(folder: &Path, more: &[&str]) -> Output {
    let arguments = [
        "release",
        "build",
        "v0.2.0",
        "--provider",
        "builtin",
        "--to",
        "out",
    ];
    support::windlass(folder)
        .args(arguments)
        .args(more)
        .output()
        .unwrap()
}

fn flags<'a>(file: &'a str, builder: &'a str) -> [&'a str; 8] {
    [
        "--provenance",
        file,
        "--builder-id",
        builder,
        "--source",
        SOURCE,
        "--source-commit",
        COMMIT,
    ]
}

/// The fields that in-toto's Statement v1 and SLSA's provenance v1 require, and a subject for each
/// line of SHA256SUMS.
#[test]
fn the_statement_speaks_of_every_file_and_says_who_built_it_of_what() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let more = [
        &flags("p.json", "https://ci.example.com/x")[..],
        &["--image", "ghcr.io/a/b:v9"],
    ]
    .concat();
    let built = build(path, &more);
    let told = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(
        built.status.success()
            && String::from_utf8_lossy(&built.stdout).ends_with("out/sbom.spdx.json\np.json\n"),
        "{told}"
    );
    let bytes = std::fs::read(path.join("p.json")).unwrap();
    let statement: Value = serde_json::from_slice(&bytes).unwrap();
    let sums = std::fs::read_to_string(path.join("out/SHA256SUMS")).unwrap();
    let mut expected: BTreeMap<&str, &str> = sums
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .map(|(sum, name)| (name, sum))
        .collect();
    // The list itself, so that the statement can be its signature.
    let of_list: String = Sha256::digest(sums.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    expected.insert("SHA256SUMS", &of_list);
    let subjects = statement["subject"].as_array().unwrap();
    let named = subjects.iter().map(|subject| {
        (
            subject["name"].as_str().unwrap(),
            subject["digest"]["sha256"].as_str().unwrap(),
        )
    });
    assert_eq!(named.collect::<BTreeMap<_, _>>(), expected);
    assert!(subjects.len() == expected.len() && expected.contains_key("bootstrap-components.yaml"));
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], "https://slsa.dev/provenance/v1");
    let predicate = &statement["predicate"];
    assert_eq!(
        predicate["runDetails"]["builder"]["id"],
        "https://ci.example.com/x"
    );
    let dependencies = json!([{"uri": SOURCE, "digest": {"gitCommit": COMMIT}}]);
    assert_eq!(
        predicate["buildDefinition"]["resolvedDependencies"],
        dependencies
    );
    let parameters =
        json!({"provider": "builtin", "version": "v0.2.0", "images": ["ghcr.io/a/b:v9"]});
    assert_eq!(
        predicate["buildDefinition"]["externalParameters"],
        parameters
    );
    assert!(
        predicate["buildDefinition"]["buildType"]
            .as_str()
            .unwrap()
            .starts_with("https://")
    );
    assert_eq!(
        predicate["runDetails"]["metadata"],
        Value::Null,
        "no time and no id of a run"
    );

    assert!(
        build(path, &more).status.success(),
        "the same again is not a fault"
    );
    assert_eq!(std::fs::read(path.join("p.json")).unwrap(), bytes);
}
