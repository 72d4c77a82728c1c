//! The functions `html`, `js` and `urlquery`.

use std::io::Write as _;

use windlass_go_text::quote::is_printable;
use windlass_go_text::rune::runes;

/// `template.HTMLEscapeString`
pub(super) fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(*byte),
        }
    }
    out
}

/// `template.JSEscapeString`
pub(super) fn js(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (c, bytes) in runes(text) {
        match c {
            '\\' | '\'' | '"' => out.extend([b'\\', bytes[0]]),
            '<' | '>' | '&' | '=' | '\0'..='\x1f' => push_code(&mut out, c),
            c if c.is_ascii() || is_printable(c) => out.extend_from_slice(bytes),
            c => push_code(&mut out, c),
        }
    }
    out
}

fn push_code(out: &mut Vec<u8>, c: char) {
    write!(out, "\\u{:04X}", u32::from(c)).expect("internal error: writing to a Vec cannot fail");
}

/// `url.QueryEscape`
pub(super) fn url_query(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            b' ' => out.push(b'+'),
            byte => {
                write!(out, "%{byte:02X}").expect("internal error: writing to a Vec cannot fail")
            }
        }
    }
    out
}
