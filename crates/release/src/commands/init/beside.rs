//! What the kustomizations take beside the folders of kubebuilder: further objects, and the
//! Namespace.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Made;
use super::layout::{Base, parts};
use super::project::Project;
use windlass_capi::contract::labels;
use windlass_objects::Object;

/// What is beside kubebuilder's folders.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Files with further objects.
    pub(super) objects: Vec<String>,
    /// `namespaceMetadata`.
    pub(super) namespace: Option<Value>,
}

/// Looks at all that the kustomizations take; what cannot be named is left to a person. What
/// webhooks need is made if there are some.
pub(super) fn find(project: &Project<'_>, has_webhooks: bool, made: &mut Made) -> Beside {
    let mut beside = Beside::default();
    let layout = project.layout();
    let bases: Vec<String> = layout.folders().collect();
    let mut taken: BTreeSet<String> = bases
        .iter()
        .flat_map(|base| project.resources(base))
        .collect();
    taken.extend(project.crds.iter().map(|(path, _)| path.clone()));
    taken.extend(bases.iter().chain(layout.overlays()).cloned());
    let left_out: Vec<String> = layout.left_out().collect();
    let bases = bases.iter().filter(|base| !left_out.contains(base));
    for base in bases
        .clone()
        .filter(|base| layout.base(base) != Some(Base::Crds))
    {
        unread(project, base, made);
    }
    for folder in layout.overlays().iter().chain(bases) {
        for (written, path) in parts(folder, project.kustomization(folder)) {
            if !project.has(&path) {
                let what = "is not read (missing, hidden, a link, or elsewhere): put its files into the project and name them in provider.yaml";
                made.left
                    .push(format!("{folder} takes {written}, which {what}"));
            } else if taken.insert(path.clone()) {
                beside.add(project, [folder.as_str(), &written, &path], made);
            }
        }
        unfollowed(project, folder, made);
    }
    for folder in left_out.iter().filter(|folder| project.has(folder)) {
        made.assumed.push(format!(
            "{folder} is left out, because no kustomization that config/default leads to takes it"
        ));
    }
    for base in [Base::Webhooks, Base::Certificates] {
        for file in project.files_of(base) {
            beside.add_foreign(project, &file, has_webhooks, made);
        }
    }
    beside
}

impl Beside {
    fn add(&mut self, project: &Project<'_>, [folder, written, path]: [&str; 3], made: &mut Made) {
        let objects = project.objects(path, &mut made.report);
        let (namespaces, others): (Vec<&Object>, Vec<&Object>) = objects
            .iter()
            .partition(|object| object.kind() == "Namespace");
        if objects.is_empty() {
            made.left.push(format!("{folder} also takes {written}, which is not taken over: name its files under `objects`"));
        } else if namespaces.is_empty() {
            self.objects.push(path.to_owned());
        } else {
            left_beside(path, &others, made);
        }
        self.namespace = self
            .namespace
            .take()
            .or_else(|| namespace_metadata(namespaces.first()?));
    }

    /// What a file of webhooks or certificates has beyond what is made.
    fn add_foreign(
        &mut self,
        project: &Project<'_>,
        file: &str,
        has_webhooks: bool,
        made: &mut Made,
    ) {
        let objects = project.objects(file, &mut made.report);
        let foreign: Vec<&Object> = objects
            .iter()
            .filter(|object| !is_made(object, has_webhooks))
            .collect();
        if foreign.iter().any(|object| object.kind() == "Certificate") {
            let titles: Vec<String> = foreign.iter().map(|object| object.title()).collect();
            made.left.push(format!(
                "objects: {} of {file} is not taken over, because kustomize fills in names there: write them, and name the file",
                titles.join(", ")
            ));
        } else if foreign.len() == objects.len() && !objects.is_empty() {
            self.objects.push(file.to_owned());
        } else {
            left_beside(file, &foreign, made);
        }
    }
}

/// What a kustomization of kubebuilder's folders puts on objects: nobody reads it there.
fn unread(project: &Project<'_>, folder: &str, made: &mut Made) {
    let Some(kustomization) = project.kustomization_file(folder) else {
        return;
    };
    for field in [
        "namePrefix",
        "nameSuffix",
        "commonLabels",
        "labels",
        "commonAnnotations",
    ] {
        if !kustomization.value()[field].is_null() {
            let file = kustomization.source().name();
            made.left.push(format!("`{field}` of {file} is not taken over: write what it changes into the files that it is for"));
        }
    }
}

/// What a release with webhooks has, by kind and name of kubebuilder.
const OF_WEBHOOKS: [(&str, &str); 3] = [
    ("Service", "webhook-service"),
    ("Issuer", "selfsigned-issuer"),
    ("Certificate", "serving-cert"),
];

/// Whether a release has an object of the folders of webhooks and certificates anyway, or
/// provider.yaml names it under `manager.webhooks`.
fn is_made(object: &Object, has_webhooks: bool) -> bool {
    is_of_webhooks(object)
        || (has_webhooks && OF_WEBHOOKS.contains(&(object.kind(), object.name())))
}

/// Whether an object says which webhooks are called.
pub(super) fn is_of_webhooks(object: &Object) -> bool {
    [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ]
    .contains(&object.kind())
}

/// What a kustomization makes or changes by other means than files and patches: generators,
/// transformers, replacements.
fn unfollowed(project: &Project<'_>, folder: &str, made: &mut Made) {
    let Some(kustomization) = project.kustomization_file(folder) else {
        return;
    };
    for (field, sentence) in kustomization.not_followed() {
        // Components are reported with the files that they are made of.
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
        let own = namespace
            .field(&["metadata", field])
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let own: Map<String, Value> = own
            .filter(|(key, _)| *key != labels::KUBEBUILDER_CONTROL_PLANE)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !own.is_empty() {
            metadata.insert(field.to_owned(), Value::Object(own));
        }
    }
    (!metadata.is_empty()).then_some(Value::Object(metadata))
}

/// What is in a file beside that which is made, and so cannot be named there.
pub(super) fn left_beside(file: &str, others: &[&Object], made: &mut Made) {
    let others: Vec<String> = others.iter().map(|object| object.title()).collect();
    if !others.is_empty() {
        made.left.push(format!(
            "objects: move {} from {file} into a file of their own and name it there",
            others.join(", ")
        ));
    }
}
