//! JSON patches (RFC 6902) as Cluster API's library applies them: evanphx/json-patch v5, with its words.

use serde_json::Value;

use crate::text::go::number::atoi;

/// One operation, its value being known.
#[derive(Debug, Clone)]
pub(super) struct Operation<'p> {
    pub(super) op: &'p str,
    pub(super) path: &'p str,
    pub(super) value: Value,
}

/// Changes a document; gives what stood at the path before, if something did and it is replaced or removed.
///
/// # Errors
/// In the library's words; then the document may have changed.
pub(super) fn apply(document: &mut Value, operation: Operation<'_>) -> Result<Option<Value>, String> {
    let Operation { op, path, value } = operation;
    let missing = |text: String| format!("{text}: missing value");
    let found = container(document, path);
    match (op, found) {
        ("add", None) => Err(missing(format!("add operation does not apply: doc is missing path: \"{path}\""))),
        ("add", Some((container, key))) => {
            add(container, &key, value).map_err(|reason| format!("error in add for path: '{path}': {reason}"))
        }
        ("replace", None) => Err(missing(format!("replace operation does not apply: doc is missing path: {path}"))),
        ("replace", Some((container, key))) => match member(container, &key) {
            Some(place) => Ok(Some(std::mem::replace(place, value))),
            None => Err(missing(format!("replace operation does not apply: doc is missing key: {path}"))),
        },
        ("remove", None) => Err(missing(format!("remove operation does not apply: doc is missing path: \"{path}\""))),
        ("remove", Some((container, key))) => {
            remove(container, &key).map(Some).map_err(|reason| format!("error in remove for path: '{path}': {reason}"))
        }
        (other, _) => Err(format!("Unexpected kind: {other}")),
    }
}

/// The map or list that holds what a path names, and the last step.
fn container<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
    let (_, steps) = path.split_once('/')?;
    let decoded = |step: &str| step.replace("~1", "/").replace("~0", "~");
    let (before, last) = steps.rsplit_once('/').map_or((None, steps), |(before, last)| (Some(before), last));
    let mut value = document;
    for step in before.into_iter().flat_map(|before| before.split('/')) {
        value = member(value, &decoded(step))?;
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return None;
        }
    }
    Some((value, decoded(last)))
}

/// The index of an item; negative ones count from the end.
pub(super) fn index(key: &str, length: usize) -> Option<usize> {
    let index = atoi(key).ok()?;
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index + length } else { index };
    usize::try_from(index).ok().filter(|_| index < length)
}

fn member<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(entries) => entries.get_mut(key),
        Value::Array(items) => {
            let index = index(key, items.len())?;
            items.get_mut(index)
        }
        _ => None,
    }
}

fn bad_index(key: &str, says_so: bool) -> String {
    match atoi(key) {
        Ok(index) => format!("Unable to access invalid index: {index}: invalid index referenced"),
        Err(fault) => {
            let parsing = format!("strconv.Atoi: parsing {}: {fault}", crate::text::go::quote(key));
            if says_so { format!("value was not a proper array index: '{key}': {parsing}") } else { parsing }
        }
    }
}

fn add(container: &mut Value, key: &str, value: Value) -> Result<Option<Value>, String> {
    match container {
        Value::Object(entries) => Ok(entries.insert(key.to_owned(), value)),
        Value::Array(items) if key == "-" => {
            items.push(value);
            Ok(None)
        }
        Value::Array(items) => match index(key, items.len() + 1) {
            Some(index) => {
                items.insert(index, value);
                Ok(None)
            }
            None => Err(bad_index(key, true)),
        },
        _ => Err("missing value".to_owned()),
    }
}

fn remove(container: &mut Value, key: &str) -> Result<Value, String> {
    match container {
        Value::Object(entries) => entries.remove(key).ok_or_else(|| format!("unable to remove nonexistent key: {key}: missing value")),
        Value::Array(items) => match index(key, items.len()) {
            Some(index) => Ok(items.remove(index)),
            None => Err(bad_index(key, false)),
        },
        _ => Err("missing value".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(op: &str, path: &str, value: Value) -> Result<Value, String> {
        let mut document = json!({"spec": {"l": [1, 2], "a/b": {}, "t": "x", "n": null}});
        apply(&mut document, Operation { op, path, value }).map(|_| document["spec"].clone())
    }

    #[test]
    fn what_stood_there_before_is_given_back() {
        let before = |op: &str, path: &str| {
            let mut document = json!({"spec": {"l": [1, 2], "t": "x", "n": null}});
            apply(&mut document, Operation { op, path, value: json!(9) }).unwrap()
        };
        assert_eq!(before("add", "/spec/t"), Some(json!("x")));
        assert_eq!(before("replace", "/spec/l"), Some(json!([1, 2])));
        assert_eq!(before("replace", "/spec/l/1"), Some(json!(2)));
        assert_eq!(before("remove", "/spec/l/0"), Some(json!(1)));
        assert_eq!(before("remove", "/spec/n"), Some(json!(null)));
        assert_eq!(before("add", "/spec/new"), None);
        assert_eq!(before("add", "/spec/l/0"), None, "items move, none is lost");
    }

    #[test]
    fn operations_change_the_document() {
        assert_eq!(patched("add", "/spec/l/-", json!(3)).unwrap()["l"], json!([1, 2, 3]));
        assert_eq!(patched("add", "/spec/l/0", json!(0)).unwrap()["l"], json!([0, 1, 2]));
        assert_eq!(patched("add", "/spec/a~1b/c", json!(null)).unwrap()["a/b"], json!({"c": null}));
        assert_eq!(patched("replace", "/spec/n", json!(1)).unwrap()["n"], json!(1));
        assert_eq!(patched("replace", "/spec/l/-1", json!(9)).unwrap()["l"], json!([1, 9]));
        assert_eq!(patched("remove", "/spec/t", json!(null)).unwrap().get("t"), None);
    }

    #[test]
    fn what_does_not_apply_is_refused_in_the_librarys_words() {
        let check = |op: &str, path: &str, expected: &str| assert_eq!(patched(op, path, json!(1)).unwrap_err(), expected);
        check("add", "/spec/x/y", "add operation does not apply: doc is missing path: \"/spec/x/y\": missing value");
        check("add", "/spec/t/y", "add operation does not apply: doc is missing path: \"/spec/t/y\": missing value");
        check("add", "spec", "add operation does not apply: doc is missing path: \"spec\": missing value");
        check("replace", "/spec/x", "replace operation does not apply: doc is missing key: /spec/x: missing value");
        check("remove", "/spec/x", "error in remove for path: '/spec/x': unable to remove nonexistent key: x: missing value");
        check(
            "add",
            "/spec/l/7",
            "error in add for path: '/spec/l/7': Unable to access invalid index: 7: invalid index referenced",
        );
    }
}
