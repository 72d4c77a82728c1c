//! The schema check of an object, value by value, with the API server's words.
//!
//! The order of the checks, what each says, and which failures of a junctor are shown follow
//! kube-openapi's `pkg/validation/validate`. Where that package has a quirk that users can see, it
//! is kept and named here.

mod junctor;
mod number;
mod trail;

use serde_json::Value;

use super::node::{Additional, Node, Type};
use super::violation::shown;
use super::{Fault, Schema, Violation, ViolationKind};
use number::Number;
pub use number::fits_format;
pub(super) use trail::Trail;

impl Schema {
    /// What the API server says about an object, CEL rules aside: the schema, then embedded
    /// resources, then lists that are sets or maps.
    ///
    /// The object is used unchanged: [`Schema::prune`] and [`Schema::apply_defaults`] come first,
    /// as on the server. The server's order is random where maps are concerned; here it is the
    /// order of the keys.
    pub fn validate(&self, object: &Value) -> Vec<Violation> {
        let mut violations = self.validate_values(object);
        self.check_embedded(object, &mut violations);
        self.check_lists(object, &mut violations);
        violations
    }

    /// The schema alone: neither embedded resources nor lists that are sets or maps.
    pub(super) fn validate_values(&self, object: &Value) -> Vec<Violation> {
        let outcome = Walk {
            trail: Trail::default(),
        }
        .node(&self.root, object);
        let mut seen = std::collections::BTreeSet::new();
        outcome
            .violations
            .into_iter()
            .filter(|found| seen.insert(found.to_string()))
            .collect()
    }
}

/// What a check found, and how many checks passed: junctors show the failures of the branch that
/// came furthest.
#[derive(Debug, Default)]
struct Outcome {
    violations: Vec<Violation>,
    passed: usize,
}

impl Outcome {
    fn merge(&mut self, other: Outcome) {
        self.violations.extend(other.violations);
        self.passed += other.passed;
    }

    fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }
}

/// A walk down object and schema.
struct Walk<'a> {
    trail: Trail<'a>,
}

impl<'a> Walk<'a> {
    /// Checks a value against a schema and everything below it.
    fn node(&mut self, node: &'a Node, value: &'a Value) -> Outcome {
        let mut outcome = Outcome::default();
        if node.types.is_empty() && node.format.is_none() {
            // The type check does not apply.
        } else {
            match self.type_error(node, value) {
                Some(violation) => outcome.violations.push(violation),
                None => outcome.passed += 1,
            }
            outcome.passed += usize::from(!value.is_null());
        }
        if value.is_null() {
            outcome.violations.extend(self.enumeration(node, value));
            return outcome;
        }
        outcome.merge(self.junctors(node, value));
        // Junctors and enumeration always apply, and the schema itself counts.
        outcome.passed += 3;
        match value {
            Value::String(text) => {
                outcome.violations.extend(self.string(node, text));
                outcome.violations.extend(self.format(node, text));
                outcome.passed += 1 + usize::from(
                    node.format
                        .as_ref()
                        .is_some_and(|format| format.check.is_some()),
                );
            }
            Value::Number(number) => {
                outcome
                    .violations
                    .extend(number::check(node, Number::of(number), &self.trail));
                outcome.passed += 2;
            }
            Value::Array(items) => {
                outcome.merge(self.items(node, items));
                outcome.passed += 2;
            }
            Value::Object(_) => outcome.passed += 1,
            Value::Bool(_) | Value::Null => {}
        }
        outcome.violations.extend(self.enumeration(node, value));
        if let Value::Object(entries) = value {
            outcome.merge(self.entries(node, entries));
        }
        outcome
    }

    /// The type check. Quirk: a list passes where a string with a format is demanded.
    fn type_error(&self, node: &Node, value: &Value) -> Option<Violation> {
        let format = node.format.as_ref().map_or("", |format| &format.name);
        let (given, given_format) = match value {
            Value::Null if node.types.is_empty() || node.nullable => return None,
            Value::Null => return Some(self.wrong_type(&demanded(node), "null")),
            Value::Bool(_) => (Type::Boolean, ""),
            Value::String(_) => (Type::String, ""),
            Value::Array(_) => (Type::Array, ""),
            Value::Object(_) => (Type::Object, ""),
            Value::Number(number) => match Number::of(number) {
                Number::Int(_) => (Type::Integer, "int64"),
                Number::Float(_) => (Type::Number, "float64"),
            },
        };
        let has = |wanted: Type| node.types.contains(&wanted);
        let whole = matches!(value, Value::Number(number) if Number::of(number).is_whole_float());
        let fits = has(given)
            || (whole && has(Type::Integer))
            || (given == Type::Integer && has(Type::Number));
        let textual = matches!(given, Type::String | Type::Array);
        if !textual && !format.is_empty() && !fits && given_format != format {
            return Some(self.wrong_type(format, given_format));
        }
        if textual && !format.is_empty() && !has(Type::Number) && !has(Type::Integer) {
            return None;
        }
        (!fits).then(|| self.wrong_type(&demanded(node), given.as_str()))
    }

    fn wrong_type(&self, demanded: &str, given: &str) -> Violation {
        self.not_of_type(demanded, &shown(&Value::from(given)))
    }

    /// `given` as messages show it.
    fn not_of_type(&self, expected: &str, given: &str) -> Violation {
        let fault = Fault::Type {
            at: self.trail.text(),
            expected: expected.to_owned(),
            given: given.to_owned(),
        };
        self.trail
            .violation(ViolationKind::TypeInvalid, Some(given), fault)
    }

