//! Stands between a manager and the API server: counts requests, and has go wrong what a plan says.
//! TLS on both sides; credentials are passed through, so they must be bearer tokens.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER, TRANSFER_ENCODING};
use http::{Method, Request, Response, StatusCode};
use http_body_util::channel::{Channel, Sender as BodySender};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::certificates::Certificates;
use super::{ports, tls};

/// What is asked of the API server.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Path and query.
    pub(crate) target: String,
    /// Which write it is, counted from 1 since the plan is followed. Leases, events and reviews do
    /// not count.
    pub(crate) write: Option<usize>,
}

impl Asked {
    pub(crate) fn is_watch(&self) -> bool {
        self.target.contains("watch=true") || self.target.contains("watch=1")
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    /// The connection is cut, and the server never hears of it.
    CutBefore,
    /// The server does it, and the connection is cut before the answer comes back.
    CutAfter,
    Delay(Duration),
    /// The proxy answers in the place of the server: 409, 410, 429 (with Retry-After), 500 or 503.
    Answer(u16),
    /// Nothing comes through any more, this request included, until [`FaultProxy::release`].
    /// Without that it never does, also when another plan is followed.
    StopBefore,
    /// The server does it; its answer and all else stays here.
    StopAfter,
}

/// What becomes of an event of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventFate {
    Pass,
    /// It comes twice.
    Repeat,
    /// Neither it nor what follows comes any more: after a moment the connection is cut. (A server
    /// never leaves out one event of several.)
    Lose,
    /// It comes later, and so does what follows.
    Hold(Duration),
    /// In its place the watch ends as one does whose version the server has forgotten.
    Expire,
}

/// What goes wrong.
pub(crate) trait Plan: Send {
    fn request(&mut self, _: &Asked) -> Fate {
        Fate::Pass
    }

    /// `watch` is the request that the event is an answer to.
    fn event(&mut self, _watch: &Asked) -> EventFate {
        EventFate::Pass
    }
}

/// Nothing does.
pub(crate) struct NoFault;

impl Plan for NoFault {}

/// The proxy; it ends when dropped, with all connections.
pub(crate) struct FaultProxy {
    pub(crate) url: String,
    inner: Arc<Inner>,
    task: JoinHandle<()>,
}

struct Inner {
    server: String,
    connector: TlsConnector,
    state: Mutex<State>,
}

struct State {
    plan: Box<dyn Plan>,
    writes: usize,
    is_stopped: bool,
    stopped: Option<Sender<()>>,
    gate: Arc<Gate>,
    counts: BTreeMap<String, usize>,
}

/// Where requests stand that a plan has stopped, until it is released.
#[derive(Default)]
struct Gate {
    is_released: AtomicBool,
    released: Notify,
}

impl Gate {
    async fn wait(&self) {
        // In this order: who comes as it is released is not forgotten.
        let released = self.released.notified();
        if !self.is_released.load(Ordering::SeqCst) {
            released.await;
        }
    }

    fn release(&self) {
        self.is_released.store(true, Ordering::SeqCst);
        self.released.notify_waiters();
    }
}

/// Where a request would stand.
struct Stand {
    gate: Arc<Gate>,
    /// Told by the one that the plan has stopped, once it stands there; all others come to a gate
    /// that is shut already.
    stopped: Option<Sender<()>>,
}

impl Stand {
    async fn wait(&mut self) {
        if let Some(stopped) = self.stopped.take() {
            // A scenario that has gone on does not listen.
            let _ = stopped.send(());
        }
        self.gate.wait().await;
    }
}

type Body = Either<Full<Bytes>, Channel<Bytes, io::Error>>;

impl FaultProxy {
    /// Begins to listen, with no faults.
    pub(crate) fn start(runtime: &Handle, certificates: &Certificates, server: &str) -> FaultProxy {
        let port = ports::free();
        let listener = runtime
            .block_on(TcpListener::bind(("127.0.0.1", port)))
            .expect("the port was free a moment ago");
        let state = State::new(Box::new(NoFault), None);
        let server = server
            .strip_prefix("https://")
            .expect("an API server has a URL")
            .to_owned();
        let inner = Arc::new(Inner {
            server,
            connector: tls::connector(&certificates.authority),
            state: Mutex::new(state),
        });
        let task = runtime.spawn(accept(
            listener,
            tls::acceptor(&certificates.serving),
            inner.clone(),
        ));
        FaultProxy {
            url: format!("https://127.0.0.1:{port}"),
            inner,
            task,
        }
    }

    /// Follows another plan from now on, and counts anew. What is received tells that the plan has
    /// stopped everything.
    pub(crate) fn follow(&self, plan: impl Plan + 'static) -> Receiver<()> {
        let (sender, receiver) = channel();
        *self.inner.lock() = State::new(Box::new(plan), Some(sender));
        receiver
    }

    /// Lets everything go on that the plan has stopped.
    pub(crate) fn release(&self) {
        let mut state = self.inner.lock();
        state.is_stopped = false;
        std::mem::take(&mut state.gate).release();
    }

    /// How many writes came since the plan is followed.
    pub(crate) fn writes(&self) -> usize {
        self.inner.lock().writes
    }

    /// How often what happened, by its name; `request` counts all requests.
    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        self.inner.lock().counts.clone()
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fate(&self, method: &Method, target: &str) -> (Asked, Fate, Stand) {
        let mut state = self.lock();
        let is_write = is_write(method, target) && !state.is_stopped;
        state.writes += usize::from(is_write);
        let asked = Asked {
            target: target.to_owned(),
            write: is_write.then_some(state.writes),
        };
        let mut stand = Stand {
            gate: state.gate.clone(),
            stopped: None,
        };
        if state.is_stopped {
            return (asked, Fate::StopBefore, stand);
        }
        let fate = state.plan.request(&asked);
        state.count("request");
        match fate {
            Fate::Pass => {}
            Fate::Answer(code) => state.count(&code.to_string()),
            Fate::Delay(_) => state.count("delay"),
            Fate::CutBefore => state.count("cut before"),
            Fate::CutAfter => state.count("cut after"),
            Fate::StopBefore | Fate::StopAfter => {
                state.is_stopped = true;
                stand.stopped = state.stopped.take();
            }
        }
        (asked, fate, stand)
    }

