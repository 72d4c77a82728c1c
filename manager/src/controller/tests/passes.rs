//! One config: what is written for it, by whom, and what becomes of failures.

use k8s_openapi::ByteString;

use super::*;
use crate::controller::echoes::State;

#[tokio::test]
async fn a_config_of_either_kind_goes_from_its_machine_to_its_data() {
    for (kind, configs, value) in [
        (ConfigKind::Windlass, CONFIGS, config_value()),
        (ConfigKind::Kubeadm, KUBEADM_CONFIGS, kubeadm_config_value()),
    ] {
        let api = site();
        api.put(configs, value.clone());
        let setting = setting(
            &api,
            &[&format!("--kinds={}", kind.as_str()), "--leader-elect"],
            Leadership::without_election(),
        );
        let config = Arc::new(serde_json::from_value(value).unwrap());
        let next = work::reconcile(config, context_of_kind(&setting, kind))
            .await
            .expect("nothing is missing");
        assert_eq!(next, setting.flags.sync_period);
        let by_us = "?&fieldManager=windlass-manager";
        assert_eq!(
            api.writes(),
            [
                format!("POST {SECRETS}{by_us}"),
                format!("PATCH {configs}/w/status{by_us}")
            ]
        );
        let secret = api.get(&format!("{SECRETS}/w")).unwrap();
        assert!(secret["data"]["value"].is_string());
        assert_eq!(
            secret["metadata"]["ownerReferences"][0]["kind"],
            kind.as_str()
        );
        assert_eq!(
            api.get(&format!("{configs}/w")).unwrap()["status"]["dataSecretName"],
            "w"
        );
        let name = kind.as_str().to_lowercase();
        let counted = format!(
            r#"controller_runtime_reconcile_total{{controller="{name}",result="success"}} 1"#
        );
        let text = setting.metrics.text();
        assert!(text.contains(&counted), "{text}");
    }
}

/// There are keys among what was read; nobody may come any more who would look how old it is.
#[tokio::test(start_paused = true)]
async fn what_was_read_goes_by_time() {
    let api = site();
    let setting = setting(&api, &[], Leadership::without_election());
    let (caches, watching) = filled_caches(&setting).await;
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let context = Arc::new(Context::new(
        &setting,
        ConfigKind::Windlass,
        core(),
        Arc::new(caches),
        Arc::new(workloads),
    ));
    work::reconcile(config(), context.clone())
        .await
        .expect("nothing is missing");
    watching.abort();
    assert!(!context.is_swept());
    let swept = tokio::time::timeout(
        Duration::from_secs(11),
        sweep(std::slice::from_ref(&context)),
    )
    .await;
    assert!(swept.is_err() && context.is_swept());
}

/// The cached Cluster has not begun yet, the one of the API server has: the lock is free for that
/// reason.
#[tokio::test]
async fn nobody_is_told_to_init_because_a_cache_lags_behind() {
    let (api, core) = (site(), "/apis/cluster.x-k8s.io/v1beta2/namespaces/n");
    let begun = api.get(&format!("{core}/clusters/c")).unwrap();
    let mut before = begun.clone();
    before["status"]
        .as_object_mut()
        .unwrap()
        .remove("conditions");
    api.put(&format!("{core}/clusters"), before);
    let mut machine = api.get(&format!("{core}/machines/m")).unwrap();
    machine["metadata"]["labels"] = json!({"cluster.x-k8s.io/control-plane": ""});
    api.put(&format!("{core}/machines"), machine);
    let setting = setting(&api, &[], Leadership::without_election());
    let (caches, watching) = filled_caches(&setting).await;
    api.put(&format!("{core}/clusters"), begun);
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let context = Arc::new(Context::new(
        &setting,
        ConfigKind::Windlass,
        self::core(),
        Arc::new(caches),
        Arc::new(workloads),
    ));
    work::reconcile(config(), context).await.expect("it joins");
    let data: ByteString =
        serde_json::from_value(api.get(&format!("{SECRETS}/w")).unwrap()["data"]["value"].take())
            .unwrap();
    let data = String::from_utf8(data.0).unwrap();
    assert!(
        data.contains("kubeadm join") && !data.contains("kubeadm init"),
        "{data}"
    );
    assert!(
        api.writes()
            .iter()
            .any(|write| write.starts_with("POST") && write.contains("/configmaps")),
        "it took the lock"
    );
    assert_eq!(
        api.get("/api/v1/namespaces/n/configmaps/c-lock"),
        None,
        "and gave it back"
    );
    watching.abort();
}

