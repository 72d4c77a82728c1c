//! Runs checks: the base cases first, then checks that share the provider, then those that restart
//! it.

use std::sync::Arc;

use futures::StreamExt as _;

use crate::api::Rejection;
use crate::bench::Bench;
use crate::checks::{Check, Run};
use crate::outcome::{Outcome, Verdict};
use crate::sample::Role;
use crate::story::Story;

/// A check and its outcome.
pub(crate) struct Checked {
    pub(crate) check: &'static Check,
    pub(crate) outcome: Outcome,
}

/// Runs the checks, and calls `progress` after each of them.
pub(crate) async fn run(
    bench: &Arc<Bench>,
    checks: &[&'static Check],
    at_once: usize,
    progress: impl Fn(&Checked),
) -> Vec<Checked> {
    let roles = Role::ALL
        .into_iter()
        .filter(|role| role.is_machine() && bench.sample(*role).is_some());
    let stories = roles.map(|role| async move { (role, Story::play(bench, role).await) });
    let stories: Vec<(Role, Result<Story, Rejection>)> = futures::future::join_all(stories).await;
    let complete: Vec<Role> = stories
        .iter()
        .filter(|(_, story)| story.as_ref().is_ok_and(Story::is_complete))
        .map(|(role, _)| *role)
        .collect();
    if let Some(primary) = complete.first() {
        // It is set once, here.
        let _ = bench.primary.set(*primary);
    }
    let mut all = Vec::new();
    let (mut shared, mut alone) = (Vec::new(), Vec::new());
    for check in checks.iter().copied() {
        match settled(check, bench, &stories, &complete) {
            Some(outcome) => {
                let checked = Checked { check, outcome };
                progress(&checked);
                all.push(checked);
            }
            None => match check.run {
                Run::World(run) | Run::WorldOf(_, run) => shared.push((check, run)),
                Run::Process(run) => alone.push((check, run)),
                Run::Story(_) | Run::StoryOf(..) => {}
            },
        }
    }
    let running = shared.into_iter().map(|(check, run)| {
        let bench = bench.clone();
        async move {
            Checked {
                check,
                outcome: decided(run(bench).await),
            }
        }
    });
    let mut running = futures::stream::iter(running).buffer_unordered(at_once);
    while let Some(checked) = running.next().await {
        progress(&checked);
        all.push(checked);
    }
    for (check, run) in alone {
        let checked = Checked {
            check,
            outcome: decided(run(bench.clone()).await),
        };
        progress(&checked);
        all.push(checked);
    }
    let position = |checked: &Checked| {
        checks
            .iter()
            .position(|check| check.name == checked.check.name)
    };
    all.sort_by_key(position);
    all
}

/// The outcome that is known without a run of the check.
fn settled(
    check: &Check,
    bench: &Bench,
    stories: &[(Role, Result<Story, Rejection>)],
    complete: &[Role],
) -> Option<Outcome> {
    let contract = bench.provider.contract;
    if !check.contracts.is_empty() && !check.contracts.contains(&contract) {
        return Some(Outcome::not_applicable(format!(
            "contract {contract} does not have the rule"
        )));
    }
    let missing = |role: Role| {
        Outcome::not_covered(format!("it needs a sample: --sample {}=FILE", role.name()))
    };
    match check.run {
        Run::Story(judge) => Some(Outcome::of_all(
            stories
                .iter()
                .map(|(role, story)| of_story(*role, story, judge))
                .collect(),
        )),
        Run::StoryOf(role, judge) => Some(
            stories
                .iter()
                .find(|(other, _)| *other == role)
                .map_or_else(|| missing(role), |(_, story)| of_story(role, story, judge)),
        ),
        Run::WorldOf(role, _) if bench.sample(role).is_none() => Some(missing(role)),
        Run::WorldOf(role, _) if role.is_machine() && !complete.contains(&role) => {
            Some(Outcome::not_covered(format!(
                "the config of the sample {} was not completed",
                role.name()
            )))
        }
        Run::Process(_) if bench.process.is_none() => Some(Outcome::not_covered(
            "it needs the provider's process: --run",
        )),
        Run::World(_) | Run::WorldOf(..) | Run::Process(_) => complete
            .is_empty()
            .then(|| Outcome::not_covered("no config was completed, on which this check builds")),
    }
}

fn of_story(role: Role, story: &Result<Story, Rejection>, judge: fn(&Story) -> Outcome) -> Outcome {
    let mut outcome = match story {
        Err(rejection) => return undecided(rejection),
        Ok(story) if story.lacks_workload && !story.is_complete() => {
            return Outcome::not_covered(format!(
                "the sample {} was not completed, and the Cluster had no kubeconfig of a workload cluster: --workload-kubeconfig",
                role.name()
            ));
        }
        Ok(story) => judge(story),
    };
    if outcome.verdict == Verdict::Fail {
        outcome.reason = format!("{}: {}", role.name(), outcome.reason);
    }
    outcome
}

fn decided(outcome: Result<Outcome, Rejection>) -> Outcome {
    outcome.unwrap_or_else(|rejection| undecided(&rejection))
}

fn undecided(rejection: &Rejection) -> Outcome {
    Outcome::not_covered(format!("a request of the check failed: {rejection}"))
}
