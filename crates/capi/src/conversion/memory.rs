//! What a conversion cannot express, kept in an annotation of the converted object, so that
//! converting back loses nothing.
//!
//! After each conversion the result is converted back without memory and compared with what it was
//! made of. Each difference becomes a note: where it is, what stood there (`was`), and a digest of
//! what the plain way back puts there instead (`is`). When the object comes back, a note applies
//! only where the plain conversion still gives exactly that: whatever the user changed meanwhile
//! wins. Items of the lists that can lose something are found by what identifies them, not by their
//! place.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::api::names::{CONVERSION_ANNOTATION, Version};
use crate::api::time::GoDuration;

/// The lists whose items can lose something, with the field that identifies an item.
const IDENTIFIED_LISTS: [(&str, &str); 4] = [
    ("bootstrapTokens", "token"),
    ("extraVolumes", "name"),
    ("files", "path"),
    ("partitions", "device"),
];

/// The content of the annotation.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    version: String,
    /// What that version would lose.
    notes: Vec<Note>,
}

/// One thing that is lost.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    /// Where: names of fields, and `#digest` for an item of a list.
    path: Vec<String>,
    /// Digest of what the plain conversion puts there; absent when that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is: Option<String>,
    /// What stood there; absent when that was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<Value>,
    /// Names of arguments in their order, when only that is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<Vec<String>>,
    /// How many of the last steps of the path did not exist.
    #[serde(default, skip_serializing_if = "is_zero")]
    new: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Memory {
    /// What is lost when `original`, of that version, becomes `returned` on its way there and back.
    pub(super) fn of(version: Version, original: &Value, returned: &Value) -> Self {
        let mut notes = Vec::new();
        compare(original, returned, &mut Vec::new(), &mut notes);
        Memory {
            version: version.as_str().to_owned(),
            notes,
        }
    }

    /// Removes the annotation from an object. Notes that are about another version, or that nobody
    /// of us wrote, are dropped with it.
    pub(super) fn take(object: &mut Value, version: Version) -> Option<Self> {
        let metadata = object.get_mut("metadata")?.as_object_mut()?;
        let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
        let text = annotations.remove(CONVERSION_ANNOTATION)?;
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
        let memory: Memory = serde_json::from_str(text.as_str()?).ok()?;
        (memory.version == version.as_str() && memory.is_ours()).then_some(memory)
    }

    /// We write one note for a place; many for one would cost much time to apply.
    fn is_ours(&self) -> bool {
        let places: BTreeSet<&[String]> =
            self.notes.iter().map(|note| note.path.as_slice()).collect();
        places.len() == self.notes.len()
    }

    /// Adds the annotation to the metadata of an object, unless nothing is lost.
    pub(super) fn annotate(&self, metadata: &mut Value) {
        if self.notes.is_empty() {
            return;
        }
        if metadata.is_null() {
            *metadata = Value::Object(Map::new());
        }
        let Some(metadata) = metadata.as_object_mut() else {
            return;
        };
        let annotations = metadata
            .entry("annotations")
            .or_insert_with(|| Value::Object(Map::new()));
        if annotations.is_null() {
            *annotations = Value::Object(Map::new());
        }
        if let Some(annotations) = annotations.as_object_mut() {
            let text = serde_json::to_string(self).expect("internal error: notes are plain data");
            annotations.insert(CONVERSION_ANNOTATION.to_owned(), text.into());
        }
    }

    /// Puts back what is lost, wherever the value it is about has not changed.
    pub(super) fn restore(&self, value: &mut Value) {
        let mut items = Items::default();
        for note in &self.notes {
            note.restore(value, &mut items);
        }
    }
}

/// The first 16 hex digits of SHA-256 over the compact JSON: tells values apart without showing
/// them.
fn digest(value: &Value) -> String {
    Sha256::digest(value.to_string())
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Writes a note for each difference. The depth is that of the document, which its reader bounds.
fn compare(original: &Value, returned: &Value, path: &mut Vec<String>, notes: &mut Vec<Note>) {
    match (original, returned) {
        (Value::Object(before), Value::Object(after)) => compare_fields(before, after, path, notes),
        (Value::Array(before), Value::Array(after)) if before != after => {
            compare_items(before, after, path, notes)
        }
        (before, after) if same(before, after) => {}
        (before, after) => notes.push(changed(path, after, before)),
    }
}

fn changed(path: &[String], is: &Value, was: &Value) -> Note {
    Note {
        path: path.to_vec(),
        is: Some(digest(is)),
        was: Some(was.clone()),
        order: None,
        new: 0,
    }
}

fn compare_fields(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &mut Vec<String>,
    notes: &mut Vec<Note>,
) {
    for (name, was) in before {
        path.push(name.clone());
        match after.get(name) {
            Some(is) => compare(was, is, path, notes),
            None => notes.push(Note {
                path: path.clone(),
                is: None,
                was: Some(was.clone()),
                order: None,
                new: 0,
            }),
        }
        path.pop();
    }
    for (name, is) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        path.push(name.clone());
        note_new(is, path, 1, notes);
        path.pop();
    }
}

