//! Runs scenarios, some beside each other, counts them, and cleans up behind them.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, Runtime};

use super::control_plane::ControlPlane;
use super::queue::Queue;
use super::shared::NoCorpus;
use super::{audit, changes, installation, peers};
use crate::selection::{self, GROUPS, Group};

/// One scenario: something real is started, asked, and compared. It fails by panicking.
pub(crate) struct Scenario {
    /// `subject::what_holds`
    pub(crate) name: &'static str,
    /// After this time it has failed. Everything in it waits with shorter deadlines, so this is
    /// for hangs only.
    pub(crate) limit: Duration,
    pub(crate) company: Company,
    pub(crate) run: fn(&Context),
}

/// What may run beside a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// Anything: all that it uses is its own.
    Any,
    /// Whatever does not use the shared control planes, as it does.
    OthersPlanes,
    /// Nothing: it measures time.
    Nobody,
}

/// What a scenario is given.
pub(crate) struct Context {
    folder: PathBuf,
    runtime: Handle,
    company: Company,
    plain: Shared,
    installed: Shared,
    kinds: Shared,
}

/// A control plane that scenarios use together; started when the first one asks for it.
#[derive(Clone)]
struct Shared {
    folder: PathBuf,
    plane: Arc<Mutex<Option<Arc<ControlPlane>>>>,
}

impl Shared {
    fn at(folder: PathBuf) -> Shared {
        Shared {
            folder,
            plane: Arc::default(),
        }
    }

    /// The control plane; a new one is prepared before anybody gets it.
    fn get(&self, runtime: &Handle, prepare: fn(&ControlPlane)) -> Arc<ControlPlane> {
        let mut plane = lock(&self.plane);
        plane
            .get_or_insert_with(|| {
                create(&self.folder);
                let started = ControlPlane::start(&self.folder, runtime);
                prepare(&started);
                Arc::new(started)
            })
            .clone()
    }

    fn end(&self) {
        drop(lock(&self.plane).take());
    }
}

impl Context {
    /// The scenario's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where tasks of the harness run.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// A control plane of one's own, fresh.
    pub(crate) fn control_plane(&self) -> ControlPlane {
        ControlPlane::start(&self.folder, &self.runtime)
    }

    /// The same, with further arguments of its API server.
    pub(crate) fn control_plane_with(&self, arguments: &[&str]) -> ControlPlane {
        ControlPlane::start_with(&self.folder, &self.runtime, arguments)
    }

    /// The same, and no controller works there: what is written stays as it is.
    pub(crate) fn servers_alone(&self) -> ControlPlane {
        ControlPlane::start_servers(&self.folder, &self.runtime, &audit::ours(), &[])
    }

    /// Another one beside it.
    pub(crate) fn another_control_plane(&self, name: &str) -> ControlPlane {
        let folder = self.folder.join(name);
        create(&folder);
        ControlPlane::start(&folder, &self.runtime)
    }

    /// The control plane that all scenarios share which leave nothing behind that disturbs others.
    pub(crate) fn shared(&self) -> Arc<ControlPlane> {
        self.assert_alone_there();
        self.plain.get(&self.runtime, |_| ())
    }

    /// The management cluster, Cluster API and windlass installed and running, of all scenarios
    /// that leave nothing behind.
    pub(crate) fn installed(&self) -> Arc<ControlPlane> {
        self.assert_alone_there();
        self.installed.get(&self.runtime, installation::install)
    }

    /// The kinds of Cluster API and windlass, and our webhooks, with no manager, of all scenarios
    /// that keep to namespaces of their own.
    pub(crate) fn kinds(&self) -> Arc<ControlPlane> {
        self.assert_alone_there();
        self.kinds
            .get(&self.runtime, installation::kinds_and_webhooks)
    }

    fn assert_alone_there(&self) {
        assert!(
            self.company != Company::Any,
            "a scenario that uses the shared control planes says so in the list"
        );
    }
}

/// What a run is asked for.
#[derive(Default)]
struct Request {
    /// Parts of names.
    filters: Vec<String>,
    /// Only what the change can affect, since the last full run or what is named.
    select: Option<Option<String>>,
    /// Prints something of the chosen scenarios in place of running them.
    print: Option<Print>,
    /// No scenario starts later than this after the first.
    limit: Option<Duration>,
}

#[derive(Clone, Copy)]
enum Print {
    Names,
    Peers,
    Packages,
}

