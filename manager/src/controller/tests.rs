//! The controller against an API server in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, StatusCode, Uri};
use futures::{FutureExt, StreamExt};
use kube::Client;
use kube::runtime::controller::Action as Next;
use serde_json::{Value, json};
use windlass::contract::rights::{RIGHTS, RIGHTS_AT_HOME, RIGHTS_ON_KUBEADM_CONFIGS};
use windlass::reconcile::{Action, Event, Key, Realm, World, Write};

use super::caches::{self, Caches, Config, Scope};
use super::requests::{self, Refusal};
use super::resources::{self, Core};
use super::triggers::{Change, Part, told};
use super::work::{self, Context, Failure};
use super::workload::Workloads;
use super::{Setting, keys};
use crate::election::{Candidacy, Elector, KubeadmLease, Leadership, Mandate};
use crate::flags::{ConfigKind, Flags};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::shard::{Mandates, Shard};
use crate::shutdown::Shutdown;

const CONFIGS: &str = "/apis/bootstrap.windlass.dev/v1beta2/namespaces/n/windlassconfigs";
const SECRETS: &str = "/api/v1/namespaces/n/secrets";

/// Objects by path, and what was asked for.
#[derive(Clone, Default)]
struct Api(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Value>,
    asked: Vec<(Method, String)>,
    /// The media types of what was written.
    media_types: Vec<String>,
    /// The answer to requests of that method, whatever they are.
    refused: Option<(Method, StatusCode)>,
    /// How long each request takes.
    takes: Duration,
}

impl Api {
    fn put(&self, collection: &str, object: Value) {
        let path = format!("{collection}/{}", object["metadata"]["name"].as_str().unwrap());
        self.0.lock().unwrap().objects.insert(path, object);
    }

    /// What discovery says of the core: all of its kinds in the first version, and some of them in all.
    fn serve_core(&self, versions: &[&str], kinds: &[&str]) {
        let mut state = self.0.lock().unwrap();
        let named = |version: &&str| json!({"groupVersion": format!("cluster.x-k8s.io/{version}"), "version": version});
        let served: Vec<Value> = versions.iter().map(named).collect();
        let groups = json!([{"name": "cluster.x-k8s.io", "versions": served, "preferredVersion": served[0]}]);
        state.objects.insert("/apis".to_owned(), json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}));
        for (at, version) in versions.iter().enumerate() {
            let kinds = if at == 0 { &["clusters", "machines", "machinepools"] } else { kinds };
            let resource = |name: &&str| json!({"name": name, "singularName": "", "namespaced": true, "kind": name, "verbs": ["list"]});
            let resources: Vec<Value> = kinds.iter().map(resource).collect();
            let list = json!({"kind": "APIResourceList", "groupVersion": format!("cluster.x-k8s.io/{version}"), "resources": resources});
            state.objects.insert(format!("/apis/cluster.x-k8s.io/{version}"), list);
        }
    }

    fn get(&self, path: &str) -> Option<Value> {
        self.0.lock().unwrap().objects.get(path).cloned()
    }

    fn refuse(&self, method: Method, code: StatusCode) {
        self.0.lock().unwrap().refused = Some((method, code));
    }

    fn refuse_nothing(&self) {
        self.0.lock().unwrap().refused = None;
    }

    /// Methods and paths, with their queries, of all requests but reads of one object.
    fn asked(&self, is_wanted: impl Fn(&Method) -> bool) -> Vec<String> {
        let state = self.0.lock().unwrap();
        state.asked.iter().filter(|(method, _)| is_wanted(method)).map(|(method, path)| format!("{method} {path}")).collect()
    }

    fn writes(&self) -> Vec<String> {
        self.asked(|method| *method != Method::GET)
    }

    fn client(&self) -> Client {
        let api = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let api = api.clone();
            async move {
                let (head, body) = request.into_parts();
                let takes = api.0.lock().unwrap().takes;
                tokio::time::sleep(takes).await;
                assert_has_right(&head.method, &head.uri);
                if head.uri.query().is_some_and(|query| query.contains("watch=")) {
                    api.0.lock().unwrap().asked.push((head.method, head.uri.to_string()));
                    return std::future::pending().await;
                }
                let media_type = head.headers.get("content-type").map(|value| value.to_str().unwrap().to_owned());
                api.0.lock().unwrap().media_types.extend(media_type.filter(|_| head.method != Method::GET));
                let body = to_bytes(Body::new(body), usize::MAX).await.unwrap();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let (code, answer) = api.answer(head.method, &head.uri.to_string(), head.uri.path(), body);
                Ok::<_, Infallible>(Response::builder().status(code).body(Body::from(answer.to_string())).unwrap())
            }
        });
        Client::new(service, "default")
    }

    fn answer(&self, method: Method, asked: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let mut state = self.0.lock().unwrap();
        state.asked.push((method.clone(), asked.to_owned()));
        let refused = |code: StatusCode| (code, json!({"kind": "Status", "code": code.as_u16(), "message": "refused", "reason": "x"}));
        if let Some((_, code)) = state.refused.iter().find(|(refused, _)| *refused == method) {
            return refused(*code);
        }
        let path = path.strip_suffix("/status").unwrap_or(path);
        let is_collection = path.ends_with("s") && !state.objects.contains_key(path) && method == Method::GET && path.starts_with("/apis/");
        match method.as_str() {
            "GET" if is_collection => {
                let (root, plural) = path.rsplit_once('/').unwrap();
                let is_of = |path: &str| path.starts_with(root) && path.rsplit('/').nth(1) == Some(plural);
                let items: Vec<&Value> = state.objects.iter().filter(|(path, _)| is_of(path)).map(|(_, object)| object).collect();
                (
                    StatusCode::OK,
                    json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}),
                )
            }
            "GET" => state.objects.get(path).map_or_else(|| refused(StatusCode::NOT_FOUND), |object| (StatusCode::OK, object.clone())),
            "POST" => {
                let path = format!("{path}/{}", body["metadata"]["name"].as_str().unwrap_or("generated"));
                state.objects.insert(path, body.clone());
                (StatusCode::CREATED, body)
            }
            "PATCH" => {
                let mut object = state.objects[path].clone();
                for field in ["status", "spec"].into_iter().filter(|field| body.get(field).is_some()) {
                    object[field] = body[field].clone();
                }
                state.objects.insert(path.to_owned(), object.clone());
                (StatusCode::OK, object)
            }
            other => panic!("{other} {path}"),
        }
    }
}

