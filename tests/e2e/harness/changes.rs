//! What has changed since all scenarios passed: git and the record of the last full run.

use std::path::Path;
use std::process::Command;

use super::shared::checkout;
use crate::selection::imports::Imports;
use crate::selection::{Change, GROUPS, LIST, Selection, select, with_groups};

/// The record that `.ci/full` writes: a header, then commit, date, scenarios passed, minutes.
const RECORD: &str = "tests/e2e/last-full-run.tsv";

/// The scenarios that the change since a commit can affect. In place of the commit may stand a file
/// with changed paths, one a line; by default it is the commit of the last full run.
pub(crate) fn selection(since: Option<&str>) -> Selection {
    let change = match since {
        Some(file) if Path::new(file).is_file() => {
            let paths = std::fs::read_to_string(file).expect("the file can be read");
            eprintln!("compared with the last full run: the paths in {file}");
            Change::Paths(paths.lines().map(str::to_owned).collect())
        }
        Some(commit) => change_since(commit),
        None => match recorded() {
            Some(commit) => change_since(&commit),
            None => Change::Unknown(format!("{RECORD} names no full run")),
        },
    };
    select(&change, GROUPS, &Imports::read(&sources()), run_number())
}

/// What selects the rotating part of the scenarios: the number of the commit, so that a run that is
/// repeated selects the same.
pub(crate) fn run_number() -> usize {
    let count = git(&["rev-list", "--count", "HEAD"]);
    count
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or_default()
}

/// The commit of the last full run.
fn recorded() -> Option<String> {
    let record = std::fs::read_to_string(checkout().join(RECORD)).ok()?;
    let row = record.lines().nth(1)?;
    Some(row.split('\t').next()?.to_owned())
}

/// Paths that differ between a commit and the checkout, those that git does not know yet included.
fn change_since(commit: &str) -> Change {
    let committed = format!("{commit}^{{commit}}");
    if git(&["rev-parse", "--quiet", "--verify", &committed]).is_none() {
        return Change::Unknown(format!(
            "git does not have the last full run's commit {commit}"
        ));
    }
    let quoted = ["-c", "core.quotePath=off"];
    let changed = ["diff", "--name-only", "--no-renames", commit, "--"];
    let untracked = ["ls-files", "--others", "--exclude-standard"];
    let (Some(changed), Some(untracked)) = (
        git(&[&quoted[..], &changed].concat()),
        git(&[&quoted[..], &untracked].concat()),
    ) else {
        return Change::Unknown(format!("git cannot compare the checkout with {commit}"));
    };
    let mut paths: Vec<String> = changed
        .lines()
        .chain(untracked.lines())
        .map(str::to_owned)
        .collect();
    eprintln!(
        "compared with the last full run, {commit}: {} paths differ",
        paths.len()
    );
    if paths.iter().any(|path| path == LIST) {
        let before = git(&["show", &format!("{commit}:{LIST}")]).unwrap_or_default();
        let after = std::fs::read_to_string(checkout().join(LIST)).unwrap_or_default();
        paths = with_groups(paths, &before, &after);
    }
    Change::Paths(paths)
}

/// What git prints; `None` if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(checkout())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}

/// The Rust files whose imports count: path from the root of the checkout, and text.
fn sources() -> Vec<(String, String)> {
    let root = checkout().canonicalize().expect("the checkout exists");
    let mut found = Vec::new();
    let mut folders = ["src", "crates", "manager/src", "tests/e2e"]
        .map(|name| root.join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the sources can be read") {
            let path = entry.expect("the sources can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("the sources can be read");
                let relative = path.strip_prefix(&root).expect("it is below the root");
                found.push((relative.display().to_string(), text));
            }
        }
    }
    found
}
