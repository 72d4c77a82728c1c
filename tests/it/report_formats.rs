//! Reports for programs: `-o sarif` and `-o junit` fulfil their schemas, `-o json` has the fields that
//! the text formats print.
//!
//! `formats/sarif-2.1.0-rtm.5.json` is the JSON Schema of SARIF 2.1.0 as SchemaStore has it and
//! Microsoft's npm package `@microsoft/jest-sarif` 1.0.0-beta.0 ships it (MIT licence, © Microsoft
//! Corporation). `.ci/full` runs Microsoft's own validator on the same, with GitHub's rules too.

use std::path::Path;

use serde_json::{Value, json};

use crate::report_schemas::faults;
use crate::support::{METADATA, TWO, copy, root, run, windlass};
use crate::untrusted::harmless;

/// Commands that find nothing, errors, warnings, what is in no file, and what is in several.
const COMMANDS: &[&str] = &[
    "repository doctor releases",
    "repository doctor broken",
    "release build v0.2.0 --to out",
    "release build v0.1.0 --provider broken.yaml --to out",
    "release build x --to out",
    "lint releases",
    "lint a.yaml broken",
    "release check v9.0.0 releases/bootstrap-windlass/v0.2.0",
];

fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for name in ["templates", "releases"] {
        copy(&root().join(name), &folder.path().join(name));
    }
    for name in ["provider.yaml", "metadata.yaml"] {
        std::fs::copy(root().join(name), folder.path().join(name)).unwrap();
    }
    write(
        "broken.yaml",
        "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: x\nunknown: \"\\e[2J <&> ]]> ü\"\n",
    );
    write(
        "a.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s, name: s}\nstringData: {password: hunter2\n",
    );
    write(
        "broken/bootstrap-x/v0.1.0/metadata.yaml",
        "kind: Metadata\n",
    );
    folder
}

