//! What the API server refuses of the objects of Cluster API's core: the CRDs of v1.14
//! (`core_kinds.txt` says from where), for all releases. What a release before v1.14 does not have
//! yet is not told of it.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::{Value, json};

use crate::contract::CORE_GROUP;
use crate::diag::{Diagnostic, FieldPath, Remedy, Segment, rules};
use crate::objects::Object;
use crate::render::prove::config::RULE_NOT_JUDGED;
use crate::render::prove::renamed;
use crate::render::{Profile, Request};
use crate::schema::Schema;
use crate::schema::document::{self, Part, Wording};

rules! {
    /// an object of Cluster API's core has a version that the release does not serve
    pub(crate) VERSION_UNKNOWN = error("core-version-unknown");
    /// an object of Cluster API's core has an unknown field
    pub(crate) FIELD_UNKNOWN = error("core-field-unknown");
    /// an object of Cluster API's core lacks a required field
    FIELD_MISSING = error("core-field-missing");
    /// an object of Cluster API's core lacks several required fields, as a patch does, and is not judged for them
    pub(crate) OBJECT_PARTIAL = warning("core-object-partial");
    /// the API server rejects a value of an object of Cluster API's core
    pub(crate) VALUE_REFUSED = error("core-value-refused");
    /// an object of Cluster API's core violates a validation rule of the API
    RULE_BROKEN = error("core-rule-broken");
}

const WORDING: Wording = Wording {
    unknown: &FIELD_UNKNOWN,
    missing: &FIELD_MISSING,
    refused: &VALUE_REFUSED,
};

/// The schema of a kind in a version.
struct Known {
    json: &'static str,
    compiled: OnceLock<Schema>,
}

impl Known {
    /// What each object has is judged elsewhere, and nobody writes a status.
    fn schema(&self) -> &Schema {
        self.compiled.get_or_init(|| {
            let mut schema: Value =
                serde_json::from_str(self.json).expect("internal error: the table holds JSON");
            let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            for (field, its) in [
                ("apiVersion", json!({"type": "string"})),
                ("kind", json!({"type": "string"})),
                ("metadata", open.clone()),
                ("status", open),
            ] {
                schema["properties"][field] = its;
            }
            document::compiled(&schema)
        })
    }
}

/// By kind and version.
static KINDS: LazyLock<BTreeMap<(&str, &str), Known>> = LazyLock::new(|| {
    let rows = include_str!("core_kinds.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let mut cells = line.splitn(3, ' ');
        let mut cell = || cells.next().expect("internal error: a row has three cells");
        (
            (cell(), cell()),
            Known {
                json: cell(),
                compiled: OnceLock::new(),
            },
        )
    };
    rows.map(row).collect()
});

/// The schema of a kind in a version as the table has it: without descriptions and what every object
/// has.
pub(crate) fn schema_of(kind: &str, version: &str) -> Option<Value> {
    let known = KINDS.get(&(kind, version))?;
    serde_json::from_str(known.json).ok()
}

/// The kinds with their versions.
pub(crate) fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.keys().copied()
}

/// Whether objects of a kind are judged here.
pub(crate) fn is_judged(object: &Object) -> bool {
    object.group() == CORE_GROUP && KINDS.keys().any(|(kind, _)| *kind == object.kind())
}

/// Judges an object; nothing for one of another kind.
pub(crate) fn check(object: &Object, request: &Request) -> Vec<Diagnostic> {
    if !is_judged(object) {
        return Vec::new();
    }
    let known = KINDS
        .get(&(object.kind(), object.version()))
        .filter(|_| is_served(object.version(), &request.profile));
    let Some(known) = known else {
        return vec![version_unknown(object, &request.profile)];
    };
    let written = as_admitted(object);
    let at = |path: &FieldPath, part| {
        if part == Part::Key {
            object.key_place(path)
        } else {
            object.place(path)
        }
    };
    let mut found = document::check_at(&written, known.schema(), &WORDING, &at).into_findings();
    for finding in found
        .iter_mut()
        .filter(|finding| finding.rule == &FIELD_UNKNOWN)
    {
        finding.help = renamed::in_v1beta2(object, &finding.place.path)
            .map(Remedy::from)
            .or(finding.help.take());
    }
    if found.is_empty() {
        return broken_rules(object, &written, known.schema(), request);
    }
    let (missing, others): (Vec<_>, Vec<_>) = found.into_iter().partition(lacks_a_part);
    match is_partial(&missing) {
        true => others
            .into_iter()
            .chain([partial(object, &missing)])
            .collect(),
        false => others.into_iter().chain(missing).collect(),
    }
}

