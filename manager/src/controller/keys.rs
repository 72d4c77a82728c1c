//! What is random: key pairs and tokens.

use k8s_openapi::ByteString;
use pem::{EncodeConfig, LineEnding, Pem};
use pkcs8::PrivateKeyInfoRef;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, KeyPair, KeyUsagePurpose,
    RsaKeySize, SerialNumber, SignatureAlgorithm,
};
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use windlass_capi::api::node::EncryptionAlgorithm;
use windlass_reconcile::{KeyRequest, TOKEN_ALPHABET, TOKEN_LENGTH};

use crate::fault::Fault;

/// A token that nobody has.
///
/// # Errors
/// There is no randomness.
pub(super) fn token() -> Result<String, Fault> {
    let random = aws_lc_rs::default_provider().secure_random;
    let wanted = TOKEN_LENGTH.iter().sum();
    let mut characters = Vec::with_capacity(wanted);
    // Of the bytes those are dropped that would make some characters likelier than others.
    let fair = 256 / TOKEN_ALPHABET.len() * TOKEN_ALPHABET.len();
    while characters.len() < wanted {
        let mut bytes = [0; 32];
        random
            .fill(&mut bytes)
            .map_err(|_| "the system gives no random bytes")?;
        let chosen = bytes
            .into_iter()
            .map(usize::from)
            .filter(|byte| *byte < fair)
            .map(|byte| TOKEN_ALPHABET[byte % TOKEN_ALPHABET.len()]);
        characters.extend(chosen.map(char::from));
    }
    let (id, rest) = characters.split_at(TOKEN_LENGTH[0]);
    Ok(id
        .iter()
        .chain(&['.'])
        .chain(&rest[..TOKEN_LENGTH[1]])
        .collect())
}

/// `data` of the Secret of a new key pair: `tls.crt` and `tls.key`, as Cluster API's `util/certs`
/// makes them.
///
/// # Errors
/// The key cannot be made.
pub(super) fn pair(request: &KeyRequest) -> Result<Value, Fault> {
    let key = key(request.algorithm)?;
    let certificate = match request.validity {
        Some((begin, end)) => authority(begin, end)?.self_signed(&key)?.pem(),
        None => key.public_key_pem(),
    };
    let private = private_pem(&key, request.algorithm)?;
    Ok(
        json!({"tls.crt": ByteString(certificate.into_bytes()), "tls.key": ByteString(private.into_bytes())}),
    )
}

fn key(algorithm: EncryptionAlgorithm) -> Result<KeyPair, rcgen::Error> {
    let rsa = |size| KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, size);
    let ecdsa = |algorithm: &'static SignatureAlgorithm| KeyPair::generate_for(algorithm);
    match algorithm {
        EncryptionAlgorithm::Rsa2048 => rsa(RsaKeySize::_2048),
        EncryptionAlgorithm::Rsa3072 => rsa(RsaKeySize::_3072),
        EncryptionAlgorithm::Rsa4096 => rsa(RsaKeySize::_4096),
        EncryptionAlgorithm::EcdsaP256 => ecdsa(&rcgen::PKCS_ECDSA_P256_SHA256),
        EncryptionAlgorithm::EcdsaP384 => ecdsa(&rcgen::PKCS_ECDSA_P384_SHA384),
    }
}

/// A CA as `util/certs` of Cluster API makes it.
fn authority(begin: i64, end: i64) -> Result<CertificateParams, Fault> {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "kubernetes");
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = name;
    parameters.serial_number = Some(SerialNumber::from(0_u64));
    parameters.not_before = moment(begin)?;
    parameters.not_after = moment(end)?;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyEncipherment,
        KeyUsagePurpose::KeyCertSign,
    ];
    Ok(parameters)
}

fn moment(second: i64) -> Result<OffsetDateTime, Fault> {
    Ok(OffsetDateTime::from_unix_timestamp(second)?)
}

