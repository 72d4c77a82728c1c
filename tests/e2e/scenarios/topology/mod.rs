//! Clusters of ClusterClasses under the real topology controller: of our class, of those of others,
//! of random ones.

mod comparison;
mod inputs;
mod machines;
mod parity;
pub(crate) mod placeholders;
mod random;
mod real_kinds;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use windlass_capi::api::names::Version;

use super::templates::{generate, templates};
use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{components, installation, wait};
pub(crate) use parity::{
    plans_are_what_v1_12_makes, plans_are_what_v1_14_makes, plans_over_real_kinds_of_v1_12,
    plans_over_real_kinds_of_v1_14,
};

const SOON: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(180);
/// Longer than the pauses in which controllers try again what they could not do.
const QUIET: Duration = Duration::from_secs(5);
const CORE: &str = "cluster.x-k8s.io/v1beta2";
const NAMESPACE: &str = "topology";

/// The topology controller makes everything from the class. A second round, which we see has been
/// because the Cluster says so of a generation that is ours, changes nothing at all: neither what
/// it made nor what others made of that.
pub(crate) fn cluster_of_our_class_settles(context: &Context) {
    let plane = context.installed();
    plane
        .api
        .apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}))
        .unwrap();
    let clusterctl = Clusterctl::new(installation::CLUSTER_API, &plane, installation::CLUSTER_API);
    for wanted in [
        "clusterclass-windlass.yaml",
        "cluster-template-topology.yaml",
    ] {
        let (_, path) = templates()
            .into_iter()
            .find(|(name, _)| name == wanted)
            .unwrap();
        for document in generate(&clusterctl, &path.display().to_string(), NAMESPACE) {
            // The Cluster is rejected until the class has been looked at.
            components::give(&plane, &document, SOON, |rejection| {
                document["kind"] == "Cluster"
                    && rejection
                        .message()
                        .contains("ClusterClass is not successfully reconciled")
            });
        }
    }
    let cluster = reconciled(&plane);
    expect_condition(&plane, "ClusterClass", "windlass", "RefVersionsUpToDate");
    the_class_was_cloned(&plane);

    let first = settled(&plane);
    // A change of the Cluster that is nobody's business but the Cluster's own.
    let gates = json!([{"conditionType": "TopologyReconciled"}]);
    plane
        .api
        .merge(&cluster, &json!({"spec": {"availabilityGates": gates}}))
        .unwrap();
    let again = reconciled(&plane);
    assert_ne!(
        again["metadata"]["generation"],
        cluster["metadata"]["generation"]
    );
    assert_eq!(settled(&plane), first);
    println!("  {} objects", first.len());
    templates_can_be_changed(&plane);
    variables_reach_the_nodes(&plane);
}

/// The template of the class, in a copy of the Cluster's own.
fn the_class_was_cloned(plane: &ControlPlane) {
    let class_template = get(
        plane,
        &Version::V1Beta2.api_version(),
        "WindlassConfigTemplate",
        "windlass-default-worker-v0.2.0",
    );
    let clones = clones(plane);
    assert_eq!(clones.len(), 1, "one class of workers");
    let mut expected = class_template["spec"].clone();
    // The one variable with a default.
    expected["template"]["spec"]["onFailure"] = json!("Report");
    assert_eq!(clones[0]["spec"], expected);
    let labels = &clones[0]["metadata"]["labels"];
    assert_eq!(labels["cluster.x-k8s.io/cluster-name"], "prod");
    assert_eq!(labels["topology.cluster.x-k8s.io/deployment-name"], "md-0");
    let deployment = plane
        .api
        .list(CORE, "MachineDeployment", Some(NAMESPACE))
        .remove(0);
    assert_eq!(
        deployment["spec"]["template"]["spec"]["bootstrap"]["configRef"]["name"],
        clones[0]["metadata"]["name"]
    );
}

