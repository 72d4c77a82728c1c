//! The versions of a namespace's objects in the order of their writes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// What a history consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Config,
    Secret,
    Event,
}

/// A version of an object, as a watch delivered it.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) subject: Subject,
    /// Since the run of the check began.
    pub(crate) at: Duration,
    /// `ADDED`, `MODIFIED` or `DELETED`.
    pub(crate) change: String,
    pub(crate) object: Value,
}

impl Seen {
    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The position among the writes of one API server. Resource versions are numbers there.
    pub(crate) fn revision(&self) -> Option<u64> {
        self.object["metadata"]["resourceVersion"]
            .as_str()?
            .parse()
            .ok()
    }
}

/// How a config reports completion, by contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    /// `status.ready`, until v1beta1.
    Ready,
    /// `status.initialization.dataSecretCreated`, from v1beta2.
    DataSecretCreated,
}

impl Completion {
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Completion::Ready => "status.ready",
            Completion::DataSecretCreated => "status.initialization.dataSecretCreated",
        }
    }

    /// Whether a config reports it.
    pub(crate) fn is_reported(self, config: &Value) -> bool {
        let status = &config["status"];
        match self {
            Completion::Ready => status["ready"] == true,
            Completion::DataSecretCreated => status["initialization"]["dataSecretCreated"] == true,
        }
    }
}

/// The reported name of the data Secret, if it is not empty.
pub(crate) fn data_secret_name(config: &Value) -> Option<&str> {
    config["status"]["dataSecretName"]
        .as_str()
        .filter(|name| !name.is_empty())
}

/// The decoded value of a key of a Secret.
pub(crate) fn secret_value(secret: &Value, key: &str) -> Option<Vec<u8>> {
    STANDARD.decode(secret["data"][key].as_str()?).ok()
}

/// The conditions of a config.
pub(crate) fn conditions(config: &Value) -> &[Value] {
    config["status"]["conditions"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

/// The status of a condition: `True`, `False`, `Unknown`.
pub(crate) fn condition<'a>(config: &'a Value, kind: &str) -> Option<&'a str> {
    let found = conditions(config)
        .iter()
        .find(|condition| condition["type"] == kind);
    found.and_then(|condition| condition["status"].as_str())
}

/// Whether the controlling owner of an object has this uid.
pub(crate) fn is_controlled_by(object: &Value, uid: &Value) -> bool {
    owners(object)
        .iter()
        .any(|owner| owner["controller"] == true && !uid.is_null() && owner["uid"] == *uid)
}

