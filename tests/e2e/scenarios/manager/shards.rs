//! Three managers that share the namespaces out (`--shards`), of which one is killed; then one that
//! would divide them otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::parity;
use super::takeover::assert_one_token_each;
use super::uncontrolled::{BOOTSTRAP, Machine, a_cluster_in};
use crate::harness::control_plane::ControlPlane;
use crate::harness::process::Process;
use crate::harness::runner::Context;
use crate::harness::{audit, installation, wait, windlass, windlass_manager};

const LONG: Duration = Duration::from_secs(90);
/// Of three shards and of two, each has some of them.
const NAMESPACES: [&str; 7] = ["n0", "n1", "n2", "n3", "n4", "n5", "n6"];
/// Machines of each.
const EACH: usize = 5;
const LEASES: &str = "coordination.k8s.io/v1";

const QUICK: [&str; 7] = [
    "--leader-elect",
    // Short, but so long that a busy machine renews it.
    "--leader-elect-lease-duration=9s",
    "--leader-elect-renew-deadline=7s",
    "--leader-elect-retry-period=500ms",
    // So slow that there is a middle.
    "--kube-api-qps=15",
    "--kube-api-burst=5",
    "--diagnostics-address=",
];

/// Each namespace is worked on by one manager, and all three work. With one of them killed in the
/// middle, the others do what is left: no Secret and no token is made twice, all data is what is
/// rendered, and in the other namespaces nobody else writes. A manager with another number of
/// shards writes nothing until the last one has ended.
pub(crate) fn three_managers_share_the_namespaces(context: &Context) {
    let plane = context.control_plane();
    installation::kinds_alone(&plane);
    let of_three: Vec<&str> = QUICK.iter().copied().chain(["--shards=3"]).collect();
    let mut first = windlass_manager::start(&plane, "first", &of_three);
    let [mut second, mut third] = ["second", "third"].map(|name| beside(&plane, name, &of_three));
    wait::until("a shard for each", LONG, || {
        let holders: BTreeSet<String> = holders(&plane).into_values().collect();
        if holders == ["first", "second", "third"].map(str::to_owned).into() {
            Ok(())
        } else {
            Err(format!("{holders:?}"))
        }
    });
    for namespace in NAMESPACES {
        plane
            .api
            .create(
                &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
            )
            .unwrap();
        a_cluster_in(&plane, namespace, &json!({}));
    }
    let give_all = |name: &str| {
        NAMESPACES
            .iter()
            .for_each(|namespace| give(&plane, namespace, name))
    };
    (0..EACH / 2).for_each(|index| give_all(&format!("m{index}")));
    wait::until("work in each namespace", LONG, || {
        let idle = NAMESPACES
            .iter()
            .find(|namespace| audit::writers_in(&plane, namespace).is_empty());
        idle.map_or(Ok(()), |idle| Err(format!("none in {idle}")))
    });
    third.kill();
    let before: BTreeMap<&str, BTreeSet<String>> = NAMESPACES
        .map(|namespace| (namespace, audit::writers_in(&plane, namespace)))
        .into();
    assert!(
        before.values().all(|writers| writers.len() == 1),
        "two wrote in one namespace: {before:?}"
    );
    assert_eq!(audit::writers(&plane, "").len(), 3, "{before:?}");
    (EACH / 2..EACH).for_each(|index| give_all(&format!("m{index}")));
    until_done(&plane, EACH, || {
        [&mut first.process, &mut second]
            .into_iter()
            .for_each(Process::assert_running)
    });
    assert_nothing_twice(&plane, &before);
    NAMESPACES.iter().for_each(|namespace| {
        parity::assert_data_is_rendered(&plane, context.folder(), namespace, EACH)
    });

    let of_two: Vec<&str> = QUICK.iter().copied().chain(["--shards=2"]).collect();
    let mut other = beside(&plane, "other", &of_two);
    other.until_it_says(LONG, "managers with another --shards work");
    give_all("later");
    until_done(&plane, EACH + 1, || other.assert_running());
    assert_eq!(
        audit::writers(&plane, "").len(),
        3,
        "the one with another number of shards wrote"
    );
    // The first one's webhooks end with it.
    windlass::restore_webhooks(&plane, windlass::NAMESPACE, first.webhook_port);
    windlass::serve_webhooks(&plane, windlass::NAMESPACE);
    drop((first, second));
    give_all("latest");
    until_done(&plane, EACH + 2, || other.assert_running());
    assert_eq!(audit::writers(&plane, "").len(), 4);
    audit::assert_all_was_allowed(&plane);
}

