//! What the kustomizations take beside the folders of kubebuilder: further objects, and the Namespace.

use serde_json::{Map, Value};

use super::Made;
use super::overlays::{BASES, parts};
use super::project::Project;
use crate::contract::labels;
use crate::diag::FieldPath;
use crate::objects::Object;
use crate::provider::{Action, Change};

/// What stands beside kubebuilder's folders.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Files with further objects.
    pub(super) objects: Vec<String>,
    /// `namespaceMetadata`.
    pub(super) namespace: Option<Value>,
}

/// Looks at all that the overlays take; what cannot be named is left to a person.
pub(super) fn find(project: &Project<'_>, made: &mut Made) -> Beside {
    let mut beside = Beside::default();
    for overlay in project.overlays() {
        for (written, path) in parts(overlay, &project.kustomization(overlay)) {
            if BASES.contains(&path.as_str()) || project.overlays().contains(&path) || beside.objects.contains(&path) {
                continue;
            }
            let objects = project.objects(&path, &mut made.report);
            let (namespaces, others): (Vec<&Object>, Vec<&Object>) = objects.iter().partition(|object| object.kind() == "Namespace");
            if objects.is_empty() {
                made.left.push(format!("{overlay} also takes {written}, which is not taken over: name its files under `objects`"));
            } else if namespaces.is_empty() {
                beside.objects.push(path);
            } else if !others.is_empty() {
                left_beside(&path, &others, made);
            }
            beside.namespace = beside.namespace.take().or_else(|| namespace_metadata(namespaces.first()?));
        }
    }
    for folder in project.overlays().iter().map(String::as_str).chain(BASES) {
        unfollowed(project, folder, made);
    }
    beside
}

/// What a kustomization makes or changes by other means than files and patches: generators, transformers, replacements.
fn unfollowed(project: &Project<'_>, folder: &str, made: &mut Made) {
    let Some(kustomization) = project.kustomization_file(folder) else { return };
    let components = FieldPath::root().field("components");
    for Change { place, action } in kustomization.changes(project.budget()) {
        // Patches are told with what they are for, and components with the files that they are made of.
        let is_whole_field = place.path.segments().len() == 1 && place.path != components;
        if let (true, Action::NotFollowed(sentence)) = (is_whole_field, action) {
            made.left.push(format!("{sentence}: write it into files, and name them under `objects`"));
        }
    }
}

/// Labels and annotations of the Namespace beyond kubebuilder's own.
pub(super) fn namespace_metadata(namespace: &Object) -> Option<Value> {
    let mut metadata = Map::new();
    for field in ["labels", "annotations"] {
        let own = namespace.field(&["metadata", field]).and_then(Value::as_object).into_iter().flatten();
        let own: Map<String, Value> =
            own.filter(|(key, _)| *key != labels::KUBEBUILDER_CONTROL_PLANE).map(|(key, value)| (key.clone(), value.clone())).collect();
        if !own.is_empty() {
            metadata.insert(field.to_owned(), Value::Object(own));
        }
    }
    (!metadata.is_empty()).then_some(Value::Object(metadata))
}

/// What stands in a file beside that which is made, and so cannot be named there.
pub(super) fn left_beside(file: &str, others: &[&Object], made: &mut Made) {
    let others: Vec<String> = others.iter().map(|object| object.title()).collect();
    if !others.is_empty() {
        made.left.push(format!("objects: move {} from {file} into a file of their own and name it there", others.join(", ")));
    }
}
