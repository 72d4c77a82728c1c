//! One Machine after the other of a cluster where nothing happens, while another cluster floods.

use std::time::Duration;

use tokio::runtime::Runtime;

use super::account;
use super::options::Options;
use super::side::Side;
use super::single;
use super::site::Site;

const LIMIT: Duration = Duration::from_secs(1800);
/// Machines of the quiet cluster.
const ALONE: usize = 20;
/// The first number of their names.
const FIRST: usize = 90_000;

pub(super) fn run(options: &Options) {
    let machines = options.machines.unwrap_or(2000);
    println!(
        "{machines} Machines of one Cluster at once, and meanwhile {ALONE} of another one, one after the other, {}",
        options.limits.as_str()
    );
    let runtime = Runtime::new().expect("threads can be started");
    for side in &options.sides {
        one(*side, &runtime, machines, options);
    }
}

fn one(side: Side, runtime: &Runtime, machines: usize, options: &Options) {
    let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
    let site = Site::new(folder.path(), runtime, side, 2);
    site.make_machines_of(0, machines);
    let mut running = side.start(&site, "measured", options);
    running.wait_until_ready();
    let mut waits = Vec::new();
    for index in FIRST..FIRST + ALONE {
        waits.push(single::one_machine(&site, &mut running, index, 1, LIMIT));
    }
    let ended = account::now();
    site.wait_for_data(&mut running, machines + ALONE, LIMIT);
    let requests = account::requests(&site);
    let made = account::made(&requests, super::site::is_data);
    let before = made.iter().filter(|(_, at)| *at < ended).count();
    println!("  {}", side.title());
    single::print(waits);
    println!(
        "    of the flood {} were still to be made when the last of them was there",
        machines + ALONE - before
    );
}
