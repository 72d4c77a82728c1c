//! What modules import of each other, read from the sources: `use` items and paths, included
//! files, and modules of other folders.

use std::collections::{BTreeMap, BTreeSet};

/// Folders whose modules count one by one. Elsewhere a crate counts as a whole, and so do the modules
/// directly below `src`, because what a module below them implements for a type is imported with the
/// type.
const SPLIT: &[&str] = &[
    "crates/checks/src/commands",
    "crates/debugging/src/commands",
    "crates/release/src/commands",
    "crates/bootstrap/src",
    "crates/capi/src",
    "crates/checks/src",
    "crates/debugging/src",
    "crates/release/src",
    "src/cli",
    "src/io",
    "tests/e2e/harness",
    "tests/e2e/scenarios",
];

/// Tables with a row for each command, rule or scenario: who uses a table does not use all rows.
const TABLES: &[&str] = &["src/cli/verbs", "src/rules", "tests/e2e/scenarios/mod"];

/// Units of source, and what each imports.
pub(crate) struct Imports {
    units: BTreeSet<String>,
    imports: BTreeMap<String, BTreeSet<String>>,
}

/// The unit that a path belongs to: `crates/topology`, `src/cli/render`, `manager`, or the path itself.
pub(crate) fn unit(path: &str) -> String {
    let module = path.strip_suffix(".rs").unwrap_or(path);
    let is_below = |folder: &&&str| {
        let rest = module.strip_prefix(**folder);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let count = match SPLIT.iter().find(is_below) {
        Some(folder) => folder.split('/').count() + 1,
        None if module.starts_with("src/") || module.starts_with("crates/") => 2,
        None if module.starts_with("manager/") => 1,
        None => return path.to_owned(),
    };
    module.split('/').take(count).collect::<Vec<_>>().join("/")
}

impl Imports {
    /// Reads Rust files: path from the root of the checkout, and text.
    pub(crate) fn read(files: &[(String, String)]) -> Imports {
        let units: BTreeSet<String> = files.iter().map(|(path, _)| unit(path)).collect();
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, text) in files {
            let code = code(text);
            let found = imports.entry(unit(path)).or_default();
            found.extend(
                paths(path, &code)
                    .iter()
                    .filter_map(|names| longest(names, &units)),
            );
            found.extend(files_named(path, &code));
            found.extend(children(path, &code, &units));
        }
        Imports { units, imports }
    }

    /// All units.
    pub(crate) fn units(&self) -> &BTreeSet<String> {
        &self.units
    }

    /// The starts, and all that they import, directly or not. A start may be a folder of units; one
    /// that ends in `.rs` or `/` counts without its imports. Of a table only a start counts with
    /// them.
    pub(crate) fn reach<'a>(&self, starts: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let (alone, starts): (Vec<&str>, Vec<&str>) =
            starts.partition(|start| start.ends_with(".rs") || start.ends_with('/'));
        let mut reached: BTreeSet<String> = starts.iter().map(|start| start.to_string()).collect();
        let mut waiting: Vec<String> = Vec::new();
        for start in starts {
            let below = format!("{start}/");
            let of_it = |unit: &&String| *unit == start || unit.starts_with(&below);
            waiting.extend(self.units.iter().filter(of_it).cloned());
        }
        while let Some(unit) = waiting.pop() {
            for import in self.imports.get(&unit).into_iter().flatten() {
                if reached.insert(import.clone()) && !TABLES.contains(&import.as_str()) {
                    waiting.push(import.clone());
                }
            }
        }
        reached.extend(
            alone
                .iter()
                .map(|start| start.trim_end_matches('/').to_owned()),
        );
        reached
    }
}

/// The text without comments and without its own tests.
fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests");
    text[..tests.unwrap_or(text.len())]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The folder of the sources of one of our crates, as names from the root of the checkout.
fn library(name: &str) -> Option<Vec<String>> {
    let names = match name.strip_prefix("windlass")?.strip_prefix('_') {
        Some(part) => vec![
            "crates".to_owned(),
            part.replace('_', "-"),
            "src".to_owned(),
        ],
        None => vec!["src".to_owned()],
    };
    Some(names)
}