/// The roles of the release allow it.
fn assert_has_right(method: &Method, uri: &Uri) {
    let path: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
    let (group, rest) = match path[..] {
        ["api", _, ref rest @ ..] => ("", rest),
        ["apis", group, _, ref rest @ ..] => (group, rest),
        // Discovery is for everybody.
        _ => return,
    };
    let rest = if rest.first() == Some(&"namespaces") { &rest[2..] } else { rest };
    let [resource, named @ ..] = rest else { return };
    let verb = match (method.as_str(), named.is_empty()) {
        ("GET", false) => "get",
        ("GET", true) if uri.query().is_some_and(|query| query.contains("watch=")) => "watch",
        ("GET", true) => "list",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", _) => "delete",
        other => panic!("{other:?} {uri}"),
    };
    let resource = named.get(1).map_or((*resource).to_owned(), |part| format!("{resource}/{part}"));
    let mut rights = RIGHTS.iter().chain(RIGHTS_AT_HOME).chain(RIGHTS_ON_KUBEADM_CONFIGS);
    let has_right = rights.any(|right| right.group == group && right.resource == resource && right.verbs.contains(&verb));
    assert!(has_right, "{verb} {resource}.{group}");
}

/// An API server with a cluster that runs, and one Machine whose config needs no token.
fn site() -> Api {
    let api = Api::default();
    let core = "/apis/cluster.x-k8s.io/v1beta2/namespaces/n";
    let metadata = |name: &str| json!({"name": name, "namespace": "n", "uid": name, "resourceVersion": "1"});
    api.put(
        &format!("{core}/clusters"),
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": metadata("c"),
            "spec": {"controlPlaneEndpoint": {"host": "h", "port": 1}},
            "status": {
                "initialization": {"infrastructureProvisioned": true},
                "conditions": [{"type": "ControlPlaneInitialized", "status": "True"}],
            },
        }),
    );
    api.put(
        &format!("{core}/machines"),
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": metadata("m"),
            "spec": {"clusterName": "c", "version": "v1.34.1"},
        }),
    );
    let key = windlass::reconcile::KeyRequest {
        algorithm: windlass::api::node::EncryptionAlgorithm::EcdsaP256,
        validity: Some((1_700_000_000, 1_900_000_000)),
    };
    let data = keys::pair(&key).unwrap();
    api.put(SECRETS, json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata("c-ca"), "data": data}));
    api.put(CONFIGS, config_value());
    api
}

fn config_value() -> Value {
    let owner = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": "m", "uid": "m"});
    json!({
        "apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfig",
        "metadata": {"name": "w", "namespace": "n", "uid": "w", "resourceVersion": "1", "generation": 1, "ownerReferences": [owner]},
        "spec": {"joinConfiguration": {"discovery": {"file": {"kubeConfigPath": "/k"}}}},
    })
}

fn config() -> Arc<Config> {
    Arc::new(serde_json::from_value(config_value()).unwrap())
}

