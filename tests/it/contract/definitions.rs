//! CRDs (BC-01 to BC-34, BC-88, OP-18, OP-19), read from the components of our release.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_capi::api::v1beta2;

use super::{OBJECTS, crds, items, of_kind, texts};

/// The entry of a version.
fn version<'a>(crd: &'a Value, name: &str) -> &'a Value {
    items(&crd["spec"]["versions"])
        .iter()
        .find(|entry| entry["name"] == name)
        .unwrap()
}

fn schema<'a>(crd: &'a Value, name: &str) -> &'a Value {
    &version(crd, name)["schema"]["openAPIV3Schema"]
}

/// The schema of a field; `[]` steps into a list.
fn at<'a>(schema: &'a Value, path: &str) -> &'a Value {
    path.split('.')
        .fold(schema, |schema, step| match step.strip_suffix("[]") {
            Some(list) => &schema["properties"][list]["items"],
            None => &schema["properties"][step],
        })
}

/// BC-03.
#[test]
fn kinds_have_type_and_object_metadata_at_their_root() {
    for crd in crds() {
        for entry in items(&crd["spec"]["versions"]) {
            let root = &entry["schema"]["openAPIV3Schema"];
            for (field, of_type) in [
                ("apiVersion", "string"),
                ("kind", "string"),
                ("metadata", "object"),
            ] {
                assert_eq!(
                    at(root, field)["type"],
                    of_type,
                    "{} {} {field}",
                    crd["metadata"]["name"],
                    entry["name"]
                );
            }
        }
    }
}

/// BC-01, BC-05, BC-06, BC-07: the bootstrapper's name, `Config`, `Template`, `List`.
#[test]
fn config_and_template_are_crds_with_lists() {
    let kinds: Vec<Value> = crds()
        .iter()
        .map(|crd| {
            json!([
                crd["spec"]["names"]["kind"],
                crd["spec"]["names"]["listKind"]
            ])
        })
        .collect();
    assert_eq!(
        kinds,
        [
            json!(["WindlassConfig", "WindlassConfigList"]),
            json!(["WindlassConfigTemplate", "WindlassConfigTemplateList"])
        ]
    );
    assert!(
        crds()
            .iter()
            .all(|crd| crd["apiVersion"] == "apiextensions.k8s.io/v1")
    );
}

/// BC-08.
#[test]
fn template_holds_metadata_and_the_spec_of_the_config() {
    let [config, template] = crds();
    for name in ["v1beta1", "v1beta2"] {
        let embedded = at(schema(template, name), "spec.template");
        for field in ["labels", "annotations"] {
            assert_eq!(
                at(embedded, &format!("metadata.{field}"))["additionalProperties"],
                json!({"type": "string"}),
                "{name} {field}"
            );
        }
        assert_eq!(
            at(embedded, "spec")["properties"],
            at(schema(config, name), "spec")["properties"],
            "{name}"
        );
    }
}

