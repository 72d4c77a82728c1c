//! A registry (OCI distribution-spec 1.1) that the user named: manifests and blobs there and back,
//! over HTTPS with bounds. What it answers is not trusted, and what it may know of us goes to no
//! other host.

mod challenge;
mod credentials;
mod transfer;

pub use credentials::{Credentials, Found, credentials_for};

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use ureq::http::{Method, Request, Response, StatusCode, header};
use ureq::{Agent, Body, SendBody};

use self::challenge::Challenge;
use super::network::{Bounds, Transport, Visible, agent, location};
use super::progress::{Progress, Watched, Way};
use super::retry::{Attempts, Clock, Deadline, MachineClock, Missed};

/// A registry, and one repository of it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// With the port, where one is given.
    pub host: String,
    /// The path of the repository.
    pub repository: String,
    /// Whether to speak without TLS.
    pub plain_http: bool,
}

/// What is done with the repository, as registries scope tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Pull,
    /// Writing, too.
    Push,
}

/// Why a registry did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryFault {
    /// What happened.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl RegistryFault {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        RegistryFault {
            message: message.into(),
            help: help.into(),
        }
    }
}

/// Bytes of an answer that says where to get a token, or what is wrong.
const MOST_TALK: u64 = 64 << 10;

/// How often a request is made at most, with a second and then two between.
const MOST_ATTEMPTS: u32 = 3;

/// A connection to a repository. Nothing happens before the first request.
pub struct Registry {
    agent: Agent,
    endpoint: Endpoint,
    access: Access,
    credentials: Option<Credentials>,
    bounds: Bounds,
    visible: Visible,
    clock: MachineClock,
    deadline: Deadline,
    /// The value of `Authorization`, once the registry has asked for one. It goes to the
    /// registry's host alone.
    authorization: RefCell<Option<String>>,
    is_named: Cell<bool>,
}

struct Call<'a> {
    method: Method,
    url: String,
    accept: Option<&'static str>,
    content: Option<Content<'a>>,
}

struct Content<'a> {
    kind: &'a str,
    bytes: &'a [u8],
    name: &'a str,
}

impl Registry {
    /// A connection on behalf of somebody, or of nobody.
    pub fn new(
        endpoint: Endpoint,
        access: Access,
        credentials: Option<Credentials>,
        bounds: Bounds,
        visible: Visible,
    ) -> Self {
        // A proxy is for hosts of the world.
        let transport = Transport::of_process();
        let proxy = if endpoint.plain_http {
            None
        } else {
            transport.proxy.clone()
        };
        Registry {
            agent: agent(
                &Transport { proxy, ..transport },
                bounds,
                !endpoint.plain_http,
            ),
            endpoint,
            access,
            credentials,
            bounds,
            visible,
            clock: MachineClock::start(),
            deadline: Deadline::new(bounds.command),
            authorization: RefCell::default(),
            is_named: Cell::new(false),
        }
    }

    /// The scheme and host of the registry's API.
    fn base(&self) -> String {
        let scheme = if self.endpoint.plain_http {
            "http"
        } else {
            "https"
        };
        let host = if self.endpoint.host == credentials::DOCKER_HUB {
            "registry-1.docker.io"
        } else {
            &self.endpoint.host
        };
        format!("{scheme}://{host}")
    }

    /// The URL of something of the repository: `manifests/v0.2.0`.
    fn url(&self, path: &str) -> String {
        format!("{}/v2/{}/{path}", self.base(), self.endpoint.repository)
    }

    /// Makes a request, and once more where the registry asks who we are.
    fn send(&self, call: &Call<'_>) -> Result<Response<Body>, RegistryFault> {
        self.name_host();
        let known = self.authorization.borrow().clone();
        let response = self.follow(call, known.as_deref())?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let headers = response.headers().get_all(header::WWW_AUTHENTICATE);
        let challenge = challenge::read(headers.iter().filter_map(|value| value.to_str().ok()));
        let authorization = self.authorize(challenge)?;
        let again = self.follow(call, Some(&authorization))?;
        if again.status() == StatusCode::UNAUTHORIZED {
            return Err(self.rejected("it does not take the credentials"));
        }
        *self.authorization.borrow_mut() = Some(authorization);
        Ok(again)
    }

