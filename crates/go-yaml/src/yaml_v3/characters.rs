//! The characters of a text: UTF-8 without what YAML 1.1 does not allow.

use super::Fault;
use crate::yaml::is_rejected;

/// The bytes as a text, when all of its characters are allowed.
pub(super) fn read(bytes: &[u8]) -> Result<&str, Fault> {
    let (text, rest) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            (std::str::from_utf8(valid).unwrap_or_default(), Some(rest))
        }
    };
    let line =
        |at: usize| u32::try_from(text[..at].matches('\n').count()).unwrap_or(u32::MAX - 1) + 1;
    if let Some((at, _)) = text.char_indices().find(|(_, c)| is_rejected(*c)) {
        return Err(Fault {
            message: "control characters are not allowed".to_owned(),
            line: line(at),
        });
    }
    match rest {
        Some(rest) => Err(Fault {
            message: broken(rest).to_owned(),
            line: line(text.len()),
        }),
        None => Ok(text),
    }
}

/// The reader's words for bytes that are not UTF-8.
fn broken(bytes: &[u8]) -> &'static str {
    let width = match bytes[0] {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return "invalid leading UTF-8 octet",
    };
    if bytes.len() < width {
        return "incomplete UTF-8 octet sequence";
    }
    if bytes[1..width].iter().any(|byte| byte & 0xc0 != 0x80) {
        return "invalid trailing UTF-8 octet";
    }
    match bytes {
        [0xed, 0xa0..=0xff, ..] | [0xf4, 0x90..=0xff, ..] | [0xf5..=0xff, ..] => {
            "invalid Unicode character"
        }
        _ => "invalid length of a UTF-8 sequence",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_named() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(
                read(bytes).map_err(|fault| fault.message.to_string()),
                Err(expected.to_owned())
            )
        };
        check(b"a\xff", "invalid leading UTF-8 octet");
        check(b"\x80", "invalid leading UTF-8 octet");
        check(b"\xc3", "incomplete UTF-8 octet sequence");
        check(b"\xc3a", "invalid trailing UTF-8 octet");
        check(b"\xc0\x80", "invalid length of a UTF-8 sequence");
        check(b"\xed\xa0\x80", "invalid Unicode character");
        check(b"a\x00", "control characters are not allowed");
        assert_eq!(read("\u{feff}é".as_bytes()), Ok("\u{feff}é"));
    }
}
