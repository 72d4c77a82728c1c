//! BC-60: a worker waits until the control plane is initialised.

use std::sync::Arc;

use super::{Check, Run, gate};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::world::{Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-60",
    name: "worker-waits",
    level: Level::Observed,
    contracts: &[],
    does: "Creates a worker of a Cluster whose control plane is not initialised, and initialises it later.",
    expects: "No data before; data afterwards, as from Cluster API's kubeadm provider.",
    waits: "The quiet time, then at most the patience.",
    run: Run::WorldOf(Role::Worker, |bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(Role::Worker);
    plan.is_initialized = false;
    let gate = gate::Gate {
        check: "worker-waits",
        plan,
        while_missing: "for a worker before the control plane is initialised",
        after: "after the control plane is initialised",
        may_touch: false,
    };
    gate::run(bench, gate, async |world: &World| {
        world.set_cluster_status(true, true).await
    })
    .await
}
