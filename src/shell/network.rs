//! The network, when the user allowed it: HTTPS with bounds, a cache for what never changes, and a bar for what takes long.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sha2::{Digest, Sha256};
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::environment::Environment;
use super::files::{self, Privacy};
use super::input::Limits;
use crate::clusterctl::{Network, NetworkFault, Request};

/// How hosts are reached, and who vouches for them.
#[derive(Debug, Clone)]
pub struct Transport {
    /// Connections go through this proxy, as TLS from end to end.
    pub proxy: Option<Proxy>,
    /// Whose certificates are trusted.
    pub roots: RootCerts,
}

impl Transport {
    /// The proxy of `HTTPS_PROXY` (not for hosts of `NO_PROXY`) and the authorities of this machine.
    pub fn of_process() -> Self {
        Transport { proxy: Proxy::try_from_env(), roots: RootCerts::PlatformVerifier }
    }
}

/// How much is fetched, and how long that may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one answer.
    pub bytes: u64,
    /// Redirects of one request.
    pub redirects: usize,
    /// Until the connection stands.
    pub connect: Duration,
    /// The whole request, body included.
    pub whole: Duration,
}

impl Default for Bounds {
    /// 64 MiB as for files, 5 redirects, 10 seconds to connect, 2 minutes in all.
    fn default() -> Self {
        Bounds { bytes: Limits::default().file_bytes, redirects: 5, connect: Duration::from_secs(10), whole: Duration::from_secs(120) }
    }
}

/// What the user sees of the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visible {
    /// Name each host before the first request to it.
    pub hosts: bool,
    /// Show a bar after a second.
    pub progress: bool,
}

/// Fetches over HTTPS. Nothing happens before the first request.
pub struct Client {
    agent: OnceCell<Agent>,
    transport: Transport,
    bounds: Bounds,
    visible: Visible,
    /// The folder of answers that never change.
    cache: Option<PathBuf>,
    /// Hosts of GitLab that get the token.
    gitlab_hosts: Vec<String>,
    named: RefCell<BTreeSet<String>>,
}

impl Client {
    /// A client that keeps its answers in `$XDG_CACHE_HOME/windlass`, by default `~/.cache/windlass`.
    pub fn new(environment: &Environment, transport: Transport, bounds: Bounds, visible: Visible) -> Self {
        let xdg = environment.non_empty("XDG_CACHE_HOME").filter(|path| path.starts_with('/')).map(PathBuf::from);
        let home = environment.non_empty("HOME").map(|home| Path::new(home).join(".cache"));
        Client {
            agent: OnceCell::new(),
            transport,
            bounds,
            visible,
            cache: xdg.or(home).map(|folder| folder.join("windlass")),
            gitlab_hosts: Vec::new(),
            named: RefCell::default(),
        }
    }

    /// Names hosts of GitLab that get the token of the environment.
    #[must_use]
    pub fn with_gitlab_hosts(mut self, hosts: &[String]) -> Self {
        self.gitlab_hosts = hosts.to_vec();
        self
    }

    fn agent(&self) -> &Agent {
        self.agent.get_or_init(|| {
            let tls = TlsConfig::builder().root_certs(self.transport.roots.clone()).build();
            Agent::config_builder()
                .http_status_as_error(false)
                // Redirects are followed here: a token must not follow them.
                .max_redirects(0)
                .max_redirects_will_error(false)
                .timeout_connect(Some(self.bounds.connect))
                .timeout_global(Some(self.bounds.whole))
                .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
                .tls_config(tls)
                .proxy(self.transport.proxy.clone())
                .https_only(true)
                .build()
                .new_agent()
        })
    }

    /// Follows redirects up to an answer that is none.
    fn answer(&self, request: &Request<'_>) -> Result<Response<Body>, NetworkFault> {
        let mut url = request.url.to_owned();
        for _ in 0..=self.bounds.redirects {
            self.name_host(&url)?;
            let mut call = self.agent().get(&url);
            if let Some(accept) = request.accept {
                call = call.header(header::ACCEPT, accept);
            }
            if let Some(token) = request.token.filter(|_| host(&url) == host(request.url)) {
                call = call.header(header::AUTHORIZATION, format!("Bearer {}", token.0));
            }
            let response = call.call().map_err(|error| NetworkFault::Failed(format!("{}: {error}", host(&url).unwrap_or_default())))?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
            url = redirected(&url, location)?;
        }
        Err(NetworkFault::Failed(format!("more than {} redirects", self.bounds.redirects)))
    }

    fn name_host(&self, url: &str) -> Result<(), NetworkFault> {
        let Some(host) = host(url) else { return Err(NetworkFault::Failed(format!("{url}: only https is used"))) };
        if self.visible.hosts && self.named.borrow_mut().insert(host.to_owned()) {
            // A terminal that went away is no reason to stop.
            let _ = writeln!(io::stderr(), "fetching from {host}");
        }
        Ok(())
    }

