//! What holds over the whole history of a site, and not at its end alone. The API server's audit
//! log is the witness.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::site::Site;
use crate::harness::audit;

/// Since a mark: each config had one content of its Secret, one machine was told to init, a status
/// that said that the data is there never took it back, each config that joins had one token made
/// for it, and machines of the control plane alone held the lock, among them the one that was told
/// to init.
pub(super) fn assert_sound(site: &Site<'_>, since: usize) {
    assert_sound_but(site, since, 0);
}

/// The same, but for so many tokens at most that no config names.
pub(super) fn assert_sound_but(site: &Site<'_>, since: usize, tokens: usize) {
    let mut contents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut said: BTreeMap<String, Value> = BTreeMap::new();
    let mut locks: Vec<String> = Vec::new();
    for (verb, resource, object) in audit::written(site.plane, &site.namespace, since) {
        let name = object["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        match resource.as_str() {
            "secrets" if object["data"]["value"].is_string() => {
                let value = STANDARD
                    .decode(object["data"]["value"].as_str().unwrap())
                    .unwrap();
                let value = String::from_utf8(value).unwrap();
                assert!(
                    !value.contains("kubeadm init") || locks.contains(&name),
                    "{name} was told to init before it had the lock"
                );
                contents.entry(name).or_default().insert(value);
            }
            resource if resource == site.kind.resource => {
                let status = object["status"].clone();
                if let Some(before) = said.get(&name) {
                    assert_goes_on(&name, before, &status);
                }
                said.insert(name, status);
            }
            "configmaps" if verb == "create" => locks.push(holder(&object)),
            _ => {}
        }
    }
    for (name, contents) in &contents {
        assert_eq!(
            contents.len(),
            1,
            "{}/{name} had {} different contents",
            site.namespace,
            contents.len()
        );
    }
    assert_eq!(contents.len(), site.count(), "{:?}", contents.keys());
    let inits: Vec<&String> = contents
        .iter()
        .filter(|(_, data)| data.iter().any(|data| data.contains("kubeadm init")))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(inits.len(), 1, "{inits:?} were told to init");
    // Others of the control plane find it free and see then that the cluster has begun.
    assert!(
        locks.contains(inits[0]),
        "{inits:?} was told to init without the lock, which {locks:?} held"
    );
    assert!(
        locks.iter().all(|holder| holder.starts_with("cp-")),
        "{locks:?} held the lock"
    );
    let made: BTreeSet<String> = audit::written(site.plane, "kube-system", since)
        .into_iter()
        .filter(|(verb, resource, _)| verb == "create" && resource == "secrets")
        .map(|(_, _, token)| token["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    let [there, named] = site.tokens();
    // What a manager asked for that was killed before the answer came may be done, and is not in
    // the log as done.
    for all in [made.into_iter().collect(), there.clone()] {
        let others: Vec<&String> = all.iter().filter(|made| !named.contains(made)).collect();
        assert!(
            others.len() <= tokens,
            "made were {others:?} besides those of the configs"
        );
    }
    assert!(
        named.iter().all(|named| there.contains(named)),
        "{named:?} are not all of {there:?}"
    );
    assert_eq!(named.len(), site.count() - 1);
}

/// The machine that a lock names.
fn holder(lock: &Value) -> String {
    let information: Value =
        serde_json::from_str(lock["data"]["lock-information"].as_str().unwrap()).unwrap();
    information["machineName"].as_str().unwrap().to_owned()
}

/// What was reached stays.
fn assert_goes_on(name: &str, before: &Value, after: &Value) {
    for field in ["dataSecretName", "initialization"] {
        assert!(
            before[field].is_null() || before[field] == after[field],
            "{name}: {before} and then {after}"
        );
    }
    let has_data = |status: &Value| {
        let all = status["conditions"].as_array();
        all.is_some_and(|all| {
            all.iter()
                .any(|one| one["type"] == "DataSecretAvailable" && one["status"] == "True")
        })
    };
    assert!(
        !has_data(before) || has_data(after),
        "{name}: {before} and then {after}"
    );
}
