//! The flags that say who must have signed a release: `--key`, or an identity.

use std::path::Path;

use clap::Args;

use crate::cli::{Context, Failure};
use crate::ops::repository::signed::Verifier;
use crate::shell::files;
use crate::shell::input::{Limits, read_source};
use crate::shell::signature::{Key, Trust};

/// Who must have signed.
#[derive(Args)]
pub(super) struct TrustFlags {
    /// A public key (PEM) whose holder must have signed every release with cosign
    ///
    /// ECDSA P-256 or P-384, Ed25519, or RSA, as `cosign generate-key-pair` makes it. The
    /// signature of a release is SHA256SUMS.sigstore.json beside its SHA256SUMS, or
    /// FILE.sigstore.json beside each file; that of a bundle lies beside it. The signature alone
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

impl TrustFlags {
    /// What signatures are held against; `None` when nobody was named.
    ///
    /// # Errors
    /// A file cannot be read, or holds something else.
    pub(super) fn trust(&self) -> Result<Option<Trust>, Failure> {
        let root = self
            .trusted_root
            .as_deref()
            .map(|file| text(file).map(|text| (file, text)))
            .transpose()?;
        let refused = |why: String| {
            let file = self.trusted_root.as_deref().unwrap_or_default();
            Failure::usage(
                format!("{file} {why}"),
                "`cosign trusted-root create` writes one, and `cosign initialize` fetches that of sigstore.dev",
            )
        };
        if let (Some(identity), Some(issuer), Some((_, root))) = (
            &self.certificate_identity,
            &self.certificate_oidc_issuer,
            &root,
        ) {
            return Trust::of_identity(identity, issuer, root)
                .map(Some)
                .map_err(refused);
        }
        if self.key.is_empty() {
            return match root {
                None => Ok(None),
                Some(_) => Err(Failure::usage(
                    "`--trusted-root` says whose logs are trusted, and not who must have signed",
                    "add `--key FILE`, or `--certificate-identity IDENTITY --certificate-oidc-issuer URL`",
                )),
            };
        }
        let keys: Vec<Key> = self
            .key
            .iter()
            .map(|file| key(file))
            .collect::<Result<_, _>>()?;
        Trust::of_keys(keys, root.as_ref().map(|(_, text)| text.as_str()))
            .map(Some)
            .map_err(refused)
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

    fn verify(&self, artifact: &[u8], signature: &[u8]) -> Result<(), String> {
        Trust::verify(self, artifact, signature)
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

pub(super) fn tell(context: &mut Context<'_>, trust: &Trust, what: &str) {
    context.talk(&format!(
        "{what}: signed by {}; verified is {}",
        trust.signer(),
        trust.extent()
    ));
}
