//! Our manager beside Cluster API's own, on clusters in memory.

mod clusters;
mod corpus;
mod kubeadm_parity;
mod kubeadm_turns;
mod moves;
mod owner_references;
pub(super) mod parity;
mod rights;
mod takeover;
mod topology;
pub(super) mod uncontrolled;

pub(crate) use clusters::{clusters_come_up, one_cluster_comes_up};
pub(crate) use corpus::configs_of_the_corpus_get_their_data;
pub(crate) use kubeadm_parity::{
    kubeadm_configs_as_the_kubeadm_provider, kubeadm_configs_as_the_newest_kubeadm_provider,
};
pub(crate) use kubeadm_turns::kubeadm_providers_take_turns;
pub(crate) use moves::clusters_move_and_come_back;
pub(crate) use owner_references::checked_owner_references_need_one_right_more;
pub(crate) use rights::each_right_is_needed_and_no_other;
pub(crate) use takeover::{a_frozen_leader_writes_nothing_any_more, a_killed_leader_is_replaced};
pub(crate) use topology::machines_of_our_class_boot_from_what_is_rendered;
