//! All objects of the user's documents, in any mix and order.

use std::sync::Arc;

use super::object::Object;
use crate::diag::{FieldPath, Report};
use crate::text::source::Source;
use crate::text::yaml::{self, Limits, Node};

/// The API group of Cluster, Machine and MachinePool.
pub const CORE_GROUP: &str = "cluster.x-k8s.io";

/// The objects that rendering looks up others in.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    objects: Vec<Object>,
}

impl Pool {
    /// Reads all documents of all sources. What cannot be read is in the report, and the rest is there.
    pub fn read(sources: &[Source]) -> (Self, Report) {
        let mut pool = Pool::default();
        let mut report = Report::new();
        for source in sources {
            let parsed = yaml::parse(source, &Limits::default());
            report.extend(parsed.report);
            for document in parsed.documents {
                pool.add(source, document.index, document.root);
            }
        }
        (pool, report)
    }

    /// Adds the object of a document, or the objects of a list such as `kubectl get -o yaml` prints.
    fn add(&mut self, source: &Source, document: usize, root: Node) {
        let items = items_of_list(&root);
        let root = Arc::new(root);
        let paths = match items {
            Some(count) => (0..count).map(|index| FieldPath::root().field("items").index(index)).collect(),
            None => vec![FieldPath::root()],
        };
        let objects = paths.into_iter().filter_map(|path| Object::new(source, document, root.clone(), path));
        self.objects.extend(objects.filter(|object| !object.kind().is_empty()));
    }

    /// All objects, in the order of the input.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The object of that group, kind, namespace and name; the version does not matter. Of several the last one counts, as it does when
    /// they are applied one after the other.
    pub fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Object> {
        let is_it =
            |object: &&Object| object.name() == name && object.kind() == kind && object.namespace() == namespace && object.group() == group;
        self.objects.iter().rev().find(is_it)
    }
}

/// How many items the list has; `None` when the document is an object of its own.
fn items_of_list(root: &Node) -> Option<usize> {
    let mapping = root.as_mapping()?;
    let kind = mapping.get("kind")?.value.as_str()?;
    let items = mapping.get("items")?.value.as_sequence()?;
    kind.ends_with("List").then_some(items.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_taken_apart_and_places_stay() {
        let text = "kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n  data: {k: null}\n";
        let (pool, report) = Pool::read(&[Source::new("f.yaml", text)]);
        assert!(report.is_empty());
        let secret = pool.find("", "Secret", "default", "a").unwrap();
        assert_eq!(secret.value["data"], serde_json::json!({}));
        let place = secret.place(&FieldPath::root().field("metadata").field("name"));
        assert_eq!(place.span.unwrap().start.line, 6);
        assert_eq!(place.path.to_string(), "metadata.name");
    }
}
