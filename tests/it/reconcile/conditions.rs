//! Conditions over time, and what sums them up (Cluster API: `util/conditions`,
//! `util/conditions/deprecated/v1beta1`).

use serde_json::{Value, json};
use windlass_capi::api::time::Timestamp;

use super::*;

fn joining(most: Value) -> Value {
    json!({"maxDataBytes": most, "joinConfiguration": {"nodeRegistration": {"name": "x"}}})
}

/// When a condition of each contract changed last.
fn changed(site: &Site, kind: &str) -> [String; 2] {
    let status = &config(site, "w")["status"];
    [
        &status["conditions"],
        &status["deprecated"]["v1beta1"]["conditions"],
    ]
    .map(|conditions| {
        let found = conditions
            .as_array()
            .unwrap()
            .iter()
            .find(|condition| condition["type"] == kind)
            .unwrap();
        found["lastTransitionTime"].as_str().unwrap().to_owned()
    })
}

/// The time is that of the last change of the status, not of the reason.
#[test]
fn the_time_of_a_transition_is_that_of_the_status() {
    let mut site = with_cluster();
    add_machine(&mut site, "w", false, joining(json!(10)));
    let at = |second| [(); 2].map(|()| Timestamp::of_second(second).to_string());
    let born = site.now;
    site.pass("w");
    assert_eq!(changed(&site, "DataSecretAvailable"), at(born));
    site.now += 60;
    let other = with_control_plane();
    for purpose in ["ca", "etcd", "proxy", "sa"] {
        site.put(
            other
                .get(&key("", "Secret", &format!("c-{purpose}")))
                .unwrap()
                .clone(),
        );
    }
    initialize(&mut site);
    site.pass("w");
    assert_eq!(
        condition(&site, "w", "DataSecretAvailable").unwrap()[1],
        "DataTooLarge"
    );
    assert_eq!(changed(&site, "DataSecretAvailable"), at(born));
    site.now += 60;
    site.merge(
        &Site::config_key("w"),
        &json!({"spec": {"maxDataBytes": null}}),
    );
    site.pass("w");
    assert_eq!(changed(&site, "DataSecretAvailable"), at(site.now));
    assert_eq!(changed(&site, "Ready"), at(site.now));
}

/// `Ready` of contract v1beta1 is the worst of both; of equal ones the data counts.
#[test]
fn ready_of_the_older_contract_is_the_worst() {
    let at = "2026-01-01T00:00:00Z";
    let certificates = |severity: &str| json!({"type": "CertificatesAvailable", "status": "False", "severity": severity, "reason": "C", "lastTransitionTime": at});
    for (severity, expected) in [
        ("Error", ["False", "Error", "C"]),
        ("Warning", ["False", "Warning", "C"]),
        ("Info", ["False", "Info", "WaitingForControlPlaneAvailable"]),
    ] {
        let mut site = with_cluster();
        add_machine(&mut site, "w", false, joining(json!(100_000)));
        site.merge(
            &Site::config_key("w"),
            &json!({"status": {"deprecated": {"v1beta1": {"conditions": [certificates(severity)]}}}}),
        );
        site.pass("w");
        assert_eq!(older_condition(&site, "w", "Ready"), Some(expected));
    }
    // Data that is rejected is worse than certificates of which only a warning is said.
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, joining(json!(10)));
    let warning =
        json!({"status": {"deprecated": {"v1beta1": {"conditions": [certificates("Warning")]}}}});
    site.merge(&Site::config_key("w"), &warning);
    site.pass("w");
    assert_eq!(
        older_condition(&site, "w", "Ready"),
        Some(["False", "Error", "DataTooLarge"])
    );
}

/// As the kubeadm provider was seen to say it of a worker whose cluster has no CA Secret.
#[test]
fn a_ca_that_is_missing_is_a_matter_of_certificates() {
    let mut site = with_control_plane();
    site.remove(&key("", "Secret", "c-ca"));
    add_machine(&mut site, "w", false, joining(json!(100_000)));
    let ended = site.pass("w");
    assert!(
        matches!(ended, super::site::Ended::Rest(None, Some(_))),
        "{ended:?} {}",
        config(&site, "w")["status"]
    );
    assert_eq!(
        condition(&site, "w", "CertificatesAvailable").unwrap()[..2],
        ["Unknown", "InternalError"]
    );
    assert_eq!(condition(&site, "w", "DataSecretAvailable"), None);
    assert_eq!(
        condition(&site, "w", "Ready").unwrap()[..2],
        ["Unknown", "ReadyUnknown"]
    );
    assert_eq!(token(&site, "w"), None);
}
