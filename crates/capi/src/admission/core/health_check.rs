//! The validating webhook of MachineHealthCheck: `core/webhooks/admission/machinehealthcheck.go` of
//! Cluster API v1.14.

use serde_json::Value;

use super::share::not_a_share;
use super::{selector, text};
use windlass_schema::Violation;
use windlass_source::diag::FieldPath;

const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
/// The least seconds in which a node must appear; 0 turns the check off.
const LEAST_STARTUP: i64 = 30;

pub(super) fn violations(object: &Value) -> Vec<Violation> {
    let spec = &object["spec"];
    let mut violations = Vec::new();
    let path = FieldPath::of_fields("spec.selector");
    match selector::read(&spec["selector"]) {
        Err(fault) => violations.push(selector::invalid(&spec["selector"], &fault)),
        Ok(read) if read.is_empty() => {
            violations.push(Violation::required(path, "selector must not be empty"));
        }
        Ok(_) => {}
    }
    let selected = spec["selector"]["matchLabels"].get(CLUSTER_NAME);
    if selected.is_some_and(|selected| selected != text(spec, "/clusterName")) {
        let detail =
            "cannot specify a cluster selector other than the one specified by ClusterName";
        violations.push(selector::invalid(&spec["selector"], detail));
    }
    let startup = &spec["checks"]["nodeStartupTimeoutSeconds"];
    if startup
        .as_i64()
        .is_some_and(|seconds| seconds != 0 && seconds < LEAST_STARTUP)
    {
        let path = FieldPath::of_fields("spec.checks.nodeStartupTimeoutSeconds");
        violations.push(Violation::invalid(path, startup, "must be at least 30s"));
    }
    let most = &spec["remediation"]["triggerIf"]["unhealthyLessThanOrEqualTo"];
    violations.extend(not_a_share(
        most,
        "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo",
    ));
    violations
}
