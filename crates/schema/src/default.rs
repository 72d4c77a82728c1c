//! Defaulting: what the schema fills in, and the `null`s that it drops first.

use std::convert::Infallible;

use serde_json::{Map, Value};

use super::Schema;
use super::node::Node;

impl Schema {
    /// Does what the API server does before it validates: drops each `null` that is neither allowed
    /// nor defaulted, then fills in defaults. For schemas that are known: what somebody else
    /// wrote may make much of little.
    pub fn apply_defaults(&self, object: &mut Value) {
        let Ok(()) = self.apply_defaults_within(object, &mut |_| Ok::<(), Infallible>(()));
    }

    /// The same by a schema that anybody may have written; each default is paid for before it is
    /// copied.
    ///
    /// # Errors
    /// When it cannot be paid. The object has some of its defaults then.
    pub fn apply_defaults_within<E>(
        &self,
        object: &mut Value,
        pay: &mut impl FnMut(&Value) -> Result<(), E>,
    ) -> Result<(), E> {
        drop_nulls(Some(&self.root), object);
        self.fill_defaults(object, pay)
    }

    /// Fills in the defaults alone.
    ///
    /// # Errors
    /// See [`Schema::apply_defaults_within`].
    pub fn fill_defaults<E>(
        &self,
        object: &mut Value,
        pay: &mut impl FnMut(&Value) -> Result<(), E>,
    ) -> Result<(), E> {
        fill(&self.root, object, pay)
    }
}

/// Removes `null` entries of maps whose schema neither allows nor defaults them. Items of lists
/// stay.
fn drop_nulls(node: Option<&Node>, value: &mut Value) {
    match value {
        Value::Object(entries) => {
            let schema_of = |key: &str| node.and_then(|node| node.entry(key).0);
            entries.retain(|key, entry| {
                !entry.is_null()
                    || schema_of(key)
                        .is_none_or(|schema| schema.nullable || schema.default.is_some())
            });
            for (key, entry) in entries.iter_mut().filter(|(_, entry)| is_nested(entry)) {
                if let Some(schema) = schema_of(key) {
                    drop_nulls(Some(schema), entry);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = node.and_then(|node| node.items.as_deref()) {
                items
                    .iter_mut()
                    .for_each(|item| drop_nulls(Some(schema), item));
            }
        }
        _ => {}
    }
}

fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// Applies the defaults of the children of a value, then those of their children.
fn fill<E>(
    node: &Node,
    value: &mut Value,
    pay: &mut impl FnMut(&Value) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::Object(entries) => fill_entries(node, entries, pay),
        Value::Array(items) => {
            let Some(schema) = &node.items else {
                return Ok(());
            };
            items.iter_mut().try_for_each(|item| {
                replace_null(schema, item, pay)?;
                fill(schema, item, pay)
            })
        }
        _ => Ok(()),
    }
}

fn fill_entries<E>(
    node: &Node,
    entries: &mut Map<String, Value>,
    pay: &mut impl FnMut(&Value) -> Result<(), E>,
) -> Result<(), E> {
    for (key, schema) in &node.properties {
        let Some(default) = &schema.default else {
            continue;
        };
        if entries
            .get(key)
            .is_none_or(|entry| entry.is_null() && !schema.nullable)
        {
            pay(default)?;
            entries.insert(key.clone(), default.clone());
        }
    }
    for (key, entry) in entries {
        match (node.properties.get(key), node.values()) {
            (Some(schema), _) => fill(schema, entry, pay)?,
            (None, Some(schema)) => {
                replace_null(schema, entry, pay)?;
                fill(schema, entry, pay)?;
            }
            (None, None) => {}
        }
    }
    Ok(())
}

/// Puts the default in the place of a `null` that is not allowed.
fn replace_null<E>(
    schema: &Node,
    value: &mut Value,
    pay: &mut impl FnMut(&Value) -> Result<(), E>,
) -> Result<(), E> {
    if let Some(default) = schema
        .default
        .as_ref()
        .filter(|_| value.is_null() && !schema.nullable)
    {
        pay(default)?;
        *value = default.clone();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Kubernetes, "Extend the Kubernetes API with CustomResourceDefinitions", defaulting and
    /// nullable: a null that is not allowed gets the default.
    #[test]
    fn nulls_that_are_not_allowed_get_the_default() {
        for (nullable, expected) in [(false, json!("a")), (true, json!(null))] {
            let text = json!({"type": "string", "default": "a", "nullable": nullable});
            let schema = Schema::from_json(&json!({"type": "object", "properties": {
                "field": text, "list": {"type": "array", "items": text}, "map": {"type": "object", "additionalProperties": text},
            }}));
            let mut object =
                json!({"field": null, "list": [null, "b"], "map": {"x": null, "y": "b"}});
            schema.unwrap().apply_defaults(&mut object);
            assert_eq!(
                object,
                json!({"field": expected, "list": [expected, "b"], "map": {"x": expected, "y": "b"}}),
                "nullable: {nullable}"
            );
        }
    }
}
