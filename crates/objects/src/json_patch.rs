//! JSON patches (RFC 6902) as Cluster API's library applies them, and kustomize's:
//! evanphx/json-patch, with the words of its v5.

use serde_json::Value;

use windlass_go_text::number::atoi;
use windlass_source::budget::{Budget, MAX_NESTING};

/// One operation, its value being known.
#[derive(Debug, Clone)]
pub struct Operation<'p> {
    /// `add`, `replace` or `remove`.
    pub op: &'p str,
    /// The location to change, as a JSON pointer (RFC 6901).
    pub path: &'p str,
    /// What; null for `remove`.
    pub value: Value,
}

/// Changes a document by an operation as it is written, of all six that there are.
///
/// # Errors
/// Why not; then the document may have changed.
pub fn apply_written(
    document: &mut Value,
    operation: &Value,
    budget: &Budget,
) -> Result<(), String> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let (Some(op), Some(path)) = (text("op"), text("path")) else {
        return Err("an operation has an `op` and a `path`".to_owned());
    };
    let from = || text("from").ok_or_else(|| format!("`{op}` needs a `from`"));
    let value = match op {
        "add" | "replace" => operation
            .get("value")
            .cloned()
            .ok_or_else(|| format!("`{op}` needs a `value`"))?,
        "remove" => Value::Null,
        "test" => {
            return test(
                document,
                path,
                operation.get("value").unwrap_or(&Value::Null),
            );
        }
        "copy" => {
            // A few operations that copy what they have copied would fill the memory.
            let copied = found(document, from()?)?;
            budget
                .charge(weight(copied))
                .map_err(|spent| spent.to_string())?;
            copied.clone()
        }
        "move" => {
            let moved = found(document, from()?)?.clone();
            apply(
                document,
                Operation {
                    op: "remove",
                    path: from()?,
                    value: Value::Null,
                },
            )?;
            moved
        }
        other => return Err(format!("`{other}` is not an operation")),
    };
    // Of a map kustomize's version of the library replaces also what is not there.
    let adds = |document: &mut Value| {
        container(document, path).is_some_and(|(container, _)| container.is_object())
    };
    let op = if matches!(op, "copy" | "move") || (op == "replace" && adds(document)) {
        "add"
    } else {
        op
    };
    apply(document, Operation { op, path, value }).map(|_| ())
}

/// About how many bytes a copy of a value takes.
pub fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 8 + text.len(),
        Value::Array(items) => 8 + items.iter().map(weight).sum::<usize>(),
        Value::Object(entries) => {
            8 + entries
                .iter()
                .map(|(key, value)| 8 + key.len() + weight(value))
                .sum::<usize>()
        }
        _ => 8,
    }
}

/// The levels of lists and maps in a value.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(entries) => 1 + entries.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn found<'d>(document: &'d mut Value, path: &str) -> Result<&'d Value, String> {
    let missing = || format!("there is nothing at {path}");
    let (container, key) = container(document, path).ok_or_else(missing)?;
    member(container, &key)
        .map(|value| &*value)
        .ok_or_else(missing)
}

fn test(document: &mut Value, path: &str, wanted: &Value) -> Result<(), String> {
    let Some((container, key)) = container(document, path) else {
        return Err(format!(
            "test operation does not apply: is missing path: {path}: missing value"
        ));
    };
    let there = member(container, &key).cloned().unwrap_or(Value::Null);
    if there == *wanted {
        Ok(())
    } else {
        Err(format!("testing path {path} failed"))
    }
}

/// Changes a document; gives what stood at the path before, if something did and it is replaced or
/// removed.
///
/// # Errors
/// In the library's words; then the document may have changed.
pub fn apply(document: &mut Value, operation: Operation<'_>) -> Result<Option<Value>, String> {
    let Operation { op, path, value } = operation;
    let missing = |text: String| format!("{text}: missing value");
    if op != "remove" && path.matches('/').count() + depth(&value) > MAX_NESTING {
        return Err(format!(
            "{op} operation makes a value of more than {MAX_NESTING} levels: {path}"
        ));
    }
    let found = container(document, path);
    match (op, found) {
        ("add", None) => Err(missing(format!(
            "add operation does not apply: doc is missing path: \"{path}\""
        ))),
        ("add", Some((container, key))) => add(container, &key, value)
            .map_err(|reason| format!("error in add for path: '{path}': {reason}")),
        ("replace", None) => Err(missing(format!(
            "replace operation does not apply: doc is missing path: {path}"
        ))),
        ("replace", Some((container, key))) => match member(container, &key) {
            Some(place) => Ok(Some(std::mem::replace(place, value))),
            None => Err(missing(format!(
                "replace operation does not apply: doc is missing key: {path}"
            ))),
        },
        ("remove", None) => Err(missing(format!(
            "remove operation does not apply: doc is missing path: \"{path}\""
        ))),
        ("remove", Some((container, key))) => remove(container, &key)
            .map(Some)
            .map_err(|reason| format!("error in remove for path: '{path}': {reason}")),
        (other, _) => Err(format!("Unexpected kind: {other}")),
    }
}

