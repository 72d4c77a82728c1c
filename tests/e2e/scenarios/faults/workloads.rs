//! Workload clusters that hang, reject, show a wrong certificate or never answer a request, beside
//! one that is well.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::site::{Site, Ways, is_done};
use super::sized;
use crate::harness::certificates::Certificates;
use crate::harness::control_plane::ControlPlane;
use crate::harness::fault_proxy::{Asked, Fate, Plan};
use crate::harness::kubeconfig::{self, User};
use crate::harness::runner::Context;
use crate::harness::{ports, wait};

const LONG: Duration = Duration::from_secs(120);

/// Nothing is answered.
struct Mute;

impl Plan for Mute {
    fn request(&mut self, _: &Asked) -> Fate {
        Fate::StopBefore
    }
}

/// Machines of a good cluster get their data as quickly beside the machines of four bad ones as
/// alone, and before any of those; each of those says in its condition why it waits.
pub(crate) fn bad_workload_clusters_stop_nobody(context: &Context) {
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let count = sized(60, 600);
    let alone = Site::empty(&plane, "alone");
    alone.give_running_cluster("c", &ways.workload);
    let quiet = time(&alone, &ways, count, || ());
    alone.leave();

    let (mute, hanging) = (
        plane.fault_proxy(),
        TcpListener::bind("127.0.0.1:0").unwrap(),
    );
    mute.follow(Mute);
    let hangs = format!("https://{}", hanging.local_addr().unwrap());
    let rejects = format!("https://127.0.0.1:{}", ports::free());
    let stranger = context.folder().join("stranger");
    std::fs::create_dir_all(&stranger).unwrap();
    let stranger = Certificates::make(&stranger).authority;
    let own = &plane.certificates.authority;
    let bad = [
        ("hangs", &hangs, own),
        ("rejects", &rejects, own),
        ("wrong", &plane.url, &stranger),
        ("mute", &mute.url, own),
    ];

    let beside = Site::empty(&plane, "beside");
    beside.give_running_cluster("c", &ways.workload);
    for (name, url, authority) in bad {
        let file = kubeconfig_of(&plane, name, url, authority);
        beside.give_running_cluster(name, &file);
        (0..count / 2).for_each(|index| beside.give_worker(name, &format!("{name}-{index:03}")));
    }
    let is_good =
        |config: &Value| config["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == "c";
    let loud = time(&beside, &ways, count, || {
        let bad: Vec<Value> = beside
            .configs()
            .into_iter()
            .filter(|config| !is_good(config))
            .collect();
        assert_eq!(bad.len(), count / 2 * 4);
        assert!(
            !bad.iter().any(is_done),
            "a cluster that does not answer has tokens"
        );
        // Whoever has waited says so.
        for name in ["hangs", "rejects", "wrong", "mute"] {
            let told = wait::until(&format!("a word about {name}"), LONG, || {
                let configs = beside.configs().into_iter().filter(|config| {
                    config["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] == name
                });
                let told: Vec<Option<String>> = configs.map(|config| told(&config)).collect();
                let missing = told.iter().filter(|told| told.is_none()).count();
                if missing == 0 {
                    Ok(told)
                } else {
                    Err(format!("{missing} say nothing"))
                }
            });
            let words = told[0].as_deref().unwrap();
            assert_eq!(
                words.contains("certificate"),
                name == "wrong",
                "{name}: {words}"
            );
            println!("  {name}: {words}");
        }
    });
    println!(
        "  {count} machines alone {:.1} s, beside {} of bad clusters {:.1} s",
        quiet.as_secs_f32(),
        count * 2,
        loud.as_secs_f32()
    );
    assert!(
        loud < quiet * 2 + Duration::from_secs(2),
        "{loud:?} in place of {quiet:?}"
    );
    beside.leave();
}

fn kubeconfig_of(plane: &ControlPlane, name: &str, url: &str, authority: &str) -> PathBuf {
    let file: &Path = &plane.folder().join(format!("kubeconfig-{name}"));
    kubeconfig::write(file, url, authority, &User::Token("abc"));
    file.to_path_buf()
}

/// How long it takes a manager that begins until so many workers of the good cluster have their
/// data; then something more is done.
fn time(site: &Site<'_>, ways: &Ways, count: usize, then: impl FnOnce()) -> Duration {
    let names: Vec<String> = (0..count).map(|index| format!("good-{index:03}")).collect();
    names.iter().for_each(|name| site.give_worker("c", name));
    let mut manager = site.manager(ways, &[]);
    let taken = site.time_until_done(&mut manager, &names);
    then();
    manager.stop();
    taken
}

/// Why a config has no data.
pub(super) fn told(config: &Value) -> Option<String> {
    let conditions = config["status"]["conditions"].as_array()?;
    // Certificates that are not there have a condition of their own.
    let is_open = |one: &&Value| {
        ["DataSecretAvailable", "CertificatesAvailable"]
            .iter()
            .any(|own| one["type"] == *own)
            && one["status"] != "True"
    };
    let words = conditions
        .iter()
        .filter(is_open)
        .filter_map(|one| one["message"].as_str());
    words
        .filter(|message| !message.is_empty())
        .map(str::to_owned)
        .next()
}
