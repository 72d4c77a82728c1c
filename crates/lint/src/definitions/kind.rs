//! A CRD as rules see it: the role of its kind, its versions, and which of them the core takes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::Scope;
use windlass_capi::contract::labels::{self, CONTRACT_PREFIX, CONTRACT_VERSIONS_SEPARATOR};
use windlass_capi::contract::{ApiVersion, ContractVersion, KindFacts, ProviderType, Role, Roles};
use windlass_objects::{Object, fields};
use windlass_source::diag::FieldPath;

/// A CRD.
#[derive(Clone, Copy)]
pub(crate) struct Definition<'a> {
    pub(super) crd: &'a Object,
    /// What the kind is for the core; `None` when the core never refers to it.
    pub(super) role: Option<Role>,
}

/// A version of a CRD.
#[derive(Clone, Copy)]
pub(super) struct Version<'a> {
    pub(super) index: usize,
    pub(super) name: &'a str,
    /// What the CRD says of it.
    pub(super) value: &'a Value,
}

impl<'a> Version<'a> {
    pub(super) fn path(&self) -> FieldPath {
        FieldPath::of_fields("spec.versions").index(self.index)
    }

    /// The path of its schema in the CRD.
    pub(super) fn schema_path(&self) -> FieldPath {
        self.path().field("schema").field("openAPIV3Schema")
    }

    pub(super) fn schema(&self) -> Option<&'a Value> {
        fields::field(self.value, &["schema", "openAPIV3Schema"])
    }

    /// Whether clients may use it.
    pub(super) fn is_served(&self) -> bool {
        self.value["served"] != false
    }

    pub(super) fn is_stored(&self) -> bool {
        self.value["storage"] == true
    }
}

/// A contract, and the versions that a label says fulfil it.
pub(super) struct Promise<'a> {
    pub(super) contract: ContractVersion,
    /// The versions, as the label lists them.
    pub(super) versions: Vec<&'a str>,
}

impl<'a> Promise<'a> {
    /// The version that the core takes: the last in Kubernetes' order, wherever it is in the
    /// label.
    pub(super) fn taken(&self) -> &'a str {
        self.versions
            .iter()
            .copied()
            .max_by_key(|version| ApiVersion::parse(version))
            .unwrap_or_default()
    }
}

pub(super) fn definitions<'a>(scope: &Scope<'a>) -> Vec<Definition<'a>> {
    definitions_of(scope.objects, scope.roles, scope.provider_type)
}

pub(crate) fn definitions_of<'a>(
    objects: &'a [Object],
    roles: &Roles,
    provider_type: Option<ProviderType>,
) -> Vec<Definition<'a>> {
    super::of(objects)
        .map(|crd| Definition {
            crd,
            role: role_of(crd, roles, provider_type),
        })
        .collect()
}

/// With the annotation a CRD says itself that no core object refers to its kind.
fn role_of(crd: &Object, roles: &Roles, provider_type: Option<ProviderType>) -> Option<Role> {
    if crd
        .field(&["metadata", "annotations", labels::SKIP_CRD_NAME_CHECK])
        .is_some()
    {
        return None;
    }
    let is_labelled = labelled_versions(crd).next().is_some();
    roles.of(&KindFacts {
        group: crd.text(&["spec", "group"]),
        kind: crd.text(&["spec", "names", "kind"]),
        is_labelled,
        provider_type,
    })
}

/// The versions that labels of any contract name, with the label; also of contracts that are over.
pub(super) fn labelled_versions(crd: &Object) -> impl Iterator<Item = (&str, &str)> {
    let labels = crd
        .field(&["metadata", "labels"])
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let of_contract = |key: &str| {
        key.strip_prefix(CONTRACT_PREFIX)
            .is_some_and(|contract| ApiVersion::parse(contract).is_some())
    };
    let values = labels
        .filter(move |(key, _)| of_contract(key))
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    let named = values.flat_map(|(key, value)| {
        value
            .split(CONTRACT_VERSIONS_SEPARATOR)
            .map(move |version| (key, version))
    });
    named.filter(|(_, version)| !version.is_empty())
}

/// The contract labels of a CRD that say something, oldest contract first. An empty one counts as
/// none, as for the core.
pub(super) fn promises(crd: &Object) -> impl Iterator<Item = Promise<'_>> {
    ContractVersion::ALL.into_iter().filter_map(|contract| {
        let value = crd
            .label(&contract.label())
            .filter(|value| !value.is_empty())?;
        Some(Promise {
            contract,
            versions: value.split(CONTRACT_VERSIONS_SEPARATOR).collect(),
        })
    })
}

pub(super) fn versions(crd: &Object) -> impl Iterator<Item = Version<'_>> {
    let listed = crd.items(&["spec", "versions"]).iter().enumerate();
    listed.filter_map(|(index, value)| {
        Some(Version {
            index,
            name: value["name"].as_str()?,
            value,
        })
    })
}

impl<'a> Definition<'a> {
    /// The kind that the CRD defines.
    pub(super) fn kind(&self) -> &'a str {
        self.crd.text(&["spec", "names", "kind"])
    }

    pub(super) fn group(&self) -> &'a str {
        self.crd.text(&["spec", "group"])
    }

    /// Its role, when the core looks up its versions by contract.
    pub(super) fn looked_up(&self) -> Option<Role> {
        self.role.filter(|role| role.is_looked_up())
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = Version<'a>> + use<'a> {
        versions(self.crd)
    }

    pub(super) fn served(&self) -> BTreeMap<&'a str, Version<'a>> {
        self.versions()
            .filter(Version::is_served)
            .map(|version| (version.name, version))
            .collect()
    }

    /// What its labels promise.
    pub(super) fn promises(&self) -> impl Iterator<Item = Promise<'a>> + use<'a> {
        promises(self.crd)
    }

    /// The versions that labels of any contract name.
    pub(super) fn labelled(&self) -> BTreeSet<&'a str> {
        labelled_versions(self.crd)
            .map(|(_, version)| version)
            .collect()
    }

    /// The newest contract that it promises, which the core goes by.
    pub(super) fn newest_promise(&self) -> Option<Promise<'a>> {
        self.promises().last()
    }
}
