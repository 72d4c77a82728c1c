//! Which fields an object loses when it is taken from one schema to another without anybody who
//! converts it: the API server changes its `apiVersion` and drops what the other schema does not
//! know.

use serde_json::{Map, Value};

use windlass_objects::fields;
use windlass_source::budget::{Budget, Exceeded};

/// What differs between two schemas, for objects of the first that become objects of the second.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Fields that the second does not know: `spec.items[].name`.
    pub(super) lost: Vec<String>,
    /// Fields that have another type in the second, with both types.
    pub(super) changed: Vec<String>,
}

/// Fields that every object has, whatever its schema says.
const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Compares two schemas of one kind.
///
/// # Errors
/// When the run has no steps left: one schema can be compared with any number of others.
pub(super) fn difference(
    from: &Value,
    to: &Value,
    budget: &Budget,
) -> Result<Difference, Exceeded> {
    let mut walk = Walk {
        path: Vec::new(),
        found: Difference::default(),
        budget,
    };
    walk.compare(from, to)?;
    Ok(walk.found)
}

/// The walk is as deep as the reader of YAML lets a schema be.
struct Walk<'a> {
    path: Vec<String>,
    found: Difference,
    budget: &'a Budget,
}

impl Walk<'_> {
    fn compare(&mut self, from: &Value, to: &Value) -> Result<(), Exceeded> {
        let (first, second) = (type_of(from), type_of(to));
        if first != second && !first.is_empty() && !second.is_empty() {
            self.found
                .changed
                .push(format!("{} ({first}, then {second})", self.path.join(".")));
            return Ok(());
        }
        for (name, schema) in mapping(from, "properties") {
            self.budget.charge(1)?;
            if self.path.is_empty() && COMMON.contains(&name.as_str()) {
                continue;
            }
            match fields::field(to, &["properties", name])
                .or_else(|| to.get("additionalProperties"))
            {
                Some(other) => self.within(name, schema, other)?,
                None if keeps_unknown(to) => {}
                None => self.lose(name),
            }
        }
        if let Some(values) = from.get("additionalProperties") {
            match to.get("additionalProperties") {
                Some(others) => self.within("*", values, others)?,
                None if keeps_unknown(to) => {}
                None => self.lose("*"),
            }
        }
        match (from.get("items"), to.get("items")) {
            (Some(items), Some(others)) => self.items(items, others),
            _ => Ok(()),
        }
    }

    fn within(&mut self, name: &str, from: &Value, to: &Value) -> Result<(), Exceeded> {
        self.path.push(name.to_owned());
        self.compare(from, to)?;
        self.path.pop();
        Ok(())
    }

    /// The items of the list at which the walk is.
    fn items(&mut self, from: &Value, to: &Value) -> Result<(), Exceeded> {
        if let Some(list) = self.path.pop() {
            self.within(&format!("{list}[]"), from, to)?;
            self.path.push(list);
        }
        Ok(())
    }

    fn lose(&mut self, name: &str) {
        let path: Vec<&str> = self.path.iter().map(String::as_str).chain([name]).collect();
        self.found.lost.push(path.join("."));
    }
}

fn mapping<'v>(schema: &'v Value, field: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    schema
        .get(field)
        .and_then(Value::as_object)
        .map(Map::iter)
        .into_iter()
        .flatten()
}

/// Empty for a schema that takes any type, or numbers and texts.
fn type_of(schema: &Value) -> &str {
    fields::text(schema, &["type"])
}

fn keeps_unknown(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compare(from: &Value, to: &Value) -> (Vec<String>, Vec<String>) {
        let found = difference(from, to, &Budget::default()).unwrap();
        (found.lost, found.changed)
    }

    fn spec(properties: &Value) -> Value {
        json!({"type": "object", "properties": {"kind": {"type": "string"}, "spec": {"type": "object", "properties": properties}}})
    }

    const NONE: (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());

    #[test]
    fn fields_that_the_other_schema_lacks_are_lost() {
        let items = |names: &[&str]| {
            let properties: Map<String, Value> = names
                .iter()
                .map(|name| ((*name).to_owned(), json!({"type": "string"})))
                .collect();
            spec(
                &json!({"a": {"type": "array", "items": {"type": "object", "properties": properties}}}),
            )
        };
        assert_eq!(
            compare(&items(&["x", "y"]), &items(&["y"])),
            (vec!["spec.a[].x".to_owned()], vec![])
        );
        assert_eq!(compare(&items(&["y"]), &items(&["x", "y"])), NONE);
        assert_eq!(
            compare(
                &spec(&json!({"a": {"type": "object", "properties": {"b": {}}}})),
                &spec(&json!({}))
            )
            .0,
            ["spec.a"]
        );
    }

    #[test]
    fn open_schemas_lose_nothing() {
        let from = spec(&json!({"a": {"type": "object", "properties": {"b": {"type": "string"}}}}));
        let open =
            spec(&json!({"a": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}));
        let map =
            spec(&json!({"a": {"type": "object", "additionalProperties": {"type": "string"}}}));
        assert_eq!((compare(&from, &open), compare(&from, &map)), (NONE, NONE));
        assert_eq!(compare(&map, &from).0, ["spec.a.*"]);
        assert_eq!(compare(&map, &map), NONE);
    }

    #[test]
    fn types_change() {
        let of = |of_type: &str| spec(&json!({"a": {"type": of_type}}));
        assert_eq!(
            compare(&of("string"), &of("object")).1,
            ["spec.a (string, then object)"]
        );
        let any = spec(&json!({"a": {"x-kubernetes-int-or-string": true}}));
        assert_eq!(
            (compare(&of("string"), &any), compare(&any, &of("string"))),
            (NONE, NONE)
        );
    }

    #[test]
    fn comparing_is_work() {
        let many: Map<String, Value> = (0..100).map(|at| (format!("f{at}"), json!({}))).collect();
        let schema = spec(&many.into());
        assert!(
            difference(&schema, &schema, &Budget::of(102))
                .is_ok_and(|found| found == Difference::default())
        );
        assert!(difference(&schema, &schema, &Budget::of(101)).is_err());
    }
}
