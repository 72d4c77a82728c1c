//! Conversion of what users keep in files between v1beta1 and v1beta2: Cluster API's own kinds, the
//! kubeadm control plane and configs, ours.
//!
//! Unlike the conversion of the webhooks it keeps no memory in the object: it says where each part
//! came from and what is lost.

mod completed;
mod configs;
mod empty;
mod lost;
mod new_form;
mod origins;
mod patch_paths;
mod relocate;
mod table;

use serde_json::Value;

pub use configs::MOVES;
use empty::NeverEmpty;
pub(crate) use lost::{Loss, Lost};
pub(crate) use new_form::{NewForm, new_form};
pub(crate) use origins::Origins;
pub(crate) use patch_paths::{PatchPath, patch_path, patch_value};
pub use table::{KINDS, differences};

use crate::api::additions::{ADDITIONS, Difference};
use crate::api::names::{GROUP, Version};
use windlass_source::diag::FieldPath;

/// What is known of other objects.
pub struct ConversionContext<'s> {
    /// The version of a group and kind, for references that name it.
    pub version_of: &'s dyn Fn(&str, &str) -> Option<String>,
    /// Whether a reference that lacks a part is converted, as Cluster API does; else it has a fault.
    pub keeps_incomplete: bool,
}

/// The result of a conversion: the new object, and what it does not keep.
#[derive(Debug, Clone, Default)]
pub struct Conversion {
    /// The object, without what is lost and with what has a fault as it was.
    pub value: Value,
    /// The path in the old object of each value that has another path in the new one.
    pub origins: Origins,
    /// What the other version does not hold, at its place in the old object.
    pub lost: Vec<Lost>,
    /// What cannot be converted, at its place in the old object.
    pub faults: Vec<Fault>,
}

/// A value that cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its place in the old object.
    pub place: FieldPath,
    /// What is wrong with it, without the field.
    pub message: String,
    /// The change to make in the old object, so that it can be converted.
    pub help: String,
}

/// Converts an object to a version; `None` when it is of no kind of [`KINDS`], or in neither
/// version. Its status is left out: controllers write it.
pub fn convert_object(
    object: &Value,
    to: Version,
    context: &ConversionContext<'_>,
) -> Option<Conversion> {
    let (group, version) = object.get("apiVersion")?.as_str()?.split_once('/')?;
    let kind = object.get("kind")?.as_str()?;
    let from = Version::parse(version)?;
    let differences = differences(group, kind)?;
    let mut conversion = Conversion {
        value: object.clone(),
        ..Conversion::default()
    };
    if from == to {
        return Some(conversion);
    }
    conversion.value["apiVersion"] = format!("{group}/{to}").into();
    conversion.drop_all(&["status".to_owned()], Loss::Status);
    conversion.drop_all(
        if to == Version::V1Beta2 {
            &differences.only_old
        } else {
            &differences.only_new
        },
        Loss::of_field(to),
    );
    let empty = if to == Version::V1Beta2 {
        NeverEmpty::of(kind)
    } else {
        NeverEmpty::default()
    };
    conversion.drop_empty(&empty.references(&differences.moves));
    conversion.relocate(&differences.moves, to, context);
    // An empty strategy of a template gets a type, too: conversion sets it, no webhook does.
    if to == Version::V1Beta2 && kind == "KubeadmControlPlaneTemplate" {
        conversion.complete_strategy(kind);
    }
    conversion.drop_empty(&empty);
    if to == Version::V1Beta2 {
        conversion.complete_strategy(kind);
    }
    if let Some(place) = differences.configs {
        conversion.config(group, place, to);
        if to == Version::V1Beta2 {
            conversion.complete_template(place);
        }
        conversion.require_config(place, to);
    }
    Some(conversion)
}

impl Conversion {
    /// Takes out what a WindlassConfig has and a KubeadmConfig has not.
    pub(crate) fn drop_additions(&mut self) {
        let place = self
            .value
            .get("kind")
            .and_then(Value::as_str)
            .and_then(|kind| differences(GROUP, kind))
            .and_then(|kind| kind.configs);
        let Some(place) = place else { return };
        let fields = ADDITIONS
            .iter()
            .filter(|addition| addition.difference == Difference::Field);
        let fields: Vec<String> = fields
            .map(|addition| format!("{place}.{}", addition.path))
            .collect();
        self.drop_all(&fields, Loss::Field);
    }

    /// Takes fields out of the object that the other version has not.
    fn drop_all(&mut self, fields: &[String], loss: Loss) {
        for (path, _) in fields
            .iter()
            .flat_map(|field| relocate::places(&self.value, field, field))
            .collect::<Vec<_>>()
        {
            if relocate::take(&mut self.value, &path).is_some() {
                self.lose(&path, loss);
            }
        }
    }

    /// Leaves out what v1beta2 rejects when it is empty.
    fn drop_empty(&mut self, fields: &NeverEmpty) {
        for path in fields.take_from(&mut self.value) {
            self.lose(&path, Loss::Empty);
        }
    }

    fn lose(&mut self, path: &FieldPath, loss: Loss) {
        let place = self.origins.of(path);
        self.lost.push(Lost { place, loss });
    }

    fn fault(&mut self, path: &FieldPath, message: String, help: String) {
        let place = self.origins.of(path);
        self.faults.push(Fault {
            place,
            message,
            help,
        });
    }
}
