//! Completion, which each contract reports in a field of its own.

use crate::outcome::Outcome;
use crate::story::Story;

pub(super) fn judge(story: &Story) -> Outcome {
    let field = story.completion().field();
    match story.completion().is_reported(story.config()) {
        true => Outcome::pass(format!("{field} is true")),
        false => Outcome::fail(
            "completion is not reported",
            story.of_config(
                Some(field),
                format!("not true within {} s", story.waited.as_secs()),
            ),
        ),
    }
}
