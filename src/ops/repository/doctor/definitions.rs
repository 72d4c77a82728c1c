//! CRDs: names and contract labels that the core computes with, and texts that clusterctl's substitution eats.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::contract::book;
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::emit::metadata::MetadataFile;
use crate::lint::definitions;
use crate::objects::Object;
use crate::report::text::plural;
use crate::text::budget::Budget;
use crate::text::envsubst;
use crate::text::source::Source;
use crate::text::yaml::{self, Node};

rules! {
    /// clusterctl substitutes variables in the description of a CRD
    SUBSTITUTED = warning("crd-text-substituted"), url(book::VARIABLES);
}

/// Judges the CRDs among the objects; only kinds that the core looks up by contract need its labels.
pub(super) fn check(objects: &[Object], metadata: Option<&MetadataFile>, has_contract: bool) -> Report {
    let crds: Vec<&Object> = objects.iter().filter(|object| object.kind() == "CustomResourceDefinition").collect();
    let mut report: Report = crds.iter().flat_map(|crd| definitions::check(crd)).collect();
    let newest =
        |metadata: &MetadataFile| metadata.metadata.release_series.iter().max_by_key(|series| (series.major, series.minor)).cloned();
    let promised = metadata.filter(|_| has_contract).and_then(|metadata| Some((metadata, newest(metadata)?)));
    report.extend(
        promised
            .and_then(|(metadata, series)| definitions::promise(&series.contract, crds.iter().copied(), &metadata.series_place(&series))),
    );
    report
}

/// Variables and escapes in descriptions, where nobody meant any.
pub(super) fn substituted(source: &Source, budget: &Budget) -> Report {
    let mut report = Report::new();
    if !source.text().contains('$') {
        return report;
    }
    let Ok(template) = envsubst::parse(source.text()) else { return report };
    let parsed = yaml::parse(source, budget);
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
        let report = substituted(&Source::new("c.yaml", text), &Budget::default());
        let found: Vec<_> = report.findings().iter().map(|f| (f.message.as_str(), f.place.span.unwrap().start.line)).collect();
        assert_eq!(
            found,
            [("clusterctl replaces variables in descriptions: NAME", 3), ("clusterctl makes one `$` of `$$` in descriptions, 1 time", 3)]
        );
    }
}
