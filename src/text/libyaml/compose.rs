//! Tokens to nodes: the grammar of the parser, with the faults where it finds them.

use std::collections::BTreeMap;

use super::resolve::{resolve, short_tag};
use super::scanner::{Mark, Scanner, Token, TokenKind};
use super::{Content, DEPTH, Document, Fault, Node, NodeId};

/// Reads the first document.
pub(super) fn document(text: Vec<char>) -> Result<Option<Document>, Fault> {
    let mut composer =
        Composer { scanner: Scanner::new(text), document: Document::default(), anchors: BTreeMap::new(), tags: BTreeMap::new() };
    if !composer.start()? {
        return Ok(None);
    }
    Ok(Some(composer.document))
}

struct Composer {
    scanner: Scanner,
    document: Document,
    anchors: BTreeMap<String, NodeId>,
    /// Prefixes of tags by their handles.
    tags: BTreeMap<String, String>,
}

/// What stands before a value.
#[derive(Default)]
struct Properties {
    anchor: Option<String>,
    tag: String,
    start: Mark,
}

/// Where a value stands, for what may stand there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Block,
    /// In a block mapping, where the dashes of a list may stand below the key.
    BlockOrIndentless,
    Flow,
}

impl Composer {
    fn kind(&mut self) -> Result<&TokenKind, Fault> {
        Ok(&self.scanner.peek()?.kind)
    }

    fn is(&mut self, kinds: &[TokenKind]) -> Result<bool, Fault> {
        let found = self.kind()?;
        Ok(kinds.contains(found))
    }

    /// Takes the token that was peeked at.
    fn take(&mut self) -> Result<Token, Fault> {
        self.scanner.peek()?;
        Ok(self.scanner.take().expect("internal error: a token that was peeked at is there"))
    }

    fn start_mark(&mut self) -> Result<Mark, Fault> {
        Ok(self.scanner.peek()?.start)
    }

    /// A fault of the parser at the next token: it names the line before that of its context, as the library does.
    fn fault<T>(&mut self, context: Option<Mark>, problem: &str) -> Result<T, Fault> {
        let here = self.start_mark()?;
        let line = context.map(|mark| mark.line).filter(|line| *line != 0).unwrap_or(here.line);
        let place = if line == 0 { String::new() } else { format!("line {line}: ") };
        Err(Fault { message: format!("{place}{problem}"), line: here.line + 1 })
    }

    /// Reads the document; false when the stream holds none.
    fn start(&mut self) -> Result<bool, Fault> {
        if self.is(&[TokenKind::StreamEnd])? {
            return Ok(false);
        }
        let explicit = matches!(self.kind()?, TokenKind::VersionDirective(..) | TokenKind::TagDirective { .. } | TokenKind::DocumentStart);
        self.directives()?;
        if explicit {
            if !self.is(&[TokenKind::DocumentStart])? {
                return self.fault(None, "did not find expected <document start>");
            }
            self.take()?;
            let is_empty = matches!(
                self.kind()?,
                TokenKind::VersionDirective(..)
                    | TokenKind::TagDirective { .. }
                    | TokenKind::DocumentStart
                    | TokenKind::DocumentEnd
                    | TokenKind::StreamEnd
            );
            if is_empty {
                let mark = self.start_mark()?;
                self.empty(mark);
                return Ok(true);
            }
        }
        self.node(Context::Block, 0)?;
        // The library looks at the token behind the document.
        self.scanner.peek()?;
        Ok(true)
    }

    fn directives(&mut self) -> Result<(), Fault> {
        let mut has_version = false;
        loop {
            match self.kind()?.clone() {
                TokenKind::VersionDirective(..) if has_version => return self.fault(None, "found duplicate %YAML directive"),
                TokenKind::VersionDirective(1, 1) => has_version = true,
                TokenKind::VersionDirective(..) => return self.fault(None, "found incompatible YAML document"),
                TokenKind::TagDirective { handle, .. } if self.tags.contains_key(&handle) => {
                    return self.fault(None, "found duplicate %TAG directive");
                }
                TokenKind::TagDirective { handle, prefix } => drop(self.tags.insert(handle, prefix)),
                _ => break,
            }
            self.take()?;
        }
        self.tags.entry("!".to_owned()).or_insert_with(|| "!".to_owned());
        self.tags.entry("!!".to_owned()).or_insert_with(|| "tag:yaml.org,2002:".to_owned());
        Ok(())
    }

    /// A null that is not written.
    fn empty(&mut self, mark: Mark) -> NodeId {
        self.push(Content::Scalar { text: String::new(), is_text: false }, String::new(), mark)
    }

    fn push(&mut self, content: Content, tag: String, mark: Mark) -> NodeId {
        let is_tagged = !tag.is_empty() && tag != "!";
        let tag = match &content {
            _ if is_tagged => short_tag(&tag),
            Content::Sequence(_) => "!!seq".to_owned(),
            Content::Mapping(_) => "!!map".to_owned(),
            Content::Alias(_) => String::new(),
            Content::Scalar { is_text: true, .. } => "!!str".to_owned(),
            Content::Scalar { text, .. } if text == "<<" => "!!merge".to_owned(),
            Content::Scalar { text, .. } => resolve("", text).map(|(tag, _)| tag).unwrap_or_default(),
        };
        self.document.push(Node { content, tag, line: mark.line + 1, column: mark.column + 1 })
    }

