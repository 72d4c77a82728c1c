//! `vars` with the built program, and against what clusterctl lists.

use std::fs;

use serde_json::Value;
use windlass::ops::vars;
use windlass::text::source::Source;

use crate::support::{files_below, recorded_source, root, shared, vectors, windlass};

#[test]
fn json_has_every_use_and_faults_are_findings() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.yaml"), "a: ${A}\nb: ${B:=${A}}\n").unwrap();
    fs::write(folder.path().join("u.yaml"), "c: ${C\n").unwrap();
    let output = windlass(folder.path())
        .args(["vars", "t.yaml", "u.yaml", "-o", "json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["kind"], "Vars");
    let names: Vec<&str> = report["variables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["A", "B"]);
    let uses = &report["variables"][0]["uses"];
    assert_eq!(
        (&uses[0]["line"], &uses[0]["column"], &uses[0]["endColumn"]),
        (&1.into(), &4.into(), &8.into())
    );
    assert_eq!(
        (&uses[1]["line"], &uses[1]["nested"]),
        (&2.into(), &true.into())
    );
    assert_eq!(
        report["findings"][0]["rule"],
        "template-substitution-broken"
    );
    let text = windlass(root())
        .args(["vars", "templates", "-q"])
        .output()
        .unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("\nKUBERNETES_VERSION               required\n  templates/cluster-template"),
        "{text}"
    );
    assert!(
        text.contains("\nSERVICE_CIDR                     defaults to \"10.128.0.0/12\"\n"),
        "{text}"
    );
}

/// Each variable with what clusterctl makes of it, and each place with what is its own; `--short`
/// leaves the places out, JSON leaves nothing out.
#[test]
fn variables_are_told_with_what_each_place_says() {
    let folder = tempfile::tempdir().unwrap();
    let first =
        "a: ${A}\nb: ${B:=${A}}${C:-x}\nc: ${C} ${N:=${K}}\nns: ${NAMESPACE:=q} ${CLUSTER_NAME}\n";
    fs::write(folder.path().join("t.yaml"), first).unwrap();
    fs::write(
        folder.path().join("u.yaml"),
        "b: ${B}\nc: ${C:-y}\nd: ${B:=${C:-z}}${NAMESPACE}\n",
    )
    .unwrap();
    let run = |arguments: &[&str]| {
        let output = windlass(folder.path())
            .args(["vars", "t.yaml", "u.yaml"])
            .args(arguments)
            .output()
            .unwrap();
        (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let expected = "A              required\n  t.yaml:1:4\n  t.yaml:2:9   nested\n\
                    B              required; defaults to \"${A}\" elsewhere\n  t.yaml:2:4\n  u.yaml:1:4   no default\n  u.yaml:3:4   defaults to \"${C}\"\n\
                    C              defaults to \"x\"\n  t.yaml:2:14\n  t.yaml:3:4   no default\n  u.yaml:2:4   defaults to \"y\"\n\
                    \x20 u.yaml:3:9   nested, defaults to \"z\"\n\
                    CLUSTER_NAME   set by `generate cluster`\n  t.yaml:4:21\n\
                    K              used in defaults only: clusterctl neither lists nor requires it\n  t.yaml:3:14\n\
                    N              defaults to \"${K}\"\n  t.yaml:3:9\n\
                    NAMESPACE      set by `generate cluster`\n  t.yaml:4:5\n  u.yaml:3:17\n";
    assert_eq!(
        run(&[]),
        (expected.to_owned(), "2 files, 7 variables\n".to_owned())
    );
    let names: String = expected
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(run(&["--short"]).0, names);
    let report: Value = serde_json::from_str(&run(&["-o", "json"]).0).unwrap();
    let facts = |variable: &Value| {
        [
            "name",
            "required",
            "default",
            "nested",
            "setByGenerateCluster",
        ]
        .map(|field| variable[field].to_string())
    };
    let facts: Vec<String> = report["variables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variable| facts(variable).join(" "))
        .collect();
    let expected = [
        r#""A" true null false false"#,
        r#""B" true "${A}" false false"#,
        r#""C" false "x" false false"#,
        r#""CLUSTER_NAME" true null false true"#,
        r#""K" false null true false"#,
        r#""N" false "${K}" false false"#,
        r#""NAMESPACE" true "q" false true"#,
    ];
    assert_eq!(facts, expected);
}

/// clusterctl's `generate yaml --list-variables` over the recorded invocations: the names that are
/// not only nested are those that it lists.
#[test]
fn names_are_those_that_clusterctl_lists() {
    let corpus = shared("corpus");
    let mut compared = 0;
    for record in files_below(&vectors("clusterctl"))
        .iter()
        .filter(|path| path.ends_with("case.json"))
    {
        let case: Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
        let arguments: Vec<&str> = case["args"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let [
            "generate",
            "yaml",
            "--from",
            "@CASE@/t.yaml",
            "--list-variables",
        ] = arguments[..]
        else {
            continue;
        };
        let Some(template) = case["files"]["t.yaml"].as_str() else {
            continue;
        };
        if case["exitCode"] != 0
            || case["env"]
                .as_object()
                .is_some_and(|env| env.contains_key("CLUSTERCTL_LOG_LEVEL"))
        {
            continue;
        }
        let folder = record.parent().unwrap();
        let Some(template) = recorded_source(folder, template, corpus.as_deref()) else {
            continue;
        };
        let Ok(template) = String::from_utf8(fs::read(template).unwrap()) else {
            continue;
        };
        let expected = fs::read_to_string(folder.join("stdout")).unwrap();
        let (variables, report) = vars::list(&[Source::new("t", template)]);
        assert!(report.is_empty(), "{}: {report:?}", record.display());
        let names: String = variables
            .iter()
            .filter(|v| !v.nested)
            .map(|v| format!("  - {}\n", v.name))
            .collect();
        let listed = expected.trim_start_matches("Variables:\n");
        assert_eq!(
            names,
            listed.trim_start_matches('\n'),
            "{}",
            record.display()
        );
        compared += 1;
    }
    assert!(compared > 0, "no recorded list of variables");
}