    /// Length and pattern: the first that fails is the only one told.
    fn string(&self, node: &Node, text: &str) -> Option<Violation> {
        let limits = node.max_length.is_some() || node.min_length.is_some();
        let length = if limits {
            i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
        } else {
            0
        };
        if let Some(limit) = node.max_length.filter(|limit| length > *limit) {
            return Some(Violation::too_long(self.trail.path(), limit).spelt(self.trail.field()));
        }
        if let Some(limit) = node.min_length.filter(|limit| length < *limit) {
            return Some(self.invalid(
                &Value::from(text),
                &format!("should be at least {limit} chars long"),
            ));
        }
        let pattern = node.pattern.as_ref()?;
        let detail = match pattern.matches(text) {
            Ok(true) => return None,
            Ok(false) => format!("should match '{}'", pattern.source()),
            Err(exceeded) => format!("cannot be matched with its pattern: {exceeded}"),
        };
        Some(self.invalid(&Value::from(text), &detail))
    }

    fn format(&self, node: &Node, text: &str) -> Option<Violation> {
        let format = node.format.as_ref()?;
        let check = format.check.filter(|check| !check(text));
        check.map(|_| self.not_of_type(&format.name, &shown(&Value::from(text))))
    }

    fn enumeration(&self, node: &Node, value: &Value) -> Option<Violation> {
        if node.enumeration.is_empty()
            || node
                .enumeration
                .iter()
                .any(|allowed| number::converts_to(value, allowed))
        {
            return None;
        }
        let plain = |allowed: &Value| {
            allowed
                .as_str()
                .map_or_else(|| windlass_go_text::json(allowed), str::to_owned)
        };
        let supported: Vec<_> = node.enumeration.iter().map(plain).collect();
        Some(
            Violation::not_supported(self.trail.path(), value, &supported)
                .spelt(self.trail.field()),
        )
    }

    fn items(&mut self, node: &'a Node, items: &'a [Value]) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(schema) = &node.items {
            for (index, item) in items.iter().enumerate() {
                self.trail.push_index(index);
                outcome.merge(self.node(schema, item));
                self.trail.pop();
            }
        }
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        if let Some(limit) = node.min_items.filter(|limit| count < *limit) {
            let fault = Fault::TooFewItems {
                at: self.trail.text(),
                least: limit,
            };
            outcome.violations.push(self.trail.violation(
                ViolationKind::Invalid,
                Some(&count.to_string()),
                fault,
            ));
        }
        if let Some(limit) = node.max_items.filter(|limit| count > *limit) {
            outcome.violations.push(
                Violation::too_many(self.trail.path(), items.len(), limit)
                    .spelt(self.trail.field()),
            );
        }
        if node.unique_items {
            let mut seen = std::collections::BTreeSet::new();
            if !items.iter().all(|item| seen.insert(item.to_string())) {
                outcome
                    .violations
                    .push(self.invalid(&Value::from(""), "shouldn't contain duplicates"));
            }
        }
        outcome
    }

    fn entries(&mut self, node: &'a Node, entries: &'a serde_json::Map<String, Value>) -> Outcome {
        let mut outcome = Outcome::default();
        let count = i64::try_from(entries.len()).unwrap_or(i64::MAX);
        if let Some(limit) = node.min_properties.filter(|limit| count < *limit) {
            outcome.violations.push(self.invalid(
                &Value::from(count),
                &format!("should have at least {limit} properties"),
            ));
        }
        if let Some(limit) = node.max_properties.filter(|limit| count > *limit) {
            outcome.violations.push(
                Violation::too_many(self.trail.path(), entries.len(), limit)
                    .spelt(self.trail.field()),
            );
        }
        for (key, value) in entries {
            match (node.properties.get(key), &node.additional) {
                (Some(schema), additional) => {
                    self.trail.push_field(key);
                    outcome.merge(self.node(schema, value));
                    self.trail.pop();
                    debug_assert!(additional.is_none() || !node.properties.is_empty());
                }
                (None, Some(Additional::Values(schema))) => {
                    self.trail.push_key(key);
                    outcome.merge(self.node(schema, value));
                    self.trail.pop();
                }
                (None, Some(Additional::Nothing)) => {
                    let detail = format!(
                        "{}.{key} in body is a forbidden property",
                        self.trail.text()
                    );
                    let value = shown(&Value::from(key.as_str()));
                    outcome.violations.push(self.trail.violation(
                        ViolationKind::Invalid,
                        Some(&value),
                        &detail,
                    ));
                }
                (None, Some(Additional::Anything) | None) => {}
            }
        }
        for name in node
            .required
            .iter()
            .filter(|name| !entries.contains_key(*name))
        {
            self.trail.push_field(name);
            outcome
                .violations
                .push(Violation::required(self.trail.path(), "").spelt(self.trail.field()));
            self.trail.pop();
        }
        outcome
    }

    /// `spec.x: Invalid value: <value>: spec.x in body <rest>`.
    fn invalid(&self, value: &Value, rest: &str) -> Violation {
        self.trail.violation(
            ViolationKind::Invalid,
            Some(&shown(value)),
            self.trail.rule(rest.to_owned()),
        )
    }
}

/// The types that a schema allows, as messages list them.
fn demanded(node: &Node) -> String {
    node.types
        .iter()
        .map(|wanted| wanted.as_str())
        .collect::<Vec<_>>()
        .join(",")
}
