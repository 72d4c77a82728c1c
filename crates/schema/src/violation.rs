//! What the API server rejects, in its own words.
//!
//! The forms come from `k8s.io/apimachinery/pkg/util/validation/field` (Kubernetes 0.36): the
//! field, the kind of error, the value where the kind shows one, then a detail.

use std::fmt;

use serde_json::Value;

use windlass_go_text as go;
use windlass_source::diag::FieldPath;

/// The kind of an error; also the `reason` of a cause in a `Status` (`metav1.CauseType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// A value that must be there is not.
    Required,
    /// A value that breaks a rule.
    Invalid,
    /// A value of another type than the schema's.
    TypeInvalid,
    /// A value that is not one of an enumeration.
    NotSupported,
    /// A value that must be unique and is not.
    Duplicate,
    /// A field that must not be set here.
    Forbidden,
    /// A string that is too long.
    TooLong,
    /// A list or map with too many entries.
    TooMany,
    /// A fault of the API server itself.
    Internal,
}

impl ViolationKind {
    /// The `reason` of a cause.
    pub fn reason(self) -> &'static str {
        match self {
            ViolationKind::Required => "FieldValueRequired",
            ViolationKind::Invalid => "FieldValueInvalid",
            ViolationKind::TypeInvalid => "FieldValueTypeInvalid",
            ViolationKind::NotSupported => "FieldValueNotSupported",
            ViolationKind::Duplicate => "FieldValueDuplicate",
            ViolationKind::Forbidden => "FieldValueForbidden",
            ViolationKind::TooLong => "FieldValueTooLong",
            ViolationKind::TooMany => "FieldValueTooMany",
            ViolationKind::Internal => "InternalError",
        }
    }

    /// The words that open the error.
    fn title(self) -> &'static str {
        match self {
            ViolationKind::Required => "Required value",
            ViolationKind::Invalid | ViolationKind::TypeInvalid => "Invalid value",
            ViolationKind::NotSupported => "Unsupported value",
            ViolationKind::Duplicate => "Duplicate value",
            ViolationKind::Forbidden => "Forbidden",
            ViolationKind::TooLong => "Too long",
            ViolationKind::TooMany => "Too many",
            ViolationKind::Internal => "Internal error",
        }
    }

    /// Whether the API server does not even look at the CEL rules of an object that has such an
    /// error.
    pub(crate) fn blocks_rules(self) -> bool {
        use ViolationKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
        matches!(
            self,
            NotSupported | Required | TooLong | TooMany | TypeInvalid
        )
    }
}

/// What is wrong with a value. `Display` words it as the API server does, behind the value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// What the kind of the error says.
    Plain,
    /// A value of another type, or not of the format, that its schema demands.
    Type {
        /// The field as the schema check spells it.
        at: String,
        /// The types, or the format.
        expected: String,
        /// The value or its type, as messages show it.
        given: String,
    },
    /// A number that its own type cannot hold.
    Range {
        /// The field as the schema check spells it.
        at: String,
        /// Which number: that of the object, or one of the schema.
        what: &'static str,
        /// `integer` or `number`.
        expected: &'static str,
        /// The format; empty: that of the type.
        format: String,
    },
    /// A value outside of its enumeration.
    Enumeration {
        /// The values that are allowed.
        supported: Vec<String>,
    },
    /// A list with too few items.
    TooFewItems {
        /// The field as the schema check spells it.
        at: String,
        /// How many there must be.
        least: i64,
    },
    /// A value that breaks another rule of its schema: length, pattern, bounds.
    Rule {
        /// The field as the schema check spells it.
        at: String,
        /// The rule.
        rule: String,
    },
    /// A field that only a feature gate allows.
    GateClosed(&'static str),
    /// What a rule in CEL, a webhook or the API server's own code says.
    Words(String),
}

impl From<&str> for Fault {
    fn from(words: &str) -> Self {
        if words.is_empty() {
            Fault::Plain
        } else {
            Fault::Words(words.to_owned())
        }
    }
}

