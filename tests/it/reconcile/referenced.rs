//! What a spec refers to is read for it.

use serde_json::{Value, json};
use windlass_capi::api::time::Timestamp;
use windlass_reconcile::{Action, Observation, Settings, Step, World, Write, reconcile};

use super::site::{Ended, TTL};
use super::*;

fn joining(field: &str, value: Value) -> Value {
    json!({field: value, "joinConfiguration": {"nodeRegistration": {"name": "x"}}})
}

fn file(field: &str, source: Value) -> Value {
    json!([{"path": "/a", "contentFrom": {field: source}}])
}

#[test]
fn contents_of_a_config_map_are_in_the_data() {
    let mut site = with_control_plane();
    site.put(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"k": "from-map"}}));
    add_machine(
        &mut site,
        "w",
        false,
        joining("files", file("configMap", json!({"name": "m", "key": "k"}))),
    );
    site.pass("w");
    assert!(data(&site, "w").unwrap().contains("from-map"));
}

#[test]
fn passwords_are_read_and_missed_in_upstreams_words() {
    let mut site = with_control_plane();
    let users = json!([{"name": "u", "passwdFrom": {"secret": {"name": "s", "key": "k"}}}]);
    add_machine(&mut site, "w", false, joining("users", users));
    let Ended::Rest(None, Some(fault)) = site.pass("w") else {
        panic!("it looks again")
    };
    assert!(
        fault.starts_with(
            "Failed to read password from secrets for spec.users: failed to resolve passwd source"
        ),
        "{fault}"
    );
    site.put(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "the-password"}}));
    site.pass("w");
    assert!(data(&site, "w").unwrap().contains("the-password"));
}

#[test]
fn templates_know_the_version_of_the_control_plane() {
    let mut site = with_control_plane();
    let reference = json!({"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "k"});
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"spec": {"controlPlaneRef": reference}}),
    );
    site.put(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlane", "metadata": {"name": "k"},
        "spec": {"version": "v1.34.7"},
    }));
    let files = json!([{"path": "/a", "contentFormat": "Template", "content": "is {{ .controlPlane.version }}"}]);
    add_machine(&mut site, "w", false, joining("files", files));
    site.pass("w");
    assert!(data(&site, "w").unwrap().contains("is v1.34.7"));
}

/// One that cannot be read is no one that is missing.
#[test]
fn a_secret_that_cannot_be_read_is_told_as_that() {
    let mut site = with_control_plane();
    add_machine(
        &mut site,
        "w",
        false,
        joining("files", file("secret", json!({"name": "s", "key": "k"}))),
    );
    let mut world = World::new(
        config(&site, "w").clone(),
        "abcdef.0123456789abcdef".to_owned(),
    );
    let patch = loop {
        match reconcile(
            &world,
            &Settings {
                token_ttl: TTL,
                machine_pools: true,
            },
            Timestamp::of_second(site.now),
        ) {
            Step::Read(keys) => keys.into_iter().for_each(|key| match key.name.as_str() {
                "s" => world.observe(key, Observation::Failed("forbidden".to_owned())),
                _ => {
                    let value = site.get(&key).cloned();
                    world.observe_value(key, value);
                }
            }),
            Step::Write(Write {
                action: Action::MergeStatus(patch),
                ..
            }) => break patch,
            step => panic!("{step:?}"),
        }
    };
    let conditions = patch["status"]["conditions"].to_string();
    assert!(
        conditions.contains("cannot read Secret n/s: forbidden"),
        "{conditions}"
    );
}
