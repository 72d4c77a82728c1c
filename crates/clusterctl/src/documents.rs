//! From YAML to objects and back, as clusterctl does it: the text is cut at lines `---`, of each
//! piece the first document counts, and numbers are doubles.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::Value;

use super::Rejection;
use windlass_go_text as go;
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml;
use windlass_objects::{Object, fields, secrets};
use windlass_source::budget::Budget;

/// Pieces up to this size altogether are read on one core.
const SMALL: usize = 64 << 10;

/// The objects of a text that was read before, as a whole and with the reader that reads the pieces
/// here.
#[derive(Clone)]
pub struct ReadBefore<'r> {
    /// The whole text that was read, with its variables replaced.
    pub text: &'r str,
    /// All its documents that are not empty. The reader had no finding about it. Owned objects are
    /// converted in place, so that no second copy of large components is held.
    pub objects: Cow<'r, [Object]>,
}

impl<'r> ReadBefore<'r> {
    /// The pieces of the text, one for each object; `None` where the pieces need not be its
    /// documents.
    fn pieces(&self) -> Option<Vec<&'r [u8]>> {
        let known = self.text;
        let is_cut_alike = known.ends_with('\n')
            && !known.contains('\r')
            && !known.contains('\u{feff}')
            && yaml::is_one_a_mark(known);
        let (mut pieces, fault) = pieces(known.as_bytes());
        pieces.retain(|piece| !is_empty(piece));
        (is_cut_alike && fault.is_none() && pieces.len() == self.objects.len()).then_some(pieces)
    }

    /// The objects of the text by its pieces; none where the pieces need not be its documents.
    fn by_piece(&self) -> BTreeMap<Key<'r>, &Object> {
        let pieces = self.pieces().unwrap_or_default();
        pieces
            .into_iter()
            .map(key)
            .zip(self.objects.iter())
            .collect()
    }

    /// Whether `text` was read before, and clusterctl reads the same objects in it.
    fn is_whole(&self, text: &[u8]) -> bool {
        self.text.as_bytes() == text
            && self.objects.iter().all(|object| object.value().is_object())
            && self.pieces().is_some()
    }

    fn into_values(self) -> Vec<Value> {
        match self.objects {
            Cow::Borrowed(objects) => objects.par_iter().map(in_doubles).collect(),
            Cow::Owned(objects) => objects
                .into_par_iter()
                .map(|object| with_doubles(object.into_value()))
                .collect(),
        }
    }
}

/// A piece in an order in which few of them are looked into: by length first.
type Key<'p> = (usize, &'p [u8]);

fn key(piece: &[u8]) -> Key<'_> {
    (piece.len(), piece)
}

/// Whether a piece holds nothing but comments, blanks and a mark.
fn is_empty(piece: &[u8]) -> bool {
    let is_nothing = |line: &[u8]| {
        let line = line.strip_prefix(b"---").unwrap_or(line).trim_ascii_start();
        line.is_empty() || line.starts_with(b"#")
    };
    piece.split(|byte| *byte == b'\n').all(is_nothing)
}

