//! An infrastructure provider that does nothing by itself: its kinds, which the scenario plays.

use serde_json::{Value, json};

use crate::harness::control_plane::ControlPlane;

const GROUP: &str = "infrastructure.e2e.windlass.dev";
/// `apiVersion` of the kinds; it fulfils both contracts.
pub(super) const API_VERSION: &str = "infrastructure.e2e.windlass.dev/v1";
const KINDS: [&str; 4] = [
    "BerthCluster",
    "BerthMachine",
    "BerthMachineTemplate",
    "BerthMachinePool",
];

/// Creates the CRDs and the role that lets the core manager use them.
pub(super) fn install(plane: &ControlPlane) {
    for kind in KINDS {
        plane.api.apply(&crd(kind)).unwrap();
    }
    let resources: Vec<String> = KINDS.iter().map(|kind| plural(kind)).collect();
    let rule = json!({"apiGroups": [GROUP], "resources": resources, "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"]});
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "berth-aggregated", "labels": {"cluster.x-k8s.io/aggregate-to-manager": "true"}}, "rules": [rule],
    });
    plane.api.apply(&role).unwrap();
}

fn plural(kind: &str) -> String {
    format!("{}s", kind.to_lowercase())
}

fn crd(kind: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{}.{GROUP}", plural(kind)),
            "labels": {"cluster.x-k8s.io/v1beta1": "v1", "cluster.x-k8s.io/v1beta2": "v1"},
        },
        "spec": {
            "group": GROUP, "scope": "Namespaced", "versions": [version],
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural(kind), "singular": kind.to_lowercase()},
        },
    })
}

/// An object of one of the kinds.
pub(super) fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

/// Does what the provider of a kind would do: says in both contracts that it is there.
pub(super) fn provision(
    plane: &ControlPlane,
    kind: &str,
    name: &str,
    spec: &Value,
    more_status: &Value,
) {
    let object = object(kind, name, &json!({}));
    plane.api.merge(&object, &json!({ "spec": spec })).unwrap();
    let mut status = json!({"ready": true, "initialization": {"provisioned": true}});
    for (key, value) in more_status.as_object().into_iter().flatten() {
        status[key] = value.clone();
    }
    plane.api.merge_status(&object, &status).unwrap();
}
