//! PEM as Go's `encoding/pem` reads it, and the elements of DER (X.690) in it.

use windlass_go_text::base64;

/// The bytes of each block `CERTIFICATE` without headers; what is no such block is skipped.
pub fn certificates(text: &str) -> Vec<Vec<u8>> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        let at_line_start = start == 0 || rest.as_bytes()[start - 1] == b'\n';
        let body = &rest[start + BEGIN.len()..];
        let Some(end) = body.find(END) else { break };
        let (content, after) = body.split_at(end);
        rest = &after[END.len()..];
        let compact: String = content.split_ascii_whitespace().collect();
        if at_line_start && let Ok(der) = base64::decode(&compact) {
            found.push(der);
        }
    }
    found
}

/// An element of DER: its tag, its length and its content (X.690, section 8.1).
pub struct Element<'a> {
    /// Class, form and number in one byte.
    pub tag: u8,
    /// The bytes of the content, without tag and length.
    pub content: &'a [u8],
    /// The element with its tag and length.
    pub(crate) whole: &'a [u8],
}

/// The first element of the bytes and what follows it; `None` when there is none, or it ends behind
/// the bytes.
pub fn element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, content) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (
                digits
                    .iter()
                    .fold(0usize, |length, digit| length << 8 | usize::from(*digit)),
                rest,
            )
        }
        _ => return None,
    };
    let (content, after) = content.split_at_checked(length)?;
    let whole = &bytes[..bytes.len() - after.len()];
    Some((
        Element {
            tag,
            content,
            whole,
        },
        after,
    ))
}

/// The number of a sequence, and of the element with which a certificate says its version.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;

/// The elements of a certificate's `tbsCertificate` (RFC 5280, section 4.1) from its serial number
/// on: serial number, signature algorithm, issuer, validity, subject, public key.
pub fn of_certificate(der: &[u8]) -> Option<[Element<'_>; 6]> {
    let (certificate, _) = element(der)
        .filter(|(certificate, rest)| certificate.tag == SEQUENCE && rest.is_empty())?;
    let (to_be_signed, _) =
        element(certificate.content).filter(|(signed, _)| signed.tag == SEQUENCE)?;
    let mut rest = to_be_signed.content;
    if rest.first() == Some(&VERSION) {
        rest = element(rest)?.1;
    }
    let mut next = || {
        let (element, after) = element(rest)?;
        rest = after;
        Some(element)
    };
    let elements = [next()?, next()?, next()?, next()?, next()?, next()?];
    (elements[5].tag == SEQUENCE).then_some(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_never_reach_beyond_the_bytes() {
        for bytes in [
            &[0x30][..],
            &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[0x30, 0x80],
            &[0x30, 0x03, 0x30, 0x05, 0x00],
        ] {
            assert!(of_certificate(bytes).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn blocks_begin_at_lines_and_others_are_skipped() {
        let block = |label: &str| format!("-----BEGIN {label}-----\nYWJj\n-----END {label}-----\n");
        let text = format!(
            "{} {}{}",
            block("PUBLIC KEY"),
            block("CERTIFICATE"),
            block("CERTIFICATE")
        );
        assert_eq!(
            certificates(&text),
            [b"abc"],
            "the first does not begin a line"
        );
        assert!(certificates("-----BEGIN CERTIFICATE-----\nYWJj").is_empty());
    }
}
