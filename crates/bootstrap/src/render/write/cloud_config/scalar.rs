//! How a text of the user is written as a value.

use crate::pyyaml::{self, Scalar};
use crate::render::input::request::Encoder;
use windlass_go_text as go;
use windlass_go_yaml::goyaml;

pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Appends a text as a value: plain, and by the encoder `typed` quoted where plain means something
/// else.
pub(super) fn put_scalar(out: &mut Vec<u8>, encoder: Encoder, text: &[u8]) {
    match std::str::from_utf8(text) {
        Ok(text) if encoder == Encoder::Typed && !is_plain(text) => {
            out.extend_from_slice(go::quote(text).as_bytes())
        }
        _ => out.extend_from_slice(text),
    }
}

/// Whether Go and cloud-init read a text without quotes as this text.
fn is_plain(text: &str) -> bool {
    goyaml::is_plain(text) && pyyaml::scalar(text) == Scalar::Text
}

/// Appends a text in single quotes, in which `typed` doubles those of the text; what they cannot
/// hold it writes in double ones.
pub(super) fn put_quoted(out: &mut Vec<u8>, encoder: Encoder, text: &str) {
    match encoder {
        Encoder::Typed if text.contains(char::is_control) => put(out, &go::quote(text)),
        Encoder::Typed => put(out, &format!("'{}'", text.replace('\'', "''"))),
        Encoder::Capi => put(out, &format!("'{text}'")),
    }
}

/// What a block of text needs to be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::render) enum Block {
    /// Nothing: `|`.
    Plain,
    /// An indentation indicator, because the first line begins with a blank.
    Indicated,
    /// Another encoding, because YAML cannot carry the bytes, or not every reader takes them.
    Binary,
}

pub(in crate::render) fn block(content: &[u8]) -> Block {
    let Ok(text) = std::str::from_utf8(content) else {
        return Block::Binary;
    };
    if text.chars().any(|c| !is_carried(c)) {
        return Block::Binary;
    }
    let first = text
        .lines()
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    match first.as_bytes() {
        [b'\t', ..] => Block::Binary,
        [b' ', ..] => Block::Indicated,
        _ => Block::Plain,
    }
}

/// Whether YAML carries a character in a block and leaves it as it is.
fn is_carried(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => true,
        '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => false,
        c => c >= '\u{a0}' && c != '\u{fffe}' && c != '\u{ffff}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> String {
        let mut out = Vec::new();
        put_scalar(&mut out, Encoder::Typed, text.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_quoted_where_plain_means_something_else() {
        let check = |text: &str, expected: &str| assert_eq!(typed(text), expected);
        check("ALL=(ALL) NOPASSWD:ALL", "ALL=(ALL) NOPASSWD:ALL");
        check(
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7mVx2hYk2nQ0bAAAAB3NzaC1yc2EAAAADAQABAAABAQC7mVx2hYk2nQ0b a@b",
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7mVx2hYk2nQ0bAAAAB3NzaC1yc2EAAAADAQABAAABAQC7mVx2hYk2nQ0b a@b",
        );
        check("Ops #2", "\"Ops #2\"");
        check("a: b", "\"a: b\"");
        check("0", "\"0\"");
        check("yes", "\"yes\"");
        check("*star", "\"*star\"");
        check("2001-12-14 21:59:43.10 -5", "\"2001-12-14 21:59:43.10 -5\"");
        check("190:20:30.15", "\"190:20:30.15\"");
        check("a\"b: c", "\"a\\\"b: c\"");
    }

    #[test]
    fn blocks_say_what_they_need() {
        assert_eq!(block(b"a\nb\n"), Block::Plain);
        assert_eq!(block(b""), Block::Plain);
        assert_eq!(block(b"\n  a\n"), Block::Indicated);
        assert_eq!(block(b"a\r\nb"), Block::Binary);
        assert_eq!(block(b"\n\ta"), Block::Binary);
        assert_eq!(block(&[0xff]), Block::Binary);
        assert_eq!(block("a\u{85}b".as_bytes()), Block::Binary);
    }
}
