//! Labels that say which versions of a kind fulfil a contract.

use serde_json::Value;

use windlass_capi::contract::{ApiVersion, ContractVersion, labels};

/// The contract of which a label says which versions fulfil it.
pub(super) fn contract_of(key: &str) -> Option<&str> {
    key.strip_prefix(labels::CONTRACT_PREFIX)
        .filter(|contract| ContractVersion::parse(contract).is_some())
}

/// Whether a label is for a contract that Cluster API no longer has.
pub(super) fn is_former_contract(key: &str) -> bool {
    contract_of(key).is_none()
        && key
            .strip_prefix(labels::CONTRACT_PREFIX)
            .is_some_and(|version| ApiVersion::parse(version).is_some())
}

/// The contract labels of a merge patch; those of contracts that are no more are among them.
pub(super) fn labels_for_contracts(merge: &Value) -> impl Iterator<Item = (&str, &str)> {
    let labels = merge
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let labels = labels.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
    labels.filter(|(key, _)| contract_of(key).is_some() || is_former_contract(key))
}
