//! The value of `valueFrom.variable`: `GetVariableValue` of Cluster API's `patches/variables`.

use serde_json::Value;

use windlass_go_text::quote;

/// One step of a path: a key, and the index of a list behind it.
struct Segment<'p> {
    key: &'p str,
    index: Option<usize>,
}

/// The value at a path, of the variables that `get` gives: `name`, `name.path`, `name[0].path`.
/// Keys with dots cannot be reached.
///
/// # Errors
/// The message of Cluster API.
pub(super) fn find<'v>(
    get: impl Fn(&str) -> Option<&'v Value>,
    path: &str,
) -> Result<&'v Value, String> {
    let mut parts = path.split('.');
    let name = parts.next().unwrap_or_default();
    let first =
        segment(name).map_err(|reason| format!("variable {} is invalid: {reason}", quote(path)))?;
    let value = get(first.key).ok_or_else(|| format!("variable {} does not exist", quote(name)))?;
    let mut value = indexed(value, &first, path)?;
    for part in parts {
        let segment = segment(part)
            .map_err(|reason| format!("variable {} has invalid syntax: {reason}", quote(path)))?;
        let next = member(value, segment.key);
        let next = next.ok_or_else(|| {
            format!(
                "variable {} does not exist: failed to lookup segment {}",
                quote(path),
                quote(segment.key)
            )
        })?;
        value = indexed(next, &segment, path)?;
    }
    Ok(value)
}

/// Of several indices the first one counts; what follows the `]` does not.
fn segment(text: &str) -> Result<Segment<'_>, String> {
    let (open, close) = match (text.find('['), text.find(']')) {
        (None, None) => {
            return Ok(Segment {
                key: text,
                index: None,
            });
        }
        (Some(open), Some(close)) => (open, close),
        _ => return Err(format!("failed to parse path segment {}", quote(text))),
    };
    // Upstream panics here.
    let digits = text
        .get(open + 1..close)
        .ok_or_else(|| format!("failed to parse path segment {}", quote(text)))?;
    match windlass_go_text::number::atoi(digits) {
        Ok(index @ ..0) => Err(format!(
            "invalid array index {index} in path segment {}",
            quote(text)
        )),
        Ok(index) => Ok(Segment {
            key: &text[..open],
            index: usize::try_from(index).ok(),
        }),
        Err(fault) => {
            let parsing = format!("strconv.Atoi: parsing {}: {fault}", quote(digits));
            Err(format!(
                "failed to parse array index in path segment {}: {parsing}",
                quote(text)
            ))
        }
    }
}

/// An entry of a map, or an item of a list by its number.
fn member<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(entries) => entries.get(key),
        Value::Array(items) => {
            items.get(usize::try_from(windlass_go_text::number::atoi(key).ok()?).ok()?)
        }
        _ => None,
    }
}

fn indexed<'v>(value: &'v Value, segment: &Segment<'_>, path: &str) -> Result<&'v Value, String> {
    let Some(index) = segment.index else {
        return Ok(value);
    };
    let invalid = |reason: String| format!("variable {} is invalid: {reason}", quote(path));
    let kind = match value {
        // Upstream prints the address of the index.
        Value::Array(items) => {
            return items
                .get(index)
                .ok_or_else(|| invalid(format!("array does not have index {index}")));
        }
        Value::Null => "null",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Object(_) => "object",
    };
    Err(invalid(format!(
        "failed to get array {}: value doesn't contain array; it contains {kind}",
        quote(segment.key)
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_followed_as_cluster_api_does() {
        let values: std::collections::BTreeMap<String, Value> = [
            ("l".to_owned(), json!([{"a": 1}, [2]])),
            ("o".to_owned(), json!({"x": {"y": [3]}})),
        ]
        .into();
        let check = |path: &str, expected: Result<Value, &str>| {
            assert_eq!(
                find(|name| values.get(name), path).cloned(),
                expected.map_err(str::to_owned),
                "{path}"
            );
        };
        check("o.x.y[0]", Ok(json!(3)));
        check("l[0].a", Ok(json!(1)));
        check("l[1][0]", Ok(json!([2])));
        check("l[0]z", Ok(json!({"a": 1})));
        check("l.1", Ok(json!([2])));
        check("n", Err("variable \"n\" does not exist"));
        check(
            "o.z",
            Err("variable \"o.z\" does not exist: failed to lookup segment \"z\""),
        );
        check(
            "l[-1]",
            Err("variable \"l[-1]\" is invalid: invalid array index -1 in path segment \"l[-1]\""),
        );
        check(
            "l[0",
            Err("variable \"l[0\" is invalid: failed to parse path segment \"l[0\""),
        );
        check(
            "l]0[",
            Err("variable \"l]0[\" is invalid: failed to parse path segment \"l]0[\""),
        );
        check(
            "o[0]",
            Err(
                "variable \"o[0]\" is invalid: failed to get array \"o\": value doesn't contain array; it contains object",
            ),
        );
    }
}
