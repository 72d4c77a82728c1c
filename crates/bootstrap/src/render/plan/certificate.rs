//! The certificates of a cluster: their Secrets, their files on the node, and when they must be
//! there.

use super::node_plan::PlannedFile;
use crate::render::input::cluster::ClusterFacts;
use crate::render::input::filling::{Filled, Filling};
use crate::render::input::outcome::Notes;
use crate::render::input::placeholder;
use crate::render::input::request::Request;
use crate::render::input::secret::Secret;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::{ClusterConfiguration, ExternalEtcd};
use windlass_go_text::path::join;
use windlass_objects::{Pool, Spot};
use windlass_source::diag::{Diagnostic, Remedy, Setting, rules};

rules! {
    /// a required certificate Secret does not exist
    pub MISSING = error("certificate-missing"), requeues();
}

/// The folder of certificates when `certificatesDir` is not set.
const DEFAULT_FOLDER: &str = "/etc/kubernetes/pki";

/// The keys of the Secret of a certificate (book: "Cluster API certificates").
const CERTIFICATE_KEY: &str = "tls.crt";
const PRIVATE_KEY: &str = "tls.key";

/// What a certificate is for; also the end of the name of its Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// The CA of the cluster (`ca.crt`).
    ClusterCa,
    /// The CA of etcd (`etcd/ca.crt`).
    EtcdCa,
    /// The CA of the aggregation layer.
    FrontProxyCa,
    /// The key pair that signs tokens of service accounts.
    ServiceAccount,
    /// The certificate of the API server towards an etcd outside of the cluster.
    ApiServerEtcdClient,
}

impl Purpose {
    /// The end of the name of the Secret.
    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::ClusterCa => "ca",
            Purpose::EtcdCa => "etcd",
            Purpose::FrontProxyCa => "proxy",
            Purpose::ServiceAccount => "sa",
            Purpose::ApiServerEtcdClient => "apiserver-etcd-client",
        }
    }

    /// The files of certificate and key, below the folder of certificates.
    fn file_names(self) -> [&'static str; 2] {
        match self {
            Purpose::ClusterCa => ["ca.crt", "ca.key"],
            Purpose::EtcdCa => ["etcd/ca.crt", "etcd/ca.key"],
            Purpose::FrontProxyCa => ["front-proxy-ca.crt", "front-proxy-ca.key"],
            Purpose::ServiceAccount => ["sa.pub", "sa.key"],
            Purpose::ApiServerEtcdClient => {
                ["apiserver-etcd-client.crt", "apiserver-etcd-client.key"]
            }
        }
    }
}

/// A certificate that a node needs, and the files on the node that hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The use of the certificate, which determines its Secret.
    pub purpose: Purpose,
    /// Paths of certificate and key on the node; the key of an external CA has none.
    paths: [String; 2],
    /// Whether the user must provide it.
    pub external: bool,
}

/// The key pair of a certificate, as far as it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPair {
    /// The certificate, PEM.
    pub(crate) certificate: Sensitive<Vec<u8>>,
    /// The private key, PEM; may be empty.
    pub(crate) key: Sensitive<Vec<u8>>,
    pub(crate) is_placeholder: bool,
}

/// Certificates with their key pairs and paths.
pub(crate) type Pairs = Vec<(Purpose, KeyPair, [String; 2])>;

/// The certificates of a control-plane node, in the order in which the provider looks them up.
pub fn of_control_plane(config: Option<&ClusterConfiguration>) -> Vec<Certificate> {
    let folder = config
        .and_then(|config| config.certificates_dir.as_deref())
        .filter(|folder| !folder.is_empty());
    let folder = folder.unwrap_or(DEFAULT_FOLDER);
    let inside = |purpose: Purpose| Certificate {
        purpose,
        paths: purpose.file_names().map(|name| join(&[folder, name])),
        external: false,
    };
    let mut certificates = vec![
        inside(Purpose::ClusterCa),
        inside(Purpose::ServiceAccount),
        inside(Purpose::FrontProxyCa),
    ];
    match config.and_then(|config| config.etcd.as_ref()?.external.as_ref()) {
        None => certificates.push(inside(Purpose::EtcdCa)),
        Some(ExternalEtcd {
            ca_file,
            cert_file,
            key_file,
            ..
        }) => {
            let outside = |purpose, paths: [&String; 2]| Certificate {
                purpose,
                paths: paths.map(Clone::clone),
                external: true,
            };
            certificates.push(outside(Purpose::ApiServerEtcdClient, [cert_file, key_file]));
            certificates.push(outside(Purpose::EtcdCa, [ca_file, &String::new()]));
        }
    }
    certificates
}

