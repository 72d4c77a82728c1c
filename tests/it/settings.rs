//! `windlass.toml` and waivers, as those meet them who run a verb.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use windlass::ops::rules::{Knows, asked};
use windlass::ops::{lint, rules};
use windlass::text::budget::Budget;
use windlass::text::source::Source;

use crate::gate::examples::{examples_of, release};
use crate::support::{copy, root, windlass};

/// A metadata.yaml with an error in its second line: metadata-kind-wrong.
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Meta\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
/// The same error, waived.
const WAIVED: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Meta # windlass: ignore[metadata-kind-wrong] because it is a test\n\
     releaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

fn site(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn run(folder: &Path, command: &str) -> Output {
    windlass(folder)
        .args(command.split_whitespace())
        .output()
        .unwrap()
}

/// Exit code, standard output and standard error.
fn told(folder: &Path, command: &str) -> (i32, String, String) {
    let output = run(folder, command);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn waiver(rule: &str, path: &str) -> String {
    format!("[[waive]]\nrule = \"{rule}\"\npath = \"{path}\"\nreason = \"it is a test\"\n")
}

#[test]
fn settings_are_those_of_the_repository() {
    let waive = waiver("metadata-kind-wrong", "a/b/metadata.yaml");
    let files = [
        ("windlass.toml", waive.as_str()),
        ("a/b/metadata.yaml", METADATA),
    ];
    let code = |folder: &Path, command: &str| run(folder, command).status.code();
    // Without a repository nobody knows how far up to look.
    let folder = site(&files);
    assert_eq!(code(folder.path(), "lint a"), Some(0));
    assert_eq!(code(&folder.path().join("a/b"), "lint"), Some(1));
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    assert_eq!(code(&folder.path().join("a/b"), "lint"), Some(0));
    assert_eq!(
        code(&folder.path().join("a/b"), "lint ../b/./metadata.yaml"),
        Some(0)
    );
    assert_eq!(
        code(
            &folder.path().join("a/b"),
            &format!("lint {}", folder.path().display())
        ),
        Some(0)
    );
    // The nearest file counts, and nothing above the root of the repository.
    std::fs::write(folder.path().join("a/windlass.toml"), "").unwrap();
    assert_eq!(code(&folder.path().join("a/b"), "lint"), Some(1));
    std::fs::remove_file(folder.path().join("a/windlass.toml")).unwrap();
    std::fs::write(folder.path().join("a/.git"), "gitdir: elsewhere\n").unwrap();
    assert_eq!(code(&folder.path().join("a/b"), "lint"), Some(1));
    assert_eq!(
        code(
            &folder.path().join("a/b"),
            "lint --settings ../../windlass.toml"
        ),
        Some(0)
    );
    assert_eq!(
        told(
            &folder.path().join("a/b"),
            "lint -q -v 1 --settings ../../windlass.toml"
        )
        .2,
        "settings ../../windlass.toml\nread metadata.yaml\n"
    );
}

#[test]
fn settings_that_cannot_be_taken_end_the_run() {
    let folder = site(&[
        ("windlass.toml", "alow = []\n"),
        ("metadata.yaml", METADATA),
    ]);
    let (code, stdout, stderr) = told(folder.path(), "lint -o json");
    let expected = "error[settings-key-unknown]: unknown key `alow`\n  --> windlass.toml:1:1\n";
    assert!(
        code == 1 && stdout.is_empty() && stderr.starts_with(expected),
        "{stdout}{stderr}"
    );
    let missing = "error: none.toml: no such file\n".to_owned();
    assert_eq!(
        told(folder.path(), "lint --settings none.toml"),
        (2, String::new(), missing)
    );
    let unread = "error: `windlass vars` does not read the settings of a project\n  help: leave `--settings` out\n".to_owned();
    assert_eq!(
        told(folder.path(), "vars metadata.yaml --settings windlass.toml"),
        (2, String::new(), unread)
    );
    assert!(
        told(folder.path(), "vars -h")
            .1
            .contains("--config")
            .then_some(())
            .is_none()
    );
    assert!(
        !told(folder.path(), "vars -h").1.contains("--settings")
            && told(folder.path(), "lint -h").1.contains("--settings FILE")
    );
}

#[test]
fn flags_go_before_settings_and_settings_before_defaults() {
    let metadata =
        METADATA.replace("Meta\n", "Metadata\n") + "- {major: 0, minor: 0, contract: v1beta2}\n";
    let code = |settings: &str, flags: &str| {
        let folder = site(&[("windlass.toml", settings), ("metadata.yaml", &metadata)]);
        run(folder.path(), &format!("lint {flags}")).status.code()
    };
    let deny = "deny = [\"metadata-series-unordered\"]\n";
    assert_eq!(code("", ""), Some(0));
    assert_eq!(code(deny, ""), Some(1));
    assert_eq!(code(deny, "--allow metadata-series-unordered"), Some(0));
    let allow = "allow = [\"metadata-series-unordered\"]\n";
    assert_eq!(code(&format!("{deny}{allow}"), ""), Some(0));
    assert_eq!(code(allow, "--deny metadata-series-unordered"), Some(1));
    // Also of verbs that do not judge.
    let folder = site(&[
        ("windlass.toml", "deny = [\"warnings\"]\n"),
        ("w.yaml", "a: 1\na: 2\n"),
    ]);
    copy(&root().join("examples"), &folder.path().join("examples"));
    let worker = std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap();
    std::fs::write(folder.path().join("w.yaml"), worker + "apiVersion: v1\n").unwrap();
    let (_, _, stderr) = told(folder.path(), "render w.yaml -v 1");
    assert!(stderr.starts_with("settings windlass.toml\n"), "{stderr}");
}

#[test]
fn what_is_waived_counts_no_more_and_stays_in_reports() {
    for files in [
        vec![("metadata.yaml", WAIVED)],
        vec![
            ("metadata.yaml", METADATA),
            ("windlass.toml", &waiver("metadata-kind-wrong", "*.yaml")),
        ],
    ] {
        let folder = site(&files);
        assert_eq!(
            told(folder.path(), "lint"),
            (0, "1 metadata file; 1 waived\n".to_owned(), String::new())
        );
        assert_eq!(
            told(
                folder.path(),
                "lint --deny metadata-kind-wrong --deny warnings"
            )
            .0,
            0
        );
        let (code, github, _) = told(folder.path(), "lint -o github");
        assert_eq!((code, github.as_str()), (0, ""));
        let json: Value = serde_json::from_str(&told(folder.path(), "lint -o json").1).unwrap();
        assert_eq!(
            (&json["findings"][0]["waived"], &json["findings"][0]["rule"]),
            (&"it is a test".into(), &"metadata-kind-wrong".into())
        );
        assert_eq!(
            json["summary"],
            serde_json::json!({"errors": 0, "warnings": 0, "infos": 0, "waived": 1})
        );
        let sarif: Value = serde_json::from_str(&told(folder.path(), "lint -o sarif").1).unwrap();
        let kind = if files.len() == 1 {
            "inSource"
        } else {
            "external"
        };
        let expected = serde_json::json!([{"kind": kind, "status": "accepted", "justification": "it is a test"}]);
        assert_eq!(sarif["runs"][0]["results"][0]["suppressions"], expected);
        let junit = told(folder.path(), "lint -o junit").1;
        assert!(
            junit.contains("<skipped message=\"waived: it is a test\"/>")
                && junit.contains("failures=\"0\""),
            "{junit}"
        );
    }
}

#[test]
fn a_waiver_that_suppresses_nothing_is_told_where_that_is_certain() {
    let sound = METADATA.replace("Meta\n", "Metadata\n");
    let rules = |files: &[(&str, &str)], command: &str| {
        let folder = site(files);
        let report: Value =
            serde_json::from_str(&told(folder.path(), &format!("{command} -o json")).1).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let of = |finding: &Value| {
            format!(
                "{} {}",
                finding["rule"].as_str().unwrap(),
                finding["file"].as_str().unwrap_or_default()
            )
        };
        findings.iter().map(of).collect::<Vec<_>>()
    };
    let waived = |rule: &str| format!("# windlass: ignore[{rule}] because it is a test\n{sound}");
    assert_eq!(
        rules(&[("metadata.yaml", &waived("metadata-kind-wrong"))], "lint"),
        ["waiver-unused metadata.yaml"]
    );
    // It needs the version, the release before, or another verb.
    for rule in [
        "metadata-series-missing",
        "upgrade-series-lost",
        "provider-field-unknown",
    ] {
        assert_eq!(
            rules(&[("metadata.yaml", &waived(rule))], "lint"),
            [""; 0],
            "{rule}"
        );
    }
    let components =
        std::fs::read_to_string(root().join("tests/gate/base/infrastructure-components.yaml"))
            .unwrap();
    let check = |rule: &str, command: &str| {
        let metadata = waived(rule);
        let files = |folder: &str| {
            [
                (format!("{folder}/metadata.yaml"), metadata.clone()),
                (
                    format!("{folder}/infrastructure-components.yaml"),
                    components.clone(),
                ),
            ]
        };
        let files: Vec<(String, String)> = files("out").into_iter().chain(files("old")).collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        rules(&files, command)
            .into_iter()
            .filter(|found| found.starts_with("waiver"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        check("metadata-series-missing", "release check v0.1.0 out"),
        ["waiver-unused out/metadata.yaml"]
    );
    assert_eq!(
        check("upgrade-series-lost", "release check v0.1.0 out"),
        [""; 0]
    );
    assert_eq!(
        check(
            "upgrade-series-lost",
            "release check v0.1.0 out --previous old"
        ),
        ["waiver-unused out/metadata.yaml"]
    );
    assert_eq!(check("metadata-kind-wrong", "repository doctor ."), [""; 0]);
    // The other file that the pattern means may need it.
    let waive = waiver("metadata-kind-wrong", "*/metadata.yaml");
    let files = [
        ("windlass.toml", waive.as_str()),
        ("a/metadata.yaml", &sound),
        ("b/metadata.yaml", &sound),
    ];
    assert_eq!(rules(&files, "lint a"), [""; 0]);
    assert_eq!(rules(&files, "lint a b"), ["waiver-unused windlass.toml"]);
    assert_eq!(rules(&files, "lint --allow waiver-unused"), [""; 0]);
    assert_eq!(
        rules(
            &[
                ("windlass.toml", &waiver("metadata-kind-wrong", "none.yaml")),
                ("a/metadata.yaml", &sound)
            ],
            "lint"
        ),
        [""; 0]
    );
}

/// What `lint` is said to ask of every file, it finds without knowing more.
#[test]
fn rules_of_files_need_no_version() {
    let mut faults = Vec::new();
    let of_files = asked(Knows::Files);
    for rule in rules::all()
        .into_iter()
        .filter(|rule| !rule.page.is_empty())
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
        "OF_VERSIONS, OF_UPGRADES and WITH_VERSION of src/ops/rules.rs:\n{}",
        faults.join("\n")
    );
    assert!(
        of_files.contains("metadata-kind-wrong") && asked(Knows::Previous).len() > of_files.len()
    );
}

#[test]
fn a_release_that_is_not_whole_is_not_completed_by_a_waiver() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples/harbour"), folder.path());
    let waive = waiver("metadata-series-missing", "metadata.yaml");
    std::fs::write(folder.path().join("windlass.toml"), waive).unwrap();
    let (code, _, stderr) = told(folder.path(), "release build v7.0.0 --to out");
    assert!(
        code == 1
            && stderr.contains("error[metadata-series-missing]")
            && stderr.contains("1 error; nothing written"),
        "{stderr}"
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
    let output = windlass(folder.path())
        .args(["lint", "."])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
