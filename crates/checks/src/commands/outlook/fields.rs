//! Fields of served versions that a release removes.

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use windlass_capi::contract::endings::{self, Ending, Subject};
use windlass_objects::misfit::Shape;
use windlass_objects::select;
use windlass_source::diag::rules;

rules! {
    /// a release removes a field
    FIELD = warning("outlook-field");
}

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    let facts = endings::endings(Subject::Field).iter();
    facts.flat_map(|ending| of_fact(document, ending)).collect()
}

fn of_fact(document: &Document, ending: &Ending) -> Vec<Prediction> {
    let object = &document.object;
    let [group_version, kind, path] = ending.what[..] else {
        return Vec::new();
    };
    if object.api_version() != group_version || object.kind() != kind {
        return Vec::new();
    }
    let found = select(object.value(), path, Shape::Mapping).found;
    let predictions = found.into_iter().map(|(at, _)| {
        let message = format!("{at} is a field that {} removes", Ends::of(ending));
        let help = match ending.instead {
            Some(instead) => format!("remove it, and write `{instead}` instead"),
            None => "remove it".to_owned(),
        };
        Ends::of(ending).predict(&FIELD, message, object.key_place(&at), help)
    });
    predictions.collect()
}

#[cfg(test)]
mod tests {
    use super::super::documents;
    use super::*;
    use crate::commands::lint::Form;
    use windlass_capi::contract::endings::{Certainty, Project};
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    #[test]
    fn fields_that_a_planned_release_removes_are_warnings() {
        let text = "apiVersion: a.io/v1\nkind: A\nspec: {b: [{c: {}}, {d: {}}]}\n";
        let source = Source::new("x.yaml", text);
        let (documents, _) = documents::read(&source, Form::Objects, &Budget::default());
        let of = |certainty| {
            let ending = Ending {
                subject: Subject::Field,
                what: vec!["a.io/v1", "A", "spec.b[].c"],
                release: endings::release(Project::ClusterApi, "v1.16").unwrap(),
                certainty,
                instead: None,
                source: "https://example.com",
            };
            let found = of_fact(&documents[0], &ending);
            found
                .iter()
                .map(|found| format!("{}: {}", found.finding.rule.id, found.finding.message))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of(Certainty::Planned),
            [
                "outlook-field: spec.b[0].c is a field that Cluster API v1.16 (planned for April 2027) removes"
            ]
        );
        assert_eq!(
            of(Certainty::Tentative),
            [
                "outlook-tentative: spec.b[0].c is a field that Cluster API v1.16 (tentative, about April 2027) removes"
            ]
        );
    }
}