/// The only certificate that a worker needs, and does not get.
pub(crate) fn of_worker() -> Vec<Certificate> {
    vec![Certificate {
        purpose: Purpose::ClusterCa,
        paths: Default::default(),
        external: false,
    }]
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) request: &'a Request,
    pub(crate) namespace: &'a str,
    pub(crate) cluster: &'a ClusterFacts,
    /// Where findings about what is not there stand.
    pub(crate) spot: &'a Spot<'a>,
    /// Whether all of them must exist (on a join), or may be missing because the control plane
    /// makes them.
    pub(crate) all_must_exist: bool,
}

impl Lookup<'_> {
    /// The key pairs of the certificates; what is missing is reported or filled in.
    pub(crate) fn key_pairs(
        &self,
        certificates: &[Certificate],
        notes: &mut Notes,
    ) -> Option<Vec<(Purpose, KeyPair, [String; 2])>> {
        let mut found = Vec::new();
        let mut complete = true;
        for certificate in certificates {
            match self.key_pair(certificate, notes) {
                Ok(Some(pair)) => {
                    found.push((certificate.purpose, pair, certificate.paths.clone()))
                }
                Ok(None) => {}
                Err(mut finding) => {
                    if !complete {
                        // The provider stops at the first one.
                        finding.upstream = None;
                    }
                    notes.report.push(*finding);
                    complete = false;
                }
            }
        }
        complete.then_some(found)
    }

    fn key_pair(
        &self,
        certificate: &Certificate,
        notes: &mut Notes,
    ) -> Result<Option<KeyPair>, Box<Diagnostic>> {
        let purpose = certificate.purpose;
        let name = secret_name(&self.cluster.name, purpose);
        if let Some(pair) = given(self.request, purpose) {
            return Ok(Some(pair));
        }
        let Some(secret) = Secret::find(self.pool, self.namespace, &name) else {
            return self.missing(certificate, &name, notes);
        };
        let Some(crt) = secret.get(CERTIFICATE_KEY)? else {
            let upstream = format!(
                "failed to read keypair from certificate {}/{name}: missing data for key {CERTIFICATE_KEY}",
                self.namespace
            );
            return Err(Box::new(
                self.finding(&name, "has no `tls.crt`", upstream)
                    .at(secret.object().place(&data_path())),
            ));
        };
        let key = secret.get(PRIVATE_KEY)?.unwrap_or_default();
        let incomplete = |what: &str, upstream: &str| {
            let upstream = format!("for certificate: {}: {upstream}", purpose.as_str());
            Err(Box::new(
                self.finding(&name, what, upstream)
                    .at(secret.object().place(&data_path())),
            ))
        };
        match (
            self.all_must_exist,
            crt.expose().is_empty(),
            key.expose().is_empty() && !certificate.external,
        ) {
            (true, true, _) => incomplete("has an empty `tls.crt`", "missing crt data"),
            (true, _, true) => incomplete("has no `tls.key`", "missing key data"),
            _ => {
                notes.secrets.insert(secret.object().title());
                Ok(Some(KeyPair {
                    certificate: crt,
                    key,
                    is_placeholder: false,
                }))
            }
        }
    }

    fn missing(
        &self,
        certificate: &Certificate,
        name: &str,
        notes: &mut Notes,
    ) -> Result<Option<KeyPair>, Box<Diagnostic>> {
        if self.request.placeholders {
            notes.placeholder(placeholder::certificates());
            return Ok(Some(certificate.dummy()));
        }
        let upstream = match certificate.external {
            true => format!(
                "external certificate not found: failed to get certificate : secrets \"{name}\" not found"
            ),
            false if self.all_must_exist => "missing certificate".to_owned(),
            false if self.cluster.control_plane.is_some() => return Ok(None),
            false => {
                let message = format!(
                    "Secret {name} is not there, so the provider would make a new one, which cannot be foreseen"
                );
                let finding = Diagnostic::of(&MISSING, message).at(self.spot.place());
                return Err(Box::new(
                    finding.help(
                        Remedy::new("add the Secret, or give the certificates with ")
                            .set(Setting::CertsDir, "DIR"),
                    ),
                ));
            }
        };
        Err(Box::new(self.finding(name, "is not there", upstream)))
    }

    fn finding(&self, name: &str, what: &str, upstream: String) -> Diagnostic {
        let message = format!("Secret {name} {what}, and the provider waits for it");
        let help = Remedy::new(format!(
            "add the Secret {}/{name}, or give the certificates with ",
            self.namespace
        ));
        let help = help.set(Setting::CertsDir, "DIR");
        Diagnostic::of(&MISSING, message)
            .at(self.spot.place())
            .help(help)
            .upstream(upstream)
    }
}

