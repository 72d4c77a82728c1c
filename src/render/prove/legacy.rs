//! What CAPI v1.10 makes of a spec of v1beta1 before it renders it: the defaults of its webhook,
//! and no conversion.

use serde_json::{Map, Value, json};

/// Objects that v1.10 tells from absent ones although they are empty.
const MEANINGFUL_WHEN_EMPTY: [&[&str]; 6] = [
    &["clusterConfiguration", "etcd", "local"],
    &["initConfiguration", "patches"],
    &["joinConfiguration", "patches"],
    &["joinConfiguration", "controlPlane"],
    &["ntp"],
    &["diskSetup"],
];

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
