//! BC-69: labels and annotations of templates reach complete configs.

use std::sync::Arc;

use serde_json::json;

use super::kept::Kept;
use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-69",
    name: "metadata-changes",
    level: Level::Observed,
    contracts: &[],
    does: "Adds a label and an annotation to a complete config and to its owner.",
    expects: "The data stays the same.",
    waits: "The quiet time.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world = World::begin(&bench, "metadata-changes", Plan::complete(bench.primary())).await?;
    let Some(done) = world.until_done(MACHINE).await else {
        world.end().await;
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let kept = Kept::of(&world, &done).await?;
    let patch = json!({"metadata": {"labels": {"example.com/pier": "seven"}, "annotations": {"example.com/note": "changed"}}});
    world
        .api()
        .merge(&world.owner_path(MACHINE), &patch)
        .await?;
    world.merge_config(MACHINE, &patch).await?;
    tokio::time::sleep(bench.times.quiet).await;
    let outcome = kept
        .violated(&world, MACHINE, "when labels and annotations change")
        .unwrap_or_else(|| Outcome::pass("the data stays the same"));
    world.end().await;
    Ok(outcome)
}
