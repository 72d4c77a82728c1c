//! The API: our schemas against upstream's CRDs, field by field, and what holds for all schemas of
//! ours.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_capi::api::additions::{ADDITIONS, Difference};
use windlass_capi::api::names::{GROUP, Kind, Version};
use windlass_capi::api::{openapi, v1beta1, v1beta2};
use windlass_capi::contract::crd_name;
use windlass_go_yaml::yaml;
use windlass_release::emit::crds::{conversion_clause, crds};
use windlass_schema::Schema;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::shared;

const UPSTREAM: &str = "corpus/kubernetes-sigs+cluster-api/bootstrap/kubeadm/config/crd/bases";

fn upstream(kind: Kind) -> Option<Value> {
    let plural = format!("{}s", kind.kubeadm().to_lowercase());
    let path = shared(UPSTREAM)?.join(format!("bootstrap.cluster.x-k8s.io_{plural}.yaml"));
    let source = Source::new(plural, std::fs::read_to_string(path).unwrap());
    let parsed = yaml::parse(&source, &Budget::default());
    Some(parsed.documents[0].root.to_json())
}

fn entry(crd: &Value, version: Version) -> &Value {
    let versions = crd["spec"]["versions"].as_array().unwrap();
    versions
        .iter()
        .find(|entry| entry["name"] == version.as_str())
        .unwrap()
}

fn schema_of(crd: &Value, version: Version) -> &Value {
    &entry(crd, version)["schema"]["openAPIV3Schema"]
}

/// Where a schema differs, and in what: a key of the schema, or that only one side has the field.
type Differences = BTreeSet<(String, String)>;

fn compare(ours: &Value, theirs: &Value, path: &str, found: &mut Differences) {
    let (ours, theirs) = (ours.as_object().unwrap(), theirs.as_object().unwrap());
    let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for key in keys {
        match key.as_str() {
            "description" => {}
            "properties" => {
                let (ours, theirs) = (&ours["properties"], &theirs["properties"]);
                let names: BTreeSet<&String> = ours
                    .as_object()
                    .unwrap()
                    .keys()
                    .chain(theirs.as_object().unwrap().keys())
                    .collect();
                for name in names {
                    let path = if path.is_empty() {
                        name.clone()
                    } else {
                        format!("{path}.{name}")
                    };
                    match (ours.get(name), theirs.get(name)) {
                        (Some(ours), Some(theirs)) => compare(ours, theirs, &path, found),
                        (Some(_), None) => drop(found.insert((path, "only ours".into()))),
                        _ => drop(found.insert((path, "only upstream's".into()))),
                    }
                }
            }
            "items" | "additionalProperties" => {
                let suffix = if key == "items" { "[]" } else { "{}" };
                compare(&ours[key], &theirs[key], &format!("{path}{suffix}"), found);
            }
            "required" => {
                let sorted = |keys: &serde_json::Map<String, Value>| -> BTreeSet<String> {
                    keys.get("required")
                        .map(|names| serde_json::from_value(names.clone()).unwrap())
                        .unwrap_or_default()
                };
                if sorted(ours) != sorted(theirs) {
                    found.insert((path.to_owned(), key.clone()));
                }
            }
            _ => {
                if ours.get(key) != theirs.get(key) {
                    found.insert((path.to_owned(), key.clone()));
                }
            }
        }
    }
}

fn spec_path(kind: Kind) -> &'static str {
    match kind {
        Kind::Config => "spec",
        Kind::Template => "spec.template.spec",
    }
}

/// The additions as differences of schemas.
fn expected_differences(kind: Kind) -> Differences {
    let spec = spec_path(kind);
    let below = |path: &str| {
        if path.is_empty() {
            spec.to_owned()
        } else {
            format!("{spec}.{path}")
        }
    };
    ADDITIONS
        .iter()
        .map(|addition| match addition.difference {
            Difference::Field => (below(addition.path), "only ours".to_owned()),
            Difference::Rules => (below(addition.path), "x-kubernetes-validations".to_owned()),
            Difference::NotRequired => (
                below(addition.path.rsplit_once('.').unwrap().0),
                "required".to_owned(),
            ),
        })
        .collect()
}

