//! Authorities, certificates and keys: those of a control plane that this program starts, and those
//! that a workload cluster has.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};

/// A certificate and its key, PEM.
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// An authority that signs certificates.
pub(crate) struct Authority {
    pub(crate) pair: Pair,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// # Errors
    /// If the cryptography library fails.
    pub(crate) fn new(common_name: &str) -> Result<Authority, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut parameters = named(common_name, None);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::KeyEncipherment,
        ];
        let pair = Pair {
            certificate: parameters.self_signed(&key)?.pem(),
            key: key.serialize_pem(),
        };
        Ok(Authority {
            pair,
            issuer: Issuer::new(parameters, key),
        })
    }

    /// A serving certificate for this machine's loopback.
    ///
    /// # Errors
    /// As [`Authority::new`].
    pub(crate) fn serving(&self) -> Result<Pair, rcgen::Error> {
        let mut serving = named("loopback", None);
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        serving.subject_alt_names = CertificateParams::new(names)?.subject_alt_names;
        serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(serving)
    }

    /// A client certificate of an administrator.
    ///
    /// # Errors
    /// As [`Authority::new`].
    pub(crate) fn administrator(&self) -> Result<Pair, rcgen::Error> {
        let mut client = named("windlass-conformance", Some("system:masters"));
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(client)
    }

    fn sign(&self, parameters: CertificateParams) -> Result<Pair, rcgen::Error> {
        let key = KeyPair::generate()?;
        Ok(Pair {
            certificate: parameters.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// A key pair for service account tokens: private, public.
///
/// # Errors
/// As [`Authority::new`].
pub(crate) fn signing_key() -> Result<[String; 2], rcgen::Error> {
    let key = KeyPair::generate()?;
    Ok([key.serialize_pem(), key.public_key_pem()])
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
