//! The types and sizes that a schema declares.
//!
//! Source: `pkg/cel/common/schemas.go` and `pkg/cel/limits.go` of k8s.io/apiserver 0.34.

use super::size::Size;
use crate::cel::value::escaped;
use crate::node::{Additional, Node, Type};

/// The largest request that the API server takes, in bytes (`MaxRequestSizeBytes`).
const MAX_REQUEST: u64 = 3 * 1024 * 1024;

/// The kind of a value, as far as costs depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Number,
    Text,
    Bytes,
    Time,
    List(Box<Kind>),
    Map,
    Struct,
    /// Quantities, addresses and other values whose size is of no interest.
    Opaque,
    Unknown,
}

impl Kind {
    pub(super) fn list(of: Kind) -> Self {
        Kind::List(Box::new(of))
    }

    /// Values of one size.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Kind::Bool | Kind::Number | Kind::Time)
    }

    /// The kind of a value that is one of two: an empty list goes with any.
    pub(super) fn join(&self, other: &Kind) -> Kind {
        match (self, other) {
            (Kind::List(one), Kind::List(other)) if **one == Kind::Unknown => {
                Kind::List(other.clone())
            }
            (Kind::List(one), Kind::List(other)) if **other == Kind::Unknown => {
                Kind::List(one.clone())
            }
            _ if self == other => self.clone(),
            _ => Kind::Unknown,
        }
    }

    pub(super) fn items(&self) -> Kind {
        if let Kind::List(items) = self {
            (**items).clone()
        } else {
            Kind::Unknown
        }
    }
}

/// A place in the declared type of `self`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// A schema, and whether it is that of a resource.
    Node(&'a Node, bool),
    Metadata,
    /// A text of which nothing is declared: names in the metadata.
    Text,
    /// The keys of a map, whose length upstream takes for nothing.
    Key,
    /// Where the declared type has nothing.
    Nowhere,
}

impl<'a> Place<'a> {
    fn of(node: &'a Node) -> Self {
        if node.least_json.is_some() {
            Place::Node(node, node.embedded_resource)
        } else {
            Place::Nowhere
        }
    }

    pub(super) fn field(self, name: &str) -> Self {
        match self {
            Place::Node(_, true) if matches!(name, "apiVersion" | "kind") => Place::Text,
            Place::Node(_, true) if name == "metadata" => Place::Metadata,
            Place::Metadata if matches!(name, "name" | "generateName") => Place::Text,
            Place::Node(node, _) if node.values().is_none() => {
                let direct = node
                    .properties
                    .get_key_value(name)
                    .filter(|(key, _)| escaped(key).as_deref() == Some(name));
                let found = direct.or_else(|| {
                    node.properties
                        .iter()
                        .find(|(key, _)| escaped(key).as_deref() == Some(name))
                });
                found.map_or(Place::Nowhere, |(_, node)| Place::of(node))
            }
            _ => Place::Nowhere,
        }
    }

    /// The items of a list or the values of a map.
    pub(super) fn elements(self) -> Self {
        match self {
            Place::Node(node, _) => node
                .items
                .as_deref()
                .or_else(|| node.values())
                .map_or(Place::Nowhere, Place::of),
            _ => Place::Nowhere,
        }
    }

    pub(super) fn keys(self) -> Self {
        if matches!(self, Place::Node(node, _) if node.values().is_some()) {
            Place::Key
        } else {
            Place::Nowhere
        }
    }

    pub(super) fn size(self) -> Option<Size> {
        match self {
            Place::Node(node, _) => Some(Size::up_to(most_elements(node))),
            Place::Text => Some(Size::up_to(MAX_REQUEST - 2)),
            Place::Metadata | Place::Key => Some(Size::up_to(0)),
            Place::Nowhere => None,
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Place::Node(node, _) => kind(node),
            Place::Metadata => Kind::Struct,
            Place::Text | Place::Key => Kind::Text,
            Place::Nowhere => Kind::Unknown,
        }
    }
}

fn kind(node: &Node) -> Kind {
    match (&node.types[..], format(node)) {
        _ if node.int_or_string => Kind::Unknown,
        ([Type::Array], _) => Kind::list(node.items.as_deref().map_or(Kind::Unknown, kind)),
        ([Type::Object], _) if node.values().is_some() => Kind::Map,
        ([Type::Object], _) => Kind::Struct,
        ([Type::String], "byte") => Kind::Bytes,
        ([Type::String], "duration" | "date" | "date-time") => Kind::Time,
        ([Type::String], _) => Kind::Text,
        ([Type::Boolean], _) => Kind::Bool,
        ([Type::Integer | Type::Number], _) => Kind::Number,
        _ => Kind::Unknown,
    }
}

fn format(node: &Node) -> &str {
    node.format.as_ref().map_or("", |format| &format.name)
}

/// The most that a value can hold in a request.
fn most_elements(node: &Node) -> u64 {
    let declared = |limit: Option<i64>| limit.map(|limit| u64::try_from(limit).unwrap_or(0));
    let least = |node: Option<&Node>| node.and_then(|node| node.least_json).unwrap_or(0);
    match &node.types[..] {
        _ if node.int_or_string => {
            declared(node.max_length).map_or(MAX_REQUEST - 2, |most| most.saturating_mul(4))
        }
        [Type::Array] => declared(node.max_items)
            .unwrap_or((MAX_REQUEST - 2) / (least(node.items.as_deref()) + 1)),
        [Type::Object] if node.values().is_some() => {
            declared(node.max_properties).unwrap_or((MAX_REQUEST - 2) / (least(node.values()) + 6))
        }
        [Type::String] => match format(node) {
            "byte" => declared(node.max_length).unwrap_or(MAX_REQUEST - 2),
            "duration" | "date-time" => 32,
            "date" => 12,
            _ => declared(node.max_length)
                .map_or_else(|| longest_of(node), |most| most.saturating_mul(4)),
        },
        _ => 0,
    }
}

fn longest_of(node: &Node) -> u64 {
    if node.enumeration.is_empty() {
        return MAX_REQUEST - 2;
    }
    node.enumeration
        .iter()
        .filter_map(|value| value.as_str())
        .map(|text| text.len() as u64)
        .max()
        .unwrap_or(0)
}

/// The fewest bytes that a value of this schema takes in JSON; nothing when rules do not see it.
/// What is below must know its own.
pub(crate) fn least_json(node: &Node) -> Option<u64> {
    if node.int_or_string {
        return Some(1);
    }
    match &node.types[..] {
        [Type::Array] => node.items.as_deref()?.least_json.map(|_| 2),
        [Type::Object] => match &node.additional {
            Some(Additional::Values(values)) => values.least_json.map(|_| 2),
            _ => {
                let required = node
                    .required
                    .iter()
                    .filter_map(|name| node.properties.get(name).map(|property| (name, property)));
                let required = required.filter(|(_, property)| property.default.is_none());
                let sizes = required.filter_map(|(name, property)| {
                    Some(name.len() as u64 + property.least_json? + 4)
                });
                Some(sizes.fold(2, u64::saturating_add))
            }
        },
        [Type::String] => Some(match format(node) {
            "duration" => 3,
            "date" => 12,
            "date-time" => 21,
            _ => 2,
        }),
        [Type::Boolean] => Some(4),
        [Type::Integer | Type::Number] => Some(1),
        _ => None,
    }
}

/// How often a value of this schema can be in a request at most, where nothing above it says how
/// often.
pub(crate) fn most_often(node: &Node) -> u64 {
    MAX_REQUEST / (node.least_json.unwrap_or(0) + 1)
}
