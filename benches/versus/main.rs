//! `cargo run --release -p windlass-versus [ROW…]`: ours as it is shipped (profile `dist`, or what
//! `WINDLASS` names) and the real peer in turns, at least ten times each, in one run.
//!
//! `tests/peers/build` builds the peers. What is printed is the median with the smallest and
//! largest value; the ratio is that of neighbouring runs, so that what else the machine does hits
//! both. A new comparison is a new entry in [`rows::ALL`]. Managers are compared on request only,
//! and otherwise: see [`manager`].
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measuring program: it starts programs, reads the clock and reports"
)]

mod clusterctl;
#[path = "../../tests/e2e/harness/mod.rs"]
#[allow(dead_code, reason = "the scenarios use more of it")]
mod harness;
mod manager;
mod measure;
mod rows;
// The harness asks it which peers a scenario may start; nothing here is one.
#[path = "../../tests/e2e/selection/mod.rs"]
mod selection;
mod sources;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use measure::{Job, Sample, Spread};

/// Runs of each side; the first is not counted, it warms the caches.
const RUNS: usize = 12;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .first()
        .is_some_and(|first| first == measure::ALONE)
    {
        return measure::alone(&arguments[1..]);
    }
    if let Some(ended) = manager::main(&arguments) {
        return ended;
    }
    let chosen = |row: &&rows::Row| {
        arguments.is_empty() || arguments.iter().any(|argument| row.name == argument)
    };
    let chosen: Vec<&rows::Row> = rows::ALL.iter().filter(chosen).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = rows::ALL.iter().map(|row| row.name).collect();
        eprintln!("error: no such row; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let windlass = windlass();
    for row in chosen {
        let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
        let (ours, theirs) = (row.prepare)(&windlass, folder.path());
        report(row.about, &ours, &theirs);
    }
    ExitCode::SUCCESS
}

/// What `WINDLASS` names (the static binary of `dist/build`), or else the program in the profile in
/// which it is shipped.
fn windlass() -> PathBuf {
    if let Some(given) = std::env::var_os("WINDLASS").map(PathBuf::from) {
        assert!(
            given.is_file(),
            "WINDLASS: {} is not a file",
            given.display()
        );
        return given;
    }
    let root = sources::checkout();
    let build = Command::new(env!("CARGO"))
        .args(["build", "--profile", "dist", "--quiet"])
        .args(["--bin", "windlass", "--features", "signatures"])
        .current_dir(root)
        .status();
    assert!(
        build.expect("cargo started us").success(),
        "windlass does not build"
    );
    let versus = std::env::current_exe().expect("a running program has a path");
    versus
        .parent()
        .expect("programs are in a folder")
        .with_file_name("dist")
        .join("windlass")
}

fn report(about: &str, ours: &Job, theirs: &Job) {
    let _warm = (ours.run(), theirs.run());
    let pairs: Vec<(Sample, Sample)> = (0..RUNS).map(|_| (ours.run(), theirs.run())).collect();
    println!("{about}, {RUNS} runs each");
    for (job, samples) in [
        (ours, pairs.iter().map(|pair| &pair.0).collect::<Vec<_>>()),
        (theirs, pairs.iter().map(|pair| &pair.1).collect()),
    ] {
        let time = Spread::of(samples.iter().map(|sample| sample.seconds * 1000.0));
        let memory = Spread::of(samples.iter().map(|sample| sample.megabytes));
        println!(
            "  {:<34} {:>9.1} ms ({:.1} to {:.1}) {:>7.1} MB",
            job.title, time.median, time.least, time.most, memory.median
        );
    }
    let ratios = [
        (
            "faster",
            Spread::of(
                pairs
                    .iter()
                    .map(|(ours, theirs)| theirs.seconds / ours.seconds),
            ),
        ),
        (
            "less of the processors",
            Spread::of(pairs.iter().map(|(ours, theirs)| theirs.cpu / ours.cpu)),
        ),
    ];
    for (title, ratio) in ratios {
        println!(
            "  {title:<34} {:>9.1} x  ({:.1} to {:.1})",
            ratio.median, ratio.least, ratio.most
        );
    }
}
