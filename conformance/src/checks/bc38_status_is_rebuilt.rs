//! BC-38: the status can be rebuilt.

use std::sync::Arc;

use serde_json::json;

use super::kept::Kept;
use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-38",
    name: "status-is-rebuilt",
    level: Level::Should,
    contracts: &[],
    does: "Copies the Secret's name to the owner as the core does, then removes the status of the config, as a restored backup has none.",
    expects: "The same name and completion are reported again, and the data is the same.",
    waits: "At most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world = World::begin(&bench, "status-is-rebuilt", Plan::complete(bench.primary())).await?;
    let outcome = erase(&world).await;
    world.end().await;
    outcome
}

async fn erase(world: &World) -> Result<Outcome, Rejection> {
    let Some(done) = world.until_done(MACHINE).await else {
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let kept = Kept::of(world, &done).await?;
    let mut name = json!({"spec": {"bootstrap": {"dataSecretName": kept.name()}}});
    if world.bench.primary() == Role::MachinePool {
        name = json!({"spec": {"template": name}});
    }
    world.api().merge(&world.owner_path(MACHINE), &name).await?;
    world.erase_status(MACHINE).await?;
    world.touch(MACHINE, "restored").await?;
    let Some(again) = world.until_done(MACHINE).await else {
        return Ok(world.never_done(MACHINE, "after its status is removed"));
    };
    if let Some(failure) = kept.violated(world, MACHINE, "when the status is removed") {
        return Ok(failure);
    }
    Ok(
        match again.secret["metadata"]["name"].as_str() == Some(kept.name()) {
            true => Outcome::pass("name and completion are reported again"),
            false => Outcome::fail(
                "another Secret is reported after the status is removed",
                world.evidence(
                    MACHINE,
                    Some("status.dataSecretName"),
                    format!(
                        "{} before, {} now",
                        kept.name(),
                        again.secret["metadata"]["name"]
                    ),
                ),
            ),
        },
    )
}
