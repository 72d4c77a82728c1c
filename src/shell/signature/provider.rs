//! Cryptography for the library that reads Sigstore's bundles: that of `ring`, which TLS brings along.

use std::cell::RefCell;

use ring::digest::{self, Context, SHA256, SHA384, SHA512};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    UnparsedPublicKey, VerificationAlgorithm,
};
use sigstore_verify::crypto::{CryptoProvider, Error, HashContext, Result, SigningScheme};
use sigstore_verify::types::HashAlgorithm;

thread_local! {
    /// The message whose signature is being verified.
    static MESSAGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Runs `verify` with the message at hand to whose digest it comes back: `ring` takes messages alone.
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
        Ok(Box::new(Hashing(Context::new(digest_algorithm(algorithm)?))))
    }

    fn verify_raw(&self, scheme: SigningScheme, key: &[u8], data: &[u8], signature: &[u8]) -> Result<()> {
        let verified = UnparsedPublicKey::new(verification_algorithm(scheme)?, key).verify(data, signature);
        verified.map_err(|_| Error::Verification(format!("the {} signature is wrong", scheme.name())))
    }

    /// Verifies the message at hand, when the digest is its own: what signs a message signs its digest.
    fn verify_prehashed(&self, scheme: SigningScheme, key: &[u8], digest: &[u8], signature: &[u8]) -> Result<()> {
        let algorithm = scheme.hash_algorithm().ok_or_else(|| unsupported(scheme))?;
        let algorithm = digest_algorithm(algorithm)?;
        MESSAGE.with_borrow(|message| {
            if digest::digest(algorithm, message).as_ref() != digest {
                return Err(Error::Verification("the digest is not that of the message".to_owned()));
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
        other => Err(Error::UnsupportedAlgorithm(format!("digests of the algorithm {other}"))),
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
