//! The structure of the project: imports between the modules of the program, orphan files, names,
//! module docs, functions that ARCHITECTURE.md names, rule ids.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules of `src` that each module of `src` may import. Cargo enforces the order of the
/// crates.
const LAYERS: &[(&str, &[&str])] = &[
    ("builtin", &[]),
    ("rules", &[]),
    ("release_findings", &["rules"]),
    ("editor", &["rules", "release_findings"]),
    ("io", &[]),
    (
        "cli",
        &["builtin", "rules", "release_findings", "editor", "io"],
    ),
];

/// Names that say nothing.
const BANNED: &[&str] = &[
    "util", "utils", "common", "helper", "helpers", "misc", "types",
];

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The folders with the sources of the program and of the crates that it is made of.
pub(crate) fn source_folders() -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates
        .map(|entry| entry.unwrap().path().join("src"))
        .collect();
    folders.push(root().join("src"));
    folders.sort();
    folders
}

/// The Rust files of [`source_folders`].
pub(crate) fn sources() -> Vec<PathBuf> {
    source_folders()
        .iter()
        .flat_map(|folder| rust_files(folder))
        .collect()
}

pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap()
        .to_string_lossy()
        .into_owned()
}

/// The text without comments, so that a path in prose is not an import.
pub(crate) fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The top-level modules that a text names: `crate::x` and `use crate::{x, y::…}`.
fn modules_used(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        let list = rest
            .strip_prefix('{')
            .map(top_level_items)
            .unwrap_or_else(|| vec![rest.to_owned()]);
        for item in list {
            let name: String = item
                .trim_start()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            if !name.is_empty() {
                used.insert(name);
            }
        }
    }
    used
}

/// The items of a brace group, of which the opening brace is gone: splits at commas of depth one.
pub(crate) fn top_level_items(group: &str) -> Vec<String> {
    let mut depth = 1;
    let mut items = vec![String::new()];
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        items.last_mut().unwrap().push(c);
    }
    items
}

#[test]
fn layers_are_kept() {
    let table: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut broken = Vec::new();
    for file in rust_files(&root().join("src")) {
        let relative = shown(&file);
        let top = relative
            .trim_start_matches("src/")
            .split(['/', '.'])
            .next()
            .unwrap()
            .to_owned();
        if top == "lib" || top == "main" {
            continue;
        }
        let Some(allowed) = table.get(top.as_str()) else {
            broken.push(format!(
                "{relative}: module `{top}` has no row in LAYERS of tests/it/tidy.rs"
            ));
            continue;
        };
        for used in modules_used(&code(&file)) {
            if used != top && table.contains_key(used.as_str()) && !allowed.contains(&used.as_str())
            {
                broken.push(format!("{relative}: `{top}` may not use `{used}`"));
            }
        }
    }
    assert!(
        broken.is_empty(),
        "imports that LAYERS of tests/it/tidy.rs does not allow:\n{}",
        broken.join("\n")
    );
}

