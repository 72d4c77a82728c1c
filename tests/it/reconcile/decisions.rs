//! One situation each, and what comes of it.

use serde_json::{Value, json};
use windlass_capi::api::time::Timestamp;
use windlass_reconcile::{
    Action, Realm, Settings, Step, TOKEN_ALPHABET, TOKEN_LENGTH, World, Write, reconcile,
};

use super::site::{Ended, Site, TTL, key, token_key};
use super::*;

const REST: Ended = Ended::Rest(None, None);
const NOTHING_SAID: Option<[&str; 3]> = None;

fn worker_spec() -> Value {
    json!({"joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [{"name": "v", "value": "4"}]}}})
}

fn control_plane_spec() -> Value {
    json!({"initConfiguration": {"skipPhases": ["addon/kube-proxy"]}, "joinConfiguration": {"nodeRegistration": {"name": "x"}}})
}

fn assert_available(site: &Site, name: &str) {
    let status = &config(site, name)["status"];
    assert_eq!(
        status["initialization"]["dataSecretCreated"], true,
        "{status}"
    );
    assert_eq!(status["dataSecretName"], name);
    assert_eq!(
        status["observedGeneration"],
        config(site, name)["metadata"]["generation"]
    );
    for kind in ["DataSecretAvailable", "CertificatesAvailable"] {
        assert_eq!(
            condition(site, name, kind),
            Some(["True", "Available", ""]),
            "{kind}"
        );
        assert_eq!(
            older_condition(site, name, kind),
            Some(["True", "", ""]),
            "{kind}"
        );
    }
    assert_eq!(condition(site, name, "Ready"), Some(["True", "Ready", ""]));
    assert_eq!(older_condition(site, name, "Ready"), Some(["True", "", ""]));
    assert_eq!(
        condition(site, name, "Paused"),
        Some(["False", "NotPaused", ""])
    );
}

/// Checklist BC-50, BC-52, BC-61: what has no owner, no Cluster, or is gone, is left alone.
#[test]
fn configs_without_owner_or_cluster_are_left_alone() {
    let mut site = with_control_plane();
    assert_eq!(site.pass("nobody"), Ended::Gone);
    add_config(&mut site, "orphan", "MachineSet", worker_spec());
    add_config(&mut site, "early", "Machine", worker_spec());
    add_machine(&mut site, "elsewhere", false, worker_spec());
    site.merge(
        &key(CORE, "Machine", "elsewhere"),
        &json!({"spec": {"clusterName": "other"}}),
    );
    add_machine(&mut site, "going", false, worker_spec());
    site.merge(
        &Site::config_key("going"),
        &json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
    );
    add_machine(&mut site, "machine-going", false, worker_spec());
    site.merge(
        &key(CORE, "Machine", "machine-going"),
        &json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
    );
    add_machine(&mut site, "failed", false, worker_spec());
    site.merge(
        &Site::config_key("failed"),
        &json!({"status": {"deprecated": {"v1beta1": {"failureMessage": "x"}}}}),
    );
    add_machine(&mut site, "failed-too", false, worker_spec());
    site.merge(
        &Site::config_key("failed-too"),
        &json!({"status": {"deprecated": {"v1beta1": {"failureReason": "X"}}}}),
    );
    add_machine(&mut site, "foreign", false, worker_spec());
    let foreign =
        json!([{"apiVersion": "example.com/v1", "kind": "Machine", "name": "foreign", "uid": "u"}]);
    site.merge(
        &Site::config_key("foreign"),
        &json!({"metadata": {"ownerReferences": foreign}}),
    );
    add_machine(&mut site, "homeless", false, worker_spec());
    site.merge(
        &key(CORE, "Machine", "homeless"),
        &json!({"spec": {"clusterName": null}}),
    );
    let names = [
        "orphan",
        "early",
        "elsewhere",
        "going",
        "machine-going",
        "failed",
        "failed-too",
        "foreign",
        "homeless",
    ];
    for name in names {
        assert_eq!(site.pass(name), REST, "{name}");
    }
    add_machine(&mut site, "late", false, worker_spec());
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
    );
    assert_eq!(site.pass("late"), REST);
    assert_eq!(site.writes, Vec::<String>::new());
}

/// Checklist BC-56 to BC-58, CC-71: the Cluster's pause counts as much as the annotation, and
/// nothing but the condition is written.
#[test]
fn paused_configs_say_so_and_nothing_more() {
    for of_cluster in [true, false] {
        let mut site = with_control_plane();
        add_machine(&mut site, "w", false, worker_spec());
        let (paused, on, off, why) = match of_cluster {
            true => (
                key(CORE, "Cluster", "c"),
                json!({"spec": {"paused": true}}),
                json!({"spec": {"paused": null}}),
                "Cluster spec.paused is set to true",
            ),
            false => {
                let annotations = |value| json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": value}}});
                let why = "WindlassConfig has the cluster.x-k8s.io/paused annotation";
                (
                    Site::config_key("w"),
                    annotations(json!("")),
                    annotations(json!(null)),
                    why,
                )
            }
        };
        site.merge(&paused, &on);
        assert_eq!(site.pass("w"), REST);
        assert_eq!(
            condition(&site, "w", "Paused"),
            Some(["True", "Paused", why])
        );
        assert_eq!(
            config(&site, "w")["status"].get("deprecated"),
            None,
            "nothing is known in contract v1beta1"
        );
        assert_eq!(site.writes, ["patch status WindlassConfig n/w"]);
        assert_eq!(
            config(&site, "w")["status"].get("observedGeneration"),
            None,
            "nothing else was looked at"
        );
        site.merge(&paused, &off);
        site.pass("w");
        assert_available(&site, "w");
    }
}

/// As the kubeadm provider was seen to say it.
#[test]
fn the_infrastructure_is_waited_for() {
    let mut site = with_control_plane();
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"status": {"initialization": null}}),
    );
    add_machine(&mut site, "w", false, worker_spec());
    assert_eq!(site.pass("w"), REST);
    let waiting = "Waiting for Cluster status.infrastructureReady to be true";
    assert_eq!(
        condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "NotAvailable", waiting])
    );
    assert_eq!(condition(&site, "w", "CertificatesAvailable"), NOTHING_SAID);
    let summary = format!(
        "* DataSecretAvailable: {waiting}\n* CertificatesAvailable: Condition not yet reported"
    );
    assert_eq!(
        condition(&site, "w", "Ready"),
        Some(["False", "NotReady", summary.as_str()])
    );
    assert_eq!(
        older_condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "Info", "WaitingForClusterInfrastructure"])
    );
    assert_eq!(
        older_condition(&site, "w", "Ready"),
        Some(["False", "Info", "WaitingForClusterInfrastructure"])
    );
    // Nothing new is nothing to write.
    let writes = site.writes.len();
    assert_eq!(site.pass("w"), REST);
    assert_eq!(site.writes.len(), writes);
}

