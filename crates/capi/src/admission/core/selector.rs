//! Label selectors: `LabelSelectorAsSelector` of `k8s.io/apimachinery/pkg/apis/meta/v1` and
//! `pkg/labels`, Kubernetes 0.36.

use std::fmt;

use serde_json::{Map, Value};

use super::text;
use windlass_go_text as go;
use windlass_schema::name::{label_key_errors, label_value_errors};
use windlass_schema::{Violation, ViolationKind};
use windlass_source::diag::FieldPath;

/// A selector, its requirements sorted by key.
pub(super) struct Selector<'v>(Vec<Requirement<'v>>);

struct Requirement<'v> {
    key: &'v str,
    operator: Operator,
    values: Vec<&'v str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equals,
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// Reads a selector that the schema accepts.
///
/// # Errors
/// The upstream message.
pub(super) fn read(selector: &Value) -> Result<Selector<'_>, String> {
    let mut requirements = Vec::new();
    let labels = selector["matchLabels"].as_object();
    for (key, value) in labels.into_iter().flatten() {
        let values = vec![value.as_str().unwrap_or_default()];
        requirements.push(Requirement::new(key, Operator::Equals, values)?);
    }
    let expressions = selector["matchExpressions"].as_array();
    for expression in expressions.into_iter().flatten() {
        let operator = match text(expression, "/operator") {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            other => {
                return Err(format!(
                    "{} is not a valid label selector operator",
                    go::quote(other)
                ));
            }
        };
        let values = expression["values"].as_array().map(Vec::as_slice);
        let values = values.unwrap_or_default().iter().filter_map(Value::as_str);
        let key = text(expression, "/key");
        requirements.push(Requirement::new(key, operator, values.collect())?);
    }
    requirements.sort_by_key(|requirement| requirement.key);
    Ok(Selector(requirements))
}

/// The rejection of a selector, which is shown as Go prints it.
pub(super) fn invalid(selector: &Value, detail: &str) -> Violation {
    let path = FieldPath::of_fields("spec.selector");
    Violation::new(ViolationKind::Invalid, path, Some(&shown(selector)), detail)
}

fn shown(selector: &Value) -> String {
    let mut parts = Vec::new();
    if selector["matchLabels"]
        .as_object()
        .is_some_and(|labels| !labels.is_empty())
    {
        parts.push(format!(
            "\"matchLabels\":{}",
            go::json(&selector["matchLabels"])
        ));
    }
    let expressions = selector["matchExpressions"].as_array().map(Vec::as_slice);
    let one = |expression: &Value| {
        let values = expression["values"]
            .as_array()
            .filter(|values| !values.is_empty());
        let values = values.map(|_| format!(",\"values\":{}", go::json(&expression["values"])));
        format!(
            "{{\"key\":{},\"operator\":{}{}}}",
            go::json(&expression["key"]),
            go::json(&expression["operator"]),
            values.unwrap_or_default()
        )
    };
    let expressions: Vec<String> = expressions.unwrap_or_default().iter().map(one).collect();
    if !expressions.is_empty() {
        parts.push(format!("\"matchExpressions\":[{}]", expressions.join(",")));
    }
    format!("{{{}}}", parts.join(","))
}

impl<'v> Requirement<'v> {
    /// `labels.NewRequirement`.
    fn new(key: &'v str, operator: Operator, values: Vec<&'v str>) -> Result<Self, String> {
        let mut faults = Vec::new();
        let of_key = label_key_errors(key);
        if !of_key.is_empty() {
            faults.push(format!(
                "key: Invalid value: {}: {}",
                go::quote(key),
                of_key.join("; ")
            ));
        }
        let shown = go::json(&values.clone().into());
        let shown = if values.is_empty() { "null" } else { &shown };
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => faults.push(format!(
                "values: Invalid value: {shown}: for 'in', 'notin' operators, values set can't be empty"
            )),
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => faults.push(format!(
                "values: Invalid value: {shown}: values set must be empty for exists and does not exist"
            )),
            _ => {}
        }
        for (index, value) in values.iter().enumerate() {
            let of_value = label_value_errors(value);
            if !of_value.is_empty() {
                faults.push(format!(
                    "values[{index}][{key}]: Invalid value: {}: {}",
                    go::quote(value),
                    of_value.join("; ")
                ));
            }
        }
        match faults.as_slice() {
            [] => Ok(Requirement {
                key,
                operator,
                values,
            }),
            [only] => Err(only.clone()),
            all => Err(format!("[{}]", all.join(", "))),
        }
    }

    fn matches(&self, labels: &Map<String, Value>) -> bool {
        let given = labels
            .get(self.key)
            .map(|value| value.as_str().unwrap_or_default());
        let is_listed = given.is_some_and(|given| self.values.contains(&given));
        match self.operator {
            Operator::Equals | Operator::In => is_listed,
            Operator::NotIn => !is_listed,
            Operator::Exists => given.is_some(),
            Operator::DoesNotExist => given.is_none(),
        }
    }
}

impl Selector<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn matches(&self, labels: &Map<String, Value>) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels))
    }
}

impl fmt::Display for Selector<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        formatter.write_str(&all.join(","))
    }
}

impl fmt::Display for Requirement<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut values = self.values.clone();
        values.sort_unstable();
        let (key, values) = (self.key, values.join(","));
        match self.operator {
            Operator::Equals => write!(formatter, "{key}={values}"),
            Operator::In => write!(formatter, "{key} in ({values})"),
            Operator::NotIn => write!(formatter, "{key} notin ({values})"),
            Operator::Exists => formatter.write_str(key),
            Operator::DoesNotExist => write!(formatter, "!{key}"),
        }
    }
}
