//! CEL rules: what they reject, and what we say about rules that we cannot check.

use serde_json::{Value, json};
use windlass_capi::api::names::Version;
use windlass_schema::{Schema, Violation, structural};
use windlass_source::budget::{Budget, Resource};

use super::kubeadm_config;

/// A schema with one property `x`, and what its rules say about a value of it: rejections, then what
/// could not be checked.
fn check_rules(schema: Value, value: Value, old: Option<Value>, expected: &[&str], gaps: usize) {
    let schema =
        Schema::from_json(&json!({"type": "object", "properties": {"x": schema}})).unwrap();
    let old = old.map(|old| json!({"x": old}));
    let verdict = schema.judge(&json!({"x": value}), old.as_ref(), &Budget::default());
    let given: Vec<_> = verdict
        .violations
        .iter()
        .map(Violation::to_string)
        .collect();
    assert_eq!(given, expected);
    assert_eq!(
        verdict.not_evaluable.len(),
        gaps,
        "{:?}",
        verdict.not_evaluable
    );
}

fn ruled(mut schema: Value, rule: Value) -> Value {
    schema["x-kubernetes-validations"] = json!([rule]);
    schema
}

#[test]
fn rules_reject_in_upstream_words() {
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "object", "properties": {"c.d": {"type": "string"}}}}});
    let check = |rule: Value, expected: &str| {
        check_rules(
            ruled(object.clone(), rule),
            json!({"a": "1"}),
            None,
            &[expected],
            0,
        )
    };
    check(
        json!({"rule": "has(self.b)"}),
        "x: Invalid value: failed rule: has(self.b)",
    );
    check(
        json!({"rule": "false", "message": " no "}),
        "x: Invalid value: no",
    );
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
    let told =
        json!({"rule": "self > 5", "messageExpression": "'got ' + string(self)", "message": "m"});
    check_rules(
        integer(told),
        json!(3),
        None,
        &["x: Invalid value: 3: got 3"],
        0,
    );
    let broken = json!({"rule": "self > 5", "messageExpression": "string(1 / 0)", "message": "m"});
    check_rules(
        integer(broken),
        json!(3),
        None,
        &["x: Invalid value: 3: m"],
        0,
    );
    let unique = json!({"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let unique = ruled(
        unique,
        json!({"rule": "self.all(x, self.exists_one(y, x.name == y.name))", "message": "name must be unique"}),
    );
    check_rules(
        unique,
        json!([{"name": "a"}, {"name": "a"}]),
        None,
        &["x: Invalid value: name must be unique"],
        0,
    );
}

