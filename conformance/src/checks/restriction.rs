//! Flags that restrict what the provider watches: it completes one config and leaves another alone.

use std::sync::Arc;

use super::NO_PROCESS;
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::Outcome;
use crate::world::{MACHINE, Plan, World, rejection};

/// A flag, and two worlds that differ in whether it includes them.
pub(super) struct Restriction {
    /// Such as `--namespace`.
    pub(super) flag: &'static str,
    pub(super) value: String,
    pub(super) included: (&'static str, Plan),
    pub(super) excluded: (&'static str, Plan),
    /// Where the included config is, for messages.
    pub(super) place: &'static str,
}

/// Runs the check with the provider restarted, and restarts it without the flag.
pub(super) async fn run(
    bench: &Arc<Bench>,
    restriction: Restriction,
) -> Result<Outcome, Rejection> {
    let Some(process) = &bench.process else {
        return Ok(Outcome::not_covered(NO_PROCESS));
    };
    let argument = format!("{}={}", restriction.flag, restriction.value);
    let restarted = process.lock().await.restart(&[argument]).await;
    restarted.map_err(rejection)?;
    let outcome = compare(bench, restriction).await;
    process.lock().await.restart(&[]).await.map_err(rejection)?;
    outcome
}

async fn compare(bench: &Arc<Bench>, restriction: Restriction) -> Result<Outcome, Rejection> {
    let Restriction {
        flag,
        included,
        excluded,
        place,
        ..
    } = restriction;
    let outside = World::begin(bench, excluded.0, excluded.1).await?;
    let inside = World::begin(bench, included.0, included.1).await?;
    let done = inside
        .until_done_within(MACHINE, bench.times.patience * 2)
        .await;
    let outcome = match (done, outside.quiet_sign_of_data(MACHINE).await) {
        (None, _) => inside.never_done(MACHINE, place),
        (_, Some(sign)) => Outcome::fail(
            format!("{flag} does not restrict the provider"),
            outside.evidence(MACHINE, None, sign),
        ),
        _ => Outcome::pass(format!("{flag} restricts the provider")),
    };
    outside.end().await;
    inside.end().await;
    Ok(outcome)
}
