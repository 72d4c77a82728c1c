//! Time and peak memory of programs.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// The argument that makes this program run one other and tell what it took: a process learns the
/// peak memory of its children only as the maximum of all of them, so each measurement has a
/// process of its own.
pub(crate) const ALONE: &str = "--alone";

/// One program with its arguments.
pub(crate) struct Step {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
}

/// Programs that together do what is measured, one after the other.
pub(crate) struct Job {
    pub(crate) title: &'static str,
    pub(crate) steps: Vec<Step>,
    /// What the job makes. It is taken away before each run, and has to be there afterwards.
    pub(crate) made: Option<PathBuf>,
}

/// What one run took.
pub(crate) struct Sample {
    pub(crate) seconds: f64,
    /// Time of all processors together: what else the machine does does not change it.
    pub(crate) cpu: f64,
    /// Of the largest process.
    pub(crate) megabytes: f64,
}

/// Median, smallest and largest of some values.
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Spread {
            median,
            least: values[0],
            most: values[values.len() - 1],
        }
    }
}

impl Job {
    /// Runs it once. Panics when a program fails: a failure takes no comparable time.
    pub(crate) fn run(&self) -> Sample {
        if let Some(made) = &self.made {
            let _ = std::fs::remove_dir_all(made);
            let _ = std::fs::remove_file(made);
        }
        let samples: Vec<Sample> = self.steps.iter().map(|step| step.run(self.title)).collect();
        if let Some(made) = &self.made {
            assert!(
                made.exists(),
                "{} did not make {}",
                self.title,
                made.display()
            );
        }
        Sample {
            seconds: samples.iter().map(|sample| sample.seconds).sum(),
            cpu: samples.iter().map(|sample| sample.cpu).sum(),
            megabytes: samples
                .iter()
                .map(|sample| sample.megabytes)
                .fold(0.0, f64::max),
        }
    }
}

impl Step {
    fn run(&self, title: &str) -> Sample {
        let mut command =
            Command::new(std::env::current_exe().expect("a running program has a path"));
        command
            .arg(ALONE)
            .arg(&self.program)
            .args(&self.arguments)
            .current_dir(&self.folder);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().expect("this program can be started again");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers: Vec<f64> = told
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect();
        match (output.status.success(), numbers.as_slice()) {
            (true, [seconds, cpu, megabytes]) => Sample {
                seconds: *seconds,
                cpu: *cpu,
                megabytes: *megabytes,
            },
            _ => panic!(
                "{title}: {} failed:\n{}",
                self.program.display(),
                String::from_utf8_lossy(&output.stderr)
            ),
        }
    }
}

/// Runs the program that the arguments name, and prints seconds, seconds of processors, and
/// megabytes.
pub(crate) fn alone(arguments: &[String]) -> ExitCode {
    let (program, arguments) = arguments.split_first().expect("a program is given");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let started = Instant::now();
    let status = command
        .status()
        .unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    let seconds = started.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts");
    #[expect(clippy::cast_precision_loss, reason = "kilobytes of memory fit")]
    let megabytes = usage.max_rss() as f64 / 1024.0;
    let spent = |time: nix::sys::time::TimeVal| {
        std::time::Duration::from_micros(time.num_microseconds().unsigned_abs()).as_secs_f64()
    };
    println!(
        "{seconds} {} {megabytes}",
        spent(usage.user_time()) + spent(usage.system_time())
    );
    if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
