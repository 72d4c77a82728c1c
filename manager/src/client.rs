//! The way to the API server: who we are there, how fast we ask, and the count of what was asked;
//! and the last place at which a write is held back that this process may not do any more.

use std::fmt;
use std::future::Ready;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::http::{HeaderValue, Request, Response, header};
use futures::future::Either;
use hyper::body::Incoming;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::retry::RetryPolicy;
use kube::client::{Body, ClientBuilder, ConfigExt};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tokio::time::{Instant, Sleep};
use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::retry::RetryLayer;
use tower::{BoxError, Layer, Service, ServiceBuilder};

use crate::election::Mandate;
use crate::fault::{Fault, told};
use crate::flags::Rate;
use crate::metrics::{Metrics, Requests};
use crate::proxy;

/// Requests that may wait for a proxy.
const WAITING: usize = 1024;

/// How long a connection is kept that nobody uses. Each takes 35 KB, and a flood leaves five for
/// each cluster; one that is older may have been cut by what stands between.
const IDLE: Duration = Duration::from_secs(10);

/// Requests that are under way at once; a watch is none of them once it is answered. Each takes a
/// connection of its own, and an API server gains nothing from more: what it works on at once is a
/// matter of its priority and fairness.
const AT_ONCE: usize = 32;

/// How to reach the API server: by the kubeconfig that was named, by `KUBECONFIG`, by the Pod's
/// account, by `~/.kube/config`; the first of these that is there.
///
/// # Errors
/// When none is there, or the first that is cannot be read.
pub(crate) async fn configuration(kubeconfig: Option<&Path>) -> Result<Config, Fault> {
    let named = match kubeconfig {
        Some(path) => Some(
            Kubeconfig::read_from(path)
                .map_err(|fault| format!("--kubeconfig={}: {}", path.display(), unread(&fault)))?,
        ),
        None => {
            Kubeconfig::from_env().map_err(|fault| format!("KUBECONFIG: {}", unread(&fault)))?
        }
    };
    let mut config = match named {
        Some(named) => of_kubeconfig(named, unread).await?,
        // The API server's own network is ours, and no proxy stands between.
        None => match Config::incluster() {
            Ok(config) => config,
            Err(in_cluster) => {
                let at_home = Kubeconfig::read();
                let at_home = at_home.map_err(|at_home| {
                    format!(
                        "no way to the API server: write --kubeconfig=FILE ({}; {})",
                        told(&in_cluster),
                        unread(&at_home)
                    )
                })?;
                of_kubeconfig(at_home, unread).await?
            }
        },
    };
    config.headers.push((
        header::USER_AGENT,
        HeaderValue::from_static(crate::USER_AGENT),
    ));
    // Ours comes before the limit, so that what is tried again is limited and counted as well.
    config.default_retry = false;
    Ok(config)
}

/// How to reach the cluster of a kubeconfig's current context.
///
/// # Errors
/// When it lacks something, in the words of `unread`, or its proxy is none.
pub(crate) async fn of_kubeconfig(
    kubeconfig: Kubeconfig,
    unread: fn(&KubeconfigError) -> String,
) -> Result<Config, Fault> {
    let proxy = proxy::named(&kubeconfig);
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(|fault| unread(&fault))?;
    proxy::choose(&mut config, proxy, &proxy::Environment::of_process())?;
    Ok(config)
}

/// Why a kubeconfig cannot be used. The reader of YAML shows the lines around a fault, and those
/// may hold a key or a token.
pub(crate) fn unread(fault: &KubeconfigError) -> String {
    match fault {
        KubeconfigError::Parse(_) => {
            "it is not a kubeconfig: its YAML cannot be read, which kubectl config view shows"
                .to_owned()
        }
        // Both are read for each kubeconfig, and may hold a password.
        KubeconfigError::ParseProxyUrl(_) => {
            "its proxy-url, or HTTPS_PROXY, is not a URL".to_owned()
        }
        KubeconfigError::ParseNoProxy(_) => {
            "NO_PROXY is not a list of hosts, addresses and networks with commas between them"
                .to_owned()
        }
        fault => told(fault),
    }
}

