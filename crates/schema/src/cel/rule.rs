//! One entry of `x-kubernetes-validations`.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::parsed;
use super::program::{Program, Uncompiled};

/// A CEL rule with what it says when it fails, as the schema has it. It is compiled when it is
/// first evaluated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rule {
    pub(crate) rule: String,
    pub(crate) message: String,
    pub(crate) message_expression: String,
    pub(crate) reason: Option<String>,
    pub(crate) field_path: String,
    pub(crate) optional_old_self: Option<bool>,
    program: OnceLock<Result<Arc<Program>, Uncompiled>>,
    message_program: OnceLock<Result<Arc<Program>, Uncompiled>>,
}

impl Rule {
    /// Reads a rule; what is missing or of another type stays empty, for the structural check
    /// reports it.
    pub(crate) fn from_json(value: &Value) -> Self {
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Rule {
            rule: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: value
                .get("reason")
                .and_then(Value::as_str)
                .map(str::to_owned),
            field_path: text("fieldPath"),
            optional_old_self: value.get("optionalOldSelf").and_then(Value::as_bool),
            ..Rule::default()
        }
    }

    /// The compiled rule, or why our library cannot compile it.
    pub(crate) fn program(&self) -> Result<&Program, &Uncompiled> {
        self.program
            .get_or_init(|| parsed::program(&self.rule))
            .as_ref()
            .map(Arc::as_ref)
    }

    /// The compiled `messageExpression`, or why our library cannot compile it.
    pub(crate) fn message_program(&self) -> Result<&Program, &Uncompiled> {
        self.message_program
            .get_or_init(|| parsed::program(&self.message_expression))
            .as_ref()
            .map(Arc::as_ref)
    }

    /// What stands for the rule in messages about its evaluation.
    pub(super) fn name(&self) -> &str {
        if self.message.is_empty() {
            self.rule.trim()
        } else {
            self.message.trim()
        }
    }

    /// What is said when the rule does not hold.
    pub(super) fn rejection(&self) -> String {
        if self.message.is_empty() {
            format!("failed rule: {}", self.rule.trim())
        } else {
            self.message.trim().to_owned()
        }
    }
}
