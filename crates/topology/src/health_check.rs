//! Health checks of machines in classes and topologies, of core v1beta2 and as v1beta1 spells them,
//! and what Cluster API's webhooks reject of them: `validateMachineHealthChecks` and
//! `validateMachineHealthCheckClasses` of `core/webhooks/admission` of v1.14, which see those of
//! v1beta1 converted (`api/core/v1beta1/conversion.go`).

use serde_json::Value;

use super::class::Class;
use super::cluster::Cluster;
use super::part::Part;
use super::rejected::{Rejected, invalid, share};
use windlass_go_text::duration;

/// The health check of a control plane or MachineDeployment, of a class or a topology.
#[derive(Debug)]
pub(super) struct HealthCheck<'o> {
    pub(super) part: Part<'o>,
    pub(super) enabled: Part<'o>,
    /// How long a node may take to appear, and in seconds.
    startup: (Part<'o>, Option<i64>),
    /// So many unhealthy machines are remediated.
    most: Part<'o>,
    /// How many machines are remediated at once.
    pub(super) in_flight: Part<'o>,
    /// Whether there is a check, beside that it is turned on or off.
    pub(super) is_defined: bool,
}

impl<'o> HealthCheck<'o> {
    /// That of a part of a class or a topology.
    pub(super) fn of(holder: &Part<'o>) -> Self {
        if holder.object.version() == "v1beta1" {
            HealthCheck::old(holder)
        } else {
            HealthCheck::new(holder)
        }
    }

    fn new(holder: &Part<'o>) -> Self {
        let part = holder.field("healthCheck");
        let startup = part.at("checks.nodeStartupTimeoutSeconds");
        HealthCheck {
            enabled: part.field("enabled"),
            most: part.at("remediation.triggerIf.unhealthyLessThanOrEqualTo"),
            in_flight: part.at("remediation.maxInFlight"),
            is_defined: ["checks", "remediation"]
                .iter()
                .any(|field| is_filled(part.field(field).value)),
            startup: (startup.clone(), startup.value.as_i64()),
            part,
        }
    }

    fn old(holder: &Part<'o>) -> Self {
        let part = holder.field("machineHealthCheck");
        let (startup, most) = (part.field("nodeStartupTimeout"), part.field("maxUnhealthy"));
        let in_flight = holder.at("strategy.remediation.maxInFlight");
        let is_defined = [&startup, &most, &in_flight]
            .iter()
            .any(|part| part.is_there())
            || [
                "unhealthyConditions",
                "unhealthyRange",
                "remediationTemplate",
            ]
            .iter()
            .any(|field| is_filled(part.field(field).value));
        HealthCheck {
            enabled: part.field("enable"),
            startup: (startup.clone(), seconds(startup.text())),
            most,
            in_flight,
            is_defined,
            part,
        }
    }

    /// What is rejected of one that is defined; `field` is the name that the webhooks have for it,
    /// whatever the version.
    fn judge(&self, field: &str, rejected: &mut Vec<Rejected<'o>>) {
        // 0 turns the check off.
        let (startup, seconds) = &self.startup;
        if let Some(seconds) = seconds.filter(|seconds| *seconds != 0 && *seconds < 30) {
            let field = format!("{field}.checks.nodeStartupTimeoutSeconds");
            rejected.push(invalid(
                startup,
                &field,
                &seconds.to_string(),
                "must be at least 30s",
            ));
        }
        share(
            &self.most,
            &format!("{field}.remediation.triggerIf.unhealthyLessThanOrEqualTo"),
            rejected,
        );
    }

    /// The same of a MachineDeployment's, which has a field more.
    fn judge_of_deployment(&self, field: &str, rejected: &mut Vec<Rejected<'o>>) {
        if self.is_defined {
            self.judge(field, rejected);
            share(
                &self.in_flight,
                &format!("{field}.remediation.maxInFlight"),
                rejected,
            );
        }
    }

    /// That it is turned on, and neither the topology nor its class describes it.
    fn undefined(&self, of_class: &HealthCheck<'_>, field: &str) -> Option<Rejected<'o>> {
        if self.enabled.value != true || self.is_defined || of_class.is_defined {
            return None;
        }
        let detail = "cannot be set to true as healthCheck definition is not available in the Cluster topology or the ClusterClass";
        Some(Rejected::new(
            self.enabled.clone(),
            format!("{field}.enable: Forbidden: {detail}"),
        ))
    }
}

/// Whether something is there that is not empty.
fn is_filled(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    }
}

/// The whole seconds of a duration: `ConvertToSeconds` of Cluster API.
pub(super) fn seconds(text: &str) -> Option<i64> {
    duration::parse(text)
        .ok()
        .map(|nanoseconds| (nanoseconds / 1_000_000_000).min(i64::from(i32::MAX)))
}

/// What is rejected of the health checks of a class.
pub(super) fn of_class<'o>(class: &Class<'o>) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    let (own, field) = (
        HealthCheck::of(&class.control_plane.part),
        "spec.controlPlane.healthCheck",
    );
    if own.is_defined {
        own.judge(field, &mut rejected);
        if class.machine.is_none() {
            let text = format!(
                "{field}: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set"
            );
            rejected.push(Rejected::new(own.part, text));
        }
    }
    for worker in &class.deployments {
        let field = format!(
            "spec.workers.machineDeployments[{}].healthCheck",
            worker.class
        );
        HealthCheck::of(&worker.part).judge_of_deployment(&field, &mut rejected);
    }
    rejected
}

