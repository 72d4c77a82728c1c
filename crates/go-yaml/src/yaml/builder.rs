//! From events to values, without recursion.

use std::borrow::Cow;

use super::anchors::{Anchors, Size, Taped};
use super::entries::{Entries, Overridden};
use super::limits::{self, DEPTH_EXCEEDED, Stop, Tally};
use super::node::{Document, Entry};
use super::quoting::{LineValue, in_quotes, is_followed, shown};
use super::resolve::{Resolved, json_number, shortest_g32};
use super::scalar::{Meaning, is_merge, meaning};
use super::syntax::{THE_VALUE, THE_WHOLE, put_in_quotes};
use super::tree::{Scalar, Tree};
use crate::libyaml::{Event, EventKind, Mark, Properties, Style};
use windlass_source::diag::{Diagnostic, FieldPath, Report, Segment, Text, rules};
use windlass_source::{Source, TextRange};

rules! {
    /// a mapping repeats a key, and the last value wins
    KEY_DUPLICATED = warning("yaml-key-duplicated");
    /// two objects are in one document because `---` is missing between them
    SEPARATOR_MISSING = error("yaml-separator-missing");
    /// a key is a list, a mapping, or a number without a value, which JSON cannot represent
    KEY_INVALID = error("yaml-key-invalid");
    /// the value of `<<` is not a mapping
    MERGE_INVALID = error("yaml-merge-invalid");
    /// a `<<` overrides a key before it, where other readers keep the key
    MERGE_OVERRIDING = warning("yaml-merge-overriding");
    /// an alias refers to an undefined anchor
    ALIAS_UNDEFINED = error("yaml-alias-undefined");
    /// an alias occurs inside its own anchor
    ALIAS_RECURSIVE = error("yaml-alias-recursive");
    /// a number is infinite or not a number, which JSON cannot represent
    NUMBER_INFINITE = error("yaml-number-infinite");
    /// a tag does not match its value
    TAG_MISMATCHED = error("yaml-tag-mismatched");
    /// a tag is not part of YAML, and Go's YAML reader ignores it
    TAG_DROPPED = warning("yaml-tag-dropped");
}

/// How tags begin that YAML itself defines.
const CORE_TAG: &str = "tag:yaml.org,2002:";

/// The maximum number of bytes of keys that the path of a finding repeats.
const LONGEST_PATH: usize = 2048;

/// A mapping or a list that is still open.
struct Open<T> {
    start: usize,
    in_brackets: bool,
    /// Where its last value ends.
    end: usize,
    alias: Option<TextRange>,
    anchor: Option<usize>,
    /// The depth of its deepest value.
    depth: usize,
    content: Content<T>,
}

enum Content<T> {
    Sequence(Vec<T>),
    /// The list behind `<<`: the entries of its mappings, `None` when one is not a mapping.
    Merged(Option<Vec<Vec<Entry<T>>>>),
    Mapping(Entries<T>, Key),
}

/// What the next node of a mapping is.
enum Key {
    /// The node is a key.
    Expected,
    /// The node is the value of this key.
    Read { text: String, span: TextRange },
    /// The node is the value of `<<`.
    Merge { span: TextRange },
    /// The node belongs to a key that JSON cannot hold; it is read and dropped.
    Invalid,
}

/// A finished value on its way to where it belongs.
enum Made<T> {
    Tree(T),
    Mapping(Vec<Entry<T>>),
    Merged(Option<Vec<Vec<Entry<T>>>>),
}

/// Builds the values of one document after the other.
pub(super) struct Builder<'a, T> {
    source: &'a Source,
    pub(super) tally: Tally<'a>,
    /// The number of the document, from 1; 0 before the first.
    document: usize,
    begin: usize,
    open: Vec<Open<T>>,
    anchors: Anchors<'a>,
    /// What was read of the document; aliases count as what they stand for.
    counted: Size,
    /// What of it aliases stand for.
    aliased: usize,
    /// While events come from the tape, how many collections were open before: what is within
    /// them was checked before.
    replays: Option<usize>,
    root: Option<T>,
    /// How far a finding speaks of its line.
    told_to: Option<usize>,
}

