//! `metadata` of the resources that are embedded in an object, and labels and annotations.
//!
//! Source: `k8s.io/apimachinery/pkg/api/validation` and the `objectmeta` package of
//! apiextensions-apiserver, Kubernetes 0.36.

use serde_json::{Map, Value, json};

use super::name;
use super::node::Node;
use super::validate::Trail;
use super::{Schema, Violation};
use windlass_go_text as go;
use windlass_source::diag::FieldPath;

/// The largest sum of the annotations' keys and values, in bytes.
const ANNOTATIONS_LIMIT: i64 = 256 * 1024;

/// What is wrong with labels: keys and values, all reported at the map.
pub fn validate_labels(labels: &Map<String, Value>, path: &FieldPath) -> Vec<Violation> {
    labels
        .iter()
        .flat_map(|(key, value)| label_violations(key, value.as_str().unwrap_or_default(), path))
        .collect()
}

/// What is wrong with one label of the map at `path`.
pub fn label_violations(key: &str, value: &str, path: &FieldPath) -> Vec<Violation> {
    all_invalid(path, key, name::label_key_errors(key))
        .chain(all_invalid(path, value, name::label_value_errors(value)))
        .collect()
}

/// Validates annotations: each key, and the size of all together.
pub fn validate_annotations(annotations: &Map<String, Value>, path: &FieldPath) -> Vec<Violation> {
    let of_keys = annotations
        .keys()
        .flat_map(|key| annotation_violations(key, path));
    of_keys
        .chain(annotations_too_large(annotations, path))
        .collect()
}

/// What is wrong with the key of one annotation of the map at `path`; its value is free.
pub fn annotation_violations(key: &str, path: &FieldPath) -> Vec<Violation> {
    all_invalid(path, key, name::label_key_errors(&key.to_lowercase())).collect()
}

/// That annotations are too large together.
pub fn annotations_too_large(
    annotations: &Map<String, Value>,
    path: &FieldPath,
) -> Option<Violation> {
    let size: usize = annotations
        .iter()
        .map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len())
        .sum();
    (i64::try_from(size).unwrap_or(i64::MAX) > ANNOTATIONS_LIMIT)
        .then(|| Violation::too_long(path.clone(), ANNOTATIONS_LIMIT))
}