impl From<&String> for Fault {
    fn from(words: &String) -> Self {
        words.as_str().into()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Plain => Ok(()),
            Fault::Type {
                at,
                expected,
                given,
            } => write!(f, "{at} in body must be of type {expected}: {given}"),
            Fault::Range {
                at,
                what,
                expected,
                format,
            } if format.is_empty() => {
                write!(
                    f,
                    "{what} value must be of type {expected} (default format) in {at}"
                )
            }
            Fault::Range {
                at,
                what,
                expected,
                format,
            } => {
                write!(
                    f,
                    "{what} value must be of type {expected} with format {format} in {at}"
                )
            }
            Fault::Enumeration { supported } if supported.is_empty() => Ok(()),
            Fault::Enumeration { supported } => {
                let quoted: Vec<_> = supported.iter().map(|value| go::quote(value)).collect();
                write!(f, "supported values: {}", quoted.join(", "))
            }
            Fault::TooFewItems { at, least } => {
                write!(f, "{at} in body should have at least {least} items")
            }
            Fault::Rule { at, rule } => write!(f, "{at} in body {rule}"),
            Fault::GateClosed(gate) => {
                write!(f, "can be set only if the {gate} feature gate is enabled")
            }
            Fault::Words(words) => f.write_str(words),
        }
    }
}

impl Violation {
    /// Whether the API server rejects any value, because a bound of the schema does not fit the
    /// format of the field.
    pub(crate) fn is_about_schema(&self) -> bool {
        matches!(self.fault, Fault::Range { what, .. } if what != "Checked")
    }
}

/// One error of the API server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Location in the document.
    pub path: FieldPath,
    /// The same as the API server spells it in this message: map keys are sometimes `.key`,
    /// sometimes `[key]`; `<nil>` when it names none.
    pub field: String,
    /// What kind of error it is.
    pub kind: ViolationKind,
    /// The value as the message shows it; `None` when it shows none.
    pub value: Option<String>,
    /// What is wrong with it.
    pub fault: Fault,
}

impl Violation {
    /// An error with everything spelt out. `value` is the printed value, `None` when the message
    /// shows none.
    pub fn new(
        kind: ViolationKind,
        path: impl Into<FieldPath>,
        value: Option<&str>,
        fault: impl Into<Fault>,
    ) -> Self {
        let path = path.into();
        let field = spelt(&path);
        Violation {
            path,
            field,
            kind,
            value: value.map(str::to_owned),
            fault: fault.into(),
        }
    }

