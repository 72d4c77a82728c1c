//! Conversion between v1beta1 and v1beta2: the rules one by one, and that nothing is lost for any
//! object.
//!
//! Expected values are those of the kubeadm bootstrap provider's conversion, read and run at its
//! main branch in August 2026.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};
use windlass_capi::api::names::{CONVERSION_ANNOTATION, GROUP, Kind, Version};
use windlass_capi::api::time::Timestamp;
use windlass_capi::api::{openapi, v1beta1, v1beta2};
use windlass_capi::conversion::{
    convert, kubeadm_to_v1beta2, review, spec_to_v1beta1, spec_to_v1beta2,
};
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::vectors;

fn object(kind: Kind, version: Version, body: Value) -> Value {
    let mut object = body;
    object["apiVersion"] = version.api_version().into();
    object["kind"] = kind.as_str().into();
    object["metadata"] = json!({"name": "a", "namespace": "default", "labels": {"l": "v"}});
    object
}

fn config(version: Version, spec: Value) -> Value {
    object(Kind::Config, version, json!({"spec": spec}))
}

/// The memory in the annotation; null when there is none.
fn memory(object: &Value) -> Value {
    let text = object["metadata"]["annotations"][CONVERSION_ANNOTATION].as_str();
    text.map(|text| serde_json::from_str(text).unwrap())
        .unwrap_or_default()
}

fn up(old: Value, expected: Value) {
    assert_eq!(spec_to_v1beta2(&old).unwrap(), expected, "from {old}");
}

fn down(new: Value, expected: Value) {
    assert_eq!(spec_to_v1beta1(&new), expected, "from {new}");
}

#[test]
fn fields_without_a_place_are_dropped() {
    up(
        json!({
            "useExperimentalRetryJoin": true,
            "clusterConfiguration": {
                "apiVersion": "kubeadm.k8s.io/v1beta2", "kind": "ClusterConfiguration", "clusterName": "c", "kubernetesVersion": "v1.30.0",
                "networking": {"dnsDomain": "cluster.local"}, "imageRepository": "r",
            },
            "initConfiguration": {"apiVersion": "kubeadm.k8s.io/v1beta2", "kind": "InitConfiguration"},
            "joinConfiguration": {"kind": "JoinConfiguration", "caCertPath": "/ca"},
        }),
        json!({"clusterConfiguration": {"imageRepository": "r"}, "joinConfiguration": {"caCertPath": "/ca"}}),
    );
}

#[test]
fn argument_maps_become_lists_sorted_by_name() {
    up(
        json!({"joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": {"v": "2", "a-b": "", "a": "1", "Z": "3"}}}}),
        json!({"joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [
            {"name": "Z", "value": "3"}, {"name": "a", "value": "1"}, {"name": "a-b", "value": ""}, {"name": "v", "value": "2"},
        ]}}}),
    );
    for component in ["apiServer", "controllerManager", "scheduler"] {
        up(
            json!({"clusterConfiguration": {component: {"extraArgs": {"a": "1"}}}}),
            json!({"clusterConfiguration": {component: {"extraArgs": [{"name": "a", "value": "1"}]}}}),
        );
    }
    up(
        json!({"clusterConfiguration": {"etcd": {"local": {"extraArgs": {"a": "1"}}}}}),
        json!({"clusterConfiguration": {"etcd": {"local": {"extraArgs": [{"name": "a", "value": "1"}]}}}}),
    );
}

#[test]
fn of_two_arguments_with_one_name_the_later_wins() {
    down(
        json!({"initConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [
            {"name": "b", "value": "1"}, {"name": "a", "value": "2"}, {"name": "b", "value": "3"},
        ]}}}),
        json!({"initConfiguration": {"nodeRegistration": {"kubeletExtraArgs": {"a": "2", "b": "3"}}}}),
    );
}

