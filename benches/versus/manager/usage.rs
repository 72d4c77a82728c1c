//! What a process has taken: `/proc` (proc(5)).

use std::time::Duration;

use crate::harness::process::Process;

/// How many ticks `/proc` counts in a second: the same on all architectures (`USER_HZ`).
const TICKS: f64 = 100.0;

/// Seconds of the processors so far.
pub(super) fn cpu(process: &Process) -> f64 {
    let stat =
        std::fs::read_to_string(format!("/proc/{}/stat", process.id())).expect("the process runs");
    // The name, in parentheses, may hold spaces.
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    fields[11..13]
        .iter()
        .map(|ticks| ticks.parse::<f64>().expect("a number"))
        .sum::<f64>()
        / TICKS
}

/// Megabytes of memory: the most so far, and now.
pub(super) fn memory(process: &Process) -> [f64; 2] {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()))
        .expect("the process runs");
    let of = |name: &str| {
        let line = status
            .lines()
            .find(|line| line.starts_with(name))
            .expect("the field is there");
        line.split_whitespace()
            .nth(1)
            .and_then(|kilobytes| kilobytes.parse::<f64>().ok())
            .expect("a number")
            / 1024.0
    };
    [of("VmHWM:"), of("VmRSS:")]
}

/// Waits until it does nothing any more.
pub(super) fn wait_until_quiet(process: &Process) {
    let mut before = cpu(process);
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(500));
        let now = cpu(process);
        if now - before <= 0.02 {
            return;
        }
        before = now;
    }
}
