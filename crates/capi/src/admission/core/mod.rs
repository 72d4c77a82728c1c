//! The defaulting and validating webhooks of Cluster API's core, for objects that are created.
//!
//! Source: `core/webhooks/admission` of Cluster API v1.14 (`internal/webhooks` before). The webhooks
//! work on v1beta2, so an object of v1beta1 is converted before it gets here. ClusterClasses and the
//! topology of a Cluster are checked by `topology`, which reads the class of a Cluster.

mod cluster;
pub mod control_plane;
mod defaults;
mod health_check;
mod machines;
pub mod names;
pub mod schemas;
mod selector;
pub mod share;
pub mod taints;
pub mod unknown;
pub mod versions;

use serde_json::Value;

pub use cluster::cidr_fault;
pub use defaults::{defaulted, is_defaulted, required};
pub use schemas::schema;

use crate::contract::CORE_GROUP;
use versions::VersionCheck;
use windlass_schema::{Violation, rejection_message};
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

/// A release of Cluster API: checks of its webhooks that others do not have, and feature gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// How Kubernetes versions are checked.
    pub versions: VersionCheck,
    /// Whether the taints of topologies and control planes are checked (since v1.13).
    pub checks_topology_taints: bool,
    /// Whether the feature gate MachineTaintPropagation is on.
    pub taints_gate: bool,
    /// Whether a Cluster must refer to something, or have a topology (since v1.11).
    pub demands_references: bool,
}

impl Release {
    /// v1.14 with the gate of taints on.
    pub(crate) const NEWEST: Release = Release {
        versions: VersionCheck::Semantic,
        checks_topology_taints: true,
        taints_gate: true,
        demands_references: true,
    };
}

impl Default for Release {
    fn default() -> Self {
        Release::NEWEST
    }
}

/// The rejection of an object by a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The reasons, at fields of v1beta2.
    pub violations: Vec<Violation>,
    /// The upstream message.
    pub message: String,
}

/// What the defaulting webhook rejects, before the schema is asked: an annotation of the autoscaler
/// that is not a number.
pub fn undefaulted(object: &Value) -> Option<Rejection> {
    let kind = text(object, "/kind");
    let (annotation, message) = defaults::unreadable_replicas(kind, object)?;
    let path = FieldPath::of_fields("metadata.annotations").field(annotation);
    let violation = Violation::invalid(path, annotated(object, annotation), message.as_str());
    Some(Rejection {
        violations: vec![violation],
        message,
    })
}

/// Checks an object of v1beta2 that its schema accepts: its defaults, then the validating webhook.
/// `None` if it is accepted, or of another kind.
pub fn rejection(object: &Value, release: &Release, budget: &Budget) -> Option<Rejection> {
    if let Some(rejection) = undefaulted(object) {
        return Some(rejection);
    }
    let kind = text(object, "/kind");
    let object = &defaulted(object);
    let mut violations = added_label(object);
    if violations.is_empty() {
        violations = match kind {
            "Cluster" => cluster::violations(object, release),
            "Machine" => machines::of_machine(object, release),
            "MachineSet" => machines::of_set(object, release, budget),
            "MachineDeployment" => machines::of_deployment(object, release, budget),
            "MachinePool" => machines::of_pool(object, release),
            "MachineHealthCheck" => health_check::violations(object),
            _ => Vec::new(),
        };
    }
    let message = rejection_message(
        CORE_GROUP,
        kind,
        text(object, "/metadata/name"),
        &violations,
    );
    (!violations.is_empty()).then_some(Rejection {
        violations,
        message,
    })
}

/// The label with the name of the cluster that the defaulting webhooks add, which the API server
/// validates.
fn added_label(object: &Value) -> Vec<Violation> {
    let name = text(object, "/spec/clusterName");
    windlass_schema::name::label_value_errors(name)
        .iter()
        .map(|error| {
            let path = FieldPath::of_fields("spec.clusterName");
            Violation::invalid(path, &name.into(), error).spelt("metadata.labels")
        })
        .collect()
}

fn annotated<'v>(object: &'v Value, annotation: &str) -> &'v Value {
    &object["metadata"]["annotations"][annotation]
}

/// The string at a JSON pointer; empty if there is none.
fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
