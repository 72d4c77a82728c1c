//! What the API server rejects of ClusterClasses and Clusters: unknown fields, the CRDs of Cluster
//! API's core (`admission::core`), and names.

use serde_json::Value;

use super::advice;
use super::rejected::joined;
use windlass_capi::admission::core;
use windlass_capi::admission::core::unknown::unknown_fields;
use windlass_objects::{Object, fields};
use windlass_schema::{Schema, Violation, ViolationKind, subdomain_errors};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Rule, Segment, Shared};

/// The findings about a class. One that no Cluster uses may be a patch for a class, and lack its
/// templates.
pub(super) fn of_class(
    class: &Object,
    is_used: bool,
    rule: &'static Rule,
    budget: &Budget,
) -> Vec<Diagnostic> {
    findings(class, rule, budget, &|violation| {
        !is_used && violation.kind == ViolationKind::Required && is_of_template(&violation.path)
    })
}

/// The findings about a Cluster. Empty parts of a topology are warnings elsewhere: whatever goes
/// through Cluster API's types leaves them out.
pub(super) fn of_cluster(
    cluster: &Object,
    rule: &'static Rule,
    budget: &Budget,
) -> Vec<Diagnostic> {
    let parts =
        ["controlPlane", "workers"].map(|part| FieldPath::of_fields("spec.topology").field(part));
    findings(cluster, rule, budget, &|violation| {
        let value = fields::at(cluster.value(), violation.path.segments());
        parts.contains(&violation.path) && value.is_some_and(fields::is_empty)
    })
}

/// Whether a field of a class is one that leads to a template, or a part of such a reference.
fn is_of_template(path: &FieldPath) -> bool {
    let names: Vec<&str> = path
        .segments()
        .iter()
        .filter_map(|segment| match segment {
            Segment::Field(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    match names[..] {
        [.., "templateRef" | "ref", _] => true,
        [.., last] => [
            "spec",
            "bootstrap",
            "controlPlane",
            "infrastructure",
            "ref",
            "template",
            "templateRef",
        ]
        .contains(&last),
        [] => false,
    }
}

fn findings(
    object: &Object,
    rule: &'static Rule,
    budget: &Budget,
    is_accepted: &dyn Fn(&Violation) -> bool,
) -> Vec<Diagnostic> {
    let Some(schema) = schema_of(object) else {
        return Vec::new();
    };
    let admitted = admitted(object);
    let mut violations = schema.validate(admitted.value());
    violations.retain(|violation| !is_accepted(violation));
    violations.extend(misnamed(object));
    if violations.is_empty() {
        violations = schema
            .evaluate_rules(admitted.value(), None, budget)
            .violations;
    }
    violations.sort_by_key(ToString::to_string);
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let upstream = joined(&texts.iter().map(String::as_str).collect::<Vec<_>>(), "\n");
    let mut upstream = Shared::new(Some(upstream), violations.len());
    let finding = |violation: &Violation| {
        let text = violation.to_string();
        let help = match violation.path.segments().last() {
            Some(Segment::Field(name)) if violation.kind == ViolationKind::Required => {
                format!("add `{name}:`")
            }
            _ => advice::of(&text).to_owned(),
        };
        let mut finding = Diagnostic::of(rule, text).at(object.place(&violation.path));
        finding.upstream = upstream.for_next_finding();
        finding.help(help)
    };
    violations.iter().map(finding).collect()
}

/// Fields that the version of a class or a Cluster does not have. They are left out when it is
/// stored, so that the rest can be planned.
pub(super) fn unknown(object: &Object) -> Vec<Diagnostic> {
    let schema = schema_of(object);
    let found = schema.map(|schema| unknown_fields(object, admitted(object).value(), schema));
    found.unwrap_or_default()
}

/// The object that the API server validates: the webhook defaults the version of a topology first
/// (`core/webhooks/admission/cluster.go`).
fn admitted(object: &Object) -> Object {
    let mut admitted = object.clone();
    admitted.drop_nulls();
    let version = FieldPath::of_fields("spec.topology.version");
    let topology = fields::field(admitted.value(), &["spec", "topology"]);
    if object.kind() == "Cluster"
        && let Some(Value::Object(fields)) = topology
        && let Some(given) = fields.get("version").map_or(Some(""), Value::as_str)
        && !given.starts_with('v')
    {
        let defaulted = format!("v{given}");
        // A topology that is a mapping takes a field.
        let _ = admitted.set(&version, defaulted.into());
    }
    admitted
}

fn schema_of(object: &Object) -> Option<&'static Schema> {
    let version = match object.version() {
        "v1beta1" => "v1beta1",
        _ => "v1beta2",
    };
    core::schema(object.kind(), version)
}

/// A name that is not a DNS subdomain. `windlass_capi::admission::metadata` checks labels and
/// annotations.
fn misnamed(object: &Object) -> Vec<Violation> {
    let name = FieldPath::of_fields("metadata.name");
    let errors = match object.name() {
        "" => Vec::new(),
        given => subdomain_errors(given),
    };
    errors
        .iter()
        .map(|error| Violation::invalid(name.clone(), &object.name().into(), error))
        .collect()
}
