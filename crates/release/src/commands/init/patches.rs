//! The patches of a project's kustomizations: provider.yaml names them as they are, but those of
//! which a release has everything anyway.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Made;
use super::contract_labels::labels_for_contracts;
use super::layout::Base;
use super::project::Project;
use crate::emit::manager::{deployment, namespace};
use crate::emit::names::Names;
use crate::emit::webhooks;
use windlass_capi::contract::MANAGER_CONTAINER;
use windlass_objects::{Object, fields};
use windlass_provider::{Action, Change, Kustomization, ObjectPatch, Patch, Provider};
use windlass_source::diag::Report;
use windlass_source::glob::{matches, plain};

/// Words in the names of patches that give what is made: mount and port of webhooks, CA injection,
/// conversion. What they have beyond it is reported when the release is built.
const MADE: [&str; 2] = ["webhook", "cainjection"];

/// The patches of a project, in the order in which kustomize applies them.
pub(super) struct Patches {
    entries: Vec<Entry>,
}

/// An entry of a kustomization.
struct Entry {
    folder: String,
    /// Which folder of kubebuilder that is.
    base: Option<Base>,
    /// Its file as the kustomization has it; empty without one.
    file: String,
    title: String,
    /// What provider.yaml says for it.
    entry: ObjectPatch,
    changes: Vec<Change>,
}

/// Something that a patch can be for.
struct Known {
    identity: [String; 3],
    /// The names under which patches know it.
    names: Vec<String>,
}

impl Known {
    fn of(object: &Object, names: &Names) -> Self {
        Known {
            identity: [object.group(), object.version(), object.kind()].map(str::to_owned),
            names: names
                .unstamped(object.name())
                .into_iter()
                .map(str::to_owned)
                .collect(),
        }
    }

    fn is_meant(&self, patch: &Patch) -> bool {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        patch
            .target
            .fits(self.identity.each_ref().map(String::as_str), &names)
    }
}

impl Patches {
    /// Reads the patches of kubebuilder's folders, and then those of what is around them.
    pub(super) fn read(project: &Project<'_>) -> Self {
        let layout = project.layout();
        let folders = layout
            .folders()
            .chain(layout.overlays().iter().rev().cloned());
        Patches {
            entries: folders
                .flat_map(|folder| of_folder(project, &folder))
                .collect(),
        }
    }

    /// The contract labels that patches give a CRD, with their values; those of contracts that are
    /// no more are among them.
    pub(super) fn labels_of(&self, crd: &Object) -> BTreeMap<String, String> {
        let entries = self
            .entries
            .iter()
            .filter(|entry| entry.base == Some(Base::Crds));
        let meant = entries.flat_map(Entry::patches).filter(|patch| {
            patch
                .target
                .fits([crd.group(), crd.version(), crd.kind()], &[crd.name()])
        });
        meant
            .flat_map(|patch| labels_for_contracts(&patch.content))
            .map(|(key, versions)| (key.to_owned(), versions.to_owned()))
            .collect()
    }

    /// The image that the patches of a folder give the manager.
    pub(super) fn image(&self, folder: &str) -> Option<&str> {
        let entries = self.entries.iter().filter(|entry| entry.folder == folder);
        entries
            .flat_map(Entry::merges)
            .filter_map(|merge| manager_of(merge)?.get("image")?.as_str())
            .last()
    }

    /// Whether a CRD gets a conversion. Which one a patch is for that cannot be read, kubebuilder's
    /// name for it does not tell: it counts for all.
    pub(super) fn convert(&self, crd: &Object) -> bool {
        let converts = |change: &Change| match &change.action {
            Action::Patch(patch) => {
                sets_conversion(&patch.content)
                    && patch
                        .target
                        .fits([crd.group(), crd.version(), crd.kind()], &[crd.name()])
            }
            Action::Broken(_) => true,
            _ => false,
        };
        let of_webhooks = self
            .entries
            .iter()
            .filter(|entry| entry.base == Some(Base::Crds) && entry.file.contains("webhook"));
        of_webhooks.flat_map(|entry| &entry.changes).any(converts)
    }