/// Whether a finding is that of a part which is not there, and none of a reference that lacks
/// something.
fn lacks_a_part(finding: &Diagnostic) -> bool {
    let of_reference = |segment: &Segment| matches!(segment, Segment::Field(name) if ["apiGroup", "kind", "name"].contains(&name.as_str()));
    finding.rule == &FIELD_MISSING
        && !finding
            .place
            .path
            .segments()
            .last()
            .is_some_and(of_reference)
}

/// Whether an object is a patch, for kustomize or for others: it lacks its spec, or several parts.
fn is_partial(missing: &[Diagnostic]) -> bool {
    missing.len() > 1
        || missing
            .iter()
            .any(|finding| finding.place.path.segments().len() == 1)
}

fn partial(object: &Object, missing: &[Diagnostic]) -> Diagnostic {
    let message = format!(
        "{} lacks required fields, as a patch does: it is not judged for them",
        object.title()
    );
    let finding = Diagnostic::of(&OBJECT_PARTIAL, message).at(object.place(&FieldPath::root()));
    let finding = finding.help("add them, unless the object is a patch");
    missing
        .iter()
        .fold(finding, |finding, lack| finding.note(lack.message.clone()))
}

/// The object as the schema sees it: without what is null, and with the selector that the
/// defaulting webhook makes (`machinedeployment.go` and `machineset.go` in `core/webhooks`).
fn as_admitted(object: &Object) -> Value {
    let mut written = object.clone();
    written.drop_nulls();
    let mut value = written.value().clone();
    let spec = value.get_mut("spec").and_then(Value::as_object_mut);
    if let Some(spec) =
        spec.filter(|_| ["MachineDeployment", "MachineSet"].contains(&object.kind()))
    {
        spec.entry("selector").or_insert_with(|| json!({}));
    }
    value
}

fn is_served(version: &str, profile: &Profile) -> bool {
    version == "v1beta1" || !profile.is_legacy()
}

fn version_unknown(object: &Object, profile: &Profile) -> Diagnostic {
    let said = object.text(&["apiVersion"]);
    let message = format!(
        "apiVersion {said} of {} is not one that CAPI {} serves",
        object.title(),
        profile.version()
    );
    let finding = Diagnostic::of(&VERSION_UNKNOWN, message)
        .at(object.place(&FieldPath::root().field("apiVersion")));
    finding.help(format!(
        "write `{CORE_GROUP}/{}`, and the fields of that version",
        profile.storage
    ))
}

/// The CEL rules of the schema.
fn broken_rules(
    object: &Object,
    written: &Value,
    schema: &Schema,
    request: &Request,
) -> Vec<Diagnostic> {
    let verdict = schema.evaluate_rules(written, None, &request.budget);
    let broken = verdict.violations.iter().map(|violation| {
        let message = format!("{}: {}", violation.path, violation.fault);
        Diagnostic::of(&RULE_BROKEN, message)
            .at(object.place(&violation.path))
            .help("change the fields so that the rule holds")
    });
    let not_judged = verdict.not_evaluable.iter().map(|rule| {
        let message = format!(
            "{} has a rule that cannot be judged here: {}",
            rule.path, rule.reason
        );
        Diagnostic::of(&RULE_NOT_JUDGED, message)
            .at(object.place(&rule.path))
            .help(format!("check by hand: {}", rule.rule))
    });
    broken.chain(not_judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every schema of the table compiles, and a kind is there in both versions.
    #[test]
    fn the_table_holds_schemas_of_both_versions() {
        assert_eq!(KINDS.len(), 14);
        for ((kind, version), known) in KINDS.iter() {
            assert!(["v1beta1", "v1beta2"].contains(version), "{kind} {version}");
            let empty = json!({"apiVersion": format!("{CORE_GROUP}/{version}"), "kind": kind, "metadata": {"name": "a"}, "status": {"any": 1}});
            assert!(
                known.schema().unknown_fields(&empty).is_empty(),
                "{kind} {version}"
            );
        }
    }
}
