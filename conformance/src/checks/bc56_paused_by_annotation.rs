//! BC-56: the annotation on the config stops reconciliation as well.

use std::sync::Arc;

use serde_json::json;

use super::{Check, Run, gate};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-56",
    name: "paused-by-annotation",
    level: Level::Should,
    contracts: &[],
    does: "Creates a config with the annotation `cluster.x-k8s.io/paused`, and removes it.",
    expects: "No data with the annotation; data afterwards.",
    waits: "The quiet time, then at most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.is_config_paused = true;
    let gate = gate::Gate {
        check: "paused-by-annotation",
        plan,
        while_missing: "although the config has the annotation cluster.x-k8s.io/paused",
        after: "after the annotation is removed",
        may_touch: false,
    };
    gate::run(bench, gate, async |world: &World| {
        world
            .merge_config(
                MACHINE,
                &json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": null}}}),
            )
            .await
    })
    .await
}
