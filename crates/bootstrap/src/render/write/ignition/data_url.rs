//! `data:` URLs (RFC 2397): as the library `dataurl` writes them, and what it rejects.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A text with all but unreserved characters escaped (RFC 2396).
pub(crate) fn escape(data: &[u8]) -> String {
    let mut out = String::with_capacity(data.len() * 3 / 2);
    for byte in data {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(byte) {
            out.push(char::from(*byte));
        } else {
            write!(out, "%{byte:02X}").expect("internal error: writing to a String cannot fail");
        }
    }
    out
}

pub(crate) fn of_text(data: &[u8]) -> String {
    format!("data:,{}", escape(data))
}

/// Data as base64.
pub(crate) fn of_bytes(data: &[u8]) -> String {
    format!("data:;base64,{}", STANDARD.encode(data))
}

/// The data of a URL.
///
/// # Errors
///
/// The URL is none, in the library's words.
pub fn read(url: &str) -> Result<Vec<u8>, String> {
    let rest = url.strip_prefix("data:").ok_or("missing data prefix")?;
    let comma = rest.find(',').ok_or("missing comma before data")?;
    let is_base64 = media_type(&rest[..comma])?;
    let data = &rest[comma + 1..];
    if is_base64 {
        if data
            .bytes()
            .any(|byte| !byte.is_ascii_alphanumeric() && !b"+/=\n".contains(&byte))
        {
            return Err("invalid data character".to_owned());
        }
        let digits: String = data.chars().filter(|c| *c != '\n').collect();
        return STANDARD
            .decode(digits)
            .map_err(|_| "illegal base64 data".to_owned());
    }
    if data
        .chars()
        .any(|c| !c.is_ascii() || c.is_ascii_control() || " <>#\"{}|\\^[]`".contains(c))
    {
        return Err("invalid data character".to_owned());
    }
    unescape(data)
}

fn is_token(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_graphic() && !"()<>@,;:\\\"/[]?=".contains(c))
}

/// Reads what stands before the comma: whether the data is base64.
fn media_type(text: &str) -> Result<bool, String> {
    let mut parts = text.split(';');
    let media = parts.next().unwrap_or_default();
    if !media.is_empty() {
        let (kind, subtype) = media.split_once('/').ok_or("missing media type slash")?;
        if !is_token(kind) || kind.is_empty() {
            return Err("invalid character for media type".to_owned());
        }
        let known = [
            "text",
            "image",
            "audio",
            "video",
            "application",
            "message",
            "multipart",
        ];
        if !known.iter().any(|known| kind.starts_with(known))
            && !kind.to_ascii_lowercase().starts_with("x-")
        {
            return Err("invalid media type".to_owned());
        }
        if !is_token(subtype) {
            return Err("invalid character for media subtype".to_owned());
        }
    }
    let mut is_base64 = false;
    for parameter in parts {
        match parameter.split_once('=') {
            _ if is_base64 => return Err("expected comma after base64".to_owned()),
            None if parameter == "base64" => is_base64 = true,
            None => return Err("missing equal sign after parameter attribute".to_owned()),
            Some((name, _)) if !is_token(name) || name.is_empty() => {
                return Err("invalid character for parameter attribute".to_owned());
            }
            Some((_, value)) if !is_token(value.trim_matches('"')) => {
                return Err("invalid character for parameter value".to_owned());
            }
            Some(_) => {}
        }
    }
    Ok(is_base64)
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'%' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let digits = text
            .get(at + 1..at + 3)
            .ok_or("rfc2396: unexpected end of unescape sequence")?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let byte = is_hex
            .then(|| u8::from_str_radix(digits, 16).ok())
            .flatten();
        out.push(byte.ok_or("rfc2396: invalid char 0x25 in unescape sequence")?);
        at += 3;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(
            of_text(b"a-_.!~*'()Z9 +/\xc3\xbc\n"),
            "data:,a-_.!~*'()Z9%20%2B%2F%C3%BC%0A"
        );
        assert_eq!(of_bytes(b"\x00\xff"), "data:;base64,AP8=");
    }

    #[test]
    fn urls_are_read_back() {
        let check = |url: &str, expected: Result<&[u8], &str>| {
            assert_eq!(
                read(url),
                expected.map(<[u8]>::to_vec).map_err(str::to_owned),
                "{url}"
            );
        };
        check("data:,a%20b", Ok(b"a b"));
        check("data:;base64,AP8=", Ok(b"\x00\xff"));
        check("data:text/plain;charset=utf-8;base64,aGk=", Ok(b"hi"));
        check("data:,", Ok(b""));
        check("http://x", Err("missing data prefix"));
        check("data:x", Err("missing comma before data"));
        check("data:,a b", Err("invalid data character"));
        check(
            "data:,%2",
            Err("rfc2396: unexpected end of unescape sequence"),
        );
        check("data:foo/bar,x", Err("invalid media type"));
    }
}
