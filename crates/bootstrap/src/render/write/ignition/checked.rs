//! The walk over a decoded config that calls each type's own checks and finds unused keys, with the
//! places of the text: the order of the entries is that of `config/validate` of Ignition.

use super::findings::{Entry, Severity, is_fatal};
use windlass_go_yaml::yaml_v3::{Content, Document, NodeId};

/// A value that is walked over.
pub(crate) trait Checked {
    fn shape(&self) -> Shape<'_> {
        Shape::Leaf
    }

    /// What is wrong with the value as a whole.
    fn check(&self) -> Vec<Entry> {
        Vec::new()
    }

    /// What is wrong with a field, named by its key.
    fn check_field(&self, _key: &str) -> Vec<Entry> {
        Vec::new()
    }
}

/// What is within a value.
pub(crate) enum Shape<'a> {
    Leaf,
    Pointer(&'a dyn Checked),
    /// Fields, in the order of Go's struct.
    Struct(Vec<(&'static str, &'a dyn Checked)>),
    List(Vec<&'a dyn Checked>),
}

/// How keys of the document name fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// As the transpiler's types do, and unused ones are warnings.
    ContainerLinux,
    /// In snake case what Ignition's types have in camel case.
    Ignition,
}

/// What is wrong with a value that was decoded from a node; `None` when it is not in the document.
pub(crate) fn check(
    value: &dyn Checked,
    node: Option<NodeId>,
    document: &Document,
    keys: Keys,
) -> Vec<Entry> {
    let place = place(document, node);
    let mut found: Vec<Entry> = value
        .check()
        .into_iter()
        .map(|entry| entry.or_at(place))
        .collect();
    if is_fatal(&found) {
        return found;
    }
    let within = match value.shape() {
        Shape::Leaf => Vec::new(),
        Shape::Pointer(target) => check(target, node, document, keys),
        Shape::Struct(fields) => check_fields(value, &fields, node, document, keys),
        Shape::List(items) => {
            let of_item = |(index, item): (usize, &&dyn Checked)| {
                let child = node.map(|node| item_of(document, node, index).unwrap_or(node));
                check(*item, child, document, keys)
            };
            items.iter().enumerate().flat_map(of_item).collect()
        }
    };
    found.extend(within.into_iter().map(|entry| entry.or_at(place)));
    found
}

fn check_fields(
    value: &dyn Checked,
    fields: &[(&'static str, &dyn Checked)],
    node: Option<NodeId>,
    document: &Document,
    keys: Keys,
) -> Vec<Entry> {
    let entries = node.map_or(&[][..], |node| match &document.node(node).content {
        Content::Mapping(entries) => entries,
        _ => &[],
    });
    let key_of = |key: NodeId| match keys {
        Keys::ContainerLinux => document.text(key).to_owned(),
        Keys::Ignition => camel_case(document.text(key)),
    };
    let here = place(document, node);
    let mut found = Vec::new();
    for (name, field) in fields {
        let sub_node = entries
            .iter()
            .rev()
            .find(|(key, _)| key_of(*key) == *name)
            .map(|(_, value)| *value);
        let at = if sub_node.is_some() {
            place(document, sub_node)
        } else {
            here
        };
        found.extend(
            value
                .check_field(name)
                .into_iter()
                .map(|entry| entry.or_at(at)),
        );
        found.extend(
            check(*field, sub_node, document, keys)
                .into_iter()
                .map(|entry| entry.or_at(at)),
        );
    }
    if keys == Keys::ContainerLinux {
        for (key, _) in entries {
            let text = document.text(*key);
            if fields.iter().all(|(name, _)| *name != text) {
                found.extend(
                    unused(text, fields).map(|entry| entry.or_at(place(document, Some(*key)))),
                );
            }
        }
    }
    found
}

/// The entries for a key that no field has.
fn unused(key: &str, fields: &[(&'static str, &dyn Checked)]) -> impl Iterator<Item = Entry> {
    let meant = fields
        .iter()
        .map(|(name, _)| *name)
        .find(|name| name.to_lowercase() == key.to_lowercase());
    let warning = Entry::warning(format!("Config has unrecognized key: {key}"));
    let hint = meant.map(|meant| {
        Entry::new(
            Severity::Info,
            format!("Did you mean {meant} instead of {key}"),
        )
    });
    std::iter::once(warning).chain(hint)
}

fn place(document: &Document, node: Option<NodeId>) -> (u32, u32) {
    node.map_or((0, 0), |node| {
        (document.node(node).line, document.node(node).column)
    })
}

fn item_of(document: &Document, node: NodeId, index: usize) -> Option<NodeId> {
    match &document.node(node).content {
        Content::Sequence(items) => items.get(index).copied(),
        _ => None,
    }
}

/// `wipe_table` as `wipeTable`.
fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.extend(letters);
    }
    out
}

macro_rules! leaves {
    ($($leaf:ty),*) => { $(impl Checked for $leaf {})* };
}

leaves!(String, bool, i64, u64);

impl<T: Checked> Checked for Option<T> {
    fn shape(&self) -> Shape<'_> {
        self.as_ref()
            .map_or(Shape::Leaf, |target| Shape::Pointer(target))
    }
}

impl<T: Checked> Checked for Vec<T> {
    fn shape(&self) -> Shape<'_> {
        Shape::List(self.iter().map(|item| item as &dyn Checked).collect())
    }
}
