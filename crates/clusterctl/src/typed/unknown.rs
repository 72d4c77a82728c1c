//! Fields that a type does not have.

use serde_json::Value;

use super::table::{Kind, Table};
use windlass_source::diag::{Descent, FieldPath};

/// The paths of all fields that the conversion into the named type drops. The depth of the object
/// is bounded by the reader that made it.
pub(super) fn fields(table: &Table, name: &str, object: &Value) -> Vec<FieldPath> {
    let index = table
        .by_name
        .get(name)
        .expect("internal error: the type is in the table");
    let mut walk = Walk {
        table,
        found: Vec::new(),
    };
    walk.visit(
        &Kind::Struct(*index),
        object,
        &Descent::of(&FieldPath::root()),
    );
    walk.found
}

struct Walk<'t> {
    table: &'t Table,
    found: Vec<FieldPath>,
}

impl Walk<'_> {
    fn visit(&mut self, kind: &Kind, value: &Value, at: &Descent<'_>) {
        match (kind, value) {
            (Kind::Pointer(inner), value) => self.visit(inner, value, at),
            (
                Kind::Struct(index) | Kind::SchemaOrList(index) | Kind::SchemaOrBool(index),
                Value::Object(entries),
            ) => {
                let structure = &self.table.structs[*index];
                for (name, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
                    let at = at.field(name);
                    match structure.by_name.get(name.as_str()) {
                        Some(field) => self.visit(&structure.fields[*field].kind, value, &at),
                        None => self.found.push(at.path()),
                    }
                }
            }
            (Kind::Slice(item), Value::Array(items)) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, value)| self.visit(item, value, &at.index(index)));
            }
            (Kind::Map(item), Value::Object(entries)) => {
                entries
                    .iter()
                    .for_each(|(key, value)| self.visit(item, value, &at.key(key)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{DEPLOYMENT, unknown_fields};

    #[test]
    fn fields_that_vanish_are_named() {
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
            "replica": 2, "paused": null, "bogus": null,
            "template": {"metadata": {"labels": {"any": "x"}}, "spec": {"containers": [{"name": "c", "imagePullpolicy": "Always"}]}},
        }});
        let found: Vec<String> = unknown_fields(&deployment, &DEPLOYMENT)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            found,
            [
                "spec.replica",
                "spec.template.spec.containers[0].imagePullpolicy"
            ]
        );
    }
}
