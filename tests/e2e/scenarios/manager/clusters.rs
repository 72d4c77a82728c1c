//! Clusters from their objects to their nodes.

use std::time::Duration;

use serde_json::{Value, json};

use super::parity;
use crate::harness::control_plane::ControlPlane;
use crate::harness::in_memory::{
    CORE, INFRASTRUCTURE, VERSION, cluster, control_plane, deployment, expect_nodes,
    infrastructure_cluster, machine_in_memory, machine_template, node,
};
use crate::harness::runner::Context;
use crate::harness::{audit, components, wait};

pub(super) const LONG: Duration = Duration::from_secs(180);
pub(super) const SOON: Duration = Duration::from_secs(60);
const BOOTSTRAP: &str = "bootstrap.windlass.dev/v1beta2";

/// A control plane of KubeadmControlPlane with workers of ours, and one of stand-alone Machines of
/// ours alone: both come up, every data Secret is what `windlass render` makes of the same objects,
/// they scale, roll out and go without a leftover.
pub(crate) fn clusters_come_up(context: &Context) {
    let plane = context.installed();
    for namespace in ["kcp", "alone"] {
        plane
            .api
            .apply(
                &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
            )
            .unwrap();
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
    assert!(
        plane
            .api
            .get("v1", "ConfigMap", Some("alone"), "alone-lock")
            .is_err(),
        "the lock is given back"
    );

    scale_and_roll_out(&plane);
    parity::assert_data_is_rendered(&plane, context.folder(), "kcp", 4);
    delete(&plane);
    audit::assert_all_was_allowed(&plane);
}

/// One control plane Machine and a worker of ours become nodes of a Cluster that is available.
pub(crate) fn one_cluster_comes_up(plane: &ControlPlane) {
    plane
        .api
        .apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kcp"}}))
        .unwrap();
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

fn config_template(name: &str) -> Value {
    let spec = json!({"joinConfiguration": node(), "preKubeadmCommands": [format!("echo {name}")]});
    json!({
        "apiVersion": BOOTSTRAP, "kind": "WindlassConfigTemplate", "metadata": {"name": name, "namespace": "kcp"},
        "spec": {"template": {"spec": spec}},
    })
}

/// Group and kind of our templates.
const TEMPLATES: [&str; 2] = ["bootstrap.windlass.dev", "WindlassConfigTemplate"];

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

fn expect_available(plane: &ControlPlane, name: &str) {
    wait::until(&format!("Cluster {name} to be Available"), LONG, || {
        let cluster = plane
            .api
            .get(CORE, "Cluster", Some(name), name)
            .map_err(|rejection| rejection.to_string())?;
        let conditions = cluster["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_available = conditions
            .iter()
            .any(|condition| condition["type"] == "Available" && condition["status"] == "True");
        if is_available {
            Ok(())
        } else {
            Err(format!("{conditions:?}"))
        }
    });
}

fn only_one_was_told_to_init(plane: &ControlPlane) {
    let texts = parity::data_of(plane, "alone");
    let inits = texts
        .iter()
        .filter(|(_, text)| text.contains("kubeadm init"))
        .count();
    let joins = texts
        .iter()
        .filter(|(_, text)| {
            text.contains("kubeadm join") && text.contains("/etc/kubernetes/pki/ca.key")
        })
        .count();
    assert_eq!([inits, joins], [1, 2]);
}

/// Down to three, up to four, and another template for all of them.
fn scale_and_roll_out(plane: &ControlPlane) {
    let deployment = plane
        .api
        .get(CORE, "MachineDeployment", Some("kcp"), "md")
        .unwrap();
    plane
        .api
        .merge(&deployment, &json!({"spec": {"replicas": 3}}))
        .unwrap();
    expect_nodes(plane, "kcp", 6);
    // The next ones are of the other template.
    plane
        .api
        .merge(&deployment, &json!({"spec": {"replicas": 4}}))
        .unwrap();
    plane.api.apply(&config_template("second")).unwrap();
    let change =
        json!({"spec": {"template": {"spec": {"bootstrap": {"configRef": {"name": "second"}}}}}});
    plane.api.merge(&deployment, &change).unwrap();
    wait::until("workers of the second template alone", LONG, || {
        let texts = parity::data_of(plane, "kcp");
        let second = texts
            .iter()
            .filter(|(_, text)| text.contains("echo second"))
            .count();
        if second == 4 && texts.len() == 4 {
            Ok(())
        } else {
            Err(format!("{second} of {}", texts.len()))
        }
    });
    expect_nodes(plane, "kcp", 7);
}

/// Nothing of ours outlives its Cluster.
fn delete(plane: &ControlPlane) {
    for name in ["kcp", "alone"] {
        plane
            .api
            .delete(&plane.api.get(CORE, "Cluster", Some(name), name).unwrap())
            .unwrap();
    }
    for name in ["kcp", "alone"] {
        wait::until(
            &format!("Cluster {name} to be gone"),
            LONG,
            || match plane.api.get(CORE, "Cluster", Some(name), name) {
                Err(rejection) if rejection.code == 404 => Ok(()),
                other => Err(format!("{other:?}")),
            },
        );
        wait::until(&format!("everything of {name} to be gone"), SOON, || {
            let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(name));
            let secrets = plane.api.list("v1", "Secret", Some(name));
            let locks = plane
                .api
                .list("v1", "ConfigMap", Some(name))
                .into_iter()
                .filter(|map| map["metadata"]["name"] != "kube-root-ca.crt");
            let left: Vec<String> = configs
                .iter()
                .chain(&secrets)
                .chain(&locks.collect::<Vec<_>>())
                .map(|object| object["metadata"]["name"].to_string())
                .collect();
            if left.is_empty() {
                Ok(())
            } else {
                Err(left.join(", "))
            }
        });
    }
}