#[test]
fn schemas_differ_from_upstream_in_the_additions_alone() {
    for kind in Kind::ALL {
        let Some(upstream) = upstream(kind) else {
            return;
        };
        for version in Version::ALL {
            let mut found = Differences::new();
            compare(
                &openapi::schema(kind, version),
                schema_of(&upstream, version),
                "",
                &mut found,
            );
            assert_eq!(found, expected_differences(kind), "{kind} {version}");
        }
    }
}

#[test]
fn without_the_additions_the_schema_is_upstreams() {
    for kind in Kind::ALL {
        let Some(upstream) = upstream(kind) else {
            return;
        };
        for version in Version::ALL {
            let mut found = Differences::new();
            compare(
                &openapi::kubeadm_schema(kind, version),
                schema_of(&upstream, version),
                "",
                &mut found,
            );
            assert_eq!(found, Differences::new(), "{kind} {version}");
        }
    }
}

/// The same without upstream's files.
#[test]
fn a_kubeadm_config_has_no_additions() {
    for (kind, version) in Kind::ALL
        .into_iter()
        .flat_map(|kind| Version::ALL.map(|version| (kind, version)))
    {
        let schema = openapi::kubeadm_schema(kind, version);
        let spec = spec_path(kind)
            .split('.')
            .fold(schema, |schema, name| schema["properties"][name].clone());
        for addition in ADDITIONS {
            let (parent, name) = addition
                .path
                .rsplit_once('.')
                .unwrap_or(("", addition.path));
            match addition.difference {
                Difference::Field => assert_eq!(
                    at(&spec, parent, Difference::Field)["properties"].get(name),
                    None,
                    "{}",
                    addition.path
                ),
                Difference::Rules => assert_eq!(
                    at(&spec, addition.path, Difference::Rules),
                    Value::Null,
                    "{}",
                    addition.path
                ),
                Difference::NotRequired => assert_eq!(
                    at(&spec, parent, Difference::Field)["required"],
                    json!([name])
                ),
            }
        }
    }
}

#[test]
fn the_rest_of_each_version_is_upstreams() {
    for (kind, ours) in Kind::ALL.into_iter().zip(crds()) {
        let Some(upstream) = upstream(kind) else {
            return;
        };
        assert_eq!(ours["spec"]["scope"], upstream["spec"]["scope"]);
        assert_eq!(
            ours["spec"]["names"]["categories"],
            upstream["spec"]["names"]["categories"]
        );
        for version in Version::ALL {
            assert_eq!(
                without_prose(entry(&ours, version)),
                without_prose(entry(&upstream, version)),
                "{kind} {version}"
            );
        }
    }
}

/// A version without schema and without the descriptions of its columns.
fn without_prose(entry: &Value) -> Value {
    let mut entry = entry.clone();
    entry.as_object_mut().unwrap().remove("schema");
    for column in entry["additionalPrinterColumns"].as_array_mut().unwrap() {
        assert_ne!(column.as_object_mut().unwrap().remove("description"), None);
    }
    entry
}

/// Calls `check` with the path and the schema of everything in a CRD's schemas.
fn each_schema(check: &mut dyn FnMut(&str, &Value)) {
    fn walk(path: &str, schema: &Value, check: &mut dyn FnMut(&str, &Value)) {
        check(path, schema);
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            walk(&format!("{path}.{name}"), schema, check);
        }
        for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
            if schema[key].is_object() {
                walk(&format!("{path}{suffix}"), &schema[key], check);
            }
        }
    }
    for kind in Kind::ALL {
        for version in Version::ALL {
            walk(
                &format!("{kind} {version}: "),
                &openapi::schema(kind, version),
                check,
            );
        }
    }
}

#[test]
fn everything_has_a_type_and_every_field_a_description() {
    each_schema(&mut |path, schema| {
        assert!(
            schema["type"].is_string() || schema["x-kubernetes-int-or-string"] == true,
            "{path} has no type"
        );
        let described = schema["description"].is_string()
            || path.ends_with(['}', ']'])
            || path.ends_with(": .metadata");
        assert!(described, "{path} has no description");
    });
}

