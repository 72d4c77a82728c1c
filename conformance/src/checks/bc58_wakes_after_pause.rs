//! BC-58: the end of a pause wakes the controller.

use std::sync::Arc;

use serde_json::json;

use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-58",
    name: "wakes-after-pause",
    level: Level::Should,
    contracts: &[],
    does: "Creates a config of a paused Cluster and ends the pause without touching the config.",
    expects: "Data follows.",
    waits: "3 s in the pause, so that the controller has seen the config; then at most the patience, which is below the usual resync of ten minutes.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.is_cluster_paused = true;
    let world = World::begin(&bench, "wakes-after-pause", plan).await?;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    world
        .merge_cluster(&json!({"spec": {"paused": false}}))
        .await?;
    let outcome = match world.until_done(MACHINE).await {
        Some(_) => Outcome::pass("the end of the pause wakes the controller"),
        None => world.never_done(
            MACHINE,
            "after the pause ends, unless the config itself changes",
        ),
    };
    world.end().await;
    Ok(outcome)
}
