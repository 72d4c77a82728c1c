//! What became of the patches of a class for one template, beside what they wrote: for those who
//! ask why something is not there.

use std::sync::Arc;

use serde_json::Value;

use super::class::patch_name;
use super::mentions::in_template;
use super::origins::{Leaving, Origins};
use super::part::Part;
use crate::diag::FieldPath;
use crate::objects::Stand;

/// What became of the patches for one template.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct History {
    /// What patches replaced or removed.
    pub(crate) lost: Vec<Lost>,
    /// What patches would have written, had they been for this template, or on.
    pub(crate) untaken: Vec<Untaken>,
    /// The conditions of the patches that were on.
    pub(crate) conditions: Vec<Condition>,
}

/// A part that a patch replaced or removed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lost {
    /// Which of the template's writes took it away.
    pub(crate) write: usize,
    /// The operation that did.
    pub(crate) stand: Stand,
    /// Where it stood in the template.
    pub(crate) path: FieldPath,
    /// What it was. May be secret.
    pub(crate) value: Value,
    pub(crate) origins: Origins,
}

/// `enabledIf` of a patch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub(crate) patch: String,
    /// The template.
    pub(crate) text: String,
    pub(crate) stand: Stand,
    pub(crate) variables: Vec<String>,
}

/// A definition of a patch that did nothing to the template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Untaken {
    pub(crate) patch: String,
    pub(crate) reason: Reason,
    pub(crate) stand: Stand,
    /// What it would have written.
    pub(crate) writes: Arc<[Unwritten]>,
}

/// What an operation of a patch would have written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unwritten {
    /// The path in the template.
    pub(crate) path: String,
    /// The value. May be secret.
    pub(crate) value: Value,
    pub(crate) stand: Stand,
}

/// Why a definition of a patch did nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reason {
    /// Its selector is for other templates.
    Selector(Misfit),
    /// Its condition gave something else than `true`.
    Disabled {
        condition: Box<Condition>,
        gave: Value,
    },
    /// A runtime extension makes it.
    External,
}

/// What of a selector is for other templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// `apiVersion` or `kind` is that of others.
    Other {
        field: &'static str,
        /// That of this template.
        own: String,
    },
    /// It is not for the infrastructure of the Cluster.
    NotInfrastructure,
    NotControlPlane,
    OtherClass {
        is_pool: bool,
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
