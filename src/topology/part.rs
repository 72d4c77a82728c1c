//! A part of an object of the user's: its value, and where it stands.

use serde_json::Value;

use crate::diag::{FieldPath, Place};
use crate::objects::{Object, Stand};

/// What stands for a part that is not there.
static NOTHING: Value = Value::Null;

/// A part of an object.
#[derive(Debug, Clone)]
pub(super) struct Part<'o> {
    pub(super) object: &'o Object,
    pub(super) value: &'o Value,
    pub(super) path: FieldPath,
}

impl<'o> Part<'o> {
    /// The object as a whole.
    pub(super) fn whole(object: &'o Object) -> Self {
        Part { object, value: object.value(), path: FieldPath::root() }
    }

    /// A field; null when it is not there.
    pub(super) fn field(&self, name: &str) -> Part<'o> {
        Part { object: self.object, value: self.value.get(name).unwrap_or(&NOTHING), path: self.path.field(name) }
    }

    /// A field below others, by its dotted path.
    pub(super) fn at(&self, dotted: &str) -> Part<'o> {
        dotted.split('.').fold(self.clone(), |part, name| part.field(name))
    }

    /// The first of several fields that is there; else the first.
    pub(super) fn either(&self, dotted: &[&str]) -> Part<'o> {
        let parts = dotted.iter().map(|dotted| self.at(dotted));
        parts.clone().find(|part| !part.value.is_null()).or_else(|| parts.clone().next()).unwrap_or_else(|| self.clone())
    }

    pub(super) fn is_there(&self) -> bool {
        !self.value.is_null()
    }

    /// The text; empty when it is none.
    pub(super) fn text(&self) -> &'o str {
        self.value.as_str().unwrap_or_default()
    }

    /// The items of a list.
    pub(super) fn items(&self) -> impl Iterator<Item = Part<'o>> + use<'o> {
        let (object, path) = (self.object, self.path.clone());
        let items = self.value.as_array().map_or(&[][..], Vec::as_slice);
        items.iter().enumerate().map(move |(index, value)| Part { object, value, path: path.index(index) })
    }

    /// Where it stands, without its value.
    pub(super) fn stand(&self) -> Stand {
        Stand { anchor: self.object.anchor(), path: self.path.clone(), key: None }
    }

    /// The place in the user's file.
    pub(super) fn place(&self) -> Place {
        self.object.place(&self.path)
    }
}
