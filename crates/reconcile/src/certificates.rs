//! The certificates of a cluster whose control plane no other writer makes them for: looked up, and
//! generated where they are missing (book: "Cluster API certificates";
//! `util/secret/certificates.go` of Cluster API).

use serde_json::{Value, json};

use super::outcome::{Observed, Outcome};
use super::pass::{Pass, Stop, Walk};
use super::step::{Action, KeyRequest};
use super::subject::cluster_reference;
use super::world::Key;
use windlass_bootstrap::render::plan::certificate::{self, Certificate, Purpose};
use windlass_capi::api::node::EncryptionAlgorithm;
use windlass_capi::api::time::Timestamp;
use windlass_capi::api::v1beta2::ClusterConfiguration;
use windlass_capi::contract::{SECRET_TYPE, labels};
use windlass_objects::Object;

/// How long a CA lives that does not say so, in days (`util/certs` of Cluster API).
const DEFAULT_VALIDITY_DAYS: i64 = 3650;
const DAY: i64 = 24 * 60 * 60;
/// How far back a certificate begins, in seconds: clocks differ.
const SKEW: i64 = 5 * 60;

impl Pass<'_> {
    /// Looks the certificates of a control plane up. Those that are missing are made, unless they
    /// are external or the control plane's own affair.
    pub(super) fn ensure_certificates(
        &self,
        cluster: &Object,
        config: Option<&ClusterConfiguration>,
        may_make: bool,
    ) -> Walk<()> {
        let wanted = certificate::of_control_plane(config);
        let key = |certificate: &Certificate| {
            Key::core("Secret", cluster.namespace(), &name(cluster, certificate))
        };
        self.look_at_all(wanted.iter().map(key))?;
        for certificate in &wanted {
            if self.look(&key(certificate))?.is_some() {
                continue;
            }
            if certificate.external {
                return Err(missing(
                    &key(certificate),
                    "the certificates of an external etcd are given by its operator",
                ));
            }
            if !may_make {
                return Err(missing(
                    &key(certificate),
                    "the creator of the control plane makes it",
                ));
            }
            let secret = secret(cluster, certificate);
            self.write::<()>(
                key(certificate),
                Action::CreateWithKeys(secret, request(certificate.purpose, config, self.now)),
            )?;
        }
        Ok(())
    }
}

/// Whoever makes it is not done.
fn missing(key: &Key, maker: &str) -> Stop {
    let message = format!("{key} is not there; {maker}");
    let outcome = Outcome {
        certificates: Some(Observed::certificates_failed(message.as_str())),
        ..Outcome::default()
    };
    Stop::End(Box::new(outcome.with_fault(message)))
}

fn name(cluster: &Object, certificate: &Certificate) -> String {
    format!("{}-{}", cluster.name(), certificate.purpose.as_str())
}

/// The Secret, without its data. It hangs on the Cluster: the config that needed it first may go
/// long before the cluster does.
fn secret(cluster: &Object, certificate: &Certificate) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": SECRET_TYPE,
        "metadata": {
            "name": name(cluster, certificate),
            "namespace": cluster.namespace(),
            "labels": {labels::CLUSTER_NAME: cluster.name()},
            "ownerReferences": [cluster_reference(cluster)],
        },
    })
}

fn request(purpose: Purpose, config: Option<&ClusterConfiguration>, now: Timestamp) -> KeyRequest {
    let days = config
        .and_then(|config| config.ca_certificate_validity_period_days)
        .map_or(DEFAULT_VALIDITY_DAYS, i64::from);
    let is_authority = purpose != Purpose::ServiceAccount;
    let validity = is_authority.then(|| (now.as_second() - SKEW, now.as_second() + days * DAY));
    let algorithm = config
        .and_then(|config| config.encryption_algorithm)
        .unwrap_or(EncryptionAlgorithm::Rsa2048);
    KeyRequest {
        algorithm,
        validity,
    }
}