#[test]
fn the_timeout_of_the_control_plane_counts_for_both_ways_in() {
    up(
        json!({"clusterConfiguration": {"apiServer": {"timeoutForControlPlane": "20m30.5s"}}}),
        json!({
            "initConfiguration": {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 1230}},
            "joinConfiguration": {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 1230}},
        }),
    );
    up(
        json!({"joinConfiguration": {"discovery": {"timeout": "5m"}}}),
        json!({"joinConfiguration": {"timeouts": {"tlsBootstrapSeconds": 300}}}),
    );
    down(
        json!({
            "initConfiguration": {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 1230, "discoverySeconds": 7}},
            "joinConfiguration": {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 8, "tlsBootstrapSeconds": 3600}, "caCertPath": "/ca"},
        }),
        json!({
            "clusterConfiguration": {"apiServer": {"timeoutForControlPlane": "20m30s"}},
            "joinConfiguration": {"caCertPath": "/ca", "discovery": {"timeout": "1h0m0s"}},
        }),
    );
}

#[test]
fn durations_are_whole_seconds_at_most_an_int32() {
    let check = |ttl: &str, seconds: i64| {
        up(
            json!({"initConfiguration": {"bootstrapTokens": [{"token": "t", "ttl": ttl}]}}),
            json!({"initConfiguration": {"bootstrapTokens": [{"token": "t", "ttlSeconds": seconds}]}}),
        );
    };
    check("24h", 86400);
    check("1.999s", 1);
    check("0", 0);
    check("2000000h", 2_147_483_647);
    up(
        json!({"initConfiguration": {"bootstrapTokens": [{"token": "t", "ttl": null}]}, "joinConfiguration": {"discovery": {"timeout": null}}}),
        json!({"initConfiguration": {"bootstrapTokens": [{"token": "t"}]}}),
    );
    down(
        json!({"initConfiguration": {"bootstrapTokens": [{"token": "t", "ttlSeconds": 86400}]}}),
        json!({"initConfiguration": {"bootstrapTokens": [{"token": "t", "ttl": "24h0m0s"}]}}),
    );
}

#[test]
fn false_is_absence_except_for_the_layout_of_a_disk() {
    up(
        json!({
            "files": [{"path": "/a", "append": false}, {"path": "/b", "append": true}],
            "clusterConfiguration": {"scheduler": {"extraVolumes": [{"name": "v", "hostPath": "/h", "mountPath": "/m", "readOnly": false}]}},
            "joinConfiguration": {"discovery": {
                "bootstrapToken": {"token": "t", "unsafeSkipCAVerification": false},
                "file": {"kubeConfigPath": "/k", "kubeConfig": {
                    "cluster": {"server": "s", "insecureSkipTLSVerify": false},
                    "user": {"exec": {"command": "c", "provideClusterInfo": false}},
                }},
            }},
            "ignition": {"containerLinuxConfig": {"strict": false, "additionalConfig": "c"}},
            "users": [{"name": "u", "inactive": false, "lockPassword": false}],
            "ntp": {"enabled": false},
            "diskSetup": {"partitions": [{"device": "/dev/sdb", "layout": false}], "filesystems": [{"device": "d", "filesystem": "f", "overwrite": false}]},
        }),
        json!({
            "files": [{"path": "/a"}, {"path": "/b", "append": true}],
            "clusterConfiguration": {"scheduler": {"extraVolumes": [{"name": "v", "hostPath": "/h", "mountPath": "/m"}]}},
            "joinConfiguration": {"discovery": {
                "bootstrapToken": {"token": "t"},
                "file": {"kubeConfigPath": "/k", "kubeConfig": {"cluster": {"server": "s"}, "user": {"exec": {"command": "c"}}}},
            }},
            "ignition": {"containerLinuxConfig": {"additionalConfig": "c"}},
            "users": [{"name": "u", "inactive": false, "lockPassword": false}],
            "ntp": {"enabled": false},
            "diskSetup": {"partitions": [{"device": "/dev/sdb", "layout": false}], "filesystems": [{"device": "d", "filesystem": "f", "overwrite": false}]},
        }),
    );
}

