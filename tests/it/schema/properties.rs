//! What holds for schemas and objects of any shape.

use serde_json::Value;
use windlass_schema::{Schema, structural};
use windlass_source::budget::Budget;

use super::structural::crd;

/// JSON made of the keywords of schemas and of values that fit them or not.
fn schema_like() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    const KEYWORDS: [&str; 30] = [
        "type",
        "properties",
        "items",
        "additionalProperties",
        "default",
        "enum",
        "required",
        "pattern",
        "format",
        "maxLength",
        "minimum",
        "multipleOf",
        "nullable",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "uniqueItems",
        "maxItems",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
        "rule",
        "fieldPath",
        "messageExpression",
        "metadata",
        "name",
    ];
    const TEXTS: [&str; 16] = [
        "object",
        "array",
        "string",
        "integer",
        "number",
        "map",
        "set",
        "date-time",
        "byte",
        "^[a-z]+$",
        "(",
        "name",
        "self.name == 'a'",
        "self.all(x, x != oldSelf)",
        ".name",
        "\u{7f}\u{301}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(&TEXTS[..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let key = proptest::sample::select(&KEYWORDS[..]).prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn nothing_panics_whatever_schema_and_object_hold(schema in schema_like(), object in schema_like(), old in schema_like()) {
        structural::check(&crd(schema.clone()), &Budget::default());
        if let Ok(schema) = Schema::from_json(&schema) {
            let mut object = object;
            schema.unknown_fields(&object);
            schema.prune(&mut object);
            schema.apply_defaults(&mut object);
            schema.judge(&object, Some(&old), &Budget::default());
        }
    }

    /// What is pruned once has nothing left to prune.
    #[test]
    fn pruning_is_idempotent(schema in schema_like(), object in schema_like()) {
        if let Ok(schema) = Schema::from_json(&schema) {
            let mut once = object;
            schema.prune(&mut once);
            let mut twice = once.clone();
            proptest::prop_assert_eq!(schema.prune(&mut twice), vec![]);
            proptest::prop_assert_eq!(&once, &twice);
        }
    }
}
