//! The configs of kubeadm within objects: converted as the kubeadm bootstrap provider does, and
//! what that loses.

use serde_json::{Map, Value, json};

use super::super::{
    ConversionFault, kubeadm_to_v1beta2, spec_to_v1beta1, spec_to_v1beta2, to_v1beta2,
};
use super::empty::NeverEmpty;
use super::relocate::{at, insert, places};
use super::{Conversion, Fault, Loss, Lost, lost};
use crate::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use windlass_source::diag::FieldPath;

/// What v1beta1 and v1beta2 of a config call differently or say elsewhere, as the conversion moves
/// it. The shape of arguments is another.
pub const MOVES: [(&str, &str); 4] = [
    (
        "clusterConfiguration.apiServer.timeoutForControlPlane",
        "initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds",
    ),
    (
        "clusterConfiguration.apiServer.timeoutForControlPlane",
        "joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds",
    ),
    (
        "joinConfiguration.discovery.timeout",
        "joinConfiguration.timeouts.tlsBootstrapSeconds",
    ),
    (
        "initConfiguration.bootstrapTokens[].ttl",
        "initConfiguration.bootstrapTokens[].ttlSeconds",
    ),
];

/// Where templates of configs and control planes have what they are templates of.
const TEMPLATE: &str = "spec.template";

impl Conversion {
    /// Converts the config at a place of the object, which is in the other version already.
    pub(super) fn config(&mut self, group: &str, place: &str, to: Version) {
        let place = FieldPath::of_fields(place);
        let Some(spec) = at(&self.value, &place)
            .filter(|spec| spec.is_object())
            .cloned()
        else {
            return;
        };
        let converted = match to {
            Version::V1Beta1 => Ok(spec_to_v1beta1(&spec)),
            Version::V1Beta2 if group == GROUP => spec_to_v1beta2(&spec),
            Version::V1Beta2 => as_kubeadm(&spec),
        };
        let converted = match converted {
            Ok(converted) => converted,
            Err(ConversionFault {
                place: below,
                message,
            }) => {
                let message = message.trim_start_matches("Invalid value: ").to_owned();
                let help =
                    "write a duration that Go reads, such as `1h30m`; it becomes whole seconds"
                        .to_owned();
                return self.faults.push(Fault {
                    place: place.join(&below),
                    message,
                    help,
                });
            }
        };
        let returned = match to {
            Version::V1Beta2 => spec_to_v1beta1(&converted),
            Version::V1Beta1 if group == GROUP => spec_to_v1beta2(&converted).unwrap_or_default(),
            Version::V1Beta1 => as_kubeadm(&converted).unwrap_or_default(),
        };
        for Lost { place: below, loss } in lost::of_config(&spec, &returned) {
            self.lost.push(Lost {
                place: place.join(&below),
                loss,
            });
        }
        if to == Version::V1Beta1 {
            let added = lost::of_config(&returned, &spec)
                .into_iter()
                .filter(|added| added.loss != Loss::Order);
            self.lost.extend(added.map(|added| Lost {
                place: place.join(&added.place),
                loss: Loss::Added,
            }));
        }
        for (old, new) in MOVES {
            let (from, into) = if to == Version::V1Beta2 {
                (old, new)
            } else {
                (new, old)
            };
            for (from, into) in places(&spec, from, into)
                .into_iter()
                .filter(|(from, _)| at(&spec, from).is_some())
            {
                self.origins.note(place.join(&into), place.join(&from));
            }
        }
        let is_empty = converted.as_object().is_some_and(Map::is_empty);
        if is_empty && to == Version::V1Beta2 {
            return self.empty_config(&place);
        }
        let pointer = place
            .segments()
            .iter()
            .fold(String::new(), |pointer, step| {
                format!("{pointer}/{}", FieldPath::root().with(step.clone()))
            });
        if let Some(spec) = self.value.pointer_mut(&pointer) {
            *spec = converted;
        }
        if to == Version::V1Beta2 {
            self.drop_empty(&NeverEmpty::texts_of(config_schema(), &place.to_string()));
        }
    }

    /// A config that says nothing is absent in v1beta2, and so is the spec of a template that holds
    /// nothing else.
    fn empty_config(&mut self, place: &FieldPath) {
        let holds_one = |path: &FieldPath| {
            at(&self.value, path)
                .and_then(Value::as_object)
                .is_some_and(|fields| fields.len() == 1)
        };
        let template = FieldPath::of_fields(TEMPLATE);
        let parent = place
            .parent()
            .filter(|parent| parent.parent().as_ref() == Some(&template) && holds_one(parent));
        let gone = parent.unwrap_or_else(|| place.clone());
        let steps: Vec<String> = gone
            .segments()
            .iter()
            .map(|step| FieldPath::root().with(step.clone()).to_string())
            .collect();
        let Some((last, above)) = steps.split_last() else {
            return;
        };
        let holder = above
            .iter()
            .try_fold(&mut self.value, |value, step| value.get_mut(step.as_str()))
            .and_then(Value::as_object_mut);
        holder.and_then(|fields| fields.remove(last));
        self.lose(place, Loss::Empty);
    }

    /// v1beta1 wants the config of a whole control plane, also one that says nothing. A value of a
    /// patch has no metadata; a part, such as kustomize takes, lacks the version or the
    /// template of machines.
    pub(super) fn require_config(&mut self, config: &str, to: Version) {
        let path = FieldPath::of_fields(config);
        let Some(parent) = path
            .parent()
            .filter(|_| to == Version::V1Beta1 && config.ends_with(".kubeadmConfigSpec"))
        else {
            return;
        };
        let has = |path: &FieldPath| at(&self.value, path).is_some();
        let is_whole = if config.starts_with(TEMPLATE) {
            has(&FieldPath::of_fields(TEMPLATE))
        } else {
            ["version", "machineTemplate"]
                .iter()
                .all(|field| has(&parent.field(*field)))
        };
        if is_whole && has(&FieldPath::of_fields("metadata")) && !has(&path) {
            insert(&mut self.value, &path, Value::Object(Map::new()));
            self.lost.push(Lost {
                place: path,
                loss: Loss::Wanted,
            });
        }
    }
}

/// The schema of the spec of configs in v1beta2.
fn config_schema() -> &'static Value {
    &to_v1beta2::schema(Kind::Config)["properties"]["spec"]
}

/// The spec as the kubeadm bootstrap provider converts it.
fn as_kubeadm(spec: &Value) -> Result<Value, ConversionFault> {
    let api_version = format!("{KUBEADM_GROUP}/{}", Version::V1Beta1);
    let config = json!({"apiVersion": api_version, "kind": Kind::Config.kubeadm(), "spec": spec});
    let fault = |fault: ConversionFault| ConversionFault {
        place: fault.place.segments().iter().skip(1).cloned().collect(),
        ..fault
    };
    let converted = kubeadm_to_v1beta2(&config).map_err(fault)?;
    let spec = converted
        .get("spec")
        .filter(|spec| !spec.is_null())
        .cloned();
    Ok(spec.unwrap_or_else(|| Value::Object(Map::new())))
}
