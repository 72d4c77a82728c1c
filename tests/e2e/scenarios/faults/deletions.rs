//! Machines go at every phase of their bring-up, and objects come back from a backup.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::kills::StopAt;
use super::site::{Site, Ways};
use crate::harness::control_plane::ControlPlane;
use crate::harness::fault_proxy::{Fate, FaultProxy};
use crate::harness::runner::Context;
use crate::harness::{audit, wait, windlass_manager};
use crate::scenarios::manager::uncontrolled::{BOOTSTRAP, CORE};

const LONG: Duration = Duration::from_secs(60);

/// While the manager waits before its n-th write is done, and once more after it, for each n there
/// is, the machines that are there are deleted with their configs, and others of the same names
/// take their places. The manager goes on: all of them come up, the Secrets and the lock are
/// theirs, and nothing is left of the ones before but tokens, which expire.
pub(crate) fn deletions_at_every_write(context: &Context) {
    let plane = context.kinds();
    let proxy = plane.fault_proxy();
    let ways = Ways::by(&plane, &proxy.url);
    let mut deletions = 0;
    for write in 1.. {
        let mut is_reached = false;
        for fate in [Fate::StopBefore, Fate::StopAfter] {
            let name = format!(
                "deletion-{write}-{}",
                if fate == Fate::StopBefore {
                    "before"
                } else {
                    "after"
                }
            );
            let was_stopped = delete_at(&plane, &proxy, &ways, &name, StopAt { write, fate });
            is_reached |= was_stopped;
            deletions += usize::from(was_stopped);
        }
        if !is_reached {
            break;
        }
    }
    println!("  deleted {deletions} times");
    assert!(deletions > 20);
}

/// Whether it came to the write.
fn delete_at(
    plane: &ControlPlane,
    proxy: &FaultProxy,
    ways: &Ways,
    name: &str,
    plan: StopAt,
) -> bool {
    let site = Site::begin(plane, ways, name, 2, 1);
    let stopped = proxy.follow(plan);
    let mut manager = site.manager(ways, &[]);
    let mut was_stopped = false;
    let deadline = Instant::now() + LONG;
    loop {
        if stopped.recv_timeout(Duration::from_millis(20)).is_ok() {
            was_stopped = true;
            site.replace_machines();
            proxy.release();
        }
        manager.assert_running();
        site.play();
        match site.done() {
            Ok(()) => break,
            Err(missing) => assert!(
                Instant::now() < deadline,
                "{name}: {missing}; {}",
                manager.last_words()
            ),
        }
    }
    let uids: BTreeMap<String, Value> = site
        .configs()
        .iter()
        .map(|config| {
            (
                config["metadata"]["name"].to_string(),
                config["metadata"]["uid"].clone(),
            )
        })
        .collect();
    wait::until("the Secrets to be theirs alone", LONG, || {
        let owner = |secret: &Value| secret["metadata"]["ownerReferences"][0].clone();
        let secrets = plane
            .api
            .list("v1", "Secret", Some(name))
            .into_iter()
            .filter(|secret| owner(secret)["kind"] == "WindlassConfig");
        let owners: BTreeMap<String, Value> = secrets
            .map(|secret| {
                (
                    secret["metadata"]["name"].to_string(),
                    owner(&secret)["uid"].clone(),
                )
            })
            .collect();
        if owners == uids {
            Ok(())
        } else {
            Err(format!("{owners:?} in place of {uids:?}"))
        }
    });
    let [there, named] = site.tokens();
    assert!(
        named.iter().all(|token| there.contains(token)),
        "{named:?} of {there:?}"
    );
    manager.stop();
    site.leave();
    was_stopped
}

/// A backup brings everything back with other uids, without status and without owners of the
/// Secrets, some machines before they had read the name of their Secret: each config says again
/// that it has its data, no Secret has other data than before, and no token is made.
pub(crate) fn configs_without_status_are_restored(context: &Context) {
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let site = Site::begin(&plane, &ways, "restored", 2, 4);
    let namespace = Some(site.namespace.as_str());
    let mut manager = site.manager(&ways, &[]);
    wait::until("all machines", LONG, || {
        manager.assert_running();
        site.play();
        site.done()
    });
    manager.stop();
    let (objects, data, tokens) = (site.objects(), data(&site), site.tokens());

    let all = [
        ("v1", "Secret"),
        ("v1", "ConfigMap"),
        (CORE, "Cluster"),
        (CORE, "Machine"),
        (BOOTSTRAP, "WindlassConfig"),
    ];
    let backup: Vec<Value> = all
        .iter()
        .flat_map(|(api_version, kind)| plane.api.list(api_version, kind, namespace))
        .collect();
    let backup: Vec<Value> = backup
        .into_iter()
        .filter(|object| object["metadata"]["name"] != "kube-root-ca.crt")
        .collect();
    for object in &backup {
        // The garbage collector may have been quicker.
        drop(plane.api.delete(object));
    }
    wait::until("nothing to be there", LONG, || {
        let left: usize = all
            .iter()
            .map(|(api_version, kind)| plane.api.list(api_version, kind, namespace).len())
            .sum();
        if left <= 1 {
            Ok(())
        } else {
            Err(format!("{left} are left"))
        }
    });
    for object in &backup {
        site.restore(object);
    }
    let since = audit::mark(&plane);
    let mut manager = windlass_manager::spawn_alone(
        &plane,
        &ways.manager,
        "after-restore",
        &[],
        &["--namespace=restored"],
    );
    wait::until("all machines again", LONG, || {
        manager.assert_running();
        site.done()
    });
    manager.stop();
    assert_eq!(self::data(&site), data);
    assert_eq!(site.tokens(), tokens);
    let names = |objects: &BTreeMap<String, Value>| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&site.objects()), names(&objects));
    let written = audit::written(&plane, "restored", since);
    assert!(
        written.iter().all(|(verb, ..)| verb != "create"),
        "{written:?}"
    );
    site.leave();
}

/// `data` of the Secrets, by name.
fn data(site: &Site<'_>) -> BTreeMap<String, Value> {
    let secrets = site
        .plane
        .api
        .list("v1", "Secret", Some(&site.namespace))
        .into_iter();
    secrets
        .map(|secret| {
            (
                secret["metadata"]["name"].to_string(),
                json!(secret["data"]),
            )
        })
        .collect()
}
