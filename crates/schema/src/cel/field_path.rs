//! The `fieldPath` of a rule: a JSON path of fields and map keys below the value that the rule
//! checks.

use crate::node::{Additional, Node};
use windlass_source::diag::FieldPath;

/// The path as steps, when it leads to something that the schema knows.
pub(crate) fn parse(path: &str, node: &Node) -> Option<FieldPath> {
    let mut found = FieldPath::root();
    let mut schema = Some(node);
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix("['") {
            Some(quoted) => {
                let end = closing_quote(quoted)?;
                (
                    unescaped(&quoted[..end])?,
                    quoted[end + 1..].strip_prefix(']')?,
                )
            }
            None => {
                let name = rest.strip_prefix('.')?;
                let end = name.find(['.', '[', ']']).unwrap_or(name.len());
                (name[..end].to_owned(), &name[end..])
            }
        };
        let current = schema?;
        if current.properties.is_empty() {
            if !matches!(
                current.additional,
                Some(Additional::Anything | Additional::Values(_))
            ) || name.is_empty()
            {
                return None;
            }
            found = found.key(name);
            schema = current.values();
        } else {
            schema = Some(current.properties.get(&name)?);
            found = found.field(name);
        }
        rest = after;
    }
    Some(found)
}

fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find(|at| bytes[*at] == b'\'' && (*at == 0 || bytes[at - 1] != b'\\'))
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                quoted @ ('\'' | '\\') => quoted,
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;
    use serde_json::json;

    #[test]
    fn paths_lead_through_fields_and_keys() {
        let string = json!({"type": "string"});
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b.c": string}}, "m": {"type": "object", "additionalProperties": string},
        }});
        let node = Schema::from_json(&schema).unwrap().root;
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(
                parse(path, &node).map(|p| p.to_string()).as_deref(),
                expected,
                "{path}"
            )
        };
        check(".a", Some("a"));
        check(".a['b.c']", Some("a.b.c"));
        check(".m['x\\'y']", Some("m[x'y]"));
        check(".m.x", Some("m[x]"));
        check(".b", None);
        check("a", None);
        check(".a[0]", None);
        check(".a.b.c", None);
    }
}
