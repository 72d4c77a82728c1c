//! BC-61: reconciling a complete config again changes nothing.

use std::sync::Arc;
use std::time::Duration;

use super::kept::Kept;
use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::Subject;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

const TOUCHES: usize = 3;

pub(crate) const CHECK: Check = Check {
    rule: "BC-61",
    name: "idempotent",
    level: Level::Should,
    contracts: &[],
    does: "Touches a complete config three times.",
    expects: "The Secret is not written again, and the config is written at most once for each touch.",
    waits: "1 s after each touch, then the quiet time: a controller that answers each of its own writes writes without end.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world = World::begin(&bench, "idempotent", Plan::complete(bench.primary())).await?;
    let Some(done) = world.until_done(MACHINE).await else {
        world.end().await;
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let kept = Kept::of(&world, &done).await?;
    let count = || {
        world
            .watching
            .with(|history| history.of(Subject::Config, MACHINE).count())
    };
    let before = count();
    for touch in 0..TOUCHES {
        world.touch(MACHINE, &touch.to_string()).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::sleep(bench.times.quiet).await;
    let written = count().saturating_sub(before + TOUCHES);
    let outcome = match kept.rewritten(
        &world,
        MACHINE,
        "when a complete config is reconciled again",
    ) {
        Some(failure) => failure,
        None if written > TOUCHES => Outcome::fail(
            "a complete config is written again and again",
            world.evidence(
                MACHINE,
                None,
                format!(
                    "{written} writes by the provider after {TOUCHES} changes of an annotation"
                ),
            ),
        ),
        None => Outcome::pass("the Secret stays as it is"),
    };
    world.end().await;
    Ok(outcome)
}
