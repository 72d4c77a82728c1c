//! The flags that say who must have signed a release: `--key`, or an identity.

use std::path::Path;

use clap::Args;

use crate::cli::{Context, Failure};
use crate::io::files;
use crate::io::input::Limits;
use windlass_repository::signed::Verifier;

/// Who must have signed.
#[derive(Args)]
pub(super) struct TrustFlags {
    /// A public key (PEM) whose holder must have signed every release with cosign
    ///
    /// ECDSA P-256 or P-384, Ed25519, or RSA, as `cosign generate-key-pair` makes it. The
    /// signature of a release is SHA256SUMS.sigstore.json beside its SHA256SUMS, or
    /// FILE.sigstore.json beside each file; that of a bundle is beside it. The signature alone
    /// is verified, and with --trusted-root also that a transparency log has it. May be given
    /// several times: one of them is enough.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["certificate_identity", "certificate_oidc_issuer"])]
    key: Vec<String>,
    /// Who must have signed every release with a certificate of Sigstore: an address, or the URI
    /// of a workflow
    ///
    /// As with `cosign verify-blob`; the whole text has to be the same. Certificate, certificate
    /// transparency and transparency log are verified by --trusted-root, without a network.
    #[arg(long, value_name = "IDENTITY", requires_all = ["certificate_oidc_issuer", "trusted_root"])]
    certificate_identity: Option<String>,
    /// Who confirmed that identity, such as https://token.actions.githubusercontent.com
    #[arg(long, value_name = "URL", requires = "certificate_identity")]
    certificate_oidc_issuer: Option<String>,
    /// Whose certificates and logs are trusted: trusted_root.json, as `cosign trusted-root create`
    /// writes it
    #[arg(long, value_name = "FILE")]
    trusted_root: Option<String>,
}

/// Whether this build verifies signatures.
pub(super) const CAN_VERIFY: bool = cfg!(feature = "signatures");

impl TrustFlags {
    /// The verifier of signatures; `None` when no signer was named.
    ///
    /// # Errors
    /// A file cannot be read or holds something else, or this build does not verify signatures.
    pub(super) fn verifier(&self) -> Result<Option<Box<dyn Verifier>>, Failure> {
        if self.certificate_identity.is_some() || !self.key.is_empty() {
            return self.required().map(Some);
        }
        match self.trusted_root {
            None => Ok(None),
            Some(_) => Err(Failure::usage(
                "`--trusted-root` says whose logs are trusted, and not who must have signed",
                "add `--key FILE`, or `--certificate-identity IDENTITY --certificate-oidc-issuer URL`",
            )),
        }
    }

    /// A check that the user requires is never skipped.
    #[cfg(not(feature = "signatures"))]
    fn required(&self) -> Result<Box<dyn Verifier>, Failure> {
        use windlass_release::emit::checksums::CHECKSUMS_FILE;
        use windlass_repository::signed::cosign_command;

        let mut signer = Vec::new();
        let key = self.key.first();
        for (flag, value) in [
            ("--key", key),
            ("--certificate-identity", self.certificate_identity.as_ref()),
            (
                "--certificate-oidc-issuer",
                self.certificate_oidc_issuer.as_ref(),
            ),
            ("--trusted-root", self.trusted_root.as_ref()),
        ] {
            signer.extend(value.into_iter().flat_map(|value| [flag, value.as_str()]));
        }
        // `--key` alone requires no entry of a transparency log.
        if key.is_some() && self.trusted_root.is_none() {
            signer.push("--insecure-ignore-tlog");
        }
        let flag = key.map_or("--certificate-identity", |_| "--key");
        let command = cosign_command(CHECKSUMS_FILE, &[], Some(&signer));
        Err(Failure::usage(
            format!(
                "`{flag}` requires a signature, and this build of windlass does not verify signatures"
            ),
            format!(
                "build windlass with `--features signatures`, or verify each signed file with cosign, as in `{command}`, and leave out `{flag}`"
            ),
        ))
    }
}

#[cfg(feature = "signatures")]
mod verified {
    use std::path::Path;

    use super::TrustFlags;
    use crate::cli::Failure;
    use crate::io::input::read_source;
    use crate::io::signature::{Key, Trust};
    use windlass_repository::signed::Verifier;

    impl TrustFlags {
        /// The verifier that the flags require.
        pub(super) fn required(&self) -> Result<Box<dyn Verifier>, Failure> {
            let root = self.trusted_root.as_deref().map(text).transpose()?;
            let trust = match (
                &self.certificate_identity,
                &self.certificate_oidc_issuer,
                &root,
            ) {
                (Some(identity), Some(issuer), Some(root)) => {
                    Trust::of_identity(identity, issuer, root)
                }
                _ => {
                    let keys = self.key.iter().map(|file| key(file));
                    Trust::of_keys(keys.collect::<Result<_, _>>()?, root.as_deref())
                }
            };
            match trust {
                Ok(trust) => Ok(Box::new(trust)),
                Err(why) => {
                    let file = self.trusted_root.as_deref().unwrap_or_default();
                    Err(Failure::usage(
                        format!("{file} {why}"),
                        "`cosign trusted-root create` writes one, and `cosign initialize` fetches that of sigstore.dev",
                    ))
                }
            }
        }
    }

    fn text(file: &str) -> Result<String, Failure> {
        Ok(read_source(Path::new(file), file)?.0.text().to_owned())
    }

    fn key(file: &str) -> Result<Key, Failure> {
        Key::read(file, &text(file)?).map_err(|why| {
            Failure::usage(
                format!("{file} {why}"),
                "name the public key, such as cosign.pub",
            )
        })
    }

    impl Verifier for Trust {
        fn signer(&self) -> String {
            Trust::signer(self)
        }

        fn extent(&self) -> &'static str {
            Trust::extent(self)
        }

        fn verify(&self, artifact: &[u8], signature: &[u8]) -> Result<(), String> {
            Trust::verify(self, artifact, signature)
        }
    }
}

/// The signature beside a file, if there is one.
pub(super) fn beside(file: &str) -> Result<Option<(String, Vec<u8>)>, Failure> {
    let signature = format!("{file}.sigstore.json");
    if !files::is_file(Path::new(&signature)) {
        return Ok(None);
    }
    let bytes = files::read_file(&signature, Limits::default())?;
    Ok(Some((signature, bytes)))
}

/// Tells what was verified.
pub(super) fn tell(context: &mut Context<'_>, trust: &dyn Verifier, what: &str) {
    context.talk(&format!(
        "{what}: signed by {}; verified is {}",
        trust.signer(),
        trust.extent()
    ));
}
