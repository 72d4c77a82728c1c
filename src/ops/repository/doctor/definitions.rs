//! CRDs: names and contract labels that the core computes with, and texts that clusterctl's substitution eats.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::contract::labels::{CONTRACT_PREFIX, CONTRACT_VERSIONS_SEPARATOR};
use crate::contract::{ContractVersion, METADATA_FILE, book};
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::emit::definitions;
use crate::emit::metadata::MetadataFile;
use crate::objects::Object;
use crate::report::text::plural;
use crate::text::envsubst;
use crate::text::source::Source;
use crate::text::yaml::{self, Limits, Node};

rules! {
    /// a contract label of a CRD names a version that the CRD does not serve
    LABEL_VERSION_UNKNOWN = error("crd-contract-label-version-unknown"), url(book::CONTRACT_LABELS);
    /// clusterctl substitutes variables in the description of a CRD
    SUBSTITUTED = warning("crd-text-substituted"), url(book::VARIABLES);
}

/// Judges the CRDs among the objects; only kinds that the core looks up by contract need its labels.
pub(super) fn check(objects: &[Object], metadata: Option<&MetadataFile>, has_contract: bool) -> Report {
    let crds: Vec<&Object> = objects.iter().filter(|object| object.kind() == "CustomResourceDefinition").collect();
    let mut report: Report = crds.iter().filter_map(|crd| definitions::name(crd)).collect();
    crds.iter().for_each(|crd| report.extend(unknown_versions(crd)));
    report.extend(metadata.filter(|_| has_contract).and_then(|metadata| unlabelled(&crds, metadata)));
    report
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

/// metadata.yaml promises a contract that no CRD fulfils.
fn unlabelled(crds: &[&Object], metadata: &MetadataFile) -> Option<Diagnostic> {
    let newest = metadata.metadata.release_series.iter().max_by_key(|series| (series.major, series.minor))?;
    let contract = newest.contract.as_str();
    let fulfilled = crds.iter().any(|crd| contract_labels(crd).any(|(known, _)| known == contract));
    (!crds.is_empty() && !fulfilled).then(|| {
        let key = format!("{CONTRACT_PREFIX}{contract}");
        let message = format!("{METADATA_FILE} promises contract {contract}, but no CRD carries the label {key}");
        let finding = Diagnostic::of(&definitions::LABEL_MISSING, message).at(metadata.series_place(newest));
        finding.help(format!("label the CRDs `{key}: VERSION`, or mend the series"))
    })
}

/// Variables and escapes in descriptions, where nobody meant any.
pub(super) fn substituted(source: &Source) -> Report {
    let mut report = Report::new();
    if !source.text().contains('$') {
        return report;
    }
    let Ok(template) = envsubst::parse(source.text()) else { return report };
    let parsed = yaml::parse(source, &Limits::default());
    let mut described = Vec::new();
    for document in parsed.documents.iter().filter(|document| is_crd(&document.root)) {
        descriptions(&document.root, &mut described);
    }
    described.sort_by_key(|span: &Range<usize>| span.start);
    let is_within = |offset: usize| {
        let after = described.partition_point(|span| span.start <= offset);
        after.checked_sub(1).is_some_and(|at| described[at].contains(&offset))
    };
    let uses = template.uses();
    let variables: Vec<_> = uses.iter().filter(|used| is_within(used.span.start)).collect();
    if let Some(first) = variables.first() {
        let names: BTreeSet<&str> = variables.iter().map(|used| used.name).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let message = format!("clusterctl replaces variables in descriptions: {}", names.join(", "));
        let place = source.place_at(first.span.clone());
        report.push(Diagnostic::of(&SUBSTITUTED, message).at(place).help("write `$$` for `$` in descriptions"));
    }
    let escapes: Vec<usize> = source.text().match_indices("$$(").map(|(at, _)| at).filter(|at| is_within(*at)).collect();
    if let Some(first) = escapes.first() {
        let message = format!("clusterctl makes one `$` of `$$` in descriptions, {}", plural(escapes.len(), "time"));
        let place = source.place_at(*first..first + 2);
        report.push(Diagnostic::of(&SUBSTITUTED, message).at(place).help("write `$$$$(` for `$$(`"));
    }
    report
}

fn is_crd(root: &Node) -> bool {
    root.at(&FieldPath::root().field("kind")).and_then(Node::as_str) == Some("CustomResourceDefinition")
}

/// The stretches of all descriptions below a node; the depth is that of the reader's limits.
fn descriptions(node: &Node, found: &mut Vec<Range<usize>>) {
    match &node.value {
        yaml::Value::Mapping(mapping) => {
            for entry in mapping {
                match (&entry.value.value, entry.key.as_str()) {
                    (yaml::Value::String(_), "description") => {
                        found.push(entry.value.span.into());
                    }
                    _ => descriptions(&entry.value, found),
                }
            }
        }
        yaml::Value::Sequence(items) => items.iter().for_each(|item| descriptions(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_in_descriptions_are_found_and_others_are_not() {
        let text = "kind: CustomResourceDefinition\nspec:\n  description: use ${NAME} or $$(VAR)\n  group: ${GROUP}\n---\nkind: ConfigMap\ndescription: ${OTHER}\n";
        let report = substituted(&Source::new("c.yaml", text));
        let found: Vec<_> = report.findings().iter().map(|f| (f.message.as_str(), f.place.span.unwrap().start.line)).collect();
        assert_eq!(
            found,
            [("clusterctl replaces variables in descriptions: NAME", 3), ("clusterctl makes one `$` of `$$` in descriptions, 1 time", 3)]
        );
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
