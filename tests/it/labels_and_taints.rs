//! `validate`: the bounds of reports on labels, taints and annotations. What is reported is in
//! `tests/cases/validate`.

use crate::support::{Run, run};

fn validate(text: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml"), text).unwrap();
    run(
        folder.path(),
        "validate a.yaml --kubernetes-version v1.34.1",
    )
}

#[test]
fn counts_findings_of_one_string_beyond_the_first_20() {
    for name in ["node-labels", "register-with-taints"] {
        let parts: Vec<String> = (0..45).map(|n| format!("a {n}")).collect();
        let report = validate(&format!(
            "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  joinConfiguration:\n    nodeRegistration:\n      \
             kubeletExtraArgs: [{{name: {name}, value: \"{}\"}}]\n",
            parts.join(",")
        ));
        assert_eq!(
            (report.code, report.stdout.matches("error[").count()),
            (1, 20),
            "{name}: {report:?}"
        );
        assert!(report.stdout.contains("25 more parts of it"), "{report:?}");
    }
}

/// All annotations of an object have at most 256 KiB (`TotalAnnotationSizeLimitB`).
#[test]
fn rejects_large_annotations_at_their_key() {
    let report = validate(&format!(
        "apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDeployment\nmetadata:\n  name: m\n  annotations:\n    b: \"{}\"\nspec:\n  clusterName: c\n  selector: {{}}\n  template:\n    spec:\n      clusterName: c\n      \
         bootstrap: {{dataSecretName: s}}\n      infrastructureRef: {{apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: t}}\n",
        "x".repeat(256 << 10)
    ));
    assert!(
        report.code == 1
            && report.stdout.contains("a.yaml:5:3")
            && report.stdout.contains("at most 256 KiB"),
        "{report:?}"
    );
}
