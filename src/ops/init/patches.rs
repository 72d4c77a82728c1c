//! The patches of a project's kustomizations: provider.yaml names them as they are, but those of which a release has everything anyway.

use serde_json::{Map, Value, json};

use super::Made;
use super::definitions::{CRDS, contract_labels};
use super::overlays::BASES;
use super::project::Project;
use crate::contract::labels;
use crate::diag::Report;
use crate::emit::manager::{deployment, namespace};
use crate::emit::names::Names;
use crate::emit::webhooks;
use crate::objects::Object;
use crate::provider::{Action, Change, Kustomization, ObjectPatch, Provider};
use crate::text::glob::plain;
use crate::text::source::Source;

/// Words in the names of patches that give what is made: mount and port of webhooks, CA injection, conversion; and the image, which is taken
/// over.
const MADE: [&str; 3] = ["webhook", "cainjection", "image"];

/// The patches of a project, in the order in which kustomize applies them.
pub(super) struct Patches {
    entries: Vec<Entry>,
}

/// An entry of a kustomization.
struct Entry {
    /// The folder of the kustomization.
    folder: String,
    /// What a person calls it.
    title: String,
    /// What provider.yaml says for it.
    entry: ObjectPatch,
    changes: Vec<Change>,
}

/// Something that a patch can be for.
struct Known {
    identity: [String; 3],
    name: String,
}

impl Known {
    fn of(object: &Object) -> Self {
        Known { identity: [object.group(), object.version(), object.kind()].map(str::to_owned), name: object.name().to_owned() }
    }
}

impl Patches {
    /// Reads the patches of kubebuilder's folders, and then those of what is around them.
    pub(super) fn read(project: &Project<'_>) -> Self {
        let around = project.overlays().iter().rev().map(String::as_str);
        let folders = BASES.into_iter().chain(around);
        Patches { entries: folders.flat_map(|folder| of_folder(project, folder)).collect() }
    }

    /// What patches merge into CRDs.
    pub(super) fn merges(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().filter(|entry| entry.folder == CRDS).flat_map(Entry::merges)
    }

    /// Whether a CRD gets a conversion. Which one a patch is for that cannot be read, kubebuilder's name for it does not tell: it counts for all.
    pub(super) fn convert(&self, crd: &Object) -> bool {
        let converts = |change: &Change| match &change.action {
            Action::Patch(patch) => {
                sets_conversion(&patch.content) && patch.target.fits([crd.group(), crd.version(), crd.kind()], &[crd.name()])
            }
            Action::Broken(_) => true,
            _ => false,
        };
        let of_webhooks = self.entries.iter().filter(|entry| entry.folder == CRDS && entry.is_made());
        of_webhooks.filter(|entry| entry.has_word("webhook")).any(|entry| entry.changes.iter().any(converts))
    }

    /// `patches` of provider.yaml; those that cannot be named there are left to a person.
    pub(super) fn named(&self, project: &Project<'_>, provider: &Provider, contracts: &Map<String, Value>, made: &mut Made) -> Vec<Value> {
        let (names, known, mut named) = (Names::of(provider), known(project, provider), Vec::new());
        for entry in self.entries.iter().filter(|entry| !entry.is_made() && !entry.is_labelled_anyway(contracts)) {
            match entry.obstacle(&names, &known) {
                None => named.push(json!(entry.entry)),
                Some(why) => made.left.push(format!("{why}: write what it changes {}", entry.elsewhere())),
            }
        }
        if !named.is_empty() {
            made.assumed.push("patches: those of the kustomizations, but for image, webhooks, conversion and CA injection".to_owned());
        }
        named
    }
}

/// The patches of one kustomization.
fn of_folder(project: &Project<'_>, folder: &str) -> Vec<Entry> {
    let Some(mut kustomization) = project.kustomization_file(folder) else { return Vec::new() };
    for file in kustomization.patch_files() {
        let path = plain(&format!("{folder}/{file}"));
        if let Some(text) = project.text(&path) {
            kustomization.insert(file, Source::new(path, text));
        }
    }
    let entries = kustomization.patches(project.budget()).into_iter();
    entries.map(|(entry, changes)| Entry::new(folder, &kustomization, entry, changes)).collect()
}

impl Entry {
    fn new(folder: &str, kustomization: &Kustomization, mut entry: ObjectPatch, changes: Vec<Change>) -> Self {
        let target = entry.target.as_ref().and_then(|target| target.name.as_deref()).unwrap_or("an object");
        entry.path = entry.path.map(|file| plain(&format!("{folder}/{file}")));
        let title = match &entry.path {
            Some(path) => path.clone(),
            None => format!("the patch of {target} in {}", kustomization.source().name()),
        };
        Entry { folder: folder.to_owned(), title, entry, changes }
    }

