//! What the rules about components say of what providers have published and built: the list was
//! checked finding by finding.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use windlass_checks::commands::lint::{self, Request};
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::{files_below, shared};

/// The numbers, in the catalogue, of the rules that are checked here.
const NUMBERS: &[&str] = &[
    "A05", "A07", "C04", "C05", "C06", "C08", "C09", "C10", "C11", "C12", "C13", "C14", "C15",
    "C16", "C17", "C18", "C19", "C20", "C21", "C22",
];

/// What those rules find in some files of the corpus that are checked together: `RULE FILE OBJECT`.
fn found(corpus: &Path, files: &[PathBuf]) -> BTreeSet<String> {
    let name = |file: &Path| {
        file.strip_prefix(corpus)
            .unwrap()
            .to_string_lossy()
            .into_owned()
    };
    let sources: Vec<Source> = files
        .iter()
        .map(|file| Source::new(name(file).as_str(), std::fs::read_to_string(file).unwrap()))
        .collect();
    let report = lint::run(&Request {
        sources: &sources,
        charts: &windlass_checks::charts::Charts::new(),
        form: None,
        contract: None,
        roles: &Default::default(),
        budget: &Budget::default(),
    })
    .report;
    let judged = report.findings().iter().filter(|finding| {
        finding
            .rule
            .catalogue
            .is_some_and(|number| NUMBERS.contains(&number))
    });
    let line = |finding: &windlass_source::diag::Diagnostic| {
        let place = &finding.place;
        format!(
            "{} {} {}",
            finding.rule.id,
            place.file.as_deref().unwrap_or_default(),
            place.object.as_deref().unwrap_or_default()
        )
    };
    judged.map(line).collect()
}

/// Built from sources, whose images are those of development: right for a source tree, wrong for a
/// release.
const UNRELEASED: &[(&str, &str)] = &[
    (
        "k3s-io+cluster-api-k3s/bootstrap-components.yaml",
        "capi-k3s-bootstrap-controller-manager",
    ),
    (
        "k3s-io+cluster-api-k3s/control-plane-components.yaml",
        "capi-k3s-control-plane-controller-manager",
    ),
    (
        "k3s-io+cluster-api-k3s@v0.2.1/control-plane-components.yaml",
        "capi-k3s-control-plane-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api/infrastructure-components-development.yaml",
        "capd-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api/runtime-extension-components-development.yaml",
        "test-extension-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api-ipam-provider-in-cluster/ipam-components.yaml",
        "capi-ipam-in-cluster-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api-ipam-provider-in-cluster@v1.0.3/ipam-components.yaml",
        "capi-ipam-in-cluster-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api-provider-azure/infrastructure-components.capz-part.yaml",
        "capz-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api-provider-azure@v1.0.0-rc.0/infrastructure-components.yaml",
        "capz-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api-provider-vsphere/infrastructure-components.yaml",
        "capv-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.10.10/bootstrap-components.yaml",
        "capi-kubeadm-bootstrap-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.10.10/control-plane-components.yaml",
        "capi-kubeadm-control-plane-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.10.10/core-components.yaml",
        "capi-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.10.10/infrastructure-components-development.yaml",
        "capd-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.12.0/bootstrap-components.yaml",
        "capi-kubeadm-bootstrap-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.12.0/control-plane-components.yaml",
        "capi-kubeadm-control-plane-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.12.0/core-components.yaml",
        "capi-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.12.0/infrastructure-components-development.yaml",
        "capd-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.14.0/bootstrap-components.yaml",
        "capi-kubeadm-bootstrap-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.14.0/control-plane-components.yaml",
        "capi-kubeadm-control-plane-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.14.0/core-components.yaml",
        "capi-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.14.0/infrastructure-components-development.yaml",
        "capd-controller-manager",
    ),
    (
        "kubernetes-sigs+cluster-api@v1.6.8/bootstrap-components.yaml",
        "capi-kubeadm-bootstrap-controller-manager",
    ),
    (
        "metal3-io+cluster-api-provider-metal3/infrastructure-components.yaml",
        "capm3-controller-manager",
    ),
    (
        "metal3-io+cluster-api-provider-metal3@v1.10.5/infrastructure-components.yaml",
        "capm3-controller-manager",
    ),
    (
        "rancher+cluster-api-provider-rke2/bootstrap-components.yaml",
        "rke2-bootstrap-controller-manager",
    ),
    (
        "rancher+cluster-api-provider-rke2/control-plane-components.yaml",
        "rke2-control-plane-controller-manager",
    ),
    (
        "rancher+cluster-api-provider-rke2@v0.21.1/bootstrap-components.yaml",
        "rke2-bootstrap-controller-manager",
    ),
];

