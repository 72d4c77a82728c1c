//! BC-39: the Secret of the reported name exists beside the config.

use super::{Check, Run};
use crate::history::Subject;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-39",
    name: "secret-in-namespace",
    level: Level::Must,
    contracts: &[],
    does: "Creates a config with all that it needs.",
    expects: "The config's namespace has a Secret with the name in `status.dataSecretName`.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let Some(name) = story.secret_name() else {
        return Outcome::not_covered("status.dataSecretName is not set");
    };
    match story.history.newest(Subject::Secret, name) {
        Some(_) => Outcome::pass("the Secret is in the config's namespace"),
        None => Outcome::fail(
            "the reported Secret does not exist",
            story.of_config(
                Some("status.dataSecretName"),
                format!("{name}, and the namespace has no such Secret"),
            ),
        ),
    }
}
