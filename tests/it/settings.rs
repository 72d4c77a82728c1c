//! Waivers, in reports for programs and in the table of rules that `lint` can check.
//! `tests/cases/cli` has `windlass.toml`.

use std::collections::BTreeSet;

use windlass::rules;
use windlass::rules::{Knows, asked};
use windlass_checks::commands::lint;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::gate::examples::{examples_of, release};
use crate::support::{root, run};

/// A metadata.yaml with an error in its second line: metadata-kind-wrong.
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Meta\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
/// The same error, waived.
const WAIVED: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Meta # windlass: ignore[metadata-kind-wrong] because it is a test\n\
     releaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

/// A finding that is waived, in the file or by the settings, stays in the reports for programs.
#[test]
fn reports_waived_findings_in_each_format() {
    let settings =
        "[[waive]]\nrule = \"metadata-kind-wrong\"\npath = \"*.yaml\"\nreason = \"it is a test\"\n";
    for (metadata, settings, kind) in [(WAIVED, "", "inSource"), (METADATA, settings, "external")] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("metadata.yaml"), metadata).unwrap();
        std::fs::write(folder.path().join("windlass.toml"), settings).unwrap();
        let lint = |flags: &str| run(folder.path(), &format!("lint {flags}")).ok();
        assert_eq!(lint("").stdout, "1 metadata file; 1 waived\n");
        lint("--deny metadata-kind-wrong --deny warnings");
        assert_eq!(lint("-o github").stdout, "");
        let report = lint("-o json").json();
        assert_eq!(
            (
                &report["findings"][0]["waived"],
                &report["findings"][0]["rule"]
            ),
            (&"it is a test".into(), &"metadata-kind-wrong".into())
        );
        assert_eq!(
            report["summary"],
            serde_json::json!({"errors": 0, "warnings": 0, "infos": 0, "waived": 1})
        );
        assert_eq!(
            lint("-o sarif").json()["runs"][0]["results"][0]["suppressions"],
            serde_json::json!([{"kind": kind, "status": "accepted", "justification": "it is a test"}])
        );
        let junit = lint("-o junit").stdout;
        assert!(
            junit.contains("<skipped message=\"waived: it is a test\"/>")
                && junit.contains("failures=\"0\""),
            "{junit}"
        );
    }
}

/// What `lint` is said to ask of every file, it finds without knowing more.
#[test]
fn rules_of_files_need_no_version() {
    let mut faults = Vec::new();
    let of_files = asked(Knows::Files);
    for rule in rules::all()
        .into_iter()
        .filter(|rule| rule.has_release_example())
    {
        let (bad, _) = examples_of(rule.page);
        let tree = release(root(), &bad, "");
        let text = |path: &str| {
            Source::new(
                format!("out/{path}"),
                std::str::from_utf8(tree.get(path).unwrap()).unwrap(),
            )
        };
        let sources: Vec<Source> = tree
            .paths()
            .filter(|path| path.ends_with(".yaml"))
            .map(text)
            .collect();
        let budget = Budget::default();
        let linted = lint::run(&lint::Request {
            sources: &sources,
            charts: &windlass_checks::charts::Charts::new(),
            form: None,
            contract: None,
            roles: &Default::default(),
            budget: &budget,
        });
        let found: BTreeSet<&str> = linted
            .report
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect();
        if found.contains(rule.id) != of_files.contains(rule.id) {
            faults.push(format!(
                "{}: `asked` says {}, lint finds {found:?}",
                rule.id,
                of_files.contains(rule.id)
            ));
        }
        let of_upgrades = !asked(Knows::Version).contains(rule.id);
        if of_upgrades != bad.keys().any(|path| path.starts_with("previous/")) {
            faults.push(format!(
                "{}: `asked` says {of_upgrades} of the release before, the page otherwise",
                rule.id
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "VERSION_RULES, UPGRADE_RULES and NEED_VERSION (src/rules.rs):\n{}",
        faults.join("\n")
    );
    assert!(
        of_files.contains("metadata-kind-wrong") && asked(Knows::Previous).len() > of_files.len()
    );
}

/// The example of the book holds.
#[test]
fn the_settings_of_the_book_are_taken() {
    let page = std::fs::read_to_string(root().join("docs/book/src/settings.md")).unwrap();
    let settings = page
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("the book shows windlass.toml");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("windlass.toml"), settings).unwrap();
    std::fs::copy(
        root().join("metadata.yaml"),
        folder.path().join("metadata.yaml"),
    )
    .unwrap();
    run(folder.path(), "lint .").ok();
}
