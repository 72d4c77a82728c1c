//! The checks: one file for each, named after its rule in the contract checklist.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::story::Story;

mod bc14_core_may_clone;
mod bc22_data_secret_name;
mod bc24_data_secret_created;
mod bc26_ready;
mod bc28_name_with_completion;
mod bc29_conditions;
mod bc30_condition_fields;
mod bc31_failure_is_cleared;
mod bc31_ready_condition;
mod bc36_invalid_is_reported;
mod bc38_status_is_rebuilt;
mod bc39_secret_in_namespace;
mod bc40_cluster_name_label;
mod bc41_controller_reference;
mod bc42_key_value;
mod bc43_name_is_computed;
mod bc44_secret_type;
mod bc45_kill;
mod bc45_rejected_secret;
mod bc45_secret_before_status;
mod bc46_existing_secret_is_kept;
mod bc47_owner_from_first_write;
mod bc47_owner_is_restored;
mod bc50_waits_for_owner;
mod bc51_machine_pool;
mod bc52_waits_for_cluster;
mod bc54_deletion;
mod bc54_reacts_to_new_objects;
mod bc56_paused_by_annotation;
mod bc56_paused_by_cluster;
mod bc57_paused_condition;
mod bc58_late_endpoint;
mod bc58_wakes_after_pause;
mod bc59_waits_for_infrastructure;
mod bc60_one_init;
mod bc60_worker_waits;
mod bc61_idempotent;
mod bc61_restart;
mod bc62_forged_conditions;
mod bc63_template_dry_run;
mod bc65_spec_changes;
mod bc69_metadata_changes;
mod bc75_sentinel_file;
mod bc76_uninitialized_taint;
mod cc71_move;
mod completion;
mod gate;
mod kept;
mod op01_namespace;
mod op02_watch_filter;
mod op20_no_secrets_in_messages;
mod restriction;

/// The reason why a check of the Secret decides nothing.
const NO_SECRET: &str = "no data Secret with data exists";
/// The reason why a check of a complete config decides nothing.
const NEVER_DONE: &str = "the config of this check was not completed";
/// The reason why a check of the process decides nothing.
const NO_PROCESS: &str = "it needs the provider's process: --run";

/// A check of one rule.
pub(crate) struct Check {
    /// The id in the contract checklist.
    pub(crate) rule: &'static str,
    /// Unique among all checks.
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    /// The contracts that have the rule; empty for all.
    pub(crate) contracts: &'static [&'static str],
    pub(crate) does: &'static str,
    pub(crate) expects: &'static str,
    /// How long it waits, and why.
    pub(crate) waits: &'static str,
    pub(crate) run: Run,
}

type Running = Pin<Box<dyn Future<Output = Result<Outcome, Rejection>> + Send>>;

/// How a check comes to its outcome.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// From the base case of each machine sample.
    Story(fn(&Story) -> Outcome),
    /// From the base case of one role.
    StoryOf(Role, fn(&Story) -> Outcome),
    /// In a world of its own, with the sample of any machine.
    World(fn(Arc<Bench>) -> Running),
    /// In a world of its own, with the sample of a role.
    WorldOf(Role, fn(Arc<Bench>) -> Running),
    /// With the provider's process, while no other check runs.
    Process(fn(Arc<Bench>) -> Running),
}

/// Every check, in the order of the rules.
pub(crate) const ALL: &[Check] = &[
    bc14_core_may_clone::CHECK,
    bc22_data_secret_name::CHECK,
    bc24_data_secret_created::CHECK,
    bc26_ready::CHECK,
    bc28_name_with_completion::CHECK,
    bc29_conditions::CHECK,
    bc30_condition_fields::CHECK,
    bc31_ready_condition::CHECK,
    bc31_failure_is_cleared::CHECK,
    bc36_invalid_is_reported::CHECK,
    bc38_status_is_rebuilt::CHECK,
    bc39_secret_in_namespace::CHECK,
    bc40_cluster_name_label::CHECK,
    bc41_controller_reference::CHECK,
    bc42_key_value::CHECK,
    bc43_name_is_computed::CHECK,
    bc44_secret_type::CHECK,
    bc45_secret_before_status::CHECK,
    bc45_rejected_secret::CHECK,
    bc45_kill::CHECK,
    bc46_existing_secret_is_kept::CHECK,
    bc47_owner_from_first_write::CHECK,
    bc47_owner_is_restored::CHECK,
    bc50_waits_for_owner::CHECK,
    bc51_machine_pool::CHECK,
    bc52_waits_for_cluster::CHECK,
    bc54_reacts_to_new_objects::CHECK,
    bc54_deletion::CHECK,
    bc56_paused_by_cluster::CHECK,
    bc56_paused_by_annotation::CHECK,
    bc57_paused_condition::CHECK,
    bc58_wakes_after_pause::CHECK,
    bc58_late_endpoint::CHECK,
    bc59_waits_for_infrastructure::CHECK,
    bc60_worker_waits::CHECK,
    bc60_one_init::CHECK,
    bc61_idempotent::CHECK,
    bc61_restart::CHECK,
    bc62_forged_conditions::CHECK,
    bc63_template_dry_run::CHECK,
    bc65_spec_changes::CHECK,
    bc69_metadata_changes::CHECK,
    bc75_sentinel_file::CHECK,
    bc76_uninitialized_taint::CHECK,
    cc71_move::CHECK,
    op01_namespace::CHECK,
    op02_watch_filter::CHECK,
    op20_no_secrets_in_messages::CHECK,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_fit_into_namespaces() {
        let names: BTreeSet<&str> = ALL.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(names.iter().all(|name| name.len() <= 30));
    }

    #[test]
    fn each_check_is_described() {
        for check in ALL {
            for text in [check.does, check.expects, check.waits] {
                assert!(
                    text.ends_with('.') && text.len() > 10,
                    "{}: {text}",
                    check.name
                );
            }
        }
    }
}
