//! Writes a document anew so that it says another value, and leaves every byte as it is that need
//! not change.
//!
//! The text of what only moved goes with it, with the comments above it and behind it.

mod arguments;
mod block;
mod flow;
mod lines;
mod scalar;

use std::ops::Range;

use serde_json::Value as Json;

use crate::conversion::core::Origins;
use windlass_go_yaml::yaml::{Entry, Mapping, Node, Value};
use windlass_source::diag::{Change, FieldPath};
use windlass_source::edit::Edits;

/// A document, and where the parts of the new value stand in it.
pub(super) struct Rewriter<'t> {
    text: &'t str,
    root: &'t Node,
    origins: &'t Origins,
    lists: &'t ListStyle,
    /// Whether it is JSON, in which every text is in double quotes.
    is_json: bool,
}

/// A node that is to say something else.
#[derive(Clone, Copy)]
struct Task<'a> {
    node: &'a Node,
    /// Where the value is in the new object.
    path: &'a FieldPath,
    value: &'a Json,
    /// The column of the key that it belongs to.
    owner: usize,
    /// Where that key ends in the text; 0 when there is none.
    key_end: usize,
}

/// The changes of a text after which the document `root` says `value`, whose parts came from where
/// `origins` say.
pub(super) fn changes(
    text: &str,
    root: &Node,
    value: &Json,
    origins: &Origins,
    lists: &ListStyle,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let path = FieldPath::root();
    let start = text[root.span.start()..].trim_start();
    let is_json = start
        .strip_prefix('{')
        .is_some_and(|rest| rest.trim_start().starts_with('"'));
    Rewriter {
        text,
        root,
        origins,
        lists,
        is_json,
    }
    .node(
        Task {
            node: root,
            path: &path,
            value,
            owner: 0,
            key_end: 0,
        },
        &mut changes,
    );
    if Edits::of(text).line_end_of_text() == "\r\n" {
        changes
            .iter_mut()
            .for_each(|change| change.with = with_returns(&change.with));
    }
    changes
}

/// Lines of which all end as those of Windows do.
fn with_returns(lines: &str) -> String {
    lines
        .replace("\r\n", "\n")
        .trim_end_matches('\r')
        .replace('\n', "\r\n")
}

/// The lists of a file that stand in lines, in their order: where each begins, and whether it
/// stands to the right of its key.
#[derive(Debug, Default)]
pub(super) struct ListStyle(Vec<(usize, bool)>);

impl ListStyle {
    /// Adds the lists of a document that follows those so far. The depth is that of the document.
    pub(super) fn add(&mut self, text: &str, node: &Node) {
        match &node.value {
            Value::Mapping(mapping) => {
                for entry in mapping {
                    if matches!(entry.value.value, Value::Sequence(_))
                        && !is_flow(text, &entry.value)
                    {
                        let start = entry.value.span.start();
                        self.0.push((
                            start,
                            lines::column(text, start)
                                > lines::column(text, entry.key_span.start()),
                        ));
                    }
                    self.add(text, &entry.value);
                }
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.add(text, item)),
            _ => {}
        }
    }

    /// Whether a list at a place stands to the right of its key: as the nearest one does.
    fn indents_at(&self, at: usize) -> bool {
        let behind = self.0.partition_point(|(start, _)| *start < at);
        let (before, behind) = (
            behind.checked_sub(1).and_then(|before| self.0.get(before)),
            self.0.get(behind),
        );
        let nearest = before
            .into_iter()
            .chain(behind)
            .min_by_key(|(start, _)| start.abs_diff(at));
        nearest.is_some_and(|(_, indents)| *indents)
    }
}

/// Whether a node is written in brackets.
fn is_flow(text: &str, node: &Node) -> bool {
    text[node.span.start()..].starts_with(['{', '['])
}

impl<'t> Rewriter<'t> {
    fn node(&self, task: Task<'_>, changes: &mut Vec<Change>) {
        match (&task.node.value, task.value) {
            _ if !lines::stands_here(task.node) => self.shared(task, changes),
            (Value::Mapping(_), Json::Object(fields)) if fields.is_empty() => {
                self.replace(task, changes)
            }
            (Value::Mapping(mapping), Json::Object(_)) if is_flow(self.text, task.node) => {
                self.flow_mapping(mapping, task, changes)
            }
            (Value::Mapping(mapping), Json::Object(_)) => {
                self.block_mapping(mapping, task, changes)
            }
            (Value::Mapping(mapping), Json::Array(items)) => {
                self.arguments_to_list(mapping, items, task, changes)
            }
            (Value::Sequence(items), Json::Object(_)) => {
                self.arguments_to_map(items, task, changes)
            }
            (Value::Sequence(items), Json::Array(values)) if items.len() == values.len() => {
                for (index, (node, value)) in items.iter().zip(values).enumerate() {
                    let path = task.path.index(index);
                    self.node(
                        Task {
                            node,
                            path: &path,
                            value,
                            owner: task.owner,
                            key_end: 0,
                        },
                        changes,
                    );
                }
            }
            _ if task.node.to_json() == *task.value => {}
            _ => self.replace(task, changes),
        }
    }