/// Flags of other programs that the crates write or quote: file, and the text before or in the
/// flag.
const FOREIGN_FLAGS: &[(&str, &str)] = &[
    // what people and nodes run
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--remote-name\"",
    ),
    ("crates/objects/src/secrets/commands.rs", "\"--key\""),
    (
        "crates/repository/src/configuration/mod.rs",
        "clusterctl --config ",
    ),
    (
        "crates/bootstrap/src/render/write/cloud_config/run.rs",
        "kubeadm {verb} --config ",
    ),
    (
        "crates/bootstrap/src/render/write/cloud_config/run.rs",
        "--v {level}",
    ),
    (
        "crates/bootstrap/src/render/write/ignition/script.rs",
        "--v {level}",
    ),
    (
        "crates/bootstrap/src/render/write/ignition/script.rs",
        "{} --config {KUBEADM_FILE}",
    ),
    (
        "crates/lint/src/template_text.rs",
        "clusterctl generate cluster --list-variables",
    ),
    (
        "crates/lint/src/conversion.rs",
        "clusterctl generate provider --raw` and `--describe`",
    ),
    (
        "crates/lint/src/upgrade/templates.rs",
        "`clusterctl generate cluster` without `--flavor`",
    ),
    (
        "crates/lint/src/upgrade/templates.rs",
        "`clusterctl generate cluster --flavor {flavor}`",
    ),
    (
        "crates/repository/src/signed.rs",
        "`cosign sign-blob --bundle",
    ),
    ("crates/repository/src/signed.rs", "\"--bundle\""),
    ("crates/repository/src/signed.rs", "\"--type\""),
    ("crates/repository/src/signed.rs", "\"--key\""),
    (
        "crates/repository/src/signed.rs",
        "\"--certificate-identity\"",
    ),
    (
        "crates/repository/src/signed.rs",
        "\"--certificate-oidc-issuer\"",
    ),
    (
        "crates/repository/src/signed.rs",
        "\"--insecure-ignore-tlog\"",
    ),
    (
        "crates/repository/src/images.rs",
        "--acme-http01-solver-image=",
    ),
    // what machines run
    (
        "crates/debugging/src/images/runtime.rs",
        "--pod-infra-container-image[= ]",
    ),
    (
        "crates/debugging/src/images/commands/programs.rs",
        "\"--image\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--filename\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--filename=\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--kustomize\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--kustomize=\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--output\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--output=\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--output-document\"",
    ),
    (
        "crates/debugging/src/images/commands/unknown.rs",
        "\"--output-document=\"",
    ),
    // words of clusterctl and of Ignition's transpiler
    (
        "crates/clusterctl/src/commands/generate_provider.rs",
        "of --core, --bootstrap, --control-plane, --infrastructure, --ipam, --extension, --addon should be set",
    ),
    (
        "crates/bootstrap/src/render/write/ignition/container_linux/convert.rs",
        "--files-dir",
    ),
];

/// Whether a line of code has a flag: `--` before a letter, not in a PEM line.
fn has_flag(line: &str) -> bool {
    line.match_indices("--").any(|(at, _)| {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        !before.is_alphanumeric()
            && before != '-'
            && line[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    })
}

#[test]
fn only_the_command_line_knows_its_flags() {
    let mut known = Vec::new();
    let mut unused: BTreeSet<_> = FOREIGN_FLAGS.iter().collect();
    for file in sources() {
        let shown = shown(&file);
        if shown.starts_with("src/cli/")
            || shown.starts_with("src/io/")
            || shown.ends_with("/tests.rs")
        {
            continue;
        }
        let text = code(&file);
        for line in text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap()
            .lines()
        {
            let mut line = line.to_owned();
            for foreign in FOREIGN_FLAGS.iter().filter(|(of, _)| *of == shown) {
                if line.contains(foreign.1) {
                    unused.remove(foreign);
                    line = line.replace(foreign.1, "");
                }
            }
            if has_flag(&line) {
                known.push(format!("{shown}: {}", line.trim()));
            }
        }
    }
    assert!(
        known.is_empty(),
        "name a `diag::Setting`, which `cli` words as its flag:\n{}",
        known.join("\n")
    );
    assert!(unused.is_empty(), "no such text any more: {unused:?}");
}

#[test]
fn flag_scanner_sees_flags() {
    assert!(has_flag("help(\"use `--encoder typed`\")") && has_flag("\"--role\""));
    assert!(!has_flag("-----BEGIN") && !has_flag("x -- y") && !has_flag("i--j"));
}

#[test]
fn import_scanner_sees_groups_and_paths() {
    let text = "use crate::{diag::{A, B}, text};\nfn f() { crate::api::g() } mod_crate::x";
    assert_eq!(
        modules_used(text).into_iter().collect::<Vec<_>>(),
        ["api", "diag", "text"]
    );
}

#[test]
fn every_file_is_compiled() {
    let mut orphans = Vec::new();
    for file in sources() {
        let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let folder = file.parent().unwrap();
        if folder.ends_with("src") && (stem == "lib" || stem == "main") {
            continue;
        }
        let (name, parent_folder) = if stem == "mod" {
            (
                folder.file_name().unwrap().to_str().unwrap().to_owned(),
                folder.parent().unwrap(),
            )
        } else {
            (stem, folder)
        };
        let parents = ["mod.rs", "lib.rs", "main.rs"].map(|p| parent_folder.join(p));
        let declared = parents.iter().filter(|p| p.is_file()).any(|p| {
            code(p)
                .lines()
                .any(|line| line.trim_end().ends_with(&format!("mod {name};")))
        });
        if !declared {
            orphans.push(shown(&file));
        }
    }
    assert!(
        orphans.is_empty(),
        "no `mod` line in the parent module names these files: {orphans:?}"
    );
}

#[test]
fn names_say_something() {
    let mut bad = Vec::new();
    for folder in ["src", "crates", "tests", "manager/src", "conformance"] {
        for file in rust_files(&root().join(folder)) {
            let relative = shown(&file);
            if relative
                .split(['/', '.'])
                .any(|part| BANNED.contains(&part))
            {
                bad.push(relative);
            }
        }
    }
    assert!(bad.is_empty(), "names that say nothing: {bad:?}");
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<_> = [
        "src",
        "crates",
        "tests",
        "benches",
        "fuzz",
        "manager/src",
        "conformance",
    ]
    .iter()
    .map(|folder| root().join(folder))
    .filter(|folder| folder.is_dir())
    .flat_map(|folder| rust_files(&folder))
    .filter(|file| !file.components().any(|c| c.as_os_str() == "target"))
    .filter(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        !text.starts_with("//!") && !text.starts_with("#![doc")
    })
    .map(|file| shown(&file))
    .collect();
    assert!(
        silent.is_empty(),
        "files that do not open with `//!`: {silent:?}"
    );
}

