//! Machines and control planes of different versions.

use serde_json::{Value, json};

use super::site::Ended;
use super::*;

const KUBEADM: &str = "controlplane.cluster.x-k8s.io";

/// A cluster whose control plane has a version, and a worker without a version yet.
fn with_control_plane_of(group: &str, kind: &str, version: &str) -> Site {
    filled(with_control_plane(), group, kind, version)
}

fn filled(mut site: Site, group: &str, kind: &str, version: &str) -> Site {
    let reference = json!({"apiGroup": group, "kind": kind, "name": "k"});
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"spec": {"controlPlaneRef": reference}}),
    );
    site.put(json!({"apiVersion": format!("{group}/v1beta2"), "kind": kind, "metadata": {"name": "k"}, "spec": {"version": version}}));
    add_machine(
        &mut site,
        "w",
        false,
        json!({"joinConfiguration": {"nodeRegistration": {"name": "x"}}}),
    );
    site
}

fn set_version(site: &mut Site, version: &str) {
    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"spec": {"version": version}}),
    );
}

fn condition(site: &Site) -> Value {
    let conditions = config(site, "w")["status"]["conditions"]
        .as_array()
        .unwrap()
        .clone();
    conditions
        .into_iter()
        .find(|condition| condition["type"] == "DataSecretAvailable")
        .unwrap()
}

/// The core's preflight check `KubeadmVersionSkew`: minor versions are the same.
#[test]
fn a_machine_of_another_minor_version_waits() {
    let mut site = with_control_plane_of(KUBEADM, "KubeadmControlPlane", "v1.34.2");
    for version in ["v1.35.0", "v1.33.9"] {
        set_version(&mut site, version);
        assert!(
            matches!(site.pass("w"), Ended::Rest(Some(_), None)),
            "it looks again"
        );
        let condition = condition(&site);
        assert_eq!(
            (&condition["status"], &condition["reason"]),
            (&json!("False"), &json!("NotAvailable"))
        );
        let message = condition["message"].as_str().unwrap();
        assert!(
            message.ends_with("machineset.cluster.x-k8s.io/skip-preflight-checks: KubeadmVersionSkew on this WindlassConfig"),
            "{message}"
        );
        assert!(
            message.contains(version) && message.contains("KubeadmControlPlane k v1.34.2"),
            "{message}"
        );
        assert_eq!(
            config(&site, "w")["spec"]["joinConfiguration"].get("discovery"),
            None,
            "no token is made for it"
        );
    }
    set_version(&mut site, "v1.34.0");
    site.pass("w");
    assert!(data(&site, "w").is_some());
}

#[test]
fn who_says_so_joins_nevertheless() {
    for (value, is_skipped) in [
        ("KubeadmVersionSkew", true),
        ("All", true),
        ("ControlPlaneIsStable, KubeadmVersionSkew", true),
        ("Kubeadm", false),
    ] {
        let mut site = with_control_plane_of(KUBEADM, "KubeadmControlPlane", "v1.34.2");
        set_version(&mut site, "v1.33.0");
        let annotations = json!({"machineset.cluster.x-k8s.io/skip-preflight-checks": value});
        site.merge(
            &Site::config_key("w"),
            &json!({"metadata": {"annotations": annotations}}),
        );
        site.pass("w");
        assert_eq!(data(&site, "w").is_some(), is_skipped, "{value}");
    }
}

/// A machine of the control plane is what a control plane is upgraded with.
#[test]
fn machines_of_the_control_plane_have_the_version_that_they_are_given() {
    let mut site = with_control_plane_of(KUBEADM, "KubeadmControlPlane", "v1.34.2");
    add_machine(
        &mut site,
        "m",
        true,
        json!({"joinConfiguration": {"nodeRegistration": {"name": "x"}, "controlPlane": {}}}),
    );
    site.merge(
        &key(CORE, "Machine", "m"),
        &json!({"spec": {"version": "v1.35.0"}}),
    );
    site.pass("m");
    assert!(data(&site, "m").is_some());
}

/// Those of KubeadmConfigs the core holds back before they are made; the kubeadm provider asks no
/// more.
#[test]
fn machines_with_kubeadm_configs_were_looked_at_before() {
    let mut of_kubeadm = with_control_plane();
    of_kubeadm.kubeadm = true;
    let mut site = filled(of_kubeadm, KUBEADM, "KubeadmControlPlane", "v1.34.2");
    set_version(&mut site, "v1.33.0");
    site.pass("w");
    assert!(data(&site, "w").is_some());
}

/// Versions of others are nothing that kubeadm knows, and what has no version or is not there says
/// nothing.
#[test]
fn only_versions_of_kubeadm_are_compared() {
    for (group, kind, version) in [
        (KUBEADM, "OtherControlPlane", "v1.20.0"),
        ("x.y", "KubeadmControlPlane", "v1.20.0"),
        (KUBEADM, "KubeadmControlPlane", ""),
    ] {
        let mut site = with_control_plane_of(group, kind, version);
        set_version(&mut site, "v1.34.0");
        site.pass("w");
        assert!(data(&site, "w").is_some(), "{group} {kind} {version}");
    }
    let mut site = with_control_plane_of(KUBEADM, "KubeadmControlPlane", "v1.20.0");
    site.remove(&key(KUBEADM, "KubeadmControlPlane", "k"));
    set_version(&mut site, "v1.34.0");
    site.pass("w");
    assert!(data(&site, "w").is_some());
}
