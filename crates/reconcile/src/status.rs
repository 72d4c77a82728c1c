//! The status of a config, for both contracts, and the end of a pass.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::conditions;
use super::outcome::{Observed, Outcome, Pause, Severity};
use super::pass::Pass;
use super::step::{Action, Rest, Step, Write};
use windlass_capi::api::condition::ConditionStatus;
use windlass_objects::Object;

/// Writes the status when it says something new, and rests when it does not.
pub(super) fn conclude(pass: &Pass<'_>, outcome: Outcome) -> Step {
    let config = pass.world.config();
    let outcome = said(outcome, config);
    let outcome = if pass.is_kubeadm() {
        documented(outcome)
    } else {
        outcome
    };
    let old = config
        .field(&["status"])
        .cloned()
        .unwrap_or_else(|| json!({}));
    let new = next(pass, &old, &outcome);
    if new != old {
        let metadata = json!({"resourceVersion": config.text(&["metadata", "resourceVersion"])});
        let patch = json!({"metadata": metadata, "status": new});
        return Step::Write(Write {
            key: pass.own_key(),
            action: Action::MergeStatus(patch),
            event: None,
        });
    }
    let again = outcome
        .again
        .and_then(|seconds| u64::try_from(seconds).ok())
        .map(Duration::from_secs);
    Step::Rest(Rest {
        again,
        fault: outcome.fault,
    })
}

/// A fault that keeps the data from being made is said where people look.
fn said(outcome: Outcome, config: &Object) -> Outcome {
    let is_told = |side: &Option<Observed>| {
        side.as_ref()
            .is_some_and(|side| side.status != ConditionStatus::True)
    };
    let is_silent =
        outcome.data.is_none() && !is_told(&outcome.certificates) && !is_paused(&outcome);
    match &outcome.fault {
        Some(fault) if is_silent && config.text(&["status", "dataSecretName"]).is_empty() => {
            Outcome {
                data: Some(Observed::failed(fault.as_str())),
                ..outcome
            }
        }
        _ => outcome,
    }
}

/// The reasons of a KubeadmConfig are those that its API documents.
fn documented(outcome: Outcome) -> Outcome {
    let is_rejected = |data: &Observed| data.severity == Severity::Error;
    let data = outcome.data.map(|data| {
        if is_rejected(&data) {
            Observed::failed(data.message)
        } else {
            data
        }
    });
    Outcome { data, ..outcome }
}

/// The status that follows. What was reached stays: the completion flag and the name of the Secret
/// are never taken back, and what others wrote stays too.
fn next(pass: &Pass<'_>, old: &Value, outcome: &Outcome) -> Value {
    let generation = pass
        .world
        .config()
        .field(&["metadata", "generation"])
        .and_then(Value::as_i64)
        .unwrap_or_default();
    let mut said = json!({"conditions": conditions::next(read(&old["conditions"]), outcome, generation, pass.now)});
    let older = conditions::next_v1beta1(
        read(&old["deprecated"]["v1beta1"]["conditions"]),
        outcome,
        pass.now,
    );
    // A mapping that holds nothing says nothing.
    if !older.is_empty() {
        said["deprecated"] = json!({"v1beta1": {"conditions": older}});
    }
    if let Some(name) = &outcome.data_secret {
        said["dataSecretName"] = json!(name);
        said["initialization"] = json!({"dataSecretCreated": true});
    }
    // Of a paused object nothing but the pause is looked at.
    if outcome.fault.is_none() && !is_paused(outcome) && generation > 0 {
        said["observedGeneration"] = json!(generation);
    }
    let mut new = old.clone();
    overlay(&mut new, said);
    new
}

fn is_paused(outcome: &Outcome) -> bool {
    matches!(outcome.pause, Pause::Yes(_))
}

/// The conditions of a list; what is none says nothing.
fn read<T: DeserializeOwned>(list: &Value) -> Vec<T> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|condition| T::deserialize(condition).ok())
        .collect()
}

/// What the API server makes of a patch that removes nothing (RFC 7386).
fn overlay(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            patch.into_iter().for_each(|(field, value)| {
                overlay(target.entry(field).or_insert(Value::Null), value)
            });
        }
        (target, patch) => *target = patch,
    }
}
