//! API versions of objects, and of what they refer to, that are no longer served.

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use super::strings;
use windlass_capi::contract::endings::{self, Ending, Project};
use windlass_capi::contract::{CORE_GROUP, book};
use windlass_lint::components::removed;
use windlass_objects::fields;
use windlass_source::diag::{FieldPath, rules};

rules! {
    /// a release no longer serves the API version of an object
    API_VERSION = warning("outlook-api-version"), url(book::CONTRACT_VERSIONS);
}

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    match of_object(document) {
        Some(prediction) => vec![prediction],
        None => of_references(document),
    }
}

fn of_object(document: &Document) -> Option<Prediction> {
    let object = &document.object;
    let path = FieldPath::of_fields("apiVersion");
    if let Some(ending) = endings::api_version(object.api_version(), object.kind()) {
        let message = format!(
            "{} is written in {}, which {} does not serve",
            document.title(),
            object.api_version(),
            Ends::of(ending)
        );
        return Some(Ends::of(ending).predict(
            &API_VERSION,
            message,
            object.place(&path),
            help(ending, object.group(), object.kind()),
        ));
    }
    let (minor, help) = removed::lost_in(object)?;
    let ends = Ends::in_kubernetes(minor)?;
    let message = format!(
        "{} is written in {}, which {} does not serve",
        document.title(),
        object.api_version(),
        ends
    );
    Some(ends.predict(&API_VERSION, message, object.place(&path), help))
}

fn help(ending: &Ending, group: &str, kind: &str) -> String {
    let instead = ending.instead.unwrap_or_default();
    let is_own = group == CORE_GROUP && kind != "MachineDrainRule" || kind.starts_with("Kubeadm");
    let is_converted = is_own
        && ending
            .what
            .first()
            .is_some_and(|what| what.ends_with("/v1beta1"));
    match is_converted {
        true => format!("write `apiVersion: {instead}`; `windlass migrate` converts the object"),
        false => {
            format!("write `apiVersion: {instead}`, and the fields as that version has them")
        }
    }
}

/// References and selectors with an API version of Cluster API.
fn of_references(document: &Document) -> Vec<Prediction> {
    let object = &document.object;
    let mut found = Vec::new();
    if !is_of_cluster_api(object.group()) {
        return found;
    }
    strings::mappings(document, &mut |path, mapping| {
        let (group_version, kind) = (
            fields::text(mapping, &["apiVersion"]),
            fields::kind(mapping),
        );
        let ending = endings::api_version(group_version, kind)
            .filter(|ending| ending.release.project == Project::ClusterApi);
        let Some(ending) = ending else {
            return;
        };
        let message = format!(
            "{path} refers to {kind} in {group_version}, which {} does not serve",
            Ends::of(ending)
        );
        let instead = ending.instead.unwrap_or_default();
        found.push(Ends::of(ending).predict(
            &API_VERSION,
            message,
            object.place(&path.field("apiVersion")),
            format!("write `apiVersion: {instead}`"),
        ));
    });
    found
}

/// Whether a group is one of Cluster API or its providers.
pub(super) fn is_of_cluster_api(group: &str) -> bool {
    group == CORE_GROUP || group.ends_with(".cluster.x-k8s.io")
}