#[test]
fn workers_wait_for_the_control_plane() {
    let mut site = with_cluster();
    add_machine(&mut site, "w", false, worker_spec());
    assert_eq!(site.pass("w"), REST);
    let waiting = "Waiting for Cluster control plane to be initialized";
    assert_eq!(
        condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "NotAvailable", waiting])
    );
    assert_eq!(
        older_condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "Info", "WaitingForControlPlaneAvailable"])
    );
}

/// Checklist BC-45: the Secret, then its name and the flag. Its shape: book, "BootstrapConfig: data
/// secret".
#[test]
fn a_worker_joins_with_a_token() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    assert_eq!(site.pass("w"), Ended::Rest(Some(TTL as u64 / 3), None));
    assert_available(&site, "w");
    let order = [
        "patch WindlassConfig n/w",
        "create Secret kube-system/bootstrap-token-ID of the workload cluster",
        "create Secret n/w",
        "patch status WindlassConfig n/w",
    ];
    let token = token(&site, "w").unwrap().to_owned();
    let (id, private) = token.split_once('.').unwrap();
    assert_eq!([id.len(), private.len()], TOKEN_LENGTH);
    assert!(
        id.bytes()
            .chain(private.bytes())
            .all(|byte| TOKEN_ALPHABET.contains(&byte)),
        "{token}"
    );
    assert_eq!(
        site.writes
            .iter()
            .map(|write| write.replace(id, "ID"))
            .collect::<Vec<_>>(),
        order
    );
    // What nobody can have made yet is not asked for.
    assert_eq!(site.reads, ["Machine n/w", "Cluster n/c", "Secret n/c-ca"]);

    let secret = site.get(&key("", "Secret", "w")).unwrap();
    assert_eq!(secret["type"], "cluster.x-k8s.io/secret");
    assert_eq!(
        secret["metadata"]["labels"],
        json!({"cluster.x-k8s.io/cluster-name": "c"})
    );
    let owner = json!([{
        "apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfig", "name": "w", "controller": true,
        "uid": config(&site, "w")["metadata"]["uid"],
    }]);
    assert_eq!(secret["metadata"]["ownerReferences"], owner);
    assert_eq!(
        secret["metadata"].get("annotations"),
        None,
        "only that of a pool says which token it has"
    );
    assert_eq!(
        secret["data"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["value"]
    );
    let data = data(&site, "w").unwrap();
    assert!(
        data.starts_with("## template: jinja\n#cloud-config\n")
            && data.contains(&format!("token: {token}")),
        "{data}"
    );
    assert!(
        data.contains("apiServerEndpoint: 10.0.0.1:6443")
            && data.contains("caCertHashes:\n          - sha256:"),
        "{data}"
    );

    let secret = site.get(&token_key(id)).unwrap();
    assert_eq!(secret["type"], "bootstrap.kubernetes.io/token");
    let expires = windlass_capi::api::time::Timestamp::of_second(site.now + TTL).to_string();
    for (key, text) in [
        ("token-id", id),
        ("token-secret", private),
        ("expiration", &expires),
        ("usage-bootstrap-signing", "true"),
        ("usage-bootstrap-authentication", "true"),
        (
            "auth-extra-groups",
            "system:bootstrappers:kubeadm:default-node-token",
        ),
    ] {
        assert_eq!(decoded(&secret["data"][key]), text, "{key}");
    }
}

