//! Which scenarios a change can affect: changed paths, what each group exercises, and the number
//! of the run give the scenarios that run, each with the reason. No IO; `tests/it` has its tests.
#![allow(
    dead_code,
    reason = "some functions are for the suite alone, some for the tests"
)]

use std::collections::{BTreeMap, BTreeSet};

pub(crate) mod imports;

use imports::Imports;

/// A group of scenarios of one module.
pub(crate) struct Group {
    /// The module of `tests/e2e/scenarios`.
    pub(crate) module: &'static str,
    /// Modules (`crates/topology`, `src/cli/render`), files and folders.
    pub(crate) exercises: &'static [&'static [&'static str]],
    /// Folders of `tests/peers`.
    pub(crate) peers: &'static [&'static [&'static str]],
    /// Further programs, with Debian's package where its name differs: `ip:iproute2`.
    pub(crate) packages: &'static [&'static str],
    /// Names: `module::function`.
    pub(crate) scenarios: &'static [&'static str],
}

/// What every scenario with our installed provider exercises.
const INSTALLED: &[&str] = &["manager", "releases", "examples/kubeadm-configs"];
/// Our own provider, which releases are built of.
const PROVIDER: &[&str] = &["provider.yaml", "metadata.yaml", "templates"];
/// `windlass render`, where its output is only what a machine's data is compared with: its engine is
/// the manager's too, and the rest of what it imports is exercised by `render`.
const EXPECTED_DATA: &[&str] = &["src/cli/render.rs", "crates/debugging/src/commands/render/"];
/// A control plane.
const API_SERVER: &[&str] = &["etcd-v3.6.5", "kubernetes-v1.34.4", "kwok-v0.7.0"];
/// A management cluster with Cluster API.
const MANAGEMENT: &[&str] = &[
    "etcd-v3.6.5",
    "kubernetes-v1.34.4",
    "kwok-v0.7.0",
    "cluster-api-v1.12.0",
    "cluster-api-docker-v1.12.0",
    "clusterctl-v1.12.0",
];

macro_rules! groups {
    ($($module:ident {
        exercises: [$($exercised:expr),*], peers: [$($peer:expr),*], packages: [$($package:literal),*],
        $($company:ident: [$($name:ident),*],)*
    })*) => {
        /// All groups, in the order in which their scenarios run.
        pub(crate) const GROUPS: &[Group] = &[$(Group {
            module: stringify!($module),
            exercises: &[$($exercised),*],
            peers: &[$($peer),*],
            packages: &[$($package),*],
            scenarios: &[$($(concat!(stringify!($module), "::", stringify!($name))),*),*],
        }),*];
    };
}
include!("groups.in");

/// The file of the groups. In place of its path a change may have `groups.in#MODULE` for each
/// module whose groups differ: [`with_groups`].
pub(crate) const LIST: &str = "tests/e2e/selection/groups.in";

/// What every scenario depends on, so that a change of it selects all.
const FOUNDATIONS: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "crates/bootstrap/src/lib.rs",
    "crates/capi/src/lib.rs",
    "crates/checks/src/commands/mod.rs",
    "crates/checks/src/lib.rs",
    "crates/debugging/src/commands/mod.rs",
    "crates/debugging/src/lib.rs",
    "crates/release/src/commands/mod.rs",
    "crates/release/src/lib.rs",
    "src/lib.rs",
    "src/main.rs",
    "tests/e2e/Cargo.toml",
    "tests/e2e/harness/mod.rs",
    "tests/e2e/scenarios/mod.rs",
    "tests/e2e/selection/",
    "tests/e2e/suite.rs",
    "tests/peers/build",
];