/// Upstream's conversion leaves both set here, which its own rule then forbids; the disk layout
/// wins when rendering in any case.
#[test]
fn a_disk_layout_takes_the_place_of_the_layout() {
    let parts = json!([{"percentage": 50}]);
    up(
        json!({"diskSetup": {"partitions": [{"device": "d", "layout": false, "diskLayout": parts}]}}),
        json!({"diskSetup": {"partitions": [{"device": "d", "diskLayout": parts}]}}),
    );
    down(
        json!({"diskSetup": {"partitions": [{"device": "d", "diskLayout": parts}]}}),
        json!({"diskSetup": {"partitions": [{"device": "d", "layout": false, "diskLayout": parts}]}}),
    );
}

#[test]
fn what_may_not_be_empty_vanishes_and_what_means_something_stays() {
    up(
        json!({
            "clusterConfiguration": {"etcd": {"local": {}}, "apiServer": {"extraArgs": {}}},
            "initConfiguration": {"nodeRegistration": {"taints": []}},
            "joinConfiguration": {"controlPlane": {"localAPIEndpoint": {}}},
            "ntp": {"servers": []}, "files": [], "ignition": {},
        }),
        json!({
            "initConfiguration": {"nodeRegistration": {"taints": []}},
            "joinConfiguration": {"controlPlane": {}},
            "ntp": {"servers": []},
        }),
    );
}

#[test]
fn status_fields_go_to_their_contract() {
    let newer = json!([{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}]);
    let older =
        json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}]);
    let old = json!({
        "ready": true, "dataSecretName": "s", "observedGeneration": 3, "failureReason": "r", "failureMessage": "m",
        "conditions": older, "v1beta2": {"conditions": newer},
    });
    let new = json!({
        "initialization": {"dataSecretCreated": true}, "dataSecretName": "s", "observedGeneration": 3, "conditions": newer,
        "deprecated": {"v1beta1": {"conditions": older, "failureReason": "r", "failureMessage": "m"}},
    });
    let old = object(Kind::Config, Version::V1Beta1, json!({"status": old}));
    let new = object(Kind::Config, Version::V1Beta2, json!({"status": new}));
    assert_eq!(convert(&old, Version::V1Beta2).unwrap(), new);
    assert_eq!(convert(&new, Version::V1Beta1).unwrap(), old);
}

#[test]
fn nothing_is_noted_when_nothing_is_lost() {
    let old = config(
        Version::V1Beta1,
        json!({
            "clusterConfiguration": {"apiServer": {"timeoutForControlPlane": "20m", "extraArgs": {"b": "1", "a": "2"}}},
            "platform": "linux", "compression": "gzip", "files": [{"path": "/a", "transferEncoding": "base64", "content": "x"}],
        }),
    );
    let new = convert(&old, Version::V1Beta2).unwrap();
    assert_eq!(new["metadata"], old["metadata"]);
    assert_eq!(new["spec"]["platform"], "linux");
    assert_eq!(new["spec"]["files"], old["spec"]["files"]);
}

#[test]
fn what_is_lost_is_noted_and_comes_back() {
    let old = config(
        Version::V1Beta1,
        json!({
            "clusterConfiguration": {"clusterName": "c", "apiServer": {"timeoutForControlPlane": "1.5s"}},
            "files": [{"path": "/a", "content": "hunter2", "append": false}],
        }),
    );
    let new = convert(&old, Version::V1Beta2).unwrap();
    let notes = memory(&new);
    assert_eq!(notes["version"], "v1beta1");
    assert_eq!(notes["notes"].as_array().unwrap().len(), 3, "{notes}");
    assert!(!notes.to_string().contains("hunter2"));
    assert_eq!(convert(&new, Version::V1Beta1).unwrap(), old);
}

