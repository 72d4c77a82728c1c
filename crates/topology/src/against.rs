//! What becomes of a running cluster when its topology changes: which templates get a successor of
//! another name, which machines are replaced, what changes in place. The rules of Cluster API's
//! controllers are those of the newest release in [`windlass_capi::contract::rollout`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::plan::Desired;
use windlass_capi::contract::rollout::{
    self, Config, Machines, Release, names_another, rollout_after,
};
use windlass_capi::conversion;
use windlass_objects::fields;

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The object is new.
    Created,
    /// The object is no longer wanted.
    Removed,
    /// The template cannot change: it gets a successor with a new name.
    Rotated,
    /// Machines are replaced.
    RollsOut,
    /// The object is changed where it is.
    InPlace,
    /// What comes of it its provider decides.
    OfProvider,
    /// The webhook rejects the change.
    Rejected,
}

impl Effect {
    /// The words that users see.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Created => "created",
            Effect::Removed => "removed",
            Effect::Rotated => "rotated",
            Effect::RollsOut => "rolls out",
            Effect::InPlace => "in place",
            Effect::OfProvider => "provider decides",
            Effect::Rejected => "rejected",
        }
    }
}

/// An object that is different.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The name of the Cluster.
    pub cluster: String,
    /// What it belongs to: `cluster`, `controlPlane`, `md/NAME`, `mp/NAME`.
    pub part_of: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What the change does.
    pub effect: Effect,
    /// The fields that differ.
    pub paths: Vec<String>,
}

/// The maximum number of fields that are listed of an object.
const MOST: usize = 50;

type Key<'d> = (&'d str, &'d str, usize);

/// Each object by its Cluster, what it belongs to, and which of those it is.
fn keyed(objects: &[Desired]) -> BTreeMap<Key<'_>, &Desired> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut keyed = BTreeMap::new();
    for desired in objects {
        let count = counts
            .entry((&desired.cluster, &desired.part_of))
            .or_default();
        keyed.insert((&*desired.cluster, &*desired.part_of, *count), desired);
        *count += 1;
    }
    keyed
}

/// What differs between two plans, in the order of the new one; what is gone comes last.
pub fn against(old: &[Desired], new: &[Desired]) -> Vec<Changed> {
    let (before, after) = (keyed(old), keyed(new));
    let rotated = rotated(&before, &after);
    let mut places: Vec<(&Key<'_>, &&Desired)> = after.iter().collect();
    let order: BTreeMap<*const Desired, usize> = new
        .iter()
        .enumerate()
        .map(|(at, desired)| (std::ptr::from_ref(desired), at))
        .collect();
    places.sort_by_key(|(_, desired)| order.get(&std::ptr::from_ref(**desired)).copied());
    let mut changes = Vec::new();
    for (key, desired) in places {
        let Some(earlier) = before.get(key) else {
            changes.push(changed(desired, Effect::Created, Vec::new()));
            continue;
        };
        let paths = differences(&earlier.object, &desired.object);
        let is_holder = key.2 == 0 && rotated.contains(&(key.0, key.1));
        if !paths.is_empty() || is_holder {
            let effect = effect(&earlier.object, &desired.object, &paths, is_holder);
            changes.push(changed(desired, effect, paths));
        }
    }
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
    changes.extend(gone.map(|(_, desired)| changed(desired, Effect::Removed, Vec::new())));
    changes
}

fn changed(desired: &Desired, effect: Effect, paths: Vec<String>) -> Changed {
    Changed {
        cluster: desired.cluster.clone(),
        part_of: desired.part_of.clone(),
        kind: fields::kind(&desired.object).to_owned(),
        name: fields::name(&desired.object).to_owned(),
        effect,
        paths,
    }
}

/// Where a template gets a successor.
fn rotated<'d>(
    before: &BTreeMap<Key<'d>, &Desired>,
    after: &BTreeMap<Key<'d>, &Desired>,
) -> BTreeSet<(&'d str, &'d str)> {
    let is_rotated = |key: &Key<'d>, desired: &Desired| {
        let earlier = before.get(key).map(|earlier| earlier.object.get("spec"));
        is_template(desired) && earlier.is_some_and(|earlier| earlier != desired.object.get("spec"))
    };
    after
        .iter()
        .filter(|(key, desired)| is_rotated(key, desired))
        .map(|(key, _)| (key.0, key.1))
        .collect()
}

fn is_template(desired: &Desired) -> bool {
    fields::kind(&desired.object).ends_with("Template")
}

