//! The labels by which a CRD says which of its versions fulfil which contract (book: "All
//! resources: version").

use std::collections::BTreeSet;

use super::kind::{
    Definition, Promise, Version, definitions, labelled_versions, promises, versions,
};
use crate::{Extent, Scope};
use windlass_capi::contract::labels::CONTRACT_PREFIX;
use windlass_capi::contract::{ApiVersion, ContractVersion, METADATA_FILE, Role, book};
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, rules};

rules! {
    /// no CRD has the label of the contract in metadata.yaml
    MISSING = error("crd-contract-label-missing"), url(book::CONTRACT_LABELS), catalogue("M07");
    /// a CRD fulfils a different contract than metadata.yaml and other CRDs of the release
    DIFFERS = warning("crd-contract-differs"), url(book::CONTRACT_LABELS), catalogue("M07");
    /// a kind that the core refers to has no contract label
    UNLABELLED = error("crd-contract-unlabelled"), url(book::CONTRACT_LABELS), catalogue("R01");
    /// the version that the core uses from a contract label is not served
    VERSION_UNKNOWN = error("crd-contract-label-version-unknown"), url(book::CONTRACT_LABELS), catalogue("R02 R03");
    /// a contract label names a version that is not served and that the core does not use
    VERSION_STALE = warning("crd-contract-label-version-stale"), url(book::CONTRACT_LABELS), catalogue("R02 R03");
    /// a version of a control plane is in the labels of two contracts
    AMBIGUOUS = error("crd-contract-version-ambiguous"), url(book::CONTRACT_LABELS), catalogue("R04");
    /// a served version of a kind that the core refers to is in no contract label
    VERSION_UNLABELLED = warning("crd-version-unlabelled"), url(book::CONTRACT_LABELS), catalogue("R05");
}

/// Checks the labels of kinds that the core looks up.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let mut report = Report::new();
    for definition in definitions(scope) {
        let Some(role) = definition.looked_up() else {
            continue;
        };
        if definition.newest_promise().is_some() {
            report.extend(unlabelled_versions(&definition));
        } else if scope.extent == Extent::Whole {
            // In sources kustomize adds the labels.
            report.push(unlabelled(&definition, role));
        }
        if role == Role::ControlPlane {
            report.extend(ambiguous(&definition));
        }
    }
    report
}

/// The release promises a contract that no CRD fulfils (book: "Metadata YAML"; checklist CC-13).
/// `series` is where it does. Only for providers whose kinds the core looks up by contract.
pub(crate) fn promise<'a>(
    contract: &str,
    crds: impl IntoIterator<Item = &'a Object>,
    series: &Place,
) -> Option<Diagnostic> {
    let mut crds = crds.into_iter().peekable();
    crds.peek()?;
    let key = format!("{CONTRACT_PREFIX}{contract}");
    if crds.any(|crd| crd.value()["metadata"]["labels"].get(&key).is_some()) {
        return None;
    }
    let known = ContractVersion::ALL.map(ContractVersion::as_str).join(", ");
    let message =
        format!("{METADATA_FILE} promises contract {contract}, but no CRD carries the label {key}");
    let help = format!(
        "label the CRDs `{key}: VERSION` (`contracts` of provider.yaml does), or correct the series (known contracts: {known})"
    );
    Some(
        Diagnostic::of(&MISSING, message)
            .at(series.clone())
            .help(help),
    )
}

/// Kinds that fulfil another contract than the one that metadata.yaml promises at `series`, where
/// others fulfil it. One without labels has a finding of its own.
pub(crate) fn differing(
    contract: &str,
    definitions: &[Definition<'_>],
    series: &Place,
) -> Vec<Diagnostic> {
    let is_kept = |definition: &Definition<'_>| {
        definition
            .promises()
            .any(|promise| promise.contract.as_str() == contract)
    };
    if !definitions.iter().any(is_kept) {
        return Vec::new();
    }
    let other = definitions
        .iter()
        .filter(|definition| definition.looked_up().is_some() && !is_kept(definition));
    other
        .filter_map(|definition| {
            differs(contract, definition, &definition.newest_promise()?, series)
        })
        .collect()
}

