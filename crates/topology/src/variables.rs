//! Defaults and checks of variables: `internal/topology/variables` of Cluster API.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::class::Definition;
use super::cluster::Values;
use super::made::{pay, weight};
use super::part::Part;
use super::rejected::Rejected;
use windlass_go_text::{json as go_json, quote};
use windlass_schema::{Schema, ViolationKind};
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::diag::FieldPath;

/// The name under which a value is wrapped: defaults and rules work on maps only.
const WRAPPER: &str = "variableValue";

/// A variable of a class, its schema compiled.
#[derive(Debug)]
pub(crate) struct Variable {
    is_required: bool,
    /// Whether it has a value when nobody gives it one.
    has_default: bool,
    /// As it is, and wrapped; `None` when it is not a schema.
    schemas: Option<(Schema, Schema)>,
}

/// The variables of a class by their names; of equal ones the last.
pub(super) fn compile<'o>(definitions: &[Definition<'o>], budget: &Budget) -> Compiled<'o> {
    let compiled = |definition: &Definition<'o>| {
        let wrapped = json!({"type": "object", "properties": {WRAPPER: definition.schema}});
        let schemas = Schema::within(&definition.schema, budget)
            .ok()
            .zip(Schema::within(&wrapped, budget).ok());
        let has_default = definition
            .schema
            .get("default")
            .is_some_and(|default| !default.is_null());
        Variable {
            is_required: definition.is_required,
            has_default,
            schemas,
        }
    };
    definitions
        .iter()
        .map(|definition| (definition.name, compiled(definition)))
        .collect()
}

pub(super) type Compiled<'o> = BTreeMap<&'o str, Variable>;

/// The values of a list as they are written, without duplicates.
fn given<'o>(list: &Part<'o>, field: &str) -> Result<Vec<(&'o str, Part<'o>)>, Vec<Rejected<'o>>> {
    let mut seen = BTreeMap::new();
    let mut faults = Vec::new();
    let mut all = Vec::new();
    for part in list.items() {
        let name = part.field("name").text();
        if seen.insert(name, ()).is_some() {
            let raw = go_json(part.field("value").value);
            let text = format!(
                "{field}[{name}]: Invalid value: {}: variable {} is set more than once",
                quote(&raw),
                quote(name)
            );
            faults.push(Rejected::new(part, text));
            continue;
        }
        all.push((name, part));
    }
    if faults.is_empty() {
        Ok(all)
    } else {
        Err(faults)
    }
}

/// The values of a list with their defaults; with `creates` also variables that have only a
/// default. The list is as it is written when it has a fault.
///
/// # Errors
/// When defaults make more of a value than a run may hold.
pub(super) fn defaulted<'o>(
    list: &Part<'o>,
    variables: &Compiled<'_>,
    field: &str,
    creates: bool,
    budget: &Budget,
) -> Result<(Values, Vec<Rejected<'o>>), Exceeded> {
    let as_written = || {
        list.items()
            .map(|part| {
                (
                    part.field("name").text().to_owned(),
                    part.field("value").value.clone(),
                )
            })
            .collect()
    };
    let all = match given(list, field) {
        Ok(all) => all,
        Err(faults) => return Ok((as_written(), faults)),
    };
    let mut values = Values::new();
    let mut faults = Vec::new();
    for (name, part) in all {
        let value = part.field("value").value;
        match variables.get(name) {
            Some(variable) => {
                values.insert(name.to_owned(), variable.defaulted(value.clone(), budget)?);
            }
            None => {
                let text = format!(
                    "{field}[{name}]: Invalid value: {}: variable is not defined",
                    quote(&go_json(value))
                );
                faults.push(Rejected::new(part, text));
            }
        }
    }
    if !faults.is_empty() {
        return Ok((as_written(), faults));
    }
    for (name, variable) in variables.iter().filter(|_| creates) {
        if !values.contains_key(*name) && variable.has_default {
            values.insert((*name).to_owned(), variable.defaulted(Value::Null, budget)?);
        }
    }
    Ok((values, faults))
}

/// What is wrong with values that have their defaults.
pub(super) fn check<'o>(
    list: &Part<'o>,
    values: &Values,
    variables: &Compiled<'_>,
    field: &str,
    wants_required: bool,
    budget: &Budget,
) -> Vec<Rejected<'o>> {
    let mut faults = Vec::new();
    let missing = variables
        .iter()
        .filter(|(name, variable)| variable.is_required && !values.contains_key(**name));
    for (name, _) in missing.filter(|_| wants_required) {
        let text = format!(
            "{field}: Required value: required variable {} must be set",
            quote(name)
        );
        faults.push(Rejected::new(list.clone(), text));
    }
    let places: BTreeMap<&str, Part<'o>> = list
        .items()
        .map(|part| (part.field("name").text(), part.field("value")))
        .collect();
    for (name, value) in values {
        let Some(variable) = variables.get(name.as_str()) else {
            continue;
        };
        let part = places.get(name.as_str()).unwrap_or(list);
        for (below, text) in variable.faults(name, value, &format!("{field}[{name}]"), budget) {
            faults.push(Rejected {
                below: below.unwrap_or_default(),
                ..Rejected::new(part.clone(), text)
            });
        }
    }
    faults
}

