//! Which tests come by a mutant, and whether one of them sees it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Order;
use crate::listed::Mutant;
use crate::program::Built;

/// A test that passes as long as no mutant is alive.
pub struct Test {
    program: usize,
    name: String,
    takes: Duration,
    reaches: Vec<usize>,
}

/// What became of a mutant.
#[derive(Clone)]
pub enum Verdict {
    Killed,
    /// No test comes by it.
    Unreached,
    /// All of its tests pass.
    Survived,
    /// Those that were run pass; so many were not.
    Unfinished(usize),
}

impl Verdict {
    /// In which way it lives on.
    pub fn survival(&self) -> Option<String> {
        match self {
            Verdict::Killed => None,
            Verdict::Unreached => Some("no test comes by it".to_owned()),
            Verdict::Survived => Some("no test fails".to_owned()),
            Verdict::Unfinished(rest) => {
                Some(format!("no test failed so far, {rest} were not run"))
            }
        }
    }
}

/// Runs each test by itself: what it takes, and what it comes by.
pub fn measure(built: &Built, work: &Path, order: &Order) -> Result<Vec<Test>, String> {
    let mut names = Vec::new();
    for (program, path) in built.programs.iter().enumerate() {
        let listing = Command::new(path)
            .args(["--list", "--format", "terse", "--skip", "tidy::"])
            .current_dir(&built.tree)
            .output();
        let listing = listing.map_err(|error| error.to_string())?;
        let listed = String::from_utf8_lossy(&listing.stdout).into_owned();
        names.extend(
            listed
                .lines()
                .filter_map(|line| line.strip_suffix(": test"))
                .map(|name| (program, name.to_owned())),
        );
    }
    let tests = at_once(order.jobs, names.len(), |at| {
        let (program, name) = &names[at];
        let reached = work.join(format!("reached-{at}"));
        let _ = fs::remove_file(&reached);
        let started = Instant::now();
        let passed = run(
            built,
            *program,
            &[name],
            &[("WINDLASS_MUTANTS_REACHED", reached.as_os_str())],
            Duration::from_secs(600),
        );
        let takes = started.elapsed();
        let numbers = fs::read(&reached).unwrap_or_default();
        let _ = fs::remove_file(&reached);
        let mut reaches: Vec<usize> = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|number| u32::from_le_bytes(*number) as usize)
            .collect();
        reaches.sort_unstable();
        reaches.dedup();
        (
            passed,
            Test {
                program: *program,
                name: name.clone(),
                takes,
                reaches,
            },
        )
    });
    let failing: Vec<&str> = tests
        .iter()
        .filter(|(passed, _)| !passed)
        .map(|(_, test)| test.name.as_str())
        .collect();
    if !failing.is_empty() {
        println!(
            "not asked, for they fail without a mutant: {}",
            failing.join(", ")
        );
    }
    Ok(tests
        .into_iter()
        .filter(|(passed, _)| *passed)
        .map(|(_, test)| test)
        .collect())
}

pub fn judge(built: &Built, tests: &[Test], order: &Order) -> Vec<Verdict> {
    let mut by_mutant: BTreeMap<usize, Vec<&Test>> = BTreeMap::new();
    for test in tests {
        for number in &test.reaches {
            by_mutant.entry(*number).or_default().push(test);
        }
    }
    // The quick ones first.
    by_mutant
        .values_mut()
        .for_each(|tests| tests.sort_by_key(|test| test.takes));
    let bound = Duration::from_secs(order.seconds);
    let verdict = |mutant: &Mutant| {
        by_mutant
            .get(&mutant.id)
            .map_or(Verdict::Unreached, |tests| one(built, mutant, tests, bound))
    };
    at_once(order.jobs, built.mutants.len(), |at| {
        verdict(&built.mutants[at])
    })
}

fn one(built: &Built, mutant: &Mutant, tests: &[&Test], bound: Duration) -> Verdict {
    let number = mutant.id.to_string();
    let mut left = bound;
    let mut rest = tests;
    // In groups that grow: most mutants are seen by one of the first.
    let mut size = 4;
    while let Some(first) = rest.first() {
        let fits = |test: &&&Test| {
            let is_in = test.takes <= left && test.program == first.program;
            left = if is_in {
                left.saturating_sub(test.takes)
            } else {
                left
            };
            is_in
        };
        let count = rest.iter().take(size).take_while(fits).count();
        if count == 0 {
            return Verdict::Unfinished(rest.len());
        }
        let (group, others) = rest.split_at(count);
        let names: Vec<&str> = group.iter().map(|test| test.name.as_str()).collect();
        let expected: Duration = group.iter().map(|test| test.takes).sum();
        if !run(
            built,
            first.program,
            &names,
            &[("WINDLASS_MUTANT", number.as_ref())],
            expected * 5 + Duration::from_secs(20),
        ) {
            return Verdict::Killed;
        }
        rest = others;
        size *= 4;
    }
    Verdict::Survived
}

/// Whether tests pass, and within their time.
fn run<S: AsRef<str>>(
    built: &Built,
    program: usize,
    names: &[S],
    variables: &[(&str, &std::ffi::OsStr)],
    bound: Duration,
) -> bool {
    let mut command = Command::new(&built.programs[program]);
    // That the harness ends with the first test that fails is unstable.
    command
        .args([
            "--exact",
            "-Z",
            "unstable-options",
            "--fail-fast",
            "--test-threads=1",
        ])
        .args(names.iter().map(AsRef::as_ref));
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .envs(variables.iter().copied())
        .current_dir(&built.tree);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    within(command, bound).is_ok_and(|passed| passed)
}

fn within(mut command: Command, bound: Duration) -> io::Result<bool> {
    let mut child = command.spawn()?;
    let end = Instant::now() + bound;
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// The results of so many tasks, in their order.
fn at_once<T: Send>(jobs: usize, count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let result = task(at);
                    results.lock().expect("no task panics").push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no task panics");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
