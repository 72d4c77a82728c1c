//! The network, when the user allowed it: HTTPS with bounds, a cache for what never changes, and a
//! bar for what takes long.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sha2::{Digest, Sha256};
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::environment::Environment;
use super::files::{self, Privacy};
use super::input::Limits;
use super::progress::{Progress, Watched, Way};
use super::retry::{Attempts, Clock, Deadline, MachineClock, Missed};
use windlass_clusterctl::{Network, NetworkFault, Request};
use windlass_source::url::without_credentials;

/// How hosts are reached, and who vouches for them.
#[derive(Debug, Clone)]
pub struct Transport {
    /// Connections go through this proxy, as TLS from end to end.
    pub proxy: Option<Proxy>,
    /// Whose certificates are trusted.
    pub roots: RootCerts,
}

impl Transport {
    /// The proxy of `HTTPS_PROXY` (not for hosts of `NO_PROXY`) and the authorities of this
    /// machine.
    pub fn of_process() -> Self {
        Transport {
            proxy: Proxy::try_from_env(),
            roots: RootCerts::PlatformVerifier,
        }
    }
}

/// How much is fetched, and how long that may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one answer.
    pub bytes: u64,
    /// Bytes of all answers of a command.
    pub command_bytes: u64,
    /// Redirects of one request.
    pub redirects: usize,
    /// Until the connection stands.
    pub connect: Duration,
    /// The whole request, body included.
    pub whole: Duration,
    /// All requests of a command, with the pauses between them.
    pub command: Duration,
}

impl Default for Bounds {
    /// 64 MiB as for files, 1 GiB for a command, 5 redirects, 10 seconds to connect, 2 minutes for a
    /// request, 5 for a command.
    fn default() -> Self {
        Bounds {
            bytes: Limits::default().file_bytes,
            command_bytes: 1 << 30,
            redirects: 5,
            connect: Duration::from_secs(10),
            whole: Duration::from_secs(120),
            command: Duration::from_secs(300),
        }
    }
}

/// What the user sees of the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visible {
    /// Name each host before the first request to it.
    pub hosts: bool,
    /// Show a bar for what takes longer than a second, and what is waited for.
    pub progress: bool,
}

/// Fetches over HTTPS. Nothing happens before the first request.
pub struct Client {
    agent: OnceCell<Agent>,
    transport: Transport,
    bounds: Bounds,
    deadline: Deadline,
    clock: Box<dyn Clock>,
    visible: Visible,
    /// The folder of answers that never change.
    cache: Option<PathBuf>,
    /// Hosts of GitLab that get the token.
    gitlab_hosts: Vec<String>,
    named: RefCell<BTreeSet<String>>,
    /// The bytes of all answers so far.
    received: Cell<u64>,
}

impl Client {
    /// A client that keeps its answers in `$XDG_CACHE_HOME/windlass`, by default
    /// `~/.cache/windlass`.
    pub fn new(
        environment: &Environment,
        transport: Transport,
        bounds: Bounds,
        visible: Visible,
    ) -> Self {
        let xdg = environment
            .non_empty("XDG_CACHE_HOME")
            .filter(|path| path.starts_with('/'))
            .map(PathBuf::from);
        let home = environment
            .non_empty("HOME")
            .map(|home| Path::new(home).join(".cache"));
        Client {
            agent: OnceCell::new(),
            transport,
            bounds,
            deadline: Deadline::new(bounds.command),
            clock: Box::new(MachineClock::start()),
            visible,
            cache: xdg.or(home).map(|folder| folder.join("windlass")),
            gitlab_hosts: Vec::new(),
            named: RefCell::default(),
            received: Cell::new(0),
        }
    }

    /// Names hosts of GitLab that get the token of the environment.
    #[must_use]
    pub fn with_gitlab_hosts(mut self, hosts: &[String]) -> Self {
        self.gitlab_hosts = hosts.to_vec();
        self
    }

