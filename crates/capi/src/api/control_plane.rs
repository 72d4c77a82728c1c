//! The schemas of KubeadmControlPlane and KubeadmControlPlaneTemplate, as upstream's CRDs have them
//! (Cluster API v1.14) but for the config within, which is that of KubeadmConfig.

use serde_json::{Map, Value, json};

use super::names::Version;

/// What begins the key of a label, and the name of a condition.
const QUALIFIED: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// The schema of KubeadmControlPlane, or of its template. `machine_taints`: whether the release has
/// taints of machines (since v1.13).
pub fn schema(template: bool, version: Version, machine_taints: bool) -> Value {
    let mut spec = match version {
        Version::V1Beta1 => spec_v1beta1(template),
        Version::V1Beta2 => spec_v1beta2(template),
    };
    let machine = match version {
        Version::V1Beta1 => "/properties/machineTemplate/properties",
        Version::V1Beta2 => "/properties/machineTemplate/properties/spec/properties",
    };
    if machine_taints {
        spec.pointer_mut(machine)
            .expect("internal error: the schema has machines")["taints"] = taints();
    }
    if template {
        let metadata = open_or_filled(version, metadata());
        let resource =
            json!({"type": "object", "properties": {"metadata": metadata, "spec": spec}});
        let resource = match version {
            Version::V1Beta1 => with(resource, "required", json!(["spec"])),
            Version::V1Beta2 => filled(resource),
        };
        spec = json!({"type": "object", "properties": {"template": resource}, "required": ["template"]});
    }
    let text = json!({"type": "string"});
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let root = json!({"type": "object", "properties": {"apiVersion": text, "kind": text, "metadata": {"type": "object"}, "spec": spec, "status": open}});
    match (version, template) {
        (Version::V1Beta2, false) => with(root, "required", json!(["spec"])),
        _ => root,
    }
}

fn spec_v1beta1(template: bool) -> Value {
    let duration = json!({"type": "string"});
    let mut machine = json!({"type": "object", "properties": {
        "metadata": metadata(),
        "nodeDeletionTimeout": duration, "nodeDrainTimeout": duration, "nodeVolumeDetachTimeout": duration,
    }});
    let mut spec = json!({"type": "object", "required": ["kubeadmConfigSpec"], "properties": {
        "kubeadmConfigSpec": config(),
        "machineNamingStrategy": object(json!({"template": name_template()})),
        "remediationStrategy": object(json!({"maxRetry": int32(), "minHealthyPeriod": duration, "retryPeriod": duration})),
        "rolloutAfter": time(),
        "rolloutBefore": object(json!({"certificatesExpiryDays": int32()})),
        "rolloutStrategy": with(
            object(json!({"rollingUpdate": object(json!({"maxSurge": int_or_string()})), "type": strategy_type()})),
            "default",
            json!({"rollingUpdate": {"maxSurge": 1}, "type": "RollingUpdate"}),
        ),
    }});
    if !template {
        let names = [
            "apiVersion",
            "fieldPath",
            "kind",
            "name",
            "namespace",
            "resourceVersion",
            "uid",
        ];
        let reference = names.map(|name| (name.to_owned(), json!({"type": "string"})));
        let reference = object(Value::Object(Map::from_iter(reference)));
        machine["properties"]["infrastructureRef"] =
            with(reference, "x-kubernetes-map-type", json!("atomic"));
        machine["properties"]["readinessGates"] = readiness_gates();
        machine["required"] = json!(["infrastructureRef"]);
        add_scale(
            &mut spec,
            &["kubeadmConfigSpec", "machineTemplate", "version"],
        );
    }
    spec["properties"]["machineTemplate"] = machine;
    spec
}

