//! Clusters from their objects to their nodes.

use std::time::Duration;

use serde_json::{Value, json};

use super::parity;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{audit, components, wait};

pub(super) const LONG: Duration = Duration::from_secs(180);
pub(super) const SOON: Duration = Duration::from_secs(60);
pub(super) const CORE: &str = "cluster.x-k8s.io/v1beta2";
const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io/v1beta2";
const BOOTSTRAP: &str = "bootstrap.windlass.dev/v1beta2";
const VERSION: &str = "v1.34.1";

/// A control plane of KubeadmControlPlane with workers of ours, and one of stand-alone Machines of ours alone: both come up, every
/// data Secret is what `windlass render` makes of the same objects, they scale, roll out and go without a leftover.
pub(crate) fn clusters_come_up(context: &Context) {
    let plane = context.installed();
    for namespace in ["kcp", "alone"] {
        plane.api.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).unwrap();
    }
    let with_control_plane = [
        cluster("kcp", Some("kcp")),
        infrastructure_cluster("kcp"),
        control_plane("kcp", 3),
        machine_template("kcp"),
        config_template("first"),
        deployment("kcp", 5, &TEMPLATES, "first"),
    ];
    let mut alone = vec![cluster("alone", None), infrastructure_cluster("alone")];
    for name in ["a", "b", "c"] {
        alone.extend(control_plane_machine(name));
    }
    for object in with_control_plane.iter().chain(&alone) {
        components::give(&plane, object, SOON, |_| false);
    }
    expect_nodes(&plane, "kcp", 8);
    expect_nodes(&plane, "alone", 3);
    parity::assert_data_is_rendered(&plane, context.folder(), "kcp", 5);
    parity::assert_data_is_rendered(&plane, context.folder(), "alone", 3);
    only_one_was_told_to_init(&plane);
    expect_available(&plane, "kcp");
    assert!(plane.api.get("v1", "ConfigMap", Some("alone"), "alone-lock").is_err(), "the lock is given back");

    scale_and_roll_out(&plane);
    parity::assert_data_is_rendered(&plane, context.folder(), "kcp", 4);
    delete(&plane);
    audit::assert_all_was_allowed(&plane);
}

/// One control plane Machine and a worker of ours become nodes of a Cluster that is available.
pub(crate) fn one_cluster_comes_up(plane: &ControlPlane) {
    plane.api.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kcp"}})).unwrap();
    let objects = [
        cluster("kcp", Some("kcp")),
        infrastructure_cluster("kcp"),
        control_plane("kcp", 1),
        machine_template("kcp"),
        config_template("first"),
        deployment("kcp", 1, &TEMPLATES, "first"),
    ];
    for object in &objects {
        components::give(plane, object, SOON, |_| false);
    }
    expect_nodes(plane, "kcp", 2);
    expect_available(plane, "kcp");
}

pub(super) fn cluster(name: &str, control_plane: Option<&str>) -> Value {
    let mut cluster = json!({
        "apiVersion": CORE, "kind": "Cluster", "metadata": {"name": name, "namespace": name},
        "spec": {
            "clusterNetwork": {"services": {"cidrBlocks": ["10.128.0.0/12"]}, "pods": {"cidrBlocks": ["192.168.0.0/16"]}},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster", "name": name},
        },
    });
    if let Some(name) = control_plane {
        cluster["spec"]["controlPlaneRef"] =
            json!({"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": name});
    }
    cluster
}

pub(super) fn infrastructure_cluster(name: &str) -> Value {
    json!({
        "apiVersion": INFRASTRUCTURE, "kind": "DevCluster",
        // The provider writes annotations into a map that must be there.
        "metadata": {"name": name, "namespace": name, "annotations": {"example.com/a": "b"}},
        "spec": {"backend": {"inMemory": {}}},
    })
}

/// A machine in memory that is there in a second.
fn machine_in_memory() -> Value {
    let soon = json!({"provisioning": {"startupDuration": "1s"}});
    json!({"backend": {"inMemory": {"vm": soon, "node": soon, "apiServer": soon, "etcd": soon}}})
}

pub(super) fn machine_template(namespace: &str) -> Value {
    json!({
        "apiVersion": INFRASTRUCTURE, "kind": "DevMachineTemplate", "metadata": {"name": "m", "namespace": namespace},
        "spec": {"template": {"spec": machine_in_memory()}},
    })
}

