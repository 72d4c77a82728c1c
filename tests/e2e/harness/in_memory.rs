//! Clusters whose machines are in memory, by Cluster API's docker provider: they become nodes of an
//! API server that is in memory as well.

use std::time::Duration;

use serde_json::{Value, json};

use super::control_plane::ControlPlane;
use super::{components, wait};

pub(crate) const CORE: &str = "cluster.x-k8s.io/v1beta2";
pub(crate) const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io/v1beta2";
pub(crate) const VERSION: &str = "v1.34.1";
const SOON: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(180);

/// Makes a Cluster of so many machines of a kubeadm control plane and so many workers with a
/// template of that group and kind, in a namespace of its name.
pub(crate) fn create(
    plane: &ControlPlane,
    name: &str,
    [control_planes, workers]: [u32; 2],
    templates: &[&str; 2],
) {
    plane
        .api
        .apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
        .unwrap_or_else(|rejection| panic!("{name}: {rejection}"));
    let [group, kind] = templates;
    let template = json!({
        "apiVersion": format!("{group}/v1beta2"), "kind": kind, "metadata": {"name": "w", "namespace": name},
        "spec": {"template": {"spec": {"joinConfiguration": node()}}},
    });
    for object in [
        cluster(name, Some(name)),
        infrastructure_cluster(name),
        control_plane(name, control_planes),
        machine_template(name),
        template,
        deployment(name, workers, templates, "w"),
    ] {
        components::give(plane, &object, SOON, |_| false);
    }
}

/// A Cluster of that name and namespace.
pub(crate) fn cluster(name: &str, control_plane: Option<&str>) -> Value {
    let mut cluster = json!({
        "apiVersion": CORE, "kind": "Cluster", "metadata": {"name": name, "namespace": name},
        "spec": {
            "clusterNetwork": {"services": {"cidrBlocks": ["10.128.0.0/12"]}, "pods": {"cidrBlocks": ["192.168.0.0/16"]}},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster", "name": name},
        },
    });
    if let Some(name) = control_plane {
        cluster["spec"]["controlPlaneRef"] = json!({"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": name});
    }
    cluster
}

/// Its infrastructure.
pub(crate) fn infrastructure_cluster(name: &str) -> Value {
    json!({
        "apiVersion": INFRASTRUCTURE, "kind": "DevCluster",
        // The provider writes annotations into a map that must be there.
        "metadata": {"name": name, "namespace": name, "annotations": {"example.com/a": "b"}},
        "spec": {"backend": {"inMemory": {}}},
    })
}

/// A machine in memory that is there in a second.
pub(crate) fn machine_in_memory() -> Value {
    let soon = json!({"provisioning": {"startupDuration": "1s"}});
    json!({"backend": {"inMemory": {"vm": soon, "node": soon, "apiServer": soon, "etcd": soon}}})
}

/// The template of all its machines.
pub(crate) fn machine_template(namespace: &str) -> Value {
    json!({
        "apiVersion": INFRASTRUCTURE, "kind": "DevMachineTemplate", "metadata": {"name": "m", "namespace": namespace},
        "spec": {"template": {"spec": machine_in_memory()}},
    })
}

/// A control plane of that name and namespace.
pub(crate) fn control_plane(name: &str, replicas: u32) -> Value {
    let reference = json!({"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachineTemplate", "name": "m"});
    json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlane",
        "metadata": {"name": name, "namespace": name},
        "spec": {
            "replicas": replicas, "version": VERSION, "machineTemplate": {"spec": {"infrastructureRef": reference}},
            "kubeadmConfigSpec": {"initConfiguration": node(), "joinConfiguration": node()},
        },
    })
}

/// What each config says of its node.
pub(crate) fn node() -> Value {
    json!({"nodeRegistration": {"criSocket": "unix:///var/run/containerd/containerd.sock"}})
}

/// Workers of the Cluster of that name and namespace, with a template of that group and kind.
pub(crate) fn deployment(
    cluster: &str,
    replicas: u32,
    [group, kind]: &[&str; 2],
    template: &str,
) -> Value {
    let spec = json!({
        "clusterName": cluster, "version": VERSION,
        "bootstrap": {"configRef": {"apiGroup": group, "kind": kind, "name": template}},
        "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachineTemplate", "name": "m"},
    });
    json!({
        "apiVersion": CORE, "kind": "MachineDeployment", "metadata": {"name": "md", "namespace": cluster},
        "spec": {
            "clusterName": cluster, "replicas": replicas,
            "selector": {"matchLabels": {"nodes": "workers"}},
            "template": {"metadata": {"labels": {"nodes": "workers"}}, "spec": spec},
        },
    })
}

/// Waits until so many Machines are nodes, and no more are there.
pub(crate) fn expect_nodes(plane: &ControlPlane, namespace: &str, count: usize) {
    wait::until(&format!("{count} nodes of {namespace}"), LONG, || {
        plane.assert_running();
        let machines = plane.api.list(CORE, "Machine", Some(namespace));
        let joined = machines
            .iter()
            .filter(|machine| machine["status"]["nodeRef"]["name"].is_string())
            .count();
        if joined == count && machines.len() == count {
            Ok(())
        } else {
            Err(state(&machines))
        }
    });
}

fn state(machines: &[Value]) -> String {
    let of = |machine: &Value| {
        let conditions = machine["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let open: Vec<String> = conditions
            .iter()
            .filter(|condition| {
                condition["status"] != "True"
                    && condition["type"] != "Deleting"
                    && condition["type"] != "Paused"
            })
            .map(|condition| format!("{} {}", condition["type"], condition["message"]))
            .collect();
        format!("{}: {}", machine["metadata"]["name"], open.join(", "))
    };
    machines.iter().map(of).collect::<Vec<_>>().join("\n")
}
