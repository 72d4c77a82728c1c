//! Fields that a type does not have.

use serde_json::Value;

use super::table::{Kind, Table};
use crate::diag::{FieldPath, Segment};

/// The paths of all fields that the conversion into the named type drops. The depth of the object is bounded by the reader that made it.
pub(super) fn fields(table: &Table, name: &str, object: &Value) -> Vec<FieldPath> {
    let index = table.by_name.get(name).expect("internal error: the type is in the table");
    let mut walk = Walk { table, path: FieldPath::root(), found: Vec::new() };
    walk.visit(&Kind::Struct(*index), object);
    walk.found
}

struct Walk<'t> {
    table: &'t Table,
    path: FieldPath,
    found: Vec<FieldPath>,
}

impl Walk<'_> {
    fn visit(&mut self, kind: &Kind, value: &Value) {
        match (kind, value) {
            (Kind::Pointer(inner), value) => self.visit(inner, value),
            (Kind::Struct(index) | Kind::SchemaOrList(index) | Kind::SchemaOrBool(index), Value::Object(entries)) => {
                let structure = &self.table.structs[*index];
                for (name, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
                    self.path.push(Segment::Field(name.clone()));
                    match structure.by_name.get(name.as_str()) {
                        Some(at) => self.visit(&structure.fields[*at].kind, value),
                        None => self.found.push(self.path.clone()),
                    }
                    self.path.pop();
                }
            }
            (Kind::Slice(item), Value::Array(items)) => {
                for (at, value) in items.iter().enumerate() {
                    self.path.push(Segment::Index(at));
                    self.visit(item, value);
                    self.path.pop();
                }
            }
            (Kind::Map(item), Value::Object(entries)) => {
                for (key, value) in entries {
                    self.path.push(Segment::Key(key.clone()));
                    self.visit(item, value);
                    self.path.pop();
                }
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
        let found: Vec<String> = unknown_fields(&deployment, &DEPLOYMENT).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["spec.replica", "spec.template.spec.containers[0].imagePullpolicy"]);
    }
}
