//! Base64 as Go's package `encoding/base64` reads it: the standard alphabet with padding, line
//! breaks skipped, spare bits ignored.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Padding is required, and what the last symbol holds too much is ignored.
const GO: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// Decodes base64.
///
/// # Errors
/// The offset of the byte that Go names ("illegal base64 data at input byte 3").
pub fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let decoded = if text.contains(['\n', '\r']) {
        GO.decode(text.replace(['\n', '\r'], ""))
    } else {
        GO.decode(text)
    };
    decoded.map_err(|_| fault(text))
}

/// Decodes base64 in the alphabet for URLs, in which `-` and `_` stand for `+` and `/`.
///
/// # Errors
/// As [`decode`].
pub fn decode_url(text: &str) -> Result<Vec<u8>, usize> {
    let swapped = |c: char| match c {
        '-' => '+',
        '_' => '/',
        '+' | '/' => '!',
        c => c,
    };
    decode(&text.chars().map(swapped).collect::<String>())
}

/// Encodes base64 with padding.
pub fn encode(bytes: &[u8]) -> String {
    GO.encode(bytes)
}

/// Where Go stops: a group that ends too early is named by where it would begin, were it as long as
/// what was read of it.
fn fault(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let behind_breaks =
        |at: usize| at + bytes[at..].iter().take_while(|byte| is_break(byte)).count();
    let mut in_group = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            byte if is_break(byte) => {}
            b'=' if in_group < 2 => return at,
            b'=' if in_group == 2 => {
                let second = behind_breaks(at + 1);
                return match bytes.get(second) {
                    None => bytes.len(),
                    Some(b'=') => behind_breaks(second + 1),
                    Some(_) => second - 1,
                };
            }
            b'=' => return behind_breaks(at + 1),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => in_group = (in_group + 1) % 4,
            _ => return at,
        }
    }
    bytes.len() - in_group
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed of `base64.StdEncoding`.
    #[test]
    fn base64_is_read_as_go_reads_it() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Cg==", b"\n"),
            ("YWI=", b"ab"),
            ("YWJj", b"abc"),
            ("YW\nJj\r\n", b"abc"),
            ("Ch==", b"\n"),
        ] {
            assert_eq!(decode(text).as_deref(), Ok(bytes), "{text}");
        }
        for (text, at) in [
            ("Cg=", 3),
            ("C", 0),
            ("=", 0),
            ("Cg==Cg==", 4),
            ("!", 0),
            ("YW==x", 4),
            ("YW=x", 2),
            ("YWJ=x", 4),
            ("YWI=\n=", 5),
            ("YWJjC", 4),
            ("YW\n", 1),
            ("YWJj=", 4),
            ("YW=\n", 4),
            ("YWJ", 0),
        ] {
            assert_eq!(decode(text), Err(at), "{text:?}");
        }
        assert_eq!(
            (decode_url("-_8="), decode_url("+/8="), decode_url("aGk")),
            (Ok(vec![0xfb, 0xff]), Err(0), Err(0))
        );
        assert_eq!(
            ["", "a", "ab", "abc"].map(|text| encode(text.as_bytes())),
            ["", "YQ==", "YWI=", "YWJj"]
        );
    }
}
