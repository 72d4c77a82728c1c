//! What a build changes in the objects that it reads: the lines of `release build -v 1`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::release_diff::{Change, FieldChange, fields_changed};
use crate::emit::release::Release;
use windlass_objects::Object;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

/// A field that changes alike in some objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    path: String,
    change: Change,
    /// The new value, where it is a text or number that may be shown.
    value: Option<String>,
}

/// The changes of a release that was built with its originals, each in one line. Fields that change
/// alike in several objects share a line.
pub fn lines(release: &Release, budget: &Budget) -> Vec<String> {
    let traced = &release.traced;
    let mut before: BTreeMap<String, &Object> = BTreeMap::new();
    for object in &traced.read {
        before.insert(origin(object), object);
    }
    let mut alike: BTreeMap<Alike, Vec<String>> = BTreeMap::new();
    let mut made = Vec::new();
    for object in &traced.released {
        let Some(original) = before
            .remove(&origin(object))
            .filter(|_| object.source().is_some())
        else {
            made.push(object.title());
            continue;
        };
        for field in fields_changed(original.value(), object.value(), budget) {
            alike
                .entry(of(field, object))
                .or_default()
                .push(object.title());
        }
    }
    let mut lines: Vec<String> = alike
        .into_iter()
        .map(|(alike, titles)| line(&alike, &titles, traced.released.len()))
        .collect();
    if !made.is_empty() {
        lines.push(format!("made from provider.yaml: {}", made.join(", ")));
    }
    let left_out: Vec<String> = before.values().map(|object| object.title()).collect();
    if !left_out.is_empty() {
        lines.push(format!("left out: {}", left_out.join(", ")));
    }
    lines
}

/// Where an object was read; the same before and after the build.
fn origin(object: &Object) -> String {
    let place = object.place(&FieldPath::root());
    let start = place.span.map(|span| (span.start.line, span.start.column));
    format!("{:?} {:?} {start:?}", place.file, place.document)
}

fn of(field: FieldChange, object: &Object) -> Alike {
    let is_shown = object.kind() != "Secret" && field.change != Change::Removed;
    Alike {
        value: field.new.as_ref().filter(|_| is_shown).and_then(scalar),
        path: field.path,
        change: field.change,
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.contains('\n') && text.len() < 200 => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn line(alike: &Alike, titles: &[String], all: usize) -> String {
    let whose = match titles {
        [one] => one.clone(),
        several if several.len() == all => format!("all {all} objects"),
        several => format!("{} objects: {}", several.len(), several.join(", ")),
    };
    let value = match &alike.value {
        Some(value) => format!(" ({value})"),
        None => String::new(),
    };
    format!("{} {}{value} in {whose}", alike.change.word(), alike.path)
}
