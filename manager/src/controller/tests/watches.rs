//! What is watched, and who hears of a change.

use super::*;

/// What is watched for a kind is asked for only where the flag names it, and this process may write
/// for it.
#[tokio::test]
async fn only_kinds_that_flags_name_are_watched() {
    let both = "--kinds=WindlassConfig,KubeadmConfig";
    for (kinds, may_write, expected) in [
        ("--kinds=WindlassConfig", true, [true, false]),
        ("--kinds=KubeadmConfig", true, [false, true]),
        (both, true, [true, true]),
        (both, false, [true, false]),
    ] {
        let api = Api::default();
        api.serve_core(&["v1beta2"], &["clusters", "machines", "machinepools"]);
        let mut setting = setting(
            &api,
            &[kinds, "--leader-elect"],
            Leadership::without_election(),
        );
        if !may_write {
            let mandate = Mandate::of([Leadership::of_candidate()]);
            setting.mandates.insert(ConfigKind::Kubeadm, mandate);
        }
        let shutdown = setting.shutdown.clone();
        let running = tokio::spawn(super::super::run(setting));
        let is_asked = |part: &str| {
            api.asked(|_| true)
                .iter()
                .any(|asked| asked.contains(part) && asked.contains("watch="))
        };
        let wanted = if expected[1] {
            "/kubeadmconfigs?"
        } else {
            "/windlassconfigs?"
        };
        while !is_asked(wanted) || !is_asked("/machinepools?") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(
            ["/windlassconfigs?", "/kubeadmconfigs?"].map(is_asked),
            expected,
            "{kinds}"
        );
        shutdown.begin();
        running.await.unwrap().expect("it ends in order");
    }
}

/// The core is upgraded while the manager runs: it is read in the new version once all of its kinds
/// have that, and what was in the caches comes anew.
#[tokio::test(start_paused = true)]
async fn the_core_is_read_in_the_version_that_it_has_now() {
    let api = site();
    api.serve_core(&["v1beta1"], &[]);
    let setting = setting(&api, &[], Leadership::without_election());
    let (shutdown, readiness) = (setting.shutdown.clone(), setting.readiness.clone());
    let running = tokio::spawn(super::super::run(setting));
    let watched = |version: &str| {
        let part = format!("/apis/cluster.x-k8s.io/{version}/machines?");
        api.asked(|_| true)
            .iter()
            .filter(|asked| asked.contains(&part) && asked.contains("watch="))
            .count()
    };
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 0));
    // Some of its CRDs are new, and others not yet.
    api.serve_core(&["v1beta1", "v1beta2"], &["clusters", "machines"]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 0));
    api.serve_core(
        &["v1beta1", "v1beta2"],
        &["clusters", "machines", "machinepools"],
    );
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 1));
    assert!(
        readiness
            .checks()
            .iter()
            .all(|(_, failure)| failure.is_none())
    );
    // The work goes on: what the config needs is found in the new version alone.
    let config = api.get(&format!("{CONFIGS}/w")).unwrap();
    assert_eq!(
        config["status"]["initialization"]["dataSecretCreated"], true,
        "{config}"
    );
    // A core that is away for a while is no other one.
    api.0.lock().unwrap().objects.remove("/apis");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 1));
    shutdown.begin();
    running.await.unwrap().expect("it ends in order");
}

/// A part that works on WindlassConfigs, and what it hears of.
fn part(namespace: Option<&str>, leadership: Leadership) -> (Part, Triggers) {
    let (sender, triggers) = futures::channel::mpsc::unbounded();
    let part = Part {
        kind: ConfigKind::Windlass,
        mandate: Mandate::of([leadership]),
        namespace: namespace.map(str::to_owned),
        echoes: Arc::default(),
        sender,
    };
    (part, triggers)
}

#[tokio::test]
async fn changes_reach_the_part_whose_namespace_it_is() {
    let api = Api::default();
    let setting = setting(&api, &[], Leadership::without_election());
    let (_, caches) = empty_caches(&setting);
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let reference =
        json!({"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": "w"});
    let machine = json!({
        "apiVersion": "x/y", "kind": "Machine", "metadata": {"name": "m", "namespace": "n"}, "spec": {"bootstrap": {"configRef": reference}},
    });
    let change = Change::Machine(Arc::new(serde_json::from_value(machine).unwrap()));
    let (parts, mut receivers): (Vec<_>, Vec<_>) = [None, Some("n"), Some("other")]
        .map(|namespace| part(namespace, Leadership::without_election()))
        .into_iter()
        .unzip();
    // Who may not write looks at nothing, so that nothing piles up.
    let (idle_part, mut idle) = part(None, Leadership::of_candidate());
    told(&change, &caches, &workloads, &[idle_part]);
    assert!(idle.try_recv().is_err());
    told(&change, &caches, &workloads, &parts);
    let got: Vec<bool> = receivers
        .iter_mut()
        .map(|receiver| receiver.try_recv().is_ok())
        .collect();
    assert_eq!(got, [true, true, false]);
}

