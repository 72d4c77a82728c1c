//! The API server goes and comes, its watches lag behind or end, and the clock is off.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use windlass_capi::api::time::Timestamp;

use super::site::{Site, Ways, is_done};
use super::{history, sized};
use crate::harness::fault_proxy::{Asked, EventFate, Fate, Plan};
use crate::harness::process::Process;
use crate::harness::runner::Context;
use crate::harness::{audit, wait, windlass_manager};

const LONG: Duration = Duration::from_secs(120);

/// API server and etcd end where they stand in the middle of a bring-up, and come back; the rest is
/// made, and nothing twice.
pub(crate) fn the_api_server_restarts(context: &Context) {
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let since = audit::mark(&plane);
    let site = Site::begin(&plane, &ways, "restarts", 3, 17);
    // So slow that there is a middle.
    let slow = ["--leader-elect", "--kube-api-qps=20", "--kube-api-burst=5"];
    let mut manager = site.manager(&ways, &slow);
    let done = || {
        site.configs()
            .iter()
            .filter(|config| is_done(config))
            .count()
    };
    for round in 0..sized(1, 3) {
        wait::until("some of the machines", LONG, || {
            site.play();
            manager.assert_running();
            if done() > 3 * round + 2 {
                Ok(())
            } else {
                Err(format!("{} are done", done()))
            }
        });
        assert!(done() < site.count(), "it was too quick for a middle");
        plane.outage(|| std::thread::sleep(Duration::from_secs(1)));
        plane.assert_running();
    }
    // Who loses the Lease ends, and the kubelet begins anew.
    complete(&site, &mut manager, || site.manager(&ways, &slow));
    manager.stop();
    history::assert_sound(&site, since);
    site.leave();
}

/// Does what the core does until all is done, and starts the manager again when it ends.
fn complete(site: &Site<'_>, manager: &mut Process, again: impl Fn() -> Process) {
    wait::until("all machines", LONG, || {
        if manager.ended().is_some() {
            *manager = again();
        }
        site.play();
        site.done()
    });
}

/// Watches of configs come too late, until a time.
struct Stale {
    until: Instant,
}

impl Plan for Stale {
    fn event(&mut self, watch: &Asked) -> EventFate {
        let left = self.until.saturating_duration_since(Instant::now());
        if watch.target.contains("/windlassconfigs") && !left.is_zero() {
            EventFate::Hold(left)
        } else {
            EventFate::Pass
        }
    }
}

/// Each watch ends with its next event, as one does whose version the server has forgotten; so many
/// do.
struct Forgotten {
    left: usize,
}

impl Plan for Forgotten {
    fn request(&mut self, _: &Asked) -> Fate {
        Fate::Pass
    }

    fn event(&mut self, _: &Asked) -> EventFate {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            EventFate::Expire
        } else {
            EventFate::Pass
        }
    }
}

/// The watch of configs lags behind for a while, in which the control plane begins: what is decided
/// from old objects is rejected by their versions, nobody asks again and again, and all is made once
/// the watch has come. After that watches end because their versions are forgotten, and new
/// machines get their data nevertheless.
pub(crate) fn watches_are_stale_and_expire(context: &Context) {
    let plane = context.kinds();
    let proxy = plane.fault_proxy();
    let ways = Ways::by(&plane, &proxy.url);
    let since = audit::mark(&plane);
    let mut site = Site::begin(&plane, &ways, "stale", 1, 8);
    let mut manager = site.manager(&ways, &[]);
    wait::until("the data of the first", LONG, || {
        let done = site
            .configs()
            .iter()
            .filter(|config| is_done(config))
            .count();
        if done == 1 {
            Ok(())
        } else {
            Err(format!("{done} are done"))
        }
    });
    let stale = Duration::from_secs(sized(15, 60));
    proxy.follow(Stale {
        until: Instant::now() + stale,
    });
    let began = Instant::now();
    wait::until("all machines", LONG, || {
        manager.assert_running();
        site.play();
        site.done()
    });
    // Those that were watched before work on what they know; the others wait.
    while began.elapsed() < stale {
        std::thread::sleep(Duration::from_millis(100));
    }
    let asked = proxy.counts()["request"];
    println!("  {asked} requests in {} s", stale.as_secs());
    assert!(
        asked < 40 * site.count(),
        "{asked} requests for {} configs",
        site.count()
    );

    proxy.follow(Forgotten { left: 10 });
    site.more_workers(5);
    wait::until("machines after that", LONG, || {
        manager.assert_running();
        site.play();
        site.done()
    });
    assert!(proxy.counts()["watch expired"] > 0);
    manager.stop();
    history::assert_sound(&site, since);
    site.leave();
}

/// Where Debian has libfaketime, for programs with threads: in a folder that is named after the
/// processor.
fn fake_time() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib")
        .expect("a system has it")
        .filter_map(Result::ok);
    let found = folders
        .map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"))
        .find(|file| file.is_file());
    found.expect("libfaketime is there: apt-get install libfaketime")
}

/// One manager whose clock is ten minutes ahead, and after it one whose is ten minutes behind: each
/// brings its machines up, no token is expired for the cluster when it is given, and who follows
/// the other changes nothing that was made.
pub(crate) fn the_clock_is_off(context: &Context) {
    let library = fake_time();
    let library = library.to_str().unwrap();
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let since = audit::mark(&plane);
    let mut site = Site::begin(&plane, &ways, "clock", 2, 3);
    for minutes in [10_i64, -10] {
        let off = format!("{:+}", minutes * 60);
        let environment = [
            ("LD_PRELOAD", library),
            ("FAKETIME", off.as_str()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
        ];
        let namespace = format!("--namespace={}", site.namespace);
        let name = format!("clock{off}");
        let mut manager = windlass_manager::spawn_alone(
            &plane,
            &ways.manager,
            &name,
            &environment,
            &[&namespace],
        );
        site.more_workers(3);
        wait::until("all machines", LONG, || {
            manager.assert_running();
            site.play();
            site.done()
        });
        // Texts of times order as the times do.
        let at = |second: i64| Timestamp::of_second(second).to_string();
        let now = now();
        let all = plane
            .api
            .list("v1", "Secret", Some("kube-system"))
            .into_iter();
        let tokens = all.filter(|one| one["type"] == "bootstrap.kubernetes.io/token");
        let expirations: Vec<String> = tokens.map(|token| expiration(&token)).collect();
        println!(
            "  with a clock {minutes} minutes off, at {}, tokens live until {expirations:?}",
            at(now)
        );
        assert!(expirations.iter().all(|expiration| *expiration > at(now)));
        // That the clock is off shows in the newest of them: fifteen minutes are usual.
        let usual = now + 900 + minutes * 60;
        let is_off = |expiration: &String| (at(usual - 60)..at(usual + 60)).contains(expiration);
        assert!(expirations.iter().any(is_off), "the clock was not off");
        manager.stop();
    }
    history::assert_sound(&site, since);
    site.leave();
}

fn now() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// When a token ends.
fn expiration(token: &Value) -> String {
    String::from_utf8(
        STANDARD
            .decode(token["data"]["expiration"].as_str().unwrap())
            .unwrap(),
    )
    .unwrap()
}
