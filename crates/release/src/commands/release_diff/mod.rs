//! `release diff`: what changes between two releases, or two files of objects, object by object.

mod entries;
mod fields;
mod lines;
pub mod markdown;
mod redact;
pub mod text;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::assets::{COMPONENTS_MISSING, versions_below};
use entries::{Entries, Key, Scopes};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Report, rules};
use windlass_source::tree::Tree;

rules! {
    /// a compared file becomes valid YAML only after its variables are substituted
    SAMPLED = info("diff-variables-replaced");
}

/// One of the two things that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// How the user called it.
    pub shown: &'a str,
    /// Its files, with paths below the folder; a file alone is one.
    pub files: &'a Tree,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// What became of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only the new side has it.
    Added,
    /// Only the old side has it.
    Removed,
    /// Both have it, with other content.
    Changed,
    /// A list with the same items in another order.
    Reordered,
}

impl Change {
    /// The word for people and for JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
            Change::Reordered => "reordered",
        }
    }
}

/// An object that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectChange {
    /// What became of it: `added`, `removed` or `changed`.
    pub change: Change,
    /// The file of a release that holds it; null for components, which are one set, and where
    /// files are compared.
    pub file: Option<String>,
    /// The API group; empty for the core group.
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace, if it names one.
    pub namespace: Option<String>,
    /// Its name; empty where it has none, as metadata.yaml.
    pub name: String,
    /// What changes in it, in the order of the fields' names.
    pub fields: Vec<FieldChange>,
}

/// A field that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// Where it is. An item of a list is named by its key (`containers[name=manager]`) or, where
    /// it has none, by its place on the side that has it, from 0.
    pub path: String,
    /// What became of it.
    pub change: Change,
    /// The old value; null when there is none. A secret is `<redacted>`.
    pub old: Option<Value>,
    /// The new value; null when there is none. A secret is `<redacted>`.
    pub new: Option<Value>,
}

/// A file without objects that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// Its path below the folder.
    pub path: String,
    /// What became of it: `added`, `removed` or `changed`.
    pub change: Change,
}

/// Everything that changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Objects, by file, group, kind, namespace and name.
    pub objects: Vec<ObjectChange>,
    /// Files that hold no objects, or repeat those of others: images.txt, install.yaml, the SBOM.
    pub files: Vec<FileChange>,
    /// How many objects are the same.
    pub unchanged: usize,
}

impl Difference {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.files.is_empty()
    }

    pub(crate) fn count(&self, change: Change) -> usize {
        self.objects
            .iter()
            .filter(|object| object.change == change)
            .count()
    }
}

/// A comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// What changes; `None` when a side is nothing that can be compared.
    pub difference: Option<Difference>,
    /// What could not be read.
    pub report: Report,
    /// The texts that findings point into.
    pub sources: Vec<Source>,
    /// What is left out, for people.
    pub notes: Vec<String>,
}

/// Compares two releases, or files of objects. With `show_secrets` values of secrets are shown.
pub fn run(old: Side<'_>, new: Side<'_>, show_secrets: bool, budget: &Budget) -> Comparison {
    let mut comparison = Comparison::default();
    let unsure: Vec<Diagnostic> = [old, new].iter().filter_map(repository_instead).collect();
    if !unsure.is_empty() {
        comparison.report.extend(unsure);
        return comparison;
    }
    let scopes = if old.is_folder && new.is_folder {
        Scopes::ByFile
    } else {
        Scopes::One
    };
    let mut read = |side: &Side<'_>| {
        let read = entries::read(side, scopes, budget);
        comparison.report.extend(read.report);
        comparison.sources.extend(read.sources);
        if !read.left_out.is_empty() {
            let files = read.left_out.join(", ");
            comparison
                .notes
                .push(format!("the other side is one file, so only the components of {} are compared, not {files}", side.shown));
        }
        read.entries
    };
    let (before, after) = (read(&old), read(&new));
    let mut difference = objects(before, after, show_secrets, budget);
    if scopes == Scopes::ByFile {
        difference.files = files(old.files, new.files);
    }
    budget.tell(&mut comparison.report);
    comparison.difference = Some(difference);
    comparison
}

/// A whole repository is many releases: which one is meant?
fn repository_instead(side: &Side<'_>) -> Option<Diagnostic> {
    let versions = versions_below(side.files);
    let example = versions.last()?;
    let shown = side.shown.trim_end_matches('/');
    let finding = Diagnostic::of(
        &COMPONENTS_MISSING,
        format!(
            "{shown} is a repository with {} releases, not a release",
            versions.len()
        ),
    );
    Some(finding.at(Place::file(side.shown)).help(format!(
        "name the folder of one version: `{shown}/{example}`"
    )))
}

fn objects(
    mut before: Entries,
    mut after: Entries,
    show_secrets: bool,
    budget: &Budget,
) -> Difference {
    let keys: BTreeSet<Key> = before.keys().chain(after.keys()).cloned().collect();
    let mut difference = Difference::default();
    for key in keys {
        let (old, new) = (before.remove(&key), after.remove(&key));
        let (change, fields) = match (&old, &new) {
            (Some(old), Some(new)) if old == new => {
                difference.unchanged += 1;
                continue;
            }
            (Some(old), Some(new)) => {
                let found = fields::compare(old, new);
                (
                    Change::Changed,
                    found
                        .into_iter()
                        .map(|found| found.shown(old, new, show_secrets, budget))
                        .collect(),
                )
            }
            (None, _) => (Change::Added, Vec::new()),
            (_, None) => (Change::Removed, Vec::new()),
        };
        let Key {
            file,
            group,
            kind,
            namespace,
            name,
            ..
        } = key;
        let (file, namespace) = (
            (!file.is_empty()).then_some(file),
            (!namespace.is_empty()).then_some(namespace),
        );
        difference.objects.push(ObjectChange {
            change,
            file,
            group,
            kind,
            namespace,
            name,
            fields,
        });
    }
    difference
}

/// The fields that differ between two versions of an object. Secrets are redacted.
pub(crate) fn fields_changed(old: &Value, new: &Value, budget: &Budget) -> Vec<FieldChange> {
    fields::compare(old, new)
        .into_iter()
        .map(|found| found.shown(old, new, false, budget))
        .collect()
}

/// Files that are compared by their bytes.
fn files(old: &Tree, new: &Tree) -> Vec<FileChange> {
    let changes = old
        .diff(new)
        .into_iter()
        .filter(|(path, _)| !entries::has_objects(path));
    let changes = changes.map(|(path, change)| {
        let change = match change {
            windlass_source::tree::Change::Added => Change::Added,
            windlass_source::tree::Change::Removed => Change::Removed,
            windlass_source::tree::Change::Modified => Change::Changed,
        };
        (path.to_owned(), change)
    });
    changes
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .map(|(path, change)| FileChange { path, change })
        .collect()
}

impl ObjectChange {
    /// `cluster-template.yaml: Deployment/manager in windlass-system`.
    pub(crate) fn title(&self) -> String {
        let file = self
            .file
            .as_ref()
            .map(|file| format!("{file}: "))
            .unwrap_or_default();
        let name = if self.name.is_empty() {
            String::new()
        } else {
            format!("/{}", self.name)
        };
        let namespace = self
            .namespace
            .as_ref()
            .map(|namespace| format!(" in {namespace}"))
            .unwrap_or_default();
        let kind = if self.kind.is_empty() {
            "(a document without kind)"
        } else {
            &self.kind
        };
        format!("{file}{kind}{name}{namespace}")
    }
}
