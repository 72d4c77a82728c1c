//! Kustomizations beside the files that `provider.yaml` names. kustomize is not rebuilt: what they
//! would change is known, so that it can be reported where the release does not have it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::patch::{ObjectPatch, PatchTarget, Target};
use windlass_go_yaml::yaml::{self, Node};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{FieldPath, Place, Report};
use windlass_source::glob::plain;

/// The names under which kustomize looks for its file.
pub const KUSTOMIZATION_FILES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Fields by which kustomize makes or changes objects in ways that are not followed here. What it
/// does with `images`, `namePrefix`, `nameSuffix` and `namespace` is what provider.yaml says.
const NOT_FOLLOWED: [&str; 9] = [
    "configMapGenerator",
    "secretGenerator",
    "generators",
    "helmCharts",
    "transformers",
    "replacements",
    "vars",
    "replicas",
    "components",
];

/// A kustomization, and the patches that it names.
#[derive(Debug, Clone)]
pub struct Kustomization {
    source: Source,
    /// The document; `None` when it cannot be read.
    root: Option<Node>,
    report: Report,
    value: Value,
    /// The patches that are files, by their paths as the kustomization has them.
    patches: BTreeMap<String, Source>,
    /// The files that it takes by way of other kustomizations.
    below: BTreeSet<String>,
}

/// An effect of a kustomization on objects, and the location that specifies it.
#[derive(Debug, Clone)]
pub struct Change {
    /// The location in the kustomization.
    pub place: Place,
    /// The effect, or the reason why it is unknown.
    pub action: Action,
}

/// The effect of a [`Change`].
#[derive(Debug, Clone)]
pub enum Action {
    /// Puts labels (`labels`) or annotations (`annotations`) on the objects of its files.
    Metadata(&'static str, BTreeMap<String, String>),
    /// Applies one document of a patch to the objects that match its target.
    Patch(Patch),
    /// Appends `nameSuffix`, which is not empty, to the names of the objects.
    NameSuffix(String),
    /// Something that is not followed: the sentence that says so.
    NotFollowed(String),
    /// Something of which nothing is known, because it cannot be read: the sentence that says so.
    Broken(String),
}

/// One document of a patch, with the objects that it applies to.
#[derive(Debug, Clone)]
pub struct Patch {
    /// What the kustomization says for it, with its file, if it is one, as it stands there.
    pub entry: Arc<ObjectPatch>,
    /// The objects that the patch applies to.
    pub target: Target,
    /// The operations of a JSON patch, or the fields of a merge patch.
    pub content: Value,
}

impl Kustomization {
    /// Reads a file. One that is broken changes nothing that is known: see
    /// [`Kustomization::is_readable`].
    pub fn read(source: &Source, budget: &Budget) -> Self {
        let parsed = yaml::parse(source, budget);
        let is_sound = !parsed.report.has_errors();
        let root = parsed
            .documents
            .into_iter()
            .next()
            .map(|document| document.root)
            .filter(|_| is_sound);
        let value = root.as_ref().map_or(Value::Null, Node::to_json);
        Kustomization {
            source: source.clone(),
            root,
            report: parsed.report,
            value,
            patches: BTreeMap::new(),
            below: BTreeSet::new(),
        }
    }

    /// Whether it is known what the file says.
    pub fn is_readable(&self) -> bool {
        self.root.is_some()
    }

    /// What it says; null when it cannot be read.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Findings from parsing the file.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The file as it was read.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The patches that are files, as paths relative to the folder of the kustomization.
    pub fn patch_files(&self) -> Vec<String> {
        self.entries()
            .into_iter()
            .filter_map(|entry| entry.file)
            .collect()
    }

    /// Says what a patch file holds.
    pub fn insert(&mut self, path: impl Into<String>, source: Source) {
        self.patches.insert(path.into(), source);
    }

    /// The file of a patch, by its path as the kustomization has it.
    pub fn patch_source(&self, path: &str) -> Option<&Source> {
        self.patches.get(path)
    }

    /// The patch files that were read.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.source).chain(self.patches.values())
    }

    /// The files that it takes, itself or by way of others, without dots in their paths; folders
    /// are among them.
    pub fn takes(&self) -> BTreeSet<String> {
        self.parts()
            .into_iter()
            .chain(self.below.iter().cloned())
            .collect()
    }