/// BC-09.
#[test]
fn template_metadata_is_left_out_when_it_is_empty() {
    let read = |template: Value| -> Value {
        let spec: v1beta2::WindlassConfigTemplateSpec = serde_json::from_value(template).unwrap();
        serde_json::to_value(spec).unwrap()
    };
    let bare = json!({"template": {"spec": {"format": "cloud-config"}}});
    assert_eq!(read(bare.clone()), bare);
    let labelled = json!({"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"format": "cloud-config"}}});
    assert_eq!(read(labelled.clone()), labelled);
    assert_eq!(
        at(schema(crds()[1], "v1beta2"), "spec.template.metadata")["minProperties"],
        1
    );
}

/// BC-15, BC-16, BC-17, OP-26: one label for each contract; its value lists served versions from
/// old to preferred.
#[test]
fn contract_labels_name_served_versions() {
    for crd in crds() {
        let versions: Vec<&str> = items(&crd["spec"]["versions"])
            .iter()
            .filter(|v| v["served"] == true)
            .map(|v| v["name"].as_str().unwrap())
            .collect();
        for contract in ["v1beta1", "v1beta2"] {
            let value = crd["metadata"]["labels"][format!("cluster.x-k8s.io/{contract}")]
                .as_str()
                .unwrap();
            let places: Vec<Option<usize>> = value
                .split('_')
                .map(|name| versions.iter().position(|known| *known == name))
                .collect();
            assert!(
                places.iter().all(Option::is_some) && places.is_sorted(),
                "{contract}: {value}, but {versions:?} are served"
            );
        }
    }
}

/// BC-04, CC-29: the name is the computed one, so no exemption is asked for.
#[test]
fn crds_are_called_as_the_core_computes_it() {
    for (crd, name) in crds().iter().zip([
        "windlassconfigs.bootstrap.windlass.dev",
        "windlassconfigtemplates.bootstrap.windlass.dev",
    ]) {
        assert_eq!(crd["metadata"]["name"], name);
        assert_eq!(
            crd["metadata"]["annotations"]
                .get("clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check"),
            None
        );
    }
}

/// Where the newest version does not keep to a convention of Kubernetes, because the type is
/// Kubernetes' own, because the kubeadm provider's field of that name does not, or because empty
/// means something else than absent.
const UNCONVENTIONAL: &[&str] = &[
    "empty list: spec.diskSetup.filesystems",
    "empty list: spec.diskSetup.filesystems[].extraOpts",
    "empty list: spec.diskSetup.partitions",
    "empty list: spec.initConfiguration.nodeRegistration.taints", /* no taint, where absent
                                                                   * means kubeadm's default */
    "empty list: spec.joinConfiguration.nodeRegistration.taints",
    "empty list: spec.ntp.servers",
    "empty list: spec.users[].sshAuthorizedKeys",
    "empty list: status.conditions",
    "empty object: spec.files[].contentFrom",
    "empty object: spec.joinConfiguration.controlPlane", /* a control plane machine, where
                                                          * absent means a worker */
    "empty text: spec.clusterConfiguration.apiServer.extraVolumes[].pathType",
    "empty text: spec.clusterConfiguration.controllerManager.extraVolumes[].pathType",
    "empty text: spec.clusterConfiguration.scheduler.extraVolumes[].pathType",
    "empty text: spec.initConfiguration.nodeRegistration.taints[].value",
    "empty text: spec.joinConfiguration.nodeRegistration.taints[].value",
    "list without type: spec.initConfiguration.nodeRegistration.taints",
    "list without type: spec.joinConfiguration.nodeRegistration.taints",
    "list without type: spec.mounts[]",
];

/// What a schema lacks by the conventions; `required` says whether the field may be left out.
fn unconventional(schema: &Value, required: bool) -> Vec<&'static str> {
    let at_least_one = |key: &str| schema[key].as_u64().is_some_and(|least| least > 0);
    let mut found = Vec::new();
    match schema["type"].as_str() {
        Some("array") => {
            if schema["x-kubernetes-list-type"].is_null() {
                found.push("list without type");
            }
            if !required && !at_least_one("minItems") {
                found.push("empty list");
            }
        }
        Some("string") => {
            if !required
                && !at_least_one("minLength")
                && schema["enum"].is_null()
                && schema["format"].is_null()
            {
                found.push("empty text");
            }
            if schema["format"] == "duration" {
                found.push("duration that is not a number of seconds");
            }
        }
        Some("object") if !required && schema["properties"].is_object() => {
            let may_be_empty =
                items(&schema["required"]).is_empty() && !at_least_one("minProperties");
            found.extend(may_be_empty.then_some("empty object"));
        }
        Some("number") => found.push("number with fractions"),
        Some("boolean") if !schema["default"].is_null() => {
            found.push("boolean that is never unset")
        }
        _ => {}
    }
    found
}

fn walk(path: &str, schema: &Value, required: bool, found: &mut BTreeSet<String>) {
    // Kubernetes' own EnvVar, and what the old contract looked like.
    if path.ends_with(".extraEnvs[]") || path == "status.deprecated" {
        return;
    }
    found.extend(
        unconventional(schema, required)
            .into_iter()
            .map(|what| format!("{what}: {path}")),
    );
    let needed = texts(&schema["required"]);
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        walk(
            &format!("{path}.{name}"),
            child,
            needed.contains(&name.as_str()),
            found,
        );
        let is_seconds = name.ends_with("Seconds");
        assert!(
            !is_seconds || (child["type"] == "integer" && child["format"] == "int32"),
            "{path}.{name}"
        );
    }
    if schema["items"].is_object() {
        walk(&format!("{path}[]"), &schema["items"], true, found);
    }
}

