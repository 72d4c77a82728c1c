//! What the folder of the CRDs says: the files of the CRDs, their contracts, what labels and
//! annotations they get, and which are converted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Made;
use super::contract_labels::{contract_of, is_former_contract, labels_for_contracts};
use super::identity::Identity;
use super::layout::{Base, parts};
use super::patches::Patches;
use super::project::Project;
use crate::emit::definitions::{is_looked_up, versions};
use windlass_capi::contract::{ApiVersion, STANDARD_ROLES, labels};
use windlass_objects::{Object, fields};
use windlass_provider::{Action, Kustomization};

/// The CRD files: one pattern when its kustomization takes them all, else those that it takes.
pub(super) fn files(project: &Project<'_>) -> Vec<String> {
    let folder = project.folder(Base::Crds);
    let named = parts(&folder, project.kustomization(&folder))
        .into_iter()
        .map(|(_, path)| path);
    let taken: BTreeSet<String> = named.filter(|path| project.has_file(path)).collect();
    let all: BTreeSet<String> = project.crds.iter().map(|(path, _)| path.clone()).collect();
    let bases = format!("{folder}/bases/");
    let is_bases = all.iter().all(|path| path.starts_with(&bases));
    if is_bases && (taken.is_empty() || taken == all) {
        return vec![format!("{bases}*.yaml")];
    }
    if taken.is_empty() {
        all.into_iter().collect()
    } else {
        taken.into_iter().collect()
    }
}

/// The contracts of the provider, and the kinds that have others.
#[derive(Debug, Default)]
pub(super) struct Contracts {
    /// `contracts`: contract to the versions that fulfil it.
    pub(super) all: Map<String, Value>,
    /// Whether they are from labels, which kustomize puts on the CRDs or their files have.
    pub(super) are_labels: bool,
    /// Entries of `crdMetadata` for kinds that have others.
    others: Vec<Value>,
}

/// The contracts: from the labels of its kustomization, of patches there and of the CRDs
/// themselves, else all served versions for the contract of the newest series.
pub(super) fn contracts(
    project: &Project<'_>,
    identity: &Identity,
    patches: &Patches,
    made: &mut Made,
) -> Contracts {
    if !identity.provider_type.has_contract() {
        return Contracts::default();
    }
    let folder = project.folder(Base::Crds);
    let mut of_kustomization = of_all(project, "labels");
    if in_contracts(of_kustomization.iter()).is_empty() {
        of_kustomization.extend(project.labels_of_overlays());
    }
    let is_patched_by_kustomize = project
        .crds
        .iter()
        .any(|(_, crd)| !patches.labels_of(crd).is_empty());
    // Patches win over what the files have.
    let patched: Vec<(&Object, BTreeMap<String, String>)> = project
        .crds
        .iter()
        .map(|(_, crd)| {
            let own = labels_for_contracts(crd.value());
            let own = own.map(|(key, value)| (key.to_owned(), value.to_owned()));
            (crd, own.chain(patches.labels_of(crd)).collect())
        })
        .collect();
    let keys = of_kustomization
        .keys()
        .chain(patched.iter().flat_map(|(_, labels)| labels.keys()));
    let former: BTreeSet<&str> = keys
        .filter(|key| is_former_contract(key))
        .map(|key| &key[labels::CONTRACT_PREFIX.len()..])
        .collect();
    let without = match former.is_empty() {
        true => String::new(),
        false => format!(
            ", without {}, which Cluster API no longer has",
            former.into_iter().collect::<Vec<_>>().join(", ")
        ),
    };
    let labelled = in_contracts(of_kustomization.iter());
    let mut are_labels = true;
    let (all, from) = if !labelled.is_empty() {
        (
            labelled,
            format!("the labels in {folder}/kustomization.yaml"),
        )
    } else if patched
        .iter()
        .any(|(_, labels)| !in_contracts(labels.iter()).is_empty())
    {
        (
            in_contracts(patched.iter().flat_map(|(_, labels)| labels)),
            match is_patched_by_kustomize {
                true => format!("the labels that patches of {folder} set"),
                false => "the labels of the CRDs".to_owned(),
            },
        )
    } else {
        are_labels = false;
        let contract = project
            .newest_contract()
            .unwrap_or_else(|| "v1beta2".to_owned());
        let versions = served_versions(project, identity.groups.first().map_or("", String::as_str));
        let from = format!(
            "{contract} is fulfilled by {}, the versions that the CRDs serve",
            versions.join(", ")
        );
        ([(contract, versions)].into_iter().collect(), from)
    };
    made.assumed.push(format!("contracts: {from}{without}"));
    // What the kustomization puts on all CRDs comes after its patches.
    let is_patched = |labels: &BTreeMap<String, String>| !in_contracts(labels.iter()).is_empty();
    let of_crd = |labels: &BTreeMap<String, String>| {
        labels
            .clone()
            .into_iter()
            .chain(of_kustomization.clone())
            .collect::<BTreeMap<_, _>>()
    };
    let (with, without): (Vec<_>, Vec<_>) =
        patched.iter().partition(|(_, labels)| is_patched(labels));
    let mut others: Vec<Value> = with
        .into_iter()
        .filter_map(|(crd, labels)| {
            other_contracts(crd, &in_contracts(of_crd(labels).iter()), &all)
        })
        .collect();
    if in_contracts(of_kustomization.iter()).is_empty() {
        others.extend(outside(
            identity,
            without.into_iter().map(|(crd, _)| *crd),
            made,
        ));
    }
    Contracts {
        are_labels,
        all: all
            .into_iter()
            .map(|(contract, versions)| (contract, json!(versions)))
            .collect(),
        others,
    }
}