#[test]
fn rules_about_a_transition_need_an_old_value() {
    let immutable = ruled(
        json!({"type": "string"}),
        json!({"rule": "self == oldSelf", "message": "immutable"}),
    );
    check_rules(immutable.clone(), json!("a"), None, &[], 0);
    check_rules(immutable.clone(), json!("a"), Some(json!("a")), &[], 0);
    check_rules(
        immutable.clone(),
        json!("a"),
        Some(json!("b")),
        &[r#"x: Invalid value: "a": immutable"#],
        0,
    );
    let optional = json!({"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "message": "immutable", "optionalOldSelf": true});
    let optional = ruled(json!({"type": "string"}), optional);
    check_rules(optional.clone(), json!("a"), None, &[], 0);
    check_rules(
        optional,
        json!("a"),
        Some(json!("b")),
        &[r#"x: Invalid value: "a": immutable"#],
        0,
    );
    // Items of a map list are compared with those of the same key.
    let item = json!({"type": "object", "properties": {"n": {"type": "string"}, "v": {"type": "integer"}}});
    let item = ruled(
        item,
        json!({"rule": "self.v >= oldSelf.v", "message": "must grow"}),
    );
    let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"], "items": item});
    let (new, old) = (
        json!([{"n": "b", "v": 1}, {"n": "a", "v": 5}]),
        json!([{"n": "a", "v": 6}, {"n": "b", "v": 1}]),
    );
    check_rules(list, new, Some(old), &["x[1]: Invalid value: must grow"], 0);
}

#[test]
fn rules_that_cannot_be_judged_are_told() {
    let string = |rule: &str| ruled(json!({"type": "string"}), json!({"rule": rule}));
    check_rules(string("self.unknownFunction()"), json!("a"), None, &[], 1);
    check_rules(
        string("optional.of(self).?x.hasValue()"),
        json!("a"),
        None,
        &[],
        1,
    );
    check_rules(string("self =="), json!("a"), None, &[], 1);
    check_rules(string("self"), json!("a"), None, &[], 1);
    let nested = "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d != ''))))";
    let long: Vec<_> = (0..100).map(|n| n.to_string()).collect();
    check_rules(
        ruled(
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"rule": nested}),
        ),
        json!(long),
        None,
        &[],
        1,
    );
    // A set in another order is equal for the API server, and not for our library.
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    check_rules(
        ruled(set.clone(), json!({"rule": "self == oldSelf"})),
        json!(["a", "b"]),
        Some(json!(["b", "a"])),
        &[],
        1,
    );
    check_rules(
        ruled(set, json!({"rule": "self == ['b', 'a']"})),
        json!(["a", "b"]),
        None,
        &[],
        1,
    );
}

#[test]
fn rules_wait_until_the_object_is_otherwise_valid() {
    let blocked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing \
                   errors to complete validation";
    let schema = ruled(
        json!({"type": "string", "maxLength": 1}),
        json!({"rule": "self != 'ab'"}),
    );
    check_rules(
        schema,
        json!("ab"),
        None,
        &["x: Too long: may not be more than 1 byte", blocked],
        0,
    );
    let schema = ruled(
        json!({"type": "integer", "maximum": 1}),
        json!({"rule": "self < 2", "message": "no"}),
    );
    check_rules(
        schema,
        json!(2),
        None,
        &[
            "x: Invalid value: 2: x in body should be less than or equal to 1",
            "x: Invalid value: 2: no",
        ],
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
        check_rules(
            ruled(schema.clone(), json!({"rule": rule})),
            value.clone(),
            None,
            &[],
            0,
        );
    }
}

#[test]
fn rules_of_upstreams_kubeadm_config_are_all_evaluable() {
    let schema = kubeadm_config(Version::V1Beta2);
    let argument = |value: &str| json!({"name": "v", "value": value});
    let object = json!({"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "metadata": {"name": "n"}, "spec": {
        "joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [argument("1"), argument("2")]}},
        "diskSetup": {"partitions": [{"device": "/dev/sdb"}, {"device": "/dev/sdc", "diskLayout": [{"percentage": 5, "partitionType": "ext4"}]}]},
    }});
    let verdict = schema.judge(&object, None, &Budget::default());
    let given: Vec<_> = verdict
        .violations
        .iter()
        .map(Violation::to_string)
        .collect();
    let expected = [
        "spec.diskSetup.partitions[0]: Invalid value: exactly one of the fields in [layout diskLayout] must be set",
        "spec.diskSetup.partitions[1].diskLayout[0].partitionType: Invalid value: \"ext4\": partitionType must be one of Linux, LinuxSwap, \
         LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a full GPT partition GUID",
        "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs: Invalid value: kubeletExtraArgs name must be unique",
    ];
    assert_eq!(given, expected);
    assert_eq!(verdict.not_evaluable, []);
}

#[test]
fn all_objects_of_a_run_share_its_steps() {
    let text = ruled(
        json!({"type": "string"}),
        json!({"rule": "self.matches('a{3}')"}),
    );
    let schema = Schema::from_json(&json!({"type": "object", "properties": {"x": text}})).unwrap();
    let judged = |budget: &Budget| {
        let verdict = schema.judge(&json!({"x": "aaa"}), None, budget);
        assert_eq!(verdict.violations, []);
        verdict
            .not_evaluable
            .into_iter()
            .map(|rule| rule.reason)
            .collect::<Vec<_>>()
    };
    let whole = Budget::default();
    assert_eq!(judged(&whole), Vec::<String>::new());
    let one = whole.used_of(Resource::Rules);
    assert!((2..100).contains(&one), "{one}");
    let two = Budget::default().with(Resource::Rules, 2 * one + 1);
    assert_eq!([judged(&two), judged(&two)], [[""; 0], [""; 0]]);
    let told = format!(
        "with it there are more than {} steps of CEL rules in one run, so that neither this rule nor any after it is checked",
        2 * one + 1
    );
    assert_eq!(judged(&two), [told]);
    assert!(two.is_spent(Resource::Rules) && !two.is_spent(Resource::Steps));
    assert_eq!(judged(&two), Vec::<String>::new(), "it is told once");
}

fn version_schema(crd: &Value, version: &str) -> Schema {
    let mut versions = crd["spec"]["versions"].as_array().unwrap().iter();
    let found = versions.find(|known| known["name"] == version).unwrap();
    Schema::from_json(&found["schema"]["openAPIV3Schema"]).unwrap()
}

#[test]
fn our_own_crds_are_structural_and_their_rules_are_judged() {
    let crds = windlass_release::emit::crds::crds();
    for crd in &crds {
        assert_eq!(structural::check(crd, &Budget::default()), []);
    }
    let check = |spec: Value, expected: &[&str]| {
        for version in ["v1beta1", "v1beta2"] {
            let object = json!({"apiVersion": format!("bootstrap.windlass.dev/{version}"), "kind": "WindlassConfig", "metadata": {"name": "n"}, "spec": spec});
            let verdict =
                version_schema(&crds[0], version).judge(&object, None, &Budget::default());
            let given: Vec<_> = verdict
                .violations
                .iter()
                .map(Violation::to_string)
                .collect();
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
    check(
        json!({"format": "ignition", "ignition": {"version": "3.4"}, "compression": "gzip"}),
        &[],
    );
    let windows = json!({
        "platform": "windows", "format": "ignition", "bootCommands": ["x"], "mounts": [["a", "b"]], "directories": [{"path": r"C:\a", "owner": "x"}],
        "clusterConfiguration": {"certificatesDir": "/x"}, "initConfiguration": {"patches": {"directory": "/x"}},
        "joinConfiguration": {"controlPlane": {}}, "onFailure": "Abort",
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
        "spec.onFailure: Forbidden: only Continue is supported when spec.platform is set to: \"windows\"".to_owned(),
    ];
    check(
        windows,
        &expected.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    check(
        json!({"platform": "windows", "onFailure": "Report"}),
        &expected[7..].iter().map(String::as_str).collect::<Vec<_>>(),
    );
    check(json!({"platform": "windows", "onFailure": "Continue"}), &[]);
    check(json!({"platform": "linux", "onFailure": "Abort"}), &[]);
    check(
        json!({"ignition": {"version": "3.4", "containerLinuxConfig": {"strict": true}}}),
        &[
            r#"spec.ignition.containerLinuxConfig: Forbidden: can be set only with spec.ignition.version "2.3""#,
        ],
    );
    check(
        json!({"ignition": {"additionalConfig": "{}"}}),
        &[
            r#"spec.ignition.additionalConfig: Forbidden: can be set only with spec.ignition.version "3.4""#,
        ],
    );
    let source =
        json!({"secret": {"name": "s", "key": "k"}, "configMap": {"name": "s", "key": "k"}});
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
