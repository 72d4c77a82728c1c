//! YAML with the values that Go reads (go-yaml v2 through sigs.k8s.io/yaml: kubectl, the API server, clusterctl), with the place of every
//! key and value, and with a finding instead of an error for what is broken.
//!
//! A broken document does not hide the others. Comments are not kept.

pub(crate) mod builder;
mod excerpt;
pub(crate) mod limits;
mod node;
mod origin;
mod parallel;
pub(crate) mod resolve;
mod scalar;
pub(crate) mod syntax;
mod tabs;
mod timestamp;

use std::ops::Range;

use granit_parser::{Event, Parser};

pub use limits::Limits;
pub use node::{Document, Entry, Located, Mapping, Node, Value};
pub use origin::{DocumentValue, Origin, Values};
pub(crate) use timestamp::is_timestamp;

use self::builder::Builder;
use self::excerpt::Excerpt;
use self::limits::{Budget, SIZE_EXCEEDED, Stop};
use super::source::{Source, TextRange};
use crate::diag::{Diagnostic, Report, Span};

/// What a source holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The documents that could be read, in order; empty ones too.
    pub documents: Vec<Document>,
    /// What is wrong with the source; [`Report::sort`] puts it in the order of the text.
    pub report: Report,
}

/// Reads all documents of a source.
///
/// A document that is no YAML is missing in the result, and the report says why. A defect that Go refuses but that leaves the shape of the
/// document clear (an alias without anchor, an infinite number, a list as a key) is an error in the report, and the value is null or left
/// out. A quoted text that goes on in a line without indentation is an error, though Go takes it: the parser is strict there. Of equal keys
/// the last one wins, and the report has a warning. Large sources are read on all cores, with the same result.
pub fn parse(source: &Source, limits: &Limits) -> Parsed {
    let whole = Excerpt::whole(source);
    if source.text().len() > limits.bytes {
        let message = format!("the file has more than {} bytes", limits.bytes);
        let finding = Diagnostic::of(&SIZE_EXCEEDED, message).at(source.place()).help("split the file");
        return Parsed { documents: Vec::new(), report: Report::from_iter([finding]) };
    }
    let mut parsed = parallel::parse(&whole, limits).unwrap_or_else(|| read(&whole, limits));
    characters(&whole, &mut parsed.report);
    parsed
}

/// Reads a part of a source on its own, as if it were a file. The places are those in the whole source; the documents are counted from 1.
///
/// `range` begins at the start of the line with the number `line` (from 1).
fn parse_part(source: &Source, range: Range<usize>, line: u32, limits: &Limits) -> Parsed {
    let part = Excerpt::whole(source).part(range, line.saturating_sub(1));
    let mut parsed = read(&part, limits);
    characters(&part, &mut parsed.report);
    parsed
}

/// Reads all documents of a source as [`parse`] does, but into plain values, whose places are found when they are asked for.
pub fn values(source: &Source, limits: &Limits) -> Values {
    let parsed = parse(source, limits);
    let value = |document: Document| {
        let origin = Origin::new(source, document.index, document.range);
        DocumentValue { value: document.root.into_json(), origin }
    };
    Values { documents: parsed.documents.into_iter().map(value).collect(), report: parsed.report }
}

/// Reads one document again, for its places.
fn reread(source: &Source, range: TextRange, limits: &Limits) -> Node {
    let line = source.position(range.start()).line;
    let parsed = parse_part(source, range.into(), line, limits);
    parsed.documents.into_iter().next().map_or_else(|| Node::null(range.start()), |document| document.root)
}

/// Reads a stretch of text from beginning to end.
fn read(excerpt: &Excerpt<'_>, limits: &Limits) -> Parsed {
    let options = granit_parser::options! {
        emit_comments: false,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: limits.depth,
        block_nesting_limit: limits.depth,
    };
    let mut parser = Parser::new_from_str_with_options(excerpt.text, options);
    let mut builder = Builder::new(excerpt, Budget::new(*limits));
    let mut documents = Vec::new();
    let (mut inside, mut skipped) = (false, false);
    loop {
        let stop = match parser.next_event() {
            None => break,
            Some(Ok((Event::DocumentStart(..), at))) => {
                if skipped {
                    builder.skip_to(excerpt.position(&at.start));
                    skipped = false;
                }
                builder.start(excerpt.position(&at.start).offset);
                inside = true;
                continue;
            }
            Some(Ok((Event::DocumentEnd, at))) => {
                inside = false;
                documents.push(builder.finish(excerpt.position(&at.start)));
                continue;
            }
            Some(Ok((event, at))) => match builder.event(event, &at) {
                Ok(()) => continue,
                Err(stop) => stop,
            },
            Some(Err(error)) => {
                let at = excerpt.position(error.marker());
                if !inside {
                    builder.start(at.offset);
                }
                builder.find(syntax::finding(&error), Span { start: at, end: at });
                Stop::Document
            }
        };
        (inside, skipped) = (false, true);
        if stop == Stop::Stream || !matches!(parser.proceed_next_document(), Ok(true)) {
            break;
        }
    }
    Parsed { documents, report: builder.budget.report }
}

/// Finds the first character that Go's reader refuses wherever it stands, comments included, and the first that it takes for a line break
/// while the parser does not.
fn characters(excerpt: &Excerpt<'_>, report: &mut Report) {
    // Nearly always this tells that there are none, and quickly.
    let suspicious = |b: &u8| matches!(b, 0..=0x08 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f | 0xc2 | 0xe2 | 0xef);
    if !excerpt.text.as_bytes().iter().fold(false, |found, byte| found | suspicious(byte)) {
        return;
    }
    let first = |wanted: fn(char) -> bool| excerpt.text.char_indices().find(|(_, c)| wanted(*c));
    let findings = [
        first(is_refused).map(|(at, c)| (at, c, syntax::refused(c))),
        first(|c| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')).map(|(at, c)| (at, c, syntax::unusual_break(c))),
    ];
    for (at, c, finding) in findings.into_iter().flatten() {
        if !report.findings().iter().any(|known| known.rule == finding.rule) {
            let span = excerpt.span_of(at..at + c.len_utf8());
            report.push(finding.at(excerpt.source.place().at_span(span)));
        }
    }
}

/// The characters outside YAML 1.1's printable set, which go-yaml refuses to read: controls, U+FFFE and U+FFFF.
pub(crate) fn is_refused(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
