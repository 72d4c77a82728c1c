//! What a ClusterClass makes of a Cluster is what Cluster API's own engine makes of it, or its
//! rejection.

mod admission;
mod corpus;
mod properties;
mod text;

use std::path::Path;

use serde_json::{Value, json};
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};
use windlass_topology::commands::topology::{self, PlannedObject};
use windlass_topology::{Options, plan};

use crate::support::{root, vectors, windlass};

/// Cases of a function that is rejected: the function, which the one finding names.
const REJECTED: [(&str, &str); 2] = [
    ("mix-012-builtin-defaults-sprig", "derivePassword"),
    ("mix-078-defaults-sprig", "derivePassword"),
];

/// Whether the plan has the one finding that names the function.
fn rejects(findings: &[Diagnostic], function: &str) -> bool {
    let [finding] = findings else { return false };
    finding.rule.id == "topology-template-unsupported"
        && finding.message.contains(&format!("`{function}`"))
}

/// Numbers as doubles, so that 1 and 1.0 are equal.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(entries) => entries
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), normal(value)))
            .collect(),
        other => other.clone(),
    }
}

/// The objects that hold the config of machines, as the vectors have them.
fn rows(objects: &[PlannedObject]) -> Value {
    const KEYS: [&str; 11] = [
        "topology",
        "apiVersion",
        "kind",
        "name",
        "labels",
        "annotations",
        "spec",
        "templateMetadata",
        "version",
        "replicas",
        "owner",
    ];
    let row = |object: &PlannedObject| -> Value {
        let object = serde_json::to_value(object).unwrap();
        KEYS.iter()
            .map(|key| ((*key).to_owned(), object[*key].clone()))
            .collect()
    };
    objects
        .iter()
        .filter(|object| object.topology.is_some())
        .map(row)
        .collect()
}

fn first_rejection(findings: &[Diagnostic]) -> Option<String> {
    let first = findings
        .iter()
        .find(|finding| finding.rule.severity == Severity::Error)?;
    Some(first.upstream.as_ref().map_or_else(
        || format!("no words of upstream: {}", first.message),
        ToString::to_string,
    ))
}

/// What is expected of a case and what came of it, where they differ. A null inside of a spec
/// counts, so both are compared as they are.
fn differs(
    folder: &Path,
    name: &str,
    objects: &[PlannedObject],
    findings: &[Diagnostic],
) -> Option<String> {
    let rejection = first_rejection(findings);
    if let Ok(expected) = std::fs::read_to_string(folder.join(format!("{name}.error.txt"))) {
        return (rejection.as_ref() != Some(&expected))
            .then(|| format!("expected {expected}\nfound {rejection:?}"));
    }
    let expected = std::fs::read_to_string(folder.join(format!("{name}.json"))).ok()?;
    let expected: Value = serde_json::from_str(&expected).unwrap();
    if let Some(rejection) = rejection {
        return Some(format!("rejected: {rejection}"));
    }
    (normal(&expected) != normal(&rows(objects)))
        .then(|| format!("expected {expected}\nfound {}", rows(objects)))
}

#[test]
fn topologies_are_what_cluster_api_makes_of_them() {
    let folder = vectors("topology");
    let index: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("index.json")).unwrap()).unwrap();
    let cases = index["cases"].as_array().unwrap();
    assert!(cases.len() >= 281, "only {} cases found", cases.len());
    let mut failures = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let folder = folder.join(name);
        let source = Source::new(
            "input.yaml",
            std::fs::read_to_string(folder.join("input.yaml")).unwrap(),
        );
        let (pool, report) = Pool::read(&[source], &Budget::default());
        assert!(!report.has_errors(), "{name}: {report:?}");
        let planned = topology::plan(&pool, None, false, &Budget::default());
        let objects: Vec<PlannedObject> = planned.objects.iter().map(topology::reported).collect();
        let admitted = differs(&folder, "expected", &objects, planned.report.findings());
        let bare = plan(
            &pool,
            &Options {
                skips_admission: true,
                ..Options::default()
            },
            &Budget::default(),
        );
        let objects: Vec<PlannedObject> = bare.objects.iter().map(topology::reported).collect();
        let unadmitted = differs(&folder, "engine", &objects, bare.report.findings());
        if let Some((_, function)) = REJECTED.iter().find(|(rejected, _)| *rejected == name) {
            for findings in [planned.report.findings(), bare.report.findings()] {
                assert!(rejects(findings, function), "{name}: {findings:?}");
            }
            continue;
        }
        let different: Vec<String> = admitted.into_iter().chain(unadmitted).collect();
        if !different.is_empty() {
            failures.push(format!("{name}: {}", different.join("\n")));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} cases differ:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// Every finding stands in the user's file and says what to do.
