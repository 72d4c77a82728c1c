//! Many configs: whose turn it is, and what workload clusters that are slow or away cost the
//! others.

use super::*;

/// Cluster API's API servers in memory take Secrets in no other form.
#[tokio::test]
async fn secrets_of_workload_clusters_are_sent_as_client_go_sends_them() {
    let api = Api::default();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "t", "metadata": {"name": "x", "namespace": "n"}, "data": {"k": "dg=="},
    });
    let key = |realm| Key {
        realm,
        group: String::new(),
        kind: "Secret".to_owned(),
        namespace: "n".to_owned(),
        name: "x".to_owned(),
    };
    for realm in [Realm::Workload, Realm::Management] {
        let action = Action::Create(secret.clone());
        requests::write(
            &api.client(),
            &resources::kubernetes("Secret"),
            &key(realm),
            &action,
            &Mandate::of([Leadership::without_election()]),
        )
        .await
        .expect("it is taken");
    }
    assert_eq!(
        api.0.lock().unwrap().media_types,
        ["application/vnd.kubernetes.protobuf", "application/json"]
    );
}

/// The Secret with the kubeconfig of a cluster on a port of this machine.
fn kubeconfig(cluster: &str, port: u16) -> Value {
    kubeconfig_of(cluster, &format!("https://127.0.0.1:{port}"))
}

fn kubeconfig_of(cluster: &str, url: &str) -> Value {
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters:\n- name: x\n  cluster: {{server: \"{url}\"}}\n\
         contexts:\n- name: x\n  context: {{cluster: x, user: x}}\nusers:\n- name: x\n  user: {{token: t}}\n"
    );
    let value = k8s_openapi::ByteString(kubeconfig.into_bytes());
    json!({"metadata": {"name": format!("{cluster}-kubeconfig")}, "data": {"value": value}})
}

/// Reads some Secret of a workload cluster.
async fn read(workloads: &Workloads, cluster: &str) -> Result<Option<Value>, Rejection> {
    let key = Key {
        realm: Realm::Workload,
        group: String::new(),
        kind: "Secret".to_owned(),
        namespace: "kube-system".to_owned(),
        name: "x".to_owned(),
    };
    workloads
        .read(
            &("n".into(), cluster.into()),
            &resources::kubernetes("Secret"),
            &key,
        )
        .await
}

/// A port that rejects connections.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A spec whose token has to be in the workload cluster.
fn with_token() -> Value {
    json!({"joinConfiguration": {"discovery": {"bootstrapToken": {"token": "abcdef.0123456789abcdef", "unsafeSkipCAVerification": true}}}})
}

/// A server that has nothing, and answers no write; gives its address, and tells of each write that
/// came.
fn takes_no_write() -> (String, std::sync::mpsc::Receiver<()>) {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, written) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, sender) = (stream.unwrap(), sender.clone());
            std::thread::spawn(move || {
                let mut head = [0; 4096];
                while let Ok(length @ 1..) = stream.read(&mut head) {
                    if !head[..length].starts_with(b"GET ") {
                        // Who has seen the first listens no more.
                        let _ = sender.send(());
                        continue;
                    }
                    let body = json!({"kind": "Status", "code": 404, "message": "there is none"})
                        .to_string();
                    let answer = format!(
                        "HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            });
        }
    });
    (url, written)
}

/// Nor does one that reads, and hangs when it is to write.
#[tokio::test]
async fn other_clusters_go_on_while_a_write_hangs() {
    let api = site();
    let (url, written) = takes_no_write();
    api.put(SECRETS, kubeconfig_of("c", &url));
    let setting = setting(
        &api,
        &["--windlassconfig-concurrency=1"],
        Leadership::without_election(),
    );
    let context = context_of(&setting);
    let hanging = tokio::spawn(work::reconcile(
        config_of(&api, "hangs", "c", with_token()),
        context.clone(),
    ));
    while written.try_recv().is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(!hanging.is_finished());
    }
    let other = config_of(&api, "w", "d", config_value()["spec"].clone());
    work::reconcile(other, context.clone())
        .await
        .expect("it goes on");
    assert!(!hanging.is_finished());
    hanging.abort();
}

