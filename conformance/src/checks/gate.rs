//! A config that must wait: nothing happens while something is missing, and data follows once it is
//! there.

use std::sync::Arc;

use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::Outcome;
use crate::world::{MACHINE, Plan, World};

/// What a gate check is about.
pub(super) struct Gate {
    pub(super) check: &'static str,
    pub(super) plan: Plan,
    /// Completes "data is generated …".
    pub(super) while_missing: &'static str,
    /// Completes "no completed config …".
    pub(super) after: &'static str,
    /// Touches the config if it is not completed within half of the patience: the rule is about
    /// waiting, not about waking up.
    pub(super) may_touch: bool,
}

/// Creates a world, requires that nothing happens, changes it, and requires completion.
pub(super) async fn run<F>(bench: Arc<Bench>, gate: Gate, open: F) -> Result<Outcome, Rejection>
where
    F: AsyncFnOnce(&World) -> Result<(), Rejection>,
{
    let world = World::begin(&bench, gate.check, gate.plan).await?;
    let outcome = decide(&world, gate.while_missing, gate.after, gate.may_touch, open).await;
    world.end().await;
    outcome
}

async fn decide<F>(
    world: &World,
    while_missing: &str,
    after: &str,
    may_touch: bool,
    open: F,
) -> Result<Outcome, Rejection>
where
    F: AsyncFnOnce(&World) -> Result<(), Rejection>,
{
    if let Some(sign) = world.quiet_sign_of_data(MACHINE).await {
        return Ok(Outcome::fail(
            format!("data is generated {while_missing}"),
            world.evidence(MACHINE, None, sign),
        ));
    }
    open(world).await?;
    let patience = world.bench.times.patience;
    let mut done = world
        .until_done_within(MACHINE, if may_touch { patience / 2 } else { patience })
        .await;
    if done.is_none() && may_touch {
        world.touch(MACHINE, "again").await?;
        done = world.until_done_within(MACHINE, patience / 2).await;
    }
    Ok(match done {
        Some(_) => Outcome::pass("nothing is generated before, and data follows"),
        None => world.never_done(MACHINE, after),
    })
}