#[tokio::test]
async fn who_does_not_lead_writes_nothing() {
    let api = site();
    let context = context_of(&setting(&api, &[], Leadership::of_candidate()));
    let failure = work::reconcile(config(), context.clone())
        .await
        .expect_err("it may not write");
    assert!(matches!(failure, Failure::NotLeading), "{failure}");
    assert_eq!(api.writes(), Vec::<String>::new());
    assert_eq!(
        work::after_failure(&config(), &failure, &context),
        Duration::from_millis(100)
    );
}

/// Our own Lease is not enough for them.
#[tokio::test]
async fn without_the_kubeadm_providers_lease_nothing_is_written() {
    let api = site();
    api.put(KUBEADM_CONFIGS, kubeadm_config_value());
    let config = Arc::new(serde_json::from_value(kubeadm_config_value()).unwrap());
    let mut setting = setting(&api, &OF_KUBEADM, Leadership::without_election());
    setting.mandates.insert(
        ConfigKind::Kubeadm,
        Mandate::of([Leadership::without_election(), Leadership::of_candidate()]),
    );
    let failure = work::reconcile(config, context_of_kind(&setting, ConfigKind::Kubeadm))
        .await
        .expect_err("it may not write");
    assert!(matches!(failure, Failure::NotLeading), "{failure}");
    assert_eq!(api.writes(), Vec::<String>::new());
}

