//! Demands of a contract that a schema does not meet, and what there is to write until it does.

use serde_json::Value;

use windlass_capi::contract::{ContractVersion, Demand, Need, Reading, Role, demands};
use windlass_objects::fields;
use windlass_source::diag::{FieldPath, Segment};

#[derive(PartialEq)]
pub(super) enum Wrong {
    Missing,
    /// It has a different type, this one.
    Type(String),
    /// It is there, and belongs to the older contract.
    Left,
}

/// A field that is not as the contract demands.
pub(super) struct Fault {
    pub(super) demand: &'static Demand,
    pub(super) wrong: Wrong,
    /// The nearest thing in the schema.
    pub(super) at: FieldPath,
}

impl Fault {
    /// The line to write, or to take away, and where.
    pub(super) fn line(&self) -> String {
        let (parent, name) = self
            .demand
            .path
            .rsplit_once('.')
            .unwrap_or(("", self.demand.path));
        match self.wrong {
            Wrong::Left => format!("`{name}` under `{parent}`"),
            _ => format!(
                "`{name}: {{type: {}}}` under `{parent}`",
                self.demand.of_type
            ),
        }
    }

    /// What happens in a cluster, when the core reads the field in this version.
    pub(super) fn effect(&self, has_classes: bool) -> Option<&'static str> {
        match (self.demand.reading, &self.wrong) {
            (_, Wrong::Left) | (Reading::Ignores, _) => None,
            (_, Wrong::Type(_)) => Some("the core fails on any other type"),
            (Reading::Needs(effect), _) => Some(effect),
            (Reading::NeedsForClasses(effect), _) if has_classes => Some(effect),
            _ => None,
        }
    }
}

/// What there is to do in a schema until it is as a contract demands; empty when there is nothing.
pub(super) fn fixes(schema: &Value, role: Role, contract: ContractVersion) -> String {
    fix(&faults(schema, role, contract))
}

/// The same of faults that are known.
pub(super) fn fix(faults: &[Fault]) -> String {
    let (left, open): (Vec<&Fault>, Vec<&Fault>) =
        faults.iter().partition(|fault| fault.wrong == Wrong::Left);
    let lines = |verb: &str, faults: &[&Fault]| {
        let lines: Vec<String> = faults.iter().map(|fault| fault.line()).collect();
        (!lines.is_empty()).then(|| format!("{verb} {}", lines.join(", ")))
    };
    [lines("write", &open), lines("drop", &left)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// The path of a field in a schema, when the schema names it.
pub(super) fn path_to(schema: &Value, path: &str) -> Option<FieldPath> {
    match look(schema, path) {
        Looked::Found(_, at) => Some(at),
        _ => None,
    }
}

/// The fields of a schema that are not as a contract demands. Of what is missing or wrong as a
/// whole the parts are not told.
pub(super) fn faults(schema: &Value, role: Role, contract: ContractVersion) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for demand in demands(role, contract) {
        let is_within = |fault: &Fault| {
            demand
                .path
                .strip_prefix(fault.demand.path)
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        if !faults.iter().any(is_within) {
            faults.extend(fault(schema, demand));
        }
    }
    faults
}

fn fault(schema: &Value, demand: &'static Demand) -> Option<Fault> {
    let fault = |wrong, at| Some(Fault { demand, wrong, at });
    match look(schema, demand.path) {
        Looked::Open => None,
        Looked::Found(_, at) if demand.need == Need::Gone => fault(Wrong::Left, at),
        Looked::Found(field, at) => {
            let found = fields::text(field, &["type"]);
            let fits = found.is_empty()
                || found == demand.of_type
                || (found == "number" && demand.of_type == "integer");
            if fits {
                None
            } else {
                fault(Wrong::Type(found.to_owned()), at)
            }
        }
        Looked::Missing(at) => {
            let is_there = |path| !matches!(look(schema, path), Looked::Missing(_));
            let needed = match demand.need {
                Need::Always => true,
                Need::With(path) => matches!(look(schema, path), Looked::Found(..)),
                Need::Optional | Need::Gone => false,
            };
            if needed && !demand.alternative.is_some_and(is_there) {
                fault(Wrong::Missing, at)
            } else {
                None
            }
        }
    }
}

/// Where a path leads in a schema.
enum Looked<'s> {
    /// To a schema; its path.
    Found(&'s Value, FieldPath),
    /// Nowhere; the path of the last schema on the way.
    Missing(FieldPath),
    /// Into something that takes any field.
    Open,
}

/// Follows a path of the table. The root's own fields that every object has are not asked for.
fn look<'s>(schema: &'s Value, path: &str) -> Looked<'s> {
    let (mut schema, mut at) = (schema, FieldPath::root());
    for step in path.split('.') {
        let name = step.trim_end_matches("[]");
        match fields::field(schema, &["properties", name]) {
            Some(below) => {
                at = at.field("properties").with(Segment::Key(name.to_owned()));
                schema = below;
            }
            None if schema["x-kubernetes-preserve-unknown-fields"] == true
                || schema.get("additionalProperties").is_some() =>
            {
                return Looked::Open;
            }
            None => return Looked::Missing(at),
        }
        if step != name {
            let Some(items) = schema.get("items") else {
                return Looked::Open;
            };
            at = at.field("items");
            schema = items;
        }
    }
    Looked::Found(schema, at)
}
