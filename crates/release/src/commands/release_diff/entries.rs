//! The objects of a release or a file, by what tells them apart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{SAMPLED, Side};
use crate::assets;
use crate::emit::install::INSTALL_FILE;
use windlass_objects::{self as objects, Object, Substituted};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Report};

/// What tells objects apart. The version of the API does not: it is a field that changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The file of a release, where objects of one name may be in several; empty for components.
    pub(super) file: String,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// Which one of all that are called so, from 0.
    repeated: usize,
}

pub(super) type Entries = BTreeMap<Key, Value>;

/// Whether objects of one name in several files are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scopes {
    /// Templates and metadata are distinguished by their file.
    ByFile,
    /// One file is compared: all its objects are one set, and of a folder the components are.
    One,
}

#[derive(Default)]
pub(super) struct Read {
    pub(super) entries: Entries,
    pub(super) report: Report,
    pub(super) sources: Vec<Source>,
    /// Files of objects that are not compared.
    pub(super) left_out: Vec<String>,
}

/// Whether a file of a release is compared object by object. `install.yaml` is the components once
/// more.
pub(super) fn has_objects(path: &str) -> bool {
    path != INSTALL_FILE
        && [".yaml", ".yml"]
            .iter()
            .any(|ending| path.ends_with(ending))
}

pub(super) fn read(side: &Side<'_>, scopes: Scopes, budget: &Budget) -> Read {
    let components: BTreeSet<String> = assets::components_files(side.files)
        .into_iter()
        .map(|(_, file)| file)
        .collect();
    let mut read = Read::default();
    let mut repeated: BTreeMap<Key, usize> = BTreeMap::new();
    for (path, bytes) in side
        .files
        .iter()
        .filter(|(path, _)| !side.is_folder || has_objects(path))
    {
        let is_component = components.contains(path);
        if scopes == Scopes::One && side.is_folder && !is_component && !components.is_empty() {
            read.left_out.push(path.clone());
            continue;
        }
        let shown = if side.is_folder {
            format!("{}/{path}", side.shown.trim_end_matches('/'))
        } else {
            side.shown.to_owned()
        };
        let file = if scopes == Scopes::One || is_component {
            String::new()
        } else {
            path.clone()
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            read.report.push(assets::not_text(&shown));
            continue;
        };
        let source = Source::new(shown, text);
        for object in documents(&source, budget, &mut read.report) {
            let mut key = Key {
                file: file.clone(),
                group: object.group().to_owned(),
                kind: object.kind().to_owned(),
                namespace: object.namespace().to_owned(),
                name: object.name().to_owned(),
                repeated: 0,
            };
            let count = repeated.entry(key.clone()).or_default();
            key.repeated = *count;
            *count += 1;
            read.entries.insert(key, object.into_value());
        }
        read.sources.push(source);
    }
    read
}

/// The documents of a file as they are written. Where they are YAML only without their variables,
/// those are replaced first.
fn documents(source: &Source, budget: &Budget, report: &mut Report) -> Vec<Object> {
    let (objects, found) = objects::documents(source, budget);
    if found.has_errors()
        && let Ok(sampled) = Substituted::sampled(source, budget)
        && sampled.text().text() != source.text()
    {
        let (replaced, of_replaced) = objects::documents(sampled.text(), budget);
        if of_replaced.has_errors() {
            report.extend(found);
            return objects;
        }
        let finding = Diagnostic::of(
            &SAMPLED,
            format!(
                "{} is compared with its variables replaced by their defaults",
                source.name()
            ),
        );
        let finding = finding.at(Place::file(source.name().as_ref()));
        report.push(finding.help(
            "put values with a variable in quotes, so that they are compared as they are written",
        ));
        report.extend(sampled.restore(of_replaced));
        return replaced;
    }
    report.extend(found);
    objects
}