impl Request {
    fn read(arguments: impl Iterator<Item = String>) -> Result<Request, String> {
        let mut request = Request::default();
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--nocapture" => {}
                "--list" => request.print = Some(Print::Names),
                "--peers" => request.print = Some(Print::Peers),
                "--packages" => request.print = Some(Print::Packages),
                "--minutes" => {
                    let minutes = arguments.next().and_then(|given| given.parse::<u64>().ok());
                    let minutes = minutes.ok_or("--minutes needs a whole number")?;
                    request.limit = Some(Duration::from_secs(60 * minutes));
                }
                "--select" => {
                    request.select = Some(arguments.next_if(|next| !next.starts_with('-')))
                }
                flag if flag.starts_with('-') => {
                    return Err(format!(
                        "unknown flag {flag}; use parts of scenario names, --list, --peers, \
                         --packages, --minutes N, or --select [COMMIT or FILE of changed paths]"
                    ));
                }
                _ => request.filters.push(argument),
            }
        }
        if request.select.is_some() && !request.filters.is_empty() {
            return Err("use either --select or parts of scenario names".to_owned());
        }
        Ok(request)
    }

    /// The scenarios that the request is about. By default all, but for those that measure time.
    fn chosen<'a>(&self, scenarios: &'a [Scenario]) -> Vec<&'a Scenario> {
        let is_list = matches!(self.print, Some(Print::Names)) && self.select.is_none();
        let is_whole = whole() || is_list;
        let is_ordinary = |scenario: &&Scenario| is_whole || !measures(scenario);
        if !self.filters.is_empty() {
            let is_named = |scenario: &&Scenario| {
                let mut filters = self.filters.iter();
                filters.any(|filter| scenario.name.contains(filter.as_str()))
            };
            return scenarios.iter().filter(is_named).collect();
        }
        if !is_whole && self.print.is_none() {
            let left: Vec<&str> = scenarios
                .iter()
                .filter(|scenario| measures(scenario))
                .map(|scenario| scenario.name)
                .collect();
            println!(
                "not run, because they measure time: {}; WINDLASS_E2E_FAULTS=full runs them, or their names",
                left.join(", ")
            );
        }
        let all: Vec<&Scenario> = scenarios.iter().filter(is_ordinary).collect();
        let Some(since) = &self.select else {
            return all;
        };
        let mut selection = changes::selection(since.as_deref());
        selection.keep(|name| all.iter().any(|scenario| scenario.name == name));
        if self.print.is_none() {
            println!("{}", selection.report());
        }
        all.into_iter()
            .filter(|scenario| selection.has(scenario.name))
            .collect()
    }
}

/// Runs every scenario whose name contains one of the arguments, or that is selected (all without
/// arguments). Prints their number; none is a failure.
pub(crate) fn main(scenarios: &[Scenario]) -> ExitCode {
    let request = match Request::read(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let mut chosen = request.chosen(scenarios);
    if request.limit.is_some() && !chosen.is_empty() {
        // What had no time left in one run is among the first of another.
        let first = changes::run_number() % chosen.len();
        chosen.rotate_left(first);
    }
    let groups = || chosen.iter().map(|scenario| group_of(scenario));
    let peers: BTreeSet<&str> = groups().flat_map(selection::peers).collect();
    let packages: BTreeSet<&str> = groups().flat_map(|group| group.packages).copied().collect();
    match request.print {
        Some(Print::Names) => chosen
            .iter()
            .for_each(|scenario| println!("{}: test", scenario.name)),
        Some(Print::Peers) => peers.iter().for_each(|peer| println!("{peer}")),
        Some(Print::Packages) => packages.iter().for_each(|package| println!("{package}")),
        None if chosen.is_empty() => {
            eprintln!(
                "error: no scenario has {} in its name; --list shows them",
                request.filters.join(" or ")
            );
            return ExitCode::FAILURE;
        }
        None => match peers::missing(&peers, &packages) {
            Some(missing) => {
                eprintln!("error: {missing}");
                return ExitCode::FAILURE;
            }
            None => return run(&chosen, request.limit),
        },
    }
    ExitCode::SUCCESS
}

/// The group that lists a scenario.
fn group_of(scenario: &Scenario) -> &'static Group {
    let mut groups = GROUPS.iter();
    groups
        .find(|group| group.scenarios.contains(&scenario.name))
        .expect("internal error: both come from one table")
}

