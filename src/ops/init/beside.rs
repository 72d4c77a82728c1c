//! What the kustomizations take beside the folders of kubebuilder: further objects, and the Namespace.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Made;
use super::layout::parts;
use super::project::Project;
use crate::contract::labels;
use crate::objects::Object;

/// What stands beside kubebuilder's folders.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Files with further objects.
    pub(super) objects: Vec<String>,
    /// `namespaceMetadata`.
    pub(super) namespace: Option<Value>,
}

/// Looks at all that the kustomizations take; what cannot be named is left to a person.
pub(super) fn find(project: &Project<'_>, made: &mut Made) -> Beside {
    let mut beside = Beside::default();
    let layout = project.layout();
    let bases: Vec<String> = layout.folders().collect();
    let mut taken: BTreeSet<String> = bases.iter().flat_map(|base| project.resources(base)).collect();
    taken.extend(project.crds.iter().map(|(path, _)| path.clone()));
    taken.extend(bases.iter().chain(layout.overlays()).cloned());
    for folder in layout.overlays().iter().chain(&bases) {
        for (written, path) in parts(folder, project.kustomization(folder)) {
            if !project.has(&path) {
                let what =
                    "is not read (missing, hidden, a link, or elsewhere): put its files into the project and name them in provider.yaml";
                made.left.push(format!("{folder} takes {written}, which {what}"));
            } else if taken.insert(path.clone()) {
                beside.add(project, [folder.as_str(), &written, &path], made);
            }
        }
        unfollowed(project, folder, made);
    }
    beside
}

impl Beside {
    fn add(&mut self, project: &Project<'_>, [folder, written, path]: [&str; 3], made: &mut Made) {
        let objects = project.objects(path, &mut made.report);
        let (namespaces, others): (Vec<&Object>, Vec<&Object>) = objects.iter().partition(|object| object.kind() == "Namespace");
        if objects.is_empty() {
            made.left.push(format!("{folder} also takes {written}, which is not taken over: name its files under `objects`"));
        } else if namespaces.is_empty() {
            self.objects.push(path.to_owned());
        } else {
            left_beside(path, &others, made);
        }
        self.namespace = self.namespace.take().or_else(|| namespace_metadata(namespaces.first()?));
    }
}

/// What a kustomization makes or changes by other means than files and patches: generators, transformers, replacements.
fn unfollowed(project: &Project<'_>, folder: &str, made: &mut Made) {
    let Some(kustomization) = project.kustomization_file(folder) else { return };
    for (field, sentence) in kustomization.not_followed() {
        // Components are told with the files that they are made of.
        if field != "components" {
            made.left.push(format!(
                "{sentence}: write its objects into files and name them under `objects`, or its changes under `patches`"
            ));
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
