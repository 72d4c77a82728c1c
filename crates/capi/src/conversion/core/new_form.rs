//! The v1beta2 form of a single field of v1beta1, for the help of findings.
//!
//! Source: the table of moves, which follows `conversion.go` of each API package.

use serde_json::{Map, Value, json};

use super::relocate::at;
use super::table::{Form, Move, differences};
use super::{ConversionContext, convert_object};
use crate::api::names::Version;
use windlass_source::diag::{FieldPath, Segment};

/// What replaces a field in v1beta2.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NewForm {
    /// v1beta2 has no such field.
    Absent,
    /// The part of a reference that the object itself implies in v1beta2.
    Implied,
    /// Fields below the object at `above`.
    Written {
        above: FieldPath,
        fields: Map<String, Value>,
    },
}

/// A number of seconds in place of a duration that cannot be read.
const SECONDS: &str = "SECONDS";

/// What replaces a field in an object whose `apiVersion` is v1beta2; `None` if v1beta1 does not
/// have the field either.
pub(crate) fn new_form(object: &Value, path: &FieldPath) -> Option<NewForm> {
    let (group, _) = object.get("apiVersion")?.as_str()?.split_once('/')?;
    let kind = object.get("kind")?.as_str()?;
    let found = differences(group, kind)?;
    let pattern = pattern(path);
    let value = at(object, path)?;
    if found.only_old.contains(&pattern) {
        return Some(NewForm::Absent);
    }
    let (parent, name) = pattern.rsplit_once('.')?;
    let is_of = |form| {
        let of = |row: &&Move| row.form == form && (row.old == parent || row.new == parent);
        found.moves.iter().any(|row| of(&row))
    };
    if is_of(Form::Reference) || is_of(Form::Template) {
        return part_of_reference(path, name, value, is_of(Form::Reference));
    }
    moved(group, kind, path, value).or_else(|| {
        // The object around the field has its new place, and the field its old name.
        let beside = format!("{parent}.");
        let is_meant = |row: &&Move| {
            row.old.rsplit('.').next() == Some(name)
                && ![&row.old, &row.new].contains(&&pattern)
                && row.new.starts_with(&beside)
        };
        let row = found.moves.iter().find(is_meant)?;
        let value = if row.form == Form::Seconds {
            seconds(value)
        } else {
            value.clone()
        };
        let mut steps = row.new[beside.len()..].split('.').rev();
        let last = steps.next()?;
        let first = Map::from_iter([(last.to_owned(), value)]);
        let fields = steps.fold(first, |below, step| {
            Map::from_iter([(step.to_owned(), Value::Object(below))])
        });
        let above = path.parent()?;
        Some(NewForm::Written { above, fields })
    })
}

/// A reference of v1beta2 has a group, and neither a version nor a namespace.
fn part_of_reference(
    path: &FieldPath,
    name: &str,
    value: &Value,
    has_group: bool,
) -> Option<NewForm> {
    if name != "apiVersion" || !has_group {
        return Some(NewForm::Implied);
    }
    let (group, _) = value.as_str()?.split_once('/')?;
    Some(NewForm::Written {
        above: path.parent()?,
        fields: Map::from_iter([("apiGroup".to_owned(), group.into())]),
    })
}

/// Converts an object that has nothing but the field.
fn moved(group: &str, kind: &str, path: &FieldPath, value: &Value) -> Option<NewForm> {
    let first = in_first_items(path);
    let mut alone = holding(first.segments(), value);
    alone["apiVersion"] = format!("{group}/{}", Version::V1Beta1).into();
    alone["kind"] = kind.into();
    let convert = |object: &Value| {
        let unknown = |_: &str, _: &str| None;
        let context = ConversionContext {
            version_of: &unknown,
            keeps_incomplete: false,
        };
        convert_object(object, Version::V1Beta2, &context)
    };
    let mut conversion = convert(&alone)?;
    let unread: Vec<FieldPath> = conversion
        .faults
        .iter()
        .map(|fault| fault.place.clone())
        .collect();
    for place in &unread {
        *super::relocate::at_mut(&mut alone, place)? = "1s".into();
    }
    if !unread.is_empty() {
        conversion = convert(&alone)?;
    }
    if !conversion.faults.is_empty() {
        return None;
    }
    for place in &unread {
        let new = conversion.origins.news_of(place);
        for new in new {
            if let Some(value) = super::relocate::at_mut(&mut conversion.value, &new) {
                *value = SECONDS.into();
            }
        }
    }
    if at(&conversion.value, &first) == at(&alone, &first) {
        return None;
    }
    let mut above = FieldPath::root();
    let mut rest = &conversion.value;
    let parents = first.segments().iter().zip(path.segments());
    for (segment, shown) in parents.take(path.segments().len() - 1) {
        let Some(below) = at(rest, &FieldPath::root().with(segment.clone())) else {
            break;
        };
        above.push(shown.clone());
        rest = below;
    }
    let fields = rest.as_object()?.clone();
    if above.is_root() || fields.is_empty() {
        return Some(NewForm::Absent);
    }
    Some(NewForm::Written { above, fields })
}

/// The path within the first items of all lists.
fn in_first_items(path: &FieldPath) -> FieldPath {
    let first = |segment: &Segment| match segment {
        Segment::Index(_) => Segment::Index(0),
        other => other.clone(),
    };
    path.segments().iter().map(first).collect()
}

