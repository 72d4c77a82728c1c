//! BC-22: the name of the data Secret is reported.

use super::{Check, Run};
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-22",
    name: "data-secret-name",
    level: Level::Must,
    contracts: &[],
    does: "Creates a config with all that it needs.",
    expects: "`status.dataSecretName` is set.",
    waits: "Until completion, at most the patience: providers wait for certificates and tokens.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    match story.secret_name() {
        Some(_) => Outcome::pass("status.dataSecretName is set"),
        None => Outcome::fail(
            "the name of the data Secret is not reported",
            story.of_config(
                Some("status.dataSecretName"),
                format!("not set within {} s", story.waited.as_secs()),
            ),
        ),
    }
}
