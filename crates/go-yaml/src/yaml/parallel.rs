//! Documents are independent: a large stream is cut where documents begin, and the pieces are read
//! on all cores.

use std::ops::Range;

use rayon::prelude::*;

use super::tree::Tree;
use super::{Document, Limits, Node, Parsed, next_document, read};
use windlass_source::Source;
use windlass_source::budget::{Budget, Resource};
use windlass_source::diag::Report;

/// Below this many bytes threads cost more than they save.
const WORTHWHILE: usize = 512 << 10;

/// The least size of a piece.
const PIECE: usize = 128 << 10;

/// Reads a stream in pieces; `None` when it has to be read from beginning to end: because it is
/// small, or because the result could differ.
pub(super) fn parse<T: Tree + Send>(
    source: &Source,
    limits: &Limits,
    budget: &Budget,
) -> Option<Parsed<T>> {
    if source.text().len() < WORTHWHILE || !is_separable(source.text()) {
        return None;
    }
    in_pieces(source, limits, budget, PIECE)
}

/// Whether every line `---` begins a document that nothing before it touches. A directive belongs
/// to the `---` after it, and an alias is paid for out of the budget of the whole stream.
fn is_separable(text: &str) -> bool {
    let directive = text.starts_with('%') || text.contains("\n%");
    !directive && !has_anchors(text.as_bytes())
}

/// Whether every document but the first begins with a line `---` and nothing of one touches
/// another. Behind `...` a document may begin without `---`.
pub fn is_one_a_mark(text: &str) -> bool {
    is_separable(text) && !text.starts_with("...") && !text.contains("\n...")
}

/// Reads the documents of a stream that are asked for, by their numbers and texts; all of them
/// where one may touch the next.
pub(super) fn parse_some(
    source: &Source,
    budget: &Budget,
    is_asked: &dyn Fn(usize, &str) -> bool,
) -> Vec<Document> {
    let text = source.text();
    if !is_one_a_mark(text) {
        return super::parse(source, budget).documents;
    }
    let mut documents = Vec::new();
    let mut before = 0;
    for piece in cut(text, 1) {
        let written = &text[piece.clone()];
        // What stands before the first `---` may be comments alone.
        let holds_one = written.starts_with("---")
            || written
                .lines()
                .any(|line| !line.trim_start().is_empty() && !line.starts_with('#'));
        if holds_one && is_asked(before + 1, written) {
            if budget.take(Resource::Bytes, written.len()).is_err() {
                break;
            }
            let read = read::<Node>(source, piece, &Limits::default(), budget).documents;
            documents.extend(read.into_iter().map(|document| Document {
                index: document.index + before,
                ..document
            }));
        }
        before += usize::from(holds_one);
    }
    documents
}

/// Whether a text may hold anchors. `&&`, which is in the rules of CRDs, begins none.
pub fn has_anchors(text: &[u8]) -> bool {
    let starts_word = |at: usize| {
        at == 0
            || matches!(
                text[at - 1],
                b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',' | b':' | b'?' | b'-'
            )
    };
    let goes_on = |at: usize| {
        text.get(at + 1)
            .is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-'))
    };
    memchr::memchr_iter(b'&', text).any(|at| starts_word(at) && goes_on(at))
}

/// Reads the pieces of a stream. Findings are left to a reader that sees the whole: with the
/// slightest doubt the answer is `None`.
fn in_pieces<T: Tree + Send>(
    source: &Source,
    limits: &Limits,
    budget: &Budget,
    size: usize,
) -> Option<Parsed<T>> {
    let pieces = cut(source.text(), size);
    if pieces.len() < 2 {
        return None;
    }
    let share = Limits {
        nodes: limits.nodes / pieces.len(),
        ..*limits
    };
    // Which piece takes the last of the run would depend on the cores: they have a budget of their
    // own, which is settled behind them.
    let own = budget.rest();
    let read: Vec<Parsed<T>> = pieces
        .into_par_iter()
        .map(|piece| read(source, piece, &share, &own))
        .collect();
    if read.iter().any(|part| !part.report.is_empty()) || budget.take_all(&own).is_err() {
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
    Some(Parsed {
        documents,
        report: Report::new(),
    })
}

/// Cuts a text before lines that begin a document, into pieces of at least `size` bytes.
fn cut(text: &str, size: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let from = (start + size).min(text.len());
        let end = next_document(text, from..text.len()).map_or(text.len(), |rest| rest.start);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::*;

    /// Checks that pieces of a few bytes give what reading from the beginning gives, or are not
    /// used.
    fn check(text: &str, used: bool) {
        let source = Source::new("x.yaml", text);
        let limits = Limits::default();
        let parsed = is_separable(text)
            .then(|| in_pieces::<Node>(&source, &limits, &Budget::default(), 4))
            .flatten();
        assert_eq!(parsed.is_some(), used, "{text}");
        if let Some(parsed) = parsed {
            assert_eq!(
                parsed,
                read(&source, 0..text.len(), &limits, &Budget::default()),
                "{text}"
            );
        }
    }

    #[test]
    fn pieces_give_the_same_as_the_whole() {
        check("a: 1\n---\nb: 2\n---\nc:\n  d: é\n", true);
        check(
            "# first\n---\na: 1\n---\n---\n# empty\n--- x\n...\n---\nb: |\n  ---\n  y\n",
            true,
        );
        check("a: 1\r\n---\r\nb: 2\r\n--- # x\r\nc: 3\r\n", true);
        check("a: |\n  x\n---\nb: |\n  y", true);
        check("a: 1\n---b\n: 2\n", false);
    }

    #[test]
    fn documents_that_are_asked_for_are_those_of_the_whole() {
        for text in [
            "a: 1\n---\nb: 2\n---\nc:\n  d: é\n",
            "# first\n\n---\na: 1\n---\n---\n# empty\n--- x\n",
            "x: &x 1\n---\ny: 2\n",
            "é: 1\n...\ny: 2\n---\nz: 3\n",
        ] {
            let (source, budget) = (Source::new("x.yaml", text), Budget::default());
            let whole = super::super::parse(&source, &budget).documents;
            assert_eq!(parse_some(&source, &budget, &|_, _| true), whole, "{text}");
            let last = whole.last().unwrap();
            assert_eq!(
                parse_some(&source, &budget, &|number, _| number == last.index)
                    .last()
                    .unwrap(),
                last,
                "{text}"
            );
        }
        let source = Source::new("x.yaml", "a: 1\n---\nb: $\n---\nc: 3\n");
        let budget = Budget::default().with(Resource::Bytes, 9);
        let some = parse_some(&source, &budget, &|_, text| text.contains('$'));
        assert_eq!(
            some.iter()
                .map(|document| document.index)
                .collect::<Vec<_>>(),
            [2]
        );
        assert_eq!(parse_some(&source, &budget, &|_, _| true), []);
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