/// The entry of `crdMetadata` that leaves kinds to which no core object refers without a contract
/// label.
fn outside<'o>(
    identity: &Identity,
    crds: impl Iterator<Item = &'o Object>,
    made: &mut Made,
) -> Option<Value> {
    let (inside, outside): (Vec<&Object>, Vec<&Object>) =
        crds.partition(|crd| is_looked_up(identity.provider_type, &STANDARD_ROLES, crd));
    // A release without any contract label is rejected, so that the labels of none are left out.
    if inside.is_empty() || outside.is_empty() {
        return None;
    }
    let kinds: Vec<&str> = outside
        .iter()
        .map(|crd| crd.text(&["spec", "names", "kind"]))
        .collect();
    made.assumed.push(format!(
        "crdMetadata: no contract label for {}, to which core objects do not refer",
        kinds.join(", ")
    ));
    Some(json!({"kinds": kinds, "contracts": {}}))
}

/// Contract to the versions that fulfil it, the newest last; of labels.
fn in_contracts<'l>(
    labels: impl Iterator<Item = (&'l String, &'l String)>,
) -> BTreeMap<String, Vec<String>> {
    let mut contracts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in labels {
        let Some(contract) = contract_of(key) else {
            continue;
        };
        let versions = contracts.entry(contract.to_owned()).or_default();
        versions.extend(
            value
                .split(labels::CONTRACT_VERSIONS_SEPARATOR)
                .map(str::to_owned),
        );
        versions.sort_by_key(|version| ApiVersion::parse(version));
        versions.dedup();
    }
    contracts
}

/// The entry of `crdMetadata` for a CRD that has other labels than `contracts` would give it.
fn other_contracts(
    crd: &Object,
    own: &BTreeMap<String, Vec<String>>,
    all: &BTreeMap<String, Vec<String>>,
) -> Option<Value> {
    let known = versions(crd.value());
    let of_crd = |contracts: &BTreeMap<String, Vec<String>>| -> BTreeMap<String, Vec<String>> {
        let served = |versions: &Vec<String>| {
            versions
                .iter()
                .filter(|version| known.contains(&version.as_str()))
                .cloned()
                .collect()
        };
        contracts
            .iter()
            .map(|(contract, versions)| (contract.clone(), served(versions)))
            .filter(|(_, versions): &(_, Vec<_>)| !versions.is_empty())
            .collect()
    };
    (of_crd(own) != of_crd(all))
        .then(|| json!({"kinds": [crd.text(&["spec", "names", "kind"])], "contracts": own}))
}

/// `crdMetadata`: the other labels and the annotations that the kustomization puts on all CRDs, and
/// contracts of some kinds.
pub(super) fn metadata(project: &Project<'_>, contracts: &Contracts) -> Vec<Value> {
    let is_own = |key: &String| {
        key != labels::PROVIDER && contract_of(key).is_none() && !is_former_contract(key)
    };
    let mut entry = Map::new();
    for field in ["labels", "annotations"] {
        let own: BTreeMap<String, String> = of_all(project, field)
            .into_iter()
            .filter(|(key, _)| is_own(key))
            .collect();
        if !own.is_empty() {
            entry.insert(field.to_owned(), json!(own));
        }
    }
    let of_all = (!entry.is_empty()).then_some(Value::Object(entry));
    of_all
        .into_iter()
        .chain(contracts.others.iter().cloned())
        .collect()
}

/// The labels or the annotations that the kustomization puts on all CRDs.
fn of_all(project: &Project<'_>, wanted: &str) -> BTreeMap<String, String> {
    let changes = project
        .kustomization_file(&project.folder(Base::Crds))
        .into_iter()
        .flat_map(Kustomization::metadata);
    let texts = changes.filter_map(|change| match change.action {
        Action::Metadata(field, texts) if field == wanted => Some(texts),
        _ => None,
    });
    texts.flatten().collect()
}

/// The versions that CRDs of a group serve, in the order of the CRDs.
fn served_versions(project: &Project<'_>, group: &str) -> Vec<String> {
    let mut served = Vec::new();
    for (_, crd) in project
        .crds
        .iter()
        .filter(|(_, crd)| crd.text(&["spec", "group"]) == group)
    {
        for version in crd
            .items(&["spec", "versions"])
            .iter()
            .filter(|version| version["served"] == true)
        {
            let name = fields::text(version, &["name"]).to_owned();
            if !served.contains(&name) {
                served.push(name);
            }
        }
    }
    served
}

/// What the section `manager` says of the CRDs with several versions: `conversion` when the manager
/// converts all, else `converts` with the kinds into whose CRDs kubebuilder patches a webhook.
pub(super) fn conversion(
    project: &Project<'_>,
    patches: &Patches,
) -> Option<(&'static str, Value)> {
    let several: Vec<&Object> = project
        .crds
        .iter()
        .map(|(_, crd)| crd)
        .filter(|crd| crd.items(&["spec", "versions"]).len() > 1)
        .collect();
    let converted: Vec<&str> = several
        .iter()
        .filter(|crd| patches.convert(crd))
        .map(|crd| crd.text(&["spec", "names", "kind"]))
        .collect();
    match converted.len() {
        0 => None,
        all if all == several.len() => Some(("conversion", json!(true))),
        _ => Some(("converts", json!(converted))),
    }
}