/// The objects of the file `shown`, whose text this is. Empty documents are left out. Pieces that
/// were read `before` are not read again.
///
/// # Errors
/// For the first piece that is not a mapping, or no YAML; behind it nothing is read.
pub(super) fn objects(
    shown: &str,
    text: &[u8],
    before: Option<ReadBefore<'_>>,
    budget: &Budget,
) -> Result<Vec<Value>, Rejection> {
    let step = |rejection: Rejection| rejection.within("failed to parse yaml");
    let text = with_line_ends(text);
    let before = match before {
        Some(before) if before.is_whole(&text) => return Ok(before.into_values()),
        other => other,
    };
    let (pieces, fault) = pieces(&text);
    // What aliases multiply is read one after the other, so that no more of it is held than there
    // is room for.
    let one_by_one = text.len() < SMALL || yaml::has_anchors(&text);
    let before = before
        .as_ref()
        .map(ReadBefore::by_piece)
        .unwrap_or_default();
    let value = |piece: &&[u8]| {
        before
            .get(&key(piece))
            .map_or_else(|| first(piece, budget), |known| Ok(in_doubles(known)))
    };
    let parsed = if one_by_one {
        in_turn(&pieces, value)
    } else {
        pieces.par_iter().with_max_len(1).map(value).collect()
    };
    if let Some(spent) = budget.exceeded() {
        return Err(step(Rejection::new(format!("{shown}: {spent}")).note(
            format!("split {shown}, or write out what its aliases multiply"),
        )));
    }
    let mut objects = Vec::with_capacity(parsed.len());
    for (piece, value) in pieces.iter().zip(parsed) {
        let fault = match value {
            Ok(Value::Null) => continue,
            Ok(value @ Value::Object(_)) => {
                objects.push(value);
                continue;
            }
            Ok(other) => Rejection::new(format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                go::json_kind(&other)
            )),
            Err(fault) => fault.within("error converting YAML to JSON"),
        };
        let ordinal = ordinal(objects.len() + 1);
        let lossy = String::from_utf8_lossy(piece);
        let (shown, fault) = match secrets::masked(&lossy) {
            Cow::Borrowed(_) => (quote(piece), fault),
            Cow::Owned(masked) => {
                let note = "the secrets of the document are left out here; clusterctl prints them";
                (
                    quote(masked.as_bytes()),
                    fault.without(&secrets::words(&lossy)).note(note),
                )
            }
        };
        return Err(step(fault.within(format!(
            "failed to unmarshal the {ordinal} yaml document: {shown}"
        ))));
    }
    fault.map_or(Ok(objects), |fault| {
        Err(step(fault.within("failed to read yaml")))
    })
}

/// An object as clusterctl reads it.
fn in_doubles(object: &Object) -> Value {
    with_doubles(object.value().clone())
}

fn with_doubles(mut value: Value) -> Value {
    yaml::as_doubles(&mut value);
    value
}

/// The first documents of pieces, up to the first that is rejected.
fn in_turn(
    pieces: &[&[u8]],
    value: impl Fn(&&[u8]) -> Result<Value, Rejection>,
) -> Vec<Result<Value, Rejection>> {
    let mut parsed = Vec::with_capacity(pieces.len());
    for piece in pieces {
        parsed.push(value(piece));
        if !matches!(parsed.last(), Some(Ok(Value::Object(_) | Value::Null))) {
            break;
        }
    }
    parsed
}

/// Objects as YAML, with one line end behind the last; a single line end when there are none.
///
/// # Errors
/// When a text holds characters that YAML does not allow.
pub(super) fn to_yaml(objects: Vec<Value>) -> Result<String, Rejection> {
    if objects.is_empty() {
        return Ok("\n".to_owned());
    }
    goyaml::documents_to_string(objects).map_err(|rejected| {
        let (group, version) = fields::group_version(&rejected);
        let (namespace, name) = (fields::namespace(&rejected), fields::name(&rejected));
        let kind = fields::kind(&rejected);
        Rejection::new("yaml: control characters are not allowed").within(format!(
            "failed to marshal yaml for {group}/{version}, Kind={kind}, {namespace}/{name}"
        ))
    })
}

/// The first document of a text; null when there is none.
///
/// # Errors
/// When it is not YAML.
pub(super) fn first(text: &[u8], budget: &Budget) -> Result<Value, Rejection> {
    yaml::first(text, budget).map_err(Rejection::new)
}

/// A text whose lines, the last one too, all end with a bare `\n`: itself where they do.
fn with_line_ends(text: &[u8]) -> Cow<'_, [u8]> {
    if text.ends_with(b"\n") && memchr::memmem::find(text, b"\r\n").is_none() {
        return Cow::Borrowed(text);
    }
    let mut lines = Vec::with_capacity(text.len() + 1);
    for line in text
        .strip_suffix(b"\n")
        .unwrap_or(text)
        .split(|byte| *byte == b'\n')
    {
        lines.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        lines.push(b'\n');
    }
    Cow::Owned(lines)
}

