//! Reads selected fields of JSON, within a limit of memory. The larger part of most objects of the
//! API server is `metadata.managedFields`.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The names of the fields that lead to one.
pub(crate) type FieldPath = &'static [&'static str];

/// Who wrote which field when.
pub(crate) const MANAGED_FIELDS: FieldPath = &["metadata", "managedFields"];

/// Which fields of an object are read.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
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
    pub(crate) fn only(paths: impl IntoIterator<Item = FieldPath>) -> Self {
        Fields {
            chosen: Choice::Only,
            paths: paths.into_iter().collect(),
        }
    }

    pub(crate) fn without(paths: impl IntoIterator<Item = FieldPath>) -> Self {
        Fields {
            chosen: Choice::Without,
            paths: paths.into_iter().collect(),
        }
    }

    /// Reads these fields of a JSON text; the values may take so many bytes of memory.
    ///
    /// # Errors
    /// The text is not JSON, or the values take more memory.
    pub(crate) fn read_within(self, text: &[u8], most_bytes: usize) -> Result<Value, Unread> {
        let (fields, budget) = (self, Budget::of(most_bytes));
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let reading = Reading {
            fields,
            budget: &budget,
        };
        let value = reading
            .deserialize(&mut deserializer)
            .and_then(|value| deserializer.end().map(|()| value));
        value.map_err(|fault| match budget.is_spent.get() {
            true => Unread::TooLarge,
            false => Unread::Invalid(fault),
        })
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
        let budget = Budget::of(usize::MAX);
        Reading {
            fields: self,
            budget: &budget,
        }
        .deserialize(deserializer)
    }
}

/// Why a text was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// Its values take more memory than the limit.
    TooLarge,
    /// It is not JSON.
    Invalid(serde_json::Error),
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::TooLarge => formatter.write_str("the values take too much memory"),
            Unread::Invalid(fault) => write!(formatter, "it is not JSON: {fault}"),
        }
    }
}

/// Reads the items of the list at a path, one after the other, until `each` returns false. An item
/// may take so many bytes of memory. The rest of the text is skipped.
///
/// # Errors
/// The text is not JSON, or an item takes more memory.
pub(crate) fn read_items(
    text: &[u8],
    path: FieldPath,
    most_bytes: usize,
    each: &mut dyn FnMut(Value) -> bool,
) -> Result<(), Unread> {
    let (mut is_too_large, mut is_over) = (false, false);
    let items = Items {
        path,
        most_bytes,
        each,
        is_too_large: &mut is_too_large,
        is_over: &mut is_over,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = items
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    match read {
        Err(_) if is_too_large => Err(Unread::TooLarge),
        Err(fault) if !is_over => Err(Unread::Invalid(fault)),
        _ => Ok(()),
    }
}

/// The memory that is left for values.
#[derive(Debug)]
struct Budget {
    left: Cell<usize>,
    is_spent: Cell<bool>,
}

/// The overhead of an allocation.
const ALLOCATION: usize = 16;
/// A value in a list, whose capacity is up to twice its length.
const ITEM: usize = 2 * size_of::<Value>();
/// The least capacity of a list.
const FIRST_ITEM: usize = 4 * size_of::<Value>() + ALLOCATION;
/// A node of a map, which has a capacity of eleven fields.
const FIRST_FIELD: usize = 11 * (size_of::<String>() + size_of::<Value>()) + 2 * ALLOCATION;
/// A field of a map with several nodes, which are half full.
const FIELD: usize = FIRST_FIELD / 5;

impl Budget {
    fn of(bytes: usize) -> Self {
        Budget {
            left: Cell::new(bytes),
            is_spent: Cell::new(false),
        }
    }

    fn spend<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes).ok_or_else(|| {
            self.is_spent.set(true);
            E::custom(Unread::TooLarge)
        })?;
        self.left.set(left);
        Ok(())
    }
}

