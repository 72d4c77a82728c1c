//! Serving certificates: that of the webhooks, read from files and read again when they change, and
//! one of our own for the diagnostics.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion, version};

use crate::fault::Fault;
use crate::flags::TlsVersion;
use crate::readiness::Check;
use crate::shutdown::Shutdown;

/// How often the files are looked at. The kubelet takes up to a minute to bring a Secret into a
/// Pod.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The certificate that is served now; clones are of one.
#[derive(Clone, Default)]
pub(crate) struct Certificate(Arc<RwLock<Option<Arc<CertifiedKey>>>>);

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Certificate")
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The files of a certificate and its key, in PEM.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    /// The certificate, with those between it and its root.
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// One that is made now, signed by itself, for who looks only at the token that it sends.
    ///
    /// # Errors
    /// When no key can be made.
    pub(crate) fn self_signed() -> Result<Self, Fault> {
        let made = rcgen::generate_simple_self_signed([
            "localhost".to_owned(),
            "windlass-manager".to_owned(),
        ])?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let certificate = Certificate::default();
        certificate.set(CertifiedKey::from_der(
            vec![made.cert.der().clone()],
            key.into(),
            &aws_lc_rs::default_provider(),
        )?);
        Ok(certificate)
    }

    /// TLS with this certificate, from a version on.
    pub(crate) fn tls(&self, least: TlsVersion) -> Arc<ServerConfig> {
        let versions: &[&SupportedProtocolVersion] = match least {
            TlsVersion::Tls12 => &[&version::TLS13, &version::TLS12],
            TlsVersion::Tls13 => &[&version::TLS13],
        };
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(versions);
        let builder = builder.expect("internal error: the provider has ciphers for both versions");
        let mut config = builder
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.clone()));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config)
    }

    /// Reads the files, and again whenever they change, until the shutdown begins. What cannot be
    /// used leaves the one before in place: a Secret that is being exchanged may be read half.
    pub(crate) async fn follow(
        self,
        files: Files,
        every: Duration,
        ready: Check,
        shutdown: Shutdown,
    ) {
        let mut before = None;
        while !shutdown.has_begun() {
            let now = read(&files).await;
            if before.as_ref() != Some(&now) {
                self.take(&files, &now, before.is_none(), &ready);
                before = Some(now);
            }
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = shutdown.begun() => {}
            }
        }
    }

    fn take(&self, files: &Files, read: &Read, is_first: bool, ready: &Check) {
        let file = files.certificate.display();
        match read
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|(certificate, key)| parse(certificate, key))
        {
            Ok(key) => {
                self.set(key);
                ready.passed();
                tracing::info!(file = %file, "Serving webhooks with the certificate");
            }
            Err(fault) if self.is_there() => {
                tracing::error!(file = %file, err = %fault, "Failed to read the certificate, keeping the one before")
            }
            Err(fault) => {
                ready.failed(&fault);
                if is_first {
                    tracing::info!(file = %file, reason = %fault, "Waiting for the certificate of the webhooks");
                } else {
                    tracing::error!(file = %file, err = %fault, "Failed to read the certificate");
                }
            }
        }
    }

    fn set(&self, key: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(key));
    }

    fn is_there(&self) -> bool {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }
}

/// What the files hold: certificate and key.
type Read = Result<(Vec<u8>, Vec<u8>), String>;

async fn read(files: &Files) -> Read {
    let Files { certificate, key } = files.clone();
    let one = |path: PathBuf| {
        std::fs::read(&path).map_err(|fault: io::Error| format!("{}: {fault}", path.display()))
    };
    let both = tokio::task::spawn_blocking(move || Ok((one(certificate)?, one(key)?)));
    both.await.unwrap_or_else(|fault| Err(fault.to_string()))
}

fn parse(certificate: &[u8], key: &[u8]) -> Result<CertifiedKey, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.map_err(|fault| format!("certificate: {fault}"))?;
    if chain.is_empty() {
        return Err("certificate: the file contains none".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|fault| format!("key: {fault}"))?;
    CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())
        .map_err(|fault| fault.to_string())
}
