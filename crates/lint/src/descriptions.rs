//! Texts of CRDs that clusterctl's substitution eats.

use std::collections::BTreeSet;
use std::ops::Range;

use windlass_capi::contract::book;
use windlass_envsubst::Template;
use windlass_go_yaml::yaml::{self, Document, Node};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, Segment, rules};

rules! {
    /// clusterctl substitutes variables in the description of a CRD
    SUBSTITUTED = warning("crd-text-substituted"), url(book::VARIABLES);
}

/// Checks descriptions, in which a variable or an escape is not intended.
pub(super) fn check(source: &Source, template: &Template<'_>, documents: &[Document]) -> Report {
    if !source.text().contains('$') {
        return Report::new();
    }
    let described = Described::of(source, documents);
    let mut report = Report::new();
    let variables: Vec<_> = template
        .uses()
        .into_iter()
        .filter_map(|used| Some((described.place(used.span.clone())?, used.name)))
        .collect();
    if let Some((place, _)) = variables.first() {
        let names: BTreeSet<&str> = variables.iter().map(|(_, name)| *name).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let message = format!(
            "clusterctl replaces variables in descriptions: {}",
            names.join(", ")
        );
        report.push(
            Diagnostic::of(&SUBSTITUTED, message)
                .at(place.clone())
                .help("write `$$` for `$` in descriptions"),
        );
    }
    // Of `$$$$(`, which is the escape, two stay.
    let is_pair = |at: usize| !source.text()[..at].ends_with('$');
    let pairs = source
        .text()
        .match_indices("$$(")
        .map(|(at, _)| at)
        .filter(|at| is_pair(*at));
    let escapes: Vec<Place> = pairs.filter_map(|at| described.place(at..at + 2)).collect();
    if let Some(first) = escapes.first() {
        let times = if escapes.len() == 1 {
            "1 time".to_owned()
        } else {
            format!("{} times", escapes.len())
        };
        let message = format!("clusterctl makes one `$` of `$$` in descriptions, {times}");
        report.push(
            Diagnostic::of(&SUBSTITUTED, message)
                .at(first.clone())
                .help("write `$$$$(` for `$$(`"),
        );
    }
    report
}

/// The descriptions of all CRDs of a file, in their order: where each stands, in which document, at
/// which path.
struct Described<'s> {
    source: &'s Source,
    found: Vec<(Range<usize>, usize, FieldPath)>,
}

impl<'s> Described<'s> {
    fn of(source: &'s Source, documents: &[Document]) -> Self {
        let mut found = Vec::new();
        for document in documents.iter().filter(|document| is_crd(&document.root)) {
            descriptions(&document.root, &mut FieldPath::root(), &mut |span, path| {
                found.push((span, document.index, path))
            });
        }
        found.sort_by_key(|(span, ..)| span.start);
        Described { source, found }
    }

    /// The place of a stretch of text, when it begins in a description.
    fn place(&self, stretch: Range<usize>) -> Option<Place> {
        let after = self
            .found
            .partition_point(|(span, ..)| span.start <= stretch.start);
        let (_, document, path) = self.found[..after]
            .last()
            .filter(|(span, ..)| span.contains(&stretch.start))?;
        Some(
            self.source
                .place_at(stretch)
                .in_document(*document)
                .at_path(path.clone()),
        )
    }
}

fn is_crd(root: &Node) -> bool {
    root.at(&FieldPath::root().field("kind"))
        .and_then(Node::as_str)
        == Some("CustomResourceDefinition")
}

/// Goes through all descriptions below a node; the depth is that of the reader's limits.
fn descriptions(node: &Node, path: &mut FieldPath, take: &mut impl FnMut(Range<usize>, FieldPath)) {
    match &node.value {
        yaml::Value::Mapping(mapping) => {
            for entry in mapping {
                path.push(Segment::Field(entry.key.clone()));
                match (&entry.value.value, entry.key.as_str()) {
                    (yaml::Value::String(_), "description") => {
                        take(entry.value.span.into(), path.clone())
                    }
                    _ => descriptions(&entry.value, path, take),
                }
                path.pop();
            }
        }
        yaml::Value::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push(Segment::Index(at));
                descriptions(item, path, take);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_envsubst as envsubst;

    #[test]
    fn variables_in_descriptions_are_found_and_others_are_not() {
        let text = "kind: CustomResourceDefinition\nspec:\n  description: use ${NAME} or $$(VAR)\n  group: ${GROUP}\n---\nkind: ConfigMap\ndescription: ${OTHER}\n";
        let source = Source::new("c.yaml", text);
        let (template, documents) = (
            envsubst::parse(text).unwrap(),
            yaml::parse(&source, &windlass_source::budget::Budget::default()).documents,
        );
        let report = check(&source, &template, &documents);
        let found: Vec<_> = report
            .findings()
            .iter()
            .map(|f| (f.message.as_str(), f.place.span.unwrap().start.line))
            .collect();
        assert_eq!(
            found,
            [
                ("clusterctl replaces variables in descriptions: NAME", 3),
                (
                    "clusterctl makes one `$` of `$$` in descriptions, 1 time",
                    3
                )
            ]
        );
    }
}