/// The paths that begin with `crate`, `super`, `self` or the name of one of our crates, as names from
/// the root of the checkout.
fn paths(path: &str, code: &str) -> Vec<Vec<String>> {
    let module = module_of(path);
    let (root, below) = module.split_at(match module.first().map(String::as_str) {
        Some("src") => 1,
        Some("crates") => 3,
        _ => 2,
    });
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::") {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let before = code[..at].trim_end_matches(is_name);
        let longer = before.strip_suffix("::");
        if longer.is_some_and(|longer| longer.ends_with(is_name)) {
            continue;
        }
        let base = match &code[before.len()..at] {
            "crate" => root.to_vec(),
            "self" => module.clone(),
            "super" => module[..module.len() - below.len().min(1)].to_vec(),
            name => match library(name) {
                Some(library) => library,
                None => continue,
            },
        };
        for names in tree(&code[at + 2..]) {
            let ups = names.iter().take_while(|name| *name == "super").count();
            let mut full = base[..base.len().saturating_sub(ups)].to_vec();
            full.extend(names.into_iter().skip(ups));
            found.push(full);
        }
    }
    found
}

/// The module of a file, as names from the root of the checkout: `src`, `topology`, `plan`.
fn module_of(path: &str) -> Vec<String> {
    let mut names: Vec<String> = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if matches!(
        names.last().map(String::as_str),
        Some("mod" | "lib" | "main" | "suite")
    ) {
        names.pop();
    }
    names
}

/// The paths of a use tree, or the one path that stands there.
fn tree(text: &str) -> Vec<Vec<String>> {
    if let Some(group) = text.strip_prefix('{') {
        let items = items(group);
        let named = items.iter().map(|item| item.trim());
        return named
            .filter(|item| !item.is_empty())
            .flat_map(tree)
            .collect();
    }
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let name = (!name.is_empty()).then(|| name.to_owned());
    match rest.strip_prefix("::") {
        Some(below) => tree(below)
            .into_iter()
            .map(|path| name.clone().into_iter().chain(path).collect())
            .collect(),
        None => vec![name.into_iter().collect()],
    }
}

/// The items of a brace group, of which the opening brace is gone.
fn items(group: &str) -> Vec<String> {
    let (mut depth, mut items) = (1, vec![String::new()]);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            _ if depth == 0 => break,
            ',' if depth == 1 => items.push(String::new()),
            _ => {
                if let Some(item) = items.last_mut() {
                    item.push(c);
                }
            }
        }
    }
    items
}

/// The unit that a path names: the longest beginning that is one. An item of a folder of units
/// is in its `mod.rs`, one of a crate in its `lib.rs`.
fn longest(names: &[String], units: &BTreeSet<String>) -> Option<String> {
    (1..=names.len())
        .rev()
        .map(|count| names[..count].join("/"))
        .flat_map(|one| [format!("{one}/mod"), format!("{one}/lib"), one])
        .find(|one| units.contains(one))
}

/// Files that the code includes or takes for a module, from the root of the checkout.
fn files_named(path: &str, code: &str) -> Vec<String> {
    let openings = ["include_str!(", "include_bytes!(", "#[path ="];
    let named = openings.iter().flat_map(|opening| {
        code.match_indices(opening).filter_map(|(at, _)| {
            let quoted = code[at + opening.len()..].trim_start().strip_prefix('"')?;
            quoted.split('"').next()
        })
    });
    named.map(|relative| beside(path, relative)).collect()
}

/// A path relative to the folder of a file.
fn beside(file: &str, relative: &str) -> String {
    let mut names: Vec<&str> = file.split('/').collect();
    names.pop();
    for name in relative.split('/') {
        match name {
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// The modules that the `mod.rs` of a folder of units names without more: `use dispatch::Request`.
fn children(path: &str, code: &str, units: &BTreeSet<String>) -> Vec<String> {
    let Some(folder) = path.strip_suffix("/mod.rs") else {
        return Vec::new();
    };
    let below = format!("{folder}/");
    let names = units.iter().filter_map(|unit| {
        let name = unit.strip_prefix(&below)?;
        let used = format!("{name}::");
        let is_used = code.match_indices(&used).any(|(at, _)| {
            !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
        });
        is_used.then(|| unit.clone())
    });
    names.collect()
}
