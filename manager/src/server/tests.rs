//! Servers on real sockets, with real TLS.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertifiedKey, KeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion, version};

use super::certificate::{Certificate, Files};
use super::*;
use crate::flags::TlsVersion;
use crate::metrics::Metrics;
use crate::readiness::Readiness;

/// Nothing here takes a tenth of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on a port of its own.
pub(super) struct Running {
    port: u16,
    shutdown: Shutdown,
    task: JoinHandle<()>,
}

pub(super) async fn start(
    router: Router,
    tls: Option<Arc<ServerConfig>>,
    bounds: Bounds,
) -> Running {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let (port, shutdown) = (listener.local_addr().unwrap().port(), Shutdown::new());
    let task = tokio::spawn(
        Server {
            listener,
            tls,
            router,
            bounds,
        }
        .serve(shutdown.clone()),
    );
    Running {
        port,
        shutdown,
        task,
    }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
            .await
            .unwrap()
    }

    /// Status and body of the answer to a request on a connection of its own.
    pub(super) async fn ask(&self, head: &str, body: &str) -> (u16, String) {
        answer_on(self.connect().await, head, body).await
    }

    async fn end(self) {
        self.shutdown.begin();
        timeout(PATIENCE, self.task)
            .await
            .expect("it ends")
            .unwrap();
    }
}

async fn answer_on(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    head: &str,
    body: &str,
) -> (u16, String) {
    let request = format!(
        "{head} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    parsed(&read(stream).await)
}

async fn read(mut stream: impl AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    // A server that has said all may reset a connection on which it left bytes unread.
    drop(
        timeout(PATIENCE, stream.read_to_end(&mut answer))
            .await
            .expect("it answers or closes"),
    );
    String::from_utf8(answer).unwrap()
}

fn parsed(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    (
        head.split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .expect("an answer has a status"),
        body.to_owned(),
    )
}

fn certified() -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

async fn tls_stream(
    server: &Running,
    trusted: &CertifiedKey<KeyPair>,
    versions: &[&'static SupportedProtocolVersion],
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.cert.der().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(versions)
        .unwrap();
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, server.connect().await)
        .await
}

const ALL_VERSIONS: &[&SupportedProtocolVersion] = &[&version::TLS12, &version::TLS13];

/// Writes as the kubelet does: files in a folder of their own, to which a link is turned.
fn mount(folder: &Path, revision: &str, certificate: &str, key: &str) {
    let data = folder.join(revision);
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("tls.crt"), certificate).unwrap();
    std::fs::write(data.join("tls.key"), key).unwrap();
    std::os::unix::fs::symlink(revision, folder.join("..tmp")).unwrap();
    std::fs::rename(folder.join("..tmp"), folder.join("..data")).unwrap();
    for file in ["tls.crt", "tls.key"] {
        if folder.join(file).symlink_metadata().is_err() {
            std::os::unix::fs::symlink(Path::new("..data").join(file), folder.join(file)).unwrap();
        }
    }
}

/// Waits until something holds that other tasks bring about.
async fn until<F: Future<Output = bool>>(mut holds: impl FnMut() -> F) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, wait).await.expect("it comes to hold");
}

