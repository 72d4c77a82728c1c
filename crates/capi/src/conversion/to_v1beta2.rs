//! v1beta1 to v1beta2, as the kubeadm bootstrap provider converts: what v1beta2 has no place for is
//! gone (`memory` keeps it).

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::ConversionFault;
use super::places::{EXTRA_ARGS, V1BETA1_ONLY, drop_false, each_parent, make_object};
use crate::api::names::{Kind, Version};
use crate::api::openapi;
use crate::api::time::GoDuration;
use windlass_source::diag::FieldPath;

/// Schemas of v1beta2, which say where an object or a list may not be empty.
static CONFIG: LazyLock<Value> = LazyLock::new(|| openapi::schema(Kind::Config, Version::V1Beta2));
static TEMPLATE: LazyLock<Value> =
    LazyLock::new(|| openapi::schema(Kind::Template, Version::V1Beta2));

pub(crate) fn schema(kind: Kind) -> &'static Value {
    match kind {
        Kind::Config => &CONFIG,
        Kind::Template => &TEMPLATE,
    }
}

/// Converts a spec; `place` is where it is in the document, for faults.
pub(super) fn spec(spec: &mut Value, place: &FieldPath) -> Result<(), ConversionFault> {
    timeouts(spec, place)?;
    token_lifetimes(spec, place)?;
    for path in V1BETA1_ONLY {
        each_parent(spec, path, &mut |parent, field| drop(parent.remove(field)));
    }
    for path in EXTRA_ARGS {
        each_parent(spec, path, &mut args_to_list);
    }
    drop_false(spec);
    each_parent(
        spec,
        "diskSetup.partitions[].layout",
        &mut |partition, layout| {
            if partition
                .get("diskLayout")
                .and_then(Value::as_array)
                .is_some_and(|parts| !parts.is_empty())
            {
                partition.remove(layout);
            }
        },
    );
    Ok(())
}

pub(super) fn status(status: &mut Value) {
    let Value::Object(fields) = status else {
        return;
    };
    let older =
        ["conditions", "failureReason", "failureMessage"].map(|name| (name, fields.remove(name)));
    if let Some(Value::Object(mut newer)) = fields.remove("v1beta2")
        && let Some(conditions) = newer.remove("conditions")
    {
        fields.insert("conditions".to_owned(), conditions);
    }
    if let Some(ready) = fields.remove("ready") {
        fields.insert(
            "initialization".to_owned(),
            json!({"dataSecretCreated": ready}),
        );
    }
    if fields.get("observedGeneration").and_then(Value::as_i64) == Some(0) {
        fields.remove("observedGeneration");
    }
    for (name, value) in older {
        if let Some(value) = value
            && let Some(deprecated) = make_object(status, &["deprecated", "v1beta1"])
        {
            deprecated.insert(name.to_owned(), value);
        }
    }
}

/// A map becomes a list, sorted by name in byte order.
fn args_to_list(parent: &mut Map<String, Value>, field: &str) {
    let Some(Value::Object(args)) = parent.get_mut(field) else {
        return;
    };
    let list = std::mem::take(args)
        .into_iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    parent.insert(field.to_owned(), Value::Array(list));
}

/// The two waiting times of v1beta1: one for the API server, which counts for both ways into the
/// cluster, and one for discovery.
fn timeouts(spec: &mut Value, place: &FieldPath) -> Result<(), ConversionFault> {
    let api_server = take_seconds(
        spec,
        &["clusterConfiguration", "apiServer"],
        "timeoutForControlPlane",
        place,
    )?;
    let discovery = take_seconds(spec, &["joinConfiguration", "discovery"], "timeout", place)?;
    let targets = [
        (
            "initConfiguration",
            "controlPlaneComponentHealthCheckSeconds",
            api_server,
        ),
        (
            "joinConfiguration",
            "controlPlaneComponentHealthCheckSeconds",
            api_server,
        ),
        ("joinConfiguration", "tlsBootstrapSeconds", discovery),
    ];
    for (configuration, field, seconds) in targets {
        if let Some(seconds) = seconds
            && let Some(timeouts) = make_object(spec, &[configuration, "timeouts"])
        {
            timeouts.insert(field.to_owned(), seconds.into());
        }
    }
    Ok(())
}

fn take_seconds(
    spec: &mut Value,
    parents: &[&str],
    field: &str,
    place: &FieldPath,
) -> Result<Option<i32>, ConversionFault> {
    let parent = parents
        .iter()
        .try_fold(spec, |value, step| value.get_mut(step));
    let Some(text) = parent
        .and_then(Value::as_object_mut)
        .and_then(|parent| parent.remove(field))
    else {
        return Ok(None);
    };
    let at = parents
        .iter()
        .fold(place.clone(), |path, step| path.field(*step))
        .field(field);
    whole_seconds(&text, at)
}

fn token_lifetimes(spec: &mut Value, place: &FieldPath) -> Result<(), ConversionFault> {
    let tokens = spec
        .pointer_mut("/initConfiguration/bootstrapTokens")
        .and_then(Value::as_array_mut);
    for (index, token) in tokens.into_iter().flatten().enumerate() {
        let Some(token) = token.as_object_mut() else {
            continue;
        };
        if let Some(ttl) = token.remove("ttl") {
            let at = place
                .field("initConfiguration")
                .field("bootstrapTokens")
                .index(index)
                .field("ttl");
            if let Some(seconds) = whole_seconds(&ttl, at)? {
                token.insert("ttlSeconds".to_owned(), seconds.into());
            }
        }
    }
    Ok(())
}

/// The duration in seconds; null counts as absence.
fn whole_seconds(text: &Value, place: FieldPath) -> Result<Option<i32>, ConversionFault> {
    match text.as_str().and_then(|text| GoDuration::parse(text).ok()) {
        Some(duration) => Ok(Some(duration.whole_seconds())),
        None if text.is_null() => Ok(None),
        None => Err(ConversionFault {
            place,
            message: format!("Invalid value: {text}: must be a duration such as 1h30m"),
        }),
    }
}

/// Drops optional objects and lists that v1beta2 wants left out when they are empty, innermost
/// first. The depth is that of the schema.
pub(super) fn drop_empty(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties") else {
                return;
            };
            fields.retain(|name, inner| {
                let Some(inner_schema) = properties.get(name) else {
                    return true;
                };
                drop_empty(inner, inner_schema);
                !may_not_be_empty(inner, inner_schema) || is_required(name, schema)
            });
        }
        Value::Array(items) => {
            if let Some(item_schema) = schema.get("items") {
                items
                    .iter_mut()
                    .for_each(|item| drop_empty(item, item_schema));
            }
        }
        _ => {}
    }
}

fn may_not_be_empty(value: &Value, schema: &Value) -> bool {
    let at_least_one = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_u64)
            .is_some_and(|least| least > 0)
    };
    match value {
        Value::Object(fields) => fields.is_empty() && at_least_one("minProperties"),
        Value::Array(items) => items.is_empty() && at_least_one("minItems"),
        _ => false,
    }
}

fn is_required(name: &str, schema: &Value) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|required| required == name))
}