/// Of one shard, for all of these Leases.
fn mandates(all: impl IntoIterator<Item = Leadership>) -> Mandates {
    Mandates::of_each(vec![Mandate::of(all)])
}

/// All that is in a namespace, or in all.
fn scope(namespace: Option<&str>) -> Scope {
    Scope { namespace: namespace.map(str::to_owned), shard: Shard { index: 0, count: 1 } }
}

fn setting(api: &Api, arguments: &[&str], leadership: Leadership) -> Setting {
    let flags = Flags::of(arguments);
    let mandates = flags.kinds.iter().map(|kind| (*kind, mandates([leadership.clone()]))).collect();
    Setting { client: api.client(), flags, metrics: Metrics::new(), readiness: Readiness::default(), mandates, shutdown: Shutdown::new() }
}

/// Caches that nothing fills.
fn core() -> Core {
    Core::in_version("v1beta2")
}

fn empty_caches(setting: &Setting) -> (Core, Caches) {
    let (caches, _) = Caches::begin(setting, &core());
    (core(), caches)
}

fn context_of(setting: &Setting) -> Arc<Context> {
    context_of_kind(setting, ConfigKind::Windlass)
}

fn context_of_kind(setting: &Setting, kind: ConfigKind) -> Arc<Context> {
    let (core, caches) = empty_caches(setting);
    let workloads = Workloads::new(setting.client.clone(), None, setting.metrics.clone());
    Arc::new(Context::new(setting, kind, core, Arc::new(caches), Arc::new(workloads)))
}

fn context(api: &Api) -> (Arc<Context>, Setting) {
    let setting = setting(api, &[], Leadership::without_election());
    (context_of(&setting), setting)
}

#[tokio::test]
async fn a_config_of_either_kind_goes_from_its_machine_to_its_data() {
    for (kind, configs, value) in
        [(ConfigKind::Windlass, CONFIGS, config_value()), (ConfigKind::Kubeadm, KUBEADM_CONFIGS, kubeadm_config_value())]
    {
        let api = site();
        api.put(configs, value.clone());
        let setting = setting(&api, &[&format!("--kinds={}", kind.as_str()), "--leader-elect"], Leadership::without_election());
        let config = Arc::new(serde_json::from_value(value).unwrap());
        let next = work::reconcile(config, context_of_kind(&setting, kind)).await.expect("nothing is missing");
        assert_eq!(next, Next::requeue(setting.flags.sync_period));
        let by_us = "?&fieldManager=windlass-manager";
        assert_eq!(api.writes(), [format!("POST {SECRETS}{by_us}"), format!("PATCH {configs}/w/status{by_us}")]);
        let secret = api.get(&format!("{SECRETS}/w")).unwrap();
        assert!(secret["data"]["value"].is_string());
        assert_eq!(secret["metadata"]["ownerReferences"][0]["kind"], kind.as_str());
        assert_eq!(api.get(&format!("{configs}/w")).unwrap()["status"]["dataSecretName"], "w");
        let name = kind.as_str().to_lowercase();
        let counted = format!(r#"controller_runtime_reconcile_total{{controller="{name}",result="success"}} 1"#);
        let text = setting.metrics.text();
        assert!(text.contains(&counted), "{text}");
    }
}

#[tokio::test]
async fn who_does_not_lead_writes_nothing() {
    let api = site();
    let flags = Flags::of(&[]);
    let elector = Elector::new(api.client(), Candidacy::own("windlass-system".to_owned(), "me".to_owned()), flags.lease, Metrics::new());
    let context = context_of(&setting(&api, &[], elector.leadership()));
    let failure = work::reconcile(config(), context.clone()).await.expect_err("it may not write");
    assert!(matches!(failure, Failure::NotLeading), "{failure}");
    assert_eq!(api.writes(), Vec::<String>::new());
    assert_eq!(work::after_failure(config(), &failure, context), Next::requeue(Duration::from_millis(100)));
}

/// A KubeadmConfig that needs no token.
fn kubeadm_config_value() -> Value {
    let mut config = config_value();
    config["apiVersion"] = json!("bootstrap.cluster.x-k8s.io/v1beta2");
    config["kind"] = json!("KubeadmConfig");
    config
}

const KUBEADM_CONFIGS: &str = "/apis/bootstrap.cluster.x-k8s.io/v1beta2/namespaces/n/kubeadmconfigs";
const OF_KUBEADM: [&str; 2] = ["--kinds=KubeadmConfig", "--leader-elect"];

/// Our own Lease is not enough for them.
#[tokio::test]
async fn without_the_kubeadm_providers_lease_nothing_is_written() {
    let api = site();
    api.put(KUBEADM_CONFIGS, kubeadm_config_value());
    let config = Arc::new(serde_json::from_value(kubeadm_config_value()).unwrap());
    let mut setting = setting(&api, &OF_KUBEADM, Leadership::without_election());
    let lease = KubeadmLease::new(api.client(), "windlass-system", setting.flags.lease, Metrics::new());
    setting.mandates.insert(ConfigKind::Kubeadm, mandates([Leadership::without_election(), lease.leadership()]));
    let failure = work::reconcile(config, context_of_kind(&setting, ConfigKind::Kubeadm)).await.expect_err("it may not write");
    assert!(matches!(failure, Failure::NotLeading), "{failure}");
    assert_eq!(api.writes(), Vec::<String>::new());
}

/// What is watched for a kind is asked for only where the flag names it, and this process may write for it.
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
        let mut setting = setting(&api, &[kinds, "--leader-elect"], Leadership::without_election());
        if !may_write {
            let lease = KubeadmLease::new(api.client(), "windlass-system", setting.flags.lease, Metrics::new());
            setting.mandates.insert(ConfigKind::Kubeadm, mandates([lease.leadership()]));
        }
        let shutdown = setting.shutdown.clone();
        let running = tokio::spawn(super::run(setting));
        let is_asked = |part: &str| api.asked(|_| true).iter().any(|asked| asked.contains(part) && asked.contains("watch="));
        let wanted = if expected[1] { "/kubeadmconfigs?" } else { "/windlassconfigs?" };
        while !is_asked(wanted) || !is_asked("/machinepools?") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(["/windlassconfigs?", "/kubeadmconfigs?"].map(is_asked), expected, "{kinds}");
        shutdown.begin();
        running.await.unwrap().expect("it ends in order");
    }
}