    /// A value that is written elsewhere, for all that share it: it changes there. Of a mapping
    /// with a merge only what is written in it changes here. Whether the document says the new
    /// value then is seen when it is read back.
    fn shared(&self, task: Task<'_>, changes: &mut Vec<Change>) {
        let Some(mapping) = task.node.as_mapping() else {
            return;
        };
        let old_path = self.origins.of(task.path);
        let own = mapping.iter().filter(|entry| {
            task.node.span.start() <= entry.key_span.start()
                && entry.value.span.end() <= task.node.span.end()
        });
        for entry in own.filter(|entry| self.stays(task.path, &old_path, &entry.key)) {
            let Some(value) = task.value.get(&entry.key) else {
                continue;
            };
            let path = task.path.field(entry.key.as_str());
            let owner = lines::column(self.text, entry.key_span.start());
            self.node(
                Task {
                    node: &entry.value,
                    path: &path,
                    value,
                    owner,
                    key_end: entry.key_span.end(),
                },
                changes,
            );
        }
    }

    /// Puts the value in the place of the whole text of a node, on one line if that did not stand
    /// in lines.
    fn replace(&self, task: Task<'_>, changes: &mut Vec<Change>) {
        if task.node.to_json() == *task.value {
            return;
        }
        let range = task.node.span.start()..lines::end_of(self.text, task.node);
        changes.push(
            match lines::Header::of(self.text, task.key_end, range.start) {
                Some(header) => self.in_lines(&header, range, task.value),
                None if self.is_json => Change {
                    range,
                    with: task.value.to_string(),
                },
                None => Change {
                    with: scalar::like(&self.text[range.clone()], task.value),
                    range,
                },
            },
        );
    }

    /// Puts a value in the place of the words of a text in lines, and of its header where that says
    /// them otherwise.
    fn in_lines(&self, header: &lines::Header<'_>, words: Range<usize>, value: &Json) -> Change {
        let whole = header.start..words.end;
        let Some(text) = value.as_str().filter(|text| scalar::can_be_literal(text)) else {
            return Change {
                range: whole,
                with: format!("{}{}", scalar::inline(value, false), header.comment),
            };
        };
        let sign = if text.ends_with('\n') { "|" } else { "|-" };
        let lines = scalar::literal(text, lines::column(self.text, words.start));
        if sign == header.sign {
            return Change {
                range: header.end..words.end,
                with: lines,
            };
        }
        Change {
            range: whole,
            with: format!("{sign}{}\n{lines}", header.comment),
        }
    }

    /// The entry that is at a place of the old object, and the mapping that holds it.
    fn entry_at(&self, old: &FieldPath) -> Option<(&'t Node, &'t Entry)> {
        let parent = self.root.at(&old.parent()?)?;
        let Some(windlass_source::diag::Segment::Field(name)) = old.segments().last() else {
            return None;
        };
        Some((parent, parent.as_mapping()?.get(name)?))
    }

    /// The fields of the new object that no entry of the mapping has, each with the number of the
    /// entry in whose place it goes, in order.
    fn added<'v>(&self, mapping: &Mapping, task: Task<'v>) -> Vec<Added<'v>> {
        let Json::Object(fields) = task.value else {
            return Vec::new();
        };
        let old_path = self.origins.of(task.path);
        let missing = fields.iter().filter(|(name, _)| {
            mapping
                .get(name)
                .is_none_or(|_| !self.stays(task.path, &old_path, name))
        });
        let mut added: Vec<Added<'v>> = missing
            .map(|(name, value)| {
                let path = task.path.field(name.as_str());
                let sources = self.origins.below(&path).filter_map(|old| {
                    Some((self.place_in(mapping, &old_path, old)?, self.offset_of(old)))
                });
                let (anchor, at) = sources
                    .min_by_key(|(_, at)| *at)
                    .map_or((None, usize::MAX), |(anchor, at)| (Some(anchor), at));
                Added {
                    name,
                    value,
                    path,
                    anchor,
                    at,
                }
            })
            .collect();
        added.sort_by_key(|one| one.at);
        added
    }

    /// Whether a field of the new object is the one of that name in the old object.
    fn stays(&self, path: &FieldPath, old_path: &FieldPath, name: &str) -> bool {
        self.origins.of(&path.field(name)) == old_path.field(name)
    }

    /// The number of the entry of a mapping in which a place of the old object lies.
    fn place_in(&self, mapping: &Mapping, old_path: &FieldPath, old: &FieldPath) -> Option<usize> {
        let below = old.segments().strip_prefix(old_path.segments())?;
        let windlass_source::diag::Segment::Field(name) = below.first()? else {
            return None;
        };
        mapping.iter().position(|entry| entry.key == *name)
    }

    fn offset_of(&self, old: &FieldPath) -> usize {
        self.entry_at(old)
            .map_or(usize::MAX, |(_, entry)| entry.key_span.start())
    }
}

/// A field of the new object that is not at its place in the text.
struct Added<'v> {
    name: &'v str,
    value: &'v Json,
    path: FieldPath,
    /// The entry in whose place it goes.
    anchor: Option<usize>,
    /// Where in the text it came from.
    at: usize,
}
