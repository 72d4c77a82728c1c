//! YAML with the values that Go reads (go-yaml v2 through sigs.k8s.io/yaml: kubectl, the API
//! server, clusterctl), with the place of every key and value, and with a finding instead of an
//! error for what is broken.
//!
//! A broken document does not hide the others. [`parse`] gives nodes with their places, [`values`]
//! plain values that find their places when they are asked for.

mod anchors;
pub(crate) mod builder;
mod characters;
mod entries;
mod first;
mod indentation;
mod json;
pub(crate) mod limits;
mod node;
mod origin;
mod parallel;
mod quoting;
pub mod resolve;
mod scalar;
pub(crate) mod syntax;
mod tree;

use std::ops::Range;

pub use first::{as_doubles, first};
pub use limits::Limits;
pub use node::{Document, Entry, Mapping, Node, Value};
pub use origin::{DocumentValue, Origin, Values};
pub use parallel::{has_anchors, is_one_a_mark};
pub use syntax::SYNTAX;

pub(crate) use syntax::is_rejected;

use self::builder::Builder;
use self::limits::{SIZE_EXCEEDED, Stop, Tally, exhausted};
use self::tree::Tree;
use crate::libyaml::{EventKind, Parser, Settings, Style, Version};
use windlass_source::budget::{Budget, Resource};
use windlass_source::diag::{Diagnostic, Report};
use windlass_source::{Source, TextRange};

/// What a source holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed<T = Node> {
    /// The documents that could be read, in order; empty ones too.
    pub documents: Vec<Document<T>>,
    /// What is wrong with the source; [`Report::sort`] puts it in the order of the text.
    pub report: Report,
}

/// Reads all documents of a source.
///
/// A document that is not YAML is missing in the result, and the report says why. A defect that Go
/// rejects but that leaves the shape of the document clear (an alias without anchor, an infinite
/// number, a list as a key) is an error in the report, and the value is null or left out. Of equal
/// keys the last one wins, and the report has a warning. Large sources are read on all cores, with
/// the same result.
pub fn parse(source: &Source, budget: &Budget) -> Parsed {
    parse_within(source, &Limits::default(), budget)
}

/// Reads all documents of a source as [`parse`] does, within these limits.
pub fn parse_within(source: &Source, limits: &Limits, budget: &Budget) -> Parsed {
    read_all(source, limits, budget)
}

/// Reads the documents of a source for which `is_asked` says so, of each number from 1 and each
/// text; more of them where documents cannot be distinguished without reading. What is wrong with
/// them is not said.
pub fn parse_some(
    source: &Source,
    budget: &Budget,
    is_asked: &dyn Fn(usize, &str) -> bool,
) -> Vec<Document> {
    parallel::parse_some(source, budget, is_asked)
}

/// Reads all documents of a source as kubectl decodes files: JSON where it begins with `{`, and
/// else as [`parse`] does. The values are plain, and their places are found when they are asked
/// for.
pub fn values(source: &Source, budget: &Budget) -> Values {
    let limits = Limits::default();
    let parsed = rejected(source, &limits, budget).unwrap_or_else(|| {
        let all = TextRange::new(0, source.text().len());
        json::read(source, all, &limits, budget)
            .unwrap_or_else(|| read_yaml(source, &limits, budget))
    });
    with_places(source, parsed)
}

/// The same of a text that is YAML even where it begins as JSON does, as `sigs.k8s.io/yaml` takes
/// it, and with it clusterctl.
fn yaml_values(source: &Source, budget: &Budget) -> Values {
    with_places(source, read_all(source, &Limits::default(), budget))
}

fn with_places(source: &Source, Parsed { documents, report }: Parsed<serde_json::Value>) -> Values {
    let value = |document: Document<serde_json::Value>| {
        let origin = Origin::new(source, document.index, document.range);
        DocumentValue {
            value: document.root,
            origin,
        }
    };
    Values {
        documents: documents.into_iter().map(value).collect(),
        report,
    }
}

fn read_all<T: Tree + Send>(source: &Source, limits: &Limits, budget: &Budget) -> Parsed<T> {
    rejected(source, limits, budget).unwrap_or_else(|| read_yaml(source, limits, budget))
}

/// What is said of a source that is not read, because it is too large or the run has nothing left.
fn rejected<T>(source: &Source, limits: &Limits, budget: &Budget) -> Option<Parsed<T>> {
    let text = source.text();
    let most = limits.bytes.min(u32::MAX as usize);
    if text.len() > most {
        let message = format!("the file has more than {most} bytes");
        let finding = Diagnostic::of(&SIZE_EXCEEDED, message)
            .at(source.place())
            .help("split the file");
        return Some(Parsed {
            documents: Vec::new(),
            report: Report::from_iter([finding]),
        });
    }
    let taken = [
        (Resource::Bytes, text.len()),
        (Resource::Values, 0),
        (Resource::Copies, 0),
    ];
    let spent = taken
        .into_iter()
        .find_map(|(resource, amount)| budget.take(resource, amount).err())?;
    let finding = budget.blamed(|| exhausted(spent).at(source.place()));
    Some(Parsed {
        documents: Vec::new(),
        report: Report::from_iter([finding]),
    })
}

