//! Whether a schema is structural: every value that it can check has a known type, and junctors
//! only check, never define.

use serde_json::Value;

use super::keywords::Keywords;
use super::{Violation, ViolationKind};
use crate::violation::shown;
use windlass_go_text::regexp::Patterns;
use windlass_source::diag::{Descent, FieldPath};

/// Where a schema stands; the words of some errors depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Why no structural schema can be made at all: a keyword that CRDs do not know. Only told when
/// nothing else is.
pub(super) fn unsupported(schema: Keywords<'_>) -> Option<String> {
    const REJECTED: [(&str, &str); 7] = [
        ("id", "id"),
        ("$schema", "schema"),
        ("$ref", "$ref"),
        ("patternProperties", "patternProperties"),
        ("dependencies", "dependencies"),
        ("additionalItems", "additionalItems"),
        ("definitions", "definitions"),
    ];
    let rejected = |(keyword, _): &&(&str, &str)| match *keyword {
        "patternProperties" | "dependencies" | "definitions" => schema.is_filled(keyword),
        keyword => schema.is_set(keyword),
    };
    if let Some((_, name)) = REJECTED.iter().find(rejected) {
        return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Some(
            "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
                .to_owned(),
        );
    }
    if !schema.list("items").is_empty() {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    let junctors = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .flat_map(|junctor| schema.branches(junctor).map(|(_, branch)| branch));
    let singles = ["items", "additionalProperties", "not"]
        .into_iter()
        .filter_map(|keyword| schema.schema(keyword));
    let properties = schema.properties().map(|(_, property)| property);
    junctors
        .chain(singles)
        .chain(properties)
        .find_map(unsupported)
}

/// All violations of the form, in the order of their text, as the API server sorts them.
pub(super) fn check(root: Keywords<'_>, path: &FieldPath, patterns: &Patterns) -> Vec<Violation> {
    let mut out = Misshapen {
        violations: Vec::new(),
        patterns,
    };
    let top = Descent::of(path);
    invariants(root, Level::Root, &top, &mut out);
    completeness(root, root, &top, &top, &mut out);
    out.violations.sort_by_cached_key(Violation::to_string);
    out.violations
}

/// What was found so far.
struct Misshapen<'p> {
    violations: Vec<Violation>,
    patterns: &'p Patterns,
}

impl Misshapen<'_> {
    fn push(&mut self, violation: Violation) {
        self.violations.push(violation);
    }
}

fn invariants(schema: Keywords<'_>, level: Level, path: &Descent<'_>, out: &mut Misshapen<'_>) {
    let kind = schema.text("type");
    let items = schema.schema("items");
    if kind == "array" && items.is_none() {
        out.push(Violation::required(
            path.field("items"),
            "must be specified",
        ));
    }
    if let Some(items) = items {
        invariants(items, Level::Item, &path.field("items"), out);
    }
    for (name, property) in schema.properties() {
        invariants(property, Level::Field, &path.property(name), out);
    }
    if schema.get("additionalProperties").is_some() {
        let at = path.field("additionalProperties");
        if level == Level::Root {
            out.push(Violation::forbidden(at, "must not be used at the root"));
        }
        if let Some(values) = schema.schema("additionalProperties") {
            invariants(values, Level::Field, &at, out);
        }
    }
    extensions(schema, path, out);
    let any_of = is_int_or_string(schema);
    let all_of = schema
        .branches("allOf")
        .next()
        .is_some_and(|(_, first)| is_int_or_string(first));
    value_validation(schema, any_of, all_of, path, out);
    types(schema, level, path, out);
    metadata(schema, level, path, out);
}

fn extensions(schema: Keywords<'_>, path: &Descent<'_>, out: &mut Misshapen<'_>) {
    if schema.flag("x-kubernetes-int-or-string") {
        for keyword in [
            "x-kubernetes-preserve-unknown-fields",
            "x-kubernetes-embedded-resource",
        ] {
            if schema.flag(keyword) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                out.push(Violation::invalid(
                    path.field(keyword),
                    &Value::Bool(true),
                    detail,
                ));
            }
        }
    }
    if schema.flag("x-kubernetes-embedded-resource") {
        if schema.get("additionalProperties").is_some() {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            out.push(Violation::forbidden(
                path.field("additionalProperties"),
                detail,
            ));
        }
        if !schema.flag("x-kubernetes-preserve-unknown-fields") && !schema.has_properties() {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
            out.push(Violation::required(path.field("properties"), detail));
        }
    }
}

/// `anyOf` of an integer and a string: the one junctor that may name types.
fn is_int_or_string(schema: Keywords<'_>) -> bool {
    let is = |branch: &Value, kind: &str| {
        branch.as_object().is_some_and(|branch| branch.len() == 1) && branch["type"] == kind
    };
    matches!(schema.list("anyOf"), [first, second] if is(first, "integer") && is(second, "string"))
}

fn types(schema: Keywords<'_>, level: Level, path: &Descent<'_>, out: &mut Misshapen<'_>) {
    let kind = schema.text("type");
    let at = || path.field("type");
    let free = schema.flag("x-kubernetes-int-or-string")
        || schema.flag("x-kubernetes-preserve-unknown-fields");
    if schema.flag("x-kubernetes-embedded-resource") && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        out.push(if kind.is_empty() {
            Violation::required(at(), detail)
        } else {
            Violation::invalid(at(), &Value::from(kind), detail)
        });
    } else if kind.is_empty() && !free {
        let place = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        out.push(Violation::required(
            at(),
            &format!("must not be empty {place}"),
        ));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        out.push(Violation::invalid(
            at(),
            &Value::from(kind),
            "must be object at the root",
        ));
    }
}