/// Everything else: rule, file, object, all of them faults.
const FAULTS: &[(&str, &str, &str)] = &[
    // Its label is `k0sproject-k0smotron`, without the type.
    (
        "components-provider-label-wrong",
        "rendered/k0sproject+k0smotron/bootstrap-components.yaml",
        "Namespace/k0smotron",
    ),
    // The CRDs alone are labelled.
    (
        "components-provider-label-missing",
        "rendered/k0sproject+k0smotron@v1.9.0/bootstrap-components.yaml",
        "Namespace/k0smotron",
    ),
    // The port `https` went with kube-rbac-proxy, the Service for metrics stayed.
    (
        "components-service-unreachable",
        "rendered/k0sproject+k0smotron@v1.9.0/bootstrap-components.yaml",
        "Service/k0smotron-controller-manager-metrics-service-bootstrap",
    ),
    (
        "components-service-unreachable",
        "rendered/kubernetes-sigs+cluster-api-ipam-provider-in-cluster/ipam-components.yaml",
        "Service/capi-ipam-in-cluster-controller-manager-metrics-service",
    ),
    (
        "components-service-unreachable",
        "rendered/kubernetes-sigs+cluster-api-ipam-provider-in-cluster@v1.0.3/ipam-components.yaml",
        "Service/capi-ipam-in-cluster-controller-manager-metrics-service",
    ),
    // No account of its own, a proxy that is no longer needed, and at v0.2.1 one that cannot be
    // pulled, beside a manager that may be root.
    (
        "components-account-default",
        "rendered/k3s-io+cluster-api-k3s/bootstrap-components.yaml",
        "RoleBinding/capi-k3s-bootstrap-leader-election-rolebinding",
    ),
    (
        "components-account-default",
        "rendered/k3s-io+cluster-api-k3s/control-plane-components.yaml",
        "RoleBinding/capi-k3s-control-plane-leader-election-rolebinding",
    ),
    (
        "components-account-default",
        "rendered/k3s-io+cluster-api-k3s@v0.2.1/control-plane-components.yaml",
        "RoleBinding/capi-k3s-control-plane-leader-election-rolebinding",
    ),
    (
        "components-metrics-proxy-present",
        "rendered/k3s-io+cluster-api-k3s/bootstrap-components.yaml",
        "Deployment/capi-k3s-bootstrap-controller-manager",
    ),
    (
        "components-metrics-proxy-present",
        "rendered/k3s-io+cluster-api-k3s/control-plane-components.yaml",
        "Deployment/capi-k3s-control-plane-controller-manager",
    ),
    (
        "components-metrics-proxy-present",
        "rendered/k3s-io+cluster-api-k3s@v0.2.1/control-plane-components.yaml",
        "Deployment/capi-k3s-control-plane-controller-manager",
    ),
    (
        "components-image-registry-gone",
        "rendered/k3s-io+cluster-api-k3s@v0.2.1/control-plane-components.yaml",
        "Deployment/capi-k3s-control-plane-controller-manager",
    ),
    (
        "components-manager-root",
        "rendered/k3s-io+cluster-api-k3s@v0.2.1/control-plane-components.yaml",
        "Deployment/capi-k3s-control-plane-controller-manager",
    ),
    (
        "components-image-registry-gone",
        "published/k0sproject+k0smotron@v0.4.2/install.yaml",
        "Deployment/k0smotron-controller-manager",
    ),
    (
        "components-metrics-proxy-present",
        "published/k0sproject+k0smotron@v0.4.2/install.yaml",
        "Deployment/k0smotron-controller-manager",
    ),
    // It binds the account of the kubeadm provider, in a namespace `system` that clusterctl
    // replaces by its own.
    (
        "components-binding-link-missing",
        "rendered/kubernetes-sigs+cluster-api-provider-azure/infrastructure-components.capz-part.yaml",
        "ClusterRoleBinding/capz-kubeadm-bootstrap-managed-control-plane-reader-rolebinding",
    ),
    // Node-managed identity: without it no machine gets its identity, and clusterctl does not see
    // that it fails.
    (
        "components-workload-unawaited",
        "rendered/kubernetes-sigs+cluster-api-provider-azure@v1.0.0-rc.0/infrastructure-components.yaml",
        "DaemonSet/capz-nmi",
    ),
    (
        "components-manager-root",
        "rendered/kubernetes-sigs+cluster-api-provider-azure@v1.0.0-rc.0/infrastructure-components.yaml",
        "Deployment/capz-controller-manager",
    ),
];