/// What takes long to decide takes no thread on which others wait.
#[test]
fn what_takes_long_is_decided_beside() {
    // The one thread for what takes long is taken.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    runtime.spawn_blocking(move || waiting.recv());
    let settings = || windlass_reconcile::Settings {
        token_ttl: 900,
        machine_pools: true,
    };
    let world = |spec: Value| {
        let mut config = config_value();
        config["spec"] = spec;
        Box::new(World::new(config, "abcdef.0123456789abcdef".to_owned()))
    };
    let check = |spec: Value, takes_long: bool| {
        assert_eq!(world(spec.clone()).takes_long(), takes_long, "{spec:.100}");
        assert_eq!(
            work::decided(world(spec), settings())
                .now_or_never()
                .is_none(),
            takes_long
        );
    };
    check(
        json!({"files": [{"path": "/a", "content": "x".repeat(60 << 10)}]}),
        false,
    );
    check(
        json!({"files": [{"path": "/a", "content": "x".repeat(70 << 10)}]}),
        true,
    );
    check(
        json!({"files": [{"path": "/a", "content": "{{ .Cluster.Name }}", "contentFormat": "Template"}]}),
        true,
    );
    check(json!({"compression": "gzip"}), true);
    let mut with_secret = world(json!({}));
    let key = Key {
        realm: Realm::Management,
        group: String::new(),
        kind: "Secret".to_owned(),
        namespace: "n".to_owned(),
        name: "s".to_owned(),
    };
    with_secret.observe_value(key, Some(json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "eA==".repeat(20 << 10)}})));
    assert!(with_secret.takes_long());
    drop(done);
    let (_, step) = runtime
        .block_on(work::decided(with_secret, settings()))
        .unwrap();
    assert!(
        matches!(step, windlass_reconcile::Step::Read(_)),
        "{step:?}"
    );
}

/// Machines that no label says the Cluster of take the turns of that Cluster all the same.
#[tokio::test]
async fn turns_are_those_of_the_machines_cluster() {
    let api = site();
    let setting = setting(&api, &[], Leadership::without_election());
    let (caches, watching) = filled_caches(&setting).await;
    let workloads = Workloads::new(setting.client.clone(), None, setting.metrics.clone());
    let context = Context::new(
        &setting,
        ConfigKind::Windlass,
        core(),
        Arc::new(caches),
        Arc::new(workloads),
    );
    let cluster = |config: &Config| context.cluster_of(config).1;
    assert_eq!(*cluster(&config()), *"c");
    assert_eq!(*cluster(&config_of(&api, "labelled", "d", json!({}))), *"d");
    let mut orphan = config_value();
    orphan["metadata"]["ownerReferences"] = json!([]);
    assert_eq!(*cluster(&serde_json::from_value(orphan).unwrap()), *"");
    watching.abort();
}

/// The controller on an API server with the core and no other config than those.
fn running(
    api: &Api,
    setting: Setting,
) -> tokio::task::JoinHandle<Result<(), crate::fault::Fault>> {
    api.serve_core(&["v1beta2"], &["clusters", "machines", "machinepools"]);
    api.0
        .lock()
        .unwrap()
        .objects
        .remove(&format!("{CONFIGS}/w"));
    tokio::spawn(super::super::run(setting))
}

fn has_data(api: &Api, name: &str) -> bool {
    api.get(&format!("{CONFIGS}/{name}")).unwrap()["status"]["initialization"]["dataSecretCreated"]
        == true
}

