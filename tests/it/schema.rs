//! The API server's checks over upstream's CRDs and over the vectors that the real API server refused.

use serde_json::{Value, json};
use windlass::schema::{Schema, Violation, refusal, structural};
use windlass::text::source::Source;
use windlass::text::yaml::{Limits, parse};

use crate::support::shared;

const KUBEADM_CONFIGS: &str =
    "kubernetes-sigs+cluster-api/bootstrap/kubeadm/config/crd/bases/bootstrap.cluster.x-k8s.io_kubeadmconfigs.yaml";

/// The documents of a file, as Go reads them.
fn documents(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = parse(&Source::new(path.to_str().unwrap(), text.as_str()), &Limits::default());
    parsed.documents.into_iter().map(|document| document.root.into_json()).filter(|value| !value.is_null()).collect()
}

fn version_schema(crd: &Value, version: &str) -> Schema {
    let versions = crd["spec"]["versions"].as_array().unwrap();
    let found = versions.iter().find(|known| known["name"] == version).unwrap();
    Schema::from_json(&found["schema"]["openAPIV3Schema"]).unwrap()
}

/// What the API server would do with a new object, up to and without its CEL rules.
fn admitted(schema: &Schema, mut object: Value) -> Vec<Violation> {
    schema.prune(&mut object);
    schema.apply_defaults(&mut object);
    schema.validate(&object)
}