/// What no scenario reads or runs, unless a group declares it: folders end in `/`, `*` stands for
/// any beginning.
pub(crate) const HARMLESS: &[&str] = &[
    "*.md",
    ".ci/",
    ".cargo/mutants.toml",
    ".git-blame-ignore-revs",
    ".gitattributes",
    ".github/",
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "LICENSE",
    "action.yml",
    "benches/",
    "clippy.toml",
    "deny.toml",
    "dist/",
    "docs/",
    "editors/",
    "examples/",
    "fuzz/",
    // Commands that no scenario runs; tests/it does.
    "src/cli/completion.rs",
    "src/cli/explain.rs",
    "src/cli/guesses.rs",
    "src/cli/lint.rs",
    "src/cli/lsp.rs",
    "src/cli/man.rs",
    "src/cli/outlook.rs",
    "src/cli/reference.rs",
    "src/cli/release_check.rs",
    "src/cli/release_diff.rs",
    "src/cli/rules.rs",
    "src/cli/schema.rs",
    "src/cli/vars.rs",
    "src/cli/why.rs",
    "src/editor/",
    "src/release_findings.rs",
    "crates/checks/src/commands/vars.rs",
    "src/io/messages.rs",
    "src/io/neighbours.rs",
    "tests/cases/",
    "tests/lsp/",
    "tests/lsp.rs",
    "tests/cases.rs",
    "tests/corpus.tsv",
    "tests/e2e/last-full-run.tsv",
    "tests/it/",
    "tests/vectors/",
    // Peers of the benchmarks alone.
    "tests/peers/controller-gen-v0.19.0/",
    "tests/peers/topology-engine-v1.14.2/",
    "tests/peers/topology-engine/",
];

/// What has changed since all scenarios passed.
pub(crate) enum Change {
    /// It cannot be known, with the reason.
    Unknown(String),
    /// Paths from the root of the checkout, also of files that are gone.
    Paths(Vec<String>),
}

/// Why a scenario runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Everything runs, with the reason.
    Everything(String),
    /// Changed paths that its group depends on.
    Paths(Vec<String>),
    /// Its turn has come: each scenario runs at least once in ten runs.
    Turn,
}

/// The scenarios of a run.
pub(crate) struct Selection {
    pub(crate) selected: Vec<(&'static str, Reason)>,
    pub(crate) left_out: Vec<&'static str>,
}

/// Every how many runs a scenario runs whatever has changed.
const TURNS: usize = 10;

/// Selects from the groups what the change can affect, and the tenth whose turn it is.
pub(crate) fn select(
    change: &Change,
    groups: &'static [Group],
    imports: &Imports,
    run: usize,
) -> Selection {
    let reasons = match change {
        Change::Unknown(why) => Err(why.clone()),
        Change::Paths(paths) => affected(paths, groups, imports),
    };
    let (mut selected, mut left_out) = (Vec::new(), Vec::new());
    let all = groups
        .iter()
        .enumerate()
        .flat_map(|(at, group)| group.scenarios.iter().map(move |name| (at, *name)));
    for (place, (at, name)) in all.enumerate() {
        match &reasons {
            Err(why) => selected.push((name, Reason::Everything(why.clone()))),
            Ok(of) if of.contains_key(&at) => selected.push((name, Reason::Paths(of[&at].clone()))),
            Ok(_) if place % TURNS == run % TURNS => selected.push((name, Reason::Turn)),
            Ok(_) => left_out.push(name),
        }
    }
    Selection { selected, left_out }
}

/// The groups that depend on changed paths, by their place; an error says why that is all of them.
fn affected(
    paths: &[String],
    groups: &[Group],
    imports: &Imports,
) -> Result<BTreeMap<usize, Vec<String>>, String> {
    let reached: Vec<_> = groups.iter().map(|group| reach(group, imports)).collect();
    let mut affected: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for path in paths {
        if !path.contains('#') && is_foundation(path) {
            return Err(format!("everything depends on {path}"));
        }
        let of: Vec<usize> = (0..groups.len())
            .filter(|at| depends(&groups[*at], &reached[*at], path))
            .collect();
        if of.is_empty() && !is_harmless(path) {
            return Err(format!("no group declares {path}"));
        }
        for at in of {
            affected.entry(at).or_default().push(path.clone());
        }
    }
    Ok(affected)
}

/// Units, files and folders that a group exercises, imports followed.
pub(crate) fn reach(group: &Group, imports: &Imports) -> BTreeSet<String> {
    let own = format!("tests/e2e/scenarios/{}", group.module);
    let declared = group.exercises.iter().copied().flatten();
    imports.reach(declared.copied().chain([own.as_str()]))
}

fn depends(group: &Group, reached: &BTreeSet<String>, path: &str) -> bool {
    if let Some(module) = path
        .strip_prefix(LIST)
        .and_then(|rest| rest.strip_prefix('#'))
    {
        return module == group.module;
    }
    if let Some((folder, _)) = path
        .strip_prefix("tests/peers/")
        .and_then(|rest| rest.split_once('/'))
    {
        // Sources of our own are in a folder without a version.
        let versions = format!("{folder}-v");
        return peers(group).any(|peer| peer == folder || peer.starts_with(&versions));
    }
    covers(reached, path)
}

/// Whether a path is one of those, in one of those folders, or of one of those units.
pub(crate) fn covers(reached: &BTreeSet<String>, path: &str) -> bool {
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    let unit = imports::unit(path);
    folders
        .chain([path, unit.as_str()])
        .any(|one| reached.contains(one))
}

/// The peers of a group.
pub(crate) fn peers(group: &Group) -> impl Iterator<Item = &'static str> {
    group.peers.iter().copied().flatten().copied()
}

