//! `x-kubernetes-list-type`, `x-kubernetes-list-map-keys`, `x-kubernetes-map-type`.

use serde_json::Value;

use super::Violation;
use super::keywords::Keywords;
use super::shape::invalid_piece;
use windlass_source::diag::Descent;

pub(super) fn check(schema: Keywords<'_>, path: &Descent<'_>, out: &mut Vec<Violation>) {
    map_type(schema, path, out);
    if schema.get("x-kubernetes-list-type").is_some() {
        list_type(schema, path, out);
    }
    let keys = schema.strings("x-kubernetes-list-map-keys");
    let list_type = schema.get("x-kubernetes-list-type");
    if !keys.is_empty() && list_type != Some(&Value::from("map")) {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        let at = path.field("x-kubernetes-list-type");
        out.push(list_type.map_or_else(
            || Violation::required(at, detail),
            |found| Violation::invalid(at, found, detail),
        ));
    }
    if schema.text("x-kubernetes-list-type") == "map" {
        map_list(schema, &keys, path, out);
    }
    keys_are_always_there(schema, &keys, path, out);
}

fn map_type(schema: Keywords<'_>, path: &Descent<'_>, out: &mut Vec<Violation>) {
    let Some(map_type) = schema.get("x-kubernetes-map-type") else {
        return;
    };
    let detail = "must be object if x-kubernetes-map-type is specified";
    out.extend(must_be("object", schema.text("type"), path, detail));
    if !matches!(map_type.as_str(), Some("atomic" | "granular")) {
        let supported = ["atomic", "granular"].map(str::to_owned);
        out.push(Violation::not_supported(
            path.field("x-kubernetes-map-type"),
            map_type,
            &supported,
        ));
    }
}

/// The error of a `type` that must be another one.
fn must_be(wanted: &str, kind: &str, path: &Descent<'_>, detail: &str) -> Option<Violation> {
    let at = path.field("type");
    match kind {
        "" => Some(Violation::required(at, detail)),
        kind => (kind != wanted).then(|| Violation::invalid(at, &Value::from(kind), detail)),
    }
}

fn list_type(schema: Keywords<'_>, path: &Descent<'_>, out: &mut Vec<Violation>) {
    let list_type = schema.text("x-kubernetes-list-type");
    let wrong = must_be(
        "array",
        schema.text("type"),
        path,
        "must be array if x-kubernetes-list-type is specified",
    );
    let is_list = wrong.is_none();
    out.extend(wrong);
    if is_list
        && list_type == "set"
        && let Some(items) = schema.schema("items")
    {
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let item_type = items.get("x-kubernetes-list-type");
        let items_at = path.field("items");
        match items.text("type") {
            "array" if item_type.is_some_and(|found| found != "atomic") => {
                out.push(invalid_piece(
                    items_at.field("x-kubernetes-list-type"),
                    item_type,
                    detail,
                ));
            }
            // Upstream prints the list type here, not the map type.
            "object" if items.text("x-kubernetes-map-type") != "atomic" => {
                out.push(invalid_piece(
                    items_at.field("x-kubernetes-map-type"),
                    item_type,
                    detail,
                ));
            }
            _ => {}
        }
    }
    if !matches!(list_type, "atomic" | "set" | "map") {
        let supported = ["atomic", "set", "map"].map(str::to_owned);
        out.push(Violation::not_supported(
            path.field("x-kubernetes-list-type"),
            &Value::from(list_type),
            &supported,
        ));
    }
}

fn map_list(schema: Keywords<'_>, keys: &[&str], path: &Descent<'_>, out: &mut Vec<Violation>) {
    let keys_at = path.field("x-kubernetes-list-map-keys");
    if keys.is_empty() {
        out.push(Violation::required(
            keys_at,
            "must not be empty if x-kubernetes-list-type is map",
        ));
    }
    let items_at = path.field("items");
    let Some(items) = schema.schema("items") else {
        out.push(match schema.get("items") {
            None => Violation::required(
                items_at,
                "must have a schema if x-kubernetes-list-type is map",
            ),
            found => invalid_piece(
                items_at,
                found,
                "must only have a single schema if x-kubernetes-list-type is map",
            ),
        });
        return;
    };
    let item_type = items.text("type");
    if item_type != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        out.push(Violation::invalid(
            items_at.field("type"),
            &Value::from(item_type),
            detail,
        ));
        return;
    }
    let listed = schema.get("x-kubernetes-list-map-keys");
    for (index, key) in keys.iter().enumerate() {
        match items.property(key).map(|property| property.text("type")) {
            // Upstream prints the type of the item, not that of the key.
            Some("array" | "object") => {
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                out.push(Violation::invalid(
                    items_at.property(key).field("type"),
                    &Value::from(item_type),
                    detail,
                ));
            }
            Some(_) => {}
            None => out.push(invalid_piece(
                keys_at,
                listed,
                "entries must all be names of item properties",
            )),
        }
        if keys[..index].contains(key) {
            out.push(invalid_piece(
                keys_at,
                listed,
                "must not contain duplicate entries",
            ));
        }
    }
}

/// Items of sets and maps are never null, and keys of maps always have a value.
fn keys_are_always_there(
    schema: Keywords<'_>,
    keys: &[&str],
    path: &Descent<'_>,
    out: &mut Vec<Violation>,
) {
    let list_type = schema.text("x-kubernetes-list-type");
    let Some(items) = schema
        .schema("items")
        .filter(|_| matches!(list_type, "set" | "map"))
    else {
        return;
    };
    let items_at = path.field("items");
    if items.flag("nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        out.push(Violation::forbidden(items_at.field("nullable"), &detail));
    }
    if list_type != "map" {
        return;
    }
    let required = items.strings("required");
    for key in keys {
        let Some(property) = items.property(key) else {
            continue;
        };
        let at = items_at.property(key);
        if !required.contains(key) && property.get("default").is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            out.push(Violation::required(at.field("default"), detail));
        }
        if property.flag("nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            out.push(Violation::forbidden(at.field("nullable"), detail));
        }
    }
}
