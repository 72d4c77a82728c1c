//! Defaulting: what the schema fills in, and the `null`s that it drops first.

use serde_json::{Map, Value};

use super::Schema;
use super::node::Node;

impl Schema {
    /// Does what the API server does before it validates: drops each `null` that is neither allowed nor defaulted, then fills in defaults.
    pub fn apply_defaults(&self, object: &mut Value) {
        drop_nulls(Some(&self.root), object);
        fill(&self.root, object);
    }

    /// Fills in the defaults alone.
    pub(crate) fn fill_defaults(&self, object: &mut Value) {
        fill(&self.root, object);
    }
}

/// Removes `null` entries of maps whose schema neither allows nor defaults them. Items of lists stay.
fn drop_nulls(node: Option<&Node>, value: &mut Value) {
    match value {
        Value::Object(entries) => {
            let schema_of = |key: &str| node.and_then(|node| node.entry(key).0);
            entries
                .retain(|key, entry| !entry.is_null() || schema_of(key).is_none_or(|schema| schema.nullable || schema.default.is_some()));
            for (key, entry) in entries.iter_mut().filter(|(_, entry)| is_nested(entry)) {
                if let Some(schema) = schema_of(key) {
                    drop_nulls(Some(schema), entry);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = node.and_then(|node| node.items.as_deref()) {
                items.iter_mut().for_each(|item| drop_nulls(Some(schema), item));
            }
        }
        _ => {}
    }
}

fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// Fills in the defaults of a value's parts, then of what they hold.
fn fill(node: &Node, value: &mut Value) {
    match value {
        Value::Object(entries) => fill_entries(node, entries),
        Value::Array(items) => {
            let Some(schema) = &node.items else { return };
            for item in items {
                if item.is_null() && !schema.nullable {
                    *item = schema.default.clone().unwrap_or_default();
                }
                fill(schema, item);
            }
        }
        _ => {}
    }
}

fn fill_entries(node: &Node, entries: &mut Map<String, Value>) {
    for (key, schema) in &node.properties {
        let Some(default) = &schema.default else { continue };
        if entries.get(key).is_none_or(|entry| entry.is_null() && !schema.nullable) {
            entries.insert(key.clone(), default.clone());
        }
    }
    for (key, entry) in entries {
        match (node.properties.get(key), node.values()) {
            (Some(schema), _) => fill(schema, entry),
            (None, Some(schema)) => {
                if entry.is_null() && !schema.nullable {
                    *entry = schema.default.clone().unwrap_or_default();
                }
                fill(schema, entry);
            }
            (None, None) => {}
        }
    }
}
