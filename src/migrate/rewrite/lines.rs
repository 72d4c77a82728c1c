//! The lines that belong to an entry of a mapping, and how they are moved to the side.

use crate::text::yaml::{Entry, Node, Value};

/// The lines of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The first byte of the comments that stand directly above it.
    pub(super) lead: usize,
    /// The first byte of its line, or its key where a `- ` stands before that.
    pub(super) start: usize,
    /// Behind its last line.
    pub(super) end: usize,
}

impl Stretch {
    /// The lines of an entry; what stands before `from` belongs to others.
    pub(super) fn of(text: &str, entry: &Entry, from: usize) -> Self {
        let key = entry.key_span.start();
        let line = line_start(text, key);
        let start = if text[line..key].trim().is_empty() { line } else { key };
        let lead = if start == line { lead(text, line, from) } else { start };
        let end = line_end(text, end_of(text, &entry.value).max(entry.key_span.end()));
        Stretch { lead, start, end }
    }
}

/// Where a line begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// Behind the end of a line.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Whether the line above ends with the `|` of a text in lines.
pub(super) fn is_below_bar(text: &str, at: usize) -> bool {
    let above = text[..line_start(text, at)].trim_end_matches('\n');
    let line = above[line_start(above, above.len())..].trim_end();
    [": |", ": |-", ": |+"].iter().any(|bar| line.ends_with(bar))
}

/// How many characters stand before a place in its line.
pub(super) fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

/// Where the text of a node ends, without the blanks behind it.
pub(super) fn end_of(text: &str, node: &Node) -> usize {
    match &node.value {
        Value::Sequence(items) if !super::is_flow(text, node) => items.last().map_or(node.span.end(), |item| end_of(text, item)),
        Value::Mapping(mapping) if !super::is_flow(text, node) => {
            let ends = mapping.iter().map(|entry| end_of(text, &entry.value).max(entry.key_span.end()));
            ends.max().unwrap_or(node.span.end())
        }
        _ => node.span.start() + text[node.span.start()..node.span.end()].trim_end().len(),
    }
}

/// Where the comments begin that stand directly above a line, not before `from`.
fn lead(text: &str, line: usize, from: usize) -> usize {
    let mut lead = line;
    while lead > from {
        let above = line_start(text, lead - 1);
        if above < from || !text[above..lead].trim_start().starts_with('#') {
            break;
        }
        lead = above;
    }
    lead
}

/// Lines moved to the right, or to the left as far as blanks stand there.
pub(super) fn shifted(lines: &str, by: isize) -> String {
    let shift = |line: &str| {
        if line.trim().is_empty() {
            return line.to_owned();
        }
        match usize::try_from(by) {
            Ok(right) => format!("{}{line}", " ".repeat(right)),
            Err(_) => {
                let blanks = line.len() - line.trim_start_matches(' ').len();
                line[blanks.min(by.unsigned_abs())..].to_owned()
            }
        }
    };
    lines.split_inclusive('\n').map(shift).collect()
}

/// The same but for the first line, which stands where it will stand.
pub(super) fn shifted_below(lines: &str, by: isize) -> String {
    let (first, rest) = lines.split_at(lines.find('\n').map_or(lines.len(), |end| end + 1));
    format!("{first}{}", shifted(rest, by))
}

/// By how much a column lies to the right of another one.
pub(super) fn difference(to: usize, from: usize) -> isize {
    to.cast_signed() - from.cast_signed()
}