#[test]
fn components_of_real_providers_are_told_what_is_wrong() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let is_yaml = |file: &PathBuf| {
        file.extension()
            .is_some_and(|extension| extension == "yaml")
    };
    let files = ["published", "rendered"]
        .into_iter()
        .flat_map(|folder| files_below(&corpus.join(folder)))
        .filter(is_yaml);
    let files: Vec<PathBuf> = files.collect();
    assert!(files.len() > 35, "{}", files.len());
    let unreleased = UNRELEASED.iter().map(|(file, name)| {
        format!("components-image-unreleased rendered/{file} Deployment/{name}")
    });
    let expected: BTreeSet<String> = FAULTS
        .iter()
        .map(|(rule, file, object)| format!("{rule} {file} {object}"))
        .chain(unreleased)
        .collect();
    assert_eq!(found(&corpus, &files), expected);
}

/// Sources of kustomize, of which the rest is elsewhere.
#[test]
fn sources_of_real_providers_are_told_what_is_wrong() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let check = |folder: &str, expected: &[&str]| {
        let files = files_below(&corpus.join(folder))
            .into_iter()
            .filter(|file| {
                file.extension()
                    .is_some_and(|extension| extension == "yaml")
            });
        let expected = expected
            .iter()
            .map(|line| line.replacen(' ', &format!(" {folder}/"), 1))
            .collect();
        assert_eq!(
            found(&corpus, &files.collect::<Vec<_>>()),
            expected,
            "{folder}"
        );
    };
    // Every verb on every resource of all groups.
    check(
        "kubernetes-sigs+cluster-api-operator/config",
        &["components-role-unlimited rbac/role.yaml ClusterRole/manager-role"],
    );
    // `eksconfig` and `eksconfigtemplate` are no plurals: these webhooks are never called.
    check(
        "kubernetes-sigs+cluster-api-provider-aws/config",
        &[
            "components-webhook-resource-unknown webhook/manifests.yaml MutatingWebhookConfiguration/mutating-webhook-configuration",
            "components-webhook-resource-unknown webhook/manifests.yaml ValidatingWebhookConfiguration/validating-webhook-configuration",
        ],
    );
    for folder in [
        "k0sproject+k0smotron/config",
        "k3s-io+cluster-api-k3s/bootstrap/config",
        "k3s-io+cluster-api-k3s/controlplane/config",
        "kubernetes-sigs+cluster-api-addon-provider-helm/config",
        "kubernetes-sigs+cluster-api-ipam-provider-in-cluster/config",
        "kubernetes-sigs+cluster-api-provider-azure/config",
        "kubernetes-sigs+cluster-api-provider-vsphere/config",
        "kubernetes-sigs+cluster-api/bootstrap/kubeadm/config",
        "kubernetes-sigs+cluster-api/controlplane/kubeadm/config",
        "kubernetes-sigs+cluster-api/test/infrastructure/docker/config",
        "metal3-io+cluster-api-provider-metal3/config",
        "nutanix-cloud-native+cluster-api-provider-nutanix/config",
        "rancher+cluster-api-provider-rke2/bootstrap/config",
        "rancher+cluster-api-provider-rke2/controlplane/config",
    ] {
        check(folder, &[]);
    }
}

/// Numbers of the rules about templates.
const OF_TEMPLATES: &[&str] = &[
    "T02", "T03", "T04", "T07", "T08", "T09", "T13", "T16", "T17", "T18",
];

