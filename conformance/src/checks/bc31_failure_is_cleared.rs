//! BC-31: a failure is cleared when its cause is gone.

use std::sync::Arc;

use super::{Check, Run, bc36_invalid_is_reported as invalid};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{Subject, condition};
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::world::{CLUSTER, MACHINE, Plan, World, rejection};

pub(crate) const CHECK: Check = Check {
    rule: "BC-31",
    name: "failure-is-cleared",
    level: Level::Should,
    contracts: &[],
    does: "Creates a config from the sample invalid, and gives it the spec of a valid sample once the failure is reported.",
    expects: "Data follows, `status.failureMessage` and `failureReason` are empty, and the condition Ready is not False.",
    waits: "At most half of the patience for the report, then at most the patience.",
    run: Run::WorldOf(Role::Invalid, |bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world =
        match World::begin(&bench, "failure-is-cleared", Plan::complete(Role::Invalid)).await {
            Err(rejection) if matches!(rejection.code, 400 | 403 | 422) => {
                return Ok(Outcome::not_applicable(
                    "the API server rejects the sample invalid, so the controller never sees it",
                ));
            }
            world => world?,
        };
    let outcome = recover(&world).await;
    world.end().await;
    outcome
}

async fn recover(world: &World) -> Result<Outcome, Rejection> {
    let Some(valid) = world.bench.sample(Role::Worker) else {
        return Ok(Outcome::not_covered("it needs the sample worker as well"));
    };
    let reported = world
        .watching
        .until(world.bench.times.patience / 2, |history| {
            history
                .newest(Subject::Config, MACHINE)
                .and_then(invalid::reported)
        });
    if reported.await.is_none() {
        return Ok(Outcome::not_covered("no failure is reported"));
    }
    let valid = valid
        .objects(&world.namespace, CLUSTER, MACHINE)
        .map_err(rejection)?
        .config;
    let written = crate::api::Kind {
        api_version: valid["apiVersion"].as_str().unwrap_or_default().to_owned(),
        ..world.bench.provider.config.clone()
    };
    let path = written.path(Some(&world.namespace), MACHINE);
    for attempt in 0.. {
        let mut config = world.api().read(&path).await?;
        config["spec"] = valid["spec"].clone();
        match world
            .api()
            .request("PUT", &path, "application/json", Some(&config))
            .await
        {
            Ok(_) => break,
            // The controller may have written between.
            Err(conflict) if conflict.code == 409 && attempt < 20 => {}
            Err(rejected) if matches!(rejected.code, 400 | 403 | 422) => {
                return Ok(Outcome::not_applicable(
                    "the API server does not accept the change of the spec",
                ));
            }
            Err(rejected) => return Err(rejected),
        }
    }
    let Some(done) = world.until_done(MACHINE).await else {
        return Ok(world.never_done(MACHINE, "after its spec became valid"));
    };
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let config = world.config(MACHINE).await.unwrap_or(done.config);
    let left = ["failureMessage", "failureReason"]
        .into_iter()
        .find(|field| {
            config["status"][field]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        });
    Ok(match (left, condition(&config, "Ready")) {
        (Some(field), _) => Outcome::fail(
            "a failure is not cleared after recovery",
            world.evidence(
                MACHINE,
                Some(&format!("status.{field}")),
                config["status"][field].to_string(),
            ),
        ),
        (None, Some("False")) => Outcome::fail(
            "a failure is not cleared after recovery",
            world.evidence(
                MACHINE,
                Some("status.conditions[Ready]"),
                "False although completion is reported",
            ),
        ),
        (None, _) => Outcome::pass("data follows, and the failure is cleared"),
    })
}