/// Each variable of the class, set in the Cluster, is in what the topology controller makes: the
/// control plane, and a new template of workers.
fn variables_reach_the_nodes(plane: &ControlPlane) {
    let variables = json!([
        {"name": "imageRepository", "value": "registry.example.com/kubernetes"},
        {"name": "etcdImageTag", "value": "3.6.5-0"},
        {"name": "coreDNSImageTag", "value": "v1.12.1"},
        {"name": "podSecurity", "value": {"enforce": "restricted"}},
        {"name": "proxy", "value": {"url": "http://u:p%40s@proxy.example.com:3128", "noProxy": "10.0.0.0/8,.cluster.local"}},
        {"name": "registryMirror", "value": "https://mirror.example.com"},
        {"name": "workerOnFailure", "value": "Abort"},
        {"name": "workerMaxDataBytes", "value": 65535},
    ]);
    let cluster = get(plane, CORE, "Cluster", "prod");
    plane
        .api
        .merge(
            &cluster,
            &json!({"spec": {"topology": {"variables": variables}}}),
        )
        .unwrap();
    let worker = wait::until("a template of workers with the variables", SOON, || {
        let found = clones(plane)
            .into_iter()
            .find(|clone| clone["spec"]["template"]["spec"]["onFailure"] == "Abort");
        found.ok_or_else(|| {
            format!(
                "{:?}",
                get(plane, CORE, "Cluster", "prod")["status"]["conditions"]
            )
        })
    });
    let worker = &worker["spec"]["template"]["spec"];
    assert_eq!(worker["maxDataBytes"], 65535);
    assert_eq!(
        worker["preKubeadmCommands"],
        json!(["systemctl daemon-reload", "systemctl restart containerd"])
    );
    let proxy = "[Service]\nEnvironment=\"HTTP_PROXY=http://u:p%%40s@proxy.example.com:3128\"\n\
                 Environment=\"HTTPS_PROXY=http://u:p%%40s@proxy.example.com:3128\"\nEnvironment=\"NO_PROXY=10.0.0.0/8,.cluster.local\"\n";
    let mirror =
        "[host.\"https://mirror.example.com\"]\n  capabilities = [\"pull\", \"resolve\"]\n";
    let on_all = [
        (
            "/etc/crictl.yaml",
            "runtime-endpoint: unix:///var/run/containerd/containerd.sock\n",
        ),
        (
            "/etc/systemd/system/containerd.service.d/http-proxy.conf",
            proxy,
        ),
        ("/etc/containerd/certs.d/_default/hosts.toml", mirror),
    ];
    assert_eq!(
        contents(worker),
        on_all
            .map(|(path, content)| (path.to_owned(), content.to_owned()))
            .into()
    );

    let control_plane = plane
        .api
        .list(
            "controlplane.cluster.x-k8s.io/v1beta2",
            "KubeadmControlPlane",
            Some(NAMESPACE),
        )
        .remove(0);
    let config = &control_plane["spec"]["kubeadmConfigSpec"];
    assert_eq!(config["preKubeadmCommands"], worker["preKubeadmCommands"]);
    let cluster = &config["clusterConfiguration"];
    assert_eq!(
        cluster["imageRepository"],
        "registry.example.com/kubernetes"
    );
    assert_eq!(cluster["etcd"]["local"]["imageTag"], "3.6.5-0");
    assert_eq!(cluster["dns"]["imageTag"], "v1.12.1");
    let argument = json!([{"name": "admission-control-config-file", "value": "/etc/kubernetes/pod-security.yaml"}]);
    assert_eq!(cluster["apiServer"]["extraArgs"], argument);
    assert_eq!(
        cluster["apiServer"]["extraVolumes"][0]["mountPath"],
        "/etc/kubernetes/pod-security.yaml"
    );
    let mut files = contents(config);
    let admission = files.remove("/etc/kubernetes/pod-security.yaml").unwrap();
    for line in [
        "enforce: restricted\n",
        "audit: restricted\n",
        "warn: restricted\n",
        "namespaces: [kube-system]\n",
    ] {
        assert!(admission.contains(line), "{line} in\n{admission}");
    }
    assert_eq!(files, contents(worker));
}