/// A client that keeps to a rate, tries again what the API server was too busy for, and counts. A
/// request that carries a [`Mandate`] among its extensions is not sent when that no longer holds,
/// however long it waited for its turn: the fault is [`NotLeading`] then.
///
/// # Errors
/// When the credentials cannot be used.
pub(crate) fn client(
    config: Config,
    rate: Option<Rate>,
    metrics: &Metrics,
) -> Result<Client, Fault> {
    let requests = metrics.requests(&host(&config));
    Ok(match config.proxy_url {
        None => layered(
            ClientBuilder::new(connection(&config)?, config.default_namespace.clone()),
            requests,
            rate,
        ),
        Some(_) => layered(
            ClientBuilder::try_from(config)?.with_layer(&BufferLayer::new(WAITING)),
            requests,
            rate,
        ),
    })
}

/// Whom a client asks, as metrics have it.
pub(crate) fn host(config: &Config) -> String {
    config
        .cluster_url
        .authority()
        .map_or_else(String::new, ToString::to_string)
}

/// Connections to a server, one for each request at a time. That of `ClientBuilder::try_from` never
/// ends those that nobody uses.
fn connection(config: &Config) -> Result<impl Connection<Incoming>, kube::Error> {
    let mut connector = TimeoutConnector::new(config.rustls_https_connector()?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let mut client = legacy::Client::builder(TokioExecutor::new());
    let client = client
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .build::<_, Body>(connector);
    let authorized = ServiceBuilder::new()
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?);
    Ok(ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(authorized.into_inner())
        .map_err(BoxError::from)
        .service(client))
}

/// What answers requests, for many who ask.
trait Connection<B>:
    Service<Request<Body>, Response = Response<B>, Error = BoxError, Future: Send>
    + Clone
    + Send
    + 'static
{
}

impl<B, S> Connection<B> for S where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError, Future: Send>
        + Clone
        + Send
        + 'static
{
}

/// A client around a connection; what comes first here a request meets last.
fn layered<B>(
    connection: ClientBuilder<impl Connection<B>>,
    requests: Requests,
    rate: Option<Rate>,
) -> Client
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let counted = connection
        .with_layer(&Counting {
            requests: Arc::new(requests),
        })
        .with_layer(&Permitting);
    let limited = counted
        .with_layer(&ConcurrencyLimitLayer::new(AT_ONCE))
        .with_layer(&Pacing { rate });
    limited.with_layer(&RetryLayer::new(retries())).build()
}

/// What the API server answers with 429, 503 or 504 is asked again up to three times, after half a
/// second and more, or after the time that the answer names. What then still fails is for who
/// asked.
fn retries() -> RetryPolicy {
    let policy = RetryPolicy::new(Duration::from_millis(500), Duration::from_secs(5), 3, true);
    policy.expect("internal error: the shorter pause is not longer than the longer one")
}

struct Counting {
    requests: Arc<Requests>,
}

impl<S> Layer<S> for Counting {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted {
            inner,
            requests: self.requests.clone(),
        }
    }
}

#[derive(Clone)]
struct Counted<S> {
    inner: S,
    requests: Arc<Requests>,
}

impl<S, B> Service<Request<Body>> for Counted<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (method, requests) = (request.method().to_string(), self.requests.clone());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            // client-go's word where no answer came.
            let code = answer.as_ref().map_or("<error>".to_owned(), |response| {
                response.status().as_str().to_owned()
            });
            requests.answered(&code, &method);
            answer
        })
    }
}

/// Why a write was not sent: who would have done it may write no more.
#[derive(Debug)]
pub(crate) struct NotLeading;

impl fmt::Display for NotLeading {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("this process holds the lease no longer")
    }
}

