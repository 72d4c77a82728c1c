//! Kustomizations beside the files that `provider.yaml` names. kustomize is not rebuilt: what they would change is known, so that it can be
//! told where the release does not have it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::diag::{FieldPath, Place};
use crate::text::budget::Budget;
use crate::text::source::Source;
use crate::text::yaml::{self, Node};

/// The names under which kustomize looks for its file.
pub const KUSTOMIZATION_FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A kustomization, and the patches that it names.
#[derive(Debug, Clone)]
pub struct Kustomization {
    source: Source,
    /// The document; `None` when it cannot be read.
    root: Option<Node>,
    value: Value,
    /// The patches that are files, by their paths as the kustomization has them.
    patches: BTreeMap<String, Source>,
}

/// Something that a kustomization changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where the kustomization says so.
    pub place: Place,
    /// What it does.
    pub action: Action,
}

/// What a kustomization does to objects.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Puts labels (`labels`) or annotations (`annotations`) on the objects of its files.
    Metadata(&'static str, BTreeMap<String, String>),
    /// Patches the objects that it is for.
    Patch(Patch),
}

/// A patch.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    /// Its file as the kustomization has it, if it is one.
    pub file: Option<String>,
    /// The kind of the objects that it is for.
    pub kind: String,
    /// The name, or the beginning of a pattern of it; empty for any.
    pub name: String,
    /// The operations of a JSON patch, or the fields of a merge patch.
    pub content: Value,
}

impl Kustomization {
    /// Reads a file. One that is broken changes nothing that is known: see [`Kustomization::is_readable`].
    pub fn read(source: &Source, budget: &Budget) -> Self {
        let parsed = yaml::parse(source, budget);
        let is_sound = !parsed.report.has_errors();
        let root = parsed.documents.into_iter().next().map(|document| document.root).filter(|_| is_sound);
        let value = root.as_ref().map_or(Value::Null, Node::to_json);
        Kustomization { source: source.clone(), root, value, patches: BTreeMap::new() }
    }

    /// Whether it is known what the file says.
    pub fn is_readable(&self) -> bool {
        self.root.is_some()
    }

    /// The file.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The patches that are files, as paths relative to the folder of the kustomization.
    pub fn patch_files(&self) -> Vec<String> {
        let (_, paths): (Vec<_>, Vec<Option<String>>) = self.entries().into_iter().map(|entry| (entry.at, entry.file)).unzip();
        paths.into_iter().flatten().collect()
    }

    /// Says what a patch file holds.
    pub fn insert(&mut self, path: impl Into<String>, source: Source) {
        self.patches.insert(path.into(), source);
    }

