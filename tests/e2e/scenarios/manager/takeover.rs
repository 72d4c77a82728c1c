//! Two managers, of which the one that leads is killed in the middle of its work.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::parity;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{components, installation, shared, wait, windlass, windlass_manager};

const LONG: Duration = Duration::from_secs(90);
const MACHINES: usize = 30;
const CORE: &str = "cluster.x-k8s.io/v1beta2";
const BOOTSTRAP: &str = "bootstrap.windlass.dev/v1beta2";
const NAMESPACE: &str = "default";

/// With the leader killed after a few of thirty Machines have their data, the other one makes the rest: each config has one token, no token is left
/// over, every Secret is what is rendered, and nothing that was done is done again.
pub(crate) fn a_killed_leader_is_replaced(context: &Context) {
    let plane = context.control_plane();
    install(&plane);
    let quick = [
        "--leader-elect",
        "--leader-elect-lease-duration=4s",
        "--leader-elect-renew-deadline=3s",
        "--leader-elect-retry-period=500ms",
        // So slow that there is a middle.
        "--kube-api-qps=40",
        "--kube-api-burst=10",
    ];
    let mut first = windlass_manager::start(&plane, "first", &quick);
    a_cluster(&plane);
    for index in 0..MACHINES {
        a_machine(&plane, &format!("m{index:02}"));
    }
    wait::until("some data", LONG, || {
        let count = parity::data_of(&plane, NAMESPACE).len();
        if count >= 5 { Ok(()) } else { Err(format!("{count} Secrets")) }
    });
    first.process.kill();
    windlass::restore_webhooks(&plane, windlass::NAMESPACE, first.webhook_port);
    let before = versions(&plane);
    assert!(before.len() < MACHINES, "it was too quick to be killed in the middle");
    plane.adopt(windlass_manager::start(&plane, "second", &quick).process);
    wait::until("all data", LONG, || {
        plane.assert_running();
        let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE));
        let done = configs.iter().filter(|config| config["status"]["initialization"]["dataSecretCreated"] == true).count();
        if done == MACHINES { Ok(()) } else { Err(format!("{done} of {MACHINES}")) }
    });
    assert!(before.is_subset(&versions(&plane)), "what was written was written again");
    assert_one_token_each(&plane);
    parity::assert_data_is_rendered(&plane, context.folder(), NAMESPACE, MACHINES);
}

/// The kinds of the core without its manager, whose webhooks nobody would answer, and our release.
fn install(plane: &ControlPlane) {
    components::apply(plane, &shared::cluster_api(installation::CLUSTER_API).join("core-components.yaml"));
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        for object in plane.api.list("admissionregistration.k8s.io/v1", kind, None) {
            plane.api.delete(&object).unwrap();
        }
    }
    let release = shared::checkout().join("releases").join(windlass::LABEL).join(windlass::VERSION);
    components::apply(plane, &release.join("bootstrap-components.yaml"));
}

/// A Cluster whose control plane is there; our API server is its own workload cluster.
fn a_cluster(plane: &ControlPlane) {
    let secret = |name: &str, data: Value| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": {"name": name, "namespace": NAMESPACE},
            "data": data,
        })
    };
    let kubeconfig = STANDARD.encode(std::fs::read(&plane.kubeconfig).unwrap());
    plane.api.create(&secret("c-kubeconfig", json!({"value": kubeconfig}))).unwrap();
    let authority = STANDARD.encode(&plane.certificates.authority);
    plane.api.create(&secret("c-ca", json!({"tls.crt": authority, "tls.key": STANDARD.encode("key")}))).unwrap();
    let cluster = json!({
        "apiVersion": CORE, "kind": "Cluster", "metadata": {"name": "c", "namespace": NAMESPACE},
        "spec": {
            "controlPlaneEndpoint": {"host": "10.0.0.1", "port": 6443},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Any", "name": "c"},
        },
    });
    let cluster = plane.api.create(&cluster).unwrap();
    let initialized = json!({
        "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let status = json!({"initialization": {"infrastructureProvisioned": true}, "conditions": [initialized]});
    plane.api.merge_status(&cluster, &status).unwrap();
}

/// A worker and its config, as the core leaves them.
fn a_machine(plane: &ControlPlane, name: &str) {
    let reference = |group: &str, kind: &str| json!({"apiGroup": group, "kind": kind, "name": name});
    let machine = json!({
        "apiVersion": CORE, "kind": "Machine", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "clusterName": "c", "version": "v1.34.1",
            "bootstrap": {"configRef": reference("bootstrap.windlass.dev", "WindlassConfig")},
            "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "Any"),
        },
    });
    let machine = plane.api.create(&machine).unwrap();
    let owner = json!({"apiVersion": CORE, "kind": "Machine", "name": name, "uid": machine["metadata"]["uid"], "controller": true});
    let labels = json!({"cluster.x-k8s.io/cluster-name": "c"});
    let config = json!({
        "apiVersion": BOOTSTRAP, "kind": "WindlassConfig",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels, "ownerReferences": [owner]},
        "spec": {"joinConfiguration": {"nodeRegistration": {"taints": []}}},
    });
    components::give(plane, &config, LONG, |_| false);
}

/// Name and version of each data Secret.
fn versions(plane: &ControlPlane) -> BTreeSet<String> {
    let secrets = plane.api.list("v1", "Secret", Some(NAMESPACE)).into_iter().filter(|secret| secret["data"]["value"].is_string());
    let version = |secret: Value| format!("{} {}", secret["metadata"]["name"], secret["metadata"]["resourceVersion"]);
    secrets.map(version).filter(|shown| !shown.contains("kubeconfig")).collect()
}

fn assert_one_token_each(plane: &ControlPlane) {
    let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE));
    let token = |config: &Value| {
        let token = config["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"].as_str().unwrap();
        format!("bootstrap-token-{}", token.split_once('.').unwrap().0)
    };
    let wanted: BTreeSet<String> = configs.iter().map(token).collect();
    let all = plane.api.list("v1", "Secret", Some("kube-system"));
    let made = all.iter().filter(|secret| secret["type"] == "bootstrap.kubernetes.io/token");
    let made: BTreeSet<String> = made.map(|secret| secret["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(made, wanted);
    assert_eq!(wanted.len(), MACHINES);
}
