//! Objects that are not as a healthy cluster has them: half written, hostile, taken over from
//! others.

use serde_json::{Value, json};
use windlass_capi::api::node::EncryptionAlgorithm;
use windlass_reconcile::{
    Action, KeyRequest, Observation, Settings, Step, World, after_panic, reconcile,
};

use super::site::{Ended, Site, TTL, key, token_key};
use super::*;

const REST: Ended = Ended::Rest(None, None);
const REFRESHED: Ended = Ended::Rest(Some(TTL as u64 / 3), None);

fn joining() -> Value {
    json!({"joinConfiguration": {"nodeRegistration": {"name": "x"}}})
}

fn initializing() -> Value {
    json!({"initConfiguration": {"skipPhases": ["addon/kube-proxy"]}})
}

fn lock() -> windlass_reconcile::Key {
    key("", "ConfigMap", "c-lock")
}

/// Ends a pass over a config at its first request after which something holds.
fn pass_until(site: &Site, name: &str, holds: impl FnMut(&Site) -> bool) -> Site {
    let mut ended = (0..50).map(|requests| {
        let mut site = site.clone();
        site.pass_until(name, requests);
        site
    });
    ended.find(holds).expect("it comes to hold")
}

/// Templates, compression and large texts, each by itself: a step that takes a processor for long
/// is known before it is taken.
#[test]
fn what_takes_long_is_known_before() {
    let takes_long = |spec: Value| {
        World::new(
            json!({"kind": "WindlassConfig", "spec": spec}),
            String::new(),
        )
        .takes_long()
    };
    assert!(!takes_long(json!({})));
    assert!(!takes_long(
        json!({"files": [{"path": "/a", "content": "x".repeat(60 << 10)}]})
    ));
    assert!(takes_long(
        json!({"files": [{"path": "/a", "content": "x".repeat(70 << 10)}]})
    ));
    assert!(takes_long(
        json!({"files": [{"path": "/a", "content": "{{ .Cluster.Name }}", "contentFormat": "Template"}]})
    ));
    assert!(takes_long(json!({"compression": "gzip"})));
    let mut with_secret = World::new(json!({"kind": "WindlassConfig", "spec": {}}), String::new());
    let secret = json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "eA==".repeat(20 << 10)}});
    with_secret.observe(key("", "Secret", "s"), Observation::found(secret));
    assert!(with_secret.takes_long());
}

/// Every outcome without data gives the lock back.
#[test]
fn a_machine_that_took_the_lock_and_cannot_be_told_gives_it_back() {
    let mut site = with_cluster();
    add_machine(&mut site, "a", true, initializing());
    site = pass_until(&site, "a", |site| site.get(&lock()).is_some());
    assert_eq!(data(&site, "a"), None);
    site.merge(
        &Site::config_key("a"),
        &json!({"spec": {"maxDataBytes": 10}}),
    );
    site.pass("a");
    assert_eq!(
        condition(&site, "a", "DataSecretAvailable").unwrap()[1],
        "DataTooLarge"
    );
    assert_eq!(site.get(&lock()), None);
}