/// Codes 409 and 404 are not faults: another client was quicker.
#[tokio::test]
async fn who_is_overtaken_looks_again_soon() {
    for code in [StatusCode::CONFLICT, StatusCode::NOT_FOUND] {
        let api = site();
        let (context, setting) = context(&api);
        api.reject(Method::POST, code);
        let failure = work::reconcile(config(), context.clone())
            .await
            .expect_err("it was overtaken");
        assert!(matches!(failure, Failure::Overtaken), "{failure}");
        assert_eq!(
            work::after_failure(&config(), &failure, &context),
            Duration::from_millis(100)
        );
        assert!(setting.metrics.text().contains(r#"result="requeue"} 1"#));
    }
}

/// What is read lags behind as long as a watch is stale, which may be minutes: nobody asks ten
/// times a second for so long.
#[tokio::test]
async fn who_is_overtaken_again_and_again_waits_longer() {
    let (context, _) = context(&site());
    let pauses: Vec<_> = (0..8)
        .map(|_| work::after_failure(&config(), &Failure::Overtaken, &context))
        .collect();
    let expected = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000];
    assert_eq!(pauses, expected.map(Duration::from_millis));
}

#[tokio::test]
async fn failures_are_looked_at_later_each_time() {
    let api = site();
    let (context, _) = context(&api);
    api.reject(Method::POST, StatusCode::FORBIDDEN);
    let mut pauses = Vec::new();
    for _ in 0..10 {
        let failure = work::reconcile(config(), context.clone())
            .await
            .expect_err("it may not");
        assert_eq!(
            failure.to_string(),
            "cannot create Secret n/w: the API server answered: “rejected”"
        );
        pauses.push(work::after_failure(&config(), &failure, &context));
    }
    let expected = [
        500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000,
    ];
    assert_eq!(pauses, expected.map(Duration::from_millis));
    let failure = Failure::Fault("x".to_owned());
    let first = Duration::from_millis(500);
    context.forget(&("n".into(), "w".into()));
    assert_eq!(work::after_failure(&config(), &failure, &context), first);
    api.reject_nothing();
    work::reconcile(config(), context.clone())
        .await
        .expect("now it may");
    assert_eq!(work::after_failure(&config(), &failure, &context), first);
}

#[tokio::test]
async fn a_panic_is_caught_counted_and_said() {
    let api = site();
    let (context, setting) = context(&api);
    let failure = work::guarded(async { panic!("on purpose") }, &config(), &context)
        .await
        .expect_err("it panicked");
    assert!(matches!(failure, Failure::Fault(_)), "{failure}");
    assert!(
        setting.metrics.text().contains(
            r#"controller_runtime_reconcile_panics_total{controller="windlassconfig"} 1"#
        )
    );
    let conditions = api.get(&format!("{CONFIGS}/w")).unwrap()["status"]["conditions"].clone();
    let data = conditions
        .as_array()
        .unwrap()
        .iter()
        .find(|condition| condition["type"] == "DataSecretAvailable")
        .unwrap();
    assert!(
        data["message"]
            .as_str()
            .unwrap()
            .starts_with("a fault of the controller ended the work"),
        "{data}"
    );
    // Others, and this one, go on.
    work::reconcile(config(), context)
        .await
        .expect("the next time it works");
}

#[tokio::test]
async fn events_are_published_and_their_failure_is_no_failure() {
    let api = site();
    let (context, _) = context(&api);
    let key = Key {
        realm: Realm::Management,
        group: String::new(),
        kind: "Secret".to_owned(),
        namespace: "n".to_owned(),
        name: "x".to_owned(),
    };
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "namespace": "n"}});
    let event = Event {
        reason: "BootstrapTokenRecreated",
        message: "it was gone".to_owned(),
    };
    let write = Write {
        key: key.clone(),
        action: Action::Create(secret),
        event: Some(event),
    };
    let mut world = World::new(config_value(), String::new());
    context
        .write(&config(), &mut world, write.clone())
        .await
        .expect("it is written");
    let events = api
        .writes()
        .into_iter()
        .find(|write| write.starts_with("POST /apis/events.k8s.io/v1/namespaces/n/events"));
    assert!(events.is_some(), "{:?}", api.writes());
    api.reject(Method::POST, StatusCode::FORBIDDEN);
    let merge = Write {
        action: Action::Merge(json!({"spec": {}})),
        ..write
    };
    context
        .write(&config(), &mut world, merge)
        .await
        .expect("it is written all the same");
}

/// The Lease is lost between the question and the connection: nothing is said of the object, and it
/// is looked at by whoever leads.
#[tokio::test]
async fn a_write_that_comes_too_late_is_no_fault() {
    let api = site();
    api.0.lock().unwrap().has_lost_lease = true;
    let (context, _) = context(&api);
    let failure = work::reconcile(config(), context.clone())
        .await
        .expect_err("it may not write");
    assert!(matches!(failure, Failure::NotLeading), "{failure}");
    assert_eq!(
        work::after_failure(&config(), &failure, &context),
        Duration::from_millis(100)
    );
    assert_eq!(api.writes(), [""; 0]);
}

/// What was known of a config that is gone is known no more.
#[tokio::test]
async fn a_config_that_is_gone_is_forgotten() {
    let api = site();
    let (context, _) = context(&api);
    work::reconcile(config(), context.clone())
        .await
        .expect("nothing is missing");
    let (name, state) = (("n".into(), "w".into()), State::of(&config()));
    let is_known = || {
        context
            .echoes
            .later(&name, &state, std::time::Instant::now())
            .is_some()
    };
    assert!(is_known());
    let mut queue = super::super::Queue::new(1);
    queue.tell(
        name.clone(),
        ("n".into(), "c".into()),
        work::size_of(&config()),
    );
    let (_writer, store) = Writer::new();
    assert!(begin(&mut queue, &context, &store, context.turns.place().await).is_none());
    assert!(!is_known());
    // Nor is it worked on.
    queue.tell(name, ("n".into(), "c".into()), work::size_of(&config()));
    assert!(queue.has_next());
}
