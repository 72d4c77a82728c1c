//! Every scenario, in the order in which they run.

use std::time::Duration;

use crate::harness::runner::Scenario;

mod bring_your_own;
mod crds;
mod install;
mod rbac;
mod self_test;
mod templates;

pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "harness::webhooks_are_called", limit: Duration::from_secs(300), run: self_test::webhooks_are_called },
    Scenario { name: "harness::cluster_api_comes_up", limit: Duration::from_secs(300), run: self_test::cluster_api_comes_up },
    Scenario { name: "crds::are_established", limit: Duration::from_secs(120), run: crds::are_established },
    Scenario { name: "crds::constraints_hold", limit: Duration::from_secs(600), run: crds::constraints_hold },
    Scenario { name: "crds::both_versions_round_trip", limit: Duration::from_secs(600), run: crds::both_versions_round_trip },
    Scenario { name: "crds::webhook_rules_refuse", limit: Duration::from_secs(300), run: crds::webhook_rules_refuse },
    Scenario { name: "crds::webhooks_warn", limit: Duration::from_secs(300), run: crds::webhooks_warn },
    Scenario { name: "install::init_upgrade_delete", limit: Duration::from_secs(600), run: install::init_upgrade_delete },
    Scenario { name: "install::variants", limit: Duration::from_secs(600), run: install::variants },
    Scenario { name: "rbac::core_may_use_our_kinds", limit: Duration::from_secs(300), run: rbac::core_may_use_our_kinds },
    Scenario {
        name: "rbac::the_manager_has_exactly_its_list",
        limit: Duration::from_secs(300),
        run: rbac::the_manager_has_exactly_its_list,
    },
    Scenario { name: "templates::every_flavor_is_taken", limit: Duration::from_secs(300), run: templates::every_flavor_is_taken },
    Scenario {
        name: "bring_your_own::releases_are_installed",
        limit: Duration::from_secs(300),
        run: bring_your_own::releases_are_installed,
    },
];
