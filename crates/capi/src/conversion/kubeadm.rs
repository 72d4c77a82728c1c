//! KubeadmConfig and its template from v1beta1 to v1beta2, with the memory that the kubeadm
//! bootstrap provider keeps: an annotation with the object in v1beta2 as it was before it went to
//! v1beta1. Of it that provider restores the timeouts and what is explicitly `false`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::places::{FALSE_IS_ABSENT, each_parent, make_object};
use super::{ConversionFault, plain};
use crate::api::names::{KUBEADM_GROUP, Kind, Version};
use crate::api::time::Timestamp;
use windlass_source::diag::FieldPath;

/// The annotation of Cluster API (`util/conversion`).
const CONVERSION_DATA: &str = "cluster.x-k8s.io/conversion-data";

/// Converts a KubeadmConfig or KubeadmConfigTemplate of v1beta1 as its own provider does. The
/// annotation is consumed.
///
/// # Errors
///
/// The object is of another group, version or kind, a duration is none, or the annotation holds no
/// JSON.
pub fn kubeadm_to_v1beta2(object: &Value) -> Result<Value, ConversionFault> {
    let kind = identify(object)?;
    let mut body = object.clone();
    let remembered = take_conversion_data(&mut body)?;
    let mut converted = plain(kind, body, Version::V1Beta2)?;
    converted["apiVersion"] = format!("{KUBEADM_GROUP}/{}", Version::V1Beta2).into();
    if let Some(remembered) = remembered {
        let spec_path: &[&str] = match kind {
            Kind::Config => &["spec"],
            Kind::Template => &["spec", "template", "spec"],
        };
        let remembered = spec_path
            .iter()
            .try_fold(&remembered, |value, step| value.get(step))
            .unwrap_or(&Value::Null);
        restore_timeouts(&mut converted, spec_path, remembered);
        if let Some(spec) = spec_path
            .iter()
            .try_fold(&mut converted, |value, step| value.get_mut(step))
        {
            restore_false(spec, remembered);
        }
    }
    let spec_path: &[&str] = if kind == Kind::Config {
        &["spec"]
    } else {
        &["spec", "template", "spec"]
    };
    let written = spec_path
        .iter()
        .try_fold(object, |value, step| value.get(step))
        .unwrap_or(&Value::Null);
    if let Some(spec) = spec_path
        .iter()
        .try_fold(&mut converted, |value, step| value.get_mut(step))
    {
        share_read_only(spec);
        drop_empty_kubeconfig(spec);
        drop_zero_expiry(spec);
        keep_layouts(spec, written);
    }
    keep_local_etcd(&mut converted, spec_path, written);
    drop_empty_lists(&mut converted["spec"]);
    Ok(converted)
}

/// The zero time of Go behind the pointer of v1beta1 is the absent time of v1beta2.
fn drop_zero_expiry(spec: &mut Value) {
    each_parent(
        spec,
        "initConfiguration.bootstrapTokens[].expires",
        &mut |token, expires| {
            let time = token.get(expires).and_then(Value::as_str);
            if time
                .and_then(Timestamp::parse)
                .is_some_and(Timestamp::is_zero)
            {
                token.remove(expires);
            }
        },
    );
}

/// Go writes no struct without a value: a kubeconfig whose user and cluster say nothing is none,
/// and an empty map of parameters is absent.
fn drop_empty_kubeconfig(spec: &mut Value) {
    each_parent(
        spec,
        "joinConfiguration.discovery.file.kubeConfig.user.authProvider.config",
        &mut |provider, config| {
            if provider.get(config).is_some_and(is_empty) {
                provider.remove(config);
            }
        },
    );
    each_parent(
        spec,
        "joinConfiguration.discovery.file.kubeConfig",
        &mut |file, field| {
            let is_unset = |value: &Value| value.is_null() || is_empty(value);
            if file
                .get(field)
                .and_then(Value::as_object)
                .is_some_and(|config| config.values().all(is_unset))
            {
                file.remove(field);
            }
        },
    );
}

