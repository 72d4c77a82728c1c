//! Random v1beta1 objects of all kinds, and the documents of the vectors and the corpus: what
//! `migrate` writes has no error in `validate`, and a second run changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use windlass_bootstrap::render::Request;
use windlass_capi::api::names::{Kind, Version};
use windlass_capi::api::{control_plane, openapi};
use windlass_checks::commands::migrate;
use windlass_checks::commands::validate;
use windlass_objects::Pool;
use windlass_schema::Schema;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Severity};

use super::NEW;
use super::corpus::{substituted, text_of};
use crate::support::{core_schema, files_below, shared, vectors};

/// Objects of each kind.
const OBJECTS: u64 = 60;

/// A sequence of numbers that is the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(below).unwrap()).unwrap()
    }

    fn is_one_of(&mut self, count: usize) -> bool {
        self.next(count) == 0
    }
}

/// Strings that fields of Cluster API take: names, versions, durations, groups, times.
const STRINGS: [&str; 16] = [
    "a",
    "md-0",
    "5m",
    "10m0s",
    "v1.34.0",
    "infrastructure.cluster.x-k8s.io/v1beta1",
    "DockerMachineTemplate",
    "10.0.0.0/16",
    "2026-01-01T00:00:00Z",
    "40%",
    "[3-5]",
    "/etc/a",
    "{{ .cluster.name }}-{{ .random }}",
    "a=b",
    "abcdef.0123456789abcdef",
    "",
];

/// Whether v1beta2 requires a field of the object at a field called `name`, where the schema of
/// v1beta1 does not: what a class and a set of machines are made of, and anything in a Cluster.
fn is_required(name: &str, field: &str, schema: &Value) -> bool {
    match (name, field) {
        ("spec", "controlPlane" | "infrastructure") | ("template", "spec") => {
            schema["required"].is_array()
        }
        ("spec", "paused" | "template") => true,
        _ => false,
    }
}

/// How many items v1beta2 requires in a list that it does not take as absent when it is empty: the
/// variables of a component, and the parts of a mount.
fn items(schema: &Value, name: &str) -> u64 {
    let is_mount = name == "mounts" && schema["items"]["type"] != "array";
    u64::from(is_mount || name == "extraEnvs")
}

/// The least number that v1beta2 takes at a field, and the webhook of v1beta1 too.
fn number(name: &str) -> i64 {
    if name == "certificatesExpiryDays" {
        7
    } else {
        0
    }
}

/// A value that a schema takes, with few of its optional fields; `name` is that of the field.
fn value(schema: &Value, name: &str, numbers: &mut Numbers, depth: usize) -> Value {
    if let Some(known) = schema["enum"].as_array() {
        return known[numbers.next(known.len())].clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return [json!(1), json!("40%"), json!(0)][numbers.next(3)].clone();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "object" => object(schema, name, numbers, depth),
        "array" => {
            let least = schema["minItems"]
                .as_u64()
                .unwrap_or(0)
                .max(items(schema, name));
            let count = usize::try_from(least).unwrap() + numbers.next(2);
            let item = |_| value(&schema["items"], name, numbers, depth + 1);
            (0..count).map(item).collect()
        }
        "string" => string(schema, name, numbers).into(),
        "integer" | "number" => {
            let least = schema["minimum"].as_i64().unwrap_or(0).max(number(name));
            (least + i64::try_from(numbers.next(3)).unwrap()).into()
        }
        "boolean" => numbers.is_one_of(2).into(),
        _ => json!("x"),
    }
}

