//! Cryptography for the library that reads Sigstore's bundles: that of `ring`, which TLS brings
//! along.

use std::cell::RefCell;

use ring::digest::{self, Context, SHA256, SHA384, SHA512};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1,
    ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    UnparsedPublicKey, VerificationAlgorithm,
};
use sigstore_verify::crypto::{CryptoProvider, Error, HashContext, Result, SigningScheme};
use sigstore_verify::types::HashAlgorithm;

thread_local! {
    /// The message whose signature is being verified.
    static MESSAGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Runs `verify` with the message at hand to whose digest it comes back: `ring` takes messages
/// alone.
pub(super) fn with_message<T>(message: &[u8], verify: impl FnOnce() -> T) -> T {
    MESSAGE.replace(message.to_vec());
    let verified = verify();
    MESSAGE.take();
    verified
}

/// `ring`, which verifies, and here does nothing else.
#[derive(Debug)]
pub(super) struct Ring;

struct Hashing(Context);

impl HashContext for Hashing {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        Ok(Box::new(Hashing(Context::new(digest_algorithm(
            algorithm,
        )?))))
    }

    fn verify_raw(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        data: &[u8],
        signature: &[u8],
    ) -> Result<()> {
        let verified =
            UnparsedPublicKey::new(verification_algorithm(scheme)?, key).verify(data, signature);
        verified
            .map_err(|_| Error::Verification(format!("the {} signature is wrong", scheme.name())))
    }

    /// Verifies the message at hand, when the digest is its own: what signs a message signs its
    /// digest.
    fn verify_prehashed(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        digest: &[u8],
        signature: &[u8],
    ) -> Result<()> {
        let algorithm = scheme.hash_algorithm().ok_or_else(|| unsupported(scheme))?;
        let algorithm = digest_algorithm(algorithm)?;
        MESSAGE.with_borrow(|message| {
            if digest::digest(algorithm, message).as_ref() != digest {
                return Err(Error::Verification(
                    "the digest is not that of the message".to_owned(),
                ));
            }
            self.verify_raw(scheme, key, message, signature)
        })
    }
}

fn digest_algorithm(algorithm: HashAlgorithm) -> Result<&'static digest::Algorithm> {
    match algorithm {
        HashAlgorithm::Sha2256 => Ok(&SHA256),
        HashAlgorithm::Sha2384 => Ok(&SHA384),
        HashAlgorithm::Sha2512 => Ok(&SHA512),
        other => Err(Error::UnsupportedAlgorithm(format!(
            "digests of the algorithm {other}"
        ))),
    }
}

fn verification_algorithm(scheme: SigningScheme) -> Result<&'static dyn VerificationAlgorithm> {
    Ok(match scheme {
        SigningScheme::EcdsaP256Sha256 => &ECDSA_P256_SHA256_ASN1,
        SigningScheme::EcdsaP256Sha384 => &ECDSA_P256_SHA384_ASN1,
        SigningScheme::EcdsaP384Sha256 => &ECDSA_P384_SHA256_ASN1,
        SigningScheme::EcdsaP384Sha384 => &ECDSA_P384_SHA384_ASN1,
        SigningScheme::Ed25519 => &ED25519,
        SigningScheme::RsaPssSha256 => &RSA_PSS_2048_8192_SHA256,
        SigningScheme::RsaPssSha384 => &RSA_PSS_2048_8192_SHA384,
        SigningScheme::RsaPssSha512 => &RSA_PSS_2048_8192_SHA512,
        SigningScheme::RsaPkcs1Sha256 => &RSA_PKCS1_2048_8192_SHA256,
        SigningScheme::RsaPkcs1Sha384 => &RSA_PKCS1_2048_8192_SHA384,
        SigningScheme::RsaPkcs1Sha512 => &RSA_PKCS1_2048_8192_SHA512,
        other => return Err(unsupported(other)),
    })
}

fn unsupported(scheme: SigningScheme) -> Error {
    Error::UnsupportedAlgorithm(format!("signatures of the scheme {}", scheme.name()))
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

    use super::*;

    /// The digest alone proves nothing: the signature must be that of the message at hand.
    #[test]
    fn a_digest_is_verified_as_its_message() {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8.as_ref(), &random)
                .unwrap();
        let sign = |message: &[u8]| pair.sign(&random, message).unwrap().as_ref().to_vec();
        let verify = |scheme, message: &[u8], digested: &[u8], signature: &[u8]| {
            let digest = digest::digest(&SHA256, digested);
            let verified = with_message(message, || {
                Ring.verify_prehashed(
                    scheme,
                    pair.public_key().as_ref(),
                    digest.as_ref(),
                    signature,
                )
            });
            verified.map_err(|error| error.to_string())
        };
        let scheme = SigningScheme::EcdsaP256Sha256;
        assert_eq!(verify(scheme, b"a", b"a", &sign(b"a")), Ok(()));
        let wrong = verify(scheme, b"a", b"a", &sign(b"b")).unwrap_err();
        assert!(
            wrong.contains(&format!("the {} signature is wrong", scheme.name())),
            "{wrong}"
        );
        let other = verify(scheme, b"a", b"b", &sign(b"b")).unwrap_err();
        assert!(
            other.contains("the digest is not that of the message"),
            "{other}"
        );
        let none = verify(SigningScheme::Ed25519, b"a", b"a", &sign(b"a")).unwrap_err();
        assert!(
            none.contains(&format!(
                "signatures of the scheme {}",
                SigningScheme::Ed25519.name()
            )),
            "{none}"
        );
        assert!(MESSAGE.with_borrow(Vec::is_empty), "nothing of it is kept");
    }

    #[test]
    fn digests_are_those_of_their_algorithms() {
        let sum = |algorithm| {
            let mut hashing = Ring.hash(algorithm).unwrap();
            hashing.update(b"ab");
            hashing.update(b"c");
            hashing
                .finalize()
                .iter()
                .take(4)
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        // FIPS 180-4's examples for `abc`.
        let sums = [
            HashAlgorithm::Sha2256,
            HashAlgorithm::Sha2384,
            HashAlgorithm::Sha2512,
        ]
        .map(sum);
        assert_eq!(sums, ["ba7816bf", "cb00753f", "ddaf35a1"]);
    }

    #[test]
    fn every_scheme_that_is_known_is_verified() {
        for scheme in [
            SigningScheme::EcdsaP256Sha256,
            SigningScheme::EcdsaP256Sha384,
            SigningScheme::EcdsaP384Sha256,
            SigningScheme::EcdsaP384Sha384,
            SigningScheme::Ed25519,
            SigningScheme::RsaPssSha256,
            SigningScheme::RsaPssSha384,
            SigningScheme::RsaPssSha512,
            SigningScheme::RsaPkcs1Sha256,
            SigningScheme::RsaPkcs1Sha384,
            SigningScheme::RsaPkcs1Sha512,
        ] {
            let told = Ring
                .verify_raw(scheme, b"key", b"data", b"signature")
                .unwrap_err()
                .to_string();
            assert!(
                told.contains(&format!("the {} signature is wrong", scheme.name())),
                "{told}"
            );
        }
    }
}
