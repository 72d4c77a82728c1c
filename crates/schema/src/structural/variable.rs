//! The schema of a variable of a ClusterClass, as the webhook of ClusterClasses checks it.
//!
//! Source: `internal/topology/variables/clusterclass_variable_validation.go` and `schema.go` of
//! Cluster API v1.14, which run parts of the API server's check of CRDs.

use serde_json::{Value, json};

use super::found::Found;
use super::keywords::{self, Keywords};
use super::rules::{self, Context};
use super::{Gap, defaults, shape};
use crate::cel::parse_field_path;
use crate::compiler::compile;
use crate::node::Node;
use crate::{Schema, Violation, ViolationKind};
use windlass_go_text::regexp::Patterns;
use windlass_source::budget::Budget;
use windlass_source::diag::{Descent, FieldPath};

/// Cluster API wraps the schema in an object, as the root of a CRD must be one.
const WRAPPER: &str = "variableSchema";
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];
/// The longest message of a rule, in bytes.
const LONGEST_MESSAGE: usize = 2048;

/// Checks a schema that has only the keywords of Cluster API (`validateRootSchema`). `path` is its
/// name in messages.
pub fn check_variable(
    schema: &Value,
    path: &FieldPath,
    budget: &Budget,
) -> (Vec<Violation>, Vec<Gap>) {
    let rejected = |violations| (violations, Vec::new());
    let malformed = keywords::malformed(schema, path);
    if !malformed.is_empty() {
        return rejected(malformed);
    }
    let patterns = windlass_go_text::regexp::Patterns::of(budget);
    let misshapen = misshapen(schema, path, &patterns);
    if !misshapen.is_empty() {
        return rejected(misshapen);
    }
    let Some(root) = Keywords::of(schema) else {
        return rejected(Vec::new());
    };
    let node = match compiled(schema, &patterns) {
        Ok(node) => node,
        Err(violation) => {
            let detail = format!("failed to build validator: {}", violation.fault);
            return rejected(vec![Violation::invalid(path.clone(), &"".into(), &detail)]);
        }
    };
    let of_defaults = defaults::check(&node, false, true, path, budget);
    if !of_defaults.is_empty() {
        return rejected(of_defaults);
    }
    let place = Place {
        path: Descent::of(path),
        is_root: true,
        uncorrelatable: None,
        has_rules: true,
        cardinality: Some(1),
    };
    let walk = Walk {
        patterns: &patterns,
        budget,
    };
    let mut found = walk.schema(root, Some(&node), &place);
    found
        .rules
        .extend(found.costs.exceeded(path, "rule & messageExpression"));
    let violations = found.schema.into_iter().chain(found.rules).collect();
    (violations, found.gaps)
}

/// Whether the wrapped schema is structural.
fn misshapen(schema: &Value, path: &FieldPath, patterns: &Patterns) -> Vec<Violation> {
    let wrapped = json!({"type": "object", "properties": {WRAPPER: schema}});
    let violations = Keywords::of(&wrapped).map(|root| shape::check(root, path, patterns));
    let inner = format!(".properties[{WRAPPER}]");
    let depth = path.segments().len();
    let unwrapped = |violation: Violation| {
        let segments = violation.path.segments().iter();
        let below: FieldPath = segments.skip(depth + 2).cloned().collect();
        Violation {
            path: path.join(&below),
            field: violation.field.replacen(&inner, "", 1),
            ..violation
        }
    };
    violations
        .unwrap_or_default()
        .into_iter()
        .map(unwrapped)
        .collect()
}

/// The compiled schema. A type that does not exist is reported by the walk, and is not a type here.
fn compiled(schema: &Value, patterns: &Patterns) -> Result<Node, Violation> {
    compile(schema, patterns).or_else(|violation| {
        if violation.kind == ViolationKind::NotSupported {
            let mut typed = schema.clone();
            drop_unknown_types(&mut typed);
            compile(&typed, patterns)
        } else {
            Err(violation)
        }
    })
}

fn drop_unknown_types(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    keywords.retain(|keyword, value| {
        keyword != "type" || value.as_str().is_none_or(|name| TYPES.contains(&name))
    });
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("items" | "additionalProperties" | "not", below) => drop_unknown_types(below),
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(drop_unknown_types);
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                branches.iter_mut().for_each(drop_unknown_types);
            }
            _ => {}
        }
    }
}

struct Walk<'b> {
    patterns: &'b Patterns,
    budget: &'b Budget,
}

