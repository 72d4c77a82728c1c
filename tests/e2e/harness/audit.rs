//! What our manager asked of the API server, in the API server's own words: its audit log.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use windlass_capi::api::names::{GROUP, KUBEADM_GROUP};

use super::control_plane::ControlPlane;
use super::windlass;

const POLICY: &str = "audit-policy.yaml";
const LOG: &str = "audit.log";

/// A request by a service account of our namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Asked {
    /// The name of the service account.
    pub(crate) account: String,
    /// The namespace; empty for all of them.
    pub(crate) namespace: String,
    pub(crate) verb: String,
    pub(crate) group: String,
    /// The plural, for a subresource with its name behind a slash.
    pub(crate) resource: String,
    pub(crate) is_allowed: bool,
}

/// The service accounts of our namespace.
pub(crate) fn ours() -> String {
    format!("system:serviceaccounts:{}", windlass::NAMESPACE)
}

/// All service accounts.
#[allow(
    dead_code,
    reason = "benches/versus counts the requests of all managers"
)]
pub(crate) const ALL: &str = "system:serviceaccounts";

/// The arguments with which an API server writes what the accounts of a group ask into a log in a
/// folder.
pub(crate) fn arguments(folder: &Path, group: &str) -> [String; 2] {
    let mut rules = vec![
        json!({"level": "Metadata", "userGroups": [group]}),
        json!({"level": "None"}),
    ];
    if group == ours() {
        // What is written, with what is there then.
        let resources = json!([{"group": "", "resources": ["secrets", "configmaps"]}, {"group": GROUP}, {"group": KUBEADM_GROUP}]);
        let verbs = ["create", "update", "patch", "delete"];
        rules.insert(0, json!({"level": "RequestResponse", "userGroups": [group], "verbs": verbs, "resources": resources}));
    }
    let policy = json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
        "rules": rules,
    });
    let file = folder.join(POLICY);
    std::fs::write(&file, policy.to_string()).expect("the folder can be written");
    [
        format!("--audit-policy-file={}", file.display()),
        format!("--audit-log-path={}", folder.join(LOG).display()),
    ]
}

/// All different requests for resources so far. Discovery is free for everybody.
pub(crate) fn asked(plane: &ControlPlane) -> BTreeSet<Asked> {
    events(plane).iter().filter_map(request).collect()
}

/// The time of the newest request. Times order as texts.
pub(crate) fn newest(plane: &ControlPlane) -> String {
    events(plane)
        .iter()
        .filter_map(time)
        .max()
        .expect("there were requests")
        .to_owned()
}

fn time(event: &Value) -> Option<&str> {
    event["requestReceivedTimestamp"].as_str()
}

/// All requests so far, as the API server writes them (`audit.k8s.io/v1`, `Event`).
pub(crate) fn events(plane: &ControlPlane) -> Vec<Value> {
    events_since(plane, 0)
}

/// How many requests there were so far.
pub(crate) fn mark(plane: &ControlPlane) -> usize {
    lines(plane).len()
}

/// The writes that were done in a namespace since a mark, in the order of the versions that they
/// made: verb, resource, and what was there then.
pub(crate) fn written(
    plane: &ControlPlane,
    namespace: &str,
    since: usize,
) -> Vec<(String, String, Value)> {
    let is_done = |event: &Value| {
        event["objectRef"]["namespace"] == namespace
            && event["responseObject"].is_object()
            && event["responseStatus"]["code"]
                .as_u64()
                .is_some_and(|code| (200..300).contains(&code))
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all: Vec<Value> = events_since(plane, since)
        .into_iter()
        .filter(is_done)
        .collect();
    // What is deleted has none.
    all.sort_by_key(|event| {
        text(&event["responseObject"]["metadata"]["resourceVersion"])
            .parse::<u64>()
            .unwrap_or_default()
    });
    all.into_iter()
        .map(|event| {
            (
                text(&event["verb"]),
                text(&event["objectRef"]["resource"]),
                event["responseObject"].clone(),
            )
        })
        .collect()
}

fn events_since(plane: &ControlPlane, mark: usize) -> Vec<Value> {
    lines(plane)
        .iter()
        .skip(mark)
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn lines(plane: &ControlPlane) -> Vec<String> {
    let files = std::fs::read_dir(plane.folder())
        .expect("the folder of the control plane can be read")
        .flatten();
    // What was full has the time of that in its name.
    let is_log = |name: &str| name.starts_with("audit") && name.ends_with(".log");
    let mut files: Vec<_> = files
        .map(|file| file.path())
        .filter(|path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(is_log)
        })
        .collect();
    files.sort();
    let texts = files
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap_or_default());
    texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Who wrote anything but Leases and events since a time: a credential of ours is a token, and each
/// start of a manager has one of its own.
pub(crate) fn writers(plane: &ControlPlane, since: &str) -> BTreeSet<String> {
    write_requests(plane)
        .iter()
        .filter(|event| time(event).is_some_and(|time| time > since))
        .map(credential)
        .collect()
}

/// The requests that wrote, or would have written, anything but Leases and events.
fn write_requests(plane: &ControlPlane) -> Vec<Value> {
    let is_write = |event: &Value| {
        let resource = event["objectRef"]["resource"].as_str().unwrap_or_default();
        ["create", "update", "patch", "delete"]
            .iter()
            .any(|verb| event["verb"] == *verb)
            && !["leases", "events", "subjectaccessreviews", "tokenreviews"].contains(&resource)
    };
    events(plane).into_iter().filter(is_write).collect()
}

fn credential(event: &Value) -> String {
    let id = event["user"]["extra"]["authentication.kubernetes.io/credential-id"][0].as_str();
    id.expect("a token has an id").to_owned()
}

fn request(event: &Value) -> Option<Asked> {
    let object = event["objectRef"].as_object()?;
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let subresource = text("subresource");
    let slash = if subresource.is_empty() { "" } else { "/" };
    Some(Asked {
        account: event["user"]["username"]
            .as_str()?
            .rsplit(':')
            .next()?
            .to_owned(),
        namespace: text("namespace").to_owned(),
        verb: event["verb"].as_str()?.to_owned(),
        group: text("apiGroup").to_owned(),
        resource: format!("{}{slash}{subresource}", text("resource")),
        is_allowed: event["annotations"]["authorization.k8s.io/decision"] == "allow",
    })
}

/// Nothing was asked for that the roles of the release do not allow.
pub(crate) fn assert_all_was_allowed(plane: &ControlPlane) {
    let asked = asked(plane);
    assert!(!asked.is_empty(), "nobody asked for anything");
    let rejected: Vec<&Asked> = asked.iter().filter(|asked| !asked.is_allowed).collect();
    assert!(rejected.is_empty(), "{rejected:#?}");
}
