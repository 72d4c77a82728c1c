//! What the validating webhooks answer: the rules that a schema cannot say.
//!
//! The rules are the kubeadm bootstrap provider's, with its wording and in its order
//! (`bootstrap/kubeadm/webhooks/admission` of Cluster API v1.14), and for WindlassConfig those of
//! its additions. Everything is a function of the object as JSON; nothing is ever defaulted and
//! nothing is immutable, so a topology dry run has nothing to be spared (book:
//! BootstrapConfigTemplate, support for SSA dry run).

pub mod core;
mod disks;
mod files;
mod ignition;
mod join;
pub mod metadata;
pub mod metadata_types;
pub mod renamed;
mod review;
mod users;
mod warnings;
mod wording;

use serde_json::Value;

pub use self::core::Release;
pub use review::review;
pub use warnings::{Warning, warnings};
pub use wording::Wording;

use crate::api::names::{GROUP, KUBEADM_GROUP, Kind};
use windlass_schema::{Violation, rejection_message, validate_annotations, validate_labels};
use windlass_source::diag::FieldPath;

/// Whose rules an object is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// Those of WindlassConfig.
    Windlass,
    /// Those of KubeadmConfig.
    Kubeadm {
        /// Whether the feature gate KubeadmBootstrapFormatIgnition is on; by default it is off.
        ignition_gate: bool,
    },
    /// Those of a KubeadmConfigSpec of v1beta1, wherever it stands: what Cluster API v1.10 holds it
    /// to.
    KubeadmV1Beta1 {
        /// Whether the feature gate KubeadmBootstrapFormatIgnition is on; by default it is off.
        ignition_gate: bool,
    },
    /// Those of the KubeadmConfigSpec within a KubeadmControlPlane or its template.
    KubeadmControlPlane {
        /// Whether the feature gate KubeadmBootstrapFormatIgnition is on; by default it is off.
        ignition_gate: bool,
    },
}

/// How a spec is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    /// The rules.
    pub rules: Rules,
    /// How values are printed.
    pub wording: Wording,
    /// Where the spec is in its object.
    pub path: FieldPath,
}

impl Judge {
    /// Checks a WindlassConfig or its template; secrets are not printed.
    pub fn windlass(kind: Kind) -> Self {
        Judge {
            rules: Rules::Windlass,
            wording: Wording::Redacted,
            path: spec_path(kind),
        }
    }

    /// Checks a KubeadmConfig or its template as its own webhook does, word for word.
    pub fn kubeadm(kind: Kind, ignition_gate: bool) -> Self {
        Judge {
            rules: Rules::Kubeadm { ignition_gate },
            wording: Wording::Upstream,
            path: spec_path(kind),
        }
    }

    fn is_windlass(&self) -> bool {
        self.rules == Rules::Windlass
    }

    /// Whether a field is set: in v1beta1 one that is there, and from v1beta2 on one that is not
    /// Go's zero value.
    fn is_set(&self, value: Option<&Value>) -> bool {
        match self.rules {
            Rules::KubeadmV1Beta1 { .. } => value.is_some_and(|value| !value.is_null()),
            _ => is_defined(value),
        }
    }

    /// What is wrong with a spec of v1beta2, or of v1beta1 where the rules are for that, that its
    /// schema accepts.
    pub fn spec(&self, spec: &Value) -> Vec<Violation> {
        let mut violations = Vec::new();
        self.files(spec, &mut violations);
        self.users(spec, &mut violations);
        self.ignition(spec, &mut violations);
        self.disks(spec, &mut violations);
        self.join(spec, &mut violations);
        if self.is_windlass() {
            self.directories(spec, &mut violations);
        }
        violations
    }

    /// What is wrong with an object of v1beta2 that its schema accepts: its spec, and the metadata
    /// of a template.
    pub fn object(&self, kind: Kind, object: &Value) -> Vec<Violation> {
        let spec = spec_of(kind, object);
        let mut violations = self.spec(spec);
        if kind == Kind::Template {
            let path = FieldPath::root()
                .field("spec")
                .field("template")
                .field("metadata");
            let map = |key: &str| {
                object
                    .pointer("/spec/template/metadata")?
                    .get(key)?
                    .as_object()
            };
            violations.extend(
                map("labels")
                    .map(|labels| validate_labels(labels, &path.field("labels")))
                    .unwrap_or_default(),
            );
            let annotations = map("annotations")
                .map(|found| validate_annotations(found, &path.field("annotations")));
            violations.extend(annotations.unwrap_or_default());
        }
        violations
    }

    /// The message of the rejection of an object, as the API server hands it on.
    pub fn rejection(&self, kind: Kind, name: &str, violations: &[Violation]) -> String {
        let (group, kind) = if self.is_windlass() {
            (GROUP, kind.as_str())
        } else {
            (KUBEADM_GROUP, kind.kubeadm())
        };
        rejection_message(group, kind, name, violations)
    }
}

fn spec_path(kind: Kind) -> FieldPath {
    let spec = FieldPath::root().field("spec");
    match kind {
        Kind::Config => spec,
        Kind::Template => spec.field("template").field("spec"),
    }
}

/// The spec of a config, or the one within a template.
fn spec_of(kind: Kind, object: &Value) -> &Value {
    let pointer = match kind {
        Kind::Config => "/spec",
        Kind::Template => "/spec/template/spec",
    };
    object.pointer(pointer).unwrap_or(&Value::Null)
}

/// A string field; absent is empty, as in Go.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value
        .get(field)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Whether a struct differs from Go's zero value: something in it is set. An empty list counts as
/// set, an empty string does not.
fn is_defined(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(fields)) => fields.values().any(|field| is_defined(Some(field))),
        Some(_) => true,
    }
}

/// Whether the data will be read by Windows.
fn is_windows(spec: &Value) -> bool {
    text(spec, "platform") == "windows"
}

/// The Ignition specification that will be written.
fn ignition_version(spec: &Value) -> &str {
    match spec.pointer("/ignition/version").and_then(Value::as_str) {
        Some(version) => version,
        None => "2.3",
    }
}