impl<'a, T: Tree> Builder<'a, T> {
    pub(super) fn new(source: &'a Source, tally: Tally<'a>) -> Self {
        Builder {
            source,
            tally,
            document: 0,
            begin: 0,
            open: Vec::new(),
            anchors: Anchors::default(),
            counted: Size::default(),
            aliased: 0,
            replays: None,
            root: None,
            told_to: None,
        }
    }

    /// Forgets what was read of the last document and starts the next one.
    pub(super) fn start(&mut self, at: Mark) {
        self.tally.start();
        self.document += 1;
        self.begin = at.line_start;
        self.open.clear();
        self.anchors = Anchors::default();
        // Go counts the document too.
        self.counted = Size {
            decoded: 1,
            ..Size::default()
        };
        self.aliased = 0;
        self.replays = None;
        self.root = None;
    }

    /// The document, once its last event was taken; `end` is where an empty one stands.
    pub(super) fn finish(&mut self, end: usize) -> Document<T> {
        let root = self
            .root
            .take()
            .unwrap_or_else(|| T::scalar(TextRange::new(end, end), Scalar::Null));
        Document {
            index: self.document,
            range: TextRange::new(self.begin.min(end), end),
            root,
        }
    }

    /// Drops the document, because a part of it is rejected.
    pub(super) fn reject(&mut self) {
        self.root = None;
        self.open.clear();
        self.tally.drop_copies();
    }

    /// What was found, once nothing more is read.
    pub(super) fn into_report(mut self) -> Report {
        if let Err(exceeded) = self.tally.settle() {
            let place = self
                .source
                .place_at(self.begin..self.begin)
                .in_document(self.document);
            self.tally.exceeded(exceeded, place);
        }
        self.tally.report
    }

    /// The whole value of a line in quotes when words stand behind what it begins with; the fault
    /// that follows in this line is reported with it.
    fn whole_in_quotes(&mut self, begins: TextRange) -> Option<Option<String>> {
        let text = self.source.text();
        if !is_followed(text, begins) {
            return None;
        }
        self.told_to = Some(
            text[begins.end()..]
                .find('\n')
                .map_or(text.len(), |end| begins.end() + end),
        );
        Some(LineValue::at(text, begins.start()).and_then(|value| value.in_quotes()))
    }

    /// Whether a fault at this place was told with what the value of its line begins with. Go's
    /// words about it are then those of that finding, if it has none: Go reads the whole
    /// document before it looks at its values.
    pub(super) fn has_told(&mut self, at: usize, upstream: Option<Text>) -> bool {
        let has_told = self.told_to.is_some_and(|end| at <= end);
        if has_told && let Some(told) = self.tally.report.last_mut() {
            told.upstream = told.upstream.take().or(upstream);
        }
        has_told
    }

    /// Adds a finding about the current document.
    pub(super) fn find(&mut self, finding: Diagnostic, span: TextRange) {
        if self.replays.is_none_or(|before| self.open.len() <= before) {
            let place = self
                .source
                .place_at(span)
                .in_document(self.document)
                .at_path(self.path());
            self.tally.find(finding.at(place));
        }
    }

    /// The way to the node that comes next, as far as it is readable.
    fn path(&self) -> FieldPath {
        let mut length = 0;
        let step = |open: &Open<T>| match &open.content {
            Content::Sequence(items) => Some(Segment::Index(items.len())),
            Content::Merged(items) => Some(Segment::Index(items.as_ref().map_or(0, Vec::len))),
            Content::Mapping(_, Key::Read { text, .. }) => {
                length += text.len();
                (length <= LONGEST_PATH).then(|| Segment::Field(text.clone()))
            }
            Content::Mapping(..) => None,
        };
        self.open.iter().map_while(step).collect()
    }

