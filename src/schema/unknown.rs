//! Unknown fields, and what the user may have meant.

use serde_json::Value;

use super::Schema;
use super::node::{Node, Type};
use super::prune::META_FIELDS;
use crate::diag::{FieldPath, Segment};
use crate::text::nearest::nearest;

/// A field that the schema does not name: the API server warns and drops it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownField {
    /// Where it stands.
    pub path: FieldPath,
    /// The known field of the same object whose name is nearest, when one is near.
    pub suggestion: Option<String>,
}

impl Schema {
    /// The fields that [`Schema::prune`] would remove, each with the nearest known name.
    pub fn unknown_fields(&self, object: &Value) -> Vec<UnknownField> {
        let pruned = self.prune(&mut object.clone());
        pruned.into_iter().map(|path| UnknownField { suggestion: self.suggestion(&path), path }).collect()
    }

    /// Whether the value at a path is a list of objects with these fields.
    pub(super) fn has_items_with(&self, path: &FieldPath, fields: &[&str]) -> bool {
        let items = descend(&self.root, path.segments()).and_then(|node| node.items.as_deref());
        items.is_some_and(|item| fields.iter().all(|field| item.properties.contains_key(*field)))
    }

    /// Whether the value at a path is a text.
    pub(super) fn is_text(&self, path: &FieldPath) -> bool {
        descend(&self.root, path.segments()).is_some_and(|node| node.types == [Type::String])
    }

    fn suggestion(&self, path: &FieldPath) -> Option<String> {
        let (last, parents) = path.segments().split_last()?;
        let (Segment::Field(name) | Segment::Key(name)) = last else { return None };
        let parent = descend(&self.root, parents)?;
        let meta = META_FIELDS.iter().copied().filter(|_| parents.is_empty() || parent.embedded_resource);
        nearest(name, parent.properties.keys().map(String::as_str).chain(meta)).map(str::to_owned)
    }
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
        let found = schema.unknown_fields(&json!({"kind": "K", "metadata": {"name": "x", "odd": 1}, "spec": {
            "preKubeAdmCommand": [], "zzz": 1, "files": [{"path": "/a", "permission": "0644"}],
        }}));
        let shown: Vec<_> = found.iter().map(|field| (field.path.to_string(), field.suggestion.as_deref())).collect();
        let expected = [
            ("spec.preKubeAdmCommand".to_owned(), Some("preKubeadmCommands")),
            ("spec.zzz".to_owned(), None),
            ("spec.files[0].permission".to_owned(), Some("permissions")),
        ];
        assert_eq!(shown, expected);
    }
}
