//! A control plane of etcd and kube-apiserver on loopback, as controller-runtime's envtest has it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::free_port;
use super::process::Process;
use crate::certificates::{self, Authority};

const START_LIMIT: Duration = Duration::from_secs(60);

/// A running control plane. Dropping it ends it.
pub(crate) struct Plane {
    pub(crate) kubeconfig: PathBuf,
    /// The authority's certificate, PEM.
    pub(crate) authority: String,
    // In the order of their ends.
    api_server: Process,
    etcd: Process,
}

impl Plane {
    /// Starts the programs `etcd` and `kube-apiserver` of a folder, with their files in another.
    ///
    /// # Errors
    /// The message for the user, if one of them does not start.
    pub(crate) async fn start(assets: &Path, folder: &Path) -> Result<Plane, String> {
        let authority =
            Authority::new("windlass-conformance").map_err(|error| error.to_string())?;
        write_certificates(&authority, folder)?;
        let (url, etcd_url) = (
            format!("https://127.0.0.1:{}", free_port()?),
            format!("http://127.0.0.1:{}", free_port()?),
        );
        let kubeconfig = folder.join("kubeconfig");
        let administrator = authority
            .administrator()
            .map_err(|error| error.to_string())?;
        write(
            &kubeconfig,
            &kubeconfig_of(&url, &authority, &administrator),
        )?;
        let etcd = start_etcd(assets, folder, &etcd_url)?;
        let api_server = start_api_server(assets, folder, &etcd_url, &url)?;
        let mut plane = Plane {
            kubeconfig,
            authority: authority.pair.certificate,
            api_server,
            etcd,
        };
        plane.until_ready().await?;
        Ok(plane)
    }

    async fn until_ready(&mut self) -> Result<(), String> {
        let (_, client) = crate::connection::client(Some(&self.kubeconfig)).await?;
        let api = crate::api::Api::new(client);
        let deadline = tokio::time::Instant::now() + START_LIMIT;
        loop {
            self.etcd.check()?;
            self.api_server.check()?;
            match api.read("/readyz").await {
                Ok(_) => return Ok(()),
                Err(rejection) if tokio::time::Instant::now() >= deadline => {
                    return Err(format!(
                        "kube-apiserver is not ready after {} s: {rejection}",
                        START_LIMIT.as_secs()
                    ));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn write_certificates(authority: &Authority, folder: &Path) -> Result<(), String> {
    let serving = authority.serving().map_err(|error| error.to_string())?;
    let [private, public] = certificates::signing_key().map_err(|error| error.to_string())?;
    let webhooks = folder.join("webhooks");
    std::fs::create_dir_all(&webhooks)
        .map_err(|error| format!("{}: {error}", webhooks.display()))?;
    let files = [
        ("ca.crt", &authority.pair.certificate),
        ("service-account.key", &private),
        ("service-account.pub", &public),
        ("webhooks/tls.crt", &serving.certificate),
        ("webhooks/tls.key", &serving.key),
    ];
    files
        .into_iter()
        .try_for_each(|(name, content)| write(&folder.join(name), content))
}

fn kubeconfig_of(url: &str, authority: &Authority, user: &certificates::Pair) -> String {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "conformance",
        "clusters": [{"name": "conformance", "cluster": {"server": url, "certificate-authority-data": encode(&authority.pair.certificate)}}],
        "contexts": [{"name": "conformance", "context": {"cluster": "conformance", "user": "admin"}}],
        "users": [{"name": "admin", "user": {"client-certificate-data": encode(&user.certificate), "client-key-data": encode(&user.key)}}],
    })
    .to_string()
}

fn start_etcd(assets: &Path, folder: &Path, url: &str) -> Result<Process, String> {
    let peer = format!("http://127.0.0.1:{}", free_port()?);
    let words = vec![
        assets.join("etcd").display().to_string(),
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    Process::start("etcd", words, Vec::new(), folder)
}

fn start_api_server(
    assets: &Path,
    folder: &Path,
    etcd: &str,
    url: &str,
) -> Result<Process, String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let port = url.rsplit(':').next().unwrap_or_default();
    let words = vec![
        assets.join("kube-apiserver").display().to_string(),
        format!("--etcd-servers={etcd}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--tls-cert-file={}", file("webhooks/tls.crt")),
        format!("--tls-private-key-file={}", file("webhooks/tls.key")),
        format!("--client-ca-file={}", file("ca.crt")),
        format!("--service-account-key-file={}", file("service-account.pub")),
        format!(
            "--service-account-signing-key-file={}",
            file("service-account.key")
        ),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        // No controller manager creates service accounts here.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
    ];
    Process::start("kube-apiserver", words, Vec::new(), folder)
}
