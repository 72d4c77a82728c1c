//! BC-56: a paused Cluster stops reconciliation.

use std::sync::Arc;

use serde_json::json;

use super::{Check, Run, gate};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-56",
    name: "paused-by-cluster",
    level: Level::Should,
    contracts: &[],
    does: "Creates a config of a Cluster with `spec.paused`, and ends the pause; touches the config if nothing follows within half of the patience.",
    expects: "No data during the pause; data afterwards.",
    waits: "The quiet time, then at most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.is_cluster_paused = true;
    let gate = gate::Gate {
        check: "paused-by-cluster",
        plan,
        while_missing: "although the Cluster is paused",
        after: "after the pause of the Cluster ends",
        may_touch: true,
    };
    gate::run(bench, gate, async |world: &World| {
        world
            .merge_cluster(&json!({"spec": {"paused": false}}))
            .await
    })
    .await
}