/// What each command prints in a format, with whether it ended well.
fn printed(folder: &Path, format: &str) -> Vec<(&'static str, bool, String)> {
    let run = |command: &&'static str| {
        let output = windlass(folder)
            .args(command.split(' '))
            .args(["-o", format])
            .output()
            .unwrap();
        harmless(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{command}: {output:?}"
        );
        (
            *command,
            output.status.success(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    COMMANDS.iter().map(run).collect()
}

#[test]
fn sarif_is_what_its_schema_says() {
    let schema: Value =
        serde_json::from_str(include_str!("formats/sarif-2.1.0-rtm.5.json")).unwrap();
    let folder = site();
    let (mut results, mut notifications) = (0, 0);
    for (command, is_clean, text) in printed(folder.path(), "sarif") {
        let log: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(faults(&schema, &log), Vec::<String>::new(), "{command}");
        let run = &log["runs"][0];
        let (found, told) = (
            run["results"].as_array().unwrap(),
            &run["invocations"][0]["toolExecutionNotifications"],
        );
        let weighs = |one: &&Value| one["level"] == "error";
        let errors = found
            .iter()
            .chain(told.as_array().unwrap())
            .filter(weighs)
            .count();
        assert_eq!(errors == 0, is_clean, "{command}");
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in found {
            assert_eq!(
                rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"],
                result["ruleId"],
                "{command}"
            );
        }
        assert!(!text.contains("hunter2"), "{text}");
        results += found.len();
        notifications += told.as_array().unwrap().len();
    }
    assert!(
        results >= 10 && notifications >= 1,
        "{results} results, {notifications} notifications"
    );
}

#[test]
fn the_judge_sees_what_is_no_sarif() {
    let schema: Value =
        serde_json::from_str(include_str!("formats/sarif-2.1.0-rtm.5.json")).unwrap();
    let location = json!({"physicalLocation": {"artifactLocation": {"uri": "a b"}, "region": {"startLine": 0}}});
    let suppression = json!({"kind": "inside"});
    let result = json!({"message": {}, "level": "info", "locations": [location], "suppressions": [suppression], "further": 1});
    let log = json!({"version": "2.1.0", "runs": [{"tool": {"driver": {}}, "columnKind": "characters", "results": [result]}]});
    let found = faults(&schema, &log);
    for part in [
        "message fits 0 of anyOf",
        "level is none of",
        "uri is no \"uri-reference\"",
        "startLine is too small",
        "kind is none",
        "unknown key further",
        "lacks \"name\"",
        "columnKind is none",
    ] {
        assert!(
            found.iter().any(|fault| fault.contains(part)),
            "{part}: {found:#?}"
        );
    }
    assert_eq!(found.len(), 8, "{found:#?}");
}

/// An element, and three lists of names that go with it: see [`ELEMENTS`].
type Element = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

/// The children and the attributes of each element, those that are required first, as junit-10.xsd
/// of Jenkins' xUnit plugin has them.
const ELEMENTS: &[Element] = &[
    (
        "testsuites",
        &["testsuite"],
        &[],
        &["name", "time", "tests", "failures", "disabled", "errors"],
    ),
    (
        "testsuite",
        &["properties", "testcase", "system-out", "system-err"],
        &["name", "tests"],
        &[
            "failures",
            "errors",
            "time",
            "disabled",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
        ],
    ),
    (
        "testcase",
        &["skipped", "error", "failure", "system-out", "system-err"],
        &["name"],
        &["assertions", "time", "classname", "status"],
    ),
    ("skipped", &[], &[], &["message"]),
    ("failure", &[], &[], &["type", "message"]),
    ("system-out", &[], &[], &[]),
];

fn check_element(node: roxmltree::Node<'_, '_>) {
    let name = node.tag_name().name();
    let (_, children, required, optional) = ELEMENTS
        .iter()
        .find(|(element, ..)| *element == name)
        .expect("an element of JUnit");
    let attributes: Vec<&str> = node
        .attributes()
        .map(|attribute| attribute.name())
        .collect();
    assert!(
        required
            .iter()
            .all(|attribute| attributes.contains(attribute)),
        "{name}: {attributes:?}"
    );
    assert!(
        attributes
            .iter()
            .all(|attribute| required.contains(attribute) || optional.contains(attribute)),
        "{name}: {attributes:?}"
    );
    let elements = || node.children().filter(roxmltree::Node::is_element);
    let order: Vec<_> = elements()
        .map(|child| {
            children
                .iter()
                .position(|element| *element == child.tag_name().name())
        })
        .collect();
    assert!(
        order.iter().all(Option::is_some) && order.is_sorted(),
        "{name}: {order:?}"
    );
    elements().for_each(check_element);
}

#[test]
fn junit_is_what_its_schema_says() {
    let folder = site();
    for (command, is_clean, text) in printed(folder.path(), "junit") {
        let document = roxmltree::Document::parse(&text)
            .unwrap_or_else(|error| panic!("{command}: {error}\n{text}"));
        let suites = document.root_element();
        assert_eq!(suites.tag_name().name(), "testsuites");
        check_element(suites);
        let count = |node: roxmltree::Node<'_, '_>, element: &str| {
            node.descendants()
                .filter(|one| one.has_tag_name(element))
                .count()
        };
        for counted in document
            .descendants()
            .filter(|node| node.has_tag_name("testsuites") || node.has_tag_name("testsuite"))
        {
            for (attribute, element) in [
                ("tests", "testcase"),
                ("failures", "failure"),
                ("skipped", "skipped"),
            ] {
                let said = counted
                    .attribute(attribute)
                    .map(|said| said.parse::<usize>().unwrap());
                assert!(
                    said.is_none_or(|said| said == count(counted, element)),
                    "{command}: {attribute}\n{text}"
                );
            }
        }
        assert_eq!(
            count(suites, "failure") == 0,
            is_clean,
            "{command}:\n{text}"
        );
        assert!(!text.contains("hunter2"), "{text}");
    }
}

/// A folder with a release of two providers, not built yet.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("provider.yaml"), TWO).unwrap();
    std::fs::write(folder.path().join("metadata.yaml"), METADATA).unwrap();
    folder
}

#[test]
fn reports_builds_as_json() {
    let folder = project();
    let report = |command: &str| run(folder.path(), &format!("{command} -o json")).json();
    let build = report("release build v0.1.0 --to out");
    let files = json!([
        "SHA256SUMS",
        "bootstrap-components.yaml",
        "control-plane-components.yaml",
        "images.txt",
        "install.yaml",
        "metadata.yaml",
        "sbom.spdx.json"
    ]);
    for (field, value) in [
        ("providers", json!(["bootstrap-foo", "control-plane-foo"])),
        ("version", json!("v0.1.0")),
        ("contract", json!("v1beta2")),
        ("to", json!("out")),
        ("written", json!(true)),
        ("objects", json!(14)),
        ("files", files.clone()),
    ] {
        assert_eq!(build[field], value, "{field}");
    }
    // `--check` reports the files if they are those of the release.
    let check = "release build v0.1.0 --to out --check";
    assert_eq!(report(check)["files"], files);
    std::fs::write(folder.path().join("out/x"), "").unwrap();
    let foreign = report(check);
    assert_eq!(
        json!([foreign["written"], foreign["files"]]),
        json!([false, []])
    );
    // A rejected version has no contract.
    for (version, rule, objects) in [
        ("v0.2.0", "metadata-series-missing", 14),
        ("0.1.0", "release-version-malformed", 0),
    ] {
        let rejected = report(&format!("release build {version} --to other"));
        assert_eq!(rejected["findings"][0]["rule"], rule);
        assert_eq!(
            json!([
                rejected["contract"],
                rejected["written"],
                rejected["files"],
                rejected["objects"]
            ]),
            json!([null, false, [], objects])
        );
    }
}

#[test]
fn reports_repositories_as_json() {
    let folder = project();
    let path = folder.path();
    let report = |command: &str| run(path, &format!("repository {command} -o json")).json();
    let manifest = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                    metadata: {name: certificates.cert-manager.io, labels: {app.kubernetes.io/version: v1.21.1}}\n\
                    spec: {group: cert-manager.io}\n";
    std::fs::write(path.join("cert-manager.yaml"), manifest).unwrap();
    run(path, "release build v0.1.0 --to out").ok();
    run(path, "repository add out cert-manager.yaml --to r").ok();
    assert_eq!(report("list r")["certManagers"], json!(["v1.21.1"]));
    std::fs::create_dir(path.join("empty")).unwrap();
    let empty = run(path, "repository list empty -o json");
    assert_eq!(empty.code, 1);
    assert_eq!(
        empty.json()["findings"][0]["rule"],
        "repository-release-missing"
    );
    let doctor = report("doctor r");
    assert_eq!(doctor["providers"].as_array().map(Vec::len), Some(2));
    let provider = &doctor["providers"][0];
    assert_eq!(
        json!([
            provider["picked"],
            provider["reason"],
            provider["files"][0]["name"]
        ]),
        json!(["v0.1.0", "the newest release", "metadata.yaml"])
    );
    // Images as clusterctl pulls them, and as the components name them.
    let config = path.join("r/clusterctl.yaml");
    let written = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        written + "images: {all: {repository: mirror.local}}\n",
    )
    .unwrap();
    let images = report("images r");
    assert_eq!(images["repository"], "r");
    let image = json!({
        "image": "mirror.local/b:v0.1.0",
        "source": "ghcr.io/foo/b:v0.1.0",
        "provider": "bootstrap-foo",
        "version": "v0.1.0",
    });
    assert_eq!(images["images"][0], image, "{images}");
    let release = "r/bootstrap-foo/v0.1.0";
    let map = report(&format!("configmap {release}"));
    assert_eq!(
        json!([map["folder"], map["configMaps"][0]["compressed"]]),
        json!([release, false])
    );
}