    /// Takes another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Box<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    fn agent(&self) -> &Agent {
        self.agent
            .get_or_init(|| agent(&self.transport, self.bounds, true))
    }

    fn attempt(&self, request: &Request<'_>) -> Result<Vec<u8>, Missed> {
        let response = self.answer(request)?;
        match response.status() {
            StatusCode::OK => self.body(response, request),
            status => Err(self
                .limit_of(&response)
                .unwrap_or_else(|| Missed::status(status.as_u16()))),
        }
    }

    /// Whether the host says that it was asked too often, and when it answers again.
    fn limit_of(&self, response: &Response<Body>) -> Option<Missed> {
        let header = |name: &str| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let number = |name: &str| header(name)?.trim().parse::<i64>().ok();
        let after = number("retry-after").map(|seconds| self.clock.date().saturating_add(seconds));
        let is_limit = match response.status() {
            StatusCode::TOO_MANY_REQUESTS => true,
            // GitHub's limits; its second kind says only how long to wait.
            StatusCode::FORBIDDEN => {
                header("x-ratelimit-remaining") == Some("0") || after.is_some()
            }
            _ => false,
        };
        is_limit.then(|| {
            Missed::for_good(NetworkFault::RateLimited(
                after.or_else(|| number("x-ratelimit-reset")),
            ))
        })
    }

    /// Follows redirects up to an answer that is none.
    fn answer(&self, request: &Request<'_>) -> Result<Response<Body>, Missed> {
        let mut url = request.url.to_owned();
        for _ in 0..=self.bounds.redirects {
            self.name_host(&url).map_err(Missed::for_good)?;
            let left = self.deadline.left(&*self.clock).map_err(Missed::for_good)?;
            let mut call = self
                .agent()
                .get(&url)
                .config()
                .timeout_global(Some(self.bounds.whole.min(left)))
                .build();
            if let Some(accept) = request.accept {
                call = call.header(header::ACCEPT, accept);
            }
            if let Some(token) = request.token.filter(|_| host(&url) == host(request.url)) {
                call = call.header(header::AUTHORIZATION, format!("Bearer {}", token.0));
            }
            let response = call.call().map_err(|error| missed(&url, &error))?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            url = redirected(&url, location(&response)).map_err(Missed::for_good)?;
        }
        Err(Missed::for_good(NetworkFault::Failed(format!(
            "more than {} redirects",
            self.bounds.redirects
        ))))
    }

    /// Lets the pause before the next attempt pass; a person sees what for.
    fn wait(&self, pause: Duration, host: &str, fault: &NetworkFault) {
        let notice = self.visible.progress.then(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        });
        for left in (0..pause.as_secs()).rev() {
            if let Some(notice) = &notice {
                notice.set_message(waiting(host, fault, left + 1));
                notice.tick();
            }
            self.clock.wait(Duration::from_secs(1));
        }
        if let Some(notice) = notice {
            notice.finish_and_clear();
        }
    }

    fn name_host(&self, url: &str) -> Result<(), NetworkFault> {
        let Some(host) = host(url) else {
            return Err(NetworkFault::Failed(format!(
                "{}: only https is used",
                without_credentials(url)
            )));
        };
        if self.visible.hosts && self.named.borrow_mut().insert(host.to_owned()) {
            // A terminal that went away is no reason to stop.
            let _ = writeln!(io::stderr(), "fetching from {host}");
        }
        Ok(())
    }

    fn body(&self, response: Response<Body>, request: &Request<'_>) -> Result<Vec<u8>, Missed> {
        // The name of a bar and of a failure.
        let url = &*without_credentials(request.url);
        let most = request.most.unwrap_or(u64::MAX).min(self.bounds.bytes);
        let left = self.bounds.command_bytes - self.received.get();
        let limit = most.min(left);
        let too_large = || {
            let reason = if left < most {
                format!(
                    "{url}: with it, the answers of this command are larger than {} MiB",
                    self.bounds.command_bytes >> 20
                )
            } else {
                format!("{url}: larger than {} MiB", most >> 20)
            };
            Missed::for_good(NetworkFault::Failed(reason))
        };
        let announced = response
            .headers()
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|bytes| bytes > limit) {
            return Err(too_large());
        }
        let progress = Progress::new(
            self.visible.progress,
            &*self.clock,
            Way::Here,
            url,
            announced,
        );
        let mut reader = Watched::new(response.into_body().into_reader().take(limit + 1), progress);
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes);
        let length = bytes.len() as u64;
        // What is cut off was received too, and may be asked for again.
        self.received.set(self.received.get() + length.min(left));
        read.map_err(|error| Missed::for_now(format!("{url}: {error}")))?;
        if length > limit {
            return Err(too_large());
        }
        match announced {
            Some(announced) if announced != bytes.len() as u64 => {
                Err(Missed::for_now(format!("{url}: the answer is cut off")))
            }
            _ => Ok(bytes),
        }
    }

    fn cached(&self, key: &str) -> Option<PathBuf> {
        let name: String = Sha256::digest(key)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.cache.as_ref().map(|folder| folder.join(name))
    }
}

