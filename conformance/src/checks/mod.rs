//! The checks: one file for each, named after its rule in the contract checklist.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::api::Refusal;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::story::Story;

mod completion;
mod gate;
mod kept;

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

type Running = Pin<Box<dyn Future<Output = Result<Outcome, Refusal>> + Send>>;

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

macro_rules! checks {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*

        /// Every check, in the order of the rules.
        pub(crate) const ALL: &[Check] = &[$($module::CHECK),*];
    };
}

checks! {
    bc14_core_may_clone,
    bc22_data_secret_name,
    bc24_data_secret_created,
    bc26_ready,
    bc28_name_with_completion,
    bc29_conditions,
    bc30_condition_fields,
    bc31_ready_condition,
    bc31_failure_is_cleared,
    bc36_invalid_is_reported,
    bc38_status_is_rebuilt,
    bc39_secret_in_namespace,
    bc40_cluster_name_label,
    bc41_controller_reference,
    bc42_key_value,
    bc43_name_is_computed,
    bc44_secret_type,
    bc45_secret_before_status,
    bc45_refused_secret,
    bc45_kill,
    bc46_existing_secret_is_kept,
    bc47_owner_from_first_write,
    bc47_owner_is_restored,
    bc50_waits_for_owner,
    bc51_machine_pool,
    bc52_waits_for_cluster,
    bc54_reacts_to_new_objects,
    bc54_deletion,
    bc56_paused_by_cluster,
    bc56_paused_by_annotation,
    bc57_paused_condition,
    bc58_wakes_after_pause,
    bc58_late_endpoint,
    bc59_waits_for_infrastructure,
    bc60_worker_waits,
    bc60_one_init,
    bc61_idempotent,
    bc61_restart,
    bc62_forged_conditions,
    bc63_template_dry_run,
    bc65_spec_changes,
    bc69_metadata_changes,
    bc75_sentinel_file,
    bc76_uninitialized_taint,
    cc71_move,
    op01_namespace,
    op02_watch_filter,
    op20_no_secrets_in_messages,
}

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