/// Codes 409 and 404 are no faults: somebody else was quicker.
#[tokio::test]
async fn who_is_overtaken_looks_again_soon() {
    for code in [StatusCode::CONFLICT, StatusCode::NOT_FOUND] {
        let api = site();
        let (context, setting) = context(&api);
        api.refuse(Method::POST, code);
        let failure = work::reconcile(config(), context.clone()).await.expect_err("it was overtaken");
        assert!(matches!(failure, Failure::Overtaken), "{failure}");
        assert_eq!(work::after_failure(config(), &failure, context), Next::requeue(Duration::from_millis(100)));
        assert!(setting.metrics.text().contains(r#"result="requeue"} 1"#));
    }
}

/// What is read lags behind as long as a watch is stale, which may be minutes: nobody asks ten times a second for so long.
#[tokio::test]
async fn who_is_overtaken_again_and_again_waits_longer() {
    let (context, _) = context(&site());
    let pauses: Vec<_> = (0..8).map(|_| work::after_failure(config(), &Failure::Overtaken, context.clone())).collect();
    let expected = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000];
    assert_eq!(pauses, expected.map(|pause| Next::requeue(Duration::from_millis(pause))));
}

#[tokio::test]
async fn failures_are_looked_at_later_each_time() {
    let api = site();
    let (context, _) = context(&api);
    api.refuse(Method::POST, StatusCode::FORBIDDEN);
    let mut pauses = Vec::new();
    for _ in 0..10 {
        let failure = work::reconcile(config(), context.clone()).await.expect_err("it may not");
        assert_eq!(failure.to_string(), "cannot create Secret n/w: refused");
        pauses.push(work::after_failure(config(), &failure, context.clone()));
    }
    let expected = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000];
    assert_eq!(pauses, expected.map(|pause| Next::requeue(Duration::from_millis(pause))));
    let failure = Failure::Fault("x".to_owned());
    let first = Next::requeue(Duration::from_millis(500));
    context.forget(&("n".to_owned(), "w".to_owned()));
    assert_eq!(work::after_failure(config(), &failure, context.clone()), first);
    api.refuse_nothing();
    work::reconcile(config(), context.clone()).await.expect("now it may");
    assert_eq!(work::after_failure(config(), &failure, context), first);
}

/// Cluster API's API servers in memory take Secrets in no other form.
#[tokio::test]
async fn secrets_of_workload_clusters_are_sent_as_client_go_sends_them() {
    let api = Api::default();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "t", "metadata": {"name": "x", "namespace": "n"}, "data": {"k": "dg=="},
    });
    let key = |realm| Key { realm, group: String::new(), kind: "Secret".to_owned(), namespace: "n".to_owned(), name: "x".to_owned() };
    for realm in [Realm::Workload, Realm::Management] {
        let action = Action::Create(secret.clone());
        requests::write(&api.client(), &resources::kubernetes("Secret"), &key(realm), &action).await.expect("it is taken");
    }
    assert_eq!(api.0.lock().unwrap().media_types, ["application/vnd.kubernetes.protobuf", "application/json"]);
}