    /// The files and folders that it is made of, without dots in their paths; what it fetches is
    /// among them.
    pub fn parts(&self) -> Vec<String> {
        let folder = self
            .source
            .name()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        self.resources()
            .into_iter()
            .map(|(path, _)| plain(&format!("{folder}/{path}")))
            .collect()
    }

    /// Says which files it takes by way of other kustomizations, as [`Kustomization::parts`] spells
    /// them.
    pub fn reach(&mut self, files: BTreeSet<String>) {
        self.below = files;
    }

    /// What it is made of, each with its place: files, folders, and what kustomize fetches.
    pub fn resources(&self) -> Vec<(&str, Place)> {
        let lists = ["resources", "components", "bases"].into_iter();
        let items = lists.flat_map(|list| {
            let items = self.value[list]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate();
            items.map(move |(at, item)| (FieldPath::root().field(list).index(at), item))
        });
        items
            .filter_map(|(at, item)| Some((item.as_str()?, self.place(&at))))
            .collect()
    }

    /// The labels that it puts on objects, each with its place.
    pub fn labels(&self) -> Vec<(String, Place)> {
        let lists = self
            .metadata()
            .into_iter()
            .filter_map(|change| match change.action {
                Action::Metadata("labels", texts) => Some((change.place.path, texts)),
                _ => None,
            });
        lists
            .flat_map(|(at, texts)| texts.into_keys().map(move |key| (at.key(key.clone()), key)))
            .map(|(at, key)| (key, self.place(&at)))
            .collect()
    }

    /// What it changes: labels and annotations, patches, and what is not followed.
    pub fn changes(&self, budget: &Budget) -> Vec<Change> {
        if let Some(fault) = self
            .report
            .findings()
            .first()
            .filter(|_| !self.is_readable())
        {
            let broken = format!(
                "{} cannot be read, so it is not known what it changes: {}",
                self.source.name(),
                fault.message
            );
            return vec![Change {
                place: fault.place.clone(),
                action: Action::Broken(broken),
            }];
        }
        let mut changes = self.metadata();
        changes.extend(
            self.entries()
                .iter()
                .flat_map(|entry| self.patches_of(entry, budget)),
        );
        let root = FieldPath::root();
        let suffix = self
            .value
            .get("nameSuffix")
            .and_then(Value::as_str)
            .filter(|suffix| !suffix.is_empty());
        changes.extend(suffix.map(|suffix| Change {
            place: self.place(&root.field("nameSuffix")),
            action: Action::NameSuffix(suffix.to_owned()),
        }));
        let not_followed = self.not_followed();
        changes.extend(not_followed.map(|(field, sentence)| Change {
            place: self.place(&root.field(field)),
            action: Action::NotFollowed(sentence),
        }));
        changes
    }

    /// The fields that say something which is not followed, each with the sentence that says so.
    pub fn not_followed(&self) -> impl Iterator<Item = (&'static str, String)> {
        let said = NOT_FOLLOWED.into_iter().filter(|field| {
            self.value
                .get(field)
                .is_some_and(|value| !is_moot(field, value))
        });
        said.map(|field| {
            (
                field,
                format!("`{field}` of {} is not followed, so the release lacks what it makes or changes", self.source.name()),
            )
        })
    }

    /// Its patches, each as `patches` of provider.yaml says the same, with what it does. Paths are
    /// seen from the folder of the kustomization.
    pub fn patches(&self, budget: &Budget) -> Vec<(ObjectPatch, Vec<Change>)> {
        let entries = self.entries().into_iter();
        entries
            .map(|entry| {
                let changes = self.patches_of(&entry, budget);
                (entry.into_patch(), changes)
            })
            .collect()
    }

    /// The patches of an entry: one, or as many as its text has documents.
    fn patches_of(&self, entry: &Entry<'_>, budget: &Budget) -> Vec<Change> {
        let sentence = |why: &str| format!("{} {why}", self.title(&entry.file));
        let broken = |place: Place, why: &str| {
            vec![Change {
                place,
                action: Action::Broken(sentence(why)),
            }]
        };
        let place = self.place(&entry.at);
        let source = match (&entry.file, &entry.text) {
            (Some(file), _) => self.patches.get(file).cloned(),
            (None, Some(text)) => Some(Source::new(self.source.name().clone(), text.as_str())),
            (None, None) => return broken(place, "has neither `path` nor `patch`"),
        };
        let Some(source) = source else {
            return broken(
                place,
                "is not read: it is missing, hidden, or outside of the folder of provider.yaml",
            );
        };
        let read = yaml::values(&source, budget);
        if let Some(fault) = read
            .report
            .findings()
            .first()
            .filter(|_| read.report.has_errors())
        {
            let place = if entry.file.is_some() {
                fault.place.clone()
            } else {
                place
            };
            return broken(place, &format!("cannot be read: {}", fault.message));
        }
        let said = Arc::new(entry.clone().into_patch());
        let action = |content: Value| match entry.target_of(&content) {
            Ok(target) => Action::Patch(Patch {
                entry: Arc::clone(&said),
                target,
                content,
            }),
            Err(why) => Action::NotFollowed(sentence(why)),
        };
        let contents = read
            .documents
            .into_iter()
            .map(|document| document.value)
            .filter(|content| !content.is_null());
        contents
            .map(|content| Change {
                place: place.clone(),
                action: action(content),
            })
            .collect()
    }