impl Variable {
    /// The value with the defaults of its schema. All numbers become doubles on the way.
    fn defaulted(&self, value: Value, budget: &Budget) -> Result<Value, Exceeded> {
        let mut wrapped = Value::Object(Map::from_iter([(WRAPPER.to_owned(), value)]));
        if let Some((_, schema)) = &self.schemas {
            schema.fill_defaults(&mut wrapped, &mut |default| pay(budget, weight(default)))?;
        }
        let mut value = wrapped
            .get_mut(WRAPPER)
            .map(Value::take)
            .unwrap_or_default();
        through_doubles(&mut value);
        Ok(value)
    }

    /// What Cluster API says of a value: first by the schema, then about unknown fields, then by
    /// the rules.
    fn faults(
        &self,
        name: &str,
        value: &Value,
        field: &str,
        budget: &Budget,
    ) -> Vec<(Option<FieldPath>, String)> {
        let Some((schema, wrapped)) = &self.schemas else {
            return Vec::new();
        };
        let raw = quote(&go_json(value));
        let violations = schema.validate(value);
        if !violations.is_empty() {
            let worded = violations.into_iter().map(|violation| {
                let field = below(&format!("{field}.value"), &violation.field);
                let fault = violation.fault.to_string();
                let detail = fault.strip_prefix(" in body ").unwrap_or(&fault);
                (
                    Some(violation.path.clone()),
                    worded(&field, violation.kind, &raw, detail),
                )
            });
            return worded.collect();
        }
        let mut whole = Value::Object(Map::from_iter([(WRAPPER.to_owned(), value.clone())]));
        let unknown: Vec<String> = wrapped
            .prune(&mut whole)
            .iter()
            .map(|path| path.to_string().replacen(&format!("{WRAPPER}."), "", 1))
            .collect();
        if !unknown.is_empty() {
            let (fields, name) = (quote(&unknown.join(",")), quote(name));
            let detail = format!(
                "failed validation: {fields} field(s) are not specified in the variable schema of variable {name}"
            );
            return vec![(None, worded(field, ViolationKind::Invalid, &raw, &detail))];
        }
        let verdict = wrapped.evaluate_rules(&whole, None, budget);
        let rejected = verdict.violations.into_iter().map(|violation| {
            let field = below(
                &format!("{field}.value"),
                violation
                    .field
                    .strip_prefix(WRAPPER)
                    .unwrap_or(&violation.field),
            );
            (
                None,
                worded(&field, violation.kind, &raw, &violation.fault.to_string()),
            )
        });
        rejected.collect()
    }

    /// Rules that cannot be checked here.
    pub(super) fn not_evaluable(&self, value: &Value, budget: &Budget) -> Vec<String> {
        let Some((_, wrapped)) = &self.schemas else {
            return Vec::new();
        };
        let whole = Value::Object(Map::from_iter([(WRAPPER.to_owned(), value.clone())]));
        wrapped
            .evaluate_rules(&whole, None, budget)
            .not_evaluable
            .into_iter()
            .map(|gap| format!("{}: {}", gap.rule, gap.reason))
            .collect()
    }
}

/// Integers as they are when they were doubles for a while.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "that is what it does"
)]
fn through_doubles(value: &mut Value) {
    const EXACT: i64 = 1 << 53;
    match value {
        Value::Number(number) => {
            if let Some(integer) = number
                .as_i64()
                .filter(|integer| !(-EXACT..=EXACT).contains(integer))
            {
                *value = (integer as f64 as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(through_doubles),
        Value::Object(entries) => entries.values_mut().for_each(through_doubles),
        _ => {}
    }
}

/// A field of the value, as messages spell it.
fn below(field: &str, inner: &str) -> String {
    match inner.trim_start_matches('.') {
        "" | "<nil>" => field.to_owned(),
        inner if inner.starts_with('[') => format!("{field}{inner}"),
        inner => format!("{field}.{inner}"),
    }
}

/// An error of a field: Cluster API shows the whole value as JSON, whatever the kind.
fn worded(field: &str, kind: ViolationKind, raw: &str, detail: &str) -> String {
    let title = match kind {
        ViolationKind::Required => return joined(&[field, "Required value", detail]),
        ViolationKind::TooLong => return joined(&[field, "Too long", detail]),
        ViolationKind::Forbidden => return joined(&[field, "Forbidden", detail]),
        ViolationKind::NotSupported => "Unsupported value",
        ViolationKind::Duplicate => "Duplicate value",
        ViolationKind::TooMany => "Too many",
        ViolationKind::Internal => "Internal error",
        ViolationKind::Invalid | ViolationKind::TypeInvalid => "Invalid value",
    };
    joined(&[field, title, raw, detail])
}

fn joined(parts: &[&str]) -> String {
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(": ")
}
