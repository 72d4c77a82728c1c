//! BC-44: the type of the Secret, which later contracts no longer mention.

use super::{Check, NO_SECRET, Run};
use crate::outcome::{Level, Outcome};
use crate::story::Story;

const TYPE: &str = "cluster.x-k8s.io/secret";

pub(crate) const CHECK: Check = Check {
    rule: "BC-44",
    name: "secret-type",
    level: Level::Observed,
    contracts: &[],
    does: "Creates a config with all that it needs.",
    expects: "The data Secret has the type `cluster.x-k8s.io/secret`, which contract v1alpha3 demanded and consumers of that time check; later contracts do not mention it.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let Some(secret) = story.secret() else {
        return Outcome::not_covered(NO_SECRET);
    };
    match secret["type"].as_str() {
        Some(TYPE) => Outcome::pass("the type is cluster.x-k8s.io/secret"),
        other => Outcome::fail(
            "the data Secret has a different type than cluster.x-k8s.io/secret",
            story.of_secret(secret, Some("type"), other.unwrap_or("absent")),
        ),
    }
}