fn spec_v1beta2(template: bool) -> Value {
    let seconds = json!({"type": "integer", "format": "int32", "minimum": 0});
    let rolling_update = filled(object(json!({"maxSurge": int_or_string()})));
    let strategy = filled(object(
        json!({"rollingUpdate": rolling_update, "type": strategy_type()}),
    ));
    let days = with(int32(), "minimum", json!(7));
    let mut machine = object(json!({"deletion": filled(object(json!({
        "nodeDeletionTimeoutSeconds": seconds, "nodeDrainTimeoutSeconds": seconds, "nodeVolumeDetachTimeoutSeconds": seconds,
    })))}));
    let mut spec = json!({"type": "object", "properties": {
        "kubeadmConfigSpec": config(),
        "machineNaming": filled(object(json!({"template": name_template()}))),
        "remediation": filled(object(json!({"maxRetry": int32(), "minHealthyPeriodSeconds": seconds, "retryPeriodSeconds": seconds}))),
        "rollout": filled(object(json!({
            "after": time(), "before": filled(object(json!({"certificatesExpiryDays": days}))),
            "strategy": with(strategy, "required", json!(["type"])),
        }))),
    }});
    let machine = if template {
        filled(object(
            json!({"metadata": filled(metadata()), "spec": filled(machine)}),
        ))
    } else {
        machine["properties"]["infrastructureRef"] = infrastructure_reference();
        machine["properties"]["readinessGates"] = with(readiness_gates(), "minItems", json!(1));
        machine["required"] = json!(["infrastructureRef"]);
        add_scale(&mut spec, &["machineTemplate", "version"]);
        with(
            object(json!({"metadata": filled(metadata()), "spec": machine})),
            "required",
            json!(["spec"]),
        )
    };
    spec["properties"]["machineTemplate"] = machine;
    if template { filled(spec) } else { spec }
}

/// What only the control plane itself has: how many machines of which version.
fn add_scale(spec: &mut Value, required: &[&str]) {
    spec["properties"]["replicas"] = int32();
    spec["properties"]["version"] = json!({"type": "string", "minLength": 1, "maxLength": 256});
    spec["required"] = json!(required);
}

/// The config is checked by its own schema.
fn config() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn metadata() -> Value {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    object(json!({"annotations": texts, "labels": texts}))
}

fn infrastructure_reference() -> Value {
    let name = |pattern: &str, longest: u32| json!({"type": "string", "minLength": 1, "maxLength": longest, "pattern": pattern});
    let kind = name(r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$", 63);
    let properties =
        json!({"apiGroup": name(SUBDOMAIN, 253), "kind": kind, "name": name(SUBDOMAIN, 253)});
    with(
        object(properties),
        "required",
        json!(["apiGroup", "kind", "name"]),
    )
}

fn readiness_gates() -> Value {
    let pattern = format!("{QUALIFIED}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$");
    let properties = json!({
        "conditionType": {"type": "string", "minLength": 1, "maxLength": 316, "pattern": pattern},
        "polarity": {"type": "string", "enum": ["Positive", "Negative"]},
    });
    let item = with(object(properties), "required", json!(["conditionType"]));
    json!({
        "type": "array", "maxItems": 32, "items": item,
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["conditionType"],
    })
}

fn taints() -> Value {
    let key = format!(r"{QUALIFIED}\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$");
    let properties = json!({
        "effect": {"type": "string", "enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
        "key": {"type": "string", "minLength": 1, "maxLength": 317, "pattern": key},
        "propagation": {"type": "string", "enum": ["Always", "OnInitialization"]},
        "value": {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"},
    });
    let item = with(
        object(properties),
        "required",
        json!(["effect", "key", "propagation"]),
    );
    json!({
        "type": "array", "minItems": 1, "maxItems": 64, "items": item,
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key", "effect"],
    })
}

fn name_template() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 256})
}

fn strategy_type() -> Value {
    json!({"type": "string", "enum": ["RollingUpdate"]})
}

fn int_or_string() -> Value {
    json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true})
}

fn int32() -> Value {
    json!({"type": "integer", "format": "int32"})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn object(properties: Value) -> Value {
    let mut schema = json!({"type": "object"});
    schema["properties"] = properties;
    schema
}

/// An object that says something when it is there.
fn filled(schema: Value) -> Value {
    with(schema, "minProperties", json!(1))
}

/// In v1beta2 objects say something when they are there; in v1beta1 they may be empty.
fn open_or_filled(version: Version, schema: Value) -> Value {
    if version == Version::V1Beta2 {
        filled(schema)
    } else {
        schema
    }
}

fn with(mut schema: Value, keyword: &str, value: Value) -> Value {
    schema[keyword] = value;
    schema
}
