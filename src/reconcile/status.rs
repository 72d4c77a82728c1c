//! The status of a config, for both contracts, and the end of a pass.

use std::time::Duration;

use serde_json::{Value, json};

use super::conditions;
use super::outcome::{Observed, Outcome};
use super::pass::Pass;
use super::step::{Action, Rest, Step, Write};
use crate::api::v1beta2::{Initialization, WindlassConfigStatus};
use crate::objects::Object;

/// Writes the status when it says something new, and rests when it does not.
pub(super) fn conclude(pass: &Pass<'_>, outcome: Outcome) -> Step {
    let config = pass.world.config();
    let outcome = said(outcome, config);
    let old = config.field(&["status"]).cloned().unwrap_or_else(|| json!({}));
    let new = next(pass, &old, &outcome);
    if new != old {
        let metadata = json!({"resourceVersion": config.text(&["metadata", "resourceVersion"])});
        let patch = json!({"metadata": metadata, "status": new});
        return Step::Write(Write { key: pass.own_key(), action: Action::MergeStatus(patch), event: None });
    }
    let again = outcome.again.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs);
    Step::Rest(Rest { again, fault: outcome.fault })
}

/// A fault that keeps the data from being made is said where people look.
fn said(outcome: Outcome, config: &Object) -> Outcome {
    let is_silent = outcome.data.is_none() && outcome.certificates.is_none() && !outcome.paused;
    match &outcome.fault {
        Some(fault) if is_silent && config.text(&["status", "dataSecretName"]).is_empty() => {
            Outcome { data: Some(Observed::failed(fault.as_str())), ..outcome }
        }
        _ => outcome,
    }
}

/// The status that follows. What was reached stays: the completion flag and the name of the Secret are never taken back.
fn next(pass: &Pass<'_>, old: &Value, outcome: &Outcome) -> Value {
    let config = pass.world.config();
    let generation = config.field(&["metadata", "generation"]).and_then(Value::as_i64).unwrap_or_default();
    let mut status: WindlassConfigStatus = serde_json::from_value(old.clone()).unwrap_or_default();
    status.conditions = Some(conditions::next(status.conditions.unwrap_or_default(), outcome, generation, pass.now));
    if !outcome.paused {
        let older = status.deprecated.get_or_insert_default().v1beta1.get_or_insert_default();
        let conditions = conditions::next_v1beta1(older.conditions.take().unwrap_or_default(), outcome, pass.now);
        older.conditions = Some(conditions).filter(|conditions| !conditions.is_empty());
    }
    if let Some(name) = &outcome.data_secret {
        status.data_secret_name = Some(name.clone());
        status.initialization = Some(Initialization { data_secret_created: Some(true) });
    }
    if outcome.fault.is_none() && generation > 0 {
        status.observed_generation = Some(generation);
    }
    drop_empty(serde_json::to_value(status).unwrap_or_default())
}

/// Without mappings that hold nothing, which the schema refuses.
fn drop_empty(mut status: Value) -> Value {
    for path in [&["deprecated", "v1beta1"][..], &["deprecated"]] {
        let (last, parents) = path.split_last().unwrap_or((&"", &[]));
        let parent = parents.iter().try_fold(&mut status, |value, step| value.get_mut(step));
        if let Some(Value::Object(map)) = parent
            && map.get(*last).and_then(Value::as_object).is_some_and(serde_json::Map::is_empty)
        {
            map.remove(*last);
        }
    }
    status
}
