//! The shared vectors and the corpus: there and back, rendered before and after, and held against the real CRDs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use rayon::prelude::*;
use windlass::api::time::GoDuration;
use windlass::ops::migrate::Wanted;

use super::{NEW, OLD, migrated_beside};
use crate::support::{files_below, shared};

/// Kinds of which files are read.
const KINDS: [&str; 9] = [
    "KubeadmC",
    "WindlassConfig",
    "Cluster\n",
    "ClusterClass",
    "Machine\n",
    "MachineDeployment",
    "MachineSet",
    "MachinePool",
    "MachineHealthCheck",
];

/// All texts below a folder that hold something that is migrated, by their paths.
fn texts(folder: &str) -> Option<Vec<(String, String)>> {
    let root = shared(folder)?;
    let text_of = |path: &PathBuf| {
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        let text = is_yaml.then(|| fs::read_to_string(path).ok()).flatten()?;
        let is_asked = KINDS.iter().any(|kind| text.contains(&format!("kind: {kind}"))) && !text.contains("kind: CustomResourceDefinition");
        is_asked.then(|| (path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), text))
    };
    Some(files_below(&root).par_iter().filter_map(text_of).collect())
}

/// An object for each kind that is referred to with its version, so that the way back knows it.
fn referred(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches([' ', '-'])).collect();
    let mut versions: BTreeMap<&str, &str> = BTreeMap::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(kind) = line.strip_prefix("kind: ") else { continue };
        let near = &lines[number.saturating_sub(3)..lines.len().min(number + 4)];
        if let Some(version) = near.iter().find_map(|line| line.strip_prefix("apiVersion: ")) {
            versions.insert(kind, version);
        }
    }
    versions.iter().map(|(kind, version)| format!("---\napiVersion: {version}\nkind: {kind}\n")).collect()
}

/// Whether a text has a duration that Go writes otherwise: what comes back is spelt as Go does.
fn has_own_duration(text: &str) -> bool {
    let values = text.lines().filter_map(|line| line.split_once(": ")).filter(|(key, _)| key.contains("imeout") || key.ends_with("ttl"));
    let is_own = |value: &str| GoDuration::parse(value).is_ok_and(|duration| duration.to_string() != value);
    values.map(|(_, value)| value.trim_matches('"')).any(is_own)
}

/// Whether a text has a field that stands elsewhere in the other version, and comes back as the last one, or arguments, which come back in
/// the order of their names, indented as the list nearest to them.
fn has_moved_field(text: &str) -> bool {
    ["timeouts:", "timeoutForControlPlane:", "timeout:", "xtraArgs:"].iter().any(|field| text.contains(field))
}

#[test]
fn there_and_back_is_the_same_text() {
    let Some(vectors) = texts("vectors/render") else { return };
    let documents = vectors.iter().flat_map(|(name, text)| {
        let others = referred(text);
        text.split("---\n").filter(|text| !text.trim().is_empty()).map(move |text| (name, text.to_owned(), others.clone()))
    });
    let documents: Vec<_> = documents.collect();
    let way = |(name, text, others): &(&String, String, String)| {
        let wanted: [Wanted; 2] = if text.contains("/v1beta2\nkind:") { [OLD, NEW] } else { [NEW, OLD] };
        let (there, first) = migrated_beside(text, others, wanted[0]);
        if !first.is_empty() || there == *text || has_own_duration(text) {
            return None;
        }
        let (back, second) = migrated_beside(&there, others, wanted[1]);
        (second.is_empty()).then(|| ((*name).clone(), text.clone(), back))
    };
    let ways: Vec<_> = documents.par_iter().filter_map(way).collect();
    assert!(ways.len() > 300, "only {} documents change there and back", ways.len());
    let mut moved = 0;
    for (name, text, back) in &ways {
        if has_moved_field(text) && text != back {
            moved += 1;
            let sorted = |text: &str| text.lines().map(|line| line.trim_start().to_owned()).collect::<BTreeSet<_>>();
            assert_eq!(sorted(text), sorted(back), "{name}");
        } else {
            assert_eq!(text, back, "{name}");
        }
    }
    assert!(moved < 40, "{moved} of {} come back in another order", ways.len());
}