/// Reads fields within a budget.
struct Reading<'b> {
    fields: Fields,
    budget: &'b Budget,
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// What is not an object has no fields to choose among, and is read as it is.
impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    /// A field of which nothing is left is not there.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let (deeper, is_whole) = match self.fields.of_field(&name) {
                OfField::Nothing => {
                    fields.next_value::<IgnoredAny>()?;
                    continue;
                }
                OfField::Whole => (Fields::without([]), true),
                OfField::Some(deeper) => (deeper, false),
            };
            let place = if read.is_empty() { FIRST_FIELD } else { FIELD };
            self.budget.spend(place + name.len() + ALLOCATION)?;
            let value = fields.next_value_seed(Reading {
                fields: deeper,
                budget: self.budget,
            })?;
            match value {
                Value::Object(left) if left.is_empty() && !is_whole => drop(read.remove(&name)),
                value => drop(read.insert(name, value)),
            }
        }
        Ok(Value::Object(read))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        let whole = || Reading {
            fields: Fields::without([]),
            budget: self.budget,
        };
        while let Some(item) = items.next_element_seed(whole())? {
            let place = if read.is_empty() { FIRST_ITEM } else { ITEM };
            self.budget.spend(place)?;
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
        self.budget.spend(value.len() + ALLOCATION)?;
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// Reads the items of the list at a path.
struct Items<'a> {
    path: FieldPath,
    most_bytes: usize,
    each: &'a mut dyn FnMut(Value) -> bool,
    is_too_large: &'a mut bool,
    is_over: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// A value that is neither a map on the path nor the list has no items.
impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            match self.path.split_first() {
                Some((first, rest)) if *first == name => fields.next_value_seed(Items {
                    path: rest,
                    most_bytes: self.most_bytes,
                    each: &mut *self.each,
                    is_too_large: &mut *self.is_too_large,
                    is_over: &mut *self.is_over,
                })?,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if !self.path.is_empty() {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        loop {
            let budget = Budget::of(self.most_bytes);
            let item = items.next_element_seed(Reading {
                fields: Fields::without([]),
                budget: &budget,
            });
            *self.is_too_large = budget.is_spent.get();
            let Some(item) = item? else {
                return Ok(());
            };
            if !(self.each)(item) {
                *self.is_over = true;
                return Err(A::Error::custom("stopped"));
            }
        }
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
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
        fields.read_within(TEXT.as_bytes(), usize::MAX).unwrap()
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
                    .read_within(text.as_bytes(), usize::MAX)
                    .is_err(),
                "{text}"
            );
        }
    }

    /// A list of 64 KiB that repeats a piece.
    fn repeated(piece: &str) -> String {
        let count = (64 << 10) / piece.len();
        format!("[{}{piece}]", format!("{piece},").repeat(count))
    }

    /// Pieces that take much memory per byte of text.
    const EXPENSIVE: [&str; 7] = [
        "[]",
        "{}",
        "0",
        "[0]",
        r#"{"":0}"#,
        r#"[[[[{"":[{}]}]]]]"#,
        r#""""#,
    ];

    #[test]
    fn rejects_values_beyond_the_bound() {
        for piece in EXPENSIVE {
            let text = repeated(piece);
            let all = || Fields::without([]);
            let read = all().read_within(text.as_bytes(), 512 << 10);
            assert!(matches!(read, Err(Unread::TooLarge)), "{piece}");
            assert!(
                all().read_within(text.as_bytes(), 16 << 20).is_ok(),
                "{piece}"
            );
            // A skipped field takes no memory.
            let text = format!(r#"{{"a": 1, "b": {text}}}"#);
            let read = Fields::only([&["a"] as FieldPath]).read_within(text.as_bytes(), 1 << 10);
            assert_eq!(read.unwrap(), json!({"a": 1}), "{piece}");
        }
        let deep = "[".repeat(1 << 20);
        let read = Fields::without([]).read_within(deep.as_bytes(), usize::MAX);
        assert!(matches!(read, Err(Unread::Invalid(_))));
    }

    #[test]
    fn reads_large_texts() {
        let text = json!({"a": "x".repeat(3 << 20)}).to_string();
        let read = Fields::without([]).read_within(text.as_bytes(), 4 << 20);
        assert!(read.is_ok());
    }

    #[test]
    fn reads_items_one_by_one() {
        let read = |text: &str, most_bytes, most: usize| {
            let mut items = Vec::new();
            let ended = read_items(text.as_bytes(), &["a", "b"], most_bytes, &mut |item| {
                items.push(item);
                items.len() < most
            });
            (items, ended.map_err(|unread| unread.to_string()))
        };
        let text = r#"{"b": [0], "a": {"a": [1], "b": [1, {"c": [2]}, "x"], "d": {}}, "e": null}"#;
        let all = vec![json!(1), json!({"c": [2]}), json!("x")];
        assert_eq!(read(text, 1 << 10, 9), (all.clone(), Ok(())));
        assert_eq!(read(text, 1 << 10, 2), (all[..2].to_vec(), Ok(())));
        assert_eq!(
            read(text, 100, 9),
            (all[..1].to_vec(), Err(Unread::TooLarge.to_string()))
        );
        for text in [
            "[]",
            "1",
            "-1",
            "1.5",
            "true",
            "null",
            r#""""#,
            r#"{"a": {"b": {"c": []}}}"#,
            r#"{"a": {"b": 1}}"#,
        ] {
            assert_eq!(read(text, 1 << 10, 9), (Vec::new(), Ok(())), "{text}");
        }
        for text in ["", r#"{"a": {"b": [1, 2"#, r#"{"a": {"b": []}} x"#] {
            assert!(read(text, 1 << 10, 9).1.is_err(), "{text}");
        }
        // Each item has a bound of its own.
        let many = format!(r#"{{"a": {{"b": {}}}}}"#, repeated("[]"));
        assert_eq!(read(&many, 1 << 10, usize::MAX).0.len(), (64 << 10) / 2 + 1);
    }
}