/// Cluster API converts `layout: false` of v1beta1 as it is, beside a disk layout too, and its
/// template for Ignition asks whether it is there.
fn keep_layouts(spec: &mut Value, written: &Value) {
    let partitions = |spec: &Value| {
        spec.pointer("/diskSetup/partitions")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let written = partitions(written);
    let converted = spec
        .pointer_mut("/diskSetup/partitions")
        .and_then(Value::as_array_mut);
    for (partition, written) in converted.into_iter().flatten().zip(&written) {
        if let (Some(partition), Some(layout)) = (
            partition.as_object_mut(),
            written.get("layout").filter(|layout| layout.is_boolean()),
        ) {
            partition.insert("layout".to_owned(), layout.clone());
        }
    }
}

/// An empty list of variables stays one behind its pointer, and so a local etcd that says nothing
/// else stays local.
fn keep_local_etcd(object: &mut Value, spec_path: &[&str], written: &Value) {
    const LOCAL: [&str; 3] = ["clusterConfiguration", "etcd", "local"];
    let variables = LOCAL
        .iter()
        .try_fold(written, |value, step| value.get(step))
        .and_then(|local| local.get("extraEnvs"));
    if variables.is_some_and(is_empty)
        && let Some(local) = make_object(object, &[spec_path, &LOCAL].concat())
    {
        local.insert("extraEnvs".to_owned(), Value::Array(Vec::new()));
    }
}

/// The lists of v1beta2 that are behind pointers.
const POINTERS: [&str; 2] = ["taints", "extraEnvs"];

/// Go writes no empty list, except where the list is behind a pointer; and what held nothing else
/// is nothing. The depth is that of the document.
fn drop_empty_lists(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.retain(|name, inner| {
            let was_empty = is_empty(inner);
            drop_empty_lists(inner);
            POINTERS.contains(&name.as_str())
                || !is_empty(inner)
                || (was_empty && inner.is_object())
        }),
        Value::Array(items) => items.iter_mut().for_each(drop_empty_lists),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

fn identify(object: &Value) -> Result<Kind, ConversionFault> {
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let fault = |field: &str| {
        let message = format!(
            "Invalid value: {:?}: no {KUBEADM_GROUP}/{} kind that is known",
            text(field),
            Version::V1Beta1
        );
        ConversionFault {
            place: FieldPath::root().field(field),
            message,
        }
    };
    if text("apiVersion").split_once('/') != Some((KUBEADM_GROUP, Version::V1Beta1.as_str())) {
        return Err(fault("apiVersion"));
    }
    Kind::ALL
        .into_iter()
        .find(|kind| kind.kubeadm() == text("kind"))
        .ok_or_else(|| fault("kind"))
}

fn take_conversion_data(object: &mut Value) -> Result<Option<Value>, ConversionFault> {
    let annotations = object
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut);
    let Some(text) = annotations.and_then(|annotations| annotations.remove(CONVERSION_DATA)) else {
        return Ok(None);
    };
    match serde_json::from_str(text.as_str().unwrap_or_default()) {
        Ok(remembered) => Ok(Some(remembered)),
        Err(error) => {
            let place = FieldPath::root()
                .field("metadata")
                .field("annotations")
                .key(CONVERSION_DATA);
            Err(ConversionFault {
                place,
                message: format!("Invalid value: must be JSON: {error}"),
            })
        }
    }
}

/// The remembered timeouts count, except where v1beta1 has a field of its own. Joining, that
/// provider drops the remembered health check as soon as either field is set.
fn restore_timeouts(object: &mut Value, spec_path: &[&str], remembered: &Value) {
    for configuration in ["initConfiguration", "joinConfiguration"] {
        let Some(timeouts) = remembered[configuration]["timeouts"]
            .as_object()
            .filter(|timeouts| !timeouts.is_empty())
        else {
            continue;
        };
        let path: Vec<&str> = spec_path.iter().copied().chain([configuration]).collect();
        let Some(configuration) = make_object(object, &path) else {
            continue;
        };
        let mut merged: Map<String, Value> = timeouts.clone();
        if let Some(Value::Object(own)) = configuration.remove("timeouts") {
            merged.remove("controlPlaneComponentHealthCheckSeconds");
            merged.extend(own);
        }
        configuration.insert("timeouts".to_owned(), Value::Object(merged));
    }
}

/// That provider finds the volume of v1beta1 by its host path, so of volumes that share one the
/// first says for all whether it is read-only.
fn share_read_only(spec: &mut Value) {
    for component in ["apiServer", "controllerManager", "scheduler"] {
        let volumes = spec
            .pointer_mut(&format!("/clusterConfiguration/{component}/extraVolumes"))
            .and_then(Value::as_array_mut);
        let Some(volumes) = volumes else { continue };
        let mut first: BTreeMap<String, Option<Value>> = BTreeMap::new();
        for volume in volumes.iter_mut().filter_map(Value::as_object_mut) {
            let path = volume
                .get("hostPath")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let own = volume.remove("readOnly");
            if let Some(shared) = first.entry(path).or_insert(own).clone() {
                volume.insert("readOnly".to_owned(), shared);
            }
        }
    }
}

/// What is `false` in the memory and unset in the object becomes `false`; volumes are found by host
/// path, files by path.
fn restore_false(spec: &mut Value, remembered: &Value) {
    for path in FALSE_IS_ABSENT {
        match path.split_once("[].") {
            None => {
                let was = path
                    .split('.')
                    .try_fold(remembered, |value, step| value.get(step));
                if was == Some(&Value::Bool(false)) {
                    each_parent(spec, path, &mut set_false_if_absent);
                }
            }
            Some((list, _)) => {
                let items = list
                    .split('.')
                    .try_fold(remembered, |value, step| value.get(step))
                    .and_then(Value::as_array);
                each_parent(spec, path, &mut |item, field| {
                    let key = if item.contains_key("hostPath") {
                        "hostPath"
                    } else {
                        "path"
                    };
                    let was = items
                        .into_iter()
                        .flatten()
                        .find(|was| was.get(key) == item.get(key))
                        .and_then(|was| was.get(field));
                    if was == Some(&Value::Bool(false)) {
                        set_false_if_absent(item, field);
                    }
                });
            }
        }
    }
}

fn set_false_if_absent(parent: &mut Map<String, Value>, field: &str) {
    parent.entry(field).or_insert(Value::Bool(false));
}