    /// Anchor and tag, in either order.
    fn properties(&mut self) -> Result<Properties, Fault> {
        let mut found = Properties { start: self.start_mark()?, ..Properties::default() };
        let mut tag = None;
        for _ in 0..2 {
            match self.kind()? {
                TokenKind::Anchor(_) if found.anchor.is_none() => {
                    if let TokenKind::Anchor(name) = self.take()?.kind {
                        found.anchor = Some(name);
                    }
                }
                TokenKind::Tag { .. } if tag.is_none() => tag = Some(self.take()?),
                _ => break,
            }
        }
        if let Some(Token { kind: TokenKind::Tag { handle, suffix }, start, .. }) = tag {
            found.tag = match self.tags.get(&handle) {
                _ if handle.is_empty() => suffix,
                Some(prefix) => format!("{prefix}{suffix}"),
                None => {
                    let line = if found.start.line != 0 { found.start.line } else { start.line };
                    let place = if line == 0 { String::new() } else { format!("line {line}: ") };
                    return Err(Fault { message: format!("{place}found undefined tag handle"), line: start.line + 1 });
                }
            };
        }
        Ok(found)
    }

    fn node(&mut self, context: Context, depth: usize) -> Result<NodeId, Fault> {
        if depth > DEPTH {
            return self.fault(None, &format!("exceeded max depth of {DEPTH}"));
        }
        if matches!(self.kind()?, TokenKind::Alias(_)) {
            return self.alias();
        }
        let Properties { anchor, tag, start } = self.properties()?;
        let block = context != Context::Flow;
        let kind = self.kind()?.clone();
        let id = match kind {
            TokenKind::Scalar { text, plain } => {
                let id = self.push(Content::Scalar { text, is_text: !plain }, tag, start);
                self.name(anchor, id);
                self.take()?;
                return Ok(id);
            }
            TokenKind::BlockEntry if context == Context::BlockOrIndentless => self.collection(false, tag, anchor, start),
            TokenKind::FlowSequenceStart => self.collection(false, tag, anchor, start),
            TokenKind::BlockSequenceStart if block => self.collection(false, tag, anchor, start),
            TokenKind::FlowMappingStart => self.collection(true, tag, anchor, start),
            TokenKind::BlockMappingStart if block => self.collection(true, tag, anchor, start),
            _ if anchor.is_some() || !tag.is_empty() => {
                let id = self.push(Content::Scalar { text: String::new(), is_text: false }, tag, start);
                self.name(anchor, id);
                return Ok(id);
            }
            _ => return self.fault(Some(start), "did not find expected node content"),
        };
        match self.kind()?.clone() {
            TokenKind::BlockEntry => self.indentless_sequence(id, depth)?,
            TokenKind::FlowSequenceStart => self.flow_sequence(id, depth)?,
            TokenKind::BlockSequenceStart => self.block_sequence(id, depth)?,
            TokenKind::FlowMappingStart => self.flow_mapping(id, depth)?,
            _ => self.block_mapping(id, depth)?,
        }
        Ok(id)
    }

    fn collection(&mut self, is_mapping: bool, tag: String, anchor: Option<String>, start: Mark) -> NodeId {
        let content = if is_mapping { Content::Mapping(Vec::new()) } else { Content::Sequence(Vec::new()) };
        let id = self.push(content, tag, start);
        self.name(anchor, id);
        id
    }

