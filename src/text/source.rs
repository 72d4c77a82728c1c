//! A text with its name, and where its lines begin.

use std::sync::Arc;

use crate::diag::{Place, Position, Span};

/// A file that was read, or text that stands in for one. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
}

impl Source {
    /// A text under the name that findings will show: the path as the user gave it, or `<stdin>`.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source { name: name.into(), text: text.into() }
    }

    /// The name that findings show.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file as a place.
    pub fn place(&self) -> Place {
        Place::file(self.name.clone())
    }
}

/// The offsets at which lines begin: turns byte offsets into lines and columns, in logarithmic time per line.
#[derive(Debug, Clone)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    /// Reads the text once.
    pub fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        LineIndex { text, starts }
    }

    /// Line and column of a byte offset. An offset beyond the end, or inside a character, is moved back to the nearest boundary.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let column = self.text[start..offset].chars().count() + 1;
        Position { offset, line: saturating(line), column: saturating(column) }
    }

    /// The span between two byte offsets.
    pub fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span { start: self.position(range.start), end: self.position(range.end) }
    }

    /// The text of a line (from 1) without its end; `None` beyond the last line.
    pub fn line(&self, line: u32) -> Option<&'a str> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        Some(self.text[start..end].trim_end_matches('\r'))
    }
}

fn saturating(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let index = LineIndex::new("ab\nçé x\n");
        assert_eq!(index.position(0), Position { offset: 0, line: 1, column: 1 });
        assert_eq!(index.position(3), Position { offset: 3, line: 2, column: 1 });
        assert_eq!(index.position(7), Position { offset: 7, line: 2, column: 3 });
        assert_eq!(index.position(4), Position { offset: 3, line: 2, column: 1 }, "inside a character");
        assert_eq!(index.position(99), Position { offset: 10, line: 3, column: 1 });
        assert_eq!(index.line(2), Some("çé x"));
        assert_eq!(index.line(4), None);
    }
}