#[test]
fn registry_lists_the_rules_of_every_file() {
    let declares = |file: &PathBuf| {
        code(file)
            .lines()
            .any(|line| line == "rules! {" || line.ends_with("diag::rules! {"))
    };
    let mut unlisted = Vec::new();
    for folder in source_folders() {
        let list = std::fs::read_to_string(folder.join("lib.rs")).unwrap();
        let is_listed = |module: &str| {
            ["crate::", " ", "["]
                .iter()
                .any(|before| list.contains(&format!("{before}{module}::RULES")))
        };
        let declaring = rust_files(&folder).into_iter().filter(declares);
        let modules = declaring.map(|file| {
            file.strip_prefix(&folder)
                .unwrap()
                .to_string_lossy()
                .trim_end_matches(".rs")
                .trim_end_matches("/mod")
                .replace('/', "::")
        });
        unlisted.extend(
            modules
                .filter(|module| !is_listed(module))
                .map(|module| format!("{module} of {}", shown(&folder))),
        );
    }
    assert!(
        unlisted.is_empty(),
        "lib.rs of their crate does not list the rules of {unlisted:?}"
    );
}

/// Where the program could end itself, it says that this is our fault: what a user's document can
/// reach is a finding. Tests are left out, and calls without words of their own, such as a parser's
/// `expect`.
#[test]
fn panics_are_internal_errors() {
    let mut count = 0;
    for file in sources()
        .into_iter()
        .chain(rust_files(&root().join("manager/src")))
        .chain(rust_files(&root().join("conformance/src")))
    {
        let code = code(&file);
        let tests = ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub(crate) mod "]
            .iter()
            .filter_map(|tests| code.find(tests))
            .min();
        let code = &code[..tests.unwrap_or(code.len())];
        let is_test = file
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        let calls = [
            ".expect(\"",
            "unreachable!(",
            "panic!(",
            "assert!(",
            "assert_eq!(",
            "assert_ne!(",
        ];
        for call in calls.iter().filter(|_| !is_test) {
            for (at, _) in code
                .match_indices(call)
                .filter(|(at, _)| !code[..*at].ends_with("debug_"))
            {
                let words = code[at + call.len()..].trim_start_matches('"');
                let line = code[..at].lines().count();
                assert!(
                    words.starts_with("internal error: "),
                    "{}:{line}: {}",
                    file.display(),
                    code[at..].lines().next().unwrap()
                );
                count += 1;
            }
        }
        assert!(
            is_test || !code.contains(".unwrap()"),
            "{} unwraps",
            file.display()
        );
    }
    assert!(count > 30, "only {count} were found");
}