fn all_invalid<'a>(
    path: &'a FieldPath,
    value: &'a str,
    errors: Vec<String>,
) -> impl Iterator<Item = Violation> + 'a {
    errors
        .into_iter()
        .map(move |error| Violation::invalid(path.clone(), &Value::from(value), &error))
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The name is anything that fits into a path, and may be absent.
fn check(metadata: &Map<String, Value>, path: &FieldPath) -> Vec<Violation> {
    let mut violations = Vec::new();
    let (name, generate_name, namespace) = (
        text(metadata, "name"),
        text(metadata, "generateName"),
        text(metadata, "namespace"),
    );
    if !generate_name.is_empty() {
        violations.extend(all_invalid(
            &path.field("generateName"),
            generate_name,
            name::path_segment_errors(generate_name, true),
        ));
    }
    if !name.is_empty() {
        violations.extend(all_invalid(
            &path.field("name"),
            name,
            name::path_segment_errors(name, false),
        ));
    }
    if !namespace.is_empty() {
        violations.extend(all_invalid(
            &path.field("namespace"),
            namespace,
            name::label_errors(namespace),
        ));
    }
    if let Some(generation) = metadata
        .get("generation")
        .filter(|generation| generation.as_i64().is_some_and(|g| g < 0))
    {
        violations.push(Violation::invalid(
            path.field("generation"),
            generation,
            "must be greater than or equal to 0",
        ));
    }
    let map = |key: &str| metadata.get(key).and_then(Value::as_object);
    let list = |key: &str| {
        metadata
            .get(key)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    violations.extend(
        map("labels")
            .map(|labels| validate_labels(labels, &path.field("labels")))
            .unwrap_or_default(),
    );
    violations.extend(
        map("annotations")
            .map(|found| validate_annotations(found, &path.field("annotations")))
            .unwrap_or_default(),
    );
    violations.extend(owners(
        list("ownerReferences"),
        &path.field("ownerReferences"),
    ));
    violations.extend(finalizers(list("finalizers"), &path.field("finalizers")));
    violations
}

/// An owner reference as Go writes it back: the four strings always, in the order of its struct.
fn owner_json(owner: &Value) -> String {
    let mut parts: Vec<String> = ["apiVersion", "kind", "name", "uid"]
        .iter()
        .map(|key| format!("\"{key}\":{}", owner.get(*key).unwrap_or(&json!(""))))
        .collect();
    let flag = |key: &str| {
        owner
            .get(key)
            .filter(|flag| flag.is_boolean())
            .map(|flag| format!("\"{key}\":{flag}"))
    };
    parts.extend(
        ["controller", "blockOwnerDeletion"]
            .iter()
            .filter_map(|key| flag(key)),
    );
    format!("{{{}}}", parts.join(","))
}

fn owners(owners: &[Value], path: &FieldPath) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut controller: Option<String> = None;
    for owner in owners {
        let get = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
        let version = get("apiVersion").rsplit('/').next().unwrap_or_default();
        if version.is_empty() || get("apiVersion").matches('/').count() > 1 {
            violations.push(Violation::invalid(
                path.field("apiVersion"),
                &json!(get("apiVersion")),
                "version must not be empty",
            ));
        }
        for key in ["kind", "name", "uid"]
            .into_iter()
            .filter(|key| get(key).is_empty())
        {
            violations.push(Violation::invalid(
                path.field(key),
                &json!(""),
                "must not be empty",
            ));
        }
        if get("apiVersion") == "v1" && get("kind") == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            violations.push(Violation::new(
                super::ViolationKind::Invalid,
                path.clone(),
                Some(&owner_json(owner)),
                detail,
            ));
        }
        if owner.get("controller") == Some(&json!(true)) {
            let this = format!("{}/{}", get("kind"), get("name"));
            if let Some(first) = &controller {
                let all = format!(
                    "[{}]",
                    owners.iter().map(owner_json).collect::<Vec<_>>().join(",")
                );
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                violations.push(Violation::new(
                    super::ViolationKind::Invalid,
                    path.clone(),
                    Some(&all),
                    &detail,
                ));
            } else {
                controller = Some(this);
            }
        }
    }
    violations
}

fn finalizers(finalizers: &[Value], path: &FieldPath) -> Vec<Violation> {
    let names = || finalizers.iter().filter_map(Value::as_str);
    let mut violations: Vec<_> = names()
        .flat_map(|name| all_invalid(path, name, name::label_key_errors(name)))
        .collect();
    if names().any(|name| name == "orphan") && names().any(|name| name == "foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        violations.push(Violation::invalid(path.clone(), &json!(finalizers), detail));
    }
    violations
}

/// Why Go's decoder cannot read `metadata`, in its words: the first field (in the order of the
/// keys) of a wrong type.
fn decode_error(metadata: &Value) -> Option<String> {
    let Value::Object(fields) = metadata else {
        return Some(format!(
            "json: cannot unmarshal {} into Go value of type v1.ObjectMeta",
            go::json_kind(metadata)
        ));
    };
    fields
        .iter()
        .filter(|(_, value)| !value.is_null())
        .find_map(|(field, value)| field_error(field, value))
}

fn field_error(field: &str, value: &Value) -> Option<String> {
    let wrong = |value: &Value, wanted: &str| {
        Some(format!(
            "json: cannot unmarshal {} into Go struct field ObjectMeta.{field} of type {wanted}",
            go::json_kind(value)
        ))
    };
    match (field, value) {
        ("labels" | "annotations", Value::Object(entries)) => entries
            .values()
            .find(|entry| !entry.is_string() && !entry.is_null())
            .and_then(|entry| wrong(entry, "string")),
        ("labels" | "annotations", _) => wrong(value, "map[string]string"),
        ("finalizers", Value::Array(items)) => items
            .iter()
            .find(|item| !item.is_string() && !item.is_null())
            .and_then(|item| wrong(item, "string")),
        ("finalizers", _) => wrong(value, "[]string"),
        ("ownerReferences", Value::Array(owners)) => owners.iter().find_map(owner_error),
        ("ownerReferences", _) => wrong(value, "[]v1.OwnerReference"),
        ("generation" | "deletionGracePeriodSeconds", Value::Number(number)) => {
            let text = format!(
                "json: cannot unmarshal number {value} into Go struct field ObjectMeta.{field} of type int64"
            );
            (!number.is_i64()).then_some(text)
        }
        ("generation" | "deletionGracePeriodSeconds", _) => wrong(value, "int64"),
        ("name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion", other)
            if !other.is_string() =>
        {
            wrong(other, "string")
        }
        ("creationTimestamp" | "deletionTimestamp", other) if !other.is_string() => {
            wrong(other, "string")
        }
        _ => None,
    }
}