fn read_yaml<T: Tree + Send>(source: &Source, limits: &Limits, budget: &Budget) -> Parsed<T> {
    let text = source.text();
    let mut parsed = parallel::parse(source, limits, budget)
        .unwrap_or_else(|| read(source, 0..text.len(), limits, budget));
    characters::judge(source, &mut parsed.report);
    parsed
}

/// Reads one document again, for its places. It takes no more than the first reading took from the
/// run.
fn reread(source: &Source, range: TextRange) -> Node {
    let (limits, budget) = (Limits::default(), Budget::default());
    let parsed = json::read(source, range, &limits, &budget)
        .unwrap_or_else(|| read(source, range.into(), &limits, &budget));
    let root = parsed
        .documents
        .into_iter()
        .next()
        .map(|document| document.root);
    root.unwrap_or_else(|| Node {
        span: TextRange::new(range.start(), range.start()),
        value: Value::Null,
    })
}

fn settings(range: Range<usize>) -> Settings {
    // As deep as Go reads; what is kept is bounded by the limits.
    Settings {
        version: Version::V2,
        depth: 10_000,
        range,
    }
}

/// For each of these bytes, in their order, whether it is in a key or a value: a `#` there
/// begins no comment. What stands behind a fault is not known to.
pub fn in_scalars(text: &str, bytes: &[usize], budget: &Budget) -> Vec<bool> {
    let mut found = vec![false; bytes.len()];
    if budget.take(Resource::Bytes, text.len()).is_err() {
        return found;
    }
    let mut parser = Parser::new(text, settings(0..text.len()));
    let mut at = 0;
    while let Some(event) = parser
        .next()
        .ok()
        .filter(|event| at < bytes.len() && event.kind != EventKind::StreamEnd)
    {
        let EventKind::Scalar { style, .. } = event.kind else {
            continue;
        };
        let (mut start, end) = (event.start.offset, event.end.offset);
        if style == Style::Block {
            // Behind `|` a comment may follow.
            start = text[start..end].find('\n').map_or(end, |line| start + line);
        }
        at += bytes[at..].partition_point(|byte| *byte < start);
        let inside = bytes[at..].partition_point(|byte| *byte < end);
        found[at..at + inside].fill(true);
        at += inside;
    }
    found
}

/// Reads a stretch of text that begins where a line does.
fn read<T: Tree>(
    source: &Source,
    range: Range<usize>,
    limits: &Limits,
    budget: &Budget,
) -> Parsed<T> {
    let mut builder = Builder::new(source, Tally::new(*limits, budget));
    let mut documents = Vec::new();
    read_on(source, range, &mut builder, &mut documents);
    Parsed {
        documents,
        report: builder.into_report(),
    }
}

/// Reads a stretch of text behind documents that were read before.
fn read_on<'a, T: Tree>(
    source: &'a Source,
    range: Range<usize>,
    builder: &mut Builder<'a, T>,
    documents: &mut Vec<Document<T>>,
) {
    let text = source.text();
    let mut next = Some(range);
    while let Some(rest) = next {
        let mut parser = Parser::new(text, settings(rest.clone()));
        let mut inside = false;
        let (stop, at) = loop {
            match parser.next() {
                Ok(event) => match event.kind {
                    EventKind::StreamEnd => return,
                    EventKind::DocumentStart => {
                        builder.start(event.start);
                        inside = true;
                    }
                    EventKind::DocumentEnd => {
                        documents.push(builder.finish(event.start.offset));
                        inside = false;
                    }
                    _ => {
                        let at = event.start.offset;
                        if let Err(stop) = builder.event(event) {
                            break (stop, at);
                        }
                    }
                },
                Err(fault) => {
                    if !inside {
                        builder.start(fault.at);
                    }
                    let (mut finding, place) =
                        syntax::finding(&fault, parser.innermost(), source, rest.end);
                    // Go counts the lines of the whole stream.
                    if rest.start == 0 && finding.upstream.is_none() {
                        finding = finding.upstream(format!("yaml: {}", fault.words(Version::V2)));
                    }
                    if !builder.has_told(fault.at.offset, finding.upstream.clone()) {
                        builder.find(finding, place);
                    }
                    break (Stop::Document, fault.at.offset);
                }
            }
        };
        if stop == Stop::Document {
            builder.reject();
        }
        // What broke is never read again.
        let from = at.max(rest.start + 1).min(rest.end);
        next = if stop == Stop::Stream {
            None
        } else {
            next_document(text, from..rest.end)
        };
    }
}

/// What begins with the first line `---` in a stretch.
fn next_document(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let is_start = |at: usize| {
        let is_mark = text[at..range.end].starts_with("---");
        is_mark
            && matches!(
                text.as_bytes()[..range.end].get(at + 3),
                None | Some(b' ' | b'\t' | b'\r' | b'\n')
            )
    };
    let is_line = range.start == 0 || text.as_bytes()[range.start - 1] == b'\n';
    if is_line && is_start(range.start) {
        return Some(range);
    }
    let mut breaks = memchr::memmem::find_iter(&text.as_bytes()[range.clone()], "\n---")
        .map(|at| range.start + at + 1);
    breaks
        .find(|at| is_start(*at))
        .map(|start| start..range.end)
}

#[cfg(test)]
mod tests;
