//! From parser events to nodes, without recursion.

use std::borrow::Cow;
use std::collections::BTreeMap;

use granit_parser::{Event, ScalarStyle, StructureStyle, Tag};

use super::excerpt::Excerpt;
use super::limits::{Budget, DEPTH_EXCEEDED, Stop};
use super::node::{Document, Entry, Mapping, Node, Overridden, Value};
use super::resolve::{Resolved, json_number, shortest_g32};
use super::scalar::{Meaning, is_merge_tag, meaning};
use super::syntax::{self, shown};
use super::tabs::Tabs;
use crate::diag::{Diagnostic, FieldPath, Position, Segment, Span, rules};
use crate::text::source::TextRange;

rules! {
    /// A key that stands twice in a mapping: the last one wins.
    KEY_DUPLICATED = warning("yaml-key-duplicated");
    /// A key that JSON cannot hold: a list, a mapping, or a number without a value.
    KEY_INVALID = error("yaml-key-invalid");
    /// A `<<` whose value is no mapping.
    MERGE_INVALID = error("yaml-merge-invalid");
    /// A `<<` after a key that it overrides, which other readers decide the other way.
    MERGE_OVERRIDING = warning("yaml-merge-overriding");
    /// An anchor whose name has more than letters, digits, `-` and `_`.
    ANCHOR_INVALID = error("yaml-anchor-invalid");
    /// An alias without its anchor.
    ALIAS_UNDEFINED = error("yaml-alias-undefined");
    /// An alias inside its own anchor.
    ALIAS_RECURSIVE = error("yaml-alias-recursive");
    /// A number that JSON cannot hold: infinite, or none.
    NUMBER_INFINITE = error("yaml-number-infinite");
    /// A tag that does not fit its value.
    TAG_MISMATCHED = error("yaml-tag-mismatched");
}

/// The most bytes of keys that the path of a finding repeats.
const LONGEST_PATH: usize = 2048;

/// A mapping or a list that is still open.
enum Open {
    Sequence { anchor: usize, start: Position, items: Vec<Node> },
    Mapping { anchor: usize, start: Position, entries: Entries, key: Key },
}

/// The entries of a mapping that is still open.
#[derive(Default)]
struct Entries {
    all: Vec<Entry>,
    /// The places in `all` of those that `<<` brought, in order.
    merged: Vec<usize>,
}

/// What the next node of a mapping is.
enum Key {
    /// The node is a key.
    Expected,
    /// The node is the value of this key.
    Read { text: String, span: Span },
    /// The node is the value of `<<`.
    Merge { span: Span },
    /// The node belongs to a key that JSON cannot hold; it is read and dropped.
    Invalid,
}