    /// What follows the field: `Invalid value: "x": must be …`.
    pub fn body(&self) -> String {
        let fault = self.fault.to_string();
        let parts = [
            Some(self.kind.title()),
            self.value.as_deref(),
            (!fault.is_empty()).then_some(&*fault),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
    }

    /// The same error under another spelling of its field.
    #[must_use]
    pub fn spelt(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    /// Returns an `Invalid value` error, whose message shows the value as the API server prints it.
    pub fn invalid(path: impl Into<FieldPath>, value: &Value, fault: impl Into<Fault>) -> Self {
        Self::new(ViolationKind::Invalid, path, Some(&shown(value)), fault)
    }

    /// A value that must be there is not.
    pub fn required(path: impl Into<FieldPath>, fault: impl Into<Fault>) -> Self {
        Self::new(ViolationKind::Required, path, None, fault)
    }

    /// A field that must not be set here.
    pub fn forbidden(path: impl Into<FieldPath>, fault: impl Into<Fault>) -> Self {
        Self::new(ViolationKind::Forbidden, path, None, fault)
    }

    /// A value that is not one of an enumeration; `supported` as it is listed, unquoted.
    pub(crate) fn not_supported(
        path: impl Into<FieldPath>,
        value: &Value,
        supported: &[String],
    ) -> Self {
        let fault = Fault::Enumeration {
            supported: supported.to_vec(),
        };
        Self::new(
            ViolationKind::NotSupported,
            path,
            Some(&shown(value)),
            fault,
        )
    }

    /// A string of more than `limit` characters. The API server says bytes, whatever it counts.
    pub(crate) fn too_long(path: FieldPath, limit: i64) -> Self {
        let unit = if limit == 1 { "byte" } else { "bytes" };
        let fault = if limit < 0 {
            "value is too long".to_owned()
        } else {
            format!("may not be more than {limit} {unit}")
        };
        Self::new(ViolationKind::TooLong, path, None, &fault)
    }

    /// A list or map of `count` entries where `limit` are allowed.
    pub(crate) fn too_many(path: FieldPath, count: usize, limit: i64) -> Self {
        let unit = if limit == 1 { "item" } else { "items" };
        let fault = if limit < 0 {
            "has too many items".to_owned()
        } else {
            format!("must have at most {limit} {unit}")
        };
        Self::new(
            ViolationKind::TooMany,
            path,
            Some(&count.to_string()),
            &fault,
        )
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// The path as a message spells it; the root has no name.
fn spelt(path: &FieldPath) -> String {
    if path.is_root() {
        "<nil>".to_owned()
    } else {
        path.to_string()
    }
}

/// A value as errors show it: strings quoted, numbers and booleans plain, the rest as compact JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => go::quote(text),
        Value::Number(number) => go::number(number),
        Value::Bool(flag) => flag.to_string(),
        _ => go::json(value),
    }
}

/// The message of the `Status` that rejects an object: the errors in brackets when there are
/// several, each different one once.
pub fn rejection_message(group: &str, kind: &str, name: &str, violations: &[Violation]) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    let subject = format!("{kind}{dot}{group} {} is invalid", go::quote(name));
    let mut seen = std::collections::BTreeSet::new();
    let mut messages: Vec<_> = violations
        .iter()
        .map(Violation::to_string)
        .filter(|message| seen.insert(message.clone()))
        .collect();
    match messages.len() {
        0 => subject,
        1 => format!("{subject}: {}", messages.remove(0)),
        _ => format!("{subject}: [{}]", messages.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(field: &str) -> FieldPath {
        FieldPath::root().field("spec").field(field)
    }

    #[test]
    fn errors_are_worded_as_field_error_words_them() {
        let check =
            |violation: Violation, expected: &str| assert_eq!(violation.to_string(), expected);
        check(Violation::required(at("x"), ""), "spec.x: Required value");
        check(
            Violation::invalid(at("x"), &json!("a"), "no"),
            "spec.x: Invalid value: \"a\": no",
        );
        let duplicate = Violation::new(
            ViolationKind::Duplicate,
            at("x").index(1),
            Some("{\"name\":\"a\"}"),
            "",
        );
        check(duplicate, "spec.x[1]: Duplicate value: {\"name\":\"a\"}");
        check(
            Violation::too_long(at("x"), 1),
            "spec.x: Too long: may not be more than 1 byte",
        );
        check(
            Violation::too_many(at("x"), 3, 2),
            "spec.x: Too many: 3: must have at most 2 items",
        );
        let supported = ["a".to_owned(), "b".to_owned()];
        check(
            Violation::not_supported(at("x"), &json!(5), &supported),
            "spec.x: Unsupported value: 5: supported values: \"a\", \"b\"",
        );
        check(
            Violation::forbidden(FieldPath::root(), "no"),
            "<nil>: Forbidden: no",
        );
    }

    #[test]
    fn a_rejection_lists_different_errors_once() {
        let one = Violation::required(at("x"), "");
        assert_eq!(
            rejection_message("g.io", "K", "n", std::slice::from_ref(&one)),
            "K.g.io \"n\" is invalid: spec.x: Required value"
        );
        let both = [one.clone(), Violation::forbidden(at("y"), "no"), one];
        assert_eq!(
            rejection_message("", "K", "n", &both),
            "K \"n\" is invalid: [spec.x: Required value, spec.y: Forbidden: no]"
        );
    }
}