#[tokio::test]
async fn the_certificate_is_exchanged_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let readiness = Readiness::default();
    let certificate = Certificate::default();
    let server = start(
        webhooks::router(&Metrics::new()),
        Some(certificate.tls(TlsVersion::Tls12)),
        BOUNDS,
    )
    .await;
    let files = Files {
        certificate: folder.path().join("tls.crt"),
        key: folder.path().join("tls.key"),
    };
    let following = Shutdown::new();
    let check = readiness.check("webhooks", "not read");
    let follow = tokio::spawn(certificate.clone().follow(
        files,
        Duration::from_millis(5),
        check,
        following.clone(),
    ));
    let is_ready = || async { readiness.checks()[0].1.is_none() };
    let why = || readiness.checks()[0].1.clone().unwrap_or_default();

    until(|| async { why().contains("tls.crt: No such file or directory") }).await;
    let (first, second) = (certified(), certified());
    assert!(tls_stream(&server, &first, ALL_VERSIONS).await.is_err());

    mount(folder.path(), "1", &first.cert.pem(), "nonsense");
    until(|| async { why().starts_with("key: ") }).await;
    mount(
        folder.path(),
        "2",
        &first.cert.pem(),
        &first.signing_key.serialize_pem(),
    );
    until(is_ready).await;
    let stream = tls_stream(&server, &first, ALL_VERSIONS)
        .await
        .expect("the first is served");
    assert_eq!(answer_on(stream, "POST /convert", "{}").await.0, 200);

    mount(
        folder.path(),
        "3",
        &second.cert.pem(),
        &second.signing_key.serialize_pem(),
    );
    until(|| async { tls_stream(&server, &second, ALL_VERSIONS).await.is_ok() }).await;
    assert!(tls_stream(&server, &first, ALL_VERSIONS).await.is_err());

    // A key that is not the certificate's, as when one of two files is new: what was served is
    // served on.
    mount(
        folder.path(),
        "4",
        &first.cert.pem(),
        &second.signing_key.serialize_pem(),
    );
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(tls_stream(&server, &second, ALL_VERSIONS).await.is_ok());
    assert!(is_ready().await);
    following.begin();
    timeout(PATIENCE, follow).await.expect("it ends").unwrap();
    server.end().await;
}

#[tokio::test]
async fn old_tls_is_rejected_where_the_flag_says_so() {
    let made = certified();
    let folder = tempfile::tempdir().unwrap();
    mount(
        folder.path(),
        "1",
        &made.cert.pem(),
        &made.signing_key.serialize_pem(),
    );
    let (certificate, readiness) = (Certificate::default(), Readiness::default());
    let files = Files {
        certificate: folder.path().join("tls.crt"),
        key: folder.path().join("tls.key"),
    };
    let check = readiness.check("webhooks", "not read");
    tokio::spawn(certificate.clone().follow(
        files,
        Duration::from_millis(5),
        check,
        Shutdown::new(),
    ));
    until(|| async { readiness.checks()[0].1.is_none() }).await;
    for (least, versions, expected) in [
        (TlsVersion::Tls12, &[&version::TLS12][..], true),
        (TlsVersion::Tls13, &[&version::TLS12], false),
        (TlsVersion::Tls13, &[&version::TLS13], true),
    ] {
        let server = start(Router::new(), Some(certificate.tls(least)), BOUNDS).await;
        assert_eq!(
            tls_stream(&server, &made, versions).await.is_ok(),
            expected,
            "{least:?}"
        );
    }
}

#[tokio::test]
async fn health_says_which_check_fails() {
    let readiness = Readiness::default();
    let (webhooks, caches) = (
        readiness.check("webhooks", "no certificate"),
        readiness.check("caches", "being filled"),
    );
    let server = start(health::router(readiness), None, BOUNDS).await;
    assert_eq!(server.ask("GET /healthz", "").await, (200, "ok".to_owned()));
    webhooks.passed();
    let text = "[-]caches failed: being filled\n[+]webhooks ok\nreadyz check failed\n";
    assert_eq!(server.ask("GET /readyz", "").await, (503, text.to_owned()));
    caches.passed();
    assert_eq!(server.ask("GET /readyz", "").await.0, 200);
    assert_eq!(server.ask("GET /", "").await.0, 404);
    server.end().await;
}

fn config() -> Value {
    json!({
        "apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfig",
        "metadata": {"name": "w", "namespace": "default"}, "spec": {},
    })
}