/// One init, with certificates that are made where no control plane object makes them; the lock is
/// the kubeadm provider's.
#[test]
fn the_first_control_plane_machine_inits_and_the_others_wait() {
    let mut site = with_cluster();
    for name in ["a", "b"] {
        add_machine(&mut site, name, true, control_plane_spec());
    }
    assert_eq!(site.pass("a"), REST);
    assert_available(&site, "a");
    let lock = site.get(&key("", "ConfigMap", "c-lock")).unwrap();
    assert_eq!(lock["data"]["lock-information"], r#"{"machineName":"a"}"#);
    assert_eq!(
        lock["metadata"]["labels"],
        json!({"cluster.x-k8s.io/cluster-name": "c"})
    );
    for purpose in ["ca", "etcd", "proxy", "sa"] {
        let secret = site
            .get(&key("", "Secret", &format!("c-{purpose}")))
            .unwrap();
        assert_eq!(secret["type"], "cluster.x-k8s.io/secret", "{purpose}");
        assert_eq!(
            secret["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"], "c",
            "managers do not see it without"
        );
        assert_eq!(
            secret["metadata"]["ownerReferences"][0]["kind"], "Cluster",
            "they outlive the machine"
        );
    }
    let first = data(&site, "a").unwrap();
    assert!(
        first.contains("kubeadm init") && first.contains("/etc/kubernetes/pki/etcd/ca.key"),
        "{first}"
    );

    assert_eq!(site.pass("b"), Ended::Rest(Some(30), None));
    assert_eq!(data(&site, "b"), None);
    let [_, _, message] = condition(&site, "b", "DataSecretAvailable").unwrap();
    assert_eq!(
        message,
        "Waiting for Cluster control plane to be initialized: Machine a initializes it"
    );

    initialize(&mut site);
    site.pass("a");
    assert_eq!(
        site.get(&key("", "ConfigMap", "c-lock")),
        None,
        "its holder gives it back"
    );
    site.pass("b");
    assert_available(&site, "b");
    assert!(
        data(&site, "b").unwrap().contains("kubeadm join"),
        "{}",
        data(&site, "b").unwrap()
    );
}

/// A controller whose cache lags behind finds the lock free because the cluster has begun; it looks
/// again before it tells a second machine to init.
#[test]
fn nobody_inits_a_cluster_that_has_begun_while_the_cache_lagged_behind() {
    let mut site = with_cluster();
    for name in ["a", "b"] {
        add_machine(&mut site, name, true, control_plane_spec());
    }
    site.pass("a");
    site.remember();
    initialize(&mut site);
    site.pass("a");
    assert_eq!(site.get(&key("", "ConfigMap", "c-lock")), None);
    let writes = site.writes.len();
    site.pass_behind("b", usize::MAX);
    assert!(
        data(&site, "b").unwrap().contains("kubeadm join"),
        "{}",
        data(&site, "b").unwrap()
    );
    assert_eq!(
        site.get(&key("", "ConfigMap", "c-lock")),
        None,
        "it is given back"
    );
    assert_eq!(
        site.writes[writes..writes + 2],
        ["create ConfigMap n/c-lock", "delete ConfigMap n/c-lock"]
    );
    assert_eq!(
        site.reads
            .iter()
            .filter(|read| read.ends_with(", confirmed"))
            .count(),
        2,
        "once for each that would init"
    );
}

/// A lock of a Cluster that is gone goes with it, and meanwhile it is nobody's: who took it for its
/// own would lose it to another machine.
#[test]
fn the_lock_of_an_earlier_cluster_is_not_taken_over() {
    let mut site = with_cluster();
    for name in ["a", "b"] {
        add_machine(&mut site, name, true, control_plane_spec());
    }
    let lock = key("", "ConfigMap", "c-lock");
    let owner = json!([{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c", "uid": "earlier"}]);
    site.put(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c-lock", "ownerReferences": owner},
        "data": {"lock-information": r#"{"machineName":"a"}"#},
    }));
    for name in ["a", "b"] {
        assert_eq!(site.pass(name), Ended::Rest(Some(30), None), "{name}");
        let [_, _, message] = condition(&site, name, "DataSecretAvailable").unwrap();
        assert!(
            message.contains("ConfigMap n/c-lock is of an earlier Cluster of that name"),
            "{message}"
        );
    }
    assert!(site.get(&lock).is_some() && data(&site, "a").is_none() && data(&site, "b").is_none());
    site.remove(&lock);
    site.pass("b");
    site.pass("a");
    assert!(data(&site, "b").unwrap().contains("kubeadm init") && data(&site, "a").is_none());
}

/// The last request of a controller that was ended may arrive when nobody waits for it any more:
/// the machine lost the lock meanwhile, and another one begins the cluster, or has begun it.
#[test]
fn init_data_that_was_written_too_late_is_not_given_out() {
    for has_begun in [false, true] {
        let mut site = with_cluster();
        for name in ["a", "b"] {
            add_machine(&mut site, name, true, control_plane_spec());
        }
        let lock = key("", "ConfigMap", "c-lock");
        end_before(&mut site, "a", "create Secret n/a");
        // People do, and so does a pass that cannot render any more.
        site.remove(&lock);
        site.pass("b");
        assert_available(&site, "b");
        if has_begun {
            initialize(&mut site);
        }
        site.arrive();
        assert!(data(&site, "a").unwrap().contains("kubeadm init"));
        site.pass("a");
        assert_eq!(
            config(&site, "a")["status"].get("dataSecretName").is_some(),
            has_begun
        );
        if !has_begun {
            let [_, _, message] = condition(&site, "a", "DataSecretAvailable").unwrap();
            assert_eq!(
                message,
                "Waiting for Cluster control plane to be initialized: Machine b initializes it"
            );
            initialize(&mut site);
            site.pass("a");
        }
        assert_available(&site, "a");
        assert!(
            data(&site, "a").unwrap().contains("kubeadm join")
                && data(&site, "a")
                    .unwrap()
                    .contains(token(&site, "a").unwrap())
        );
    }
}

/// Lets a controller end as it sends that write.
fn end_before(site: &mut Site, name: &str, write: &str) {
    let wanted = |site: &Site| site.writes.iter().any(|written| written == write);
    for requests in 0..60 {
        let mut tried = site.clone();
        if tried.pass_until(name, requests) == Ended::Killed {
            let mut arrived = tried.clone();
            arrived.arrive();
            if wanted(&arrived) {
                *site = tried;
                return;
            }
        }
    }
    panic!("it never comes to {write}")
}

/// The controller was ended as it gave the lock back, took it for the same machine in the next
/// pass, and then its request arrives.
#[test]
fn a_lock_that_was_given_back_too_late_is_not_lost() {
    for has_data in [false, true] {
        let mut site = with_cluster();
        for name in ["a", "b"] {
            add_machine(&mut site, name, true, control_plane_spec());
        }
        end_before(
            &mut site,
            "a",
            if has_data {
                "patch status WindlassConfig n/a"
            } else {
                "create Secret n/a"
            },
        );
        let secret = site.get(&key("", "Secret", "a")).cloned();
        if has_data {
            site.remove(&key("", "Secret", "a"));
        }
        site.merge(
            &Site::config_key("a"),
            &json!({"spec": {"maxDataBytes": 10}}),
        );
        end_before(&mut site, "a", "delete ConfigMap n/c-lock");
        site.merge(
            &Site::config_key("a"),
            &json!({"spec": {"maxDataBytes": null}}),
        );
        secret.map(|secret| site.insert(&key("", "Secret", "a"), secret));
        site.pass("a");
        assert_available(&site, "a");
        site.arrive();
        assert_eq!(
            site.get(&key("", "ConfigMap", "c-lock")).unwrap()["data"]["lock-information"],
            r#"{"machineName":"a"}"#
        );
        site.pass("b");
        assert_eq!(data(&site, "b"), None);
    }
}

/// A machine that was told to init keeps its lock as it is, whatever becomes of its data.
#[test]
fn the_lock_of_a_machine_that_was_told_to_init_is_not_given_up_for_a_moment() {
    let mut site = with_cluster();
    add_machine(&mut site, "a", true, control_plane_spec());
    site.pass("a");
    let (lock, writes) = (
        site.get(&key("", "ConfigMap", "c-lock")).cloned(),
        site.writes.len(),
    );
    site.remove(&key("", "Secret", "a"));
    site.pass("a");
    assert!(data(&site, "a").unwrap().contains("kubeadm init"));
    assert_eq!(site.get(&key("", "ConfigMap", "c-lock")).cloned(), lock);
    assert!(
        !site.writes[writes..]
            .iter()
            .any(|write| write.contains("ConfigMap")),
        "{:?}",
        site.writes
    );
}

/// A token of the user's in both parts of a config is in its init data too.
#[test]
fn init_data_with_the_token_of_the_join_is_not_taken_for_a_join() {
    let mut site = with_cluster();
    let token = "abcdef.0123456789abcdef";
    let both = json!({
        "initConfiguration": {"bootstrapTokens": [{"token": token}]},
        "joinConfiguration": {"discovery": {"bootstrapToken": {"token": token}}},
    });
    add_machine(&mut site, "a", true, both);
    end_before(&mut site, "a", "create Secret n/a");
    site.arrive();
    assert!(
        data(&site, "a").unwrap().contains("kubeadm init")
            && data(&site, "a").unwrap().contains(token)
    );
    initialize(&mut site);
    site.pass("a");
    assert_available(&site, "a");
    assert!(data(&site, "a").unwrap().contains("kubeadm join"));
}

/// Init data whose machine holds no lock any more: it takes it again, and looks whether the cluster
/// has begun meanwhile.
#[test]
fn init_data_is_given_out_under_the_lock() {
    let with_data = || {
        let mut site = with_cluster();
        add_machine(&mut site, "a", true, control_plane_spec());
        end_before(&mut site, "a", "patch status WindlassConfig n/a");
        site.remove(&key("", "ConfigMap", "c-lock"));
        site
    };
    let mut site = with_data();
    let before = data(&site, "a");
    site.pass("a");
    assert_available(&site, "a");
    assert_eq!(data(&site, "a"), before);
    assert!(site.get(&key("", "ConfigMap", "c-lock")).is_some());

    let mut site = with_data();
    site.remember();
    initialize(&mut site);
    site.pass_behind("a", usize::MAX);
    assert_available(&site, "a");
    assert!(data(&site, "a").unwrap().contains("kubeadm join"));
    assert_eq!(
        site.get(&key("", "ConfigMap", "c-lock")),
        None,
        "it is given back"
    );
}

/// A worker with data can join; that its cluster has not begun is a cache that lags behind, or
/// another cluster.
#[test]
fn data_of_a_worker_is_reported_once_its_cluster_has_begun() {
    let with_data = || {
        let mut site = with_cluster();
        site.remember();
        initialize(&mut site);
        for purpose in ["ca", "etcd", "proxy", "sa"] {
            let metadata = json!({"name": format!("c-{purpose}")});
            site.put(
                json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": metadata, "data": key_pair()}),
            );
        }
        add_machine(&mut site, "w", false, worker_spec());
        end_before(&mut site, "w", "patch status WindlassConfig n/w");
        site
    };
    let mut site = with_data();
    site.pass_behind("w", usize::MAX);
    assert_available(&site, "w");

    let mut site = with_data();
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"status": {"conditions": null}}),
    );
    assert_eq!(site.pass("w"), REST);
    assert_eq!(
        condition(&site, "w", "DataSecretAvailable").unwrap()[1],
        "NotAvailable"
    );
    let before = data(&site, "w");
    initialize(&mut site);
    site.pass("w");
    assert_available(&site, "w");
    assert_eq!(data(&site, "w"), before);
}