/// What is rejected of the health checks of a topology, with its class.
pub(super) fn of_cluster<'o>(cluster: &Cluster<'o>, class: &Class<'_>) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    let (own, field) = (
        HealthCheck::of(&cluster.control_plane),
        "spec.topology.controlPlane.healthCheck",
    );
    if own.is_defined {
        if class.machine.is_none() {
            let text = format!(
                "{field}: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set in ClusterClass"
            );
            rejected.push(Rejected::new(own.part.clone(), text));
        }
        own.judge(field, &mut rejected);
    }
    rejected.extend(own.undefined(&HealthCheck::of(&class.control_plane.part), field));
    for worker in &cluster.deployments {
        let own = HealthCheck::of(&worker.part);
        let field = format!(
            "spec.topology.workers.machineDeployments[{}].healthCheck",
            worker.name
        );
        own.judge_of_deployment(&field, &mut rejected);
        let source = class
            .deployments
            .iter()
            .find(|known| known.class == worker.class);
        rejected.extend(
            source.and_then(|source| own.undefined(&HealthCheck::of(&source.part), &field)),
        );
    }
    rejected
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use windlass_objects::Object;

    /// What the webhooks say of a class with one health check of v1beta1, at its control plane and
    /// at a MachineDeployment.
    fn of_old(check: &Value, strategy: &Value) -> Vec<String> {
        let worker = json!({"class": "w", "machineHealthCheck": check, "strategy": strategy});
        let class = Object::made(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "ClusterClass", "metadata": {"name": "c"},
            "spec": {"controlPlane": {"machineHealthCheck": check}, "workers": {"machineDeployments": [worker]}},
        }));
        of_class(&Class::of(&class))
            .into_iter()
            .map(|rejected| format!("{} at {}", rejected.text, rejected.part.path()))
            .collect()
    }

    // The texts are those of `clusterclass.go` and `machinehealthcheck.go` of v1.14 for what
    // `conversion.go` makes of these.
    #[test]
    fn checks_of_v1beta1_are_judged_as_what_they_become() {
        let machines = "spec.controlPlane.healthCheck: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set";
        let startup = "checks.nodeStartupTimeoutSeconds: Invalid value: 10: must be at least 30s";
        let found = of_old(&json!({"nodeStartupTimeout": "10s"}), &json!(null));
        assert_eq!(
            found,
            [
                format!(
                    "spec.controlPlane.healthCheck.{startup} at spec.controlPlane.machineHealthCheck.nodeStartupTimeout"
                ),
                format!("{machines} at spec.controlPlane.machineHealthCheck"),
                format!(
                    "spec.workers.machineDeployments[w].healthCheck.{startup} \
                     at spec.workers.machineDeployments[0].machineHealthCheck.nodeStartupTimeout"
                ),
            ]
        );
        let most = of_old(&json!({"maxUnhealthy": "many"}), &json!(null));
        assert!(
            most[0].starts_with("spec.controlPlane.healthCheck.remediation.triggerIf.unhealthyLessThanOrEqualTo: Invalid value: \"many\"")
        );
        let in_flight = of_old(&json!(null), &json!({"remediation": {"maxInFlight": "x"}}));
        assert_eq!(in_flight.len(), 1, "{in_flight:?}");
        assert!(in_flight[0].starts_with("spec.workers.machineDeployments[w].healthCheck.remediation.maxInFlight: Invalid value: \"x\""));
    }

    #[test]
    fn checks_of_v1beta1_that_say_nothing_are_none() {
        for check in [
            json!(null),
            json!({}),
            json!({"unhealthyConditions": []}),
            json!({"unhealthyRange": ""}),
        ] {
            assert_eq!(
                of_old(&check, &json!(null)),
                Vec::<String>::new(),
                "{check}"
            );
        }
        // 29.9 seconds are 29, 30.9 are 30, and 0 turns it off.
        let startups = |text: &str| {
            of_old(&json!({"nodeStartupTimeout": text}), &json!(null))
                .iter()
                .filter(|text| text.contains("30s"))
                .count()
        };
        assert_eq!(
            ["29.9s", "30.9s", "0s", "5m", "1h"].map(startups),
            [2, 0, 0, 0, 0]
        );
    }

    #[test]
    fn a_check_that_is_only_turned_on_needs_a_definition_in_the_class() {
        let class = |check: Value| {
            Object::made(json!({
                "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "ClusterClass", "metadata": {"name": "c"},
                "spec": {"controlPlane": {"machineInfrastructure": {"ref": {"kind": "T"}}, "machineHealthCheck": check}},
            }))
        };
        let cluster = |version: &str, field: &str, enable: &str| {
            Object::made(json!({
                "apiVersion": format!("cluster.x-k8s.io/{version}"), "kind": "Cluster", "metadata": {"name": "c"},
                "spec": {"topology": {"controlPlane": {field: {enable: true}}}},
            }))
        };
        let rejected = |cluster: &Object, class: &Object| {
            let rejected = of_cluster(&Cluster::of(cluster, true), &Class::of(class));
            rejected
                .into_iter()
                .map(|rejected| rejected.text)
                .collect::<Vec<_>>()
        };
        let (old, new) = (
            cluster("v1beta1", "machineHealthCheck", "enable"),
            cluster("v1beta2", "healthCheck", "enabled"),
        );
        let (without, with) = (class(json!(null)), class(json!({"maxUnhealthy": 1})));
        let text = "spec.topology.controlPlane.healthCheck.enable: Forbidden: cannot be set to true as healthCheck definition is not available \
                    in the Cluster topology or the ClusterClass";
        assert_eq!(
            (rejected(&old, &without), rejected(&new, &without)),
            (vec![text.to_owned()], vec![text.to_owned()])
        );
        assert_eq!(
            (rejected(&old, &with), rejected(&new, &with)),
            (Vec::new(), Vec::new())
        );
    }
}
