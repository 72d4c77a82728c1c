//! Which part of a document takes how many bytes of it.

use windlass_go_yaml::yaml::{self, Mapping, Node};
use windlass_source::Source;
use windlass_source::budget::Budget;

/// A part of a document, and how many bytes of the document it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// A file's path, a unit's name, or the key of the document.
    pub name: String,
    /// The kind of the part, which decides what `name` is.
    pub kind: SectionKind,
    /// Its bytes in the document, with what stands around its content.
    pub bytes: usize,
}

/// The kind of a part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// A file of `write_files` (cloud-config) or `storage.files` (Ignition).
    File,
    /// A unit of systemd.
    Unit,
    /// A key of the document with all below it.
    Key,
    /// What holds the others together.
    Rest,
}

impl SectionKind {
    /// The value in reports, such as `section` for a key.
    pub fn as_str(self) -> &'static str {
        match self {
            SectionKind::File => "file",
            SectionKind::Unit => "unit",
            SectionKind::Key => "section",
            SectionKind::Rest => "rest",
        }
    }
}

/// The parts of a cloud-config or Ignition document, in its order; their bytes add up to those of
/// the text. A document that cannot be read is one part.
pub fn sections(text: &str, budget: &Budget) -> Vec<Section> {
    let parsed = yaml::parse(&Source::new("", text), budget);
    let root = parsed
        .documents
        .into_iter()
        .next()
        .map(|document| document.root);
    let mut found = Vec::new();
    if let Some(mapping) = root.as_ref().and_then(Node::as_mapping) {
        if text.trim_start().starts_with('{') {
            of_ignition(mapping, &mut found)
        } else {
            of_cloud_config(text, mapping, &mut found)
        }
    }
    let known: usize = found.iter().map(|section| section.bytes).sum();
    found.push(Section {
        name: "header and keys".to_owned(),
        kind: SectionKind::Rest,
        bytes: text.len().saturating_sub(known),
    });
    found.retain(|section| section.bytes > 0);
    found
}

/// In blocks a part ends where the next one begins.
fn of_cloud_config(text: &str, root: &Mapping, found: &mut Vec<Section>) {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let entries: Vec<_> = root.iter().collect();
    for (index, entry) in entries.iter().enumerate() {
        let end = entries
            .get(index + 1)
            .map_or(text.len(), |next| line_start(next.key_span.start()));
        let start = line_start(entry.key_span.start());
        let items = entry
            .value
            .as_sequence()
            .filter(|_| entry.key == "write_files")
            .unwrap_or_default();
        for (at, item) in items.iter().enumerate() {
            let first = line_start(item.span.start()).max(start);
            let last = items
                .get(at + 1)
                .map_or(end, |next| line_start(next.span.start()));
            found.push(Section {
                name: named(item, "path"),
                kind: SectionKind::File,
                bytes: last.saturating_sub(first),
            });
        }
        if items.is_empty() {
            found.push(Section {
                name: entry.key.clone(),
                kind: SectionKind::Key,
                bytes: end.saturating_sub(start),
            });
        }
    }
}

/// In JSON a part is what its brackets hold.
fn of_ignition(root: &Mapping, found: &mut Vec<Section>) {
    const LISTS: [(&str, &str, &str, SectionKind); 2] = [
        ("storage", "files", "path", SectionKind::File),
        ("systemd", "units", "name", SectionKind::Unit),
    ];
    for entry in root {
        let list = LISTS.iter().find(|(key, ..)| *key == entry.key);
        let items = list
            .and_then(|(_, list, ..)| entry.value.as_mapping()?.get(list)?.value.as_sequence())
            .unwrap_or_default();
        let mut inside = 0;
        if let Some((_, _, name, kind)) = list {
            for item in items {
                inside += item.span.end() - item.span.start();
                found.push(Section {
                    name: named(item, name),
                    kind: *kind,
                    bytes: item.span.end() - item.span.start(),
                });
            }
        }
        let whole = entry.value.span.end() - entry.key_span.start();
        found.push(Section {
            name: entry.key.clone(),
            kind: SectionKind::Key,
            bytes: whole.saturating_sub(inside),
        });
    }
}

fn named(item: &Node, key: &str) -> String {
    let name = item
        .as_mapping()
        .and_then(|mapping| mapping.get(key))
        .and_then(|entry| entry.value.as_str());
    name.unwrap_or("(unnamed)").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, usize)]) {
        let found = sections(text, &Budget::default());
        let shown: Vec<_> = found
            .iter()
            .map(|section| (section.kind.as_str(), section.name.as_str(), section.bytes))
            .collect();
        assert_eq!(shown, expected, "{text}");
        assert_eq!(
            found.iter().map(|section| section.bytes).sum::<usize>(),
            text.len()
        );
    }

    #[test]
    fn bytes_of_a_cloud_config_add_up() {
        let text = "#cloud-config\n\nwrite_files:\n-   path: /a\n    content: |\n      xy\n-   path: /b\n    content: z\nruncmd:\n  - \"c\"\n";
        check(
            text,
            &[
                ("file", "/a", 37),
                ("file", "/b", 28),
                ("section", "runcmd", 16),
                ("rest", "header and keys", 28),
            ],
        );
    }

    #[test]
    fn bytes_of_ignition_add_up() {
        let text = r#"{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a"},{"path":"/bc"}]}}"#;
        check(
            text,
            &[
                ("section", "ignition", 30),
                ("file", "/a", 13),
                ("file", "/bc", 14),
                ("section", "storage", 23),
                ("rest", "header and keys", 3),
            ],
        );
    }

    #[test]
    fn what_cannot_be_read_is_one_part() {
        check("a: [b", &[("rest", "header and keys", 5)]);
        check("", &[]);
    }
}
