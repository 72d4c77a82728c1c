//! BC-36: a config that cannot become data is reported, and not in a loop.

use std::sync::Arc;

use serde_json::Value;

use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{Subject, conditions};
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::world::{MACHINE, Plan, World};

/// The time after which a controller that doubles its pauses waits longer than a second.
const SETTLING: std::time::Duration = std::time::Duration::from_secs(2);

pub(crate) const CHECK: Check = Check {
    rule: "BC-36",
    name: "invalid-is-reported",
    level: Level::Should,
    contracts: &[],
    does: "Creates a config from the sample invalid.",
    expects: "No data; a condition that is not True has a message (contract v1beta1: or `status.failureMessage` is set); then at most one write of the config in two seconds.",
    waits: "At most half of the patience for the report, 2 s in which pauses between retries grow, then the quiet time.",
    run: Run::WorldOf(Role::Invalid, |bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world =
        match World::begin(&bench, "invalid-is-reported", Plan::complete(Role::Invalid)).await {
            Err(rejection) if matches!(rejection.code, 400 | 403 | 422) => {
                return Ok(Outcome::not_applicable(
                    "the API server rejects the sample invalid, so the controller never sees it",
                ));
            }
            world => world?,
        };
    let outcome = observe(&world).await;
    world.end().await;
    Ok(outcome)
}

async fn observe(world: &World) -> Outcome {
    let times = world.bench.times;
    let report = world.watching.until(times.patience / 2, |history| {
        history.newest(Subject::Config, MACHINE).and_then(reported)
    });
    report.await;
    tokio::time::sleep(SETTLING).await;
    let count = || {
        world
            .watching
            .with(|history| history.of(Subject::Config, MACHINE).count())
    };
    let before = count();
    tokio::time::sleep(times.quiet).await;
    let written = count().saturating_sub(before);
    let most = usize::try_from(times.quiet.as_secs() / 2).unwrap_or(usize::MAX) + 1;
    if let Some(sign) = world
        .watching
        .with(|history| world.sign_of_data(history, MACHINE))
    {
        return Outcome::fail(
            "data is generated from an invalid config",
            world.evidence(MACHINE, None, sign),
        );
    }
    let report = world
        .watching
        .with(|history| history.newest(Subject::Config, MACHINE).and_then(reported));
    match report {
        None => Outcome::fail(
            "an invalid config is not reported in the status",
            world.evidence(
                MACHINE,
                Some("status.conditions"),
                format!(
                    "no condition that is not True has a message after {} s",
                    (times.patience / 2 + SETTLING + times.quiet).as_secs()
                ),
            ),
        ),
        Some(_) if written > most => Outcome::fail(
            "an invalid config is written in a loop",
            world.evidence(
                MACHINE,
                None,
                format!("{written} writes in {} s", times.quiet.as_secs()),
            ),
        ),
        Some(_) => {
            Outcome::pass("the status reports it, and the controller does not write in a loop")
        }
    }
}

/// Whether a status reports a failure.
pub(super) fn reported(config: &Value) -> Option<()> {
    let has_message = |value: &Value| value.as_str().is_some_and(|message| !message.is_empty());
    let by_condition = conditions(config).iter().any(|condition| {
        condition["status"] != "True"
            && condition["type"] != "Paused"
            && (has_message(&condition["message"]) || has_message(&condition["reason"]))
    });
    (by_condition || has_message(&config["status"]["failureMessage"])).then_some(())
}
