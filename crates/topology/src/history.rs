//! What became of the patches of a class for one template, beside what they wrote: for those who
//! ask why something is not there.

use std::sync::Arc;

use serde_json::Value;

use super::class::patch_name;
use super::mentions::in_template;
use super::origins::{Leaving, Origins};
use super::part::Part;
use windlass_objects::Stand;
use windlass_source::diag::FieldPath;

/// What became of the patches for one template.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// What patches replaced or removed.
    pub lost: Vec<Lost>,
    /// What patches would have written, had they been for this template, or on.
    pub untaken: Vec<Untaken>,
    /// The conditions of the patches that were on.
    pub conditions: Vec<Condition>,
}

/// A part that a patch replaced or removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// Which of the template's writes took it away.
    pub write: usize,
    /// The operation that did.
    pub stand: Stand,
    /// Where it stood in the template.
    pub path: FieldPath,
    /// What it was. May be secret.
    pub value: Value,
    /// The origins of the parts of the value, by their paths in it.
    pub origins: Origins,
}

/// `enabledIf` of a patch.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The name of the patch in the ClusterClass.
    pub patch: String,
    /// The template.
    pub text: String,
    /// The location of `enabledIf` in the ClusterClass.
    pub stand: Stand,
    /// The names after a dot in the template, each once: variables that it may read.
    pub variables: Vec<String>,
}

/// A definition of a patch that did nothing to the template.
#[derive(Debug, Clone, PartialEq)]
pub struct Untaken {
    /// The name of the patch in the ClusterClass.
    pub patch: String,
    /// The reason why the definition did nothing.
    pub reason: Reason,
    /// The location of the reason: a field of the selector, `enabledIf` or `external`.
    pub stand: Stand,
    /// What it would have written.
    pub writes: Arc<[Unwritten]>,
}

/// What an operation of a patch would have written.
#[derive(Debug, Clone, PartialEq)]
pub struct Unwritten {
    /// The path in the template.
    pub path: String,
    /// The value. May be secret.
    pub value: Value,
    pub stand: Stand,
}

/// Why a definition of a patch did nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Its selector is for other templates.
    Selector(Misfit),
    /// Its condition gave something else than `true`.
    Disabled {
        /// The condition of the patch.
        condition: Box<Condition>,
        /// The value that the condition gave for this template; never `true`.
        gave: Value,
    },
    /// A runtime extension makes it.
    External,
}

/// What of a selector is for other templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// `apiVersion` or `kind` is that of others.
    Other {
        /// The field of the selector that differs: `apiVersion` or `kind`.
        field: &'static str,
        /// That of this template.
        own: String,
    },
    /// It is not for the infrastructure of the Cluster.
    NotInfrastructure,
    /// It is not for the control plane, to which this template belongs.
    NotControlPlane,
    /// It is not for the class of workers to which this template belongs.
    OtherClass {
        /// Whether the workers are a MachinePool; else they are a MachineDeployment.
        is_pool: bool,
        /// The name of the class of this template's workers.
        class: String,
    },
}

impl Condition {
    pub(super) fn of(patch: &Part<'_>) -> Self {
        let enabled_if = patch.field("enabledIf");
        Condition {
            patch: patch_name(patch).to_owned(),
            text: enabled_if.text().to_owned(),
            stand: enabled_if.stand(),
            variables: in_template(enabled_if.text()),
        }
    }
}

impl History {
    /// Keeps what a write took away.
    pub(super) fn lose(
        &mut self,
        write: usize,
        operation: &Part<'_>,
        taken: Option<(Value, Leaving)>,
    ) {
        let stand = || operation.field("path").stand();
        self.lost.extend(taken.map(|(value, (path, origins))| Lost {
            write,
            stand: stand(),
            path,
            value,
            origins,
        }));
    }
}
