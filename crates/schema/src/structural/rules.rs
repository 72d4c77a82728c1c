//! `x-kubernetes-validations` of a schema: form, field paths, and whether the expressions compile.

use serde_json::Value;

use super::Gap;
use super::found::Found;
use super::keywords::Keywords;
use super::{Violation, ViolationKind};
use crate::cel::{
    PER_EXPRESSION, Program, Rule, exceeded, most_often, parse_field_path, type_error,
};
use crate::compiler::compile;
use crate::node::{Node, Type};
use windlass_go_text as go;
use windlass_go_text::regexp::Patterns;
use windlass_source::diag::Descent;

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// What is wrong with the rules, their expressions aside.
pub(super) fn check_form(
    schema: Keywords<'_>,
    node: Option<&Node>,
    patterns: &Patterns,
    path: &Descent<'_>,
    out: &mut Vec<Violation>,
) {
    let own = if node.is_none() && schema.is_filled("x-kubernetes-validations") {
        compile(&schema.to_value(), patterns).ok()
    } else {
        None
    };
    let node = node.or(own.as_ref());
    let listed = path.field("x-kubernetes-validations");
    for (index, rule) in schema.branches("x-kubernetes-validations") {
        let path = listed.index(index);
        texts(rule, &path, out);
        if let Some(reason) = rule.get("reason").filter(|reason| {
            !reason
                .as_str()
                .is_some_and(|known| REASONS.contains(&known))
        }) {
            out.push(Violation::not_supported(
                path.field("reason"),
                reason,
                &REASONS.map(str::to_owned),
            ));
        }
        let field_path = rule.text("fieldPath");
        let at = path.field("fieldPath");
        let mut reject =
            |detail: &str| out.push(Violation::invalid(at, &Value::from(field_path), detail));
        if !field_path.is_empty() && field_path.trim().is_empty() {
            reject("must be non-empty if specified");
        }
        if has_line_break(field_path) {
            reject("must not contain line breaks");
        }
        if !field_path.is_empty()
            && node.is_some_and(|node| parse_field_path(field_path, node).is_none())
        {
            reject("must be a valid path");
        }
    }
}