/// The core is upgraded while the manager runs: it is read in the new version once all of its kinds have that, and what was in the caches comes anew.
#[tokio::test(start_paused = true)]
async fn the_core_is_read_in_the_version_that_it_has_now() {
    let api = site();
    api.serve_core(&["v1beta1"], &[]);
    let setting = setting(&api, &[], Leadership::without_election());
    let (shutdown, readiness) = (setting.shutdown.clone(), setting.readiness.clone());
    let running = tokio::spawn(super::run(setting));
    let watched = |version: &str| {
        let part = format!("/apis/cluster.x-k8s.io/{version}/machines?");
        api.asked(|_| true).iter().filter(|asked| asked.contains(&part) && asked.contains("watch=")).count()
    };
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 0));
    // Some of its CRDs are new, and others not yet.
    api.serve_core(&["v1beta1", "v1beta2"], &["clusters", "machines"]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 0));
    api.serve_core(&["v1beta1", "v1beta2"], &["clusters", "machines", "machinepools"]);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 1));
    assert!(readiness.checks().iter().all(|(_, failure)| failure.is_none()));
    // The work goes on: what the config needs is found in the new version alone.
    let config = api.get(&format!("{CONFIGS}/w")).unwrap();
    assert_eq!(config["status"]["initialization"]["dataSecretCreated"], true, "{config}");
    // A core that is away for a while is no other one.
    api.0.lock().unwrap().objects.remove("/apis");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((watched("v1beta1"), watched("v1beta2")), (1, 1));
    shutdown.begin();
    running.await.unwrap().expect("it ends in order");
}

#[tokio::test]
async fn changes_reach_the_part_whose_namespace_it_is() {
    let api = Api::default();
    let setting = setting(&api, &[], Leadership::without_election());
    let (_, caches) = empty_caches(&setting);
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let reference = json!({"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": "w"});
    let machine = json!({
        "apiVersion": "x/y", "kind": "Machine", "metadata": {"name": "m", "namespace": "n"}, "spec": {"bootstrap": {"configRef": reference}},
    });
    let change = Change::Machine(serde_json::from_value(machine).unwrap());
    let (parts, mut receivers): (Vec<_>, Vec<_>) = [None, Some("n"), Some("other")]
        .map(|namespace| {
            let (sender, receiver) = futures::channel::mpsc::unbounded();
            let mandate = Mandate::of([Leadership::without_election()]);
            (
                Part { kind: ConfigKind::Windlass, mandate, scope: scope(namespace), echoes: Arc::default(), sender },
                receiver,
            )
        })
        .into_iter()
        .unzip();
    // Who may not write looks at nothing, so that nothing piles up.
    let (sender, mut idle) = futures::channel::mpsc::unbounded();
    let lease = KubeadmLease::new(api.client(), "windlass-system", setting.flags.lease, Metrics::new());
    let part =
        Part { kind: ConfigKind::Windlass, mandate: Mandate::of([lease.leadership()]), scope: scope(None), echoes: Arc::default(), sender };
    told(&change, &caches, &workloads, &[part]);
    assert!(idle.try_recv().is_err());
    // Of four shards one has the namespace.
    let of_shards = Shard::all(4).map(|shard| {
        let (sender, receiver) = futures::channel::mpsc::unbounded();
        let mandate = Mandate::of([Leadership::without_election()]);
        (
            Part { kind: ConfigKind::Windlass, mandate, scope: Scope { namespace: None, shard }, echoes: Arc::default(), sender },
            receiver,
        )
    });
    let (parts_of_shards, mut receivers_of_shards): (Vec<_>, Vec<_>) = of_shards.unzip();
    told(&change, &caches, &workloads, &parts_of_shards);
    let heard: Vec<bool> = receivers_of_shards.iter_mut().map(|receiver| receiver.try_recv().is_ok()).collect();
    assert_eq!(heard, Shard::all(4).map(|shard| shard.has("n")).collect::<Vec<_>>());
    assert_eq!(heard.iter().filter(|heard| **heard).count(), 1);
    told(&change, &caches, &workloads, &parts);
    let got: Vec<bool> = receivers.iter_mut().map(|receiver| receiver.try_recv().is_ok()).collect();
    assert_eq!(got, [true, true, false]);
}

