//! OP-01: `--namespace` restricts the provider.

use std::sync::Arc;

use super::restriction::{self, Restriction};
use super::{Check, Run};
use crate::api::Rejection;
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::Plan;

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

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    const INSIDE: &str = "namespace-inside";
    let plan = Plan::complete(bench.primary());
    let restriction = Restriction {
        flag: "--namespace",
        value: bench.namespace_of(INSIDE),
        included: (INSIDE, plan.clone()),
        excluded: ("namespace-outside", plan),
        place: "in the namespace that --namespace names",
    };
    restriction::run(&bench, restriction).await
}
