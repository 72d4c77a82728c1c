//! The schemas of core's kinds: the CRDs of v1.14 (`kinds.txt` names their source), for all
//! releases.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::{Value, json};

use windlass_schema::Schema;
use windlass_schema::document;

/// The schema of a kind in a version.
struct Known {
    json: &'static str,
    compiled: OnceLock<Schema>,
}

impl Known {
    /// Metadata is checked elsewhere, and users write no status.
    fn schema(&self) -> &Schema {
        self.compiled.get_or_init(|| {
            let mut schema: Value =
                serde_json::from_str(self.json).expect("internal error: the table holds JSON");
            let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            for (field, its) in [
                ("apiVersion", json!({"type": "string"})),
                ("kind", json!({"type": "string"})),
                ("metadata", open.clone()),
                ("status", open),
            ] {
                schema["properties"][field] = its;
            }
            document::compiled(&schema)
        })
    }
}

/// By kind and version.
static KINDS: LazyLock<BTreeMap<(&str, &str), Known>> = LazyLock::new(|| {
    let rows = include_str!("kinds.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let mut cells = line.splitn(3, ' ');
        let mut cell = || cells.next().expect("internal error: a row has three cells");
        (
            (cell(), cell()),
            Known {
                json: cell(),
                compiled: OnceLock::new(),
            },
        )
    };
    rows.map(row).collect()
});

/// The schema of a kind of core in a version, such as `v1beta2`.
pub fn schema(kind: &str, version: &str) -> Option<&'static Schema> {
    let known = KINDS.iter().find(|(row, _)| **row == (kind, version));
    known.map(|(_, known)| known.schema())
}

/// The schema of a kind of core in a version as the table has it: without descriptions and the
/// fields that every object has.
pub fn json(kind: &str, version: &str) -> Option<Value> {
    let known = KINDS.iter().find(|(row, _)| **row == (kind, version));
    known.and_then(|(_, known)| serde_json::from_str(known.json).ok())
}

/// The kinds of core with their versions.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::CORE_GROUP;

    #[test]
    fn has_schemas_of_both_versions() {
        assert_eq!(KINDS.len(), 14);
        for ((kind, version), known) in KINDS.iter() {
            assert!(["v1beta1", "v1beta2"].contains(version), "{kind} {version}");
            let empty = json!({"apiVersion": format!("{CORE_GROUP}/{version}"), "kind": kind, "metadata": {"name": "a"}, "status": {"any": 1}});
            assert!(
                known.schema().unknown_fields(&empty).is_empty(),
                "{kind} {version}"
            );
        }
    }
}
