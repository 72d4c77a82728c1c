//! The pages of rules hold what they say: a release with what stands under *Bad* raises exactly
//! that rule, with what stands under *Good* nothing. The examples are laid over the sound release
//! in `tests/gate/base`; what stands below `previous/` is laid over the release before and, first,
//! over the new one. *Good* has the release before of *Bad*.

#[path = "../gate/examples.rs"]
pub(crate) mod examples;

use std::collections::BTreeSet;

use examples::{Example, documents, example, examples_of, overlaid, release};
use semver::Version;
use windlass::diag::Rule;
use windlass::ops::lint;
use windlass::ops::release_check::{self, Files, Request};
use windlass::text::budget::Budget;
use windlass::text::source::Source;

use crate::support::{root, run};

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

fn with_page() -> impl Iterator<Item = &'static Rule> {
    windlass::ops::rules::all()
        .into_iter()
        .filter(|rule| !rule.page.is_empty())
}

/// The rules that have a page. [`pages_hold`] raises them.
pub(crate) fn raised_by_pages() -> BTreeSet<String> {
    with_page().map(|rule| rule.id.to_owned()).collect()
}

#[test]
fn the_base_is_sound() {
    assert_eq!(raised(&Example::new()), BTreeSet::new());
}

#[test]
fn pages_hold() {
    let mut faults = Vec::new();
    for rule in with_page() {
        let (bad, good) = examples_of(rule.page);
        if bad.is_empty() || good.is_empty() {
            faults.push(format!(
                "{}: a page has blocks under `## Bad` and `## Good`",
                rule.id
            ));
            continue;
        }
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
