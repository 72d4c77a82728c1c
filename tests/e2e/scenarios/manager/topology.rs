//! A Cluster of our ClusterClass, from the files that its user has to what its machines boot from.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::clusters::SOON;
use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::in_memory::{CORE, expect_nodes};
use crate::harness::runner::Context;
use crate::harness::{components, installation, windlass};
use crate::scenarios::templates::{generate, templates};

const NAMESPACE: &str = "classy";
/// The release of Cluster API whose kubeadm providers are installed.
const RELEASE: &str = "v1.12";

/// Topology controller, control plane and managers make machines of our class; what each boots from
/// is, byte for byte, what `windlass render --all` makes of class, templates and Cluster, given the
/// Secrets and the machine's token.
pub(crate) fn machines_of_our_class_boot_from_what_is_rendered(context: &Context) {
    let plane = context.installed();
    plane
        .api
        .apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}))
        .unwrap();
    let mut files = documents(&plane);
    for document in &files {
        // The Cluster is rejected until the class has been looked at.
        components::give(&plane, document, SOON, |rejection| {
            document["kind"] == "Cluster"
                && rejection
                    .message()
                    .contains("ClusterClass is not successfully reconciled")
        });
    }
    expect_nodes(&plane, NAMESPACE, 5);

    files.retain(|document| document["kind"] != "Cluster");
    // With the endpoint, which the infrastructure gave it.
    files.extend(plane.api.list(CORE, "Cluster", Some(NAMESPACE)));
    files.extend(plane.api.list("v1", "Secret", Some(NAMESPACE)));
    let file = context.folder().join("topology.json");
    std::fs::write(
        &file,
        json!({"apiVersion": "v1", "kind": "List", "items": files}).to_string(),
    )
    .unwrap();
    let file = file.display().to_string();
    let mut roles: Vec<String> = plane
        .api
        .list(CORE, "Machine", Some(NAMESPACE))
        .iter()
        .map(|machine| compare(&plane, context, &file, machine))
        .collect();
    roles.sort();
    assert_eq!(
        roles,
        [
            "control-plane-join",
            "control-plane-join",
            "init",
            "worker-join",
            "worker-join"
        ]
    );
}

/// Class, templates and Cluster as clusterctl makes them of our flavors, with patches that are
/// wanted, on machines in memory.
fn documents(plane: &ControlPlane) -> Vec<Value> {
    let clusterctl = Clusterctl::new(installation::CLUSTER_API, plane, installation::CLUSTER_API);
    let mut documents = Vec::new();
    for wanted in [
        "clusterclass-windlass.yaml",
        "cluster-template-topology.yaml",
    ] {
        let (_, path) = templates()
            .into_iter()
            .find(|(name, _)| name == wanted)
            .unwrap();
        documents.extend(generate(
            &clusterctl,
            &path.display().to_string(),
            NAMESPACE,
        ));
    }
    let soon = json!({"provisioning": {"startupDuration": "1s"}});
    for document in &mut documents {
        match document["kind"].as_str().unwrap() {
            "DevClusterTemplate" => {
                document["spec"]["template"]["spec"] = json!({"backend": {"inMemory": {}}})
            }
            "DevMachineTemplate" => {
                let backend = json!({"inMemory": {"vm": soon, "node": soon, "apiServer": soon, "etcd": soon}});
                document["spec"]["template"]["spec"] = json!({"backend": backend});
            }
            "Cluster" => {
                document["spec"]["topology"]["variables"] = json!([
                    {"name": "imageRepository", "value": "registry.example.com/kubernetes"},
                    {"name": "podSecurity", "value": {"enforce": "restricted"}},
                    {"name": "proxy", "value": {"url": "http://u:p%40s@proxy.example.com:3128"}},
                    {"name": "workerOnFailure", "value": "Abort"},
                ]);
            }
            _ => (),
        }
    }
    documents
}

/// The role of a Machine, when what it boots from is what is rendered for that role.
fn compare(plane: &ControlPlane, context: &Context, file: &str, machine: &Value) -> String {
    let name = machine["spec"]["bootstrap"]["dataSecretName"]
        .as_str()
        .unwrap();
    let secret = plane
        .api
        .get("v1", "Secret", Some(NAMESPACE), name)
        .unwrap();
    let stored = String::from_utf8(
        STANDARD
            .decode(secret["data"]["value"].as_str().unwrap())
            .unwrap(),
    )
    .unwrap();
    let is_control_plane = machine["metadata"]["labels"]
        .get("cluster.x-k8s.io/control-plane")
        .is_some();
    let role = match (stored.contains("kubeadm init"), is_control_plane) {
        (true, _) => "init",
        (false, true) => "control-plane-join",
        (false, false) => "worker-join",
    };
    let mut arguments = vec![
        "render",
        file,
        "--all",
        "-o",
        "json",
        "--show-secrets",
        "-q",
        "--capi-version",
        RELEASE,
    ];
    let token = stored
        .lines()
        .find_map(|line| line.trim().strip_prefix("token: "));
    arguments.extend(token.iter().flat_map(|token| ["--token", *token]));
    let printed: Value =
        serde_json::from_str(&windlass::run(context.folder(), &arguments).stdout).unwrap();
    let rendered: Vec<&str> = printed["machines"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|machine| machine["role"] == role)
        .map(|machine| machine["data"].as_str().unwrap())
        .collect();
    let [rendered] = rendered[..] else {
        panic!("{role}: {} kinds of machines", rendered.len())
    };
    assert!(
        rendered == stored,
        "{role}: the machine boots from\n{stored}\nand render makes\n{rendered}"
    );
    role.to_owned()
}