#[test]
fn nothing_is_null_referred_to_or_substituted() {
    each_schema(&mut |path, schema| {
        let keys = schema.as_object().unwrap();
        for unwanted in [
            "nullable", "$ref", "title", "oneOf", "allOf", "const", "$schema", "$defs",
        ] {
            assert!(!keys.contains_key(unwanted), "{path} has {unwanted}");
        }
        assert!(keys.values().all(|value| !value.is_null()), "{path}");
        let description = schema["description"].as_str().unwrap_or_default();
        assert!(
            !description.contains('$'),
            "clusterctl would substitute in {path}: {description}"
        );
    });
}

#[test]
fn additions_are_the_same_in_both_versions() {
    for kind in Kind::ALL {
        let [old, new] = Version::ALL.map(|version| {
            let schema = openapi::schema(kind, version);
            let spec = spec_path(kind)
                .split('.')
                .fold(schema, |schema, name| schema["properties"][name].clone());
            ADDITIONS
                .iter()
                .map(|addition| (addition.path, at(&spec, addition.path, addition.difference)))
                .collect::<Vec<_>>()
        });
        assert_eq!(old, new);
    }
}

/// What an addition is about: the field's schema, or the rules.
fn at(spec: &Value, path: &str, difference: Difference) -> Value {
    let schema = path.split('.').filter(|step| !step.is_empty()).fold(
        spec.clone(),
        |schema, step| match step.strip_suffix("[]") {
            Some(list) => schema["properties"][list]["items"].clone(),
            None => schema["properties"][step].clone(),
        },
    );
    assert!(schema.is_object(), "{path} is not in our schema");
    if difference == Difference::Rules {
        schema["x-kubernetes-validations"].clone()
    } else {
        schema
    }
}

/// The table of the design, by hand: path, rule, message; a path within the object means
/// `fieldPath` and `FieldValueForbidden`.
#[test]
fn rules_of_the_additions_are_as_designed() {
    const WINDOWS: &str = r#"not supported when spec.platform is set to: "windows""#;
    let windows =
        |rule: &str| format!("!has(self.platform) || self.platform != 'windows' || {rule}");
    let schema = openapi::schema(Kind::Config, Version::V1Beta2);
    let spec = &schema["properties"]["spec"];
    let check = |schema: &Value, expected: &[(&str, String, &str)]| {
        let expected: Vec<Value> = expected
            .iter()
            .map(|(path, rule, message)| match *path {
                "" => json!({"rule": rule, "message": message}),
                path => json!({"rule": rule, "message": message, "fieldPath": path, "reason": "FieldValueForbidden"}),
            })
            .collect();
        assert_eq!(schema["x-kubernetes-validations"], Value::from(expected));
    };
    check(
        spec,
        &[
            (
                ".cloudConfig",
                "!has(self.cloudConfig) || !has(self.format) || self.format == 'cloud-config'".into(),
                r#"not supported when spec.format is set to: "ignition""#,
            ),
            (
                ".compression",
                "!has(self.compression) || self.compression == 'none' || !has(self.format) || self.format != 'ignition' || (has(self.ignition) && has(self.ignition.version) && self.ignition.version != '2.3')".into(),
                r#"gzip needs spec.ignition.version "3.4" when spec.format is set to: "ignition""#,
            ),
            (
                ".format",
                windows("!has(self.format) || self.format != 'ignition'"),
                r#"ignition is not supported when spec.platform is set to: "windows""#,
            ),
            (".bootCommands", windows("!has(self.bootCommands)"), WINDOWS),
            (".diskSetup", windows("!has(self.diskSetup)"), WINDOWS),
            (".mounts", windows("!has(self.mounts)"), WINDOWS),
            (".clusterConfiguration", windows("!has(self.clusterConfiguration)"), WINDOWS),
            (".initConfiguration", windows("!has(self.initConfiguration)"), WINDOWS),
            (
                ".joinConfiguration.controlPlane",
                windows("!has(self.joinConfiguration) || !has(self.joinConfiguration.controlPlane)"),
                WINDOWS,
            ),
            (
                ".directories",
                windows("!has(self.directories) || self.directories.all(d, !has(d.owner) && !has(d.permissions))"),
                r#"owner and permissions are not supported when spec.platform is set to: "windows""#,
            ),
            (
                ".onFailure",
                windows("!has(self.onFailure) || self.onFailure == 'Continue'"),
                r#"only Continue is supported when spec.platform is set to: "windows""#,
            ),
        ],
    );
    check(
        &spec["properties"]["ignition"],
        &[
            (
                ".containerLinuxConfig",
                "!has(self.containerLinuxConfig) || !has(self.version) || self.version == '2.3'"
                    .into(),
                r#"can be set only with spec.ignition.version "2.3""#,
            ),
            (
                ".additionalConfig",
                "!has(self.additionalConfig) || (has(self.version) && self.version != '2.3')"
                    .into(),
                r#"can be set only with spec.ignition.version "3.4""#,
            ),
        ],
    );
    let file = &spec["properties"]["files"]["items"];
    check(
        file,
        &[(
            ".transferEncoding",
            "!has(self.encoding) || !has(self.transferEncoding)".into(),
            "only one of encoding or transferEncoding may be set",
        )],
    );
    check(
        &file["properties"]["contentFrom"],
        &[(
            "",
            "[has(self.secret),has(self.configMap)].filter(x,x==true).size() == 1".into(),
            "exactly one of the fields in [secret configMap] must be set",
        )],
    );
    check(
        &spec["properties"]["directories"]["items"]["properties"]["path"],
        &[(
            "",
            r"self.matches('^(/|[A-Za-z]:[/\\\\])')".into(),
            "path must be absolute",
        )],
    );
}

