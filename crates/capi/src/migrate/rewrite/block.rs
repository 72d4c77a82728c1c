//! Mappings that stand in lines.

use serde_json::Value as Json;

use super::lines::{self, Stretch, column, difference, shifted, shifted_below};
use super::{Added, Rewriter, Task, is_flow, scalar};
use windlass_go_yaml::yaml::{Entry, Mapping, Node};
use windlass_source::diag::{Change, FieldPath};
use windlass_source::edit::Edits;

/// How far lines stand to the right of the key that they belong to, where nothing else says it.
const STEP: usize = 2;

impl Rewriter<'_> {
    /// Makes the entries of a mapping those of the new value.
    pub(super) fn block_mapping(
        &self,
        mapping: &Mapping,
        task: Task<'_>,
        changes: &mut Vec<Change>,
    ) {
        let mut numbered: Vec<(usize, &Entry)> = mapping.iter().enumerate().collect();
        numbered.sort_by_key(|(_, entry)| entry.key_span.start());
        let entries: Vec<&Entry> = numbered.iter().map(|(_, entry)| *entry).collect();
        let Some(first) = entries.first() else { return };
        let own = column(self.text, first.key_span.start());
        let added = self.added(mapping, task);
        let stretches = self.stretches(&entries);
        let Some(start) = stretches.first().map(|stretch| stretch.start) else {
            return;
        };
        let behind_item = start == first.key_span.start() && own > 0;
        let mut own_changes = Vec::new();
        for (number, ((place, entry), stretch)) in numbered.iter().zip(&stretches).enumerate() {
            let mut here: Vec<&Added<'_>> = added
                .iter()
                .filter(|one| one.anchor == Some(*place))
                .collect();
            if number + 1 == entries.len() {
                here.extend(added.iter().filter(|one| one.anchor.is_none()));
            }
            self.entry(entry, stretch, &here, task, own, &mut own_changes);
        }
        let first_goes = own_changes
            .iter()
            .any(|change| change.range.start == start && !change.range.is_empty());
        let end = stretches
            .iter()
            .map(|stretch| stretch.end)
            .max()
            .unwrap_or_default();
        if behind_item && first_goes && stretches.iter().all(|stretch| stretch.start >= start) {
            let with = edited(self.text, start..end, own_changes)
                .trim_start()
                .to_owned();
            changes.push(Change {
                range: start..end,
                with,
            });
        } else {
            changes.extend(own_changes);
        }
    }

    /// The lines of the entries of a mapping, in the order of the text.
    fn stretches(&self, entries: &[&Entry]) -> Vec<Stretch> {
        // Comments below the line of the key above the first entry are its own.
        let first = entries.first().map_or(0, |entry| {
            lines::line_start(self.text, entry.key_span.start())
        });
        let mut from = first_lead_bound(self.text, first);
        let mut stretches = Vec::with_capacity(entries.len());
        for entry in entries {
            let stretch = Stretch::of(self.text, entry, from);
            from = stretch.end;
            stretches.push(stretch);
        }
        stretches
    }

    /// One entry, and what takes its place or follows it.
    fn entry(
        &self,
        entry: &Entry,
        stretch: &Stretch,
        here: &[&Added<'_>],
        task: Task<'_>,
        own: usize,
        changes: &mut Vec<Change>,
    ) {
        let old_path = self.origins.of(task.path);
        let kept = task
            .value
            .get(&entry.key)
            .filter(|_| self.stays(task.path, &old_path, &entry.key));
        let source = old_path.field(entry.key.as_str());
        let text: String = here
            .iter()
            .map(|one| self.lines_of(one, own, &source))
            .collect();
        match kept {
            Some(Json::Object(fields))
                if fields.is_empty()
                    && entry.value.as_mapping().is_some()
                    && !is_flow(self.text, &entry.value) =>
            {
                let range = self.value_start(entry)..lines::end_of(self.text, &entry.value);
                changes.push(Change {
                    range,
                    with: " {}".to_owned(),
                });
            }
            Some(value) => {
                let path = task.path.field(entry.key.as_str());
                self.node(
                    Task {
                        node: &entry.value,
                        path: &path,
                        value,
                        owner: own,
                        key_end: entry.key_span.end(),
                    },
                    changes,
                );
                if !text.is_empty() {
                    let is_open = !self.text[..stretch.end].ends_with('\n');
                    let with = if is_open {
                        format!("\n{}", text.trim_end_matches('\n'))
                    } else {
                        text
                    };
                    changes.push(Change {
                        range: stretch.end..stretch.end,
                        with,
                    });
                }
            }
            None => {
                let goes_elsewhere = text.is_empty() && self.origins.leads_from(&source);
                let from = if goes_elsewhere {
                    stretch.lead
                } else {
                    stretch.start
                };
                let is_open = !self.text[..stretch.end].ends_with('\n');
                let with = if is_open {
                    text.trim_end_matches('\n').to_owned()
                } else {
                    text
                };
                changes.push(Change {
                    range: from..stretch.end,
                    with,
                });
            }
        }
    }

    /// The lines of a field that is added at a column. `replaced` is the entry in whose place it
    /// goes, whose comments above it stay.
    fn lines_of(&self, added: &Added<'_>, at: usize, replaced: &FieldPath) -> String {
        self.field(added.name, &added.path, added.value, at, Some(replaced))
    }

    /// The lines of a field of the new object, from what the old one has of it.
    fn field(
        &self,
        name: &str,
        path: &FieldPath,
        value: &Json,
        at: usize,
        replaced: Option<&FieldPath>,
    ) -> String {
        let old = self.origins.of(path);
        if let Some((parent, entry)) = self.entry_at(&old) {
            let task = Task {
                node: &entry.value,
                path,
                value,
                owner: at,
                key_end: entry.key_span.end(),
            };
            return self.moved(parent, entry, name, task, replaced == Some(&old));
        }
        let pad = " ".repeat(at);
        match value {
            Json::Object(fields) if self.origins.is_known(path) => {
                let mut inner: Vec<(usize, FieldPath, &String, &Json)> = fields
                    .iter()
                    .map(|(name, value)| {
                        let path = path.field(name.as_str());
                        let from = self
                            .origins
                            .below(&path)
                            .map(|old| self.offset_of(old))
                            .min()
                            .unwrap_or(usize::MAX);
                        (from, path, name, value)
                    })
                    .collect();
                inner.sort_by_key(|(from, ..)| *from);
                let inner = inner.iter().map(|(_, path, name, value)| {
                    self.field(name, path, value, at + STEP, replaced)
                });
                format!(
                    "{pad}{}:\n{}",
                    scalar::key(name, false),
                    inner.collect::<String>()
                )
            }
            Json::String(text) if scalar::is_literal(text) => {
                format!(
                    "{pad}{}: |\n{}\n",
                    scalar::key(name, false),
                    scalar::literal(text, at + STEP)
                )
            }
            Json::Object(fields)
                if fields
                    .values()
                    .any(|value| value.as_str().is_some_and(scalar::is_literal)) =>
            {
                let inner = fields.iter().map(|(name, value)| {
                    self.field(name, &path.field(name.as_str()), value, at + STEP, replaced)
                });
                format!(
                    "{pad}{}:\n{}",
                    scalar::key(name, false),
                    inner.collect::<String>()
                )
            }
            _ => format!(
                "{pad}{}: {}\n",
                scalar::key(name, false),
                scalar::inline(value, false)
            ),
        }
    }

    /// The lines of an entry that stood elsewhere, under its new name.
    fn moved(
        &self,
        parent: &Node,
        entry: &Entry,
        name: &str,
        task: Task<'_>,
        lead_stays: bool,
    ) -> String {
        let mut changes = Vec::new();
        let from = column(self.text, entry.key_span.start());
        if is_flow(self.text, parent) {
            let mut value = Task {
                owner: from,
                ..task
            };
            value.path = task.path;
            self.node(value, &mut changes);
            let text = edited(
                self.text,
                self.value_start(entry)..lines::end_of(self.text, &entry.value),
                changes,
            );
            return format!(
                "{}{}: {}\n",
                " ".repeat(task.owner),
                scalar::key(name, false),
                text.trim()
            );
        }
        self.node(
            Task {
                owner: from,
                ..task
            },
            &mut changes,
        );
        let written = &self.text[entry.key_span.start()..entry.key_span.end()];
        if entry.key != name {
            changes.push(Change {
                range: entry.key_span.into(),
                with: scalar::like(written, &name.into()),
            });
        }
        let stretch = Stretch::of(
            self.text,
            entry,
            first_lead_bound(
                self.text,
                lines::line_start(self.text, entry.key_span.start()),
            ),
        );
        let start = if lead_stays {
            stretch.start
        } else {
            stretch.lead
        };
        let mut text = edited(self.text, start..stretch.end, changes);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let by = difference(task.owner, from);
        if stretch.start == entry.key_span.start() && from > 0 {
            return format!("{}{}", " ".repeat(task.owner), shifted_below(&text, by));
        }
        shifted(&text, by)
    }

    /// Behind the `:` of an entry.
    pub(super) fn value_start(&self, entry: &Entry) -> usize {
        let key = entry.key_span.end();
        self.text[key..]
            .find(':')
            .map_or(key, |colon| key + colon + 1)
    }
}

/// Where the comments end upwards that can belong to the first entry of a mapping: below the next
/// line that is none.
pub(super) fn first_lead_bound(text: &str, line: usize) -> usize {
    let mut bound = line;
    while bound > 0 {
        let above = lines::line_start(text, bound - 1);
        if !text[above..bound].trim_start().starts_with('#') {
            break;
        }
        bound = above;
    }
    bound
}

/// A stretch of a text with changes that lie in it.
pub(super) fn edited(text: &str, stretch: std::ops::Range<usize>, changes: Vec<Change>) -> String {
    let mut edits = Edits::of(&text[stretch.clone()]);
    for Change { range, with } in changes {
        let within = range.start.clamp(stretch.start, stretch.end) - stretch.start
            ..range.end.clamp(stretch.start, stretch.end) - stretch.start;
        edits.replace(within, with);
    }
    // What overlaps is found when the result is read back.
    edits.apply().unwrap_or_default()
}
