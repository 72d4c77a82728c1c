//! YAML as gopkg.in/yaml.v3 reads it: scalars as they are written, with the line and column of each
//! node, and a rejection in its words.
//!
//! [`super::yaml`] reads documents of users for what they mean, and tells more; this one tells what
//! a program with that library makes of a text, also of one that is not proper YAML. Comments are
//! not kept. Source: yaml.v3 v3.0.1, `decode.go`, on [`super::libyaml`].

mod characters;
mod compose;
mod resolve;

use std::collections::BTreeMap;
use std::fmt;

pub use resolve::{Resolved, resolve};

/// How deep values may lie in one another. The library takes 10000.
const DEPTH: usize = 400;

/// A document: its nodes, of which the first is the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    nodes: Vec<Node>,
    anchors: BTreeMap<NodeId, String>,
}

/// The index of a node in its [`Document`]; it is valid for that document only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(usize);

/// A node of a document (`yaml.Node`), without style and comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The text of a scalar, the child nodes of a collection, or the target of an alias.
    pub content: Content,
    /// The tag, in its short form: `!!str`.
    pub tag: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The kind of a node (`yaml.Kind`), with its text or its child nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A scalar as it was written, without quotes.
    Scalar {
        /// The text of the scalar, with escapes and line folds resolved.
        text: String,
        /// Whether quotes or a block say that it is a text.
        is_text: bool,
    },
    /// The items, in their order.
    Sequence(Vec<NodeId>),
    /// The keys and values, in their order; equal keys are kept.
    Mapping(Vec<(NodeId, NodeId)>),
    /// An alias: the node with the anchor that it names.
    Alias(NodeId),
}

/// The error with which yaml.v3 rejects a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The library's words, with the line that it names.
    pub message: String,
    /// The line where reading stopped, from 1; 0 when that is not known.
    pub line: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// Reads the first document; `None` when there is none.
///
/// # Errors
///
/// The text is none that the library reads.
pub fn parse(text: &[u8]) -> Result<Option<Document>, Fault> {
    compose::document(characters::read(text)?)
}

impl Document {
    /// The node that contains all others.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// Returns a node by its id, which must be one of this document.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// Returns a node by its id, to be changed; the id must be one of this document.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0]
    }

    /// The text of a scalar, or the name of an alias; `""` for collections.
    pub fn text(&self, id: NodeId) -> &str {
        match &self.node(id).content {
            Content::Scalar { text, .. } => text,
            _ => "",
        }
    }

    /// The anchor of a node; `""` when it has none.
    pub fn anchor(&self, id: NodeId) -> &str {
        self.anchors.get(&id).map_or("", String::as_str)
    }

    /// The value of the first key of that text in a mapping.
    pub fn get(&self, id: NodeId, key: &str) -> Option<NodeId> {
        let Content::Mapping(entries) = &self.node(id).content else {
            return None;
        };
        entries
            .iter()
            .find(|(name, _)| self.text(*name) == key)
            .map(|(_, value)| *value)
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document as JSON-like text, scalars with their tags.
    fn shown(document: &Document, id: NodeId) -> String {
        let node = document.node(id);
        match &node.content {
            Content::Scalar { text, .. } => format!("{}{text:?}", node.tag.trim_start_matches('!')),
            Content::Sequence(items) => format!(
                "[{}]",
                items
                    .iter()
                    .map(|item| shown(document, *item))
                    .collect::<Vec<_>>()
                    .join(",")
            ),
            Content::Mapping(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    format!("{}:{}", shown(document, *key), shown(document, *value))
                });
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
            Content::Alias(target) => format!("*{}", shown(document, *target)),
        }
    }

    fn check(text: &str, expected: &str) {
        let found = match parse(text.as_bytes()) {
            Ok(Some(document)) => shown(&document, document.root()),
            Ok(None) => "nothing".to_owned(),
            Err(fault) => fault.message,
        };
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn scalars_keep_their_text_and_get_a_tag() {
        check(
            "a: yes\nb: 0755\nc: ~\nd: 'x'\ne: 1.5\nf: 2020-01-01\n",
            "{str\"a\":str\"yes\",str\"b\":int\"0755\",str\"c\":null\"~\",str\"d\":str\"x\",str\"e\":float\"1.5\",str\"f\":timestamp\"2020-01-01\"}",
        );
        check(
            "- a\n- [b, {c: d}]\n",
            "[str\"a\",[str\"b\",{str\"c\":str\"d\"}]]",
        );
        check("a: &x 1\nb: *x\n", "{str\"a\":int\"1\",str\"b\":*int\"1\"}");
        check(
            "a: |\n  x\n\n   y\n\n\nb: >-\n  p\n  q\n",
            "{str\"a\":str\"x\\n\\n y\\n\",str\"b\":str\"p q\"}",
        );
        check("a: \"x\\ty\\u00e9\\\n  z\"\n", "{str\"a\":str\"x\\tyéz\"}");
        check("a:\n- b\n-\n", "{str\"a\":[str\"b\",null\"\"]}");
        check(
            "a: !!binary aGk=\nb: !x y\n",
            "{str\"a\":binary\"aGk=\",str\"b\":x\"y\"}",
        );
    }

    #[test]
    fn documents_without_content_are_none() {
        check("", "nothing");
        check("# only a comment\n", "nothing");
        check("---\n", "null\"\"");
        check("a\n---\nb\n", "str\"a\"");
    }

    // The words are those of yaml.v3 v3.0.1 for these texts.
    #[test]
    fn rejections_are_in_the_librarys_words() {
        check(
            "a:\n  b: c: d\n",
            "line 2: mapping values are not allowed in this context",
        );
        check(
            "a: - x\n",
            "block sequence entries are not allowed in this context",
        );
        check("x: 1\na: *b\n", "unknown anchor 'b' referenced");
        check(
            "x: 1\na: |\n\tb\n",
            "line 2: found a tab character where an indentation space is expected",
        );
        check("a: 1\nb\nc: 2\n", "line 2: could not find expected ':'");
        check("a: \u{1}\n", "control characters are not allowed");
        check("a: 'b\n", "line 2: found unexpected end of stream");
        check("x:\n  a: b\n c: d\n", "line 2: did not find expected key");
        check("a: [b\n", "line 1: did not find expected ',' or ']'");
        check("a: @b\n", "found character that cannot start any token");
    }

    #[test]
    fn foreign_texts_neither_panic_nor_loop() {
        use proptest::prelude::*;
        const PARTS: [&str; 33] = [
            "a",
            "b: ",
            "- ",
            "  ",
            "\n",
            "\n  ",
            "? ",
            ": ",
            ":",
            "# c\n",
            "|\n",
            ">-\n",
            "|2\n",
            "'",
            "\"",
            "\\",
            "\t",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "&x ",
            "*x",
            "!!str ",
            "~",
            "---\n",
            "...\n",
            "%YAML 1.1\n",
            "\r",
            "\u{2028}",
            "é",
            "<<: ",
        ];
        let text = proptest::collection::vec(prop::sample::select(PARTS.to_vec()), 0..30)
            .prop_map(|parts| parts.concat());
        proptest!(|(text in text)| {
            if let Ok(Some(document)) = parse(text.as_bytes()) {
                prop_assert!(document.nodes.iter().all(|node| node.line > 0 && node.column > 0));
            }
        });
        let deep = "[".repeat(100_000);
        assert_eq!(
            parse(deep.as_bytes()).map_err(|fault| fault.message.to_string()),
            Err("exceeded max depth of 400".to_owned())
        );
    }
}