    fn event_fate(&self, watch: &Asked) -> EventFate {
        let mut state = self.lock();
        let fate = state.plan.event(watch);
        match fate {
            EventFate::Pass => {}
            EventFate::Repeat => state.count("event repeated"),
            EventFate::Lose => state.count("events lost"),
            EventFate::Hold(_) => state.count("event held"),
            EventFate::Expire => state.count("watch expired"),
        }
        fate
    }

    async fn connect(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        let stream = tls::connect(&self.connector, &self.server).await?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

impl State {
    fn new(plan: Box<dyn Plan>, stopped: Option<Sender<()>>) -> State {
        State {
            plan,
            writes: 0,
            is_stopped: false,
            stopped,
            gate: Arc::default(),
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }
}

fn is_write(method: &Method, target: &str) -> bool {
    let is_apart = ["/leases", "/events", "reviews"]
        .iter()
        .any(|apart| target.contains(apart));
    method != Method::GET && !is_apart
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, inner: Arc<Inner>) {
    // They end with this task.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(serve(stream, acceptor.clone(), inner.clone()));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// One connection of the manager's, and one to the server for it.
async fn serve(stream: TcpStream, acceptor: TlsAcceptor, inner: Arc<Inner>) {
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let upstream = Arc::new(tokio::sync::Mutex::new(None));
    let service = service_fn(move |request| answer(request, inner.clone(), upstream.clone()));
    // Its end, by error or not, is what a cut is.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

type Upstream = Arc<tokio::sync::Mutex<Option<SendRequest<Full<Bytes>>>>>;

async fn answer(
    request: Request<Incoming>,
    inner: Arc<Inner>,
    upstream: Upstream,
) -> io::Result<Response<Body>> {
    let target = request
        .uri()
        .path_and_query()
        .map_or_else(String::new, ToString::to_string);
    let (asked, fate, mut stand) = inner.fate(request.method(), &target);
    let (mut head, body) = request.into_parts();
    // What is compressed has no lines.
    head.headers.remove(ACCEPT_ENCODING);
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    match fate {
        Fate::CutBefore => return Err(cut()),
        Fate::Answer(code) => return Ok(rejection(code)),
        Fate::StopBefore => stand.wait().await,
        Fate::Delay(pause) => tokio::time::sleep(pause).await,
        Fate::Pass | Fate::CutAfter | Fate::StopAfter => {}
    }
    let mut upstream = upstream.lock().await;
    let mut sender = match upstream.take() {
        Some(sender) if !sender.is_closed() => sender,
        _ => inner.connect().await?,
    };
    sender.ready().await.map_err(io::Error::other)?;
    let answer = sender
        .send_request(Request::from_parts(head, Full::new(body)))
        .await
        .map_err(io::Error::other)?;
    *upstream = Some(sender);
    let (mut head, body) = answer.into_parts();
    if asked.is_watch() && head.status == StatusCode::OK && fate != Fate::CutAfter {
        let (sender, events) = Channel::new(16);
        tokio::spawn(relay(body, sender, inner, asked));
        return Ok(Response::from_parts(head, Either::Right(events)));
    }
    if asked.is_watch() && fate == Fate::CutAfter {
        return Err(cut());
    }
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    match fate {
        Fate::CutAfter => return Err(cut()),
        Fate::StopAfter => stand.wait().await,
        _ => {}
    }
    // It has its length now.
    head.headers.remove(TRANSFER_ENCODING);
    Ok(Response::from_parts(head, Either::Left(Full::new(body))))
}

/// The events of a watch, one after the other.
async fn relay(
    mut body: Incoming,
    mut sender: BodySender<Bytes, io::Error>,
    inner: Arc<Inner>,
    watch: Asked,
) {
    let mut pending: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return sender.abort(cut());
        };
        pending.extend(frame.into_data().unwrap_or_default());
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line = Bytes::from(pending.drain(..=end).collect::<Vec<u8>>());
            let times = match inner.event_fate(&watch) {
                EventFate::Pass => 1,
                EventFate::Repeat => 2,
                EventFate::Hold(pause) => {
                    tokio::time::sleep(pause).await;
                    1
                }
                EventFate::Lose => {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    return sender.abort(cut());
                }
                EventFate::Expire => {
                    // The server's words (`apiserver/pkg/storage/cacher`).
                    let status = json!({
                        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Expired", "code": 410,
                        "message": "too old resource version: 1 (2)",
                    });
                    let event = format!("{}\n", json!({"type": "ERROR", "object": status}));
                    let _ = sender.send_data(Bytes::from(event)).await;
                    return;
                }
            };
            for _ in 0..times {
                if sender.send_data(line.clone()).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn cut() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionAborted)
}

/// As an API server rejects.
fn rejection(code: u16) -> Response<Body> {
    let reason = match code {
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        _ => "InternalError",
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": format!("a fault for the test: {reason}"),
        "reason": reason, "code": code,
    });
    let response = Response::builder()
        .status(code)
        .header(CONTENT_TYPE, "application/json");
    let response = if code == 429 {
        response.header(RETRY_AFTER, "1")
    } else {
        response
    };
    response
        .body(Either::Left(Full::new(Bytes::from(status.to_string()))))
        .expect("a code and a header are well-formed")
}
