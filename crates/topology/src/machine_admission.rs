//! What Cluster API's webhooks reject of templates, rollouts and replicas:
//! `core/webhooks/admission` of v1.14.

use serde_json::Value;

use super::class::{Class, Reference};
use super::cluster::Cluster;
use super::health_check;
use super::part::Part;
use super::rejected::{Rejected, invalid, share};
use windlass_go_text::quote;

/// Annotations that give a MachineDeployment's replicas to the autoscaler.
const AUTOSCALER: [&str; 2] = [
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
];

/// What is rejected of the templates, rollouts and health checks of a class.
pub(super) fn of_class<'o>(class: &Class<'o>, is_used: bool) -> Vec<Rejected<'o>> {
    let mut rejected = templates(class, is_used);
    for worker in &class.deployments {
        let field = format!(
            "spec.workers.machineDeployments[{}].rollout.strategy",
            worker.class
        );
        rollout(
            &worker
                .part
                .either(&["rollout.strategy.rollingUpdate", "strategy.rollingUpdate"]),
            &field,
            &mut rejected,
        );
    }
    rejected.extend(health_check::of_class(class));
    rejected
}

/// What is rejected of the rollouts of a topology.
pub(super) fn rollouts<'o>(cluster: &Cluster<'o>) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    for worker in &cluster.deployments {
        let field = format!(
            "spec.topology.workers.machineDeployments[{}].rollout.strategy",
            worker.name
        );
        rollout(
            &worker
                .part
                .either(&["rollout.strategy.rollingUpdate", "strategy.rollingUpdate"]),
            &field,
            &mut rejected,
        );
    }
    rejected
}

/// The kinds of templates end with `Template`; references that Clusters use are whole.
fn templates<'o>(class: &Class<'o>, is_used: bool) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    let mut judge = |reference: &Reference<'o>, field: &str| {
        let demanded = |name: &'static str, is_empty: bool| {
            let text =
                format!("{field}.ref.{name}: Required value: template {name} must be defined");
            (is_used && is_empty).then(|| Rejected::new(reference.part.field(name), text))
        };
        rejected.extend(demanded("name", reference.name().is_empty()));
        let kind = reference.kind();
        if (is_used || !kind.is_empty()) && kind.strip_suffix("Template").is_none_or(str::is_empty)
        {
            let detail = "template kind must be of form \"<name>Template\"";
            rejected.push(invalid(
                &reference.part.field("kind"),
                &format!("{field}.ref.kind"),
                &quote(kind),
                detail,
            ));
        }
        let api_version = reference.api_version();
        if api_version.matches('/').count() > 1 {
            let detail = format!(
                "template apiVersion must be a valid Kubernetes apiVersion: unexpected GroupVersion string: {api_version}"
            );
            rejected.push(invalid(
                &reference.part.field("apiVersion"),
                &format!("{field}.ref.apiVersion"),
                &quote(api_version),
                &detail,
            ));
        }
        rejected.extend(demanded(
            "apiVersion",
            api_version.is_empty() || api_version == "/",
        ));
    };
    judge(&class.infrastructure.template, "spec.infrastructure");
    judge(&class.control_plane.template, "spec.controlPlane");
    if let Some(machine) = &class.machine {
        judge(machine, "spec.controlPlane.machineInfrastructure");
    }
    for (list, workers) in [
        ("machineDeployments", &class.deployments),
        ("machinePools", &class.pools),
    ] {
        for (index, worker) in workers.iter().enumerate() {
            let field = format!("spec.workers.{list}[{index}].template");
            judge(&worker.bootstrap, &format!("{field}.bootstrap"));
            judge(&worker.infrastructure, &format!("{field}.infrastructure"));
        }
    }
    rejected
}

fn rollout<'o>(update: &Part<'o>, field: &str, rejected: &mut Vec<Rejected<'o>>) {
    let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
    share(
        &unavailable,
        &format!("{field}.rollingUpdate.maxUnavailable"),
        rejected,
    );
    share(&surge, &format!("{field}.rollingUpdate.maxSurge"), rejected);
    if [&unavailable, &surge]
        .iter()
        .all(|part| part.value.as_i64() == Some(0))
    {
        let detail = "maxUnavailable and maxSurge cannot both be 0";
        rejected.push(invalid(
            update,
            &format!("{field}.rollingUpdate"),
            "\"0\"",
            detail,
        ));
    }
}

/// Replicas of a topology that the autoscaler decides.
pub(super) fn autoscaled<'o>(
    cluster: &Cluster<'o>,
    class: Option<&Class<'_>>,
) -> Vec<Rejected<'o>> {
    let is_autoscaled = |metadata: &Value| {
        AUTOSCALER
            .iter()
            .any(|key| metadata["annotations"].get(key).is_some())
    };
    let mut rejected = Vec::new();
    for worker in &cluster.deployments {
        let replicas = worker.part.field("replicas");
        if !replicas.is_there() {
            continue;
        }
        let field = format!(
            "spec.topology.workers.machineDeployments[{}].replicas",
            worker.name
        );
        let whose = format!(
            "cannot be set for cluster {} in namespace {} if the ",
            quote(cluster.name()),
            quote(cluster.namespace())
        );
        let shown = replicas.value.to_string();
        if is_autoscaled(worker.part.field("metadata").value) {
            let detail =
                format!("{whose}same MachineDeploymentTopology has autoscaler annotations");
            rejected.push(invalid(&replicas, &field, &shown, &detail));
        }
        let source = class.and_then(|class| {
            class
                .deployments
                .iter()
                .find(|known| known.class == worker.class)
        });
        if source.is_some_and(|source| is_autoscaled(source.metadata)) {
            let class = quote(worker.class);
            let detail = format!(
                "{whose}source class {class} of this MachineDeploymentTopology has autoscaler annotations"
            );
            rejected.push(invalid(&replicas, &field, &shown, &detail));
        }
    }
    rejected
}
