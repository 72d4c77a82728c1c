//! The KubeadmConfig that a controller creates of a control plane or a template: the API server
//! validates it, too, in v1beta2.
//!
//! Source: `ComputeDesiredKubeadmConfig` in `controlplane/kubeadm/internal/desiredstate` (the
//! control plane is read into Go's types and written from them), `external.CreateFromTemplate` in
//! `controllers/external` (a template is copied as it is stored), and the types of
//! `api/bootstrap/kubeadm/v1beta2`, Cluster API v1.14.

use serde_json::{Map, Value};

use super::served::{in_object, schema};
use crate::render::input::outcome::Notes;
use crate::render::input::profile::Profile;
use crate::render::input::target::{ConfigKind, Target};
use windlass_capi::api::names::{KUBEADM_GROUP, Kind, Version};
use windlass_schema::{Violation, rejection_message};
use windlass_source::diag::{Diagnostic, Quoted, Shared, rules};

rules! {
    /// the API server rejects the KubeadmConfig that a controller creates of a control plane or template
    pub(crate) CREATED_REJECTED = error("config-created-rejected");
}

/// Lists behind pointers: Go writes them when they are empty.
const POINTERS: [&str; 2] = ["taints", "extraEnvs"];
/// Structs behind pointers: Go writes them when they are empty.
const POINTED: [&str; 1] = ["controlPlane"];
/// Maps with names of the user's.
const MAPS: [&str; 4] = ["featureGates", "config", "extraArgs", "kubeletExtraArgs"];

/// Reports what the API server rejects of the config that a controller creates of an object. `spec`
/// is the spec in v1beta2.
pub(super) fn check(
    target: &Target<'_>,
    version: Version,
    spec: &Value,
    profile: &Profile,
    notes: &mut Notes,
) -> Option<()> {
    let created = match target.kind {
        _ if profile.is_legacy() => return Some(()),
        ConfigKind::ControlPlane { .. } => written(spec),
        ConfigKind::Kubeadm(Kind::Template) if version == Version::V1Beta1 => {
            let mut stored = spec.clone();
            if let Some(given) = target.spec() {
                keep_emptied(given, &mut stored);
            }
            stored
        }
        _ => return Some(()),
    };
    let mut config = serde_json::json!({
        "apiVersion": format!("{KUBEADM_GROUP}/{}", Version::V1Beta2),
        "kind": Kind::Config.kubeadm(),
        "metadata": {"name": target.config.name()},
    });
    // Go leaves out a spec that holds nothing.
    if created.as_object().is_some_and(|spec| !spec.is_empty()) {
        config["spec"] = created;
    }
    let schema = schema(KUBEADM_GROUP, Version::V1Beta2, profile);
    let violations = schema.validate(&config);
    if violations.is_empty() {
        return Some(());
    }
    let name = format!("{}-xxxxx", target.config.name());
    let upstream = rejection_message(KUBEADM_GROUP, Kind::Config.kubeadm(), &name, &violations);
    let mut upstream = Shared::new(Some(upstream), violations.len());
    for violation in &violations {
        let mut finding = finding(target, violation);
        finding.upstream = upstream.for_next_finding();
        notes.report.push(finding);
    }
    None
}

fn finding(target: &Target<'_>, violation: &Violation) -> Diagnostic {
    let path = in_object(target, &violation.path);
    let message = format!(
        "the API server rejects the KubeadmConfig that is created of {}: {}: {}",
        target.config.title(),
        violation.field,
        Quoted(&violation.fault)
    );
    Diagnostic::of(&CREATED_REJECTED, message)
        .at(target.config.place(&path))
        .help(format!("remove `{path}`, or write a value into it"))
}

/// A spec as Go writes it: without empty lists and maps, but with the structs that had them.
fn written(spec: &Value) -> Value {
    match of_struct(spec, "spec") {
        Written::Value(value) => value,
        Written::Unset | Written::Empty => Value::Object(Map::new()),
    }
}

/// A field as Go writes it.
enum Written {
    Value(Value),
    /// Go's zero value, which it leaves out.
    Unset,
    /// An empty list or map, which it leaves out, and which makes the struct around it differ from
    /// the zero value.
    Empty,
}

fn of_field(value: &Value, name: &str) -> Written {
    match value {
        Value::Null => Written::Unset,
        Value::Array(items) if items.is_empty() && !POINTERS.contains(&name) => Written::Empty,
        Value::Array(items) => {
            Written::Value(items.iter().map(|item| of_item(item, name)).collect())
        }
        Value::Object(entries) if MAPS.contains(&name) && entries.is_empty() => Written::Empty,
        Value::Object(_) if MAPS.contains(&name) => Written::Value(value.clone()),
        Value::Object(_) => of_struct(value, name),
        _ => Written::Value(value.clone()),
    }
}

fn of_item(item: &Value, name: &str) -> Value {
    match item {
        Value::Object(_) => match of_struct(item, name) {
            Written::Value(value) => value,
            Written::Unset | Written::Empty => Value::Object(Map::new()),
        },
        _ => item.clone(),
    }
}

fn of_struct(value: &Value, name: &str) -> Written {
    let mut is_set = POINTED.contains(&name);
    let mut fields = Map::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match of_field(value, name) {
            Written::Value(value) => drop(fields.insert(name.clone(), value)),
            Written::Empty => is_set = true,
            Written::Unset => {}
        }
    }
    match is_set || !fields.is_empty() {
        true => Written::Value(Value::Object(fields)),
        false => Written::Unset,
    }
}

/// Writes an empty struct where a spec of v1beta1 has one with nothing but empty lists: conversion
/// leaves out the lists.
fn keep_emptied(given: &Value, stored: &mut Value) {
    let (Value::Object(given), Value::Object(fields)) = (given, stored) else {
        return;
    };
    for (name, value) in given {
        if !value.is_object() || MAPS.contains(&name.as_str()) {
            continue;
        }
        if let Some(field) = fields.get_mut(name) {
            keep_emptied(value, field);
        } else if let Written::Value(written) = of_struct(value, name)
            && written.as_object().is_some_and(Map::is_empty)
        {
            fields.insert(name.clone(), written);
        }
    }
}
