//! BC-54: the controller reacts to new objects.

use super::{Check, Run};
use crate::history::Subject;
use crate::outcome::{Level, Outcome};
use crate::story::Story;
use crate::world::MACHINE;

pub(crate) const CHECK: Check = Check {
    rule: "BC-54",
    name: "reacts-to-new-objects",
    level: Level::Must,
    contracts: &[],
    does: "Creates a config with all that it needs.",
    expects: "The controller writes its status or a Secret that it controls.",
    waits: "At most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let has_status = story.configs().any(|config| {
        config["status"]
            .as_object()
            .is_some_and(|status| !status.is_empty())
    });
    let uid = &story.config()["metadata"]["uid"];
    let secret = story.history.controlled_secrets(uid);
    match has_status || !secret.is_empty() {
        true => Outcome::pass("the controller writes"),
        false => Outcome::fail(
            "nothing happens to a new config",
            story.of_config(
                None,
                format!(
                    "{} versions within {} s, all written by this program",
                    story.history.of(Subject::Config, MACHINE).count(),
                    story.waited.as_secs()
                ),
            ),
        ),
    }
}
