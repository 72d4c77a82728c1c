//! BC-42: the key of the data.

use super::{Check, NO_SECRET, Run};
use crate::history::secret_value;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-42",
    name: "key-value",
    level: Level::Must,
    contracts: &[],
    does: "Creates a config with all that it needs.",
    expects: "The data Secret has the key `value`, which is not empty. Further keys are permitted.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let Some(secret) = story.secret() else {
        return Outcome::not_covered(NO_SECRET);
    };
    let observed = match secret_value(secret, "value") {
        Some(value) if matches!(value.trim_ascii(), b"" | b"null" | b"{}") => "empty or null",
        Some(_) => return Outcome::pass("the key value has data"),
        None => "absent",
    };
    Outcome::fail(
        "the data Secret has no data",
        story.of_secret(secret, Some("data.value"), observed),
    )
}
