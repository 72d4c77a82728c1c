//! BC-30: what a condition needs to count.

use serde_json::Value;

use super::{Check, Run};
use crate::history::conditions;
use crate::outcome::{Level, Outcome};
use crate::story::Story;

pub(crate) const CHECK: Check = Check {
    rule: "BC-30",
    name: "condition-fields",
    level: Level::Must,
    contracts: &["v1beta2"],
    does: "Reads every version of a config from its creation to its completion.",
    expects: "Each condition has a type and a status of True, False or Unknown; an observedGeneration, where there is one, is not above the generation of the object.",
    waits: "Until completion, at most the patience.",
    run: Run::Story(judge),
};

fn judge(story: &Story) -> Outcome {
    let mut count = 0;
    for config in story.configs() {
        for condition in conditions(config) {
            count += 1;
            if let Some(wrong) = misfit(condition, &config["metadata"]["generation"]) {
                return Outcome::fail(
                    "a condition is not one that Cluster API considers",
                    story.of_config(Some("status.conditions"), wrong),
                );
            }
        }
    }
    match count {
        0 => Outcome::not_covered("no conditions are reported"),
        _ => Outcome::pass("each condition has a type and a status"),
    }
}

fn misfit(condition: &Value, generation: &Value) -> Option<String> {
    let kind = condition["type"].as_str().filter(|kind| !kind.is_empty());
    let Some(kind) = kind else {
        return Some("a condition has no type".to_owned());
    };
    let status = condition["status"].as_str().unwrap_or_default();
    if !["True", "False", "Unknown"].contains(&status) {
        return Some(format!("the condition {kind} has the status {status:?}"));
    }
    let (seen, current) = (
        condition["observedGeneration"].as_i64()?,
        generation.as_i64()?,
    );
    (seen > current).then(|| {
        format!(
            "the condition {kind} has observedGeneration {seen}, the object generation {current}"
        )
    })
}
