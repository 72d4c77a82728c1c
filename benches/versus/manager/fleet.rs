//! Very many Machines of many Clusters, all of them nodes: what ours takes to hold them, and to
//! begin again.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::account;
use super::options::Options;
use super::side::{Running, Side};
use super::site::Site;
use super::usage;

const LIMIT: Duration = Duration::from_secs(1800);
const AGAIN_LIMIT: Duration = Duration::from_secs(300);
const IDLE: Duration = Duration::from_secs(30);

pub(super) fn run(options: &Options) {
    let (machines, clusters) = (
        options.machines.unwrap_or(10_000),
        options.clusters.unwrap_or(100),
    );
    println!(
        "{machines} Machines of {clusters} Clusters, all of them nodes, {}",
        options.limits.as_str()
    );
    let runtime = Runtime::new().expect("threads can be started");
    let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
    let site = Site::new(folder.path(), &runtime, Side::Windlass, clusters);
    site.make_machines(machines, true);
    let mut first = Side::Windlass.start(&site, "first", options);
    site.wait_for_data(&mut first, machines, LIMIT);
    usage::wait_until_quiet(&first.process);
    tell("all done", &first);
    idle(&first);
    first.process.stop();

    let begun = account::now();
    let mut second = Side::Windlass.start(&site, "second", options);
    wait_until_all_were_looked_at(&mut second, machines);
    println!(
        "  begun again: all looked at after {:.1} s",
        account::now() - begun
    );
    usage::wait_until_quiet(&second.process);
    tell("begun again", &second);
    idle(&second);
    let is_write = |verb: &str| ["create", "update", "patch", "delete"].contains(&verb);
    let since: Vec<_> = account::requests(&site)
        .into_iter()
        .filter(|request| request.at > begun)
        .collect();
    let written = since
        .iter()
        .filter(|request| is_write(&request.verb))
        .count();
    println!(
        "  since then {} requests, of which {written} write",
        since.len()
    );
    account::print(&since, machines);
}

fn tell(when: &str, running: &Running) {
    let [most, now] = usage::memory(&running.process);
    println!(
        "  {when}: {:.1} s of the processors, at most {most:.0} MB, now {now:.0} MB",
        usage::cpu(&running.process)
    );
}

fn idle(running: &Running) {
    let (before, began) = (usage::cpu(&running.process), Instant::now());
    std::thread::sleep(IDLE);
    let share = (usage::cpu(&running.process) - before) / began.elapsed().as_secs_f64();
    println!("  idle: {:.2} % of a core", share * 100.0);
}

fn wait_until_all_were_looked_at(running: &mut Running, machines: usize) {
    let deadline = Instant::now() + AGAIN_LIMIT;
    loop {
        running.process.assert_running();
        let count = reconciled(running.metrics).unwrap_or_default();
        if count >= machines {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{count} of {machines}; {}",
            running.process.last_words()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// How many configs were looked at, as the metrics have it.
fn reconciled(port: u16) -> Option<usize> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let counts = text
        .lines()
        .filter(|line| line.starts_with("controller_runtime_reconcile_total{"));
    Some(
        counts
            .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
            .sum(),
    )
}
