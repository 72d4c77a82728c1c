//! For each constraint of a schema a value that breaks it.

use serde_json::{Value, json};

use super::examples;
use super::schema_walk::{exactly_one, list, map, minimal, object, rule_about_unique_names, rules};

/// A value that breaks one constraint.
pub(super) struct Breakage {
    /// The constraint, for messages: `maxLength 512`.
    pub(super) constraint: String,
    pub(super) value: Value,
    /// Where the server sees the fault, from the value on: empty, `.name`, `[1]`.
    pub(super) at: String,
}

fn here(constraint: String, value: Value) -> Breakage {
    Breakage {
        constraint,
        value,
        at: String::new(),
    }
}

/// All constraints of a schema, without those of the schemas inside it.
pub(super) fn of(schema: &Value) -> Vec<Breakage> {
    let mut found = Vec::new();
    found.extend(wrong_type(schema));
    if let Some(values) = schema["enum"].as_array() {
        found.push(here(format!("enum {values:?}"), json!("no such value")));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        found.push(here(
            format!("pattern {pattern}"),
            json!(examples::not_matching(pattern)),
        ));
    }
    found.extend(sizes(schema));
    found.extend(members(schema));
    found.extend(rules(schema).map(|rule| broken_rule(schema, rule)));
    found
}

fn wrong_type(schema: &Value) -> Option<Breakage> {
    if schema["x-kubernetes-int-or-string"] == true {
        return Some(here("int-or-string".to_owned(), json!(true)));
    }
    let kind = schema["type"].as_str()?;
    Some(here(
        format!("type {kind}"),
        if kind == "string" {
            json!(true)
        } else {
            json!("wrong")
        },
    ))
}

fn sizes(schema: &Value) -> Vec<Breakage> {
    let size = |keyword: &str| {
        schema[keyword]
            .as_u64()
            .map(|limit| usize::try_from(limit).unwrap())
    };
    let mut found = Vec::new();
    let mut add = |keyword: &str, value: Value| {
        found.push(here(format!("{keyword} {}", schema[keyword]), value))
    };
    if let Some(limit) = size("minLength").filter(|limit| *limit > 0) {
        add("minLength", json!("a".repeat(limit - 1)));
    }
    if let Some(limit) = size("maxLength") {
        add("maxLength", json!("a".repeat(limit + 1)));
    }
    if let Some(limit) = size("minItems").filter(|limit| *limit > 0) {
        add("minItems", json!(list(schema, limit - 1)));
    }
    if let Some(limit) = size("maxItems") {
        add("maxItems", json!(list(schema, limit + 1)));
    }
    if let Some(limit) = size("maxProperties") {
        add("maxProperties", map(schema, limit + 1));
    }
    if size("minProperties").is_some_and(|limit| limit > 0) {
        add("minProperties", json!({}));
    }
    if let Some(limit) = schema["minimum"].as_i64() {
        add("minimum", json!(limit - 1));
    }
    if let Some(limit) = schema["maximum"].as_i64() {
        add("maximum", json!(limit + 1));
    }
    // Formats of integers are not broken here: servers before 1.36 do not look at them.
    if schema["type"] == "string" && schema["format"].is_string() {
        found.push(here(format!("format {}", schema["format"]), json!("!")));
    }
    found
}

/// What is required, and what may not be there twice.
fn members(schema: &Value) -> Vec<Breakage> {
    let mut found = Vec::new();
    for name in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        let mut value = object(schema, serde_json::Map::new());
        value.as_object_mut().unwrap().remove(name);
        found.push(Breakage {
            constraint: format!("required {name}"),
            value,
            at: format!(".{name}"),
        });
    }
    if ["map", "set"]
        .iter()
        .any(|kind| schema["x-kubernetes-list-type"] == *kind)
    {
        let item = minimal(&schema["items"]);
        let constraint = format!(
            "x-kubernetes-list-type {}",
            schema["x-kubernetes-list-type"]
        );
        found.push(Breakage {
            constraint,
            value: json!([item, item]),
            at: "[1]".to_owned(),
        });
    }
    found
}

fn broken_rule(schema: &Value, rule: &Value) -> Breakage {
    let text = |key: &str| rule[key].as_str().unwrap_or_default();
    let value = if let Some(pattern) = examples::pattern_of_rule(text("rule")) {
        json!(examples::not_matching(&pattern))
    } else if let Some(alternatives) = exactly_one(rule) {
        let all = alternatives
            .iter()
            .map(|name| (name.clone(), minimal(&schema["properties"][name])));
        object(schema, all.collect())
    } else if rule_about_unique_names(schema) {
        let item = object(
            &schema["items"],
            [("name".to_owned(), json!("twice"))].into_iter().collect(),
        );
        let mut other = item.clone();
        // A list may be keyed by name and value: then only a different value leaves the fault to
        // the rule.
        other["value"] = json!("other");
        json!([item, other])
    } else {
        examples::breaking(text("message"), text("fieldPath"))
    };
    Breakage {
        constraint: format!("rule {}", text("message")),
        value,
        at: text("fieldPath").to_owned(),
    }
}
