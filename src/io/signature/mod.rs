//! Signatures as cosign writes them (Sigstore bundles), held against keys or against an identity
//! that a trusted root vouches for. Nothing is fetched. The library asks the clock whether a date
//! is in the future, which is why this is not in the core.

mod key;
mod provider;

use serde_json::{Value, json};
use sigstore_verify::crypto::{KeyAlgorithm, install_default_provider};
use sigstore_verify::trust_root::TrustedRoot;
use sigstore_verify::types::{Bundle, DerPublicKey};
use sigstore_verify::{Policy, PublicKeyVerificationPolicy, VerificationPolicy, Verifier};

/// A public key, and what the user called it.
#[derive(Debug, Clone)]
pub struct Key {
    /// The file.
    pub shown: String,
    key: DerPublicKey,
}

impl Key {
    /// Reads a public key in PEM: ECDSA P-256 or P-384, Ed25519, or RSA of 2048 bits or more.
    ///
    /// # Errors
    /// Why it is none, in a phrase that follows the name of the file.
    pub fn read(shown: &str, pem: &str) -> Result<Self, String> {
        if pem.contains("PRIVATE KEY-----") {
            return Err("holds a private key; verifying takes the public one, and this one belongs on no machine that verifies".to_owned());
        }
        let key = DerPublicKey::from_pem(pem)
            .map_err(|error| format!("is not a public key in PEM: {error}"))?;
        match KeyAlgorithm::from_spki(&key) {
            Ok(
                KeyAlgorithm::EcdsaP256
                | KeyAlgorithm::EcdsaP384
                | KeyAlgorithm::Ed25519
                | KeyAlgorithm::Rsa,
            ) => Ok(Key {
                shown: shown.to_owned(),
                key,
            }),
            Ok(other) => Err(format!(
                "holds a key of the algorithm {other:?}, with which nothing is verified here"
            )),
            Err(error) => Err(format!(
                "holds a key with which nothing is verified here: {error}"
            )),
        }
    }
}

enum Signer {
    /// The holder of one of these keys.
    Keys(Vec<Key>),
    /// The holder of one of these keys, and a transparency log has it.
    LoggedKeys(Vec<Key>, Box<Verifier>),
    /// This identity, by a certificate of one of the root's authorities, and a transparency log has
    /// it.
    Identity {
        identity: String,
        issuer: String,
        verifier: Box<Verifier>,
    },
}

/// What a signature is held against.
pub struct Trust(Signer);

impl Trust {
    /// Signatures by one of some keys; with a trusted root a transparency log of it must have taken
    /// them in, too.
    ///
    /// # Errors
    /// What is wrong with the root, in a phrase that follows the name of its file.
    pub fn of_keys(keys: Vec<Key>, root: Option<&str>) -> Result<Self, String> {
        install();
        Ok(Trust(match root {
            None => Signer::Keys(keys),
            Some(root) => Signer::LoggedKeys(keys, verifier(root)?),
        }))
    }

    /// Signatures with a certificate for an identity that an OIDC issuer confirmed: chain,
    /// certificate transparency, log and times are all verified.
    ///
    /// # Errors
    /// What is wrong with the root, in a phrase that follows the name of its file.
    pub fn of_identity(identity: &str, issuer: &str, root: &str) -> Result<Self, String> {
        install();
        let (identity, issuer) = (identity.to_owned(), issuer.to_owned());
        Ok(Trust(Signer::Identity {
            identity,
            issuer,
            verifier: verifier(root)?,
        }))
    }

    /// Who must have signed, for people.
    pub fn signer(&self) -> String {
        match &self.0 {
            Signer::Keys(keys) | Signer::LoggedKeys(keys, _) => keys
                .iter()
                .map(|key| key.shown.as_str())
                .collect::<Vec<_>>()
                .join(" or "),
            Signer::Identity {
                identity, issuer, ..
            } => format!("{identity} ({issuer})"),
        }
    }

    /// What else than the signature itself is verified, or is not.
    pub fn extent(&self) -> &'static str {
        match &self.0 {
            Signer::Keys(_) => {
                "the signature alone: transparency logs and timestamps count only with `--trusted-root`"
            }
            Signer::LoggedKeys(..) => "the signature and its entry in a transparency log",
            Signer::Identity { .. } => {
                "the signature, its certificate and its entry in a transparency log"
            }
        }
    }

    /// Holds a bundle against the bytes of which it speaks: it must sign them, or a statement that
    /// has their digest.
    ///
    /// # Errors
    /// Why it does not hold, for keys why not by the last of them.
    pub fn verify(&self, artifact: &[u8], bundle: &[u8]) -> Result<(), String> {
        let bundle = parsed(bundle)?;
        let by_root = |verifier: &Verifier, policy: &dyn Policy| {
            let verified =
                provider::with_message(artifact, || verifier.verify(artifact, &bundle, policy));
            verified.map(drop).map_err(|error| error.to_string())
        };
        match &self.0 {
            Signer::Keys(keys) => one_of(keys, |key| key::verify(&key.key, artifact, &bundle)),
            Signer::LoggedKeys(keys, verifier) => one_of(keys, |key| {
                by_root(verifier, &PublicKeyVerificationPolicy::new(key.key.clone()))
            }),
            Signer::Identity {
                identity,
                issuer,
                verifier,
            } => by_root(
                verifier,
                &VerificationPolicy::new(identity.as_str(), issuer.as_str()),
            ),
        }
    }
}

/// Whether one of some keys verifies; why not by the last of them.
fn one_of(keys: &[Key], verify: impl Fn(&Key) -> Result<(), String>) -> Result<(), String> {
    let mut why = "no key was given".to_owned();
    for key in keys {
        match verify(key) {
            Ok(()) => return Ok(()),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Gives the library its cryptography. Whoever did so before gave it the same.
fn install() {
    let _is_there = install_default_provider(&provider::Ring).is_err();
}

fn verifier(root: &str) -> Result<Box<Verifier>, String> {
    let root =
        TrustedRoot::from_json(root).map_err(|error| format!("is not a trusted root: {error}"))?;
    Verifier::new(&root)
        .map(Box::new)
        .map_err(|error| format!("cannot be used as a trusted root: {error}"))
}

fn parsed(bundle: &[u8]) -> Result<Bundle, String> {
    let text = std::str::from_utf8(bundle).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let mut document: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    if document.get("base64Signature").is_some() {
        return Err(
            "it is a bundle of an older cosign; sign again with `--new-bundle-format`".to_owned(),
        );
    }
    // For keys of Ed25519, which sign no digest, cosign writes an empty one, which the library does
    // not take for none.
    if let Some(message) = document
        .get_mut("messageSignature")
        .and_then(Value::as_object_mut)
        && message.get("messageDigest") == Some(&json!({}))
    {
        message.remove("messageDigest");
    }
    Bundle::from_json(&document.to_string())
        .map_err(|error| format!("it is not a Sigstore bundle: {error}"))
}
