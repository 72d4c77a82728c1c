//! What clusterctl would fetch, as an interface: the engine itself never opens a connection.

use std::fmt;

use super::{Rejection, documents};
use windlass_objects::Substituted;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::url::without_credentials;

/// Fetches from the network. Present only when the user allowed it.
pub trait Network {
    /// The body of an answer with status 200. Redirects are followed.
    ///
    /// # Errors
    /// Any other status, an answer that is too large, and what keeps it from coming.
    fn get(&self, request: &Request<'_>) -> Result<Vec<u8>, NetworkFault>;

    /// What was kept under this key.
    fn kept(&self, key: &str) -> Option<Vec<u8>>;

    /// Keeps what never changes under a key: a URL with a version.
    fn keep(&self, key: &str, bytes: &[u8]);

    /// Whether the user named a host of GitLab that gets the token of the environment.
    fn is_named(&self, host: &str) -> bool;
}

/// One GET request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// An `https` URL, with its credentials. `Debug` does not show these.
    pub url: &'a str,
    /// The media type to ask for.
    pub accept: Option<&'a str>,
    /// Goes to the host of the URL alone, never further with a redirect.
    pub token: Option<Token<'a>>,
    /// The bytes of the answer, where fewer suffice than for files.
    pub most: Option<u64>,
}

impl<'a> Request<'a> {
    /// The bytes of an answer that is a list.
    pub const LIST: u64 = 32 << 20;

    /// A request without token.
    pub fn new(url: &'a str) -> Self {
        Request {
            url,
            accept: None,
            token: None,
            most: None,
        }
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("url", &without_credentials(self.url))
            .field("accept", &self.accept)
            .field("token", &self.token)
            .finish()
    }
}

/// A bearer token. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token<'a>(pub &'a str);

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

/// Why nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkFault {
    /// A status that is not 200.
    Status(u16),
    /// The host answers no more requests for a while; until when, in seconds since 1970, if it says
    /// so.
    RateLimited(Option<i64>),
    /// No answer that can be used; says why.
    Failed(String),
}

impl fmt::Display for NetworkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkFault::Status(404) => f.write_str("404 Not Found"),
            NetworkFault::Status(status) => write!(f, "got {status}"),
            NetworkFault::RateLimited(_) => f.write_str("too many requests"),
            NetworkFault::Failed(reason) => f.write_str(reason),
        }
    }
}

impl NetworkFault {
    /// The rejection of a step that needed the answer: clusterctl's words, and below them when the
    /// host answers again.
    pub(super) fn noted(&self, rejection: Rejection) -> Rejection {
        let NetworkFault::RateLimited(Some(until)) = self else {
            return rejection;
        };
        match jiff::Timestamp::from_second(*until) {
            Ok(until) => rejection.note(format!("the host answers again from {until} on")),
            Err(_) => rejection,
        }
    }
}

/// Whether the bytes are what a file of a release is: text of objects, when its variables are
/// replaced. A page of a proxy, or what was cut off, is none.
pub(super) fn is_release_file(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let source = Source::new("", text);
    let substituted = Substituted::sampled(&source, &Budget::default());
    let text = substituted
        .as_ref()
        .map_or(text, |substituted| substituted.text().text());
    documents::objects("", text.as_bytes(), None, &Budget::default())
        .is_ok_and(|objects| !objects.is_empty())
}

/// A part of a URL's path, with everything escaped that could end it.
pub(super) fn escaped(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte))
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_paths_cannot_end_them() {
        assert_eq!(
            escaped("v1.0.0+a/../b?c#d\r\nX: y"),
            "v1.0.0%2Ba%2F..%2Fb%3Fc%23d%0D%0AX%3A%20y"
        );
    }

    #[test]
    fn what_is_no_file_of_a_release_is_told() {
        for text in [
            "kind: A\n",
            "a: ${B:=1}\nc: ${D}\n---\nkind: B\n",
            "{\"kind\": \"A\"}",
        ] {
            assert!(is_release_file(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "<html><body>Sign in</body></html>",
            "kind: A\nmetadata: {name: ",
            "\u{0}\u{1}",
        ] {
            assert!(!is_release_file(text.as_bytes()), "{text}");
        }
        assert!(!is_release_file(b"a: \xff\n"));
    }

    #[test]
    fn tokens_are_never_shown() {
        let request = Request {
            token: Some(Token("ghp_secret")),
            ..Request::new("https://u:secret@api.github.com")
        };
        assert!(!format!("{request:?}").contains("secret"));
    }
}