/// A manager that serves nothing, once it has read its credential: the file is that of the next one
/// too.
fn beside(plane: &ControlPlane, name: &str, arguments: &[&str]) -> Process {
    let arguments: Vec<&str> = arguments
        .iter()
        .copied()
        .chain(["--webhook-port=0", "--health-addr="])
        .collect();
    let mut process = windlass_manager::spawn(
        plane,
        name,
        windlass_manager::SERVICE_ACCOUNT,
        windlass::NAMESPACE,
        &arguments,
    );
    process.until_it_says(LONG, "Attempting to acquire leader lease");
    process
}

fn give(plane: &ControlPlane, namespace: &str, name: &str) {
    let machine = Machine {
        namespace,
        cluster: "c",
        kubernetes: "v1.34.1",
        version: "v1beta2",
        labels: json!({}),
    };
    let spec = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}});
    machine
        .give(plane, name, &spec)
        .unwrap_or_else(|refusal| panic!("{refusal}"));
}

/// Who holds each shard of three, by the names of the managers.
fn holders(plane: &ControlPlane) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let leases = plane.api.list(LEASES, "Lease", Some(windlass::NAMESPACE));
    let of_shards = leases
        .iter()
        .filter(|lease| text(&lease["metadata"]["name"]).ends_with("-of-3"));
    of_shards
        .map(|lease| {
            let holder = text(&lease["spec"]["holderIdentity"]);
            (
                text(&lease["metadata"]["name"]),
                holder.split('_').next().unwrap_or_default().to_owned(),
            )
        })
        .collect()
}

fn done(plane: &ControlPlane) -> usize {
    let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", None);
    configs
        .iter()
        .filter(|config| config["status"]["initialization"]["dataSecretCreated"] == true)
        .count()
}

fn until_done(plane: &ControlPlane, each: usize, mut check: impl FnMut()) {
    let all = NAMESPACES.len() * each;
    wait::until(&format!("{all} configs with data"), LONG, || {
        plane.assert_running();
        check();
        let done = done(plane);
        if done == all {
            Ok(())
        } else {
            Err(format!("{done} of {all}"))
        }
    });
}

fn assert_nothing_twice(plane: &ControlPlane, before: &BTreeMap<&str, BTreeSet<String>>) {
    let made = audit::made(plane, "secrets");
    let twice: Vec<_> = made.iter().filter(|(_, count)| **count != 1).collect();
    assert!(
        twice.is_empty() && made.len() == NAMESPACES.len() * EACH,
        "{} were made, more than once: {twice:?}",
        made.len()
    );
    // Those of the one that was killed have a second writer now, and all others have the one that
    // they had.
    let is_taken_over = |namespace: &&&str| audit::writers_in(plane, namespace).len() > 1;
    let (taken_over, kept): (Vec<&&str>, Vec<&&str>) = before.keys().partition(is_taken_over);
    let writers = |all: &[&&str]| {
        all.iter()
            .flat_map(|namespace| before[**namespace].clone())
            .collect::<BTreeSet<String>>()
    };
    assert_eq!(
        (writers(&taken_over).len(), writers(&kept).len()),
        (1, 2),
        "taken over: {taken_over:?}"
    );
    assert!(
        taken_over
            .iter()
            .all(|namespace| audit::writers_in(plane, namespace).len() == 2),
        "{taken_over:?}"
    );
    assert_one_token_each(plane, None, NAMESPACES.len() * EACH);
}
