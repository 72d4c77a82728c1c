//! The MachineHealthChecks that a topology wants: `computeMachineHealthCheck` of Cluster API's
//! `exp/topology/desiredstate`, with what `exp/topology/scope/blueprint.go` takes from the topology
//! or else from its class. The owner reference to the Cluster is left out: its UID is not known.

use serde_json::{Map, Value, json};

use super::cluster::Cluster;
use super::health_check::{HealthCheck, seconds};
use super::made::{DEPLOYMENT_NAME, OWNED, map, set};
use super::part::Part;
use windlass_capi::contract::labels::{CLUSTER_NAME, CONTROL_PLANE};

/// What the webhook of MachineHealthCheck fills in.
const STARTUP_SECONDS: i64 = 600;

/// Fields in core v1beta2.
const FIELDS: [&[&str]; 6] = [
    &["checks", "nodeStartupTimeoutSeconds"],
    &["checks", "unhealthyNodeConditions"],
    &["checks", "unhealthyMachineConditions"],
    &["remediation", "triggerIf", "unhealthyLessThanOrEqualTo"],
    &["remediation", "triggerIf", "unhealthyInRange"],
    &["remediation", "templateRef"],
];

/// The check of the control plane; the parts are that of the topology and that of the class.
pub(super) fn of_control_plane(
    cluster: &Cluster<'_>,
    parts: [&Part<'_>; 2],
    name: &str,
) -> Option<Value> {
    made(cluster, parts, name, (CONTROL_PLANE, ""))
}

/// The check of a MachineDeployment, which has this name in the topology.
pub(super) fn of_deployment(
    cluster: &Cluster<'_>,
    topology_name: &str,
    parts: [&Part<'_>; 2],
    name: &str,
) -> Option<Value> {
    made(cluster, parts, name, (DEPLOYMENT_NAME, topology_name))
}

fn made(
    cluster: &Cluster<'_>,
    parts: [&Part<'_>; 2],
    name: &str,
    label: (&str, &str),
) -> Option<Value> {
    let [topology, class] = parts.map(HealthCheck::of);
    let defined = [&topology, &class]
        .into_iter()
        .find(|check| check.is_defined)?;
    if topology.enabled.value.as_bool() == Some(false) {
        return None;
    }
    let mut spec = json!({
        "clusterName": cluster.name(),
        "selector": {"matchLabels": {(OWNED): "", (label.0): label.1}},
    });
    set(
        &mut spec,
        &["checks", "nodeStartupTimeoutSeconds"],
        STARTUP_SECONDS.into(),
    );
    for path in FIELDS {
        let value = match defined.part.object.version() {
            "v1beta1" => converted(&defined.part, path),
            _ => path
                .iter()
                .try_fold(defined.part.value, |value, step| value.get(step))
                .cloned(),
        };
        if let Some(value) = value.filter(|value| !value.is_null()) {
            set(&mut spec, path, value);
        }
    }
    let labels = Map::from_iter([
        (CLUSTER_NAME.to_owned(), cluster.name().into()),
        (OWNED.to_owned(), "".into()),
    ]);
    let metadata = json!({"name": name, "namespace": cluster.namespace(), "labels": labels});
    Some(map([
        ("apiVersion", "cluster.x-k8s.io/v1beta2".into()),
        ("kind", "MachineHealthCheck".into()),
        ("metadata", metadata),
        ("spec", spec),
    ]))
}

/// The field of v1beta2 in a check of v1beta1 (`api/core/v1beta1/conversion.go`).
fn converted(check: &Part<'_>, path: &[&str]) -> Option<Value> {
    let field = |name: &str| check.value.get(name).filter(|value| !value.is_null());
    match *path.last()? {
        "nodeStartupTimeoutSeconds" => {
            seconds(field("nodeStartupTimeout")?.as_str()?).map(Value::from)
        }
        "unhealthyNodeConditions" => {
            let conditions = field("unhealthyConditions")?.as_array()?;
            (!conditions.is_empty()).then(|| conditions.iter().map(condition).collect())
        }
        "unhealthyLessThanOrEqualTo" => field("maxUnhealthy").cloned(),
        "unhealthyInRange" => field("unhealthyRange").cloned(),
        "templateRef" => {
            let reference = field("remediationTemplate")?;
            let kept = ["apiVersion", "kind", "name"]
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), reference.get(name)?.clone())));
            Some(kept.collect::<Map<String, Value>>().into())
        }
        _ => None,
    }
}

fn condition(condition: &Value) -> Value {
    let mut made = condition.clone();
    if let Value::Object(fields) = &mut made
        && let Some(timeout) = fields.remove("timeout")
    {
        let seconds = timeout.as_str().and_then(seconds);
        fields.extend(seconds.map(|seconds| ("timeoutSeconds".to_owned(), seconds.into())));
    }
    made
}
