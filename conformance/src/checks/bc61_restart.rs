//! BC-61: a restart changes nothing.

use std::sync::Arc;

use super::kept::Kept;
use super::{Check, NEVER_DONE, NO_PROCESS, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World, rejection};

pub(crate) const CHECK: Check = Check {
    rule: "BC-61",
    name: "restart",
    level: Level::Should,
    contracts: &[],
    does: "Restarts the provider beside a complete config, then creates a second Cluster.",
    expects: "The data of the first stays the same, and the second config is completed.",
    waits: "At most the patience for the second config: then the provider has seen the first one too.",
    run: Run::Process(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let Some(process) = &bench.process else {
        return Ok(Outcome::not_covered(NO_PROCESS));
    };
    let world = World::begin(&bench, "restart", Plan::complete(bench.primary())).await?;
    let Some(done) = world.until_done(MACHINE).await else {
        world.end().await;
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let kept = Kept::of(&world, &done).await?;
    process.lock().await.restart(&[]).await.map_err(rejection)?;
    let second = World::begin(&bench, "restart-second", Plan::complete(bench.primary())).await?;
    let again = second.until_done(MACHINE).await;
    let outcome = match again {
        None => second.never_done(MACHINE, "after a restart of the provider"),
        Some(_) => {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            kept.violated(&world, MACHINE, "over a restart of the provider")
                .unwrap_or_else(|| Outcome::pass("the data stays the same"))
        }
    };
    world.end().await;
    second.end().await;
    Ok(outcome)
}