/// The same where the certificates are what is missing.
#[test]
fn a_machine_that_took_the_lock_and_lacks_certificates_gives_it_back() {
    let mut site = with_cluster();
    add_machine(&mut site, "a", true, initializing());
    site = pass_until(&site, "a", |site| site.get(&lock()).is_some());
    site.remove(&key("", "Secret", "c-etcd"));
    let reference = json!({"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "k"});
    site.merge(
        &key(CORE, "Cluster", "c"),
        &json!({"spec": {"controlPlaneRef": reference}}),
    );
    site.pass("a");
    assert_eq!(
        condition(&site, "a", "CertificatesAvailable").unwrap()[1],
        "InternalError"
    );
    assert_eq!(site.get(&lock()), None);
}

/// Checklist BC-60: the machine may have read its data before the Secret was lost, and so no other
/// may init.
#[test]
fn a_machine_that_was_told_to_init_keeps_the_lock() {
    let mut site = with_cluster();
    add_machine(&mut site, "a", true, initializing());
    add_machine(&mut site, "b", true, initializing());
    site.pass("a");
    site.remove(&key("", "Secret", "a"));
    site.merge(
        &Site::config_key("a"),
        &json!({"spec": {"maxDataBytes": 10}}),
    );
    site.pass("a");
    site.pass("b");
    assert_eq!(
        site.get(&lock()).unwrap()["data"]["lock-information"],
        r#"{"machineName":"a"}"#
    );
    assert_eq!(data(&site, "b"), None);
}

/// As in upstream's `ControlPlaneInitMutex.Lock`: what cannot be read is somebody's.
#[test]
fn a_lock_that_names_nobody_is_left_to_people() {
    let long = json!({"machineName": "x".repeat(1 << 20)}).to_string();
    for information in [
        "",
        "{",
        r#"{"machineName":""}"#,
        r#"{"machineName":7}"#,
        &long,
    ] {
        let mut site = with_cluster();
        site.put(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c-lock"}, "data": {"lock-information": information},
        }));
        add_machine(&mut site, "a", true, initializing());
        assert_eq!(site.pass("a"), Ended::Rest(Some(30), None), "{information}");
        assert_eq!(
            site.get(&lock()).unwrap()["data"]["lock-information"],
            information
        );
        assert_eq!(data(&site, "a"), None);
        let [_, _, message] = condition(&site, "a", "DataSecretAvailable").unwrap();
        assert!(
            message.ends_with("ConfigMap n/c-lock names no Machine in `lock-information`; delete it if no machine runs `kubeadm init`"),
            "{message}"
        );
    }
}

/// Certificates of a cluster that runs are never made anew: its nodes would trust nobody.
#[test]
fn a_join_makes_no_certificates() {
    let mut site = with_cluster();
    initialize(&mut site);
    add_machine(&mut site, "a", true, joining());
    assert_eq!(
        site.pass("a"),
        Ended::Rest(
            None,
            Some(
                "Secret n/c-ca is not there; the creator of the control plane makes it".to_owned()
            )
        )
    );
    assert_eq!(site.key_requests, []);
}

/// `util/secret/certificates.go`: the certificates of an etcd of the user's are his.
#[test]
fn external_certificates_are_not_made() {
    let mut site = with_cluster();
    let etcd = json!({"external": {
        "endpoints": ["https://e:2379"], "caFile": "/etc/e/ca.crt", "certFile": "/etc/e/client.crt", "keyFile": "/etc/e/client.key",
    }});
    add_machine(
        &mut site,
        "a",
        true,
        json!({"clusterConfiguration": {"etcd": etcd}}),
    );
    let Ended::Rest(None, Some(fault)) = site.pass("a") else {
        panic!("it looks again")
    };
    assert!(fault.contains("-etcd"), "{fault}");
    assert!(
        site.key_requests
            .iter()
            .all(|(name, _)| !name.contains("etcd")),
        "{:?}",
        site.key_requests
    );
}

/// `util/certs` of Cluster API: from five minutes ago on for ten years, RSA of 2048 bits; the
/// account key is not a certificate.
#[test]
fn key_pairs_are_made_as_the_config_says() {
    let made = |configuration: Value| {
        let mut site = with_cluster();
        add_machine(
            &mut site,
            "a",
            true,
            json!({"clusterConfiguration": configuration}),
        );
        site.pass("a");
        (site.now, site.key_requests)
    };
    let (now, requests) = made(json!({"clusterName": "c"}));
    let request = |algorithm, days: i64| KeyRequest {
        algorithm,
        validity: Some((now - 300, now + days * 86_400)),
    };
    let authority = request(EncryptionAlgorithm::Rsa2048, 3650);
    let account = KeyRequest {
        validity: None,
        ..authority
    };
    let mut expected = [
        ("c-ca", authority),
        ("c-etcd", authority),
        ("c-proxy", authority),
        ("c-sa", account),
    ];
    let mut found: Vec<_> = requests
        .iter()
        .map(|(name, request)| (name.as_str(), *request))
        .collect();
    expected.sort_by_key(|(name, _)| *name);
    found.sort_by_key(|(name, _)| *name);
    assert_eq!(found, expected);

    let (_, requests) =
        made(json!({"encryptionAlgorithm": "ECDSA-P256", "caCertificateValidityPeriodDays": 7}));
    let (_, found) = requests.iter().find(|(name, _)| name == "c-ca").unwrap();
    assert_eq!(*found, request(EncryptionAlgorithm::EcdsaP256, 7));
}