    pub(super) fn event(&mut self, event: Event<'a>) -> Result<(), Stop> {
        let span = TextRange::new(event.start.offset, event.end.offset);
        if let EventKind::Alias(name) = event.kind {
            return self.alias(name, span);
        }
        let properties = match &event.kind {
            EventKind::Scalar { properties, .. }
            | EventKind::SequenceStart(properties)
            | EventKind::MappingStart(properties) => properties.as_deref(),
            _ => None,
        };
        if let Some(properties) = properties {
            self.dropped_tag(properties, span);
        }
        let anchor = properties.and_then(|properties| properties.anchor);
        let anchor = anchor.map(|name| self.anchors.open(name, self.counted));
        if self.anchors.is_taping() {
            self.anchors.tape.push(Taped::Event(event.clone()));
        }
        if !matches!(event.kind, EventKind::SequenceEnd | EventKind::MappingEnd) {
            self.charge(
                Size {
                    nodes: 1,
                    bytes: 0,
                    decoded: 1,
                    depth: 0,
                },
                span,
            )?;
        }
        self.take(event, anchor, None)
    }

    /// Speaks of a tag that nobody looks at: in a command `! test` it may have been meant as its
    /// first word.
    fn dropped_tag(&mut self, properties: &Properties<'_>, value: TextRange) {
        if properties.tag.is_empty() || properties.tag.starts_with(CORE_TAG) {
            return;
        }
        let start = properties.start.offset;
        let written = self.source.slice(start..value.start()).trim_end();
        let finding = Diagnostic::of(
            &TAG_DROPPED,
            format!(
                "Go's reader drops `{}`, which is a tag in YAML",
                shown(written)
            ),
        );
        let quoted = LineValue::at(self.source.text(), start)
            .filter(|line| line.start == start)
            .and_then(|line| line.in_quotes());
        let span = TextRange::new(start, start + written.len());
        self.find(
            finding.help(put_in_quotes(
                "remove it, or put the value in quotes: ",
                quoted,
            )),
            span,
        );
    }