/// The user edits the other version: what they changed stays, what they did not change comes back.
#[test]
fn stale_notes_change_nothing() {
    let old = config(
        Version::V1Beta1,
        json!({
            "clusterConfiguration": {"clusterName": "c", "dns": {"imageTag": "1"}, "apiServer": {"timeoutForControlPlane": "1.5s"}},
            "initConfiguration": {"bootstrapTokens": [{"token": "one", "ttl": "2.5s"}, {"token": "two", "ttl": "3.5s"}]},
        }),
    );
    let mut new = convert(&old, Version::V1Beta2).unwrap();
    new["spec"]["initConfiguration"]["timeouts"]["controlPlaneComponentHealthCheckSeconds"] =
        9.into();
    let tokens = &mut new["spec"]["initConfiguration"]["bootstrapTokens"];
    *tokens = json!([{"token": "three", "ttlSeconds": 2}, {"token": "two", "ttlSeconds": 3}, {"token": "one", "ttlSeconds": 8}]);
    let back = convert(&new, Version::V1Beta1).unwrap();
    assert_eq!(back["spec"]["clusterConfiguration"]["clusterName"], "c");
    assert_eq!(
        back["spec"]["clusterConfiguration"]["apiServer"]["timeoutForControlPlane"],
        "9s"
    );
    assert_eq!(
        back["spec"]["initConfiguration"]["bootstrapTokens"],
        json!([{"token": "three", "ttl": "2s"}, {"token": "two", "ttl": "3.5s"}, {"token": "one", "ttl": "8s"}])
    );
    new["spec"]
        .as_object_mut()
        .unwrap()
        .remove("clusterConfiguration");
    let back = convert(&new, Version::V1Beta1).unwrap();
    assert_eq!(
        back["spec"]["clusterConfiguration"],
        json!({"apiServer": {"timeoutForControlPlane": "9s"}, "clusterName": "c"})
    );
}

#[test]
fn timeouts_and_the_order_of_arguments_survive_an_edit_in_the_older_version() {
    let new = config(
        Version::V1Beta2,
        json!({
            "clusterConfiguration": {"apiServer": {"extraArgs": [{"name": "z", "value": "1"}, {"name": "b", "value": "2"}]}},
            "joinConfiguration": {"timeouts": {"kubeletHealthCheckSeconds": 5, "controlPlaneComponentHealthCheckSeconds": 6}},
        }),
    );
    let mut old = convert(&new, Version::V1Beta1).unwrap();
    assert_eq!(
        old["spec"],
        json!({"clusterConfiguration": {"apiServer": {"extraArgs": {"b": "2", "z": "1"}}}})
    );
    old["spec"]["clusterConfiguration"]["apiServer"]["extraArgs"]["a"] = "3".into();
    old["spec"]["clusterConfiguration"]["apiServer"]["timeoutForControlPlane"] = "9s".into();
    let back = convert(&old, Version::V1Beta2).unwrap();
    let args = json!([{"name": "z", "value": "1"}, {"name": "b", "value": "2"}, {"name": "a", "value": "3"}]);
    assert_eq!(
        back["spec"]["clusterConfiguration"]["apiServer"]["extraArgs"],
        args
    );
    let timeouts =
        json!({"kubeletHealthCheckSeconds": 5, "controlPlaneComponentHealthCheckSeconds": 9});
    assert_eq!(back["spec"]["joinConfiguration"]["timeouts"], timeouts);
}

#[test]
fn notes_that_people_wrote_are_not_trusted() {
    let check = |annotation: Value| {
        let mut old = config(Version::V1Beta1, json!({"format": "cloud-config"}));
        old["metadata"]["annotations"] = json!({CONVERSION_ANNOTATION: annotation});
        let new = convert(&old, Version::V1Beta2).unwrap();
        assert_eq!(
            new,
            config(Version::V1Beta2, json!({"format": "cloud-config"}))
        );
    };
    check("no JSON".into());
    check(7.into());
    check("{}".into());
    let notes = |version: &str, notes: Value| {
        json!({"version": version, "notes": notes})
            .to_string()
            .into()
    };
    check(notes(
        "v1beta2",
        json!([{"path": []}, {"path": ["spec"]}, {"path": ["spec", "a", "b"], "was": 1}]),
    ));
    check(notes(
        "v1beta2",
        json!([{"path": ["spec", "verbosity"], "was": "not a number"}]),
    ));
    check(notes(
        "v1beta2",
        json!([{"path": ["spec", "preKubeadmCommands"], "was": ["smuggled"]}]),
    ));
    check(notes(
        "v1beta1",
        json!([{"path": ["spec", "joinConfiguration"], "was": {"timeouts": {"discoverySeconds": 5}}}]),
    ));
}

