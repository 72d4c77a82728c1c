//! Hostile clients of the webhooks, and hostile workload clusters. Meanwhile the manager answers
//! the API server within a second, and takes at most 150 MB.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::site::{Site, Ways, is_done};
use super::workloads::told;
use crate::harness::control_plane::ControlPlane;
use crate::harness::kubeconfig::{self, User};
use crate::harness::process::Process;
use crate::harness::runner::Context;
use crate::harness::{ports, tls, wait};
use crate::scenarios::manager::uncontrolled::BOOTSTRAP;

const SOON: Duration = Duration::from_secs(30);
const LONG: Duration = Duration::from_secs(120);
const SECOND: Duration = Duration::from_secs(1);
const MOST_MEGABYTES: usize = 150;

const CONVERT: &str = "/convert";
const VALIDATE: &str = "/validate-bootstrap-windlass-dev-v1beta2-windlassconfig";
const CONVERSION: &str = r#"{"request":{"uid":"1","desiredAPIVersion":"bootstrap.windlass.dev/v1beta2","objects":[{"apiVersion":"bootstrap.windlass.dev/v1beta1","kind":"WindlassConfig","spec":{"x":["#;
const ADMISSION: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","object":{"apiVersion":"bootstrap.windlass.dev/v1beta1","kind":"WindlassConfig","spec":{"x":["#;

/// A webhook of the manager that the API server calls for the configs of a site.
pub(super) struct Webhook<'a> {
    plane: &'a ControlPlane,
    configuration: Value,
    /// Two files with one path: valid by the schema, rejected by the webhook.
    rejected: Value,
}

impl<'a> Webhook<'a> {
    /// Configures one, and waits until the API server calls it.
    pub(super) fn called(plane: &'a ControlPlane, site: &Site<'_>, name: &str, port: u16) -> Self {
        let full = format!("{name}.e2e.windlass.dev");
        let webhook = json!({
            "name": full, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "clientConfig": {
                "url": format!("https://127.0.0.1:{port}{VALIDATE}"),
                "caBundle": STANDARD.encode(&plane.certificates.authority),
            },
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": site.namespace}},
            "rules": [{
                "apiGroups": ["bootstrap.windlass.dev"], "apiVersions": ["v1beta2"], "operations": ["CREATE"], "resources": ["windlassconfigs"],
            }],
        });
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": name},
            "webhooks": [webhook],
        });
        plane.api.create(&configuration).unwrap();
        let rejected = json!({
            "apiVersion": BOOTSTRAP, "kind": "WindlassConfig", "metadata": {"name": "a", "namespace": site.namespace},
            "spec": {"files": [{"path": "/a", "content": "a"}, {"path": "/a", "content": "b"}]},
        });
        wait::until("the webhook to be called", SOON, || {
            match plane.api.try_create(&rejected) {
                Err(rejection) if rejection.message().contains(&full) => Ok(()),
                answer => Err(format!("{answer:?}")),
            }
        });
        Webhook {
            plane,
            configuration,
            rejected,
        }
    }

    /// Has the API server call it, and returns the time that this took.
    pub(super) fn answers(&self) -> Duration {
        let began = Instant::now();
        let answer = self.plane.api.try_create(&self.rejected);
        let rejection = answer.expect_err("two files of one path");
        let message = rejection.message();
        assert!(!message.contains("failed calling webhook"), "{message}");
        began.elapsed()
    }

    pub(super) fn remove(self) {
        self.plane.api.delete(&self.configuration).unwrap();
    }
}

