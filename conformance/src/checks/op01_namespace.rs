//! OP-01: `--namespace` restricts the provider.

use std::sync::Arc;

use super::{Check, NO_PROCESS, Run};
use crate::api::Refusal;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World, refusal};

pub(crate) const CHECK: Check = Check {
    rule: "OP-01",
    name: "namespace",
    level: Level::Must,
    contracts: &[],
    does: "Restarts the provider with `--namespace` of one of two namespaces that have the same objects.",
    expects: "The config of that namespace is completed, the other one gets nothing.",
    waits: "At most twice the patience for the first, because a lease may have to expire, then the quiet time.",
    run: Run::Process(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Refusal> {
    let Some(process) = &bench.process else {
        return Ok(Outcome::not_covered(NO_PROCESS));
    };
    let namespace = bench.namespace_of("namespace-inside");
    process
        .lock()
        .await
        .restart(&[format!("--namespace={namespace}")])
        .await
        .map_err(refusal)?;
    let outcome = two(&bench).await;
    process.lock().await.restart(&[]).await.map_err(refusal)?;
    outcome
}

async fn two(bench: &Arc<Bench>) -> Result<Outcome, Refusal> {
    let outside = World::begin(bench, "namespace-outside", Plan::complete(bench.primary())).await?;
    let inside = World::begin(bench, "namespace-inside", Plan::complete(bench.primary())).await?;
    let done = inside
        .until_done_within(MACHINE, bench.times.patience * 2)
        .await;
    let outcome = match (done, outside.quiet_sign_of_data(MACHINE).await) {
        (None, _) => inside.never_done(MACHINE, "in the namespace that --namespace names"),
        (_, Some(sign)) => Outcome::fail(
            "--namespace does not restrict the provider",
            outside.evidence(MACHINE, None, sign),
        ),
        _ => Outcome::pass("--namespace restricts the provider"),
    };
    outside.end().await;
    inside.end().await;
    Ok(outcome)
}