impl Network for Client {
    fn get(&self, request: &Request<'_>) -> Result<Vec<u8>, NetworkFault> {
        let mut attempts = Attempts::new(&*self.clock);
        loop {
            let missed = match self.attempt(request) {
                Ok(bytes) => return Ok(bytes),
                Err(missed) => missed,
            };
            let host = host(request.url).unwrap_or_default();
            match attempts.pause_after(&missed, &*self.clock) {
                Some(pause) => self.wait(pause, host, &missed.fault),
                None => {
                    if let Some(line) =
                        asked_again(host, attempts.made).filter(|_| self.visible.hosts)
                    {
                        // A terminal that went away is no reason to stop.
                        let _ = writeln!(io::stderr(), "{line}");
                    }
                    return Err(missed.fault);
                }
            }
        }
    }

    fn keep(&self, key: &str, bytes: &[u8]) {
        if let Some(path) = self.cached(key) {
            // Without a cache the answer is as good. It may come from a private repository: only
            // the owner reads it.
            let _ = files::write_file(&path.to_string_lossy(), bytes, Privacy::Secret);
        }
    }

    fn is_named(&self, host: &str) -> bool {
        self.gitlab_hosts.iter().any(|named| named == host)
    }

    fn kept(&self, key: &str) -> Option<Vec<u8>> {
        files::read_file(
            &self.cached(key)?.to_string_lossy(),
            Limits {
                file_bytes: self.bounds.bytes,
                ..Limits::default()
            },
        )
        .ok()
    }
}

/// What speaks HTTP for us. It follows no redirects: a token must not follow them.
pub(super) fn agent(transport: &Transport, bounds: Bounds, https_only: bool) -> Agent {
    let tls = TlsConfig::builder()
        .root_certs(transport.roots.clone())
        .build();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(bounds.connect))
        .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .proxy(transport.proxy.clone())
        .https_only(https_only)
        .build()
        .new_agent()
}