/// What they find in whole repositories, each checked with the CRDs that are in it: `RULE
/// FILE:LINE`.
const IN_TEMPLATES: &[&str] = &[
    // Names that other providers may have too.
    "components-variable-unprefixed rendered/metal3-io+cluster-api-provider-metal3/infrastructure-components.yaml:6999",
    "components-variable-unprefixed rendered/metal3-io+cluster-api-provider-metal3@v1.10.5/infrastructure-components.yaml:3065",
    "components-variable-unprefixed rendered/rancher+cluster-api-provider-rke2/bootstrap-components.yaml:2784",
    "components-variable-unprefixed rendered/rancher+cluster-api-provider-rke2/control-plane-components.yaml:6758",
    "components-variable-unprefixed rendered/rancher+cluster-api-provider-rke2@v0.21.1/bootstrap-components.yaml:2575",
    // A folder with the number of the process in its name, `/tmp/$${BINARY}-extract-$$`.
    "template-dollar-halved kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/cluster-template-prow-dalec-custom-builds.yaml:986",
    "template-dollar-halved kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/prow-dalec-custom-builds/patches/azl3-machine-deployment.yaml:210",
    // Test data that stayed with fields and forms of v1beta1 under v1beta2.
    "template-field-rejected kubernetes-sigs+cluster-api/test/extension/handlers/topologymutation/testdata/clusterclass-quick-start-runtimesdk.yaml:103",
    "template-field-rejected kubernetes-sigs+cluster-api/test/extension/handlers/topologymutation/testdata/clusterclass-quick-start-runtimesdk.yaml:105",
    // Fields of an older version of the kind, or of another one.
    "template-field-unknown k0sproject+k0smotron/config/samples/capi/capi-controlplane-hetzner.yaml:34",
    "template-field-unknown kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/withoutclusterclass/e2e_test_templates/cluster-template-internal-elb.yaml:127",
    "template-field-unknown kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/withoutclusterclass/e2e_test_templates/cluster-template-internal-elb.yaml:92",
    "template-field-unknown kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/withoutclusterclass/e2e_test_templates/cluster-template-peered-remote.yaml:126",
    "template-field-unknown kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/withoutclusterclass/e2e_test_templates/cluster-template-peered-remote.yaml:91",
    "template-field-unknown kubernetes-sigs+cluster-api/test/extension/handlers/topologymutation/testdata/clusterclass-quick-start-runtimesdk.yaml:96",
    "template-field-unknown rancher+cluster-api-provider-rke2/examples/templates/metal3/cluster-template.yaml:284",
    "template-field-unknown rancher+cluster-api-provider-rke2/test/e2e/data/infrastructure/cluster-template-docker-move.yaml:130",
    // Literal versions and numbers, or variables of their own.
    "template-flag-ignored k0sproject+k0smotron/e2e/data/infrastructure-aws/cluster-template-windows.yaml:121",
    "template-flag-ignored k0sproject+k0smotron/e2e/data/infrastructure-aws/cluster-template-windows.yaml:71",
    "template-flag-ignored k0sproject+k0smotron/e2e/data/infrastructure-aws/cluster-template-windows.yaml:72",
    "template-flag-ignored kubernetes-sigs+cluster-api-provider-aws/templates/cluster-template-rosa-machinepool.yaml:31",
    "template-flag-ignored kubernetes-sigs+cluster-api-provider-aws/templates/cluster-template-rosa-machinepool.yaml:60",
    "template-flag-ignored kubernetes-sigs+cluster-api-provider-aws/templates/cluster-template-rosa-role-config.yaml:45",
    "template-flag-ignored kubernetes-sigs+cluster-api-provider-aws/templates/cluster-template-rosa.yaml:31",
    "template-flag-ignored kubernetes-sigs+cluster-api-provider-azure/templates/cluster-template-aks-aso-topology.yaml:14",
    "template-flag-ignored kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/cluster-template-prow-aks-topology.yaml:18",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/aws/cluster-template-ignition.yaml:72",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/aws/cluster-template.yaml:120",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/docker/cluster-template.yaml:46",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/metal3/cluster-template.yaml:175",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/metal3/cluster-template.yaml:79",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/openstack/cluster-template.yaml:106",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/openstack/cluster-template.yaml:65",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/openstack/cluster-template.yaml:85",
    "template-flag-ignored rancher+cluster-api-provider-rke2/examples/templates/vmware/cluster-template.yaml:171",
    "template-flag-ignored rendered-overlays/k0sproject+k0smotron/e2e/data/infrastructure-aws/cluster-template-ignition-flatcar.yaml:108",
    "template-flag-ignored rendered-overlays/k0sproject+k0smotron/e2e/data/infrastructure-aws/cluster-template-ignition-flatcar.yaml:110",
    "template-flag-ignored rendered-overlays/k0sproject+k0smotron/e2e/data/infrastructure-aws/cluster-template-ignition-flatcar.yaml:53",
    // Data for upgrades from a release that served v1beta1; the CRDs beside it do not.
    "template-object-unserved kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/capi-upgrades/v1beta1/cluster-template.yaml:21",
    "template-object-unserved kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/capi-upgrades/v1beta1/cluster-template.yaml:60",
    "template-object-unserved kubernetes-sigs+cluster-api-provider-aws/test/e2e/data/infrastructure-aws/capi-upgrades/v1beta1/cluster-template.yaml:96",
    // `apiGroup` with a version, twice, and `-controlplane` where the object is called
    // `-control-plane`.
    "template-reference-missing rancher+cluster-api-provider-rke2/examples/templates/aws/cluster-template.yaml:190",
    "template-reference-missing rancher+cluster-api-provider-rke2/examples/templates/aws/cluster-template.yaml:192",
    "template-reference-missing rancher+cluster-api-provider-rke2/examples/templates/openstack/cluster-template.yaml:105",
    // Blank without the variable: `replicas:` of prow-ipv6; the scripts of dalec take the blank as
    // they took the default.
    "template-variable-blank kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/cluster-template-prow-dalec-custom-builds.yaml:203",
    "template-variable-blank kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/cluster-template-prow-dalec-custom-builds.yaml:204",
    "template-variable-blank kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/cluster-template-prow-dalec-custom-builds.yaml:205",
    "template-variable-blank kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/prow-dalec-custom-builds/patches/azl3-machine-deployment.yaml:108",
    "template-variable-blank kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/prow-dalec-custom-builds/patches/azl3-machine-deployment.yaml:109",
    "template-variable-blank kubernetes-sigs+cluster-api-provider-azure/templates/test/ci/prow-dalec-custom-builds/patches/azl3-machine-deployment.yaml:110",
    "template-variable-blank kubernetes-sigs+cluster-api-provider-azure/templates/test/dev/cluster-template-custom-builds-machine-pool-load.yaml:648",
    // The port has the name of the user.
    "template-variable-defaults-differ k0sproject+k0smotron/templates/cluster-template-hcp.yaml:71",
];