/// BC-19.
#[test]
fn fields_of_the_newest_version_keep_to_the_conventions() {
    let [config, _] = crds();
    let mut found = BTreeSet::new();
    for part in ["spec", "status"] {
        walk(part, at(schema(config, "v1beta2"), part), true, &mut found);
    }
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        UNCONVENTIONAL
    );
}

fn defaults(path: &str, schema: &Value, found: &mut Vec<String>) {
    if !schema["default"].is_null() {
        found.push(path.to_owned());
    }
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        defaults(&format!("{path}.{name}"), child, found);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[key].is_object() {
            defaults(&format!("{path}{suffix}"), &schema[key], found);
        }
    }
}

/// BC-20: nothing of ours writes into a spec, so a topology controller finds its lists as it left
/// them. Kubernetes' own EnvVar fills in fields of an item that is there.
#[test]
fn nothing_but_the_user_writes_a_spec() {
    for crd in crds() {
        for entry in items(&crd["spec"]["versions"]) {
            let mut found = Vec::new();
            defaults("", &entry["schema"]["openAPIV3Schema"], &mut found);
            found.retain(|path| !path.contains(".extraEnvs[].valueFrom."));
            assert_eq!(
                found, [""; 0],
                "{} {}",
                crd["metadata"]["name"], entry["name"]
            );
        }
    }
    assert!(of_kind("MutatingWebhookConfiguration").is_empty());
}

/// BC-21: owner, Ready or Available, counters, Paused, phase, Age, version; a provider's own
/// columns anywhere between.
#[test]
fn columns_come_in_the_order_of_cluster_api() {
    const ORDER: &[&[&str]] = &[
        &["ClusterClass", "Cluster"],
        &["Ready", "Available"],
        &["Paused"],
        &["Phase"],
        &["Age"],
        &["Version"],
    ];
    for crd in crds() {
        for entry in items(&crd["spec"]["versions"]) {
            let columns = items(&entry["additionalPrinterColumns"]);
            let names: Vec<&str> = columns
                .iter()
                .map(|column| column["name"].as_str().unwrap())
                .collect();
            assert!(
                names.contains(&"Age"),
                "{} {}: {names:?}",
                crd["metadata"]["name"],
                entry["name"]
            );
            let places: Vec<usize> = names
                .iter()
                .filter_map(|name| ORDER.iter().position(|known| known.contains(name)))
                .collect();
            assert!(places.is_sorted(), "{names:?}");
            let paused = columns.iter().find(|column| column["name"] == "Paused");
            assert!(
                paused.is_none_or(|column| column["priority"]
                    .as_i64()
                    .is_some_and(|priority| priority > 0)),
                "only with -o wide"
            );
        }
    }
}

/// BC-22 to BC-26, BC-29, BC-32 to BC-34, OP-26: each version has the status of its contract.
#[test]
fn status_is_that_of_the_contract_of_each_version() {
    let [config, template] = crds();
    for (name, path, of_type) in [
        ("v1beta1", "dataSecretName", "string"),
        ("v1beta1", "ready", "boolean"),
        ("v1beta1", "failureReason", "string"),
        ("v1beta1", "failureMessage", "string"),
        ("v1beta1", "conditions[].severity", "string"),
        ("v1beta1", "v1beta2.conditions[].type", "string"),
        ("v1beta2", "dataSecretName", "string"),
        ("v1beta2", "initialization.dataSecretCreated", "boolean"),
        ("v1beta2", "conditions[].type", "string"),
        (
            "v1beta2",
            "deprecated.v1beta1.conditions[].severity",
            "string",
        ),
        ("v1beta2", "deprecated.v1beta1.failureReason", "string"),
        ("v1beta2", "deprecated.v1beta1.failureMessage", "string"),
    ] {
        assert_eq!(
            at(at(schema(config, name), "status"), path)["type"],
            of_type,
            "{name} {path}"
        );
    }
    let status = at(schema(config, "v1beta2"), "status");
    for gone in ["ready", "failureReason", "failureMessage", "v1beta2"] {
        assert_eq!(
            at(status, gone),
            &Value::Null,
            "{gone} is of the old contract"
        );
    }
    assert_eq!(status.get("required"), None);
    assert_eq!(
        at(
            &schema(config, "v1beta1")["properties"]["status"],
            "initialization"
        ),
        &Value::Null
    );
    for name in ["v1beta1", "v1beta2"] {
        assert_eq!(version(config, name)["subresources"]["status"], json!({}));
        assert_eq!(
            at(schema(template, name), "status"),
            &Value::Null,
            "a template has no status"
        );
    }
}