/// Who waited for the init lock of a machine that is gone need not wait any longer; of one that is there only its own config hears.
#[tokio::test]
async fn machines_of_the_control_plane_hear_of_one_that_is_gone() {
    let api = Api::default();
    let machine = |name: &str| {
        let reference = json!({"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": format!("config-{name}")});
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": "1", "labels": {"cluster.x-k8s.io/control-plane": ""}},
            "spec": {"clusterName": "c", "bootstrap": {"configRef": reference}},
        })
    };
    for name in ["a", "b"] {
        api.put("/apis/cluster.x-k8s.io/v1beta2/namespaces/n/machines", machine(name));
    }
    let setting = setting(&api, &[], Leadership::without_election());
    let (caches, watches) = Caches::begin(&setting, &core());
    let watching = tokio::spawn(futures::future::join3(
        watches.clusters.for_each(|_| std::future::ready(())),
        watches.machines.for_each(|_| std::future::ready(())),
        watches.machine_pools.for_each(|_| std::future::ready(())),
    ));
    caches.filled().await;
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let heard = |name: &str| {
        let (sender, mut receiver) = futures::channel::mpsc::unbounded();
        let mandate = Mandate::of([Leadership::without_election()]);
        let part = Part { kind: ConfigKind::Windlass, mandate, scope: scope(None), echoes: Arc::default(), sender };
        told(&Change::Machine(serde_json::from_value(machine(name)).unwrap()), &caches, &workloads, &[part]);
        std::iter::from_fn(|| receiver.try_recv().ok()).map(|reference| reference.name).collect::<BTreeSet<_>>()
    };
    assert_eq!(heard("gone"), ["config-a", "config-b", "config-gone"].map(str::to_owned).into());
    assert_eq!(heard("a"), ["config-a".to_owned()].into());
    watching.abort();
}

#[tokio::test]
async fn a_panic_is_caught_counted_and_said() {
    let api = site();
    let (context, setting) = context(&api);
    let failure = work::guarded(async { panic!("on purpose") }, &config(), &context).await.expect_err("it panicked");
    assert!(matches!(failure, Failure::Fault(_)), "{failure}");
    assert!(setting.metrics.text().contains(r#"controller_runtime_reconcile_panics_total{controller="windlassconfig"} 1"#));
    let conditions = api.get(&format!("{CONFIGS}/w")).unwrap()["status"]["conditions"].clone();
    let data = conditions.as_array().unwrap().iter().find(|condition| condition["type"] == "DataSecretAvailable").unwrap();
    assert!(data["message"].as_str().unwrap().starts_with("a fault of the controller ended the work"), "{data}");
    // Others, and this one, go on.
    work::reconcile(config(), context).await.expect("the next time it works");
}

#[tokio::test]
async fn events_are_published_and_their_failure_is_no_failure() {
    let api = site();
    let (context, _) = context(&api);
    let key =
        Key { realm: Realm::Management, group: String::new(), kind: "Secret".to_owned(), namespace: "n".to_owned(), name: "x".to_owned() };
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x", "namespace": "n"}});
    let event = Event { reason: "BootstrapTokenRecreated", message: "it was gone".to_owned() };
    let write = Write { key: key.clone(), action: Action::Create(secret), event: Some(event) };
    let mut world = World::new(config_value(), String::new());
    context.write(&config(), &mut world, write.clone()).await.expect("it is written");
    let events = api.writes().into_iter().find(|write| write.starts_with("POST /apis/events.k8s.io/v1/namespaces/n/events"));
    assert!(events.is_some(), "{:?}", api.writes());
    api.refuse(Method::POST, StatusCode::FORBIDDEN);
    let merge = Write { action: Action::Merge(json!({"spec": {}})), ..write };
    context.write(&config(), &mut world, merge).await.expect("it is written all the same");
}

/// The label of `--watch-filter` and the namespaces of `--namespace` are asked of the API server.
#[tokio::test]
async fn only_what_flags_name_is_watched() {
    for (arguments, namespace, expected) in [
        (&[][..], None, "/apis/bootstrap.windlass.dev/v1beta2/windlassconfigs?"),
        (&["--namespace=a"], Some("a"), "/apis/bootstrap.windlass.dev/v1beta2/namespaces/a/windlassconfigs?"),
        (&["--watch-filter=x"], None, "labelSelector=cluster.x-k8s.io%2Fwatch-filter%3Dx"),
    ] {
        let api = Api::default();
        let setting = setting(&api, arguments, Leadership::without_election());
        assert_eq!(caches::namespaces(&setting), [namespace.map(str::to_owned)]);
        let (configs, _store) = caches::configs(&setting, ConfigKind::Windlass, &scope(namespace));
        drop(tokio::time::timeout(Duration::from_millis(50), Box::pin(configs).next()).await);
        let asked = api.asked(|method| *method == Method::GET);
        assert!(asked.len() >= 2 && asked.iter().all(|asked| asked.contains(expected)), "{asked:?}");
    }
    let setting = setting(&Api::default(), &["--namespace=b,a"], Leadership::without_election());
    assert_eq!(caches::namespaces(&setting), [Some("a".to_owned()), Some("b".to_owned())]);
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
async fn read(workloads: &Workloads, cluster: &str) -> Result<Option<Value>, Refusal> {
    let key = Key {
        realm: Realm::Workload,
        group: String::new(),
        kind: "Secret".to_owned(),
        namespace: "kube-system".to_owned(),
        name: "x".to_owned(),
    };
    workloads.read(&("n".to_owned(), cluster.to_owned()), &resources::kubernetes("Secret"), &key).await
}

/// A spec whose token has to be in the workload cluster.
fn with_token() -> Value {
    json!({"joinConfiguration": {"discovery": {"bootstrapToken": {"token": "abcdef.0123456789abcdef", "unsafeSkipCAVerification": true}}}})
}

/// A server that has nothing, and answers no write; gives its address, and tells of each write that came.
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
                    let body = json!({"kind": "Status", "code": 404, "message": "there is none"}).to_string();
                    let answer = format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n{body}", body.len());
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
    let setting = setting(&api, &["--windlassconfig-concurrency=1"], Leadership::without_election());
    let context = context_of(&setting);
    let hanging = tokio::spawn(work::reconcile(config_of(&api, "hangs", "c", with_token()), context.clone()));
    while written.try_recv().is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(!hanging.is_finished());
    }
    let other = config_of(&api, "w", "d", config_value()["spec"].clone());
    work::reconcile(other, context.clone()).await.expect("it goes on");
    assert!(!hanging.is_finished());
    hanging.abort();
}

/// What takes long to decide takes no thread on which others wait.
#[tokio::test]
async fn what_takes_long_is_decided_beside() {
    let settings = || windlass::reconcile::Settings { token_ttl: 900, machine_pools: true };
    let world = |spec: Value| {
        let mut config = config_value();
        config["spec"] = spec;
        World::new(config, "abcdef.0123456789abcdef".to_owned())
    };
    let check = |spec: Value, takes_long: bool| {
        assert_eq!(world(spec.clone()).takes_long(), takes_long, "{spec:.100}");
        assert_eq!(work::decided(world(spec), settings()).now_or_never().is_none(), takes_long);
    };
    check(json!({"files": [{"path": "/a", "content": "x".repeat(60 << 10)}]}), false);
    check(json!({"files": [{"path": "/a", "content": "x".repeat(70 << 10)}]}), true);
    check(json!({"files": [{"path": "/a", "content": "{{ .Cluster.Name }}", "contentFormat": "Template"}]}), true);
    check(json!({"compression": "gzip"}), true);
    let mut with_secret = world(json!({}));
    let key =
        Key { realm: Realm::Management, group: String::new(), kind: "Secret".to_owned(), namespace: "n".to_owned(), name: "s".to_owned() };
    with_secret.observe_value(key, Some(json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "eA==".repeat(20 << 10)}})));
    assert!(with_secret.takes_long());
    let (_, step) = work::decided(with_secret, settings()).await.unwrap();
    assert!(matches!(step, windlass::reconcile::Step::Read(_)), "{step:?}");
}