fn owner_error(owner: &Value) -> Option<String> {
    let Value::Object(fields) = owner else {
        let given = go::json_kind(owner);
        return (!owner.is_null())
            .then(|| format!("json: cannot unmarshal {given} into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference"));
    };
    fields.iter().find_map(|(field, value)| {
        let wanted = match field.as_str() {
            "apiVersion" | "kind" | "name" if !value.is_string() => "string",
            "uid" if !value.is_string() => "types.UID",
            "controller" | "blockOwnerDeletion" if !value.is_boolean() => "bool",
            _ => return None,
        };
        let given = go::json_kind(value);
        (!value.is_null())
            .then(|| format!("json: cannot unmarshal {given} into Go struct field OwnerReference.ownerReferences.{field} of type {wanted}"))
    })
}

impl Schema {
    /// Embedded resources need `apiVersion` and `kind`, and their metadata is checked.
    pub(super) fn check_embedded(&self, object: &Value, violations: &mut Vec<Violation>) {
        walk(&self.root, object, &mut Trail::default(), violations);
    }
}

fn walk<'a>(
    node: &'a Node,
    value: &'a Value,
    trail: &mut Trail<'a>,
    violations: &mut Vec<Violation>,
) {
    match value {
        Value::Object(entries) => {
            if node.embedded_resource {
                embedded(entries, &trail.path(), violations);
            }
            for (key, entry) in entries {
                let schema = if let Some(property) = node.properties.get(key) {
                    trail.push_field(key);
                    property
                } else if let Some(values) = node.values() {
                    trail.push_key(key);
                    values
                } else {
                    continue;
                };
                walk(schema, entry, trail, violations);
                trail.pop();
            }
        }
        Value::Array(items) => {
            let Some(schema) = &node.items else { return };
            for (index, item) in items.iter().enumerate() {
                trail.push_index(index);
                walk(schema, item, trail, violations);
                trail.pop();
            }
        }
        _ => {}
    }
}

fn embedded(resource: &Map<String, Value>, path: &FieldPath, violations: &mut Vec<Violation>) {
    for key in ["apiVersion", "kind"] {
        let at = path.field(key);
        match resource.get(key) {
            None => violations.push(Violation::required(at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                violations.push(Violation::invalid(at, &json!(""), "must not be empty"))
            }
            Some(Value::String(text)) => {
                violations.extend(all_invalid(&at, text, type_errors(key, text)))
            }
            Some(other) => violations.push(Violation::invalid(at, other, "must be a string")),
        }
    }
    let Some(metadata) = resource
        .get("metadata")
        .filter(|metadata| !metadata.is_null())
    else {
        return;
    };
    let at = path.field("metadata");
    match (decode_error(metadata), metadata) {
        (Some(error), _) => violations.push(Violation::invalid(at, metadata, &error)),
        (None, Value::Object(metadata)) => violations.extend(check(metadata, &at)),
        (None, _) => {}
    }
}

fn type_errors(key: &str, text: &str) -> Vec<String> {
    if key == "apiVersion" {
        let parts = text.matches('/').count();
        return if parts > 1 {
            vec![format!("unexpected GroupVersion string: {text}")]
        } else {
            Vec::new()
        };
    }
    let errors = name::label_1035_errors(&text.to_lowercase());
    if errors.is_empty() {
        errors
    } else {
        vec![format!(
            "may have mixed case, but should otherwise match: {}",
            errors.join(",")
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_wrong_type_are_told_in_go_words() {
        let check = |metadata: Value, expected: &str| {
            assert_eq!(decode_error(&metadata).as_deref(), Some(expected))
        };
        check(
            json!({"labels": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        );
        check(
            json!({"finalizers": "x"}),
            "json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string",
        );
        check(
            json!([]),
            "json: cannot unmarshal array into Go value of type v1.ObjectMeta",
        );
        let owner = json!({"ownerReferences": [{"name": 1}]});
        check(
            owner,
            "json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.name of type string",
        );
    }
}