fn object(schema: &Value, name: &str, numbers: &mut Numbers, depth: usize) -> Value {
    let mut fields = Map::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    // A reference without its parts is none.
    let is_reference = schema["properties"]["fieldPath"].is_object();
    for (field, inner) in schema["properties"].as_object().into_iter().flatten() {
        let is_needed = required.contains(&json!(field))
            || is_required(name, field, inner)
            || is_reference && ["apiVersion", "kind", "name"].contains(&field.as_str());
        let rarity = if is_reference { 12 } else { 2 + depth };
        if is_needed || numbers.is_one_of(rarity) {
            fields.insert(field.clone(), value(inner, field, numbers, depth + 1));
        }
    }
    let least = schema["minProperties"].as_u64().unwrap_or(0);
    let others = schema["properties"].as_object().into_iter().flatten();
    for (field, inner) in others.take(usize::try_from(least).unwrap()) {
        if fields.is_empty() {
            fields.insert(field.clone(), value(inner, field, numbers, depth + 1));
        }
    }
    if schema["additionalProperties"].is_object() && numbers.is_one_of(2) {
        let inner = value(&schema["additionalProperties"], name, numbers, depth + 1);
        fields.insert("a".to_owned(), inner);
    }
    fields.into()
}

/// A string that the schema takes, and mostly one that fits the name of its field.
fn string(schema: &Value, name: &str, numbers: &mut Numbers) -> String {
    let fitting = match name {
        "apiVersion" => "infrastructure.cluster.x-k8s.io/v1beta1",
        "kind" => "DockerMachineTemplate",
        "name" | "class" | "clusterName" => "a",
        "version" => "v1.34.0",
        "ttl" | "timeout" => "5m",
        name if name.ends_with("imeout") || name.ends_with("Period") => "5m",
        "template" => "{{ .cluster.name }}-{{ .random }}",
        "path" | "certificatesDir" | "kubeConfigPath" => "/etc/a",
        "permissions" => "0640",
        "token" => "abcdef.0123456789abcdef",
        "skipPhases" => "preflight",
        "effect" => "NoSchedule",
        "advertiseAddress" => "10.0.0.1",
        "controlPlaneEndpoint" | "apiServerEndpoint" => "a.example:6443",
        _ => STRINGS[numbers.next(STRINGS.len())],
    };
    let compiled = Schema::from_json(schema).unwrap();
    let takes = |text: &str| compiled.validate(&json!(text)).is_empty();
    let from = numbers.next(STRINGS.len());
    let others = STRINGS.iter().cycle().skip(from).take(STRINGS.len());
    std::iter::once(&fitting)
        .chain(others)
        .find(|text| takes(text))
        .map_or_else(String::new, |text| (*text).to_owned())
}

/// Group, kind and v1beta1 schema of everything that is migrated, WindlassConfig included.
fn kinds() -> Vec<(&'static str, &'static str, Value)> {
    const CORE: [&str; 7] = [
        "Cluster",
        "ClusterClass",
        "Machine",
        "MachineDeployment",
        "MachineHealthCheck",
        "MachinePool",
        "MachineSet",
    ];
    let core = CORE.map(|kind| ("cluster.x-k8s.io", kind, core_schema(kind, "v1beta1")));
    let kubeadm = Kind::ALL.map(|kind| {
        let schema = openapi::kubeadm_schema(kind, Version::V1Beta1);
        ("bootstrap.cluster.x-k8s.io", kind.kubeadm(), schema)
    });
    let windlass = Kind::ALL.map(|kind| {
        let schema = openapi::schema(kind, Version::V1Beta1);
        ("bootstrap.windlass.dev", kind.as_str(), schema)
    });
    let control_planes = [
        ("KubeadmControlPlane", false),
        ("KubeadmControlPlaneTemplate", true),
    ]
    .map(|(kind, is_template)| {
        let schema = control_plane::schema(is_template, Version::V1Beta1, true);
        ("controlplane.cluster.x-k8s.io", kind, schema)
    });
    core.into_iter()
        .chain(kubeadm)
        .chain(windlass)
        .chain(control_planes)
        .collect()
}

fn random_object(group: &str, kind: &str, schema: &Value, seed: u64) -> Value {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        numbers.next(2);
    }
    json!({
        "apiVersion": format!("{group}/v1beta1"),
        "kind": kind,
        "metadata": {"name": "a", "namespace": "default"},
        "spec": value(&schema["properties"]["spec"], "spec", &mut numbers, 0),
    })
}

