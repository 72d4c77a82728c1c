//! Kinds that a release no longer has, and references to them.

use serde_json::Value;

use super::api_versions::is_of_cluster_api;
use super::documents::Document;
use super::prediction::{Ends, Prediction};
use super::strings;
use windlass_capi::contract::endings::{self, Ending, Subject};
use windlass_objects::fields;
use windlass_source::diag::{FieldPath, rules};

rules! {
    /// a release removes the kind of an object
    KIND = warning("outlook-kind");
}

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    let object = &document.object;
    let mut found = Vec::new();
    if let Some(ending) = ending(object.group(), object.kind()) {
        let message = format!(
            "{} is a {}, a kind that {} does not have",
            document.title(),
            object.kind(),
            Ends::of(ending)
        );
        let instead = ending.instead.unwrap_or_default();
        let help = format!(
            "write `kind: {instead}`, which has the fields of a {} under `backend.docker`",
            object.kind()
        );
        let place = object.place(&FieldPath::of_fields("kind"));
        found.push(Ends::of(ending).predict(&KIND, message, place, help));
    }
    if is_of_cluster_api(object.group()) {
        strings::mappings(document, &mut |path, mapping| {
            found.extend(of_reference(document, path, mapping));
        });
    }
    found
}

fn ending(group: &str, kind: &str) -> Option<&'static Ending> {
    endings::endings(Subject::Kind)
        .iter()
        .find(|ending| ending.what == [group, kind])
}

fn of_reference(document: &Document, path: &FieldPath, mapping: &Value) -> Option<Prediction> {
    let group = match fields::text(mapping, &["apiGroup"]) {
        "" => fields::group_version(mapping).0,
        group => group,
    };
    let kind = fields::kind(mapping);
    let ending = ending(group, kind)?;
    let message = format!(
        "{path} refers to a {kind}, a kind that {} does not have",
        Ends::of(ending)
    );
    let instead = ending.instead.unwrap_or_default();
    let place = document.object.place(&path.field("kind"));
    let help = format!("refer to a {instead}: `kind: {instead}`");
    Some(Ends::of(ending).predict(&KIND, message, place, help))
}