/// Cuts [such a text](with_line_ends) as Kubernetes' YAMLReader does: each line that begins with
/// `---` ends a piece, unless the piece is still empty. The fault, if any, comes after the pieces.
fn pieces(text: &[u8]) -> (Vec<&[u8]>, Option<Rejection>) {
    let mut pieces = Vec::new();
    let mut from = 0;
    let first = text.starts_with(b"---").then_some(0);
    for line in first
        .into_iter()
        .chain(memchr::memmem::find_iter(text, b"\n---").map(|end| end + 1))
    {
        let end = memchr::memchr(b'\n', &text[line..]).map_or(text.len(), |length| line + length);
        let rest = text[line + 3..end].trim_ascii();
        if !rest.is_empty() && rest[0] != b'#' {
            return (
                pieces,
                Some(Rejection::new(format!(
                    "invalid Yaml document separator: {}",
                    String::from_utf8_lossy(rest)
                ))),
            );
        }
        if line > from {
            pieces.push(&text[from..line]);
            from = end + 1;
        }
    }
    if from < text.len() {
        pieces.push(&text[from..]);
    }
    (pieces, None)
}

/// `1st`, `2nd`, `3rd`, by the last digit alone: `11st`.
fn ordinal(number: usize) -> String {
    let suffix = match number % 10 {
        1 => "st",
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

/// `%q` of bytes that need not be UTF-8.
fn quote(bytes: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        let valid = go::quote(chunk.valid());
        quoted.push_str(&valid[1..valid.len() - 1]);
        chunk
            .invalid()
            .iter()
            .for_each(|byte| quoted.push_str(&format!("\\x{byte:02x}")));
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use windlass_source::budget::Resource;

    #[test]
    fn pieces_end_at_separators() {
        let cut = |text: &str| {
            let text = with_line_ends(text.as_bytes());
            let (pieces, fault) = pieces(&text);
            let pieces: Vec<_> = pieces
                .into_iter()
                .map(|piece| String::from_utf8(piece.to_owned()).unwrap())
                .collect();
            (pieces, fault.map(|fault| fault.message().to_owned()))
        };
        let all = |pieces: &[&str]| {
            (
                pieces.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>(),
                None,
            )
        };
        assert_eq!(cut("a: 1\r\n--- # x\nb: 2"), all(&["a: 1\n", "b: 2\n"]));
        assert_eq!(
            cut("---\na: 1\n---\n---\n---\n"),
            all(&["---\na: 1\n", "---\n"])
        );
        assert_eq!(cut(" ---\n"), all(&[" ---\n"]));
        assert_eq!(cut(""), all(&["\n"]));
        assert_eq!(cut("a: 1\r\r\n\n--- \n\n"), all(&["a: 1\r\n\n", "\n"]));
        assert_eq!(
            cut("a: 1\n---b\n"),
            (
                vec![],
                Some("invalid Yaml document separator: b".to_owned())
            )
        );
    }

    #[test]
    fn objects_come_from_all_pieces() {
        let objects = |text: &[u8]| objects("t.yaml", text, None, &Budget::default());
        assert_eq!(
            objects(b"# nothing\n---\na: 1\n---\n---\nb: yes\n...\nc\n").unwrap(),
            [json!({"a": 1}), json!({"b": true})]
        );
        assert_eq!(objects(b"").unwrap(), Vec::<Value>::new());
    }

    #[test]
    fn what_was_read_before_is_what_the_pieces_give() {
        let check = |text: &str, is_taken: bool| {
            let budget = Budget::default();
            let (read, report) =
                windlass_objects::read(&windlass_source::Source::new("t.yaml", text), &budget);
            let before = ReadBefore {
                text,
                objects: Cow::Borrowed(&read),
            };
            assert_eq!(!before.by_piece().is_empty(), is_taken, "{text}");
            assert_eq!(before.is_whole(text.as_bytes()), is_taken, "{text}");
            assert!(!before.is_whole(b"c: 3\n"), "{text}");
            if is_taken {
                assert!(report.is_empty(), "{text}");
                let (alone, after) = (Budget::default(), Budget::default());
                let expected = objects("t.yaml", text.as_bytes(), None, &alone).unwrap();
                let owned = ReadBefore {
                    text,
                    objects: Cow::Owned(read.clone()),
                };
                for before in [before.clone(), owned] {
                    assert_eq!(
                        objects("t.yaml", text.as_bytes(), Some(before), &after).unwrap(),
                        expected,
                        "{text}"
                    );
                }
                let values = |budget: &Budget| budget.used_of(Resource::Values);
                assert!(values(&after) < values(&alone), "{text}");
                // Another piece is read, wherever it stands.
                for other in [format!("{text}---\nc: 3\n"), format!("c: 3\n---\n{text}")] {
                    let of = |before| objects("t.yaml", other.as_bytes(), before, &budget).unwrap();
                    assert_eq!(of(Some(before.clone())), of(None), "{other}");
                }
            }
        };
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let with = |before: &str, behind: &str| format!("{before}{object}{behind}");
        for text in ["", "---\n", "# nothing\n---\n", "--- # x\n", "---\n---\n"] {
            check(&with(text, ""), true);
            check(&with("", &format!("---\n{text}{object}")), true);
        }
        check(
            &with(
                "",
                "data:\n  a: |\n    ---\n    b\nbig: 9007199254740993\n---\n# end\n",
            ),
            true,
        );
        // Pieces of these are not what a reader of the whole finds, or need not be.
        check(&with("", "...\nb: 1\n---\nc: 2\n"), false);
        check(&with("", "data:\n  a: |\n    b"), false);
        check(&with("", "data: &x {a: b}\nother: *x\n"), false);
        check(&with("%YAML 1.1\n---\n", ""), false);
        check(&with("\u{feff}", ""), false);
        check(&with("", "a: b\r\n"), false);
        check(&with("", "--- {a: b}\n"), false);
        check(&with("", "---\n~\n"), false);
    }

    #[test]
    fn nothing_is_read_behind_what_is_rejected() {
        let budget = Budget::default();
        objects(
            "t.yaml",
            b"a: &a 1\n---\n- x\n---\nb: [1, 2, 3]\n",
            None,
            &budget,
        )
        .unwrap_err();
        assert_eq!(
            budget.used_of(Resource::Values),
            2 + 1 + 2,
            "those of the first two documents"
        );
        let budget = Budget::default().with(Resource::Values, 3);
        let rejection = objects("t.yaml", b"a: 1\n---\nb: 2\n", None, &budget).unwrap_err();
        assert_eq!(
            rejection.message(),
            "failed to parse yaml: t.yaml: more than 3 values of YAML in one run"
        );
    }

    #[test]
    fn rejections_count_objects() {
        let rejected = |text: &str| {
            objects("t.yaml", text.as_bytes(), None, &Budget::default())
                .unwrap_err()
                .message()
                .to_owned()
        };
        assert_eq!(
            rejected("a: 1\n---\n---\n- x\n"),
            "failed to parse yaml: failed to unmarshal the 2nd yaml document: \"---\\n- x\\n\": error unmarshaling JSON: while decoding JSON: json: \
             cannot unmarshal array into Go value of type map[string]interface {}"
        );
        assert_eq!(
            rejected("--- {a: 1}\n"),
            "failed to parse yaml: failed to read yaml: invalid Yaml document separator: {a: 1}"
        );
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 21].map(ordinal),
            ["1st", "2nd", "3rd", "4th", "11st", "12nd", "21st"]
        );
    }

    #[test]
    fn bytes_are_quoted_as_go_quotes_them() {
        assert_eq!(quote(b"a: \xc3\n\"\xff"), "\"a: \\xc3\\n\\\"\\xff\"");
        assert_eq!(
            first(b"a: \xc3\n", &Budget::default())
                .unwrap_err()
                .message(),
            "yaml: invalid trailing UTF-8 octet"
        );
        assert_eq!(
            first(b"a: \xff\n", &Budget::default())
                .unwrap_err()
                .message(),
            "yaml: invalid leading UTF-8 octet"
        );
    }
}
