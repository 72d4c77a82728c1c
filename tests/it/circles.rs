//! Import cycles between files of the program and its crates.
//!
//! An arrow goes from a file to the file that declares what it names; what a module hands on with
//! `pub use` is followed to its file. What the `mod.rs` of a folder declares belongs to the files
//! below it, so arrows up to it do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::tidy::{code, rust_files, shown, source_folders};

/// Circles that stay, by a file of each, with the reason.
const ALLOWED: &[(&str, &str)] = &[
    (
        "src/cli/verbs.rs",
        "the table of verbs names each verb, and a verb may look at the table for its help",
    ),
    (
        "crates/clusterctl/src/config/yaml.rs",
        "a value of the configuration is printed by rules that read it again",
    ),
    (
        "crates/envsubst/src/glob.rs",
        "functions match patterns, and a pattern that takes too long is a fault of the function",
    ),
    (
        "crates/schema/src/node.rs",
        "a schema holds CEL rules, which are compiled for the schema that they stand in",
    ),
];

/// A module: the name of its crate, and its path in it.
type Module = Vec<String>;

struct Source {
    file: String,
    code: String,
    /// What its `use` lines bring in, by name.
    names: BTreeMap<String, Module>,
}

/// The module of a file: `crates/go-yaml/src/yaml/mod.rs` is `windlass_go_yaml::yaml::mod`.
fn module_of(file: &str) -> Module {
    let (name, below) = match file.strip_prefix("crates/") {
        Some(rest) => {
            let (name, below) = rest.split_once("/src/").unwrap();
            (format!("windlass_{}", name.replace('-', "_")), below)
        }
        None => ("windlass".to_owned(), file.trim_start_matches("src/")),
    };
    let steps = below.trim_end_matches(".rs").split('/');
    std::iter::once(name)
        .chain(steps.map(str::to_owned))
        .collect()
}

struct Graph {
    modules: BTreeMap<Module, Source>,
}

impl Graph {
    fn read(folders: &[PathBuf]) -> Self {
        let mut modules = BTreeMap::new();
        for path in folders.iter().flat_map(|folder| rust_files(folder)) {
            let file = shown(&path);
            let mut module = module_of(&file);
            if module
                .last()
                .is_some_and(|name| ["mod", "lib"].contains(&name.as_str()))
            {
                module.pop();
            }
            if ["main", "tests"].contains(&module.last().map_or("", String::as_str)) {
                continue;
            }
            let code = code(&path);
            let code = code
                .split("#[cfg(test)]\nmod tests")
                .next()
                .unwrap()
                .to_owned();
            let names = uses(&code)
                .into_iter()
                .map(|(name, path)| (name, absolute(&path, &module)))
                .collect();
            modules.insert(module, Source { file, code, names });
        }
        Graph { modules }
    }

    /// The module that declares what a path names; `None` for items of foreign crates.
    fn declaring(&self, path: &[String], depth: usize) -> Option<&Module> {
        let (mut at, first) = self
            .modules
            .get_key_value(path.get(..1)?)
            .map(|(module, _)| (module, 1))?;
        for (index, step) in path.iter().enumerate().skip(first) {
            let below = [at.as_slice(), std::slice::from_ref(step)].concat();
            if let Some((module, _)) = self.modules.get_key_value(&below) {
                at = module;
                continue;
            }
            let handed_on = self.modules[at].names.get(step).filter(|_| depth < 8);
            return match handed_on {
                Some(target) => self
                    .declaring(&[target.as_slice(), &path[index + 1..]].concat(), depth + 1)
                    .or(Some(at)),
                None => Some(at),
            };
        }
        // A module alone is no need: what is named in it is.
        None
    }

    /// The modules that a module needs.
    fn needs(&self, module: &Module) -> BTreeSet<&Module> {
        let source = &self.modules[module];
        let within = paths(&source.code)
            .into_iter()
            .map(|path| match source.names.get(&path[0]) {
                Some(target) => [target.as_slice(), &path[1..]].concat(),
                None => absolute(&path, module),
            });
        let is_handed_on = |name: &str| hands_on(&source.code, name);
        let imported = source
            .names
            .iter()
            .filter(|(name, _)| !is_handed_on(name))
            .map(|(_, path)| path.clone());
        let found: Vec<Module> = within.chain(imported).collect();
        let modules = found.iter().filter_map(|path| self.declaring(path, 0));
        modules
            .filter(|other| *other != module && !module.starts_with(other))
            .collect()
    }

    /// The circles, each as the files of it.
    fn circles(&self) -> Vec<BTreeSet<&str>> {
        let needs: BTreeMap<&Module, BTreeSet<&Module>> = self
            .modules
            .keys()
            .map(|module| (module, self.needs(module)))
            .collect();
        let reach: BTreeMap<&Module, BTreeSet<&Module>> = needs
            .keys()
            .map(|module| (*module, reached(module, &needs)))
            .collect();
        let file = |module: &&Module| self.modules[*module].file.as_str();
        let circle = |module: &&Module| -> BTreeSet<&str> {
            reach[module]
                .iter()
                .filter(|other| reach[*other].contains(module))
                .map(file)
                .collect()
        };
        let circles: BTreeSet<_> = needs
            .keys()
            .filter(|module| reach[*module].contains(*module))
            .map(circle)
            .collect();
        circles.into_iter().collect()
    }
}

/// All that a module needs, and what that needs.
fn reached<'m>(
    module: &'m Module,
    needs: &BTreeMap<&'m Module, BTreeSet<&'m Module>>,
) -> BTreeSet<&'m Module> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Module> = needs[module].iter().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&needs[next]);
        }
    }
    found
}

