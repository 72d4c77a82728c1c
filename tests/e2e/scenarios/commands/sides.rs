//! Both programs with the same arguments, environment and files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::harness::process::{Finished, Start};
use crate::harness::{peers, windlass};

const LIMIT: Duration = Duration::from_secs(120);
const CLUSTERCTL: &str = "clusterctl-v1.14.2/clusterctl";
/// How Go ends a program that panics. We end with a message in its place.
const PANIC: i32 = 2;

/// One call of a command.
pub(super) struct Call {
    /// What it is about, for messages.
    pub(super) title: String,
    /// The working folder.
    pub(super) folder: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
}

/// How many calls ended how.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) succeeded: usize,
    pub(super) rejected: usize,
}

/// Runs all calls on both sides, and fails when one differs.
pub(super) fn compare(root: &Path, calls: Vec<Call>) -> Told {
    let mut told = Told::default();
    let mut faults = Vec::new();
    let count = calls.len();
    for call in calls {
        let theirs = call.run("clusterctl", &peers::program(CLUSTERCTL));
        let ours = call.run("windlass", windlass::program());
        match theirs.code {
            Some(0) => told.succeeded += 1,
            _ => told.rejected += 1,
        }
        if let Some(difference) = difference(&ours, &theirs) {
            let kept = root.join(format!("difference-{}", faults.len()));
            std::fs::write(
                &kept,
                format!(
                    "{:?}\n{:?}\n--- ours\n{}\n--- theirs\n{}",
                    call.arguments, call.environment, ours.stdout, theirs.stdout
                ),
            )
            .expect("the folder can be written");
            faults.push(format!(
                "{}: {}\n  {difference}\n  ({})",
                call.title,
                call.arguments.join(" "),
                kept.display()
            ));
        }
    }
    println!(
        "  {count} calls: {} succeeded, {} were rejected",
        told.succeeded, told.rejected
    );
    let shown: Vec<&str> = faults.iter().map(String::as_str).take(40).collect();
    assert!(
        faults.is_empty(),
        "{} of {count} differ:\n{}",
        faults.len(),
        shown.join("\n")
    );
    told
}

impl Call {
    fn run(&self, name: &str, program: &Path) -> Finished {
        let quiet = [
            ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true"),
            ("GOPROXY", "off"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = (
            "XDG_CONFIG_HOME".to_owned(),
            self.folder.join("xdg").display().to_string(),
        );
        let environment = quiet
            .into_iter()
            .chain([config])
            .chain(self.environment.iter().cloned())
            .collect();
        Start {
            name,
            program,
            arguments: self.arguments.clone(),
            environment,
            folder: &self.folder,
        }
        .finish(LIMIT)
    }
}

fn difference(ours: &Finished, theirs: &Finished) -> Option<String> {
    let same_code = ours.code == theirs.code
        || (theirs.code == Some(PANIC) && ours.code.is_some_and(|code| code != 0));
    let last = |text: &str| {
        text.lines()
            .rfind(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned()
    };
    if !same_code {
        return Some(format!(
            "exit {:?} is {:?} there\n  ours   {}\n  theirs {}",
            ours.code,
            theirs.code,
            last(&ours.stderr),
            last(&theirs.stderr)
        ));
    }
    let (ours, theirs) = (&ours.stdout, &theirs.stdout);
    if ours == theirs {
        return None;
    }
    let lines = ours
        .lines()
        .zip(theirs.lines())
        .enumerate()
        .find(|(_, (our, their))| our != their);
    Some(match lines {
        Some((index, (our, their))) => {
            format!("line {}\n  ours   {our:?}\n  theirs {their:?}", index + 1)
        }
        None => format!("{} bytes are {} there", ours.len(), theirs.len()),
    })
}
