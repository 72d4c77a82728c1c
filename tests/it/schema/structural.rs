//! Schemas of CRDs: what the API server rejects when they are created.

use serde_json::{Value, json};
use windlass_schema::{Violation, structural};
use windlass_source::budget::Budget;

use super::documents;
use crate::support::shared;

fn crds_below(folder: &std::path::Path) -> Vec<(String, Value)> {
    use rayon::prelude::*;
    let files = crate::support::files_below(folder);
    let read = |path: &std::path::PathBuf| -> Vec<(String, Value)> {
        let name = path.to_str().unwrap();
        let text = if name.contains("config/crd/bases/") && name.ends_with(".yaml") {
            std::fs::read_to_string(path).unwrap_or_default()
        } else {
            String::new()
        };
        if !text.contains("\nkind: CustomResourceDefinition") {
            return Vec::new();
        }
        let is_crd = |value: &Value| {
            value["kind"] == "CustomResourceDefinition"
                && value["apiVersion"] == "apiextensions.k8s.io/v1"
        };
        documents(path)
            .into_iter()
            .filter(is_crd)
            .map(|crd| (format!("{name}: {}", crd["metadata"]["name"]), crd))
            .collect()
    };
    files.par_iter().flat_map_iter(read).collect()
}

/// The real API server accepts the schemas of all CRDs of the corpus.
#[test]
fn schemas_of_the_corpus_are_structural() {
    use rayon::prelude::*;
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let crds = crds_below(&corpus);
    assert!(crds.len() > 90, "only {} CRDs found", crds.len());
    let rejected = |(name, crd): &(String, Value)| {
        structural::check(crd, &Budget::default())
            .iter()
            .map(|found| format!("{name}: {found}"))
            .collect::<Vec<_>>()
    };
    let rejected: Vec<_> = crds.par_iter().flat_map(rejected).collect();
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}

/// A CRD with one version, whose property `x` has this schema.
pub(super) fn crd(schema: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"x": schema}});
    json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}})
}

fn check_structural(schema: Value, expected: &[&str]) {
    const PREFIX: &str = "spec.validation.openAPIV3Schema.properties[x]";
    let given: Vec<_> = structural::check(&crd(schema), &Budget::default())
        .iter()
        .map(|violation| violation.to_string().replace(PREFIX, "@"))
        .collect();
    assert_eq!(given, expected);
}

#[test]
fn types_are_known_everywhere() {
    check_structural(
        json!({}),
        &["@.type: Required value: must not be empty for specified object fields"],
    );
    check_structural(
        json!({"type": "array", "items": {}}),
        &["@.items.type: Required value: must not be empty for specified array items"],
    );
    check_structural(
        json!({"type": "array"}),
        &["@.items: Required value: must be specified"],
    );
    check_structural(json!({"x-kubernetes-preserve-unknown-fields": true}), &[]);
    check_structural(
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        &[],
    );
    check_structural(
        json!({"type": "any"}),
        &[
            r#"@.type: Unsupported value: "any": supported values: "array", "boolean", "integer", "number", "object", "string""#,
        ],
    );
    let array = json!({"type": "array", "items": [{"type": "string"}]});
    check_structural(
        array,
        &["@.items: Forbidden: items must be a schema object and not an array"],
    );
    check_structural(
        json!({"$ref": "#/definitions/x"}),
        &["@.$ref: Forbidden: $ref is not supported"],
    );
}

#[test]
fn junctors_judge_and_never_define() {
    let any = json!({"type": "string", "anyOf": [{"type": "string", "description": "d"}, {"default": 1, "nullable": true}]});
    check_structural(
        any,
        &[
            "@.anyOf[0].description: Forbidden: must be empty to be structural",
            "@.anyOf[0].type: Forbidden: must be empty to be structural",
            "@.anyOf[1].default: Forbidden: must be undefined to be structural",
            "@.anyOf[1].nullable: Forbidden: must be false to be structural",
        ],
    );
    let root = json!({"type": "object", "anyOf": [{"properties": {"y": {"minLength": 1}}}], "properties": {"x": {"type": "string"}}});
    let found = structural::check(
        &json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": root}}]}}),
        &Budget::default(),
    );
    let expected = "spec.validation.openAPIV3Schema.properties[y]: Required value: because it is defined in \
                    spec.validation.openAPIV3Schema.anyOf[0].properties[y]";
    assert_eq!(
        found.iter().map(Violation::to_string).collect::<Vec<_>>(),
        [expected]
    );
}