fn texts(rule: Keywords<'_>, path: &Descent<'_>, out: &mut Vec<Violation>) {
    let (expression, message) = (rule.text("rule").trim(), rule.text("message"));
    let message_at = path.field("message");
    if expression.is_empty() {
        out.push(Violation::required(
            path.field("rule"),
            "rule is not specified",
        ));
    } else if !message.is_empty() && message.trim().is_empty() {
        out.push(Violation::invalid(
            message_at,
            &Value::from(message),
            "must be non-empty if specified",
        ));
    } else if has_line_break(message.trim()) {
        out.push(Violation::invalid(
            message_at,
            &Value::from(message),
            "must not contain line breaks",
        ));
    } else if has_line_break(expression) && message.is_empty() {
        out.push(Violation::required(
            message_at,
            "message must be specified if rule contains line breaks",
        ));
    }
    let message_expression = rule.text("messageExpression");
    if !message_expression.is_empty() && message_expression.trim().is_empty() {
        out.push(Violation::required(
            path.field("messageExpression"),
            "messageExpression must be non-empty if specified",
        ));
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// What rules of a place depend on beside its schema.
pub(super) struct Context<'a> {
    /// Whether it is the root or an embedded resource.
    pub(super) resource: bool,
    /// The ancestor that has no old value to compare with.
    pub(super) uncorrelatable: Option<Descent<'a>>,
    /// How often a value can be here, if all above it is bounded.
    pub(super) cardinality: Option<u64>,
}

/// The detail about rules of a schema that has no type in CEL.
const WITHOUT_TYPE: &str = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";

/// Whether a schema has a type in CEL (`SchemaDeclType` of apiserver's `pkg/cel/common`). A list
/// needs a type for its items; a resource loses its items when its metadata is added, which
/// concerns variables of a ClusterClass: the schema of each counts as a resource.
fn has_type(node: &Node, resource: bool) -> bool {
    node.least_json.is_some() && !(resource && node.types[..] == [Type::Array])
}

/// What is wrong with the expressions, as far as our CEL library can tell.
pub(super) fn check_expressions(
    node: &Node,
    context: &Context<'_>,
    path: &Descent<'_>,
    found: &mut Found,
) {
    let Found {
        rules: out,
        costs,
        gaps,
        costs_too_much,
        ..
    } = found;
    let often = context.cardinality.unwrap_or_else(|| most_often(node));
    let listed = path.field("x-kubernetes-validations");
    if !node.rules.is_empty() && !has_type(node, context.resource) {
        let violation = Violation::new(ViolationKind::Internal, listed, None, WITHOUT_TYPE);
        out.push(violation);
        return;
    }
    for (index, rule) in node
        .rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| !rule.rule.trim().is_empty())
    {
        let path = listed.index(index);
        let program = match rule.program() {
            Ok(program) => program,
            Err(fault) => {
                match fault.syntax() {
                    Some(error) => out.push(uncompiled(
                        rule,
                        path.field("rule"),
                        &format!("compilation failed: {error}"),
                    )),
                    None => gaps.push(Gap {
                        path: path.field("rule").into(),
                        reason: fault.reason().to_owned(),
                    }),
                }
                continue;
            }
        };
        let mut charge = |program: &Program,
                          often: u64,
                          path: Descent<'_>,
                          name: &str,
                          out: &mut Vec<Violation>| {
            let cost = program
                .estimate(node, context.resource)
                .unwrap_or(0)
                .saturating_mul(often);
            if cost > PER_EXPRESSION {
                *costs_too_much = true;
                out.push(Violation::forbidden(
                    path,
                    &exceeded(name, cost, PER_EXPRESSION),
                ));
            }
            costs.observe(path.into(), cost);
        };
        if let Some(error) = type_error(program, node, context.resource) {
            out.push(uncompiled(
                rule,
                path.field("rule"),
                &format!("compilation failed: {error}"),
            ));
        } else if program.gives_no_bool(node) {
            out.push(uncompiled(
                rule,
                path.field("rule"),
                "cel expression must evaluate to a bool",
            ));
        } else {
            charge(
                program,
                often,
                path.field("rule"),
                "estimated rule cost",
                out,
            );
        }
        if !rule.message_expression.is_empty() {
            match rule.message_program() {
                Ok(message) => charge(
                    message,
                    1,
                    path.field("messageExpression"),
                    "estimated messageExpression cost",
                    out,
                ),
                Err(fault) => {
                    let at = path.field("messageExpression");
                    match fault.syntax() {
                        Some(error) => out.push(uncompiled(
                            rule,
                            at,
                            &format!("messageExpression compilation failed: {error}"),
                        )),
                        None => gaps.push(Gap {
                            path: at.into(),
                            reason: fault.reason().to_owned(),
                        }),
                    }
                }
            }
        }
        if !program.uses_old_self() {
            out.extend(rule.optional_old_self.map(|flag| {
                let detail = "may not be set if oldSelf is not used in rule";
                Violation::invalid(path.field("optionalOldSelf"), &Value::Bool(flag), detail)
            }));
        } else if let Some(ancestor) = context.uncorrelatable {
            let detail = format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {ancestor}"
            );
            out.push(Violation::invalid(
                path.field("rule"),
                &Value::from(rule.rule.as_str()),
                &detail,
            ));
        }
    }
}

/// An expression that does not compile. Upstream prints the rule as a struct of Go, in the order of
/// its parts.
fn uncompiled(rule: &Rule, path: Descent<'_>, detail: &str) -> Violation {
    let parts = [
        ("Rule", Value::from(rule.rule.as_str())),
        ("Message", Value::from(rule.message.as_str())),
        (
            "MessageExpression",
            Value::from(rule.message_expression.as_str()),
        ),
        ("Reason", Value::from(rule.reason.as_deref())),
        ("FieldPath", Value::from(rule.field_path.as_str())),
        ("OptionalOldSelf", Value::from(rule.optional_old_self)),
    ];
    let printed: Vec<_> = parts
        .iter()
        .map(|(name, value)| format!("\"{name}\":{}", go::json(value)))
        .collect();
    Violation::new(
        ViolationKind::Invalid,
        path,
        Some(&format!("{{{}}}", printed.join(","))),
        detail,
    )
}
