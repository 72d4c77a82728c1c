//! BC-43: the name of the Secret can be computed again.

use std::sync::Arc;

use super::{Check, NEVER_DONE, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-43",
    name: "name-is-computed",
    level: Level::Must,
    contracts: &[],
    does: "Creates the same Cluster, machine and config in two namespaces.",
    expects: "Both configs report the same Secret name.",
    waits: "At most the patience for each.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut names = Vec::new();
    for check in ["name-is-computed-1", "name-is-computed-2"] {
        let world = World::begin(&bench, check, Plan::complete(bench.primary())).await?;
        let done = world.until_done(MACHINE).await;
        let evidence = world.evidence(MACHINE, Some("status.dataSecretName"), "");
        world.end().await;
        let Some(done) = done else {
            return Ok(Outcome::not_covered(NEVER_DONE));
        };
        names.push((done.secret["metadata"]["name"].clone(), evidence));
    }
    let [(first, _), (second, evidence)] = &names[..] else {
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    Ok(match first == second {
        true => Outcome::pass("equal objects lead to equal names"),
        false => {
            let mut evidence = evidence.clone();
            evidence.observed =
                format!("{second}, and {first} for equal objects in another namespace");
            Outcome::fail(
                "the name of the data Secret is not computed from the objects",
                evidence,
            )
        }
    })
}