/// Idle connections, and bodies that never arrive, arrive byte by byte, or take a hundred times
/// their size in memory.
pub(crate) fn hostile_requests_do_not_delay_webhooks(context: &Context) {
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let site = Site::empty(&plane, "strangers");
    let (mut manager, port) = with_webhooks(&site, &ways);
    let webhook = Webhook::called(&plane, &site, "strangers", port);
    let is_answered = |manager: &mut Process, what: &str| {
        let longest = (0..5).map(|_| webhook.answers()).max();
        let longest = longest.expect("there are five");
        let megabytes = peak(manager);
        println!("  {what}: answered within {longest:.2?}, at most {megabytes} MB");
        assert!(longest < SECOND, "{what}: {longest:?}");
        assert!(megabytes < MOST_MEGABYTES, "{what}: {megabytes} MB");
    };
    is_answered(&mut manager, "undisturbed");

    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    let idle: Vec<TcpStream> = (0..1000).map(|_| connect()).collect();
    is_answered(&mut manager, "1,000 idle connections");
    drop(idle);

    let strangers = Strangers {
        tls: tls::connector(&plane.certificates.authority)
            .config()
            .clone(),
        port,
    };
    // More than the limit, and the limits.
    for (path, bytes) in [
        (CONVERT, 64 << 20),
        (CONVERT, 16 << 20),
        (VALIDATE, 7 << 20),
    ] {
        let silent = strangers.come(60, path, bytes, |_| Vec::new());
        is_answered(&mut manager, &format!("{bytes} bytes announced to {path}"));
        drop(silent);
        let slow = strangers.come(60, path, bytes, |_| b"[".to_vec());
        is_answered(&mut manager, &format!("{bytes} bytes one by one to {path}"));
        drop(slow);
    }
    for (path, head, sizes) in [
        (CONVERT, CONVERSION, [64 << 20, 16 << 20, 1 << 20]),
        (VALIDATE, ADMISSION, [64 << 20, 7 << 20, 1 << 20]),
    ] {
        for bytes in sizes {
            let body = |at: usize| match at {
                0 => head.as_bytes().to_vec(),
                _ => b"[],".repeat(20 << 10),
            };
            let brackets = strangers.come(4, path, bytes, body);
            is_answered(
                &mut manager,
                &format!("{bytes} bytes of brackets to {path}"),
            );
            drop(brackets);
        }
    }
    is_answered(&mut manager, "afterwards");
    webhook.remove();
    manager.stop();
    site.leave();
}

/// Sends hostile requests.
struct Strangers {
    tls: Arc<ClientConfig>,
    port: u16,
}

/// Connections of hostile clients, closed when it is dropped.
struct Clients(Vec<TcpStream>);