#[tokio::test]
async fn webhooks_answer_what_the_api_server_asks() {
    let metrics = Metrics::new();
    let server = start(webhooks::router(&metrics), None, BOUNDS).await;
    let request = json!({"uid": "u-1", "desiredAPIVersion": "bootstrap.windlass.dev/v1beta1", "objects": [config()]});
    let question = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request});
    let (code, answer) = server
        .ask("POST /convert?timeout=30s", &question.to_string())
        .await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        (
            code,
            &answer["response"]["uid"],
            &answer["response"]["result"]["status"]
        ),
        (200, &json!("u-1"), &json!("Success"))
    );
    assert_eq!(
        answer["response"]["convertedObjects"][0]["apiVersion"],
        "bootstrap.windlass.dev/v1beta1"
    );

    // The paths stand in the release's ValidatingWebhookConfiguration.
    for kind in ["windlassconfig", "windlassconfigtemplate"] {
        let path = format!("/validate-bootstrap-windlass-dev-v1beta2-{kind}");
        let (code, answer) = server
            .ask(&format!("POST {path}"), r#"{"request": {"uid": "u-2"}}"#)
            .await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            (code, &answer["kind"], &answer["response"]["uid"]),
            (200, &json!("AdmissionReview"), &json!("u-2"))
        );
        assert!(metrics.text().contains(&format!(
            "controller_runtime_webhook_requests_total{{webhook=\"{path}\",code=\"200\"}} 1"
        )));
    }
    assert_eq!(server.ask("POST /convert", "no json").await.0, 400);
    assert_eq!(server.ask("GET /convert", "").await.0, 405);
    assert_eq!(server.ask("POST /mutate", "{}").await.0, 404);
    server.end().await;
}

