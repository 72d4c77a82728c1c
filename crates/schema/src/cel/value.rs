//! Objects as CEL sees them: typed by the schema, with the names of fields escaped.
//!
//! Source: `pkg/cel/escaping.go` and `pkg/cel/common/valuesunstructured.go` of k8s.io/apiserver
//! 0.36. A field that the schema does not name does not exist for a rule; of `metadata` only `name`
//! and `generateName` do.

use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, TimeDelta};
use kube_cel::cel::Value as Cel;
use kube_cel::cel::objects::{Key, Map};
use serde_json::Value;

use crate::node::{ListType, Node, Type};
use windlass_go_text as go;

/// Words that CEL reserves; a field of such a name is spelt `__name__`.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name of a field as rules write it; `None` when no rule can.
pub(super) fn escaped(name: &str) -> Option<Cow<'_, str>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty()
        || name.starts_with(|c: char| c.is_ascii_digit())
        || !name.chars().all(|c| plain(c) || "-./".contains(c))
    {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__").into());
    }
    if name.chars().all(plain) && !name.contains("__") {
        return Some(name.into());
    }
    let name = name
        .replace("__", "\0")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__");
    Some(name.replace('\0', "__underscores__").into())
}

/// A value under its schema; `resource` for the root and for embedded resources.
pub(super) fn value(node: &Node, value: &Value, resource: bool) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::String(text) => string(node, text),
        Value::Number(number) => match number.as_i64() {
            #[expect(clippy::cast_precision_loss, reason = "Go converts with the same loss")]
            Some(int) if node.types == [Type::Number] => Cel::Float(int as f64),
            Some(int) => Cel::Int(int),
            None => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Array(items) => {
            let item = |item: &Value| match &node.items {
                Some(schema) => self::value(schema, item, schema.embedded_resource),
                None => Cel::Null,
            };
            Cel::List(Arc::new(items.iter().map(item).collect()))
        }
        Value::Object(entries) => object(node, entries, resource || node.embedded_resource),
    }
}

fn object(node: &Node, entries: &serde_json::Map<String, Value>, resource: bool) -> Cel {
    let named = resource || !node.properties.is_empty();
    let entry = |(key, entry): (&String, &Value)| -> Option<(Key, Cel)> {
        if resource && key == "metadata" {
            return Some((key.as_str().into(), metadata(entry)));
        }
        if resource && matches!(key.as_str(), "apiVersion" | "kind") {
            return Some((
                key.as_str().into(),
                entry.as_str().unwrap_or_default().into(),
            ));
        }
        if named {
            // A null is as good as absent: `has` says no.
            let schema = node
                .properties
                .get(key)
                .filter(|schema| has_type(schema) && !entry.is_null())?;
            return Some((
                escaped(key)?.as_ref().into(),
                value(schema, entry, schema.embedded_resource),
            ));
        }
        let schema = node.values()?;
        Some((
            key.as_str().into(),
            value(schema, entry, schema.embedded_resource),
        ))
    };
    Cel::Map(Map {
        map: Arc::new(entries.iter().filter_map(entry).collect()),
    })
}

/// Fields of no known type are left out.
fn has_type(node: &Node) -> bool {
    !node.types.is_empty() || node.int_or_string
}

fn metadata(value: &Value) -> Cel {
    let part = |key: &str| Some((Key::from(key), Cel::from(value.get(key)?.as_str()?)));
    Cel::Map(Map {
        map: Arc::new(
            ["name", "generateName"]
                .into_iter()
                .filter_map(part)
                .collect(),
        ),
    })
}

/// Strings of some formats are not strings for rules.
fn string(node: &Node, text: &str) -> Cel {
    let format = if node.types == [Type::String] {
        node.format.as_ref().map_or("", |format| &format.name)
    } else {
        ""
    };
    let converted = match format {
        "date-time" => DateTime::parse_from_rfc3339(text).ok().map(Cel::Timestamp),
        "date" => NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()
            .map(|date| {
                Cel::Timestamp(
                    date.and_time(chrono::NaiveTime::MIN)
                        .and_utc()
                        .fixed_offset(),
                )
            }),
        "duration" => go::duration::parse(text)
            .ok()
            .map(|length| Cel::Duration(TimeDelta::nanoseconds(length))),
        "byte" => go::base64::decode_url(text)
            .ok()
            .map(|bytes| Cel::Bytes(Arc::new(bytes))),
        _ => None,
    };
    converted.unwrap_or_else(|| text.into())
}

/// Whether a list that is a set or a map holds the same as before in another order. For the API
/// server such lists are equal; for our library they are not.
pub(super) fn is_reordered(node: &Node, new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            new.iter()
                .any(|(key, new)| match (node.entry(key).0, old.get(key)) {
                    (Some(schema), Some(old)) => is_reordered(schema, new, old),
                    _ => false,
                })
        }
        (Value::Array(new), Value::Array(old)) => {
            if matches!(node.list_type, Some(ListType::Set | ListType::Map))
                && new != old
                && sorted(new) == sorted(old)
            {
                return true;
            }
            let Some(schema) = &node.items else {
                return false;
            };
            new.iter()
                .zip(old)
                .any(|(new, old)| is_reordered(schema, new, old))
        }
        _ => false,
    }
}

fn sorted(items: &[Value]) -> Vec<String> {
    let mut texts: Vec<_> = items.iter().map(Value::to_string).collect();
    texts.sort();
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_the_api_server_does() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(escaped(name).as_deref(), expected, "{name}")
        };
        check("replicas", Some("replicas"));
        check("my_field", Some("my_field"));
        check("namespace", Some("__namespace__"));
        check("a__b", Some("a__underscores__b"));
        check("a.b-c/d", Some("a__dot__b__dash__c__slash__d"));
        check("1a", None);
        check("é", None);
    }
}
