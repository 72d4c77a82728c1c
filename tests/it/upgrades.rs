//! The step from one release to the next, as `release check --previous` judges it: what a version of a CRD takes no more and where that stands,
//! and what is told once.

use serde_json::{Value, json};

use crate::support::{root, windlass};

/// Findings about the step from a release with some objects to one with others, each beside a Namespace.
fn step(old: &[Value], new: &[Value]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    for (name, objects) in [("previous", old), ("out", new)] {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "foo-system"}});
        let documents: Vec<String> = std::iter::once(&namespace).chain(objects).map(Value::to_string).collect();
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("infrastructure-components.yaml"), documents.join("\n---\n")).unwrap();
        std::fs::copy(root().join("tests/gate/base/metadata.yaml"), folder.path().join(name).join("metadata.yaml")).unwrap();
    }
    let arguments = ["release", "check", "v0.2.0", "out", "--previous", "previous", "-o", "json"];
    let output = windlass(folder.path()).args(arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|found| found["rule"].as_str().unwrap().starts_with("upgrade-")).cloned().collect()
}

fn crd(versions: &[Value]) -> Value {
    let names = json!({"kind": "Foo", "listKind": "FooList", "plural": "foos", "singular": "foo"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.foo.dev"},
        "spec": {"group": "foo.dev", "names": names, "scope": "Namespaced", "versions": versions},
    })
}

/// A CRD in which each version has one of the schemas for its `spec`.
fn of_schemas<'v>(schemas: impl Iterator<Item = &'v Value>) -> Value {
    let version = |(at, spec): (usize, &Value)| {
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
        json!({"name": format!("v{}", at + 1), "served": true, "storage": at == 0, "schema": schema})
    };
    crd(&schemas.enumerate().map(version).collect::<Vec<_>>())
}

/// For each pair of schemas of a `spec`, what the new one takes less than the old one, and where in it that stands: each pair is a version of one
/// CRD.
fn narrowed(pairs: &[(Value, Value)]) -> Vec<Option<(String, String)>> {
    let mut told = vec![None; pairs.len()];
    for found in step(&[of_schemas(pairs.iter().map(|(old, _)| old))], &[of_schemas(pairs.iter().map(|(_, new)| new))]) {
        assert_eq!(found["rule"], "upgrade-schema-narrowed", "{found}");
        let path = found["path"].as_str().unwrap().strip_prefix("spec.versions[").unwrap();
        let (at, path) = path.split_once("].schema.openAPIV3Schema.properties.").unwrap();
        let at: usize = at.parse().unwrap();
        let before = format!("v{} of CustomResourceDefinition/foos.foo.dev takes less than before: ", at + 1);
        let what = found["message"].as_str().unwrap().strip_prefix(before.as_str()).unwrap();
        assert!(told[at].is_none(), "one finding for each version");
        told[at] = Some((what.to_owned(), path.to_owned()));
    }
    told
}

/// A schema as YAML has it.
fn read(schema: &str) -> Value {
    serde_yaml::from_str(schema).unwrap()
}

/// Old, new, what is told and where it stands in the schema.
const PLACES: &[[&str; 4]] = &[
    ["{type: string}", "{type: string, maxLength: 3}", "spec has a lower maxLength", "spec"],
    [
        "{type: object, properties: {size: {type: string}}}",
        "{type: object, properties: {size: {type: string, maxLength: 3}}}",
        "spec.size has a lower maxLength",
        "spec.properties.size",
    ],
    [
        "{type: array, items: {type: string}}",
        "{type: array, items: {type: string, maxLength: 3}}",
        "spec[] has a lower maxLength",
        "spec.items",
    ],
    [
        "{type: object, additionalProperties: {type: string}}",
        "{type: object, additionalProperties: {type: string, maxLength: 3}}",
        "spec.* has a lower maxLength",
        "spec.additionalProperties",
    ],
    [
        "{type: object, properties: {disks: {type: array, items: {type: object, properties: {size: {type: string}}}}}}",
        "{type: object, properties: {disks: {type: array, items: {type: object, properties: {size: {type: integer}}}}}}",
        "spec.disks[].size is integer and was string",
        "spec.properties.disks.items.properties.size",
    ],
    [
        "{type: object, properties: {pools: {type: object, additionalProperties: {type: array, items: {type: string}}}}}",
        "{type: object, properties: {pools: {type: object, additionalProperties: {type: array, items: {type: integer}}}}}",
        "spec.pools.*[] is integer and was string",
        "spec.properties.pools.additionalProperties.items",
    ],
    [
        "{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}}",
        "{type: object, properties: {a: {type: string}, b: {type: boolean}, c: {type: integer}}}",
        "spec.b is boolean and was string, spec.c is integer and was string",
        "spec.properties.b",
    ],
];