fn effect(old: &Value, new: &Value, paths: &[String], refers_to_rotated: bool) -> Effect {
    let is_spec_changed = paths.iter().any(|path| path.starts_with("spec"));
    match fields::kind(new) {
        kind if kind.ends_with("Template") && is_spec_changed => Effect::Rotated,
        kind if kind.ends_with("Template") => Effect::InPlace,
        "MachineDeployment" if refers_to_rotated || replaces_workers(old, new) => Effect::RollsOut,
        "KubeadmControlPlane" => of_control_plane(old, new, refers_to_rotated),
        "Cluster" | "MachineDeployment" | "MachineHealthCheck" => Effect::InPlace,
        _ if is_spec_changed || refers_to_rotated => Effect::OfProvider,
        _ => Effect::InPlace,
    }
}

/// Whether the machines of a MachineDeployment are replaced, beside another template.
fn replaces_workers(old: &Value, new: &Value) -> bool {
    const SPEC: &str = "/spec/template/spec";
    let differs = |field: &str| {
        let path = format!("{SPEC}/{field}");
        old.pointer(&path) != new.pointer(&path)
    };
    let refers_to_another = |field: &str| {
        let path = format!("{SPEC}/{field}");
        names_another(
            &["group", "kind", "name"],
            old.pointer(&path),
            new.pointer(&path),
        )
    };
    ["version", "failureDomain", "bootstrap/dataSecretName"]
        .into_iter()
        .any(differs)
        || ["bootstrap/configRef", "infrastructureRef"]
            .into_iter()
            .any(refers_to_another)
        || is_rollout_requested(old, new)
}

fn is_rollout_requested(old: &Value, new: &Value) -> bool {
    let [was, is] = [old, new].map(|object| object.get("spec").and_then(rollout_after));
    is.is_some() && was != is
}

fn of_control_plane(old: &Value, new: &Value, refers_to_rotated: bool) -> Effect {
    let [was, is] = [old, new].map(config);
    let in_spec = |config: &Value| serde_json::json!({"kubeadmConfigSpec": config});
    if !rollout::rejected(Release::NEWEST, &in_spec(&was), &in_spec(&is)).is_empty() {
        return Effect::Rejected;
    }
    let reference = |object: &Value| {
        [
            "/spec/machineTemplate/spec/infrastructureRef",
            "/spec/machineTemplate/infrastructureRef",
        ]
        .iter()
        .find_map(|path| object.pointer(path))
        .cloned()
    };
    let replaces = refers_to_rotated
        || old.pointer("/spec/version") != new.pointer("/spec/version")
        || names_another(
            &["group", "kind", "name"],
            reference(old).as_ref(),
            reference(new).as_ref(),
        )
        || is_rollout_requested(old, new)
        || [Machines::Init, Machines::Joined]
            .into_iter()
            .any(|machines| replaces_control_plane(machines, &was, &is));
    match replaces {
        true => Effect::RollsOut,
        false => Effect::InPlace,
    }
}

/// Whether the change of a config replaces these machines. The Kubernetes version is the same on
/// both sides, and with it what the controller fills in.
fn replaces_control_plane(machines: Machines, was: &Value, is: &Value) -> bool {
    let side = |spec| Config {
        release: Release::NEWEST,
        spec,
        v1beta1: None,
        sets_local_mode: false,
    };
    rollout::replacing(machines, &side(was), &side(is)).is_none_or(|fields| !fields.is_empty())
}

/// The config of a KubeadmControlPlane in v1beta2; as it is written where it cannot be converted.
fn config(object: &Value) -> Value {
    let spec = object
        .pointer("/spec/kubeadmConfigSpec")
        .cloned()
        .unwrap_or_default();
    match fields::group_version(object).1 {
        "v1beta1" => conversion::spec_to_v1beta2(&spec).unwrap_or(spec),
        _ => spec,
    }
}

/// The fields that differ, as far down as both have maps or lists of one length.
fn differences(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(old, new, String::new(), &mut found);
    found.truncate(MOST);
    found
}

fn collect(old: &Value, new: &Value, path: String, found: &mut Vec<String>) {
    if old == new || found.len() > MOST {
        return;
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for key in keys {
                let nothing = Value::Null;
                let inner = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                collect(
                    before.get(key).unwrap_or(&nothing),
                    after.get(key).unwrap_or(&nothing),
                    inner,
                    found,
                );
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                collect(before, after, format!("{path}[{at}]"), found);
            }
        }
        _ => found.push(path),
    }
}