    /// Whether one gives the manager probes.
    pub(super) fn probe(&self) -> bool {
        let has_probe = |merge: &Value| {
            manager_of(merge).is_some_and(|manager| {
                ["livenessProbe", "readinessProbe"]
                    .iter()
                    .any(|probe| manager.get(probe).is_some())
            })
        };
        self.entries.iter().flat_map(Entry::merges).any(has_probe)
    }

    /// `patches` of provider.yaml; those that cannot be named there are left to a person.
    pub(super) fn named(
        &self,
        project: &Project<'_>,
        provider: &Provider,
        made: &mut Made,
    ) -> Vec<Value> {
        let (known, mut named) = (known(project, provider), Vec::new());
        for entry in self.entries.iter().filter(|entry| !entry.is_made()) {
            if project
                .budget()
                .charge(10 * known.len() * entry.changes.len().max(1))
                .is_err()
            {
                made.left.push(format!("{} and the patches after it are too many to compare: name them under `patches`", entry.title));
                break;
            }
            match entry.obstacle(&known) {
                None => named.push(json!(entry.entry)),
                Some(why) => made.left.push(why),
            }
        }
        if !named.is_empty() {
            made.assumed.push("patches: those of the kustomizations, but for image, webhooks, conversion and CA injection".to_owned());
        }
        named
    }
}

fn of_folder(project: &Project<'_>, folder: &str) -> Vec<Entry> {
    let Some(kustomization) = project.kustomization_file(folder) else {
        return Vec::new();
    };
    let entries = kustomization.patches(project.budget()).into_iter();
    let base = project.layout().base(folder);
    entries
        .map(|(entry, changes)| Entry::new((folder, base), kustomization, entry, changes))
        .collect()
}

impl Entry {
    fn new(
        (folder, base): (&str, Option<Base>),
        kustomization: &Kustomization,
        mut entry: ObjectPatch,
        changes: Vec<Change>,
    ) -> Self {
        let target = entry
            .target
            .as_ref()
            .and_then(|target| target.name.as_deref())
            .unwrap_or("an object");
        let file = entry.path.take().unwrap_or_default();
        if !file.is_empty() {
            entry.path = Some(plain(&format!("{folder}/{file}")));
        }
        let title = match &entry.path {
            Some(path) => path.clone(),
            None => format!("the patch of {target} in {}", kustomization.source().name()),
        };
        Entry {
            folder: folder.to_owned(),
            base,
            file,
            title,
            entry,
            changes,
        }
    }

    /// Whether a release has what it says, or it says nothing.
    fn is_made(&self) -> bool {
        let is_given = |merge: &Value| {
            is_image_alone(merge) || (self.base == Some(Base::Crds) && is_of_contract_labels(merge))
        };
        MADE.iter().any(|word| self.file.contains(word))
            || (self.merges().count() == self.changes.len() && self.merges().all(is_given))
    }

    fn patches(&self) -> impl Iterator<Item = &Patch> {
        self.changes
            .iter()
            .filter_map(|change| match &change.action {
                Action::Patch(patch) => Some(patch),
                _ => None,
            })
    }

    fn merges(&self) -> impl Iterator<Item = &Value> {
        self.patches()
            .map(|patch| &patch.content)
            .filter(|content| content.is_object())
    }

    /// Why provider.yaml cannot name it, and what to do.
    fn obstacle(&self, known: &[Known]) -> Option<String> {
        for change in &self.changes {
            match &change.action {
                Action::NotFollowed(sentence) => {
                    return Some(format!(
                        "{sentence}: write what it changes {}",
                        self.elsewhere()
                    ));
                }
                Action::Broken(sentence) => {
                    return Some(format!(
                        "{sentence}: correct it, or remove it if it is not needed"
                    ));
                }
                _ => {}
            }
        }
        if self.patches().any(|patch| sets_image(&patch.content)) {
            let why = "also sets the image, which has the version of the release as its tag";
            return Some(format!(
                "{} {why}: take the image out, and name the rest under `patches`",
                self.title
            ));
        }
        let unmatched = self
            .patches()
            .filter(|patch| !known.iter().any(|known| known.is_meant(patch)))
            .count();
        let why = match unmatched {
            0 => return None,
            all if all == self.changes.len() => "is for no object that is taken over",
            _ => "is also for objects that are not taken over",
        };
        Some(format!(
            "{} {why}: write what it changes {}",
            self.title,
            self.elsewhere()
        ))
    }

