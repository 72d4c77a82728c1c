//! The signature of a bundle by a key alone. The library's verifier wants an entry of a log or a
//! timestamp in every bundle, and who signs with a key and without a network has neither (`cosign
//! sign-blob --key --tlog-upload=false`); form and cryptography are the library's all the same.

use sigstore_verify::crypto::{KeyAlgorithm, default_provider, verify_signature};
use sigstore_verify::types::bundle::VerificationMaterialContent;
use sigstore_verify::types::{
    Bundle, DerPublicKey, DsseEnvelope, HashAlgorithm, MessageSignature, Sha256Hash,
    SignatureContent, Statement,
};

/// in-toto, "Envelope": the type of a payload that is a statement.
const STATEMENT: &str = "application/vnd.in-toto+json";

/// Verifies that the holder of a key signed bytes, or a statement that has their SHA-256.
///
/// # Errors
/// Why it does not hold.
pub(super) fn verify(key: &DerPublicKey, artifact: &[u8], bundle: &Bundle) -> Result<(), String> {
    if !matches!(
        bundle.verification_material.content,
        VerificationMaterialContent::PublicKey(_)
    ) {
        return Err("it is signed with a certificate, and not with a key".to_owned());
    }
    let algorithm = KeyAlgorithm::from_spki(key).map_err(|error| error.to_string())?;
    match &bundle.content {
        SignatureContent::MessageSignature(message) => {
            of_message(key, algorithm, artifact, message)
        }
        SignatureContent::DsseEnvelope(envelope) => {
            of_statement(key, algorithm, artifact, envelope)
        }
        _ => Err("it signs in a way that is not known".to_owned()),
    }
}

fn of_message(
    key: &DerPublicKey,
    algorithm: KeyAlgorithm,
    artifact: &[u8],
    message: &MessageSignature,
) -> Result<(), String> {
    let scheme = match &message.message_digest {
        Some(named) => {
            if digest(named.algorithm, artifact)? != named.digest.as_bytes() {
                return Err("the digest that it names is another one".to_owned());
            }
            algorithm
                .resolve_signing_scheme(named.algorithm)
                .map_err(|error| error.to_string())?
        }
        None => algorithm.default_signing_scheme(),
    };
    verify_signature(key, artifact, &message.signature, scheme).map_err(|error| error.to_string())
}

fn of_statement(
    key: &DerPublicKey,
    algorithm: KeyAlgorithm,
    artifact: &[u8],
    envelope: &DsseEnvelope,
) -> Result<(), String> {
    let scheme = algorithm.default_signing_scheme();
    verify_signature(key, &envelope.pae(), &envelope.signature.sig, scheme)
        .map_err(|error| error.to_string())?;
    if envelope.payload_type != STATEMENT {
        return Err(format!(
            "what it signs is not a statement, but `{}`",
            envelope.payload_type
        ));
    }
    let statement: Statement = serde_json::from_slice(envelope.payload.as_bytes())
        .map_err(|error| format!("the statement cannot be parsed: {error}"))?;
    let sum = digest(HashAlgorithm::Sha2256, artifact)?;
    let sum = Sha256Hash::try_from(sum.as_slice()).map_err(|error| error.to_string())?;
    if statement.matches_sha256(&sum) {
        Ok(())
    } else {
        Err("the statement speaks of other files".to_owned())
    }
}

fn digest(algorithm: HashAlgorithm, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut hashing = default_provider()
        .hash(algorithm)
        .map_err(|error| error.to_string())?;
    hashing.update(bytes);
    Ok(hashing.finalize())
}
