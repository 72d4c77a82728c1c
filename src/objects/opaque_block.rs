//! Variables of clusterctl that are alone on a line where YAML needs an entry: the user supplies a
//! block of text, of which a template does not say what it contains.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::text::envsubst::{self, Template};
use crate::text::source::Source;

/// A variable without a default that is a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpaqueBlock {
    pub(crate) name: String,
    /// The variable in the text.
    pub(crate) span: Range<usize>,
    /// The document that contains it.
    pub(crate) document: Range<usize>,
    /// Whether the document contains nothing else, so that whole objects may come of it.
    pub(crate) is_document: bool,
}

/// Returns the blocks of a text, in order; none where the variables cannot be read.
pub(crate) fn opaque_blocks(source: &Source) -> Vec<OpaqueBlock> {
    match envsubst::parse(source.text()) {
        Ok(template) => blocks_of(source.text(), &template),
        Err(_) => Vec::new(),
    }
}

/// Returns the blocks of a text whose variables were read.
pub(crate) fn blocks_of(text: &str, template: &Template<'_>) -> Vec<OpaqueBlock> {
    let mut blocks = Vec::new();
    let required: BTreeSet<String> = template
        .variables()
        .into_iter()
        .filter(|(_, default)| default.is_none())
        .map(|(name, _)| name)
        .collect();
    for used in template.uses() {
        if used.nested || !required.contains(used.name) || !is_alone(text, &used.span) {
            continue;
        }
        let start = text[..used.span.start]
            .rfind("\n---")
            .map_or(0, |at| at + 1);
        let end = text[used.span.end..]
            .find("\n---")
            .map_or(text.len(), |at| used.span.end + at);
        if !needs_entry(&text[start..used.span.start]) {
            continue;
        }
        let is_content = |line: &str| {
            let line = line.trim();
            !(line.is_empty() || line.starts_with(['#', '$']) || line.starts_with("---"))
        };
        blocks.push(OpaqueBlock {
            name: used.name.to_owned(),
            is_document: !text[start..end].lines().any(is_content),
            span: used.span,
            document: start..end,
        });
    }
    blocks
}

fn is_alone(text: &str, span: &Range<usize>) -> bool {
    let before = text[..span.start].rsplit('\n').next().unwrap_or_default();
    let after = text[span.end..]
        .split('\n')
        .next()
        .unwrap_or_default()
        .trim();
    before.trim().is_empty() && (after.is_empty() || after.starts_with('#'))
}

/// Whether an entry belongs where a document goes on after `before`, whose last line is blank: it
/// is not the text of a block scalar, and not the rest of a value of several lines.
fn needs_entry(before: &str) -> bool {
    let indent = before.rsplit('\n').next().map_or(0, str::len);
    let mut scalar: Option<usize> = None;
    let mut last = "";
    for line in before.lines() {
        let own = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line.trim().is_empty();
        if let Some(header) = scalar {
            if is_blank || own > header {
                continue;
            }
            scalar = None;
        }
        if is_blank || line.trim_start().starts_with('#') {
            continue;
        }
        if opens_scalar(line) {
            scalar = Some(key_column(line));
        }
        last = line;
    }
    scalar.is_none_or(|header| indent <= header)
        && (last.is_empty()
            || last.trim_end().ends_with(':')
            || indent <= key_column(last)
            || last.starts_with("---"))
}

/// The column of the first word of a line, behind the signs of items.
fn key_column(line: &str) -> usize {
    let mut rest = line.trim_start_matches(' ');
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start_matches(' ');
    }
    line.len() - rest.len()
}

/// Whether the lines that follow are the text of a block scalar: the line ends with `|` or `>`.
fn opens_scalar(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or(line).trim_end();
    let header = line.rsplit([' ', ':']).next().unwrap_or(line);
    header.starts_with(['|', '>'])
        && header[1..]
            .chars()
            .all(|c| c == '+' || c == '-' || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let blocks = opaque_blocks(&Source::new("t.yaml", text));
        blocks.into_iter().map(|block| block.name).collect()
    }

    #[test]
    fn finds_variables_in_place_of_entries() {
        for text in [
            "a:\n  b: {}\n  ${X}\n",
            "a:\n  b: {}\n${X}\n---\nc: d\n",
            "a:\n  ${X}\n",
            "a:\n- b\n- ${Y:=c}\n${X} # more\n",
            "a: |\n  text ${Y:=z}\nb: c\n${X}\n",
            "a: b\n---\n${X}\n",
            "a:\n  b: |\n    text\n  ${X}\n",
        ] {
            assert_eq!(names(text), ["X"], "{text}");
        }
    }

    #[test]
    fn leaves_variables_within_values() {
        for text in [
            "a: ${X}\n",
            "a: |\n  ${X}\n  b\n",
            "a: |\n  b\n\n  ${X}\n",
            "- content: |-\n    ${X}\n",
            "a: b\n  ${X}\n",
            "a:\n  ${X:=default}\n",
            "a:\n- ${X}\n",
        ] {
            assert_eq!(names(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn recognizes_documents_of_one_variable() {
        let is_document = |text: &str| opaque_blocks(&Source::new("t.yaml", text))[0].is_document;
        assert!(is_document("a: b\n---\n# more\n${X}\n---\nc: d\n"));
        assert!(!is_document("a: b\n${X}\n---\nc: d\n"));
    }
}
