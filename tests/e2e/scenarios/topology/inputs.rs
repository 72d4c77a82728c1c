//! Clusters with their classes and templates: ours, those of the corpus with several sets of variables, random ones.

use std::path::Path;

use serde_json::{Value, json};

use super::random::Generator;
use super::stand_ins::is_template;
use crate::harness::random::Random;
use crate::harness::{components, shared};

/// A Cluster with all that its plan needs, in a namespace of its own.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) objects: Vec<Value>,
}

const RANDOM: usize = 50;

/// All inputs.
pub(super) fn all() -> Vec<Input> {
    let mut all = vec![ours()];
    let corpus = of_the_corpus();
    assert!(corpus.len() >= 10, "only {} classes of the corpus with their variables", corpus.len());
    all.extend(corpus);
    let mut generator = Generator::new(Random::announced());
    all.extend((0..RANDOM).map(|at| (format!("random-{at}"), generator.objects())));
    let place = |(at, (name, objects)): (usize, (String, Vec<Value>))| {
        let namespace = format!("t-{at}");
        let objects = objects.into_iter().filter_map(|object| placed(object, &namespace)).collect();
        Input { name, namespace, objects }
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
    let workers = json!({"machineDeployments": [{"class": "default-worker", "name": "md-0", "replicas": 1}]});
    objects.push(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "ours"},
        "spec": {"topology": {
            "classRef": {"name": "windlass"}, "version": "v1.34.1", "controlPlane": {"replicas": 1}, "workers": workers, "variables": variables,
        }},
    }));
    ("ours".to_owned(), objects)
}

/// The classes of the corpus with the Clusters that the shared vectors give them.
fn of_the_corpus() -> Vec<(String, Vec<Value>)> {
    let folder = shared::path("vectors/topology");
    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.starts_with("real-") && folder.join(name).join("expected.json").is_file());
    names.sort();
    names.into_iter().map(|name| (name.clone(), documents(&folder.join(&name).join("input.yaml")))).collect()
}

fn documents(file: &Path) -> Vec<Value> {
    components::documents(&file.display().to_string(), std::fs::read_to_string(file).unwrap())
}

/// The object in a namespace; nothing, where it is no part of a topology.
fn placed(mut object: Value, namespace: &str) -> Option<Value> {
    if !is_template(&object) && object["kind"] != "Cluster" && object["kind"] != "ClusterClass" {
        return None;
    }
    object["metadata"]["namespace"] = namespace.into();
    if let Some(topology) = object.pointer_mut("/spec/topology").and_then(Value::as_object_mut) {
        topology.remove("classNamespace");
    }
    if let Some(class) = object.pointer_mut("/spec/topology/classRef").and_then(Value::as_object_mut) {
        class.remove("namespace");
    }
    Some(object)
}
