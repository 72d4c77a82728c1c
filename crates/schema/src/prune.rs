//! Pruning: fields that the schema does not name vanish when an object is stored.

use serde_json::{Map, Value};

use super::Schema;
use super::node::Node;
use windlass_source::diag::{FieldPath, Segment};

/// Fields that every object has, whatever its schema says.
pub(super) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Schema {
    /// Removes what the API server would remove, and says where: unknown fields, in the order of
    /// the object.
    ///
    /// `apiVersion`, `kind` and `metadata` of the object and of embedded resources stay as they
    /// are, as does everything below `x-kubernetes-preserve-unknown-fields` that has no schema
    /// of its own.
    pub fn prune(&self, object: &mut Value) -> Vec<FieldPath> {
        let mut walk = Pruning {
            path: FieldPath::root(),
            pruned: Vec::new(),
        };
        walk.value(Some(&self.root), object, true);
        walk.pruned
    }

    /// The same for a value that is only a resource if its schema says so.
    pub(super) fn prune_embedded(&self, value: &mut Value) {
        Pruning {
            path: FieldPath::root(),
            pruned: Vec::new(),
        }
        .value(Some(&self.root), value, false);
    }
}

struct Pruning {
    path: FieldPath,
    pruned: Vec<FieldPath>,
}

impl Pruning {
    /// Prunes a value. Without a schema a map loses everything; lists are looked through, for maps
    /// may be inside.
    fn value(&mut self, node: Option<&Node>, value: &mut Value, resource_root: bool) {
        match value {
            Value::Object(entries) => self.entries(node, entries, resource_root),
            Value::Array(items) => {
                // A list that is preserved is looked through by the schema of its items alone.
                let preserve = node.is_some_and(|node| node.preserve_unknown);
                let schema = node.and_then(|node| node.items.as_deref());
                if preserve && schema.is_none() {
                    return;
                }
                for (index, item) in items.iter_mut().enumerate() {
                    self.path.push(Segment::Index(index));
                    match schema {
                        Some(schema) if preserve => self.preserved(schema, item),
                        schema => self.value(schema, item, false),
                    }
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    fn entries(
        &mut self,
        node: Option<&Node>,
        entries: &mut Map<String, Value>,
        resource_root: bool,
    ) {
        let resource = resource_root || node.is_some_and(|node| node.embedded_resource);
        let preserve = node.is_some_and(|node| node.preserve_unknown);
        let path = &mut self.path;
        let mut kept = Vec::new();
        entries.retain(|key, _| {
            let meta = resource && META_FIELDS.contains(&key.as_str());
            let known = node
                .is_some_and(|node| node.properties.contains_key(key) || node.additional.is_some());
            if known && !meta {
                kept.push(key.clone());
            }
            let keep = meta || known || preserve;
            if !keep {
                self.pruned.push(path.field(key.as_str()));
            }
            keep
        });
        for key in kept {
            let (Some(node), Some(entry)) = (node, entries.get_mut(&key)) else {
                continue;
            };
            let (schema, segment) = node.entry(&key);
            self.path.push(segment);
            self.value(schema, entry, false);
            self.path.pop();
        }
    }

    /// An item of a list whose unknown fields are preserved: the list's permission holds for the
    /// item too.
    fn preserved(&mut self, node: &Node, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for (key, entry) in entries {
                    if node.embedded_resource && META_FIELDS.contains(&key.as_str()) {
                        continue;
                    }
                    if node.properties.contains_key(key) || node.additional.is_some() {
                        let (schema, segment) = node.entry(key);
                        self.path.push(segment);
                        self.value(schema, entry, false);
                        self.path.pop();
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = &node.items else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.path.push(Segment::Index(index));
                    self.preserved(schema, item);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }
}
