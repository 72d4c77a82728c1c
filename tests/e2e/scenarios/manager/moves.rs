//! `clusterctl move` to another management cluster and back, with our manager in both.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::parity;
use super::uncontrolled::{BOOTSTRAP, CORE, Machine, NAMESPACE, a_cluster};
use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{audit, installation, wait, windlass, windlass_manager};

const SOON: Duration = Duration::from_secs(60);
/// The label of the objects that the managers work on.
const FILTER: (&str, &str) = ("cluster.x-k8s.io/watch-filter", "blue");

/// Three machines are moved while the managers run, and moved back with a fourth one that joined
/// between: names, data and tokens stay, each config has its status again, and each Secret is its
/// config's. A config without the managers' label is nobody's.
pub(crate) fn clusters_move_and_come_back(context: &Context) {
    let (first, second) = (
        context.control_plane(),
        context.another_control_plane("second"),
    );
    let (from, to) = (clusterctl(&first), clusterctl(&second));
    a_cluster(&first);
    for name in ["a", "b", "c"] {
        give(&first, name, Some(FILTER.1));
    }
    give(&first, "red", Some("red"));
    give(&first, "plain", None);
    let before = settled(&first, 3);
    let tokens = tokens(&first);
    assert_eq!(tokens.len(), 3);

    go(&from, &first, &second);
    assert_eq!(settled(&second, 3), before);
    assert_eq!(
        self::tokens(&first),
        tokens,
        "the workload cluster is the first one still"
    );
    give(&second, "d", Some(FILTER.1));
    let after = settled(&second, 4);
    assert!(
        before
            .iter()
            .all(|(name, data)| after.get(name) == Some(data))
    );

    go(&to, &second, &first);
    assert_eq!(settled(&first, 4), after);
    assert_eq!(self::tokens(&first).len(), 4);
    for name in ["red", "plain"] {
        let config = first
            .api
            .get(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE), name)
            .unwrap();
        assert!(config["status"].is_null(), "{config}");
    }
    parity::assert_data_is_rendered(&first, context.folder(), NAMESPACE, 4);
    audit::assert_all_was_allowed(&first);
    audit::assert_all_was_allowed(&second);
}

/// Core and windlass by the real clusterctl, and our manager. Nobody answers the core's webhooks.
fn clusterctl(plane: &ControlPlane) -> Clusterctl<'_> {
    let clusterctl = installation::core_and_ours(plane, windlass::VERSION);
    let filter = format!("--watch-filter={}", FILTER.1);
    plane.adopt(
        windlass_manager::start(plane, "windlass-manager", &["--leader-elect", &filter]).process,
    );
    clusterctl
}

/// A worker whose config has some value of the label.
fn give(plane: &ControlPlane, name: &str, value: Option<&str>) {
    let machine = Machine {
        namespace: NAMESPACE,
        cluster: "c",
        kubernetes: "v1.34.1",
        version: "v1beta2",
        labels: json!({}),
    };
    let spec = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}});
    machine
        .give(plane, name, &spec)
        .unwrap_or_else(|rejection| panic!("{rejection}"));
    // As the core does it: clusterctl moves what belongs to a Cluster.
    let cluster = plane
        .api
        .get(CORE, "Cluster", Some(NAMESPACE), "c")
        .unwrap();
    let owner = json!({"apiVersion": CORE, "kind": "Cluster", "name": "c", "uid": cluster["metadata"]["uid"]});
    let machine = plane
        .api
        .get(CORE, "Machine", Some(NAMESPACE), name)
        .unwrap();
    plane
        .api
        .merge(&machine, &json!({"metadata": {"ownerReferences": [owner]}}))
        .unwrap();
    let config = plane
        .api
        .get(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE), name)
        .unwrap();
    plane
        .api
        .merge(&config, &json!({"metadata": {"labels": {FILTER.0: value}}}))
        .unwrap();
}

/// Moves everything of the namespace. clusterctl waits for machines that are no nodes yet, and
/// looks at what the core says of Clusters.
fn go(clusterctl: &Clusterctl<'_>, from: &ControlPlane, to: &ControlPlane) {
    for machine in from.api.list(CORE, "Machine", Some(NAMESPACE)) {
        from.api
            .merge_status(
                &machine,
                &json!({"nodeRef": {"name": machine["metadata"]["name"]}}),
            )
            .unwrap();
    }
    clusterctl.succeed(&[
        "move",
        "--to-kubeconfig",
        &to.kubeconfig.display().to_string(),
        "--namespace",
        NAMESPACE,
    ]);
    for kind in ["Cluster", "Machine"] {
        assert!(
            from.api.list(CORE, kind, Some(NAMESPACE)).is_empty(),
            "a {kind} is left"
        );
    }
    assert!(
        from.api
            .list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE))
            .is_empty(),
        "a config is left"
    );
    // What the core would say again.
    let cluster = to.api.get(CORE, "Cluster", Some(NAMESPACE), "c").unwrap();
    assert_ne!(cluster["spec"]["paused"], true);
    let initialized = json!({
        "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    to.api.merge_status(&cluster, &json!({"initialization": {"infrastructureProvisioned": true}, "conditions": [initialized]})).unwrap();
}

/// Waits until all configs say that they have their data and are not paused; gives the data by
/// name. Each Secret is controlled by its config.
fn settled(plane: &ControlPlane, count: usize) -> BTreeMap<String, String> {
    let configs = wait::until(&format!("{count} configs with their data"), SOON, || {
        plane.assert_running();
        let all = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE));
        let is_done = |config: &Value| {
            let conditions = config["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let is = |name: &str, status: &str| {
                conditions
                    .iter()
                    .any(|one| one["type"] == name && one["status"] == status)
            };
            config["status"]["initialization"]["dataSecretCreated"] == true
                && is("Ready", "True")
                && is("Paused", "False")
        };
        let (done, open): (Vec<Value>, Vec<Value>) = all.into_iter().partition(is_done);
        if done.len() == count {
            Ok(done)
        } else {
            Err(format!(
                "{}; the others: {:?}",
                done.len(),
                open.iter()
                    .map(|config| &config["status"])
                    .collect::<Vec<_>>()
            ))
        }
    });
    for config in configs {
        let name = config["status"]["dataSecretName"].as_str().unwrap();
        let secret = plane
            .api
            .get("v1", "Secret", Some(NAMESPACE), name)
            .unwrap();
        let owner = &secret["metadata"]["ownerReferences"][0];
        assert_eq!(
            (&owner["uid"], &owner["controller"]),
            (&config["metadata"]["uid"], &json!(true)),
            "{secret}"
        );
    }
    parity::data_of(plane, NAMESPACE)
}

/// The Secrets of bootstrap tokens.
fn tokens(plane: &ControlPlane) -> Vec<Value> {
    let all = plane.api.list("v1", "Secret", Some("kube-system"));
    let tokens = all
        .iter()
        .filter(|secret| secret["type"] == "bootstrap.kubernetes.io/token");
    tokens
        .map(|secret| json!([secret["metadata"]["name"], secret["data"]["token-secret"]]))
        .collect()
}
