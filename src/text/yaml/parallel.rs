//! Documents are independent: a large stream is cut where documents begin, and the pieces are read on all cores.

use rayon::prelude::*;

use super::excerpt::Excerpt;
use super::{Limits, Parsed, read};
use crate::diag::Report;

/// Below this many bytes threads cost more than they save.
const WORTHWHILE: usize = 512 << 10;

/// The least size of a piece.
const PIECE: usize = 128 << 10;

/// Reads a stream in pieces; `None` when it has to be read from beginning to end: because it is small, or because the result could differ.
pub(super) fn parse(whole: &Excerpt<'_>, limits: &Limits) -> Option<Parsed> {
    if whole.text.len() < WORTHWHILE || !is_separable(whole.text) {
        return None;
    }
    in_pieces(whole, limits, PIECE)
}

/// Whether every line `---` begins a document that nothing before it touches. A directive belongs to the `---` after it, and an alias
/// is paid for out of the budget of the whole stream.
fn is_separable(text: &str) -> bool {
    let directive = text.starts_with('%') || text.contains("\n%");
    let bytes = text.as_bytes();
    let starts_word = |at: usize| at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',' | b':');
    let goes_on = |at: usize| bytes.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace());
    !directive && !text.match_indices('&').any(|(at, _)| starts_word(at) && goes_on(at))
}

/// Reads the pieces of a stream. Findings are left to a reader that sees the whole: with the slightest doubt the answer is `None`.
fn in_pieces(whole: &Excerpt<'_>, limits: &Limits, size: usize) -> Option<Parsed> {
    let pieces = cut(whole, size);
    if pieces.len() < 2 {
        return None;
    }
    let share = Limits { nodes: limits.nodes / pieces.len(), ..*limits };
    let read: Vec<Parsed> = pieces.par_iter().map(|piece| read(piece, &share)).collect();
    if read.iter().any(|part| !part.report.is_empty()) {
        return None;
    }
    let mut documents = Vec::with_capacity(read.iter().map(|part| part.documents.len()).sum());
    for part in read {
        let before = documents.len();
        documents.extend(part.documents.into_iter().map(|mut document| {
            document.index += before;
            document
        }));
    }
    Some(Parsed { documents, report: Report::new() })
}

/// Cuts a text before lines that begin a document, into pieces of at least `size` bytes.
fn cut<'a>(whole: &Excerpt<'a>, size: usize) -> Vec<Excerpt<'a>> {
    let text = whole.text;
    let mut pieces = Vec::new();
    let (mut start, mut line) = (0, 0);
    while start < text.len() {
        let end = next_document(text, start + size).unwrap_or(text.len());
        pieces.push(whole.part(start..end, line));
        line += u32::try_from(text[start..end].bytes().filter(|b| *b == b'\n').count()).unwrap_or(u32::MAX);
        start = end;
    }
    pieces
}

/// Where the first document after `from` begins with a line `---`.
fn next_document(text: &str, mut from: usize) -> Option<usize> {
    while !text.is_char_boundary(from) && from < text.len() {
        from += 1;
    }
    let rest = text.get(from..)?;
    let is_marker = |at: &usize| matches!(rest.as_bytes().get(at + "\n---".len()), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    rest.match_indices("\n---").map(|(at, _)| at).find(is_marker).map(|at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::source::Source;

    /// Checks that pieces of a few bytes give what reading from the beginning gives, or are not used.
    fn check(text: &str, used: bool) {
        let source = Source::new("x.yaml", text);
        let whole = Excerpt::whole(&source);
        let limits = Limits::default();
        let parsed = is_separable(text).then(|| in_pieces(&whole, &limits, 4)).flatten();
        assert_eq!(parsed.is_some(), used, "{text}");
        if let Some(parsed) = parsed {
            assert_eq!(parsed, read(&whole, &limits), "{text}");
        }
    }

    #[test]
    fn pieces_give_the_same_as_the_whole() {
        check("a: 1\n---\nb: 2\n---\nc:\n  d: é\n", true);
        check("# first\n---\na: 1\n---\n---\n# empty\n--- x\n...\n---\nb: |\n  ---\n  y\n", true);
        check("a: 1\r\n---\r\nb: 2\r\n--- # x\r\nc: 3\r\n", true);
        check("a: |\n  x\n---\nb: |\n  y", true);
        check("a: 1\n---b\n: 2\n", false);
    }

    #[test]
    fn doubtful_streams_are_read_as_a_whole() {
        check("a: [1\n---\nb: 2\n", false);
        check("a: \"x\n---\ny\"\n", false);
        check("a: 1\na: 2\n---\nb: 2\n", false);
        check("a: &x 1\nb: *x\n---\nb: 2\n", false);
        check("%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n", false);
        check("a: 1\n", false);
    }
}