/// Notes for what the way back adds: one for each leaf, so that only these go again.
fn note_new(value: &Value, path: &mut Vec<String>, new: usize, notes: &mut Vec<Note>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, inner) in fields {
                path.push(name.clone());
                note_new(inner, path, new + 1, notes);
                path.pop();
            }
        }
        _ => notes.push(Note {
            path: path.clone(),
            is: Some(digest(value)),
            was: None,
            order: None,
            new,
        }),
    }
}

fn compare_items(before: &[Value], after: &[Value], path: &mut Vec<String>, notes: &mut Vec<Note>) {
    let list = path.last().map(String::as_str).unwrap_or_default();
    let (ids, ids_after) = (identities(list, before), identities(list, after));
    if let Some(ids) = ids
        && Some(&ids) == ids_after.as_ref()
    {
        for ((id, was), is) in ids.into_iter().zip(before).zip(after) {
            path.push(id);
            compare(was, is, path, notes);
            path.pop();
        }
    } else if let Some(order) = reordered(before, after) {
        notes.push(Note {
            path: path.clone(),
            is: None,
            was: None,
            order: Some(order),
            new: 0,
        });
    } else {
        notes.push(changed(path, &after.into(), &before.into()));
    }
}

/// Equal, or the same duration spelt differently.
fn same(a: &Value, b: &Value) -> bool {
    let duration = |value: &Value| value.as_str().and_then(|text| GoDuration::parse(text).ok());
    a == b || duration(a).is_some_and(|length| duration(b) == Some(length))
}

/// How the items of a list are found again; `None` for a list that loses nothing.
fn identities(list: &str, items: &[Value]) -> Option<Vec<String>> {
    let (_, field) = IDENTIFIED_LISTS.iter().find(|(name, _)| *name == list)?;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let id_of = |item: &Value| {
        let id = digest(item.get(field).unwrap_or(&Value::Null));
        let earlier = seen.entry(id.clone()).or_default();
        *earlier += 1;
        if *earlier == 1 {
            format!("#{id}")
        } else {
            format!("#{id}.{earlier}")
        }
    };
    Some(items.iter().map(id_of).collect())
}

/// The names of arguments in their order, if two lists hold the same arguments, no name twice.
fn reordered(before: &[Value], after: &[Value]) -> Option<Vec<String>> {
    let by_name = |args: &[Value]| -> Option<BTreeMap<String, Value>> {
        let map: BTreeMap<_, _> = args
            .iter()
            .map(|arg| Some((name_of(arg)?.to_owned(), arg.clone())))
            .collect::<Option<_>>()?;
        (map.len() == args.len()).then_some(map)
    };
    if by_name(before)? != by_name(after)? {
        return None;
    }
    before
        .iter()
        .map(|arg| name_of(arg).map(str::to_owned))
        .collect()
}

fn name_of(arg: &Value) -> Option<&str> {
    arg.get("name")?.as_str()
}

impl Note {
    fn restore(&self, value: &mut Value, items: &mut Items) {
        let Some((last, parents)) = self.path.split_last() else {
            return;
        };
        let Some(parent) = items.descend(value, parents).and_then(Value::as_object_mut) else {
            return;
        };
        if let Some(order) = &self.order {
            if let Some(Value::Array(args)) = parent.get_mut(last) {
                sort_as(args, order);
            }
            return;
        }
        match (&self.is, &self.was) {
            (None, Some(was)) => fill_in(parent, last, was),
            (Some(is), was) if parent.get(last).map(digest).as_ref() == Some(is) => match was {
                Some(was) => drop(parent.insert(last.clone(), was.clone())),
                None => remove(value, &self.path, self.new, items),
            },
            _ => {}
        }
    }
}

/// The places of the items of the lists that were visited, so that each list is searched once.
#[derive(Default)]
struct Items(BTreeMap<Vec<String>, BTreeMap<String, usize>>);

