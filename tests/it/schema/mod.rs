//! The API server's checks over the schema of KubeadmConfig and over the vectors that the real API
//! server rejected.

mod properties;
mod rules;
mod structural;
mod values;

use serde_json::Value;
use windlass_capi::api::names::{Kind, Version};
use windlass_capi::api::openapi;
use windlass_go_yaml::yaml::parse;
use windlass_schema::{Schema, Violation, rejection_message};
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::vectors;

/// The documents of a file, as Go reads them.
fn documents(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = parse(
        &Source::new(path.to_str().unwrap(), text.as_str()),
        &Budget::default(),
    );
    parsed
        .documents
        .into_iter()
        .map(|document| document.root.into_json())
        .filter(|value| !value.is_null())
        .collect()
}

/// The schema of KubeadmConfig; `tests/it/api.rs` compares it with upstream's CRD.
fn kubeadm_config(version: Version) -> Schema {
    Schema::from_json(&openapi::kubeadm_schema(Kind::Config, version)).unwrap()
}

/// The KubeadmConfig of a vector, with its version.
fn input(folder: &std::path::Path, case: &Value) -> (Version, Value) {
    let path = folder
        .join(case["name"].as_str().unwrap())
        .join("input.yaml");
    let object = documents(&path)
        .into_iter()
        .find(|found| found["kind"] == "KubeadmConfig")
        .unwrap();
    let version = object["apiVersion"].as_str().unwrap().rsplit('/').next();
    (version.and_then(Version::parse).unwrap(), object)
}

/// The table of all vectors.
fn index(folder: &std::path::Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("index.json")).unwrap()).unwrap()
}

/// What the API server would do with a new object, up to and without its CEL rules.
fn admitted(schema: &Schema, mut object: Value) -> Vec<Violation> {
    schema.prune(&mut object);
    schema.apply_defaults(&mut object);
    schema.validate(&object)
}

#[test]
fn vectors_that_the_schema_rejects_give_the_exact_text() {
    let vectors = vectors("render");
    let index = index(&vectors);
    let cases: Vec<_> = index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["error"]["source"] == "schema")
        .collect();
    assert!(cases.len() >= 30, "only {} cases found", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let (version, object) = input(&vectors, case);
        let subject = object["metadata"]["name"].as_str().unwrap().to_owned();
        let given = rejection_message(
            "bootstrap.cluster.x-k8s.io",
            "KubeadmConfig",
            &subject,
            &admitted(&kubeadm_config(version), object),
        );
        let expected =
            std::fs::read_to_string(vectors.join(name).join("expected.error.txt")).unwrap();
        if given != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  given    {given}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn vectors_that_were_rendered_pass_the_schema() {
    let vectors = vectors("render");
    let schemas = Version::ALL.map(|version| (version, kubeadm_config(version)));
    let index = index(&vectors);
    let rendered = |case: &&Value| case["error"].is_null() && case["profile"] != "v1.10.10";
    let (mut count, mut rejected) = (0, Vec::new());
    for case in index["cases"].as_array().unwrap().iter().filter(rendered) {
        let name = case["name"].as_str().unwrap();
        let (version, object) = input(&vectors, case);
        let schema = &schemas
            .iter()
            .find(|(known, _)| *known == version)
            .unwrap()
            .1;
        count += 1;
        rejected.extend(
            admitted(schema, object)
                .iter()
                .map(|violation| format!("{name}: {violation}")),
        );
    }
    assert!(count > 300, "only {count} cases found");
    assert_eq!(rejected, [""; 0]);
}
