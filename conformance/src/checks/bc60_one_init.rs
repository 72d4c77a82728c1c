//! BC-60: of several control plane machines one begins the cluster.

use std::sync::Arc;
use std::time::Duration;

use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::world::{MACHINE, Plan, World};

const SECOND: &str = "machine-1";

pub(crate) const CHECK: Check = Check {
    rule: "BC-60",
    name: "one-init",
    level: Level::Observed,
    contracts: &[],
    does: "Creates two control plane machines of one Cluster from the sample init, one directly after the other.",
    expects: "One gets data, the other none while the control plane is not initialised.",
    waits: "At most the patience for the first, then the quiet time for the other.",
    run: Run::WorldOf(Role::Init, |bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world = World::begin(&bench, "one-init", Plan::complete(Role::Init)).await?;
    world.add(Role::Init, SECOND).await?;
    let sign = |name: &'static str| {
        world
            .watching
            .with(|history| world.sign_of_data(history, name))
    };
    let deadline = tokio::time::Instant::now() + bench.times.patience;
    while sign(MACHINE).is_none()
        && sign(SECOND).is_none()
        && tokio::time::Instant::now() < deadline
    {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    tokio::time::sleep(bench.times.quiet).await;
    let outcome = match (sign(MACHINE), sign(SECOND)) {
        (None, None) => Outcome::not_covered("neither of two control plane machines got data"),
        (Some(first), Some(second)) => Outcome::fail(
            "two control plane machines get data before the control plane is initialised",
            world.evidence(
                SECOND,
                None,
                format!("{MACHINE}: {first}; {SECOND}: {second}"),
            ),
        ),
        _ => Outcome::pass("one control plane machine gets data, the other waits"),
    };
    world.end().await;
    Ok(outcome)
}