impl Items {
    /// The value at a path of fields and items.
    fn descend<'a>(&mut self, value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
        path.iter()
            .enumerate()
            .try_fold(value, |value, (depth, step)| match value {
                Value::Array(items) => {
                    let index = self.index(items, &path[..depth], step)?;
                    items.get_mut(index)
                }
                object => object.get_mut(step),
            })
    }

    fn index(&mut self, items: &[Value], list: &[String], id: &str) -> Option<usize> {
        if !self.0.contains_key(list) {
            let ids = identities(list.last()?, items)?;
            self.0.insert(
                list.to_vec(),
                ids.into_iter()
                    .enumerate()
                    .map(|(index, id)| (id, index))
                    .collect(),
            );
        }
        self.0.get(list)?.get(id).copied()
    }
}

/// Adds a value where there is none, field by field; what is there stays.
fn fill_in(parent: &mut Map<String, Value>, name: &str, was: &Value) {
    match (parent.get_mut(name), was) {
        (None, _) => drop(parent.insert(name.to_owned(), was.clone())),
        (Some(Value::Object(present)), Value::Object(fields)) => {
            for (name, value) in fields {
                fill_in(present, name, value);
            }
        }
        _ => {}
    }
}

/// Removes a value, and of the last `new` steps to it those that are empty then.
fn remove(value: &mut Value, path: &[String], new: usize, items: &mut Items) {
    for length in (path.len().saturating_sub(new.max(1)) + 1..=path.len()).rev() {
        let (last, parents) = (&path[length - 1], &path[..length - 1]);
        let Some(parent) = items.descend(value, parents).and_then(Value::as_object_mut) else {
            return;
        };
        let is_leaf = length == path.len();
        if !is_leaf
            && parent
                .get(last)
                .is_none_or(|inner| inner.as_object().is_none_or(|fields| !fields.is_empty()))
        {
            return;
        }
        parent.remove(last);
    }
}

/// Sorts arguments as they were; those that are new since then come last, in the order they have.
fn sort_as(args: &mut [Value], order: &[String]) {
    let places: BTreeMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(place, name)| (name.as_str(), place))
        .collect();
    let place = |arg: &Value| name_of(arg).and_then(|name| places.get(name).copied());
    args.sort_by(|a, b| match (place(a), place(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Restores `original` from `returned` after `edit`.
    fn check(original: Value, returned: Value, edit: impl Fn(&mut Value), expected: Value) {
        let memory = Memory::of(Version::V1Beta1, &original, &returned);
        let mut value = returned;
        edit(&mut value);
        memory.restore(&mut value);
        assert_eq!(value, expected);
    }

    #[test]
    fn nothing_edited_restores_everything() {
        let original = json!({"a": {"b": 1, "gone": {"c": 2}}, "changed": "1.5s", "files": [{"path": "/a", "append": false}]});
        let returned = json!({"a": {"b": 1, "new": {"d": {"e": 3}}}, "changed": "1s", "files": [{"path": "/a"}]});
        check(original.clone(), returned, |_| {}, original);
    }

    #[test]
    fn edits_win() {
        let original = json!({"a": {"gone": {"c": 2, "d": 3}}, "changed": "1.5s"});
        let returned = json!({"a": {"new": {"e": 4}}, "changed": "1s"});
        let edit = |value: &mut Value| {
            *value = json!({"a": {"gone": {"c": 9}, "new": {"e": 4, "f": 5}}, "changed": "2s"})
        };
        check(
            original.clone(),
            returned.clone(),
            edit,
            json!({"a": {"gone": {"c": 9, "d": 3}, "new": {"f": 5}}, "changed": "2s"}),
        );
        check(
            original,
            returned,
            |value| *value = json!({"b": 1}),
            json!({"b": 1}),
        );
    }

    #[test]
    fn items_are_found_where_they_went() {
        let original = json!({"files": [{"path": "/a", "append": false}, {"path": "/b"}, {"path": "/a", "append": false}]});
        let returned = json!({"files": [{"path": "/a"}, {"path": "/b"}, {"path": "/a"}]});
        let edit = |value: &mut Value| {
            *value = json!({"files": [{"path": "/new"}, {"path": "/b"}, {"path": "/a"}]})
        };
        check(
            original,
            returned,
            edit,
            json!({"files": [{"path": "/new"}, {"path": "/b"}, {"path": "/a", "append": false}]}),
        );
    }

    #[test]
    fn one_duration_in_two_spellings_is_no_loss() {
        let memory = Memory::of(
            Version::V1Beta1,
            &json!({"t": "20m"}),
            &json!({"t": "20m0s"}),
        );
        assert_eq!(memory.notes, []);
        assert_eq!(
            Memory::of(Version::V1Beta1, &json!({"t": "20m"}), &json!({"t": "20"}))
                .notes
                .len(),
            1
        );
    }
}
