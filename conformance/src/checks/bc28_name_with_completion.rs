//! BC-28: the core takes completion and the Secret name in the same step.

use super::{Check, Run};
use crate::history::data_secret_name;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-28",
    name: "name-with-completion",
    level: Level::Observed,
    contracts: &[],
    does: "Reads every version of a config from its creation to its completion.",
    expects: "Each version that reports completion also has `status.dataSecretName`.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let mut complete = story
        .configs()
        .filter(|config| story.completion().is_reported(config))
        .peekable();
    if complete.peek().is_none() {
        return Outcome::not_covered("completion is not reported");
    }
    match complete.find(|config| data_secret_name(config).is_none()) {
        None => Outcome::pass("the name is set in each version that reports completion"),
        Some(config) => Outcome::fail(
            "completion is reported without the name of the Secret",
            story.of_config(
                Some("status.dataSecretName"),
                format!(
                    "absent in resourceVersion {}, which reports completion",
                    config["metadata"]["resourceVersion"]
                ),
            ),
        ),
    }
}
