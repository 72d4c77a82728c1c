//! The certificates of one control plane: an authority, a serving certificate for loopback, a
//! client that may do everything.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};

/// A certificate and its key, PEM.
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// Everything that one control plane needs, in memory and as files.
pub(crate) struct Certificates {
    /// The authority's certificate, PEM.
    pub(crate) authority: String,
    /// For 127.0.0.1 and localhost, also used by webhooks.
    pub(crate) serving: Pair,
    /// Member of `system:masters`.
    pub(crate) client: Pair,
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Certificates {
    /// Makes them and writes them into the folder.
    pub(crate) fn make(folder: &Path) -> Certificates {
        let key = key();
        let mut parameters = named("windlass-e2e", None);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyCertSign,
        ];
        let authority = parameters
            .self_signed(&key)
            .expect("the authority can sign itself")
            .pem();
        let issuer = Issuer::new(parameters, key);

        let mut client = named("windlass-e2e-admin", Some("system:masters"));
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];

        let (serving, client) = (sign(serving(), &issuer), sign(client, &issuer));
        let made = Certificates {
            authority,
            serving,
            client,
            issuer,
            folder: folder.to_path_buf(),
        };
        made.write();
        made
    }

    /// The authority's key, PEM, for who signs with it beside us.
    pub(crate) fn authority_key(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// One more serving certificate, as the next of those that are exchanged.
    pub(crate) fn next_serving(&self) -> Pair {
        sign(serving(), &self.issuer)
    }

    fn write(&self) {
        // `tls.crt` and `tls.key` are the names that controller-runtime looks for in a webhook
        // certificate folder.
        let token_key = key();
        let files = [
            ("ca.crt", &self.authority),
            ("tls.crt", &self.serving.certificate),
            ("tls.key", &self.serving.key),
            ("service-account.key", &token_key.serialize_pem()),
            ("service-account.pub", &token_key.public_key_pem()),
        ];
        for (name, content) in files {
            std::fs::write(self.folder.join(name), content).expect("the folder can be written");
        }
    }

    /// One of the files `ca.crt`, `tls.crt`, `tls.key`, `service-account.key`,
    /// `service-account.pub`.
    pub(crate) fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The folder of the files, as managers want it for their webhooks.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key can be made")
}

fn serving() -> CertificateParams {
    let mut serving = named("loopback", None);
    serving.subject_alt_names =
        CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()])
            .expect("two names")
            .subject_alt_names;
    serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    serving
}

fn named(common_name: &str, organization: Option<&str>) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters
        .distinguished_name
        .push(DnType::CommonName, common_name);
    if let Some(organization) = organization {
        parameters
            .distinguished_name
            .push(DnType::OrganizationName, organization);
    }
    parameters
}

fn sign(parameters: CertificateParams, issuer: &Issuer<'_, KeyPair>) -> Pair {
    let key = key();
    let certificate = parameters
        .signed_by(&key, issuer)
        .expect("the authority can sign")
        .pem();
    Pair {
        certificate,
        key: key.serialize_pem(),
    }
}