/// Machines alone are of the control plane.
#[test]
fn a_pool_with_the_label_of_the_control_plane_joins_as_a_worker() {
    let mut site = with_cluster();
    add_pool(&mut site, "p", 1);
    site.merge(
        &key(CORE, "MachinePool", "p"),
        &json!({"metadata": {"labels": {"cluster.x-k8s.io/control-plane": ""}}}),
    );
    assert_eq!(site.pass("p"), REST);
    assert_eq!(site.key_requests, []);
    assert_eq!(site.get(&lock()), None);
    let [_, _, message] = condition(&site, "p", "DataSecretAvailable").unwrap();
    assert_eq!(
        message,
        "Waiting for Cluster control plane to be initialized"
    );
}

/// The kubeadm provider looks for the name of a pool's data where only Machines have it; the
/// contract has it in the template.
#[test]
fn after_a_move_a_pool_says_what_it_has() {
    let mut site = with_control_plane();
    add_pool(&mut site, "p", 1);
    let bootstrap =
        json!({"spec": {"template": {"spec": {"bootstrap": {"dataSecretName": "elsewhere"}}}}});
    site.merge(&key(CORE, "MachinePool", "p"), &bootstrap);
    let discovery = json!({"discovery": {"bootstrapToken": {"token": "abcdef.0123456789abcdef"}}});
    site.merge(
        &Site::config_key("p"),
        &json!({"spec": {"joinConfiguration": discovery}}),
    );
    assert_eq!(site.pass("p"), REFRESHED);
    assert_eq!(config(&site, "p")["status"]["dataSecretName"], "elsewhere");
    assert_eq!(
        data(&site, "p"),
        None,
        "a Secret of somebody else's choice is not ours to write"
    );
}

/// The name in the status was told to the Machine once, and stays.
#[test]
fn the_name_that_was_reported_stays() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, joining());
    site.pass("w");
    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"spec": {"bootstrap": {"dataSecretName": "elsewhere"}}}),
    );
    site.pass("w");
    assert_eq!(config(&site, "w")["status"]["dataSecretName"], "w");
}

/// Flag and name count together (book: "BootstrapConfig: initialization completed").
#[test]
fn half_a_status_is_none() {
    for half in [
        json!({"dataSecretName": "w"}),
        json!({"initialization": {"dataSecretCreated": true}}),
    ] {
        let mut site = with_control_plane();
        add_machine(&mut site, "w", false, joining());
        site.merge(&Site::config_key("w"), &json!({"status": half}));
        assert_eq!(site.pass("w"), REFRESHED, "{half}");
        assert!(data(&site, "w").is_some(), "{half}");
        assert_eq!(config(&site, "w")["status"]["dataSecretName"], "w");
        assert_eq!(
            config(&site, "w")["status"]["initialization"]["dataSecretCreated"],
            true
        );
    }
}