    /// Makes a request and follows redirects, up to an answer that is none. An answer of another
    /// host is never a question who we are.
    fn follow(
        &self,
        call: &Call<'_>,
        authorization: Option<&str>,
    ) -> Result<Response<Body>, RegistryFault> {
        let own = self.base();
        let mut url = call.url.clone();
        for _ in 0..=self.bounds.redirects {
            let is_own = origin(&url) == Some(own.as_str());
            let response = self.once(call, &url, authorization.filter(|_| is_own))?;
            let status = response.status();
            if status == StatusCode::UNAUTHORIZED && !is_own {
                let other = origin(&url).unwrap_or_default();
                return Err(RegistryFault::new(
                    format!("{own} leads to {other}, which wants credentials"),
                    "ask the registry's operator",
                ));
            }
            let may_follow = call.method == Method::GET || call.method == Method::HEAD;
            if !status.is_redirection() || !may_follow {
                return Ok(response);
            }
            url = self.led_to(&url, location(&response))?;
        }
        Err(self.broken(&format!("more than {} redirects", self.bounds.redirects)))
    }

    /// One exchange, and some more where the registry is busy or the connection breaks: every call
    /// of ours may be made twice.
    fn once(
        &self,
        call: &Call<'_>,
        url: &str,
        authorization: Option<&str>,
    ) -> Result<Response<Body>, RegistryFault> {
        let mut attempts = Attempts::new(&self.clock);
        loop {
            let (answer, missed) = match self.exchange(call, url, authorization)? {
                Ok(answer) => {
                    let missed = Missed::status(answer.status().as_u16());
                    (Ok(answer), missed)
                }
                Err(error) if is_broken(&error) => {
                    let missed = Missed::for_now(error.to_string());
                    (Err(error), missed)
                }
                Err(error) => return Err(self.unreachable(url, &error)),
            };
            let pause = attempts
                .pause_after(&missed, &self.clock)
                .filter(|_| attempts.made < MOST_ATTEMPTS);
            let Some(pause) = pause.filter(|pause| {
                self.deadline
                    .left(&self.clock)
                    .is_ok_and(|left| left > *pause)
            }) else {
                return answer.map_err(|error| self.unreachable(url, &error));
            };
            if self.visible.hosts {
                let said = answer.map_or_else(
                    |error| error.to_string(),
                    |answer| format!("answers {}", answer.status().as_u16()),
                );
                let _ = writeln!(
                    io::stderr(),
                    "{}: {said}; asking again in {} s",
                    origin(url).unwrap_or_default(),
                    pause.as_secs()
                );
            }
            self.clock.wait(pause);
        }
    }

    fn unreachable(&self, url: &str, error: &ureq::Error) -> RegistryFault {
        let help = match self.endpoint.plain_http {
            true => "see that the registry runs there",
            false => "see that the registry runs there; one without TLS needs `--plain-http`",
        };
        RegistryFault::new(
            format!("{}: {error}", origin(url).unwrap_or_default()),
            help,
        )
    }

    /// One request and its answer.
    ///
    /// # Errors
    /// What cannot be asked; within, what the connection did.
    fn exchange(
        &self,
        call: &Call<'_>,
        url: &str,
        authorization: Option<&str>,
    ) -> Result<Result<Response<Body>, ureq::Error>, RegistryFault> {
        let left = self
            .deadline
            .left(&self.clock)
            .map_err(|fault| self.broken(&fault.to_string()))?;
        let mut request = Request::builder().method(call.method.clone()).uri(url);
        if let Some(accept) = call.accept {
            request = request.header(header::ACCEPT, accept);
        }
        if let Some(authorization) = authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let timeout = Some(self.bounds.whole.min(left));
        Ok(match call.content {
            Some(Content { kind, bytes, name }) => {
                let size = bytes.len() as u64;
                let mut body = Watched::new(
                    bytes,
                    Progress::new(
                        self.visible.progress,
                        &self.clock,
                        Way::There,
                        name,
                        Some(size),
                    ),
                );
                // With its length said, a body goes in one piece, as registries want it.
                let request = request
                    .header(header::CONTENT_TYPE, kind)
                    .header(header::CONTENT_LENGTH, size);
                let request = request
                    .body(SendBody::from_reader(&mut body))
                    .map_err(|_| self.broken("an invalid URL"))?;
                self.agent.run(
                    self.agent
                        .configure_request(request)
                        .timeout_global(timeout)
                        .build(),
                )
            }
            None => {
                let request = request
                    .body(())
                    .map_err(|_| self.broken("an invalid URL"))?;
                self.agent.run(
                    self.agent
                        .configure_request(request)
                        .timeout_global(timeout)
                        .build(),
                )
            }
        })
    }