/// A backup has no status, and the cached Machine does not say yet that it was given its data.
#[test]
fn data_that_a_machine_was_given_is_not_made_again() {
    let mut site = with_cluster();
    add_machine(&mut site, "a", true, control_plane_spec());
    site.pass("a");
    site.remember();
    site.merge(
        &key(CORE, "Machine", "a"),
        &json!({"spec": {"bootstrap": {"dataSecretName": "a"}}}),
    );
    initialize(&mut site);
    site.merge(&Site::config_key("a"), &json!({"status": null}));
    let (before, writes) = (data(&site, "a"), site.writes.len());
    site.cached = site.remembered.clone().map(|cached| {
        cached
            .into_iter()
            .filter(|(key, _)| key.kind == "Machine")
            .collect()
    });
    site.pass("a");
    site.cached = None;
    assert_available(&site, "a");
    assert_eq!(data(&site, "a"), before);
    // Nor is a token made for it.
    assert_eq!(
        site.writes[writes..],
        [
            "patch status WindlassConfig n/a",
            "delete ConfigMap n/c-lock"
        ]
    );
}

/// Nor is that of one that joined, although its config has changed since.
#[test]
fn join_data_that_a_machine_was_given_is_not_made_again() {
    let mut site = with_control_plane();
    add_machine(&mut site, "a", true, control_plane_spec());
    site.pass("a");
    let before = data(&site, "a");
    site.remember();
    site.merge(
        &key(CORE, "Machine", "a"),
        &json!({"spec": {"bootstrap": {"dataSecretName": "a"}}}),
    );
    site.merge(
        &Site::config_key("a"),
        &json!({"spec": {"verbosity": 3}, "status": null}),
    );
    site.pass_behind("a", usize::MAX);
    assert_available(&site, "a");
    assert_eq!(data(&site, "a"), before);
    // While no machine was given it, it is made anew from what the config says now.
    site.merge(
        &key(CORE, "Machine", "a"),
        &json!({"spec": {"bootstrap": null}}),
    );
    site.merge(&Site::config_key("a"), &json!({"status": null}));
    site.pass("a");
    assert_available(&site, "a");
    assert_ne!(data(&site, "a"), before);
}