/// The table of the design, by hand: path and schema.
#[test]
fn fields_of_the_additions_are_as_designed() {
    let schema = openapi::schema(Kind::Config, Version::V1Beta1);
    let spec = &schema["properties"]["spec"];
    let check = |path: &str, expected: Value| {
        let mut found = at(spec, path, Difference::Field);
        let keys = found.as_object_mut().unwrap();
        for key in [
            "description",
            "properties",
            "items",
            "x-kubernetes-validations",
        ] {
            keys.remove(key);
        }
        assert_eq!(found, expected, "{path}");
    };
    let owner = json!({"type": "string", "minLength": 1, "maxLength": 256, "pattern": r"^[^:\s]+(:[^:\s]+)?$"});
    let permissions =
        json!({"type": "string", "minLength": 3, "maxLength": 4, "pattern": "^0?[0-7]{3}$"});
    check(
        "platform",
        json!({"type": "string", "enum": ["linux", "windows"]}),
    );
    check(
        "compression",
        json!({"type": "string", "enum": ["none", "gzip"]}),
    );
    check(
        "maxDataBytes",
        json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 1_048_576}),
    );
    check(
        "onFailure",
        json!({"type": "string", "enum": ["Continue", "Report", "Abort"]}),
    );
    check(
        "ignition.version",
        json!({"type": "string", "enum": ["2.3", "3.4"]}),
    );
    check(
        "ignition.additionalConfig",
        json!({"type": "string", "minLength": 1, "maxLength": 32768}),
    );
    check("cloudConfig", json!({"type": "object", "minProperties": 1}));
    check(
        "cloudConfig.templating",
        json!({"type": "string", "enum": ["jinja", "none"]}),
    );
    check(
        "fileDefaults",
        json!({"type": "object", "minProperties": 1}),
    );
    check("fileDefaults.owner", owner.clone());
    check("fileDefaults.permissions", permissions.clone());
    check(
        "directories",
        json!({"type": "array", "minItems": 1, "maxItems": 100, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["path"]}),
    );
    check(
        "directories[]",
        json!({"type": "object", "required": ["path"]}),
    );
    check(
        "directories[].path",
        json!({"type": "string", "minLength": 1, "maxLength": 512}),
    );
    check("directories[].owner", owner);
    check("directories[].permissions", permissions);
    check(
        "files[].transferEncoding",
        json!({"type": "string", "enum": ["base64", "gzip+base64"]}),
    );
    check(
        "files[].contentFrom.configMap",
        json!({"type": "object", "required": ["key", "name"]}),
    );
    check(
        "files[].contentFrom.configMap.name",
        json!({"type": "string", "minLength": 1, "maxLength": 253}),
    );
    check(
        "files[].contentFrom.configMap.key",
        json!({"type": "string", "minLength": 1, "maxLength": 256}),
    );
}