#[test]
fn vectors_that_the_schema_refuses_give_the_exact_text() {
    let (Some(vectors), Some(corpus)) = (shared("vectors/render"), shared("corpus")) else { return };
    let crd = &documents(&corpus.join(KUBEADM_CONFIGS))[0];
    let index: Value = serde_json::from_str(&std::fs::read_to_string(vectors.join("index.json")).unwrap()).unwrap();
    let cases: Vec<_> = index["cases"].as_array().unwrap().iter().filter(|case| case["error"]["source"] == "schema").collect();
    assert!(cases.len() >= 30, "only {} cases found", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let object = documents(&vectors.join(name).join("input.yaml")).into_iter().find(|found| found["kind"] == "KubeadmConfig").unwrap();
        let schema = version_schema(crd, object["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap());
        let subject = object["metadata"]["name"].as_str().unwrap().to_owned();
        let given = refusal("bootstrap.cluster.x-k8s.io", "KubeadmConfig", &subject, &admitted(&schema, object));
        let expected = std::fs::read_to_string(vectors.join(name).join("expected.error.txt")).unwrap();
        if given != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  given    {given}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn vectors_that_were_rendered_pass_the_schema() {
    let (Some(vectors), Some(corpus)) = (shared("vectors/render"), shared("corpus")) else { return };
    let crd = &documents(&corpus.join(KUBEADM_CONFIGS))[0];
    let schemas = ["v1beta1", "v1beta2"].map(|version| (version, version_schema(crd, version)));
    let index: Value = serde_json::from_str(&std::fs::read_to_string(vectors.join("index.json")).unwrap()).unwrap();
    let rendered = |case: &&Value| case["error"].is_null() && case["profile"] != "v1.10.10";
    let (mut count, mut refused) = (0, Vec::new());
    for case in index["cases"].as_array().unwrap().iter().filter(rendered) {
        let name = case["name"].as_str().unwrap();
        let object = documents(&vectors.join(name).join("input.yaml")).into_iter().find(|found| found["kind"] == "KubeadmConfig").unwrap();
        let version = object["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let schema = &schemas.iter().find(|(known, _)| *known == version).unwrap().1;
        count += 1;
        refused.extend(admitted(schema, object).iter().map(|violation| format!("{name}: {violation}")));
    }
    assert!(count > 300, "only {count} cases found");
    assert_eq!(refused, [""; 0]);
}

/// A schema with one property `x`, and what is said about a value of it.
fn check(schema: Value, value: Value, expected: &[&str]) {
    let schema = Schema::from_json(&json!({"type": "object", "properties": {"x": schema}})).unwrap();
    let given: Vec<_> = schema.validate(&json!({"x": value})).iter().map(Violation::to_string).collect();
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
    check(json!({"type": "string", "nullable": true}), json!(null), &[]);
    check(json!({"type": "integer"}), json!(1.0), &[]);
    check(json!({"type": "number"}), json!(1), &[]);
    let ios = json!({"x-kubernetes-int-or-string": true});
    check(ios, json!(true), &[r#"x: Invalid value: "boolean": x in body must be of type integer,string: "boolean""#]);
    // A fraction where an int32 is wanted gives two errors, one without a field.
    let two = [
        r#"x: Invalid value: "float64": x in body must be of type int32: "float64""#,
        r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x"#,
    ];
    check(json!({"type": "integer", "format": "int32"}), json!(1.5), &two);
    // A list passes where a string of some format is wanted.
    check(json!({"type": "string", "format": "byte"}), json!([]), &[]);
}

#[test]
fn limits_are_worded_as_upstream_does() {
    check(json!({"type": "string", "maxLength": 1}), json!("éé"), &["x: Too long: may not be more than 1 byte"]);
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
    check(exclusive, json!(1.5), &["x: Invalid value: 1.5: x in body should be greater than 1.5"]);
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
    check(letters, json!("c"), &[r#"x: Unsupported value: "c": supported values: "a", "b""#]);
    check(
        json!({"type": "integer", "enum": [1, 2]}),
        json!(3),
        &[r#"x: Unsupported value: 3: supported values: "1", "2""#],
    );
    check(json!({"type": "number", "enum": [1]}), json!(1.0), &[]);
    // `null` is never one of an enumeration, even when it is listed and allowed.
    let nullable = json!({"type": "string", "nullable": true, "enum": ["a", null]});
    check(nullable, json!(null), &[r#"x: Unsupported value: null: supported values: "a", "null""#]);
}

#[test]
fn junctors_show_the_branch_that_came_furthest() {
    let any = json!({"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^a"}]});
    check(
        any,
        json!("bb"),
        &[r#"<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)"#, "x: Too long: may not be more than 1 byte"],
    );
    let one = json!({"type": "string", "oneOf": [{"maxLength": 3}, {"minLength": 1}]});
    check(
        one,
        json!("bb"),
        &[r#"<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives"#],
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
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    check(set, json!(["a", "b", "a", "a"]), &[r#"x[2]: Duplicate value: "a""#]);
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
    check(embedded.clone(), json!({}), &["x.apiVersion: Required value", "x.kind: Required value"]);
    let bad = json!({"apiVersion": "a/b/c", "kind": "K", "metadata": {"name": "..", "namespace": "a.b"}});
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
    let schema = Schema::from_json(&json!({"type": "object", "properties": {"gates": schema}})).unwrap();
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
    let pruned: Vec<_> = schema.prune(&mut object).iter().map(ToString::to_string).collect();
    assert_eq!(pruned, ["extra", "spec.free.known.gone", "spec.names[x].b"]);
    schema.apply_defaults(&mut object);
    let expected = json!({"kind": "K", "metadata": {"odd": 1}, "spec": {
        "mode": "auto", "free": {"any": {"thing": 1}, "known": {}}, "names": {"x": {"a": "1"}},
    }});
    assert_eq!(object, expected);
}

#[test]
fn schemas_that_cannot_be_compiled_name_the_keyword() {
    let check = |schema: Value, expected: &str| assert_eq!(Schema::from_json(&schema).unwrap_err().to_string(), expected);
    check(
        json!({"type": "object", "properties": {"a": {"$ref": "#/x"}}}),
        "properties[a].$ref: Forbidden: $ref is not supported",
    );
    check(json!({"maxLength": "1"}), "maxLength: Invalid value: \"1\": must be an integer");
    let mut deep = json!({"type": "string"});
    for _ in 0..200 {
        deep = json!({"type": "array", "items": deep});
    }
    assert!(Schema::from_json(&deep).unwrap_err().body.ends_with("nested too deeply"));
}

/// A schema with one property `x`, and what its rules say about a value of it: refusals, then what could not be judged.
fn check_rules(schema: Value, value: Value, old: Option<Value>, expected: &[&str], gaps: usize) {
    let schema = Schema::from_json(&json!({"type": "object", "properties": {"x": schema}})).unwrap();
    let old = old.map(|old| json!({"x": old}));
    let verdict = schema.judge(&json!({"x": value}), old.as_ref());
    let given: Vec<_> = verdict.violations.iter().map(Violation::to_string).collect();
    assert_eq!(given, expected);
    assert_eq!(verdict.not_evaluable.len(), gaps, "{:?}", verdict.not_evaluable);
}

fn ruled(mut schema: Value, rule: Value) -> Value {
    schema["x-kubernetes-validations"] = json!([rule]);
    schema
}

#[test]
fn rules_refuse_in_upstream_words() {
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "object", "properties": {"c.d": {"type": "string"}}}}});
    let check = |rule: Value, expected: &str| check_rules(ruled(object.clone(), rule), json!({"a": "1"}), None, &[expected], 0);
    check(json!({"rule": "has(self.b)"}), "x: Invalid value: failed rule: has(self.b)");
    check(json!({"rule": "false", "message": " no "}), "x: Invalid value: no");
    check(
        json!({"rule": "false", "message": "no", "reason": "FieldValueForbidden", "fieldPath": ".a"}),
        "x.a: Forbidden: no",
    );
    check(
        json!({"rule": "false", "message": "no", "reason": "FieldValueRequired", "fieldPath": ".b['c.d']"}),
        "x.b.c.d: Required value: no",
    );
    check(
        json!({"rule": "self.b.c == ''"}),
        r#"x: Invalid value: "object": no such key: b evaluating rule: self.b.c == ''"#,
    );
    let integer = |rule: Value| ruled(json!({"type": "integer"}), rule);
    let told = json!({"rule": "self > 5", "messageExpression": "'got ' + string(self)", "message": "m"});
    check_rules(integer(told), json!(3), None, &["x: Invalid value: 3: got 3"], 0);
    let broken = json!({"rule": "self > 5", "messageExpression": "string(1 / 0)", "message": "m"});
    check_rules(integer(broken), json!(3), None, &["x: Invalid value: 3: m"], 0);
    let unique = json!({"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let unique = ruled(unique, json!({"rule": "self.all(x, self.exists_one(y, x.name == y.name))", "message": "name must be unique"}));
    check_rules(unique, json!([{"name": "a"}, {"name": "a"}]), None, &["x: Invalid value: name must be unique"], 0);
}

#[test]
fn rules_about_a_transition_need_an_old_value() {
    let immutable = ruled(json!({"type": "string"}), json!({"rule": "self == oldSelf", "message": "immutable"}));
    check_rules(immutable.clone(), json!("a"), None, &[], 0);
    check_rules(immutable.clone(), json!("a"), Some(json!("a")), &[], 0);
    check_rules(immutable.clone(), json!("a"), Some(json!("b")), &[r#"x: Invalid value: "a": immutable"#], 0);
    let optional = json!({"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "message": "immutable", "optionalOldSelf": true});
    let optional = ruled(json!({"type": "string"}), optional);
    check_rules(optional.clone(), json!("a"), None, &[], 0);
    check_rules(optional, json!("a"), Some(json!("b")), &[r#"x: Invalid value: "a": immutable"#], 0);
    // Items of a map list are compared with those of the same key.
    let item = json!({"type": "object", "properties": {"n": {"type": "string"}, "v": {"type": "integer"}}});
    let item = ruled(item, json!({"rule": "self.v >= oldSelf.v", "message": "must grow"}));
    let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"], "items": item});
    let (new, old) = (json!([{"n": "b", "v": 1}, {"n": "a", "v": 5}]), json!([{"n": "a", "v": 6}, {"n": "b", "v": 1}]));
    check_rules(list, new, Some(old), &["x[1]: Invalid value: must grow"], 0);
}

#[test]
fn rules_that_cannot_be_judged_are_told() {
    let string = |rule: &str| ruled(json!({"type": "string"}), json!({"rule": rule}));
    check_rules(string("self.unknownFunction()"), json!("a"), None, &[], 1);
    check_rules(string("optional.of(self).?x.hasValue()"), json!("a"), None, &[], 1);
    check_rules(string("self =="), json!("a"), None, &[], 1);
    check_rules(string("self"), json!("a"), None, &[], 1);
    let nested = "[1, 2].all(a, [1, 2].all(b, [1, 2].all(c, [1, 2].all(d, [1, 2].all(e, self.all(f, f != ''))))))";
    let long: Vec<_> = (0..100).map(|n| n.to_string()).collect();
    check_rules(
        ruled(json!({"type": "array", "items": {"type": "string"}}), json!({"rule": nested})),
        json!(long),
        None,
        &[],
        1,
    );
    // A set in another order is equal for the API server, and not for our library.
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    check_rules(ruled(set.clone(), json!({"rule": "self == oldSelf"})), json!(["a", "b"]), Some(json!(["b", "a"])), &[], 1);
    check_rules(ruled(set, json!({"rule": "self == ['b', 'a']"})), json!(["a", "b"]), None, &[], 1);
}

#[test]
fn rules_wait_until_the_object_is_otherwise_valid() {
    let blocked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing \
                   errors to complete validation";
    let schema = ruled(json!({"type": "string", "maxLength": 1}), json!({"rule": "self != 'ab'"}));
    check_rules(schema, json!("ab"), None, &["x: Too long: may not be more than 1 byte", blocked], 0);
    let schema = ruled(json!({"type": "integer", "maximum": 1}), json!({"rule": "self < 2", "message": "no"}));
    check_rules(
        schema,
        json!(2),
        None,
        &["x: Invalid value: 2: x in body should be less than or equal to 1", "x: Invalid value: 2: no"],
        0,
    );
}

#[test]
fn rules_see_fields_and_strings_as_the_api_server_shows_them() {
    let schema = json!({"type": "object", "properties": {
        "a-b": {"type": "string"}, "my_field": {"type": "string"}, "namespace": {"type": "string"}, "when": {"type": "string", "format": "date-time"},
        "data": {"type": "string", "format": "byte"}, "port": {"x-kubernetes-int-or-string": true}, "none": {"type": "string", "nullable": true},
        "count": {"type": "number"}, "name": {"type": "string"},
    }});
    let value = json!({"a-b": "1", "my_field": "2", "namespace": "3", "when": "2024-02-29T12:00:00Z", "data": "aGk=", "port": "50%",
        "none": null, "count": 2, "name": "é1"});
    for rule in [
        "self.a__dash__b == '1' && self.my_field == '2' && self.__namespace__ == '3'",
        "self.when > timestamp('2024-01-01T00:00:00Z') && self.when.getDate() == 29",
        "size(self.data) == 2 && size(self.name) == 2",
        "type(self.port) == string ? self.port == '50%' : self.port == 50",
        "!has(self.none) && self.count == 2.0",
        r"self.name.matches('^\\S\\d$') && !self.name.matches('^\\w')",
    ] {
        check_rules(ruled(schema.clone(), json!({"rule": rule})), value.clone(), None, &[], 0);
    }
}

#[test]
fn rules_of_upstreams_kubeadm_config_are_all_evaluable() {
    let Some(corpus) = shared("corpus") else { return };
    let schema = version_schema(&documents(&corpus.join(KUBEADM_CONFIGS))[0], "v1beta2");
    let argument = |value: &str| json!({"name": "v", "value": value});
    let object = json!({"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "metadata": {"name": "n"}, "spec": {
        "joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [argument("1"), argument("2")]}},
        "diskSetup": {"partitions": [{"device": "/dev/sdb"}, {"device": "/dev/sdc", "diskLayout": [{"percentage": 5, "partitionType": "ext4"}]}]},
    }});
    let verdict = schema.judge(&object, None);
    let given: Vec<_> = verdict.violations.iter().map(Violation::to_string).collect();
    let expected = [
        "spec.diskSetup.partitions[0]: Invalid value: exactly one of the fields in [layout diskLayout] must be set",
        "spec.diskSetup.partitions[1].diskLayout[0].partitionType: Invalid value: \"ext4\": partitionType must be one of Linux, LinuxSwap, \
         LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a full GPT partition GUID",
        "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs: Invalid value: kubeletExtraArgs name must be unique",
    ];
    assert_eq!(given, expected);
    assert_eq!(verdict.not_evaluable, []);
}

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
        let is_crd = |value: &Value| value["kind"] == "CustomResourceDefinition" && value["apiVersion"] == "apiextensions.k8s.io/v1";
        documents(path).into_iter().filter(is_crd).map(|crd| (format!("{name}: {}", crd["metadata"]["name"]), crd)).collect()
    };
    files.par_iter().flat_map_iter(read).collect()
}

/// The real API server accepts the schemas of all CRDs of the corpus.
#[test]
fn schemas_of_the_corpus_are_structural() {
    use rayon::prelude::*;
    let Some(corpus) = shared("corpus") else { return };
    let crds = crds_below(&corpus);
    assert!(crds.len() > 90, "only {} CRDs found", crds.len());
    let refused = |(name, crd): &(String, Value)| structural::check(crd).iter().map(|found| format!("{name}: {found}")).collect::<Vec<_>>();
    let refused: Vec<_> = crds.par_iter().flat_map(refused).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// A CRD with one version, whose property `x` has this schema.
fn crd(schema: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"x": schema}});
    json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}})
}

fn check_structural(schema: Value, expected: &[&str]) {
    const PREFIX: &str = "spec.validation.openAPIV3Schema.properties[x]";
    let given: Vec<_> = structural::check(&crd(schema)).iter().map(|violation| violation.to_string().replace(PREFIX, "@")).collect();
    assert_eq!(given, expected);
}

#[test]
fn types_are_known_everywhere() {
    check_structural(json!({}), &["@.type: Required value: must not be empty for specified object fields"]);
    check_structural(
        json!({"type": "array", "items": {}}),
        &["@.items.type: Required value: must not be empty for specified array items"],
    );
    check_structural(json!({"type": "array"}), &["@.items: Required value: must be specified"]);
    check_structural(json!({"x-kubernetes-preserve-unknown-fields": true}), &[]);
    check_structural(json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}), &[]);
    check_structural(
        json!({"type": "any"}),
        &[r#"@.type: Unsupported value: "any": supported values: "array", "boolean", "integer", "number", "object", "string""#],
    );
    let array = json!({"type": "array", "items": [{"type": "string"}]});
    check_structural(array, &["@.items: Forbidden: items must be a schema object and not an array"]);
    check_structural(json!({"$ref": "#/definitions/x"}), &["@.$ref: Forbidden: $ref is not supported"]);
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
    let found = structural::check(&json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": root}}]}}));
    let expected = "spec.validation.openAPIV3Schema.properties[y]: Required value: because it is defined in \
                    spec.validation.openAPIV3Schema.anyOf[0].properties[y]";
    assert_eq!(found.iter().map(Violation::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn maps_lists_and_sets_hold_to_their_kind() {
    let string = json!({"type": "string"});
    let both = json!({"type": "object", "properties": {"a": string}, "additionalProperties": string});
    check_structural(both, &["@.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]);
    let item = |required: Value| json!({"type": "object", "required": required, "properties": {"name": string, "list": {"type": "array", "items": string}}});
    let map = |keys: Value, item: Value| json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": item});
    check_structural(map(json!(["name"]), item(json!(["name"]))), &[]);
    let optional = "@.items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a \
                    required property";
    check_structural(map(json!(["name"]), item(json!([]))), &[optional]);
    let unknown = r#"@.x-kubernetes-list-map-keys: Invalid value: ["id"]: entries must all be names of item properties"#;
    check_structural(map(json!(["id"]), item(json!([]))), &[unknown]);
    let scalar =
        r#"@.items.properties[list].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map"#;
    check_structural(map(json!(["list"]), item(json!(["list"]))), &[scalar]);
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object", "properties": {"a": string}}});
    check_structural(
        set,
        &["@.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"],
    );
    check_structural(
        json!({"type": "string", "x-kubernetes-list-type": "set"}),
        &[r#"@.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified"#],
    );
}

#[test]
fn defaults_hold_to_their_schema_and_its_rules() {
    let wrong = json!({"type": "integer", "default": "1"});
    check_structural(wrong, &[r#"@.default: Invalid value: "string":  in body must be of type integer: "string""#]);
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
    check_structural(json!({"type": "string", "nullable": true, "default": null}), &[]);
}

#[test]
fn the_root_leaves_type_and_metadata_alone() {
    let with = |root: Value, status: bool| {
        let mut version = json!({"name": "v1", "schema": {"openAPIV3Schema": root}});
        if status {
            version["subresources"] = json!({"status": {}});
        }
        let found = structural::check(&json!({"spec": {"versions": [version]}}));
        found.iter().map(|violation| violation.to_string().replace("spec.validation.openAPIV3Schema", "@")).collect::<Vec<_>>()
    };
    let metadata = json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}});
    let expected = "@.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified";
    assert_eq!(with(metadata, false), [expected]);
    let defaulted = json!({"type": "object", "properties": {"kind": {"type": "string", "default": "K"}}});
    assert_eq!(with(defaulted, false), ["@.properties[kind].default: Forbidden: must not be set in top-level kind"]);
    assert_eq!(
        with(json!({"type": "object", "nullable": true}), false),
        ["@.nullable: Forbidden: nullable cannot be true at the root"]
    );
    assert!(with(json!({"type": "object", "minProperties": 1}), true)[0].contains(": only [Description Type Format"));
    assert_eq!(with(json!({"type": "object", "minProperties": 1}), false), [""; 0]);
    // Versions with different schemas are judged one by one; one without a schema is refused.
    let versions = json!([{"name": "v1", "schema": {"openAPIV3Schema": {"type": "array", "items": {"type": "string"}}}}, {"name": "v2"}]);
    let found: Vec<_> = structural::check(&json!({"spec": {"versions": versions}})).iter().map(Violation::to_string).collect();
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
    check(json!({"rule": " "}), format!("{at}.rule: Required value: rule is not specified"));
    check(
        json!({"rule": "true &&\ntrue"}),
        format!("{at}.message: Required value: message must be specified if rule contains line breaks"),
    );
    check(
        json!({"rule": "true", "optionalOldSelf": true}),
        format!("{at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"),
    );
    let printed = r#"{"Rule":"has(self.b)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}"#;
    check(
        json!({"rule": "has(self.b)"}),
        format!("{at}.rule: Invalid value: {printed}: compilation failed: undefined field 'b'"),
    );
    let list = json!({"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}});
    let expected = r#"@.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within @"#;
    check_structural(list, &[expected]);
}

#[test]
fn schemas_that_go_could_not_decode_are_told_by_keyword() {
    check_structural(
        json!({"type": ["string"], "maxLength": "1"}),
        &[r#"@.maxLength: Invalid value: "1": must be an integer"#, r#"@.type: Invalid value: ["string"]: must be a string"#],
    );
    let mut deep = json!({"type": "string"});
    for _ in 0..200 {
        deep = json!({"type": "array", "items": deep});
    }
    assert!(structural::check(&crd(deep))[0].body.starts_with("Forbidden: must not be nested more than"));
}

#[test]
fn our_own_crds_are_structural_and_their_rules_are_judged() {
    let crds = windlass::emit::crds::crds();
    for crd in &crds {
        assert_eq!(structural::check(crd), []);
    }
    let check = |spec: Value, expected: &[&str]| {
        for version in ["v1beta1", "v1beta2"] {
            let object = json!({"apiVersion": format!("bootstrap.windlass.dev/{version}"), "kind": "WindlassConfig", "metadata": {"name": "n"}, "spec": spec});
            let verdict = version_schema(&crds[0], version).judge(&object, None);
            let given: Vec<_> = verdict.violations.iter().map(Violation::to_string).collect();
            assert_eq!(given, expected, "{version}");
            assert_eq!(verdict.not_evaluable, [], "{version}");
        }
    };
    check(
        json!({"format": "ignition", "cloudConfig": {"templating": "none"}, "compression": "gzip"}),
        &[
            r#"spec.cloudConfig: Forbidden: not supported when spec.format is set to: "ignition""#,
            r#"spec.compression: Forbidden: gzip needs spec.ignition.version "3.4" when spec.format is set to: "ignition""#,
        ],
    );
    check(json!({"format": "ignition", "ignition": {"version": "3.4"}, "compression": "gzip"}), &[]);
    let windows = json!({
        "platform": "windows", "format": "ignition", "bootCommands": ["x"], "mounts": [["a", "b"]], "directories": [{"path": r"C:\a", "owner": "x"}],
        "clusterConfiguration": {"certificatesDir": "/x"}, "initConfiguration": {"patches": {"directory": "/x"}},
        "joinConfiguration": {"controlPlane": {}},
    });
    let not = "Forbidden: not supported when spec.platform is set to: \"windows\"";
    let expected = [
        "spec.format: Forbidden: ignition is not supported when spec.platform is set to: \"windows\"".to_owned(),
        format!("spec.bootCommands: {not}"),
        format!("spec.mounts: {not}"),
        format!("spec.clusterConfiguration: {not}"),
        format!("spec.initConfiguration: {not}"),
        format!("spec.joinConfiguration.controlPlane: {not}"),
        "spec.directories: Forbidden: owner and permissions are not supported when spec.platform is set to: \"windows\"".to_owned(),
    ];
    check(windows, &expected.iter().map(String::as_str).collect::<Vec<_>>());
    check(
        json!({"ignition": {"version": "3.4", "containerLinuxConfig": {"strict": true}}}),
        &[r#"spec.ignition.containerLinuxConfig: Forbidden: can be set only with spec.ignition.version "2.3""#],
    );
    check(
        json!({"ignition": {"additionalConfig": "{}"}}),
        &[r#"spec.ignition.additionalConfig: Forbidden: can be set only with spec.ignition.version "3.4""#],
    );
    let source = json!({"secret": {"name": "s", "key": "k"}, "configMap": {"name": "s", "key": "k"}});
    let files = json!([{"path": "/a", "encoding": "gzip", "transferEncoding": "base64"}, {"path": "/b", "contentFrom": source}]);
    check(
        json!({"files": files, "directories": [{"path": "relative"}]}),
        &[
            r#"spec.directories[0].path: Invalid value: "relative": path must be absolute"#,
            "spec.files[0].transferEncoding: Forbidden: only one of encoding or transferEncoding may be set",
            "spec.files[1].contentFrom: Invalid value: exactly one of the fields in [secret configMap] must be set",
        ],
    );
}

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
            proptest::collection::btree_map(key, inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn nothing_panics_whatever_schema_and_object_hold(schema in schema_like(), object in schema_like(), old in schema_like()) {
        structural::check(&crd(schema.clone()));
        if let Ok(schema) = Schema::from_json(&schema) {
            let mut object = object;
            schema.unknown_fields(&object);
            schema.prune(&mut object);
            schema.apply_defaults(&mut object);
            schema.judge(&object, Some(&old));
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
