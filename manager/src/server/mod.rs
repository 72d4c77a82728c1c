//! What the manager serves: webhooks, health, metrics. Here is what all of it has in common: a
//! listener, TLS, bounds, an orderly end.

pub(crate) mod certificate;
pub(crate) mod diagnostics;
pub(crate) mod health;
mod reviewer;
pub(crate) mod webhooks;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::flags::Address;
use crate::shutdown::Shutdown;

/// How much and how long a server puts up with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Connections at once; more wait in the kernel.
    pub(crate) connections: u32,
    /// For the TLS handshake.
    pub(crate) handshake: Duration,
    /// For the head of a request, and between two requests. Go's clients close after 90 seconds
    /// themselves.
    pub(crate) head: Duration,
    /// For a connection in all; it ends after the request that is then served, and clients make
    /// another.
    pub(crate) connection: Duration,
    /// For requests that are being served when their connection is to end.
    pub(crate) grace: Duration,
}

pub(crate) const BOUNDS: Bounds = Bounds {
    connections: 512,
    handshake: Duration::from_secs(10),
    head: Duration::from_secs(95),
    connection: Duration::from_secs(600),
    grace: Duration::from_secs(3),
};

/// Bytes of the head of a request. The token of an account is some 1,000.
const HEAD_BYTES: usize = 64 << 10;

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
        let places = Arc::new(Semaphore::new(self.bounds.connections as usize));
        let tls = self.tls.map(TlsAcceptor::from);
        loop {
            let accepted = tokio::select! {
                accepted = next_connection(&self.listener, &places) => accepted,
                () = shutdown.begun() => break,
            };
            match accepted {
                Ok((stream, place)) => {
                    let (tls, router, shutdown) =
                        (tls.clone(), self.router.clone(), shutdown.clone());
                    tokio::spawn(async move {
                        connection(stream, tls, router, self.bounds, &shutdown).await;
                        drop(place);
                    });
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
        if timeout(
            self.bounds.grace,
            places.acquire_many(self.bounds.connections),
        )
        .await
        .is_err()
        {
            tracing::warn!("Closing connections on which requests were being served");
        }
    }
}

/// The next connection, once there is a place for it.
async fn next_connection(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = places
        .clone()
        .acquire_owned()
        .await
        .expect("internal error: nobody closes the semaphore");
    Ok((listener.accept().await?.0, place))
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    bounds: Bounds,
    shutdown: &Shutdown,
) {
    let Some(tls) = tls else {
        return requests(stream, router, bounds, shutdown).await;
    };
    match timeout(bounds.handshake, tls.accept(stream)).await {
        Ok(Ok(stream)) => requests(stream, router, bounds, shutdown).await,
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
    shutdown: &Shutdown,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(bounds.head)
        .max_buf_size(HEAD_BYTES);
    let mut connection =
        pin!(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)));
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