/// What is known on the way down.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: Descent<'p>,
    is_root: bool,
    /// The list above, whose old and new items cannot be matched.
    uncorrelatable: Option<Descent<'p>>,
    /// Whether CEL rules are checked: not below junctors.
    has_rules: bool,
    /// How often a value can be here, if all lists and maps above it are bounded.
    cardinality: Option<u64>,
}

impl<'p> Place<'p> {
    fn below<'q>(&self, path: Descent<'q>) -> Place<'q>
    where
        'p: 'q,
    {
        Place {
            path,
            is_root: false,
            uncorrelatable: self.uncorrelatable,
            has_rules: self.has_rules,
            cardinality: self.cardinality,
        }
    }

    fn below_junctor<'q>(&self, path: Descent<'q>) -> Place<'q>
    where
        'p: 'q,
    {
        Place {
            has_rules: false,
            ..self.below(path)
        }
    }

    fn repeated(mut self, most: Option<i64>) -> Self {
        let most = most.map(|most| u64::try_from(most).unwrap_or(0));
        self.cardinality = self
            .cardinality
            .zip(most)
            .map(|(outer, most)| outer.saturating_mul(most));
        self
    }
}

impl Walk<'_> {
    /// `validateSchema`. Deeper schemas come first, and rules are checked only if they are sound.
    fn schema(&self, keywords: Keywords<'_>, node: Option<&Node>, place: &Place<'_>) -> Found {
        let mut found = Found::default();
        let kind = keywords.text("type");
        if !kind.is_empty() && !TYPES.contains(&kind) {
            let at = place.path.field("type");
            let types = TYPES.map(str::to_owned);
            found
                .schema
                .push(Violation::not_supported(at, &kind.into(), &types));
            return found;
        }
        let own = match node {
            Some(_) => None,
            None => compiled(&keywords.to_value(), self.patterns).ok(),
        };
        let Some(node) = node.or(own.as_ref()) else {
            return found;
        };
        for (value, at) in given(keywords, &place.path) {
            let violations = of(node).validate_values(value);
            found.schema.extend(
                violations
                    .into_iter()
                    .map(|violation| defaults::moved_child(violation, &at)),
            );
        }
        self.parts(keywords, node, place, &mut found);
        if keywords.is_filled("x-kubernetes-validations") {
            self.rules(keywords, node, place, &mut found);
        }
        found
    }

    fn parts(&self, keywords: Keywords<'_>, node: &Node, place: &Place<'_>, found: &mut Found) {
        if keywords.get("additionalProperties").is_some() && keywords.has_properties() {
            let detail = "additionalProperties and properties are mutually exclusive";
            found.schema.push(Violation::forbidden(place.path, detail));
        }
        if let Some(values) = keywords.schema("additionalProperties") {
            let path = place.path.field("additionalProperties");
            let below = place.below(path).repeated(node.max_properties);
            found.add(self.schema(values, node.values(), &below));
        }
        for (name, property) in keywords.properties() {
            let path = place.path.property(name);
            found.add(self.schema(property, node.properties.get(name), &place.below(path)));
        }
        if let Some(items) = keywords.schema("items") {
            let path = place.path.field("items");
            let mut below = place.below(path).repeated(node.max_items);
            below.uncorrelatable.get_or_insert(path);
            found.add(self.schema(items, node.items.as_deref(), &below));
        }
        if let Some(not) = keywords.schema("not") {
            let path = place.path.field("not");
            found.add(self.schema(not, None, &place.below_junctor(path)));
        }
        for junctor in ["allOf", "oneOf", "anyOf"] {
            let list = place.path.field(junctor);
            for (index, branch) in keywords.branches(junctor) {
                let below = place.below_junctor(list.index(index));
                found.add(self.schema(branch, None, &below));
            }
        }
    }

    fn rules(&self, keywords: Keywords<'_>, node: &Node, place: &Place<'_>, found: &mut Found) {
        let list = place.path.field("x-kubernetes-validations");
        for (index, rule) in keywords.branches("x-kubernetes-validations") {
            rule_form(rule, node, &list.index(index), &mut found.schema);
        }
        if found.schema.is_empty() && place.has_rules {
            let context = Context {
                resource: place.is_root,
                uncorrelatable: place.uncorrelatable,
                cardinality: place.cardinality,
            };
            rules::check_expressions(node, &context, &place.path, found);
        }
        if !found.schema.is_empty() || !found.rules.is_empty() {
            return;
        }
        for (value, at) in given(keywords, &place.path) {
            let verdict = of(node).evaluate_rules(value, None, self.budget);
            let violations = verdict.violations.into_iter();
            found
                .rules
                .extend(violations.map(|violation| defaults::moved(violation, &at)));
            found
                .gaps
                .extend(verdict.not_evaluable.into_iter().map(|rule| Gap {
                    path: at.clone(),
                    reason: rule.reason,
                }));
        }
    }
}

