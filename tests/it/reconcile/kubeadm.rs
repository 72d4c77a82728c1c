//! KubeadmConfigs: what the kubeadm bootstrap provider began is taken over as it is, and it can
//! take everything back at any time. What it writes, and in which order, is that of
//! `bootstrap/kubeadm/internal/controllers` of Cluster API.

use serde_json::{Value, json};
use windlass_reconcile::Realm;

use super::site::{Ended, Site, TTL, key, token_key};
use super::*;

const TOKEN: &str = "abcdef.0123456789abcdef";
const REFRESHED: Ended = Ended::Rest(Some(TTL as u64 / 3), None);

/// A site whose configs are KubeadmConfigs.
fn of_kubeadm(mut site: Site) -> Site {
    site.kubeadm = true;
    site
}

fn running() -> Site {
    of_kubeadm(with_control_plane())
}

fn joining() -> Value {
    json!({"joinConfiguration": {"nodeRegistration": {"name": "x"}}})
}

/// What the kubeadm provider writes into the spec of a machine that joins.
fn discovery() -> Value {
    let discovery = json!({"token": TOKEN, "apiServerEndpoint": "10.0.0.1:6443", "caCertHashes": ["sha256:aa"]});
    json!({"spec": {"joinConfiguration": {"discovery": {"bootstrapToken": discovery}}}})
}

fn put_token(site: &mut Site) {
    let expires = windlass_capi::api::time::Timestamp::of_second(site.now + TTL).to_string();
    site.insert(
        &token_key("abcdef"),
        json!({"metadata": {}, "data": {"expiration": STANDARD.encode(expires)}}),
    );
}

/// The Secret as it writes it, with this text in it.
fn put_data(site: &mut Site, name: &str, text: &str) {
    let reference = json!({
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "name": name, "controller": true,
        "uid": config(site, name)["metadata"]["uid"],
    });
    site.put(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": name, "labels": {"cluster.x-k8s.io/cluster-name": "c"}, "ownerReferences": [reference]},
        "data": {"value": STANDARD.encode(text), "format": STANDARD.encode("cloud-config")},
    }));
}

/// The token is in the cluster before it is in the spec, and nothing but the token is written
/// there.
#[test]
fn a_worker_joins_with_a_token() {
    let mut site = running();
    add_machine(&mut site, "w", false, joining());
    assert_eq!(site.pass("w"), REFRESHED);
    let token = token(&site, "w").unwrap();
    let order = [
        &format!(
            "create Secret kube-system/bootstrap-token-{} of the workload cluster",
            &token[..6]
        ),
        "patch KubeadmConfig n/w",
        "create Secret n/w",
        "patch status KubeadmConfig n/w",
    ];
    assert_eq!(site.writes, order);
    let written = json!({"nodeRegistration": {"name": "x"}, "discovery": {"bootstrapToken": {"token": token}}});
    assert_eq!(
        config(&site, "w")["spec"],
        json!({"joinConfiguration": written})
    );
    let secret = site.get(&key("", "Secret", "w")).unwrap();
    let reference = json!([{
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "name": "w", "controller": true,
        "uid": config(&site, "w")["metadata"]["uid"],
    }]);
    assert_eq!(secret["metadata"]["ownerReferences"], reference);
    assert_eq!(decoded(&secret["data"]["format"]), "cloud-config");
    assert_eq!(condition(&site, "w", "Ready"), Some(["True", "Ready", ""]));
}

/// It makes no Secret for a token that it finds in the spec, and asks for one that is not there for
/// ever.
#[test]
fn wherever_we_end_the_kubeadm_provider_can_go_on() {
    let mut ends = 0;
    for requests in 0..30 {
        let mut site = running();
        add_machine(&mut site, "w", false, joining());
        ends += usize::from(site.pass_until("w", requests) == Ended::Killed);
        if let Some(token) = token(&site, "w") {
            assert!(
                site.get(&token_key(&token[..6])).is_some(),
                "ended before request {requests}"
            );
        }
    }
    assert!(ends > 8, "{ends}");
}

/// A workload cluster that does not answer leaves no trace in the spec.
#[test]
fn no_token_is_promised_that_cannot_be_made() {
    let mut site = running();
    site.reachable = false;
    add_machine(&mut site, "w", false, joining());
    let Ended::Rest(None, Some(fault)) = site.pass("w") else {
        panic!("it looks again")
    };
    assert!(
        fault.contains("of the workload cluster: no answer"),
        "{fault}"
    );
    assert_eq!(token(&site, "w"), None);
    assert_eq!(
        condition(&site, "w", "CertificatesAvailable"),
        Some(["True", "Available", ""])
    );
}

