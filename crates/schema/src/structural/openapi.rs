//! What a schema may say at all: unsupported keywords, misplaced defaults, properties beside
//! additionalProperties.

use std::rc::Rc;

use serde_json::Value;

use super::Violation;
use super::found::Found;
use super::keywords::Keywords;
use super::rules::Context;
use super::{lists, rules};
use crate::node::Node;
use crate::prune::META_FIELDS;
use windlass_go_text::regexp::Patterns;
use windlass_source::diag::{Descent, FieldPath};

/// What is known on the way down.
#[derive(Debug, Clone)]
struct Place<'p> {
    path: Descent<'p>,
    root: bool,
    inside_meta: bool,
    /// Why defaults are forbidden here, if they are.
    no_defaults: Option<Rc<str>>,
    /// The highest ancestor whose old and new values cannot be matched.
    uncorrelatable: Option<Descent<'p>>,
    /// Whether CEL rules are looked at.
    rules: bool,
    /// How often a value can be here, where all lists and maps above it say how long they may be.
    cardinality: Option<u64>,
    patterns: &'p Patterns,
}

impl<'p> Place<'p> {
    fn below<'q>(&self, path: Descent<'q>) -> Place<'q>
    where
        'p: 'q,
    {
        let Place {
            path: _,
            root: _,
            inside_meta,
            no_defaults,
            uncorrelatable,
            rules,
            cardinality,
            patterns,
        } = self;
        Place {
            path,
            root: false,
            inside_meta: *inside_meta,
            no_defaults: no_defaults.clone(),
            uncorrelatable: *uncorrelatable,
            rules: *rules,
            cardinality: *cardinality,
            patterns,
        }
    }

    /// Below a list or map with at most so many entries.
    fn repeated(mut self, most: Option<i64>) -> Self {
        let most = most.map(|most| u64::try_from(most).unwrap_or(0));
        self.cardinality = self
            .cardinality
            .zip(most)
            .map(|(outer, most)| outer.saturating_mul(most));
        self
    }

    fn uncorrelatable_below(mut self, path: &Descent<'p>) -> Self {
        self.uncorrelatable.get_or_insert(*path);
        self
    }

    fn in_junctor<'q>(&self, path: Descent<'q>) -> Place<'q>
    where
        'p: 'q,
    {
        Place {
            rules: false,
            ..self.below(path)
        }
    }
}

/// Checks a whole schema; `node` is its compiled form, `with_rules` whether CEL rules are looked
/// at.
pub(super) fn check(
    root: Keywords<'_>,
    node: Option<&Node>,
    with_rules: bool,
    path: &FieldPath,
    patterns: &Patterns,
) -> Found {
    let place = Place {
        path: Descent::of(path),
        root: true,
        inside_meta: false,
        no_defaults: None,
        uncorrelatable: None,
        rules: with_rules,
        cardinality: Some(1),
        patterns,
    };
    let mut found = schema(root, node, &place);
    let exceeded = found.costs.exceeded(path, "rule");
    found.costs_too_much |= !exceeded.is_empty();
    found.rules.extend(exceeded);
    found
}

fn schema(schema: Keywords<'_>, node: Option<&Node>, place: &Place) -> Found {
    let mut found = Found::default();
    keywords(schema, place, &mut found.schema);
    found.add(values_of_map(schema, node, place));
    found.add(properties(schema, node, place));
    junctors(schema, place, &mut found);
    found.add(items(schema, node, place));
    lists::check(schema, &place.path, &mut found.schema);
    rules::check_form(schema, node, place.patterns, &place.path, &mut found.schema);
    if found.schema.is_empty()
        && place.rules
        && let Some(node) = node
    {
        let resource = place.root || schema.flag("x-kubernetes-embedded-resource");
        let context = Context {
            resource,
            uncorrelatable: place.uncorrelatable,
            cardinality: place.cardinality,
        };
        rules::check_expressions(node, &context, &place.path, &mut found);
    }
    found
}

