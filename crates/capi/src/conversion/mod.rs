//! Conversion of WindlassConfig and WindlassConfigTemplate between v1beta1 and v1beta2, as the
//! conversion webhook answers it.
//!
//! A plain conversion does what the kubeadm bootstrap provider's does: each field goes to its place
//! in the other version, and what has none is gone. It works on the document, not on the Rust
//! types, so that an object that an older schema let in still converts. Around it, [`convert`]
//! keeps what is gone in one annotation
//! ([`CONVERSION_ANNOTATION`](crate::api::names::CONVERSION_ANNOTATION)) and puts it back
//! on the way back, so that both round trips return what they were given. The additions are the
//! same in both versions and pass as they are.

pub mod core;
mod kubeadm;
mod memory;
mod places;
mod review;
mod to_v1beta1;
mod to_v1beta2;

use std::fmt;

use serde_json::{Map, Value};

pub use kubeadm::kubeadm_to_v1beta2;
pub use review::review;

use crate::api::names::{GROUP, Kind, Version};
use crate::api::{v1beta1, v1beta2};
use memory::Memory;
use windlass_source::diag::FieldPath;

/// Why an object cannot be converted: it is none of ours, or a value of v1beta1 has no meaning (a
/// duration that is none).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionFault {
    /// The field.
    pub place: FieldPath,
    /// What is wrong with it, without the field.
    pub message: String,
}

impl fmt::Display for ConversionFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for ConversionFault {}

/// Converts an object of ours to a version, losing nothing: what that version cannot hold is in an
/// annotation of the result, and what the annotation of the object remembers is restored, except
/// where it has been overtaken.
///
/// # Errors
///
/// The object is of another group, version or kind, or a duration of v1beta1 is none.
pub fn convert(object: &Value, to: Version) -> Result<Value, ConversionFault> {
    let (kind, from) = identify(object)?;
    if from == to {
        return Ok(object.clone());
    }
    let mut object = object.clone();
    let remembered = Memory::take(&mut object, to);
    let (mut metadata, original) = split(object);
    let converted = plain(kind, original.clone(), to)?;
    let converted = remembered
        .and_then(|memory| restored(kind, &converted, &memory, to))
        .unwrap_or(converted);
    let returned = plain(kind, converted.clone(), from)?;
    Memory::of(from, &original, &returned).annotate(&mut metadata);
    Ok(assemble(kind, to, metadata, converted))
}

/// Converts the spec of a KubeadmConfig or WindlassConfig, as the kubeadm bootstrap provider does;
/// what v1beta2 cannot hold is gone.
///
/// # Errors
///
/// A duration is none; the place is within the spec.
pub fn spec_to_v1beta2(spec: &Value) -> Result<Value, ConversionFault> {
    let mut spec = spec.clone();
    to_v1beta2::spec(&mut spec, &FieldPath::root())?;
    let schema = &to_v1beta2::schema(Kind::Config)["properties"]["spec"];
    to_v1beta2::drop_empty(&mut spec, schema);
    Ok(spec)
}

/// Converts the spec of a KubeadmConfig or WindlassConfig, as the kubeadm bootstrap provider does;
/// what v1beta1 cannot hold is gone.
pub fn spec_to_v1beta1(spec: &Value) -> Value {
    let mut spec = spec.clone();
    to_v1beta1::spec(&mut spec);
    spec
}

/// Kind and version of an object of ours.
fn identify(object: &Value) -> Result<(Kind, Version), ConversionFault> {
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let fault = |field: &str, message: String| ConversionFault {
        place: FieldPath::root().field(field),
        message,
    };
    let (api_version, kind_name) = (text("apiVersion"), text("kind"));
    let version = api_version
        .strip_prefix(GROUP)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(Version::parse);
    let version = version.ok_or_else(|| {
        fault(
            "apiVersion",
            format!("Invalid value: {api_version:?}: no version of {GROUP} that is known"),
        )
    })?;
    let kind = Kind::parse(kind_name).ok_or_else(|| {
        fault(
            "kind",
            format!("Invalid value: {kind_name:?}: no kind of {GROUP}"),
        )
    })?;
    Ok((kind, version))
}

/// Metadata, and everything but metadata and type.
fn split(object: Value) -> (Value, Value) {
    let Value::Object(mut fields) = object else {
        return (Value::Null, object);
    };
    fields.remove("apiVersion");
    fields.remove("kind");
    (
        fields.remove("metadata").unwrap_or_default(),
        Value::Object(fields),
    )
}

fn assemble(kind: Kind, version: Version, metadata: Value, body: Value) -> Value {
    let mut object = match body {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    object.insert("apiVersion".to_owned(), version.api_version().into());
    object.insert("kind".to_owned(), kind.as_str().into());
    if !metadata.is_null() {
        object.insert("metadata".to_owned(), metadata);
    }
    Value::Object(object)
}

/// Converts what [`split`] leaves, without memory.
fn plain(kind: Kind, mut body: Value, to: Version) -> Result<Value, ConversionFault> {
    let spec_path: &[&str] = match kind {
        Kind::Config => &["spec"],
        Kind::Template => &["spec", "template", "spec"],
    };
    if let Some(spec) = spec_path
        .iter()
        .try_fold(&mut body, |value, step| value.get_mut(step))
    {
        match to {
            Version::V1Beta1 => to_v1beta1::spec(spec),
            Version::V1Beta2 => {
                let place = spec_path
                    .iter()
                    .fold(FieldPath::root(), |path, step| path.field(*step));
                to_v1beta2::spec(spec, &place)?;
            }
        }
    }
    if let Some(status) = body.get_mut("status") {
        match to {
            Version::V1Beta1 => to_v1beta1::status(status),
            Version::V1Beta2 => to_v1beta2::status(status),
        }
    }
    if to == Version::V1Beta2 {
        to_v1beta2::drop_empty(&mut body, to_v1beta2::schema(kind));
    }
    Ok(body)
}

/// The converted body with its memory, or `None` when the memory is not to be trusted: people can
/// write annotations. What it adds must be readable, and must be nothing that v1beta1 and v1beta2
/// can both say.
fn restored(kind: Kind, converted: &Value, memory: &Memory, to: Version) -> Option<Value> {
    let mut candidate = converted.clone();
    memory.restore(&mut candidate);
    let common = |body: &Value| {
        let older = if to == Version::V1Beta2 {
            plain(kind, body.clone(), Version::V1Beta1).ok()?
        } else {
            body.clone()
        };
        plain(kind, older, Version::V1Beta2).ok()
    };
    (is_readable(kind, to, &candidate) && common(&candidate)? == common(converted)?)
        .then_some(candidate)
}

/// Whether the Rust types of that version read it; if not, one object could stop the controller
/// from reading any.
fn is_readable(kind: Kind, version: Version, body: &Value) -> bool {
    let object = assemble(kind, version, Value::Object(Map::new()), body.clone());
    match (kind, version) {
        (Kind::Config, Version::V1Beta1) => {
            serde_json::from_value::<v1beta1::WindlassConfig>(object).is_ok()
        }
        (Kind::Config, Version::V1Beta2) => {
            serde_json::from_value::<v1beta2::WindlassConfig>(object).is_ok()
        }
        (Kind::Template, Version::V1Beta1) => {
            serde_json::from_value::<v1beta1::WindlassConfigTemplate>(object).is_ok()
        }
        (Kind::Template, Version::V1Beta2) => {
            serde_json::from_value::<v1beta2::WindlassConfigTemplate>(object).is_ok()
        }
    }
}