/// The key pair that the user gave beside the documents.
fn given(request: &Request, purpose: Purpose) -> Option<KeyPair> {
    let [certificate, key] = purpose
        .file_names()
        .map(|name| request.certificates.get(name).cloned());
    Some(KeyPair {
        certificate: certificate?,
        key: key.unwrap_or_default(),
        is_placeholder: false,
    })
}

/// The name of the Secret of a certificate.
pub(crate) fn secret_name(cluster: &str, purpose: Purpose) -> String {
    format!("{cluster}-{}", purpose.as_str())
}

/// From where the files of the key pairs are.
pub(crate) fn filled<'p>(
    pairs: &'p Pairs,
    request: &'p Request,
    cluster: &'p str,
) -> impl Iterator<Item = Filled> + 'p {
    pairs.iter().flat_map(move |(purpose, pair, paths)| {
        let from = match given(request, *purpose) {
            Some(_) => Filling::Setting(Setting::CertsDir),
            None => Filling::Secret {
                name: secret_name(cluster, *purpose),
                is_placeholder: pair.is_placeholder,
            },
        };
        paths
            .iter()
            .map(move |path| Filled::file(path.as_str(), from.clone()))
    })
}

fn data_path() -> windlass_source::diag::FieldPath {
    windlass_source::diag::FieldPath::root().field("data")
}

/// The files of the key pairs, in the order in which they are written.
pub(crate) fn files(mut pairs: Vec<(Purpose, KeyPair, [String; 2])>) -> Vec<PlannedFile> {
    pairs.sort_by_key(|(purpose, ..)| *purpose);
    let file = |path: String, permissions: &str, content: Sensitive<Vec<u8>>| {
        let (owner, permissions) = ("root:root".to_owned(), permissions.to_owned());
        (!content.expose().is_empty()).then(|| PlannedFile {
            path,
            owner,
            permissions,
            content,
            ..PlannedFile::default()
        })
    };
    let of_pair = |(_, pair, [certificate, key]): (_, KeyPair, [String; 2])| {
        [
            file(certificate, "0640", pair.certificate),
            file(key, "0600", pair.key),
        ]
    };
    pairs.into_iter().flat_map(of_pair).flatten().collect()
}

impl Certificate {
    /// A dummy in place of a key pair: without a key if no file is for one, as users provide the
    /// authority of an external etcd (`KeyFile` in Cluster API's `util/secret/certificates.go`).
    fn dummy(&self) -> KeyPair {
        let mut pair = dummy(self.purpose);
        if self.external && self.paths[1].is_empty() {
            pair.key = Sensitive::new(Vec::new());
        }
        pair
    }
}

/// A dummy in place of a key pair.
fn dummy(purpose: Purpose) -> KeyPair {
    let label = if purpose == Purpose::ServiceAccount {
        "PUBLIC KEY"
    } else {
        "CERTIFICATE"
    };
    let length = if purpose == Purpose::ServiceAccount {
        451
    } else {
        1099
    };
    let text = |label, length| Sensitive::new(placeholder::pem(label, length).into_bytes());
    KeyPair {
        certificate: text(label, length),
        key: text("RSA PRIVATE KEY", 1679),
        is_placeholder: true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `AsFiles` writes a key to `KeyFile`, which the authority of an external etcd does not have.
    #[test]
    fn placeholder_of_an_external_authority_has_no_key() {
        let external = json!({
            "endpoints": ["https://10.0.0.1:2379"],
            "caFile": "/ca.crt", "certFile": "/client.crt", "keyFile": "/client.key",
        });
        let config = serde_json::from_value(json!({"etcd": {"external": external}})).unwrap();
        let pairs = of_control_plane(Some(&config))
            .into_iter()
            .map(|certificate| {
                let pair = certificate.dummy();
                (certificate.purpose, pair, certificate.paths)
            });
        let paths: Vec<String> = files(pairs.collect())
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert!(paths.iter().all(|path| path.starts_with('/')), "{paths:?}");
        assert!(paths.contains(&"/client.key".to_owned()), "{paths:?}");
    }
}
