//! The parser: tokens to events, by the library's grammar.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::scanner::{Scanner, Settings, Token, TokenKind};
use super::{Fault, Mark, Problem, Style};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event<'a> {
    pub(crate) kind: EventKind<'a>,
    /// Where it starts, without its anchor and tag.
    pub(crate) start: Mark,
    /// The end. Block sequences and mappings have no indicators of their own: they end where they
    /// start.
    pub(crate) end: Mark,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EventKind<'a> {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(&'a str),
    Scalar {
        text: Cow<'a, str>,
        style: Style,
        properties: Option<Box<Properties<'a>>>,
    },
    SequenceStart(Option<Box<Properties<'a>>>),
    SequenceEnd,
    MappingStart(Option<Box<Properties<'a>>>),
    MappingEnd,
}

/// What stands before a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Properties<'a> {
    /// The name behind `&`.
    pub(crate) anchor: Option<&'a str>,
    /// The whole tag; `""` when there is none.
    pub(crate) tag: String,
    /// Where the first of them starts.
    pub(crate) start: Mark,
}

/// What is read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequenceFirst,
    BlockSequence,
    IndentlessSequence,
    BlockMappingFirst,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirst,
    FlowSequence,
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowMappingFirst,
    FlowMapping,
    FlowMappingValue,
    FlowMappingEmptyValue,
    End,
}

/// Where a value stands, for what may stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Block,
    /// In a block mapping, where the dashes of a list may stand below the key.
    BlockOrIndentless,
    Flow,
}

enum Made {
    Scalar,
    Sequence,
    Mapping,
}

pub(crate) struct Parser<'a> {
    scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    /// Where the open lists and mappings start.
    marks: Vec<Mark>,
    /// Prefixes of tags by their handles.
    tags: BTreeMap<String, String>,
}

impl<'a> Parser<'a> {
    /// For a stretch of a text.
    pub(crate) fn new(text: &'a str, settings: Settings) -> Self {
        let scanner = Scanner::new(text, settings);
        Parser {
            scanner,
            state: State::ImplicitDocumentStart,
            states: Vec::new(),
            marks: Vec::new(),
            tags: BTreeMap::new(),
        }
    }

    /// Where the innermost list or mapping starts that is open.
    pub(crate) fn innermost(&self) -> Option<Mark> {
        self.marks.last().copied()
    }

