//! What the manager serves: webhooks, health, metrics. Here is what all of it has in common: a
//! listener, TLS, bounds, an orderly end.

mod bodies;
pub(crate) mod certificate;
mod connections;
pub(crate) mod diagnostics;
pub(crate) mod health;
mod reviewer;
mod stream;
pub(crate) mod webhooks;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tower::ServiceExt as _;

use crate::flags::Address;
use crate::shutdown::Shutdown;
use connections::{Connections, Peer, Phase};
use stream::Timed;

/// How much and how long a server puts up with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Connections at once. The least useful one is closed for another.
    pub(crate) connections: usize,
    /// Connections from one address. Behind a proxy, all API servers have the same one.
    pub(crate) of_address: usize,
    /// For the TLS handshake.
    pub(crate) handshake: Duration,
    /// For the head of a request, from its first byte on.
    pub(crate) head: Duration,
    /// Before and between requests. Longer than the 90 seconds of Go's clients: a request that is
    /// sent while the server closes the connection fails.
    pub(crate) idle: Duration,
    /// For the client to read an answer.
    pub(crate) answer: Duration,
    /// For a connection in all; it ends after the request that is then served, and clients make
    /// another.
    pub(crate) connection: Duration,
    /// For requests that are being served when their connection is to end.
    pub(crate) grace: Duration,
}

/// A connection takes some 35 KB, and up to [`HEAD_BYTES`] and [`bodies::SMALL`] while a request
/// arrives: 25 MB together.
pub(crate) const BOUNDS: Bounds = Bounds {
    connections: 256,
    of_address: 192,
    handshake: Duration::from_secs(5),
    head: Duration::from_secs(5),
    idle: Duration::from_secs(95),
    answer: Duration::from_secs(10),
    connection: Duration::from_secs(600),
    grace: Duration::from_secs(3),
};

/// Bytes of the head of a request. The token of an account is some 1,000, and at most 16 KiB.
const HEAD_BYTES: usize = 32 << 10;

pub(crate) struct Server {
    pub(crate) listener: TcpListener,
    /// TLS; `None` is plain HTTP.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) router: Router,
    pub(crate) bounds: Bounds,
}

/// Listens on an address.
///
/// # Errors
/// When the address cannot be listened on.
pub(crate) async fn listen(address: &Address) -> io::Result<TcpListener> {
    match &address.host {
        Some(host) => TcpListener::bind((host.as_str(), address.port)).await,
        // The address of IPv6 takes IPv4 as well, where there is IPv6.
        None => match TcpListener::bind((Ipv6Addr::UNSPECIFIED, address.port)).await {
            Err(fault) if fault.kind() != io::ErrorKind::AddrInUse => {
                TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port)).await
            }
            bound => bound,
        },
    }
}

impl Server {
    /// Serves until the shutdown begins, and then what is under way.
    pub(crate) async fn serve(self, shutdown: Shutdown) {
        let places = Connections::new(self.bounds.connections, self.bounds.of_address);
        let tls = self.tls.map(TlsAcceptor::from);
        let mut open = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = open.join_next() => continue,
                () = shutdown.begun() => break,
            };
            match accepted {
                // Without a place it is closed: all others are processing requests.
                Ok((stream, address)) => {
                    if let Some(place) = places.place(address.ip()) {
                        let (tls, router) = (tls.clone(), self.router.clone());
                        let shutdown = shutdown.clone();
                        open.spawn(async move {
                            let peer = &place.peer;
                            tokio::select! {
                                () = connection(stream, tls, router, self.bounds, peer, &shutdown) => {}
                                () = peer.closed() => tracing::debug!("Closed a connection for another"),
                            }
                        });
                    }
                }
                Err(fault) => {
                    // Of the process it is said that it has no more files, or of the client that it
                    // has gone.
                    tracing::warn!(err = %fault, "Failed to accept a connection");
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
        drop(self.listener);
        let ended = async { while open.join_next().await.is_some() {} };
        if timeout(self.bounds.grace, ended).await.is_err() {
            tracing::warn!("Closing connections on which requests were being served");
        }
    }
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    bounds: Bounds,
    peer: &Peer,
    shutdown: &Shutdown,
) {
    let Some(tls) = tls else {
        return requests(stream, router, bounds, peer, shutdown).await;
    };
    match timeout(bounds.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => requests(stream, router, bounds, peer, shutdown).await,
        // Who does not trust the certificate says so in the handshake; scanners of ports say
        // anything.
        Ok(Err(fault)) => tracing::debug!(err = %fault, "TLS handshake failed"),
        Err(_) => tracing::debug!("TLS handshake took too long"),
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    bounds: Bounds,
    peer: &Peer,
    shutdown: &Shutdown,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(bounds.idle)
        .max_buf_size(HEAD_BYTES);
    let stream = Timed::new(stream, peer.clone(), bounds.head, bounds.answer);
    let service = service_fn(|mut request: Request<Incoming>| {
        let (router, peer) = (router.clone(), peer.clone());
        peer.enter(Phase::Body);
        request.extensions_mut().insert(peer.clone());
        async move {
            let answer = router.oneshot(request.map(Body::new)).await;
            peer.enter(Phase::Idle);
            answer
        }
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = shutdown.begun() => None,
        () = sleep(bounds.connection) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            timeout(bounds.grace, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(fault) = ended {
        tracing::debug!(err = %fault, "Connection ended early");
    }
}

#[cfg(test)]
mod tests;
