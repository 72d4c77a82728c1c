//! BC-54: the controller reacts to deletion, in each phase of a config.

use std::sync::Arc;

use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{Subject, is_controlled_by};
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-54",
    name: "deletion",
    level: Level::Must,
    contracts: &[],
    does: "Deletes a config without an owner, one that waits for infrastructure, a complete one, and one whose Cluster is gone.",
    expects: "Each is gone soon, and no Secret is created or written for it afterwards.",
    waits: "2 s before the deletion, at most the patience for it, then 3 s for late writes.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Unowned,
    Waiting,
    Complete,
    WithoutCluster,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Unowned => "unowned",
            Phase::Waiting => "waiting",
            Phase::Complete => "complete",
            Phase::WithoutCluster => "without-cluster",
        }
    }
}

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let phases = [
        Phase::Unowned,
        Phase::Waiting,
        Phase::Complete,
        Phase::WithoutCluster,
    ];
    let outcomes = futures::future::join_all(phases.map(|phase| delete(&bench, phase))).await;
    Ok(Outcome::of_all(
        outcomes.into_iter().collect::<Result<_, _>>()?,
    ))
}

async fn delete(bench: &Arc<Bench>, phase: Phase) -> Result<Outcome, Rejection> {
    let mut plan = Plan::complete(bench.primary());
    plan.has_owner = phase != Phase::Unowned;
    plan.has_infrastructure = phase != Phase::Waiting;
    let world = World::begin(bench, &format!("deletion-{}", phase.name()), plan).await?;
    if matches!(phase, Phase::Complete | Phase::WithoutCluster) {
        world.until_done(MACHINE).await;
    }
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    if phase == Phase::WithoutCluster {
        world
            .api()
            .delete(
                &world
                    .bench
                    .core
                    .clusters()
                    .path(Some(&world.namespace), crate::world::CLUSTER),
            )
            .await?;
    }
    let config = world.config(MACHINE).await?;
    world.api().delete(&world.config_path(MACHINE)).await?;
    let gone = world.watching.until(bench.times.patience, |history| {
        let last = history.of(Subject::Config, MACHINE).next_back()?;
        (last.change == "DELETED").then(|| last.revision())
    });
    let outcome = match gone.await {
        None => Outcome::fail(
            format!("a deleted config is not gone ({})", phase.name()),
            world.evidence(
                MACHINE,
                Some("metadata.finalizers"),
                format!(
                    "still there {} s after its deletion, finalizers {}",
                    bench.times.patience.as_secs(),
                    world.config(MACHINE).await.map_or_else(
                        |_| "unknown".to_owned(),
                        |config| config["metadata"]["finalizers"].to_string()
                    )
                ),
            ),
        ),
        Some(revision) => {
            tokio::time::sleep(std::time::Duration::from_secs(3)).await;
            let uid = &config["metadata"]["uid"];
            let late = world.watching.with(|history| {
                history.all(Subject::Secret).any(|seen| {
                    seen.change != "DELETED"
                        && seen.revision() > revision
                        && is_controlled_by(&seen.object, uid)
                })
            });
            match late {
                true => Outcome::fail(
                    format!(
                        "a Secret is written for a config that is gone ({})",
                        phase.name()
                    ),
                    world.evidence(
                        MACHINE,
                        None,
                        "a Secret with its uid was written after the deletion",
                    ),
                ),
                false => Outcome::pass("deleted configs are gone in each phase"),
            }
        }
    };
    world.end().await;
    Ok(outcome)
}