    fn name(&mut self, anchor: Option<String>, id: NodeId) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
    }

    fn alias(&mut self) -> Result<NodeId, Fault> {
        let start = self.start_mark()?;
        let TokenKind::Alias(name) = self.take()?.kind else { unreachable!("internal error: the token is an alias") };
        match self.anchors.get(&name) {
            Some(target) => Ok(self.push(Content::Alias(*target), String::new(), start)),
            None => Err(Fault { message: format!("unknown anchor '{name}' referenced"), line: start.line + 1 }),
        }
    }

    fn add_item(&mut self, id: NodeId, item: NodeId) {
        if let Content::Sequence(items) = &mut self.document.node_mut(id).content {
            items.push(item);
        }
    }

    fn add_entry(&mut self, id: NodeId, key: NodeId, value: NodeId) {
        if let Content::Mapping(entries) = &mut self.document.node_mut(id).content {
            entries.push((key, value));
        }
    }

    /// A value, or null where one of those tokens stands.
    fn node_unless(&mut self, ends: &[TokenKind], mark: Mark, context: Context, depth: usize) -> Result<NodeId, Fault> {
        if self.is(ends)? { Ok(self.empty(mark)) } else { self.node(context, depth + 1) }
    }

    fn block_sequence(&mut self, id: NodeId, depth: usize) -> Result<(), Fault> {
        let start = self.take()?.start;
        while self.is(&[TokenKind::BlockEntry])? {
            let mark = self.take()?.end;
            let item = self.node_unless(&[TokenKind::BlockEntry, TokenKind::BlockEnd], mark, Context::Block, depth)?;
            self.add_item(id, item);
        }
        if !self.is(&[TokenKind::BlockEnd])? {
            return self.fault(Some(start), "did not find expected '-' indicator");
        }
        self.take()?;
        Ok(())
    }

    fn indentless_sequence(&mut self, id: NodeId, depth: usize) -> Result<(), Fault> {
        const ENDS: [TokenKind; 4] = [TokenKind::BlockEntry, TokenKind::Key, TokenKind::Value, TokenKind::BlockEnd];
        while self.is(&[TokenKind::BlockEntry])? {
            let mark = self.take()?.end;
            let item = self.node_unless(&ENDS, mark, Context::Block, depth)?;
            self.add_item(id, item);
        }
        Ok(())
    }

    fn block_mapping(&mut self, id: NodeId, depth: usize) -> Result<(), Fault> {
        const ENDS: [TokenKind; 3] = [TokenKind::Key, TokenKind::Value, TokenKind::BlockEnd];
        let start = self.take()?.start;
        while self.is(&[TokenKind::Key])? {
            let mark = self.take()?.end;
            let key = self.node_unless(&ENDS, mark, Context::BlockOrIndentless, depth)?;
            let value = if self.is(&[TokenKind::Value])? {
                let mark = self.take()?.end;
                self.node_unless(&ENDS, mark, Context::BlockOrIndentless, depth)?
            } else {
                let mark = self.start_mark()?;
                self.empty(mark)
            };
            self.add_entry(id, key, value);
        }
        if !self.is(&[TokenKind::BlockEnd])? {
            return self.fault(Some(start), "did not find expected key");
        }
        self.take()?;
        Ok(())
    }

    fn flow_sequence(&mut self, id: NodeId, depth: usize) -> Result<(), Fault> {
        let start = self.take()?.start;
        let mut first = true;
        while !self.is(&[TokenKind::FlowSequenceEnd])? {
            if !first {
                if !self.is(&[TokenKind::FlowEntry])? {
                    return self.fault(Some(start), "did not find expected ',' or ']'");
                }
                self.take()?;
            }
            first = false;
            if self.is(&[TokenKind::Key])? {
                let item = self.flow_pair(depth)?;
                self.add_item(id, item);
            } else if !self.is(&[TokenKind::FlowSequenceEnd])? {
                let item = self.node(Context::Flow, depth + 1)?;
                self.add_item(id, item);
            }
        }
        self.take()?;
        Ok(())
    }

    /// `key: value` as an item of a list in brackets.
    fn flow_pair(&mut self, depth: usize) -> Result<NodeId, Fault> {
        const ENDS: [TokenKind; 2] = [TokenKind::FlowEntry, TokenKind::FlowSequenceEnd];
        let start = self.take()?.start;
        let id = self.collection(true, String::new(), None, start);
        let key = if self.is(&[TokenKind::Value, TokenKind::FlowEntry, TokenKind::FlowSequenceEnd])? {
            // The library loses the token here, whatever it is.
            let mark = self.take()?.end;
            self.empty(mark)
        } else {
            self.node(Context::Flow, depth + 1)?
        };
        let mark = self.start_mark()?;
        let has_value = self.is(&[TokenKind::Value])?;
        if has_value {
            self.take()?;
        }
        let value = if has_value { self.node_unless(&ENDS, mark, Context::Flow, depth)? } else { self.empty(mark) };
        self.add_entry(id, key, value);
        Ok(id)
    }

    fn flow_mapping(&mut self, id: NodeId, depth: usize) -> Result<(), Fault> {
        const ENDS: [TokenKind; 2] = [TokenKind::FlowEntry, TokenKind::FlowMappingEnd];
        let start = self.take()?.start;
        let mut first = true;
        while !self.is(&[TokenKind::FlowMappingEnd])? {
            if !first {
                if !self.is(&[TokenKind::FlowEntry])? {
                    return self.fault(Some(start), "did not find expected ',' or '}'");
                }
                self.take()?;
            }
            first = false;
            if self.is(&[TokenKind::Key])? {
                self.take()?;
                let mark = self.start_mark()?;
                let key =
                    self.node_unless(&[TokenKind::Value, TokenKind::FlowEntry, TokenKind::FlowMappingEnd], mark, Context::Flow, depth)?;
                let has_value = self.is(&[TokenKind::Value])?;
                if has_value {
                    self.take()?;
                }
                let mark = self.start_mark()?;
                let value = if has_value { self.node_unless(&ENDS, mark, Context::Flow, depth)? } else { self.empty(mark) };
                self.add_entry(id, key, value);
            } else if !self.is(&[TokenKind::FlowMappingEnd])? {
                let key = self.node(Context::Flow, depth + 1)?;
                let mark = self.start_mark()?;
                let value = self.empty(mark);
                self.add_entry(id, key, value);
            }
        }
        self.take()?;
        Ok(())
    }
}
