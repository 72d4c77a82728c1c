//! Conditions in both forms (book: "BootstrapConfig: conditions"; `util/conditions` of Cluster
//! API).

use super::foreign::{MESSAGE, V1BETA1_MESSAGE, fitting};
use super::outcome::{Observed, Outcome, Pause, reason};
use windlass_capi::api::condition::{Condition, ConditionStatus, V1Beta1Condition};
use windlass_capi::api::time::Timestamp;

const READY: &str = "Ready";
const DATA: &str = "DataSecretAvailable";
const CERTIFICATES: &str = "CertificatesAvailable";
const PAUSED: &str = "Paused";

/// What `Ready` sums up, in this order.
const SUMMED_UP: [&str; 2] = [DATA, CERTIFICATES];

/// Conditions of contract v1beta2 with what a pass found out.
pub(super) fn next(
    conditions: Vec<Condition>,
    outcome: &Outcome,
    generation: i64,
    now: Timestamp,
) -> Vec<Condition> {
    let mut list = List {
        conditions,
        generation,
        now,
    };
    match &outcome.pause {
        Pause::Yes(why) => list.set(PAUSED, ConditionStatus::True, reason::PAUSED, why),
        Pause::No => list.set(PAUSED, ConditionStatus::False, reason::NOT_PAUSED, ""),
        Pause::Unknown => {}
    }
    for (name, observed) in [(DATA, &outcome.data), (CERTIFICATES, &outcome.certificates)] {
        if let Some(Observed {
            status,
            reason,
            message,
            ..
        }) = observed
        {
            list.set(name, *status, reason, message);
        }
    }
    let (status, reason, message) = summary(&list.conditions);
    list.set(READY, status, reason, &message);
    list.conditions
        .sort_by(|a, b| rank(&a.type_).cmp(&rank(&b.type_)));
    list.conditions
}

struct List {
    conditions: Vec<Condition>,
    generation: i64,
    now: Timestamp,
}

impl List {
    /// Sets a condition; the time of its transition only when its status changes.
    fn set(&mut self, name: &str, status: ConditionStatus, reason: &str, message: &str) {
        let old = self
            .conditions
            .iter()
            .position(|condition| condition.type_ == name);
        let since = old
            .map(|at| &self.conditions[at])
            .filter(|old| old.status == status)
            .map(|old| old.last_transition_time);
        let condition = Condition {
            type_: name.to_owned(),
            status,
            observed_generation: Some(self.generation),
            last_transition_time: since.unwrap_or(self.now),
            reason: reason.to_owned(),
            message: fitting(message, MESSAGE, |_| 1),
        };
        match old {
            Some(at) => self.conditions[at] = condition,
            None => self.conditions.push(condition),
        }
    }
}

/// `Ready` first, `Paused` last, the others by name.
fn rank(name: &str) -> (u8, &str) {
    match name {
        READY => (0, name),
        PAUSED => (2, name),
        _ => (1, name),
    }
}

/// False when one of them is, else unknown when one of them is, or is not there.
fn summary(conditions: &[Condition]) -> (ConditionStatus, &'static str, String) {
    let find = |name: &str| conditions.iter().find(|condition| condition.type_ == name);
    let status =
        |name: &str| find(name).map_or(ConditionStatus::Unknown, |condition| condition.status);
    let (status, reason) = match SUMMED_UP.map(status) {
        statuses if statuses.contains(&ConditionStatus::False) => {
            (ConditionStatus::False, "NotReady")
        }
        statuses if statuses.contains(&ConditionStatus::Unknown) => {
            (ConditionStatus::Unknown, "ReadyUnknown")
        }
        _ => (ConditionStatus::True, "Ready"),
    };
    let line = |name: &str| match find(name) {
        None => Some(item(name, "Condition not yet reported")),
        Some(condition) if condition.status == ConditionStatus::True => None,
        Some(condition) => Some(item(name, &condition.message)),
    };
    (
        status,
        reason,
        SUMMED_UP
            .into_iter()
            .filter_map(line)
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

/// An item of the list that the message of a summary is.
fn item(name: &str, message: &str) -> String {
    match message.contains('\n') {
        true => format!("* {name}:\n  {}", message.replace('\n', "\n  ")),
        false => format!("* {name}: {message}"),
    }
}

/// Conditions of contract v1beta1 with what a pass found out.
pub(super) fn next_v1beta1(
    mut conditions: Vec<V1Beta1Condition>,
    outcome: &Outcome,
    now: Timestamp,
) -> Vec<V1Beta1Condition> {
    for (name, observed) in [(DATA, &outcome.data), (CERTIFICATES, &outcome.certificates)] {
        if let Some(observed) = observed {
            set_v1beta1(&mut conditions, of_observed(name, observed), now);
        }
    }
    if let Some(summary) = summary_v1beta1(&conditions) {
        set_v1beta1(&mut conditions, summary, now);
    }
    conditions.sort_by(|a, b| rank(&a.type_).cmp(&rank(&b.type_)));
    conditions
}

/// Contract v1beta1 knows no `Unknown` here: what is not true has a severity.
fn of_observed(name: &str, observed: &Observed) -> V1Beta1Condition {
    if observed.status == ConditionStatus::True {
        return V1Beta1Condition {
            type_: name.to_owned(),
            status: "True".to_owned(),
            ..V1Beta1Condition::default()
        };
    }
    V1Beta1Condition {
        type_: name.to_owned(),
        status: "False".to_owned(),
        severity: Some(observed.severity.as_str().to_owned()),
        reason: Some(observed.older_reason.to_owned()),
        message: Some(fitting(&observed.message, V1BETA1_MESSAGE, |_| 1))
            .filter(|message| !message.is_empty()),
        ..V1Beta1Condition::default()
    }
}

/// `Ready` is the worst of them; none, while there is nothing to sum up.
fn summary_v1beta1(conditions: &[V1Beta1Condition]) -> Option<V1Beta1Condition> {
    let of = |name: &str| conditions.iter().find(|condition| condition.type_ == name);
    let weight = |condition: &&V1Beta1Condition| match condition.severity.as_deref() {
        _ if condition.status == "True" => 0,
        Some("Error") => 3,
        Some("Warning") => 2,
        _ => 1,
    };
    // Of equal ones the first counts.
    let worst = SUMMED_UP
        .into_iter()
        .rev()
        .filter_map(of)
        .max_by_key(weight)?;
    Some(V1Beta1Condition {
        type_: READY.to_owned(),
        ..worst.clone()
    })
}

fn set_v1beta1(conditions: &mut Vec<V1Beta1Condition>, new: V1Beta1Condition, now: Timestamp) {
    let old = conditions
        .iter_mut()
        .find(|condition| condition.type_ == new.type_);
    let since = old
        .as_ref()
        .filter(|old| old.status == new.status)
        .map_or(now, |old| old.last_transition_time);
    let new = V1Beta1Condition {
        last_transition_time: since,
        ..new
    };
    match old {
        Some(old) => *old = new,
        None => conditions.push(new),
    }
}
