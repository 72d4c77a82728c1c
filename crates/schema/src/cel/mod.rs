//! `x-kubernetes-validations`: the rules that a schema adds in CEL.
//!
//! The words are those of apiextensions-apiserver 0.36 (`pkg/apiserver/schema/cel`). What our CEL
//! library cannot evaluate is reported as not evaluable; it never passes in silence. So is what
//! costs more than the API server spends.

mod cost;
mod field_path;
mod functions;
mod guard;
mod meter;
mod overloads;
mod parsed;
mod program;
mod rule;
mod value;

use std::sync::Arc;

use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{Context, Value as Cel};
use serde_json::{Map, Value};

use super::node::{ListType, Node};
use super::validate::Trail;
use super::violation::shown;
use super::{Schema, Violation, ViolationKind};
pub(super) use meter::Meter;
use meter::{PER_CALL, PER_OBJECT};
use program::{Ended, Fault};
pub(super) use rule::Rule;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

pub(super) use cost::{PER_EXPRESSION, PER_SCHEMA, exceeded, least_json, most_often};
pub(super) use field_path::parse as parse_field_path;
pub(super) use program::{Program, type_error};

/// The longest message that a `messageExpression` may give, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// A rule that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEvaluable {
    /// The value that the rule would have checked.
    pub path: FieldPath,
    /// The rule.
    pub rule: String,
    /// Why our library cannot check it.
    pub reason: String,
    /// Whether it was begun and had to be ended, for its cost or because it breaks our library.
    pub ended: bool,
}

/// What the API server would say, as far as we can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What it rejects.
    pub violations: Vec<Violation>,
    /// What it would check and we cannot.
    pub not_evaluable: Vec<NotEvaluable>,
}

impl Schema {
    /// The API server's whole answer to a create (`old` is `None`) or an update: the schema, then
    /// the rules.
    ///
    /// As on the server the rules are not looked at when the object has an error that could make
    /// them misleading; the answer then says so. An update is checked as a whole: that the
    /// server overlooks old errors in values that did not change is not considered.
    pub fn judge(&self, object: &Value, old: Option<&Value>, budget: &Budget) -> Verdict {
        let mut violations = self.validate(object);
        if !self.root.has_rules {
            return Verdict {
                violations,
                not_evaluable: Vec::new(),
            };
        }
        if violations
            .iter()
            .any(|violation| violation.kind.blocks_rules())
        {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            violations.push(Violation::new(
                ViolationKind::Invalid,
                FieldPath::root(),
                Some("null"),
                detail,
            ));
            return Verdict {
                violations,
                not_evaluable: Vec::new(),
            };
        }
        let rules = self.evaluate_rules(object, old, budget);
        violations.extend(rules.violations);
        Verdict {
            violations,
            not_evaluable: rules.not_evaluable,
        }
    }

    /// The CEL rules alone, for an object that the schema accepts. Rules that use `oldSelf` are
    /// skipped where there is no old value, unless they say `optionalOldSelf`. Once the run has
    /// no steps left, no rule is checked; the one that took the last says so.
    pub fn evaluate_rules(&self, object: &Value, old: Option<&Value>, budget: &Budget) -> Verdict {
        let meter = Meter::within(budget);
        let verdict = self.evaluate_metered(object, old, &meter);
        meter.settle(budget);
        verdict
    }

    /// The same within what a meter has left.
    pub(super) fn evaluate_metered(
        &self,
        object: &Value,
        old: Option<&Value>,
        meter: &Arc<Meter>,
    ) -> Verdict {
        let mut walk = Walk {
            trail: Trail::default(),
            context: None,
            meter: Arc::clone(meter),
            verdict: Verdict::default(),
        };
        walk.node(&self.root, object, old, true);
        walk.verdict
    }
}

struct Walk<'a> {
    trail: Trail<'a>,
    /// The functions; made when the first rule is evaluated.
    context: Option<Context<'static>>,
    /// What all rules of the object may still cost.
    meter: Arc<Meter>,
    verdict: Verdict,
}

