//! Variables of clusterctl that are alone on a line where YAML needs an entry: the user supplies a
//! block of text, and its content is unknown.

use std::collections::BTreeSet;
use std::ops::Range;

use windlass_envsubst::{self as envsubst, Template};
use windlass_source::Source;

/// A variable without a default that is a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpaqueBlock {
    /// The name of the variable, without `${` and `}`.
    pub name: String,
    /// The variable in the text.
    pub span: Range<usize>,
    /// The document that contains it.
    pub(crate) document: Range<usize>,
    /// Whether the document contains nothing else, so that whole objects may come of it.
    pub is_document: bool,
}

/// Returns the blocks of a text, in order; none where the variables cannot be read.
pub fn opaque_blocks(source: &Source) -> Vec<OpaqueBlock> {
    match envsubst::parse(source.text()) {
        Ok(template) => blocks_of(source.text(), &template),
        Err(_) => Vec::new(),
    }
}

/// Returns the blocks of a text whose variables were read.
pub fn blocks_of(text: &str, template: &Template<'_>) -> Vec<OpaqueBlock> {
    let required: BTreeSet<String> = template
        .variables()
        .into_iter()
        .filter(|(_, default)| default.is_none())
        .map(|(name, _)| name)
        .collect();
    if required.is_empty() {
        return Vec::new();
    }
    let uses = template.uses().into_iter();
    let mut uses = uses
        .filter(|used| !used.nested && required.contains(used.name))
        .peekable();
    let mut blocks = Vec::new();
    let mut document = Document::default();
    let mut start = 0usize;
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            blocks.append(&mut document.ended(start.saturating_sub(1)));
            document = Document::of(start);
        }
        let end = start + line.len();
        // Only the first variable of a line can be alone on it.
        let first = uses.next_if(|used| used.span.start < end);
        while uses.next_if(|used| used.span.start < end).is_some() {}
        if let Some(used) = first
            && start <= used.span.start
            && is_alone(&text[start..used.span.start], &text[used.span.end..])
            && document.needs_entry(used.span.start - start)
        {
            document.add(used.name, used.span);
        }
        document.read(line);
        start = end;
    }
    blocks.append(&mut document.ended(text.len()));
    blocks
}

/// The blocks of the document that contains an offset, of the blocks of a text.
pub fn blocks_at(blocks: &[OpaqueBlock], offset: usize) -> &[OpaqueBlock] {
    let behind = blocks.partition_point(|block| block.document.end <= offset);
    let (_, left) = blocks.split_at(behind);
    let count = left.partition_point(|block| block.document.start <= offset);
    left.split_at(count).0
}

fn is_alone(before: &str, behind: &str) -> bool {
    let behind = behind.split('\n').next().unwrap_or_default().trim();
    before.trim().is_empty() && (behind.is_empty() || behind.starts_with('#'))
}

/// A document up to the line that is read next.
#[derive(Default)]
struct Document<'t> {
    start: usize,
    /// The column of the key or the item whose block scalar is being read.
    scalar: Option<usize>,
    /// The last line that is not blank, a comment or text of a block scalar.
    last: &'t str,
    has_content: bool,
    blocks: Vec<OpaqueBlock>,
}

impl<'t> Document<'t> {
    fn of(start: usize) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    fn add(&mut self, name: &str, span: Range<usize>) {
        self.blocks.push(OpaqueBlock {
            name: name.to_owned(),
            span,
            document: self.start..self.start,
            is_document: false,
        });
    }

    /// Returns the blocks of the document, which ends here.
    fn ended(mut self, end: usize) -> Vec<OpaqueBlock> {
        for block in &mut self.blocks {
            block.document.end = end;
            block.is_document = !self.has_content;
        }
        self.blocks
    }

    fn read(&mut self, line: &'t str) {
        let text = line.trim();
        self.has_content |=
            !(text.is_empty() || text.starts_with(['#', '$']) || text.starts_with("---"));
        if let Some(header) = self.scalar {
            let indent = line.len() - line.trim_start_matches(' ').len();
            if text.is_empty() || indent > header {
                return;
            }
            self.scalar = None;
        }
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        if opens_scalar(line) {
            self.scalar = Some(entry_column(line));
        }
        self.last = line;
    }

    /// Whether an entry belongs where the document goes on in this column: it is not the text of a
    /// block scalar, and not the rest of a value of several lines.
    fn needs_entry(&self, column: usize) -> bool {
        self.scalar.is_none_or(|header| column <= header)
            && (self.last.is_empty()
                || self.last.trim_end().ends_with(':')
                || column <= entry_column(self.last)
                || self.last.starts_with("---"))
    }
}