/// Whose data needs no token to be good has it compared: it may have been made to begin the
/// cluster.
#[test]
fn data_of_a_control_plane_machine_is_compared_where_no_token_tells() {
    let mut site = with_control_plane();
    let discovery = json!({"discovery": {"file": {"kubeConfigPath": "/k"}}});
    add_machine(
        &mut site,
        "a",
        true,
        json!({"joinConfiguration": discovery}),
    );
    end_before(&mut site, "a", "patch status WindlassConfig n/a");
    let (before, writes) = (data(&site, "a"), site.writes.len());
    assert_eq!(site.pass("a"), REST);
    assert_available(&site, "a");
    assert_eq!(data(&site, "a"), before);
    assert_eq!(site.writes[writes..], ["patch status WindlassConfig n/a"]);
}

/// A cache that lags behind does not have the Machine yet that holds the lock.
#[test]
fn the_lock_is_not_taken_from_a_machine_that_a_cache_does_not_have_yet() {
    let mut site = with_cluster();
    for name in ["a", "b"] {
        add_machine(&mut site, name, true, control_plane_spec());
    }
    site.pass("a");
    site.cached = Some([(key(CORE, "Machine", "a"), None)].into());
    assert_eq!(site.pass("b"), Ended::Rest(Some(30), None));
    assert_eq!(data(&site, "b"), None);
    assert_eq!(
        site.get(&key("", "ConfigMap", "c-lock")).unwrap()["data"]["lock-information"],
        r#"{"machineName":"a"}"#
    );
}

/// Machine and config were made anew under their names, and the cache still has the Machine that
/// was given data.
#[test]
fn the_data_of_a_machine_that_is_gone_is_not_that_of_its_successor() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    site.pass("w");
    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"spec": {"bootstrap": {"dataSecretName": "w"}}}),
    );
    let first = data(&site, "w");
    site.remember();
    for gone in [key(CORE, "Machine", "w"), Site::config_key("w")] {
        site.remove(&gone);
    }
    add_machine(&mut site, "w", false, worker_spec());
    while site.pass_behind("w", usize::MAX) == Ended::Conflict {}
    assert_available(&site, "w");
    assert_ne!(data(&site, "w"), first);
    assert!(
        data(&site, "w")
            .unwrap()
            .contains(token(&site, "w").unwrap())
    );
}

#[test]
fn the_lock_of_a_machine_that_is_gone_is_taken_over() {
    let mut site = with_cluster();
    add_machine(&mut site, "a", true, control_plane_spec());
    add_machine(&mut site, "b", true, control_plane_spec());
    site.pass("a");
    site.pass("b");
    for gone in [
        key(CORE, "Machine", "a"),
        Site::config_key("a"),
        key("", "Secret", "a"),
    ] {
        site.remove(&gone);
    }
    site.pass("b");
    assert_available(&site, "b");
    assert_eq!(
        site.get(&key("", "ConfigMap", "c-lock")).unwrap()["data"]["lock-information"],
        r#"{"machineName":"b"}"#
    );
}

/// The control plane object makes them; data without them would make a cluster of its own.
#[test]
fn certificates_of_a_control_plane_object_are_waited_for() {
    let mut site = with_cluster();
    let reference = json!({"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "k"});
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"spec": {"controlPlaneRef": reference}}),
    );
    add_machine(&mut site, "a", true, control_plane_spec());
    let missing = "Secret n/c-ca is not there; the creator of the control plane makes it";
    assert_eq!(site.pass("a"), Ended::Rest(None, Some(missing.to_owned())));
    assert_eq!(
        condition(&site, "a", "CertificatesAvailable"),
        Some(["Unknown", "InternalError", missing])
    );
    assert_eq!(
        older_condition(&site, "a", "CertificatesAvailable"),
        Some(["False", "Warning", "CertificatesGenerationFailed"])
    );
    let summary = format!(
        "* DataSecretAvailable: Condition not yet reported\n* CertificatesAvailable: {missing}"
    );
    assert_eq!(
        condition(&site, "a", "Ready"),
        Some(["Unknown", "ReadyUnknown", summary.as_str()])
    );
    assert_eq!(site.get(&key("", "ConfigMap", "c-lock")), None);
    assert_eq!(config(&site, "a")["status"].get("observedGeneration"), None);
}

/// Only a change of the object helps; no token was made for it, no lock taken.
#[test]
fn what_cannot_be_rendered_says_so_before_anything_is_made() {
    let mut site = with_control_plane();
    add_machine(
        &mut site,
        "w",
        false,
        json!({"joinConfiguration": {"controlPlane": {}}}),
    );
    assert_eq!(site.pass("w"), REST);
    let [status, reason, message] = condition(&site, "w", "DataSecretAvailable").unwrap();
    assert_eq!([status, reason], ["False", "InvalidConfiguration"]);
    assert_eq!(
        message,
        "spec.joinConfiguration.controlPlane is set, but the machine is a worker"
    );
    assert_eq!(
        older_condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "Error", "InvalidConfiguration"])
    );
    assert_eq!(token(&site, "w"), None);
    assert_eq!(site.of_kind(Realm::Workload, "Secret").count(), 0);

    add_machine(
        &mut site,
        "large",
        false,
        json!({"maxDataBytes": 10, "joinConfiguration": {"nodeRegistration": {"name": "x"}}}),
    );
    site.pass("large");
    let [status, reason, message] = condition(&site, "large", "DataSecretAvailable").unwrap();
    assert_eq!([status, reason], ["False", "DataTooLarge"]);
    assert!(message.contains("spec.maxDataBytes is 10"), "{message}");
    assert_eq!(data(&site, "large"), None);

    let mut site = with_cluster();
    add_machine(
        &mut site,
        "a",
        true,
        json!({"platform": "windows", "initConfiguration": {"skipPhases": ["a"]}}),
    );
    site.pass("a");
    assert_eq!(
        condition(&site, "a", "DataSecretAvailable").unwrap()[1],
        "InvalidConfiguration"
    );
    assert_eq!(site.get(&key("", "ConfigMap", "c-lock")), None);
}

