//! The controller against an API server in memory.

mod passes;
mod turns;
mod watches;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, StatusCode, Uri};
use futures::{FutureExt, StreamExt};
use kube::Client;
use serde_json::{Value, json};
use tower::BoxError;
use windlass_capi::contract::rights::{RIGHTS, RIGHTS_AT_HOME, RIGHTS_ON_KUBEADM_CONFIGS};
use windlass_reconcile::{Action, Event, Key, Realm, World, Write};

use super::caches::{self, Caches, Config};
use super::queue::Size;
use super::requests::{self, Rejection};
use super::resources::{self, Core};
use super::store::Writer;
use super::triggers::{Change, Part, Triggers, told};
use super::work::{self, Context, Failure};
use super::workload::Workloads;
use super::{Setting, begin, keys, sweep};
use crate::client::NotLeading;
use crate::election::{Leadership, Mandate};
use crate::flags::{ConfigKind, Flags};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
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
    rejected: Option<(Method, StatusCode)>,
    takes: Duration,
    /// Whether this process has lost its Lease when a write comes to the connection.
    has_lost_lease: bool,
}

impl Api {
    fn put(&self, collection: &str, object: Value) {
        let path = format!(
            "{collection}/{}",
            object["metadata"]["name"].as_str().unwrap()
        );
        self.0.lock().unwrap().objects.insert(path, object);
    }

    /// What discovery says of the core: all of its kinds in the first version, and some of them in
    /// all.
    fn serve_core(&self, versions: &[&str], kinds: &[&str]) {
        let mut state = self.0.lock().unwrap();
        let named = |version: &&str| json!({"groupVersion": format!("cluster.x-k8s.io/{version}"), "version": version});
        let served: Vec<Value> = versions.iter().map(named).collect();
        let groups = json!([{"name": "cluster.x-k8s.io", "versions": served, "preferredVersion": served[0]}]);
        state.objects.insert(
            "/apis".to_owned(),
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}),
        );
        for (at, version) in versions.iter().enumerate() {
            let kinds = if at == 0 {
                &["clusters", "machines", "machinepools"]
            } else {
                kinds
            };
            let resource = |name: &&str| json!({"name": name, "singularName": "", "namespaced": true, "kind": name, "verbs": ["list"]});
            let resources: Vec<Value> = kinds.iter().map(resource).collect();
            let list = json!({"kind": "APIResourceList", "groupVersion": format!("cluster.x-k8s.io/{version}"), "resources": resources});
            state
                .objects
                .insert(format!("/apis/cluster.x-k8s.io/{version}"), list);
        }
    }

    fn get(&self, path: &str) -> Option<Value> {
        self.0.lock().unwrap().objects.get(path).cloned()
    }

    fn reject(&self, method: Method, code: StatusCode) {
        self.0.lock().unwrap().rejected = Some((method, code));
    }

    fn reject_nothing(&self) {
        self.0.lock().unwrap().rejected = None;
    }

    /// Methods and paths, with their queries, of all requests but reads of one object.
    fn asked(&self, is_wanted: impl Fn(&Method) -> bool) -> Vec<String> {
        let state = self.0.lock().unwrap();
        state
            .asked
            .iter()
            .filter(|(method, _)| is_wanted(method))
            .map(|(method, path)| format!("{method} {path}"))
            .collect()
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
                if head.method != Method::GET && !head.uri.path().contains("/events") {
                    assert!(
                        head.extensions.get::<Mandate>().is_some(),
                        "{} {} has no mandate",
                        head.method,
                        head.uri
                    );
                    if api.0.lock().unwrap().has_lost_lease {
                        return Err(NotLeading.into());
                    }
                }
                if head
                    .uri
                    .query()
                    .is_some_and(|query| query.contains("watch="))
                {
                    api.0
                        .lock()
                        .unwrap()
                        .asked
                        .push((head.method, head.uri.to_string()));
                    return std::future::pending().await;
                }
                let media_type = head
                    .headers
                    .get("content-type")
                    .map(|value| value.to_str().unwrap().to_owned());
                api.0
                    .lock()
                    .unwrap()
                    .media_types
                    .extend(media_type.filter(|_| head.method != Method::GET));
                let body = to_bytes(Body::new(body), usize::MAX).await.unwrap();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let (code, answer) =
                    api.answer(head.method, &head.uri.to_string(), head.uri.path(), body);
                Ok::<_, BoxError>(
                    Response::builder()
                        .status(code)
                        .body(Body::from(answer.to_string()))
                        .unwrap(),
                )
            }
        });
        Client::new(service, "default")
    }

    fn answer(&self, method: Method, asked: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let mut state = self.0.lock().unwrap();
        state.asked.push((method.clone(), asked.to_owned()));
        let rejected = |code: StatusCode| {
            (
                code,
                json!({"kind": "Status", "code": code.as_u16(), "message": "rejected", "reason": "x"}),
            )
        };
        if let Some((_, code)) = state
            .rejected
            .iter()
            .find(|(rejected, _)| *rejected == method)
        {
            return rejected(*code);
        }
        let path = path.strip_suffix("/status").unwrap_or(path);
        let is_collection = path.ends_with("s")
            && !state.objects.contains_key(path)
            && method == Method::GET
            && path.starts_with("/apis/");
        match method.as_str() {
            "GET" if is_collection => {
                let (root, plural) = path.rsplit_once('/').unwrap();
                let is_of =
                    |path: &str| path.starts_with(root) && path.rsplit('/').nth(1) == Some(plural);
                let items: Vec<&Value> = state
                    .objects
                    .iter()
                    .filter(|(path, _)| is_of(path))
                    .map(|(_, object)| object)
                    .collect();
                (
                    StatusCode::OK,
                    json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}),
                )
            }
            "GET" => state.objects.get(path).map_or_else(
                || rejected(StatusCode::NOT_FOUND),
                |object| (StatusCode::OK, object.clone()),
            ),
            "POST" => {
                let path = format!(
                    "{path}/{}",
                    body["metadata"]["name"].as_str().unwrap_or("generated")
                );
                state.objects.insert(path, body.clone());
                (StatusCode::CREATED, body)
            }
            "PATCH" => {
                let mut object = state.objects[path].clone();
                for field in ["status", "spec"]
                    .into_iter()
                    .filter(|field| body.get(field).is_some())
                {
                    object[field] = body[field].clone();
                }
                let version = object["metadata"]["resourceVersion"]
                    .as_str()
                    .map_or(0, |version| version.parse::<u64>().unwrap());
                object["metadata"]["resourceVersion"] = json!((version + 1).to_string());
                state.objects.insert(path.to_owned(), object.clone());
                (StatusCode::OK, object)
            }
            "DELETE" => {
                state
                    .objects
                    .remove(path)
                    .unwrap_or_else(|| panic!("{path} is not there"));
                (
                    StatusCode::OK,
                    json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}),
                )
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
    let rest = if rest.first() == Some(&"namespaces") {
        &rest[2..]
    } else {
        rest
    };
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
    let resource = named
        .get(1)
        .map_or((*resource).to_owned(), |part| format!("{resource}/{part}"));
    let mut rights = RIGHTS
        .iter()
        .chain(RIGHTS_AT_HOME)
        .chain(RIGHTS_ON_KUBEADM_CONFIGS);
    let has_right = rights.any(|right| {
        right.group == group && right.resource == resource && right.verbs.contains(&verb)
    });
    assert!(has_right, "{verb} {resource}.{group}");
}