/// The column of the first word of a line, behind the signs of items.
fn key_column(line: &str) -> usize {
    let mut rest = line.trim_start_matches(' ');
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start_matches(' ');
    }
    line.len() - rest.len()
}

/// The column of the innermost entry that begins on a line: of its key, or, where the last item has
/// no key, of the sign of that item.
fn entry_column(line: &str) -> usize {
    let column = key_column(line);
    let entry = line[column..].trim_end();
    let has_key = if entry.starts_with(['"', '\'']) {
        ["\":", "':"].iter().any(|end| entry.contains(end))
    } else {
        entry.contains(": ") || entry.ends_with(':')
    };
    match line[..column].rfind('-') {
        Some(item) if !has_key => item,
        _ => column,
    }
}

/// Whether a block is among what follows an offset and is indented as deep: it may be part of the
/// value that begins there.
pub fn is_below(text: &str, offset: usize, block: &OpaqueBlock) -> bool {
    let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let Some(between) = text.get(offset..block.span.end) else {
        return false;
    };
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    between
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .all(|line| indent(line) >= offset - start)
}

/// Whether the lines that follow are the text of a block scalar: the line ends with `|` or `>`.
fn opens_scalar(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or(line).trim_end();
    let header = line.rsplit([' ', ':']).next().unwrap_or(line);
    header.starts_with(['|', '>'])
        && header[1..]
            .chars()
            .all(|c| c == '+' || c == '-' || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let blocks = opaque_blocks(&Source::new("t.yaml", text));
        blocks.into_iter().map(|block| block.name).collect()
    }

    #[test]
    fn finds_variables_in_place_of_entries() {
        for text in [
            "a:\n  b: {}\n  ${X}\n",
            "a:\n  b: {}\n${X}\n---\nc: d\n",
            "a:\n  ${X}\n",
            "a:\n- b\n- ${Y:=c}\n${X} # more\n",
            "a: |\n  text ${Y:=z}\nb: c\n${X}\n",
            "a: b\n---\n${X}\n",
            "a:\n  b: |\n    text\n  ${X}\n",
            "a: |\n  text\nb:\n  ${X}\n",
            "a:\n- b: c\n  ${X}\n",
            "a:\n- 'b': c\n  ${X}\n",
            "a:\n- >-\n  text\n${X}\n",
        ] {
            assert_eq!(names(text), ["X"], "{text}");
        }
    }

    #[test]
    fn leaves_variables_within_values() {
        for text in [
            "a: ${X}\n",
            "a: |\n  ${X}\n  b\n",
            "a: |\n  b\n\n  ${X}\n",
            "- content: |-\n    ${X}\n",
            "a: b\n  ${X}\n",
            "a:\n  ${X:=default}\n",
            "a:\n- ${X}\n",
            "a:\n  ${X}${X}\n",
            "a:\n  ${Y:=z}${X}\n",
            "a:\n- b\n  ${X}\n",
            "a:\n- >-\n  ${X}\n",
            "a:\n- |\n  b\n  ${X}\n",
            "a:\n- 'b: c'\n  ${X}\n",
        ] {
            assert_eq!(names(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_block_is_below_what_is_not_deeper() {
        let is_below = |text: &str, value: &str| {
            let block = opaque_blocks(&Source::new("t.yaml", text)).swap_remove(0);
            is_below(text, text.find(value).unwrap(), &block)
        };
        assert!(is_below("a:\n  b:\n    c:\n    ${X}\n", "c:"));
        assert!(is_below("a:\n  b:\n    c:\n    ${X}\n", "b:"));
        assert!(!is_below("a:\n  b: {}\n  ${X}\n", "{}"));
        assert!(!is_below("a:\n  b:\n    c: d\n  ${X}\n", "c:"));
        assert!(!is_below("a:\n  ${X}\n  b: c\n", "b:"));
    }

    #[test]
    fn recognizes_documents_of_one_variable() {
        let block = |text: &str| opaque_blocks(&Source::new("t.yaml", text)).swap_remove(0);
        let alone = block("a: b\n---\n# more\n${X}\n---\nc: d\n");
        assert!(alone.is_document);
        assert_eq!(alone.document, 5..20);
        let beside = block("a: b\n${X}\n---\nc: d\n");
        assert!(!beside.is_document);
        assert_eq!(beside.document, 0..9);
    }
}
