//! What CAPI v1.10 makes of a spec of v1beta1 before it renders it: its mutating webhook reads the
//! object into Go's types, sets defaults, and writes it anew, all before the API server validates
//! it.

use serde_json::{Map, Value, json};

/// Objects that v1.10 tells from absent ones although they are empty.
const MEANINGFUL_WHEN_EMPTY: [&[&str]; 7] = [
    &["clusterConfiguration", "etcd", "local"],
    &["initConfiguration", "patches"],
    &["joinConfiguration", "patches"],
    &["joinConfiguration", "controlPlane"],
    &["joinConfiguration", "discovery", "bootstrapToken"],
    &["ntp"],
    &["diskSetup"],
];

/// Strings that Go reads into pointers: an empty one is not a missing one
/// (`bootstrap/kubeadm/api/v1beta1/kubeadmconfig_types.go`). `date-time` is a pointer, too.
const POINTERS: [&str; 10] = [
    "users.gecos",
    "users.groups",
    "users.homeDir",
    "users.shell",
    "users.passwd",
    "users.primaryGroup",
    "users.sudo",
    "diskSetup.filesystems.partition",
    "diskSetup.filesystems.replaceFS",
    "diskSetup.partitions.tableType",
];

/// Writes a spec as Go does that has read it: optional fields that are null or an empty string go,
/// required ones that are missing get Go's zero value, and a quantity is a string. `schema` is that
/// of the spec.
pub(crate) fn write_anew(spec: &mut Value, schema: &Value) {
    rewrite(spec, schema, "");
}

/// The depth is that of the schema.
fn rewrite(value: &mut Value, schema: &Value, path: &str) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rewrite(item, &schema["items"], path)),
        Value::Object(fields) => {
            let Some(properties) = schema["properties"].as_object() else {
                return;
            };
            let required = schema["required"].as_array();
            for (name, property) in properties {
                let inner = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                let is_required =
                    required.is_some_and(|required| required.iter().any(|known| known == name));
                rewrite_field(fields, name, property, &inner, is_required);
            }
        }
        _ => {}
    }
}

fn rewrite_field(
    fields: &mut Map<String, Value>,
    name: &str,
    schema: &Value,
    path: &str,
    is_required: bool,
) {
    let is_text = schema["type"] == "string" && schema["format"] != "date-time";
    let is_pointer = POINTERS.contains(&path);
    let is_zero = match fields.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty() && is_text && !is_pointer,
        Some(_) => false,
    };
    match (is_zero, is_required) {
        (true, false) => {
            fields.remove(name);
        }
        (true, true) => fields.extend(zero(schema, path).map(|zero| (name.to_owned(), zero))),
        (false, _) => {
            let Some(value) = fields.get_mut(name) else {
                return;
            };
            if schema["x-kubernetes-int-or-string"] == true && value.is_f64() {
                *value = value.to_string().into();
            }
            rewrite(value, schema, path);
        }
    }
}

/// The zero value of a required field, unless it is a pointer or the API server rejects it anyway.
fn zero(schema: &Value, path: &str) -> Option<Value> {
    match schema["type"].as_str()? {
        "boolean" => Some(false.into()),
        "object" if path.ends_with("kubeConfig.user") => Some(json!({})),
        "string" if schema["minLength"].is_null() && !path.ends_with("bootstrapTokens.token") => {
            Some("".into())
        }
        _ => None,
    }
}

/// The defaults of v1.10's webhook: in each configuration that is there. It writes the object anew,
/// so that an empty map of parameters and an empty list of commands go.
pub(crate) fn apply_defaults(spec: &mut Value) {
    let provider = spec
        .pointer_mut("/joinConfiguration/discovery/file/kubeConfig/user/authProvider")
        .and_then(Value::as_object_mut);
    if let Some(provider) = provider.filter(|provider| {
        provider
            .get("config")
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
    }) {
        provider.remove("config");
    }
    if spec
        .get("bootCommands")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
    {
        spec.as_object_mut().map(|spec| spec.remove("bootCommands"));
    }
    for configuration in ["initConfiguration", "joinConfiguration"] {
        let Some(Value::Object(configuration)) = spec.get_mut(configuration) else {
            continue;
        };
        let registration = configuration
            .entry("nodeRegistration")
            .or_insert_with(|| json!({}));
        if let Value::Object(registration) = registration {
            registration
                .entry("imagePullPolicy")
                .or_insert_with(|| "IfNotPresent".into());
        }
    }
}

/// Puts back what conversion to v1beta2 drops because it is empty, and v1.10 renders.
pub(crate) fn keep_empty_objects(old: &Value, new: &mut Value) {
    for path in MEANINGFUL_WHEN_EMPTY {
        let is_there = path
            .iter()
            .try_fold(old, |value, step| value.get(step))
            .is_some_and(Value::is_object);
        if is_there {
            make_object(new, path);
        }
    }
}

fn make_object(value: &mut Value, path: &[&str]) {
    let mut current = value;
    for step in path {
        let Value::Object(fields) = current else {
            return;
        };
        current = fields
            .entry(*step)
            .or_insert_with(|| Value::Object(Map::new()));
    }
}
