//! Taints of machines: `ValidateMachineTaints` of `internal/util/taints/validation.go` and
//! `validateMachineTaintsForWorkers` of `core/webhooks/admission/machine.go`, Cluster API v1.14.

use serde_json::Value;

use super::{Release, text};
use windlass_schema::Violation;
use windlass_schema::name::label_key_errors;
use windlass_source::diag::FieldPath;

/// The message of Cluster API's webhooks for taints while the feature gate is off.
pub const GATE_OFF: &str =
    "taints are not allowed to be set when the feature gate MachineTaintPropagation is disabled";

/// Taints that Cluster API itself sets.
const OWN: [&str; 2] = [
    "node.cluster.x-k8s.io/uninitialized",
    "node.cluster.x-k8s.io/outdated-revision",
];
/// Taints of the node and of the node lifecycle controller, and the one of them that users set.
const OF_NODES: &str = "node.kubernetes.io/";
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
/// Taints of the cloud controller manager.
const OF_CLOUDS: &str = "node.cloudprovider.kubernetes.io/";
/// The taint of kubeadm before Kubernetes v1.24, and the one since.
const MASTER: &str = "node-role.kubernetes.io/master";
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// What is wrong with a list of taints.
pub(super) fn violations(taints: &Value, path: &FieldPath, release: &Release) -> Vec<Violation> {
    let taints = taints.as_array().map(Vec::as_slice).unwrap_or_default();
    let gate = (!release.taints_gate && !taints.is_empty())
        .then(|| Violation::forbidden(path.clone(), GATE_OFF));
    let of_keys = taints.iter().enumerate().flat_map(|(index, taint)| {
        let key = text(taint, "/key");
        key_faults(key).into_iter().map(move |fault| {
            Violation::invalid(path.index(index).field("key"), &key.into(), &fault)
        })
    });
    gate.into_iter().chain(of_keys).collect()
}

/// What is wrong with the key of a taint. (Before v1.13 a rule of the CRD demands a valid key.)
pub fn key_faults(key: &str) -> Vec<String> {
    let reserved = reserved(key).map(str::to_owned);
    reserved.into_iter().chain(label_key_errors(key)).collect()
}

/// Workers cannot have the taint of the control plane.
pub(super) fn of_workers(taints: &Value, path: &FieldPath) -> Vec<Violation> {
    let taints = taints.as_array().map(Vec::as_slice).unwrap_or_default();
    let of_control_plane = taints
        .iter()
        .enumerate()
        .filter(|(_, taint)| text(taint, "/key") == CONTROL_PLANE);
    of_control_plane
        .map(|(index, taint)| {
            let detail = "taint is not allowed for worker Machines";
            Violation::invalid(path.index(index).field("key"), &taint["key"], detail)
        })
        .collect()
}

/// Why users cannot set a taint.
fn reserved(key: &str) -> Option<&'static str> {
    match key {
        _ if OWN.contains(&key) => Some("taint key is not allowed"),
        OUT_OF_SERVICE => None,
        _ if key.starts_with(OF_NODES) => Some(
            "taint key must not have the prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service",
        ),
        _ if key.starts_with(OF_CLOUDS) => {
            Some("taint key must not have the prefix node.cloudprovider.kubernetes.io/")
        }
        MASTER => Some("taint is deprecated since 1.24 and should not be used anymore"),
        _ => None,
    }
}
