//! A Cluster made from our ClusterClass by the real topology controller.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use ::windlass::api::names::Version;

use super::templates::{generate, templates};
use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{installation, wait};

const SOON: Duration = Duration::from_secs(60);
const CORE: &str = "cluster.x-k8s.io/v1beta2";
const NAMESPACE: &str = "topology";

/// The topology controller makes everything from the class; in later rounds it finds nothing to change but what the user changed.
pub(crate) fn cluster_of_our_class_settles(context: &Context) {
    let plane = context.installed();
    plane.api.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})).unwrap();
    let clusterctl = Clusterctl::new(installation::CLUSTER_API, &plane, installation::CLUSTER_API);
    for wanted in ["clusterclass-windlass.yaml", "cluster-template-topology.yaml"] {
        let (_, path) = templates().into_iter().find(|(name, _)| name == wanted).unwrap();
        for document in generate(&clusterctl, &path.display().to_string(), NAMESPACE) {
            // The Cluster is refused until the class has been looked at.
            wait::until(&format!("{} to be taken", document["kind"]), SOON, || {
                plane.api.apply(&document).map_err(|refusal| refusal.to_string())
            });
        }
    }
    let cluster = expect_condition(&plane, "Cluster", "prod", "TopologyReconciled");
    expect_condition(&plane, "ClusterClass", "windlass", "RefVersionsUpToDate");
    let first = made(&plane);

    let class_template = get(&plane, &Version::V1Beta2.api_version(), "WindlassConfigTemplate", "windlass-default-worker");
    let clones = clones(&plane);
    assert_eq!(clones.len(), 1, "one class of workers");
    assert_eq!(clones[0]["spec"], class_template["spec"]);
    let labels = &clones[0]["metadata"]["labels"];
    assert_eq!(labels["cluster.x-k8s.io/cluster-name"], "prod");
    assert_eq!(labels["topology.cluster.x-k8s.io/deployment-name"], "md-0");
    let deployment = plane.api.list(CORE, "MachineDeployment", Some(NAMESPACE)).remove(0);
    assert_eq!(deployment["spec"]["template"]["spec"]["bootstrap"]["configRef"]["name"], clones[0]["metadata"]["name"]);

    // A round that has something to do, so that we see that it was: it does that and nothing else.
    let name = deployment["metadata"]["name"].as_str().unwrap();
    let mut topology = cluster["spec"]["topology"].clone();
    topology["workers"]["machineDeployments"][0]["replicas"] = json!(3);
    plane.api.merge(&cluster, &json!({"spec": {"topology": topology}})).unwrap();
    wait::until("the next round", SOON, || {
        let replicas = get(&plane, CORE, "MachineDeployment", name)["spec"]["replicas"].clone();
        if replicas == 3 { Ok(()) } else { Err(format!("replicas: {replicas}")) }
    });
    let mut second = made(&plane);
    let changed = second.insert(format!("MachineDeployment {name}"), first[&format!("MachineDeployment {name}")].clone());
    assert_ne!(changed, first.get(&format!("MachineDeployment {name}")).cloned());
    assert_eq!(second, first);
}

/// Waits until an object says that a condition holds.
fn expect_condition(plane: &ControlPlane, kind: &str, name: &str, condition: &str) -> Value {
    wait::until(&format!("{condition} of {kind} {name}"), SOON, || {
        plane.assert_running();
        let found = get(plane, CORE, kind, name);
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let holds = conditions.iter().any(|c| c["type"] == condition && c["status"] == "True");
        if holds { Ok(found) } else { Err(format!("{conditions:?}")) }
    })
}

fn get(plane: &ControlPlane, api_version: &str, kind: &str, name: &str) -> Value {
    plane.api.get(api_version, kind, Some(NAMESPACE), name).unwrap_or_else(|refusal| panic!("{kind} {name}: {refusal}"))
}

/// Our templates that the topology controller cloned.
fn clones(plane: &ControlPlane) -> Vec<Value> {
    let all = plane.api.list(&Version::V1Beta2.api_version(), "WindlassConfigTemplate", Some(NAMESPACE));
    all.into_iter().filter(is_of_topology).collect()
}

fn is_of_topology(object: &Value) -> bool {
    object["metadata"]["labels"].get("topology.cluster.x-k8s.io/owned").is_some()
}

/// Everything that the topology controller made: the identity, and the generation, which counts the changes of the spec.
fn made(plane: &ControlPlane) -> BTreeMap<String, Value> {
    let all = plane.api.everything().into_iter().filter(|object| object["metadata"]["namespace"] == NAMESPACE && is_of_topology(object));
    // The Cluster is the user's; Machines and what belongs to them go on changing.
    let of_it = |object: &Value| {
        !["Cluster", "MachineSet", "Machine", "WindlassConfig", "KubeadmConfig", "DockerMachine"].iter().any(|kind| object["kind"] == *kind)
    };
    let made: BTreeMap<String, Value> = all
        .filter(of_it)
        .map(|object| {
            let title = format!("{} {}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
            (title, json!([object["metadata"]["uid"], object["metadata"]["generation"]]))
        })
        .collect();
    for kind in ["DockerCluster", "KubeadmControlPlane", "DockerMachineTemplate", "MachineDeployment", "WindlassConfigTemplate"] {
        assert!(made.keys().any(|title| title.starts_with(kind)), "no {kind} was made: {:?}", made.keys());
    }
    made
}
