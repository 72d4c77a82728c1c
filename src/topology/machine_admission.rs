//! What Cluster API's webhooks refuse of templates, rollouts, health checks and replicas: `core/webhooks/admission` of v1.14.

use serde_json::Value;

use super::class::{Class, Reference};
use super::cluster::Cluster;
use super::part::Part;
use super::refused::{Refused, invalid};
use crate::text::go::number::atoi;
use crate::text::go::quote;

/// Annotations that give a MachineDeployment's replicas to the autoscaler.
const AUTOSCALER: [&str; 2] =
    ["cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"];

/// What is refused of the templates, rollouts and health checks of a class.
pub(super) fn of_class<'o>(class: &Class<'o>) -> Vec<Refused<'o>> {
    let mut refused = templates(class);
    for worker in &class.deployments {
        let field = format!("spec.workers.machineDeployments[{}].rollout.strategy", worker.class);
        rollout(&worker.part.either(&["rollout.strategy.rollingUpdate", "strategy.rollingUpdate"]), &field, &mut refused);
    }
    let own = class.control_plane.part.field("healthCheck");
    health_check(&own, "spec.controlPlane.healthCheck", &mut refused);
    if own.is_there() && class.machine.is_none() {
        let text = "spec.controlPlane.healthCheck: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set";
        refused.push(Refused::new(own, text.to_owned()));
    }
    for worker in &class.deployments {
        let (check, field) = (worker.part.field("healthCheck"), format!("spec.workers.machineDeployments[{}].healthCheck", worker.class));
        health_check(&check, &field, &mut refused);
        share(&check.at("remediation.maxInFlight"), &format!("{field}.remediation.maxInFlight"), &mut refused);
    }
    refused
}

/// What is refused of the rollouts of a topology.
pub(super) fn rollouts<'o>(cluster: &Cluster<'o>) -> Vec<Refused<'o>> {
    let mut refused = Vec::new();
    for worker in &cluster.deployments {
        let field = format!("spec.topology.workers.machineDeployments[{}].rollout.strategy", worker.name);
        rollout(&worker.part.either(&["rollout.strategy.rollingUpdate", "strategy.rollingUpdate"]), &field, &mut refused);
    }
    refused
}

/// What is refused of the health checks of a topology, with its class.
pub(super) fn health_checks<'o>(cluster: &Cluster<'o>, class: &Class<'_>) -> Vec<Refused<'o>> {
    let mut refused = Vec::new();
    let (own, field) = (cluster.control_plane.field("healthCheck"), "spec.topology.controlPlane.healthCheck");
    if is_defined(&own) {
        if class.machine.is_none() {
            let text = format!("{field}: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set in ClusterClass");
            refused.push(Refused::new(own.clone(), text));
        }
        health_check(&own, field, &mut refused);
    }
    refused.extend(undefined(&own, &class.control_plane.part.field("healthCheck"), field));
    for worker in &cluster.deployments {
        let (own, field) = (
            worker.part.field("healthCheck"),
            format!("spec.topology.workers.machineDeployments[{}].healthCheck", worker.name),
        );
        health_check(&own, &field, &mut refused);
        share(&own.at("remediation.maxInFlight"), &format!("{field}.remediation.maxInFlight"), &mut refused);
        let source = class.deployments.iter().find(|known| known.class == worker.class);
        refused.extend(source.and_then(|source| undefined(&own, &source.part.field("healthCheck"), &field)));
    }
    refused
}

/// Whether there is a check, beside that it is turned on or off.
fn is_defined(check: &Part<'_>) -> bool {
    ["checks", "remediation"].iter().any(|field| check.field(field).value.as_object().is_some_and(|fields| !fields.is_empty()))
}

/// That a check is turned on which neither the topology nor its class describes.
fn undefined<'o>(own: &Part<'o>, of_class: &Part<'_>, field: &str) -> Option<Refused<'o>> {
    let enabled = own.field("enabled");
    if enabled.value != true || is_defined(own) || is_defined(of_class) {
        return None;
    }
    let detail = "cannot be set to true as healthCheck definition is not available in the Cluster topology or the ClusterClass";
    Some(Refused::new(enabled, format!("{field}.enable: Forbidden: {detail}")))
}