    /// The patch files that were read.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.source).chain(self.patches.values())
    }

    /// Whether it takes a file of that name, as findings show it.
    pub fn takes(&self, shown: &str) -> bool {
        let folder = self.source.name().rsplit_once('/').map_or("", |(folder, _)| folder);
        let resources = self.value["resources"].as_array().into_iter().flatten().filter_map(Value::as_str);
        resources.map(|path| plain(&format!("{folder}/{path}"))).any(|path| path == plain(shown))
    }

    /// What it changes, in the order in which it says so.
    pub fn changes(&self, budget: &Budget) -> Vec<Change> {
        let mut changes = self.metadata();
        for entry in self.entries() {
            let place = self.place(&entry.at);
            let text = match &entry.file {
                Some(file) => self.patches.get(file).map(|source| source.text().to_owned()),
                None => entry.text.clone(),
            };
            let Some(text) = text else { continue };
            let documents = yaml::values(&Source::new(self.source.name().as_ref(), text), budget).documents;
            for content in documents.into_iter().map(|document| document.value) {
                let own = |field: &str| content.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned();
                let kind = entry.target("kind").unwrap_or_else(|| own("/kind"));
                let name = entry.target("name").unwrap_or_else(|| if entry.has_target() { String::new() } else { own("/metadata/name") });
                let patch = Patch { file: entry.file.clone(), kind, name, content };
                changes.push(Change { place: place.clone(), action: Action::Patch(patch) });
            }
        }
        changes
    }

    fn place(&self, at: &FieldPath) -> Place {
        let place = self.root.as_ref().map(|root| self.source.place_at(root.nearest(at).span));
        place.unwrap_or_else(|| self.source.place()).at_path(at.clone())
    }

    fn metadata(&self) -> Vec<Change> {
        let root = FieldPath::root();
        let mut found = vec![
            ("labels", root.field("commonLabels"), &self.value["commonLabels"]),
            ("annotations", root.field("commonAnnotations"), &self.value["commonAnnotations"]),
        ];
        let labels = self.value["labels"].as_array().into_iter().flatten().enumerate();
        found.extend(labels.map(|(at, entry)| ("labels", root.field("labels").index(at).field("pairs"), &entry["pairs"])));
        let texts = |map: &Value| {
            let entries = map.as_object().into_iter().flatten();
            entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect::<BTreeMap<_, _>>()
        };
        let found = found.into_iter().map(|(field, at, map)| (field, at, texts(map))).filter(|(_, _, texts)| !texts.is_empty());
        found.map(|(field, at, texts)| Change { place: self.place(&at), action: Action::Metadata(field, texts) }).collect()
    }

    /// The patches, of all three lists that kustomize has for them.
    fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries = Vec::new();
        for list in ["patches", "patchesStrategicMerge", "patchesJson6902"] {
            for (at, item) in self.value[list].as_array().into_iter().flatten().enumerate() {
                let at = FieldPath::root().field(list).index(at);
                let text = |field: &str| item.get(field).and_then(Value::as_str).map(str::to_owned);
                let (file, inline) = match item.as_str() {
                    Some(text) if text.contains('\n') => (None, Some(text.to_owned())),
                    Some(path) => (Some(path.to_owned()), None),
                    None => (text("path"), text("patch")),
                };
                entries.push(Entry { at, file, text: inline, target: item.get("target") });
            }
        }
        entries
    }
}

/// An entry of a list of patches.
struct Entry<'v> {
    at: FieldPath,
    file: Option<String>,
    text: Option<String>,
    target: Option<&'v Value>,
}

impl Entry<'_> {
    fn target(&self, field: &str) -> Option<String> {
        self.target?.get(field)?.as_str().map(str::to_owned)
    }

    fn has_target(&self) -> bool {
        self.target.is_some()
    }
}

/// A path without `.` and `..`, as far as its own names allow.
fn plain(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name == ".." && names.last().is_some_and(|last| *last != "..") {
            names.pop();
        } else {
            names.push(name);
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_without_dots() {
        for (path, expected) in [("./config/crd/../rbac/a.yaml", "config/rbac/a.yaml"), ("../x/./y", "../x/y"), ("a//b", "a/b")] {
            assert_eq!(plain(path), expected);
        }
    }

    #[test]
    fn all_lists_of_patches_are_known() {
        let text = "resources: [bases/a.yaml]\ncommonLabels: {a: b}\nlabels: [{pairs: {c: d}}]\npatchesStrategicMerge: [p.yaml]\n\
             patches:\n- patch: |-\n    - {op: add, path: /x, value: 1}\n  target: {kind: CustomResourceDefinition, name: foos.dev}\n- path: q.yaml\n";
        let budget = Budget::default();
        let mut kustomization = Kustomization::read(&Source::new("config/crd/kustomization.yaml", text), &budget);
        assert_eq!(kustomization.patch_files(), ["q.yaml", "p.yaml"]);
        assert!(kustomization.takes("./config/crd/bases/a.yaml") && !kustomization.takes("config/crd/bases/b.yaml"));
        kustomization.insert("p.yaml", Source::new("p", "kind: Deployment\nmetadata: {name: m}\n"));
        let changes = kustomization.changes(&budget);
        let lines: Vec<u32> = changes.iter().map(|change| change.place.span.map_or(0, |span| span.start.line)).collect();
        assert_eq!(lines, [2, 3, 6, 4]);
        let named: Vec<String> = changes
            .iter()
            .filter_map(|change| match &change.action {
                Action::Patch(patch) => Some(format!("{}/{}", patch.kind, patch.name)),
                Action::Metadata(..) => None,
            })
            .collect();
        assert_eq!(named, ["CustomResourceDefinition/foos.dev", "Deployment/m"]);
    }
}