/// Why a request did not reach its host. Nobody vouches for a host a second later who does not now.
fn missed(url: &str, error: &ureq::Error) -> Missed {
    let host = host(url).unwrap_or_default();
    let reason = match error {
        // It quotes the URL.
        ureq::Error::BadUri(_) => format!("{host}: the URL is not valid"),
        error => format!("{host}: {error}"),
    };
    match error {
        // TLS reports what it rejects as such data.
        ureq::Error::Io(error) if error.kind() != io::ErrorKind::InvalidData => {
            Missed::for_now(reason)
        }
        ureq::Error::Timeout(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::ConnectProxyFailed(_)
        | ureq::Error::Protocol(_) => Missed::for_now(reason),
        _ => Missed::for_good(NetworkFault::Failed(reason)),
    }
}

/// What a person reads while a pause lasts.
fn waiting(host: &str, fault: &NetworkFault, seconds: u64) -> String {
    let shown: String = fault
        .to_string()
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    match shown.strip_prefix(host) {
        Some(reason) => format!("{host}{reason}; asking again in {seconds} s"),
        None => format!("{host}: {shown}; asking again in {seconds} s"),
    }
}

/// The host of an `https` URL, with its port, without user info.
fn host(url: &str) -> Option<&str> {
    let host = authority(url)?.rsplit('@').next()?;
    (!host.is_empty()).then_some(host)
}

/// The host of an `https` URL with its user info.
fn authority(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    (!authority.contains('\\')).then_some(authority)
}

/// The header `Location` of a response.
pub(super) fn location(response: &Response<Body>) -> &str {
    let location = response.headers().get(header::LOCATION);
    location
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// Where a redirect leads: to another `https` URL, or to another path of the same host.
fn redirected(from: &str, location: &str) -> Result<String, NetworkFault> {
    // Another host gives no user info to send.
    let is_plain = authority(location).is_some_and(|authority| !authority.contains('@'));
    if is_plain && host(location).is_some() {
        return Ok(location.to_owned());
    }
    match host(from) {
        Some(host) if location.starts_with('/') && !location.starts_with("//") => {
            Ok(format!("https://{host}{location}"))
        }
        _ => Err(NetworkFault::Failed(format!(
            "{}: redirects to what is not an https URL",
            without_credentials(from)
        ))),
    }
}

/// What is told of a host that was asked more than once, and gave nothing.
fn asked_again(host: &str, times: u32) -> Option<String> {
    (times > 1).then(|| format!("asked {host} {times} times"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_was_asked_once_is_not_counted() {
        assert_eq!(
            (asked_again("h", 1), asked_again("h", 2)),
            (None, Some("asked h 2 times".to_owned()))
        );
    }

    #[test]
    fn hosts_are_those_of_https_urls() {
        assert_eq!(host("https://api.github.com/x?y"), Some("api.github.com"));
        assert_eq!(host("https://h:8443"), Some("h:8443"));
        assert_eq!(host("https://user:secret@h/@x"), Some("h"));
        for url in [
            "http://h/",
            "https:///x",
            "https://user:secret@",
            "https://h\\@other/",
            "file:///x",
            "",
        ] {
            assert_eq!(host(url), None, "{url}");
        }
    }

    #[test]
    fn a_person_reads_what_is_waited_for() {
        let failed = NetworkFault::Failed("h: Connection refused\u{1b}[2J".to_owned());
        assert_eq!(
            waiting("h", &failed, 4),
            "h: Connection refused[2J; asking again in 4 s"
        );
        assert_eq!(
            waiting("h", &NetworkFault::Status(500), 1),
            "h: got 500; asking again in 1 s"
        );
        assert_eq!(
            waiting("h", &NetworkFault::RateLimited(Some(5)), 1),
            "h: too many requests; asking again in 1 s"
        );
    }

    #[test]
    fn redirects_stay_on_https() {
        assert_eq!(
            redirected("https://a/b", "https://c/d"),
            Ok("https://c/d".to_owned())
        );
        assert_eq!(
            redirected("https://a/b", "/d"),
            Ok("https://a/d".to_owned())
        );
        for location in ["http://c/d", "//c/d", "d", "", "ftp://c"] {
            assert!(redirected("https://a/b", location).is_err(), "{location}");
        }
    }

    /// What a connection does for a while is asked again; what is wrong with the request or with
    /// the host's certificate stays so.
    #[test]
    fn connections_may_come_back_and_certificates_do_not() {
        let broken = |kind: io::ErrorKind| ureq::Error::Io(kind.into());
        for (error, may_pass) in [
            (broken(io::ErrorKind::ConnectionReset), true),
            (broken(io::ErrorKind::UnexpectedEof), true),
            (broken(io::ErrorKind::InvalidData), false),
            (ureq::Error::HostNotFound, true),
            (ureq::Error::ConnectionFailed, true),
            (ureq::Error::ConnectProxyFailed("no".to_owned()), true),
            (ureq::Error::Timeout(ureq::Timeout::Global), true),
            (ureq::Error::BadUri("x".to_owned()), false),
            (ureq::Error::TlsRequired, false),
        ] {
            let missed = missed("https://h:1/x", &error);
            let reason = match error {
                ureq::Error::BadUri(_) => "the URL is not valid".to_owned(),
                error => error.to_string(),
            };
            assert_eq!(
                missed,
                Missed {
                    fault: NetworkFault::Failed(format!("h:1: {reason}")),
                    may_pass
                }
            );
        }
    }

    /// What is kept is bounded as what is fetched; and folders of the cache are those of the XDG
    /// specification.
    #[test]
    fn what_never_changes_is_kept_in_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let client = |environment: &[(&str, &str)]| {
            let transport = Transport {
                proxy: None,
                roots: RootCerts::PlatformVerifier,
            };
            let bounds = Bounds {
                bytes: 3,
                ..Bounds::default()
            };
            Client::new(
                &environment.iter().copied().collect(),
                transport,
                bounds,
                Visible::default(),
            )
        };
        let at_home = client(&[("HOME", path)]);
        at_home.keep("a", b"abc");
        at_home.keep("b", b"abcd");
        assert_eq!(
            (at_home.kept("a"), at_home.kept("b"), at_home.kept("c")),
            (Some(b"abc".to_vec()), None, None)
        );
        assert_eq!(
            std::fs::read_dir(folder.path().join(".cache/windlass"))
                .unwrap()
                .count(),
            2
        );
        for (environment, expected) in [
            (
                &[("HOME", path), ("XDG_CACHE_HOME", "relative")][..],
                Some(format!("{path}/.cache/windlass")),
            ),
            (
                &[("HOME", path), ("XDG_CACHE_HOME", "")],
                Some(format!("{path}/.cache/windlass")),
            ),
            (
                &[("HOME", path), ("XDG_CACHE_HOME", "/x")],
                Some("/x/windlass".to_owned()),
            ),
            (&[], None),
        ] {
            assert_eq!(
                client(environment).cache,
                expected.map(PathBuf::from),
                "{environment:?}"
            );
        }
        let named = client(&[]).with_gitlab_hosts(&["gitlab.example.com".to_owned()]);
        assert!(named.is_named("gitlab.example.com") && !named.is_named("example.com"));
    }
}
