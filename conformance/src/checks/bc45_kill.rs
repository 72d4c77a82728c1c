//! BC-45: a provider that is killed at any moment leaves nothing half done.

use std::sync::Arc;
use std::time::Duration;

use super::{Check, NO_PROCESS, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{Subject, data_secret_name, secret_value};
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World, rejection};

/// Milliseconds between the owner reference and the kill: before, within and after a typical run.
const MOMENTS: [u64; 4] = [5, 40, 120, 400];

pub(crate) const CHECK: Check = Check {
    rule: "BC-45",
    name: "kill",
    level: Level::Must,
    contracts: &[],
    does: "Kills the provider 5, 40, 120 and 400 ms after a config gets its owner, and starts it again.",
    expects: "While it does not run, a reported name or completion has its Secret with data; afterwards the config is completed, and the data of a Secret that was reported stays the same.",
    waits: "At most twice the patience after each start, because a lease of the killed process may have to expire.",
    run: Run::Process(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let Some(process) = &bench.process else {
        return Ok(Outcome::not_covered(NO_PROCESS));
    };
    let mut outcomes = Vec::new();
    for moment in MOMENTS {
        let mut plan = Plan::complete(bench.primary());
        plan.has_owner = false;
        let world = World::begin(&bench, &format!("kill-{moment}"), plan).await?;
        world.own(MACHINE).await?;
        tokio::time::sleep(Duration::from_millis(moment)).await;
        let mut process = process.lock().await;
        process.0.kill();
        // What was written arrives.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let half_done = half_done(&world);
        process.kill_and_start().map_err(rejection)?;
        drop(process);
        outcomes.push(after(&world, half_done, moment).await);
        world.end().await;
    }
    Ok(Outcome::of_all(outcomes))
}

/// What the status reports without data, or the data that it reports.
fn half_done(world: &World) -> Result<Option<Vec<u8>>, String> {
    world.watching.with(|history| {
        let Some(config) = history.newest(Subject::Config, MACHINE) else {
            return Ok(None);
        };
        let Some(name) = data_secret_name(config) else {
            let is_complete = world.bench.provider.completion().is_reported(config);
            return if is_complete {
                Err("completion is reported without a name".to_owned())
            } else {
                Ok(None)
            };
        };
        let data = history
            .newest(Subject::Secret, name)
            .and_then(|secret| secret_value(secret, "value"));
        data.map(Some)
            .ok_or_else(|| format!("{name} is reported and does not exist"))
    })
}

async fn after(world: &World, half_done: Result<Option<Vec<u8>>, String>, moment: u64) -> Outcome {
    let reported = match half_done {
        Ok(reported) => reported,
        Err(observed) => {
            return Outcome::fail(
                "a killed provider leaves a status without data",
                world.evidence(
                    MACHINE,
                    Some("status"),
                    format!("killed after {moment} ms: {observed}"),
                ),
            );
        }
    };
    match (
        world
            .until_done_within(MACHINE, world.bench.times.patience * 2)
            .await,
        reported,
    ) {
        (None, _) => world.never_done(
            MACHINE,
            &format!("after the provider was killed at {moment} ms and started again"),
        ),
        (Some(done), Some(data)) if done.data() != data => Outcome::fail(
            "a reported Secret gets new data after a kill",
            world.evidence(
                MACHINE,
                Some("data.value of the Secret"),
                format!("killed after {moment} ms"),
            ),
        ),
        (Some(_), _) => Outcome::pass("each config is completed after a kill"),
    }
}