fn of(node: &Node) -> Schema {
    Schema { root: node.clone() }
}

/// The example and the values of the enumeration, which must fit the schema.
fn given<'k>(keywords: Keywords<'k>, path: &Descent<'_>) -> Vec<(&'k Value, FieldPath)> {
    let example = keywords
        .get("example")
        .map(|value| (value, path.field("example").path()));
    let list = path.field("enum");
    let values = keywords.list("enum").iter().enumerate();
    let values = values.map(|(index, value)| (value, list.index(index).path()));
    example
        .into_iter()
        .chain(values.filter(|(value, _)| !value.is_null()))
        .collect()
}

/// The form of a rule, its expressions aside.
fn rule_form(rule: Keywords<'_>, node: &Node, path: &Descent<'_>, out: &mut Vec<Violation>) {
    let has_line_break = |text: &str| text.contains(['\n', '\r']);
    let (expression, message) = (rule.text("rule").trim(), rule.text("message"));
    let trimmed = message.trim();
    let at = path.field("message");
    let mut reject = |path: Descent<'_>, value: &str, detail: &str| {
        out.push(Violation::invalid(path, &value.into(), detail));
    };
    if !expression.is_empty() {
        if !message.is_empty() && trimmed.is_empty() {
            reject(at, message, "message must be non-empty if specified");
        } else if message.len() > LONGEST_MESSAGE {
            let start: String = message.chars().take(10).collect();
            let detail = "message must have a maximum length of 2048 characters";
            reject(at, &format!("{start}..."), detail);
        } else if has_line_break(trimmed) {
            reject(at, message, "message must not contain line breaks");
        }
    }
    let field_path = rule.text("fieldPath");
    let at_field = path.field("fieldPath");
    if !field_path.is_empty() && field_path.trim().is_empty() {
        reject(
            at_field,
            field_path,
            "fieldPath must be non-empty if specified",
        );
    }
    if has_line_break(field_path) {
        reject(
            at_field,
            field_path,
            "fieldPath must not contain line breaks",
        );
    }
    if !field_path.is_empty() && parse_field_path(field_path, node).is_none() {
        reject(at_field, field_path, "fieldPath must be a valid path");
    }
    if expression.is_empty() {
        out.push(Violation::required(
            path.field("rule"),
            "rule is not specified",
        ));
    } else if has_line_break(expression) && trimmed.is_empty() && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        out.push(Violation::required(at, detail));
    }
    let message_expression = rule.text("messageExpression");
    if !message_expression.is_empty() && message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        out.push(Violation::required(path.field("messageExpression"), detail));
    }
    let reason = rule.text("reason");
    if !reason.is_empty() && !REASONS.contains(&reason) {
        let reasons = REASONS.map(str::to_owned);
        out.push(Violation::not_supported(
            path.field("reason"),
            &reason.into(),
            &reasons,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejections(schema: &Value) -> Vec<String> {
        let (violations, _) = check_variable(schema, &FieldPath::root(), &Budget::default());
        violations.iter().map(ToString::to_string).collect()
    }

    /// The message is that of v1.14.2, with the path of the schema left out.
    #[test]
    fn rejects_rules_of_a_schema_without_a_type_in_cel() {
        let rules = json!([{"rule": "self.size() > 0"}]);
        let list = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": rules});
        let expected = "x-kubernetes-validations: Internal error: internal error: failed to construct type information for \
                        x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
        assert_eq!(rejections(&list), [expected]);
        // Below the root a list keeps its items.
        assert!(
            rejections(&json!({"type": "object", "properties": {"a": list.clone()}})).is_empty()
        );
        let items = json!({"x-kubernetes-preserve-unknown-fields": true});
        let open = json!({"type": "object", "properties": {"a": {"type": "array", "items": items, "x-kubernetes-validations": rules}}});
        assert_eq!(rejections(&open), [format!("properties[a].{expected}")]);
    }
}
