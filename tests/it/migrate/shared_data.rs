//! The vectors and the corpus: there and back, rendered before and after, and held against
//! the real CRDs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;
use windlass_capi::api::time::GoDuration;
use windlass_checks::commands::migrate::Wanted;
use windlass_schema::Schema;
use windlass_source::budget::Budget;
use windlass_source::diag::Severity;

use super::corpus::{has_patched_argument, referred, rendered, substituted, text_of};
use super::{NEW, OLD, migrated_beside};
use crate::support::{documents, files_below, shared, vectors};

/// All texts below a folder that hold something that is migrated, by their paths.
fn texts(root: &Path) -> Vec<(String, String)> {
    files_below(root)
        .par_iter()
        .filter_map(|path| text_of(root, path))
        .collect()
}

/// Whether a text has a duration that Go writes otherwise: what comes back is spelt as Go does.
fn has_own_duration(text: &str) -> bool {
    let values = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(key, _)| key.contains("imeout") || key.ends_with("ttl"));
    let is_own =
        |value: &str| GoDuration::parse(value).is_ok_and(|duration| duration.to_string() != value);
    values.map(|(_, value)| value.trim_matches('"')).any(is_own)
}

/// Whether a text has a field that stands elsewhere in the other version, and comes back as the
/// last one, or arguments, which come back in the order of their names, indented as the list
/// nearest to them.
fn has_moved_field(text: &str) -> bool {
    [
        "timeouts:",
        "timeoutForControlPlane:",
        "timeout:",
        "xtraArgs:",
    ]
    .iter()
    .any(|field| text.contains(field))
}

#[test]
fn there_and_back_is_the_same_text() {
    let vectors = texts(&vectors("render"));
    let documents = vectors.iter().flat_map(|(name, text)| {
        let others = referred(text);
        text.split("---\n")
            .filter(|text| !text.trim().is_empty())
            .map(move |text| (name, text.to_owned(), others.clone()))
    });
    let documents: Vec<_> = documents.collect();
    let way = |(name, text, others): &(&String, String, String)| {
        let wanted: [Wanted; 2] = if text.contains("/v1beta2\nkind:") {
            [OLD, NEW]
        } else {
            [NEW, OLD]
        };
        let (there, first) = migrated_beside(text, others, wanted[0]);
        if !first.is_empty() || there == *text || has_own_duration(text) {
            return None;
        }
        let (back, second) = migrated_beside(&there, others, wanted[1]);
        (second.is_empty()).then(|| ((*name).clone(), text.clone(), back))
    };
    let ways: Vec<_> = documents.par_iter().filter_map(way).collect();
    assert!(
        ways.len() > 300,
        "only {} documents change there and back",
        ways.len()
    );
    let mut moved = 0;
    for (name, text, back) in &ways {
        if has_moved_field(text) && text != back {
            moved += 1;
            let sorted = |text: &str| {
                text.lines()
                    .map(|line| line.trim_start().to_owned())
                    .collect::<BTreeSet<_>>()
            };
            assert_eq!(sorted(text), sorted(back), "{name}");
        } else {
            assert_eq!(text, back, "{name}");
        }
    }
    assert!(
        moved < 40,
        "{moved} of {} come back in another order",
        ways.len()
    );
}

/// What of the corpus cannot be carried: a duration that is a variable.
const CANNOT_BE_CARRIED: [&str; 1] = ["`${NODE_DRAIN_TIMEOUT}` is not a duration"];

#[test]
fn what_is_migrated_renders_the_same_bytes() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let check = |(name, text): &(String, String)| {
        let before = rendered(name, text).filter(|_| !has_patched_argument(text))?;
        let (there, findings) = migrated_beside(text, &referred(text), NEW);
        if let Some(error) = findings
            .iter()
            .find(|finding| finding.rule.severity == Severity::Error)
        {
            let is_known = CANNOT_BE_CARRIED
                .iter()
                .any(|known| error.message.contains(known));
            assert!(is_known, "{name}: {}", error.message);
            return None;
        }
        let after = rendered(name, &there).unwrap_or_default();
        assert!(
            before == after,
            "{name}: {:?} {:?}",
            before.keys(),
            after.keys()
        );
        Some(there != *text)
    };
    let rendered: Vec<bool> = texts(&corpus).par_iter().filter_map(check).collect();
    let changed = rendered.iter().filter(|changed| **changed).count();
    assert!(
        rendered.len() > 60 && changed > 20,
        "{changed} of {} change",
        rendered.len()
    );
}

