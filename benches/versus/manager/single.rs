//! One Machine after the other, in a cluster where nothing else happens: from before the Machine is
//! made until its Secret is there.

use std::time::Duration;

use tokio::runtime::Runtime;

use super::account;
use super::options::Options;
use super::side::{Running, Side};
use super::site::{Site, cluster_name, machine_name};
use super::usage;

const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn run(options: &Options) {
    let machines = options.machines.unwrap_or(100);
    println!(
        "one Machine after the other, {machines} times, {}",
        options.limits.as_str()
    );
    let runtime = Runtime::new().expect("threads can be started");
    for side in &options.sides {
        one(*side, &runtime, machines, options);
    }
}

fn one(side: Side, runtime: &Runtime, machines: usize, options: &Options) {
    let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
    let site = Site::new(folder.path(), runtime, side, 1);
    let mut running = side.start(&site, "measured", options);
    running.wait_until_ready();
    usage::wait_until_quiet(&running.process);
    let mut waits = Vec::new();
    for index in 0..machines {
        waits.push(one_machine(&site, &mut running, index, 0, LIMIT));
        // What follows the Secret is not to be in the next one's way.
        std::thread::sleep(Duration::from_millis(300));
    }
    println!("  {}", side.title());
    print(waits);
    account::print(&account::requests(&site), machines);
}

/// Milliseconds from before a Machine is made until its Secret is there.
pub(super) fn one_machine(
    site: &Site,
    running: &mut Running,
    index: usize,
    cluster: usize,
    limit: Duration,
) -> f64 {
    let (name, begun) = (machine_name(index), account::now());
    site.make_machine(&name, &cluster_name(cluster), false);
    let made = site.wait_for_secret(running, &name, limit);
    (made - begun) * 1000.0
}

/// Prints how long it took.
pub(super) fn print(mut waits: Vec<f64>) {
    waits.sort_by(f64::total_cmp);
    let at = |hundredth: usize| waits[(waits.len() * hundredth / 100).min(waits.len() - 1)];
    println!(
        "    median {:.0} ms, of a hundred 99 within {:.0} ms, at most {:.0} ms",
        at(50),
        at(99),
        at(100)
    );
}