#[test]
fn contents_that_are_missing_are_told_in_upstreams_words_and_asked_for_again() {
    let mut site = with_control_plane();
    let file = json!({"path": "/a", "contentFrom": {"secret": {"name": "s", "key": "k"}}});
    add_machine(
        &mut site,
        "w",
        false,
        json!({"files": [file], "joinConfiguration": {"nodeRegistration": {"name": "x"}}}),
    );
    let Ended::Rest(None, Some(fault)) = site.pass("w") else {
        panic!("it looks again")
    };
    assert!(
        fault.starts_with(
            "Failed to prepare spec.files: failed to resolve file source: secret not found: n/s"
        ),
        "{fault}"
    );
    assert_eq!(
        condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "NotAvailable", fault.as_str()])
    );
    assert_eq!(
        older_condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "Warning", "DataSecretGenerationFailed"])
    );
    site.put(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "from-secret"}}));
    site.pass("w");
    assert!(data(&site, "w").unwrap().contains("from-secret"));
}

#[test]
fn a_cluster_that_does_not_answer_is_told() {
    let mut site = with_control_plane();
    site.reachable = false;
    add_machine(&mut site, "w", false, worker_spec());
    let Ended::Rest(None, Some(fault)) = site.pass("w") else {
        panic!("it looks again")
    };
    assert!(
        fault.contains("of the workload cluster: no answer"),
        "{fault}"
    );
    assert_eq!(
        condition(&site, "w", "DataSecretAvailable"),
        Some(["False", "NotAvailable", fault.as_str()])
    );
    // The token is in the spec, and the next one looks before it makes it.
    let promised = token(&site, "w").unwrap().to_owned();
    assert!(fault.starts_with("cannot create Secret"), "{fault}");
    let Ended::Rest(None, Some(fault)) = site.pass("w") else {
        panic!("it looks again")
    };
    assert!(fault.starts_with("cannot read Secret"), "{fault}");
    assert_eq!(token(&site, "w"), Some(promised.as_str()));
    // What is there stays there.
    site.reachable = true;
    site.pass("w");
    site.reachable = false;
    assert!(matches!(site.pass("w"), Ended::Rest(None, Some(_))));
    assert_available(&site, "w");
}

/// Discovery with a file needs no token, and so no workload cluster.
#[test]
fn discovery_with_a_file_makes_no_token() {
    let mut site = with_control_plane();
    site.reachable = false;
    add_machine(
        &mut site,
        "w",
        false,
        json!({"joinConfiguration": {"discovery": {"file": {"kubeConfigPath": "/etc/k"}}}}),
    );
    assert_eq!(site.pass("w"), REST);
    assert_available(&site, "w");
}

/// Files with so many bytes together, 10,000 each.
fn files(bytes: usize) -> Value {
    (0..bytes / 10_000)
        .map(|at| json!({"path": format!("/{at}"), "content": "a".repeat(10_000)}))
        .collect()
}

/// Data above what the infrastructure takes is said once, and stored: `maxDataBytes` is the limit
/// that rejects.
#[test]
fn data_that_the_infrastructure_may_not_take_is_told() {
    let large = |bytes: usize| json!({"files": files(bytes), "joinConfiguration": {}});
    let told = |kind: &str, spec: &Value| {
        let mut site = with_control_plane();
        add_machine(&mut site, "w", false, spec.clone());
        let reference =
            json!({"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": kind, "name": "w"});
        site.merge(
            &key(CORE, "Machine", "w"),
            &json!({"spec": {"infrastructureRef": reference}}),
        );
        site.pass("w");
        assert_available(&site, "w");
        site.pass("w");
        site.events.clone()
    };
    assert_eq!(told("HCloudMachine", &large(40_000)), ["DataMayBeTooLarge"]);
    assert!(told("HCloudMachine", &large(20_000)).is_empty());
    // Its provider compresses it; what no compression makes smaller it keeps in Secrets Manager or
    // S3, but for pools.
    assert!(told("AWSMachine", &large(40_000)).is_empty());
    // Marsaglia's xorshift.
    let step = |state: &u64| {
        let state = state ^ (state << 13);
        let state = state ^ (state >> 7);
        Some(state ^ (state << 17))
    };
    let letters = std::iter::successors(Some(88_172_645_463_325_252_u64), step)
        .map(|state| char::from(b'0' + (state % 75) as u8));
    let letters: Vec<char> = letters.take(40_000).collect();
    let file = |(at, part): (usize, &[char])| json!({"path": format!("/{at}"), "content": part.iter().collect::<String>()});
    let mut noise = large(0);
    noise["files"] = letters.chunks(10_000).enumerate().map(file).collect();
    assert!(told("AWSMachine", &noise).is_empty());
    assert_eq!(told("AWSMachinePool", &noise), ["DataMayBeTooLarge"]);
    assert!(told("UnknownMachine", &large(100_000)).is_empty());
    let mut limited = large(40_000);
    limited["maxDataBytes"] = json!(100_000);
    assert!(told("HCloudMachine", &limited).is_empty());
}

/// A pool's data is written anew with each token; that it is large is said once.
#[test]
fn data_of_a_pool_is_told_once() {
    let mut site = with_control_plane();
    add_pool(&mut site, "p", 1);
    let reference = json!({"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "LinodeMachinePool", "name": "p"});
    site.merge(
        &key(CORE, "MachinePool", "p"),
        &json!({"spec": {"template": {"spec": {"infrastructureRef": reference}}}}),
    );
    site.merge(
        &key("bootstrap.windlass.dev", "WindlassConfig", "p"),
        &json!({"spec": {"files": files(20_000)}}),
    );
    site.pass("p");
    let before = data(&site, "p");
    site.merge(
        &key(CORE, "MachinePool", "p"),
        &json!({"status": {"nodeRefs": [{"name": "x"}]}}),
    );
    site.now += TTL / 2 + 1;
    site.pass("p");
    assert!(data(&site, "p") != before, "it has another token");
    assert_eq!(site.events, ["DataMayBeTooLarge"]);
}

/// Refreshed from a sixth of its time on until the machine is a node; gone before that, it comes
/// back as it was.
#[test]
fn the_token_of_a_machine_lives_until_it_joins() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    site.pass("w");
    let id = token(&site, "w")
        .unwrap()
        .split_once('.')
        .unwrap()
        .0
        .to_owned();
    let expiration =
        |site: &Site| decoded(&site.get(&token_key(&id)).unwrap()["data"]["expiration"]);
    let at = |second| windlass_capi::api::time::Timestamp::of_second(second).to_string();
    let born = site.now;
    site.now = born + TTL / 6 - 1;
    site.pass("w");
    assert_eq!(expiration(&site), at(born + TTL));
    site.now = born + TTL / 6;
    site.pass("w");
    assert_eq!(expiration(&site), at(site.now + TTL));

    let before = data(&site, "w");
    site.remove(&token_key(&id));
    site.pass("w");
    assert_eq!(expiration(&site), at(site.now + TTL));
    assert_eq!(data(&site, "w"), before);
    assert_eq!(site.events, ["BootstrapTokenRecreated"]);

    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"status": {"nodeRef": {"name": "w"}}}),
    );
    site.remove(&token_key(&id));
    assert_eq!(site.pass("w"), REST);
    assert_eq!(site.get(&token_key(&id)), None);
}

