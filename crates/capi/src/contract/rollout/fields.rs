//! Fields of specs, and which of them differ.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The maximum number of fields that are listed.
const MOST: usize = 50;

static NULL: Value = Value::Null;

pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter()
        .fold(value, |value, step| value.get(step).unwrap_or(&NULL))
}

pub(super) fn remove(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let parent = parents
        .iter()
        .try_fold(value, |value, step| value.get_mut(*step))?;
    parent.as_object_mut()?.remove(*last)
}

/// The field at that path, which is created as null where it is missing; `None` below a scalar.
pub(super) fn entry<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| {
        if value.is_null() {
            *value = json!({});
        }
        Some(value.as_object_mut()?.entry(*step).or_insert(Value::Null))
    })
}

/// Sets a field that is null, missing or an empty string.
pub(super) fn default(value: &mut Value, path: &[&str], default: &Value) {
    if let Some(field) =
        entry(value, path).filter(|field| field.is_null() || field.as_str() == Some(""))
    {
        *field = default.clone();
    }
}

/// The value without empty maps and lists. An empty list of taints is not dropped: it means no
/// taints, and a missing one those of kubeadm. The depth is that of the schema.
pub(super) fn pruned(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Object(fields) => {
            let kept = |(name, value): (String, Value)| {
                let value = if name == "taints" && !value.is_null() {
                    Some(value)
                } else {
                    pruned(value)
                };
                value.map(|value| (name, value))
            };
            let fields: Map<String, Value> = fields.into_iter().filter_map(kept).collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        value => Some(value),
    }
}

/// The fields that differ when empty ones do not count.
pub(super) fn pruned_differences(old: Value, new: Value) -> Vec<String> {
    let [old, new] = [old, new].map(|value| pruned(value).unwrap_or_else(|| json!({})));
    differences(&old, &new)
}

/// The fields that differ, as far down as both have maps.
pub fn differences(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(old, new, "", &mut found);
    found.truncate(MOST);
    found
}

/// The depth is bounded by the reader of YAML.
fn collect(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    if old == new || found.len() > MOST {
        return;
    }
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return found.push(path.to_owned());
    };
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let inner = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        collect(
            before.get(name).unwrap_or(&NULL),
            after.get(name).unwrap_or(&NULL),
            &inner,
            found,
        );
    }
}