    fn is_made(&self) -> bool {
        MADE.iter().any(|word| self.has_word(word))
    }

    /// Whether the path of its file has a word, as seen from the kustomization.
    fn has_word(&self, word: &str) -> bool {
        let file = self.entry.path.as_deref().and_then(|path| path.strip_prefix(&self.folder)).unwrap_or_default();
        file.contains(word)
    }

    /// What it merges into objects.
    fn merges(&self) -> impl Iterator<Item = &Value> {
        self.changes.iter().filter_map(|change| match &change.action {
            Action::Patch(patch) if patch.content.is_object() => Some(&patch.content),
            _ => None,
        })
    }

    /// Whether it only puts labels on CRDs that they get by `contracts`.
    fn is_labelled_anyway(&self, contracts: &Map<String, Value>) -> bool {
        let is_given = |(contract, versions): (&str, &str)| {
            let given = contracts.get(contract).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            given.eq(versions.split(labels::CONTRACT_VERSIONS_SEPARATOR))
        };
        let is_moot = |merge: &Value| is_of_contract_labels(merge) && contract_labels(merge).all(is_given);
        self.folder == CRDS && !self.changes.is_empty() && self.merges().count() == self.changes.len() && self.merges().all(is_moot)
    }

    /// Why provider.yaml cannot name it.
    fn obstacle(&self, names: &Names, known: &[Known]) -> Option<String> {
        let mut unmatched = 0;
        for change in &self.changes {
            match &change.action {
                Action::NotFollowed(sentence) | Action::Broken(sentence) => return Some(sentence.clone()),
                Action::Patch(patch) => {
                    let is_meant =
                        |known: &Known| patch.target.fits(known.identity.each_ref().map(String::as_str), &names.unstamped(&known.name));
                    unmatched += usize::from(!known.iter().any(is_meant));
                }
                Action::Metadata(..) | Action::NameSuffix(_) => {}
            }
        }
        match unmatched {
            0 => None,
            all if all == self.changes.len() => Some(format!("{} is for no object that is taken over", self.title)),
            _ => Some(format!("{} is also for objects that are not taken over", self.title)),
        }
    }

    /// Where else its changes can be said.
    fn elsewhere(&self) -> &'static str {
        match self.folder.as_str() {
            CRDS => "under `crdMetadata` if it is labels or annotations, else into the CRDs, or what makes them",
            folder if BASES.contains(&folder) => "into the files that it is for",
            _ => "under `manager.patch` if it is for the manager, else into the files that it is for",
        }
    }
}

/// Whether a patch sets `spec.conversion`, or a part of it.
fn sets_conversion(content: &Value) -> bool {
    let operations = content.as_array().into_iter().flatten().filter_map(|operation| operation["path"].as_str());
    content.pointer("/spec/conversion").is_some() || operations.into_iter().any(|path| path.starts_with("/spec/conversion"))
}

/// Whether a merge patch says nothing but contract labels.
fn is_of_contract_labels(merge: &Value) -> bool {
    let has_only =
        |value: &Value, fields: &[&str]| value.as_object().is_some_and(|map| map.keys().all(|key| fields.contains(&key.as_str())));
    let labels = merge.pointer("/metadata/labels").and_then(Value::as_object).map_or(0, Map::len);
    has_only(merge, &["apiVersion", "kind", "metadata"])
        && has_only(&merge["metadata"], &["name", "labels"])
        && labels > 0
        && contract_labels(merge).count() == labels
}

/// What patches can be for: the objects of the files that provider.yaml names, and those that are made.
fn known(project: &Project<'_>, provider: &Provider) -> Vec<Known> {
    let names = Names::of(provider);
    let label = provider.label();
    let mut made = vec![namespace(&names, None)];
    let mut files: Vec<&String> = provider.rbac.iter().flat_map(|rbac| &rbac.roles).chain(&provider.objects).collect();
    if let Some(manager) = &provider.manager {
        files.extend(&manager.webhooks);
        made.push(deployment(&names, &label, manager, &manager.image, false));
        made.extend([webhooks::service(&names, &label), webhooks::certificate(&names), webhooks::issuer(&names)]);
    }
    // What is wrong with the files was said when they were read first.
    let of_files =
        files.iter().flat_map(|file| project.objects(file, &mut Report::new())).map(|object| Known::of(&object)).collect::<Vec<_>>();
    let crds = project.crds.iter().map(|(_, crd)| Known::of(crd));
    crds.chain(of_files).chain(made.into_iter().map(|value| Known::of(&Object::made(value)))).collect()
}