/// What is in the status besides, stays; what is none of it is written over once; nothing is
/// written for ever.
#[test]
fn a_strange_status_is_mended_once() {
    let foreign = json!({
        "type": "Foreign", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z",
        "observedGeneration": 1,
    });
    let told = json!({"dataSecretName": "w", "initialization": {"dataSecretCreated": true}});
    for (strange, of_pause) in [
        (json!({"conditions": "none"}), false),
        (
            json!({"conditions": [7, {"type": "Ready"}, foreign], "other": {"x": 1}}),
            false,
        ),
        (json!({"deprecated": {"v1beta1": {}}}), true),
        (json!({"deprecated": {}}), false),
        (
            json!({"deprecated": "none", "observedGeneration": "one"}),
            false,
        ),
        (json!("none"), false),
    ] {
        let mut site = with_control_plane();
        add_machine(&mut site, "w", false, joining());
        site.merge(
            &key(CORE, "Cluster", "c"),
            &json!({"spec": {"paused": of_pause}}),
        );
        site.merge(&Site::config_key("w"), &json!({"status": strange}));
        if strange.is_object() {
            site.merge(&Site::config_key("w"), &json!({"status": told}));
        }
        assert!(matches!(site.pass("w"), Ended::Rest(_, None)), "{strange}");
        let status = config(&site, "w")["status"].clone();
        assert_eq!(
            condition(&site, "w", "Paused").unwrap()[0],
            if of_pause { "True" } else { "False" },
            "{status}"
        );
        assert_eq!(status["dataSecretName"], "w", "{strange}");
        assert_eq!(status["other"], strange["other"], "{strange}");
        let conditions = status["conditions"].as_array().unwrap();
        let strangers = strange["conditions"]
            .as_array()
            .is_some_and(|list| list.contains(&foreign));
        assert_eq!(conditions.contains(&foreign), strangers, "{conditions:?}");
        let writes = site.writes.len();
        site.pass("w");
        assert_eq!(site.writes.len(), writes, "{strange}");
    }
}

/// Checklist BC-56: until it is known that the object is not paused nothing is written to it.
#[test]
fn an_owner_that_cannot_be_read_leaves_the_status_as_it_is() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, joining());
    let settings = Settings {
        token_ttl: TTL,
        machine_pools: true,
    };
    let now = windlass_capi::api::time::Timestamp::of_second(site.now);
    for unreadable in [key(CORE, "Machine", "w"), key(CORE, "Cluster", "c")] {
        let mut world = World::new(config(&site, "w").clone(), String::new());
        world.observe_value(
            key(CORE, "Machine", "w"),
            site.get(&key(CORE, "Machine", "w")).cloned(),
        );
        world.observe(
            unreadable.clone(),
            Observation::Failed("no answer".to_owned()),
        );
        let Step::Rest(rest) = reconcile(&world, &settings, now) else {
            panic!("nothing is read or written")
        };
        assert_eq!(
            rest.fault,
            Some(format!("cannot read {unreadable}: no answer"))
        );
    }
}

/// The API server rejects a status with a longer message: nobody would see the failure.
#[test]
fn cuts_messages_to_what_the_api_takes() {
    for rejection in ["x".repeat(1 << 20), "ä\u{1b}\n".repeat(1 << 20)] {
        let mut site = with_control_plane();
        add_machine(&mut site, "w", false, joining());
        (site.reachable, site.rejection) = (false, rejection);
        (0..2).for_each(|_| drop(site.pass("w")));
        let status = &config(&site, "w")["status"];
        for (conditions, most) in [
            (&status["conditions"], 32_768),
            (&status["deprecated"]["v1beta1"]["conditions"], 10_240),
        ] {
            for condition in conditions.as_array().unwrap() {
                let message = condition["message"].as_str().unwrap_or_default();
                assert!(message.chars().count() <= most, "{}", condition["type"]);
                assert!(!message.contains('\u{1b}'));
            }
        }
        let [status, _, message] = condition(&site, "w", "DataSecretAvailable").unwrap();
        assert_eq!(status, "False");
        assert!(message.starts_with("cannot read Secret kube-system/bootstrap-token-"));
        assert!(message.ends_with('…'));
        let writes = site.writes.len();
        site.pass("w");
        assert_eq!(site.writes.len(), writes, "the status stays as it is");
    }
}

