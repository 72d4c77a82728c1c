//! `validate` and the objects of Cluster API's core: what their CRDs reject
//! (`core/config/crd/bases` of Cluster API v1.14).

use std::collections::BTreeSet;
use std::fs;

use windlass_bootstrap::render::{FeatureGates, Origins, Pool, Request, Variables};
use windlass_checks::commands::validate;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Severity};

use crate::support::{files_below, shared};

/// Objects of the core that people run, with placeholders for what their variables have. What is a
/// patch lacks fields, and is not looked at for that.
#[test]
fn the_core_objects_of_the_corpus_are_taken() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let (mut judged, mut rejected) = (0, Vec::new());
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
        rejected.extend(told.map(|finding| format!("{name}: {}", finding.message)));
    }
    assert!(judged >= 100, "{judged}");
    let faulty: BTreeSet<&str> = rejected
        .iter()
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(faulty, BTreeSet::from(FAULTY), "{}", rejected.join("\n"));
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
    // A template of the corpus has taints of machines.
    let request = Request {
        feature_gates: FeatureGates {
            ignition: false,
            machine_pool: true,
            machine_taints: true,
        },
        ..Request::new()
    };
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
    let report = windlass_debugging::commands::render::settle(&mut rendering, report, &origins)
        .into_findings();
    // What a plan of a topology has told is not told again.
    let is_of_type = |finding: &Diagnostic| {
        finding.rule.id == "topology-cluster-rejected"
            && finding.message.contains("must be of type")
    };
    let is_of_core = |finding: &Diagnostic| {
        finding.rule.id.starts_with("core-")
            || finding.rule.id == "object-metadata-rejected"
            || is_of_type(finding)
    };
    report
        .into_iter()
        .filter(|finding| finding.rule.severity == Severity::Error && is_of_core(finding))
        .collect()
}