fn differs(
    contract: &str,
    definition: &Definition<'_>,
    promise: &Promise<'_>,
    series: &Place,
) -> Option<Diagnostic> {
    let (kind, label) = (definition.kind(), promise.contract.label());
    let message = format!(
        "{METADATA_FILE} promises contract {contract}, but {kind} fulfils {} only",
        promise.contract.as_str()
    );
    let finding = Diagnostic::of(&DIFFERS, message)
        .at(definition.crd.place(&label_path(&label)))
        .related(series.clone(), "the promise");
    Some(finding.help(format!(
        "have {kind} fulfil it, and label it `{CONTRACT_PREFIX}{contract}: {}`",
        promise.versions.last()?
    )))
}

fn label_path(key: &str) -> FieldPath {
    FieldPath::of_fields("metadata.labels").key(key)
}

fn unlabelled(definition: &Definition<'_>, role: Role) -> Diagnostic {
    let crd = definition.crd;
    let newest = definition
        .versions()
        .filter(|version| version.is_served())
        .max_by_key(|version| ApiVersion::parse(version.name));
    let label = ContractVersion::V1Beta2.label();
    let says = format!(
        "cannot find any versions matching contract versions [\"v1beta2\" \"v1beta1\"] for CRD {} as contract version label(s) are either \
         missing or empty (see https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview.html#api-version-labels)",
        crd.name()
    );
    Diagnostic::of(
        &UNLABELLED,
        format!(
            "{} has no contract label, but the core refers to {}",
            crd.title(),
            definition.kind()
        ),
    )
    .at(crd.place(&FieldPath::of_fields("metadata.labels")))
    .help(format!(
        "label it `{label}: {}`",
        newest.map_or("VERSION", |version| version.name)
    ))
    .note(format!(
        "its group and name match the kind that the contract calls {}",
        role.as_str()
    ))
    .upstream(says)
}

/// Versions in contract labels that a CRD does not serve. Labels of contracts that are over count
/// too.
pub(super) fn unknown_versions(crd: &Object) -> Vec<Diagnostic> {
    let served: Vec<&str> = versions(crd)
        .filter(|version| version.is_served())
        .map(|version| version.name)
        .collect();
    let known: BTreeSet<&str> = served.iter().copied().collect();
    let newest = promises(crd).last();
    let taken = newest
        .as_ref()
        .map(|promise| (promise.contract.label(), promise.taken()));
    let finding = |(key, version): (&str, &str)| {
        let is_taken = taken
            .as_ref()
            .is_some_and(|(label, taken)| label == key && *taken == version);
        let message = format!(
            "label {key} of {} names {version}, which the CRD does not serve",
            crd.title()
        );
        Diagnostic::of(
            if is_taken {
                &VERSION_UNKNOWN
            } else {
                &VERSION_STALE
            },
            message,
        )
        .at(crd.place(&label_path(key)))
        .help(format!(
            "name versions that it serves: {}",
            served.join(", ")
        ))
    };
    labelled_versions(crd)
        .filter(|(_, version)| !known.contains(version))
        .map(finding)
        .collect()
}

fn unlabelled_versions(definition: &Definition<'_>) -> Option<Diagnostic> {
    let crd = definition.crd;
    let labelled = definition.labelled();
    let open: Vec<Version<'_>> = definition
        .versions()
        .filter(|version| version.is_served() && !labelled.contains(version.name))
        .collect();
    let (first, others) = open.split_first()?;
    let names = open
        .iter()
        .map(|version| version.name)
        .collect::<Vec<_>>()
        .join(", ");
    let place = |version: &Version<'_>| crd.place(&version.path().field("name"));
    let finding = Diagnostic::of(
        &VERSION_UNLABELLED,
        format!(
            "{} serves {names}, which no contract label names",
            crd.title()
        ),
    );
    let finding = finding.at(place(first)).help(format!(
        "set `served: false` at {names}, or add it to the label of the contract that it fulfils"
    ));
    Some(others.iter().fold(finding, |finding, version| {
        finding.related(place(version), "")
    }))
}