    /// The value of `Authorization` that a challenge asks for.
    fn authorize(&self, challenge: Option<Challenge>) -> Result<String, RegistryFault> {
        let basic = |username: &str, password: &str| {
            format!(
                "Basic {}",
                STANDARD.encode(format!("{username}:{password}"))
            )
        };
        match (challenge, &self.credentials) {
            (None, _) => Err(self.rejected("it asks for credentials of a kind that is not known")),
            (Some(_), Some(Credentials::Token(token))) => Ok(format!("Bearer {token}")),
            (Some(Challenge::Basic), Some(Credentials::Password { username, password })) => {
                Ok(basic(username, password))
            }
            (Some(Challenge::Basic), None) => {
                Err(self.rejected("it requires a username and a password"))
            }
            (Some(Challenge::Bearer { realm, service }), credentials) => {
                let known = match credentials {
                    Some(Credentials::Password { username, password }) => {
                        Some(basic(username, password))
                    }
                    _ => None,
                };
                self.token(&realm, service.as_deref(), known.as_deref())
                    .map(|token| format!("Bearer {token}"))
            }
        }
    }

    /// Asks the registry's server of tokens for one, for this repository alone, whatever scope the
    /// registry names.
    fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        authorization: Option<&str>,
    ) -> Result<String, RegistryFault> {
        if !self.is_allowed(realm) {
            return Err(self.rejected("its tokens come from a place without TLS"));
        }
        let actions = if self.access == Access::Push {
            "pull,push"
        } else {
            "pull"
        };
        let scope = format!("repository:{}:{actions}", self.endpoint.repository);
        let mut query = format!("scope={}", escaped(&scope));
        service
            .iter()
            .for_each(|service| query.push_str(&format!("&service={}", escaped(service))));
        let joint = if realm.contains('?') { '&' } else { '?' };
        let call = Call {
            method: Method::GET,
            url: format!("{realm}{joint}{query}"),
            accept: None,
            content: None,
        };
        // Not `follow`: a redirect would take the password elsewhere.
        let response = self.once(&call, &call.url, authorization)?;
        if response.status() != StatusCode::OK {
            let asked = origin(realm).unwrap_or_default();
            return Err(self.rejected(&format!(
                "{asked} gives no token ({})",
                response.status().as_u16()
            )));
        }
        let bytes = self.body(response, MOST_TALK, "token")?;
        let answer: Value = serde_json::from_slice(&bytes)
            .map_err(|_| self.broken("an answer with no token in it"))?;
        let token = answer["token"]
            .as_str()
            .or_else(|| answer["access_token"].as_str())
            .filter(|token| !token.is_empty());
        let token = token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
        token
            .map(str::to_owned)
            .ok_or_else(|| self.broken("an answer with no token in it"))
    }

    /// Whether a URL may be asked: it has TLS, or the registry has none either and it is that host,
    /// or both are this machine.
    fn is_allowed(&self, url: &str) -> bool {
        let Some(origin) = origin(url) else {
            return false;
        };
        let plain = origin.strip_prefix("http://");
        let is_near = |host: &str| {
            host == self.endpoint.host || (is_loopback(host) && is_loopback(&self.endpoint.host))
        };
        plain.is_none_or(|host| self.endpoint.plain_http && is_near(host))
    }

    /// Where the registry leads: a path of the same host, or a URL that may be asked.
    fn led_to(&self, from: &str, location: &str) -> Result<String, RegistryFault> {
        let url = match origin(from) {
            Some(origin) if location.starts_with('/') && !location.starts_with("//") => {
                format!("{origin}{location}")
            }
            _ => location.to_owned(),
        };
        if self.is_allowed(&url) {
            Ok(url)
        } else {
            Err(self.broken("a redirect to what is not an https URL"))
        }
    }

    /// The body of an answer, up to a limit of bytes.
    fn body(
        &self,
        response: Response<Body>,
        limit: u64,
        name: &str,
    ) -> Result<Vec<u8>, RegistryFault> {
        let announced = response
            .headers()
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let too_large = || {
            self.broken(&format!(
                "{name} is larger than the {limit} bytes that were promised or are allowed"
            ))
        };
        if announced.is_some_and(|bytes| bytes > limit) {
            return Err(too_large());
        }
        let progress = Progress::new(
            self.visible.progress,
            &self.clock,
            Way::Here,
            name,
            announced,
        );
        let mut reader = Watched::new(response.into_body().into_reader().take(limit + 1), progress);
        let mut bytes = Vec::new();
        reader
            .read_to_end(&mut bytes)
            .map_err(|error| self.broken(&format!("{name}: {error}")))?;
        if bytes.len() as u64 > limit {
            Err(too_large())
        } else {
            Ok(bytes)
        }
    }

    /// Says which host is asked, before the first byte.
    fn name_host(&self) {
        if self.visible.hosts && !self.is_named.replace(true) {
            let what = if self.access == Access::Push {
                "pushing to"
            } else {
                "pulling from"
            };
            // A terminal that went away is no reason to stop.
            let _ = writeln!(io::stderr(), "{what} {}", self.base());
        }
    }

    fn rejected(&self, why: &str) -> RegistryFault {
        let help = "set OCI_USERNAME and OCI_PASSWORD, or OCI_ACCESS_TOKEN, or run `docker login`";
        RegistryFault::new(format!("{} rejects: {why}", self.base()), help)
    }

    fn broken(&self, what: &str) -> RegistryFault {
        RegistryFault::new(
            format!("{} answers with what cannot be used: {what}", self.base()),
            "try again, or ask the registry's operator",
        )
    }
}

