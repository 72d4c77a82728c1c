//! Two managers, of which the one that leads is killed or frozen in the middle of its work.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::parity;
use super::uncontrolled::{BOOTSTRAP, NAMESPACE, a_cluster, a_machine};
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::windlass_manager::Manager;
use crate::harness::{audit, installation, wait, windlass, windlass_manager};

const LONG: Duration = Duration::from_secs(90);
const MACHINES: usize = 30;

/// With the leader killed after a few of thirty Machines have their data, the other one makes the
/// rest: each config has one token, no token is left over, every Secret is what is rendered, and
/// nothing that was done is done again.
pub(crate) fn a_killed_leader_is_replaced(context: &Context) {
    let plane = context.control_plane();
    let mut first = in_the_middle(&plane);
    first.process.kill();
    the_second_makes_the_rest(context, &plane, &first);
    audit::assert_all_was_allowed(&plane);
}

/// With the leader frozen (SIGSTOP) in place of that, the other one takes over once the Lease has
/// ended; woken, the first writes nothing any more.
pub(crate) fn a_frozen_leader_writes_nothing_any_more(context: &Context) {
    let plane = context.control_plane();
    let mut first = in_the_middle(&plane);
    let own = audit::writers(&plane, "");
    assert_eq!(own.len(), 1, "one manager was at work: {own:?}");
    first.process.freeze();
    the_second_makes_the_rest(context, &plane, &first);

    let woken = audit::newest(&plane);
    first.process.wake();
    // Longer than a term of the Lease: what it had begun it would have gone on with by now.
    std::thread::sleep(Duration::from_secs(6));
    let all = audit::writers(&plane, "");
    assert_eq!(all.len(), 2, "both were at work in their time: {all:?}");
    let since = audit::writers(&plane, &woken);
    assert!(
        own.iter().all(|writer| !since.contains(writer)),
        "the first was woken and wrote: {since:?}"
    );
    // The other one goes on.
    let spec = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}});
    a_machine(&plane, "later", "v1.34.1", "v1beta2", &spec)
        .unwrap_or_else(|rejection| panic!("{rejection}"));
    wait::until("data of a later Machine", LONG, || {
        let count = parity::data_of(&plane, NAMESPACE).len();
        if count == MACHINES + 1 {
            Ok(())
        } else {
            Err(format!("{count} Secrets"))
        }
    });
    let since = audit::writers(&plane, &woken);
    assert!(
        own.iter().all(|writer| !since.contains(writer)) && since.len() == 1,
        "the second alone wrote: {since:?}"
    );
    audit::assert_all_was_allowed(&plane);
}

const QUICK: [&str; 6] = [
    "--leader-elect",
    "--leader-elect-lease-duration=4s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=500ms",
    // So slow that there is a middle, however long it takes to make the machines.
    "--kube-api-qps=12",
    "--kube-api-burst=5",
];

/// A manager that has made the data of a few of thirty Machines.
fn in_the_middle(plane: &ControlPlane) -> Manager {
    installation::kinds_alone(plane);
    let first = windlass_manager::start(plane, "first", &QUICK);
    a_cluster(plane);
    for index in 0..MACHINES {
        let spec = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}});
        a_machine(plane, &format!("m{index:02}"), "v1.34.1", "v1beta2", &spec)
            .unwrap_or_else(|rejection| panic!("{rejection}"));
    }
    wait::until("some data", LONG, || {
        let count = parity::data_of(plane, NAMESPACE).len();
        if count >= 5 {
            Ok(())
        } else {
            Err(format!("{count} Secrets"))
        }
    });
    first
}

/// What is left of the thirty; what the first has made stays as it was.
fn the_second_makes_the_rest(context: &Context, plane: &ControlPlane, first: &Manager) {
    windlass::restore_webhooks(plane, windlass::NAMESPACE, first.webhook_port);
    let before = versions(plane);
    assert!(
        before.len() < MACHINES,
        "it was too quick to be stopped in the middle"
    );
    plane.adopt(windlass_manager::start(plane, "second", &QUICK).process);
    wait::until("all data", LONG, || {
        plane.assert_running();
        let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE));
        let done = configs
            .iter()
            .filter(|config| config["status"]["initialization"]["dataSecretCreated"] == true)
            .count();
        if done == MACHINES {
            Ok(())
        } else {
            Err(format!("{done} of {MACHINES}"))
        }
    });
    assert!(
        before.is_subset(&versions(plane)),
        "what was written was written again"
    );
    assert_one_token_each(plane);
    parity::assert_data_is_rendered(plane, context.folder(), NAMESPACE, MACHINES);
}

/// Name and version of each data Secret.
fn versions(plane: &ControlPlane) -> BTreeSet<String> {
    let secrets = plane
        .api
        .list("v1", "Secret", Some(NAMESPACE))
        .into_iter()
        .filter(|secret| secret["data"]["value"].is_string());
    let version = |secret: Value| {
        format!(
            "{} {}",
            secret["metadata"]["name"], secret["metadata"]["resourceVersion"]
        )
    };
    secrets
        .map(version)
        .filter(|shown| !shown.contains("kubeconfig"))
        .collect()
}

/// Each config has a token of its own, and there are no others.
fn assert_one_token_each(plane: &ControlPlane) {
    let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE));
    let token = |config: &Value| {
        let token = config["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"]
            .as_str()
            .unwrap();
        format!("bootstrap-token-{}", token.split_once('.').unwrap().0)
    };
    let wanted: BTreeSet<String> = configs.iter().map(token).collect();
    let all = plane.api.list("v1", "Secret", Some("kube-system"));
    let made = all
        .iter()
        .filter(|secret| secret["type"] == "bootstrap.kubernetes.io/token");
    let made: BTreeSet<String> = made
        .map(|secret| secret["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(made, wanted);
    assert_eq!(wanted.len(), MACHINES);
}
