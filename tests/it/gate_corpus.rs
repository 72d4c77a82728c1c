//! What the rules about CRDs find in components that providers built and published: each finding
//! was checked by itself against the contract, the API server and the code of the core.

use std::path::Path;

use windlass_checks::commands::lint::{self, Form, Request};
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::{files_below, shared};

/// Rule, and object without `CustomResourceDefinition/`; of groups ending in `cluster.x-k8s.io`
/// that ending is left out too.
type Expected = &'static [(&'static str, &'static str)];

/// Files below `rendered` and `published`. A file that is not here raises nothing.
const JUDGED: &[(&str, Expected)] = &[
    (
        "rendered/k0sproject+k0smotron/bootstrap-components.yaml",
        &[
            // Has the annotation of cert-manager and no webhook: v1beta1 and v1beta2 were given
            // other fields, and lose each other's.
            (
                "crd-conversion-missing",
                "k0sworkerconfigtemplates.bootstrap",
            ),
            // Only K0sControlPlane makes it; the contract demands the template all the same.
            (
                "crd-template-kind-missing",
                "k0scontrollerconfigs.bootstrap",
            ),
        ],
    ),
    (
        "rendered/k0sproject+k0smotron@v1.9.0/bootstrap-components.yaml",
        &[(
            "crd-template-kind-missing",
            "k0scontrollerconfigs.bootstrap",
        )],
    ),
    (
        "rendered/k3s-io+cluster-api-k3s/control-plane-components.yaml",
        &[
            // v1beta1 has `spec.version` and no `status.version`; the core takes v1beta2.
            (
                "crd-contract-incomplete",
                "kthreescontrolplanes.controlplane",
            ),
            // One label for all CRDs, and the template came with v1beta2.
            (
                "crd-contract-label-version-stale",
                "kthreescontrolplanetemplates.controlplane",
            ),
        ],
    ),
    (
        "rendered/k3s-io+cluster-api-k3s@v0.2.1/control-plane-components.yaml",
        &[
            (
                "crd-contract-incomplete",
                "kthreescontrolplanes.controlplane",
            ),
            (
                "crd-contract-label-version-stale",
                "kthreescontrolplanetemplates.controlplane",
            ),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api-ipam-provider-in-cluster/ipam-components.yaml",
        &[
            // A webhook on the only version, without the annotation that the other pools have.
            (
                "crd-conversion-ca-missing",
                "globalinclusterprefixpools.ipam",
            ),
            ("crd-conversion-ca-missing", "inclusterprefixpools.ipam"),
            ("crd-conversion-needless", "globalinclusterprefixpools.ipam"),
            ("crd-conversion-needless", "inclusterprefixpools.ipam"),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api-provider-azure/infrastructure-components.capz-part.yaml",
        &[
            // AzureMachinePool has no template (the issue that asks for one was closed as rotten);
            // the other pools have.
            (
                "crd-class-template-missing",
                "azuremachinepools.infrastructure",
            ),
            // v1beta1 alone, after the alpha versions went.
            (
                "crd-conversion-needless",
                "azureclusteridentities.infrastructure",
            ),
            ("crd-conversion-needless", "azureclusters.infrastructure"),
            (
                "crd-conversion-needless",
                "azureclustertemplates.infrastructure",
            ),
            (
                "crd-conversion-needless",
                "azuremachinepoolmachines.infrastructure",
            ),
            (
                "crd-conversion-needless",
                "azuremachinepools.infrastructure",
            ),
            ("crd-conversion-needless", "azuremachines.infrastructure"),
            (
                "crd-conversion-needless",
                "azuremachinetemplates.infrastructure",
            ),
            // v1alpha1 is served, with the same schema as v1beta1, and in no label.
            (
                "crd-version-unlabelled",
                "azureasomanagedclusters.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azureasomanagedclustertemplates.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azureasomanagedcontrolplanes.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azureasomanagedcontrolplanetemplates.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azureasomanagedmachinepools.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azureasomanagedmachinepooltemplates.infrastructure",
            ),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api-provider-azure@v1.0.0-rc.0/infrastructure-components.yaml",
        &[
            // Before the provider supported ClusterClasses.
            ("crd-class-template-missing", "azureclusters.infrastructure"),
            (
                "crd-class-template-missing",
                "azuremachinepools.infrastructure",
            ),
            (
                "crd-class-template-missing",
                "azuremanagedclusters.infrastructure",
            ),
            (
                "crd-class-template-missing",
                "azuremanagedcontrolplanes.infrastructure",
            ),
            (
                "crd-class-template-missing",
                "azuremanagedmachinepools.infrastructure",
            ),
            // `spec.version` without `status.version`; without a template it hurts no
            // ClusterClass.
            (
                "crd-contract-incomplete",
                "azuremanagedcontrolplanes.infrastructure",
            ),
            // v1alpha3 lacks fields of v1beta1, and the kinds of AKS got no webhook.
            (
                "crd-conversion-missing",
                "azuremanagedcontrolplanes.infrastructure",
            ),
            (
                "crd-conversion-missing",
                "azuremanagedmachinepools.infrastructure",
            ),
            // v1alpha3 and v1alpha4 were served on, and their labels were gone.
            ("crd-version-unlabelled", "azureclusters.infrastructure"),
            (
                "crd-version-unlabelled",
                "azuremachinepoolmachines.infrastructure",
            ),
            ("crd-version-unlabelled", "azuremachinepools.infrastructure"),
            ("crd-version-unlabelled", "azuremachines.infrastructure"),
            (
                "crd-version-unlabelled",
                "azuremachinetemplates.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azuremanagedclusters.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azuremanagedcontrolplanes.infrastructure",
            ),
            (
                "crd-version-unlabelled",
                "azuremanagedmachinepools.infrastructure",
            ),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api/infrastructure-components-development.yaml",
        &[
            // The page demands `status.initialization.provisioned`; the controller of pools reads
            // `status.ready` up to v1.14.
            ("crd-contract-incomplete", "devmachinepools.infrastructure"),
            // The kinds came with v1beta2; the labels are those of all CRDs.
            (
                "crd-contract-label-version-stale",
                "devmachinepools.infrastructure",
            ),
            (
                "crd-contract-label-version-stale",
                "devmachinepooltemplates.infrastructure",
            ),
            ("crd-conversion-needless", "devmachinepools.infrastructure"),
            (
                "crd-conversion-needless",
                "devmachinepooltemplates.infrastructure",
            ),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api@v1.10.10/core-components.yaml",
        &[
            // v1alpha1 is served beside v1beta1, has no `spec.clusterName`, and the CRD has no
            // webhook: who writes a claim back in v1alpha1 takes it away. v1.12 has
            // the webhook.
            ("crd-conversion-missing", "ipaddressclaims.ipam"),
            (
                "crd-conversion-needless",
                "machinedrainrules.cluster.x-k8s.io",
            ),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api@v1.10.10/infrastructure-components-development.yaml",
        &[
            ("crd-conversion-needless", "devclusters.infrastructure"),
            (
                "crd-conversion-needless",
                "devclustertemplates.infrastructure",
            ),
            ("crd-conversion-needless", "devmachines.infrastructure"),
            (
                "crd-conversion-needless",
                "devmachinetemplates.infrastructure",
            ),
            (
                "crd-conversion-needless",
                "dockermachinepooltemplates.infrastructure",
            ),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api@v1.12.0/infrastructure-components-development.yaml",
        &[(
            "crd-contract-incomplete",
            "dockermachinepools.infrastructure",
        )],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api@v1.14.0/infrastructure-components-development.yaml",
        &[
            ("crd-contract-incomplete", "devmachinepools.infrastructure"),
            (
                "crd-contract-incomplete",
                "dockermachinepools.infrastructure",
            ),
            (
                "crd-contract-label-version-stale",
                "devmachinepools.infrastructure",
            ),
            (
                "crd-contract-label-version-stale",
                "devmachinepooltemplates.infrastructure",
            ),
            ("crd-conversion-needless", "devmachinepools.infrastructure"),
            (
                "crd-conversion-needless",
                "devmachinepooltemplates.infrastructure",
            ),
        ],
    ),
    (
        "rendered/kubernetes-sigs+cluster-api@v1.6.8/bootstrap-components.yaml",
        &[
            // The label of contract v1alpha4 was left when v1alpha4 was served no more.
            (
                "crd-contract-label-version-stale",
                "kubeadmconfigs.bootstrap",
            ),
            (
                "crd-contract-label-version-stale",
                "kubeadmconfigtemplates.bootstrap",
            ),
        ],
    ),
    (
        "rendered/metal3-io+cluster-api-provider-metal3/infrastructure-components.yaml",
        // The annotation of cert-manager and no webhook: `spec.template.metadata` and
        // `failureDomains` do not survive v1beta1.
        &[(
            "crd-conversion-missing",
            "metal3clustertemplates.infrastructure",
        )],
    ),
    (
        "rendered/metal3-io+cluster-api-provider-metal3@v1.10.5/infrastructure-components.yaml",
        &[
            ("crd-conversion-needless", "metal3clusters.infrastructure"),
            ("crd-conversion-needless", "metal3dataclaims.infrastructure"),
            ("crd-conversion-needless", "metal3datas.infrastructure"),
            (
                "crd-conversion-needless",
                "metal3datatemplates.infrastructure",
            ),
            ("crd-conversion-needless", "metal3machines.infrastructure"),
            (
                "crd-conversion-needless",
                "metal3machinetemplates.infrastructure",
            ),
            (
                "crd-conversion-needless",
                "metal3remediations.infrastructure",
            ),
            (
                "crd-conversion-needless",
                "metal3remediationtemplates.infrastructure",
            ),
        ],
    ),
    (
        "rendered/rancher+cluster-api-provider-rke2/bootstrap-components.yaml",
        // The label of contract v1beta2 names v1beta1, which has neither its fields nor its
        // conditions. The core takes v1beta2.
        &[("crd-contract-incomplete", "rke2configs.bootstrap")],
    ),
    (
        "rendered/rancher+cluster-api-provider-rke2/control-plane-components.yaml",
        &[
            // v1beta1 as above; v1beta2 lacks the selector.
            ("crd-contract-incomplete", "rke2controlplanes.controlplane"),
            ("crd-contract-incomplete", "rke2controlplanes.controlplane"),
            // Both versions have replicas.
            (
                "crd-scale-subresource-missing",
                "rke2controlplanes.controlplane",
            ),
            (
                "crd-scale-subresource-missing",
                "rke2controlplanes.controlplane",
            ),
        ],
    ),
    (
        "published/k0sproject+k0smotron@v0.4.2/install.yaml",
        &[
            // `spec.replicas` without counters, selector and subresource.
            (
                "crd-contract-incomplete",
                "k0smotroncontrolplanes.controlplane",
            ),
            (
                "crd-scale-subresource-missing",
                "k0smotroncontrolplanes.controlplane",
            ),
        ],
    ),
];

/// Files that no name tells to be components, checked as such. Of the sources among them nothing is
/// told that kustomize adds.
const COMPONENTS: &[(&str, Expected)] = &[
    (
        "published/k0sproject+k0smotron@v0.4.2/install.yaml",
        &[
            (
                "crd-class-template-missing",
                "k0smotroncontrolplanes.controlplane",
            ),
            (
                "crd-contract-incomplete",
                "k0smotroncontrolplanes.controlplane",
            ),
            (
                "crd-scale-subresource-missing",
                "k0smotroncontrolplanes.controlplane",
            ),
        ],
    ),
    (
        "k0sproject+k0smotron/config/clusterapi/controlplane/crd/bases/controlplane.cluster.x-k8s.io_k0scontrolplanetemplates.yaml",
        // No kustomization patches a webhook in.
        &[(
            "crd-conversion-missing",
            "k0scontrolplanetemplates.controlplane",
        )],
    ),
    (
        "k0sproject+k0smotron/config/clusterapi/controlplane/crd/bases/controlplane.cluster.x-k8s.io_k0smotroncontrolplanetemplates.yaml",
        &[(
            "crd-conversion-missing",
            "k0smotroncontrolplanetemplates.controlplane",
        )],
    ),
];

/// What the rules of the catalogue about CRDs (R01 to R24, M07) find in a file.
fn found(corpus: &Path, path: &str, form: Option<Form>) -> Vec<(&'static str, String)> {
    let source = Source::new(path, std::fs::read_to_string(corpus.join(path)).unwrap());
    let report = lint::run(&Request {
        sources: &[source],
        charts: &windlass_checks::charts::Charts::new(),
        form,
        contract: None,
        roles: &Default::default(),
        budget: &Budget::default(),
    })
    .report;
    let judged = |number: &str| number.starts_with('R') || number == "M07";
    let findings = report
        .findings()
        .iter()
        .filter(|finding| finding.rule.catalogue.is_some_and(judged));
    let object = |title: &str| {
        let name = title.trim_start_matches("CustomResourceDefinition/");
        name.strip_suffix(".cluster.x-k8s.io")
            .filter(|name| name.contains('.'))
            .unwrap_or(name)
            .to_owned()
    };
    let mut found: Vec<_> = findings
        .map(|finding| {
            (
                finding.rule.id,
                object(finding.place.object.as_deref().unwrap_or_default()),
            )
        })
        .collect();
    found.sort();
    found
}

fn sorted(expected: Expected) -> Vec<(&'static str, String)> {
    let mut expected: Vec<_> = expected
        .iter()
        .map(|(rule, object)| (*rule, (*object).to_owned()))
        .collect();
    expected.sort();
    expected
}

#[test]
fn rules_about_crds_find_what_was_judged() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let (mut files, mut wrong) = (0, Vec::new());
    for folder in ["rendered", "published"] {
        for file in files_below(&corpus.join(folder)) {
            let path = file.strip_prefix(&corpus).unwrap().to_str().unwrap();
            let expected = JUDGED
                .iter()
                .find(|(judged, _)| *judged == path)
                .map_or(&[][..], |(_, expected)| expected);
            let found = found(&corpus, path, None);
            if found != sorted(expected) {
                wrong.push(format!("{path}: {found:#?}"));
            }
            files += usize::from(!expected.is_empty());
        }
    }
    assert!(
        wrong.is_empty(),
        "check these findings, and correct the rule or the list:\n{}",
        wrong.join("\n")
    );
    assert_eq!(files, JUDGED.len(), "every file of the list is there");
}

#[test]
fn rules_about_crds_find_what_components_lack() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    for (path, expected) in COMPONENTS {
        assert_eq!(
            found(&corpus, path, Some(Form::Components)),
            sorted(expected),
            "{path}"
        );
    }
}

/// In sources nothing is told that kustomize may still add; what is wrong in a schema is.
/// K0sControlPlane keeps the reference to its machines where contract v1beta1 has it; its authors
/// found it themselves (k0smotron #1473).
#[test]
fn sources_are_judged_for_what_they_are() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let folder = "k0sproject+k0smotron/config/clusterapi/controlplane/crd/bases";
    let files = files_below(&corpus.join(folder));
    let read = |file: &std::path::PathBuf| {
        Source::new(
            file.to_str().unwrap(),
            std::fs::read_to_string(file).unwrap(),
        )
    };
    let sources: Vec<Source> = files.iter().map(read).collect();
    let report = lint::run(&Request {
        sources: &sources,
        charts: &windlass_checks::charts::Charts::new(),
        form: None,
        contract: None,
        roles: &Default::default(),
        budget: &Budget::default(),
    })
    .report;
    let told: Vec<_> = report
        .findings()
        .iter()
        .filter(|finding| finding.rule.id.starts_with("crd-"))
        .map(|finding| finding.rule.id)
        .collect();
    assert_eq!(
        (sources.len(), told),
        (4, vec!["crd-contract-field-missing"])
    );
}
