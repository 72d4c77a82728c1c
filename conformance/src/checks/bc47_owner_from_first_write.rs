//! BC-47: the owner reference is part of the first write.

use super::{Check, NO_SECRET, Run};
use crate::history::{Subject, is_controlled_by};
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-47",
    name: "owner-from-first-write",
    level: Level::Should,
    contracts: &[],
    does: "Reads the first version of the data Secret.",
    expects: "It already has the owner reference to the config.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let Some(secret) = story.secret() else {
        return Outcome::not_covered(NO_SECRET);
    };
    let name = secret["metadata"]["name"].as_str().unwrap_or_default();
    let uid = &story.config()["metadata"]["uid"];
    match story.history.of(Subject::Secret, name).next() {
        Some(first) if is_controlled_by(&first.object, uid) => {
            Outcome::pass("the first version has the reference")
        }
        _ if !is_controlled_by(secret, uid) => {
            Outcome::not_covered("the Secret never has the reference")
        }
        _ => Outcome::fail(
            "the data Secret is created without its owner reference",
            story.of_secret(
                secret,
                Some("metadata.ownerReferences"),
                "absent in the first version, present later",
            ),
        ),
    }
}
