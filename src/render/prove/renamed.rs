//! What to write in a KubeadmControlPlane of v1beta2 for a field that v1beta1 has under another
//! name or elsewhere.

use serde_json::{Value, json};

use crate::api::time::GoDuration;
use crate::diag::{FieldPath, Quoted, Segment};
use crate::objects::{Object, fields};

/// The most bytes of a value that is shown again.
const SHOWN: usize = 300;

/// The line to write for a field that is unknown; `None` when v1beta1 does not know it either.
pub(super) fn in_v1beta2(object: &Object, path: &FieldPath) -> Option<String> {
    let names: Option<Vec<&str>> = path
        .segments()
        .iter()
        .map(|segment| match segment {
            Segment::Field(name) | Segment::Key(name) => Some(name.as_str()),
            Segment::Index(_) => None,
        })
        .collect();
    let names = names?;
    let below = names
        .strip_prefix(&["spec", "template", "spec"])
        .or_else(|| names.strip_prefix(&["spec"]))?;
    let value = object.at(path)?;
    let (before, value, after) = match below {
        ["rolloutBefore"] => ("rollout: {before: ", value.clone(), "}"),
        ["rolloutAfter"] => ("rollout: {after: ", value.clone(), "}"),
        ["rolloutStrategy"] => ("rollout: {strategy: ", value.clone(), "}"),
        ["machineNamingStrategy"] => ("machineNaming: ", value.clone(), ""),
        ["remediationStrategy"] => ("remediation: ", in_seconds(value), ""),
        ["machineTemplate", "infrastructureRef"] => {
            ("spec: {infrastructureRef: ", reference(value), "}")
        }
        [
            "machineTemplate",
            name @ ("nodeDrainTimeout" | "nodeDeletionTimeout" | "nodeVolumeDetachTimeout"),
        ]
        | [
            "machineTemplate",
            "spec",
            name @ ("nodeDrainTimeout" | "nodeDeletionTimeout" | "nodeVolumeDetachTimeout"),
        ] => (
            "spec: {deletion: ",
            in_seconds(&json!({ *name: value })),
            "}",
        ),
        ["machineTemplate", "readinessGates"] => ("spec: {readinessGates: ", value.clone(), "}"),
        ["machineTemplate", "taints"] => ("spec: {taints: ", value.clone(), "}"),
        ["machineTemplate", "spec", "infrastructureRef", "apiVersion"] => (
            "apiGroup: ",
            reference(&json!({"apiVersion": value}))["apiGroup"].clone(),
            "",
        ),
        ["machineTemplate", "spec", "infrastructureRef", "namespace"] => {
            return Some("remove it: the namespace of the control plane counts".into());
        }
        _ => return None,
    };
    let below = if before.starts_with("spec") {
        " below `machineTemplate`"
    } else {
        ""
    };
    let text = value.to_string();
    Some(if text.len() <= SHOWN {
        format!("write `{before}{text}{after}`{below}", text = Quoted(text))
    } else {
        format!("write `{before}…{after}`{below}, with what stands there")
    })
}

/// Durations of Go are whole seconds in v1beta2.
fn in_seconds(durations: &Value) -> Value {
    let entries = durations
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            match value.as_str().map(|text| {
                GoDuration::parse(text).map(|duration| duration.as_nanoseconds() / 1_000_000_000)
            }) {
                Some(Ok(seconds)) => (format!("{name}Seconds"), json!(seconds)),
                Some(Err(_)) => (format!("{name}Seconds"), json!("SECONDS")),
                None => (name.clone(), value.clone()),
            }
        });
    Value::Object(entries.collect())
}

/// A reference of v1beta2 has a group in place of a version, and neither namespace nor uid.
fn reference(value: &Value) -> Value {
    let (group, _) = fields::group_version(value);
    let named = [("kind", value.get("kind")), ("name", value.get("name"))];
    let mut reference = json!({ "apiGroup": group });
    for (field, value) in named
        .into_iter()
        .filter_map(|(field, value)| Some((field, value?)))
    {
        reference[field] = value.clone();
    }
    reference
}
