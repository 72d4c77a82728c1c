//! What the controller decides, against two clusters in memory. Conditions are those that the
//! kubeadm bootstrap provider was seen to write, and the texts of Cluster API's contract.

mod conditions;
mod decisions;
mod kubeadm;
mod model;
mod odd;
mod referenced;
mod site;
mod skew;
mod upstream;

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use site::{Site, key};

const CORE: &str = "cluster.x-k8s.io";

/// `data` of the Secret of a CA: made once, for generating takes a while.
fn key_pair() -> Value {
    static PAIR: OnceLock<Value> = OnceLock::new();
    let make = || {
        let mut parameters = rcgen::CertificateParams::default();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        json!({"tls.crt": STANDARD.encode(certificate.pem()), "tls.key": STANDARD.encode(key.serialize_pem())})
    };
    PAIR.get_or_init(make).clone()
}

/// A site with a Cluster `c` whose infrastructure is there.
fn with_cluster() -> Site {
    let mut site = Site::new();
    site.put(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "c"},
        "spec": {"controlPlaneEndpoint": {"host": "10.0.0.1", "port": 6443}},
        "status": {"initialization": {"infrastructureProvisioned": true}},
    }));
    site
}

/// The same, with a control plane that runs and its certificates.
fn with_control_plane() -> Site {
    let mut site = with_cluster();
    initialize(&mut site);
    for purpose in ["ca", "etcd", "proxy", "sa"] {
        site.put(json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": {"name": format!("c-{purpose}")},
            "data": key_pair(),
        }));
    }
    site
}

fn initialize(site: &mut Site) {
    let conditions = json!([{"type": "ControlPlaneInitialized", "status": "True"}]);
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"status": {"conditions": conditions}}),
    );
}

/// A Machine and its config, both of that name.
fn add_machine(site: &mut Site, name: &str, is_control_plane: bool, spec: Value) {
    let labels = if is_control_plane {
        json!({"cluster.x-k8s.io/control-plane": ""})
    } else {
        json!({})
    };
    site.put(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": {"name": name, "labels": labels},
        "spec": {"clusterName": "c", "version": "v1.34.1"},
    }));
    add_config(site, name, "Machine", spec);
}

/// A MachinePool with so many replicas, and its config.
fn add_pool(site: &mut Site, name: &str, replicas: u32) {
    site.put(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "metadata": {"name": name},
        "spec": {"clusterName": "c", "replicas": replicas, "template": {"spec": {"clusterName": "c", "version": "v1.34.1"}}},
    }));
    add_config(
        site,
        name,
        "MachinePool",
        json!({"joinConfiguration": {"nodeRegistration": {"name": "x"}}}),
    );
}

fn add_config(site: &mut Site, name: &str, owner: &str, spec: Value) {
    let uid = site
        .get(&key(CORE, owner, name))
        .map_or(json!("u"), |owner| owner["metadata"]["uid"].clone());
    let owner = json!([{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": owner, "name": name, "uid": uid, "controller": true}]);
    let (group, kind) = match site.kubeadm {
        true => ("bootstrap.cluster.x-k8s.io", "KubeadmConfig"),
        false => ("bootstrap.windlass.dev", "WindlassConfig"),
    };
    let metadata = json!({"name": name, "namespace": site::NAMESPACE, "ownerReferences": owner});
    let config = json!({"apiVersion": format!("{group}/v1beta2"), "kind": kind, "metadata": metadata, "spec": spec});
    site.insert(&Site::config_key(name), config);
}

fn config<'a>(site: &'a Site, name: &str) -> &'a Value {
    site.get(&Site::config_key(name))
        .expect("the config is there")
}

/// Status, reason and message of a condition.
fn condition<'a>(site: &'a Site, name: &str, kind: &str) -> Option<[&'a str; 3]> {
    let conditions = config(site, name)["status"]["conditions"].as_array()?;
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == kind)?;
    Some(["status", "reason", "message"].map(|field| found[field].as_str().unwrap()))
}

/// Status, severity and reason of a condition of contract v1beta1.
fn older_condition<'a>(site: &'a Site, name: &str, kind: &str) -> Option<[&'a str; 3]> {
    let conditions =
        config(site, name)["status"]["deprecated"]["v1beta1"]["conditions"].as_array()?;
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == kind)?;
    Some(["status", "severity", "reason"].map(|field| found[field].as_str().unwrap_or_default()))
}

/// The bootstrap data of a config.
fn data(site: &Site, name: &str) -> Option<String> {
    let secret = site.get(&key("", "Secret", name))?;
    Some(decoded(&secret["data"]["value"]))
}

fn decoded(value: &Value) -> String {
    String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap()
}

/// The token in the spec of a config.
fn token<'a>(site: &'a Site, name: &str) -> Option<&'a str> {
    config(site, name)["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"].as_str()
}