pub(crate) fn is_foundation(path: &str) -> bool {
    FOUNDATIONS.iter().any(|one| matches(one, path))
}

pub(crate) fn is_harmless(path: &str) -> bool {
    HARMLESS.iter().any(|one| matches(one, path))
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => path.ends_with(end),
        None if pattern.ends_with('/') => path.starts_with(pattern),
        None => path == pattern,
    }
}

/// The paths with the modules whose groups differ in place of the list's path, if nothing else
/// differs in the list.
pub(crate) fn with_groups(paths: Vec<String>, before: &str, after: &str) -> Vec<String> {
    let (mut before, mut after) = (blocks(before), blocks(after));
    if before.remove("") != after.remove("") {
        return paths;
    }
    let modules: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = modules
        .into_iter()
        .filter(|module| before.get(*module) != after.get(*module))
        .map(|module| format!("{LIST}#{module}"));
    paths
        .iter()
        .filter(|path| *path != LIST)
        .cloned()
        .chain(changed)
        .collect()
}

/// The lines of each module's groups; what is outside of them has no name.
fn blocks(list: &str) -> BTreeMap<String, Vec<String>> {
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut module = String::new();
    for line in list
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        if let Some(name) = line
            .strip_prefix("    ")
            .and_then(|line| line.strip_suffix(" {"))
            && !name.starts_with(' ')
        {
            module = name.to_owned();
        }
        blocks
            .entry(module.clone())
            .or_default()
            .push(line.to_owned());
        if line == "    }" {
            module.clear();
        }
    }
    blocks
}

impl Selection {
    /// Forgets all scenarios but some.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.selected.retain(|(name, _)| is_kept(name));
        self.left_out.retain(|name| is_kept(name));
    }

    /// Whether a scenario is selected.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.selected.iter().any(|(selected, _)| *selected == name)
    }

    /// What runs with the reasons, and what does not, in lines for people.
    pub(crate) fn report(&self) -> String {
        let mut by_reason: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, reason) in &self.selected {
            let reason = reason.to_string();
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name),
                None => by_reason.push((reason, vec![name])),
            }
        }
        let mut lines: Vec<String> = by_reason
            .iter()
            .map(|(reason, names)| format!("selected, because {reason}: {}", names.join(", ")))
            .collect();
        if !self.left_out.is_empty() {
            lines.push(format!("left out: {}", self.left_out.join(", ")));
        }
        lines.push(format!(
            "selected {} of {} scenarios",
            self.selected.len(),
            self.selected.len() + self.left_out.len()
        ));
        lines.join("\n")
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Everything(why) => write!(f, "{why}"),
            Reason::Paths(paths) => {
                let (first, rest) = paths.split_at(paths.len().min(3));
                write!(f, "they depend on {}", first.join(", "))?;
                match rest.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Reason::Turn => write!(f, "it is their turn"),
        }
    }
}