#[test]
fn a_token_of_the_users_is_used_and_one_that_is_none_is_rejected() {
    let with_token = |token: &str| json!({"joinConfiguration": {"discovery": {"bootstrapToken": {"token": token}}}});
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, with_token("abcdef.0123456789abcdef"));
    site.pass("w");
    assert_available(&site, "w");
    assert!(site.get(&token_key("abcdef")).is_some());
    add_machine(&mut site, "y", false, with_token("abcdef.0123456789abcde"));
    site.pass("y");
    assert_eq!(
        condition(&site, "y", "DataSecretAvailable").unwrap()[1],
        "InvalidConfiguration"
    );
    add_machine(&mut site, "x", false, with_token("ABCDEF.0123456789abcdef"));
    site.pass("x");
    assert_eq!(
        condition(&site, "x", "DataSecretAvailable").unwrap()[1],
        "InvalidConfiguration"
    );
    assert!(!condition(&site, "x", "DataSecretAvailable").unwrap()[2].contains("ABCDEF"));
}

/// Checklist BC-46, BC-38: after a move the status is empty, and the machine says what it has.
#[test]
fn after_a_move_the_status_is_that_of_the_machine() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"spec": {"bootstrap": {"dataSecretName": "elsewhere"}}}),
    );
    assert_eq!(site.pass("w"), REST);
    assert_eq!(config(&site, "w")["status"]["dataSecretName"], "elsewhere");
    assert_eq!(
        config(&site, "w")["status"]["initialization"]["dataSecretCreated"],
        true
    );
    assert_eq!(data(&site, "w"), None);
}

/// Checklist BC-47, BC-48: the reference is restored, in the newest version; others stay.
#[test]
fn the_secret_gets_its_controller_back() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    site.pass("w");
    let secret = key("", "Secret", "w");
    let before = site.get(&secret).unwrap()["metadata"]["ownerReferences"].clone();
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"});
    let older = json!({
        "apiVersion": "bootstrap.windlass.dev/v1beta1", "kind": "WindlassConfig", "name": "w", "controller": true,
        "uid": before[0]["uid"],
    });
    for broken in [json!([]), json!([other]), json!([older, other])] {
        let others = broken
            .as_array()
            .unwrap()
            .iter()
            .filter(|reference| **reference == other)
            .count();
        site.merge(&secret, &json!({"metadata": {"ownerReferences": broken}}));
        site.pass("w");
        let references = site.get(&secret).unwrap()["metadata"]["ownerReferences"]
            .as_array()
            .unwrap()
            .clone();
        assert!(
            references.contains(&before[0]) && references.len() == 1 + others,
            "{references:?}"
        );
    }
}

#[test]
fn a_secret_of_somebody_else_is_not_touched() {
    let foreign = json!([{"apiVersion": "x/v1", "kind": "Other", "name": "o", "uid": "o", "controller": true}]);
    let secret = |kind: &str, references: &Value| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": kind, "data": {"value": "eA=="},
            "metadata": {"name": "w", "ownerReferences": references},
        })
    };
    for (secret, said) in [
        (
            secret("cluster.x-k8s.io/secret", &foreign),
            "it is already controlled by Other o",
        ),
        (
            secret("Opaque", &json!([])),
            "has a different type than cluster.x-k8s.io/secret",
        ),
    ] {
        let mut site = with_control_plane();
        add_machine(&mut site, "w", false, worker_spec());
        site.put(secret);
        // That of a worker without a token is not looked for before it is made.
        assert_eq!(site.pass("w"), Ended::Conflict);
        let writes = site.writes.len();
        let Ended::Rest(None, Some(fault)) = site.pass("w") else {
            panic!("it looks again")
        };
        assert!(fault.contains(said), "{fault}");
        assert_eq!(
            decoded(&site.get(&key("", "Secret", "w")).unwrap()["data"]["value"]),
            "x"
        );
        assert_eq!(site.writes[writes..], ["patch status WindlassConfig n/w"]);
        assert_eq!(site.tokens.len(), 1);
    }
}

/// A Machine of the same name was there before: its data is not this one's.
#[test]
fn the_secret_of_a_predecessor_is_written_anew() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    let former = json!([{"apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfig", "name": "w", "uid": "former", "controller": true}]);
    site.put(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "data": {"value": "eA=="},
        "metadata": {"name": "w", "ownerReferences": former},
    }));
    assert_eq!(
        site.pass("w"),
        Ended::Conflict,
        "it is not looked for before it is made"
    );
    site.pass("w");
    assert_available(&site, "w");
    assert!(data(&site, "w").unwrap().contains("kubeadm join"));
    assert_eq!(site.tokens.len(), 1);
}

