//! CRDs as the core and the API server take them: names, contract labels, schemas, conversion
//! (book: "All resources: version", "BootstrapConfig, BootstrapConfigList resource definition").

use std::collections::BTreeSet;

use crate::contract::labels::{self, CONTRACT_PREFIX, CONTRACT_VERSIONS_SEPARATOR};
use crate::contract::{ContractVersion, METADATA_FILE, book, crd_name};
use crate::diag::{Diagnostic, FieldPath, Place, Report, rules};
use crate::objects::Object;
use crate::schema::structural;
use crate::text::budget::Budget;

rules! {
    /// the name of a CRD differs from the one that Cluster API computes
    NAME_WRONG = error("crd-name-wrong"), url(book::CRD_NAME);
    /// no CRD carries the label of the contract that metadata.yaml promises
    LABEL_MISSING = error("crd-contract-label-missing"), url(book::CONTRACT_LABELS);
    /// the schema of a CRD is not structural, or has defaults or rules that the API server rejects
    NOT_STRUCTURAL = error("crd-not-structural");
    /// a CRD has a `caBundle`, which Kubernetes 1.31 and later reject on the second apply
    CA_BUNDLE = error("crd-ca-bundle-present");
    /// a contract label of a CRD names a version that the CRD does not serve
    LABEL_VERSION_UNKNOWN = error("crd-contract-label-version-unknown"), url(book::CONTRACT_LABELS);
}

/// The group and kind of CRDs.
pub(crate) const CRD_GROUP: &str = "apiextensions.k8s.io";
/// The kind of CRDs.
pub(crate) const CRD_KIND: &str = "CustomResourceDefinition";

/// The CRDs among some objects.
pub(super) fn of(objects: &[Object]) -> impl Iterator<Item = &Object> {
    objects.iter().filter(|object| object.kind() == CRD_KIND)
}

/// Judges a CRD, labels included.
pub(super) fn check(crd: &Object, budget: &Budget) -> Report {
    let mut report: Report = name(crd).into_iter().collect();
    report.extend(unknown_versions(crd));
    report.extend(conversion(crd));
    report.extend(structure(crd, budget));
    report
}

/// The release promises a contract that no CRD fulfils (book: "Metadata YAML"; checklist CC-13). `series` is where it does. Only for
/// providers whose kinds the core looks up by contract.
pub(super) fn promise<'a>(contract: &str, crds: impl IntoIterator<Item = &'a Object>, series: &Place) -> Option<Diagnostic> {
    let mut crds = crds.into_iter().peekable();
    crds.peek()?;
    let key = format!("{CONTRACT_PREFIX}{contract}");
    if crds.any(|crd| crd.value()["metadata"]["labels"].get(&key).is_some()) {
        return None;
    }
    let known = ContractVersion::ALL.map(ContractVersion::as_str).join(", ");
    let message = format!("{METADATA_FILE} promises contract {contract}, but no CRD carries the label {key}");
    let help =
        format!("label the CRDs `{key}: VERSION` (`contracts` of provider.yaml does), or correct the series (known contracts: {known})");
    Some(Diagnostic::of(&LABEL_MISSING, message).at(series.clone()).help(help))
}

fn path(fields: &[&str]) -> FieldPath {
    fields.iter().fold(FieldPath::root(), |path, field| path.field(*field))
}

/// The core computes the name instead of searching for it.
fn name(crd: &Object) -> Option<Diagnostic> {
    let (group, kind, plural) =
        (crd.text(&["spec", "group"]), crd.text(&["spec", "names", "kind"]), crd.text(&["spec", "names", "plural"]));
    let skipped = crd.value()["metadata"]["annotations"].get(labels::SKIP_CRD_NAME_CHECK).is_some();
    let expected = if skipped { format!("{plural}.{group}") } else { crd_name(group, kind) };
    (crd.name() != expected).then(|| {
        Diagnostic::of(&NAME_WRONG, format!("metadata.name is `{}`, but Cluster API looks for `{expected}`", crd.name()))
            .at(crd.place(&path(&["metadata", "name"])))
            .help(format!(
                "name it `{expected}` with that plural; for a kind that core objects never refer to, set the annotation `{}`",
                labels::SKIP_CRD_NAME_CHECK
            ))
    })
}

