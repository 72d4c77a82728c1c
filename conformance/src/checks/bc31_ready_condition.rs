//! BC-31: the Ready condition, which the core mirrors on the Machine.

use super::{Check, Run};
use crate::history::condition;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-31",
    name: "ready-condition",
    level: Level::Should,
    contracts: &["v1beta2"],
    does: "Creates a config with all that it needs.",
    expects: "The condition Ready exists and is True once completion is reported.",
    waits: "Until completion and up to 3 s longer, because conditions may follow the flag.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    if !story.completion().is_reported(story.config()) {
        return Outcome::not_covered("completion is not reported");
    }
    match condition(story.config(), "Ready") {
        Some("True") => Outcome::pass("Ready is True"),
        Some(other) => Outcome::fail(
            "a complete config is not Ready",
            story.of_config(
                Some("status.conditions[Ready]"),
                format!("its status is {other}"),
            ),
        ),
        None => Outcome::fail(
            "there is no condition Ready for the core to mirror",
            story.of_config(Some("status.conditions[Ready]"), "absent"),
        ),
    }
}