    /// How findings call a patch.
    pub fn title(&self, file: &Option<String>) -> String {
        match file {
            Some(file) => format!("{file}, a patch of {},", self.source.name()),
            None => format!("a patch in {}", self.source.name()),
        }
    }

    fn place(&self, at: &FieldPath) -> Place {
        let place = self
            .root
            .as_ref()
            .map(|root| self.source.place_at(root.nearest(at).span));
        place
            .unwrap_or_else(|| self.source.place())
            .at_path(at.clone())
    }

    /// The labels and annotations that it puts on all its objects.
    pub fn metadata(&self) -> Vec<Change> {
        let root = FieldPath::root();
        let mut found = vec![
            (
                "labels",
                root.field("commonLabels"),
                &self.value["commonLabels"],
            ),
            (
                "annotations",
                root.field("commonAnnotations"),
                &self.value["commonAnnotations"],
            ),
        ];
        let labels = self.value["labels"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate();
        found.extend(labels.map(|(at, entry)| {
            (
                "labels",
                root.field("labels").index(at).field("pairs"),
                &entry["pairs"],
            )
        }));
        let texts = |map: &Value| {
            let entries = map.as_object().into_iter().flatten();
            entries
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect::<BTreeMap<_, _>>()
        };
        let found = found
            .into_iter()
            .map(|(field, at, map)| (field, at, texts(map)))
            .filter(|(_, _, texts)| !texts.is_empty());
        found
            .map(|(field, at, texts)| Change {
                place: self.place(&at),
                action: Action::Metadata(field, texts),
            })
            .collect()
    }

    /// The patches, of all three lists that kustomize has for them, in the order in which it
    /// applies these (`kusttarget_configplugin.go`).
    fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries = Vec::new();
        for list in ["patchesStrategicMerge", "patches", "patchesJson6902"] {
            for (at, item) in self.value[list]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
            {
                let at = FieldPath::root().field(list).index(at);
                let text = |field: &str| item.get(field).and_then(Value::as_str).map(str::to_owned);
                let (file, inline) = match item.as_str() {
                    Some(text) if text.contains('\n') => (None, Some(text.to_owned())),
                    Some(path) => (Some(path.to_owned()), None),
                    None => (text("path"), text("patch")),
                };
                entries.push(Entry {
                    at,
                    file,
                    text: inline,
                    target: item.get("target"),
                    options: item.get("options"),
                });
            }
        }
        entries
    }
}

/// Whether a field says nothing, or only what a release has names of its own for: kubebuilder's
/// `replacements`, and `vars` before them, tell names and namespace of the Certificate and the
/// Service.
fn is_moot(field: &str, value: &Value) -> bool {
    let is_own = |entry: &Value| {
        let kind = match field {
            "replacements" => text(entry, "/source/kind"),
            "vars" => text(entry, "/objref/kind"),
            _ => return false,
        };
        ["Certificate", "Service"].contains(&kind)
    };
    value.is_null() || value.as_array().is_some_and(|all| all.iter().all(is_own))
}

/// The text at a place in a value; empty when there is none.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// An entry of a list of patches.
#[derive(Clone)]
struct Entry<'v> {
    at: FieldPath,
    file: Option<String>,
    text: Option<String>,
    target: Option<&'v Value>,
    options: Option<&'v Value>,
}