/// Names, scope and labels (book: "BootstrapConfig, BootstrapConfigList resource definition", "All
/// resources: version").
#[test]
fn crds_are_named_and_labelled_as_the_contract_wants() {
    let expected = [
        ("WindlassConfig", "windlassconfigs", "wlc"),
        ("WindlassConfigTemplate", "windlassconfigtemplates", "wlct"),
    ];
    for (crd, (kind, plural, short_name)) in crds().iter().zip(expected) {
        assert_eq!(crd["apiVersion"], "apiextensions.k8s.io/v1");
        assert_eq!(crd["kind"], "CustomResourceDefinition");
        let labels =
            json!({"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta2"});
        assert_eq!(
            crd["metadata"],
            json!({"name": format!("{plural}.{GROUP}"), "labels": labels})
        );
        assert_eq!(crd["metadata"]["name"], crd_name(GROUP, kind));
        assert_eq!(
            crd["spec"]["names"],
            json!({
                "categories": ["cluster-api"],
                "kind": kind,
                "listKind": format!("{kind}List"),
                "plural": plural,
                "shortNames": [short_name],
                "singular": kind.to_lowercase(),
            })
        );
        assert_eq!(crd["spec"]["group"], "bootstrap.windlass.dev");
        assert_eq!(crd["spec"]["scope"], "Namespaced");
        assert_eq!(crd["spec"].get("conversion"), None);
        for version in Version::ALL {
            let is_stored = version == Version::V1Beta2;
            let entry = entry(crd, version);
            assert_eq!(entry["served"], true);
            assert_eq!(entry["storage"], is_stored);
            assert_eq!(
                entry.get("deprecated"),
                if is_stored {
                    None
                } else {
                    Some(&Value::Bool(true))
                }
            );
            let has_status = kind == "WindlassConfig";
            assert_eq!(
                entry["subresources"],
                if has_status {
                    json!({"status": {}})
                } else {
                    json!({})
                }
            );
            assert_eq!(
                schema_of(crd, version)["properties"]
                    .get("status")
                    .is_some(),
                has_status
            );
        }
    }
}

#[test]
fn facts_of_the_names_agree_with_the_derive() {
    for (kind, crd) in Kind::ALL.into_iter().zip(crds()) {
        let names = &crd["spec"]["names"];
        assert_eq!(names["kind"], kind.as_str());
        assert_eq!(names["plural"], kind.plural());
        assert_eq!(names["shortNames"], json!([kind.short_name()]));
        assert_eq!(Kind::parse(kind.as_str()), Some(kind));
    }
    assert_eq!(
        Version::ALL.map(|version| Version::parse(version.as_str())),
        Version::ALL.map(Some)
    );
}

#[test]
fn conversion_goes_to_the_service_without_a_ca_bundle() {
    assert_eq!(
        conversion_clause("windlass-webhook-service", "windlass-system"),
        json!({
            "strategy": "Webhook",
            "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "windlass-webhook-service", "namespace": "windlass-system", "path": "/convert"}},
            },
        })
    );
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(entries) => entries.values().any(holds_null),
        _ => false,
    }
}