    /// Where else its changes can be said.
    fn elsewhere(&self) -> &'static str {
        match self.base {
            Some(Base::Crds) => {
                "under `crdMetadata` if it is labels or annotations, else into the CRDs, or what makes them"
            }
            Some(_) => "in the files that it patches",
            None => {
                "under `manager.patch` if it is for the manager, else in the files that it patches"
            }
        }
    }
}

/// Whether a patch sets `spec.conversion`, or a part of it.
fn sets_conversion(content: &Value) -> bool {
    let operations = content
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|operation| operation["path"].as_str());
    content.pointer("/spec/conversion").is_some()
        || operations
            .into_iter()
            .any(|path| path.starts_with("/spec/conversion"))
}

/// What a merge patch says of the manager's container.
fn manager_of(merge: &Value) -> Option<&Value> {
    fields::items(merge, &["spec", "template", "spec", "containers"])
        .iter()
        .find(|container| container["name"] == MANAGER_CONTAINER)
}

/// Whether a patch sets the image of the manager.
fn sets_image(content: &Value) -> bool {
    let operations = content
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|operation| operation["path"].as_str());
    let is_image = |path: &str| path.contains("/containers/") && path.ends_with("/image");
    manager_of(content).is_some_and(|manager| manager.get("image").is_some())
        || operations.into_iter().any(is_image)
}

/// Whether a map has these fields, and no others.
fn has_only(value: &Value, fields: &[&str]) -> bool {
    value
        .as_object()
        .is_some_and(|map| map.keys().all(|key| fields.contains(&key.as_str())))
}

/// Whether a merge patch says nothing but the image of the manager.
fn is_image_alone(merge: &Value) -> bool {
    let containers = fields::items(merge, &["spec", "template", "spec", "containers"]);
    has_only(merge, &["apiVersion", "kind", "metadata", "spec"])
        && has_only(&merge["metadata"], &["name", "namespace"])
        && has_only(&merge["spec"], &["template"])
        && has_only(&merge["spec"]["template"], &["spec"])
        && has_only(&merge["spec"]["template"]["spec"], &["containers"])
        && matches!(containers, [manager] if manager["name"] == MANAGER_CONTAINER && has_only(manager, &["name", "image"]))
}

/// Whether a merge patch says nothing but contract labels.
fn is_of_contract_labels(merge: &Value) -> bool {
    let labels = merge
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
        .map_or(0, Map::len);
    has_only(merge, &["apiVersion", "kind", "metadata"])
        && has_only(&merge["metadata"], &["name", "labels"])
        && labels > 0
        && labels_for_contracts(merge).count() == labels
}

/// What patches can be for: the objects of the files that provider.yaml names, and those that are
/// made.
fn known(project: &Project<'_>, provider: &Provider) -> Vec<Known> {
    let names = Names::of(provider);
    let label = provider.label();
    let mut made = vec![namespace(&names, None)];
    let mut files: Vec<&String> = provider
        .rbac
        .iter()
        .flat_map(|rbac| &rbac.roles)
        .chain(&provider.objects)
        .collect();
    if let Some(manager) = &provider.manager {
        files.extend(&manager.webhooks);
        made.push(deployment(&names, &label, manager, &manager.image, false));
        if manager.has_conversion() || !manager.webhooks.is_empty() {
            made.extend([
                webhooks::service(&names, &label),
                webhooks::certificate(&names),
                webhooks::issuer(&names),
            ]);
        }
    }
    let taken = provider.crd_files();
    let is_taken = |path: &str| taken.iter().any(|pattern| matches(pattern, path));
    let crds = project
        .crds
        .iter()
        .filter(|(path, _)| is_taken(path))
        .map(|(_, crd)| crd.clone());
    // What is wrong with the files was said when they were read first.
    let of_files = files
        .iter()
        .flat_map(|file| project.objects(file, &mut Report::new()));
    let all = crds
        .chain(of_files)
        .chain(made.into_iter().map(Object::made));
    all.map(|object| Known::of(&object, &names)).collect()
}
