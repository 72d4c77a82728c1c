//! Unknown fields, and what the user may have meant.

use serde_json::Value;

use super::Schema;
use super::node::{Node, Type};
use super::prune::META_FIELDS;
use windlass_source::diag::{FieldPath, Segment};
use windlass_source::nearest::nearest;

/// A field that the schema does not name: the API server warns and drops it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownField {
    /// Location.
    pub path: FieldPath,
    /// The known field of the same object whose name is nearest, when one is near.
    pub suggestion: Option<String>,
    /// Where a field of this name is known, when no name is near: further out, or in one of the
    /// values beside it.
    pub home: Option<Home>,
}

/// A value that has a field of some name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Location.
    pub path: FieldPath,
    /// Whether it is a list, whose items have the field.
    pub is_list: bool,
}

impl Schema {
    /// The fields that [`Schema::prune`] would remove, each with the nearest known name.
    pub fn unknown_fields(&self, object: &Value) -> Vec<UnknownField> {
        let pruned = self.prune(&mut object.clone());
        let unknown = |path: FieldPath| {
            let suggestion = self.suggestion(&path);
            let home = if suggestion.is_none() {
                self.home(&path)
            } else {
                None
            };
            UnknownField {
                suggestion,
                home,
                path,
            }
        };
        pruned.into_iter().map(unknown).collect()
    }

    /// Whether the value at a path is a list of objects with these fields.
    pub(super) fn has_items_with(&self, path: &FieldPath, fields: &[&str]) -> bool {
        let items = descend(&self.root, path.segments()).and_then(|node| node.items.as_deref());
        items.is_some_and(|item| {
            fields
                .iter()
                .all(|field| item.properties.contains_key(*field))
        })
    }

    /// Whether the value at a path is a text.
    pub(super) fn is_text(&self, path: &FieldPath) -> bool {
        descend(&self.root, path.segments()).is_some_and(|node| node.types == [Type::String])
    }

    fn suggestion(&self, path: &FieldPath) -> Option<String> {
        let (last, parents) = path.segments().split_last()?;
        let (Segment::Field(name) | Segment::Key(name)) = last else {
            return None;
        };
        let parent = descend(&self.root, parents)?;
        let meta = META_FIELDS
            .iter()
            .copied()
            .filter(|_| parents.is_empty() || parent.embedded_resource);
        nearest(
            name,
            parent.properties.keys().map(String::as_str).chain(meta),
        )
        .map(str::to_owned)
    }

    /// Where a misplaced field belongs: what is wrong is most often its indentation.
    fn home(&self, path: &FieldPath) -> Option<Home> {
        let (last, parents) = path.segments().split_last()?;
        let (Segment::Field(name) | Segment::Key(name)) = last else {
            return None;
        };
        // What every object has is known everywhere.
        if META_FIELDS.contains(&name.as_str()) {
            return None;
        }
        let outer = (1..parents.len()).rev().find(|end| {
            descend(&self.root, &parents[..*end]).is_some_and(|node| has_field(node, name))
        });
        if let Some(end) = outer {
            return Some(Home {
                path: parents[..end].iter().cloned().collect(),
                is_list: false,
            });
        }
        let beside = descend(&self.root, parents)?.properties.iter();
        let mut homes = beside.filter_map(|(beside, node)| {
            let is_list = node
                .items
                .as_deref()
                .is_some_and(|item| has_field(item, name));
            let path = || {
                parents
                    .iter()
                    .cloned()
                    .chain([Segment::Field(beside.clone())])
                    .collect()
            };
            (is_list || has_field(node, name)).then(|| Home {
                path: path(),
                is_list,
            })
        });
        let only = homes.next()?;
        homes.next().is_none().then_some(only)
    }
}

fn has_field(node: &Node, name: &str) -> bool {
    node.properties.contains_key(name)
}

fn descend<'a>(root: &'a Node, steps: &[Segment]) -> Option<&'a Node> {
    steps.iter().try_fold(root, |node, step| match step {
        Segment::Field(name) | Segment::Key(name) => node.entry(name).0,
        Segment::Index(_) => node.items.as_deref(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_fields_come_with_the_nearest_name() {
        let schema = Schema::from_json(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "preKubeadmCommands": {"type": "array", "items": {"type": "string"}},
            "files": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}, "permissions": {"type": "string"}}}},
        }}}}))
        .unwrap();
        let found = schema.unknown_fields(
            &json!({"kind": "K", "metadata": {"name": "x", "odd": 1}, "spec": {
                "preKubeAdmCommand": [], "zzz": 1, "files": [{"path": "/a", "permission": "0644"}],
            }}),
        );
        let shown: Vec<_> = found
            .iter()
            .map(|field| (field.path.to_string(), field.suggestion.as_deref()))
            .collect();
        let expected = [
            (
                "spec.preKubeAdmCommand".to_owned(),
                Some("preKubeadmCommands"),
            ),
            ("spec.zzz".to_owned(), None),
            ("spec.files[0].permission".to_owned(), Some("permissions")),
        ];
        assert_eq!(shown, expected);
    }
}