/// Builds the nodes of one document after the other.
pub(super) struct Builder<'a> {
    excerpt: &'a Excerpt<'a>,
    pub(super) budget: Budget,
    /// The number of the document, from 1; 0 before the first.
    pub(super) document: usize,
    open: Vec<Open>,
    /// How many collections are open around the outermost one in brackets, if there is one.
    flow: Option<usize>,
    /// Anchored values by the parser's number; the value is missing while it is still open.
    anchors: BTreeMap<usize, Option<Node>>,
    root: Option<Node>,
    /// Where the line begins in which the document starts.
    begin: usize,
    tabs: Tabs<'a>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(excerpt: &'a Excerpt<'a>, budget: Budget) -> Self {
        let tabs = Tabs::new(excerpt.source.text(), excerpt.start(), excerpt.text.len());
        Builder {
            excerpt,
            budget,
            document: 0,
            open: Vec::new(),
            flow: None,
            anchors: BTreeMap::new(),
            root: None,
            begin: excerpt.start().offset,
            tabs,
        }
    }

    /// Forgets what was read of the last document and starts the next one.
    pub(super) fn start(&mut self, at: usize) {
        self.document += 1;
        self.begin = self.excerpt.source.text()[..at].rfind('\n').map_or(0, |line| line + 1);
        self.open.clear();
        self.flow = None;
        self.anchors.clear();
        self.root = None;
    }

    /// Gives the current document up; reading goes on at a place further down.
    pub(super) fn skip_to(&mut self, at: Position) {
        self.tabs.skip_to(at);
    }

    /// The value of the document, once its last event was taken; `end` is where an empty one stands.
    pub(super) fn finish(&mut self, end: Position) -> Document {
        if let Some(tab) = self.tabs.misplaced(end) {
            self.find(syntax::misplaced_tab(), tab);
        }
        let begin = self.begin;
        let root = self.root.take().unwrap_or_else(|| Node::null(end.offset));
        Document { index: self.document, range: TextRange::new(begin, end.offset), root }
    }

    /// Adds a finding about the current document.
    pub(super) fn find(&mut self, finding: Diagnostic, span: Span) {
        let place = self.excerpt.source.place().in_document(self.document).at_path(self.path()).at_span(span);
        self.budget.find(finding.at(place));
    }

    /// The way to the node that comes next, as far as it is readable.
    fn path(&self) -> FieldPath {
        let mut length = 0;
        let step = |open: &Open| match open {
            Open::Sequence { items, .. } => Some(Segment::Index(items.len())),
            Open::Mapping { key: Key::Read { text, .. }, .. } => {
                length += text.len();
                (length <= LONGEST_PATH).then(|| Segment::Field(text.clone()))
            }
            Open::Mapping { .. } => None,
        };
        self.open.iter().map_while(step).collect()
    }

    /// Takes one event.
    pub(super) fn event(&mut self, event: Event<'_>, at: &granit_parser::Span) -> Result<(), Stop> {
        let span = self.excerpt.span(at);
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, tag.as_deref(), anchor, span),
            Event::SequenceStart(style, anchor, _) => {
                let start = if style == StructureStyle::Block { self.excerpt.dash_at_or_before(span.start) } else { span.start };
                self.open(Open::Sequence { anchor, start, items: Vec::new() }, style, anchor, span)
            }
            Event::MappingStart(style, anchor, _) => {
                let mapping = Open::Mapping { anchor, start: span.start, entries: Entries::default(), key: Key::Expected };
                self.open(mapping, style, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(name) => self.undefined_alias(&name, span),
            Event::Anchor(_, name) => {
                self.anchor_name(&name, span);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, collection: Open, style: StructureStyle, anchor: usize, span: Span) -> Result<(), Stop> {
        self.charge(1, 0, span)?;
        if self.open.len() >= self.budget.limits.depth {
            self.too_deep(span);
            return Err(Stop::Document);
        }
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        if style == StructureStyle::Flow {
            self.flow.get_or_insert(self.open.len());
        }
        self.open.push(collection);
        Ok(())
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>, anchor: usize, span: Span) -> Result<(), Stop> {
        self.charge(1, 0, span)?;
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let text = if block && self.excerpt.is_cut_off(span) { without_last_break(text) } else { text };
        let span = if block { self.excerpt.without_end_breaks(span) } else { span };
        if block {
            self.tabs.allow_block(span)
        } else {
            self.tabs.allow(span)
        }
        let plain = style == ScalarStyle::Plain;
        if plain && self.flow.is_some() && (text.contains('?') || text.starts_with(':')) {
            self.find(syntax::broken_word(&text), span);
        }
        let meaning = meaning(&text, plain, tag).unwrap_or_else(|wrong| {
            let finding = Diagnostic::of(&TAG_MISMATCHED, format!("tag `!!{}` does not fit the value `{}`", wrong.tag, shown(&text)));
            self.find(finding.help(wrong.help), span);
            Meaning::Word(Resolved::Null)
        });
        if self.expects_key() {
            let merges = text == "<<" && (plain && tag.is_none() || is_merge_tag(tag));
            let key = if merges { Key::Merge { span } } else { self.key(&text, &meaning, span) };
            if anchor != 0 {
                let value = self.value(text, meaning, span);
                self.keep(anchor, &Node { span: range(span), value })?;
            }
            self.set_key(key);
            return Ok(());
        }
        let value = self.value(text, meaning, span);
        self.attach(Node { span: range(span), value }, anchor)
    }

    /// The value of a scalar in JSON.
    fn value(&mut self, text: Cow<'_, str>, meaning: Meaning, span: Span) -> Value {
        match meaning {
            Meaning::Decoded(text) => Value::String(text),
            Meaning::Word(Resolved::Null) => Value::Null,
            Meaning::Word(Resolved::Bool(bool)) => Value::Bool(bool),
            Meaning::Word(Resolved::Int(int)) => Value::Number(int.into()),
            Meaning::Word(Resolved::Uint(int)) => Value::Number(int.into()),
            Meaning::Word(Resolved::Timestamp | Resolved::Str) => Value::String(text.into_owned()),
            Meaning::Word(Resolved::Float(float)) => json_number(float).map_or_else(
                || {
                    let finding = Diagnostic::of(&NUMBER_INFINITE, format!("`{}` is a number that JSON cannot hold", shown(&text)));
                    self.find(finding.help(format!("write `\"{}\"` if a text is meant", shown(&text))), span);
                    Value::Null
                },
                Value::Number,
            ),
        }
    }

    /// A scalar as a key, spelt as sigs.k8s.io/yaml spells it.
    fn key(&mut self, text: &str, meaning: &Meaning, span: Span) -> Key {
        let text = match meaning {
            Meaning::Decoded(text) => text.clone(),
            Meaning::Word(Resolved::Bool(bool)) => bool.to_string(),
            Meaning::Word(Resolved::Int(int)) => int.to_string(),
            Meaning::Word(Resolved::Float(float)) => shortest_g32(*float),
            Meaning::Word(Resolved::Timestamp | Resolved::Str) => text.to_owned(),
            Meaning::Word(Resolved::Null | Resolved::Uint(_)) => {
                let word = shown(text);
                let subject = if text.is_empty() { "an empty word".to_owned() } else { format!("`{word}`") };
                let finding = Diagnostic::of(&KEY_INVALID, format!("{subject} cannot be a key"));
                self.find(finding.help(format!("write `\"{word}\"`")), span);
                return Key::Invalid;
            }
        };
        Key::Read { text, span }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stop> {
        let Some(size) = self.anchors.get(&anchor).and_then(Option::as_ref).map(Node::measure) else {
            let finding =
                Diagnostic::of(&ALIAS_RECURSIVE, format!("alias `{}` stands inside its own anchor", shown(self.excerpt.text(span))));
            self.find(finding.help("write the value out instead of the alias"), span);
            return self.attach(Node { span: range(span), value: Value::Null }, 0);
        };
        if self.open.len() + size.depth > self.budget.limits.depth {
            self.too_deep(span);
            return Err(Stop::Document);
        }
        self.charge(size.nodes, size.bytes, span)?;
        let target = self.anchors.get(&anchor).and_then(Option::as_ref);
        // Go merges a list of mappings only where it is written out.
        let mergeable = |target: &&Node| !self.merges() || target.as_mapping().is_some();
        let value = target.filter(mergeable).map_or(Value::Null, |target| target.value.clone());
        self.attach(Node { span: range(span), value }, 0)
    }

    fn undefined_alias(&mut self, name: &str, span: Span) -> Result<(), Stop> {
        self.charge(1, 0, span)?;
        let name = shown(name);
        let finding = Diagnostic::of(&ALIAS_UNDEFINED, format!("alias `*{name}` has no anchor in this document"));
        self.find(finding.help(format!("write `&{name}` before the value that is meant, or `\"*{name}\"` for a text")), span);
        self.attach(Node { span: range(span), value: Value::Null }, 0)
    }

    fn anchor_name(&mut self, name: &str, span: Span) {
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            let finding =
                Diagnostic::of(&ANCHOR_INVALID, format!("the name of the anchor `&{}` is more than Go's reader takes", shown(name)));
            self.find(finding.help("use letters, digits, `-` and `_` only"), span);
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Mapping { key: Key::Expected, .. }))
    }

    fn merges(&self) -> bool {
        matches!(self.open.last(), Some(Open::Mapping { key: Key::Merge { .. }, .. }))
    }

    fn set_key(&mut self, read: Key) {
        if let Some(Open::Mapping { key, .. }) = self.open.last_mut() {
            *key = read;
        }
    }

    /// Keeps a copy of an anchored value for its aliases.
    fn keep(&mut self, anchor: usize, node: &Node) -> Result<(), Stop> {
        let size = node.measure();
        self.charge(size.nodes, size.bytes, self.whole(node.span))?;
        self.anchors.insert(anchor, Some(node.clone()));
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn attach(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor != 0 {
            self.keep(anchor, &node)?;
        }
        if self.expects_key() {
            let key = self.key_of(&node);
            self.set_key(key);
            return Ok(());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping { entries, key, .. }) => match std::mem::replace(key, Key::Expected) {
                Key::Read { text, span } => entries.all.push(Entry { key: text, key_span: range(span), value: node }),
                Key::Merge { span } => {
                    if entries.merge(node).is_err() {
                        let finding = Diagnostic::of(&MERGE_INVALID, "`<<` takes a mapping or a list of mappings");
                        self.find(finding.help("write `<<: *name` with the anchor of a mapping, or `\"<<\"` for a plain key"), span);
                    }
                }
                Key::Expected | Key::Invalid => {}
            },
        }
        Ok(())
    }

    /// A finished node as a key: the value of an alias, or a collection, which JSON does not take.
    fn key_of(&mut self, node: &Node) -> Key {
        let meaning = match &node.value {
            Value::String(text) => Meaning::Decoded(text.clone()),
            Value::Bool(bool) => Meaning::Word(Resolved::Bool(*bool)),
            Value::Number(number) => Meaning::Word(match (number.as_i64(), number.as_u64()) {
                (Some(int), _) => Resolved::Int(int),
                (None, Some(int)) => Resolved::Uint(int),
                (None, None) => Resolved::Float(number.as_f64().unwrap_or_default()),
            }),
            Value::Null => Meaning::Word(Resolved::Null),
            Value::Sequence(_) | Value::Mapping(_) => {
                let finding = Diagnostic::of(&KEY_INVALID, "a list or a mapping cannot be a key");
                self.find(finding.help("write a word before the `:`"), self.whole(node.span));
                return Key::Invalid;
            }
        };
        let excerpt = self.excerpt;
        let span = self.whole(node.span);
        self.key(excerpt.text(span), &meaning, span)
    }

    fn close(&mut self, end: Span) -> Result<(), Stop> {
        let closed = self.open.pop();
        self.flow = self.flow.filter(|outermost| *outermost < self.open.len());
        match closed {
            None => Ok(()),
            Some(Open::Sequence { anchor, start, items }) => {
                let last = items.last().map(|item| self.position(item.span.end()));
                let span = self.span(start, end, last);
                self.attach(Node { span: range(span), value: Value::Sequence(items) }, anchor)
            }
            Some(Open::Mapping { anchor, start, entries, .. }) => {
                let last = entries.all.last().map(|entry| self.position(entry.value.span.end().max(entry.key_span.end())));
                let span = self.span(start, end, last);
                let (mapping, overridden) = Mapping::collect(entries.all);
                for lost in overridden {
                    self.overridden(&lost, &entries.merged);
                }
                self.attach(Node { span: range(span), value: Value::Mapping(mapping) }, anchor)
            }
        }
    }

    /// The stretch of a collection: up to its bracket, or in block style up to its last value, for there the parser sees the end only at
    /// the next word.
    fn span(&mut self, start: Position, end: Span, last: Option<Position>) -> Span {
        let bracket = matches!(self.excerpt.text(end), "]" | "}");
        let end = if bracket { end.end } else { last.unwrap_or(end.start).max(start) };
        let span = Span { start, end };
        if bracket {
            self.tabs.allow(span);
        }
        span
    }

    /// Speaks of an entry that a later one overrides. That explicit keys override what was merged before them is what merging is for.
    fn overridden(&mut self, entry: &Overridden, merged: &[usize]) {
        if merged.binary_search(&entry.lost_at).is_ok() {
            return;
        }
        let key = shown(&entry.key);
        let place = self.excerpt.source.place().in_document(self.document);
        let finding = if merged.binary_search(&entry.won_at).is_ok() {
            Diagnostic::of(&MERGE_OVERRIDING, format!("a later `<<` overrides the key `{key}`"))
                .help("move the `<<` line before the keys that are to win")
                .note("Go's reader applies `<<` where it stands; other readers let the written key win")
                .related(place.at_span(self.whole(entry.won)), "the value that wins")
        } else {
            Diagnostic::of(&KEY_DUPLICATED, format!("the key `{key}` is written twice"))
                .help(format!("remove one of the two `{key}` lines"))
                .note("Go's reader keeps the last one")
                .related(place.at_span(self.whole(entry.won)), "the one that wins")
        };
        self.find(finding, self.whole(entry.lost));
    }

    fn position(&self, offset: usize) -> Position {
        self.excerpt.source.position(offset)
    }

    fn whole(&self, range: TextRange) -> Span {
        self.excerpt.source.span(range)
    }

    fn too_deep(&mut self, span: Span) {
        let most = self.budget.limits.depth;
        let finding = Diagnostic::of(&DEPTH_EXCEEDED, format!("values are nested more than {most} deep"));
        self.find(finding.help("write the document flatter"), span);
    }

    fn charge(&mut self, nodes: usize, bytes: usize, span: Span) -> Result<(), Stop> {
        self.budget.charge(nodes, bytes).map_err(|exceeded| {
            self.find(exceeded.finding(), span);
            Stop::Stream
        })
    }
}

fn range(span: Span) -> TextRange {
    TextRange::new(span.start.offset, span.end.offset)
}

/// The parser adds a line break to a block that ends with the source; Go does not.
fn without_last_break(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut text = text.into_owned();
    if text.ends_with('\n') {
        text.pop();
    }
    Cow::Owned(text)
}

/// The value of `<<` is neither a mapping nor a list of mappings.
struct NotMappings;

impl Entries {
    /// Adds the entries of a mapping, or of a list of mappings of which the first has the last word.
    fn merge(&mut self, node: Node) -> Result<(), NotMappings> {
        match node.value {
            Value::Mapping(mapping) => {
                for entry in mapping.into_entries() {
                    self.merged.push(self.all.len());
                    self.all.push(entry);
                }
                Ok(())
            }
            Value::Sequence(items) if items.iter().all(|item| item.as_mapping().is_some()) => {
                items.into_iter().rev().try_for_each(|item| self.merge(item))
            }
            _ => Err(NotMappings),
        }
    }
}
