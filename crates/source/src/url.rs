//! URLs as users write them. Credentials in a URL are sent with a request and never shown.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

/// A URL or a path, as it was written. `Display`, `Debug` and JSON leave out the user info and the
/// parameters that authorize a request.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct UrlText(String);

impl UrlText {
    /// The URL with its credentials, for a request or to parse it.
    pub fn with_credentials(&self) -> &str {
        &self.0
    }

    /// Whether it leads to the network.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl<T: Into<String>> From<T> for UrlText {
    fn from(text: T) -> Self {
        UrlText(text.into())
    }
}

impl fmt::Display for UrlText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_credentials(&self.0))
    }
}

impl fmt::Debug for UrlText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&without_credentials(&self.0), f)
    }
}

impl Serialize for UrlText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&without_credentials(&self.0))
    }
}

/// A URL, an image or a reference without credentials: the user info goes, and each parameter that
/// authorizes a request. In doubt a text is read as a URL with user info, also where it is none
/// (`user:p/w@host`).
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    // The text of most paths and images, which is quickly known.
    if !text.contains(['@', '?', '#', '=']) {
        return Cow::Borrowed(text);
    }
    let (scheme, rest) = scheme(text);
    let (rest, tail) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    // A password may contain the characters that end a host.
    let (rest, tail) = match tail.rfind('@') {
        Some(at) if ends_in_password(rest) => ("", &tail[at + 1..]),
        _ => (without_user(scheme, rest), tail),
    };
    let hidden = format!("{scheme}{}{}", within(rest), parameters(tail));
    if hidden == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(hidden)
    }
}

/// The scheme with its slashes, and what follows. A single letter is a drive of Windows.
fn scheme(text: &str) -> (&str, &str) {
    let is_scheme = |name: &str| {
        name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let is_slash = |c: char| c == '/' || c == '\\';
    let begin = match text.split_once(':') {
        // `user:password@host` has a colon too.
        Some((name, rest)) if is_scheme(name) && (rest.starts_with(is_slash) || name == "oci") => {
            name.len() + 1
        }
        _ if text.starts_with("//") => 0,
        _ => return ("", text),
    };
    let slashes = text[begin..]
        .find(|c| !is_slash(c))
        .unwrap_or(text.len() - begin);
    // The third slash of `file:///path` begins the path.
    let slashes = if text[..begin].eq_ignore_ascii_case("file:") {
        slashes.min(2)
    } else {
        slashes
    };
    text.split_at(begin + slashes)
}

/// Whether a host and path cannot be one, because what looks like a port is not a number.
fn ends_in_password(rest: &str) -> bool {
    let authority = rest.split(['/', '\\']).next().unwrap_or_default();
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    !authority.contains('@')
        && !authority.ends_with(']')
        && !port.bytes().all(|byte| byte.is_ascii_digit())
}

/// What follows the scheme, up to the query, without user info.
fn without_user<'t>(scheme: &str, rest: &'t str) -> &'t str {
    let authority = rest.split(['/', '\\']).next().unwrap_or_default();
    let path = &rest[authority.len()..];
    if scheme.ends_with(['/', '\\']) {
        return match authority.rfind('@') {
            Some(at) => &rest[at + 1..],
            None if ends_in_password(rest) => rest.rfind('@').map_or(rest, |at| &rest[at + 1..]),
            None => rest,
        };
    }
    let Some((user, host)) = authority.rsplit_once('@') else {
        let is_password = !authority.is_empty() && ends_in_password(authority) && {
            // `name:tag/…@digest` and `oci:DIR:TAG@DIGEST` are not hosts with a password.
            let after = path.rsplit_once('@').map_or("", |(_, after)| after);
            looks_like_host(after.split('/').next().unwrap_or_default()) && !is_digest(after)
        };
        return match path.rfind('@') {
            Some(at) if is_password => &path[at + 1..],
            _ => rest,
        };
    };
    // `name@sha256:…` is an image, `a@b.yaml` and `a@v1/b.yaml` are files.
    let is_user = !is_digest(host)
        && (user.contains(':')
            || looks_like_host(host) && (!path.is_empty() || host.contains(':')));
    if is_user {
        &rest[user.len() + 1..]
    } else {
        rest
    }
}

