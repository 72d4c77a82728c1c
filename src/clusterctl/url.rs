//! URLs as Go's `net/url` reads them, as far as clusterctl looks into them.

use super::Refusal;
use crate::text::go_value;

/// The parts of a URL that clusterctl uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Url {
    /// In lower case; empty when there is none.
    pub(super) scheme: String,
    pub(super) host: String,
    /// With `%XX` decoded.
    pub(super) path: String,
    /// As written.
    pub(super) escaped_path: String,
}

impl Url {
    /// # Errors
    /// In Go's words, with the whole URL quoted.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let fault = |message: String| Refusal::new(format!("parse {}: {message}", go_value::quote(text)));
        if text.bytes().any(|b| b < b' ' || b == 0x7f) {
            return Err(fault("net/url: invalid control character in URL".to_owned()));
        }
        let text = text.split('#').next().unwrap_or_default();
        let (scheme, rest) = scheme(text).map_err(|message| fault(message.to_owned()))?;
        let rest = rest.split('?').next().unwrap_or_default();
        let mut url = Url { scheme: scheme.to_ascii_lowercase(), ..Url::default() };
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                // `mailto:x`: opaque, without a path.
                return Ok(url);
            }
            if rest.split('/').next().is_some_and(|first| first.contains(':')) {
                return Err(fault("first path segment in URL cannot contain colon".to_owned()));
            }
        }
        let has_authority = rest.starts_with("//") && (!url.scheme.is_empty() || !rest.starts_with("///"));
        let path = if has_authority {
            let (authority, path) = rest[2..].split_at(rest[2..].find('/').unwrap_or(rest.len() - 2));
            let host = authority.rsplit('@').next().unwrap_or_default();
            url.host = unescape(host).map_err(fault)?;
            path
        } else {
            rest
        };
        url.path = unescape(path).map_err(fault)?;
        path.clone_into(&mut url.escaped_path);
        Ok(url)
    }
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
        let digits = tail.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let value = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let Some(value) = value else {
            let shown: Vec<u8> = std::iter::once(b'%').chain(tail.iter().copied()).take(3).collect();
            return Err(format!("invalid URL escape {}", go_value::quote(&String::from_utf8_lossy(&shown))));
        };
        bytes.push(value);
        rest = &tail[2..];
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
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
            assert_eq!((url.scheme.as_str(), url.host.as_str(), url.path.as_str()), (scheme, host, path), "{text}");
        }
    }

    #[test]
    fn faults_are_in_gos_words() {
        for (text, message) in [
            ("%zz", "parse \"%zz\": invalid URL escape \"%zz\""),
            ("/a/%2", "parse \"/a/%2\": invalid URL escape \"%2\""),
            (":x", "parse \":x\": missing protocol scheme"),
            ("1:x", "parse \"1:x\": first path segment in URL cannot contain colon"),
            ("a\nb", "parse \"a\\nb\": net/url: invalid control character in URL"),
        ] {
            assert_eq!(Url::parse(text), Err(Refusal::new(message)), "{text}");
        }
    }
}
