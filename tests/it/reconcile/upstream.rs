//! What Cluster API's own tests expect of the kubeadm bootstrap provider (v1.14.2,
//! `bootstrap/kubeadm/reconcilers/kubeadmconfig`): objects in, and objects out. Each test here is
//! named as the one whose expectations it has; `docs/upstream-tests.tsv` has the whole list.

use serde_json::{Value, json};
use windlass_capi::api::time::Timestamp;
use windlass_reconcile::Realm;

use super::site::{Ended, Site, TTL, key, token_key};
use super::*;

/// `result.RequeueAfter` is `k.TokenTTL / 3`.
const REFRESHED: Ended = Ended::Rest(Some(TTL as u64 / 3), None);

fn of_kubeadm(mut site: Site) -> Site {
    site.kubeadm = true;
    site
}

/// `newWorkerJoinKubeadmConfig`, `newControlPlaneJoinKubeadmConfig`.
fn joins(is_control_plane: bool) -> Value {
    let mut join = json!({"nodeRegistration": {"name": "x"}});
    if is_control_plane {
        join["controlPlane"] = json!({"localAPIEndpoint": {"bindPort": 6443}});
    }
    json!({"joinConfiguration": join})
}

/// `newControlPlaneInitKubeadmConfig`.
fn inits() -> Value {
    json!({"clusterConfiguration": {"apiServer": {"certSANs": ["a.example.com"]}}, "initConfiguration": {"nodeRegistration": {"name": "x"}}})
}

fn id(site: &Site, name: &str) -> String {
    token(site, name)
        .unwrap()
        .split_once('.')
        .unwrap()
        .0
        .to_owned()
}

fn expiration(site: &Site, id: &str) -> String {
    decoded(&site.get(&token_key(id)).unwrap()["data"]["expiration"])
}

fn at(second: i64) -> String {
    Timestamp::of_second(second).to_string()
}

/// `item.Data[bootstrapapi.BootstrapTokenExpirationKey] = …`
fn expires(site: &mut Site, id: &str, second: i64) {
    site.merge(
        &token_key(id),
        &json!({"data": {"expiration": STANDARD.encode(at(second))}}),
    );
}

fn tokens(site: &Site) -> usize {
    site.of_kind(Realm::Workload, "Secret").count()
}

#[test]
fn bootstrap_token_ttl_extension() {
    let mut site = of_kubeadm(with_control_plane());
    for (name, is_control_plane) in [("worker-join-cfg", false), ("control-plane-join-cfg", true)] {
        add_machine(&mut site, name, is_control_plane, joins(is_control_plane));
        assert_eq!(site.pass(name), REFRESHED);
        assert_eq!(
            config(&site, name)["status"]["initialization"]["dataSecretCreated"],
            true
        );
        assert!(
            config(&site, name)["status"]["dataSecretName"].is_string()
                && config(&site, name)["status"]["observedGeneration"].is_i64()
        );
    }
    assert_eq!(tokens(&site), 2);
    for name in ["worker-join-cfg", "control-plane-join-cfg"] {
        let (id, fresh) = (id(&site, name), at(site.now + TTL));
        // No refresh, since no time passed and the token is therefore still fresh.
        assert_eq!(site.pass(name), REFRESHED);
        assert_eq!(expiration(&site, &id), fresh);
        // Expiry time is only TTL/2 from now.
        let soon = site.now + TTL / 2;
        expires(&mut site, &id, soon);
        assert_eq!(site.pass(name), REFRESHED);
        assert_eq!(expiration(&site, &id), fresh);
        // If infrastructure is marked ready, the token should still be refreshed.
        expires(&mut site, &id, soon);
        site.merge(
            &key(CORE, "Machine", name),
            &json!({"status": {"initialization": {"infrastructureProvisioned": true}}}),
        );
        assert_eq!(site.pass(name), REFRESHED);
        assert_eq!(expiration(&site, &id), fresh);
        // When the Nodes have actually joined the cluster and we get a nodeRef, no more refresh
        // should happen.
        expires(&mut site, &id, soon);
        site.merge(
            &key(CORE, "Machine", name),
            &json!({"status": {"nodeRef": {"name": "node"}}}),
        );
        assert_eq!(site.pass(name), Ended::Rest(None, None));
        assert_eq!(expiration(&site, &id), at(soon));
    }
    assert_eq!(tokens(&site), 2);
}

