//! Objects of a plan beside those of the server: equal but for drawn characters and what the server
//! defaults.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use windlass_topology::{Desired, RANDOM};

use super::text;
use crate::harness::control_plane::ControlPlane;

/// What a conversion to an older version keeps of the newer one.
const CONVERSION_DATA: &str = "cluster.x-k8s.io/conversion-data";

/// Fields of core's own kinds that its controllers write; what its webhooks and schemas fill in, a
/// dry run does too.
const FILLED_IN: &[&str] = &[
    "metadata.annotations",
    "metadata.annotations.machinedeployment.clusters.x-k8s.io/revision",
];

/// A namespace in which nothing is, for objects that are given to the server and not stored.
pub(super) const ELSEWHERE: &str = "where-nothing-is";

/// What the server would store of a planned object: with the defaults of its kind, by its schema
/// and by core's webhooks.
///
/// # Errors
/// Why the server rejects it.
fn stored(plane: &ControlPlane, planned: &Value) -> Result<Value, String> {
    let mut object = planned.clone();
    object["metadata"]["namespace"] = ELSEWHERE.into();
    plane
        .api
        .try_apply(&object)
        .map_err(|rejection| rejection.message().to_owned())
}

/// What the server rejects of a plan, without the name of the object.
pub(super) fn rejected(plane: &ControlPlane, planned: &[Desired]) -> Option<String> {
    let rejection = made(planned).find_map(|object| stored(plane, object).err())?;
    let reasons = rejection
        .split_once(" is invalid: ")
        .or_else(|| rejection.split_once("): "));
    Some(
        reasons
            .map_or(rejection.as_str(), |(_, reasons)| reasons)
            .to_owned(),
    )
}

/// What the topology controller makes of a plan: all but the Cluster, which is the user's.
fn made(planned: &[Desired]) -> impl Iterator<Item = &Value> {
    planned
        .iter()
        .map(|desired| &desired.object)
        .filter(|object| object["kind"] != "Cluster")
}

/// Everything in which the objects of a namespace differ from what the server would store of a
/// plan.
pub(super) fn differences(
    plane: &ControlPlane,
    namespace: &str,
    planned: &[Desired],
    release: &str,
) -> Vec<String> {
    let mut different = Vec::new();
    let mut names = BTreeMap::new();
    let here = BTreeMap::from([(ELSEWHERE.to_owned(), namespace.to_owned())]);
    let mut pairs = Vec::new();
    for object in made(planned) {
        let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
        let all = plane
            .api
            .list(text(&object["apiVersion"]), kind, Some(namespace));
        let mut found = all.into_iter().filter(|found| {
            is_of_topology(found) && is_name(name, text(&found["metadata"]["name"]))
        });
        match (found.next(), found.next()) {
            (Some(found), None) => {
                names.insert(text(&found["metadata"]["name"]).to_owned(), name.to_owned());
                pairs.push((object, found));
            }
            (None, _) => different.push(format!("{kind} {name} was not made")),
            _ => different.push(format!("several are called {kind} {name}")),
        }
    }
    for (object, found) in pairs {
        let title = format!(
            "{} {}",
            text(&object["kind"]),
            text(&object["metadata"]["name"])
        );
        let is_core = text(&object["apiVersion"]).starts_with("cluster.x-k8s.io/");
        let object = match stored(plane, object) {
            Ok(object) => object,
            Err(rejection) => {
                different.push(format!(
                    "{title}: the server rejects the planned one: {rejection}"
                ));
                continue;
            }
        };
        let expected = renamed(&compared(&object, release), &here);
        let found = renamed(&compared(&found, release), &names);
        compare(
            &expected,
            &found,
            String::new(),
            &mut |path: &str, what: String| {
                let is_filled_in =
                    is_core && what.starts_with("only the server") && FILLED_IN.contains(&path);
                if !is_filled_in {
                    different.push(format!("{title}: {path}: {what}"));
                }
            },
        );
    }
    different
}

fn is_of_topology(object: &Value) -> bool {
    object["metadata"]["labels"]
        .get("topology.cluster.x-k8s.io/owned")
        .is_some()
}

/// Whether a name is that of the plan, but for the characters that were drawn.
pub(super) fn is_name(planned: &str, found: &str) -> bool {
    let Some(at) = planned.rfind(RANDOM) else {
        return planned == found;
    };
    let (before, after) = (&planned[..at], &planned[at + RANDOM.len()..]);
    found.len() == planned.len() && found.starts_with(before) && found.ends_with(after)
}

/// What is compared of an object. Before v1.14 labels and annotations of templates were nobody's.
fn compared(object: &Value, release: &str) -> Value {
    let mut kept = Map::new();
    let metadata =
        ["labels", "annotations"].map(|key| (key.to_owned(), object["metadata"][key].clone()));
    let is_kept = |value: &Value| value.as_object().is_some_and(|entries| !entries.is_empty());
    let mut metadata: Map<String, Value> = metadata
        .into_iter()
        .filter(|(_, value)| is_kept(value))
        .collect();
    if let Some(data) = metadata
        .get_mut("annotations")
        .and_then(|annotations| annotations.get_mut(CONVERSION_DATA))
    {
        *data = without_status(data);
    }
    if release != "v1.12.0" || text(&object["apiVersion"]).starts_with("cluster.x-k8s.io/") {
        kept.insert("metadata".to_owned(), metadata.into());
    }
    kept.insert("spec".to_owned(), object["spec"].clone());
    kept.into()
}

/// The object of another version that an annotation holds as text, but for what its controller says
/// of it.
fn without_status(data: &Value) -> Value {
    let mut object: Value = serde_json::from_str(text(data)).expect("conversion writes JSON");
    object
        .as_object_mut()
        .expect("it is an object")
        .remove("status");
    object
}

/// With the names of the plan in place of those that were drawn.
fn renamed(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => names
            .iter()
            .fold(text.clone(), |text, (drawn, planned)| {
                text.replace(drawn, planned)
            })
            .into(),
        Value::Array(items) => items.iter().map(|item| renamed(item, names)).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), renamed(value, names)))
            .collect(),
        other => other.clone(),
    }
}

/// Tells of every field that differs. A null is nothing, and an empty object in one of core's kinds
/// too.
fn compare(expected: &Value, found: &Value, path: String, tell: &mut dyn FnMut(&str, String)) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let keys: std::collections::BTreeSet<&String> =
                expected.keys().chain(found.keys()).collect();
            for key in keys {
                let below = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                match (
                    expected.get(key).filter(|value| !value.is_null()),
                    found.get(key).filter(|value| !value.is_null()),
                ) {
                    (Some(expected), Some(found)) => compare(expected, found, below, tell),
                    (Some(expected), None) => {
                        tell(&below, format!("only the plan has it: {expected}"))
                    }
                    (None, Some(found)) => tell(&below, format!("only the server has it: {found}")),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (expected, found)) in a.iter().zip(b).enumerate() {
                compare(expected, found, format!("{path}[{at}]"), tell);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        (expected, found) if expected == found => {}
        (expected, found) => tell(
            &path,
            format!("the plan has {expected}, the server {found}"),
        ),
    }
}
