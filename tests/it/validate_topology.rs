//! `validate` of Clusters with a topology: each fault is told once, whoever else sees it, and the
//! line at the end says what was judged.

use serde_json::Value;

use crate::support::{root, windlass};

/// What is changed of the example, the findings as `SEVERITY RULE` with a text of the line at which
/// each stands, and how many machines there are.
type Case = (
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
    usize,
);

const CASES: &[Case] = &[
    (&[], &[], 3),
    // In what a patch writes, and in what it takes away.
    (
        &[(
            "            content: \"vm.nr",
            "            contnt: \"vm.nr",
        )],
        &[("error config-field-unknown", "template: |")],
        3,
    ),
    // In the template that two machines share.
    (
        &[(
            "        clusterConfiguration: {}",
            "        filez: []\n        clusterConfiguration: {}",
        )],
        &[("error config-field-unknown", "filez: []")],
        3,
    ),
    // In the values of variables, in the class, in the Cluster.
    (
        &[("value: 1024", "value: -1")],
        &[("error topology-variable-refused", "value: -1")],
        0,
    ),
    (
        &[("path: /spec/template/spec/files/-", "path: spec/files")],
        &[("error topology-class-refused", "path: spec/files")],
        0,
    ),
    (
        &[("controlPlane: {replicas: 3}", "controlPlane: {replica: 3}")],
        &[("error core-field-unknown", "replica: 3")],
        3,
    ),
    (
        &[("version: v1.36.0", "version: v1.36")],
        &[("error topology-cluster-refused", "version: v1.36")],
        0,
    ),
    (
        &[
            ("  name: pier\n", "  name: pier\n  labels: {\"a b\": c}\n"),
            ("replicas: 3", "replicas: -1"),
        ],
        &[
            ("error object-metadata-refused", "\"a b\""),
            ("error config-admission-refused", "replicas: -1"),
        ],
        3,
    ),
    // What an extension makes cannot be judged, and all else is.
    (
        &[(
            "  patches:\n",
            "  patches:\n  - name: other\n    external: {generatePatchesExtension: generate.example}\n",
        )],
        &[("error topology-patch-external", "external:")],
        3,
    ),
];

#[test]
fn faults_of_a_topology_are_told_once() {
    let example = std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap();
    for (changes, expected, machines) in CASES {
        let mut text = example.clone();
        for (from, to) in *changes {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.yaml"), &text).unwrap();
        let run = |flags: &[&str]| {
            let output = windlass(folder.path())
                .args(["validate", "a.yaml"])
                .args(flags)
                .output()
                .unwrap();
            (
                output.status.code(),
                String::from_utf8(output.stdout).unwrap(),
            )
        };
        let (code, report) = run(&["-o", "json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        let words = |value: &Value| value.as_str().unwrap().to_owned();
        let told = |finding: &Value| {
            (
                format!(
                    "{} {}",
                    words(&finding["severity"]),
                    words(&finding["rule"])
                ),
                finding["line"].as_u64(),
            )
        };
        let line = |what: &str| text[..text.find(what).unwrap()].matches('\n').count() as u64 + 1;
        let found: Vec<_> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(told)
            .collect();
        assert_eq!(
            found,
            expected
                .iter()
                .map(|(told, at)| ((*told).to_owned(), Some(line(at))))
                .collect::<Vec<_>>()
        );
        assert_eq!(
            (code, report["machines"].as_array().unwrap().len()),
            (Some(i32::from(!expected.is_empty())), *machines)
        );

        let judged = if *machines == 0 {
            String::new()
        } else {
            format!("{machines} machine kinds, ")
        };
        let errors = match expected.len() {
            0 => String::new(),
            1 => "; 1 error".to_owned(),
            more => format!("; {more} errors"),
        };
        let last = format!("{judged}2 cluster objects, 2 other objects not judged{errors}\n");
        let (_, text) = run(&[]);
        assert_eq!(
            text.split_inclusive('\n').next_back(),
            Some(last.as_str()),
            "{text}"
        );
    }
}