#[test]
fn an_object_that_cannot_be_converted_is_named() {
    let check = |object: Value, expected: &str| {
        assert_eq!(
            convert(&object, Version::V1Beta2).unwrap_err().to_string(),
            expected
        )
    };
    check(
        config(
            Version::V1Beta1,
            json!({"initConfiguration": {"bootstrapTokens": [{"token": "t"}, {"token": "u", "ttl": "1 day"}]}}),
        ),
        r#"spec.initConfiguration.bootstrapTokens[1].ttl: Invalid value: "1 day": must be a duration such as 1h30m"#,
    );
    check(
        object(
            Kind::Template,
            Version::V1Beta1,
            json!({"spec": {"template": {"spec": {"joinConfiguration": {"discovery": {"timeout": 5}}}}}}),
        ),
        "spec.template.spec.joinConfiguration.discovery.timeout: Invalid value: 5: must be a duration such as 1h30m",
    );
    check(
        json!({"apiVersion": "bootstrap.windlass.dev/v1", "kind": "WindlassConfig"}),
        r#"apiVersion: Invalid value: "bootstrap.windlass.dev/v1": no version of bootstrap.windlass.dev that is known"#,
    );
    check(
        json!({"apiVersion": "bootstrap.windlass.dev/v1beta1", "kind": "Secret"}),
        r#"kind: Invalid value: "Secret": no kind of bootstrap.windlass.dev"#,
    );
}

#[test]
fn a_review_is_answered_as_a_whole() {
    let question = |version: &str, objects: Value| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": {"uid": "u-1", "desiredAPIVersion": format!("{GROUP}/{version}"), "objects": objects},
        })
    };
    let good = config(Version::V1Beta1, json!({"format": "ignition"}));
    let already = config(Version::V1Beta2, json!({"format": "ignition"}));
    assert_eq!(
        review(&question("v1beta2", json!([good, already]))),
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "response": {"uid": "u-1", "convertedObjects": [already, already], "result": {"status": "Success"}},
        })
    );
    let bad = config(
        Version::V1Beta1,
        json!({"joinConfiguration": {"discovery": {"timeout": "x"}}}),
    );
    let answer = review(&question("v1beta2", json!([good, bad, bad])));
    assert_eq!(answer["response"]["uid"], "u-1");
    assert_eq!(answer["response"]["convertedObjects"], json!([]));
    assert_eq!(answer["response"]["result"]["status"], "Failure");
    let fault = r#"WindlassConfig default/a: spec.joinConfiguration.discovery.timeout: Invalid value: "x": must be a duration such as 1h30m"#;
    assert_eq!(
        answer["response"]["result"]["message"],
        format!("{fault}; {fault}")
    );
    let answer = review(&question("v9", json!([])));
    assert_eq!(
        answer["response"]["result"]["message"],
        r#"request.desiredAPIVersion: "bootstrap.windlass.dev/v9" is not a version of bootstrap.windlass.dev that is known"#
    );
    assert_eq!(
        review(&json!({}))["response"]["result"]["status"],
        "Failure"
    );
}

fn kubeadm_config(spec: Value, data: &str) -> Value {
    json!({
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta1", "kind": "KubeadmConfig",
        "metadata": {"name": "a", "annotations": {"cluster.x-k8s.io/conversion-data": data, "other": "x"}}, "spec": spec,
    })
}