impl std::error::Error for NotLeading {}

/// Asks for the mandate of a request after all that it waits for.
struct Permitting;

impl<S> Layer<S> for Permitting {
    type Service = Permitted<S>;

    fn layer(&self, inner: S) -> Permitted<S> {
        Permitted { inner }
    }
}

#[derive(Clone)]
struct Permitted<S> {
    inner: S,
}

impl<S, B> Service<Request<Body>> for Permitted<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Either<S::Future, Ready<Result<S::Response, BoxError>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match request.extensions().get::<Mandate>() {
            Some(mandate) if !mandate.holds() => {
                Either::Right(std::future::ready(Err(NotLeading.into())))
            }
            _ => Either::Left(self.inner.call(request)),
        }
    }
}

/// Lets requests pass at a rate, in their order.
struct Pacing {
    rate: Option<Rate>,
}

impl<S> Layer<S> for Pacing {
    type Service = Paced<S>;

    fn layer(&self, inner: S) -> Paced<S> {
        let bucket = self
            .rate
            .map(|rate| Arc::new(Mutex::new(Bucket::new(rate, Instant::now()))));
        Paced {
            inner,
            bucket,
            waiting: None,
            may_pass: false,
        }
    }
}

struct Paced<S> {
    inner: S,
    /// That of all who ask.
    bucket: Option<Arc<Mutex<Bucket>>>,
    waiting: Option<Pin<Box<Sleep>>>,
    may_pass: bool,
}

/// Another one who asks, and has to wait for a turn of its own.
impl<S: Clone> Clone for Paced<S> {
    fn clone(&self) -> Self {
        Paced {
            inner: self.inner.clone(),
            bucket: self.bucket.clone(),
            waiting: None,
            may_pass: false,
        }
    }
}

impl<S: Service<Request<Body>>> Service<Request<Body>> for Paced<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        if let Some(bucket) = self
            .bucket
            .as_ref()
            .filter(|_| !self.may_pass && self.waiting.is_none())
        {
            let pause = bucket
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(Instant::now());
            self.waiting = (!pause.is_zero()).then(|| Box::pin(tokio::time::sleep(pause)));
        }
        if let Some(sleep) = &mut self.waiting {
            ready!(sleep.as_mut().poll(context));
            self.waiting = None;
        }
        self.may_pass = true;
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> S::Future {
        self.may_pass = false;
        self.inner.call(request)
    }
}

/// A bucket of tokens, one for each request, that fills at a rate up to the burst.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    tokens: f64,
    counted: Instant,
}

impl Bucket {
    fn new(rate: Rate, now: Instant) -> Self {
        Bucket {
            rate,
            tokens: f64::from(rate.burst),
            counted: now,
        }
    }

