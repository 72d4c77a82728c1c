//! The key or value at a byte of a YAML text, and the document around it. A line that is being typed
//! is completed first, so that the document can be read.

use std::ops::Range;

use super::objects::masked_text;
use windlass_go_yaml::yaml::{self, Node, Value};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::cut::cut;
use windlass_source::diag::{FieldPath, Segment};

/// A document of a text, with its values. Spans are those of the document.
pub(super) struct Document {
    pub(super) root: Node,
    /// The offset of the document in the text.
    start: usize,
}

/// The key or value at a byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The path of the key or value.
    pub(super) path: FieldPath,
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
    pub(super) is_key: bool,
}

impl Document {
    /// The document around a byte; `None` when it cannot be read.
    pub(super) fn at(text: &str, offset: usize, budget: &Budget) -> Option<Self> {
        let range = document_range(text, offset);
        Document::read(&text[range.clone()], range.start, budget)
    }

    fn read(text: &str, start: usize, budget: &Budget) -> Option<Self> {
        let source = Source::new("", masked_text(text));
        let parsed = yaml::parse(&source, budget);
        let root = parsed.documents.into_iter().next()?.root;
        Some(Document { root, start })
    }

    /// The innermost key or value at a byte of the text.
    pub(super) fn spot(&self, offset: usize) -> Option<Spot> {
        let mut path = FieldPath::root();
        let (range, is_key) = find(&self.root, offset.checked_sub(self.start)?, &mut path)?;
        Some(Spot {
            path,
            range: range.start + self.start..range.end + self.start,
            is_key,
        })
    }

    /// The text at a path of fields; empty when there is none.
    pub(super) fn text(&self, dotted: &str) -> &str {
        self.text_at(&FieldPath::of_fields(dotted))
    }

    pub(super) fn text_at(&self, path: &FieldPath) -> &str {
        self.root
            .at(path)
            .and_then(Node::as_str)
            .unwrap_or_default()
    }
}

/// The depth is that of the reader's limits.
fn find(node: &Node, offset: usize, path: &mut FieldPath) -> Option<(Range<usize>, bool)> {
    let holds = |range: Range<usize>| range.start <= offset && offset <= range.end;
    match &node.value {
        Value::Mapping(mapping) => {
            for entry in mapping.iter() {
                let (key, value): (Range<usize>, Range<usize>) =
                    (entry.key_span.into(), entry.value.span.into());
                let is_key = holds(key.clone());
                if !is_key && !holds(value.clone()) {
                    continue;
                }
                path.push(Segment::Field(entry.key.clone()));
                if is_key {
                    return Some((key, true));
                }
                if let Some(found) = find(&entry.value, offset, path) {
                    return Some(found);
                }
                path.pop();
            }
            None
        }
        Value::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                if !holds(item.span.into()) {
                    continue;
                }
                path.push(Segment::Index(at));
                if let Some(found) = find(item, offset, path) {
                    return Some(found);
                }
                path.pop();
            }
            None
        }
        _ => holds(node.span.into()).then(|| (node.span.into(), false)),
    }
}

/// The bytes of the document around a byte, from its line `---` to the next one.
fn document_range(text: &str, offset: usize) -> Range<usize> {
    let line_end = cut(text, offset..)
        .find('\n')
        .map_or(text.len(), |at| offset + at);
    let start = match cut(text, ..line_end).rfind("\n---") {
        Some(before) => before + 1,
        None => 0,
    };
    let end = cut(text, line_end..)
        .find("\n---")
        .map_or(text.len(), |at| line_end + at + 1);
    start..end
}

/// The kind of text that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// A variable of clusterctl, behind `${`.
    Variable,
    /// A rule in a waiver, behind `windlass: ignore[`.
    Rule,
    /// A key of the mapping at this path.
    Key(FieldPath),
    /// The value at this path.
    Value(FieldPath),
}

/// The text that is being typed at a byte.
pub(super) struct Typing {
    pub(super) typed: Typed,
    /// The bytes that a completion item replaces: the word around the cursor.
    pub(super) word: Range<usize>,
    /// Whether a colon follows the word: the key has a value.
    pub(super) is_before_colon: bool,
    /// The document around it, as far as it can be read.
    pub(super) document: Option<Document>,
}

/// The placeholder for the text that is being typed.
const PLACEHOLDER: &str = "windlass-cursor";

impl Typing {
    pub(super) fn at(text: &str, offset: usize, budget: &Budget) -> Option<Self> {
        let line_start = cut(text, ..offset).rfind('\n').map_or(0, |at| at + 1);
        let before = cut(text, line_start..offset);
        if let Some(begin) = before.rfind("${")
            && before[begin + 2..]
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return Some(Typing {
                typed: Typed::Variable,
                word: line_start + begin + 2..word_end(text, offset),
                is_before_colon: false,
                document: None,
            });
        }
        if let Some(waiver) = comment(before) {
            let rules = waiver.split_once("windlass: ignore[")?.1;
            let word = rules.rsplit(',').next().unwrap_or_default().trim_start();
            return (!word.contains(']')).then(|| Typing {
                typed: Typed::Rule,
                word: offset - word.len()..word_end(text, offset),
                is_before_colon: false,
                document: None,
            });
        }
        Typing::of_line(text, line_start, offset, budget)
    }

    /// A key, or the value behind one, in a line of a block.
    fn of_line(text: &str, line_start: usize, offset: usize, budget: &Budget) -> Option<Self> {
        let before = cut(text, line_start..offset);
        let content = before.trim_start_matches([' ', '-']);
        let (lead, is_value) = match content.split_once(": ") {
            Some((key, _)) => (before.len() - content.len() + key.len() + 2, true),
            None => (before.len() - content.len(), false),
        };
        let value = &before[lead..];
        let word = value.trim_start();
        if word.contains([' ', '{', '[', '"', '\'']) {
            return None;
        }
        let line_end = cut(text, offset..)
            .find(['\n', '\r'])
            .map_or(text.len(), |at| offset + at);
        let range = document_range(text, offset);
        let colon = if is_value { "" } else { ":" };
        let completed = [
            cut(text, range.start..line_start + lead),
            PLACEHOLDER,
            colon,
            cut(text, line_end..range.end),
        ]
        .concat();
        let document = Document::read(&completed, range.start, budget)?;
        let path = placeholder(&document.root, &mut FieldPath::root())?;
        let typed = if is_value {
            Typed::Value(path)
        } else {
            Typed::Key(path.parent()?)
        };
        let end = word_end(text, offset);
        Some(Typing {
            typed,
            word: offset - word.len()..end,
            is_before_colon: cut(text, end..line_end).trim_start().starts_with(':'),
            document: Some(document),
        })
    }
}