/// Of its annotation the kubeadm provider restores the timeouts and what is explicitly false,
/// nothing else.
#[test]
fn kubeadm_configs_remember_timeouts_and_false() {
    let data = json!({"spec": {
        "verbosity": 5,
        "files": [{"path": "/a", "append": false}, {"path": "/b", "append": false}],
        "clusterConfiguration": {"apiServer": {"extraVolumes": [{"hostPath": "/h", "readOnly": false}]}},
        "ignition": {"containerLinuxConfig": {"strict": false}},
        "initConfiguration": {"timeouts": {"etcdAPICallSeconds": 4, "controlPlaneComponentHealthCheckSeconds": 5}},
        "joinConfiguration": {"timeouts": {"discoverySeconds": 6, "controlPlaneComponentHealthCheckSeconds": 7}},
    }});
    let old = kubeadm_config(
        json!({
            "files": [{"path": "/b", "append": true}, {"path": "/a"}, {"path": "/c"}],
            "clusterConfiguration": {"apiServer": {"extraVolumes": [{"name": "n", "hostPath": "/h", "mountPath": "/m"}]}},
            "joinConfiguration": {"discovery": {"timeout": "9s"}},
        }),
        &data.to_string(),
    );
    let new = kubeadm_to_v1beta2(&old).unwrap();
    assert_eq!(new["apiVersion"], "bootstrap.cluster.x-k8s.io/v1beta2");
    assert_eq!(new["metadata"]["annotations"], json!({"other": "x"}));
    assert_eq!(
        new["spec"],
        json!({
            "files": [{"path": "/b", "append": true}, {"path": "/a", "append": false}, {"path": "/c"}],
            "clusterConfiguration": {"apiServer": {"extraVolumes": [
                {"name": "n", "hostPath": "/h", "mountPath": "/m", "readOnly": false},
            ]}},
            "initConfiguration": {"timeouts": {"etcdAPICallSeconds": 4, "controlPlaneComponentHealthCheckSeconds": 5}},
            "joinConfiguration": {"timeouts": {"discoverySeconds": 6, "tlsBootstrapSeconds": 9}},
        })
    );
    let fault = kubeadm_to_v1beta2(&kubeadm_config(json!({}), "{"))
        .unwrap_err()
        .to_string();
    assert!(
        fault.starts_with(
            "metadata.annotations[cluster.x-k8s.io/conversion-data]: Invalid value: must be JSON: "
        ),
        "{fault}"
    );
    assert!(kubeadm_to_v1beta2(&config(Version::V1Beta1, json!({}))).is_err());
}

/// Leaves out nulls, and spells each time as Kubernetes does.
fn normalise(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalise),
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            for (name, value) in fields {
                if name == "expires" || name == "timeAdded" {
                    let time: Timestamp = serde_json::from_value(value.clone()).unwrap();
                    *value = serde_json::to_value(time).unwrap();
                }
                normalise(value);
            }
        }
        _ => {}
    }
}

/// Every KubeadmConfig of the render vectors that upstream renders: read, converted, and nothing of
/// it unknown to our types.
#[test]
fn kubeadm_configs_of_the_vectors_are_read() {
    let vectors = vectors("render");
    let index: Value =
        serde_json::from_str(&std::fs::read_to_string(vectors.join("index.json")).unwrap())
            .unwrap();
    let (mut older, mut newer) = (0, 0);
    for case in index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["error"].is_null() && case["strictDecodeErrors"].is_null())
    {
        let name = case["name"].as_str().unwrap();
        let source = Source::new(
            name,
            std::fs::read_to_string(vectors.join(name).join("input.yaml")).unwrap(),
        );
        let documents = yaml::parse(&source, &Budget::default()).documents;
        let object = documents
            .iter()
            .map(|document| document.root.to_json())
            .find(|object| object["kind"] == "KubeadmConfig")
            .unwrap();
        let mut expected = object["spec"].clone();
        if object["apiVersion"] == "bootstrap.cluster.x-k8s.io/v1beta1" {
            older += 1;
            let read: v1beta1::WindlassConfigSpec = serde_json::from_value(expected).unwrap();
            serde_json::to_value(read).unwrap();
            expected = kubeadm_to_v1beta2(&object).unwrap()["spec"].clone();
        } else {
            newer += 1;
        }
        let read: v1beta2::WindlassConfigSpec = serde_json::from_value(expected.clone()).unwrap();
        let mut expected = if expected.is_null() {
            json!({})
        } else {
            expected
        };
        normalise(&mut expected);
        assert_eq!(serde_json::to_value(read).unwrap(), expected, "{name}");
    }
    assert!(older > 50 && newer > 100, "{older} {newer}");
}