/// A path as it is written in a module, from the root of the crate.
fn absolute(path: &[String], module: &Module) -> Module {
    let mut base: Module = match path[0].as_str() {
        "crate" => module[..1].to_vec(),
        name if name.starts_with("windlass") => path[..1].to_vec(),
        "self" => module.clone(),
        "super" => module[..module.len().saturating_sub(1)].to_vec(),
        _ => [module.as_slice(), &path[..1]].concat(),
    };
    for step in &path[1..] {
        match step.as_str() {
            "super" => drop(base.pop()),
            "self" => {}
            step => base.push(step.to_owned()),
        }
    }
    base
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names that `use` lines bring in, with their paths as written.
fn uses(code: &str) -> Vec<(String, Module)> {
    let mut found = Vec::new();
    for statement in code.split(';') {
        let Some(at) = statement
            .find("use ")
            .filter(|at| !statement[..*at].ends_with(is_word))
        else {
            continue;
        };
        let is_import = statement[..at]
            .lines()
            .last()
            .unwrap_or_default()
            .trim_start();
        if is_import.is_empty() || is_import.starts_with("pub") {
            expand(
                &[],
                &statement[at + 4..]
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" "),
                &mut found,
            );
        }
    }
    found
}

fn expand(before: &[String], tree: &str, found: &mut Vec<(String, Module)>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let before: Vec<String> = before.iter().cloned().chain(steps(head)).collect();
        crate::tidy::top_level_items(group)
            .iter()
            .filter(|item| !item.trim().is_empty())
            .for_each(|item| expand(&before, item, found));
        return;
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    let path: Vec<String> = before.iter().cloned().chain(steps(path)).collect();
    let last = path
        .iter()
        .rev()
        .find(|step| *step != "self")
        .cloned()
        .unwrap_or_default();
    found.push((
        if name.is_empty() {
            last
        } else {
            name.to_owned()
        },
        path,
    ));
}

fn steps(path: &str) -> Vec<String> {
    path.split("::")
        .map(|step| step.trim().to_owned())
        .filter(|step| !step.is_empty())
        .collect()
}

/// The paths of at least two steps outside of `use` lines.
fn paths(code: &str) -> Vec<Module> {
    let code: String = code
        .split_inclusive(';')
        .filter(|statement| uses(statement).is_empty())
        .collect();
    let words = code.split(|c: char| !is_word(c) && c != ':');
    words.map(steps).filter(|steps| steps.len() > 1).collect()
}

/// Whether a name is handed on with `pub use` and not used by the module itself.
fn hands_on(code: &str, name: &str) -> bool {
    let handed = code.split_inclusive(';').filter(|statement| {
        statement.trim_start().starts_with("pub") && !uses(statement).is_empty()
    });
    let mut names = handed.flat_map(uses);
    names.any(|(handed, _)| handed == name)
}

#[test]
fn no_new_import_circles() {
    let graph = Graph::read(&source_folders());
    let circles = graph.circles();
    let unknown = |circle: &&BTreeSet<&str>| !ALLOWED.iter().any(|(file, _)| circle.contains(file));
    let broken: Vec<String> = circles
        .iter()
        .filter(unknown)
        .map(|circle| format!("{circle:?}"))
        .collect();
    assert!(
        broken.is_empty(),
        "import circles between files:\n{}",
        broken.join("\n")
    );
}

#[test]
fn rooms_of_render_look_back_only() {
    const ROOMS: [&str; 4] = ["input", "validation", "plan", "write"];
    let graph = Graph::read(&source_folders());
    let room = |module: &Module| {
        ROOMS.iter().position(|room| {
            module.get(1).is_some_and(|top| top == "render")
                && module.get(2).is_some_and(|name| name == room)
        })
    };
    let mut broken = Vec::new();
    for module in graph.modules.keys() {
        let Some(here) = room(module) else { continue };
        let ahead = graph
            .needs(module)
            .into_iter()
            .filter(|other| room(other).is_some_and(|there| there > here));
        broken.extend(ahead.map(|other| {
            format!(
                "{} uses {}",
                graph.modules[module].file, graph.modules[other].file
            )
        }));
    }
    assert!(
        broken.is_empty(),
        "a room of render uses only those before it:\n{}",
        broken.join("\n")
    );
}

#[test]
fn arrows_lead_to_the_file_that_declares() {
    let source = |file: &str, code: &str, module: &[&str]| {
        let steps = std::iter::once(&"windlass").chain(module);
        let module: Module = steps.map(|step| (*step).to_owned()).collect();
        let names = uses(code)
            .into_iter()
            .map(|(name, path)| (name, absolute(&path, &module)))
            .collect();
        (
            module,
            Source {
                file: file.to_owned(),
                code: code.to_owned(),
                names,
            },
        )
    };
    let modules = [
        source("lib.rs", "mod a;\nmod b;\nmod c;", &[]),
        source(
            "a/mod.rs",
            "pub mod x;\npub use x::{X, make};\npub struct Own;",
            &["a"],
        ),
        source(
            "a/x.rs",
            "use super::Own;\npub fn make() { crate::b::run() }",
            &["a", "x"],
        ),
        source(
            "b.rs",
            "use crate::{a::{self, X}, c};\nfn run() { a::make(); }",
            &["b"],
        ),
        source(
            "c.rs",
            "use std::fmt;\nfn f() -> fmt::Result { Ok(()) }",
            &["c"],
        ),
    ];
    let graph = Graph {
        modules: modules.into_iter().collect(),
    };
    assert_eq!(graph.circles(), [BTreeSet::from(["a/x.rs", "b.rs"])]);
}
