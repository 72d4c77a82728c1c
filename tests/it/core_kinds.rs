//! `validate` and the objects of Cluster API's core: what their CRDs refuse
//! (`core/config/crd/bases` of Cluster API v1.14).

use std::collections::BTreeSet;
use std::fs;

use windlass::diag::{Diagnostic, Severity};
use windlass::ops::validate;
use windlass::render::{Origins, Pool, Request, Variables};
use windlass::text::source::Source;

use crate::support::{files_below, shared, windlass};

fn run(text: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["validate", "a.yaml"])
        .args(flags)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn object(version: &str, kind: &str, spec: &str) -> String {
    format!(
        "apiVersion: cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n{spec}"
    )
}

const CLUSTER: &str = "  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: cp}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerCluster, name: i}
";
const MACHINE: &str = "      clusterName: c
      bootstrap: {dataSecretName: s}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: t}
";

fn deployment(fields: &str) -> String {
    object(
        "v1beta2",
        "MachineDeployment",
        &format!("  clusterName: c\n  selector: {{}}\n{fields}  template:\n    spec:\n{MACHINE}"),
    )
}

/// Each fault at its line, with one finding; what is right has none.
#[test]
fn unknown_fields_types_bounds_and_missing_fields_are_errors() {
    let sound = deployment("  replicas: 3\n");
    assert_eq!(run(&sound, &[]).0, Some(0), "{}", run(&sound, &[]).1);
    for (text, rule, said) in [
        (
            deployment("  replica: 3\n"),
            "core-field-unknown",
            "a.yaml:7:3",
        ),
        (
            deployment("  replicas: \"3\"\n"),
            "core-value-refused",
            "a.yaml:7:13",
        ),
        (
            deployment("  rollout: {strategy: {type: Sometimes}}\n"),
            "core-value-refused",
            "a.yaml:7:",
        ),
        (
            sound.replace("  clusterName: c\n  sel", "  sel"),
            "core-field-missing",
            "spec.clusterName is missing",
        ),
        (
            sound.replace("clusterName: c\n  sel", "clusterName: \"\"\n  sel"),
            "core-value-refused",
            "a.yaml:5:16",
        ),
    ] {
        let (code, report, _) = run(&text, &[]);
        assert_eq!(code, Some(1), "{text}\n{report}");
        assert!(
            report.contains(&format!("error[{rule}]")) && report.contains(said),
            "{rule} {said}:\n{report}"
        );
        assert_eq!(report.matches("error[").count(), 1, "{report}");
    }
    let (_, near, _) = run(&deployment("  replica: 3\n"), &[]);
    assert!(near.contains("did you mean `replicas`?"), "{near}");
}

#[test]
fn every_kind_of_the_core_is_judged_in_both_versions() {
    for version in ["v1beta1", "v1beta2"] {
        for kind in [
            "Cluster",
            "ClusterClass",
            "Machine",
            "MachineDeployment",
            "MachineSet",
            "MachinePool",
            "MachineHealthCheck",
        ] {
            let (code, report, talk) = run(&object(version, kind, "  noSuchField: 1\n"), &[]);
            assert_eq!(code, Some(1), "{version} {kind}: {report}");
            assert!(
                report.contains("error[core-field-unknown]") && report.contains("a.yaml:5:3"),
                "{version} {kind}: {report}"
            );
            assert!(
                talk.contains("1 cluster object") || report.contains("1 cluster object"),
                "{kind}: {report} {talk}"
            );
        }
    }
}

/// A reference has an apiVersion in v1beta1 and an apiGroup in v1beta2.
#[test]
fn each_version_has_its_own_fields() {
    assert_eq!(
        run(&object("v1beta2", "Cluster", CLUSTER), &[]).0,
        Some(0),
        "{}",
        run(&object("v1beta2", "Cluster", CLUSTER), &[]).1
    );
    let (code, report, _) = run(&object("v1beta1", "Cluster", CLUSTER), &[]);
    assert!(
        code == Some(1)
            && report.contains("error[core-field-unknown]")
            && report.contains("apiGroup"),
        "{report}"
    );
}

/// `!(self in ['Ready', …])` stands in the CRD: rules are evaluated when the schema takes the
/// object.
#[test]
fn rules_of_the_api_are_evaluated() {
    let of = |condition: &str| {
        let checks = format!(
            "  checks: {{unhealthyMachineConditions: [{{type: {condition}, status: Unknown, timeoutSeconds: 300}}]}}\n"
        );
        run(
            &object(
                "v1beta2",
                "MachineHealthCheck",
                &format!("  clusterName: c\n  selector: {{matchLabels: {{a: b}}}}\n{checks}"),
            ),
            &[],
        )
    };
    let (code, report, _) = of("Ready");
    assert!(
        code == Some(1)
            && report.contains("error[core-rule-broken]")
            && report.contains("a.yaml:7:"),
        "{report}"
    );
    assert_eq!(of("MyOwn").0, Some(0), "{}", of("MyOwn").1);
}

/// A release serves the versions that it has: v1.10 none but v1beta1.
#[test]
fn versions_that_are_not_served_are_errors() {
    let (code, report, _) = run(
        &object("v1beta2", "Cluster", CLUSTER),
        &["--capi-version", "v1.10"],
    );
    assert!(
        code == Some(1)
            && report.contains("error[core-version-unknown]")
            && report.contains("a.yaml:1:"),
        "{report}"
    );
    let (code, report, _) = run(&object("v1alpha4", "Cluster", CLUSTER), &[]);
    assert!(
        code == Some(1) && report.contains("error[core-version-unknown]"),
        "{report}"
    );
    assert!(!report.contains("core-field-unknown"), "{report}");
}