/// The place is that of the first field that takes less, in lists and maps too.
#[test]
fn what_takes_less_stands_where_the_schema_has_it() {
    let pairs: Vec<(Value, Value)> = PLACES.iter().map(|[old, new, ..]| (read(old), read(new))).collect();
    let expected: Vec<_> = PLACES.iter().map(|[.., what, path]| Some(((*what).to_owned(), (*path).to_owned()))).collect();
    assert_eq!(narrowed(&pairs), expected);
}

/// Eight changes are named, of more the rest is counted.
#[test]
fn many_changes_are_counted() {
    let fields = |count: usize| -> Value {
        let properties: Value = (0..count).map(|at| (format!("f{at:02}"), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties})
    };
    let pairs: Vec<(Value, Value)> = [1, 7, 8, 9, 10, 20].iter().map(|count| (fields(*count), fields(0))).collect();
    let gone = |count: usize| (0..count).map(|at| format!("spec.f{at:02} is gone")).collect::<Vec<_>>().join(", ");
    let expected = [gone(1), gone(7), gone(8), gone(8) + ", and 1 more", gone(8) + ", and 2 more", gone(8) + ", and 12 more"];
    let told: Vec<String> = narrowed(&pairs).into_iter().map(|told| told.unwrap().0).collect();
    assert_eq!(told, expected);
}

/// Old, new, and what is told of them.
const CHANGES: &[[&str; 3]] = &[
    ["{type: string}", "{}", ""],
    ["{}", "{type: string}", "is string and was anything"],
    // The order of an enumeration says nothing.
    ["{type: string, enum: [a, b]}", "{type: string, enum: [b, a]}", ""],
    ["{type: string, enum: [a]}", "{type: string, enum: [a, b]}", ""],
    ["{type: string, enum: [a, b, c]}", "{type: string, enum: [c]}", "does not take \"a\", \"b\" any more"],
    ["{type: string, pattern: ^a$}", "{type: string, pattern: ^a$}", ""],
    ["{type: string, pattern: ^a$}", "{type: string, pattern: ^b$}", "has another pattern"],
    ["{type: string, maxLength: 4}", "{type: string, maxLength: 3}", "has a lower maxLength"],
    ["{type: string, maxLength: 4}", "{type: string, maxLength: 4}", ""],
    ["{type: string, maxLength: 4}", "{type: string}", ""],
    ["{type: string, minLength: 1}", "{type: string, minLength: 2}", "has a higher minLength"],
    ["{type: string}", "{type: string, minLength: 0}", ""],
    ["{type: object, maxProperties: 2}", "{type: object, maxProperties: 1}", "has a lower maxProperties"],
    ["{type: object, minProperties: 2}", "{type: object, minProperties: 2}", ""],
    ["{type: integer}", "{type: integer, minimum: -5}", "has a higher minimum"],
    ["{type: integer, minimum: -5}", "{type: integer, minimum: -6}", ""],
    ["{type: integer, maximum: 0}", "{type: integer, maximum: -1}", "has a lower maximum"],
    ["{type: integer, maximum: 5}", "{type: integer, maximum: 5, exclusiveMaximum: true}", "does not take its maximum any more"],
    ["{type: integer, maximum: 5, exclusiveMaximum: true}", "{type: integer, maximum: 5, exclusiveMaximum: true}", ""],
    ["{type: string, nullable: true}", "{type: string, nullable: true}", ""],
    ["{type: string}", "{type: string, nullable: true}", ""],
    // Only formats of texts are checked.
    ["{type: string, format: ipv4}", "{type: string, format: ipv4}", ""],
    ["{type: string, format: ipv4}", "{type: string, format: ipv6}", "has the format ipv6"],
    ["{type: integer}", "{type: integer, format: byte}", ""],
    ["{type: string}", "{type: string, anyOf: [{type: string, maxLength: 1}]}", "has another anyOf"],
    ["{type: string, anyOf: [{maxLength: 1}, {minLength: 3}]}", "{type: string, anyOf: [{maxLength: 1}]}", "has another anyOf"],
    ["{type: string, allOf: [{maxLength: 1}]}", "{type: string, allOf: [{maxLength: 1}]}", ""],
    ["{type: string, not: {enum: [a]}}", "{type: string, not: {enum: [a]}}", ""],
    // A map has any field; one that is none any more is told once, not field by field.
    ["{type: object, properties: {a: {type: string}}}", "{type: object, additionalProperties: {type: string}}", ""],
    [
        "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}",
        "{type: object, properties: {b: {type: string}}}",
        "is no map any more",
    ],
];

/// API reference, JSONSchemaProps.
#[test]
fn what_takes_the_same_or_more_is_not_told() {
    let pairs: Vec<(Value, Value)> = CHANGES.iter().map(|[old, new, _]| (read(old), read(new))).collect();
    for ([old, new, expected], told) in CHANGES.iter().zip(narrowed(&pairs)) {
        let expected = (!expected.is_empty()).then(|| (format!("spec {expected}"), "spec".to_owned()));
        assert_eq!(told, expected, "{old} {new}");
    }
}
