//! OP-02: `--watch-filter` restricts the provider.

use std::sync::Arc;

use super::restriction::{self, Restriction};
use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::Plan;

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

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let plan = Plan::complete(bench.primary());
    let labelled = Plan {
        filter: Some(VALUE),
        ..plan.clone()
    };
    let restriction = Restriction {
        flag: "--watch-filter",
        value: VALUE.to_owned(),
        included: ("filter-labelled", labelled),
        excluded: ("filter-other", plan),
        place: "with the label of --watch-filter",
    };
    restriction::run(&bench, restriction).await
}