/// Only for control planes the core asks for the contract of a version
/// (`contract.GetContractVersionForVersion`).
fn ambiguous(definition: &Definition<'_>) -> Vec<Diagnostic> {
    let crd = definition.crd;
    let promises: Vec<Promise<'_>> = definition.promises().collect();
    let [older, newer] = &promises[..] else {
        return Vec::new();
    };
    let place = |promise: &Promise<'_>| crd.place(&label_path(&promise.contract.label()));
    let newer_versions: BTreeSet<&str> = newer.versions.iter().copied().collect();
    let both = older
        .versions
        .iter()
        .filter(|version| newer_versions.contains(*version));
    let finding = |version: &&str| {
        let (first, second) = (older.contract.label(), newer.contract.label());
        Diagnostic::of(&AMBIGUOUS, format!("labels {first} and {second} of {} both name {version}", crd.title()))
            .at(place(older))
            .related(place(newer), "")
            .help(format!("take {version} out of `{first}`: each version fulfils one contract"))
            .note("the core takes the one or the other by chance in Clusters of a ClusterClass, and reads the fields of that contract")
    };
    both.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::definitions::kind::definitions_of;
    use windlass_capi::contract::{ProviderType, STANDARD_ROLES};
    use windlass_objects::Pool;
    use windlass_source::budget::Budget;

    fn crd(group: &str, kind: &str, labels: Value, versions: &[(&str, bool)]) -> Object {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, served)| json!({"name": name, "served": served}))
            .collect();
        Object::made(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x", "labels": labels},
            "spec": {"group": group, "names": {"kind": kind}, "versions": versions},
        }))
    }

    fn rules(crd: Object, extent: Extent) -> Vec<&'static str> {
        let budget = Budget::default();
        let objects = [crd];
        let pool = Pool::of(objects.to_vec());
        let scope = Scope {
            extent,
            ..Scope::of(&pool, Some(ProviderType::InfrastructureProvider), &budget)
        };
        let found = unknown_versions(&objects[0])
            .into_iter()
            .chain(check(&scope));
        found.map(|finding| finding.rule.id).collect()
    }

    const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
    const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";

    #[test]
    fn labels_name_versions_that_are_served() {
        let labels = json!({"cluster.x-k8s.io/v1beta2": "v1beta1_v1beta2"});
        let found = unknown_versions(&crd(
            "g",
            "Foo",
            labels,
            &[("v1beta2", true), ("v1beta1", false)],
        ));
        let told: Vec<(&str, &str)> = found
            .iter()
            .map(|finding| (finding.rule.id, finding.message.as_str()))
            .collect();
        let message = "label cluster.x-k8s.io/v1beta2 of CustomResourceDefinition/x names v1beta1, which the CRD does not serve";
        assert_eq!(told, [("crd-contract-label-version-stale", message)]);
        assert!(unknown_versions(&crd("g", "Foo", json!({}), &[])).is_empty());
    }

    /// `contract.GetLatestContractAndAPIVersionFromContract`: the newest contract whose label is
    /// not empty, and of it the newest version in Kubernetes' order.
    #[test]
    fn versions_that_the_core_takes_weigh_more() {
        let of = |labels| rules(crd("g", "Foo", labels, &[("v1beta1", true)]), Extent::Whole);
        let (unknown, stale) = (
            "crd-contract-label-version-unknown",
            "crd-contract-label-version-stale",
        );
        assert_eq!(
            of(json!({"cluster.x-k8s.io/v1beta2": "v1beta2_v1beta1"})),
            [unknown]
        );
        assert_eq!(
            of(
                json!({"cluster.x-k8s.io/v1beta2": "v1beta1", "cluster.x-k8s.io/v1beta1": "v1alpha1"})
            ),
            [stale]
        );
        assert_eq!(
            of(json!({"cluster.x-k8s.io/v1beta2": "", "cluster.x-k8s.io/v1beta1": "v1alpha1"})),
            [unknown]
        );
        assert_eq!(of(json!({"cluster.x-k8s.io/v1beta2": "v1beta1"})), [""; 0]);
    }

    #[test]
    fn labels_of_contracts_that_are_over_count_too() {
        let labels = json!({"cluster.x-k8s.io/v1alpha4": "v1alpha4", "cluster.x-k8s.io/v1beta1": "v1", "cluster.x-k8s.io/provider": "v2"});
        assert_eq!(
            rules(
                crd("g", "Foo", labels, &[("v1", true), ("v1alpha4", false)]),
                Extent::Whole
            ),
            ["crd-contract-label-version-stale"]
        );
    }

    #[test]
    fn kinds_of_the_contract_have_a_label() {
        let of = |kind, labels, extent| {
            rules(crd(INFRASTRUCTURE, kind, labels, &[("v1", true)]), extent)
        };
        assert_eq!(
            of("FooMachine", json!({}), Extent::Whole),
            ["crd-contract-unlabelled"]
        );
        assert_eq!(
            of(
                "FooMachineTemplate",
                json!({"cluster.x-k8s.io/v1beta2": ""}),
                Extent::Whole
            ),
            ["crd-contract-unlabelled"]
        );
        assert_eq!(
            of(
                "FooMachine",
                json!({"cluster.x-k8s.io/v1beta1": "v1"}),
                Extent::Whole
            ),
            [""; 0]
        );
        assert_eq!(of("FooIdentity", json!({}), Extent::Whole), [""; 0]);
        assert_eq!(
            of("FooMachine", json!({}), Extent::Part),
            [""; 0],
            "kustomize adds it"
        );
    }

    #[test]
    fn served_versions_are_labelled() {
        let of = |labels| {
            rules(
                crd(
                    INFRASTRUCTURE,
                    "FooMachine",
                    labels,
                    &[("v1", true), ("v1beta1", true), ("v1alpha1", false)],
                ),
                Extent::Part,
            )
        };
        assert_eq!(
            of(json!({"cluster.x-k8s.io/v1beta2": "v1"})),
            ["crd-version-unlabelled"]
        );
        assert_eq!(
            of(json!({"cluster.x-k8s.io/v1beta2": "v1beta1_v1"})),
            [""; 0]
        );
        assert_eq!(
            of(json!({"cluster.x-k8s.io/v1alpha4": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1"})),
            [""; 0]
        );
    }

    #[test]
    fn versions_of_control_planes_are_of_one_contract() {
        let of = |group, kind, older: &str| {
            let labels =
                json!({"cluster.x-k8s.io/v1beta2": "v1", "cluster.x-k8s.io/v1beta1": older});
            rules(
                crd(group, kind, labels, &[("v1", true), ("v1beta1", true)]),
                Extent::Whole,
            )
        };
        assert_eq!(
            of(CONTROL_PLANE, "FooControlPlane", "v1beta1_v1"),
            ["crd-contract-version-ambiguous"]
        );
        assert_eq!(of(CONTROL_PLANE, "FooControlPlane", "v1beta1"), [""; 0]);
        assert_eq!(
            of(INFRASTRUCTURE, "FooMachine", "v1beta1_v1"),
            [""; 0],
            "the core asks the other way round for control planes only"
        );
    }

    #[test]
    fn all_kinds_keep_the_promise_of_the_metadata() {
        let of = |first: &str, second: &str| {
            let labelled = |kind, contract: &str| {
                let mut labels = serde_json::Map::new();
                labels.insert(format!("cluster.x-k8s.io/{contract}"), "v1".into());
                crd(INFRASTRUCTURE, kind, labels.into(), &[("v1", true)])
            };
            let objects = [
                labelled("FooMachine", first),
                labelled("FooCluster", second),
            ];
            let found = differing(
                "v1beta2",
                &definitions_of(&objects, &STANDARD_ROLES, None),
                &Place::default(),
            );
            found
                .into_iter()
                .map(|finding| finding.message.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of("v1beta2", "v1beta1"),
            ["metadata.yaml promises contract v1beta2, but FooCluster fulfils v1beta1 only"]
        );
        assert!(of("v1beta2", "v1beta2").is_empty());
        assert!(
            of("v1beta1", "v1beta1").is_empty(),
            "that none keeps it is told once"
        );
    }
}
