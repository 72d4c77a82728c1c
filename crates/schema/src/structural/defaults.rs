//! Defaults must hold to their own schema, and to its rules.

use std::sync::Arc;

use serde_json::Value;

use super::Violation;
use crate::cel::Meter;
use crate::node::Node;
use crate::prune::META_FIELDS;
use crate::{Schema, Verdict};
use windlass_source::budget::Budget;
use windlass_source::diag::{Descent, FieldPath, Segment};

/// Checks all defaults of a schema, by its rules too where these may be evaluated. Those of map
/// values are never used, and so not looked at. `is_resource`: whether the root is an object with
/// metadata.
pub(super) fn check(
    root: &Node,
    is_resource: bool,
    by_rules: bool,
    path: &FieldPath,
    budget: &Budget,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let meter = by_rules.then(|| Meter::within(budget));
    visit(
        root,
        is_resource,
        &Descent::of(path),
        meter.as_ref(),
        &mut violations,
    );
    if let Some(meter) = meter {
        meter.settle(budget);
    }
    violations
}

fn visit(
    node: &Node,
    resource: bool,
    path: &Descent<'_>,
    meter: Option<&Arc<Meter>>,
    out: &mut Vec<Violation>,
) {
    if let Some(default) = &node.default {
        out.extend(one(
            node,
            resource,
            default,
            meter,
            &path.field("default").path(),
        ));
    }
    if let Some(items) = &node.items {
        visit(items, false, &path.field("items"), meter, out);
    }
    // What the root says about its own type and metadata may have no defaults at all, which is
    // reported elsewhere.
    let own = |name: &&String| !(resource && META_FIELDS.contains(&name.as_str()));
    for (name, property) in node.properties.iter().filter(|(name, _)| own(name)) {
        visit(property, false, &path.property(name.as_str()), meter, out);
    }
}

fn one(
    node: &Node,
    resource: bool,
    default: &Value,
    meter: Option<&Arc<Meter>>,
    path: &FieldPath,
) -> Vec<Violation> {
    let mut root = Node {
        default: None,
        embedded_resource: node.embedded_resource || resource,
        ..node.clone()
    };
    // The API server forgets the types of int-or-string here; what is left of it are the junctors.
    if root.int_or_string {
        root.types.clear();
    }
    let schema = Schema { root };
    let mut violations = Vec::new();
    let mut pruned = default.clone();
    schema.prune_embedded(&mut pruned);
    if pruned != *default {
        violations.push(Violation::invalid(
            path.clone(),
            default,
            "must not have unknown fields",
        ));
    }
    let mut found = Vec::new();
    schema.check_embedded(default, &mut found);
    let mut found: Vec<Violation> = found
        .into_iter()
        .map(|violation| moved(violation, path))
        .collect();
    if found.is_empty() {
        let of_values = schema.validate_values(default).into_iter();
        found = of_values
            .map(|violation| moved_child(violation, path))
            .collect();
    }
    for old in [Some(default), None] {
        if let Some(meter) = meter.filter(|_| found.is_empty()) {
            let broken = judged(schema.evaluate_metered(default, old, meter)).into_iter();
            found = broken.map(|violation| moved(violation, path)).collect();
        }
    }
    violations.extend(found);
    violations
}

/// What rules say of a default. One that could not be brought to an end is rejected.
fn judged(verdict: Verdict) -> Vec<Violation> {
    let ended = verdict.not_evaluable.into_iter().filter(|rule| rule.ended);
    let rejected = ended.map(|rule| {
        Violation::forbidden(
            rule.path,
            &format!(
                "the rule `{}` cannot be checked: {}",
                rule.rule, rule.reason
            ),
        )
    });
    verdict.violations.into_iter().chain(rejected).collect()
}

/// An error of a value alone, at its place in the schema.
pub(super) fn moved(violation: Violation, path: &FieldPath) -> Violation {
    let below = violation
        .path
        .segments()
        .iter()
        .fold(path.clone(), |at, segment| match segment {
            Segment::Field(name) => at.field(name.as_str()),
            other => at.with(other.clone()),
        });
    let field = match violation.field.as_str() {
        "<nil>" => path.to_string(),
        field if field.starts_with('[') => format!("{path}{field}"),
        field => format!("{path}.{field}"),
    };
    Violation {
        path: below,
        field,
        ..violation
    }
}

/// An error of a value alone by its schema: `ValidateCustomResource` of the API server spells a
/// position in a list as a field of that name.
pub(super) fn moved_child(violation: Violation, path: &FieldPath) -> Violation {
    let is_item = violation.field.starts_with('[');
    let field = format!("{path}.{}", violation.field);
    let moved = moved(violation, path);
    match is_item {
        true => moved.spelt(field),
        false => moved,
    }
}
