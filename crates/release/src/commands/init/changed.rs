//! What a release of the long form adds to the objects of a project, drops from them and changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::PROVIDER_FILE;
use super::layout::Base;
use super::project::Project;
use crate::commands::release_diff::{Change, FieldChange, fields_changed};
use crate::emit::components::{ManagerImage, components};
use crate::emit::names::Names;
use crate::emit::stamp;
use windlass_objects::Object;
use windlass_provider::{self as provider, Inputs, Matched, Wanted};
use windlass_source::Source;
use windlass_source::diag::Report;
use windlass_source::glob::matches;
use windlass_source::tree::Tree;

/// The objects that are made in place of those of the project, and how they differ; each in one
/// line.
pub(super) fn lines(project: &Project<'_>, tree: &Tree, provider: &str) -> Vec<String> {
    let source = Source::new(PROVIDER_FILE, provider);
    let (declared, _) = provider::parse(&source, project.budget());
    let Some(declared) = declared.first() else {
        return Vec::new();
    };
    let inputs = inputs(tree, &declared.provider);
    let image = ManagerImage {
        given: None,
        digest: None,
        tag: "v0.0.0".to_owned(),
    };
    let built = components(declared, &inputs, &image).objects;
    let names = Names::of(&declared.provider);
    let theirs = theirs(project, &names);
    let (mut lines, mut added) = (Vec::new(), Vec::new());
    for object in built.iter().filter(|object| object.source().is_none()) {
        match theirs.get(&(object.kind().to_owned(), object.name().to_owned())) {
            None => added.push(object.title()),
            Some(original) => {
                let changes = fields_changed(original.value(), object.value(), project.budget());
                lines.extend(line(object, original, &changes));
            }
        }
    }
    if !added.is_empty() {
        lines.push(format!("added: {}, which no file has", added.join(", ")));
    }
    lines
}

/// The files of provider.yaml, out of the project.
fn inputs(tree: &Tree, provider: &provider::Provider) -> Inputs {
    let mut inputs = Inputs::within(Arc::default());
    for (pattern, wanted) in provider.wanted() {
        if wanted != Wanted::Files {
            continue;
        }
        let files = tree.iter().filter(|(path, _)| matches(pattern, path));
        let files = files.filter_map(|(path, bytes)| Source::of_bytes(path, bytes).ok());
        inputs.insert(
            pattern,
            Matched {
                files: files.collect(),
                ..Matched::default()
            },
        );
    }
    inputs
}

/// The objects of the project for which others may be made, by kind and name; with the names and
/// the namespace of a release.
fn theirs(project: &Project<'_>, names: &Names) -> BTreeMap<(String, String), Object> {
    let bases = [
        Base::Manager,
        Base::Webhooks,
        Base::Certificates,
        Base::Rbac,
    ];
    let files = bases
        .into_iter()
        .flat_map(|base| project.files_of(base))
        .chain(project.files_of_overlays());
    // What is wrong with the files was reported when they were read first.
    let mut objects: Vec<Object> = files
        .flat_map(|file| project.objects(&file, &mut Report::new()))
        .collect();
    let (renames, _) = stamp::place_and_name(names, &mut objects);
    for object in &mut objects {
        let _ = stamp::follow(names, &renames, object);
    }
    objects
        .into_iter()
        .map(|object| {
            let name = match object.kind() {
                "Namespace" => names.namespace.clone(),
                _ => object.name().to_owned(),
            };
            ((object.kind().to_owned(), name), object)
        })
        .collect()
}

/// The paths of the fields that differ, by what becomes of them.
fn line(object: &Object, original: &Object, changes: &[FieldChange]) -> Option<String> {
    let of = |wanted: &[Change]| -> Vec<&str> {
        let is_own = |change: &&FieldChange| {
            wanted.contains(&change.change) && !NAMES.contains(&change.path.as_str())
        };
        changes
            .iter()
            .filter(is_own)
            .map(|change| change.path.as_str())
            .collect()
    };
    let parts = [
        ("adds", of(&[Change::Added])),
        ("drops", of(&[Change::Removed])),
        ("changes", of(&[Change::Changed, Change::Reordered])),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, paths)| !paths.is_empty())
        .map(|(verb, paths)| format!("{verb} {}", paths.join(", ")))
        .collect();
    let file = original.source().map(|source| source.name().to_string());
    (!parts.is_empty()).then(|| {
        format!(
            "changed: {} of {}: the release {}",
            object.title(),
            file.unwrap_or_default(),
            parts.join("; ")
        )
    })
}

/// What every object of a release has from provider.yaml.
const NAMES: [&str; 2] = ["metadata.name", "metadata.namespace"];
