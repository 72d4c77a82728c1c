//! Candidates against an API in memory, in time that passes only when all of them wait.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, StatusCode};
use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Candidacy, Elector, KubeadmLease, Leadership};
use crate::fault::Fault;
use crate::flags::{Flags, LeaseTimes};
use crate::metrics::Metrics;
use crate::shutdown::Shutdown;

/// The namespace of our own Lease.
const OWN: &str = "windlass-system";
/// That of the kubeadm bootstrap provider, and its Lease.
pub(crate) const KUBEADM: [&str; 2] = [
    "capi-kubeadm-bootstrap-system",
    "kubeadm-bootstrap-manager-leader-election-capi",
];
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/kubeadmconfigs.bootstrap.cluster.x-k8s.io";

/// The Leases in an API server: versions conflict as there.
#[derive(Clone, Default)]
pub(crate) struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// By namespace and name.
    leases: BTreeMap<String, Value>,
    version: u64,
    /// The same, in their order.
    holders: BTreeMap<String, Vec<String>>,
    has_definition: bool,
    is_down: bool,
}

impl Server {
    pub(crate) fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let server = server.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = to_bytes(Body::new(body), usize::MAX).await.unwrap();
                let (status, answer) = server.answer(
                    &head.method,
                    head.uri.path(),
                    serde_json::from_slice(&body).unwrap_or_default(),
                );
                if status == StatusCode::SERVICE_UNAVAILABLE {
                    // A server that is down does not answer.
                    std::future::pending::<()>().await;
                }
                Ok::<_, Infallible>(
                    Response::builder()
                        .status(status)
                        .body(Body::from(answer.to_string()))
                        .unwrap(),
                )
            }
        });
        Client::new(service, "default")
    }

    fn answer(&self, method: &Method, path: &str, mut lease: Value) -> (StatusCode, Value) {
        let mut state = self.0.lock().unwrap();
        let rejected = |code: StatusCode, reason: &str| {
            (
                code,
                json!({"kind": "Status", "status": "Failure", "code": code.as_u16(), "reason": reason, "message": reason}),
            )
        };
        let version = |lease: &Value| {
            lease["metadata"]["resourceVersion"]
                .as_str()
                .map(str::to_owned)
        };
        if state.is_down {
            return rejected(StatusCode::SERVICE_UNAVAILABLE, "Unavailable");
        }
        if path == DEFINITION {
            let versions = json!([{"name": "v1beta2", "served": true}]);
            let definition = json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"},
                "spec": {"versions": versions},
            });
            return if state.has_definition {
                (StatusCode::OK, definition)
            } else {
                rejected(StatusCode::NOT_FOUND, "NotFound")
            };
        }
        let parts = path
            .strip_prefix("/apis/coordination.k8s.io/v1/namespaces/")
            .and_then(|path| path.split_once("/leases"));
        let (namespace, named) = parts.unwrap_or_else(|| panic!("{path}"));
        let name = named
            .strip_prefix('/')
            .or_else(|| lease["metadata"]["name"].as_str())
            .unwrap_or_default();
        let key = format!("{namespace}/{name}");
        match (method.as_str(), state.leases.get(&key).cloned()) {
            ("GET", Some(known)) => return (StatusCode::OK, known),
            ("GET" | "PUT", None) => return rejected(StatusCode::NOT_FOUND, "NotFound"),
            ("POST", Some(_)) => return rejected(StatusCode::CONFLICT, "AlreadyExists"),
            ("PUT", Some(known)) if version(&known) != version(&lease) => {
                return rejected(StatusCode::CONFLICT, "Conflict");
            }
            ("PUT", Some(_)) | ("POST", None) => {}
            other => panic!("{other:?}"),
        }
        state.version += 1;
        lease["metadata"]["resourceVersion"] = json!(state.version.to_string());
        let holder = lease["spec"]["holderIdentity"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let holders = state.holders.entry(key.clone()).or_default();
        if holders.last() != Some(&holder) {
            holders.push(holder);
        }
        state.leases.insert(key, lease.clone());
        (StatusCode::OK, lease)
    }

    /// With KubeadmConfigs.
    pub(crate) fn with_kubeadm() -> Self {
        let server = Server::default();
        server.0.lock().unwrap().has_definition = true;
        server
    }

    fn holders(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap()
            .holders
            .get(&key_in(OWN))
            .cloned()
            .unwrap_or_default()
    }

    pub(crate) fn holder(&self) -> String {
        self.holder_in(OWN)
    }

    pub(crate) fn holder_in(&self, namespace: &str) -> String {
        self.0
            .lock()
            .unwrap()
            .holders
            .get(&key_in(namespace))
            .and_then(|holders| holders.last().cloned())
            .unwrap_or_default()
    }

    /// Somebody writes another holder into our own Lease.
    pub(crate) fn take_over(&self, holder: &str) {
        self.hold(OWN, holder);
    }

    /// Somebody writes himself into a Lease, as its holder or anew.
    pub(crate) fn hold(&self, namespace: &str, holder: &str) {
        let lease = self
            .0
            .lock()
            .unwrap()
            .leases
            .get(&key_in(namespace))
            .cloned();
        let renewed = json!(format!(
            "2026-01-01T00:00:00.{:06}Z",
            self.0.lock().unwrap().version
        ));
        let (method, mut lease) = match lease {
            Some(lease) => (Method::PUT, lease),
            None => (
                Method::POST,
                json!({"metadata": {"name": KUBEADM[1]}, "spec": {"leaseDurationSeconds": 15}}),
            ),
        };
        lease["spec"]["holderIdentity"] = json!(holder);
        lease["spec"]["renewTime"] = renewed;
        let path = format!(
            "/apis/coordination.k8s.io/v1/namespaces/{}",
            key_in(namespace).replace('/', "/leases/")
        );
        assert_eq!(self.answer(&method, &path, lease).0, StatusCode::OK);
    }

    fn spec(&self) -> Value {
        self.0
            .lock()
            .unwrap()
            .leases
            .get(&key_in(OWN))
            .map(|lease| lease["spec"].clone())
            .unwrap_or_default()
    }
}

