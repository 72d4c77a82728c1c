//! BC-40: the label by which managers find the Secret.

use windlass_capi::contract::labels::CLUSTER_NAME;

use super::{Check, NO_SECRET, Run};
use crate::outcome::{Level, Outcome};
use crate::story::Story;
use crate::world::CLUSTER;

pub(crate) const CHECK: Check = Check {
    rule: "BC-40",
    name: "cluster-name-label",
    level: Level::Must,
    contracts: &[],
    does: "Creates a config with all that it needs.",
    expects: "The data Secret has the label `cluster.x-k8s.io/cluster-name` with the name of the Cluster.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let Some(secret) = story.secret() else {
        return Outcome::not_covered(NO_SECRET);
    };
    match secret["metadata"]["labels"][CLUSTER_NAME].as_str() {
        Some(CLUSTER) => Outcome::pass("the label names the Cluster"),
        other => Outcome::fail(
            "the data Secret lacks the cluster-name label",
            story.of_secret(
                secret,
                Some("metadata.labels[cluster.x-k8s.io/cluster-name]"),
                format!("{}, expected {CLUSTER}", other.unwrap_or("absent")),
            ),
        ),
    }
}
