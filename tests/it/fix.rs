//! `lint --fix`: certain fixes change the file, and nothing else of it.

use std::path::Path;

use serde_json::Value;

use crate::support::{Run, run};

/// A file, a part of it before and after, and how many findings that fixes.
struct Case {
    file: &'static str,
    rule: &'static str,
    before: &'static str,
    after: &'static str,
    count: usize,
}

const METADATA: &str =
    "# ours\n@releaseSeries: # newest last\n- {major: 0, minor: 1, contract: v1beta2}   # first\n";
const WEBHOOK: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n---\n\
                       apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: foo}\nwebhooks:\n@";
const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: foo\n@";

const CASES: &[Case] = &[
    Case {
        file: "metadata.yaml",
        rule: "metadata-kind-missing",
        before: "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3   # format\n",
        after: "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3   # format\nkind: Metadata\n",
        count: 1,
    },
    Case {
        file: "metadata.yaml",
        rule: "metadata-kind-wrong",
        before: "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: \"Meta\"  # of metadata\n",
        after: "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata  # of metadata\n",
        count: 1,
    },
    Case {
        file: "metadata.yaml",
        rule: "metadata-api-version-wrong",
        before: "kind: Metadata\napiVersion: v1alpha3 # format\n",
        after: "kind: Metadata\napiVersion: clusterctl.cluster.x-k8s.io/v1alpha3 # format\n",
        count: 1,
    },
    Case {
        file: "foo/v0.2.0/metadata.yaml",
        rule: "metadata-series-missing",
        before: "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}   # first\n",
        after: "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}   # first\n\
                - major: 0\n  minor: 2\n  contract: v1beta2\n",
        count: 1,
    },
    Case {
        file: "infrastructure-components.yaml",
        rule: "components-webhook-incomplete",
        before: "- name: a.example.com # a\n  clientConfig: {url: \"https://${HOST:=a.example.com}\"}\n- {name: b.example.com, clientConfig: {url: \"https://b.example.com\"}, sideEffects: None}\n",
        after: "- sideEffects: None\n  admissionReviewVersions: [v1]\n  name: a.example.com # a\n  clientConfig: {url: \"https://${HOST:=a.example.com}\"}\n\
                - {admissionReviewVersions: [v1], name: b.example.com, clientConfig: {url: \"https://b.example.com\"}, sideEffects: None}\n",
        count: 3,
    },
    Case {
        file: "infrastructure-components.yaml",
        rule: "components-label-not-text",
        before: "  labels: {a: 1, b: yes, c: 0x10} # three\n",
        after: "  labels: {a: \"1\", b: \"yes\", c: \"0x10\"} # three\n",
        count: 3,
    },
    Case {
        file: "infrastructure-components.yaml",
        rule: "components-variable-unquoted",
        before: "spec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        args:\n        - ${FLAG:=--x}   # one\n        - ${OTHER:=\"1\"}\n",
        after: "spec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        args:\n        - \"${FLAG:=--x}\"   # one\n        - \"${OTHER:=1}\"\n",
        count: 2,
    },
    Case {
        file: "infrastructure-components.yaml",
        rule: "components-key-changed",
        before: "data:\n  y: \"1\" # y\n  off: \"2\"\n",
        after: "data:\n  \"y\": \"1\" # y\n  \"off\": \"2\"\n",
        count: 2,
    },
];