/// Machines that no label says the Cluster of take the turns of that Cluster all the same.
#[tokio::test]
async fn turns_are_those_of_the_machines_cluster() {
    let api = site();
    let setting = setting(&api, &[], Leadership::without_election());
    let (caches, watches) = Caches::begin(&setting, &core());
    let watching = tokio::spawn(futures::future::join3(
        watches.clusters.for_each(|_| std::future::ready(())),
        watches.machines.for_each(|_| std::future::ready(())),
        watches.machine_pools.for_each(|_| std::future::ready(())),
    ));
    caches.filled().await;
    let cluster = |config: &Config| work::cluster_of(config, &caches).1;
    assert_eq!(cluster(&config()), "c");
    assert_eq!(cluster(&config_of(&api, "labelled", "d", json!({}))), "d");
    let mut orphan = config_value();
    orphan["metadata"]["ownerReferences"] = json!([]);
    assert_eq!(cluster(&serde_json::from_value(orphan).unwrap()), "");
    watching.abort();
}

/// A cluster that hangs keeps nobody else waiting, even with a single worker; and who waits for his turn says nothing.
#[tokio::test]
async fn other_clusters_go_on_while_one_hangs() {
    let api = site();
    // It takes connections, and never says a word.
    let hangs = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    api.put(SECRETS, kubeconfig("c", hangs.local_addr().unwrap().port()));
    let setting = setting(&api, &["--windlassconfig-concurrency=1"], Leadership::without_election());
    let context = context_of(&setting);
    let config = |name: &str, cluster: &str, spec: Value| config_of(&api, name, cluster, spec);
    let token = with_token();
    let needs_none = config_value()["spec"].clone();
    let hanging = tokio::spawn(work::reconcile(config("hangs", "c", token), context.clone()));
    while !api.asked(|method| *method == Method::GET).iter().any(|asked| asked.contains("c-kubeconfig")) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let waiting = tokio::spawn(work::reconcile(config("waits", "c", needs_none.clone()), context.clone()));
    work::reconcile(config("w", "d", needs_none), context.clone()).await.expect("it goes on");
    assert!(!hanging.is_finished() && !waiting.is_finished());
    assert!(
        ["hangs", "waits"].iter().all(|name| api.get(&format!("{CONFIGS}/{name}")).unwrap().get("status").is_none()),
        "nothing is said"
    );
    setting.shutdown.begin();
    assert!(matches!(waiting.await.unwrap(), Err(Failure::Ending)), "who has not begun does not begin");
    hanging.abort();
}