/// The schemas in the CRDs of Cluster API v1.14, by apiVersion and kind.
fn schemas() -> Option<BTreeMap<(String, String), Schema>> {
    let mut schemas = BTreeMap::new();
    for file in ["core", "bootstrap", "control-plane"] {
        let path = shared(&format!(
            "corpus/rendered/kubernetes-sigs+cluster-api@v1.14.0/{file}-components.yaml"
        ))?;
        let text = String::from_utf8(fs::read(path).unwrap()).unwrap();
        let source = substituted("components.yaml", &text).unwrap();
        for crd in documents(source.text().as_bytes())
            .iter()
            .filter(|object| object["kind"] == "CustomResourceDefinition")
        {
            for version in crd["spec"]["versions"].as_array().unwrap() {
                let api_version = format!(
                    "{}/{}",
                    crd["spec"]["group"].as_str().unwrap(),
                    version["name"].as_str().unwrap()
                );
                let kind = crd["spec"]["names"]["kind"].as_str().unwrap().to_owned();
                let schema = Schema::from_json(&version["schema"]["openAPIV3Schema"]).unwrap();
                schemas.insert((api_version, kind), schema);
            }
        }
    }
    Some(schemas)
}

/// Patches of kustomize, which are not whole objects; others have no spec.
const PARTS: [&str; 2] = ["/patches", "/variables.yaml"];

/// What the schema of its kind says of each document of a text.
fn rejected(
    name: &str,
    text: &str,
    schemas: &BTreeMap<(String, String), Schema>,
) -> Option<Vec<String>> {
    let source = substituted(name, text)?;
    let parsed = windlass_go_yaml::yaml::parse(&source, &Budget::default());
    let of_document = |object: Value| {
        let of = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let schema = schemas.get(&(of("apiVersion"), of("kind")));
        let Some(schema) = schema.filter(|_| {
            object["spec"].is_object() && !PARTS.iter().any(|part| name.contains(part))
        }) else {
            return Vec::new();
        };
        let unknown = schema
            .unknown_fields(&object)
            .into_iter()
            .map(|field| format!("unknown field {}", field.path));
        let invalid = schema
            .validate(&object)
            .into_iter()
            .map(|violation| violation.to_string());
        unknown
            .chain(invalid)
            .map(|fault| format!("{}/{}: {fault}", of("kind"), object["metadata"]["name"]))
            .collect()
    };
    Some(
        parsed
            .documents
            .iter()
            .flat_map(|document| of_document(document.root.to_json()))
            .collect(),
    )
}

/// What the CRDs of Cluster API v1.14 take in one version they take in the other.
#[test]
fn what_is_migrated_is_taken_by_the_real_schemas() {
    let (Some(corpus), Some(schemas)) = (shared("corpus"), schemas()) else {
        return;
    };
    let check = |(name, text): &(String, String)| {
        let before = rejected(name, text, &schemas)?;
        let of = |wanted: Wanted| {
            let (there, findings) = migrated_beside(text, &referred(text), wanted);
            let is_whole = findings
                .iter()
                .all(|finding| finding.rule.severity != Severity::Error);
            let after = rejected(name, &there, &schemas)
                .filter(|_| is_whole && there != *text && before.is_empty())?;
            assert!(after.is_empty(), "{name}: {after:#?}");
            Some(())
        };
        Some([NEW, OLD].map(|wanted| usize::from(of(wanted).is_some())))
    };
    let checked: Vec<[usize; 2]> = texts(&corpus).par_iter().filter_map(check).collect();
    let sums = [0, 1].map(|way| checked.iter().map(|both| both[way]).sum::<usize>());
    assert!(sums[0] > 50 && sums[1] > 50, "{sums:?}");
}
