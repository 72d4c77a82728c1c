//! One object of the user's documents, with its places.

use serde_json::Value;

use crate::diag::{FieldPath, Place};
use crate::text::source::Source;
use crate::text::yaml::{self, Node};

/// An object of the input.
#[derive(Debug, Clone)]
pub struct Object {
    source: Source,
    document: usize,
    /// The document as it was written; findings take their places from it.
    root: std::sync::Arc<Node>,
    /// Where the object is in its document: the root, or an item of a list.
    within: FieldPath,
    /// The object without its nulls, which the API server drops.
    pub value: Value,
}

impl Object {
    /// The object at a path of a document.
    pub(super) fn new(source: &Source, document: usize, root: std::sync::Arc<Node>, within: FieldPath) -> Option<Self> {
        let value = without_nulls(root.at(&within)?);
        Some(Object { source: source.clone(), document, root, within, value })
    }

    /// The text at a path of fields, `""` when there is none.
    pub fn text(&self, path: &[&str]) -> &str {
        text_at(&self.value, path)
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        self.text(&["kind"])
    }

    /// The API group; `""` for the core group.
    pub fn group(&self) -> &str {
        self.text(&["apiVersion"]).rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// The version of the API group.
    pub fn version(&self) -> &str {
        let api_version = self.text(&["apiVersion"]);
        api_version.rsplit_once('/').map_or(api_version, |(_, version)| version)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.text(&["metadata", "name"])
    }

    /// The namespace; `default` when it is not given, as kubectl has it.
    pub fn namespace(&self) -> &str {
        match self.text(&["metadata", "namespace"]) {
            "" => "default",
            namespace => namespace,
        }
    }

    /// `Kind/name`.
    pub fn title(&self) -> String {
        format!("{}/{}", self.kind(), self.name())
    }

    /// The file that holds the object, as the user named it.
    pub fn file(&self) -> &str {
        self.source.name()
    }

    /// The number of the document in its file, from 1.
    pub fn document(&self) -> usize {
        self.document
    }

    /// The place of a field, or of the nearest thing that exists.
    pub fn place(&self, path: &FieldPath) -> Place {
        let located = self.root.nearest(&self.within.join(path));
        let span = if located.exact { located.span } else { located.key.unwrap_or(located.span) };
        let place = self.source.place().in_document(self.document).in_object(self.title()).at_path(path.clone());
        place.at_span(self.source.span(span))
    }

    /// The place of the key of a field, for findings about the field as such.
    pub fn key_place(&self, path: &FieldPath) -> Place {
        let located = self.root.nearest(&self.within.join(path));
        let place = self.source.place().in_document(self.document).in_object(self.title()).at_path(path.clone());
        place.at_span(self.source.span(located.key.unwrap_or(located.span)))
    }
}

/// The text at a path of fields, `""` when there is none.
pub(crate) fn text_at<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    path.iter().try_fold(value, |value, step| value.get(step)).and_then(Value::as_str).unwrap_or_default()
}

/// The value as JSON without the keys whose value is null: the client or the API server drops them.
fn without_nulls(node: &Node) -> Value {
    match &node.value {
        yaml::Value::Mapping(mapping) => {
            mapping.iter().filter(|entry| !entry.value.is_null()).map(|entry| (entry.key.clone(), without_nulls(&entry.value))).collect()
        }
        yaml::Value::Sequence(items) => items.iter().map(without_nulls).collect(),
        _ => node.to_json(),
    }
}
