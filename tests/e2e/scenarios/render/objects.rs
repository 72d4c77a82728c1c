//! The objects around a config, as a cluster has them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Role, Subject};

/// The group of configs.
pub(super) const GROUP: &str = "bootstrap.cluster.x-k8s.io";
/// Where all of them are.
pub(super) const NAMESPACE: &str = "default";
const OF_INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";

/// A cluster in a version of `cluster.x-k8s.io`, without its status.
pub(super) fn cluster(core: &str, name: &str) -> Value {
    let network = json!({
        "services": {"cidrBlocks": ["10.128.0.0/12"]}, "pods": {"cidrBlocks": ["192.168.0.0/16", "fd00:100::/48"]},
        "serviceDomain": "cluster.local",
    });
    json!({
        "apiVersion": core, "kind": "Cluster", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "clusterNetwork": network, "controlPlaneEndpoint": {"host": "fd00::7", "port": 6443},
            "infrastructureRef": reference(core, OF_INFRASTRUCTURE, "DockerCluster", name),
        },
    })
}

/// The status of a cluster with infrastructure; one that is initialized can be joined.
pub(super) fn status_of_cluster(core: &str, initialized: bool) -> Value {
    let condition = json!({
        "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    });
    let mut status = match core.ends_with("v1beta1") {
        true => json!({"infrastructureReady": true}),
        false => json!({"initialization": {"infrastructureProvisioned": true}}),
    };
    if initialized {
        status["conditions"] = json!([condition]);
        if !core.ends_with("v1beta1") {
            status["initialization"]["controlPlaneInitialized"] = json!(true);
        }
    }
    status
}

/// The Machine or MachinePool that a config is for.
pub(super) fn owner(core: &str, name: &str, cluster: &str, subject: &Subject) -> Value {
    let mut labels = json!({"cluster.x-k8s.io/cluster-name": cluster});
    if matches!(subject.role, Role::Init | Role::ControlPlaneJoin) {
        labels["cluster.x-k8s.io/control-plane"] = json!("");
    }
    let metadata = json!({"name": name, "namespace": NAMESPACE, "labels": labels});
    let spec = json!({
        "clusterName": cluster, "version": subject.kubernetes,
        "bootstrap": {"configRef": reference(core, GROUP, "KubeadmConfig", name)},
        "infrastructureRef": reference(core, OF_INFRASTRUCTURE, "DockerMachine", name),
    });
    let kind = subject.role.owner();
    match subject.role {
        Role::MachinePool => {
            let spec = json!({"clusterName": cluster, "replicas": 1, "template": {"spec": spec}});
            json!({"apiVersion": core, "kind": kind, "metadata": metadata, "spec": spec})
        }
        _ => json!({"apiVersion": core, "kind": kind, "metadata": metadata, "spec": spec}),
    }
}

fn reference(core: &str, group: &str, kind: &str, name: &str) -> Value {
    match core.ends_with("v1beta1") {
        true => json!({"apiVersion": format!("{group}/v1beta1"), "kind": kind, "name": name}),
        false => json!({"apiGroup": group, "kind": kind, "name": name}),
    }
}

/// The config of an owner that is there.
pub(super) fn config(name: &str, cluster: &str, subject: &Subject, owner: &Value) -> Value {
    let owner_reference = json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name, "uid": owner["metadata"]["uid"], "controller": true,
    });
    json!({
        "apiVersion": format!("{GROUP}/{}", subject.version), "kind": "KubeadmConfig",
        "metadata": {
            "name": name, "namespace": NAMESPACE, "labels": {"cluster.x-k8s.io/cluster-name": cluster},
            "ownerReferences": [owner_reference],
        },
        "spec": subject.spec,
    })
}

/// The Secrets that files and passwords come from: their data by their names, with some content of
/// more than one line.
pub(crate) fn contents(spec: &Value) -> BTreeMap<String, Value> {
    let sources = |list: &str, field: &str| {
        let items = spec[list].as_array().cloned().unwrap_or_default();
        items
            .into_iter()
            .map(|item| item[field]["secret"].clone())
            .filter(|source| source["name"].is_string())
            .collect::<Vec<_>>()
    };
    let mut wanted: BTreeMap<String, Value> = BTreeMap::new();
    for source in sources("files", "contentFrom")
        .iter()
        .chain(&sources("users", "passwdFrom"))
    {
        let (name, key) = (
            source["name"].as_str().unwrap_or_default(),
            source["key"].as_str().unwrap_or_default(),
        );
        let content = format!("{key} of {name}: 1\n  # and more");
        wanted.entry(name.to_owned()).or_insert_with(|| json!({}))[key] =
            json!(STANDARD.encode(content));
    }
    wanted
}

/// A Secret that users made.
pub(crate) fn secret(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE}, "data": data})
}

/// A Secret of a cluster.
pub(super) fn secret_of_cluster(name: &str, cluster: Option<&str>, data: &Value) -> Value {
    let mut secret = secret(name, data);
    secret["type"] = json!("cluster.x-k8s.io/secret");
    if let Some(cluster) = cluster {
        secret["metadata"]["labels"] = json!({"cluster.x-k8s.io/cluster-name": cluster});
    }
    secret
}
