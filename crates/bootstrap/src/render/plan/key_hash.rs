//! Hashes of the public keys of CA certificates, with which kubeadm trusts a cluster.
//!
//! Wanted is where one element of a certificate lies, byte for byte: a crate that reads all of
//! X.509 would bring several others, and reject certificates that Go takes.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::der::{certificates, of_certificate};

/// The hash of each certificate of a bundle: `sha256:` and the hex digits of the SHA-256 of its
/// SubjectPublicKeyInfo.
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
    if hashes.is_empty() {
        Err("data does not contain any valid RSA or ECDSA certificates")
    } else {
        Ok(hashes)
    }
}

/// Certificate → tbsCertificate → subjectPublicKeyInfo, as it is in the certificate.
fn subject_public_key_info(der: &[u8]) -> Option<&[u8]> {
    of_certificate(der).map(|[.., key]| key.whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_is_told_in_go_words() {
        let none = Err("data does not contain any valid RSA or ECDSA certificates");
        assert_eq!(of_bundle(b"nothing"), none);
        assert_eq!(
            of_bundle(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"),
            none
        );
        let garbage = b"-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n-----END CERTIFICATE-----\n";
        assert_eq!(of_bundle(garbage), Err("x509: malformed certificate"));
    }
}
