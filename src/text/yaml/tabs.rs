//! Tabs where Go's reader takes only spaces: in the indentation of block style, and between a dash and its item. The parser, which keeps
//! to YAML 1.2, lets most of them pass.

use std::ops::Range;

use crate::diag::{Position, Span};

/// Finds the tabs of one document after the other.
#[derive(Debug)]
pub(super) struct Tabs<'a> {
    text: &'a str,
    /// Whether there are any; nothing is kept without.
    any: bool,
    /// Where the text begins that was not looked at yet.
    from: Position,
    /// The stretches in which a line may start with a tab, in order and apart from each other: texts over several lines, and collections
    /// in brackets.
    free: Vec<Range<usize>>,
}

impl<'a> Tabs<'a> {
    /// For `length` bytes of a text.
    pub(super) fn new(text: &'a str, from: Position, length: usize) -> Self {
        Tabs { text, any: text[from.offset..from.offset + length].contains('\t'), from, free: Vec::new() }
    }

    /// Leaves out what stands before.
    pub(super) fn skip_to(&mut self, at: Position) {
        self.from = at;
        self.free.clear();
    }

    /// Lets lines start with a tab within this stretch of several lines.
    pub(super) fn allow(&mut self, span: Span) {
        if span.start.line != span.end.line {
            self.allow_block(span);
        }
    }

    /// Lets lines start with a tab within this block of text, also when it has only one.
    pub(super) fn allow_block(&mut self, span: Span) {
        if self.any {
            let around = span.start.offset..span.end.offset;
            let kept = self.free.partition_point(|inner| inner.start < around.start);
            self.free.truncate(kept);
            self.free.push(around);
        }
    }

    /// The first tab that Go refuses in the lines of the document that ends at `end`.
    pub(super) fn misplaced(&mut self, end: Position) -> Option<Span> {
        let found = if self.any { self.search(end.offset) } else { None };
        self.skip_to(end);
        found
    }

    fn search(&self, end: usize) -> Option<Span> {
        let mut line = self.from;
        while line.offset < end {
            let rest = &self.text[line.offset..end];
            let text = rest.split_inclusive('\n').next().unwrap_or(rest);
            let tab = if line.column == 1 { tab_in_indentation(text.as_bytes()) } else { None };
            if let Some(at) = tab.filter(|at| !self.is_free(line.offset + at)) {
                let column = line.column + u32::try_from(at).unwrap_or(u32::MAX);
                let start = Position { offset: line.offset + at, line: line.line, column };
                let end = Position { offset: start.offset + 1, line: line.line, column: column.saturating_add(1) };
                return Some(Span { start, end });
            }
            line = Position { offset: line.offset + text.len(), line: line.line + 1, column: 1 };
        }
        None
    }

    fn is_free(&self, tab: usize) -> bool {
        let after = self.free.partition_point(|stretch| stretch.start <= tab);
        after.checked_sub(1).is_some_and(|last| self.free[last].contains(&tab))
    }
}

/// The first tab of a line that stands before its first word or behind a dash.
fn tab_in_indentation(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match line.get(at)? {
            b' ' => at += 1,
            b'\t' => return Some(at),
            b'-' | b'?' if matches!(line.get(at + 1), Some(b' ' | b'\t')) => at += 1,
            _ => return None,
        }
    }
}
