//! clusterctl exchanges the release for the next one and back, while machines are made.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::history;
use super::site::{Site, Ways, is_done};
use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::windlass_manager::Manager;
use crate::harness::{audit, installation, wait, windlass, windlass_manager};
use crate::scenarios::install::installed_version;
use crate::scenarios::manager::parity;
use crate::scenarios::manager::uncontrolled::BOOTSTRAP;

const OLD: &str = "v0.1.0";
const NEW: &str = "v0.2.0";
const NAMESPACE: &str = "upgraded";
const LONG: Duration = Duration::from_secs(120);
/// How long after a machine the next one is made.
const PACE: Duration = Duration::from_millis(300);

/// So slow that machines wait for their data whenever a manager ends.
const SLOW: [&str; 2] = ["--kube-api-qps=6", "--kube-api-burst=5"];

/// A stream of workers is made while `clusterctl upgrade apply` goes from v0.1.0 to v0.2.0, and
/// back again. The manager ends and begins with its Deployment, as its account does, whose tokens
/// end with it. What was done stays as it is, nothing is made twice, and all machines get their
/// data, which is what is rendered.
///
/// v0.1.0 had no program: what runs under its components, with its rights and flags, is the one of
/// this checkout.
pub(crate) fn clusterctl_upgrades_and_goes_back_while_machines_are_made(context: &Context) {
    let plane = context.control_plane();
    let clusterctl = installation::core_and_ours(&plane, OLD);
    let mut manager = start(&plane, "old", &SLOW);
    let since = audit::mark(&plane);
    let mut site = Site::begin(&plane, &Ways::by(&plane, &plane.url), NAMESPACE, 2, 3);
    let is_over = AtomicBool::new(false);
    let mut manager = std::thread::scope(|threads| {
        let stream = threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                site.play();
                site.more_workers(1);
                std::thread::sleep(PACE);
            }
        });
        // Whatever goes wrong here, the stream ends.
        let over = Over(&is_over);
        for (version, name) in [(NEW, "new"), (OLD, "old-again")] {
            let done = exchange(&plane, manager, &clusterctl, version);
            manager = start(&plane, name, if version == NEW { &SLOW } else { &[] });
            until_more_are_done(&plane);
            assert_unchanged(&plane, &done);
        }
        drop(over);
        stream.join().unwrap();
        manager
    });
    wait::until("all machines", LONG, || {
        manager.process.assert_running();
        site.play();
        site.done()
    });
    manager.process.stop();
    println!("  {} machines", site.count());
    history::assert_sound(&site, since);
    parity::assert_data_is_rendered(&plane, context.folder(), NAMESPACE, site.count());
}

/// Says that it is over when it goes.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The manager that the Deployment asks for, with its flags but for addresses.
fn start(plane: &ControlPlane, name: &str, more: &[&str]) -> Manager {
    let deployment = deployment(plane).expect("clusterctl has made it");
    let arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        .as_array()
        .expect("it has flags")
        .clone();
    let arguments = arguments
        .iter()
        .filter_map(Value::as_str)
        .filter(|argument| !argument.contains("diagnostics"));
    windlass_manager::start(
        plane,
        name,
        &arguments.chain(more.iter().copied()).collect::<Vec<_>>(),
    )
}

fn deployment(plane: &ControlPlane) -> Option<Value> {
    plane
        .api
        .get(
            "apps/v1",
            "Deployment",
            Some(windlass::NAMESPACE),
            "windlass-controller-manager",
        )
        .ok()
}

/// While some machines have their data and some have not, clusterctl puts the components of another
/// version in the place of those that are there; the manager ends when its Deployment is deleted.
/// What is done then, by kind and name.
fn exchange(
    plane: &ControlPlane,
    mut manager: Manager,
    clusterctl: &Clusterctl<'_>,
    version: &str,
) -> BTreeMap<String, Value> {
    until_more_are_done(plane);
    let uid = || deployment(plane).map(|deployment| deployment["metadata"]["uid"].clone());
    let old = uid();
    windlass::restore_webhooks(plane, windlass::NAMESPACE, manager.webhook_port);
    let done = std::thread::scope(|threads| {
        let provider = format!("windlass:{version}");
        let upgrade = threads.spawn(move || {
            drop(clusterctl.succeed(&[
                "upgrade",
                "apply",
                "--bootstrap",
                &provider,
                "--wait-providers",
            ]))
        });
        wait::until("the Deployment to be deleted", LONG, || {
            if uid() != old {
                return Ok(());
            }
            assert!(!upgrade.is_finished(), "clusterctl has left it as it was");
            Err("it is there".to_owned())
        });
        manager.process.stop();
        let (done, open) = (
            done(plane),
            configs(plane)
                .iter()
                .filter(|config| !is_done(config))
                .count(),
        );
        println!(
            "  {version} comes while {} objects are done and {open} configs are not",
            done.len()
        );
        assert!(!done.is_empty() && open > 0, "it was no middle");
        upgrade.join().unwrap();
        done
    });
    assert_eq!(
        installed_version(&plane.api, windlass::NAMESPACE).as_deref(),
        Some(version)
    );
    for kind in ["windlassconfigs", "windlassconfigtemplates"] {
        let name = format!("{kind}.bootstrap.windlass.dev");
        let definition = plane
            .api
            .get(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                None,
                &name,
            )
            .unwrap();
        assert_eq!(
            definition["status"]["storedVersions"],
            json!(["v1beta2"]),
            "{name} has something to migrate"
        );
    }
    done
}

fn configs(plane: &ControlPlane) -> Vec<Value> {
    plane.api.list(BOOTSTRAP, "WindlassConfig", Some(NAMESPACE))
}

fn until_more_are_done(plane: &ControlPlane) {
    let count = || {
        configs(plane)
            .iter()
            .filter(|config| is_done(config))
            .count()
    };
    let before = count();
    wait::until("some more machines", LONG, || {
        let now = count();
        if now >= before + 5 {
            Ok(())
        } else {
            Err(format!("{now}, and {before} before"))
        }
    });
}

/// The configs that have their data, with it.
fn done(plane: &ControlPlane) -> BTreeMap<String, Value> {
    let configs: Vec<Value> = configs(plane).into_iter().filter(is_done).collect();
    let secret = |config: &Value| {
        plane
            .api
            .get(
                "v1",
                "Secret",
                Some(NAMESPACE),
                config["metadata"]["name"].as_str().unwrap(),
            )
            .unwrap()
    };
    let secrets: Vec<Value> = configs.iter().map(secret).collect();
    configs
        .into_iter()
        .chain(secrets)
        .map(|object| {
            (
                format!("{} {}", object["kind"], object["metadata"]["name"]),
                object,
            )
        })
        .collect()
}

/// Each of these objects is there, in the same version.
fn assert_unchanged(plane: &ControlPlane, before: &BTreeMap<String, Value>) {
    let now = done(plane);
    for (name, object) in before {
        assert_eq!(now.get(name), Some(object), "{name}");
    }
}
