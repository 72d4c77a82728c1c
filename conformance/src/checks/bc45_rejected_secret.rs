//! BC-45: neither name nor completion is reported while the API server rejects the Secret.

use std::sync::Arc;

use super::{Check, Run, gate};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-45",
    name: "rejected-secret",
    level: Level::Must,
    contracts: &[],
    does: "Lets a ResourceQuota reject every new Secret of the namespace, and removes it later.",
    expects: "Neither name nor completion is reported while the Secret is rejected; data follows once it is accepted.",
    waits: "The quiet time, then at most the patience: controllers retry with growing pauses.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.is_secret_rejected = true;
    let gate = gate::Gate {
        check: "rejected-secret",
        plan,
        while_missing: "or reported although the API server rejects the Secret",
        after: "after the API server accepts Secrets again",
        may_touch: true,
    };
    gate::run(bench, gate, async |world: &World| {
        world.accept_secrets().await
    })
    .await
}
