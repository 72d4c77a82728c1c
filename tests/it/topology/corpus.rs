//! Every ClusterClass of the corpus is planned, with a Cluster that uses it, or rejected in words
//! that stand here.

#[path = "../../topology/classes.rs"]
mod classes;

use std::collections::BTreeSet;
use std::path::PathBuf;

use classes::Use;
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Severity};
use windlass_topology::commands::topology;

use crate::support::{files_below, shared};

/// Whose uses are rejected: a part of the class's file and name, the rule, and what Cluster API or
/// the API server says of it.
const REJECTED: &[(&str, &str, &str)] = &[
    // Made by a runtime extension.
    (
        "infrastructure-docker/main/clusterclass-in-memory.yaml",
        "topology-patch-external",
        EXTERNAL,
    ),
    (
        "clusterclass-quick-start-runtimesdk.yaml",
        "topology-patch-external",
        EXTERNAL,
    ),
    (
        "clusterclass-quick-start-runtimesdk-v1beta1.yaml",
        "topology-patch-external",
        EXTERNAL,
    ),
    // The template has no bastion whose field could be replaced.
    (
        "cluster-template-multitenancy-clusterclass.yaml",
        "topology-patch-fails",
        "replace operation does not apply: doc is missing path: /spec/template/spec/bastion/enabled: missing value",
    ),
    // Kustomize's patches for classes are none.
    (
        "prow-clusterclass-ci-default/patches.yaml",
        "topology-class-rejected",
        UNDEFINED,
    ),
    (
        "prow-clusterclass-ci-default/variables.yaml",
        "topology-class-rejected",
        UNDEFINED,
    ),
    (
        "prow-clusterclass-ci-rke2/patches.yaml",
        "topology-class-rejected",
        UNDEFINED,
    ),
    (
        "prow-clusterclass-ci-rke2/variables.yaml",
        "topology-class-rejected",
        UNDEFINED,
    ),
    // A variable that does not say whether it has to be set.
    (
        "#test-clusterclass",
        "topology-class-rejected",
        "spec.variables[3].required: Required value",
    ),
    // The Cluster is for a class with more variables.
    (
        "clusterclass-template-docker.yaml#class-name with the Cluster of rancher",
        "topology-variable-rejected",
        "spec.topology.variables[files]: Invalid value: \"[]\": variable is not defined",
    ),
    // A number in quotes.
    (
        "clusterclass-ci-default.yaml#ci-default with the Cluster of kubernetes-sigs",
        "topology-cluster-rejected",
        QUOTED,
    ),
    // The provider's webhook fills in what the patch replaces.
    (
        "clusterclass-ci-default.yaml#ci-default with the Cluster of this test",
        "topology-patch-fails",
        UNFILLED,
    ),
];
const EXTERNAL: &str = "spec.patches[0].external: Forbidden: patch.external can be used only if the RuntimeSDK feature flag is enabled";
const QUOTED: &str = "spec.topology.workers.machineDeployments[0].replicas in body must be of type integer: \"string\"";
const UNFILLED: &str = "doc is missing path: /spec/template/spec/network/vpc/availabilityZoneUsageLimit: missing value";
const UNDEFINED: &str =
    "spec.infrastructure.ref.name: Required value: template name must be defined";

/// What a plan says of a use.
fn judged(one: &Use) -> (usize, Vec<Diagnostic>) {
    // Each object as if it were a file.
    let sources: Vec<Source> = one
        .objects
        .iter()
        .map(|(file, object)| Source::new(file.as_str(), object.to_string()))
        .collect();
    let (pool, report) = Pool::read(&sources, &Budget::default());
    assert!(!report.has_errors(), "{}: {report:?}", one.class);
    let planned = topology::plan(&pool, None, false, &Budget::default());
    let findings = planned.report.into_findings();
    if findings
        .iter()
        .any(|finding| finding.rule.id == "topology-patch-external")
    {
        let rest = topology::plan(&pool, None, true, &Budget::default());
        // A later patch may need what the extension makes.
        let needs_it = rest
            .report
            .findings()
            .iter()
            .any(|finding| finding.rule.id == "topology-patch-fails");
        assert!(
            rest.objects.len() >= 3 || needs_it,
            "{}: without what extensions make: {:?}",
            one.class,
            rest.report
        );
    }
    (planned.objects.len(), findings)
}

/// The errors of a use; each stands in a file of the use and says what to do.
fn rejections(one: &Use, findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let errors: Vec<Diagnostic> = findings
        .into_iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
        .collect();
    for error in &errors {
        let is_in_a_file = one
            .objects
            .iter()
            .any(|(file, _)| error.place.file.as_deref() == Some(file));
        assert!(
            is_in_a_file && error.place.span.is_some() && error.help.is_some(),
            "{}: {error:?}",
            one.class
        );
    }
    errors
}

#[test]
fn every_class_of_the_corpus_is_planned_or_rejected_with_a_reason() {
    let Some(root) = shared("corpus") else { return };
    let is_yaml = |path: &PathBuf| {
        path.extension()
            .is_some_and(|end| end == "yaml" || end == "yml")
    };
    let uses = classes::uses(
        &root,
        &files_below(&root)
            .into_iter()
            .filter(is_yaml)
            .collect::<Vec<_>>(),
    );
    let (mut planned, mut rejected, mut failures, mut used) = (0, 0, Vec::new(), BTreeSet::new());
    for one in &uses {
        let title = format!(
            "{} with the Cluster of {}",
            one.class,
            one.cluster.as_deref().unwrap_or("this test")
        );
        let (objects, findings) = judged(one);
        let errors = rejections(one, findings);
        let said: Vec<(&str, &str)> = errors
            .iter()
            .map(|error| {
                (
                    error.rule.id,
                    error.upstream.as_deref().unwrap_or(&error.message),
                )
            })
            .collect();
        let expected = REJECTED
            .iter()
            .position(|(class, _, _)| title.contains(class));
        match (errors.is_empty(), expected) {
            (true, None) if objects >= 3 => planned += 1,
            (true, None) => failures.push(format!(
                "{title}: neither planned nor rejected: {objects} objects"
            )),
            (true, Some(_)) => {
                failures.push(format!("{title}: is planned now: take it off the list"))
            }
            (false, Some(at))
                if said.iter().any(|(rule, words)| {
                    *rule == REJECTED[at].1 && words.contains(REJECTED[at].2)
                }) =>
            {
                used.insert(at);
                rejected += 1;
            }
            (false, _) => failures.push(format!("{title}: rejected: {:?}", said.first())),
        }
    }
    let classes: BTreeSet<&str> = uses.iter().map(|one| one.class.as_str()).collect();
    assert_eq!(
        uses.iter().map(|one| one.missing).sum::<usize>(),
        0,
        "the corpus has all templates of its classes"
    );
    println!(
        "{} classes, {} uses: {planned} planned, {rejected} rejected",
        classes.len(),
        uses.len()
    );
    failures.extend(
        (0..REJECTED.len())
            .filter(|at| !used.contains(at))
            .map(|at| format!("nothing is rejected so: {:?}", REJECTED[at])),
    );
    assert!(
        failures.is_empty(),
        "{} of {} uses:\n{}",
        failures.len(),
        uses.len(),
        failures.join("\n")
    );
    assert!(
        classes.len() >= 46,
        "the corpus has become smaller: {}",
        classes.len()
    );
}