#[test]
fn what_is_absent_is_left_out() {
    fn check<T: Default + serde::Serialize>() {
        let value = serde_json::to_value(T::default()).unwrap();
        assert!(
            !holds_null(&value),
            "{}: {value}",
            std::any::type_name::<T>()
        );
    }
    macro_rules! check_all {
        ($($version:ident: $($name:ident)+;)+) => { $($(check::<$version::$name>();)+)+ };
    }
    check_all! {
        v1beta1: WindlassConfig WindlassConfigTemplate WindlassConfigSpec WindlassConfigTemplateSpec WindlassConfigTemplateResource
            WindlassConfigStatus V1Beta2Status ClusterConfiguration ApiServer ControlPlaneComponent Etcd LocalEtcd ExternalEtcd Networking
            InitConfiguration BootstrapToken NodeRegistration ApiEndpoint JoinConfiguration JoinControlPlane Discovery
            BootstrapTokenDiscovery FileDiscovery KubeConfig KubeConfigCluster KubeConfigUser AuthProvider Exec ExecEnv DiskSetup Partition
            Filesystem User Ntp Ignition ContainerLinuxConfig;
        v1beta2: WindlassConfig WindlassConfigTemplate WindlassConfigSpec WindlassConfigTemplateSpec WindlassConfigTemplateResource
            WindlassConfigStatus Initialization DeprecatedStatus V1Beta1DeprecatedStatus ClusterConfiguration ApiServer
            ControlPlaneComponent Etcd LocalEtcd ExternalEtcd Arg InitConfiguration BootstrapToken NodeRegistration ApiEndpoint Timeouts
            JoinConfiguration JoinControlPlane Discovery BootstrapTokenDiscovery FileDiscovery KubeConfig KubeConfigCluster KubeConfigUser
            AuthProvider Exec ExecEnv DiskSetup Partition Filesystem User Ntp Ignition ContainerLinuxConfig;
    }
    use windlass_capi::api::{boot, condition, env, files, metadata, node};
    check::<boot::CloudConfig>();
    check::<condition::Condition>();
    check::<condition::V1Beta1Condition>();
    check::<env::EnvVar>();
    check::<env::EnvVarSource>();
    check::<env::KeySelector>();
    check::<files::File>();
    check::<files::FileSource>();
    check::<files::FileDefaults>();
    check::<files::Directory>();
    check::<metadata::ObjectMeta>();
    check::<node::Taint>();
    check::<node::HostPathMount>();
    check::<node::Dns>();
    check::<node::Patches>();
    check::<node::PartitionLayout>();
}

/// A spec with a secret in every place that can hold one.
fn spec_with_secrets() -> Value {
    json!({
        "files": [{"path": "/a", "content": "secret-1"}],
        "users": [{"name": "u", "passwd": "secret-2"}],
        "bootCommands": ["secret-3"], "preKubeadmCommands": ["secret-4"], "postKubeadmCommands": ["secret-5"],
        "ignition": {"containerLinuxConfig": {"additionalConfig": "secret-6"}, "additionalConfig": "secret-7"},
        "initConfiguration": {"bootstrapTokens": [{"token": "secret-8"}]},
        "joinConfiguration": {"discovery": {
            "tlsBootstrapToken": "secret-9",
            "bootstrapToken": {"token": "secret-10"},
            "file": {"kubeConfigPath": "/k", "kubeConfig": {
                "cluster": {"certificateAuthorityData": "c2VjcmV0LTEx"},
                "user": {
                    "authProvider": {"name": "p", "config": {"k": "secret-12"}},
                    "exec": {"command": "c", "env": [{"name": "n", "value": "secret-13"}]},
                },
            }},
        }},
    })
}

#[test]
fn secrets_do_not_show_in_debug_output() {
    let shown = [
        format!(
            "{:?}",
            serde_json::from_value::<v1beta1::WindlassConfigSpec>(spec_with_secrets()).unwrap()
        ),
        format!(
            "{:?}",
            serde_json::from_value::<v1beta2::WindlassConfigSpec>(spec_with_secrets()).unwrap()
        ),
    ];
    for text in shown {
        assert!(
            !text.contains("secret-")
                && !text.contains("c2VjcmV0LTEx")
                && !text.contains("115, 101, 99, 114, 101, 116"),
            "{text}"
        );
        assert_eq!(text.matches("<redacted>").count(), 13);
    }
}

#[test]
fn secrets_stay_in_documents() {
    let spec: v1beta2::WindlassConfigSpec = serde_json::from_value(spec_with_secrets()).unwrap();
    assert_eq!(serde_json::to_value(spec).unwrap(), spec_with_secrets());
}

