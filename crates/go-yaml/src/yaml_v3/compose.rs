//! Events to nodes.

use std::collections::BTreeMap;

use super::resolve::{resolve, short_tag};
use super::{Content, DEPTH, Document, Fault, Node, NodeId};
use crate::libyaml::{
    self, Event, EventKind, Mark, Parser, Problem, Properties, Settings, Style, Version,
};

/// Reads the first document.
pub(super) fn document(text: &str) -> Result<Option<Document>, Fault> {
    let settings = Settings {
        version: Version::V3,
        depth: DEPTH,
        range: 0..text.len(),
    };
    let mut parser = Parser::new(text, settings);
    if next(&mut parser)?.kind == EventKind::StreamEnd {
        return Ok(None);
    }
    let mut composer = Composer {
        text,
        document: Document::default(),
        anchors: BTreeMap::new(),
        open: Vec::new(),
        counted: (Mark::default(), 0),
    };
    loop {
        let event = next(&mut parser)?;
        if event.kind == EventKind::DocumentEnd {
            return Ok(Some(composer.document));
        }
        composer.event(event)?;
    }
}

fn next<'a>(parser: &mut Parser<'a>) -> Result<Event<'a>, Fault> {
    parser.next().map_err(fault)
}

fn fault(fault: libyaml::Fault) -> Fault {
    Fault {
        message: fault.words(Version::V3),
        line: fault.at.line + 1,
    }
}

struct Composer<'a> {
    text: &'a str,
    document: Document,
    anchors: BTreeMap<&'a str, NodeId>,
    /// The lists and mappings that are open, with the key that has no value yet.
    open: Vec<(NodeId, Option<NodeId>)>,
    /// Characters before an offset in its line: those of the last node.
    counted: (Mark, u32),
}

impl<'a> Composer<'a> {
    fn event(&mut self, event: Event<'a>) -> Result<(), Fault> {
        let Event { kind, start, .. } = event;
        match kind {
            EventKind::Scalar {
                text,
                style,
                properties,
            } => {
                let content = Content::Scalar {
                    text: text.into_owned(),
                    is_text: style != Style::Plain,
                };
                let id = self.push(content, start, properties.as_deref());
                self.add(id);
            }
            EventKind::SequenceStart(properties) => {
                self.open(Content::Sequence(Vec::new()), start, properties.as_deref())?
            }
            EventKind::MappingStart(properties) => {
                self.open(Content::Mapping(Vec::new()), start, properties.as_deref())?
            }
            EventKind::SequenceEnd | EventKind::MappingEnd => {
                self.open.pop();
            }
            EventKind::Alias(name) => {
                let Some(target) = self.anchors.get(name).copied() else {
                    return Err(Fault {
                        message: format!("unknown anchor '{name}' referenced"),
                        line: start.line + 1,
                    });
                };
                let id = self.push(Content::Alias(target), start, None);
                self.add(id);
            }
            EventKind::StreamEnd | EventKind::DocumentStart | EventKind::DocumentEnd => {}
        }
        Ok(())
    }

    fn open(
        &mut self,
        content: Content,
        start: Mark,
        properties: Option<&Properties<'a>>,
    ) -> Result<(), Fault> {
        if self.open.len() >= DEPTH {
            let too_deep = libyaml::Fault {
                problem: Problem::TooDeep(DEPTH),
                context: Mark::default(),
                at: start,
                of_scanner: false,
            };
            return Err(fault(too_deep));
        }
        let id = self.push(content, start, properties);
        self.add(id);
        self.open.push((id, None));
        Ok(())
    }

    /// Adds a node to the list or the mapping that is open.
    fn add(&mut self, id: NodeId) {
        let Some((parent, key)) = self.open.last_mut() else {
            return;
        };
        match &mut self.document.node_mut(*parent).content {
            Content::Sequence(items) => items.push(id),
            Content::Mapping(entries) => match key.take() {
                Some(name) => entries.push((name, id)),
                None => *key = Some(id),
            },
            Content::Scalar { .. } | Content::Alias(_) => {}
        }
    }

    fn push(
        &mut self,
        content: Content,
        start: Mark,
        properties: Option<&Properties<'a>>,
    ) -> NodeId {
        let tag = properties.map_or("", |properties| properties.tag.as_str());
        let tag = match &content {
            _ if !tag.is_empty() && tag != "!" => short_tag(tag),
            Content::Sequence(_) => "!!seq".to_owned(),
            Content::Mapping(_) => "!!map".to_owned(),
            Content::Alias(_) => String::new(),
            Content::Scalar { is_text: true, .. } => "!!str".to_owned(),
            Content::Scalar { text, .. } if text == "<<" => "!!merge".to_owned(),
            Content::Scalar { text, .. } => {
                resolve("", text).map(|(tag, _)| tag).unwrap_or_default()
            }
        };
        let start = properties.map_or(start, |properties| properties.start);
        let column = self.column(start);
        let id = self.document.push(Node {
            content,
            tag,
            line: start.line + 1,
            column,
        });
        if let Some(name) = properties.and_then(|properties| properties.anchor) {
            self.document.anchors.insert(id, name.to_owned());
            self.anchors.insert(name, id);
        }
        id
    }

    /// The column in characters, from 1. Nodes come in the order of the text: characters are
    /// counted from the last one on.
    fn column(&mut self, mark: Mark) -> u32 {
        let (last, before) = self.counted;
        let goes_on = last.line_start == mark.line_start && last.offset <= mark.offset;
        let (from, before) = if goes_on {
            (last.offset, before)
        } else {
            (mark.line_start, 0)
        };
        let count = self.text[from..mark.offset].chars().count();
        let column = before.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.counted = (mark, column);
        column.saturating_add(1)
    }
}