    /// Takes an event, from the text or from the tape; `alias` is where the alias stands that it
    /// begins.
    fn take(
        &mut self,
        event: Event<'a>,
        anchor: Option<usize>,
        alias: Option<TextRange>,
    ) -> Result<(), Stop> {
        let span = TextRange::new(event.start.offset, event.end.offset);
        match event.kind {
            EventKind::Scalar {
                text,
                style,
                properties,
            } => {
                let span = alias.unwrap_or_else(|| {
                    if style == Style::Block {
                        self.words_of_block(span)
                    } else {
                        span
                    }
                });
                self.scalar(text, style, properties.as_deref(), span, alias.is_some());
                if let Some(anchor) = anchor {
                    self.anchors.close(anchor, self.counted, 0);
                }
                Ok(())
            }
            EventKind::SequenceStart(_) => {
                // Go merges a list of mappings only where it is written out.
                let merges = alias.is_none() && self.merges();
                let content = if merges {
                    Content::Merged(Some(Vec::new()))
                } else {
                    Content::Sequence(Vec::new())
                };
                self.open(content, span, anchor, alias)
            }
            EventKind::MappingStart(_) => self.open(
                Content::Mapping(Entries::new(), Key::Expected),
                span,
                anchor,
                alias,
            ),
            EventKind::SequenceEnd | EventKind::MappingEnd => {
                self.close(span);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The words of a block, without what stands around them.
    fn words_of_block(&self, span: TextRange) -> TextRange {
        let text = self.source.slice(span);
        let header = text.find(['\n', '\r']).unwrap_or(text.len());
        let words = text[header..].trim_start_matches([' ', '\r', '\n']);
        let start = text.len() - words.len();
        match words.trim_end_matches([' ', '\t', '\r', '\n']).len() {
            0 => TextRange::new(span.start(), span.start() + 1),
            length => TextRange::new(span.start() + start, span.start() + start + length),
        }
    }

    fn open(
        &mut self,
        content: Content<T>,
        span: TextRange,
        anchor: Option<usize>,
        alias: Option<TextRange>,
    ) -> Result<(), Stop> {
        if self.open.len() >= self.tally.limits.depth {
            return self.too_deep(span);
        }
        // In block style nothing is written where it begins.
        let in_brackets = span.end() > span.start();
        self.open.push(Open {
            start: span.start(),
            in_brackets,
            end: span.end(),
            alias,
            anchor,
            depth: 0,
            content,
        });
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: Style,
        properties: Option<&Properties<'_>>,
        span: TextRange,
        is_alias: bool,
    ) {
        let plain = style == Style::Plain;
        let tag = properties.map_or("", |properties| properties.tag.as_str());
        if !is_alias && self.expects_key() && is_merge(&text, plain, tag) {
            // Go does not decode this key.
            self.counted.decoded -= usize::from(self.replays.is_none());
            return self.set_key(Key::Merge { span });
        }
        let meaning = meaning(&text, plain, tag).unwrap_or_else(|wrong| {
            let finding = Diagnostic::of(
                &TAG_MISMATCHED,
                format!(
                    "tag `!!{}` does not fit the value `{}`",
                    wrong.tag,
                    shown(&text)
                ),
            );
            self.find(finding.help(wrong.help).upstream(wrong.upstream), span);
            Meaning::Word(Resolved::Null)
        });
        if self.expects_key() {
            let key = self.key(text, meaning, span);
            self.set_key(key);
        } else {
            let value = self.value(text, meaning, span);
            self.attach(Made::Tree(T::scalar(span, value)), span, 0);
        }
    }

    /// The value of a scalar in JSON.
    fn value(&mut self, text: Cow<'_, str>, meaning: Meaning, span: TextRange) -> Scalar {
        match meaning {
            Meaning::Decoded(text) => self.text(text),
            Meaning::Word(Resolved::Timestamp | Resolved::Str) => self.text(text.into_owned()),
            Meaning::Word(Resolved::Null) => Scalar::Null,
            Meaning::Word(Resolved::Bool(bool)) => Scalar::Bool(bool),
            Meaning::Word(Resolved::Int(int)) => Scalar::Number(int.into()),
            Meaning::Word(Resolved::Uint(int)) => Scalar::Number(int.into()),
            Meaning::Word(Resolved::Float(float)) => json_number(float).map_or_else(
                || {
                    let finding = Diagnostic::of(
                        &NUMBER_INFINITE,
                        format!("`{}` is a number that JSON cannot hold", shown(&text)),
                    );
                    let sign = if float.is_nan() {
                        "NaN"
                    } else if float > 0.0 {
                        "+Inf"
                    } else {
                        "-Inf"
                    };
                    let finding = finding.upstream(format!("json: unsupported value: {sign}"));
                    self.find(
                        finding.help(format!("write `\"{}\"` if a text is meant", shown(&text))),
                        span,
                    );
                    Scalar::Null
                },
                Scalar::Number,
            ),
        }
    }

    fn text(&mut self, text: String) -> Scalar {
        self.count_bytes(text.len());
        Scalar::String(text)
    }

    fn count_bytes(&mut self, bytes: usize) {
        if self.replays.is_none() {
            self.counted.bytes += bytes;
        }
    }

    /// A scalar as a key, spelt as sigs.k8s.io/yaml spells it.
    fn key(&mut self, text: Cow<'_, str>, meaning: Meaning, span: TextRange) -> Key {
        let text = match meaning {
            Meaning::Decoded(text) => text,
            Meaning::Word(Resolved::Bool(bool)) => bool.to_string(),
            Meaning::Word(Resolved::Int(int)) => int.to_string(),
            Meaning::Word(Resolved::Float(float)) => shortest_g32(float),
            Meaning::Word(Resolved::Timestamp | Resolved::Str) => text.into_owned(),
            Meaning::Word(Resolved::Null | Resolved::Uint(_)) => {
                let word = shown(&text);
                let subject = if text.is_empty() {
                    "an empty word".to_owned()
                } else {
                    format!("`{word}`")
                };
                let finding = Diagnostic::of(&KEY_INVALID, format!("{subject} cannot be a key"));
                self.find(finding.help(format!("write `\"{word}\"`")), span);
                return Key::Invalid;
            }
        };
        self.count_bytes(text.len());
        Key::Read { text, span }
    }

    fn alias(&mut self, name: &'a str, span: TextRange) -> Result<(), Stop> {
        self.charge(
            Size {
                nodes: 0,
                bytes: 0,
                decoded: 1,
                depth: 0,
            },
            span,
        )?;
        let Some((number, anchor)) = self.anchors.find(name) else {
            let upstream = format!("yaml: unknown anchor '{name}' referenced");
            let name = shown(name);
            let finding = Diagnostic::of(
                &ALIAS_UNDEFINED,
                format!("alias `*{name}` has no anchor in this document"),
            )
            .upstream(upstream);
            let help = format!(
                "write `&{name}` before the value that is meant, or `\"*{name}\"` for a text"
            );
            match self.whole_in_quotes(span) {
                Some(quoted) => self.find(finding.help(put_in_quotes(THE_WHOLE, quoted)), span),
                None => self.find(finding.help(help), span),
            }
            return self.null(span);
        };
        if anchor.end.is_none() {
            let finding = Diagnostic::of(
                &ALIAS_RECURSIVE,
                format!("alias `*{}` is inside its own anchor", shown(name)),
            );
            let finding = finding.upstream(format!("yaml: anchor '{name}' value contains itself"));
            self.find(
                finding.help("write the value out instead of the alias"),
                span,
            );
            return self.null(span);
        }
        if self.open.len() + anchor.size.depth > self.tally.limits.depth {
            return self.too_deep(span);
        }
        self.charge(anchor.size, span)?;
        self.tally
            .charge_copy(anchor.size.nodes, anchor.size.bytes)
            .map_err(|exceeded| self.exceeded(exceeded, span))?;
        self.aliased += anchor.size.decoded;
        if limits::is_excessive(self.aliased, self.counted.decoded) {
            self.find(limits::excessive(), span);
            return Err(Stop::Document);
        }
        if self.anchors.is_taping() {
            self.anchors.tape.push(Taped::Alias(number, span));
        }
        self.replay(number, span)
    }

    /// Takes the events of an anchor again.
    fn replay(&mut self, number: usize, span: TextRange) -> Result<(), Stop> {
        let mut places = vec![(self.anchors.events(number), Some(span))];
        self.replays = Some(self.open.len());
        while let Some(((next, end), alias)) = places.last_mut() {
            if next == end {
                places.pop();
                continue;
            }
            let taped = self.anchors.tape[*next].clone();
            *next += 1;
            let alias = alias.take();
            match taped {
                Taped::Alias(number, span) => {
                    places.push((self.anchors.events(number), Some(alias.unwrap_or(span))))
                }
                Taped::Event(event) => self.take(event, None, alias)?,
            }
        }
        self.replays = None;
        Ok(())
    }

    /// A null in place of something that cannot be read.
    fn null(&mut self, span: TextRange) -> Result<(), Stop> {
        if self.expects_key() {
            self.set_key(Key::Invalid);
        } else {
            self.attach(Made::Tree(T::scalar(span, Scalar::Null)), span, 0);
        }
        Ok(())
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Content::Mapping(_, Key::Expected),
                ..
            })
        )
    }

