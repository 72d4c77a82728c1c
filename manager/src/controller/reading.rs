//! Reads an object of the API server without making values of what nobody reads. Of most objects
//! the larger part is who wrote which field when (`metadata.managedFields`).

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The names of the fields that lead to one.
pub(super) type FieldPath = &'static [&'static str];

/// Who wrote which field when.
pub(super) const MANAGED_FIELDS: FieldPath = &["metadata", "managedFields"];

/// Which fields of an object are read.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    chosen: Choice,
    paths: Vec<FieldPath>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Only,
    Without,
}

enum OfField {
    Whole,
    Nothing,
    Some(Fields),
}

impl Fields {
    pub(super) fn only(paths: impl IntoIterator<Item = FieldPath>) -> Self {
        Fields {
            chosen: Choice::Only,
            paths: paths.into_iter().collect(),
        }
    }

    pub(super) fn without(paths: impl IntoIterator<Item = FieldPath>) -> Self {
        Fields {
            chosen: Choice::Without,
            paths: paths.into_iter().collect(),
        }
    }

    /// Reads it from a text of JSON.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn read(self, text: &[u8]) -> serde_json::Result<Value> {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let value = self.deserialize(&mut deserializer)?;
        deserializer.end().map(|()| value)
    }

    fn of_field(&self, name: &str) -> OfField {
        let deeper = self.paths.iter().filter_map(|path| {
            path.split_first()
                .filter(|(first, _)| **first == name)
                .map(|(_, rest)| rest)
        });
        let paths: Vec<FieldPath> = deeper.collect();
        let is_chosen = paths.iter().any(|path| path.is_empty());
        match self.chosen {
            Choice::Only if is_chosen => OfField::Whole,
            Choice::Only if paths.is_empty() => OfField::Nothing,
            Choice::Without if is_chosen => OfField::Nothing,
            Choice::Without if paths.is_empty() => OfField::Whole,
            chosen => OfField::Some(Fields { chosen, paths }),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Fields {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// What is no object has no fields to choose among, and is read as it is.
impl<'de> Visitor<'de> for Fields {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    /// A field of which nothing is left is not there.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            match self.of_field(&name) {
                OfField::Whole => drop(read.insert(name, fields.next_value()?)),
                OfField::Nothing => drop(fields.next_value::<IgnoredAny>()?),
                OfField::Some(deeper) => match fields.next_value_seed(deeper)? {
                    Value::Object(left) if left.is_empty() => drop(read.remove(&name)),
                    value => drop(read.insert(name, value)),
                },
            }
        }
        Ok(Value::Object(read))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element()? {
            read.push(item);
        }
        Ok(Value::Array(read))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = r#"{
        "kind": "A", "metadata": {"name": "n", "managedFields": [{"manager": "m"}], "labels": {"a": "b"}},
        "spec": {"one": {"two": [1, -1, 1.5, true, null, "x", {}]}, "three": {}}, "status": "none", "more": [1]
    }"#;

    fn read(fields: Fields) -> Value {
        fields.read(TEXT.as_bytes()).unwrap()
    }

    #[test]
    fn what_is_left_out_is_all_that_is_missing() {
        let mut expected: Value = serde_json::from_str(TEXT).unwrap();
        expected["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("managedFields");
        assert_eq!(read(Fields::without([MANAGED_FIELDS])), expected);
    }

    #[test]
    fn what_is_chosen_is_all_that_is_there() {
        let paths: [FieldPath; 7] = [
            &["kind"],
            &["metadata", "name"],
            &["metadata", "labels", "other"],
            &["spec", "one"],
            &["spec", "three"],
            &["status", "nodeRef"],
            &["more", "x"],
        ];
        let expected = json!({
            "kind": "A", "metadata": {"name": "n"},
            "spec": {"one": {"two": [1, -1, 1.5, true, null, "x", {}]}, "three": {}}, "status": "none", "more": [1],
        });
        assert_eq!(read(Fields::only(paths)), expected);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        for text in [
            "",
            "{",
            r#"{"kind": "A" "#,
            r#"{"metadata": {"managedFields": [}}"#,
            "{}}",
        ] {
            assert!(
                Fields::without([MANAGED_FIELDS])
                    .read(text.as_bytes())
                    .is_err(),
                "{text}"
            );
        }
    }
}