    /// The next event; after the end of the stream again that.
    pub(crate) fn next(&mut self) -> Result<Event<'a>, Fault> {
        match self.state {
            State::ImplicitDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => self.node(Context::Block),
            State::BlockSequenceFirst => self.block_sequence(true),
            State::BlockSequence => self.block_sequence(false),
            State::IndentlessSequence => self.indentless_sequence(),
            State::BlockMappingFirst => self.block_mapping_key(true),
            State::BlockMappingKey => self.block_mapping_key(false),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceFirst => self.flow_sequence(true),
            State::FlowSequence => self.flow_sequence(false),
            State::FlowPairKey => self.flow_pair_key(),
            State::FlowPairValue => self.flow_pair_value(),
            State::FlowPairEnd => self.flow_pair_end(),
            State::FlowMappingFirst => self.flow_mapping_key(true),
            State::FlowMapping => self.flow_mapping_key(false),
            State::FlowMappingValue => self.flow_mapping_value(false),
            State::FlowMappingEmptyValue => self.flow_mapping_value(true),
            State::End => Ok(event(
                EventKind::StreamEnd,
                self.scanner.mark,
                self.scanner.mark,
            )),
        }
    }

    fn peek(&mut self) -> Result<&Token<'a>, Fault> {
        self.scanner.peek()
    }

    /// Takes the token that was peeked at, and looks at the next one, as the library does.
    fn skip(&mut self) -> Result<(), Fault> {
        self.scanner.take();
        self.peek().map(drop)
    }

    /// Where the next token starts.
    fn start(&mut self) -> Result<Mark, Fault> {
        Ok(self.peek()?.start)
    }

    fn fault<T>(&mut self, context: Option<Mark>, problem: Problem) -> Result<T, Fault> {
        let at = self.start()?;
        Err(Fault {
            problem,
            context: context.unwrap_or_default(),
            at,
            of_scanner: false,
        })
    }

    fn pop(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    /// A value follows, and then that state.
    fn node_then(&mut self, state: State, context: Context) -> Result<Event<'a>, Fault> {
        self.states.push(state);
        self.node(context)
    }

    /// A null that is not written follows, and then that state.
    fn empty_then(&mut self, state: State, mark: Mark) -> Event<'a> {
        self.state = state;
        empty(mark)
    }

    fn document_start(&mut self, implicit: bool) -> Result<Event<'a>, Fault> {
        while !implicit && self.peek()?.kind == TokenKind::DocumentEnd {
            self.scanner.take();
        }
        let Token { kind, start, .. } = self.peek()?;
        let start = *start;
        let is_explicit = matches!(
            kind,
            TokenKind::VersionDirective(..) | TokenKind::TagDirective(_) | TokenKind::DocumentStart
        );
        if *kind == TokenKind::StreamEnd {
            self.state = State::End;
            return Ok(event(EventKind::StreamEnd, start, start));
        }
        self.directives()?;
        self.states.push(State::DocumentEnd);
        if implicit && !is_explicit {
            self.state = State::BlockNode;
            return Ok(event(EventKind::DocumentStart, start, start));
        }
        if self.peek()?.kind != TokenKind::DocumentStart {
            return self.fault(None, Problem::DocumentStart);
        }
        self.state = State::DocumentContent;
        let end = self.scanner.take().end;
        Ok(event(EventKind::DocumentStart, start, end))
    }

    fn directives(&mut self) -> Result<(), Fault> {
        let mut has_version = false;
        loop {
            match &self.peek()?.kind {
                TokenKind::VersionDirective(..) if has_version => {
                    return self.fault(None, Problem::VersionRepeated);
                }
                TokenKind::VersionDirective(1, 1) => has_version = true,
                TokenKind::VersionDirective(..) => return self.fault(None, Problem::VersionOther),
                TokenKind::TagDirective(tag) => {
                    let (handle, prefix) = (tag.handle.to_owned(), tag.suffix.clone());
                    if self.tags.contains_key(&handle) {
                        return self.fault(None, Problem::TagRepeated);
                    }
                    self.tags.insert(handle, prefix);
                }
                _ => break,
            }
            self.skip()?;
        }
        self.tags
            .entry("!".to_owned())
            .or_insert_with(|| "!".to_owned());
        self.tags
            .entry("!!".to_owned())
            .or_insert_with(|| "tag:yaml.org,2002:".to_owned());
        Ok(())
    }

    fn document_content(&mut self) -> Result<Event<'a>, Fault> {
        let token = self.peek()?;
        if let TokenKind::VersionDirective(..)
        | TokenKind::TagDirective(_)
        | TokenKind::DocumentStart
        | TokenKind::DocumentEnd
        | TokenKind::StreamEnd = token.kind
        {
            let mark = token.start;
            self.pop();
            return Ok(empty(mark));
        }
        self.node(Context::Block)
    }

    fn document_end(&mut self) -> Result<Event<'a>, Fault> {
        let Token { kind, start, .. } = self.peek()?;
        let (start, mut end) = (*start, *start);
        if *kind == TokenKind::DocumentEnd {
            end = self.scanner.take().end;
        }
        self.tags.clear();
        self.state = State::DocumentStart;
        Ok(event(EventKind::DocumentEnd, start, end))
    }

    /// Anchor and tag, in either order.
    fn properties(&mut self) -> Result<Option<Box<Properties<'a>>>, Fault> {
        let Token { kind, start, .. } = self.peek()?;
        if !matches!(kind, TokenKind::Anchor(_) | TokenKind::Tag(_)) {
            return Ok(None);
        }
        let mut found = Properties {
            anchor: None,
            tag: String::new(),
            start: *start,
        };
        let mut tag = None;
        for _ in 0..2 {
            match &self.peek()?.kind {
                TokenKind::Anchor(name) if found.anchor.is_none() => {
                    found.anchor = Some(name);
                    self.skip()?;
                }
                TokenKind::Tag(_) if tag.is_none() => {
                    let token = self.scanner.take();
                    if let TokenKind::Tag(written) = token.kind {
                        tag = Some((written, token.start));
                    }
                    self.peek()?;
                }
                _ => break,
            }
        }
        if let Some((tag, mark)) = tag {
            found.tag = match self.tags.get(tag.handle) {
                _ if tag.handle.is_empty() => tag.suffix,
                Some(prefix) => format!("{prefix}{}", tag.suffix),
                None => {
                    return Err(Fault {
                        problem: Problem::TagHandle,
                        context: found.start,
                        at: mark,
                        of_scanner: false,
                    });
                }
            };
        }
        Ok(Some(Box::new(found)))
    }

    fn node(&mut self, context: Context) -> Result<Event<'a>, Fault> {
        if matches!(self.peek()?.kind, TokenKind::Alias(_)) {
            self.pop();
            let Token {
                kind: TokenKind::Alias(name),
                start,
                end,
            } = self.scanner.take()
            else {
                unreachable!("internal error: the token is an alias")
            };
            return Ok(event(EventKind::Alias(name), start, end));
        }
        let properties = self.properties()?;
        let block = context != Context::Flow;
        let Token { kind, start, end } = self.peek()?;
        let (start, end) = (*start, *end);
        let (made, state) = match kind {
            TokenKind::Scalar(..) => (Made::Scalar, State::End),
            TokenKind::BlockEntry if context == Context::BlockOrIndentless => {
                (Made::Sequence, State::IndentlessSequence)
            }
            TokenKind::FlowSequenceStart => (Made::Sequence, State::FlowSequenceFirst),
            TokenKind::FlowMappingStart => (Made::Mapping, State::FlowMappingFirst),
            TokenKind::BlockSequenceStart if block => (Made::Sequence, State::BlockSequenceFirst),
            TokenKind::BlockMappingStart if block => (Made::Mapping, State::BlockMappingFirst),
            _ => {
                let Some(properties) = properties else {
                    return self.fault(Some(start), Problem::NodeContent);
                };
                self.pop();
                let kind = EventKind::Scalar {
                    text: Cow::Borrowed(""),
                    style: Style::Plain,
                    properties: Some(properties),
                };
                return Ok(event(kind, start, start));
            }
        };
        match made {
            Made::Scalar => {
                self.pop();
                let TokenKind::Scalar(text, style) = self.scanner.take().kind else {
                    unreachable!("internal error: the token is a scalar")
                };
                Ok(event(
                    EventKind::Scalar {
                        text,
                        style,
                        properties,
                    },
                    start,
                    end,
                ))
            }
            Made::Sequence => {
                self.state = state;
                Ok(event(EventKind::SequenceStart(properties), start, end))
            }
            Made::Mapping => {
                self.state = state;
                Ok(event(EventKind::MappingStart(properties), start, end))
            }
        }
    }

    /// Takes the token that opens a list or a mapping.
    fn open(&mut self) {
        let start = self.scanner.take().start;
        self.marks.push(start);
    }

    /// Takes the token that closes a list or a mapping.
    fn close(&mut self, kind: EventKind<'a>) -> Event<'a> {
        let Token { start, end, .. } = self.scanner.take();
        self.pop();
        self.marks.pop();
        event(kind, start, end)
    }

    fn block_sequence(&mut self, first: bool) -> Result<Event<'a>, Fault> {
        if first {
            self.open();
        }
        let token = self.peek()?;
        let end = token.end;
        match token.kind {
            TokenKind::BlockEntry => {
                self.skip()?;
                match self.peek()?.kind {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => {
                        Ok(self.empty_then(State::BlockSequence, end))
                    }
                    _ => self.node_then(State::BlockSequence, Context::Block),
                }
            }
            TokenKind::BlockEnd => Ok(self.close(EventKind::SequenceEnd)),
            _ => {
                let context = self.marks.pop();
                self.fault(context, Problem::DashMissing)
            }
        }
    }

    fn indentless_sequence(&mut self) -> Result<Event<'a>, Fault> {
        let Token { kind, start, end } = self.peek()?;
        let (start, end) = (*start, *end);
        if *kind != TokenKind::BlockEntry {
            self.pop();
            return Ok(event(EventKind::SequenceEnd, start, start));
        }
        self.skip()?;
        match self.peek()?.kind {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.empty_then(State::IndentlessSequence, end))
            }
            _ => self.node_then(State::IndentlessSequence, Context::Block),
        }
    }

    fn block_mapping_key(&mut self, first: bool) -> Result<Event<'a>, Fault> {
        if first {
            self.open();
        }
        let token = self.peek()?;
        match token.kind {
            TokenKind::Key => self.block_mapping_node(State::BlockMappingValue),
            TokenKind::BlockEnd => Ok(self.close(EventKind::MappingEnd)),
            _ => {
                let context = self.marks.pop();
                self.fault(context, Problem::KeyMissing)
            }
        }
    }

    fn block_mapping_value(&mut self) -> Result<Event<'a>, Fault> {
        let token = self.peek()?;
        if token.kind == TokenKind::Value {
            return self.block_mapping_node(State::BlockMappingKey);
        }
        let start = token.start;
        Ok(self.empty_then(State::BlockMappingKey, start))
    }

    /// What stands behind the sign of a key or a value.
    fn block_mapping_node(&mut self, then: State) -> Result<Event<'a>, Fault> {
        let end = self.scanner.take().end;
        match self.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.empty_then(then, end))
            }
            _ => self.node_then(then, Context::BlockOrIndentless),
        }
    }

    /// Takes the `,` before an item in brackets; false when there must be one and is none.
    fn separated(&mut self, first: bool) -> Result<bool, Fault> {
        if first {
            return Ok(true);
        }
        let separated = self.peek()?.kind == TokenKind::FlowEntry;
        if separated {
            self.skip()?;
        }
        Ok(separated)
    }

    fn flow_sequence(&mut self, first: bool) -> Result<Event<'a>, Fault> {
        if first {
            self.open();
        }
        if self.peek()?.kind != TokenKind::FlowSequenceEnd {
            if !self.separated(first)? {
                let context = self.marks.pop();
                return self.fault(context, Problem::SequenceOpen);
            }
            let Token { kind, start, end } = self.peek()?;
            match kind {
                TokenKind::Key => {
                    let event = event(EventKind::MappingStart(None), *start, *end);
                    self.state = State::FlowPairKey;
                    self.scanner.take();
                    return Ok(event);
                }
                TokenKind::FlowSequenceEnd => {}
                _ => return self.node_then(State::FlowSequence, Context::Flow),
            }
        }
        Ok(self.close(EventKind::SequenceEnd))
    }

    fn flow_pair_key(&mut self) -> Result<Event<'a>, Fault> {
        let token = self.peek()?;
        if let TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd = token.kind {
            // The library loses the token here, whatever it is.
            let end = self.scanner.take().end;
            return Ok(self.empty_then(State::FlowPairValue, end));
        }
        self.node_then(State::FlowPairValue, Context::Flow)
    }

    fn flow_pair_value(&mut self) -> Result<Event<'a>, Fault> {
        let token = self.peek()?;
        let start = token.start;
        if token.kind == TokenKind::Value {
            self.skip()?;
            if !matches!(
                self.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
            ) {
                return self.node_then(State::FlowPairEnd, Context::Flow);
            }
        }
        Ok(self.empty_then(State::FlowPairEnd, start))
    }

    fn flow_pair_end(&mut self) -> Result<Event<'a>, Fault> {
        let start = self.start()?;
        self.state = State::FlowSequence;
        Ok(event(EventKind::MappingEnd, start, start))
    }

    fn flow_mapping_key(&mut self, first: bool) -> Result<Event<'a>, Fault> {
        if first {
            self.open();
        }
        if self.peek()?.kind != TokenKind::FlowMappingEnd {
            if !self.separated(first)? {
                let context = self.marks.pop();
                return self.fault(context, Problem::MappingOpen);
            }
            match self.peek()?.kind {
                TokenKind::Key => {
                    self.skip()?;
                    let Token { kind, start, .. } = self.peek()?;
                    if let TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd =
                        kind
                    {
                        let start = *start;
                        return Ok(self.empty_then(State::FlowMappingValue, start));
                    }
                    return self.node_then(State::FlowMappingValue, Context::Flow);
                }
                TokenKind::FlowMappingEnd => {}
                _ => return self.node_then(State::FlowMappingEmptyValue, Context::Flow),
            }
        }
        Ok(self.close(EventKind::MappingEnd))
    }

    fn flow_mapping_value(&mut self, empty: bool) -> Result<Event<'a>, Fault> {
        if !empty && self.peek()?.kind == TokenKind::Value {
            self.skip()?;
            if !matches!(
                self.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowMappingEnd
            ) {
                return self.node_then(State::FlowMapping, Context::Flow);
            }
        }
        let start = self.start()?;
        Ok(self.empty_then(State::FlowMapping, start))
    }
}

fn event<'a>(kind: EventKind<'a>, start: Mark, end: Mark) -> Event<'a> {
    Event { kind, start, end }
}

/// A null that is not written.
fn empty<'a>(mark: Mark) -> Event<'a> {
    event(
        EventKind::Scalar {
            text: Cow::Borrowed(""),
            style: Style::Plain,
            properties: None,
        },
        mark,
        mark,
    )
}
