//! The compiled form of an OpenAPI schema: one [`Node`] per schema object, with everything that
//! validation needs worked out once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cel::Rule;
use windlass_go_text::regexp::Pattern;
use windlass_source::diag::Segment;

/// A JSON type that a schema can demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Boolean => "boolean",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        use Type::{Array, Boolean, Integer, Number, Object, String};
        [Object, Array, String, Integer, Number, Boolean]
            .into_iter()
            .find(|known| known.as_str() == name)
    }
}

/// The format of a value, when the API server checks it for this type.
#[derive(Debug, Clone)]
pub(super) struct Format {
    pub(super) name: String,
    /// The check of a string; `None` for the formats of numbers.
    pub(super) check: Option<fn(&str) -> bool>,
}

/// What a map may hold beside the named properties.
#[derive(Debug, Clone)]
pub(super) enum Additional {
    /// `additionalProperties: false`.
    Nothing,
    /// `additionalProperties: true`.
    Anything,
    Values(Box<Node>),
}

/// `x-kubernetes-list-type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListType {
    Atomic,
    Set,
    Map,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) limit: f64,
    pub(super) exclusive: bool,
}

/// One schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    /// Empty: any type; two for int-or-string.
    pub(super) types: Vec<Type>,
    pub(super) format: Option<Format>,
    pub(super) nullable: bool,
    pub(super) default: Option<Value>,
    pub(super) enumeration: Vec<Value>,
    pub(super) maximum: Option<Bound>,
    pub(super) minimum: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
    pub(super) max_length: Option<i64>,
    pub(super) min_length: Option<i64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) max_items: Option<i64>,
    pub(super) min_items: Option<i64>,
    pub(super) unique_items: bool,
    pub(super) max_properties: Option<i64>,
    pub(super) min_properties: Option<i64>,
    pub(super) required: Vec<String>,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) additional: Option<Additional>,
    pub(super) items: Option<Box<Node>>,
    pub(super) all_of: Vec<Node>,
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) not: Option<Box<Node>>,
    pub(super) preserve_unknown: bool,
    pub(super) embedded_resource: bool,
    pub(super) int_or_string: bool,
    pub(super) list_type: Option<ListType>,
    pub(super) list_map_keys: Vec<String>,
    pub(super) rules: Vec<Rule>,
    /// Whether this node or one below it, junctors aside, has rules.
    pub(super) has_rules: bool,
    /// The fewest bytes of JSON that a value takes; none when rules do not see it.
    pub(super) least_json: Option<u64>,
}

impl Node {
    /// The schema of the values of a map, when they have one.
    pub(super) fn values(&self) -> Option<&Node> {
        match &self.additional {
            Some(Additional::Values(node)) => Some(node),
            _ => None,
        }
    }

    /// The schema of an entry, and the step that leads to it.
    pub(super) fn entry(&self, key: &str) -> (Option<&Node>, Segment) {
        match self.properties.get(key) {
            Some(node) => (Some(node), Segment::Field(key.to_owned())),
            None if self.additional.is_some() => (self.values(), Segment::Key(key.to_owned())),
            None => (None, Segment::Field(key.to_owned())),
        }
    }
}
