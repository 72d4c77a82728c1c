//! BC-41: the Secret is controlled by the config.

use super::{Check, NO_SECRET, Run};
use crate::history::{is_controlled_by, owners};
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-41",
    name: "controller-reference",
    level: Level::Must,
    contracts: &[],
    does: "Creates a config with all that it needs.",
    expects: "The data Secret has an owner reference to the config, with `controller: true` and the config's uid, kind and group.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let Some(secret) = story.secret() else {
        return Outcome::not_covered(NO_SECRET);
    };
    let config = story.config();
    let is_named_right = owners(secret)
        .iter()
        .filter(|owner| owner["controller"] == true)
        .all(|owner| {
            let group = owner["apiVersion"]
                .as_str()
                .and_then(|version| version.split('/').next());
            owner["kind"] == story.provider.config.kind
                && group == Some(story.provider.config.group())
                && owner["name"] == config["metadata"]["name"]
        });
    match is_controlled_by(secret, &config["metadata"]["uid"]) && is_named_right {
        true => Outcome::pass("the config controls the Secret"),
        false => Outcome::fail(
            "the data Secret is not controlled by the config",
            story.of_secret(
                secret,
                Some("metadata.ownerReferences"),
                serde_json::Value::from(owners(secret)).to_string(),
            ),
        ),
    }
}