#[test]
fn bootstrap_token_rotation_machine_pool() {
    let mut site = of_kubeadm(with_control_plane());
    add_pool(&mut site, "workerpool-join-cfg", 1);
    let pass = |site: &mut Site| assert_eq!(site.pass("workerpool-join-cfg"), REFRESHED);
    pass(&mut site);
    assert_eq!(
        (
            condition(&site, "workerpool-join-cfg", "DataSecretAvailable").unwrap()[0],
            tokens(&site)
        ),
        ("True", 1)
    );
    let (first, fresh) = (id(&site, "workerpool-join-cfg"), at(site.now + TTL));
    pass(&mut site);
    assert_eq!(expiration(&site, &first), fresh);
    // Expiry time is only TTL*3/4 from now: a refresh, also when infrastructure is marked ready.
    let soon = site.now + TTL * 3 / 4;
    expires(&mut site, &first, soon);
    pass(&mut site);
    assert_eq!(expiration(&site, &first), fresh);
    expires(&mut site, &first, soon);
    site.merge(
        &key(CORE, "MachinePool", "workerpool-join-cfg"),
        &json!({"status": {"initialization": {"infrastructureProvisioned": true}}}),
    );
    pass(&mut site);
    assert_eq!(expiration(&site, &first), fresh);
    // The Nodes have joined: no more refresh.
    expires(&mut site, &first, soon);
    site.merge(
        &key(CORE, "MachinePool", "workerpool-join-cfg"),
        &json!({"status": {"nodeRefs": [{"kind": "Node", "name": "node-0"}]}}),
    );
    pass(&mut site);
    assert_eq!((expiration(&site, &first), tokens(&site)), (at(soon), 1));
    // Token must be rotated before it expires: TTL*4/10 from now.
    let sooner = site.now + TTL * 4 / 10;
    expires(&mut site, &first, sooner);
    pass(&mut site);
    assert_eq!(tokens(&site), 2, "old and new token");
    let second = id(&site, "workerpool-join-cfg");
    assert_eq!(
        (expiration(&site, &first), expiration(&site, &second)),
        (at(sooner), fresh)
    );
}

/// "should recreate the token for MachinePools". Of Machines the same token is made again, where
/// upstream gives up (the book says so).
#[test]
fn bootstrap_token_refresh_if_token_secret_cleaned() {
    let mut site = of_kubeadm(with_control_plane());
    add_pool(&mut site, "workerpool-join-cfg", 1);
    assert_eq!(site.pass("workerpool-join-cfg"), REFRESHED);
    let first = id(&site, "workerpool-join-cfg");
    site.remove(&token_key(&first));
    assert_eq!(site.pass("workerpool-join-cfg"), REFRESHED);
    assert_ne!(id(&site, "workerpool-join-cfg"), first);
    assert_eq!(tokens(&site), 1);
}

/// `joinConfiguration.controlPlane` is absent, and filled in.
#[test]
fn error_if_joining_control_plane_has_invalid_configuration() {
    let mut site = of_kubeadm(with_control_plane());
    add_machine(&mut site, "control-plane-join-cfg", true, joins(false));
    site.pass("control-plane-join-cfg");
    for name in ["DataSecretAvailable", "CertificatesAvailable"] {
        assert_eq!(
            condition(&site, "control-plane-join-cfg", name).unwrap()[0],
            "True"
        );
    }
    assert!(
        data(&site, "control-plane-join-cfg")
            .unwrap()
            .contains("controlPlane:")
    );
}

/// Upstream looks again after ten seconds and has no condition; here the Cluster's change wakes,
/// and the condition says what is missing.
#[test]
fn requeue_if_control_plane_is_missing_api_endpoints() {
    let mut site = of_kubeadm(with_control_plane());
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"spec": {"controlPlaneEndpoint": null}}),
    );
    add_machine(&mut site, "worker-join-cfg", false, joins(false));
    site.pass("worker-join-cfg");
    assert_ne!(
        condition(&site, "worker-join-cfg", "DataSecretAvailable").map(|[status, ..]| status),
        Some("True")
    );
    assert_eq!(
        condition(&site, "worker-join-cfg", "CertificatesAvailable").unwrap()[0],
        "True"
    );
    assert_eq!((data(&site, "worker-join-cfg"), tokens(&site)), (None, 0));
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"spec": {"controlPlaneEndpoint": {"host": "100.105.150.1", "port": 6443}}}),
    );
    assert_eq!(site.pass("worker-join-cfg"), REFRESHED);
    assert!(
        data(&site, "worker-join-cfg")
            .unwrap()
            .contains("100.105.150.1:6443")
    );
}