/// The private key as kubeadm and Cluster API write it: RSA as PKCS #1, which the oldest readers
/// know, anything else as PKCS #8.
fn private_pem(key: &KeyPair, algorithm: EncryptionAlgorithm) -> Result<String, Fault> {
    if matches!(
        algorithm,
        EncryptionAlgorithm::EcdsaP256 | EncryptionAlgorithm::EcdsaP384
    ) {
        return Ok(key.serialize_pem());
    }
    let info = PrivateKeyInfoRef::try_from(key.serialized_der())
        .map_err(|_| "the key that was made is not a key")?;
    let block = Pem::new("RSA PRIVATE KEY", info.private_key.as_bytes());
    Ok(pem::encode_config(
        &block,
        EncodeConfig::new().set_line_ending(LineEnding::LF),
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn tokens_are_of_their_form_and_not_twice_the_same() {
        let tokens: BTreeSet<String> = (0..1000).map(|_| token().unwrap()).collect();
        assert_eq!(tokens.len(), 1000);
        for token in &tokens {
            let (id, secret) = token.split_once('.').unwrap();
            assert_eq!([id.len(), secret.len()], TOKEN_LENGTH);
            assert!(
                token
                    .bytes()
                    .all(|byte| byte == b'.' || TOKEN_ALPHABET.contains(&byte)),
                "{token}"
            );
        }
        // Each of the 36 characters, and none much more often than the others.
        let mut counts = [0_u32; 36];
        for byte in tokens
            .iter()
            .flat_map(|token| token.bytes())
            .filter(|byte| *byte != b'.')
        {
            counts[TOKEN_ALPHABET
                .iter()
                .position(|known| *known == byte)
                .unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|count| (400..850).contains(count)),
            "{counts:?}"
        );
    }

    /// `NewSelfSignedCACert` of Cluster API's `util/certs`.
    #[test]
    fn authorities_are_as_cluster_api_makes_them() {
        let (begin, end) = (1_700_000_000, 2_015_360_000);
        let data = pair(&KeyRequest {
            algorithm: EncryptionAlgorithm::EcdsaP384,
            validity: Some((begin, end)),
        })
        .unwrap();
        let ByteString(text) = serde_json::from_value(data["tls.crt"].clone()).unwrap();
        let pem = pem::parse(text).unwrap();
        let (_, certificate) = x509_parser::parse_x509_certificate(pem.contents()).unwrap();
        assert_eq!(certificate.subject().to_string(), "CN=kubernetes");
        assert_eq!(certificate.issuer().to_string(), "CN=kubernetes");
        assert_eq!(certificate.raw_serial(), [0]);
        assert_eq!(certificate.validity().not_before.timestamp(), begin);
        assert_eq!(certificate.validity().not_after.timestamp(), end);
        let constraints = certificate.basic_constraints().unwrap().unwrap();
        assert!(
            constraints.critical
                && constraints.value.ca
                && constraints.value.path_len_constraint == Some(0)
        );
        let usage = certificate.key_usage().unwrap().unwrap().value;
        assert!(
            usage.digital_signature()
                && usage.key_encipherment()
                && usage.key_cert_sign()
                && !usage.crl_sign()
        );
    }

    #[test]
    fn pairs_are_in_the_forms_that_kubeadm_reads() {
        for (algorithm, validity, certificate, key) in [
            (
                EncryptionAlgorithm::Rsa2048,
                Some((1_800_000_000, 1_900_000_000)),
                "CERTIFICATE",
                "RSA PRIVATE KEY",
            ),
            (
                EncryptionAlgorithm::Rsa2048,
                None,
                "PUBLIC KEY",
                "RSA PRIVATE KEY",
            ),
            (
                EncryptionAlgorithm::EcdsaP384,
                Some((1_800_000_000, 1_900_000_000)),
                "CERTIFICATE",
                "PRIVATE KEY",
            ),
            (
                EncryptionAlgorithm::EcdsaP256,
                None,
                "PUBLIC KEY",
                "PRIVATE KEY",
            ),
        ] {
            let data = pair(&KeyRequest {
                algorithm,
                validity,
            })
            .unwrap();
            for (name, label) in [("tls.crt", certificate), ("tls.key", key)] {
                let ByteString(text) = serde_json::from_value(data[name].clone()).unwrap();
                let text = String::from_utf8(text).unwrap();
                assert!(
                    text.starts_with(&format!("-----BEGIN {label}-----\n")) && !text.contains('\r'),
                    "{text}"
                );
            }
        }
    }
}