/// A cluster that hangs keeps no other writer waiting, even with a single worker; and who waits for his
/// turn says nothing.
#[tokio::test]
async fn other_clusters_go_on_while_one_hangs() {
    let api = site();
    // It takes connections, and never says a word.
    let hangs = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    api.put(SECRETS, kubeconfig("c", hangs.local_addr().unwrap().port()));
    let setting = setting(
        &api,
        &["--windlassconfig-concurrency=1"],
        Leadership::without_election(),
    );
    let needs_none = config_value()["spec"].clone();
    // The first two in the order of the list.
    config_of(&api, "a-hangs", "c", with_token());
    config_of(&api, "b-waits", "c", needs_none.clone());
    config_of(&api, "w-other", "d", needs_none);
    let running = running(&api, setting);
    while !has_data(&api, "w-other") {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(!running.is_finished());
    }
    assert!(
        api.asked(|method| *method == Method::GET)
            .iter()
            .any(|asked| asked.contains("c-kubeconfig")),
        "the first one has begun"
    );
    assert!(
        ["a-hangs", "b-waits"].iter().all(|name| api
            .get(&format!("{CONFIGS}/{name}"))
            .unwrap()
            .get("status")
            .is_none()),
        "nothing is said"
    );
    running.abort();
}

#[tokio::test]
async fn who_has_not_begun_does_not_begin_when_the_process_ends() {
    let api = site();
    let setting = setting(
        &api,
        &["--windlassconfig-concurrency=1"],
        Leadership::without_election(),
    );
    let context = context_of(&setting);
    let _working = context.turns.turn().await;
    let waiting = tokio::spawn(work::reconcile(config(), context.clone()));
    tokio::task::yield_now().await;
    setting.shutdown.begin();
    assert!(matches!(waiting.await.unwrap(), Err(Failure::Ending)));
    assert_eq!(api.writes(), [""; 0]);
}

/// With four hundred Machines of one cluster that are listed before it, one of another is among the
/// first that have their data.
#[tokio::test(start_paused = true)]
async fn a_cluster_that_floods_does_not_starve_another() {
    let api = site();
    api.0.lock().unwrap().takes = Duration::from_millis(10);
    let setting = setting(&api, &[], Leadership::without_election());
    let flood: Vec<String> = (0..400).map(|index| format!("flood-{index}")).collect();
    for name in &flood {
        config_of(&api, name, "flood", config_value()["spec"].clone());
    }
    config_of(&api, "z-alone", "alone", config_value()["spec"].clone());
    let (shutdown, running) = (setting.shutdown.clone(), running(&api, setting));
    while !flood.iter().all(|name| has_data(&api, name)) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!running.is_finished());
    }
    let told = api.asked(|method| *method == Method::PATCH);
    let at = told
        .iter()
        .position(|asked| asked.contains("/z-alone/status"))
        .expect("it has its data");
    // Those of the flood that begin before it, and once more as many.
    assert!(at <= 20, "{at} of {} were before it", told.len());
    shutdown.begin();
    running.await.unwrap().expect("it ends in order");
}

/// Configs with much text are begun one after the other, while others of their cluster wait.
#[test]
fn large_configs_are_told_by_their_text() {
    let size = |bytes: usize| {
        let mut config = config_value();
        config["spec"]["files"] = json!([{"path": "/a", "content": "x".repeat(bytes)}]);
        work::size_of(&serde_json::from_value(config).unwrap())
    };
    assert_eq!(work::size_of(&config()), Size::Ordinary);
    assert_eq!(
        (size(7 << 10), size(8 << 10)),
        (Size::Ordinary, Size::Large)
    );
}