/// BC-23, BC-25, BC-32.
#[test]
fn status_fields_of_the_newest_version_are_bounded() {
    let [crd, _] = crds();
    let status = at(schema(crd, "v1beta2"), "status");
    let name = at(status, "dataSecretName");
    assert_eq!(
        (&name["type"], &name["minLength"], &name["maxLength"]),
        (&json!("string"), &json!(1), &json!(253))
    );
    let initialization = at(status, "initialization");
    assert_eq!(initialization["minProperties"], 1);
    assert_eq!(initialization.get("required"), None);
    let created = at(initialization, "dataSecretCreated");
    assert_eq!(
        (created.get("default"), created.get("nullable")),
        (None, None)
    );
    let condition = &at(status, "conditions")["items"];
    let fields: Vec<&String> = condition["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        fields,
        [
            "lastTransitionTime",
            "message",
            "observedGeneration",
            "reason",
            "status",
            "type"
        ]
    );
    assert_eq!(
        at(condition, "status")["enum"],
        json!(["True", "False", "Unknown"])
    );
}

/// BC-88.
#[test]
fn user_input_is_bounded() {
    let [crd, _] = crds();
    let spec = at(schema(crd, "v1beta2"), "spec");
    assert_eq!(at(spec, "files")["maxItems"], 200);
    assert_eq!(at(spec, "files[].content")["maxLength"], 10_240);
    assert_eq!(
        at(spec, "files[].encoding")["enum"],
        json!(["base64", "gzip", "gzip+base64"])
    );
    for commands in ["bootCommands", "preKubeadmCommands", "postKubeadmCommands"] {
        assert_eq!(at(spec, commands)["maxItems"], 1000, "{commands}");
    }
}

/// OP-18.
#[test]
fn crds_convert_by_webhook_and_prune() {
    for crd in crds() {
        assert_eq!(crd["apiVersion"], "apiextensions.k8s.io/v1");
        assert_eq!(crd["spec"]["conversion"]["strategy"], "Webhook");
        assert_eq!(
            crd["spec"]["conversion"]["webhook"]["conversionReviewVersions"],
            json!(["v1"])
        );
        assert!(
            [None, Some(&Value::Bool(false))].contains(&crd["spec"].get("preserveUnknownFields"))
        );
        let text = crd.to_string();
        assert!(
            !text.contains("x-kubernetes-preserve-unknown-fields"),
            "{}",
            crd["metadata"]["name"]
        );
    }
}

/// Whether a key stands anywhere in a value.
fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(map) => {
            map.contains_key(key) || map.values().any(|value| has_key(value, key))
        }
        Value::Array(items) => items.iter().any(|value| has_key(value, key)),
        _ => false,
    }
}

/// OP-15, OP-19: neither a bundle nor the mark of a finished migration is fixed by what is applied.
#[test]
fn nothing_in_the_components_overwrites_what_controllers_fill_in() {
    for object in OBJECTS.iter() {
        assert!(!has_key(object, "caBundle"), "{}", object["kind"]);
        assert!(
            !has_key(object, "crd-migration.cluster.x-k8s.io/observed-generation"),
            "{}",
            object["kind"]
        );
    }
    assert!(has_key(&json!({"a": [{"caBundle": "Cg=="}]}), "caBundle"));
}
