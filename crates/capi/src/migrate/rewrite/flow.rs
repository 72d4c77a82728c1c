//! Mappings in brackets, and so all of JSON.

use serde_json::Value as Json;

use super::{Rewriter, Task, lines, scalar};
use windlass_go_yaml::yaml::{Entry, Mapping};
use windlass_source::diag::{Change, FieldPath};

impl Rewriter<'_> {
    /// Makes the entries of a mapping in brackets those of the new value.
    pub(super) fn flow_mapping(
        &self,
        mapping: &Mapping,
        task: Task<'_>,
        changes: &mut Vec<Change>,
    ) {
        let mut entries: Vec<(usize, &Entry)> = mapping.iter().enumerate().collect();
        entries.sort_by_key(|(_, entry)| entry.key_span.start());
        let added = self.added(mapping, task);
        let old_path = self.origins.of(task.path);
        let is_quoted = entries
            .first()
            .is_some_and(|(_, entry)| self.text[entry.key_span.start()..].starts_with('"'));
        if entries.is_empty() {
            return self.replace(task, changes);
        }
        let last = entries.len() - 1;
        // What stands so far: behind it the rest goes.
        let mut kept_end = None;
        for (number, (place, entry)) in entries.iter().enumerate() {
            let here = added
                .iter()
                .filter(|one| one.anchor == Some(*place) || one.anchor.is_none() && number == last);
            let texts: Vec<String> = here
                .map(|one| self.flow_field(one.name, &one.path, one.value, is_quoted))
                .collect();
            let range = entry.key_span.start()
                ..lines::end_of(self.text, &entry.value).max(entry.key_span.end());
            let kept = task
                .value
                .get(&entry.key)
                .filter(|_| self.stays(task.path, &old_path, &entry.key));
            if let Some(value) = kept {
                let path = task.path.field(entry.key.as_str());
                self.node(
                    Task {
                        node: &entry.value,
                        path: &path,
                        value,
                        owner: task.owner,
                        key_end: entry.key_span.end(),
                    },
                    changes,
                );
                let gap = self.gap(&entries, number);
                let with: String = texts.iter().map(|text| format!("{gap}{text}")).collect();
                if !with.is_empty() {
                    changes.push(Change {
                        range: range.end..range.end,
                        with,
                    });
                }
                kept_end = Some(range.end);
            } else if !texts.is_empty() {
                let gap = self.gap(&entries, number);
                changes.push(Change {
                    range: range.clone(),
                    with: texts.join(&gap),
                });
                kept_end = Some(range.end);
            } else if let Some((_, next)) = entries.get(number + 1).filter(|_| kept_end.is_none()) {
                changes.push(Change {
                    range: range.start..next.key_span.start(),
                    with: String::new(),
                });
            } else {
                let from = number.checked_sub(1).map_or(range.start, |before| {
                    let before = entries[before].1;
                    lines::end_of(self.text, &before.value).max(before.key_span.end())
                });
                changes.push(Change {
                    range: from..range.end,
                    with: String::new(),
                });
            }
        }
    }

    /// What stands between two entries.
    fn gap(&self, entries: &[(usize, &Entry)], number: usize) -> String {
        let (Some((_, before)), Some((_, entry))) = (
            number.checked_sub(1).and_then(|before| entries.get(before)),
            entries.get(number),
        ) else {
            return ", ".to_owned();
        };
        let gap = &self.text[lines::end_of(self.text, &before.value).max(before.key_span.end())
            ..entry.key_span.start()];
        if gap.trim() == "," {
            gap.to_owned()
        } else {
            ", ".to_owned()
        }
    }

    /// A field of the new object in brackets, from what the old one has of it.
    fn flow_field(&self, name: &str, path: &FieldPath, value: &Json, is_quoted: bool) -> String {
        let key = scalar::key(name, is_quoted);
        let old = self.origins.of(path);
        if let Some((_, entry)) = self.entry_at(&old)
            && !self.text[self.value_start(entry)
                ..lines::end_of(self.text, &entry.value).max(entry.key_span.end())]
                .contains(['\n', '#'])
        {
            let mut changes = Vec::new();
            self.node(
                Task {
                    node: &entry.value,
                    path,
                    value,
                    owner: 0,
                    key_end: entry.key_span.end(),
                },
                &mut changes,
            );
            let range = self.value_start(entry)
                ..lines::end_of(self.text, &entry.value).max(self.value_start(entry));
            return format!(
                "{key}: {}",
                super::block::edited(self.text, range, changes).trim()
            );
        }
        match value {
            Json::Object(fields) if self.origins.is_known(path) => {
                let inner = fields.iter().map(|(name, value)| {
                    self.flow_field(name, &path.field(name.as_str()), value, is_quoted)
                });
                format!("{key}: {{{}}}", inner.collect::<Vec<_>>().join(", "))
            }
            _ => format!("{key}: {}", scalar::inline(value, is_quoted)),
        }
    }
}
