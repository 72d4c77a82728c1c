//! BC-58: the controller follows the Cluster: its endpoint may arrive late.

use std::sync::Arc;

use serde_json::json;

use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::{Bench, ENDPOINT};
use crate::data;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-58",
    name: "late-endpoint",
    level: Level::Should,
    contracts: &[],
    does: "Creates a Cluster without `spec.controlPlaneEndpoint`, and sets the endpoint after the quiet time without touching the config.",
    expects: "Data follows; if data of a Cluster with an endpoint names it, so does this data.",
    waits: "The quiet time, then at most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let role = bench.primary();
    let usual = World::begin(&bench, "endpoint-given", Plan::complete(role)).await?;
    let names_it = usual
        .until_done(MACHINE)
        .await
        .map(|done| data::contains(&done.data(), ENDPOINT.0));
    usual.end().await;
    let Some(names_it) = names_it else {
        return Ok(Outcome::not_covered(
            "a config with an endpoint was not completed",
        ));
    };
    let mut plan = Plan::complete(role);
    plan.has_endpoint = false;
    let world = World::begin(&bench, "late-endpoint", plan).await?;
    tokio::time::sleep(bench.times.quiet).await;
    let (host, port) = ENDPOINT;
    world
        .merge_cluster(&json!({"spec": {"controlPlaneEndpoint": {"host": host, "port": port}}}))
        .await?;
    let outcome = match world.until_done(MACHINE).await {
        None => world.never_done(MACHINE, "after the endpoint of the Cluster is set"),
        Some(done) if names_it && !data::contains(&done.data(), host) => Outcome::fail(
            "data is generated before the endpoint is known, and lacks it",
            world.evidence(MACHINE, None, format!("{} bytes of data without {host}, which data of a Cluster with an endpoint contains", done.data().len())),
        ),
        Some(_) if names_it => Outcome::pass("data with the endpoint follows"),
        Some(_) => Outcome::not_applicable("data of this sample does not name the endpoint"),
    };
    world.end().await;
    Ok(outcome)
}
