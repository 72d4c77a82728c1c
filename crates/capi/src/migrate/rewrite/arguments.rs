//! Arguments: a map from names to values in v1beta1, a list of names and values in v1beta2.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::block::{edited, first_lead_bound};
use super::lines::{self, Stretch, column, difference, shifted, shifted_below};
use super::{Rewriter, Task, is_flow, scalar};
use windlass_go_yaml::yaml::{Entry, Mapping, Node, Value};
use windlass_source::diag::Change;

/// The lines of arguments, by the place where each begins.
type Stretches = BTreeMap<usize, Stretch>;

impl Rewriter<'_> {
    /// Writes a map of arguments as the list that the new value is, in its order.
    pub(super) fn arguments_to_list(
        &self,
        mapping: &Mapping,
        items: &[Json],
        task: Task<'_>,
        changes: &mut Vec<Change>,
    ) {
        let named: Option<Vec<&Entry>> = items
            .iter()
            .map(|item| mapping.get(item.get("name")?.as_str()?))
            .collect();
        let Some(named) = named else {
            return self.replace(task, changes);
        };
        let Some(first) = named.first() else {
            return self.replace(task, changes);
        };
        if is_flow(self.text, task.node) {
            let is_quoted = self.text[first.key_span.start()..].starts_with('"');
            let (name, value) = (
                scalar::key("name", is_quoted),
                scalar::key("value", is_quoted),
            );
            let items = named.iter().map(|entry| {
                format!(
                    "{{{name}: {}, {value}: {}}}",
                    self.key(entry),
                    self.value(entry)
                )
            });
            let with = format!("[{}]", items.collect::<Vec<_>>().join(", "));
            return changes.push(Change {
                range: task.node.span.into(),
                with,
            });
        }
        let own = column(self.text, task.node.span.start());
        let at = if self.lists.indents_at(task.node.span.start()) {
            own
        } else {
            task.owner
        };
        let stretches = self.argument_stretches(mapping);
        let text: String = named
            .iter()
            .map(|entry| self.as_item(entry, &stretches, own, at))
            .collect();
        self.put_lines(&stretches, text, changes);
    }

    fn as_item(&self, entry: &Entry, stretches: &Stretches, own: usize, at: usize) -> String {
        let pad = " ".repeat(at);
        let Some(stretch) = stretches.get(&entry.key_span.start()) else {
            return String::new();
        };
        let lead = shifted(&self.text[stretch.lead..stretch.start], difference(at, own));
        let value = ended(&self.text[self.value_start(entry)..stretch.end]);
        let value = shifted_below(&value, difference(at + 2, own));
        format!(
            "{lead}{pad}- name: {}\n{pad}  value:{value}",
            self.key(entry)
        )
    }

    /// Writes a list of arguments as the map that the new value is, in the order of the list.
    pub(super) fn arguments_to_map(
        &self,
        items: &[Node],
        task: Task<'_>,
        changes: &mut Vec<Change>,
    ) {
        let pairs: Option<Vec<(&Entry, &Entry, &Node)>> = items
            .iter()
            .map(|item| {
                let mapping = item.as_mapping()?;
                Some((mapping.get("name")?, mapping.get("value")?, item))
            })
            .collect();
        let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) else {
            return self.replace(task, changes);
        };
        // Of two with one name the last counts.
        let last: BTreeMap<_, _> = pairs
            .iter()
            .enumerate()
            .map(|(number, (name, ..))| (name.value.as_str(), number))
            .collect();
        let is_last = |number: usize, name: &Entry| last.get(&name.value.as_str()) == Some(&number);
        let pairs: Vec<_> = pairs
            .iter()
            .enumerate()
            .filter(|(number, (name, ..))| is_last(*number, name))
            .map(|(_, pair)| *pair)
            .collect();
        if is_flow(self.text, task.node) {
            let entry = |(name, value, _): &(&Entry, &Entry, &Node)| {
                format!("{}: {}", self.value(name), self.value(value))
            };
            let with = format!(
                "{{{}}}",
                pairs.iter().map(entry).collect::<Vec<_>>().join(", ")
            );
            return changes.push(Change {
                range: task.node.span.into(),
                with,
            });
        }
        let list = column(self.text, task.node.span.start());
        let at = if list > task.owner {
            list
        } else {
            task.owner + 2
        };
        let mut from = first_lead_bound(
            self.text,
            lines::line_start(self.text, task.node.span.start()),
        );
        let mut stretches = Stretches::new();
        for item in items {
            let start = lines::line_start(self.text, item.span.start());
            let stretch = Stretch {
                lead: from,
                start,
                end: lines::line_end(self.text, lines::end_of(self.text, item)),
            };
            from = stretch.end;
            stretches.insert(item.span.start(), stretch);
        }
        let text: String = pairs
            .iter()
            .map(|(name, value, item)| self.as_entry(name, value, item, &stretches, list, at))
            .collect();
        self.put_lines(&stretches, text, changes);
    }

    fn as_entry(
        &self,
        name: &Entry,
        value: &Entry,
        item: &Node,
        stretches: &Stretches,
        list: usize,
        at: usize,
    ) -> String {
        let pad = " ".repeat(at);
        let Some(stretch) = stretches.get(&item.span.start()) else {
            return String::new();
        };
        let mut lead = shifted(
            &self.text[stretch.lead..stretch.start],
            difference(at, list),
        );
        let end_of_value = lines::line_end(
            self.text,
            lines::end_of(self.text, &value.value).max(value.key_span.end()),
        );
        let written = if is_flow(self.text, item) {
            let behind = &self.text[item.span.end()..stretch.end];
            format!(" {}{}", self.value(value), behind.trim_end_matches('\n'))
        } else {
            for comment in self.text[stretch.start..stretch.end]
                .lines()
                .filter(|_| name.key_span.start() < value.key_span.start())
            {
                // What stands behind the name or between the two.
                let inside = comment.as_ptr() as usize - self.text.as_ptr() as usize;
                if inside < value.key_span.start()
                    && inside + comment.len() <= value.key_span.start()
                {
                    let behind = if inside <= name.key_span.start() {
                        let end = lines::end_of(self.text, &name.value);
                        &self.text
                            [end.clamp(inside, inside + comment.len())..inside + comment.len()]
                    } else {
                        comment
                    };
                    if !behind.trim().is_empty() {
                        lead.push_str(&format!("{pad}{}\n", behind.trim()));
                    }
                }
            }
            self.text[self.value_start(value)..end_of_value]
                .trim_end_matches('\n')
                .to_owned()
        };
        let key_column = if is_flow(self.text, item) {
            at
        } else {
            column(self.text, value.key_span.start())
        };
        format!(
            "{lead}{pad}{}:{}\n",
            self.value(name),
            shifted_below(&written, difference(at, key_column))
        )
    }

    /// Puts lines in the place of all arguments.
    fn put_lines(&self, stretches: &Stretches, text: String, changes: &mut Vec<Change>) {
        let (Some((_, first)), Some((_, last))) =
            (stretches.first_key_value(), stretches.last_key_value())
        else {
            return;
        };
        let is_open = !self.text[..last.end].ends_with('\n');
        let with = if is_open {
            text.trim_end_matches('\n').to_owned()
        } else {
            text
        };
        changes.push(Change {
            range: first.lead..last.end,
            with,
        });
    }

    /// The lines of each argument of a map, with the blank lines and comments above them; by the
    /// place of its key.
    fn argument_stretches(&self, mapping: &Mapping) -> Stretches {
        let mut entries: Vec<&Entry> = mapping.iter().collect();
        entries.sort_by_key(|entry| entry.key_span.start());
        let first = entries.first().map_or(0, |entry| {
            lines::line_start(self.text, entry.key_span.start())
        });
        let mut from = first_lead_bound(self.text, first);
        entries
            .into_iter()
            .map(|entry| {
                let stretch = Stretch {
                    lead: from,
                    ..Stretch::of(self.text, entry, from)
                };
                from = stretch.end;
                (entry.key_span.start(), stretch)
            })
            .collect()
    }

    /// A key as it is written.
    fn key(&self, entry: &Entry) -> &str {
        &self.text[entry.key_span.start()..entry.key_span.end()]
    }

    /// The value of an entry as it is written, when it is on one line.
    fn value(&self, entry: &Entry) -> String {
        match &entry.value.value {
            Value::Null => "null".to_owned(),
            _ => edited(
                self.text,
                self.value_start(entry)..lines::end_of(self.text, &entry.value),
                Vec::new(),
            )
            .trim()
            .to_owned(),
        }
    }
}

/// A line that ends.
fn ended(text: &str) -> String {
    if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}