    fn merges(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Content::Mapping(_, Key::Merge { .. }),
                ..
            })
        )
    }

    fn set_key(&mut self, read: Key) {
        if let Some(Open {
            content: Content::Mapping(_, key),
            ..
        }) = self.open.last_mut()
        {
            *key = read;
        }
    }

    fn attach(&mut self, made: Made<T>, span: TextRange, depth: usize) {
        if self.expects_key() {
            // Of an expression of jinja the outer braces tell.
            if !self.begins_expression() {
                self.find(no_key(), span);
            }
            return self.set_key(Key::Invalid);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(made.into_tree(span));
            return;
        };
        let mut no_merge = None;
        open.end = span.end();
        open.depth = open.depth.max(depth);
        match &mut open.content {
            Content::Sequence(items) => items.push(made.into_tree(span)),
            Content::Merged(items) => match (made, items) {
                (Made::Mapping(entries), Some(items)) => items.push(entries),
                (_, items) => *items = None,
            },
            Content::Mapping(entries, key) => match (std::mem::replace(key, Key::Expected), made) {
                (
                    Key::Read {
                        text,
                        span: key_span,
                    },
                    made,
                ) => {
                    entries.all.push(Entry {
                        key: text,
                        key_span,
                        value: made.into_tree(span),
                    });
                }
                (Key::Merge { .. }, Made::Mapping(merged)) => entries.merge(merged),
                // The first of them has the last word.
                (Key::Merge { .. }, Made::Merged(Some(lists))) => lists
                    .into_iter()
                    .rev()
                    .for_each(|merged| entries.merge(merged)),
                (Key::Merge { span }, _) => no_merge = Some(span),
                (Key::Expected | Key::Invalid, _) => {}
            },
        }
        if let Some(span) = no_merge {
            let finding =
                Diagnostic::of(&MERGE_INVALID, "`<<` takes a mapping or a list of mappings");
            let finding =
                finding.upstream("yaml: map merge requires map or sequence of maps as the value");
            self.find(
                finding.help(
                    "write `<<: *name` with the anchor of a mapping, or `\"<<\"` for a plain key",
                ),
                span,
            );
        }
    }

    /// Whether the innermost mapping is written `{{…`.
    fn begins_expression(&self) -> bool {
        self.open.last().is_some_and(|open| {
            open.in_brackets && self.source.text()[open.start..].starts_with("{{")
        })
    }

    /// A mapping that is written `{{…`: an expression of jinja without quotes becomes the text that
    /// was meant, and is reported.
    fn expression(&mut self, written: TextRange, entries: Vec<Entry<T>>) -> Made<T> {
        let text = self.source.slice(written);
        if !(text.ends_with("}}") && entries.is_empty()) {
            self.find(no_key(), written);
            return Made::Mapping(entries);
        }
        let message = format!(
            "`{{{{` starts a mapping in YAML, not an expression: `{}` needs quotes",
            shown(text)
        );
        let (help, upstream) = match self.whole_in_quotes(written) {
            Some(quoted) => (put_in_quotes(THE_WHOLE, quoted), None),
            None => (put_in_quotes(THE_VALUE, in_quotes(text)), go_words_of(text)),
        };
        let finding = Diagnostic {
            upstream: upstream.map(Text::of_value),
            ..Diagnostic::of(&KEY_INVALID, message).help(help)
        };
        self.find(finding, written);
        let text = self.text(text.to_owned());
        Made::Tree(T::scalar(written, text))
    }

    fn close(&mut self, end: TextRange) {
        let is_expression = self.begins_expression();
        let Some(Open {
            start,
            end: last,
            alias,
            anchor,
            depth,
            content,
            ..
        }) = self.open.pop()
        else {
            return;
        };
        // In block style the end shows only at the next word.
        let end = if end.start() == end.end() {
            last
        } else {
            end.end()
        };
        let written = TextRange::new(start, end);
        let span = alias.unwrap_or(written);
        let made = match content {
            Content::Sequence(items) => Made::Tree(T::sequence(span, items)),
            Content::Merged(items) => Made::Merged(items),
            Content::Mapping(entries, _) => {
                let (entries, overridden) = entries.close();
                if self.open.is_empty() && self.is_two_objects(&overridden) {
                    self.reject();
                    return;
                }
                if self.replays.is_none() {
                    overridden.iter().for_each(|lost| self.overridden(lost));
                }
                if is_expression && !self.expects_key() {
                    self.expression(written, entries)
                } else {
                    Made::Mapping(entries)
                }
            }
        };
        if let Some(anchor) = anchor {
            self.anchors.close(anchor, self.counted, depth + 1);
        }
        self.attach(made, span, depth + 1);
    }

    /// Whether a document is two objects without `---` between them, which is reported.
    fn is_two_objects(&mut self, overridden: &[Overridden]) -> bool {
        let repeated = || overridden.iter().filter(|entry| !entry.by_merge);
        let repeats = |key: &str| repeated().any(|entry| entry.key == key);
        let Some(second) = repeated()
            .map(|entry| entry.won)
            .min_by_key(|span| span.start())
        else {
            return false;
        };
        let dashes = dashes_before(self.source.text(), second.start());
        let is_object = repeats("kind") && (repeats("apiVersion") || repeats("metadata"));
        if !is_object && !(dashes.is_some() && (repeats("kind") || repeats("apiVersion"))) {
            return false;
        }
        let text = self.source.text();
        let begins_line = |dashes: TextRange| text[..dashes.start()].ends_with('\n');
        let found = match dashes {
            Some(_) => "`---` is not on a line of its own, so two objects are one document",
            None => {
                "a second object begins without `---` before it, so two objects are one document"
            }
        };
        let help = match dashes.is_some_and(begins_line) {
            true => "put a line break after `---`".to_owned(),
            false => {
                let line = self.source.position(second.start()).line;
                format!("write `---` on a line of its own before line {line}")
            }
        };
        let finding = Diagnostic::of(&SEPARATOR_MISSING, found)
            .help(help)
            .related(
                self.source.place_at(second).in_document(self.document),
                "the second object",
            );
        self.find(finding, dashes.unwrap_or(second));
        true
    }

    /// Speaks of an entry that a later one overrides.
    fn overridden(&mut self, entry: &Overridden) {
        let key = shown(&entry.key);
        let place = self.source.place_at(entry.won).in_document(self.document);
        let finding = if entry.by_merge {
            Diagnostic::of(
                &MERGE_OVERRIDING,
                format!("a later `<<` overrides the key `{key}`"),
            )
            .help("move the `<<` line before the keys that are to win")
            .note("Go's reader applies `<<` where it is; other readers let the written key win")
            .related(place, "the value that wins")
        } else {
            Diagnostic::of(&KEY_DUPLICATED, format!("the key `{key}` is written twice"))
                .help(format!("remove one of the two `{key}` lines"))
                .note("Go's reader keeps the last one")
                .related(place, "the one that wins")
        };
        self.find(finding, entry.lost);
    }

    fn too_deep(&mut self, span: TextRange) -> Result<(), Stop> {
        let most = self.tally.limits.depth;
        let finding = Diagnostic::of(
            &DEPTH_EXCEEDED,
            format!("values are nested more than {most} deep"),
        );
        self.find(finding.help("nest lists and mappings less deeply"), span);
        Err(Stop::Document)
    }

    fn charge(&mut self, size: Size, span: TextRange) -> Result<(), Stop> {
        self.counted.nodes += size.nodes;
        self.counted.bytes += size.bytes;
        self.counted.decoded += size.decoded;
        self.tally
            .charge(size.nodes)
            .map_err(|exceeded| self.exceeded(exceeded, span))
    }

    fn exceeded(&mut self, exceeded: limits::Exceeded, span: TextRange) -> Stop {
        let place = self
            .source
            .place_at(span)
            .in_document(self.document)
            .at_path(self.path());
        self.tally.exceeded(exceeded, place);
        Stop::Stream
    }
}

