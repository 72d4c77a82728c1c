//! Anchored values: the events that say them, so that an alias can say them again. Nothing is
//! copied for an anchor that no alias names.

use std::collections::BTreeMap;

use crate::libyaml::Event;
use windlass_source::TextRange;

/// How large a value is, with what aliases in it stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) nodes: usize,
    /// Bytes of keys and texts.
    pub(super) bytes: usize,
    /// What go-yaml counts: values, keys, and the aliases themselves.
    pub(super) decoded: usize,
    /// How deep lists and mappings lie in one another.
    pub(super) depth: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    /// Where its events begin on the tape.
    pub(super) start: usize,
    /// Where they end; `None` while it is open.
    pub(super) end: Option<usize>,
    /// How large it is; while it is open, what was counted before it.
    pub(super) size: Size,
}

#[derive(Debug, Clone)]
pub(super) enum Taped<'a> {
    Event(Event<'a>),
    /// An alias of the anchor with this number, and where it stands.
    Alias(usize, TextRange),
}

#[derive(Debug, Default)]
pub(super) struct Anchors<'a> {
    all: Vec<Anchor>,
    by_name: BTreeMap<&'a str, usize>,
    open: usize,
    pub(super) tape: Vec<Taped<'a>>,
}

impl<'a> Anchors<'a> {
    /// Opens an anchor before its first event; `before` is what was counted so far.
    pub(super) fn open(&mut self, name: &'a str, before: Size) -> usize {
        let number = self.all.len();
        self.all.push(Anchor {
            start: self.tape.len(),
            end: None,
            size: before,
        });
        self.by_name.insert(name, number);
        self.open += 1;
        number
    }

    /// Closes an anchor behind its last event.
    pub(super) fn close(&mut self, number: usize, counted: Size, depth: usize) {
        let anchor = &mut self.all[number];
        let before = anchor.size;
        anchor.end = Some(self.tape.len());
        anchor.size = Size {
            nodes: counted.nodes - before.nodes,
            bytes: counted.bytes - before.bytes,
            decoded: counted.decoded - before.decoded,
            depth,
        };
        self.open -= 1;
    }

    pub(super) fn is_taping(&self) -> bool {
        self.open > 0
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, Anchor)> {
        self.by_name
            .get(name)
            .map(|number| (*number, self.all[*number]))
    }

    /// The events of an anchor, as places on the tape.
    pub(super) fn events(&self, number: usize) -> (usize, usize) {
        let Anchor { start, end, .. } = self.all[number];
        (start, end.unwrap_or(start))
    }
}