fn run(scenarios: &[&Scenario], limit: Option<Duration>) -> ExitCode {
    let root = tempfile::Builder::new()
        .prefix("windlass-e2e-")
        .tempdir()
        .expect("the system has a folder for temporary files");
    let runtime = Runtime::new().expect("threads can be started");
    let [plain, installed, kinds] =
        ["shared", "installed", "kinds"].map(|name| Shared::at(root.path().join(name)));
    let started = Instant::now();
    let queue = Queue::new(scenarios, limit.map(|limit| started + limit));
    let (failed, unchecked) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = || {
        while let Some(turn) = queue.next() {
            let folder = root.path().join(turn.scenario.name.replace("::", "-"));
            create(&folder);
            let (company, runtime) = (turn.scenario.company, runtime.handle().clone());
            let context = Context {
                folder,
                runtime,
                company,
                plain: plain.clone(),
                installed: installed.clone(),
                kinds: kinds.clone(),
            };
            match judge(turn.scenario, context, root.path()) {
                Outcome::Passed => {}
                Outcome::Unchecked => lock(&unchecked).push(turn.scenario.name),
                Outcome::Failed => lock(&failed).push(turn.scenario.name),
                // Its thread cannot be ended, but this process can; the folder stays, and the
                // watchdog ends the children.
                Outcome::Hung => std::process::exit(1),
            }
            if turn.is_last_of_shared() {
                plain.end();
                installed.end();
                kinds.end();
            }
        }
    };
    std::thread::scope(|threads| (0..at_once()).for_each(|_| drop(threads.spawn(work))));
    let [failed, unchecked] = [failed, unchecked].map(|names| {
        names
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    });
    if !unchecked.is_empty() {
        println!(
            "not checked: {} scenarios need the corpus: {}",
            unchecked.len(),
            unchecked.join(", ")
        );
    }
    let left = queue.left();
    if !left.is_empty() {
        println!(
            "not checked: no time was left for {} scenarios: {}",
            left.len(),
            left.join(", ")
        );
    }
    let ran = scenarios.len() - left.len();
    println!(
        "{ran} scenarios in {:.0} s",
        started.elapsed().as_secs_f32()
    );
    println!(
        "{} passed, {} failed",
        ran - failed.len() - unchecked.len(),
        failed.len()
    );
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!(
        "failed: {}; logs are kept in {}",
        failed.join(", "),
        root.keep().display()
    );
    ExitCode::FAILURE
}

/// How many scenarios run beside each other: much of each is waiting. Somebody who looks around
/// wants one.
fn at_once() -> usize {
    let wanted = std::env::var("WINDLASS_E2E_AT_ONCE")
        .ok()
        .map(|value| value.parse().expect("WINDLASS_E2E_AT_ONCE is a number"));
    wanted.unwrap_or(if kept() { 1 } else { 2 })
}

/// Whether it needs a quiet machine, which CI has none of.
fn measures(scenario: &Scenario) -> bool {
    scenario.company == Company::Nobody
}

/// Whether all is asked for, in its full size.
pub(crate) fn whole() -> bool {
    std::env::var("WINDLASS_E2E_FAULTS").is_ok_and(|size| size == "full")
}

fn kept() -> bool {
    std::env::var_os("WINDLASS_KEEP").is_some_and(|value| !value.is_empty())
}

/// Runs one, says what came of it, and removes its folder if nobody needs it.
fn judge(scenario: &Scenario, context: Context, root: &Path) -> Outcome {
    let (folder, begun) = (context.folder.clone(), Instant::now());
    let outcome = run_one(scenario, context);
    let (name, took) = (scenario.name, begun.elapsed().as_secs_f32());
    match outcome {
        Outcome::Passed => {
            println!("scenario {name} ... ok ({took:.1} s)");
            // What cannot be removed now is removed with the root.
            let _ = std::fs::remove_dir_all(&folder);
        }
        Outcome::Unchecked => println!("scenario {name} ... not checked, it needs the corpus"),
        Outcome::Failed => println!(
            "scenario {name} ... FAILED ({took:.1} s), logs in {}",
            root.display()
        ),
        Outcome::Hung => println!(
            "scenario {name} ... FAILED: still runs after {took:.0} s, logs: {}",
            folder.display()
        ),
    }
    outcome
}

enum Outcome {
    Passed,
    /// It needs data that is not here.
    Unchecked,
    Failed,
    Hung,
}

/// On a thread of its own, so that a hanging scenario can be told from a running one.
fn run_one(scenario: &Scenario, context: Context) -> Outcome {
    let (sender, receiver) = channel();
    let (run, group) = (scenario.run, group_of(scenario));
    let body = move || {
        peers::enter(group);
        let outcome = match catch_unwind(AssertUnwindSafe(|| run(&context))) {
            Ok(()) => Outcome::Passed,
            Err(cause) if cause.is::<NoCorpus>() => Outcome::Unchecked,
            Err(_) => Outcome::Failed,
        };
        // The receiver is gone only when the scenario was given up.
        let _ = sender.send(outcome);
    };
    std::thread::Builder::new()
        .name(scenario.name.to_owned())
        .spawn(body)
        .expect("threads can be started");
    // A person who looks around may take any time.
    match receiver.recv_timeout(if kept() {
        Duration::from_secs(86_400)
    } else {
        scenario.limit
    }) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Outcome::Hung,
    }
}

fn create(folder: &Path) {
    std::fs::create_dir_all(folder).expect("the folder for temporary files can be written");
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