fn is_digest(text: &str) -> bool {
    text.split_once(':').is_some_and(|(algorithm, hash)| {
        algorithm.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && hash.len() >= 32
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// A host name with a dot, an address, or `localhost`; with a port or what follows a colon.
fn looks_like_host(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    text.starts_with('[')
        || name == "localhost"
        || name.parse::<std::net::Ipv4Addr>().is_ok()
        || name.contains('.') && last.starts_with(|c: char| c.is_alphabetic())
}

/// A path or a value without the credentials of a URL in it.
fn within(text: &str) -> Cow<'_, str> {
    let Some(at) = text.find("://") else {
        return Cow::Borrowed(text);
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let begin = text[..at].trim_end_matches(is_scheme).len();
    Cow::Owned(format!(
        "{}{}",
        &text[..begin],
        without_credentials(&text[begin..])
    ))
}

/// A query and a fragment without the parameters that authorize a request.
fn parameters(tail: &str) -> String {
    const SIGNS: [char; 4] = ['?', '&', ';', '#'];
    let mut kept = String::new();
    let mut lead = None;
    let mut rest = tail;
    while let Some(sign) = rest.chars().next() {
        let begins = !SIGNS.contains(&sign);
        let begin = usize::from(!begins);
        let end = rest[begin..]
            .find(SIGNS)
            .map_or(rest.len(), |length| begin + length);
        let parameter = &rest[begin..end];
        let sign = match sign {
            '?' | '#' => sign,
            sign => lead.unwrap_or(sign),
        };
        if authorizes(parameter) {
            // The next parameter replaces this one.
            lead = Some(sign);
        } else {
            lead = None;
            if !begins {
                kept.push(sign);
            }
            kept.push_str(&within(parameter));
        }
        rest = &rest[end..];
    }
    kept
}

/// Whether a parameter of a query is a credential, or holds a URL with one.
fn authorizes(parameter: &str) -> bool {
    /// Names without `-` and `_`, in lower case.
    const NAMES: [&str; 11] = [
        "sig",
        "key",
        "auth",
        "authorization",
        "code",
        "jwt",
        "pwd",
        "pass",
        "awsaccesskeyid",
        "googleaccessid",
        "sas",
    ];
    const PARTS: [&str; 8] = [
        "token",
        "secret",
        "passw",
        "signature",
        "credential",
        "apikey",
        "privatekey",
        "accesskey",
    ];
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name: String = unescaped(name)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let nested = unescaped(value);
    NAMES.contains(&name.as_str())
        || PARTS.iter().any(|part| name.contains(part))
        || nested != value && within(&nested) != nested.as_str()
}

/// A text with `%XX` decoded; one that is not UTF-8 then stays as it is.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let decoded = (first == b'%')
            .then(|| std::str::from_utf8(tail.get(..2)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_left_out() {
        for (text, expected) in [
            ("https://user:pw@h/x", "https://h/x"),
            ("https://token@h:1/x?a=b", "https://h:1/x?a=b"),
            ("HTTPS://u:p@ss@h/x@y", "HTTPS://h/x@y"),
            ("http://u:p/w@h/x", "http://h/x"),
            ("http://u:p?w@h/x", "http://h/x"),
            ("http://u:p#w@h/x?key=1", "http://h/x"),
            ("https:/u:p@h/x", "https:/h/x"),
            ("https:\\\\u:p@h/x", "https:\\\\h/x"),
            ("//u:p@h/x", "//h/x"),
            ("oci://u:p@h/r:v1", "oci://h/r:v1"),
            ("oci:u:p@h/r:v1", "oci:h/r:v1"),
            ("ssh://git:pw@h/r.git", "ssh://h/r.git"),
            ("git+ssh://git@h/r.git", "git+ssh://h/r.git"),
            ("git@github.com:o/r", "github.com:o/r"),
            ("u:p@h.io/x:v1", "h.io/x:v1"),
            ("u:p/w@h.io/x:v1", "h.io/x:v1"),
            ("token@registry.local:5000", "registry.local:5000"),
            ("https://[::1]:1/x?sig=1", "https://[::1]:1/x"),
            ("file://u:p@h/x", "file://h/x"),
            ("https://p/https://u:p@h/x", "https://p/https://h/x"),
            ("https://p/?u=https://u:p@h/x", "https://p/?u=https://h/x"),
            ("https://p/?u=https%3A%2F%2Fu%3Ap%40h", "https://p/"),
        ] {
            assert_eq!(without_credentials(text), expected, "{text}");
        }
    }

    #[test]
    fn parameters_that_authorize_are_left_out() {
        for name in [
            "access_token",
            "private_token",
            "token",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "X-Amz-Security-Token",
            "sig",
            "AWSAccessKeyId",
            "Signature",
            "X-Goog-Signature",
            "X-Goog-Credential",
            "key",
            "api_key",
            "client_secret",
            "password",
            "job-token",
            "%74oken",
        ] {
            for (text, expected) in [
                (format!("https://h/x?{name}=s"), "https://h/x"),
                (
                    format!("https://h/x?a=1&{name}=s&b=2#c"),
                    "https://h/x?a=1&b=2#c",
                ),
                (format!("https://h/x?{name}=s&b=2"), "https://h/x?b=2"),
                (format!("https://h/x#{name}=s;b"), "https://h/x#b"),
                (format!("/x?{name}=s"), "/x"),
            ] {
                assert_eq!(without_credentials(&text), expected, "{text}");
            }
        }
    }

    #[test]
    fn other_texts_stay() {
        let hash = "0".repeat(64);
        for text in [
            "",
            "/srv/a@b/c.yaml",
            "./a@b/c.yaml",
            "a@b.yaml",
            "templates@v1.2/a.yaml",
            "C:\\a@b\\c.yaml",
            "file:///srv/a@b.io/c",
            "https://h/@scope/x?version=1&page=2",
            "https://h:443/x@y",
            "ghcr.io/a/b:v1",
            "localhost:5000/a/b:v1",
            "${REPOSITORY}/a/b",
            "?",
            "a&b=c",
        ] {
            assert_eq!(without_credentials(text), text);
        }
        for image in [
            "nginx",
            "ghcr.io/a/b",
            "r.io:5000/a/b:v1",
            "oci:dir:v1",
            "oci:a/b",
        ] {
            let text = format!("{image}@sha256:{hash}");
            assert_eq!(without_credentials(&text), text);
        }
    }

    #[test]
    fn the_type_shows_no_credentials() {
        let url = UrlText::from("https://u:secret@h/x");
        let shown = [
            url.to_string(),
            format!("{url:?}"),
            serde_json::to_string(&url).unwrap(),
        ];
        assert!(
            shown.iter().all(|text| !text.contains("secret")),
            "{shown:?}"
        );
        assert_eq!(url.with_credentials(), "https://u:secret@h/x");
    }
}
