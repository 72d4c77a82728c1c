//! Clusters and machines come and go for an hour, and the manager takes no more of anything than
//! before.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::site::{Site, Ways};
use super::sized;
use crate::harness::control_plane::ControlPlane;
use crate::harness::process::Process;
use crate::harness::runner::Context;
use crate::harness::{installation, ports, wait, windlass_manager};

/// Somebody else may keep the machine busy for a part of the hour.
const LONG: Duration = Duration::from_secs(300);

/// The log of requests, which nobody reads here, is kept short: an hour of them takes gigabytes.
const SHORT_LOG: [&str; 2] = ["--audit-log-maxsize=20", "--audit-log-maxbackup=1"];

/// Clusters that come and go beside each other. Each is asked at an address of its own, so that
/// clients are made and closed.
const CLUSTERS: usize = 3;

/// Workers of each cluster.
const WORKERS: usize = 4;

/// Rounds: two of each quarter.
const LEAST: usize = 8;

/// One cluster stays and has its workers scaled and rolled; others come, from their first machine
/// on, and go again, and of their machines some go before they have their data. All others get it.
/// Each round ends with the same objects, and the manager has then no more memory, files, threads,
/// tasks and metrics than it had in the second quarter of the rounds.
pub(crate) fn churn_leaves_nothing_in_the_manager(context: &Context) {
    let plane = context.control_plane_with(&SHORT_LOG);
    installation::kinds_alone(&plane);
    let metrics = ports::free();
    let address = format!("--diagnostics-address=127.0.0.1:{metrics}");
    let mut manager =
        windlass_manager::start(&plane, "churned", &["--leader-elect", &address]).process;
    let mut stays = Site::begin(&plane, &Ways::by(&plane, &plane.url), "stays", 2, WORKERS);
    // Only after half a minute the garbage collector knows our kinds.
    let mut machines = stays.count() + round(&plane, 0, &mut stays);
    let (began, time, pause) = (
        Instant::now(),
        Duration::from_secs(sized(0, 3600)),
        Duration::from_secs(sized(0, 60)),
    );
    let (mut samples, mut told) = (Vec::new(), None);
    while samples.len() < LEAST || began.elapsed() < time {
        machines += round(&plane, samples.len() + 1, &mut stays);
        let sample = Sample::of(&mut manager, metrics, began);
        samples.push(sample);
        if told.is_none_or(|told: Instant| told.elapsed() >= pause) {
            told = Some(Instant::now());
            println!("  round {:3} {sample}", samples.len());
        }
    }
    println!("  {machines} machines in {} rounds", samples.len());
    assert_flat(&samples);
}

/// Scales, rolls and deletes; how many machines were made that got their data.
fn round(plane: &ControlPlane, number: usize, stays: &mut Site<'_>) -> usize {
    let ways: Vec<_> = (0..CLUSTERS)
        .map(|_| {
            let proxy = plane.fault_proxy();
            let ways = Ways::by(plane, &proxy.url);
            (proxy, ways)
        })
        .collect();
    let name = |index: usize| format!("churn-{number}-{index}");
    let mut sites: Vec<Site<'_>> = ways
        .iter()
        .enumerate()
        .map(|(index, (_, ways))| Site::begin(plane, ways, &name(index), 2, WORKERS))
        .collect();
    for site in &sites {
        site.give_worker("c", "brief");
        site.take_machine("brief");
    }
    stays.more_workers(WORKERS);
    sites
        .iter_mut()
        .for_each(|site| site.more_workers(WORKERS / 2));
    complete(&sites, stays);
    stays.fewer_workers(WORKERS);
    for site in &mut sites {
        site.fewer_workers(WORKERS / 2);
        site.more_workers(WORKERS);
    }
    complete(&sites, stays);
    let machines = CLUSTERS * (2 + WORKERS + WORKERS / 2 + WORKERS) + WORKERS;
    sites.into_iter().for_each(Site::end);
    stays.keep_tokens();
    machines
}

/// Does what the core does until all machines have their data.
fn complete(sites: &[Site<'_>], stays: &Site<'_>) {
    wait::until("all machines", LONG, || {
        sites.iter().chain([stays]).try_for_each(|site| {
            site.play();
            site.done()
        })
    });
}

/// What the manager takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    second: u64,
    kilobytes: usize,
    files: usize,
    threads: usize,
    tasks: usize,
    /// Samples of its metrics.
    metrics: usize,
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Sample {
            second,
            kilobytes,
            files,
            threads,
            tasks,
            metrics,
        } = self;
        write!(
            f,
            "after {second:4} s: {kilobytes:6} kB, {files:3} files, {threads:2} threads, {tasks:3} tasks, {metrics:3} metrics"
        )
    }
}