impl Drop for Clients {
    fn drop(&mut self) {
        for stream in &self.0 {
            // The manager may have closed it.
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

impl Strangers {
    /// Begins requests whose bodies are announced with so many bytes. Pieces are sent until one is
    /// empty or the manager closes the connection; after a piece of one byte the client pauses.
    fn come(
        &self,
        count: usize,
        path: &'static str,
        bytes: usize,
        piece: impl Fn(usize) -> Vec<u8> + Clone + Send + 'static,
    ) -> Clients {
        let (sender, begun) = mpsc::channel::<()>();
        let clients = (0..count).map(|_| {
            let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            let client = stream.try_clone().unwrap();
            let name = ServerName::try_from("127.0.0.1").unwrap();
            let tls = ClientConnection::new(self.tls.clone(), name).unwrap();
            let (piece, sender) = (piece.clone(), sender.clone());
            std::thread::spawn(move || {
                // However it ends, the manager is what is looked at.
                drop(send(
                    StreamOwned::new(tls, stream),
                    path,
                    bytes,
                    piece,
                    sender,
                ));
            });
            client
        });
        let clients = Clients(clients.collect());
        drop(sender);
        // All requests have begun when the last sender is dropped.
        assert!(begun.recv().is_err());
        clients
    }
}

fn send(
    mut stream: StreamOwned<ClientConnection, TcpStream>,
    path: &str,
    bytes: usize,
    piece: impl Fn(usize) -> Vec<u8>,
    begins: mpsc::Sender<()>,
) -> io::Result<()> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    drop(begins);
    let mut left = bytes;
    for at in 0.. {
        let mut piece = piece(at);
        piece.truncate(left);
        if piece.is_empty() {
            break;
        }
        left -= piece.len();
        stream.write_all(&piece)?;
        if piece.len() == 1 {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    // The connection stays open until the manager closes it.
    stream.read_to_end(&mut Vec::new()).map(drop)
}

/// Workload clusters that answer 403 with a megabyte, or with a message longer than a condition:
/// the conditions of their machines report it, and the machines of other clusters get their data.
pub(crate) fn long_answers_of_workload_clusters_are_cut(context: &Context) {
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let site = Site::empty(&plane, "long");
    site.give_running_cluster("c", &ways.workload);
    site.give_worker("c", "good");
    let mut servers = JoinSet::new();
    for (name, bytes) in [("much", 1 << 20), ("long", 50_000)] {
        let port = ports::free();
        rejecting(context, &plane, &mut servers, port, bytes);
        let file = plane.folder().join(format!("kubeconfig-{name}"));
        let url = format!("https://127.0.0.1:{port}");
        let authority = &plane.certificates.authority;
        kubeconfig::write(&file, &url, authority, &User::Token("abc"));
        site.give_running_cluster(name, &file);
        (0..20).for_each(|index| site.give_worker(name, &format!("{name}-{index:02}")));
    }
    let (mut manager, port) = with_webhooks(&site, &ways);
    let webhook = Webhook::called(&plane, &site, "long", port);
    let of = |prefix: &str| {
        let is_of = |config: &Value| {
            let name = config["metadata"]["name"].as_str();
            name.is_some_and(|name| name.starts_with(prefix))
        };
        let configs: Vec<Value> = site.configs().into_iter().filter(is_of).collect();
        configs
    };
    wait::until("the good machine", LONG, || match of("good") {
        configs if configs.iter().all(is_done) => Ok(()),
        configs => Err(format!("{:?}", configs[0]["status"])),
    });
    for (name, expected) in [
        (
            "much",
            "the API server of the workload cluster answered with code 403",
        ),
        (
            "long",
            "the API server of the workload cluster answered: “xxxxxxxxxx",
        ),
    ] {
        let says = wait::until(&format!("a word about {name}"), LONG, || {
            let says: Vec<String> = of(name).iter().filter_map(told).collect();
            if says.len() == 20 {
                Ok(says)
            } else {
                Err(format!("{} say something", says.len()))
            }
        });
        for message in says {
            assert!(message.contains(expected), "{message}");
            assert!(message.chars().count() < 1_500, "{message}");
        }
    }
    let longest = (0..5).map(|_| webhook.answers()).max();
    let (longest, megabytes) = (longest.expect("there are five"), peak(&mut manager));
    println!("  answered within {longest:.2?}, at most {megabytes} MB");
    assert!(longest < SECOND && megabytes < MOST_MEGABYTES);
    webhook.remove();
    manager.stop();
    site.leave();
}

/// Starts a server that answers everything with 403 and a message of so many bytes.
fn rejecting(
    context: &Context,
    plane: &ControlPlane,
    servers: &mut JoinSet<()>,
    port: u16,
    bytes: usize,
) {
    let acceptor = tls::acceptor(&plane.certificates.serving);
    let message = "x".repeat(bytes);
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden", "message": message});
    let text = Bytes::from(status.to_string());
    let listener = context
        .runtime()
        .block_on(TcpListener::bind(("127.0.0.1", port)))
        .expect("the port was free a moment ago");
    let _runtime = context.runtime().enter();
    servers.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, text) = (acceptor.clone(), text.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let service = service_fn(move |_: Request<Incoming>| {
                    let mut answer = Response::new(Full::new(text.clone()));
                    *answer.status_mut() = StatusCode::FORBIDDEN;
                    async move { Ok::<_, Infallible>(answer) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                drop(http.serve_connection(TokioIo::new(stream), service).await);
            });
        }
    });
}

/// A manager of a site that serves webhooks, and their port.
fn with_webhooks(site: &Site<'_>, ways: &Ways) -> (Process, u16) {
    let port = ports::free();
    let folder = site.plane.certificates.folder().display();
    let arguments = [
        format!("--webhook-port={port}"),
        format!("--webhook-cert-dir={folder}"),
    ];
    let manager = site.manager(ways, &arguments.each_ref().map(String::as_str));
    (manager, port)
}

/// The peak of the resident set in megabytes (`VmHWM` of proc(5)).
fn peak(manager: &mut Process) -> usize {
    manager.assert_running();
    let status = std::fs::read_to_string(format!("/proc/{}/status", manager.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: usize = line
        .and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok())
        .expect("proc(5) has it");
    kilobytes / 1000
}