fn conversion(crd: &Object) -> Option<Diagnostic> {
    let at = path(&["spec", "conversion", "webhook", "clientConfig", "caBundle"]);
    let bundle = &crd.value()["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"];
    (!bundle.is_null()).then(|| {
        Diagnostic::of(&CA_BUNDLE, "spec.conversion.webhook.clientConfig.caBundle is set")
            .at(crd.place(&at))
            .help("remove the field; cert-manager injects the CA")
            .note("from Kubernetes 1.31 on a CRD with a dummy bundle cannot be applied a second time")
    })
}

/// What the API server would refuse about schemas, defaults and rules, or store as the condition NonStructuralSchema.
fn structure(crd: &Object, budget: &Budget) -> Report {
    structural::check(crd.value(), budget)
        .into_iter()
        .map(|violation| {
            Diagnostic::of(&NOT_STRUCTURAL, format!("{} of {} is not what the API server takes", violation.path, crd.title()))
                .at(crd.place(&violation.path))
                .help("correct the type that the CRD is generated from")
                .note(format!("the API server says: {violation}"))
                .upstream(violation.to_string())
        })
        .collect()
}

/// The labels of a CRD by which it says which of its versions fulfil which contract.
fn contract_labels(crd: &Object) -> impl Iterator<Item = (&'static str, &str)> {
    ContractVersion::ALL.into_iter().filter_map(|contract| Some((contract.as_str(), crd.label(&contract.label())?)))
}

fn unknown_versions(crd: &Object) -> Vec<Diagnostic> {
    let versions = crd.items(&["spec", "versions"]).iter();
    let known: BTreeSet<&str> =
        versions.filter(|version| version["served"] != false).filter_map(|version| version["name"].as_str()).collect();
    let finding = |contract: &str, version: &str| {
        let key = format!("{CONTRACT_PREFIX}{contract}");
        let served: Vec<&str> = known.iter().copied().collect();
        Diagnostic::of(
            &LABEL_VERSION_UNKNOWN,
            format!("label {key} of {} names {version}, which the CRD does not serve", crd.title()),
        )
        .at(crd.place(&FieldPath::root().field("metadata").field("labels").key(key)))
        .help(format!("name versions that it serves: {}", served.join(", ")))
    };
    contract_labels(crd)
        .flat_map(|(contract, value)| value.split(CONTRACT_VERSIONS_SEPARATOR).map(move |version| (contract, version)))
        .filter(|(_, version)| !known.contains(version))
        .map(|(contract, version)| finding(contract, version))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Book, "Labels and annotations": the annotation is for kinds that core objects never refer to. The name that the API server demands
    /// (`<plural>.<group>`) stays due.
    #[test]
    fn naming_rule_is_waived_by_its_annotation_alone() {
        let faulty = |called: &str, annotations: Value| {
            let crd = json!({
                "metadata": {"name": called, "annotations": annotations},
                "spec": {"group": "foo.dev", "names": {"kind": "FooConfig", "plural": "foos"}},
            });
            name(&Object::made(crd)).is_some()
        };
        let skip = json!({"clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check": ""});
        assert!(faulty("foos.foo.dev", json!({"other": ""})));
        assert!(!faulty("foos.foo.dev", skip.clone()));
        assert!(faulty("fooconfigs.foo.dev", skip));
        assert!(!faulty("fooconfigs.foo.dev", json!({})));
    }

    #[test]
    fn labels_name_versions_that_are_served() {
        let value = serde_json::json!({"kind": "CustomResourceDefinition", "metadata": {"name": "x", "labels": {
            "cluster.x-k8s.io/v1beta2": "v1beta1_v1beta2"}}, "spec": {"versions": [{"name": "v1beta2", "served": true}, {"name": "v1beta1", "served": false}]}});
        let messages: Vec<String> = unknown_versions(&Object::made(value)).into_iter().map(|finding| finding.message).collect();
        assert_eq!(
            messages,
            ["label cluster.x-k8s.io/v1beta2 of CustomResourceDefinition/x names v1beta1, which the CRD does not serve"]
        );
        let none = serde_json::json!({"kind": "CustomResourceDefinition", "metadata": {"labels": {}}});
        assert!(unknown_versions(&Object::made(none)).is_empty());
    }
}