/// A config of a cluster, by the label that turns go by; all are of the same Machine.
fn config_of(api: &Api, name: &str, cluster: &str, spec: Value) -> Arc<Config> {
    let mut config = config_value();
    config["metadata"]["name"] = json!(name);
    config["metadata"]["labels"] = json!({"cluster.x-k8s.io/cluster-name": cluster});
    config["spec"] = spec;
    api.put(CONFIGS, config.clone());
    Arc::new(serde_json::from_value(config).unwrap())
}

/// With four hundred Machines of one cluster at work, one of another waits for its own requests, and not for theirs.
#[tokio::test(start_paused = true)]
async fn a_cluster_that_floods_does_not_starve_another() {
    let api = site();
    api.0.lock().unwrap().takes = Duration::from_millis(10);
    let (context, _) = context(&api);
    let begun = tokio::time::Instant::now();
    let config = |name: &str, cluster: &str| config_of(&api, name, cluster, config_value()["spec"].clone());
    let flood = (0..400).map(|index| config(&format!("flood-{index}"), "flood"));
    let flood: Vec<_> = flood.map(|config| tokio::spawn(work::reconcile(config, context.clone()))).collect();
    tokio::time::sleep(Duration::from_millis(25)).await;
    let asked = tokio::time::Instant::now();
    work::reconcile(config("alone", "alone"), context.clone()).await.expect("nothing is missing");
    let alone = asked.elapsed();
    for one in flood {
        one.await.unwrap().expect("nothing is missing");
    }
    let all = begun.elapsed();
    // Machine, Cluster, Secret, CA, and two writes.
    assert!(alone <= Duration::from_millis(100), "{alone:?}");
    assert!(all > alone * 4, "the flood took {all:?}");
}

/// The watch tells of what was written; nobody looks at it again until something else changes.
#[tokio::test]
async fn nobody_looks_again_at_his_own_writing() {
    let api = site();
    let (context, setting) = context(&api);
    work::reconcile(config(), context.clone()).await.expect("nothing is missing");
    let asked = || api.asked(|_| true).len();
    let before = asked();
    let later = work::reconcile(config(), context.clone()).await.expect("it is done");
    assert_ne!(later, Next::requeue(setting.flags.sync_period), "some time of it is over");
    assert_eq!(asked(), before);
    context.echoes.tell(&("n".to_owned(), "w".to_owned()));
    work::reconcile(config(), context.clone()).await.expect("it is looked at");
    assert!(asked() > before);
}

/// Nobody waits for it twice, and no other cluster waits at all.
#[tokio::test]
async fn a_cluster_that_does_not_answer_is_left_alone_for_a_while() {
    let api = Api::default();
    // A port on which nobody listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for name in ["c", "d"] {
        api.put(SECRETS, kubeconfig(name, port));
    }
    let workloads = Workloads::new(api.client(), None, Metrics::new());
    let read = async |cluster: &str| read(&workloads, cluster).await;
    assert_eq!(read("c").await, Err(Refusal::Silent));
    assert_eq!(read("c").await, Err(Refusal::Silent));
    let asked = || api.asked(|method| *method == Method::GET);
    assert_eq!(asked(), [format!("GET {SECRETS}/c-kubeconfig")], "the second time nothing is asked");
    assert_eq!(read("d").await, Err(Refusal::Silent));
    assert_eq!(asked().len(), 2, "another cluster is asked nevertheless");
    let setting = setting(&api, &[], Leadership::without_election());
    let (_, caches) = empty_caches(&setting);
    let cluster = json!({"apiVersion": "x/y", "kind": "Cluster", "metadata": {"name": "c", "namespace": "n"}});
    told(&Change::Cluster(serde_json::from_value(cluster).unwrap()), &caches, &workloads, &[]);
    assert_eq!(read("c").await, Err(Refusal::Silent));
    assert_eq!(asked().len(), 3, "a Cluster that was made again is another one");
    let missing = read("e").await.expect_err("it has no kubeconfig");
    assert_eq!(missing.to_string(), "Secret e-kubeconfig with the kubeconfig of the cluster is not there");
}