#[test]
fn findings_have_their_place() {
    let folder = vectors("topology");
    let index: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("index.json")).unwrap()).unwrap();
    for case in index["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let source = Source::new(
            "input.yaml",
            std::fs::read_to_string(folder.join(name).join("input.yaml")).unwrap(),
        );
        let (pool, _) = Pool::read(&[source], &Budget::default());
        for finding in topology::plan(&pool, None, false, &Budget::default())
            .report
            .findings()
        {
            let place = &finding.place;
            assert!(
                place.file.as_deref() == Some("input.yaml") && place.span.is_some(),
                "{name}: {finding:?}"
            );
            assert!(finding.help.is_some(), "{name}: {finding:?}");
        }
    }
}

/// Neither the file of our example nor what `generate cluster` prints is anything else than a
/// topology that is planned.
#[test]
fn the_command_line_plans() {
    let output = windlass(root())
        .args([
            "topology",
            "plan",
            "examples/topology/harbour.yaml",
            "-o",
            "json",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let worker = report["objects"]
        .as_array()
        .unwrap()
        .iter()
        .find(|object| object["topology"] == "md/gpu")
        .unwrap();
    assert_eq!(
        worker["spec"]["files"][1]["content"],
        "vm.nr_hugepages = 1024\n"
    );
    assert_eq!(worker["writes"][0]["patch"], "huge-pages");
    let owned = report["objects"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|object| object["owner"] == "pier-gpu-xxxxx");
    assert_eq!(
        owned
            .map(|object| object["kind"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["WindlassConfigTemplate", "DockerMachineTemplate"]
    );
    let output = windlass(root())
        .args(["topology", "plan", "examples/topology/harbour.yaml"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("imageRepository: registry.example/k8s")
            && text.contains("kind: MachineDeployment"),
        "{text}"
    );
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("placeholder: the end of the name pier-xxxxx"),
        "{stderr}"
    );
    let output = windlass(root())
        .args(["topology", "variables", "examples/topology/harbour.yaml"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("hugePages   integer") && text.contains("registry    string    required"),
        "{text}"
    );
    let output = windlass(root())
        .args([
            "topology",
            "variables",
            "examples/topology/harbour.yaml",
            "-o",
            "json",
        ])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false, "required": ["registry"],
        "properties": {
            "hugePages": {"type": "integer", "minimum": 0, "default": 0}, "registry": {"type": "string", "pattern": "^[a-z0-9.:/-]+$"},
        },
    });
    assert_eq!(report["classes"][0]["schema"], schema);
    let folder = tempfile::tempdir().unwrap();
    let old = std::fs::read_to_string(root().join("examples/topology/harbour.yaml"))
        .unwrap()
        .replace("value: 1024", "value: 2048");
    let old_path = folder.path().join("old.yaml");
    std::fs::write(&old_path, old).unwrap();
    let arguments = [
        "topology",
        "plan",
        "examples/topology/harbour.yaml",
        "--against",
        old_path.to_str().unwrap(),
    ];
    let output = windlass(root()).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("ROLLS OUT   MachineDeployment/pier-gpu-xxxxx"),
        "{text}"
    );
    assert!(
        text.contains("ROTATED     WindlassConfigTemplate/pier-gpu-xxxxx")
            && text.contains("  spec.template.spec.files[1].content\n"),
        "{text}"
    );
}

/// What Cluster API's webhook rejects of the schema of a variable stands at the keyword, not at the
/// variable.
#[test]
fn faults_of_schemas_stand_at_their_keywords() {
    let folder = tempfile::tempdir().unwrap();
    let schema =
        "        type: object\n        properties:\n          a:\n            type: strin\n";
    let text = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: ClusterClass\nmetadata: {{name: a}}\nspec:\n  infrastructure: {{}}\n  controlPlane: {{}}\n  variables:\n  - name: v\n    required: true\n    schema:\n      openAPIV3Schema:\n{schema}"
    );
    std::fs::write(folder.path().join("clusterclass-a.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["lint", "-o", "json", "."])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "topology-class-rejected");
    assert_eq!(
        found
            .map(|finding| finding["line"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [15]
    );
}
