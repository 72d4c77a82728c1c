//! BC-47: a lost owner reference is restored.

use std::sync::Arc;

use serde_json::json;

use super::kept::Kept;
use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{Subject, is_controlled_by};
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-47",
    name: "owner-is-restored",
    level: Level::Should,
    contracts: &[],
    does: "Removes the owner references of the data Secret, as some backup tools do, and touches the config.",
    expects: "The config controls the Secret again.",
    waits: "At most half of the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world = World::begin(&bench, "owner-is-restored", Plan::complete(bench.primary())).await?;
    let outcome = strip(&world).await;
    world.end().await;
    outcome
}

async fn strip(world: &World) -> Result<Outcome, Rejection> {
    let Some(done) = world.until_done(MACHINE).await else {
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let uid = done.config["metadata"]["uid"].clone();
    if !is_controlled_by(&done.secret, &uid) {
        return Ok(Outcome::not_covered(
            "the Secret has no controller reference to lose",
        ));
    }
    let kept = Kept::of(world, &done).await?;
    let stripped = world
        .api()
        .merge(
            &world.secret_path(kept.name()),
            &json!({"metadata": {"ownerReferences": null}}),
        )
        .await?;
    let version = stripped["metadata"]["resourceVersion"]
        .as_str()
        .and_then(|version| version.parse::<u64>().ok());
    world.touch(MACHINE, "stripped").await?;
    let restored = world
        .watching
        .until(world.bench.times.patience / 2, |history| {
            let last = history.of(Subject::Secret, kept.name()).next_back()?;
            (last.revision() > version && is_controlled_by(&last.object, &uid)).then_some(())
        });
    Ok(match restored.await {
        Some(()) => Outcome::pass("the reference is restored"),
        None => Outcome::fail(
            "a lost owner reference of the data Secret is not restored",
            world.evidence(
                MACHINE,
                Some("metadata.ownerReferences of the Secret"),
                "still absent after the config changed",
            ),
        ),
    })
}
