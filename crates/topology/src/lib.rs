//! The topology controller of Cluster API without a cluster: the objects that it would create for a
//! Cluster with a ClusterClass. [`plan()`] is the entry point.
//!
//! Facts, not code, come from Cluster API v1.14 (`core/reconcilers/topology/cluster`,
//! `exp/topology/desiredstate`, `core/webhooks/admission`), whose order of steps and whose wording
//! are kept. The Cluster is taken as new: nothing of it exists yet. Templates are taken as they
//! are, not converted, as the engine itself takes them; they are defaulted where the input holds
//! their CRDs.

mod admission;
mod advice;
pub mod against;
mod blueprint;
mod class;
mod cluster;
pub mod commands;
mod defaults;
mod definitions;
mod engine;
pub mod given;
mod health_check;
mod health_check_object;
mod history;
mod input;
mod items;
mod lookup;
mod machine_admission;
mod machines;
mod made;
mod mentions;
mod metadata_admission;
mod names;
mod origins;
mod part;
mod patch_admission;
mod plan;
mod rejected;
mod rules;
mod scope;
mod spelling;
mod state;
mod taint_admission;
mod untaken;
mod usage;
mod values;
mod variables;
mod version_admission;

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[crate::rules::RULES];

#[cfg(test)]
mod tests;

pub use against::{Changed, Effect, against};
pub use given::{GivenBy, given, label_place};
pub use history::{Condition, History, Lost, Misfit, Reason, Untaken};
pub use items::Write;
pub use names::RANDOM;
pub use origins::{Origins, Stands};
pub use plan::{Desired, Options, Planned, class_of, clusters, plan, plan_of};
pub use rules::{
    CLASS_MISSING, CLASS_NONE, CLASS_REJECTED, CLUSTER_NONE, CLUSTER_REJECTED, CONTRACT_ASSUMED,
    DEFAULTS_UNKNOWN, NAME_FAILS, NAMESAKES, PART_EMPTY, PATCH_EXTERNAL, PATCH_FAILS, PATCH_UNUSED,
    SIZE_EXCEEDED, TAINTS_GATED, TEMPLATE_MISSHAPEN, TEMPLATE_MISSING, TEMPLATE_UNSUPPORTED,
    TOPOLOGY_CLASS_UNKNOWN, VARIABLE_REJECTED, VARIABLE_UNJUDGED,
};
pub use usage::{Usage, Variable, variables_of};

use class::Class;

use windlass_objects::Object;
use windlass_source::budget::Budget;
use windlass_source::diag::Diagnostic;

/// What the API server and Cluster API's webhook reject of a ClusterClass by itself. Patches of
/// runtime extensions are taken, as by a core whose feature gate `RuntimeSDK` is on.
pub fn rejected_of_class(class: &Object, budget: &Budget) -> Vec<Diagnostic> {
    let rejected = admission::of_class(&Class::of(class), false, budget).into_iter();
    let unknown = definitions::unknown(class).into_iter();
    unknown
        .chain(rejected)
        .filter(|finding| finding.rule != &PATCH_EXTERNAL)
        .collect()
}