impl<'a> Walk<'a> {
    fn node(&mut self, node: &'a Node, value: &'a Value, old: Option<&'a Value>, resource: bool) {
        if !node.has_rules || value.is_null() || self.meter.is_object_spent() {
            return;
        }
        if !node.rules.is_empty() {
            self.rules(node, value, old.filter(|old| !old.is_null()), resource);
        }
        match value {
            Value::Object(entries) => self.entries(node, entries, old.and_then(Value::as_object)),
            Value::Array(items) => {
                let Some(schema) = &node.items else { return };
                let old_items = old
                    .and_then(Value::as_array)
                    .filter(|_| node.list_type == Some(ListType::Map));
                for (index, item) in items.iter().enumerate() {
                    let old_item = old_items.and_then(|old| {
                        old.iter()
                            .find(|old| same_key(&node.list_map_keys, item, old))
                    });
                    self.trail.push_index(index);
                    self.node(schema, item, old_item, schema.embedded_resource);
                    self.trail.pop();
                }
            }
            _ => {}
        }
    }

    fn entries(
        &mut self,
        node: &'a Node,
        entries: &'a Map<String, Value>,
        old: Option<&'a Map<String, Value>>,
    ) {
        for (key, entry) in entries {
            let old = old.and_then(|old| old.get(key));
            if let Some(schema) = node.properties.get(key) {
                self.trail.push_field(key);
                self.node(schema, entry, old, schema.embedded_resource);
                self.trail.pop();
            } else if let Some(schema) = node.values() {
                self.trail.push_key(key);
                self.node(schema, entry, old, schema.embedded_resource);
                self.trail.pop();
            }
        }
    }

    /// The rules of one schema on one value.
    fn rules(&mut self, node: &'a Node, value: &Value, old: Option<&Value>, resource: bool) {
        let root = self
            .context
            .take()
            .unwrap_or_else(|| functions::context(&self.meter));
        {
            let mut context = root.new_inner_scope();
            let current = value::value(node, value, resource);
            let old_self = old.map(|old| value::value(node, old, resource));
            let scope = meter::size(&current) + old_self.as_ref().map_or(0, meter::size);
            context.add_variable_from_value("self", current);
            let reordered = old.is_some_and(|old| value::is_reordered(node, value, old));
            for rule in node
                .rules
                .iter()
                .filter(|rule| !rule.rule.trim().is_empty())
            {
                let program = match rule.program() {
                    Ok(program) => program,
                    Err(reason) => {
                        self.give_up(rule, reason.reason());
                        continue;
                    }
                };
                if self.meter.is_object_spent() {
                    break;
                }
                let optional = rule.optional_old_self == Some(true);
                if program.uses_old_self() && old_self.is_none() && !optional {
                    continue;
                }
                if program.uses_old_self() && reordered {
                    self.give_up(rule, "a set or map list came in another order, which our CEL library takes for a change");
                    continue;
                }
                if program.compares_unordered(node) {
                    self.give_up(
                        rule,
                        "it compares a set or map list, whose order matters to our CEL library",
                    );
                    continue;
                }
                let old_self = if optional {
                    Some(optional_of(old_self.clone()))
                } else {
                    old_self.clone()
                };
                if let Some(old_self) = old_self {
                    context.add_variable_from_value("oldSelf", old_self);
                }
                self.rule(node, rule, program, &context, value, scope);
            }
        }
        self.context = Some(root);
    }

    fn rule(
        &mut self,
        node: &Node,
        rule: &Rule,
        program: &Program,
        context: &Context<'_>,
        value: &Value,
        scope: u64,
    ) {
        match program.evaluate(context, &self.meter, scope) {
            Ok(Cel::Bool(true)) => {}
            Ok(Cel::Bool(false)) => {
                let detail =
                    message(rule, context, &self.meter, scope).unwrap_or_else(|| rule.rejection());
                let violation = self.rejected(node, rule, value, &detail);
                self.verdict.violations.push(violation);
            }
            Ok(_) => self.give_up(rule, "the rule gives no boolean"),
            // Types are checked when a CRD is created, so that operands cannot differ, except where
            // the schema leaves the type open.
            Err(Fault::Runtime(error)) if error == "no such overload" && !has_open_type(node) => {
                self.give_up(
                    rule,
                    "our CEL library has no such operator or function for these types",
                );
            }
            Err(Fault::Runtime(error)) => {
                let detail = if error == "no such overload" {
                    format!(
                        "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {}",
                        rule.name()
                    )
                } else {
                    format!("{error} evaluating rule: {}", rule.name())
                };
                let shown = shown(&Value::from(type_name(node)));
                self.verdict.violations.push(Violation::new(
                    ViolationKind::Invalid,
                    self.trail.path(),
                    Some(&shown),
                    &detail,
                ));
            }
            Err(Fault::Unsupported(reason)) => self.give_up(rule, &reason),
            Err(Fault::Ended(cause)) => self.end(rule, cause),
        }
    }

