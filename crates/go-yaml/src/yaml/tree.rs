//! What a reader makes of the values of a document: nodes with places, or plain JSON.

use serde_json::Number;

use super::node::{Entry, Mapping, Node, Value};
use windlass_source::TextRange;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
}

/// The values of a document. The entries of a mapping come in the order of the document, each key
/// once.
pub(super) trait Tree: Sized {
    fn scalar(span: TextRange, value: Scalar) -> Self;
    fn sequence(span: TextRange, items: Vec<Self>) -> Self;
    fn mapping(span: TextRange, entries: Vec<Entry<Self>>) -> Self;
}

impl Tree for Node {
    fn scalar(span: TextRange, value: Scalar) -> Self {
        let value = match value {
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Number(number) => Value::Number(number),
            Scalar::String(text) => Value::String(text),
        };
        Node { span, value }
    }

    fn sequence(span: TextRange, items: Vec<Self>) -> Self {
        Node {
            span,
            value: Value::Sequence(items),
        }
    }

    fn mapping(span: TextRange, entries: Vec<Entry<Self>>) -> Self {
        Node {
            span,
            value: Value::Mapping(Mapping::new(entries)),
        }
    }
}

impl Tree for serde_json::Value {
    fn scalar(_: TextRange, value: Scalar) -> Self {
        match value {
            Scalar::Null => serde_json::Value::Null,
            Scalar::Bool(bool) => bool.into(),
            Scalar::Number(number) => number.into(),
            Scalar::String(text) => text.into(),
        }
    }

    fn sequence(_: TextRange, items: Vec<Self>) -> Self {
        items.into()
    }

    fn mapping(_: TextRange, entries: Vec<Entry<Self>>) -> Self {
        entries
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect()
    }
}