/// An API server with a cluster that runs, and one Machine whose config needs no token.
fn site() -> Api {
    let api = Api::default();
    let core = "/apis/cluster.x-k8s.io/v1beta2/namespaces/n";
    let metadata =
        |name: &str| json!({"name": name, "namespace": "n", "uid": name, "resourceVersion": "1"});
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
    let key = windlass_reconcile::KeyRequest {
        algorithm: windlass_capi::api::node::EncryptionAlgorithm::EcdsaP256,
        validity: Some((1_700_000_000, 1_900_000_000)),
    };
    let data = keys::pair(&key).unwrap();
    api.put(
        SECRETS,
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata("c-ca"), "data": data}),
    );
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

fn setting(api: &Api, arguments: &[&str], leadership: Leadership) -> Setting {
    let flags = Flags::of(arguments);
    let mandates = flags
        .kinds
        .iter()
        .map(|kind| (*kind, Mandate::of([leadership.clone()])))
        .collect();
    Setting {
        client: api.client(),
        flags,
        metrics: Metrics::new(),
        readiness: Readiness::default(),
        mandates,
        shutdown: Shutdown::new(),
    }
}

pub(super) fn core() -> Core {
    Core::in_version("v1beta2")
}

fn empty_caches(setting: &Setting) -> (Core, Caches) {
    let (caches, _) = Caches::begin(setting, &core());
    (core(), caches)
}

/// Caches that are filled, and go on being so until the task is aborted.
async fn filled_caches(setting: &Setting) -> (Caches, tokio::task::JoinHandle<((), (), ())>) {
    let (caches, watches) = Caches::begin(setting, &core());
    let watching = tokio::spawn(futures::future::join3(
        watches.clusters.for_each(|_| std::future::ready(())),
        watches.machines.for_each(|_| std::future::ready(())),
        watches.machine_pools.for_each(|_| std::future::ready(())),
    ));
    caches.filled().await;
    (caches, watching)
}

fn context_of(setting: &Setting) -> Arc<Context> {
    context_of_kind(setting, ConfigKind::Windlass)
}

fn context_of_kind(setting: &Setting, kind: ConfigKind) -> Arc<Context> {
    let (core, caches) = empty_caches(setting);
    let workloads = Workloads::new(setting.client.clone(), None, setting.metrics.clone());
    Arc::new(Context::new(
        setting,
        kind,
        core,
        Arc::new(caches),
        Arc::new(workloads),
    ))
}

fn context(api: &Api) -> (Arc<Context>, Setting) {
    let setting = setting(api, &[], Leadership::without_election());
    (context_of(&setting), setting)
}

/// A KubeadmConfig that needs no token.
fn kubeadm_config_value() -> Value {
    let mut config = config_value();
    config["apiVersion"] = json!("bootstrap.cluster.x-k8s.io/v1beta2");
    config["kind"] = json!("KubeadmConfig");
    config
}

const KUBEADM_CONFIGS: &str =
    "/apis/bootstrap.cluster.x-k8s.io/v1beta2/namespaces/n/kubeadmconfigs";
const OF_KUBEADM: [&str; 2] = ["--kinds=KubeadmConfig", "--leader-elect"];

/// A config of a cluster, by the label that turns go by; all are of the same Machine.
fn config_of(api: &Api, name: &str, cluster: &str, spec: Value) -> Arc<Config> {
    let mut config = config_value();
    config["metadata"]["name"] = json!(name);
    config["metadata"]["labels"] = json!({"cluster.x-k8s.io/cluster-name": cluster});
    config["spec"] = spec;
    api.put(CONFIGS, config.clone());
    Arc::new(serde_json::from_value(config).unwrap())
}