impl Entry<'_> {
    /// What `patches` of provider.yaml says for it.
    fn into_patch(self) -> ObjectPatch {
        ObjectPatch {
            target: self.target(),
            path: self.file,
            patch: self.text,
        }
    }

    /// The objects that it is for, as it says so.
    fn target(&self) -> Option<PatchTarget> {
        let target = self.target?;
        let pattern = |field: &str| target.get(field).and_then(Value::as_str).map(str::to_owned);
        let [group, version, kind, name] = ["group", "version", "kind", "name"].map(pattern);
        Some(PatchTarget {
            group,
            version,
            kind,
            name,
        })
    }

    /// The objects that a document of it is for.
    fn target_of(&self, content: &Value) -> Result<Target, &'static str> {
        let selects = |target: &Value| {
            ["labelSelector", "annotationSelector"]
                .iter()
                .any(|selector| target.get(selector).is_some())
        };
        if self.target.is_some_and(selects) {
            return Err(
                "has a target that selects by labels or annotations, which is not followed",
            );
        }
        let renames = |options: &Value| {
            ["allowNameChange", "allowKindChange"]
                .iter()
                .any(|option| options[option] == true)
        };
        if self.options.is_some_and(renames) {
            return Err("may give an object another name or kind, which is not followed");
        }
        Target::of(self.target().as_ref(), content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_have_their_places() {
        let text = "resources:\n- a.yaml\n- [n]\ncomponents:\n- b\nbases:\n- c\n";
        let kustomization =
            Kustomization::read(&Source::new("kustomization.yaml", text), &Budget::default());
        let found = kustomization
            .resources()
            .into_iter()
            .map(|(name, place)| (name, place.span.unwrap().start.line));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [("a.yaml", 2), ("b", 5), ("c", 7)]
        );
    }

    #[test]
    fn what_is_not_followed_is_told_if_it_says_something() {
        let told = |text: &str| {
            let kustomization =
                Kustomization::read(&Source::new("kustomization.yaml", text), &Budget::default());
            kustomization
                .not_followed()
                .map(|(field, _)| field)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told("configMapGenerator: [{name: a}]\nreplicas: [{name: a, count: 3}]\n"),
            ["configMapGenerator", "replicas"]
        );
        assert_eq!(
            told("secretGenerator: []\nreplicas:\nresources: [a]\nnamespace: b\n"),
            [""; 0]
        );
        for (field, at) in [("replacements", "source"), ("vars", "objref")] {
            let of = |kinds: &[&str]| {
                let entries: Vec<String> = kinds
                    .iter()
                    .map(|kind| format!("{{{at}: {{kind: {kind}}}}}"))
                    .collect();
                told(&format!("{field}: [{}]\n", entries.join(", ")))
            };
            assert_eq!(of(&["Certificate", "Service"]), [""; 0]);
            assert_eq!(of(&["Certificate", "Deployment"]), [field]);
        }
        assert_eq!(
            told("replicas: [{source: {kind: Service}, objref: {kind: Service}}]\n"),
            ["replicas"]
        );
    }

    #[test]
    fn all_lists_of_patches_are_known() {
        let text = "resources: [bases/a.yaml]\ncommonLabels: {a: b}\nlabels: [{pairs: {c: d}}]\npatchesStrategicMerge: [p.yaml]\n\
             patches:\n- patch: |-\n    - {op: add, path: /x, value: 1}\n  target: {kind: CustomResourceDefinition, name: foos.dev}\n- path: q.yaml\n";
        let budget = Budget::default();
        let mut kustomization =
            Kustomization::read(&Source::new("config/crd/kustomization.yaml", text), &budget);
        assert_eq!(kustomization.patch_files(), ["p.yaml", "q.yaml"]);
        assert_eq!(
            kustomization.takes(),
            BTreeSet::from(["config/crd/bases/a.yaml".to_owned()])
        );
        kustomization.insert(
            "p.yaml",
            Source::new(
                "p",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: m}\n",
            ),
        );
        let changes = kustomization.changes(&budget);
        let lines: Vec<u32> = changes
            .iter()
            .map(|change| change.place.span.map_or(0, |span| span.start.line))
            .collect();
        assert_eq!(lines, [2, 3, 4, 6, 9], "that which is not there is one too");
        let crd = ["apiextensions.k8s.io", "v1", "CustomResourceDefinition"];
        let deployment = ["apps", "v1", "Deployment"];
        let fits: Vec<(bool, bool)> = changes
            .iter()
            .filter_map(|change| match &change.action {
                Action::Patch(patch) => Some((
                    patch.target.fits(crd, &["foos.dev"]),
                    patch.target.fits(deployment, &["x-m", "m"]),
                )),
                _ => None,
            })
            .collect();
        assert_eq!(fits, [(false, true), (true, false)]);
    }
}
