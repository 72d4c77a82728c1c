//! What v1beta2 rejects when it is empty is left out, and nothing else: derived from the schemas of
//! Cluster API v1.14.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use windlass_capi::api::names::{Kind, Version};
use windlass_capi::api::{control_plane, openapi};

use super::{NEW, migrated, told};
use crate::support::{core_schema, documents};

/// Fields that hold configs of kubeadm, which are converted as the bootstrap provider does.
const CONFIGS: [&str; 4] = [
    "KubeadmConfig spec",
    "KubeadmConfigTemplate spec.template.spec",
    "KubeadmControlPlane spec.kubeadmConfigSpec",
    "KubeadmControlPlaneTemplate spec.template.spec.kubeadmConfigSpec",
];

/// A field of a schema that can be empty as far as its type goes.
struct Field {
    path: String,
    empty: Value,
    /// Whether the schema rejects it when it is empty, and takes it when it is not there.
    is_never_empty: bool,
}

/// The fields below a place of a schema, without those of configs.
fn fields(kind: &str, schema: &Value, at: &str, found: &mut Vec<Field>) {
    if let Some(items) = schema.get("items") {
        return fields(kind, items, &format!("{at}[]"), found);
    }
    let required: BTreeSet<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if at.is_empty() {
            name.clone()
        } else {
            format!("{at}.{name}")
        };
        if ["apiVersion", "kind", "metadata", "status"].contains(&path.as_str())
            || CONFIGS.contains(&format!("{kind} {path}").as_str())
        {
            continue;
        }
        let empty = match inner["type"].as_str() {
            Some("object") => json!({}),
            Some("array") => json!([]),
            Some("string") => json!(""),
            _ => continue,
        };
        let least = ["minProperties", "minItems", "minLength"]
            .iter()
            .filter_map(|bound| inner[*bound].as_u64())
            .max();
        let is_reference = inner["required"]
            .as_array()
            .is_some_and(|names| names.contains(&json!("apiGroup")));
        let is_never_empty = (is_reference || least.is_some_and(|least| least > 0))
            && !required.contains(name.as_str())
            || WITH_THEIR_OBJECT.contains(&path.as_str());
        found.push(Field {
            path: path.clone(),
            empty,
            is_never_empty,
        });
        fields(kind, inner, &path, found);
    }
}

/// An object that holds a value at a path, and nothing else.
fn holding(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, step| {
        let (name, lists) = step.split_at(step.find('[').unwrap_or(step.len()));
        let inner = (0..lists.len() / 2).fold(inner, |inner, _| json!([inner]));
        Value::Object(Map::from_iter([(name.to_owned(), inner)]))
    })
}

/// Lists that their object requires and that may not be empty, and these objects: they mean nothing
/// without the list, and are optional themselves.
const WITH_THEIR_OBJECT: [&str; 4] = [
    "spec.clusterNetwork.pods",
    "spec.clusterNetwork.pods.cidrBlocks",
    "spec.clusterNetwork.services",
    "spec.clusterNetwork.services.cidrBlocks",
];

/// What cannot be said in v1beta2, and is reported: a reference that lacks a part, or that must be
/// there.
fn is_told(kind: &str, path: &str) -> bool {
    let references = ["configRef", "controlPlaneRef", "infrastructureRef"];
    let mut above = path.rsplit('.').skip(1);
    // That of a control plane stands elsewhere in v1beta1.
    let is_part = kind != "KubeadmControlPlane" && above.any(|step| references.contains(&step));
    let is_needed = path.ends_with("spec.infrastructureRef")
        && !["Cluster", "KubeadmControlPlane"].contains(&kind);
    is_part || is_needed
}

/// What conversion completes, so that it is not empty: the rollout strategy of a template gets its
/// type.
fn is_completed(kind: &str, path: &str) -> bool {
    kind == "KubeadmControlPlaneTemplate" && path.ends_with(".rollout.strategy")
}

/// Objects that may not be left with nothing, though they must be there, and something else that
/// they hold.
fn others() -> [(&'static str, Value); 3] {
    [
        (
            "/spec/template",
            json!({"metadata": {"labels": {"a": "b"}}}),
        ),
        (
            "/spec/variables/0/schema/openAPIV3Schema",
            json!({"type": "string"}),
        ),
        ("/spec", json!({"paused": true})),
    ]
}

/// Something else in each object that may not be left with nothing.
fn fill(kind: &str, object: &mut Value) {
    let is_meant = |pointer: &str| pointer != "/spec" || kind == "Cluster";
    for (pointer, other) in others() {
        let Some(filled) = object
            .pointer_mut(pointer)
            .and_then(Value::as_object_mut)
            .filter(|filled| is_meant(pointer) && !filled.is_empty())
        else {
            continue;
        };
        for (name, value) in other.as_object().into_iter().flatten() {
            filled.entry(name).or_insert_with(|| value.clone());
        }
    }
}

/// The kinds of v1beta2 that are migrated: group, kind and schema.
fn schemas() -> Vec<(&'static str, &'static str, Value)> {
    const CORE: [&str; 7] = [
        "Cluster",
        "ClusterClass",
        "Machine",
        "MachineDeployment",
        "MachineHealthCheck",
        "MachinePool",
        "MachineSet",
    ];
    let core = CORE.map(|kind| ("cluster.x-k8s.io", kind, core_schema(kind, "v1beta2")));
    let configs = Kind::ALL.map(|kind| {
        let schema = openapi::kubeadm_schema(kind, Version::V1Beta2);
        ("bootstrap.cluster.x-k8s.io", kind.kubeadm(), schema)
    });
    let control_planes = [
        ("KubeadmControlPlane", false),
        ("KubeadmControlPlaneTemplate", true),
    ]
    .map(|(kind, is_template)| {
        let schema = control_plane::schema(is_template, Version::V1Beta2, true);
        ("controlplane.cluster.x-k8s.io", kind, schema)
    });
    core.into_iter()
        .chain(configs)
        .chain(control_planes)
        .collect()
}

#[test]
fn what_the_schemas_reject_when_it_is_empty_is_left_out_and_nothing_else() {
    let (mut left_out, mut faults) = (0, Vec::new());
    for (group, kind, schema) in schemas() {
        let mut found = Vec::new();
        fields(kind, &schema, "", &mut found);
        for Field {
            path,
            empty,
            is_never_empty,
        } in found
        {
            if is_completed(kind, &path) {
                continue;
            }
            let mut object = holding(&path, empty);
            fill(kind, &mut object);
            object["apiVersion"] = format!("{group}/v1beta1").into();
            object["kind"] = kind.into();
            let (text, findings) = migrated(&object.to_string(), NEW);
            let rules: BTreeSet<&str> = told(&findings).into_iter().map(|(rule, _)| rule).collect();
            if rules.contains("migrate-nothing-known") {
                continue;
            }
            let after = documents(text.as_bytes()).remove(0);
            let pointer = format!("/{}", path.replace("[]", "/0").replace('.', "/"));
            if rules.contains("migrate-not-converted") != is_told(kind, &path) {
                faults.push(format!("{kind} {path}: {findings:?}"));
            } else if !is_told(kind, &path) && after.pointer(&pointer).is_none() != is_never_empty {
                faults.push(format!(
                    "{kind} {path}: never empty {is_never_empty}, but {after}"
                ));
            }
            left_out += usize::from(is_never_empty && after.pointer(&pointer).is_none());
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(left_out > 120, "{left_out}");
}
