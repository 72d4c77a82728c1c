//! Documents as plain values, and where they came from: places are found when they are asked for,
//! by reading the document again.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{Node, Value};
use windlass_source::diag::{FieldPath, Place, Report};
use windlass_source::{Source, TextRange};

/// The documents of a source as plain values, and the findings about the source.
#[derive(Debug, Clone)]
pub struct Values {
    /// The documents that could be read, in order; empty ones too, which are null.
    pub documents: Vec<DocumentValue>,
    /// The findings, such as the documents that could not be read.
    pub report: Report,
}

/// One document of a stream as a value.
#[derive(Debug, Clone)]
pub struct DocumentValue {
    /// The value, as Go reads it.
    pub value: serde_json::Value,
    /// The location of the document, which finds the places of its fields.
    pub origin: Origin,
}

/// A document of a source. Cheap to clone; it holds no places until the first is asked for.
#[derive(Clone)]
pub struct Origin {
    source: Source,
    document: usize,
    range: TextRange,
    root: Arc<OnceLock<Node>>,
}

impl Origin {
    pub(super) fn new(source: &Source, document: usize, range: TextRange) -> Self {
        Origin {
            source: source.clone(),
            document,
            range,
            root: Arc::default(),
        }
    }

    /// The source that contains the document.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The number of the document in the source, from 1.
    pub fn document(&self) -> usize {
        self.document
    }

    /// The text of the document, with what stands before it.
    pub fn text(&self) -> &str {
        self.source.slice(self.range)
    }

    /// The document with its places, read again at the first question.
    pub fn root(&self) -> &Node {
        self.root
            .get_or_init(|| super::reread(&self.source, self.range))
    }

    /// The place of a field, or of the nearest thing that exists.
    pub fn place(&self, path: &FieldPath) -> Place {
        self.place_at(self.root().nearest(path).span, path)
    }

    /// The place of the key of a field; where there is no key, that of the value.
    pub fn key_place(&self, path: &FieldPath) -> Place {
        let located = self.root().nearest(path);
        self.place_at(located.key.unwrap_or(located.span), path)
    }

    /// The document as YAML 1.2 reads it: `on`, `y` and the like are texts, as keys too.
    pub fn value_of_yaml_1_2(&self) -> serde_json::Value {
        value_of_yaml_1_2(self.root(), &self.source)
    }

    fn place_at(&self, range: TextRange, path: &FieldPath) -> Place {
        self.source
            .place_at(range)
            .in_document(self.document)
            .at_path(path.clone())
    }
}

fn value_of_yaml_1_2(node: &Node, source: &Source) -> serde_json::Value {
    match &node.value {
        Value::Bool(bool) => match only_of_yaml_1_1(source.slice(node.span)) {
            Some(word) => word.into(),
            None => (*bool).into(),
        },
        Value::Sequence(items) => items
            .iter()
            .map(|item| value_of_yaml_1_2(item, source))
            .collect(),
        Value::Mapping(mapping) => {
            let entries = mapping.iter().map(|entry| {
                let key = match only_of_yaml_1_1(source.slice(entry.key_span)) {
                    Some(word) => word.to_owned(),
                    None => entry.key.clone(),
                };
                (key, value_of_yaml_1_2(&entry.value, source))
            });
            entries.collect()
        }
        _ => node.to_json(),
    }
}

/// A word that is a boolean in YAML 1.1 only.
fn only_of_yaml_1_1(word: &str) -> Option<&str> {
    let word = word.trim();
    ["y", "n", "yes", "no", "on", "off"]
        .contains(&word.to_lowercase().as_str())
        .then_some(word)
}

/// The text may hold secrets.
impl fmt::Debug for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "Origin({:?}, document {})",
            self.source.name(),
            self.document
        )
    }
}
