//! The examples on the pages of rules: *Bad* raises exactly that rule, *Good* raises nothing. Files
//! of a release are laid over the sound release in `tests/gate/base`; those below `previous/` are
//! laid over the previous release and, first, over the new one. *Good* has the previous release of
//! *Bad*. Where the text under *Bad* names a command, it runs on the files of the example alone.

#[path = "../gate/examples.rs"]
pub(crate) mod examples;

use std::collections::BTreeSet;

use examples::{Example, documents, example, examples_of, overlaid, release};
use semver::Version;
use windlass_checks::commands::lint;
use windlass_release::commands::release_check::{self, Files, Request};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Rule;

use crate::support::{files_below, root, run, windlass};

/// The version that the base is released as.
const VERSION: Version = Version::new(0, 2, 0);

/// The rules that an example raises: a release is checked, sources of one are linted.
fn raised(files: &Example) -> BTreeSet<&'static str> {
    if files
        .keys()
        .any(|path| path.ends_with("kustomization.yaml"))
    {
        return raised_by_sources(files);
    }
    let tree = release(root(), files, "");
    let previous = files
        .keys()
        .any(|path| path.starts_with("previous/"))
        .then(|| release(root(), files, "previous/"));
    let request = Request {
        release: Files {
            tree: &tree,
            shown: "out",
        },
        version: &VERSION,
        previous: previous.as_ref().map(|tree| Files {
            tree,
            shown: "previous",
        }),
        roles: &Default::default(),
        budget: &Budget::default(),
    };
    release_check::run(&request)
        .report
        .findings()
        .iter()
        .map(|finding| finding.rule.id)
        .collect()
}

fn raised_by_sources(files: &Example) -> BTreeSet<&'static str> {
    let sources: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::new(path.as_str(), text.as_str()))
        .collect();
    let budget = Budget::default();
    let request = lint::Request {
        sources: &sources,
        charts: &windlass_checks::charts::Charts::new(),
        form: None,
        contract: None,
        roles: &Default::default(),
        budget: &budget,
    };
    lint::run(&request)
        .report
        .findings()
        .iter()
        .map(|finding| finding.rule.id)
        .collect()
}

fn with_release_example() -> impl Iterator<Item = &'static Rule> {
    windlass::rules::all()
        .into_iter()
        .filter(|rule| rule.has_release_example())
}

/// The rules whose pages have examples. [`examples_of_releases_raise_their_rule`] and
/// [`examples_with_a_command_raise_their_rule`] raise them.
pub(crate) fn raised_by_pages() -> BTreeSet<String> {
    windlass::rules::all()
        .into_iter()
        .filter(|rule| rule.has_release_example() || rule.example_command().is_some())
        .map(|rule| rule.id.to_owned())
        .collect()
}