    /// Takes a token, and says how long to wait until it is there.
    fn take(&mut self, now: Instant) -> Duration {
        let filled =
            now.saturating_duration_since(self.counted).as_secs_f64() * self.rate.per_second;
        self.tokens = (self.tokens + filled).min(f64::from(self.rate.burst)) - 1.0;
        self.counted = now;
        Duration::try_from_secs_f64(-self.tokens / self.rate.per_second).unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::election::Leadership;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let start = Instant::now();
        let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
        let mut bucket = Bucket::new(
            Rate {
                per_second: 10.0,
                burst: 3,
            },
            start,
        );
        let waits: Vec<u128> = (0..5).map(|_| bucket.take(at(0)).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100, 200]);
        assert_eq!(bucket.take(at(300)).as_millis(), 0);
        // However long nothing was asked, no more than the burst comes at once.
        let waits: Vec<u128> = (0..4)
            .map(|_| bucket.take(at(60_000)).as_millis())
            .collect();
        assert_eq!(waits, [0, 0, 0, 100]);
    }

    /// A client of a server that answers in turn with these codes, and asks for twenty seconds
    /// where it is busy; `asked` hears of each request.
    fn client_of(
        codes: &[u16],
        rate: Option<Rate>,
        metrics: &Metrics,
        asked: impl Fn() + Clone + Send + 'static,
    ) -> Client {
        let left = Arc::new(Mutex::new(codes.to_vec()));
        let service = tower::service_fn(move |_: Request<Body>| {
            asked();
            let code = left.lock().unwrap().remove(0);
            async move {
                let head = Response::builder()
                    .status(code)
                    .header(header::RETRY_AFTER, "20");
                head.body(Body::from(br#"{"status": "Success"}"#.to_vec()))
                    .map_err(BoxError::from)
            }
        });
        layered(
            ClientBuilder::new(service, "default"),
            metrics.requests("a:6443"),
            rate,
        )
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_server_is_asked_again_and_every_request_counts() {
        let begun = Instant::now();
        let metrics = Metrics::new();
        let client = client_of(
            &[429, 503, 200],
            Some(Rate {
                per_second: 1.0,
                burst: 1,
            }),
            &metrics,
            || (),
        );
        let answer = client
            .request::<kube::core::Status>(Request::get("/x").body(Vec::new()).unwrap())
            .await;
        // The server asks for 20 seconds each time.
        assert!(
            begun.elapsed() >= Duration::from_secs(40),
            "{:?}",
            begun.elapsed()
        );
        assert!(answer.is_ok(), "{answer:?}");
        let text = metrics.text();
        for code in ["429", "503", "200"] {
            let sample = format!(
                "rest_client_requests_total{{code=\"{code}\",method=\"GET\",host=\"a:6443\"}} 1"
            );
            assert!(text.contains(&sample), "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_follow_each_other_at_the_rate() {
        let begun = Instant::now();
        let service = tower::service_fn(|_: Request<Body>| async {
            Ok::<_, BoxError>(Response::new(Body::empty()))
        });
        let paced = Pacing {
            rate: Some(Rate {
                per_second: 10.0,
                burst: 2,
            }),
        }
        .layer(service);
        let mut askers = [paced.clone(), paced];
        for number in 0..7 {
            let paced = &mut askers[number % 2];
            std::future::poll_fn(|context| paced.poll_ready(context))
                .await
                .unwrap();
            paced
                .call(Request::get("/").body(Body::empty()).unwrap())
                .await
                .unwrap();
        }
        // Two come at once, five more in half a second; tokio's timers are exact to a millisecond.
        let elapsed = begun.elapsed().as_millis();
        assert!((500..=510).contains(&elapsed), "{elapsed}");
    }

    /// A write by a process that leads for so long.
    async fn written(client: &Client, leads: Duration) -> Result<(), kube::Error> {
        let leadership = Leadership::of_candidate();
        leadership.extend(Instant::now() + leads);
        let mut request = Request::post("/x").body(Body::empty()).unwrap();
        request.extensions_mut().insert(Mandate::of([leadership]));
        client.send(request).await.map(drop)
    }

    /// A process that leads no more sends no write that it has begun: neither one that waited for
    /// the rate, nor again one that a busy server rejected.
    #[tokio::test(start_paused = true)]
    async fn nothing_is_sent_after_the_mandate_has_ended() {
        let slow = Some(Rate {
            per_second: 0.1,
            burst: 1,
        });
        let term = Duration::from_secs(5);
        for (codes, rate, before, sent) in [
            (&[200, 200][..], slow, 1, 1),
            (&[429, 200], None, 0, 1),
            (&[200], None, 0, 1),
        ] {
            let count = Arc::new(Mutex::new(0));
            let counted = count.clone();
            let client = client_of(codes, rate, &Metrics::new(), move || {
                *counted.lock().unwrap() += 1
            });
            for _ in 0..before {
                written(&client, term)
                    .await
                    .expect("it has its turn at once");
            }
            let answer = written(&client, term).await;
            match codes {
                [200] => answer.expect("it leads"),
                _ => {
                    let fault = answer.expect_err("it leads no more");
                    assert!(
                        matches!(&fault, kube::Error::Service(fault) if fault.is::<NotLeading>()),
                        "{fault:?}"
                    );
                }
            }
            assert_eq!(*count.lock().unwrap(), sent, "{codes:?}");
        }
    }

    #[tokio::test]
    async fn no_answer_counts_as_an_error() {
        let service = tower::service_fn(|_: Request<Body>| async {
            Err::<Response<Body>, _>(BoxError::from("no route"))
        });
        let metrics = Metrics::new();
        let mut counted = Counting {
            requests: Arc::new(metrics.requests("a")),
        }
        .layer(service);
        let answer = counted
            .call(Request::get("/").body(Body::empty()).unwrap())
            .await;
        assert!(answer.is_err());
        assert!(
            metrics.text().contains(
                "rest_client_requests_total{code=\"<error>\",method=\"GET\",host=\"a\"} 1"
            )
        );
    }

    /// A configuration, a server to which it leads, and what was sent to that one first.
    async fn server(answer: &'static str) -> (Config, tokio::task::JoinHandle<String>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            // It ends when the client has closed the connection.
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
            String::from_utf8_lossy(&head[..length]).into_owned()
        });
        let mut config = Config::new(url.parse().unwrap());
        (
            config.connect_timeout,
            config.read_timeout,
            config.write_timeout,
        ) = (None, None, None);
        (config, asked)
    }

    #[tokio::test(start_paused = true)]
    async fn connections_that_nobody_uses_are_closed() {
        let (mut config, asked) =
            server("HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{\"status\": \"Success\"}").await;
        config
            .headers
            .push((header::USER_AGENT, HeaderValue::from_static("x")));
        config.auth_info.token = Some("t".into());
        let client = client(config, None, &Metrics::new()).unwrap();
        let answer = client
            .request::<kube::core::Status>(Request::get("/x").body(Vec::new()).unwrap())
            .await;
        assert!(answer.is_ok(), "{answer:?}");
        let begun = Instant::now();
        let asked = asked.await.unwrap();
        assert!(begun.elapsed() <= IDLE * 3, "{:?}", begun.elapsed());
        for line in [
            "GET /x HTTP/1.1\r\n",
            "\r\nuser-agent: x\r\n",
            "\r\nauthorization: Bearer t\r\n",
        ] {
            assert!(asked.contains(line), "{asked}");
        }
        drop(client);
    }

    #[tokio::test]
    async fn a_proxy_is_asked_for_the_way() {
        let (config, asked) = server("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
        let mut proxied = Config::new("https://cluster.example:6443".parse().unwrap());
        proxied.proxy_url = Some(config.cluster_url);
        let client = client(proxied, None, &Metrics::new()).unwrap();
        let answer = client
            .request::<kube::core::Status>(Request::get("/x").body(Vec::new()).unwrap())
            .await;
        assert!(answer.is_err(), "{answer:?}");
        let asked = asked.await.unwrap();
        assert!(
            asked.starts_with("CONNECT cluster.example:6443 HTTP/1.1\r\n"),
            "{asked}"
        );
    }

    #[tokio::test]
    async fn nothing_of_a_kubeconfig_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        std::fs::write(&path, "users:\n- name: u\n  user: {token: [s3cret}\n").unwrap();
        let fault = configuration(Some(&path))
            .await
            .expect_err("it is not YAML")
            .to_string();
        assert!(
            fault.contains("it is not a kubeconfig") && !fault.contains("s3cret"),
            "{fault}"
        );
    }

    #[tokio::test]
    async fn a_kubeconfig_that_is_not_there_is_named() {
        let fault = configuration(Some(Path::new("/nowhere/kubeconfig")))
            .await
            .expect_err("it is not there");
        assert!(
            fault
                .to_string()
                .starts_with("--kubeconfig=/nowhere/kubeconfig: "),
            "{fault}"
        );
    }
}
