//! BC-45: first the Secret, then its name and completion.

use super::{Check, Run};
use crate::history::{Seen, Subject, data_secret_name, secret_value};
use crate::outcome::{Level, Outcome};
use crate::story::Story;
use crate::world::MACHINE;

pub(crate) const CHECK: Check = Check {
    rule: "BC-45",
    name: "secret-before-status",
    level: Level::Must,
    contracts: &[],
    does: "Compares the resource versions of the Secret's and the config's writes.",
    expects: "The Secret has its data before the config reports its name or completion.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let is_reported = |seen: &&Seen| {
        data_secret_name(&seen.object).is_some() || story.completion().is_reported(&seen.object)
    };
    let Some(reported) = story.history.of(Subject::Config, MACHINE).find(is_reported) else {
        return Outcome::not_covered("neither name nor completion is reported");
    };
    let Some(name) = story
        .secret_name()
        .or_else(|| data_secret_name(&reported.object))
    else {
        return Outcome::not_covered("status.dataSecretName is not set");
    };
    let has_data =
        |seen: &&Seen| secret_value(&seen.object, "value").is_some_and(|value| !value.is_empty());
    let written = story.history.of(Subject::Secret, name).find(has_data);
    match (written.and_then(Seen::revision), reported.revision()) {
        (Some(secret), Some(config)) if secret < config => {
            Outcome::pass("the Secret is written first")
        }
        (None, _) if written.is_some() => {
            Outcome::not_covered("resource versions of this API server are not numbers")
        }
        (_, None) => Outcome::not_covered("resource versions of this API server are not numbers"),
        (_, Some(config)) => Outcome::fail(
            "the status speaks of data that does not exist yet",
            story.of_config(
                Some("status"),
                format!(
                    "resourceVersion {config} reports it; the Secret {name} has data {}",
                    written
                        .and_then(Seen::revision)
                        .map_or_else(|| "never".to_owned(), |secret| format!("from {secret} on"))
                ),
            ),
        ),
    }
}