/// Whether a connection ended in the middle, which the next one need not do.
fn is_broken(error: &ureq::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error, ureq::Error::Io(error) if [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof].contains(&error.kind()))
}

/// Whether a host with or without a port is this machine.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port))
            if !host.ends_with(']') && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            name
        }
        _ => host,
    };
    let address = name
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<std::net::IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// `https://host:port` of a URL without user; `None` where it has another scheme.
fn origin(url: &str) -> Option<&str> {
    let begin = ["https://", "http://"]
        .iter()
        .find(|scheme| url.starts_with(**scheme))?
        .len();
    let end = url[begin..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| begin + at);
    let host = &url[begin..end];
    (!host.is_empty() && !host.contains(['@', '\\'])).then(|| &url[..end])
}

/// A value of a query.
fn escaped(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    value
        .bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known() {
        for host in [
            "localhost",
            "localhost:5000",
            "127.0.0.1",
            "127.8.0.1:80",
            "[::1]",
            "[::1]:5000",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "localhost.example.com",
            "127.0.0.1.example.com:80",
            "10.0.0.1:5000",
            "example.com",
            "",
            "[::2]:1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    fn registry(host: &str, plain_http: bool) -> Registry {
        let endpoint = Endpoint {
            host: host.to_owned(),
            repository: "x".to_owned(),
            plain_http,
        };
        Registry::new(
            endpoint,
            Access::Pull,
            None,
            Bounds::default(),
            Visible::default(),
        )
    }

    #[test]
    fn only_tls_leads_elsewhere() {
        let secure = registry("h", false);
        assert_eq!(
            secure.led_to("https://h/a", "https://cdn/b"),
            Ok("https://cdn/b".to_owned())
        );
        assert_eq!(
            secure.led_to("https://h/a", "/b"),
            Ok("https://h/b".to_owned())
        );
        for location in [
            "http://h/b",
            "http://127.0.0.1/b",
            "//cdn/b",
            "b",
            "",
            "file:///b",
            "https://u:p@cdn/b",
            "https://a\\@b/",
        ] {
            assert!(
                secure.led_to("https://h/a", location).is_err(),
                "{location}"
            );
        }
        let plain = registry("127.0.0.1:5000", true);
        assert!(
            plain
                .led_to("http://127.0.0.1:5000/a", "http://127.0.0.1:6000/b")
                .is_ok()
        );
        assert!(
            plain
                .led_to("http://127.0.0.1:5000/a", "https://cdn/b")
                .is_ok()
        );
        assert!(
            plain
                .led_to("http://127.0.0.1:5000/a", "http://example.com/b")
                .is_err()
        );
        let elsewhere = registry("registry.example:5000", true);
        assert!(
            elsewhere
                .led_to(
                    "http://registry.example:5000/a",
                    "http://registry.example:5000/b"
                )
                .is_ok()
        );
        assert!(
            elsewhere
                .led_to("http://registry.example:5000/a", "http://localhost:6000/b")
                .is_err(),
            "a service of this machine"
        );
    }

    #[test]
    fn values_cannot_end_a_query() {
        assert_eq!(
            escaped("repository:a/b:pull,push&x=é"),
            "repository%3Aa%2Fb%3Apull%2Cpush%26x%3D%C3%A9"
        );
    }

    #[test]
    fn what_is_no_port_belongs_to_the_name() {
        for host in ["localhost:", "localhost:0", "[::1]:", "127.0.0.1:"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "localhost:80x",
            "localhost:x",
            "127.0.0.1:8o",
            "[::1]x:80",
            "localhost:80]",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    /// Docker's own registry has another name than its images.
    #[test]
    fn a_registry_is_asked_where_it_is() {
        for (host, plain_http, expected) in [
            (
                "docker.io",
                false,
                "https://registry-1.docker.io/v2/x/manifests/v1",
            ),
            ("ghcr.io", false, "https://ghcr.io/v2/x/manifests/v1"),
            (
                "127.0.0.1:5000",
                true,
                "http://127.0.0.1:5000/v2/x/manifests/v1",
            ),
        ] {
            assert_eq!(registry(host, plain_http).url("manifests/v1"), expected);
        }
    }

    #[test]
    fn a_connection_that_ended_in_the_middle_is_made_again() {
        use io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, InvalidData,
            TimedOut, UnexpectedEof,
        };
        for kind in [
            BrokenPipe,
            ConnectionAborted,
            ConnectionReset,
            UnexpectedEof,
        ] {
            assert!(is_broken(&ureq::Error::Io(kind.into())), "{kind:?}");
        }
        for kind in [ConnectionRefused, InvalidData, TimedOut] {
            assert!(!is_broken(&ureq::Error::Io(kind.into())), "{kind:?}");
        }
        assert!(!is_broken(&ureq::Error::HostNotFound));
    }

    #[test]
    fn an_origin_ends_where_its_host_does() {
        for (url, expected) in [
            ("https://h:5000/a?b#c", Some("https://h:5000")),
            ("http://h?b", Some("http://h")),
            ("https://h#c", Some("https://h")),
            ("https://h", Some("https://h")),
            ("https://u@h/", None),
            ("https://h\\x/", None),
            ("https:///x", None),
            ("ftp://h/", None),
            ("", None),
        ] {
            assert_eq!(origin(url), expected, "{url}");
        }
    }

    /// Where there may be no TLS it is said how to do without.
    #[test]
    fn who_is_not_reached_is_named_with_what_to_do() {
        let told = |plain_http| {
            registry("h", plain_http).unreachable("https://h:5000/v2/", &ureq::Error::HostNotFound)
        };
        let message = format!("https://h:5000: {}", ureq::Error::HostNotFound);
        assert_eq!(
            told(true),
            RegistryFault::new(message.clone(), "see that the registry runs there")
        );
        let help = "see that the registry runs there; one without TLS needs `--plain-http`";
        assert_eq!(told(false), RegistryFault::new(message, help));
    }
}