/// What is done stays as it is, of a Machine and of a MachinePool.
#[test]
fn what_the_kubeadm_provider_did_is_not_done_again() {
    let mut site = running();
    add_machine(&mut site, "w", false, joining());
    add_pool(&mut site, "p", 1);
    put_token(&mut site);
    for name in ["w", "p"] {
        site.merge(&Site::config_key(name), &discovery());
        put_data(&mut site, name, &format!("kubeadm join, token: {TOKEN}"));
        let status = json!({"dataSecretName": name, "initialization": {"dataSecretCreated": true}});
        site.merge(&Site::config_key(name), &json!({"status": status}));
        assert_eq!(site.pass(name), REFRESHED);
        assert_eq!(condition(&site, name, "Ready"), Some(["True", "Ready", ""]));
    }
    assert_eq!(
        site.writes,
        [
            "patch status KubeadmConfig n/w",
            "patch status KubeadmConfig n/p"
        ]
    );

    // And the pool rotates from there on, without a word of ours on its Secret.
    site.merge(
        &key(CORE, "MachinePool", "p"),
        &json!({"status": {"nodeRefs": [{"name": "x"}]}}),
    );
    site.now += TTL / 2 + 1;
    assert_eq!(site.pass("p"), REFRESHED);
    let second = token(&site, "p").unwrap();
    assert_ne!(second, TOKEN);
    assert!(data(&site, "p").unwrap().contains(second));
    assert_eq!(
        site.get(&key("", "Secret", "p")).unwrap()["metadata"].get("annotations"),
        None
    );
}

/// A token of its that is in the spec is used.
#[test]
fn a_token_that_is_there_is_used() {
    let mut site = running();
    add_machine(&mut site, "w", false, joining());
    put_token(&mut site);
    site.merge(&Site::config_key("w"), &discovery());
    assert_eq!(site.pass("w"), REFRESHED);
    assert!(data(&site, "w").unwrap().contains(TOKEN));
    assert_eq!(site.of_kind(Realm::Workload, "Secret").count(), 1);
}

/// It writes the Secret before it writes its token into the spec: nobody knows the token of data
/// that it ended behind, and nobody has read it.
#[test]
fn data_whose_token_is_not_known_is_made_again() {
    for requests in 0..30 {
        let mut site = running();
        add_machine(&mut site, "w", false, joining());
        put_token(&mut site);
        put_data(&mut site, "w", &format!("kubeadm join, token: {TOKEN}"));
        // Also when we end in between.
        site.pass_until("w", requests);
        assert_eq!(site.pass("w"), REFRESHED);
        let token = token(&site, "w").unwrap();
        assert!(
            token != TOKEN && data(&site, "w").unwrap().contains(token),
            "ended before request {requests}"
        );
    }
}

/// Init data has no token, and neither has a join by a file. The lock that it took before it wrote
/// the former is there still, or is taken again.
#[test]
fn data_without_a_token_is_reported() {
    let mut site = of_kubeadm(with_cluster());
    add_machine(
        &mut site,
        "a",
        true,
        json!({"initConfiguration": {"skipPhases": ["x"]}}),
    );
    put_data(&mut site, "a", "kubeadm init");
    assert_eq!(site.pass("a"), Ended::Rest(None, None));
    let mut other = running();
    add_machine(
        &mut other,
        "w",
        false,
        json!({"joinConfiguration": {"discovery": {"file": {"kubeConfigPath": "/k"}}}}),
    );
    put_data(&mut other, "w", "kubeadm join");
    assert_eq!(other.pass("w"), Ended::Rest(None, None));
    assert_eq!(
        site.writes,
        [
            "create ConfigMap n/c-lock",
            "patch status KubeadmConfig n/a"
        ]
    );
    assert_eq!(other.writes, ["patch status KubeadmConfig n/w"]);
}

/// Name and content of its lock are ours too.
#[test]
fn a_machine_that_was_let_init_goes_on_and_others_wait() {
    let mut site = of_kubeadm(with_cluster());
    for name in ["a", "b"] {
        add_machine(
            &mut site,
            name,
            true,
            json!({"initConfiguration": {"skipPhases": ["x"]}}),
        );
    }
    let lock = json!({"metadata": {"name": "c-lock"}, "apiVersion": "v1", "kind": "ConfigMap", "data": {"lock-information": r#"{"machineName":"b"}"#}});
    site.put(lock);
    assert_eq!(site.pass("a"), Ended::Rest(Some(30), None));
    assert_eq!(data(&site, "a"), None);
    site.pass("b");
    assert!(data(&site, "b").unwrap().contains("kubeadm init"));
    // Taken again: what gave it back may be on the way.
    let of_lock: Vec<&String> = site
        .writes
        .iter()
        .filter(|write| write.contains("ConfigMap"))
        .collect();
    assert_eq!(
        of_lock,
        ["delete ConfigMap n/c-lock", "create ConfigMap n/c-lock"]
    );
}

/// Those that `api/bootstrap/kubeadm/v1beta2` and `v1beta1_condition_consts.go` have, and no
/// others.
#[test]
fn reasons_are_those_of_its_api() {
    let mut site = running();
    add_machine(
        &mut site,
        "w",
        false,
        json!({"joinConfiguration": {"controlPlane": {}}}),
    );
    assert_eq!(site.pass("w"), Ended::Rest(None, None));
    let message = "spec.joinConfiguration.controlPlane is set, but the machine is a worker";
    assert_eq!(
        condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "NotAvailable", message])
    );
    assert_eq!(
        older_condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "Warning", "DataSecretGenerationFailed"])
    );
    assert_eq!(
        condition(&site, "w", "CertificatesAvailable"),
        Some(["True", "Available", ""])
    );
    site.merge(
        &Site::config_key("w"),
        &json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}}),
    );
    site.pass("w");
    assert_eq!(
        condition(&site, "w", "Paused"),
        Some([
            "True",
            "Paused",
            "KubeadmConfig has the cluster.x-k8s.io/paused annotation"
        ])
    );
}
