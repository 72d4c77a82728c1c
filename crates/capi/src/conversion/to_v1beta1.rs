//! v1beta2 to v1beta1, as the kubeadm bootstrap provider converts: what v1beta1 has no place for is
//! gone (`memory` keeps it).

use serde_json::{Map, Value};

use super::places::{EXTRA_ARGS, each_parent, make_object};
use crate::api::time::GoDuration;

pub(super) fn spec(spec: &mut Value) {
    for path in EXTRA_ARGS {
        each_parent(spec, path, &mut args_to_map);
    }
    each_parent(
        spec,
        "initConfiguration.bootstrapTokens[].ttlSeconds",
        &mut |token, field| {
            if let Some(ttl) = token.remove(field).as_ref().and_then(duration) {
                token.insert("ttl".to_owned(), ttl);
            }
        },
    );
    each_parent(
        spec,
        "diskSetup.partitions[].layout",
        &mut |partition, layout| {
            partition.entry(layout).or_insert(Value::Bool(false));
        },
    );
    timeouts(spec);
}

pub(super) fn status(status: &mut Value) {
    let Value::Object(fields) = status else {
        return;
    };
    let newer = fields.remove("conditions");
    if let Some(Value::Object(mut initialization)) = fields.remove("initialization")
        && let Some(created) = initialization.remove("dataSecretCreated")
    {
        fields.insert("ready".to_owned(), created);
    }
    if let Some(Value::Object(mut deprecated)) = fields.remove("deprecated")
        && let Some(Value::Object(older)) = deprecated.remove("v1beta1")
    {
        fields.extend(older);
    }
    if let Some(conditions) = newer
        && let Some(newer) = make_object(status, &["v1beta2"])
    {
        newer.insert("conditions".to_owned(), conditions);
    }
}

/// A list becomes a map; of two arguments with one name the later wins.
fn args_to_map(parent: &mut Map<String, Value>, field: &str) {
    let Some(Value::Array(args)) = parent.get_mut(field) else {
        return;
    };
    let named = std::mem::take(args).into_iter().filter_map(|mut arg| {
        let name = arg.get("name")?.as_str()?.to_owned();
        Some((
            name,
            arg.get_mut("value").map(Value::take).unwrap_or_default(),
        ))
    });
    let map: Map<String, Value> = named.collect();
    parent.insert(field.to_owned(), Value::Object(map));
}

/// Of all timeouts v1beta1 has two. A configuration that held nothing else goes with its timeouts.
fn timeouts(spec: &mut Value) {
    let mut api_server = None;
    let mut discovery = None;
    let emptied = ["initConfiguration", "joinConfiguration"]
        .into_iter()
        .filter(|name| spec[*name]["timeouts"].is_object());
    let emptied: Vec<&str> = emptied.collect();
    each_parent(spec, "initConfiguration.timeouts", &mut |init, field| {
        api_server = seconds(
            init.remove(field),
            "controlPlaneComponentHealthCheckSeconds",
        );
    });
    each_parent(spec, "joinConfiguration.timeouts", &mut |join, field| {
        discovery = seconds(join.remove(field), "tlsBootstrapSeconds");
    });
    if let Some(duration) = api_server
        && let Some(api_server) = make_object(spec, &["clusterConfiguration", "apiServer"])
    {
        api_server.insert("timeoutForControlPlane".to_owned(), duration);
    }
    if let Some(duration) = discovery
        && let Some(discovery) = make_object(spec, &["joinConfiguration", "discovery"])
    {
        discovery.insert("timeout".to_owned(), duration);
    }
    for configuration in emptied {
        if let Value::Object(fields) = spec {
            fields.retain(|name, value| {
                name != configuration || value.as_object().is_none_or(|inner| !inner.is_empty())
            });
        }
    }
}

fn seconds(timeouts: Option<Value>, field: &str) -> Option<Value> {
    duration(timeouts?.get(field)?)
}

/// Seconds in Go's notation; `None` for what no duration can hold.
fn duration(seconds: &Value) -> Option<Value> {
    let nanoseconds = seconds.as_i64()?.checked_mul(1_000_000_000)?;
    Some(GoDuration::from_nanoseconds(nanoseconds).to_string().into())
}
