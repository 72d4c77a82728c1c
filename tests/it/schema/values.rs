//! Values against schemas: the API server's words, pruning and defaulting.

use serde_json::{Value, json};
use windlass_schema::{Schema, Violation};

/// A schema with one property `x`, and what is said about a value of it.
fn check(schema: Value, value: Value, expected: &[&str]) {
    let schema =
        Schema::from_json(&json!({"type": "object", "properties": {"x": schema}})).unwrap();
    let given: Vec<_> = schema
        .validate(&json!({"x": value}))
        .iter()
        .map(Violation::to_string)
        .collect();
    assert_eq!(given, expected);
}

// The expectations below were taken from apiextensions-apiserver 0.36.

#[test]
fn wrong_types_are_worded_as_upstream_does() {
    check(
        json!({"type": "string"}),
        json!(5),
        &[r#"x: Invalid value: "integer": x in body must be of type string: "integer""#],
    );
    check(
        json!({"type": "string"}),
        json!(null),
        &[r#"x: Invalid value: "null": x in body must be of type string: "null""#],
    );
    check(
        json!({"type": "string", "nullable": true}),
        json!(null),
        &[],
    );
    check(json!({"type": "integer"}), json!(1.0), &[]);
    check(json!({"type": "number"}), json!(1), &[]);
    let ios = json!({"x-kubernetes-int-or-string": true});
    check(
        ios,
        json!(true),
        &[r#"x: Invalid value: "boolean": x in body must be of type integer,string: "boolean""#],
    );
    // A fraction where an int32 is wanted gives two errors, one without a field.
    let two = [
        r#"x: Invalid value: "float64": x in body must be of type int32: "float64""#,
        r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x"#,
    ];
    check(
        json!({"type": "integer", "format": "int32"}),
        json!(1.5),
        &two,
    );
    // A format that the API server does not know for a type is none.
    let two = [
        r#"x: Invalid value: "number": x in body must be of type integer: "number""#,
        r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in x"#,
    ];
    check(json!({"type": "integer"}), json!(1.5), &two);
    for unknown in ["", "uint32", "int16", "date"] {
        check(
            json!({"type": "integer", "format": unknown}),
            json!(1.5),
            &two,
        );
    }
    // A list passes where a string of some format is wanted.
    check(json!({"type": "string", "format": "byte"}), json!([]), &[]);
}

#[test]
fn limits_are_worded_as_upstream_does() {
    check(
        json!({"type": "string", "maxLength": 1}),
        json!("éé"),
        &["x: Too long: may not be more than 1 byte"],
    );
    check(
        json!({"type": "string", "minLength": 1}),
        json!(""),
        &[r#"x: Invalid value: "": x in body should be at least 1 chars long"#],
    );
    check(
        json!({"type": "string", "pattern": "^a$"}),
        json!("b"),
        &[r#"x: Invalid value: "b": x in body should match '^a$'"#],
    );
    check(
        json!({"type": "integer", "maximum": 3}),
        json!(4),
        &["x: Invalid value: 4: x in body should be less than or equal to 3"],
    );
    let exclusive = json!({"type": "number", "minimum": 1.5, "exclusiveMinimum": true});
    check(
        exclusive,
        json!(1.5),
        &["x: Invalid value: 1.5: x in body should be greater than 1.5"],
    );
    check(
        json!({"type": "integer", "multipleOf": 2}),
        json!(3),
        &["x: Invalid value: 3: x in body should be a multiple of 2"],
    );
    check(
        json!({"type": "object", "maxProperties": 1}),
        json!({"a": 1, "b": 2}),
        &["x: Too many: 2: must have at most 1 item"],
    );
    check(
        json!({"type": "array", "minItems": 1}),
        json!([]),
        &["x: Invalid value: 0: x in body should have at least 1 items"],
    );
    check(
        json!({"type": "string", "format": "date"}),
        json!("1"),
        &[r#"x: Invalid value: "1": x in body must be of type date: "1""#],
    );
}

#[test]
fn enumerations_compare_as_go_converts() {
    let letters = json!({"type": "string", "enum": ["a", "b"]});
    check(
        letters,
        json!("c"),
        &[r#"x: Unsupported value: "c": supported values: "a", "b""#],
    );
    check(
        json!({"type": "integer", "enum": [1, 2]}),
        json!(3),
        &[r#"x: Unsupported value: 3: supported values: "1", "2""#],
    );
    check(json!({"type": "number", "enum": [1]}), json!(1.0), &[]);
    // `null` is never one of an enumeration, even when it is listed and allowed.
    let nullable = json!({"type": "string", "nullable": true, "enum": ["a", null]});
    check(
        nullable,
        json!(null),
        &[r#"x: Unsupported value: null: supported values: "a", "null""#],
    );
}

#[test]
fn junctors_show_the_branch_that_came_furthest() {
    let any = json!({"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^a"}]});
    check(
        any,
        json!("bb"),
        &[
            r#"<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)"#,
            "x: Too long: may not be more than 1 byte",
        ],
    );
    let one = json!({"type": "string", "oneOf": [{"maxLength": 3}, {"minLength": 1}]});
    check(
        one,
        json!("bb"),
        &[
            r#"<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives"#,
        ],
    );
    let all = json!({"type": "string", "allOf": [{"maxLength": 3}, {"minLength": 3}]});
    check(
        all,
        json!("bb"),
        &[
            r#"x: Invalid value: "bb": x in body should be at least 3 chars long"#,
            r#"<nil>: Invalid value: "": "x" must validate all the schemas (allOf)"#,
        ],
    );
    check(
        json!({"type": "string", "not": {"minLength": 1}}),
        json!("b"),
        &[r#"<nil>: Invalid value: "": "x" must not validate the schema (not)"#],
    );
}

#[test]
fn lists_of_type_set_and_map_hold_nothing_twice() {
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    check(
        set,
        json!(["a", "b", "a", "a"]),
        &[r#"x[2]: Duplicate value: "a""#],
    );
    let item = json!({"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}});
    let map = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"], "items": item});
    check(
        map.clone(),
        json!([{"name": "a", "port": 1}, {"name": "a"}, {"name": "a", "port": 1}]),
        &[r#"x[2]: Duplicate value: {"name":"a","port":1}"#],
    );
    check(map, json!([{}, {}]), &["x[1]: Duplicate value: {}"]);
}

#[test]
fn embedded_resources_need_their_type_and_good_metadata() {
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    check(
        embedded.clone(),
        json!({}),
        &["x.apiVersion: Required value", "x.kind: Required value"],
    );
    let bad =
        json!({"apiVersion": "a/b/c", "kind": "K", "metadata": {"name": "..", "namespace": "a.b"}});
    check(
        embedded,
        bad,
        &[
            r#"x.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c"#,
            "x.metadata.name: Invalid value: \"..\": may not be '..'",
            r#"x.metadata.namespace: Invalid value: "a.b": must not contain dots"#,
        ],
    );
}

#[test]
fn map_keys_are_spelt_with_dots_by_the_schema_and_in_brackets_by_paths() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "boolean"}});
    let schema =
        Schema::from_json(&json!({"type": "object", "properties": {"gates": schema}})).unwrap();
    let found = schema.validate(&json!({"gates": {"A.b": "yes"}}));
    assert_eq!(
        found[0].to_string(),
        r#"gates.A.b: Invalid value: "string": gates.A.b in body must be of type boolean: "string""#
    );
    assert_eq!(found[0].path.to_string(), "gates[A.b]");
}

#[test]
fn pruning_and_defaulting_come_before_validation() {
    let schema = Schema::from_json(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "mode": {"type": "string", "default": "auto"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "object"}}},
        "count": {"type": "integer"},
        "names": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }}}}))
    .unwrap();
    let mut object = json!({"kind": "K", "metadata": {"odd": 1}, "extra": 1, "spec": {
        "mode": null, "count": null, "free": {"any": {"thing": 1}, "known": {"gone": 1}}, "names": {"x": {"a": "1", "b": 2}},
    }});
    let pruned: Vec<_> = schema
        .prune(&mut object)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(pruned, ["extra", "spec.free.known.gone", "spec.names[x].b"]);
    schema.apply_defaults(&mut object);
    let expected = json!({"kind": "K", "metadata": {"odd": 1}, "spec": {
        "mode": "auto", "free": {"any": {"thing": 1}, "known": {}}, "names": {"x": {"a": "1"}},
    }});
    assert_eq!(object, expected);
}

#[test]
fn schemas_that_cannot_be_compiled_name_the_keyword() {
    let check = |schema: Value, expected: &str| {
        assert_eq!(
            Schema::from_json(&schema).unwrap_err().to_string(),
            expected
        )
    };
    check(
        json!({"type": "object", "properties": {"a": {"$ref": "#/x"}}}),
        "properties[a].$ref: Forbidden: $ref is not supported",
    );
    check(
        json!({"maxLength": "1"}),
        "maxLength: Invalid value: \"1\": must be an integer",
    );
    check(
        json!({"type": "text"}),
        "type: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
    );
    let nested: [fn(Value) -> Value; 3] = [
        |deep| json!({"type": "array", "items": deep}),
        |deep| json!({"allOf": [deep]}),
        |deep| json!({"properties": {"a": deep}}),
    ];
    for around in nested {
        let deep = (0..200).fold(json!({"type": "string"}), |deep, _| around(deep));
        assert!(
            Schema::from_json(&deep)
                .unwrap_err()
                .body()
                .ends_with("nested too deeply")
        );
    }
}

/// Keywords of JSON Schema that a CRD must not have may be there when they say nothing; the first
/// that says something is told, before all that is wrong otherwise.
#[test]
fn keywords_that_are_not_supported_may_be_empty() {
    let fault = |schema: Value| {
        Schema::from_json(&schema)
            .err()
            .map(|violation| violation.to_string())
    };
    let all = [
        "id",
        "$schema",
        "$ref",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
    ];
    for keyword in all {
        let empty = [
            Some(json!(null)),
            Some(json!("")),
            Some(json!({})).filter(|_| keyword != "additionalItems"),
        ];
        for value in empty.into_iter().flatten() {
            assert_eq!(fault(json!({keyword: value})), None, "{keyword}: {value}");
        }
        let expected = Some(format!("{keyword}: Forbidden: {keyword} is not supported"));
        let filled = [
            Some(json!("x")),
            Some(json!({"x": {}})),
            Some(json!({})).filter(|_| keyword == "additionalItems"),
        ];
        for value in filled.into_iter().flatten() {
            assert_eq!(
                fault(json!({keyword: value, "type": 1, "maxLength": "x"})),
                expected,
                "{keyword}: {value}"
            );
        }
    }
    assert_eq!(
        fault(json!({"$ref": "x", "definitions": {"x": {}}})),
        Some("$ref: Forbidden: $ref is not supported".to_owned())
    );
}

#[test]
fn a_keyword_that_is_null_says_nothing() {
    let keywords = [
        "additionalProperties",
        "allOf",
        "anyOf",
        "default",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "nullable",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "type",
        "uniqueItems",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    let schema: serde_json::Map<String, Value> = keywords
        .map(|keyword| (keyword.to_owned(), Value::Null))
        .into_iter()
        .collect();
    for value in [
        json!({"a": 1}),
        json!([1, 1]),
        json!(""),
        json!(1.5),
        json!(true),
    ] {
        check(schema.clone().into(), value, &[]);
    }
}
