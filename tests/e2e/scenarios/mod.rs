//! Every scenario, in the order in which they run.

use std::time::Duration;

use crate::harness::runner::{Company, Context, Scenario};

mod air_gap;
mod archive;
mod book;
mod bring_your_own;
mod commands;
mod contract;
mod crds;
mod faults;
mod gate;
mod ignition;
mod install;
mod manager;
mod migrate;
mod operator;
mod page;
mod rbac;
mod real_providers;
mod render;
mod self_test;
mod templates;
mod topology;

pub(crate) const ALL: &[Scenario] = &[
    sharing(
        "harness::webhooks_are_called",
        self_test::webhooks_are_called,
    ),
    sharing(
        "harness::cluster_api_comes_up",
        self_test::cluster_api_comes_up,
    ),
    sharing("crds::are_established", crds::are_established),
    sharing("crds::constraints_hold", crds::constraints_hold),
    scenario(
        "crds::both_versions_round_trip",
        crds::both_versions_round_trip,
    ),
    sharing("crds::webhook_rules_refuse", crds::webhook_rules_refuse),
    sharing("crds::webhooks_warn", crds::webhooks_warn),
    scenario(
        "install::init_upgrade_delete_v1_12",
        install::init_upgrade_delete_v1_12,
    ),
    scenario(
        "install::init_upgrade_delete_v1_14",
        install::init_upgrade_delete_v1_14,
    ),
    scenario("install::variants", install::variants),
    scenario(
        "archive::from_the_archive_to_a_cluster",
        archive::from_the_archive_to_a_cluster,
    ),
    scenario(
        "air_gap::init_with_no_route_but_loopback",
        air_gap::init_with_no_route_but_loopback,
    ),
    sharing("rbac::core_may_use_our_kinds", rbac::core_may_use_our_kinds),
    sharing(
        "rbac::the_manager_has_exactly_its_list",
        rbac::the_manager_has_exactly_its_list,
    ),
    scenario("contract::core_v1_12", contract::core_v1_12),
    scenario("contract::core_v1_14", contract::core_v1_14),
    scenario("contract::core_v1_10", contract::core_v1_10),
    scenario("contract::core_is_upgraded", contract::core_is_upgraded),
    sharing(
        "templates::every_flavor_is_taken",
        templates::every_flavor_is_taken,
    ),
    sharing(
        "templates::examples_are_taken",
        templates::examples_are_taken,
    ),
    sharing(
        "topology::cluster_of_our_class_settles",
        topology::cluster_of_our_class_settles,
    ),
    scenario(
        "topology::plans_are_what_v1_12_makes",
        topology::plans_are_what_v1_12_makes,
    ),
    scenario(
        "topology::plans_are_what_v1_14_makes",
        topology::plans_are_what_v1_14_makes,
    ),
    scenario(
        "topology::plans_over_real_kinds_of_v1_12",
        topology::plans_over_real_kinds_of_v1_12,
    ),
    scenario(
        "topology::plans_over_real_kinds_of_v1_14",
        topology::plans_over_real_kinds_of_v1_14,
    ),
    sharing("manager::clusters_come_up", manager::clusters_come_up),
    scenario(
        "manager::configs_of_the_corpus_get_their_data",
        manager::configs_of_the_corpus_get_their_data,
    ),
    scenario(
        "manager::each_right_is_needed_and_no_other",
        manager::each_right_is_needed_and_no_other,
    ),
    scenario(
        "manager::clusters_move_and_come_back",
        manager::clusters_move_and_come_back,
    ),
    scenario(
        "manager::a_killed_leader_is_replaced",
        manager::a_killed_leader_is_replaced,
    ),
    scenario(
        "manager::a_frozen_leader_writes_nothing_any_more",
        manager::a_frozen_leader_writes_nothing_any_more,
    ),
    scenario(
        "manager::checked_owner_references_need_one_right_more",
        manager::checked_owner_references_need_one_right_more,
    ),
    sharing("faults::kills_at_every_write", faults::kills_at_every_write),
    sharing(
        "faults::kills_at_every_write_for_kubeadm_configs",
        faults::kills_at_every_write_for_kubeadm_configs,
    ),
    sharing(
        "faults::a_fifth_of_all_requests_fails",
        faults::a_fifth_of_all_requests_fails,
    ),
    sharing(
        "faults::the_api_server_restarts",
        faults::the_api_server_restarts,
    ),
    sharing(
        "faults::watches_are_stale_and_expire",
        faults::watches_are_stale_and_expire,
    ),
    sharing("faults::the_clock_is_off", faults::the_clock_is_off),
    sharing(
        "faults::certificates_are_exchanged_under_load",
        faults::certificates_are_exchanged_under_load,
    ),
    measuring(
        "faults::bad_workload_clusters_stop_nobody",
        faults::bad_workload_clusters_stop_nobody,
    ),
    measuring(
        "faults::hostile_objects_stop_nobody",
        faults::hostile_objects_stop_nobody,
    ),
    sharing(
        "faults::deletions_at_every_write",
        faults::deletions_at_every_write,
    ),
    sharing(
        "faults::configs_without_status_are_restored",
        faults::configs_without_status_are_restored,
    ),
    scenario(
        "faults::clusterctl_upgrades_and_goes_back_while_machines_are_made",
        faults::clusterctl_upgrades_and_goes_back_while_machines_are_made,
    ),
    lasting(
        "faults::churn_leaves_nothing_in_the_manager",
        faults::churn_leaves_nothing_in_the_manager,
    ),
    sharing(
        "manager::machines_of_our_class_boot_from_what_is_rendered",
        manager::machines_of_our_class_boot_from_what_is_rendered,
    ),
    scenario(
        "manager::kubeadm_configs_as_the_kubeadm_provider",
        manager::kubeadm_configs_as_the_kubeadm_provider,
    ),
    scenario(
        "manager::kubeadm_configs_as_the_newest_kubeadm_provider",
        manager::kubeadm_configs_as_the_newest_kubeadm_provider,
    ),
    scenario(
        "manager::kubeadm_providers_take_turns",
        manager::kubeadm_providers_take_turns,
    ),
    scenario(
        "migrate::files_of_the_corpus_are_taken",
        migrate::files_of_the_corpus_are_taken,
    ),
    scenario("gate::examples_are_refused", gate::examples_are_refused),
    scenario(
        "render::configs_of_the_corpus_are_equal",
        render::configs_of_the_corpus_are_equal,
    ),
    scenario(
        "render::random_configs_are_equal",
        render::random_configs_are_equal,
    ),
    scenario(
        "render::configs_of_v1_10_are_equal",
        render::configs_of_v1_10_are_equal,
    ),
    scenario(
        "render::configs_of_v1_11_are_equal",
        render::configs_of_v1_11_are_equal,
    ),
    scenario(
        "render::configs_of_v1_12_are_equal",
        render::configs_of_v1_12_are_equal,
    ),
    scenario(
        "render::configs_of_v1_13_are_equal",
        render::configs_of_v1_13_are_equal,
    ),
    scenario(
        "render::configs_of_v1_14_are_equal",
        render::configs_of_v1_14_are_equal,
    ),
    scenario(
        "ignition::version_3_4_is_accepted",
        ignition::version_3_4_is_accepted,
    ),
    scenario(
        "page::pages_ask_for_nothing_and_are_read_aloud",
        page::pages_ask_for_nothing_and_are_read_aloud,
    ),
    scenario(
        "page::pages_fit_phone_paper_and_dark",
        page::pages_fit_phone_paper_and_dark,
    ),
    scenario(
        "page::the_checks_see_what_is_wrong",
        page::the_checks_see_what_is_wrong,
    ),
    scenario(
        "commands::templates_of_the_corpus_are_equal",
        commands::templates_of_the_corpus_are_equal,
    ),
    scenario(
        "commands::components_of_the_corpus_are_equal",
        commands::components_of_the_corpus_are_equal,
    ),
    scenario(
        "commands::random_input_gives_the_same",
        commands::random_input_gives_the_same,
    ),
    scenario(
        "commands::as_a_plugin_of_clusterctl",
        commands::as_a_plugin_of_clusterctl,
    ),
    scenario(
        "operator::config_maps_are_those_of_the_operator",
        operator::config_maps_are_those_of_the_operator,
    ),
    scenario(
        "operator::its_selector_installs_what_clusterctl_installs",
        operator::its_selector_installs_what_clusterctl_installs,
    ),
    scenario(
        "operator::skopeo_carries_artifacts",
        operator::skopeo_carries_artifacts,
    ),
    scenario(
        "book::commands_with_the_real_programs",
        book::commands_with_the_real_programs,
    ),
    scenario("book::commands_with_cosign", book::commands_with_cosign),
    scenario(
        "bring_your_own::releases_are_installed",
        bring_your_own::releases_are_installed,
    ),
    scenario(
        "real_providers::releases_are_what_kustomize_makes",
        real_providers::releases_are_what_kustomize_makes,
    ),
    scenario(
        "real_providers::projects_become_what_kustomize_makes",
        real_providers::projects_become_what_kustomize_makes,
    ),
];

/// After the limit a scenario counts as hung. Everything in it waits with deadlines of its own, so
/// it is generous.
const fn scenario(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        name,
        limit: Duration::from_secs(900),
        company: Company::Any,
        run,
    }
}

/// One that takes an hour in its whole size.
const fn lasting(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        limit: Duration::from_secs(4500),
        ..scenario(name, run)
    }
}

/// One that uses the control planes that scenarios share.
const fn sharing(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        company: Company::OthersPlanes,
        ..scenario(name, run)
    }
}

/// One of those that measures time.
const fn measuring(name: &'static str, run: fn(&Context)) -> Scenario {
    Scenario {
        company: Company::Nobody,
        ..scenario(name, run)
    }
}