/// The errors that `validate` reports of a text, without those about other files that it lacks.
fn errors(source: &Source) -> Vec<Diagnostic> {
    let request = Request::new();
    let (pool, unreadable) = Pool::read(std::slice::from_ref(source), &request.budget);
    let judged = validate::Judged::new(pool, &request);
    let mut rendering = judged.render(&request);
    let mut report = validate::run(&judged, &request, &mut rendering, true).report;
    report.extend(unreadable);
    let is_error = |finding: &Diagnostic| finding.rule.severity == Severity::Error;
    report
        .into_findings()
        .into_iter()
        .filter(is_error)
        .collect()
}

/// What becomes of a valid text.
enum Outcome {
    Invalid,
    Migrated,
    /// It stays as it is, for these rules and messages.
    Reported(Vec<String>),
}

/// Migrates a text that has no errors; what is written must have none, and must stay as it is in a
/// second run.
fn checked(name: &str, text: &str) -> Outcome {
    let source = Source::new("f.yaml", text);
    if !errors(&source).is_empty() {
        return Outcome::Invalid;
    }
    let run = |source: &Source| {
        migrate::run(
            std::slice::from_ref(source),
            &NEW,
            &BTreeSet::new(),
            &Arc::default(),
        )
    };
    let migration = run(&source);
    let after = &migration.sources[0];
    let wrong = errors(after);
    assert!(
        wrong.is_empty(),
        "{name}: {wrong:#?}\n{text}\n{}",
        after.text()
    );
    let again = run(after);
    assert_eq!(again.sources[0].text(), after.text(), "{name}");
    let reported: Vec<String> = migration
        .report
        .findings()
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
        .map(|finding| format!("{} {}", finding.rule.id, finding.message))
        .collect();
    if reported.is_empty() {
        Outcome::Migrated
    } else {
        Outcome::Reported(reported)
    }
}

#[test]
fn migrated_random_objects_are_valid_and_stay() {
    let kinds = kinds();
    let runs: Vec<(usize, u64)> = (0..kinds.len())
        .flat_map(|kind| (1..=OBJECTS).map(move |seed| (kind, seed)))
        .collect();
    let outcomes: Vec<(&str, Outcome)> = runs
        .par_iter()
        .map(|(row, seed)| {
            let (group, kind, schema) = &kinds[*row];
            let object = random_object(group, kind, schema, *seed);
            let outcome = checked(&format!("{kind} {seed}"), &format!("{object:#}\n"));
            (*kind, outcome)
        })
        .collect();
    let mut migrated: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reported = BTreeMap::new();
    for (kind, outcome) in outcomes {
        match outcome {
            Outcome::Invalid => {}
            Outcome::Migrated => *migrated.entry(kind).or_default() += 1,
            Outcome::Reported(messages) => {
                for message in messages {
                    *reported
                        .entry(format!("{kind} {message}"))
                        .or_insert(0_usize) += 1;
                }
            }
        }
    }
    let listed: Vec<String> = reported
        .iter()
        .map(|(message, count)| format!("{count} {message}"))
        .collect();
    println!("{migrated:#?}\n{}", listed.join("\n"));
    let without: Vec<&str> = kinds
        .iter()
        .map(|(_, kind, _)| *kind)
        .filter(|kind| migrated.get(kind).is_none_or(|count| *count < 3))
        .collect();
    assert!(without.is_empty(), "{without:?} {migrated:?}");
}

/// The texts below a folder that hold something that is migrated.
fn texts(root: &Path) -> Vec<(String, String)> {
    let read = |path: &std::path::PathBuf| {
        let (name, text) = text_of(root, path)?;
        let source = substituted(&name, &text)?;
        Some((name, source.text().to_owned()))
    };
    files_below(root).par_iter().filter_map(read).collect()
}

#[test]
fn migrated_documents_of_vectors_and_corpus_are_valid_and_stay() {
    let mut all = texts(&vectors("render"));
    all.extend(shared("corpus").iter().flat_map(|corpus| texts(corpus)));
    let migrated = all
        .par_iter()
        .flat_map_iter(|(name, text)| text.split("\n---\n").map(move |part| (name, part)))
        .filter(|(name, text)| matches!(checked(name, text), Outcome::Migrated))
        .count();
    assert!(migrated > 300, "{migrated}");
}
