//! Clusters with their classes and templates: ours, those of the corpus with several sets of
//! variables, random ones.

#[path = "../../../topology/classes.rs"]
mod classes;

use std::path::Path;

use serde_json::{Value, json};

use super::placeholders::is_template;
use super::random::Generator;
use crate::harness::random::Random;
use crate::harness::{components, shared};

/// A Cluster with all that its plan needs, in a namespace of its own.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) objects: Vec<Value>,
    /// The CRDs of its kinds, where the server has those of their providers.
    pub(super) definitions: Vec<Value>,
}

const RANDOM: usize = 50;
pub(super) const ANOTHER_CONTRACT: &str = "another-contract";

/// All inputs.
pub(super) fn all() -> Vec<Input> {
    let mut all = vec![ours()];
    all.extend(of_the_corpus());
    let mut generator = Generator::new(Random::announced());
    all.extend((0..RANDOM).map(|at| (format!("random-{at}"), generator.objects())));
    each_in_its_namespace(all)
}

/// Ours, and those of the corpus: with the Clusters that the vectors give them, and every
/// class with its own Clusters.
pub(super) fn of_providers() -> Vec<Input> {
    let mut all = of_the_corpus();
    all.push(ours());
    all.push(of_another_contract());
    for one in uses_of_the_corpus() {
        if all.iter().all(|(_, known)| *known != one.1) {
            all.push(one);
        }
    }
    each_in_its_namespace(all)
}

/// A class whose control plane fulfils the contract v1beta1 with a version called v1beta2, which
/// only the labels of its CRD say. The corpus has its CRDs and Clusters of its class, but not the
/// class.
fn of_another_contract() -> (String, Vec<Value>) {
    let [infrastructure, machine, control_plane, bootstrap] = [
        ("infrastructure.cluster.x-k8s.io", "DevClusterTemplate", json!({"backend": {"inMemory": {}}})),
        ("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", json!({"backend": {"inMemory": {}}})),
        ("controlplane.cluster.x-k8s.io", "KThreesControlPlaneTemplate", json!({"kthreesConfigSpec": {"serverConfig": {}}})),
        ("bootstrap.cluster.x-k8s.io", "KThreesConfigTemplate", json!({"preK3sCommands": ["true"]})),
    ]
    .map(|(group, kind, spec)| {
        json!({"apiVersion": format!("{group}/v1beta2"), "kind": kind, "metadata": {"name": "k3s"}, "spec": {"template": {"spec": spec}}})
    });
    let to = |template: &Value| json!({"templateRef": {"apiVersion": template["apiVersion"], "kind": template["kind"], "name": "k3s"}});
    let mut of_control_plane = to(&control_plane);
    of_control_plane["machineInfrastructure"] = to(&machine);
    of_control_plane["deletion"] = json!({"nodeDrainTimeoutSeconds": 90});
    let selector = json!({"apiVersion": control_plane["apiVersion"], "kind": control_plane["kind"], "matchResources": {"controlPlane": true}});
    let operation = json!({"op": "add", "path": "/spec/template/spec/kthreesConfigSpec/serverConfig/clusterDNS", "valueFrom": {"variable": "dns"}});
    let class = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": {"name": "k3s"},
        "spec": {
            "infrastructure": to(&infrastructure), "controlPlane": of_control_plane,
            "workers": {"machineDeployments": [{"class": "worker", "bootstrap": to(&bootstrap), "infrastructure": to(&machine)}]},
            "variables": [{"name": "dns", "required": true, "schema": {"openAPIV3Schema": {"type": "string"}}}],
            "patches": [{"name": "dns", "definitions": [{"selector": selector, "jsonPatches": [operation]}]}],
        },
    });
    let workers =
        json!({"machineDeployments": [{"class": "worker", "name": "md-0", "replicas": 1}]});
    let cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "k3s"},
        "spec": {"topology": {
            "classRef": {"name": "k3s"}, "version": "v1.34.1+k3s1", "workers": workers, "variables": [{"name": "dns", "value": "10.43.0.10"}],
            "controlPlane": {"replicas": 1, "deletion": {"nodeDeletionTimeoutSeconds": 30}},
        }},
    });
    (
        ANOTHER_CONTRACT.to_owned(),
        vec![
            infrastructure,
            machine,
            control_plane,
            bootstrap,
            class,
            cluster,
        ],
    )
}