#[test]
fn bootstrap_data_format() {
    for (format, is_initialized, is_worker) in [
        (Some("cloud-config"), false, false),
        (Some("ignition"), false, false),
        (Some("ignition"), true, false),
        (Some("ignition"), true, true),
        (None, false, false),
    ] {
        let mut site = of_kubeadm(if is_initialized {
            with_control_plane()
        } else {
            with_cluster()
        });
        let mut spec = if is_worker { joins(false) } else { inits() };
        if let Some(format) = format {
            spec["format"] = json!(format);
        }
        add_machine(&mut site, "cfg", !is_worker, spec);
        site.pass("cfg");
        assert_eq!(
            config(&site, "cfg")["status"]["initialization"]["dataSecretCreated"],
            true,
            "{:?}",
            config(&site, "cfg")["status"]
        );
        let secret = site.get(&key("", "Secret", "cfg")).unwrap();
        assert_eq!(
            decoded(&secret["data"]["format"]),
            format.unwrap_or("cloud-config")
        );
        let data = data(&site, "cfg").unwrap();
        match format {
            Some("ignition") => {
                let document: Value = serde_json::from_str(&data).unwrap();
                assert!(document["ignition"]["version"].is_string());
            }
            _ => assert!(data.starts_with("## template: jinja\n#cloud-config\n")),
        }
    }
}

/// All true and without a word, whatever the status was before: empty, emptied after the machine
/// had its data, or from before v1beta2.
#[test]
fn v1beta2_conditions() {
    for (status, of_machine) in [
        (json!({}), json!({})),
        (
            json!({}),
            json!({"spec": {"bootstrap": {"dataSecretName": "foo"}}}),
        ),
        (
            json!({"initialization": {"dataSecretCreated": true}}),
            json!({}),
        ),
    ] {
        let mut site = of_kubeadm(with_control_plane());
        add_machine(&mut site, "kubeadmconfig", false, joins(false));
        site.merge(&key(CORE, "Machine", "kubeadmconfig"), &of_machine);
        site.merge(
            &Site::config_key("kubeadmconfig"),
            &json!({ "status": status }),
        );
        site.pass("kubeadmconfig");
        for name in ["Ready", "CertificatesAvailable", "DataSecretAvailable"] {
            let [status, _, message] = condition(&site, "kubeadmconfig", name).unwrap();
            assert_eq!((status, message), ("True", ""), "{name}");
        }
        let [status, _, message] = condition(&site, "kubeadmconfig", "Paused").unwrap();
        assert_eq!((status, message), ("False", ""));
    }
}

/// The certificates cannot be read: the run ends with a fault, and the status says so.
#[test]
fn patch_when_error_occurred() {
    let mut site = of_kubeadm(with_cluster());
    for purpose in ["ca", "etcd", "proxy", "sa"] {
        let mut data = key_pair();
        data.as_object_mut().unwrap().remove("tls.crt");
        let metadata = json!({"name": format!("c-{purpose}")});
        site.put(json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": metadata, "data": data}));
    }
    add_machine(&mut site, "control-plane-init-cfg", true, inits());
    assert!(matches!(
        site.pass("control-plane-init-cfg"),
        Ended::Rest(_, Some(_))
    ));
    assert!(condition(&site, "control-plane-init-cfg", "CertificatesAvailable").is_some());
    assert_eq!(data(&site, "control-plane-init-cfg"), None);
}

/// The Secret of etcd's CA is there already.
#[test]
fn does_not_fail_if_ca_secrets_already_exist() {
    let mut site = of_kubeadm(with_cluster());
    let metadata = json!({"name": "c-etcd"});
    let etcd = json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": metadata, "data": key_pair()});
    site.put(etcd);
    add_machine(&mut site, "my-config", true, inits());
    assert_eq!(site.pass("my-config"), Ended::Rest(None, None));
    assert_eq!(
        condition(&site, "my-config", "DataSecretAvailable").unwrap()[0],
        "True"
    );
    assert!(
        site.writes.iter().all(|write| !write.contains("c-etcd")),
        "{:?}",
        site.writes
    );
}