fn keywords(schema: Keywords<'_>, place: &Place, out: &mut Vec<Violation>) {
    const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
    const REJECTED: [(&str, &str); 6] = [
        ("id", "id is not supported"),
        ("additionalItems", "additionalItems is not supported"),
        ("patternProperties", "patternProperties is not supported"),
        ("definitions", "definitions is not supported"),
        ("dependencies", "dependencies is not supported"),
        ("$ref", "$ref is not supported"),
    ];
    let path = &place.path;
    let kind = schema.text("type");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        out.push(Violation::not_supported(
            path.field("type"),
            &Value::from(kind),
            &TYPES.map(str::to_owned),
        ));
    }
    if let (Some(reason), Some(_)) = (&place.no_defaults, schema.get("default")) {
        out.push(Violation::forbidden(
            path.field("default"),
            &format!("must not be set {reason}"),
        ));
    }
    let rejected = |(keyword, _): &&(&str, &str)| match *keyword {
        "patternProperties" | "definitions" => schema.is_filled(keyword),
        keyword => schema.get(keyword).is_some(),
    };
    for (keyword, detail) in REJECTED.iter().filter(rejected) {
        out.push(Violation::forbidden(path.field(keyword), *detail));
    }
    if kind == "null" {
        out.push(Violation::forbidden(
            path.field("type"),
            "type cannot be set to null, use nullable as an alternative",
        ));
    }
    if !schema.list("items").is_empty() {
        out.push(Violation::forbidden(
            path.field("items"),
            "items must be a schema object and not an array",
        ));
    }
    if place.inside_meta && schema.flag("x-kubernetes-embedded-resource") {
        out.push(Violation::forbidden(
            path.field("x-kubernetes-embedded-resource"),
            "must not be used inside of resource meta",
        ));
    }
    if schema.flag("uniqueItems") {
        let detail =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        out.push(Violation::forbidden(path.field("uniqueItems"), detail));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let at = path.field("x-kubernetes-preserve-unknown-fields");
        out.push(Violation::invalid(
            at,
            &Value::Bool(false),
            "must be true or undefined",
        ));
    }
}

fn values_of_map(keywords: Keywords<'_>, node: Option<&Node>, place: &Place) -> Found {
    let mut found = Found::default();
    let Some(additional) = keywords.get("additionalProperties") else {
        return found;
    };
    let path = place.path.field("additionalProperties");
    if keywords.has_properties() && *additional != Value::Bool(true) {
        let detail = "additionalProperties and properties are mutual exclusive";
        found.schema.push(Violation::forbidden(path, detail));
    }
    let mut below = place.below(path);
    if place.inside_meta {
        below.no_defaults = Some("inside additionalProperties applying to object metadata".into());
    }
    if let Some(values) = Keywords::of(additional) {
        let below = below.repeated(node.and_then(|node| node.max_properties));
        found.add(schema(values, node.and_then(Node::values), &below));
    }
    found
}

fn properties(keywords: Keywords<'_>, node: Option<&Node>, place: &Place) -> Found {
    let mut found = Found::default();
    let resource = place.root || keywords.flag("x-kubernetes-embedded-resource");
    let correlatable = matches!(
        keywords.text("x-kubernetes-map-type"),
        "" | "granular" | "atomic"
    );
    for (name, property) in keywords.properties() {
        let mut below = place.below(place.path.property(name));
        if !correlatable {
            below = below.uncorrelatable_below(&place.path);
        }
        if resource && META_FIELDS.contains(&name) {
            below.inside_meta = true;
            if place.root {
                below.no_defaults = Some(format!("in top-level {name}").into());
            }
        }
        found.add(schema(
            property,
            node.and_then(|node| node.properties.get(name)),
            &below,
        ));
    }
    found
}

fn junctors(keywords: Keywords<'_>, place: &Place, found: &mut Found) {
    if let Some(not) = keywords.schema("not") {
        found.add(schema(
            not,
            None,
            &place.in_junctor(place.path.field("not")),
        ));
    }
    for junctor in ["allOf", "oneOf", "anyOf"] {
        for (index, branch) in keywords.branches(junctor) {
            let path = place.path.field(junctor);
            found.add(schema(branch, None, &place.in_junctor(path.index(index))));
        }
    }
}

/// Old and new items can be matched in map lists only.
fn items(keywords: Keywords<'_>, node: Option<&Node>, place: &Place) -> Found {
    let mut found = Found::default();
    let path = place.path.field("items");
    let below = |path| match keywords.text("x-kubernetes-list-type") {
        "map" => place.below(path),
        _ => place.below(path).uncorrelatable_below(&place.path),
    };
    if let Some(items) = keywords.schema("items") {
        found.add(schema(
            items,
            node.and_then(|node| node.items.as_deref()),
            &below(path).repeated(node.and_then(|node| node.max_items)),
        ));
    }
    for (index, items) in keywords.branches("items") {
        found.add(schema(items, None, &below(path.index(index))));
    }
    found
}
