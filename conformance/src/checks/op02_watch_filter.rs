//! OP-02: `--watch-filter` restricts the provider.

use std::sync::Arc;

use super::{Check, NO_PROCESS, Run};
use crate::api::Refusal;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World, refusal};

const VALUE: &str = "conformance";

pub(crate) const CHECK: Check = Check {
    rule: "OP-02",
    name: "watch-filter",
    level: Level::Must,
    contracts: &["v1beta2"],
    does: "Restarts the provider with `--watch-filter`, beside a config and a Cluster with the label `cluster.x-k8s.io/watch-filter` of that value, and others without it.",
    expects: "The labelled config is completed, the other one gets nothing.",
    waits: "At most twice the patience for the first, because a lease may have to expire, then the quiet time.",
    run: Run::Process(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Refusal> {
    let Some(process) = &bench.process else {
        return Ok(Outcome::not_covered(NO_PROCESS));
    };
    process
        .lock()
        .await
        .restart(&[format!("--watch-filter={VALUE}")])
        .await
        .map_err(refusal)?;
    let outcome = two(&bench).await;
    process.lock().await.restart(&[]).await.map_err(refusal)?;
    outcome
}

async fn two(bench: &Arc<Bench>) -> Result<Outcome, Refusal> {
    let plan = Plan::complete(bench.primary());
    let other = World::begin(bench, "filter-other", plan.clone()).await?;
    let labelled = World::begin(
        bench,
        "filter-labelled",
        Plan {
            filter: Some(VALUE),
            ..plan
        },
    )
    .await?;
    let done = labelled
        .until_done_within(MACHINE, bench.times.patience * 2)
        .await;
    let outcome = match (done, other.quiet_sign_of_data(MACHINE).await) {
        (None, _) => labelled.never_done(MACHINE, "with the label of --watch-filter"),
        (_, Some(sign)) => Outcome::fail(
            "--watch-filter does not restrict the provider",
            other.evidence(MACHINE, None, sign),
        ),
        _ => Outcome::pass("--watch-filter restricts the provider"),
    };
    other.end().await;
    labelled.end().await;
    Ok(outcome)
}
