//! The kubeadm bootstrap provider and our manager take turns on KubeadmConfigs.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::clusters::LONG;
use crate::harness::control_plane::ControlPlane;
use crate::harness::in_memory::{self, CORE, expect_nodes};
use crate::harness::kubeadm_provider::{KubeadmProvider, QUICK, expect_holder, grant_rights};
use crate::harness::process::Process;
use crate::harness::runner::Context;
use crate::harness::{audit, installation, managers, wait, windlass_manager};

const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io/v1beta2";
/// Group and kind of the templates of workers.
const TEMPLATES: [&str; 2] = ["bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate"];
/// As whom our manager holds the provider's Lease.
pub(super) const OURS: &str = "windlass-system/windlass-manager";
/// As whom it writes fields.
const FIELD_MANAGER: &str = "windlass-manager";

/// A cluster that the provider let init, and that is killed then, is completed by ours; another one
/// of three control plane Machines is ours alone, while the provider stands by and answers its
/// webhooks; ours ends in the middle of more workers, and the provider makes the rest. Each Machine
/// is told once what it is, and no control plane is rolled out.
pub(crate) fn kubeadm_providers_take_turns(context: &Context) {
    let plane = context.control_plane();
    installation::init(&plane);
    managers::start(
        &plane,
        installation::CLUSTER_API,
        &[
            managers::CORE,
            managers::KUBEADM_CONTROL_PLANE,
            managers::DOCKER,
        ],
    );
    let mut theirs = KubeadmProvider::start(&plane, installation::CLUSTER_API);
    expect_holder(&plane, "the provider", |holder| {
        !holder.is_empty() && holder != OURS
    });
    grant_rights(&plane);
    let mut ours = ours_for(&plane, "ours", "--kinds=WindlassConfig,KubeadmConfig");

    in_memory::create(&plane, "first", [1, 3], &TEMPLATES);
    let begun = wait::until("the first Machine to be told to init", LONG, || {
        let known = data_of(&plane, "first");
        if known.is_empty() {
            Err("no data yet".to_owned())
        } else {
            Ok(known)
        }
    });
    theirs.kill();
    assert!(
        begun.values().all(|data| !data.is_of_ours),
        "ours worked beside the provider"
    );
    expect_holder(&plane, "our manager", |holder| holder == OURS);
    assert_waited_once(&plane);
    theirs.start_again(&plane);
    in_memory::create(&plane, "second", [3, 3], &TEMPLATES);
    expect_nodes(&plane, "first", 4);
    expect_nodes(&plane, "second", 6);
    theirs.assert_running();
    let (first, second) = (data_of(&plane, "first"), data_of(&plane, "second"));
    assert!(
        begun.iter().all(|(name, data)| first[name] == *data),
        "what the provider did was done again"
    );
    assert!(
        second.values().all(|data| data.is_of_ours),
        "the provider worked beside ours"
    );
    assert_eq!(
        [&first, &second].map(|all| all
            .values()
            .filter(|data| data.text.contains("kubeadm init"))
            .count()),
        [1, 1]
    );
    let control_plane_machines = machines_of_control_plane(&plane);

    scale(&plane, "first", 6);
    wait::until("some more data", LONG, || {
        let known = data_of(&plane, "first").len();
        if known > first.len() {
            Ok(())
        } else {
            Err(format!("{known} Secrets"))
        }
    });
    ours.stop();
    expect_holder(&plane, "the provider", |holder| {
        !holder.is_empty() && holder != OURS
    });
    scale(&plane, "first", 7);
    expect_nodes(&plane, "first", 8);
    let last = data_of(&plane, "first");
    assert!(
        first.iter().all(|(name, data)| last[name] == *data),
        "what was done was done again"
    );
    assert!(
        last.values().any(|data| data.is_of_ours)
            && last.values().filter(|data| !data.is_of_ours).count() > begun.len()
    );
    assert_eq!(
        machines_of_control_plane(&plane),
        control_plane_machines,
        "a control plane was rolled out"
    );
    assert_tokens_are_in_the_data(&plane);
    audit::assert_all_was_allowed(&plane);
}

/// Our manager, with kinds.
pub(super) fn ours_for(plane: &ControlPlane, name: &str, kinds: &str) -> Process {
    let arguments: Vec<&str> = QUICK.iter().copied().chain([kinds]).collect();
    windlass_manager::start(plane, name, &arguments).process
}

fn scale(plane: &ControlPlane, cluster: &str, workers: u32) {
    let deployment = plane
        .api
        .get(CORE, "MachineDeployment", Some(cluster), "md")
        .unwrap();
    plane
        .api
        .merge(&deployment, &json!({"spec": {"replicas": workers}}))
        .unwrap();
}

/// The data of a config.
#[derive(Debug, PartialEq)]
struct Data {
    text: String,
    is_of_ours: bool,
}

/// By the names of KubeadmConfigs whose status says that it is there.
fn data_of(plane: &ControlPlane, namespace: &str) -> BTreeMap<String, Data> {
    let configs = plane
        .api
        .list(BOOTSTRAP, "KubeadmConfig", Some(namespace))
        .into_iter();
    let told = configs.filter_map(|config| {
        config["status"]["dataSecretName"]
            .as_str()
            .map(str::to_owned)
    });
    let data = |name: String| {
        let secret = plane
            .api
            .get("v1", "Secret", Some(namespace), &name)
            .unwrap_or_else(|rejection| panic!("{rejection}"));
        let text = String::from_utf8(
            STANDARD
                .decode(secret["data"]["value"].as_str().unwrap())
                .unwrap(),
        )
        .unwrap();
        let writers = secret["metadata"]["managedFields"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        (
            name,
            Data {
                text,
                is_of_ours: writers
                    .iter()
                    .any(|writer| writer["manager"] == FIELD_MANAGER),
            },
        )
    };
    told.map(data).collect()
}

fn machines_of_control_plane(plane: &ControlPlane) -> BTreeSet<String> {
    let machines = plane.api.list(CORE, "Machine", None).into_iter();
    let of_control_plane = machines.filter(|machine| {
        machine["metadata"]["labels"]["cluster.x-k8s.io/control-plane"].is_string()
    });
    of_control_plane
        .map(|machine| machine["metadata"]["uid"].to_string())
        .collect()
}

/// Whoever refreshes a token refreshes the one that the machine has.
fn assert_tokens_are_in_the_data(plane: &ControlPlane) {
    for namespace in ["first", "second"] {
        let data = data_of(plane, namespace);
        for config in plane.api.list(BOOTSTRAP, "KubeadmConfig", Some(namespace)) {
            let name = config["metadata"]["name"].as_str().unwrap();
            let token = config["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"]
                .as_str();
            let is_init = data[name].text.contains("kubeadm init");
            assert!(
                token.map_or(is_init, |token| data[name].text.contains(token)),
                "{namespace}/{name}"
            );
        }
    }
}

/// While the provider held its Lease, our manager said so, and what to do.
fn assert_waited_once(plane: &ControlPlane) {
    let log = std::fs::read_to_string(plane.folder().join("ours.log")).expect("it was started");
    let said = log
        .lines()
        .filter(|line| {
            line.contains("the holder works on KubeadmConfigs, so this manager does not")
        })
        .count();
    assert_eq!(said, 1, "{log}");
}