/// The schema of a resource says nothing about its own type and metadata, but that names may be
/// restricted.
fn metadata(schema: Keywords<'_>, level: Level, path: &Descent<'_>, out: &mut Misshapen<'_>) {
    let resource = level == Level::Root || schema.flag("x-kubernetes-embedded-resource");
    for name in ["kind", "apiVersion"] {
        let other = schema
            .property(name)
            .map(|property| property.text("type"))
            .filter(|kind| resource && *kind != "string");
        if let Some(kind) = other {
            out.push(Violation::invalid(
                path.property(name).field("type"),
                &Value::from(kind),
                "must be string",
            ));
        }
    }
    let Some(metadata) = schema.property("metadata") else {
        return;
    };
    let at = path.property("metadata");
    if resource && metadata.text("type") != "object" {
        out.push(Violation::invalid(
            at.field("type"),
            &Value::from(metadata.text("type")),
            "must be object",
        ));
    }
    let only_names = metadata
        .properties()
        .all(|(name, _)| matches!(name, "name" | "generateName"));
    let restricted = metadata.names().any(|keyword| match keyword {
        "type" | "default" => false,
        "properties" => !only_names,
        "definitions" | "patternProperties" => metadata.is_filled(keyword),
        _ => true,
    });
    if level == Level::Root && restricted {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        out.push(Violation::forbidden(at, detail));
    }
}

fn value_validation(
    schema: Keywords<'_>,
    skip_any_of: bool,
    skip_first_all_of: bool,
    path: &Descent<'_>,
    out: &mut Misshapen<'_>,
) {
    if !skip_any_of {
        for (index, branch) in schema.branches("anyOf") {
            nested(branch, false, &path.field("anyOf").index(index), out);
        }
    }
    for (index, branch) in schema.branches("allOf") {
        nested(
            branch,
            skip_first_all_of && index == 0,
            &path.field("allOf").index(index),
            out,
        );
    }
    for (index, branch) in schema.branches("oneOf") {
        nested(branch, false, &path.field("oneOf").index(index), out);
    }
    if let Some(not) = schema.schema("not") {
        nested(not, false, &path.field("not"), out);
    }
    let pattern = schema.text("pattern");
    if !pattern.is_empty()
        && let Err(error) = out.patterns.get(pattern)
    {
        out.push(Violation::invalid(
            path.field("pattern"),
            &Value::from(pattern),
            &error.of_keyword(),
        ));
    }
}

/// Below a junctor a schema may check values, and nothing else.
fn nested(schema: Keywords<'_>, skip_any_of: bool, path: &Descent<'_>, out: &mut Misshapen<'_>) {
    const FORBIDDEN: [(&str, &str); 13] = [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        (
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-embedded-resource",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-int-or-string",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-list-map-keys",
            "must be empty to be structural",
        ),
        (
            "x-kubernetes-list-type",
            "must be undefined to be structural",
        ),
        (
            "x-kubernetes-map-type",
            "must be undefined to be structural",
        ),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ];
    value_validation(schema, skip_any_of, false, path, out);
    if let Some(items) = schema.schema("items") {
        nested(items, false, &path.field("items"), out);
    }
    for (name, property) in schema.properties() {
        nested(property, false, &path.property(name), out);
    }
    let forbidden = |(keyword, _): &&(&str, &str)| match *keyword {
        "x-kubernetes-list-map-keys" | "x-kubernetes-validations" => schema.is_filled(keyword),
        "additionalProperties" => schema
            .get(keyword)
            .is_some_and(|values| *values != Value::Bool(false)),
        keyword => schema.is_set(keyword),
    };
    for (keyword, detail) in FORBIDDEN.iter().filter(forbidden) {
        out.push(Violation::forbidden(path.field(keyword), *detail));
    }
    if schema.property("metadata").is_some() {
        out.push(Violation::forbidden(
            path.property("metadata"),
            "must not be specified in a nested context",
        ));
    }
}

/// What a junctor of the root checks, the root must define.
fn completeness(
    validation: Keywords<'_>,
    schema: Keywords<'_>,
    schema_path: &Descent<'_>,
    path: &Descent<'_>,
    out: &mut Misshapen<'_>,
) {
    if let Some(not) = validation.schema("not") {
        nested_completeness(not, Some(schema), schema_path, &path.field("not"), out);
    }
    for junctor in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in validation.branches(junctor) {
            nested_completeness(
                branch,
                Some(schema),
                schema_path,
                &path.field(junctor).index(index),
                out,
            );
        }
    }
}

fn nested_completeness(
    validation: Keywords<'_>,
    schema: Option<Keywords<'_>>,
    schema_path: &Descent<'_>,
    path: &Descent<'_>,
    out: &mut Misshapen<'_>,
) {
    let Some(schema) = schema else {
        out.push(Violation::required(
            *schema_path,
            &format!("because it is defined in {path}"),
        ));
        return;
    };
    completeness(validation, schema, schema_path, path, out);
    if let Some(items) = validation.schema("items") {
        nested_completeness(
            items,
            schema.schema("items"),
            &schema_path.field("items"),
            &path.field("items"),
            out,
        );
    }
    for (name, property) in validation.properties() {
        nested_completeness(
            property,
            schema.property(name),
            &schema_path.property(name),
            &path.property(name),
            out,
        );
    }
}

/// An invalid value that is a piece of a schema.
pub(super) fn invalid_piece(path: Descent<'_>, piece: Option<&Value>, detail: &str) -> Violation {
    Violation::new(
        ViolationKind::Invalid,
        path,
        Some(&shown(piece.unwrap_or(&Value::Null))),
        detail,
    )
}