/// Nobody waits for it twice, and no other cluster waits at all.
#[tokio::test]
async fn a_cluster_that_does_not_answer_is_left_alone_for_a_while() {
    let api = Api::default();
    let port = closed_port();
    for name in ["c", "d"] {
        api.put(SECRETS, kubeconfig(name, port));
    }
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let read = async |cluster: &str| read(&workloads, cluster).await;
    assert_eq!(read("c").await, Err(Rejection::Silent));
    assert_eq!(read("c").await, Err(Rejection::Silent));
    let asked = || api.asked(|method| *method == Method::GET);
    assert_eq!(
        asked(),
        [format!("GET {SECRETS}/c-kubeconfig")],
        "the second time nothing is asked"
    );
    assert_eq!(read("d").await, Err(Rejection::Silent));
    assert_eq!(asked().len(), 2, "another cluster is asked nevertheless");
    let setting = setting(&api, &[], Leadership::without_election());
    let (_, caches) = empty_caches(&setting);
    let cluster = json!({"apiVersion": "x/y", "kind": "Cluster", "metadata": {"name": "c", "namespace": "n"}});
    told(
        &Change::Cluster(Arc::new(serde_json::from_value(cluster).unwrap())),
        &caches,
        &workloads,
        &[],
    );
    assert_eq!(read("c").await, Err(Rejection::Silent));
    assert_eq!(
        asked().len(),
        3,
        "a Cluster that was made again is another one"
    );
    let missing = read("e").await.expect_err("it has no kubeconfig");
    assert_eq!(
        missing.to_string(),
        "Secret e-kubeconfig with the kubeconfig of the cluster is not there"
    );
}

/// A client that was made while its Cluster went is nobody's: it is not kept, whether it read or
/// wrote.
#[tokio::test]
async fn a_client_goes_with_a_cluster_that_went_while_it_was_made() {
    let api = site();
    api.put(SECRETS, kubeconfig("c", closed_port()));
    let setting = setting(
        &api,
        &["--kinds=WindlassConfig,KubeadmConfig", "--leader-elect"],
        Leadership::without_election(),
    );
    let (filled, watching) = filled_caches(&setting).await;
    let (_, empty) = empty_caches(&setting);
    // The first thing that is asked of the cluster: whether the token is there, or of a
    // KubeadmConfig that it be made.
    let reads = (
        ConfigKind::Windlass,
        config_of(&api, "reads", "c", with_token()),
    );
    let mut joins = kubeadm_config_value();
    joins["spec"] = json!({"joinConfiguration": {"nodeRegistration": {"name": "x"}}});
    api.put(KUBEADM_CONFIGS, joins.clone());
    let writes = (
        ConfigKind::Kubeadm,
        Arc::new(serde_json::from_value(joins).unwrap()),
    );
    let (filled, empty) = (Arc::new(filled), Arc::new(empty));
    for (kind, config) in [reads, writes] {
        for (caches, is_kept) in [(&filled, true), (&empty, false)] {
            let workloads = Arc::new(Workloads::new(
                setting.client.clone(),
                None,
                setting.metrics.clone(),
            ));
            let context = Context::new(&setting, kind, core(), caches.clone(), workloads.clone());
            work::reconcile(config.clone(), Arc::new(context))
                .await
                .expect_err("nobody listens");
            assert_eq!(
                !workloads.answers(&("n".into(), "c".into())),
                is_kept,
                "what is known of it, {kind:?}"
            );
        }
    }
    watching.abort();
}

/// What was counted of its requests stays after one that failed, although the client is made anew
/// then, and goes with the cluster.
#[tokio::test]
async fn counts_of_requests_go_with_their_cluster() {
    let (api, metrics) = (Api::default(), Metrics::new());
    let port = closed_port();
    api.put(SECRETS, kubeconfig("c", port));
    let workloads = Workloads::new(api.client(), None, metrics.clone());
    let tasks = tokio::runtime::Handle::current().metrics();
    let before = tasks.num_alive_tasks();
    let is_counted = || {
        metrics
            .text()
            .contains(&format!("host=\"127.0.0.1:{port}\""))
    };
    assert_eq!(read(&workloads, "c").await, Err(Rejection::Silent));
    let until = async |ended: &dyn Fn() -> bool| {
        let ended = async {
            while !ended() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), ended)
            .await
            .expect("it ends");
    };
    until(&|| tasks.num_alive_tasks() == before).await;
    assert!(is_counted(), "the client is gone, and the cluster is there");
    workloads.forget(&("n".into(), "c".into()));
    until(&|| !is_counted()).await;
}
