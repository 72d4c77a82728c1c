//! BC-59: the kubeadm provider waits for the infrastructure of the Cluster.

use std::sync::Arc;

use super::{Check, Run, gate};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::sample::Role;
use crate::world::{Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-59",
    name: "waits-for-infrastructure",
    level: Level::Observed,
    contracts: &[],
    does: "Creates a Cluster whose infrastructure is not provisioned, and provisions it later.",
    expects: "No data before; data afterwards, as from Cluster API's kubeadm provider.",
    waits: "The quiet time, then at most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.has_infrastructure = false;
    let is_initialized = plan.role != Role::Init;
    let gate = gate::Gate {
        check: "waits-for-infrastructure",
        plan,
        while_missing: "before the infrastructure of the Cluster is provisioned",
        after: "after the infrastructure of the Cluster is provisioned",
        may_touch: false,
    };
    gate::run(bench, gate, async |world: &World| {
        world.set_cluster_status(true, is_initialized).await
    })
    .await
}