/// The kinds of templates end with `Template`.
fn templates<'o>(class: &Class<'o>) -> Vec<Refused<'o>> {
    let mut refused = Vec::new();
    let mut judge = |reference: &Reference<'o>, field: &str| {
        let kind = reference.kind();
        if !kind.is_empty() && kind.strip_suffix("Template").is_none_or(str::is_empty) {
            let detail = "template kind must be of form \"<name>Template\"";
            refused.push(invalid(&reference.part.field("kind"), &format!("{field}.ref.kind"), &quote(kind), detail));
        }
    };
    judge(&class.infrastructure.template, "spec.infrastructure");
    judge(&class.control_plane.template, "spec.controlPlane");
    if let Some(machine) = &class.machine {
        judge(machine, "spec.controlPlane.machineInfrastructure");
    }
    for (list, workers) in [("machineDeployments", &class.deployments), ("machinePools", &class.pools)] {
        for (index, worker) in workers.iter().enumerate() {
            let field = format!("spec.workers.{list}[{index}].template");
            judge(&worker.bootstrap, &format!("{field}.bootstrap"));
            judge(&worker.infrastructure, &format!("{field}.infrastructure"));
        }
    }
    refused
}

fn rollout<'o>(update: &Part<'o>, field: &str, refused: &mut Vec<Refused<'o>>) {
    let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
    share(&unavailable, &format!("{field}.rollingUpdate.maxUnavailable"), refused);
    share(&surge, &format!("{field}.rollingUpdate.maxSurge"), refused);
    if [&unavailable, &surge].iter().all(|part| part.value.as_i64() == Some(0)) {
        let detail = "maxUnavailable and maxSurge cannot both be 0";
        refused.push(invalid(update, &format!("{field}.rollingUpdate"), "\"0\"", detail));
    }
}

fn health_check<'o>(check: &Part<'o>, field: &str, refused: &mut Vec<Refused<'o>>) {
    let timeout = check.at("checks.nodeStartupTimeoutSeconds");
    // 0 turns the check off.
    if let Some(seconds) = timeout.value.as_i64().filter(|seconds| *seconds != 0 && *seconds < 30) {
        refused.push(invalid(
            &timeout,
            &format!("{field}.checks.nodeStartupTimeoutSeconds"),
            &seconds.to_string(),
            "must be at least 30s",
        ));
    }
    let most = check.at("remediation.triggerIf.unhealthyLessThanOrEqualTo");
    share(&most, &format!("{field}.remediation.triggerIf.unhealthyLessThanOrEqualTo"), refused);
}

/// A number, or a percentage.
fn share<'o>(part: &Part<'o>, field: &str, refused: &mut Vec<Refused<'o>>) {
    let Value::String(text) = part.value else { return };
    let reason = match text.strip_suffix('%') {
        None => "invalid type: string is not a percentage".to_owned(),
        Some(number) => match atoi(number) {
            Ok(_) => return,
            Err(fault) => format!("invalid value {}: strconv.Atoi: parsing {}: {fault}", quote(text), quote(number)),
        },
    };
    let detail = format!("must be either an int or a percentage: invalid value for IntOrString: {reason}");
    refused.push(invalid(part, field, &quote(text), &detail));
}

/// Replicas of a topology that the autoscaler decides.
pub(super) fn autoscaled<'o>(cluster: &Cluster<'o>, class: Option<&Class<'_>>) -> Vec<Refused<'o>> {
    let is_autoscaled = |metadata: &Value| AUTOSCALER.iter().any(|key| metadata["annotations"].get(key).is_some());
    let mut refused = Vec::new();
    for worker in &cluster.deployments {
        let replicas = worker.part.field("replicas");
        if !replicas.is_there() {
            continue;
        }
        let field = format!("spec.topology.workers.machineDeployments[{}].replicas", worker.name);
        let whose = format!("cannot be set for cluster {} in namespace {} if the ", quote(cluster.name()), quote(cluster.namespace()));
        let shown = replicas.value.to_string();
        if is_autoscaled(worker.part.field("metadata").value) {
            let detail = format!("{whose}same MachineDeploymentTopology has autoscaler annotations");
            refused.push(invalid(&replicas, &field, &shown, &detail));
        }
        let source = class.and_then(|class| class.deployments.iter().find(|known| known.class == worker.class));
        if source.is_some_and(|source| is_autoscaled(source.metadata)) {
            let class = quote(worker.class);
            let detail = format!("{whose}source class {class} of this MachineDeploymentTopology has autoscaler annotations");
            refused.push(invalid(&replicas, &field, &shown, &detail));
        }
    }
    refused
}