/// The API server makes every object whole; one that is not must not end the controller.
#[test]
fn bare_objects_end_nothing() {
    for config in [
        json!(null),
        json!({}),
        json!({"metadata": {"ownerReferences": "x"}}),
        json!({"metadata": {"ownerReferences": [7]}}),
    ] {
        let world = World::new(config, String::new());
        let step = reconcile(
            &world,
            &Settings {
                token_ttl: TTL,
                machine_pools: true,
            },
            windlass_capi::api::time::Timestamp::of_second(0),
        );
        assert_eq!(step, Step::Rest(Default::default()));
    }
    let mut site = with_cluster();
    add_machine(&mut site, "w", false, joining());
    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"spec": {"clusterName": null}}),
    );
    let mut world = World::new(config(&site, "w").clone(), String::new());
    world.observe_value(
        key(CORE, "Machine", "w"),
        site.get(&key(CORE, "Machine", "w")).cloned(),
    );
    let step = reconcile(
        &world,
        &Settings {
            token_ttl: TTL,
            machine_pools: true,
        },
        windlass_capi::api::time::Timestamp::of_second(0),
    );
    assert_eq!(
        step,
        Step::Rest(Default::default()),
        "a Cluster without a name is not asked for"
    );
}

#[test]
fn a_secret_without_data_is_filled() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, joining());
    let own = json!([{
        "apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfig", "name": "w", "controller": true,
        "uid": config(&site, "w")["metadata"]["uid"],
    }]);
    site.put(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "data": {"value": ""},
        "metadata": {"name": "w", "ownerReferences": own},
    }));
    assert_eq!(
        site.pass("w"),
        Ended::Conflict,
        "it is not looked for before it is made"
    );
    site.pass("w");
    assert!(data(&site, "w").unwrap().contains("kubeadm join"));
}

/// Checklist BC-47: a restored config has another uid; the Secret that its status names is its own.
#[test]
fn the_secret_that_the_status_names_is_taken_back() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, joining());
    site.pass("w");
    let secret = key("", "Secret", "w");
    let owners = site.get(&secret).unwrap()["metadata"]["ownerReferences"].clone();
    let before = data(&site, "w");
    let mut former = owners.clone();
    former[0]["uid"] = json!("former");
    site.merge(&secret, &json!({"metadata": {"ownerReferences": former}}));
    site.pass("w");
    assert_eq!(
        site.get(&secret).unwrap()["metadata"]["ownerReferences"],
        owners
    );
    assert_eq!(data(&site, "w"), before);
}

/// `HasNodeRefs` of Cluster API: a Machine has joined when its `nodeRef` names something.
#[test]
fn an_empty_reference_to_a_node_is_none() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, joining());
    site.pass("w");
    site.merge(
        &key(CORE, "Machine", "w"),
        &json!({"status": {"nodeRef": {}}}),
    );
    assert_eq!(site.pass("w"), REFRESHED);
}

/// `HasNodeRefs` of Cluster API: as many nodes as replicas, of which one is meant when nothing is
/// said.
#[test]
fn a_pool_has_joined_when_it_has_as_many_nodes_as_replicas() {
    let nodes = |count: usize| {
        Value::from_iter((0..count).map(|number| json!({"name": format!("x{number}")})))
    };
    for (replicas, count, is_rotated) in [
        (json!(null), 1, true),
        (json!(null), 0, false),
        (json!(1), 2, false),
        (json!(2), 1, false),
        (json!(2), 2, true),
        (json!(i64::MAX), 1, false),
        (json!("2"), 1, true),
    ] {
        let mut site = with_control_plane();
        add_pool(&mut site, "p", 1);
        site.pass("p");
        let first = token(&site, "p").unwrap().to_owned();
        site.merge(
            &key(CORE, "MachinePool", "p"),
            &json!({"spec": {"replicas": replicas}, "status": {"nodeRefs": nodes(count)}}),
        );
        site.now += TTL / 2 + 1;
        site.pass("p");
        assert_eq!(
            token(&site, "p") != Some(&first),
            is_rotated,
            "{replicas} {count}"
        );
    }
}

