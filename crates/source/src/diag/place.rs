//! Where something is in the user's files.

use std::sync::Arc;

use super::FieldPath;

/// A point in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Bytes from the start of the file.
    pub offset: usize,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A stretch of text; `end` is exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first character.
    pub start: Position,
    /// Just after the last character.
    pub end: Position,
}

/// Where a finding stands: as much of it as is known. A place without a span still names file and
/// path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user gave it, with `/` between the parts.
    pub file: Option<Arc<str>>,
    /// The document in the file, from 1.
    pub document: Option<usize>,
    /// `Kind/name` of the object.
    pub object: Option<String>,
    /// The field.
    pub path: FieldPath,
    /// The stretch of text.
    pub span: Option<Span>,
}

impl Place {
    /// A file as a whole.
    pub fn file(name: impl Into<Arc<str>>) -> Self {
        Place {
            file: Some(name.into()),
            ..Place::default()
        }
    }

    /// The file and the offset at which it begins.
    pub fn start(&self) -> Option<(Arc<str>, usize)> {
        Some((self.file.clone()?, self.span?.start.offset))
    }

    /// Sets the number of the document in the file, from 1.
    #[must_use]
    pub fn in_document(mut self, document: usize) -> Self {
        self.document = Some(document);
        self
    }

    /// Adds `Kind/name`.
    #[must_use]
    pub fn in_object(mut self, object: impl Into<String>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// Sets the path of the field in the document.
    #[must_use]
    pub fn at_path(mut self, path: FieldPath) -> Self {
        self.path = path;
        self
    }

    /// Sets the range of text in the file.
    #[must_use]
    pub fn at_span(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }
}
