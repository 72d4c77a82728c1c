//! Lenient reading of values: what has the wrong type counts as absent.

use std::cell::Cell;

use serde_json::{Map, Value};

use windlass_source::diag::Segment;

thread_local! {
    static LOOKUPS: Cell<u64> = const { Cell::new(0) };
}

/// How many fields this thread has looked up. Debug builds count them, so that a test sees a search
/// that compares and allocates nothing.
pub fn lookups() -> u64 {
    LOOKUPS.get()
}

fn count_lookup() {
    if cfg!(debug_assertions) {
        LOOKUPS.with(|lookups| lookups.set(lookups.get() + 1));
    }
}

/// The value at a path of mappings; `None` when it is absent. A null counts as a value.
pub fn field<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    count_lookup();
    let mut found = value;
    for name in path {
        let Value::Object(fields) = found else {
            return None;
        };
        found = fields.get(*name)?;
    }
    Some(found)
}

/// The value at a path of mappings and lists.
pub fn at<'v>(value: &'v Value, path: &[Segment]) -> Option<&'v Value> {
    count_lookup();
    path.iter().try_fold(value, |value, segment| match segment {
        Segment::Field(name) | Segment::Key(name) => value.as_object()?.get(name),
        Segment::Index(index) => value.as_array()?.get(*index),
    })
}

/// The text at a path; empty when there is none.
pub fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    match field(value, path) {
        Some(Value::String(text)) => text,
        _ => "",
    }
}

/// Whether a value says what its absence says, as Go leaves it out (`omitempty`): a text, a list or
/// a mapping that is empty, or `null`.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The items of the list at a path; none when there is no list.
pub fn items<'v>(value: &'v Value, path: &[&str]) -> &'v [Value] {
    field(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The items of the list at a path, to be changed; none when there is no list.
pub fn items_mut<'v>(value: &'v mut Value, path: &[&str]) -> &'v mut [Value] {
    let found = path
        .iter()
        .try_fold(value, |value, name| value.as_object_mut()?.get_mut(*name));
    found
        .and_then(Value::as_array_mut)
        .map_or(&mut [], Vec::as_mut_slice)
}

/// `kind`; empty when it is absent.
pub fn kind(object: &Value) -> &str {
    text(object, &["kind"])
}

/// `metadata.name`; empty when it is absent.
pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// `metadata.namespace`; empty when it is absent.
pub fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

/// API group and version; both empty when the `apiVersion` has more than one `/`.
pub fn group_version(object: &Value) -> (&str, &str) {
    let api_version = text(object, &["apiVersion"]);
    match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(both) => both,
    }
}

/// A map of texts in `metadata` (labels, annotations). A null counts as an empty text; one value of
/// another type makes the whole map count as absent.
pub fn metadata_texts(object: &Value, name: &str) -> Option<Map<String, Value>> {
    texts(field(object, &["metadata", name])?)
}

/// The same of the map itself.
pub fn texts(map: &Value) -> Option<Map<String, Value>> {
    let texts = map.as_object()?;
    let text = |value: &Value| match value {
        Value::Null => Some(Value::from("")),
        Value::String(_) => Some(value.clone()),
        _ => None,
    };
    texts
        .iter()
        .map(|(key, value)| Some((key.clone(), text(value)?)))
        .collect()
}

/// Sets a field of `metadata`, which is made when it is absent and left alone when it is no
/// mapping.
pub fn set_metadata(object: &mut Value, name: &str, value: Value) {
    let Value::Object(fields) = object else {
        return;
    };
    let metadata = fields
        .entry("metadata")
        .or_insert_with(|| Map::new().into());
    if let Value::Object(metadata) = metadata {
        metadata.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_types_count_as_absent() {
        let object = json!({"kind": 1, "metadata": {"name": "x", "labels": {"a": "b", "c": 1}, "annotations": {"a": "b", "n": null}}});
        assert_eq!(
            (kind(&object), name(&object), namespace(&object)),
            ("", "x", "")
        );
        assert_eq!(metadata_texts(&object, "labels"), None);
        assert_eq!(
            metadata_texts(&object, "annotations").map(Value::Object),
            Some(json!({"a": "b", "n": ""}))
        );
        assert!(
            items(&json!({"a": "x"}), &["a"]).is_empty()
                && items(&json!("x"), &["a", "b"]).is_empty()
        );
    }

    #[test]
    fn api_versions_split_once() {
        for (api_version, expected) in [
            ("v1", ("", "v1")),
            ("apps/v1", ("apps", "v1")),
            ("a/b/c", ("", "")),
            ("", ("", "")),
        ] {
            assert_eq!(
                group_version(&json!({"apiVersion": api_version})),
                expected,
                "{api_version}"
            );
        }
    }

    #[test]
    fn metadata_is_made_but_never_replaced() {
        let mut object = json!({});
        set_metadata(&mut object, "namespace", "n".into());
        assert_eq!(object, json!({"metadata": {"namespace": "n"}}));
        let mut object = json!({"metadata": null});
        set_metadata(&mut object, "namespace", "n".into());
        assert_eq!(object, json!({"metadata": null}));
    }
}