// Any object: values that a schema allows, made from the schema, so that no field is forgotten.

/// Values of a field. `lax` adds empty objects and lists where the schema of v1beta1 allows them
/// and v1beta2's does not.
fn value_of(name: &str, schema: &Value) -> BoxedStrategy<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return proptest::sample::select(values.clone()).boxed();
    }
    match schema["type"].as_str() {
        Some("object") => object_of(schema),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
            proptest::collection::vec(value_of(name, &schema["items"]), least..least + 3)
                .prop_map(Value::Array)
                .boxed()
        }
        Some("boolean") => any::<bool>().prop_map(Value::Bool).boxed(),
        Some("integer") => {
            let least = schema["minimum"].as_i64().unwrap_or(0);
            let most = schema["maximum"].as_i64().unwrap_or(i64::from(i32::MAX));
            prop_oneof![Just(least), Just(most), least..=most.min(least + 5)]
                .prop_map(Value::from)
                .boxed()
        }
        Some("string") => string_of(name, schema),
        _ => prop_oneof![Just(json!(1)), Just(json!("500m"))].boxed(),
    }
}

fn string_of(name: &str, schema: &Value) -> BoxedStrategy<Value> {
    match (name, schema["format"].as_str()) {
        ("ttl" | "timeout" | "timeoutForControlPlane", _) => {
            let durations = [
                "0s",
                "1s",
                "1.5s",
                "20m0s",
                "20m",
                "999ms",
                "2000000h0m0s",
                "-1.5s",
                "1h0m0.000000001s",
            ];
            proptest::sample::select(durations.map(Value::from).to_vec()).boxed()
        }
        (_, Some("date-time")) => Just(json!("2026-01-02T03:04:05Z")).boxed(),
        (_, Some("byte")) => Just(json!("Y2E=")).boxed(),
        _ => proptest::sample::select(["a", "b", "/c", "true", "0"].map(Value::from).to_vec())
            .boxed(),
    }
}

fn object_of(schema: &Value) -> BoxedStrategy<Value> {
    if schema["additionalProperties"].is_object() {
        let values = value_of("", &schema["additionalProperties"]);
        return proptest::collection::btree_map("[a-c]", values, 0..3)
            .prop_map(|map| map.into_iter().collect())
            .boxed();
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let least = schema["minProperties"].as_u64().unwrap_or(0) as usize;
    let fields: Vec<_> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, field)| {
            let present = value_of(name, field).prop_map({
                let name = name.clone();
                move |value| (name.clone(), value)
            });
            if required.contains(&Value::from(name.as_str())) {
                present.prop_map(Some).boxed()
            } else {
                proptest::option::weighted(0.35, present).boxed()
            }
        })
        .collect();
    let picked = fields.prop_map(|fields| fields.into_iter().flatten().collect::<Map<_, _>>());
    picked
        .prop_filter_map("an empty object", move |fields| {
            (fields.len() >= least).then_some(Value::Object(fields))
        })
        .boxed()
}

/// A document of a kind; the rule that v1beta2 has on partitions is kept.
fn any_object(kind: Kind, version: Version) -> BoxedStrategy<Value> {
    let mut schema = openapi::schema(kind, version);
    let properties = schema["properties"].as_object_mut().unwrap();
    properties.retain(|name, _| name == "spec" || name == "status");
    object_of(&schema)
        .prop_map(move |mut body| {
            let spec = match kind {
                Kind::Config => body.get_mut("spec"),
                Kind::Template => body.pointer_mut("/spec/template/spec"),
            };
            let partitions = spec
                .and_then(|spec| spec.pointer_mut("/diskSetup/partitions"))
                .and_then(Value::as_array_mut);
            for partition in partitions
                .into_iter()
                .flatten()
                .filter(|_| version == Version::V1Beta2)
            {
                if partition.get("layout").is_some() == partition.get("diskLayout").is_some() {
                    partition.as_object_mut().unwrap().remove("diskLayout");
                    partition["layout"] = true.into();
                }
            }
            object(kind, version, body)
        })
        .boxed()
}