/// The `---` in the last line before a place that contains something, when YAML reads it as text.
fn dashes_before(text: &str, at: usize) -> Option<TextRange> {
    let before = text[..at].trim_end();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let start = line + before[line..].rfind("---")?;
    let is_comment = before[line..start].contains('#');
    (!is_comment).then(|| TextRange::new(start, start + "---".len()))
}

/// Go's words about `{{ x }}`, when its key is one plain word.
fn go_words_of(expression: &str) -> Option<String> {
    let word = expression.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let is_plain = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._- |".contains(c));
    let is_text = matches!(
        meaning(&Cow::Borrowed(word), true, ""),
        Ok(Meaning::Word(Resolved::Str))
    );
    (is_plain && is_text).then(|| format!("yaml: invalid map key: map[interface {{}}]interface {{}}{{\"{word}\":interface {{}}(nil)}}"))
}

/// The finding about a key that is a list or a mapping, without its place.
fn no_key() -> Diagnostic {
    Diagnostic::of(&KEY_INVALID, "a list or a mapping cannot be a key")
        .help("write a word before the `:`")
}

impl<T: Tree> Made<T> {
    fn into_tree(self, span: TextRange) -> T {
        match self {
            Made::Tree(tree) => tree,
            Made::Mapping(entries) => T::mapping(span, entries),
            Made::Merged(_) => T::scalar(span, Scalar::Null),
        }
    }
}