/// The end of the word that goes on at a byte.
fn word_end(text: &str, offset: usize) -> usize {
    let rest = cut(text, offset..);
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    offset + rest.len() - rest.trim_start_matches(is_word).len()
}

/// The comment in the first part of a line: in YAML a blank is before its `#`.
fn comment(line: &str) -> Option<&str> {
    let mut signs = line.match_indices('#');
    let (at, _) = signs.find(|(at, _)| {
        let before = cut(line, ..*at);
        before.is_empty() || before.ends_with([' ', '\t'])
    })?;
    Some(cut(line, at + 1..))
}

/// The path of the key or value that the placeholder is.
fn placeholder(node: &Node, path: &mut FieldPath) -> Option<FieldPath> {
    match &node.value {
        Value::String(text) if text == PLACEHOLDER => Some(path.clone()),
        Value::Mapping(mapping) => mapping.iter().find_map(|entry| {
            path.push(Segment::Field(entry.key.clone()));
            let found = match entry.key == PLACEHOLDER {
                true => Some(path.clone()),
                false => placeholder(&entry.value, path),
            };
            path.pop();
            found
        }),
        Value::Sequence(items) => items.iter().enumerate().find_map(|(at, item)| {
            path.push(Segment::Index(at));
            let found = placeholder(item, path);
            path.pop();
            found
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text without the `|` that marks the cursor, and where it was.
    fn marked(text: &str) -> (String, usize) {
        let offset = text.find('|').unwrap();
        (text.replacen('|', "", 1), offset)
    }

    #[test]
    fn finds_the_innermost_key_or_value() {
        for (text, path, is_key) in [
            ("a:\n  b|c: d\n", "a.bc", true),
            ("a:\n  bc: d|d\n", "a.bc", false),
            ("a:\n- x: 1\n- z: ${V|AR}\n", "a[1].z", false),
            ("a: {b: [c, |d]}\n", "a.b[1]", false),
            ("x: 1\n---\na:\n  b: |c\n---\ny: 2\n", "a.b", false),
            ("---\na: b|\n---\n", "a", false),
        ] {
            let (text, offset) = marked(text);
            let document = Document::at(&text, offset, &Budget::default()).unwrap();
            let spot = document.spot(offset).unwrap();
            assert_eq!(
                (spot.path.to_string().as_str(), spot.is_key),
                (path, is_key),
                "{text}"
            );
            assert!(spot.range.start <= offset && offset <= spot.range.end);
        }
    }

    #[test]
    fn reads_what_is_being_typed() {
        let typed = |text: &str| {
            let (text, offset) = marked(text);
            let typing = Typing::at(&text, offset, &Budget::default())?;
            let word = text[typing.word].to_owned();
            let word = match typing.is_before_colon {
                true => format!("{word} :"),
                false => word,
            };
            Some(match typing.typed {
                Typed::Variable => format!("variable {word}"),
                Typed::Rule => format!("rule {word}"),
                Typed::Key(path) => format!("key {path} {word}"),
                Typed::Value(path) => format!("value {path} {word}"),
            })
        };
        for (text, expected) in [
            ("spec:\n  files:\n  - pa|\n  x: 1\n", "key spec.files[0] pa"),
            (
                "spec:\n  files:\n  - path: a\n    |\n",
                "key spec.files[0] ",
            ),
            ("spec:\n  fo|: 1\n", "key spec fo :"),
            ("spec:\n  fo|:\n    a: 1\n", "key spec fo :"),
            ("spec:\n  fo|rmat: x\n", "key spec format :"),
            ("spec:\n  format: cl|oud\n", "value spec.format cloud"),
            ("spec:\n  format: a#|\n", "value spec.format a#"),
            ("a: ${CL|USTER}\n", "variable CLUSTER"),
            ("spec:\n  format: cl|\n  x: 1\n", "value spec.format cl"),
            ("spec:\n  format: |\n", "value spec.format "),
            ("spec:\n  list:\n  - a\n  - b|\n", "key spec.list[1] b"),
            ("a: x-${CLU|\nb: ${C}\n", "variable CLU"),
            ("# windlass: ignore[a-b, cr|\n", "rule cr"),
            ("ki|\n", "key  ki"),
            ("a: 1\n---\nb: 2\n|", "key  "),
        ] {
            assert_eq!(typed(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "# a comm|\n",
            "a: \"x|\n",
            "a: {b|\n",
            "a: b\n   broken: [|\n",
        ] {
            assert_eq!(typed(text), None, "{text}");
        }
    }
}
