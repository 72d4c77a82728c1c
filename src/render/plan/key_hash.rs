//! Hashes of the public keys of CA certificates, with which kubeadm trusts a cluster.
//!
//! PEM as Go's `encoding/pem` reads it, and of a certificate only what leads to its key (RFC 5280, section 4.1). Wanted is where one element
//! lies, byte for byte: a crate that reads all of X.509 would bring several others, and refuse certificates that Go takes.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::text::go::base64;

/// The hash of each certificate of a bundle: `sha256:` and the hex digits of the SHA-256 of its SubjectPublicKeyInfo.
///
/// # Errors
///
/// Go's words for what is wrong with the bundle.
pub(super) fn of_bundle(pem: &[u8]) -> Result<Vec<String>, &'static str> {
    let text = String::from_utf8_lossy(pem);
    let mut hashes = Vec::new();
    for der in certificates(&text) {
        let key = subject_public_key_info(&der).ok_or("x509: malformed certificate")?;
        let mut hash = "sha256:".to_owned();
        for byte in Sha256::digest(key) {
            write!(hash, "{byte:02x}").expect("internal error: writing to a String cannot fail");
        }
        hashes.push(hash);
    }
    if hashes.is_empty() { Err("data does not contain any valid RSA or ECDSA certificates") } else { Ok(hashes) }
}

/// The bytes of each block `CERTIFICATE` without headers; what is no such block is skipped.
fn certificates(text: &str) -> Vec<Vec<u8>> {
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

/// Certificate → tbsCertificate → subjectPublicKeyInfo, as it stands in the certificate.
fn subject_public_key_info(der: &[u8]) -> Option<&[u8]> {
    const SEQUENCE: u8 = 0x30;
    const VERSION: u8 = 0xa0;
    let (certificate, _) = element(der).filter(|(certificate, rest)| certificate.tag == SEQUENCE && rest.is_empty())?;
    let (to_be_signed, _) = element(certificate.content).filter(|(signed, _)| signed.tag == SEQUENCE)?;
    let mut rest = to_be_signed.content;
    if rest.first() == Some(&VERSION) {
        rest = element(rest)?.1;
    }
    // Serial number, signature algorithm, issuer, validity, subject.
    for _ in 0..5 {
        rest = element(rest)?.1;
    }
    let (key, _) = element(rest).filter(|(key, _)| key.tag == SEQUENCE)?;
    Some(key.whole)
}

/// An element of DER.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    whole: &'a [u8],
}

/// The first element of the bytes and what follows it.
fn element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, content) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0usize, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, after) = content.split_at_checked(length)?;
    let whole = &bytes[..bytes.len() - after.len()];
    Some((Element { tag, content, whole }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_is_told_in_go_words() {
        let none = Err("data does not contain any valid RSA or ECDSA certificates");
        assert_eq!(of_bundle(b"nothing"), none);
        assert_eq!(of_bundle(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), none);
        let garbage = b"-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n-----END CERTIFICATE-----\n";
        assert_eq!(of_bundle(garbage), Err("x509: malformed certificate"));
    }

    #[test]
    fn lengths_never_reach_beyond_the_bytes() {
        for bytes in [&[0x30][..], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x30, 0x80], &[0x30, 0x03, 0x30, 0x05, 0x00]] {
            assert_eq!(subject_public_key_info(bytes), None, "{bytes:?}");
        }
    }
}
