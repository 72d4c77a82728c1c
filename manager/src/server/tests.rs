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
async fn old_tls_is_refused_where_the_flag_says_so() {
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

/// Who sends too much, no length, or less than it says, is refused without being read or waited
/// for.
#[tokio::test]
async fn bodies_are_bounded() {
    let server = start(
        webhooks::of_one(|_| Value::Null, &Metrics::new(), Duration::from_millis(50)),
        None,
        BOUNDS,
    )
    .await;
    for (head, expected) in [
        ("Content-Length: 999999999999", 413),
        ("Content-Length: 7340033", 413),
        ("Transfer-Encoding: chunked", 411),
        ("Content-Length: 10", 408),
    ] {
        let mut stream = server.connect().await;
        let request = format!(
            "POST /one HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n\r\n{{"
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

#[tokio::test]
async fn a_panic_is_answered_and_counted() {
    let metrics = Metrics::new();
    let review = |question: &Value| {
        if question["panics"] == json!(true) {
            panic!("as told")
        } else {
            json!({})
        }
    };
    let server = start(webhooks::of_one(review, &metrics, PATIENCE), None, BOUNDS).await;
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
        connections: 2,
        handshake: short,
        head: short,
        ..BOUNDS
    };
    let certificate = Certificate::self_signed().unwrap();
    for tls in [None, Some(certificate.tls(TlsVersion::Tls12))] {
        let is_plain = tls.is_none();
        let server = start(health::router(Readiness::default()), tls, bounds).await;
        let mut silent = [server.connect().await, server.connect().await];
        silent[0].write_all(b"GET /hea").await.unwrap();
        if is_plain {
            // Both places are taken; it is served when they are given up.
            assert_eq!(server.ask("GET /healthz", "").await.0, 200);
        }
        for stream in silent {
            read(stream).await;
        }
        server.end().await;
    }
}

#[tokio::test]
async fn what_is_under_way_is_answered_before_the_end() {
    let review = |_: &Value| {
        std::thread::sleep(Duration::from_millis(100));
        json!("done")
    };
    let metrics = Metrics::new();
    // Nobody waits for the grace to pass: connections are told to end.
    let bounds = Bounds {
        grace: 10 * PATIENCE,
        ..BOUNDS
    };
    let server = start(webhooks::of_one(review, &metrics, PATIENCE), None, bounds).await;
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