fn other(version: Version) -> Version {
    if version == Version::V1Beta1 {
        Version::V1Beta2
    } else {
        Version::V1Beta1
    }
}

/// The document as the Rust types read it: one spelling of each duration.
fn typed(object: &Value) -> Value {
    let object = object.clone();
    fn read<T: serde::de::DeserializeOwned + serde::Serialize>(object: Value) -> Value {
        serde_json::to_value(serde_json::from_value::<T>(object).unwrap()).unwrap()
    }
    match (
        object["kind"].as_str().unwrap(),
        object["apiVersion"].as_str().unwrap(),
    ) {
        ("WindlassConfig", "bootstrap.windlass.dev/v1beta1") => {
            read::<v1beta1::WindlassConfig>(object)
        }
        ("WindlassConfig", _) => read::<v1beta2::WindlassConfig>(object),
        (_, "bootstrap.windlass.dev/v1beta1") => read::<v1beta1::WindlassConfigTemplate>(object),
        _ => read::<v1beta2::WindlassConfigTemplate>(object),
    }
}

/// What both versions can say of an object: through v1beta1 and back, without memory.
fn said(object: &Value) -> Value {
    let mut object = object.clone();
    for version in Version::ALL {
        object["metadata"] = json!({});
        object = convert(&object, version).unwrap();
    }
    object["metadata"] = json!({});
    object
}

fn cases() -> Config {
    Config {
        cases: 128,
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..Config::default()
    }
}

fn round_trip(object: &Value) -> Result<(), TestCaseError> {
    let version = Version::parse(
        object["apiVersion"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap(),
    )
    .unwrap();
    let there = convert(object, other(version)).unwrap();
    typed(&there);
    let back = convert(&there, version).unwrap();
    prop_assert_eq!(typed(&back), typed(object), "by way of {}", there);
    let there_again = convert(&back, other(version)).unwrap();
    prop_assert_eq!(there_again, there);
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_older_config_comes_back(object in any_object(Kind::Config, Version::V1Beta1)) {
        round_trip(&object)?;
    }

    #[test]
    fn any_newer_config_comes_back(object in any_object(Kind::Config, Version::V1Beta2)) {
        round_trip(&object)?;
    }

    #[test]
    fn any_older_template_comes_back(object in any_object(Kind::Template, Version::V1Beta1)) {
        round_trip(&object)?;
    }

    #[test]
    fn any_newer_template_comes_back(object in any_object(Kind::Template, Version::V1Beta2)) {
        round_trip(&object)?;
    }

    /// An annotation of one object on any other: nothing that the object says is changed by it.
    #[test]
    fn notes_never_overrule_the_object(
        remembered in any_object(Kind::Config, Version::V1Beta1),
        object in any_object(Kind::Config, Version::V1Beta2),
    ) {
        let plain = convert(&object, Version::V1Beta1).unwrap();
        let mut stale = object.clone();
        stale["metadata"] = convert(&remembered, Version::V1Beta2).unwrap()["metadata"].clone();
        let converted = convert(&stale, Version::V1Beta1).unwrap();
        prop_assert_eq!(said(&converted), said(&plain));
    }

    #[test]
    fn older_notes_never_overrule_the_object(
        remembered in any_object(Kind::Config, Version::V1Beta2),
        object in any_object(Kind::Config, Version::V1Beta1),
    ) {
        let plain = convert(&object, Version::V1Beta2).unwrap();
        let mut stale = object.clone();
        stale["metadata"] = convert(&remembered, Version::V1Beta1).unwrap()["metadata"].clone();
        let converted = convert(&stale, Version::V1Beta2).unwrap();
        prop_assert_eq!(said(&converted), said(&plain));
    }
}