/// The map or list that holds what a path names, and the last step.
fn container<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
    let (_, steps) = path.split_once('/')?;
    let decoded = |step: &str| step.replace("~1", "/").replace("~0", "~");
    let (before, last) = steps
        .rsplit_once('/')
        .map_or((None, steps), |(before, last)| (Some(before), last));
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
pub fn index(key: &str, length: usize) -> Option<usize> {
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
            let parsing = format!(
                "strconv.Atoi: parsing {}: {fault}",
                windlass_go_text::quote(key)
            );
            if says_so {
                format!("value was not a proper array index: '{key}': {parsing}")
            } else {
                parsing
            }
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
        Value::Object(entries) => entries
            .remove(key)
            .ok_or_else(|| format!("unable to remove nonexistent key: {key}: missing value")),
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
            apply(
                &mut document,
                Operation {
                    op,
                    path,
                    value: json!(9),
                },
            )
            .unwrap()
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
        assert_eq!(
            patched("add", "/spec/l/-", json!(3)).unwrap()["l"],
            json!([1, 2, 3])
        );
        assert_eq!(
            patched("add", "/spec/l/0", json!(0)).unwrap()["l"],
            json!([0, 1, 2])
        );
        assert_eq!(
            patched("add", "/spec/a~1b/c", json!(null)).unwrap()["a/b"],
            json!({"c": null})
        );
        assert_eq!(
            patched("replace", "/spec/n", json!(1)).unwrap()["n"],
            json!(1)
        );
        assert_eq!(
            patched("replace", "/spec/l/-1", json!(9)).unwrap()["l"],
            json!([1, 9])
        );
        assert_eq!(
            patched("remove", "/spec/t", json!(null)).unwrap().get("t"),
            None
        );
    }

    /// RFC 6902, sections 4.4 to 4.6.
    #[test]
    fn parts_are_moved_copied_and_tested() {
        let patched = |operation: Value| {
            let mut document = json!({"a": [1, 2], "b": {"c": "x"}});
            apply_written(&mut document, &operation, &Budget::default()).map(|()| document)
        };
        assert_eq!(
            patched(json!({"op": "move", "from": "/b/c", "path": "/d"})),
            Ok(json!({"a": [1, 2], "b": {}, "d": "x"}))
        );
        assert_eq!(
            patched(json!({"op": "move", "from": "/a/0", "path": "/a/1"})),
            Ok(json!({"a": [2, 1], "b": {"c": "x"}}))
        );
        assert_eq!(
            patched(json!({"op": "copy", "from": "/b/c", "path": "/a/-"})),
            Ok(json!({"a": [1, 2, "x"], "b": {"c": "x"}}))
        );
        let same = Ok(json!({"a": [1, 2], "b": {"c": "x"}}));
        assert_eq!(
            patched(json!({"op": "test", "path": "/b", "value": {"c": "x"}})),
            same
        );
        assert_eq!(
            patched(json!({"op": "test", "path": "/none", "value": null})),
            same
        );
        for rejected in [
            json!({"op": "test", "path": "/b", "value": {}}),
            json!({"op": "test", "path": "/none/c", "value": null}),
            json!({"op": "test", "path": "/b/c/-", "value": null}),
            json!({"op": "move", "from": "/none", "path": "/a/0"}),
            json!({"op": "copy", "path": "/a/0"}),
            json!({"op": "add", "path": "/a/0"}),
            json!({"op": "swap", "path": "/a/0", "value": 1}),
            json!({"op": "add", "value": 1}),
        ] {
            assert!(patched(rejected.clone()).is_err(), "{rejected}");
        }
    }

    #[test]
    fn copies_of_copies_are_paid_for() {
        let mut document = json!({"a": {"x": "0123456789"}});
        let double = |at: usize| json!({"op": "copy", "from": "/a", "path": format!("/a/{at}")});
        let budget = Budget::of(1 << 20);
        let rejected = (0..64)
            .map(double)
            .find_map(|operation| apply_written(&mut document, &operation, &budget).err());
        assert!(
            rejected.unwrap().contains("steps in one run"),
            "sixty-four doublings fill no memory"
        );
    }

    #[test]
    fn what_does_not_apply_is_rejected_in_the_librarys_words() {
        let check = |op: &str, path: &str, expected: &str| {
            assert_eq!(patched(op, path, json!(1)).unwrap_err(), expected)
        };
        check(
            "add",
            "/spec/x/y",
            "add operation does not apply: doc is missing path: \"/spec/x/y\": missing value",
        );
        check(
            "add",
            "/spec/t/y",
            "add operation does not apply: doc is missing path: \"/spec/t/y\": missing value",
        );
        check(
            "add",
            "spec",
            "add operation does not apply: doc is missing path: \"spec\": missing value",
        );
        check(
            "replace",
            "/spec/x",
            "replace operation does not apply: doc is missing key: /spec/x: missing value",
        );
        check(
            "remove",
            "/spec/x",
            "error in remove for path: '/spec/x': unable to remove nonexistent key: x: missing value",
        );
        check(
            "add",
            "/spec/l/7",
            "error in add for path: '/spec/l/7': Unable to access invalid index: 7: invalid index referenced",
        );
    }
}