/// A control plane of that name and namespace.
pub(super) fn control_plane(name: &str, replicas: u32) -> Value {
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

pub(super) fn node() -> Value {
    json!({"nodeRegistration": {"criSocket": "unix:///var/run/containerd/containerd.sock"}})
}

fn config_template(name: &str) -> Value {
    let spec = json!({"joinConfiguration": node(), "preKubeadmCommands": [format!("echo {name}")]});
    json!({
        "apiVersion": BOOTSTRAP, "kind": "WindlassConfigTemplate", "metadata": {"name": name, "namespace": "kcp"},
        "spec": {"template": {"spec": spec}},
    })
}

/// Group and kind of our templates.
const TEMPLATES: [&str; 2] = ["bootstrap.windlass.dev", "WindlassConfigTemplate"];

/// Workers of the Cluster of that name and namespace, with a template of that group and kind.
pub(super) fn deployment(cluster: &str, replicas: u32, [group, kind]: &[&str; 2], template: &str) -> Value {
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

/// A Machine of a control plane that nobody controls, its config and its machine in memory.
fn control_plane_machine(name: &str) -> [Value; 3] {
    let metadata = json!({"name": name, "namespace": "alone", "labels": {"cluster.x-k8s.io/cluster-name": "alone"}});
    let mut labelled = metadata.clone();
    labelled["labels"]["cluster.x-k8s.io/control-plane"] = json!("");
    let config = json!({
        "apiVersion": BOOTSTRAP, "kind": "WindlassConfig", "metadata": metadata,
        "spec": {"initConfiguration": node(), "joinConfiguration": node()},
    });
    let machine = json!({
        "apiVersion": CORE, "kind": "Machine", "metadata": labelled,
        "spec": {
            "clusterName": "alone", "version": VERSION,
            "bootstrap": {"configRef": {"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": name}},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachine", "name": name},
        },
    });
    let infrastructure = json!({"apiVersion": INFRASTRUCTURE, "kind": "DevMachine", "metadata": labelled, "spec": machine_in_memory()});
    [config, machine, infrastructure]
}

/// Waits until so many Machines are nodes, and no more are there.
pub(super) fn expect_nodes(plane: &ControlPlane, namespace: &str, count: usize) {
    wait::until(&format!("{count} nodes of {namespace}"), LONG, || {
        plane.assert_running();
        let machines = plane.api.list(CORE, "Machine", Some(namespace));
        let joined = machines.iter().filter(|machine| machine["status"]["nodeRef"]["name"].is_string()).count();
        if joined == count && machines.len() == count { Ok(()) } else { Err(state(&machines)) }
    });
}

fn state(machines: &[Value]) -> String {
    let of = |machine: &Value| {
        let conditions = machine["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let open: Vec<String> = conditions
            .iter()
            .filter(|condition| condition["status"] != "True" && condition["type"] != "Deleting" && condition["type"] != "Paused")
            .map(|condition| format!("{} {}", condition["type"], condition["message"]))
            .collect();
        format!("{}: {}", machine["metadata"]["name"], open.join(", "))
    };
    machines.iter().map(of).collect::<Vec<_>>().join("\n")
}

fn expect_available(plane: &ControlPlane, name: &str) {
    wait::until(&format!("Cluster {name} to be Available"), LONG, || {
        let cluster = plane.api.get(CORE, "Cluster", Some(name), name).map_err(|refusal| refusal.to_string())?;
        let conditions = cluster["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is_available = conditions.iter().any(|condition| condition["type"] == "Available" && condition["status"] == "True");
        if is_available { Ok(()) } else { Err(format!("{conditions:?}")) }
    });
}

fn only_one_was_told_to_init(plane: &ControlPlane) {
    let texts = parity::data_of(plane, "alone");
    let inits = texts.iter().filter(|(_, text)| text.contains("kubeadm init")).count();
    let joins = texts.iter().filter(|(_, text)| text.contains("kubeadm join") && text.contains("/etc/kubernetes/pki/ca.key")).count();
    assert_eq!([inits, joins], [1, 2]);
}

/// Down to three, up to four, and another template for all of them.
fn scale_and_roll_out(plane: &ControlPlane) {
    let deployment = plane.api.get(CORE, "MachineDeployment", Some("kcp"), "md").unwrap();
    plane.api.merge(&deployment, &json!({"spec": {"replicas": 3}})).unwrap();
    expect_nodes(plane, "kcp", 6);
    // The next ones are of the other template.
    plane.api.merge(&deployment, &json!({"spec": {"replicas": 4}})).unwrap();
    plane.api.apply(&config_template("second")).unwrap();
    let change = json!({"spec": {"template": {"spec": {"bootstrap": {"configRef": {"name": "second"}}}}}});
    plane.api.merge(&deployment, &change).unwrap();
    wait::until("workers of the second template alone", LONG, || {
        let texts = parity::data_of(plane, "kcp");
        let second = texts.iter().filter(|(_, text)| text.contains("echo second")).count();
        if second == 4 && texts.len() == 4 { Ok(()) } else { Err(format!("{second} of {}", texts.len())) }
    });
    expect_nodes(plane, "kcp", 7);
}

/// Nothing of ours outlives its Cluster.
fn delete(plane: &ControlPlane) {
    for name in ["kcp", "alone"] {
        plane.api.delete(&plane.api.get(CORE, "Cluster", Some(name), name).unwrap()).unwrap();
    }
    for name in ["kcp", "alone"] {
        wait::until(&format!("Cluster {name} to be gone"), LONG, || match plane.api.get(CORE, "Cluster", Some(name), name) {
            Err(refusal) if refusal.code == 404 => Ok(()),
            other => Err(format!("{other:?}")),
        });
        wait::until(&format!("everything of {name} to be gone"), SOON, || {
            let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(name));
            let secrets = plane.api.list("v1", "Secret", Some(name));
            let locks =
                plane.api.list("v1", "ConfigMap", Some(name)).into_iter().filter(|map| map["metadata"]["name"] != "kube-root-ca.crt");
            let left: Vec<String> = configs
                .iter()
                .chain(&secrets)
                .chain(&locks.collect::<Vec<_>>())
                .map(|object| object["metadata"]["name"].to_string())
                .collect();
            if left.is_empty() { Ok(()) } else { Err(left.join(", ")) }
        });
    }
}
