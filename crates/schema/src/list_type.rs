//! Lists that are sets or maps (`x-kubernetes-list-type`): no item, or key, twice.

use std::collections::BTreeMap;

use serde_json::Value;

use super::node::{ListType, Node};
use super::validate::Trail;
use super::{Schema, Violation, ViolationKind};
use windlass_go_text as go;

impl Schema {
    pub(super) fn check_lists(&self, object: &Value, violations: &mut Vec<Violation>) {
        if object.is_object() {
            walk(&self.root, object, &mut Trail::default(), violations);
        }
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
            for (key, entry) in entries {
                if let Some(values) = node.values() {
                    trail.push_key(key);
                    walk(values, entry, trail, violations);
                    trail.pop();
                }
                if let Some(property) = node.properties.get(key) {
                    trail.push_field(key);
                    walk(property, entry, trail, violations);
                    trail.pop();
                }
            }
        }
        Value::Array(items) => {
            match node.list_type {
                Some(ListType::Set) => {
                    violations.extend(repeated(items.iter().map(canonical), items, trail))
                }
                Some(ListType::Map) => check_map(&node.list_map_keys, items, trail, violations),
                Some(ListType::Atomic) | None => {}
            }
            if let Some(schema) = &node.items {
                for (index, item) in items.iter().enumerate() {
                    trail.push_index(index);
                    walk(schema, item, trail, violations);
                    trail.pop();
                }
            }
        }
        _ => {}
    }
}

fn check_map<'a>(
    key_fields: &[String],
    items: &'a [Value],
    trail: &mut Trail<'a>,
    violations: &mut Vec<Violation>,
) {
    if let Some(wrong) = items
        .iter()
        .position(|item| !item.is_null() && !item.is_object())
    {
        let detail = "must be an object for an array of list-type map";
        violations.push(at_item(
            ViolationKind::Invalid,
            wrong,
            &items[wrong],
            detail,
            trail,
        ));
        return;
    }
    let keys: Vec<Value> = items
        .iter()
        .map(|item| {
            key_fields
                .iter()
                .filter_map(|field| Some((field.clone(), item.get(field)?.clone())))
                .collect()
        })
        .map(Value::Object)
        .collect();
    violations.extend(repeated(keys.iter().map(canonical), &keys, trail));
}

/// The second appearance of each value that comes more than once; `shown` are the values to print.
fn repeated<'a>(
    values: impl Iterator<Item = String>,
    shown: &[Value],
    trail: &mut Trail<'a>,
) -> Vec<Violation> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut violations = Vec::new();
    for (index, value) in values.enumerate() {
        let count = counts.entry(value).or_default();
        *count += 1;
        if *count == 2 {
            violations.push(at_item(
                ViolationKind::Duplicate,
                index,
                &shown[index],
                "",
                trail,
            ));
        }
    }
    violations
}

/// A text that is equal for equal values only; Go holds `1` and `1.0` apart.
fn canonical(value: &Value) -> String {
    value.to_string()
}

fn at_item<'a>(
    kind: ViolationKind,
    index: usize,
    value: &Value,
    detail: &str,
    trail: &mut Trail<'a>,
) -> Violation {
    let shown = match value {
        Value::Object(_) | Value::Array(_) | Value::Null => go::json(value),
        _ => super::violation::shown(value),
    };
    Violation::new(kind, trail.path().index(index), Some(&shown), detail)
}