pub(crate) fn owners(object: &Value) -> &[Value] {
    object["metadata"]["ownerReferences"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

/// All versions seen so far.
#[derive(Clone, Default)]
pub(crate) struct History {
    seen: Vec<Seen>,
}

impl History {
    pub(crate) fn add(&mut self, seen: Seen) {
        // A watch that begins again repeats what exists.
        let is_known = self.seen.iter().any(|known| {
            known.subject == seen.subject
                && known.name() == seen.name()
                && known.change == seen.change
                && known.revision().is_some()
                && known.revision() == seen.revision()
                && known.object["metadata"]["uid"] == seen.object["metadata"]["uid"]
        });
        if !is_known {
            self.seen.push(seen);
        }
    }

    /// Versions of one object, oldest first.
    pub(crate) fn of<'a, 'n>(
        &'a self,
        subject: Subject,
        name: &'n str,
    ) -> impl DoubleEndedIterator<Item = &'a Seen> + use<'a, 'n> {
        self.seen
            .iter()
            .filter(move |seen| seen.subject == subject && seen.name() == name)
    }

    pub(crate) fn all(&self, subject: Subject) -> impl DoubleEndedIterator<Item = &Seen> {
        self.seen.iter().filter(move |seen| seen.subject == subject)
    }

    /// The newest version, unless the object is deleted.
    pub(crate) fn newest(&self, subject: Subject, name: &str) -> Option<&Value> {
        let last = self.of(subject, name).next_back()?;
        (last.change != "DELETED").then_some(&last.object)
    }

    /// The Secrets that a config controls now.
    pub(crate) fn controlled_secrets(&self, uid: &Value) -> Vec<&Value> {
        let mut names: Vec<&str> = self.all(Subject::Secret).map(Seen::name).collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .filter_map(|name| self.newest(Subject::Secret, name))
            .filter(|secret| is_controlled_by(secret, uid))
            .collect()
    }

    /// Lines about the newest versions of configs and Secrets from a position on, at most 24,
    /// without any value of a Secret.
    pub(crate) fn timeline(&self, completion: Completion) -> Vec<String> {
        const MOST: usize = 24;
        let mut ordered: Vec<&Seen> = self
            .seen
            .iter()
            .filter(|seen| seen.subject != Subject::Event)
            .collect();
        ordered.sort_by_key(|seen| seen.revision());
        let skipped = ordered.len().saturating_sub(MOST);
        let lines = ordered
            .into_iter()
            .skip(skipped)
            .map(|seen| line(seen, completion));
        (skipped > 0)
            .then(|| format!("({skipped} older versions)"))
            .into_iter()
            .chain(lines)
            .collect()
    }
}

fn line(seen: &Seen, completion: Completion) -> String {
    let object = &seen.object;
    let kind = object["kind"].as_str().unwrap_or(match seen.subject {
        Subject::Secret => "Secret",
        Subject::Event => "Event",
        Subject::Config => "config",
    });
    let head = format!(
        "{:>7.2} s {} {kind} {} (resourceVersion {})",
        seen.at.as_secs_f64(),
        seen.change,
        seen.name(),
        object["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or("-"),
    );
    if seen.subject == Subject::Secret {
        let keys: Vec<String> = object["data"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| {
                format!(
                    "{key}: {} bytes",
                    value
                        .as_str()
                        .and_then(|text| STANDARD.decode(text).ok())
                        .map_or(0, |bytes| bytes.len())
                )
            })
            .collect();
        return format!("{head}: {}", keys.join(", "));
    }
    let conditions: Vec<String> = conditions(object)
        .iter()
        .map(|condition| {
            let text = |key: &str| condition[key].as_str().unwrap_or("-");
            format!("{}={}", text("type"), text("status"))
        })
        .collect();
    format!(
        "{head}: dataSecretName {}, completion {}, conditions [{}]",
        data_secret_name(object).unwrap_or("-"),
        completion.is_reported(object),
        conditions.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(subject: Subject, change: &str, revision: u64, object: Value) -> Seen {
        let mut object = object;
        object["metadata"]["resourceVersion"] = json!(revision.to_string());
        object["metadata"]["name"] = json!("a");
        Seen {
            subject,
            at: Duration::from_secs(1),
            change: change.to_owned(),
            object,
        }
    }

    #[test]
    fn repeated_events_count_once_and_deleted_objects_are_gone() {
        let mut history = History::default();
        history.add(seen(Subject::Config, "ADDED", 5, json!({})));
        history.add(seen(Subject::Config, "ADDED", 5, json!({})));
        assert_eq!(history.all(Subject::Config).count(), 1);
        assert!(history.newest(Subject::Config, "a").is_some());
        history.add(seen(Subject::Config, "DELETED", 6, json!({})));
        assert!(history.newest(Subject::Config, "a").is_none());
        assert!(history.newest(Subject::Secret, "a").is_none());
    }

    #[test]
    fn timeline_is_ordered_by_writes_and_hides_values() {
        let mut history = History::default();
        history.add(seen(
            Subject::Config,
            "MODIFIED",
            9,
            json!({"status": {"dataSecretName": "a"}}),
        ));
        history.add(seen(
            Subject::Secret,
            "ADDED",
            7,
            json!({"data": {"value": "czNjcmV0"}}),
        ));
        let lines = history.timeline(Completion::DataSecretCreated);
        assert!(
            lines[0].contains("Secret a") && lines[0].contains("value: 6 bytes"),
            "{lines:?}"
        );
        assert!(
            !lines[0].contains("czNjcmV0") && lines[1].contains("completion false"),
            "{lines:?}"
        );
    }

    #[test]
    fn completion_is_read_by_contract() {
        let (old, new) = (
            json!({"status": {"ready": true}}),
            json!({"status": {"initialization": {"dataSecretCreated": true}}}),
        );
        assert!(Completion::Ready.is_reported(&old) && !Completion::Ready.is_reported(&new));
        assert!(Completion::DataSecretCreated.is_reported(&new));
        assert!(!Completion::DataSecretCreated.is_reported(&old));
    }
}
