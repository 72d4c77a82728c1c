//! BC-52: without its Cluster nothing is generated.

use std::sync::Arc;

use super::{Check, Run, gate};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-52",
    name: "waits-for-cluster",
    level: Level::Should,
    contracts: &[],
    does: "Creates a config with its owner, and the Cluster later; touches the config if nothing follows within half of the patience.",
    expects: "No data before; data afterwards.",
    waits: "The quiet time, then at most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.has_cluster = false;
    let gate = gate::Gate {
        check: "waits-for-cluster",
        plan,
        while_missing: "although the Cluster does not exist",
        after: "after the Cluster is created",
        may_touch: true,
    };
    gate::run(bench, gate, async |world: &World| {
        world.create_cluster().await
    })
    .await
}
