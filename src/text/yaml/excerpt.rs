//! A stretch of a source that is read on its own, and its places in the whole.

use std::ops::Range;

use granit_parser::Marker;

use crate::diag::{Position, Span};
use crate::text::source::Source;

/// Whole lines of a source.
#[derive(Debug)]
pub(super) struct Excerpt<'a> {
    pub(super) source: &'a Source,
    /// The text of the lines.
    pub(super) text: &'a str,
    /// Where the first line begins.
    start: Position,
}

impl<'a> Excerpt<'a> {
    /// The whole source.
    pub(super) fn whole(source: &'a Source) -> Self {
        Excerpt { source, text: source.text(), start: Position { offset: 0, line: 1, column: 1 } }
    }

    /// A part of this stretch; `range` begins at the start of a line, `line` lines below the first.
    pub(super) fn part(&self, range: Range<usize>, line: u32) -> Self {
        let start = Position { offset: self.start.offset + range.start, line: self.start.line + line, column: 1 };
        Excerpt { source: self.source, text: &self.text[range], start }
    }

    /// Where the first line begins.
    pub(super) fn start(&self) -> Position {
        self.start
    }

    /// A place that the parser names.
    pub(super) fn position(&self, at: &Marker) -> Position {
        Position {
            offset: self.start.offset + at.byte_offset().unwrap_or_default(),
            line: self.start.line + saturating(at.line()).saturating_sub(1),
            column: saturating(at.col()).saturating_add(1),
        }
    }

    /// A stretch that the parser names.
    pub(super) fn span(&self, at: &granit_parser::Span) -> Span {
        Span { start: self.position(&at.start), end: self.position(&at.end) }
    }

    /// The stretch of a few characters of the text.
    pub(super) fn span_of(&self, range: Range<usize>) -> Span {
        self.source.span(self.start.offset + range.start..self.start.offset + range.end)
    }

    /// The text of a stretch.
    pub(super) fn text(&self, span: Span) -> &'a str {
        let Range { start, end } = span.start.offset..span.end.offset;
        start.checked_sub(self.start.offset).and_then(|start| self.text.get(start..end - self.start.offset)).unwrap_or_default()
    }

    /// Where a list in block style begins: at its first dash. The parser places some at the item behind it.
    pub(super) fn dash_at_or_before(&self, at: Position) -> Position {
        let (before, after) = self.source.text().split_at(at.offset);
        let before = before.trim_end_matches([' ', '\t']);
        let at_dash = after.starts_with('-') && after[1..].starts_with([' ', '\t', '\r', '\n']);
        if at_dash || before.len() == at.offset || !before.ends_with('-') {
            return at;
        }
        let dash = before.len() - 1;
        Position { offset: dash, line: at.line, column: at.column.saturating_sub(saturating(at.offset - dash)) }
    }

    /// Whether the text ends within the last line of this stretch, without a line break.
    pub(super) fn is_cut_off(&self, span: Span) -> bool {
        let ends_in_words = |line: &str| line.contains(|c: char| c != ' ') && !line.ends_with('\r');
        span.end.offset == self.start.offset + self.text.len() && self.text.rsplit('\n').next().is_some_and(ends_in_words)
    }

    /// The stretch without the line breaks and blanks at its end: the parser counts those behind a block scalar as part of it.
    pub(super) fn without_end_breaks(&self, span: Span) -> Span {
        let text = self.text(span);
        let kept = text.trim_end_matches([' ', '\t', '\r', '\n']);
        let breaks = text[kept.len()..].bytes().filter(|b| *b == b'\n').count();
        if breaks == 0 || kept.is_empty() {
            return span;
        }
        let last_line = kept.rfind('\n').map_or(kept, |at| &kept[at + 1..]);
        let before = if last_line.len() == kept.len() { span.start.column - 1 } else { 0 };
        let column = saturating(last_line.chars().count()).saturating_add(before + 1);
        let lines = saturating(kept.bytes().filter(|b| *b == b'\n').count());
        let end = Position { offset: span.start.offset + kept.len(), line: span.start.line + lines, column };
        Span { start: span.start, end }
    }
}

fn saturating(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
