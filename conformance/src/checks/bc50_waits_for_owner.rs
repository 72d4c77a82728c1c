//! BC-50: without a Machine owner nothing is generated.

use std::sync::Arc;

use super::{Check, Run, gate};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{Subject, owners};
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-50",
    name: "waits-for-owner",
    level: Level::Should,
    contracts: &[],
    does: "Creates a config without owner reference, and sets the reference later.",
    expects: "No data before; data afterwards. The provider does not set the reference itself (BC-68).",
    waits: "The quiet time, then at most the patience.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.has_owner = false;
    let gate = gate::Gate {
        check: "waits-for-owner",
        plan,
        while_missing: "for a config without an owner",
        after: "after its owner reference is set",
        may_touch: false,
    };
    let mut set_by_provider = None;
    let outcome = gate::run(bench, gate, async |world: &World| {
        let is_owned = world.watching.with(|history| {
            history
                .of(Subject::Config, MACHINE)
                .any(|seen| !owners(&seen.object).is_empty())
        });
        set_by_provider = is_owned.then(|| {
            world.evidence(
                MACHINE,
                Some("metadata.ownerReferences"),
                "set by the provider",
            )
        });
        world.own(MACHINE).await
    })
    .await?;
    Ok(match set_by_provider {
        Some(evidence) => Outcome::fail(
            "the provider sets the owner reference, which is the core's",
            evidence,
        ),
        None => outcome,
    })
}