/// The messages that a text logs: the last text of each call of a macro of `tracing`.
fn logged(text: &str) -> Vec<String> {
    let calls =
        ["error", "warn", "info", "debug", "trace"].map(|level| format!("tracing::{level}!("));
    let begins = calls.iter().flat_map(|call| {
        text.match_indices(call.as_str())
            .map(|(at, found)| at + found.len())
    });
    begins
        .filter_map(|begin| {
            arguments(&text[begin..])
                .rsplit('"')
                .nth(1)
                .map(str::to_owned)
        })
        .collect()
}

/// What stands before the parenthesis that closes a call.
fn arguments(text: &str) -> &str {
    let (mut depth, mut in_text, mut is_escaped) = (1, false, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' if !is_escaped => in_text = !in_text,
            '(' if !in_text => depth += 1,
            ')' if !in_text => depth -= 1,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// Book, "Log Messages": a capital at the beginning, no full stop at the end (OP-10).
#[test]
fn messages_of_the_log_are_in_the_style_of_cluster_api() {
    let files = rust_files(&root().join("manager/src"));
    let messages: Vec<String> = files
        .iter()
        .flat_map(|file| {
            logged(
                code(file)
                    .split("#[cfg(test)]\n")
                    .next()
                    .unwrap_or_default(),
            )
        })
        .collect();
    assert!(messages.len() > 10, "{messages:?}");
    let wrong: Vec<&String> = messages
        .iter()
        .filter(|message| {
            !message.starts_with(|c: char| c.is_uppercase()) || message.ends_with('.')
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn log_scanner_sees_messages() {
    let text = "tracing::info!(a = %b(), \"First \");\n Err(_) => tracing::error!(err = \"x\", \"Second\"),\n tracing::warn!(\n  \"Third\",\n )\n";
    assert_eq!(logged(text), ["Second", "Third", "First "]);
}

#[test]
fn rule_ids_are_kebab_case_and_unique() {
    let rules = windlass::rules::all();
    assert!(rules.len() > 150);
    let is_kebab = |id: &str| {
        id.contains('-')
            && id
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let bad: Vec<_> = rules
        .iter()
        .filter(|rule| !is_kebab(rule.id))
        .map(|rule| rule.id)
        .collect();
    assert!(bad.is_empty(), "not kebab-case: {bad:?}");
    let twice: Vec<_> = rules
        .windows(2)
        .filter(|pair| pair[0].id == pair[1].id)
        .map(|pair| pair[0].id)
        .collect();
    assert!(twice.is_empty(), "declared twice: {twice:?}");
}

#[test]
fn walks_of_the_architecture_name_functions_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let walks = text
        .split("## Walks")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .expect("ARCHITECTURE.md has the section");
    let named: Vec<&str> = walks
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains("::"))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    let missing = |name: &&&str| {
        let (module, function) = name.rsplit_once("::").expect("names have two parts");
        let (first, rest) = module.split_once("::").unwrap_or((module, ""));
        let crates = root()
            .join("crates")
            .join(first.replace('_', "-"))
            .join("src");
        let path = match crates.is_dir() {
            true => crates.join(rest.replace("::", "/")),
            false => root().join("src").join(module.replace("::", "/")),
        };
        let files = [
            path.with_extension("rs"),
            path.join("mod.rs"),
            path.join("lib.rs"),
        ];
        let code = files
            .iter()
            .find(|file| file.is_file())
            .map(|file| code(file))
            .unwrap_or_default();
        !code.contains(&format!("fn {function}(")) && !code.contains(&format!("fn {function}<"))
    };
    let missing: Vec<_> = named.iter().filter(missing).collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names functions that are not there: {missing:?}"
    );
}

#[test]
fn rule_summaries_are_clauses_in_one_style() {
    // `apiVersion`, U+0085 and the like begin as they are written.
    let begins_low = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase() || c == '`') || text.starts_with("U+")
    };
    let is_clause = |text: &str| {
        begins_low(text)
            && !text.ends_with('.')
            && !text.contains(['\n', ';'])
            && text.trim() == text
    };
    let bad: Vec<_> = windlass::rules::all()
        .into_iter()
        .filter(|rule| !is_clause(rule.summary))
        .map(|rule| rule.summary)
        .collect();
    assert!(
        bad.is_empty(),
        "not lower case at the start, or with a period at the end: {bad:#?}"
    );
}
