//! Very many Machines at once, which were made while the manager was off.

use std::time::Duration;

use tokio::runtime::Runtime;

use super::account;
use super::options::Options;
use super::side::Side;
use super::site::{Site, is_data};
use super::usage;

const LIMIT: Duration = Duration::from_secs(1800);

pub(super) fn run(options: &Options) {
    let (machines, clusters) = (
        options.machines.unwrap_or(1000),
        options.clusters.unwrap_or(1),
    );
    println!(
        "{machines} Machines of {clusters} Clusters at once, {}",
        options.limits.as_str()
    );
    let runtime = Runtime::new().expect("threads can be started");
    for _ in 0..options.runs {
        for side in &options.sides {
            one(*side, &runtime, machines, clusters, options);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn one(side: Side, runtime: &Runtime, machines: usize, clusters: usize, options: &Options) {
    let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
    let site = Site::new(folder.path(), runtime, side, clusters);
    site.make_machines(machines, false);
    let mut running = side.start(&site, "measured", options);
    site.wait_for_data(&mut running, machines, LIMIT);
    usage::wait_until_quiet(&running.process);
    let (cpu, [most, now]) = (
        usage::cpu(&running.process),
        usage::memory(&running.process),
    );
    let requests = account::requests(&site);
    let made = account::made(&requests, is_data);
    assert_eq!(
        made.len(),
        machines,
        "each Machine has its Secret, and was given it once"
    );
    let [first, last] = [made[0].1, made[made.len() - 1].1].map(|at| at - running.started);
    println!("  {}", side.title());
    println!(
        "    {:.1} Secrets a second, the first after {first:.2} s, the last after {last:.1} s",
        machines as f64 / last
    );
    println!(
        "    {:.2} ms of the processors each ({cpu:.2} s), at most {most:.0} MB, then {now:.0} MB",
        cpu * 1000.0 / machines as f64
    );
    account::print(&requests, machines);
}