#[test]
fn templates_of_real_providers_are_told_what_is_wrong() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let mut found = BTreeSet::new();
    for folder in std::fs::read_dir(&corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        // Old tags hold a metadata.yaml each.
        if !folder.is_dir() || folder.to_string_lossy().contains('@') {
            continue;
        }
        let files = files_below(&folder).into_iter().filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "yaml")
        });
        let name = |file: &Path| {
            file.strip_prefix(&corpus)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        };
        let text = |file: &PathBuf| std::fs::read_to_string(file).ok();
        let sources: Vec<Source> = files
            .filter_map(|file| Some(Source::new(name(&file).as_str(), text(&file)?)))
            .collect();
        let (roles, budget) = (Default::default(), Budget::default());
        let report = lint::run(&Request {
            sources: &sources,
            charts: &windlass_checks::charts::Charts::new(),
            form: None,
            contract: None,
            roles: &roles,
            budget: &budget,
        })
        .report;
        let judged = report.findings().iter().filter(|finding| {
            finding
                .rule
                .catalogue
                .is_some_and(|number| OF_TEMPLATES.contains(&number))
        });
        found.extend(judged.map(|finding| {
            let line = finding.place.span.map_or(0, |span| span.start.line);
            format!(
                "{} {}:{line}",
                finding.rule.id,
                finding.place.file.as_deref().unwrap_or_default()
            )
        }));
    }
    assert_eq!(
        found,
        IN_TEMPLATES.iter().map(|line| (*line).to_owned()).collect()
    );
}
