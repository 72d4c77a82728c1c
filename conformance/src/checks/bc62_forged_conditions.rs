//! BC-62: conditions are results, not inputs.

use std::sync::Arc;

use serde_json::json;

use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::conditions;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-62",
    name: "forged-conditions",
    level: Level::Should,
    contracts: &[],
    does: "Gives a config of a paused Cluster the conditions of a complete one, and ends the pause.",
    expects: "Data is generated all the same.",
    waits: "At most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let role = bench.primary();
    let complete = World::begin(&bench, "forged-source", Plan::complete(role)).await?;
    let done = complete.until_done(MACHINE).await;
    complete.end().await;
    let Some(done) = done else {
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let forged = conditions(&done.config);
    if forged.is_empty() {
        return Ok(Outcome::not_applicable(
            "the provider reports no conditions",
        ));
    }
    let mut plan = Plan::complete(role);
    plan.is_cluster_paused = true;
    let world = World::begin(&bench, "forged-conditions", plan).await?;
    let path = format!("{}/status", world.config_path(MACHINE));
    world
        .api()
        .merge(&path, &json!({"status": {"conditions": forged}}))
        .await?;
    world
        .merge_cluster(&json!({"spec": {"paused": false}}))
        .await?;
    world.touch(MACHINE, "forged").await?;
    let outcome = match world.until_done(MACHINE).await {
        Some(_) => Outcome::pass("data is generated in spite of forged conditions"),
        None => world.never_done(MACHINE, "where its conditions already say so"),
    };
    world.end().await;
    Ok(outcome)
}