/// The start of a request whose body is announced.
fn head_of(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn bodies_are_bounded() {
    let router = webhooks::of_one(|_, _| Ok("null".to_owned()), &Metrics::new());
    let server = start(router, None, BOUNDS).await;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for (head, body, expected) in [
        ("Content-Length: 999999999999", "{", 413),
        ("Content-Length: 262145", "{", 413),
        ("Transfer-Encoding: chunked", chunk.repeat(5).as_str(), 413),
        ("Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n", 200),
        ("Transfer-Encoding: chunked", "x", 400),
        ("Content-Length: 10", "{", 408),
    ] {
        let mut stream = server.connect().await;
        let request = format!(
            "POST /one HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(parsed(&read(stream).await).0, expected, "{head}");
    }
    assert_eq!(
        server.ask("POST /one", "{}").await,
        (200, "null".to_owned())
    );
    server.end().await;
}

/// 64 MiB are not read, and 1 MiB does not become values.
#[tokio::test]
async fn brackets_are_rejected() {
    let server = start(webhooks::router(&Metrics::new()), None, BOUNDS).await;
    let object =
        r#"{"apiVersion":"bootstrap.windlass.dev/v1beta1","kind":"WindlassConfig","spec":"#;
    let brackets = |bytes: usize| format!("[{}[]]", "[],".repeat(bytes / 3));
    for (path, head, tail) in [
        (
            "/convert",
            r#"{"request":{"uid":"1","desiredAPIVersion":"bootstrap.windlass.dev/v1beta2","objects":["#,
            "]}}",
        ),
        (
            "/validate-bootstrap-windlass-dev-v1beta2-windlassconfig",
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","object":"#,
            "}}",
        ),
    ] {
        let mut stream = server.connect().await;
        let request = head_of(path, 64 << 20) + head;
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(parsed(&read(stream).await).0, 413, "{path}");
        let body = format!("{head}{object}{}}}{tail}", brackets(1 << 20));
        assert_eq!(
            server.ask(&format!("POST {path}"), &body).await.0,
            413,
            "{path}"
        );
        let body = format!("{head}{object}{}}}{tail}", brackets(30));
        assert_eq!(
            server.ask(&format!("POST {path}"), &body).await.0,
            200,
            "{path}"
        );
    }
    // Items that are not objects fail the conversion.
    let body = format!(
        r#"{{"request":{{"uid":"1","desiredAPIVersion":"bootstrap.windlass.dev/v1beta2","objects":{}}}}}"#,
        brackets(1 << 20)
    );
    let (code, answer) = server.ask("POST /convert", &body).await;
    assert!(code == 200 && answer.contains("Failure") && answer.len() < 4_000);
    server.end().await;
}

#[tokio::test]
async fn announced_bodies_do_not_delay_others() {
    let router = webhooks::of_one(|_, _| Ok("null".to_owned()), &Metrics::new());
    let server = start(router, None, BOUNDS).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut stream = server.connect().await;
        let request = head_of("/one", 256 << 10) + &"x".repeat(1000);
        stream.write_all(request.as_bytes()).await.unwrap();
        held.push(stream);
    }
    let large = "x".repeat(256 << 10);
    for body in ["{}", &large] {
        assert_eq!(server.ask("POST /one", body).await.0, 200);
    }
    for stream in held {
        assert_eq!(parsed(&read(stream).await).0, 408);
    }
    server.end().await;
}

/// Neither small requests nor other paths.
#[tokio::test]
async fn large_requests_do_not_delay_others() {
    static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let slow: fn(_, _) -> _ = |body: axum::body::Bytes, _| {
        if body.len() > 1000 {
            drop(TURN.blocking_lock());
        }
        Ok("null".to_owned())
    };
    let metrics = Metrics::new();
    let router =
        webhooks::of_path("/one", slow, &metrics).merge(webhooks::of_path("/two", slow, &metrics));
    let server = start(router, None, BOUNDS).await;
    let turn = TURN.lock().await;
    let large = "x".repeat(100 << 10);
    let asked: Vec<_> = futures::future::join_all((0..2).map(|_| server.connect()))
        .await
        .into_iter()
        .map(|stream| {
            let large = large.clone();
            tokio::spawn(async move { answer_on(stream, "POST /one", &large).await.0 })
        })
        .collect();
    until(|| async {
        metrics
            .text()
            .contains("controller_runtime_webhook_requests_in_flight{webhook=\"/one\"} 2")
    })
    .await;
    assert_eq!(server.ask("POST /one", "{}").await.0, 200);
    assert_eq!(server.ask("POST /two", "{}").await.0, 200);
    drop(turn);
    for asked in asked {
        assert_eq!(asked.await.unwrap(), 200);
    }
    assert_eq!(server.ask("POST /two", &large).await.0, 200);
    server.end().await;
}

#[tokio::test]
async fn a_panic_is_answered_and_counted() {
    let metrics = Metrics::new();
    let review: fn(_, _) -> _ = |body: axum::body::Bytes, _| match &body[..] {
        b"{}" => Ok("{}".to_owned()),
        _ => panic!("as told"),
    };
    let server = start(webhooks::of_one(review, &metrics), None, BOUNDS).await;
    let (code, text) = server.ask("POST /one", r#"{"panics": true}"#).await;
    assert_eq!(
        (code, text.as_str()),
        (500, "internal error: the webhook panicked")
    );
    assert_eq!(server.ask("POST /one", "{}").await.0, 200);
    let text = metrics.text();
    for sample in [
        "controller_runtime_webhook_panics_total 1",
        "controller_runtime_webhook_requests_total{webhook=\"/one\",code=\"500\"} 1",
        "controller_runtime_webhook_requests_in_flight{webhook=\"/one\"} 0",
    ] {
        assert!(
            text.lines().any(|line| line == sample),
            "{sample} is not in\n{text}"
        );
    }
    server.end().await;
}

/// Clients that say nothing, and say it forever, neither stay nor keep others away.
#[tokio::test]
async fn slow_clients_are_let_go() {
    let short = Duration::from_millis(50);
    let bounds = Bounds {
        handshake: short,
        head: short,
        idle: 4 * short,
        ..BOUNDS
    };
    let certificate = Certificate::self_signed().unwrap();
    for tls in [None, Some(certificate.tls(TlsVersion::Tls12))] {
        let server = start(health::router(Readiness::default()), tls, bounds).await;
        let mut silent = [server.connect().await, server.connect().await];
        silent[0].write_all(b"GET /hea").await.unwrap();
        for stream in silent {
            read(stream).await;
        }
        server.end().await;
    }
}

/// An endless head ends the connection; a connection without a request stays.
#[tokio::test]
async fn heads_have_a_deadline() {
    let bounds = Bounds {
        head: Duration::from_millis(100),
        ..BOUNDS
    };
    let server = start(health::router(Readiness::default()), None, bounds).await;
    let mut idle = server.connect().await;
    let mut slow = server.connect().await;
    slow.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
    let endless = async {
        while slow.write_all(b"x: y\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, endless).await.expect("it is closed");
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(parsed(&read(idle).await).0, 200);
    server.end().await;
}

#[tokio::test]
async fn closes_idle_connections_for_new_ones() {
    let bounds = Bounds {
        connections: 8,
        of_address: 4,
        ..BOUNDS
    };
    let certificate = Certificate::self_signed().unwrap();
    for tls in [None, Some(certificate.tls(TlsVersion::Tls12))] {
        let is_plain = tls.is_none();
        let server = start(health::router(Readiness::default()), tls, bounds).await;
        let mut idle = Vec::new();
        for _ in 0..50 {
            idle.push(server.connect().await);
        }
        if is_plain {
            assert_eq!(server.ask("GET /healthz", "").await.0, 200);
        }
        // The newest are there still.
        for mut stream in idle.drain(..40) {
            let mut byte = [0];
            let ended = timeout(PATIENCE, stream.read(&mut byte)).await;
            assert!(matches!(ended, Ok(Ok(0) | Err(_))), "it is closed");
        }
        server.end().await;
    }
}

#[tokio::test]
async fn answers_have_a_deadline() {
    let bounds = Bounds {
        answer: Duration::from_millis(100),
        ..BOUNDS
    };
    let metrics = Metrics::new();
    let router = webhooks::of_one(|_, _| Ok("x".repeat(32 << 20)), &metrics);
    let server = start(router, None, bounds).await;
    let mut lazy = server.connect().await;
    let request = head_of("/one", 2) + "{}";
    lazy.write_all(request.as_bytes()).await.unwrap();
    until(|| async { metrics.text().contains("code=\"200\"} 1") }).await;
    // Written bytes are rejected when the connection is closed.
    let closed = async {
        while lazy.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, closed).await.expect("it is closed");
    let mut answer = Vec::new();
    drop(
        timeout(PATIENCE, lazy.read_to_end(&mut answer))
            .await
            .expect("it ends"),
    );
    assert!(answer.len() < 32 << 20, "{}", answer.len());
    server.end().await;
}

#[tokio::test]
async fn what_is_under_way_is_answered_before_the_end() {
    let review: fn(_, _) -> _ = |_, _| {
        std::thread::sleep(Duration::from_millis(100));
        Ok("\"done\"".to_owned())
    };
    let metrics = Metrics::new();
    // Nobody waits for the grace to pass: connections are told to end.
    let bounds = Bounds {
        grace: 10 * PATIENCE,
        ..BOUNDS
    };
    let server = start(webhooks::of_one(review, &metrics), None, bounds).await;
    let stream = server.connect().await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /one HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let asked = tokio::spawn(answer_on(stream, "POST /one", "{}"));
    until(|| async {
        metrics
            .text()
            .contains("controller_runtime_webhook_requests_in_flight{webhook=\"/one\"} 1")
    })
    .await;
    server.end().await;
    assert_eq!(asked.await.unwrap(), (200, "\"done\"".to_owned()));
    assert_eq!(parsed(&read(idle).await).0, 405);
}

#[tokio::test]
async fn an_address_of_all_hosts_is_reached_over_ipv4() {
    let listener = listen(&Address {
        host: None,
        port: 0,
    })
    .await
    .unwrap();
    let port = listener.local_addr().unwrap().port();
    assert!(
        TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .is_ok()
    );
    assert!(listen(&Address { host: None, port }).await.is_err());
    assert!(
        listen(&Address {
            host: Some("localhost".to_owned()),
            port: 0
        })
        .await
        .is_ok()
    );
}
