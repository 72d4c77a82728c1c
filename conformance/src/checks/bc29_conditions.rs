//! BC-29: the config reports conditions.

use super::{Check, Run};
use crate::history::conditions;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-29",
    name: "conditions",
    level: Level::Should,
    contracts: &["v1beta2"],
    does: "Creates a config with all that it needs.",
    expects: "`status.conditions` has at least one condition.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    match conditions(story.config()).len() {
        0 => Outcome::fail(
            "no conditions are reported",
            story.of_config(Some("status.conditions"), "empty or absent"),
        ),
        _ => Outcome::pass("status.conditions is not empty"),
    }
}