impl Case {
    fn text(&self, part: &str) -> String {
        let frame = match self.rule {
            "metadata-series-missing" => "@",
            rule if rule.starts_with("metadata") => METADATA,
            "components-webhook-incomplete" => WEBHOOK,
            _ => DEPLOYMENT,
        };
        frame.replace('@', part)
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A text after changes of bytes; of those at one place the first comes first.
fn changed(text: &str, mut changes: Vec<(usize, usize, String)>) -> String {
    changes.sort_by_key(|(start, end, _)| (*start, *end));
    let mut text = text.to_owned();
    changes
        .into_iter()
        .rev()
        .for_each(|(start, end, with)| text.replace_range(start..end, &with));
    text
}

/// The byte of a line and a column in characters, both from 1.
fn byte(text: &str, line: &Value, column: &Value) -> usize {
    let [line, column] =
        [line, column].map(|number| usize::try_from(number.as_u64().unwrap()).unwrap() - 1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    start
        + text[start..]
            .chars()
            .take(column)
            .map(char::len_utf8)
            .sum::<usize>()
}

#[test]
fn programs_get_the_changes_that_would_be_made() {
    for case in CASES {
        // Columns are of characters, changes of bytes.
        let [before, after] = [case.before, case.after]
            .map(|part| format!("# é\n{}", case.text(part).replace("# ", "# ü ")));
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), case.file, &before);
        let read = |format: &str| run(folder.path(), &format!("lint -o {format}")).json();
        let report = read("json");
        let findings = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["rule"] == case.rule);
        let changes = findings
            .flat_map(|finding| finding["fix"]["changes"].as_array().unwrap())
            .map(|change| {
                let at = |key: &str| usize::try_from(change[key].as_u64().unwrap()).unwrap();
                (
                    at("start"),
                    at("end"),
                    change["with"].as_str().unwrap().to_owned(),
                )
            });
        assert_eq!(changed(&before, changes.collect()), after, "{}", case.rule);
        let log = read("sarif");
        let results = log["runs"][0]["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|result| result["ruleId"] == case.rule);
        let replacements = results.flat_map(|result| {
            let artifact = &result["fixes"][0]["artifactChanges"][0];
            assert_eq!(
                artifact["artifactLocation"],
                result["locations"][0]["physicalLocation"]["artifactLocation"],
                "{}",
                case.rule
            );
            artifact["replacements"].as_array().unwrap()
        });
        let changes = replacements.map(|replacement| {
            let region = &replacement["deletedRegion"];
            let at = |end: &str| {
                byte(
                    &before,
                    &region[format!("{end}Line")],
                    &region[format!("{end}Column")],
                )
            };
            (
                at("start"),
                at("end"),
                replacement["insertedContent"]["text"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            )
        });
        assert_eq!(changed(&before, changes.collect()), after, "{}", case.rule);
    }
}

#[test]
fn changes_that_hold_a_secret_are_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let pod = |arguments: &str| {
        DEPLOYMENT.replace(
            '@',
            &format!("spec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        args:\n{arguments}"),
        )
    };
    let text = pod(
        "        - ${FLAG:=--x}\n        - ${API_TOKEN:=hunter2hunter2}\n        - ${MORE:=hunter2hunter2}\n",
    );
    write(folder.path(), "infrastructure-components.yaml", &text);
    for format in ["json", "sarif"] {
        let stdout = run(folder.path(), &format!("lint -o {format}")).stdout;
        assert!(!stdout.contains("hunter2"), "{stdout}");
        assert_eq!(
            stdout.matches("\"\\\"${FLAG:=--x}\\\"\"").count(),
            1,
            "the others are shown: {stdout}"
        );
    }
    assert!(
        run(folder.path(), "lint --fix")
            .stdout
            .ends_with("3 findings in 1 file fixed\n")
    );
}

#[test]
fn what_is_certain_is_mended_and_nothing_else_changes() {
    for case in CASES {
        for line_end in ["\n", "\r\n"] {
            let [before, after] =
                [case.before, case.after].map(|part| case.text(part).replace('\n', line_end));
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), case.file, &before);
            let findings = |folder: &Path| {
                run(folder, "lint -o github")
                    .stdout
                    .matches(&format!("title={}::", case.rule))
                    .count()
            };
            assert_eq!(findings(folder.path()), case.count, "{}", case.rule);
            let Run { stdout, stderr, .. } = run(folder.path(), "lint --fix");
            let plural = if case.count == 1 { "" } else { "s" };
            let expected = format!("{} finding{plural} in 1 file fixed\n", case.count);
            assert!(
                stdout.ends_with(&expected),
                "{}: {stdout}{stderr}",
                case.rule
            );
            assert_eq!(
                std::fs::read_to_string(folder.path().join(case.file)).unwrap(),
                after,
                "{}",
                case.rule
            );
            assert_eq!(findings(folder.path()), 0, "{}", case.rule);
            let stdout = run(folder.path(), "lint --fix").stdout;
            assert!(stdout.ends_with("nothing fixed\n"), "{stdout}");
        }
    }
}