/// The files of a config by path.
fn contents(spec: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    spec["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (text(&file["path"]), text(&file["content"])))
        .collect()
}

/// No webhook of ours takes a template for immutable: dry runs of a change pass, those of the
/// topology controller and all others.
fn templates_can_be_changed(plane: &ControlPlane) {
    let name = clones(plane).remove(0)["metadata"]["name"].clone();
    for annotations in [json!({}), json!({"topology.cluster.x-k8s.io/dry-run": ""})] {
        let change = json!({
            "apiVersion": Version::V1Beta2.api_version(), "kind": "WindlassConfigTemplate",
            "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations},
            "spec": {"template": {"spec": {"preKubeadmCommands": ["true"]}}},
        });
        let changed = plane
            .api
            .try_apply(&change)
            .unwrap_or_else(|rejection| panic!("{rejection}"));
        assert_eq!(
            changed["spec"]["template"]["spec"]["preKubeadmCommands"],
            json!(["true"])
        );
    }
    assert!(
        clones(plane)[0]["spec"]["template"]["spec"]["preKubeadmCommands"].is_null(),
        "a dry run was stored"
    );
}

/// Waits until the topology controller has said that it is done with the Cluster as it is now.
fn reconciled(plane: &ControlPlane) -> Value {
    wait::until("TopologyReconciled of the Cluster as it is", SOON, || {
        plane.assert_running();
        let found = get(plane, CORE, "Cluster", "prod");
        let conditions = found["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_done = |c: &Value| {
            c["type"] == "TopologyReconciled"
                && c["status"] == "True"
                && c["observedGeneration"] == found["metadata"]["generation"]
        };
        if conditions.iter().any(is_done) {
            Ok(found)
        } else {
            Err(format!("{conditions:?}"))
        }
    })
}

/// Waits until an object says that a condition holds.
fn expect_condition(plane: &ControlPlane, kind: &str, name: &str, condition: &str) -> Value {
    wait::until(&format!("{condition} of {kind} {name}"), SOON, || {
        plane.assert_running();
        let found = get(plane, CORE, kind, name);
        let conditions = found["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let holds = conditions
            .iter()
            .any(|c| c["type"] == condition && c["status"] == "True");
        if holds {
            Ok(found)
        } else {
            Err(format!("{conditions:?}"))
        }
    })
}

fn get(plane: &ControlPlane, api_version: &str, kind: &str, name: &str) -> Value {
    plane
        .api
        .get(api_version, kind, Some(NAMESPACE), name)
        .unwrap_or_else(|rejection| panic!("{kind} {name}: {rejection}"))
}

/// Our templates that the topology controller cloned.
fn clones(plane: &ControlPlane) -> Vec<Value> {
    let all = plane.api.list(
        &Version::V1Beta2.api_version(),
        "WindlassConfigTemplate",
        Some(NAMESPACE),
    );
    all.into_iter().filter(is_of_topology).collect()
}

/// A text; empty when there is none.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn is_of_topology(object: &Value) -> bool {
    object["metadata"]["labels"]
        .get("topology.cluster.x-k8s.io/owned")
        .is_some()
}

/// What is in the namespace, when it has been the same for some seconds: identity and generation,
/// which counts the changes of the spec, of everything but the Cluster, which is the user's, and
/// events, which are not state.
fn settled(plane: &ControlPlane) -> BTreeMap<String, Value> {
    let mut last = (Instant::now(), everything(plane));
    let made = wait::until("the namespace to settle", LONG, || {
        plane.assert_running();
        let now = everything(plane);
        if now != last.1 {
            last = (Instant::now(), now);
        }
        if last.0.elapsed() >= QUIET {
            Ok(last.1.clone())
        } else {
            Err(format!("{} objects", last.1.len()))
        }
    });
    for kind in [
        "DevCluster",
        "KubeadmControlPlane",
        "DevMachineTemplate",
        "MachineDeployment",
        "WindlassConfigTemplate",
    ] {
        assert!(
            made.keys().any(|title| title.starts_with(kind)),
            "no {kind} was made: {:?}",
            made.keys()
        );
    }
    made
}

fn everything(plane: &ControlPlane) -> BTreeMap<String, Value> {
    let all = plane
        .api
        .everything()
        .into_iter()
        .filter(|object| object["metadata"]["namespace"] == NAMESPACE);
    all.filter(|object| object["kind"] != "Cluster" && object["kind"] != "Event")
        .map(|object| {
            let title = format!(
                "{} {}",
                object["kind"].as_str().unwrap(),
                object["metadata"]["name"].as_str().unwrap()
            );
            (
                title,
                json!([object["metadata"]["uid"], object["metadata"]["generation"]]),
            )
        })
        .collect()
}
