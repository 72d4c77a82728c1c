//! What a ClusterClass makes of a Cluster: the objects that Cluster API's topology controller would
//! create, with nothing but files.
//!
//! Facts, not code, come from Cluster API v1.14 (`core/reconcilers/topology/cluster`,
//! `exp/topology/desiredstate`, `core/webhooks/admission`), whose order of steps and whose wording
//! are kept. The Cluster is taken as new: nothing of it exists yet. Templates are taken as they
//! are, not converted, as the engine itself takes them; they are defaulted where the input holds
//! their CRDs.

mod admission;
mod advice;
mod against;
mod blueprint;
mod class;
mod cluster;
mod defaults;
mod definitions;
mod engine;
mod given;
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
mod scope;
mod spelling;
mod state;
mod taint_admission;
mod untaken;
mod usage;
mod values;
mod variables;
mod version_admission;

#[cfg(test)]
mod tests;

pub(crate) use against::against;
pub use against::{Changed, Effect};
pub(crate) use given::{GivenBy, given, label_place};
pub(crate) use history::{Condition, History, Lost, Misfit, Reason, Untaken};
pub use items::Write;
pub use names::RANDOM;
pub(crate) use origins::{Origins, Stands};
pub use plan::{Desired, Options, Planned, plan};
pub(crate) use plan::{class_of, clusters, plan_of};
pub(crate) use usage::{Usage, Variable, variables_of};

use class::Class;

use crate::diag::{Diagnostic, rules};
use crate::objects::Object;
use crate::text::budget::Budget;

rules! {
    /// the input contains no Cluster with `spec.topology`
    pub(crate) CLUSTER_NONE = error("topology-cluster-missing");
    /// the input contains no ClusterClass
    pub(crate) CLASS_NONE = error("topology-class-none");
    /// a Cluster refers to a ClusterClass that the input does not contain
    pub(crate) CLASS_MISSING = error("topology-class-missing");
    /// a ClusterClass refers to a template that the input does not contain
    pub(crate) TEMPLATE_MISSING = error("topology-template-missing");
    /// a topology sets a field that has a different type in a template of the ClusterClass
    pub(crate) TEMPLATE_MISSHAPEN = error("topology-template-misshapen");
    /// the API server or Cluster API's webhook rejects a ClusterClass
    pub(crate) CLASS_REJECTED = error("topology-class-rejected");
    /// the API server or Cluster API's webhook rejects the topology of a Cluster
    pub(crate) CLUSTER_REJECTED = error("topology-cluster-rejected");
    /// a variable of a topology has a value that its ClusterClass rejects
    pub(crate) VARIABLE_REJECTED = error("topology-variable-rejected");
    /// a validation rule of a variable cannot be evaluated offline
    pub(crate) VARIABLE_UNJUDGED = warning("topology-variable-unchecked");
    /// a topology refers to a machine class that its ClusterClass does not have
    pub(crate) TOPOLOGY_CLASS_UNKNOWN = error("topology-machine-class-unknown");
    /// a naming template does not produce a name
    pub(crate) NAME_FAILS = error("topology-name-fails");
    /// a patch of a ClusterClass fails
    pub(crate) PATCH_FAILS = error("topology-patch-fails");
    /// a patch of a ClusterClass needs a runtime extension and was not applied
    pub(crate) PATCH_EXTERNAL = error("topology-patch-external");
    /// machine taints of a topology need a feature gate of Cluster API
    pub(crate) TAINTS_GATED = warning("topology-taints-gated");
    /// a part of a topology is empty, which the API server rejects
    pub(crate) PART_EMPTY = warning("topology-part-empty");
    /// objects of a topology have the same name here because the random ends of names are
    /// placeholders
    pub(crate) NAMESAKES = info("topology-namesakes");
    /// a patch of a ClusterClass selects no template of a topology
    pub(crate) PATCH_UNUSED = info("topology-patch-unused");
    /// the contract of a control plane is not known, so its field names are assumed
    pub(crate) CONTRACT_ASSUMED = info("topology-contract-assumed");
    /// the CRD of a template does not have the schema from which defaults are taken
    pub(crate) DEFAULTS_UNKNOWN = info("topology-defaults-unknown");
    /// the objects of a topology exceed the size limit of a run
    pub(crate) SIZE_EXCEEDED = error("topology-size-exceeded");
    /// a patch template uses a function that is random or not supported offline
    pub(crate) TEMPLATE_UNSUPPORTED = error("topology-template-unsupported");
}

/// What the API server and Cluster API's webhook reject of a ClusterClass by itself. Patches of
/// runtime extensions are taken, as by a core whose feature gate `RuntimeSDK` is on.
pub(crate) fn rejected_of_class(class: &Object, budget: &Budget) -> Vec<Diagnostic> {
    let rejected = admission::of_class(&Class::of(class), false, budget).into_iter();
    let unknown = definitions::unknown(class).into_iter();
    unknown
        .chain(rejected)
        .filter(|finding| finding.rule != &PATCH_EXTERNAL)
        .collect()
}
