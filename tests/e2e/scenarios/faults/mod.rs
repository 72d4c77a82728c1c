//! Our manager when things go wrong: it is killed, the API server fails, workload clusters hang,
//! objects, clients and workload clusters are hostile. Each scenario has a small size for every
//! day; with `WINDLASS_E2E_FAULTS=full` it has its whole one.

mod churn;
mod deletions;
mod history;
mod hostile;
mod kills;
mod outages;
mod rotation;
mod site;
mod storm;
mod strangers;
mod upgrades;
mod workloads;

pub(crate) use churn::churn_leaves_nothing_in_the_manager;
pub(crate) use deletions::{configs_without_status_are_restored, deletions_at_every_write};
pub(crate) use hostile::hostile_objects_stop_nobody;
pub(crate) use kills::{kills_at_every_write, kills_at_every_write_for_kubeadm_configs};
pub(crate) use outages::{the_api_server_restarts, the_clock_is_off, watches_are_stale_and_expire};
pub(crate) use rotation::certificates_are_exchanged_under_load;
pub(crate) use storm::a_fifth_of_all_requests_fails;
pub(crate) use strangers::{
    hostile_requests_do_not_delay_webhooks, long_answers_of_workload_clusters_are_cut,
};
pub(crate) use upgrades::clusterctl_upgrades_and_goes_back_while_machines_are_made;
pub(crate) use workloads::bad_workload_clusters_stop_nobody;

/// One of two sizes, the second when the whole is asked for.
fn sized<T>(small: T, full: T) -> T {
    if crate::harness::runner::whole() {
        full
    } else {
        small
    }
}
