//! Values with their places.

use serde_json::Number;

use windlass_source::TextRange;
use windlass_source::diag::{FieldPath, Segment};

/// One document of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<T = Node> {
    /// Its number in the stream, from 1; broken and empty documents count.
    pub index: usize,
    /// Its text, with what stands before it.
    pub range: TextRange,
    /// Its value. An empty document is [`Value::Null`].
    pub root: T,
}

/// A value and the stretch of text that says it.
///
/// The value of an alias is at the alias; what is within it is at the anchor.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Location.
    pub span: TextRange,
    /// The value, as Go reads it.
    pub value: Value,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A boolean; in Go's YAML `on` and `y` are booleans too.
    Bool(bool),
    /// A number: whole numbers as 64-bit integers, others as doubles.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping.
    Mapping(Mapping),
}

/// One key of a mapping with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<T = Node> {
    /// The key as Go's JSON has it: `1.10` is `"1.1"`, a bare `y` is `"true"`.
    pub key: String,
    /// Where the key stands.
    pub key_span: TextRange,
    /// The value.
    pub value: T,
}

/// The entries of a mapping in the order of the document, each key once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mapping {
    entries: Vec<Entry>,
    /// The entries in order of their keys; only in mappings too large to be searched one by one.
    sorted: Box<[u32]>,
}

/// Mappings up to this size are searched one by one.
const SMALL: u32 = 8;

impl Mapping {
    /// Puts entries together, in their order; each key stands once.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let mut sorted = Vec::new();
        if let Some(count) = u32::try_from(entries.len())
            .ok()
            .filter(|count| *count > SMALL)
        {
            sorted.extend(0..count);
            sorted.sort_unstable_by(|a, b| entries[*a as usize].key.cmp(&entries[*b as usize].key));
        }
        Mapping {
            entries,
            sorted: sorted.into(),
        }
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        if self.sorted.is_empty() {
            return self.entries.iter().find(|entry| entry.key == key);
        }
        let at = self
            .sorted
            .binary_search_by(|at| self.entries[*at as usize].key.as_str().cmp(key))
            .ok()?;
        Some(&self.entries[self.sorted[at] as usize])
    }

    /// The entries, in the order of the document.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }
}

impl<'a> IntoIterator for &'a Mapping {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The location of a field path in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located {
    /// The value at the path, when it is there. Otherwise the key of the deepest ancestor that is,
    /// or where there is no key (an item of a list, the root) the first key within it, or the
    /// ancestor itself.
    pub span: TextRange,
    /// The key at the path or of the deepest ancestor; `None` for the root and for items of lists.
    pub key: Option<TextRange>,
    /// Whether the path exists.
    pub(crate) exact: bool,
}

impl Node {
    /// The value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(bool) => (*bool).into(),
            Value::Number(number) => number.clone().into(),
            Value::String(text) => text.as_str().into(),
            Value::Sequence(items) => items.iter().map(Node::to_json).collect(),
            Value::Mapping(mapping) => mapping
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.to_json()))
                .collect(),
        }
    }

    /// The value as JSON, without copying its texts.
    pub fn into_json(self) -> serde_json::Value {
        match self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(bool) => bool.into(),
            Value::Number(number) => number.into(),
            Value::String(text) => text.into(),
            Value::Sequence(items) => items.into_iter().map(Node::into_json).collect(),
            Value::Mapping(mapping) => mapping
                .entries
                .into_iter()
                .map(|entry| (entry.key, entry.value.into_json()))
                .collect(),
        }
    }

    /// The value at a path; `None` when it is not there.
    pub fn at(&self, path: &FieldPath) -> Option<&Node> {
        path.segments().iter().try_fold(self, |node, segment| {
            node.step(segment).map(|(_, child)| child)
        })
    }

    /// The place of a path, or of the deepest ancestor that exists.
    pub fn nearest(&self, path: &FieldPath) -> Located {
        let mut node = self;
        let mut key = None;
        for segment in path.segments() {
            let Some((child_key, child)) = node.step(segment) else {
                return Located {
                    span: key.unwrap_or_else(|| node.first_key_or_all()),
                    key,
                    exact: false,
                };
            };
            key = child_key;
            node = child;
        }
        Located {
            span: node.span,
            key,
            exact: true,
        }
    }

    /// The text of the value, when it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The entries, when the value is a mapping.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.value {
            Value::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The items, when the value is a list.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    fn step(&self, segment: &Segment) -> Option<(Option<TextRange>, &Node)> {
        match (&self.value, segment) {
            (Value::Mapping(mapping), Segment::Field(name) | Segment::Key(name)) => mapping
                .get(name)
                .map(|entry| (Some(entry.key_span), &entry.value)),
            (Value::Sequence(items), Segment::Index(index)) => {
                items.get(*index).map(|item| (None, item))
            }
            _ => None,
        }
    }

    fn first_key_or_all(&self) -> TextRange {
        self.as_mapping()
            .and_then(|mapping| mapping.entries.first())
            .map_or(self.span, |entry| entry.key_span)
    }
}