/// The one Lease of a namespace.
fn key_in(namespace: &str) -> String {
    format!(
        "{namespace}/{}",
        if namespace == OWN {
            "windlass-manager-leader-election"
        } else {
            KUBEADM[1]
        }
    )
}

fn own(identity: &str) -> Candidacy {
    Candidacy::own(OWN.to_owned(), identity.to_owned())
}

fn times() -> LeaseTimes {
    Flags::of(&[]).lease
}

/// A candidate that runs as the manager has it run.
struct Candidate {
    name: String,
    leadership: Leadership,
    shutdown: Shutdown,
    task: JoinHandle<Result<(), Fault>>,
}

fn candidate(server: &Server, name: &str) -> Candidate {
    let mut elector = Elector::new(server.client(), own(name), times(), Metrics::new());
    let (leadership, shutdown) = (elector.leadership(), Shutdown::new());
    let wish = shutdown.clone();
    let task = tokio::spawn(async move {
        if elector.acquire(&wish).await {
            elector.keep(&wish).await?;
            elector.release().await;
        }
        Ok(())
    });
    Candidate {
        name: name.to_owned(),
        leadership,
        shutdown,
        task,
    }
}

async fn leader(candidates: &[Candidate]) -> usize {
    let found = async {
        loop {
            let leaders: Vec<usize> = (0..candidates.len())
                .filter(|at| candidates[*at].leadership.holds())
                .collect();
            assert!(leaders.len() <= 1, "two may write: {leaders:?}");
            if let Some(leader) = leaders.first() {
                return *leader;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(60), found)
        .await
        .expect("somebody leads within a minute")
}

#[tokio::test(start_paused = true)]
async fn of_five_one_leads_and_each_hands_over_at_once() {
    let server = Server::default();
    let mut candidates: Vec<Candidate> = ["a", "b", "c", "d", "e"]
        .iter()
        .map(|name| candidate(&server, name))
        .collect();
    let mut order = Vec::new();
    while !candidates.is_empty() {
        let begun = tokio::time::Instant::now();
        let at = leader(&candidates).await;
        // A candidate looks every two seconds.
        assert!(
            begun.elapsed() <= times().retry_period + Duration::from_millis(20),
            "{:?}",
            begun.elapsed()
        );
        for _ in 0..3000 {
            sleep(Duration::from_millis(10)).await;
            assert!(
                candidates
                    .iter()
                    .enumerate()
                    .all(|(other, candidate)| candidate.leadership.holds() == (other == at))
            );
        }
        let leader = candidates.remove(at);
        assert_eq!(server.holder(), leader.name);
        leader.shutdown.begin();
        leader.task.await.unwrap().expect("it ends in order");
        assert!(!leader.leadership.holds());
        assert_eq!(
            (
                server.holder().as_str(),
                &server.spec()["leaseDurationSeconds"]
            ),
            ("", &json!(1))
        );
        order.push(leader.name);
    }
    order.sort();
    assert_eq!(order, ["a", "b", "c", "d", "e"]);
    assert_eq!(server.spec()["leaseTransitions"], 4);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_not_renewed_is_taken_over_when_it_runs_out() {
    let server = Server::default();
    let first = candidate(&server, "first");
    let candidates = [first, candidate(&server, "second")];
    assert_eq!(leader(&candidates).await, 0);
    // As by kill -9: it gives nothing back.
    candidates[0].task.abort();
    let died = tokio::time::Instant::now();
    candidates[1].leadership.begun().await;
    let waited = died.elapsed();
    assert!(
        waited >= times().duration - Duration::from_millis(20),
        "{waited:?}"
    );
    assert!(
        waited <= times().duration + times().retry_period,
        "{waited:?}"
    );
    assert!(!candidates[0].leadership.holds());
}

/// A process that is stopped and woken: its clock ran on, and it has done nothing yet.
#[tokio::test(start_paused = true)]
async fn a_frozen_leader_does_not_hold_when_it_wakes() {
    let server = Server::default();
    let mut frozen = Elector::new(server.client(), own("frozen"), times(), Metrics::new());
    let (leadership, shutdown) = (frozen.leadership(), Shutdown::new());
    assert!(frozen.acquire(&shutdown).await && leadership.holds());
    // Nothing polls it from here on, as nothing runs in a stopped process.
    let other = candidate(&server, "other");
    while !other.leadership.holds() {
        assert_eq!(server.holder(), "frozen");
        sleep(Duration::from_millis(100)).await;
    }
    assert!(!leadership.holds());
    let fault = frozen.keep(&shutdown).await.expect_err("its lease is gone");
    assert!(
        fault.to_string().starts_with(
            "the leader lease windlass-system/windlass-manager-leader-election is lost: "
        ),
        "{fault}"
    );
    frozen.release().await;
    assert_eq!(server.holder(), "other");
    assert_eq!(server.holders(), ["frozen", "other"]);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_stops_before_others_take_over() {
    let server = Server::default();
    let candidates = [candidate(&server, "a")];
    leader(&candidates).await;
    server.0.lock().unwrap().is_down = true;
    let since = tokio::time::Instant::now();
    let [alone] = candidates;
    let fault = alone.task.await.unwrap().expect_err("it cannot renew");
    assert!(fault.to_string().contains("is lost"), "{fault}");
    assert!(!alone.leadership.holds());
    assert!(
        since.elapsed() <= times().renew_deadline && since.elapsed() < times().duration,
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_short_outage_is_survived() {
    let server = Server::default();
    let candidates = [candidate(&server, "a"), candidate(&server, "b")];
    let at = leader(&candidates).await;
    server.0.lock().unwrap().is_down = true;
    sleep(Duration::from_secs(1)).await;
    server.0.lock().unwrap().is_down = false;
    for _ in 0..600 {
        sleep(Duration::from_millis(100)).await;
        assert!(candidates[at].leadership.holds() && !candidates[1 - at].leadership.holds());
    }
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_is_told_to_end_while_it_waits_ends() {
    let server = Server::default();
    let leading = candidate(&server, "a");
    leader(std::slice::from_ref(&leading)).await;
    let waiting = candidate(&server, "b");
    sleep(Duration::from_secs(3)).await;
    waiting.shutdown.begin();
    waiting.task.await.unwrap().expect("it ends in order");
    assert_eq!(server.holder(), "a");
}

fn kubeadm_candidate(server: &Server) -> Candidate {
    kubeadm_candidate_of(server, OWN)
}

/// The same, of an installation in a namespace.
fn kubeadm_candidate_of(server: &Server, home: &str) -> Candidate {
    let lease = KubeadmLease::new(server.client(), home, times(), Metrics::new());
    let (leadership, shutdown) = (lease.leadership(), Shutdown::new());
    let wish = shutdown.clone();
    let task = tokio::spawn(async move { lease.keep(&wish).await });
    Candidate {
        name: format!("{home}/windlass-manager"),
        leadership,
        shutdown,
        task,
    }
}

/// While the provider renews its Lease, we wait, and say so once.
#[test]
fn the_kubeadm_provider_keeps_what_it_holds() {
    let server = Server::with_kubeadm();
    let waiting = async {
        server.hold(KUBEADM[0], "their-pod_1");
        let ours = kubeadm_candidate(&server);
        for _ in 0..60 {
            sleep(Duration::from_secs(2)).await;
            server.hold(KUBEADM[0], "their-pod_1");
            assert!(!ours.leadership.holds());
        }
        let scaled_down = tokio::time::Instant::now();
        ours.leadership.begun().await;
        let waited = scaled_down.elapsed();
        // The renewal and our look at it fall on the same instant, in either order; what is waited
        // is read every 100 ms.
        let longest = times().duration + times().retry_period + Duration::from_millis(200);
        assert!(
            waited >= times().duration - Duration::from_secs(2) && waited <= longest,
            "{waited:?}"
        );
    };
    let lines = crate::log::tests::logged(crate::flags::LogFormat::Text, 2, || {
        let paused = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        paused.block_on(waiting);
    });
    assert_eq!(
        server.holder_in(KUBEADM[0]),
        "windlass-system/windlass-manager"
    );
    let told: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains("their-pod_1"))
        .collect();
    assert_eq!(told.len(), 1, "{lines:?}");
    for words in [
        "Lease=\"capi-kubeadm-bootstrap-system/kubeadm-bootstrap-manager-leader-election-capi\"",
        "it takes over when the Deployment of the kubeadm bootstrap provider is scaled to 0",
    ] {
        assert!(told[0].contains(words), "{}", told[0]);
    }
}

/// Who is told to end does not give it back: the provider would take over whenever we are
/// restarted.
#[tokio::test(start_paused = true)]
async fn who_follows_one_of_ours_has_the_kubeadm_providers_lease_at_once() {
    let server = Server::with_kubeadm();
    let first = kubeadm_candidate(&server);
    first.leadership.begun().await;
    first.shutdown.begin();
    first.task.await.unwrap().expect("it ends in order");
    assert_eq!(
        server.holder_in(KUBEADM[0]),
        "windlass-system/windlass-manager"
    );
    let begun = tokio::time::Instant::now();
    let second = kubeadm_candidate(&server);
    second.leadership.begun().await;
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    server.hold(KUBEADM[0], "their-pod_2");
    let fault = second.task.await.unwrap().expect_err("it is lost");
    assert!(
        fault.to_string().contains(
            "kubeadm-bootstrap-manager-leader-election-capi is lost: another manager holds it"
        ),
        "{fault}"
    );
    assert!(!second.leadership.holds());
}

/// Two installations lead each their own replicas; of KubeadmConfigs one takes care.
#[tokio::test(start_paused = true)]
async fn another_installation_of_ours_waits_as_the_provider_does() {
    let server = Server::with_kubeadm();
    let first = kubeadm_candidate(&server);
    first.leadership.begun().await;
    let other = kubeadm_candidate_of(&server, "other-system");
    for _ in 0..60 {
        sleep(Duration::from_secs(1)).await;
        assert!(first.leadership.holds() && !other.leadership.holds());
    }
    first.shutdown.begin();
    first.task.await.unwrap().expect("it ends in order");
    sleep(times().duration + times().retry_period).await;
    assert!(other.leadership.holds(), "nobody renews it");
}

/// Nothing is held of a provider that is not there.
#[tokio::test(start_paused = true)]
async fn a_kubeadm_provider_that_comes_later_is_found() {
    let server = Server::default();
    let ours = kubeadm_candidate(&server);
    sleep(Duration::from_secs(60)).await;
    assert!(!ours.leadership.holds() && server.holder_in(KUBEADM[0]).is_empty());
    server.0.lock().unwrap().has_definition = true;
    sleep(Duration::from_secs(6)).await;
    assert!(ours.leadership.holds());
}

#[tokio::test]
async fn without_an_election_everybody_may_write() {
    assert!(Leadership::without_election().holds());
}