/// The API server leaves out what is null, and a status is nobody's who writes a manifest.
#[test]
fn nulls_and_a_status_are_taken() {
    let text = deployment("  replicas: null\n").replace(
        "    spec:\n",
        "    metadata: {creationTimestamp: null, labels: {a: b}}\n    spec:\n",
    );
    let (code, report, _) = run(&format!("{text}status: {{anything: 1}}\n"), &[]);
    assert_eq!(code, Some(0), "{report}");
}

/// A patch lacks most of its object: one warning says so, and what is there is judged.
#[test]
fn a_patch_is_not_judged_for_what_it_lacks() {
    for (kind, spec) in [
        ("MachineDeployment", "  replicas: 1\n"),
        ("MachineHealthCheck", "  remediation: {}\n"),
        ("Cluster", ""),
    ] {
        let text = object("v1beta2", kind, spec)
            .replace("spec:\n", if spec.is_empty() { "" } else { "spec:\n" });
        let (_, report, _) = run(&text, &[]);
        assert_eq!(
            report.matches("warning[core-object-partial]").count(),
            1,
            "{kind}: {report}"
        );
        assert!(!report.contains("core-field-missing"), "{kind}: {report}");
    }
    let (code, report, _) = run(
        &object("v1beta2", "MachineDeployment", "  replica: 1\n"),
        &[],
    );
    assert!(
        code == Some(1) && report.contains("error[core-field-unknown]"),
        "{report}"
    );
}

/// The defaulting webhook writes the selector before the schema is asked.
#[test]
fn a_selector_that_the_webhook_writes_is_not_missing() {
    for (kind, is_missing) in [
        ("MachineDeployment", false),
        ("MachineSet", false),
        ("MachineHealthCheck", true),
    ] {
        let rest = if is_missing {
            "  clusterName: c\n".to_owned()
        } else {
            format!("  clusterName: c\n  template:\n    spec:\n{MACHINE}")
        };
        let (_, report, _) = run(&object("v1beta2", kind, &rest), &[]);
        assert_eq!(
            report.contains("spec.selector is missing"),
            is_missing,
            "{kind}: {report}"
        );
    }
}

/// Objects of the core that people run, with stand-ins for what their variables have. What is a
/// patch lacks fields, and is not looked at for that.
#[test]
fn the_core_objects_of_the_corpus_are_taken() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let (mut judged, mut refused) = (0, Vec::new());
    for path in files_below(&corpus) {
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml");
        let Some(text) = is_yaml.then(|| fs::read_to_string(&path).ok()).flatten() else {
            continue;
        };
        if !text.contains("apiVersion: cluster.x-k8s.io/v1beta")
            || text.len() > 100_000
            || text.contains("$patch")
        {
            continue;
        }
        let name = path
            .strip_prefix(&corpus)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let found = of_core(&name, text);
        judged += 1;
        let told = found.iter().filter(|finding| {
            name.starts_with("rendered-overlays/") || finding.rule.id != "core-field-missing"
        });
        refused.extend(told.map(|finding| format!("{name}: {}", finding.message)));
    }
    assert!(judged >= 100, "{judged}");
    let faulty: BTreeSet<&str> = refused
        .iter()
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(faulty, BTreeSet::from(FAULTY), "{}", refused.join("\n"));
}

/// Files of the corpus that no API server takes: `apiVersion` or `group/version` in references of
/// v1beta2, a field of another object, a number in quotes that kustomize takes away.
const FAULTY: [&str; 5] = [
    "k0sproject+k0smotron/config/samples/capi/capi-controlplane-hetzner.yaml",
    "kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/withclusterclass/kustomize_sources/topology/cluster-template.yaml",
    "rancher+cluster-api-provider-rke2/examples/templates/aws/cluster-template.yaml",
    "rancher+cluster-api-provider-rke2/examples/templates/metal3/cluster-template.yaml",
    "rancher+cluster-api-provider-rke2/test/e2e/data/infrastructure/cluster-template-docker-move.yaml",
];

/// The errors of the rules about objects of the core.
fn of_core(name: &str, text: String) -> Vec<Diagnostic> {
    let request = Request::new();
    let variables = Variables {
        given: &|_| None,
        request: &request,
    };
    let (texts, origins, _) = Origins::substitute(
        vec![Source::new(name.to_owned(), text)],
        variables,
        &request.budget,
    );
    let (pool, _) = Pool::read(&texts, &request.budget);
    let judge = validate::Judged::new(pool, &request);
    let mut rendering = judge.render(&request);
    let report = validate::run(&judge, &request, &mut rendering, true).report;
    let report = windlass::ops::render::settle(&mut rendering, report, &origins).into_findings();
    // What a plan of a topology has told is not told again.
    let is_of_type = |finding: &Diagnostic| {
        finding.rule.id == "topology-cluster-refused" && finding.message.contains("must be of type")
    };
    let is_of_core = |finding: &Diagnostic| {
        finding.rule.id.starts_with("core-")
            || finding.rule.id == "object-metadata-refused"
            || is_of_type(finding)
    };
    report
        .into_iter()
        .filter(|finding| finding.rule.severity == Severity::Error && is_of_core(finding))
        .collect()
}