#[test]
fn pages_have_one_form() {
    let mut problems = Vec::new();
    for rule in windlass::rules::all() {
        let mut in_block = false;
        let headings: Vec<&str> = rule
            .page
            .lines()
            .filter(|line| {
                in_block ^= line.starts_with("```");
                !in_block && line.starts_with('#')
            })
            .collect();
        let expected = ["## What", "## Why", "## Fix", "## Bad", "## Good"];
        let known: Vec<&str> = expected
            .into_iter()
            .filter(|heading| headings.contains(heading))
            .collect();
        let is_paired = headings.contains(&"## Bad") == headings.contains(&"## Good");
        let is_complete = headings.contains(&"## Why") && headings.contains(&"## Fix");
        if headings != known || !is_paired || !is_complete || !rule.page.starts_with("## ") {
            problems.push(format!("{}: {headings:?}", rule.id));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// No page belongs to a rule that does not exist.
#[test]
fn every_page_has_a_rule() {
    let ids: BTreeSet<String> = windlass::rules::all()
        .iter()
        .map(|rule| format!("{}.md", rule.id))
        .collect();
    let pages = crate::tidy::source_folders()
        .into_iter()
        .filter_map(|folder| {
            let pages = folder.join("pages");
            pages.is_dir().then(|| files_below(&pages))
        });
    let unknown: Vec<_> = pages
        .flatten()
        .filter(|path| !ids.contains(path.file_name().unwrap().to_str().unwrap()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The rules that the command of a page finds in the files of an example.
fn raised_by_command(command: &str, files: &Example) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let output = windlass(folder.path())
        .args(command.split(' '))
        .env("PWD", folder.path())
        .output()
        .unwrap();
    let printed =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    printed
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| {
            let (severity, rest) = line.split_once('[')?;
            ["error", "warning", "info"]
                .contains(&severity)
                .then(|| rest.split(']').next().unwrap().to_owned())
        })
        .collect()
}

/// The last line of a page whose *Good* has only the files that change.
const OTHERS_STAY: &str = "\nThe other files stay as they are.\n";

/// What is wrong with the examples of a rule that its page's command runs on.
fn problems_with(rule: &Rule) -> Vec<String> {
    let Some(command) = rule.example_command() else {
        return Vec::new();
    };
    let (id, (bad, good)) = (rule.id, examples_of(rule.page));
    let found = raised_by_command(command, &bad);
    let good = if rule.page.ends_with(OTHERS_STAY) {
        bad.into_iter().chain(good).collect()
    } else {
        good
    };
    let left = raised_by_command(command, &good);
    let mut problems = Vec::new();
    if found != BTreeSet::from([id.to_owned()]) {
        problems.push(format!("{id}: `{command}` on *Bad* raises {found:?}"));
    }
    if !left.is_empty() {
        problems.push(format!("{id}: `{command}` on *Good* raises {left:?}"));
    }
    problems
}

#[test]
fn examples_with_a_command_raise_their_rule() {
    let rules = windlass::rules::all();
    let (left, right) = rules.split_at(rules.len() / 2);
    let run = |rules: &[&Rule]| -> Vec<String> {
        rules.iter().flat_map(|rule| problems_with(rule)).collect()
    };
    let problems = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(left));
        [run(right), other.join().unwrap()].concat()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_base_is_sound() {
    assert_eq!(raised(&Example::new()), BTreeSet::new());
}

#[test]
fn examples_of_releases_raise_their_rule() {
    let mut faults = Vec::new();
    for rule in with_release_example() {
        let (bad, good) = examples_of(rule.page);
        let (found, left) = (raised(&bad), raised(&good));
        if found != BTreeSet::from([rule.id]) {
            faults.push(format!("{}: *Bad* raises {found:?}", rule.id));
        }
        if !left.is_empty() {
            faults.push(format!("{}: *Good* raises {left:?}", rule.id));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn examples_are_read_and_laid_over_the_base() {
    let page = "Text.\n\n## Bad\n\n```yaml a.yaml\nx: 1\n```\n\nand\n\n```yaml previous/b.yaml\ny: 2\n```\n\n## Good\n\n```yaml a.yaml\nx: 3\n```\n";
    let bad = example(page, "Bad");
    assert_eq!(
        bad.iter()
            .map(|(name, text)| format!("{name}={text}"))
            .collect::<Vec<_>>(),
        ["a.yaml=x: 1\n", "previous/b.yaml=y: 2\n"]
    );
    assert_eq!(example(page, "Good").len(), 1);
    let base = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: {b: 1, c: [1, 2]}\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n";
    let patch = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: {b: null, c: [3]}\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n$patch: delete\n---\nkind: C\n";
    let merged = documents(&overlaid(base, patch));
    assert_eq!(
        merged,
        [
            serde_json::json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"c": [3]}}),
            serde_json::json!({"kind": "C"}),
        ]
    );
}

/// What is released here, and what examples of providers are made of.
#[test]
fn what_is_ours_has_no_finding() {
    let harbour = tempfile::tempdir().unwrap();
    crate::support::copy(&root().join("examples/harbour"), harbour.path());
    run(harbour.path(), "release build v0.1.0 --to out").ok();
    for (folder, command) in [
        (
            root(),
            "lint releases templates metadata.yaml examples/kubeadm-configs",
        ),
        (root(), "lint examples/harbour"),
        (root(), "lint tests/gate/base"),
        (
            root(),
            "release check v0.1.0 releases/bootstrap-windlass/v0.1.0",
        ),
        (
            root(),
            "release check v0.2.0 releases/bootstrap-windlass/v0.2.0 --previous releases/bootstrap-windlass/v0.1.0",
        ),
        (harbour.path(), "lint"),
        (harbour.path(), "release check v0.1.0 out"),
    ] {
        let report = run(folder, command).ok();
        let is_finding = |line: &&str| !line.starts_with("not checked: ");
        let lines = report.stdout.lines().filter(is_finding).count();
        assert_eq!(lines, 1, "{command}: {report:?}");
    }
}

/// Releases that were published without their series: each is told, by the command that would have
/// kept it back.
#[test]
fn published_releases_without_their_series_are_told() {
    for (project, version) in [
        ("k0sproject+k0smotron", "v1.6.0"),
        ("k3s-io+cluster-api-k3s", "v0.2.0"),
        ("kubernetes-sigs+cluster-api-provider-aws", "v2.2.0"),
        ("kubernetes-sigs+cluster-api-provider-vsphere", "v1.1.0"),
    ] {
        let Some(folder) = crate::support::shared(&format!("corpus/{project}@{version}")) else {
            return;
        };
        let said = run(&folder, &format!("release check {version} .")).stdout;
        let series = version.trim_start_matches('v').rsplit_once('.').unwrap().0;
        let expected = format!(
            "error[metadata-series-missing]: ./metadata.yaml does not list series {series} of {version}"
        );
        assert!(said.contains(&expected), "{project}: {said}");
    }
}
