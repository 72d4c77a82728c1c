//! The texts of an object in which programs, images and documents are named: fields, commands,
//! contents of files and manifests. What only describes, and what a controller writes, is left out.

use serde_json::Value;

use super::documents::Document;
use windlass_source::diag::{FieldPath, Place, Segment};

/// Fields that programs do not act on, or that users do not write.
const LEFT_OUT: [&str; 3] = ["description", "metadata", "status"];

/// How many lines of one text are reported.
const MOST_TOLD: usize = 20;

/// A line of a text.
pub(super) struct Line<'a> {
    pub(super) path: &'a FieldPath,
    /// From 1.
    number: u32,
    pub(super) text: &'a str,
    /// Whether it is all of its text.
    pub(super) is_whole: bool,
}

impl Line<'_> {
    pub(super) fn place(&self, document: &Document) -> Place {
        document.object.line_place(self.path, self.number)
    }
}

/// The results of `find` for the lines of a document that are not comments. The schemas of CRDs are
/// left out.
pub(super) fn find<T>(document: &Document, mut find: impl FnMut(&Line<'_>) -> Option<T>) -> Vec<T> {
    let mut found = Vec::new();
    if !document.is_definition {
        let mut path = FieldPath::root();
        walk(document.object.value(), &mut path, &mut |path, text| {
            let of_lines = text.lines().zip(1..).filter_map(|(line, number)| {
                if line.trim_start().starts_with('#') {
                    return None;
                }
                find(&Line {
                    path,
                    number,
                    text: line,
                    is_whole: line.len() == text.trim_end().len(),
                })
            });
            found.extend(of_lines.take(MOST_TOLD));
        });
    }
    found
}

/// Calls `visit` with each text. The depth is that of the reader's limits.
fn walk(value: &Value, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &str)) {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Index(index));
                walk(item, path, visit);
                path.pop();
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                if !LEFT_OUT.contains(&name.as_str()) {
                    path.push(Segment::Field(name.clone()));
                    walk(field, path, visit);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

/// Calls `visit` with each mapping below the root, such as a reference or a selector.
pub(super) fn mappings(document: &Document, visit: &mut dyn FnMut(&FieldPath, &Value)) {
    let mut path = FieldPath::root();
    walk_mappings(document.object.value(), &mut path, visit);
}

fn walk_mappings(value: &Value, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &Value)) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Index(index));
                walk_mappings(item, path, visit);
                path.pop();
            }
        }
        Value::Object(fields) => {
            if !path.is_root() {
                visit(path, value);
            }
            for (name, field) in fields {
                if !LEFT_OUT.contains(&name.as_str()) {
                    path.push(Segment::Field(name.clone()));
                    walk_mappings(field, path, visit);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

/// Whether `word` is in a text with nothing before and behind it that would make it a part of a
/// longer name; `is_inner` are the characters of names.
pub(super) fn has_word(text: &str, word: &str, is_inner: impl Fn(char) -> bool) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, behind) = text.split_at(at);
        let behind = behind.get(word.len()..).unwrap_or_default();
        !before.chars().next_back().is_some_and(&is_inner)
            && !behind.chars().next().is_some_and(&is_inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_parts_of_words() {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        assert!(has_word("After=b.service x", "b.service", is_inner));
        assert!(!has_word("After=a-b.service", "b.service", is_inner));
        assert!(!has_word("b.service.d", "b.service", is_inner));
        assert!(has_word("a-b.service b.service", "b.service", is_inner));
    }
}