/// An object that has a value at a path, and nothing else.
fn holding(path: &[Segment], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, segment| match segment {
            Segment::Field(name) | Segment::Key(name) => json!({ name: inner }),
            Segment::Index(_) => json!([inner]),
        })
}

fn seconds(value: &Value) -> Value {
    super::relocate::seconds(value).unwrap_or_else(|_| SECONDS.into())
}

/// A path as the table has it: `[]` for each item of a list.
fn pattern(path: &FieldPath) -> String {
    path.segments()
        .iter()
        .fold(String::new(), |pattern, segment| match segment {
            Segment::Index(_) => pattern + "[]",
            Segment::Field(name) | Segment::Key(name) if pattern.is_empty() => name.clone(),
            Segment::Field(name) | Segment::Key(name) => format!("{pattern}.{name}"),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: &str, path: FieldPath, value: Value) -> Option<(String, Value)> {
        let group = if kind.starts_with("KubeadmControlPlane") {
            "controlplane.cluster.x-k8s.io"
        } else if kind.starts_with("Kubeadm") {
            "bootstrap.cluster.x-k8s.io"
        } else {
            "cluster.x-k8s.io"
        };
        let mut object = holding(in_first_items(&path).segments(), &value);
        object["apiVersion"] = format!("{group}/v1beta2").into();
        object["kind"] = kind.into();
        match new_form(&object, &in_first_items(&path))? {
            NewForm::Written { above, fields } => Some((above.to_string(), fields.into())),
            other => Some((format!("{other:?}"), Value::Null)),
        }
    }

    /// By hand from `conversion.go` of the API packages of Cluster API v1.14.
    #[test]
    fn each_kind_of_move_has_its_new_form() {
        let path = FieldPath::of_fields;
        let deployment = || path("spec.workers.machineDeployments").index(1);
        for (kind, old, value, above, fields) in [
            (
                "MachineHealthCheck",
                path("spec.maxUnhealthy"),
                json!("40%"),
                "spec",
                json!({"remediation": {"triggerIf": {"unhealthyLessThanOrEqualTo": "40%"}}}),
            ),
            (
                "MachineHealthCheck",
                path("spec.unhealthyConditions"),
                json!([{"type": "Ready", "status": "Unknown", "timeout": "300s"}]),
                "spec",
                json!({"checks": {"unhealthyNodeConditions": [{"type": "Ready", "status": "Unknown", "timeoutSeconds": 300}]}}),
            ),
            (
                "MachineHealthCheck",
                path("spec.remediationTemplate"),
                json!({"apiVersion": "a.b/v1", "kind": "K", "name": "n", "namespace": "m"}),
                "spec",
                json!({"remediation": {"templateRef": {"apiVersion": "a.b/v1", "kind": "K", "name": "n"}}}),
            ),
            (
                "MachineDeployment",
                path("spec.template.spec.nodeDrainTimeout"),
                json!("5m"),
                "spec.template.spec",
                json!({"deletion": {"nodeDrainTimeoutSeconds": 300}}),
            ),
            (
                "MachineDeployment",
                path("spec.template.spec.deletion.nodeDrainTimeout"),
                json!("soon"),
                "spec.template.spec.deletion",
                json!({"nodeDrainTimeoutSeconds": "SECONDS"}),
            ),
            (
                "MachineDeployment",
                path("spec.minReadySeconds"),
                json!(3),
                "spec",
                json!({"template": {"spec": {"minReadySeconds": 3}}}),
            ),
            (
                "Machine",
                path("spec.infrastructureRef.apiVersion"),
                json!("a.b/v1"),
                "spec.infrastructureRef",
                json!({"apiGroup": "a.b"}),
            ),
            (
                "Cluster",
                path("spec.topology.class"),
                json!("c"),
                "spec.topology",
                json!({"classRef": {"name": "c"}}),
            ),
            (
                "ClusterClass",
                path("spec.controlPlane.ref"),
                json!({"apiVersion": "a.b/v1", "kind": "K", "name": "n"}),
                "spec.controlPlane",
                json!({"templateRef": {"apiVersion": "a.b/v1", "kind": "K", "name": "n"}}),
            ),
            (
                "ClusterClass",
                deployment().field("template"),
                json!({"bootstrap": {"ref": {"apiVersion": "a.b/v1", "kind": "K", "name": "n"}}}),
                "spec.workers.machineDeployments[0]",
                json!({"bootstrap": {"templateRef": {"apiVersion": "a.b/v1", "kind": "K", "name": "n"}}}),
            ),
            (
                "KubeadmControlPlane",
                path("spec.remediationStrategy"),
                json!({"maxRetry": 3, "retryPeriod": "x"}),
                "spec",
                json!({"remediation": {"maxRetry": 3, "retryPeriodSeconds": "SECONDS"}}),
            ),
            (
                "Cluster",
                path("spec.topology.rolloutAfter"),
                json!("2026-01-01T00:00:00Z"),
                "Absent",
                Value::Null,
            ),
            (
                "Machine",
                path("spec.infrastructureRef.namespace"),
                json!("n"),
                "Implied",
                Value::Null,
            ),
        ] {
            let found = written(kind, old.clone(), value);
            assert_eq!(found, Some((above.to_owned(), fields)), "{kind} {old}");
        }
    }

    #[test]
    fn fields_of_no_version_have_no_form() {
        let path = FieldPath::of_fields;
        assert_eq!(written("Machine", path("spec.drain"), json!("1s")), None);
        assert_eq!(
            written("Machine", path("spec.version"), json!("v1.34.0")),
            None
        );
    }
}
