//! BC-46: data is generated only where there is none.

use std::sync::Arc;

use super::kept::Kept;
use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-46",
    name: "existing-secret-is-kept",
    level: Level::Should,
    contracts: &[],
    does: "Removes the status of a complete config whose owner does not name the Secret yet, as after a stop between the two writes.",
    expects: "Completion is reported again, and the data of the existing Secret is the same.",
    waits: "At most the patience, and 2 s longer for a late write.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world = World::begin(
        &bench,
        "existing-secret-is-kept",
        Plan::complete(bench.primary()),
    )
    .await?;
    let outcome = erase(&world).await;
    world.end().await;
    outcome
}

async fn erase(world: &World) -> Result<Outcome, Rejection> {
    let Some(done) = world.until_done(MACHINE).await else {
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let kept = Kept::of(world, &done).await?;
    world.erase_status(MACHINE).await?;
    world.touch(MACHINE, "stopped").await?;
    if world.until_done(MACHINE).await.is_none() {
        return Ok(world.never_done(MACHINE, "after its status is removed"));
    }
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    Ok(kept
        .violated(
            world,
            MACHINE,
            "when the Secret exists and the status does not name it",
        )
        .unwrap_or_else(|| Outcome::pass("the existing data is kept")))
}
