//! TLS with the certificates of a control plane, on either side.

use std::io;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::certificates::Pair;

/// Serves with a certificate.
pub(crate) fn acceptor(serving: &Pair) -> TlsAcceptor {
    let certificates = CertificateDer::pem_slice_iter(serving.certificate.as_bytes())
        .collect::<Result<Vec<_>, _>>();
    let key = PrivateKeyDer::from_pem_slice(serving.key.as_bytes()).expect("our own key");
    let config = rustls::ServerConfig::builder().with_no_client_auth();
    let config = config
        .with_single_cert(certificates.expect("our own certificate"), key)
        .expect("the key is the certificate's");
    TlsAcceptor::from(Arc::new(config))
}

/// Trusts an authority.
pub(crate) fn connector(authority: &str) -> TlsConnector {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.as_bytes()).expect("our own certificate"))
        .expect("it is an authority");
    TlsConnector::from(Arc::new(
        rustls::ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth(),
    ))
}

/// Connects to a server of this machine.
pub(crate) async fn connect(
    connector: &TlsConnector,
    server: &str,
) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(server).await?;
    connector
        .connect(
            ServerName::try_from("127.0.0.1").expect("an address is a name"),
            stream,
        )
        .await
}

/// Whether a server shows this certificate to who connects now.
pub(crate) async fn shows(authority: &str, port: u16, certificate: &str) -> bool {
    let expected =
        CertificateDer::from_pem_slice(certificate.as_bytes()).expect("our own certificate");
    let Ok(stream) = connect(&connector(authority), &format!("127.0.0.1:{port}")).await else {
        return false;
    };
    stream
        .get_ref()
        .1
        .peer_certificates()
        .is_some_and(|shown| shown.first() == Some(&expected))
}