    fn body(&self, response: Response<Body>, url: &str) -> Result<Vec<u8>, NetworkFault> {
        let too_large = || NetworkFault::Failed(format!("{url}: larger than {} MiB", self.bounds.bytes >> 20));
        let announced = response.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|bytes| bytes > self.bounds.bytes) {
            return Err(too_large());
        }
        let mut reader = response.into_body().into_reader().take(self.bounds.bytes + 1);
        let mut progress = Progress::new(self.visible.progress, url, announced);
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(NetworkFault::Failed(format!("{url}: {error}"))),
            }
            progress.at(bytes.len() as u64);
        }
        if bytes.len() as u64 > self.bounds.bytes {
            return Err(too_large());
        }
        match announced {
            Some(announced) if announced != bytes.len() as u64 => Err(NetworkFault::Failed(format!("{url}: the answer is cut off"))),
            _ => Ok(bytes),
        }
    }

    fn cached(&self, key: &str) -> Option<PathBuf> {
        let name: String = Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect();
        self.cache.as_ref().map(|folder| folder.join(name))
    }
}

impl Network for Client {
    fn get(&self, request: &Request<'_>) -> Result<Vec<u8>, NetworkFault> {
        let response = self.answer(request)?;
        let status = response.status();
        if status != StatusCode::OK {
            let exhausted = response.headers().get("x-ratelimit-remaining").is_some_and(|left| left == "0");
            let is_limit = status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::FORBIDDEN && exhausted;
            let until = response.headers().get("x-ratelimit-reset").and_then(|value| value.to_str().ok()?.parse().ok());
            return Err(if is_limit { NetworkFault::RateLimited(until) } else { NetworkFault::Status(status.as_u16()) });
        }
        self.body(response, request.url)
    }

    fn keep(&self, key: &str, bytes: &[u8]) {
        if let Some(path) = self.cached(key) {
            // Without a cache the answer is as good. It may come from a private repository: only the owner reads it.
            let _ = files::write_file(&path.to_string_lossy(), bytes, Privacy::Secret);
        }
    }

    fn is_named(&self, host: &str) -> bool {
        self.gitlab_hosts.iter().any(|named| named == host)
    }

    fn kept(&self, key: &str) -> Option<Vec<u8>> {
        files::read_file(&self.cached(key)?.to_string_lossy(), Limits { file_bytes: self.bounds.bytes, ..Limits::default() }).ok()
    }
}

/// The host of an `https` URL, with its port; no user and no password.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    (!host.is_empty() && !host.contains('@')).then_some(host)
}

/// Where a redirect leads: to another `https` URL, or to another path of the same host.
fn redirected(from: &str, location: &str) -> Result<String, NetworkFault> {
    if host(location).is_some() {
        return Ok(location.to_owned());
    }
    match host(from) {
        Some(host) if location.starts_with('/') && !location.starts_with("//") => Ok(format!("https://{host}{location}")),
        _ => Err(NetworkFault::Failed(format!("{from}: redirects to what is no https URL"))),
    }
}

/// A bar that appears when a fetch lasts longer than a second.
struct Progress {
    wanted: bool,
    name: String,
    total: Option<u64>,
    since: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(wanted: bool, url: &str, total: Option<u64>) -> Self {
        let name = url.rsplit('/').next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(60).collect();
        Progress { wanted, name, total, since: Instant::now(), bar: None }
    }

    fn at(&mut self, bytes: u64) {
        if !self.wanted || (self.bar.is_none() && self.since.elapsed() < Duration::from_secs(1)) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let template = match self.total {
                Some(_) => "fetching {msg} [{bar:10}] {bytes}/{total_bytes}",
                None => "fetching {msg} {spinner} {bytes}",
            };
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("##-");
            ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr()).with_style(style).with_message(self.name.clone())
        });
        bar.set_position(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_those_of_https_urls() {
        assert_eq!(host("https://api.github.com/x?y"), Some("api.github.com"));
        assert_eq!(host("https://h:8443"), Some("h:8443"));
        for url in ["http://h/", "https:///x", "https://user:secret@h/", "file:///x", ""] {
            assert_eq!(host(url), None, "{url}");
        }
    }

    #[test]
    fn redirects_stay_on_https() {
        assert_eq!(redirected("https://a/b", "https://c/d"), Ok("https://c/d".to_owned()));
        assert_eq!(redirected("https://a/b", "/d"), Ok("https://a/d".to_owned()));
        for location in ["http://c/d", "//c/d", "d", "", "ftp://c"] {
            assert!(redirected("https://a/b", location).is_err(), "{location}");
        }
    }
}