/// The Secret of a pool that another provider made, or a backup tool brought back, does not say
/// which token it holds. It is written once with the token of the config, and from then on rotates.
#[test]
fn a_pool_whose_data_has_an_unknown_token_goes_on() {
    for is_lost in [false, true] {
        let mut site = with_control_plane();
        add_pool(&mut site, "p", 1);
        site.pass("p");
        site.merge(
            &key(CORE, "MachinePool", "p"),
            &json!({"status": {"nodeRefs": [{"name": "x"}]}}),
        );
        let first = token(&site, "p").unwrap().to_owned();
        match is_lost {
            true => site.remove(&key("", "Secret", "p")),
            false => site.merge(
                &key("", "Secret", "p"),
                &json!({"metadata": {"annotations": null}}),
            ),
        }
        assert_eq!(site.pass("p"), REFRESHED);
        assert_eq!(token(&site, "p"), Some(first.as_str()));
        assert!(data(&site, "p").unwrap().contains(&first));
        site.now += TTL;
        site.remove(&token_key(&first[..6]));
        assert_eq!(site.pass("p"), REFRESHED);
        let second = token(&site, "p").unwrap().to_owned();
        assert_ne!(second, first);
        assert!(data(&site, "p").unwrap().contains(&second));
    }
}

/// A clock that goes back makes no token shorter, and one that goes forth refreshes it.
#[test]
fn clocks_may_jump() {
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, joining());
    site.pass("w");
    let writes = site.writes.len();
    site.now -= 1_000_000;
    assert_eq!(site.pass("w"), REFRESHED);
    assert_eq!(site.writes.len(), writes, "the token lives long enough");
    site.now += 1_000_000_000;
    assert_eq!(site.pass("w"), REFRESHED);
    assert_eq!(site.writes.len(), writes + 1);
}

/// Whoever runs an external etcd gives its certificates; none is made.
#[test]
fn certificates_of_an_external_etcd_are_waited_for() {
    let mut site = with_cluster();
    let files =
        json!({"endpoints": ["https://e"], "caFile": "/ca", "certFile": "/crt", "keyFile": "/key"});
    add_machine(
        &mut site,
        "a",
        true,
        json!({"clusterConfiguration": {"etcd": {"external": files}}}),
    );
    let Ended::Rest(None, Some(fault)) = site.pass("a") else {
        panic!("it looks again")
    };
    assert!(
        fault.contains("n/c-apiserver-etcd-client is not there; the certificates of an external etcd are given by its operator"),
        "{fault}"
    );
    assert_eq!(data(&site, "a"), None);
}

/// What is known stays, and people learn that something went wrong.
#[test]
fn a_panic_is_said_where_there_is_no_data_yet() {
    let settings = Settings {
        token_ttl: TTL,
        machine_pools: true,
    };
    let told = |site: &Site| {
        let world = World::new(config(site, "w").clone(), String::new());
        match after_panic(
            &world,
            &settings,
            windlass_capi::api::time::Timestamp::of_second(site.now),
        ) {
            Step::Write(write) => match write.action {
                Action::MergeStatus(patch) => Some(patch["status"].clone()),
                other => panic!("{other:?}"),
            },
            Step::Rest(_) => None,
            other => panic!("{other:?}"),
        }
    };
    let of = |status: &Value, kind: &str| {
        let conditions = status["conditions"].as_array().unwrap();
        conditions
            .iter()
            .find(|condition| condition["type"] == kind)
            .map(|condition| [condition["status"].clone(), condition["message"].clone()])
    };
    let mut site = with_control_plane();
    add_machine(&mut site, "w", false, initializing());
    site.merge(
        &Site::config_key("w"),
        &json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}}),
    );
    site.pass("w");
    let status = told(&site).expect("it has no data");
    let [is, message] = of(&status, "DataSecretAvailable").unwrap();
    assert_eq!(is, "False");
    assert!(
        message
            .as_str()
            .unwrap()
            .contains("a fault of the controller"),
        "{message}"
    );
    assert_eq!(
        of(&status, "Paused").unwrap()[0],
        "True",
        "nobody came to look"
    );

    site.merge(
        &Site::config_key("w"),
        &json!({"metadata": {"annotations": null}, "spec": worker()}),
    );
    site.pass("w");
    assert!(data(&site, "w").is_some());
    assert_eq!(told(&site), None, "the data is as good as before");
}

fn worker() -> Value {
    json!({"initConfiguration": null, "joinConfiguration": {"nodeRegistration": {"name": "x"}}})
}
