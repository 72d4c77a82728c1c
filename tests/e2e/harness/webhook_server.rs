//! Webhooks before there is a manager: serves functions over TLS on loopback, as an API server
//! calls them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::certificates::Pair;
use super::{ports, tls};

/// From an `AdmissionReview` or `ConversionReview` with a request to the same with a response.
pub(crate) type Function = Arc<dyn Fn(&Value) -> Value + Send + Sync>;
/// Function by path, for example `/convert`.
pub(crate) type Routes = BTreeMap<String, Function>;

/// A running server; ends when dropped.
pub(crate) struct WebhookServer {
    port: u16,
    task: JoinHandle<()>,
}

impl WebhookServer {
    /// Starts on a free port.
    pub(crate) fn start(runtime: &Handle, serving: &Pair, routes: Routes) -> WebhookServer {
        let acceptor = tls::acceptor(serving);
        let port = ports::free();
        let listener = runtime
            .block_on(TcpListener::bind(("127.0.0.1", port)))
            .expect("the port was free a moment ago");
        let task = runtime.spawn(accept(listener, acceptor, Arc::new(routes)));
        WebhookServer { port, task }
    }

    /// Where it listens on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for WebhookServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, routes: Arc<Routes>) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, acceptor.clone(), routes.clone()));
        }
    }
}

/// One connection. Its end, by error or not, is the client's business.
async fn serve(stream: TcpStream, acceptor: TlsAcceptor, routes: Arc<Routes>) {
    if let Ok(stream) = acceptor.accept(stream).await {
        let service = service_fn(move |request| answer(request, routes.clone()));
        let _ = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }
}

async fn answer(
    request: Request<Incoming>,
    routes: Arc<Routes>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let function = routes.get(request.uri().path()).cloned();
    let body = request
        .into_body()
        .collect()
        .await
        .map(|body| body.to_bytes());
    let review = body
        .ok()
        .and_then(|body| serde_json::from_slice::<Value>(&body).ok());
    let (code, text) = match (function, review) {
        (Some(function), Some(review)) => (StatusCode::OK, function(&review).to_string()),
        (None, _) => (StatusCode::NOT_FOUND, "no such webhook".to_owned()),
        (_, None) => (StatusCode::BAD_REQUEST, "the body is not JSON".to_owned()),
    };
    let response = Response::builder()
        .status(code)
        .header("Content-Type", "application/json");
    Ok(response
        .body(Full::new(Bytes::from(text)))
        .expect("a code and a header are well-formed"))
}
