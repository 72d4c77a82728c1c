//! BC-65: changes in place do not lead to new data.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kept::Kept;
use super::{Check, NEVER_DONE, Run};
use crate::api::{Patch, Rejection};
use crate::bench::Bench;
use crate::outcome::{Level, Outcome};
use crate::world::{MACHINE, Plan, World};

pub(crate) const CHECK: Check = Check {
    rule: "BC-65",
    name: "spec-changes",
    level: Level::Should,
    contracts: &["v1beta2"],
    does: "Changes the first value of a complete config's spec whose change the API server accepts.",
    expects: "The data stays the same.",
    waits: "The quiet time.",
    run: Run::World(|bench| Box::pin(run(bench))),
};

async fn run(bench: Arc<Bench>) -> Result<Outcome, Rejection> {
    let world = World::begin(&bench, "spec-changes", Plan::complete(bench.primary())).await?;
    let outcome = change(&world).await;
    world.end().await;
    outcome
}

async fn change(world: &World) -> Result<Outcome, Rejection> {
    let Some(done) = world.until_done(MACHINE).await else {
        return Ok(Outcome::not_covered(NEVER_DONE));
    };
    let kept = Kept::of(world, &done).await?;
    let config = world.config(MACHINE).await?;
    let mut candidates = Vec::new();
    changes(&config["spec"], &mut Vec::new(), &mut candidates);
    let path = world.config_path(MACHINE);
    for spec in candidates {
        let patch = json!({"spec": spec});
        let tried = world
            .api()
            .patch(&format!("{path}?dryRun=All"), Patch::Merge, &patch)
            .await;
        if tried.is_ok_and(|tried| tried["spec"] != config["spec"]) {
            world.merge_config(MACHINE, &patch).await?;
            tokio::time::sleep(world.bench.times.quiet).await;
            return Ok(kept
                .violated(world, MACHINE, "when the spec changes in place")
                .unwrap_or_else(|| Outcome::pass("the data stays the same")));
        }
    }
    Ok(Outcome::not_applicable(
        "the API server accepts no change of the sample's spec",
    ))
}

/// Merge patches that each change one value, outermost objects only where lists hold the values.
fn changes(value: &Value, path: &mut Vec<String>, found: &mut Vec<Value>) {
    let changed = match value {
        Value::Object(object) => {
            for (key, inner) in object {
                path.push(key.clone());
                changes(inner, path, found);
                path.pop();
            }
            return;
        }
        Value::Array(items) if items.iter().all(Value::is_string) && !items.is_empty() => {
            let mut longer = items.clone();
            longer.push(json!("changed"));
            Value::Array(longer)
        }
        Value::String(text) => json!(format!("{text}x")),
        Value::Bool(is) => json!(!is),
        Value::Number(number) => match number.as_i64() {
            Some(number) => json!(number + 1),
            None => return,
        },
        Value::Array(_) | Value::Null => return,
    };
    found.push(
        path.iter()
            .rev()
            .fold(changed, |inner, key| json!({ key.as_str(): inner })),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_candidate_changes_one_value() {
        let mut found = Vec::new();
        changes(
            &json!({"a": {"b": "x", "c": [1]}, "d": ["y"], "e": true}),
            &mut Vec::new(),
            &mut found,
        );
        assert_eq!(
            found,
            [
                json!({"a": {"b": "xx"}}),
                json!({"d": ["y", "changed"]}),
                json!({"e": false})
            ]
        );
    }
}