/// The examples of the design: valid as they are, invalid with one value changed.
#[test]
fn examples_are_valid_and_their_faults_are_found() {
    let template = json!({
        "apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfigTemplate", "metadata": {"name": "linux"},
        "spec": {"template": {"spec": {
            "platform": "linux", "compression": "gzip", "maxDataBytes": 16384, "onFailure": "Abort", "cloudConfig": {"templating": "none"},
            "fileDefaults": {"owner": "root:root", "permissions": "0640"},
            "directories": [{"path": "/etc/kubernetes/patches", "owner": "root:root", "permissions": "0750"}],
            "files": [
                {"path": "/etc/kubernetes/patches/kubeletconfiguration0+merge.yaml", "contentFrom": {"configMap": {"name": "kubelet-patches", "key": "merge.yaml"}}},
                {"path": "/usr/local/bin/setup", "permissions": "0755", "transferEncoding": "gzip+base64", "content": "#!/bin/sh\n"},
            ],
            "preKubeadmCommands": ["/usr/local/bin/setup"],
            "joinConfiguration": {"patches": {"directory": "/etc/kubernetes/patches"}},
        }}},
    });
    let windows = json!({
        "apiVersion": "bootstrap.windlass.dev/v1beta1", "kind": "WindlassConfig", "metadata": {"name": "windows"},
        "spec": {
            "platform": "windows", "onFailure": "Continue", "directories": [{"path": r"C:\k"}],
            "preKubeadmCommands": [r"powershell -File C:\k\setup.ps1"],
            "joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": {"cloud-provider": "external"}}},
        },
    });
    let violations = |kind: Kind, version: Version, object: &Value| -> Vec<String> {
        let schema = Schema::from_json(&openapi::schema(kind, version)).unwrap();
        schema
            .validate(object)
            .into_iter()
            .map(|violation| violation.to_string())
            .collect()
    };
    assert_eq!(
        violations(Kind::Template, Version::V1Beta2, &template),
        [""; 0]
    );
    assert_eq!(
        violations(Kind::Config, Version::V1Beta1, &windows),
        [""; 0]
    );
    let check = |pointer: &str, value: Value, expected: &str| {
        let mut object = template.clone();
        *object
            .pointer_mut(&format!("/spec/template/spec{pointer}"))
            .unwrap() = value;
        assert_eq!(
            violations(Kind::Template, Version::V1Beta2, &object),
            [format!("spec.template.spec{expected}")]
        );
    };
    check(
        "/platform",
        json!("macos"),
        r#".platform: Unsupported value: "macos": supported values: "linux", "windows""#,
    );
    check(
        "/cloudConfig",
        json!({}),
        ".cloudConfig: Invalid value: 0: spec.template.spec.cloudConfig in body should have at least 1 properties",
    );
    check(
        "/fileDefaults/permissions",
        json!("0x5"),
        r#".fileDefaults.permissions: Invalid value: "0x5": spec.template.spec.fileDefaults.permissions in body should match '^0?[0-7]{3}$'"#,
    );
    check(
        "/maxDataBytes",
        json!(1_048_577),
        ".maxDataBytes: Invalid value: 1048577: spec.template.spec.maxDataBytes in body should be less than or equal to 1048576",
    );
}

#[test]
fn an_object_without_spec_is_read() {
    let object = |kind: &str, version: &str| json!({"apiVersion": format!("{GROUP}/{version}"), "kind": kind, "metadata": {"name": "x"}});
    let config: v1beta2::WindlassConfig =
        serde_json::from_value(object("WindlassConfig", "v1beta2")).unwrap();
    assert_eq!(
        config,
        v1beta2::WindlassConfig::new("x", v1beta2::WindlassConfigSpec::default())
    );
    serde_json::from_value::<v1beta1::WindlassConfig>(object("WindlassConfig", "v1beta1")).unwrap();
    serde_json::from_value::<v1beta1::WindlassConfigTemplate>(object(
        "WindlassConfigTemplate",
        "v1beta1",
    ))
    .unwrap();
    serde_json::from_value::<v1beta2::WindlassConfigTemplate>(object(
        "WindlassConfigTemplate",
        "v1beta2",
    ))
    .unwrap();
    let null = json!({"metadata": {}, "spec": null});
    serde_json::from_value::<v1beta2::WindlassConfig>(null).unwrap();
}

#[test]
fn taints_have_three_states() {
    let read = |value: Value| {
        serde_json::from_value::<v1beta2::NodeRegistration>(value)
            .unwrap()
            .taints
    };
    assert_eq!(read(json!({})), None);
    assert_eq!(read(json!({"taints": []})), Some(Vec::new()));
    assert_eq!(
        read(json!({"taints": [{"key": "k", "effect": "NoSchedule"}]}))
            .unwrap()
            .len(),
        1
    );
}