/// The same data in the Secret of a predecessor would go with it.
#[test]
fn the_secret_of_a_predecessor_is_written_anew_although_it_is_equal() {
    let mut site = with_control_plane();
    let by_file = json!({"joinConfiguration": {"discovery": {"file": {"kubeConfigPath": "/k"}}}});
    add_machine(&mut site, "w", false, by_file.clone());
    site.pass("w");
    let before = data(&site, "w");
    for gone in [key(CORE, "Machine", "w"), Site::config_key("w")] {
        site.remove(&gone);
    }
    add_machine(&mut site, "w", false, by_file);
    let writes = site.writes.len();
    site.pass("w");
    assert_available(&site, "w");
    assert_eq!(data(&site, "w"), before);
    assert_eq!(
        site.writes[writes..],
        ["update Secret n/w", "patch status WindlassConfig n/w"]
    );
    let controller = &site.get(&key("", "Secret", "w")).unwrap()["metadata"]["ownerReferences"][0];
    assert_eq!(controller["uid"], config(&site, "w")["metadata"]["uid"]);
}

/// The data is rendered before the token is in the spec, and taken once it is there. Whoever begins
/// anew renders the same.
#[test]
fn data_is_the_same_wherever_the_pass_began() {
    for kubeadm in [false, true] {
        let mut site = with_control_plane();
        site.kubeadm = kubeadm;
        let content = json!([{"path": "/etc/a", "content": "x", "permissions": "0600"}]);
        let spec = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}, "files": content, "preKubeadmCommands": ["true"]});
        add_machine(&mut site, "w", false, spec);
        site.pass("w");
        let before = data(&site, "w").unwrap();
        assert!(before.contains(token(&site, "w").unwrap()));
        site.remove(&key("", "Secret", "w"));
        site.pass("w");
        assert_eq!(data(&site, "w"), Some(before));
    }
}

/// What changes in the spec while the token is written is in the data.
#[test]
fn what_is_written_beside_the_token_counts() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    let given = site.get(&Site::config_key("w")).unwrap().clone();
    let settings = Settings {
        token_ttl: TTL,
        machine_pools: true,
    };
    let mut world = World::new(given, "abcdef.0123456789abcdef".to_owned());
    let rendered = loop {
        match reconcile(&world, &settings, Timestamp::of_second(site.now)) {
            Step::Read(keys) => keys.into_iter().for_each(|key| {
                let found = site.get(&key).cloned();
                world.observe_value(key, found);
            }),
            Step::Write(write) if write.key == Site::config_key("w") => {
                // A webhook of somebody else's adds a command to the same request.
                let patch = json!({"spec": {
                    "preKubeadmCommands": ["echo added"],
                    "joinConfiguration": {"discovery": {"bootstrapToken": {"token": "abcdef.0123456789abcdef"}}},
                }});
                site.merge(&Site::config_key("w"), &patch);
                world.observe_config(config(&site, "w").clone());
            }
            Step::Write(Write {
                key,
                action: Action::Create(object),
                ..
            }) if key.realm == Realm::Workload => {
                world.observe_value(key, Some(object));
            }
            Step::Write(Write {
                action: Action::Create(secret),
                ..
            }) => break decoded(&secret["data"]["value"]),
            other => panic!("{other:?}"),
        }
    };
    assert!(
        rendered.contains("echo added") && rendered.contains("abcdef.0123456789abcdef"),
        "{rendered}"
    );
}

/// Checklist BC-65, BC-69: nothing that is changed later makes new data.
#[test]
fn a_change_after_the_data_is_there_makes_no_new_data() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    site.pass("w");
    let (before, writes) = (data(&site, "w"), site.writes.len());
    site.merge(
        &Site::config_key("w"),
        &json!({"metadata": {"labels": {"a": "b"}}, "spec": {"verbosity": 5}}),
    );
    site.pass("w");
    assert_eq!(data(&site, "w"), before);
    assert_eq!(
        site.writes[writes..],
        ["patch status WindlassConfig n/w"],
        "the generation that was seen"
    );
}

#[test]
fn data_that_is_lost_before_the_machine_joins_is_made_again_with_its_token() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, worker_spec());
    site.pass("w");
    let before = data(&site, "w");
    site.remove(&key("", "Secret", "w"));
    site.pass("w");
    assert_eq!(data(&site, "w"), before);
    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"status": {"nodeRef": {"name": "w"}}}),
    );
    site.remove(&key("", "Secret", "w"));
    site.pass("w");
    assert_eq!(data(&site, "w"), None, "nobody needs it any more");
}

/// As with Cluster API's own feature gate of that name.
#[test]
fn pools_have_a_gate() {
    let mut site = with_control_plane();
    add_pool(&mut site, "p", 1);
    site.machine_pools = false;
    assert_eq!(site.pass("p"), REST);
    assert_eq!(site.writes, Vec::<String>::new());
    site.machine_pools = true;
    site.pass("p");
    assert_available(&site, "p");
}

/// A pool whose machines are all nodes gets a new token, and data with it, at half of the token's
/// time; one that grows keeps its token alive.
#[test]
fn the_token_of_a_pool_is_rotated() {
    let mut site = with_control_plane();
    add_pool(&mut site, "p", 1);
    assert_eq!(site.pass("p"), Ended::Rest(Some(TTL as u64 / 3), None));
    assert_available(&site, "p");
    let first = token(&site, "p").unwrap().to_owned();
    site.now += TTL - 1;
    site.pass("p");
    assert_eq!(
        token(&site, "p"),
        Some(first.as_str()),
        "refreshed while a machine is missing"
    );

    site.merge(
        &key(CORE, "MachinePool", "p"),
        &json!({"status": {"nodeRefs": [{"name": "x"}]}}),
    );
    site.now += TTL / 2;
    site.pass("p");
    assert_eq!(
        token(&site, "p"),
        Some(first.as_str()),
        "half of its time is left"
    );
    site.now += 1;
    site.pass("p");
    let second = token(&site, "p").unwrap().to_owned();
    assert_ne!(second, first);
    assert!(data(&site, "p").unwrap().contains(&second));
    assert!(site.get(&token_key(&second[..6])).is_some());

    site.remove(&token_key(&second[..6]));
    site.pass("p");
    let third = token(&site, "p").unwrap().to_owned();
    assert_ne!(
        third, second,
        "its nodes have joined, so a new one is no worse"
    );
    assert!(data(&site, "p").unwrap().contains(&third));
    assert_available(&site, "p");
}
