//! URLs as Go's `net/url` reads them: scheme, host and path. Users and queries are not taken apart.

use crate as go;
use windlass_source::url::without_credentials;

/// A parsed URL (`url.URL`), without user, query and fragment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Url {
    /// In lower case; empty when there is none.
    pub scheme: String,
    /// The host, with its port.
    pub host: String,
    /// With `%XX` decoded.
    pub path: String,
    /// As written.
    pub escaped_path: String,
}

impl Url {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// In Go's words, with the URL quoted. Go quotes it with its credentials, and parts of them as
    /// a port; they are left out here.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shown = without_credentials(text);
        let fault = |message: String| {
            let message = match message.split_once(" \"").zip(message.rsplit_once('"')) {
                Some(((before, _), (_, after))) if shown != text => format!("{before}{after}"),
                _ => message,
            };
            format!("parse {}: {message}", go::quote(&shown))
        };
        if text.bytes().any(|b| b < b' ' || b == 0x7f) {
            return Err(fault(
                "net/url: invalid control character in URL".to_owned(),
            ));
        }
        let text = text.split('#').next().unwrap_or_default();
        let (scheme, rest) = scheme(text).map_err(|message| fault(message.to_owned()))?;
        let rest = rest.split('?').next().unwrap_or_default();
        let mut url = Url {
            scheme: scheme.to_ascii_lowercase(),
            ..Url::default()
        };
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                // `mailto:x`: opaque, without a path.
                return Ok(url);
            }
            if rest
                .split('/')
                .next()
                .is_some_and(|first| first.contains(':'))
            {
                return Err(fault(
                    "first path segment in URL cannot contain colon".to_owned(),
                ));
            }
        }
        let has_authority =
            rest.starts_with("//") && (!url.scheme.is_empty() || !rest.starts_with("///"));
        let path = if has_authority {
            let (authority, path) =
                rest[2..].split_at(rest[2..].find('/').unwrap_or(rest.len() - 2));
            let host = authority.rsplit('@').next().unwrap_or_default();
            url.host = unescape(host).and_then(checked_host).map_err(fault)?;
            path
        } else {
            rest
        };
        url.path = unescape(path).map_err(fault)?;
        path.clone_into(&mut url.escaped_path);
        Ok(url)
    }
}

/// A URL as Go writes it after it read it: the scheme in lower case, and a path with characters
/// that a URL does not hold escaped.
///
/// # Errors
///
/// As for [`Url::parse`].
pub fn normalised(text: &str) -> Result<String, String> {
    let url = Url::parse(text)?;
    let rest = &text[if url.scheme.is_empty() {
        0
    } else {
        url.scheme.len() + 1
    }..];
    let scheme = if url.scheme.is_empty() {
        String::new()
    } else {
        format!("{}:", url.scheme)
    };
    let is_valid =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*[]%".contains(&byte);
    if url.escaped_path.bytes().all(is_valid) {
        return Ok(format!("{scheme}{rest}"));
    }
    let mut escaped = String::with_capacity(url.path.len());
    for byte in url.path.bytes() {
        match byte {
            _ if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) => {
                escaped.push(char::from(byte))
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(format!(
        "{scheme}{}",
        rest.replacen(&url.escaped_path, &escaped, 1)
    ))
}

/// The host, if its characters and its port are what Go takes.
fn checked_host(host: String) -> Result<String, String> {
    let rejected = |c: &char| {
        c.is_ascii() && !c.is_ascii_alphanumeric() && !"-_.~!$&'()*+,;=:[]<>\"%".contains(*c)
    };
    if let Some(c) = host.chars().find(rejected) {
        return Err(format!(
            "invalid character {} in host name",
            go::quote(&c.to_string())
        ));
    }
    let port = match host.rfind(']') {
        Some(end) => &host[end + 1..],
        None => host.find(':').map_or("", |at| &host[at..]),
    };
    if !port.is_empty()
        && !port
            .strip_prefix(':')
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err(format!("invalid port {} after host", go::quote(port)));
    }
    Ok(host)
}

/// The scheme, and what follows its colon.
fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme"),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn unescape(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = tail
            .get(..2)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let value = digits
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let Some(value) = value else {
            let shown: Vec<u8> = std::iter::once(b'%')
                .chain(tail.iter().copied())
                .take(3)
                .collect();
            return Err(format!(
                "invalid URL escape {}",
                go::quote(&String::from_utf8_lossy(&shown))
            ));
        };
        bytes.push(value);
        rest = &tail[2..];
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_gos() {
        for (text, scheme, host, path) in [
            ("/a/b", "", "", "/a/b"),
            ("a/b c", "", "", "a/b c"),
            ("file:///a/b%20c?x#y", "file", "", "/a/b c"),
            ("file:/a/b", "file", "", "/a/b"),
            ("file://host/a", "file", "host", "/a"),
            ("https://user@github.com/o/r", "https", "github.com", "/o/r"),
            ("HTTPS://h", "https", "h", ""),
            ("C:\\t.yaml", "c", "", ""),
            ("a:b", "a", "", ""),
            ("", "", "", ""),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!(
                (url.scheme.as_str(), url.host.as_str(), url.path.as_str()),
                (scheme, host, path),
                "{text}"
            );
        }
    }

    #[test]
    fn urls_are_written_as_go_writes_them() {
        for (text, expected) in [
            ("HTTPS://h/a%20b?x=y#z", "https://h/a%20b?x=y#z"),
            ("http://h/a b", "http://h/a%20b"),
            ("/ä", "/%C3%A4"),
            ("data:,a", "data:,a"),
        ] {
            assert_eq!(normalised(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn faults_are_in_gos_words() {
        for (text, message) in [
            ("%zz", "parse \"%zz\": invalid URL escape \"%zz\""),
            ("/a/%2", "parse \"/a/%2\": invalid URL escape \"%2\""),
            (":x", "parse \":x\": missing protocol scheme"),
            (
                "1:x",
                "parse \"1:x\": first path segment in URL cannot contain colon",
            ),
            (
                "http://h:x/",
                "parse \"http://h:x/\": invalid port \":x\" after host",
            ),
            (
                "http://a b/",
                "parse \"http://a b/\": invalid character \" \" in host name",
            ),
            (
                "https://u:p/w@h/",
                "parse \"https://h/\": invalid port after host",
            ),
            (
                "https://u:pw@h/%zz?token=t",
                "parse \"https://h/%zz\": invalid URL escape",
            ),
            (
                "a\nb",
                "parse \"a\\nb\": net/url: invalid control character in URL",
            ),
        ] {
            assert_eq!(Url::parse(text), Err(message.to_owned()), "{text}");
        }
    }
}
