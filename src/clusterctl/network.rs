//! What clusterctl would fetch, as an interface: the engine itself never opens a connection.

use std::fmt;

/// Fetches from the network. Present only when the user allowed it.
pub trait Network {
    /// The body of an answer with status 200. Redirects are followed.
    ///
    /// # Errors
    /// Any other status, an answer that is too large, and what keeps it from coming.
    fn get(&self, request: &Request<'_>) -> Result<Vec<u8>, NetworkFault>;

    /// What an earlier request kept under this key.
    fn kept(&self, key: &str) -> Option<Vec<u8>>;
}

/// One GET request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// An `https` URL.
    pub url: &'a str,
    /// The media type to ask for.
    pub accept: Option<&'a str>,
    /// Goes to the host of the URL alone, never further with a redirect.
    pub token: Option<Token<'a>>,
    /// The key under which the answer is kept, when it never changes: a URL with a version.
    pub keep_as: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// A request without token whose answer is not kept.
    pub fn new(url: &'a str) -> Self {
        Request { url, accept: None, token: None, keep_as: None }
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
    /// The host answers no more requests for a while.
    RateLimited,
    /// No answer that can be used; says why.
    Failed(String),
}

impl fmt::Display for NetworkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkFault::Status(404) => f.write_str("404 Not Found"),
            NetworkFault::Status(status) => write!(f, "got {status}"),
            NetworkFault::RateLimited => f.write_str("too many requests"),
            NetworkFault::Failed(reason) => f.write_str(reason),
        }
    }
}

/// A part of a URL's path, with everything escaped that could end it.
pub(super) fn escaped(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
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
        assert_eq!(escaped("v1.0.0+a/../b?c#d\r\nX: y"), "v1.0.0%2Ba%2F..%2Fb%3Fc%23d%0D%0AX%3A%20y");
    }

    #[test]
    fn tokens_are_never_shown() {
        let request = Request { token: Some(Token("ghp_secret")), ..Request::new("https://api.github.com") };
        assert!(!format!("{request:?}").contains("secret"));
    }
}