/// Who waited for the init lock of a machine that is gone need not wait any longer; of one that is
/// there only its own config hears.
#[tokio::test]
async fn machines_of_the_control_plane_hear_of_one_that_is_gone() {
    let api = Api::default();
    let machine = |name: &str| {
        let reference = json!({"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": format!("config-{name}")});
        let labels = if name.starts_with("worker") {
            json!({})
        } else {
            json!({"cluster.x-k8s.io/control-plane": ""})
        };
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": "1", "labels": labels},
            "spec": {"clusterName": "c", "bootstrap": {"configRef": reference}},
        })
    };
    for name in ["a", "b", "worker"] {
        api.put(
            "/apis/cluster.x-k8s.io/v1beta2/namespaces/n/machines",
            machine(name),
        );
    }
    let setting = setting(&api, &[], Leadership::without_election());
    let (caches, watching) = filled_caches(&setting).await;
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let heard = |name: &str| {
        let (part, mut receiver) = part(None, Leadership::without_election());
        told(
            &Change::Machine(Arc::new(serde_json::from_value(machine(name)).unwrap())),
            &caches,
            &workloads,
            &[part],
        );
        std::iter::from_fn(|| receiver.try_recv().ok())
            .map(|(_, name)| name.to_string())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        heard("gone"),
        ["config-a", "config-b", "config-gone"]
            .map(str::to_owned)
            .into()
    );
    assert_eq!(heard("a"), ["config-a".to_owned()].into());
    assert_eq!(
        heard("worker-gone"),
        ["config-worker-gone".to_owned()].into(),
        "a worker held no lock"
    );
    watching.abort();
}

/// The label of `--watch-filter` and the namespaces of `--namespace` are asked of the API server.
#[tokio::test]
async fn only_what_flags_name_is_watched() {
    for (arguments, namespace, expected) in [
        (
            &[][..],
            None,
            "/apis/bootstrap.windlass.dev/v1beta2/windlassconfigs?",
        ),
        (
            &["--namespace=a"],
            Some("a"),
            "/apis/bootstrap.windlass.dev/v1beta2/namespaces/a/windlassconfigs?",
        ),
        (
            &["--watch-filter=x"],
            None,
            "labelSelector=cluster.x-k8s.io%2Fwatch-filter%3Dx",
        ),
    ] {
        let api = Api::default();
        let setting = setting(&api, arguments, Leadership::without_election());
        assert_eq!(caches::namespaces(&setting), [namespace.map(str::to_owned)]);
        let (configs, _store) = caches::configs(&setting, ConfigKind::Windlass, namespace);
        drop(tokio::time::timeout(Duration::from_millis(50), Box::pin(configs).next()).await);
        let asked = api.asked(|method| *method == Method::GET);
        assert!(
            asked.len() >= 2 && asked.iter().all(|asked| asked.contains(expected)),
            "{asked:?}"
        );
    }
    let setting = setting(
        &Api::default(),
        &["--namespace=b,a"],
        Leadership::without_election(),
    );
    assert_eq!(
        caches::namespaces(&setting),
        [Some("a".to_owned()), Some("b".to_owned())]
    );
}

/// The watch tells of what was written; nobody looks at it again until something else changes.
#[tokio::test]
async fn nobody_looks_again_at_his_own_writing() {
    let api = site();
    let (context, setting) = context(&api);
    work::reconcile(config(), context.clone())
        .await
        .expect("nothing is missing");
    let asked = || api.asked(|_| true).len();
    let before = asked();
    let later = work::reconcile(config(), context.clone())
        .await
        .expect("it is done");
    assert_ne!(later, setting.flags.sync_period, "some time of it is over");
    assert_eq!(asked(), before);
    let written = api.get(&format!("{CONFIGS}/w")).unwrap();
    assert_ne!(
        written["metadata"]["resourceVersion"], "1",
        "it was written"
    );
    let looks = |object: Value| {
        let config: Arc<Config> = Arc::new(serde_json::from_value(object).unwrap());
        work::reconcile(config, context.clone())
    };
    let anew = |field: &str, value: Value| {
        let mut object = written.clone();
        object["metadata"]["resourceVersion"] = json!("100");
        object["metadata"][field] = value;
        object
    };
    looks(written.clone()).await.expect("it is done");
    looks(anew("managedFields", json!([{"manager": "core"}])))
        .await
        .expect("it is done");
    assert_eq!(
        asked(),
        before,
        "neither what it wrote nor who wrote what is news"
    );
    looks(anew("annotations", json!({"a": "b"})))
        .await
        .expect("it is looked at");
    let after = asked();
    assert!(after > before);
    context.echoes.tell(&("n".into(), "w".into()));
    looks(anew("annotations", json!({"a": "b"})))
        .await
        .expect("it is looked at");
    assert!(asked() > after);
}