    fn give_up(&mut self, rule: &Rule, reason: &str) {
        let (path, rule, reason) = (
            self.trail.path(),
            rule.rule.trim().to_owned(),
            reason.to_owned(),
        );
        self.verdict.not_evaluable.push(NotEvaluable {
            path,
            rule,
            reason,
            ended: false,
        });
    }

    /// A rule that was begun and could not be brought to an end. Where nothing is left for the
    /// object, no further rule of it is checked.
    fn end(&mut self, rule: &Rule, cause: Ended) {
        let reason = match (cause, self.meter.ends_run()) {
            (Ended::Panicked, _) => "our CEL library fails on it".to_owned(),
            (Ended::TooDear, Some(spent)) => format!(
                "with it there are {spent}, so that neither this rule nor any after it is checked"
            ),
            (Ended::TooDear, None) if self.meter.is_object_spent() => {
                format!(
                    "the rules of the object take more than {PER_OBJECT} steps, so that neither this one nor those after it are checked"
                )
            }
            (Ended::TooDear, None) => format!("it takes more than {PER_CALL} steps"),
        };
        let (path, rule) = (self.trail.path(), rule.rule.trim().to_owned());
        self.verdict.not_evaluable.push(NotEvaluable {
            path,
            rule,
            reason,
            ended: true,
        });
    }

    /// The error of a rule that does not hold: at its `fieldPath`, of its `reason`. Objects and
    /// lists are not printed.
    fn rejected(&self, node: &Node, rule: &Rule, value: &Value, detail: &str) -> Violation {
        let below = parse_field_path(&rule.field_path, node).unwrap_or_default();
        let path = self.trail.path().join(&below);
        let printed = (!matches!(type_name(node), "object" | "array")).then(|| shown(value));
        let (kind, value, detail) = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => (ViolationKind::Forbidden, None, detail),
            Some("FieldValueRequired") => (ViolationKind::Required, None, detail),
            Some("FieldValueDuplicate") => (ViolationKind::Duplicate, printed, ""),
            _ => (ViolationKind::Invalid, printed, detail),
        };
        Violation::new(kind, path, value.as_deref(), detail)
    }
}

/// The `type` that a schema has, as text; none for int-or-string.
fn type_name(node: &Node) -> &'static str {
    match node.types[..] {
        [only] => only.as_str(),
        _ => "",
    }
}

/// Whether a value below has no fixed type, so that operators can meet operands that they do not
/// take.
fn has_open_type(node: &Node) -> bool {
    let mut below = node
        .properties
        .values()
        .chain(node.items.as_deref())
        .chain(node.values());
    node.int_or_string || below.any(has_open_type)
}

fn optional_of(value: Option<Cel>) -> Cel {
    Cel::Opaque(Arc::new(
        value.map_or_else(OptionalValue::none, OptionalValue::of),
    ))
}

/// Whether two items of a map list have the same key.
fn same_key(keys: &[String], one: &Value, other: &Value) -> bool {
    keys.iter().all(|key| one.get(key) == other.get(key))
}

/// What the `messageExpression` gives, if it gives a usable message.
fn message(rule: &Rule, context: &Context<'_>, meter: &Meter, scope: u64) -> Option<String> {
    if rule.message_expression.trim().is_empty() {
        return None;
    }
    let Ok(Cel::String(text)) = rule.message_program().ok()?.evaluate(context, meter, scope) else {
        return None;
    };
    let text = text.trim();
    (!text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n')).then(|| text.to_owned())
}