#[test]
fn maps_lists_and_sets_hold_to_their_kind() {
    let string = json!({"type": "string"});
    let both =
        json!({"type": "object", "properties": {"a": string}, "additionalProperties": string});
    check_structural(
        both,
        &[
            "@.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ],
    );
    let item = |required: Value| json!({"type": "object", "required": required, "properties": {"name": string, "list": {"type": "array", "items": string}}});
    let map = |keys: Value, item: Value| json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": item});
    check_structural(map(json!(["name"]), item(json!(["name"]))), &[]);
    let optional = "@.items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a \
                    required property";
    check_structural(map(json!(["name"]), item(json!([]))), &[optional]);
    let unknown = r#"@.x-kubernetes-list-map-keys: Invalid value: ["id"]: entries must all be names of item properties"#;
    check_structural(map(json!(["id"]), item(json!([]))), &[unknown]);
    let scalar = r#"@.items.properties[list].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map"#;
    check_structural(map(json!(["list"]), item(json!(["list"]))), &[scalar]);
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object", "properties": {"a": string}}});
    check_structural(
        set,
        &[
            "@.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
        ],
    );
    check_structural(
        json!({"type": "string", "x-kubernetes-list-type": "set"}),
        &[
            r#"@.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified"#,
        ],
    );
}

#[test]
fn defaults_hold_to_their_schema_and_its_rules() {
    let wrong = json!({"type": "integer", "default": "1"});
    check_structural(
        wrong,
        &[r#"@.default: Invalid value: "string":  in body must be of type integer: "string""#],
    );
    let nested = json!({"type": "object", "default": {"a": 1, "b": 2}, "properties": {"a": {"type": "string"}}});
    check_structural(
        nested,
        &[
            r#"@.default: Invalid value: {"a":1,"b":2}: must not have unknown fields"#,
            r#"@.default.a: Invalid value: "integer": a in body must be of type string: "integer""#,
        ],
    );
    let rule = json!({"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 1", "message": "too small"}]});
    check_structural(rule, &["@.default: Invalid value: 1: too small"]);
    check_structural(
        json!({"type": "string", "nullable": true, "default": null}),
        &[],
    );
}

#[test]
fn the_root_leaves_type_and_metadata_alone() {
    let with = |root: Value, status: bool| {
        let mut version = json!({"name": "v1", "schema": {"openAPIV3Schema": root}});
        if status {
            version["subresources"] = json!({"status": {}});
        }
        let found = structural::check(
            &json!({"spec": {"versions": [version]}}),
            &Budget::default(),
        );
        found
            .iter()
            .map(|violation| {
                violation
                    .to_string()
                    .replace("spec.validation.openAPIV3Schema", "@")
            })
            .collect::<Vec<_>>()
    };
    let metadata = json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}});
    let expected = "@.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified";
    assert_eq!(with(metadata, false), [expected]);
    let defaulted =
        json!({"type": "object", "properties": {"kind": {"type": "string", "default": "K"}}});
    assert_eq!(
        with(defaulted, false),
        ["@.properties[kind].default: Forbidden: must not be set in top-level kind"]
    );
    assert_eq!(
        with(json!({"type": "object", "nullable": true}), false),
        ["@.nullable: Forbidden: nullable cannot be true at the root"]
    );
    assert!(
        with(json!({"type": "object", "minProperties": 1}), true)[0]
            .contains(": only [Description Type Format")
    );
    assert_eq!(
        with(json!({"type": "object", "minProperties": 1}), false),
        [""; 0]
    );
    // Versions with different schemas are checked one by one; one without a schema is rejected.
    let versions = json!([{"name": "v1", "schema": {"openAPIV3Schema": {"type": "array", "items": {"type": "string"}}}}, {"name": "v2"}]);
    let found: Vec<_> =
        structural::check(&json!({"spec": {"versions": versions}}), &Budget::default())
            .iter()
            .map(Violation::to_string)
            .collect();
    assert_eq!(
        found,
        [
            r#"spec.versions[0].schema.openAPIV3Schema.type: Invalid value: "array": must be object at the root"#,
            "spec.versions[1].schema.openAPIV3Schema: Required value",
        ]
    );
}

#[test]
fn rules_of_a_schema_compile_and_point_to_fields() {
    let with = |rule: Value| json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [rule]});
    check_structural(with(json!({"rule": "has(self.a)", "fieldPath": ".a"})), &[]);
    let at = "@.x-kubernetes-validations[0]";
    let check = |rule: Value, expected: String| check_structural(with(rule), &[&expected]);
    check(
        json!({"rule": "true", "fieldPath": ".b"}),
        format!(r#"{at}.fieldPath: Invalid value: ".b": must be a valid path"#),
    );
    check(
        json!({"rule": " "}),
        format!("{at}.rule: Required value: rule is not specified"),
    );
    check(
        json!({"rule": "true &&\ntrue"}),
        format!(
            "{at}.message: Required value: message must be specified if rule contains line breaks"
        ),
    );
    check(
        json!({"rule": "true", "optionalOldSelf": true}),
        format!(
            "{at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"
        ),
    );
    let printed = r#"{"Rule":"has(self.b)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}"#;
    check(
        json!({"rule": "has(self.b)"}),
        format!("{at}.rule: Invalid value: {printed}: compilation failed: undefined field 'b'"),
    );
    let own = json!({"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]});
    let list = json!({"type": "array", "maxItems": 9, "items": own});
    let expected = r#"@.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within @"#;
    check_structural(list, &[expected]);
}

#[test]
fn schemas_that_go_could_not_decode_are_told_by_keyword() {
    check_structural(
        json!({"type": ["string"], "maxLength": "1"}),
        &[
            r#"@.maxLength: Invalid value: "1": must be an integer"#,
            r#"@.type: Invalid value: ["string"]: must be a string"#,
        ],
    );
    let mut deep = json!({"type": "string"});
    for _ in 0..200 {
        deep = json!({"type": "array", "items": deep});
    }
    assert!(
        structural::check(&crd(deep), &Budget::default())[0]
            .body()
            .starts_with("Forbidden: must not be nested more than")
    );
}