impl Sample {
    /// Once nobody works any more: what is under way ends within a moment.
    fn of(manager: &mut Process, metrics: u16, began: Instant) -> Sample {
        let mut before = None;
        wait::until("the manager to have nothing to do", LONG, || {
            manager.assert_running();
            let now = Sample::now(manager, metrics, began)?;
            let is_same = before.is_some_and(|before: Sample| {
                (before.files, before.tasks) == (now.files, now.tasks)
            });
            before = Some(now);
            if is_same {
                Ok(now)
            } else {
                Err(format!("{now}"))
            }
        })
    }

    fn now(manager: &Process, metrics: u16, began: Instant) -> Result<Sample, String> {
        let folder = format!("/proc/{}", manager.id());
        let count = |name: &str| {
            std::fs::read_dir(format!("{folder}/{name}"))
                .expect("the manager runs")
                .count()
        };
        let (files, threads) = (count("fd"), count("task"));
        let status = std::fs::read_to_string(format!("{folder}/status")).expect("the manager runs");
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .expect("proc(5) has it");
        let kilobytes = resident
            .trim_end_matches("kB")
            .trim()
            .parse()
            .expect("a number");
        let text = read_metrics(metrics)?;
        let busy = metric(&text, "controller_runtime_active_workers");
        if busy > 0 {
            return Err(format!("{busy} workers are busy"));
        }
        let metrics = text.lines().filter(|line| !line.starts_with('#')).count();
        Ok(Sample {
            second: began.elapsed().as_secs(),
            kilobytes,
            files,
            threads,
            tasks: metric(&text, "tokio_alive_tasks"),
            metrics,
        })
    }
}

fn read_metrics(port: u16) -> Result<String, String> {
    let read = || {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text).map(|_| text)
    };
    read().map_err(|error| error.to_string())
}

/// The sum of the samples of a metric.
fn metric(metrics: &str, name: &str) -> usize {
    let is_sample = |line: &&str| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['{', ' ']))
    };
    let samples: Vec<&str> = metrics.lines().filter(is_sample).collect();
    assert!(
        !samples.is_empty(),
        "the manager does not tell {name}:\n{metrics}"
    );
    samples
        .iter()
        .map(|line| {
            line.rsplit(' ')
                .next()
                .and_then(|value| value.parse::<usize>().ok())
                .expect("a whole number")
        })
        .sum()
}

/// How much there is of something.
type Amount = fn(&Sample) -> usize;

/// Compares the last two quarters of the rounds with the second; the first is for warming up.
///
/// Between the second quarter and the last are four rounds at least, with twelve clusters and 160
/// machines. How many connections of a client are open, and the tasks with them, depends on how
/// many requests met each other in the last minute and a half, and threads on what met in the last
/// ten seconds; one that each cluster left behind would be more than what is allowed. Of memory an
/// allocator gives back 2 % at times, and takes it again.
fn assert_flat(samples: &[Sample]) {
    let quarter =
        |number: usize| &samples[samples.len() * number / 4..samples.len() * (number + 1) / 4];
    let most = |number: usize, of: Amount| {
        quarter(number)
            .iter()
            .map(of)
            .max()
            .expect("each quarter has rounds")
    };
    let all: [(&str, Amount, usize); 4] = [
        ("files", |one| one.files, 8),
        ("threads", |one| one.threads, 4),
        ("tasks", |one| one.tasks, 8),
        ("metrics", |one| one.metrics, 4),
    ];
    for (what, of, more) in all {
        let [second, third, last] = [1, 2, 3].map(|number| most(number, of));
        println!(
            "  most {what} of each quarter: {} {second} {third} {last}",
            most(0, of)
        );
        assert!(
            third.max(last) <= second + more,
            "{what} grow: {second}, {third}, {last}"
        );
    }
    let [second, third, last] =
        [1, 2, 3].map(|number| median(quarter(number).iter().map(|one| one.kilobytes).collect()));
    println!("  median of kilobytes from the second quarter on: {second} {third} {last}");
    assert!(
        last * 100 <= second * 105,
        "memory grows: {second} kB, {third} kB, {last} kB"
    );
}

fn median(mut values: Vec<usize>) -> usize {
    values.sort_unstable();
    values[values.len() / 2]
}