/// The classes of the corpus whose templates are there.
fn uses_of_the_corpus() -> Vec<(String, Vec<Value>)> {
    let root = shared::path("corpus");
    let uses = classes::uses(&root, &shared::yaml_files(&root))
        .into_iter()
        .filter(|one| one.missing == 0);
    let named = |one: classes::Use| {
        let name = format!(
            "{} of {}",
            one.class,
            one.cluster.as_deref().unwrap_or("nobody")
        );
        (
            name,
            one.objects.into_iter().map(|(_, object)| object).collect(),
        )
    };
    let uses: Vec<_> = uses.map(named).collect();
    assert!(
        uses.len() >= 20,
        "only {} uses of classes in the corpus",
        uses.len()
    );
    uses
}

fn each_in_its_namespace(all: Vec<(String, Vec<Value>)>) -> Vec<Input> {
    let place = |(at, (name, objects)): (usize, (String, Vec<Value>))| {
        let namespace = format!("t-{at}");
        let objects = objects
            .into_iter()
            .filter_map(|object| placed(object, &namespace))
            .collect();
        Input {
            name,
            namespace,
            objects,
            definitions: Vec::new(),
        }
    };
    all.into_iter().enumerate().map(place).collect()
}

/// The class of our release, with its variables.
fn ours() -> (String, Vec<Value>) {
    let class = shared::checkout().join("templates/clusterclass-windlass.yaml");
    let mut objects = documents(&class);
    let variables = json!([
        {"name": "imageRepository", "value": "registry.example.com/kubernetes"},
        {"name": "podSecurity", "value": {"enforce": "restricted"}},
        {"name": "proxy", "value": {"url": "http://proxy.example.com:3128", "noProxy": "10.0.0.0/8"}},
        {"name": "workerOnFailure", "value": "Abort"},
    ]);
    let workers =
        json!({"machineDeployments": [{"class": "default-worker", "name": "md-0", "replicas": 1}]});
    objects.push(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "ours"},
        "spec": {"topology": {
            "classRef": {"name": "windlass"}, "version": "v1.34.1", "controlPlane": {"replicas": 1}, "workers": workers, "variables": variables,
        }},
    }));
    ("ours".to_owned(), objects)
}

/// The classes of the corpus with the Clusters that the vectors give them.
fn of_the_corpus() -> Vec<(String, Vec<Value>)> {
    let folder = shared::vectors("topology");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.retain(|name| {
        name.starts_with("real-") && folder.join(name).join("expected.json").is_file()
    });
    names.sort();
    assert!(
        names.len() >= 10,
        "only {} classes of the corpus with their variables",
        names.len()
    );
    let read = |name: String| {
        let file = folder.join(&name).join("input.yaml");
        // Some variables of the corpus are left in them.
        let text = classes::substituted(std::fs::read_to_string(&file).unwrap());
        (
            name,
            components::documents(&file.display().to_string(), text),
        )
    };
    names.into_iter().map(read).collect()
}

fn documents(file: &Path) -> Vec<Value> {
    components::documents(
        &file.display().to_string(),
        std::fs::read_to_string(file).unwrap(),
    )
}

/// The object in a namespace; nothing, where it is not part of a topology.
fn placed(mut object: Value, namespace: &str) -> Option<Value> {
    if !is_template(&object) && object["kind"] != "Cluster" && object["kind"] != "ClusterClass" {
        return None;
    }
    object["metadata"]["namespace"] = namespace.into();
    if let Some(topology) = object
        .pointer_mut("/spec/topology")
        .and_then(Value::as_object_mut)
    {
        topology.remove("classNamespace");
    }
    if let Some(class) = object
        .pointer_mut("/spec/topology/classRef")
        .and_then(Value::as_object_mut)
    {
        class.remove("namespace");
    }
    Some(object)
}
