//! Candidates against an API in memory, in time that passes only when all of them wait.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, StatusCode};
use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Elector, Leadership};
use crate::fault::Fault;
use crate::flags::{Flags, LeaseTimes};
use crate::metrics::Metrics;
use crate::shutdown::Shutdown;

/// The Lease in an API server: versions conflict as there.
#[derive(Clone, Default)]
pub(crate) struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    lease: Option<Value>,
    version: u64,
    holders: Vec<String>,
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
                let (status, answer) = server.answer(&head.method, head.uri.path(), serde_json::from_slice(&body).unwrap_or_default());
                if status == StatusCode::SERVICE_UNAVAILABLE {
                    // A server that is down does not answer.
                    std::future::pending::<()>().await;
                }
                Ok::<_, Infallible>(Response::builder().status(status).body(Body::from(answer.to_string())).unwrap())
            }
        });
        Client::new(service, "default")
    }

    fn answer(&self, method: &Method, path: &str, mut lease: Value) -> (StatusCode, Value) {
        assert!(path.starts_with("/apis/coordination.k8s.io/v1/namespaces/windlass-system/leases"), "{path}");
        let mut state = self.0.lock().unwrap();
        let refused = |code: StatusCode, reason: &str| {
            (
                code,
                json!({"kind": "Status", "status": "Failure", "code": code.as_u16(), "reason": reason, "message": reason}),
            )
        };
        let version = |lease: &Value| lease["metadata"]["resourceVersion"].as_str().map(str::to_owned);
        if state.is_down {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "Unavailable");
        }
        match (method.as_str(), state.lease.clone()) {
            ("GET", Some(known)) => return (StatusCode::OK, known),
            ("GET" | "PUT", None) => return refused(StatusCode::NOT_FOUND, "NotFound"),
            ("POST", Some(_)) => return refused(StatusCode::CONFLICT, "AlreadyExists"),
            ("PUT", Some(known)) if version(&known) != version(&lease) => return refused(StatusCode::CONFLICT, "Conflict"),
            ("PUT", Some(_)) | ("POST", None) => {}
            other => panic!("{other:?}"),
        }
        state.version += 1;
        lease["metadata"]["resourceVersion"] = json!(state.version.to_string());
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned();
        if state.holders.last() != Some(&holder) {
            state.holders.push(holder);
        }
        state.lease = Some(lease.clone());
        (StatusCode::OK, lease)
    }

    fn holders(&self) -> Vec<String> {
        self.0.lock().unwrap().holders.clone()
    }

    pub(crate) fn holder(&self) -> String {
        self.holders().pop().unwrap_or_default()
    }

    /// Somebody writes another holder into the Lease.
    pub(crate) fn take_over(&self, holder: &str) {
        let lease = self.0.lock().unwrap().lease.clone();
        let mut lease = lease.expect("somebody holds it");
        lease["spec"]["holderIdentity"] = json!(holder);
        let path = "/apis/coordination.k8s.io/v1/namespaces/windlass-system/leases";
        assert_eq!(self.answer(&Method::PUT, path, lease).0, StatusCode::OK);
    }

    fn spec(&self) -> Value {
        self.0.lock().unwrap().lease.as_ref().map(|lease| lease["spec"].clone()).unwrap_or_default()
    }
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
    let mut elector = Elector::new(server.client(), "windlass-system", name.to_owned(), times(), Metrics::new());
    let (leadership, shutdown) = (elector.leadership(), Shutdown::new());
    let wish = shutdown.clone();
    let task = tokio::spawn(async move {
        if elector.acquire(&wish).await {
            elector.keep(&wish).await?;
            elector.release().await;
        }
        Ok(())
    });
    Candidate { name: name.to_owned(), leadership, shutdown, task }
}

async fn leader(candidates: &[Candidate]) -> usize {
    let found = async {
        loop {
            let leaders: Vec<usize> = (0..candidates.len()).filter(|at| candidates[*at].leadership.holds()).collect();
            assert!(leaders.len() <= 1, "two may write: {leaders:?}");
            if let Some(leader) = leaders.first() {
                return *leader;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(60), found).await.expect("somebody leads within a minute")
}

#[tokio::test(start_paused = true)]
async fn of_five_one_leads_and_each_hands_over_at_once() {
    let server = Server::default();
    let mut candidates: Vec<Candidate> = ["a", "b", "c", "d", "e"].iter().map(|name| candidate(&server, name)).collect();
    let mut order = Vec::new();
    while !candidates.is_empty() {
        let begun = tokio::time::Instant::now();
        let at = leader(&candidates).await;
        // A candidate looks every two seconds.
        assert!(begun.elapsed() <= times().retry_period + Duration::from_millis(20), "{:?}", begun.elapsed());
        for _ in 0..3000 {
            sleep(Duration::from_millis(10)).await;
            assert!(candidates.iter().enumerate().all(|(other, candidate)| candidate.leadership.holds() == (other == at)));
        }
        let leader = candidates.remove(at);
        assert_eq!(server.holder(), leader.name);
        leader.shutdown.begin();
        leader.task.await.unwrap().expect("it ends in order");
        assert!(!leader.leadership.holds());
        assert_eq!((server.holder().as_str(), &server.spec()["leaseDurationSeconds"]), ("", &json!(1)));
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
    while !candidates[1].leadership.holds() {
        sleep(Duration::from_millis(10)).await;
    }
    let waited = died.elapsed();
    assert!(waited >= times().duration - Duration::from_millis(20), "{waited:?}");
    assert!(waited <= times().duration + times().retry_period, "{waited:?}");
    assert!(!candidates[0].leadership.holds());
}

/// A process that is stopped and woken: its clock ran on, and it has done nothing yet.
#[tokio::test(start_paused = true)]
async fn a_frozen_leader_does_not_hold_when_it_wakes() {
    let server = Server::default();
    let mut frozen = Elector::new(server.client(), "windlass-system", "frozen".to_owned(), times(), Metrics::new());
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
        fault.to_string().starts_with("the leader lease windlass-system/windlass-manager-leader-election is lost: "),
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
    assert!(since.elapsed() <= times().renew_deadline && since.elapsed() < times().duration, "{:?}", since.elapsed());
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

#[tokio::test]
async fn without_an_election_everybody_may_write() {
    assert!(Leadership::without_election().holds());
}
