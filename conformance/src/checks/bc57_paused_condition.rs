//! BC-57: the condition Paused.

use std::sync::Arc;

use serde_json::json;

use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{Subject, condition};
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-57",
    name: "paused-condition",
    level: Level::Should,
    contracts: &["v1beta2"],
    does: "Creates a config of a paused Cluster, and ends the pause.",
    expects: "The condition Paused is True during the pause and no longer True afterwards.",
    waits: "At most half of the patience for each of the two, because a status is written at once.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.is_cluster_paused = true;
    let world = World::begin(&bench, "paused-condition", plan).await?;
    let limit = bench.times.patience / 2;
    let paused = |is: bool| {
        world.watching.until(limit, move |history| {
            let config = history.newest(Subject::Config, MACHINE)?;
            ((condition(config, "Paused") == Some("True")) == is).then_some(())
        })
    };
    let field = Some("status.conditions[Paused]");
    let outcome = if paused(true).await.is_none() {
        Outcome::fail(
            "the pause is not shown",
            world.evidence(MACHINE, field, "not True although the Cluster is paused"),
        )
    } else {
        world
            .merge_cluster(&json!({"spec": {"paused": false}}))
            .await?;
        world.touch(MACHINE, "unpaused").await?;
        match paused(false).await {
            Some(()) => Outcome::pass("Paused is True during the pause alone"),
            None => Outcome::fail(
                "the end of the pause is not shown",
                world.evidence(MACHINE, field, "True although the Cluster is not paused"),
            ),
        }
    };
    world.end().await;
    Ok(outcome)
}
