//! Every scenario, in the order in which they run.

use std::time::Duration;

use crate::harness::runner::Scenario;

mod crds;
mod install;
mod self_test;

pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "harness::webhooks_are_called", limit: Duration::from_secs(300), run: self_test::webhooks_are_called },
    Scenario { name: "harness::cluster_api_comes_up", limit: Duration::from_secs(300), run: self_test::cluster_api_comes_up },
    Scenario { name: "crds::are_established", limit: Duration::from_secs(120), run: crds::are_established },
    Scenario { name: "crds::constraints_hold", limit: Duration::from_secs(600), run: crds::constraints_hold },
    Scenario { name: "crds::both_versions_round_trip", limit: Duration::from_secs(600), run: crds::both_versions_round_trip },
    Scenario { name: "install::init_upgrade_delete", limit: Duration::from_secs(600), run: install::init_upgrade_delete },
    Scenario { name: "install::variants", limit: Duration::from_secs(600), run: install::variants },
];
