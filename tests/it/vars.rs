//! `vars` with the built program, and against what clusterctl lists.

use std::fs;

use serde_json::Value;
use windlass_checks::commands::vars;
use windlass_source::Source;

use crate::support::{files_below, recorded_source, root, run, shared, vectors};

#[test]
fn json_has_every_use_and_faults_are_findings() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.yaml"), "a: ${A}\nb: ${B:=${A}}\n").unwrap();
    fs::write(folder.path().join("u.yaml"), "c: ${C\n").unwrap();
    let output = run(folder.path(), "vars t.yaml u.yaml -o json");
    assert_eq!(output.code, 1);
    let report = output.json();
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
    let text = run(root(), "vars templates -q").ok().stdout;
    assert!(
        text.contains("\nKUBERNETES_VERSION               required\n  templates/cluster-template"),
        "{text}"
    );
    assert!(
        text.contains("\nSERVICE_CIDR                     defaults to \"10.128.0.0/12\"\n"),
        "{text}"
    );
}

/// The report has the facts that the text prints.
#[test]
fn reports_facts_of_variables_as_json() {
    let folder = root().join("tests/cases/vars/lists-variables/in");
    let report = run(&folder, "vars t.yaml u.yaml -o json").ok().json();
    let facts = |variable: &Value| {
        let fields = [
            "name",
            "required",
            "default",
            "nested",
            "setByGenerateCluster",
        ];
        fields.map(|field| variable[field].to_string()).join(" ")
    };
    let variables = report["variables"].as_array().unwrap();
    assert_eq!(
        variables.iter().map(facts).collect::<Vec<_>>(),
        [
            r#""A" true null false false"#,
            r#""B" true "${A}" false false"#,
            r#""C" false "x" false false"#,
            r#""CLUSTER_NAME" true null false true"#,
            r#""K" false null true false"#,
            r#""N" false "${K}" false false"#,
            r#""NAMESPACE" true "q" false true"#,
        ]
    );
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
