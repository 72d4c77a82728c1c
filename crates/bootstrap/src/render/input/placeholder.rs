//! Values in place of what only a cluster would know. Each is visible: it is reported, and a
//! setting gives the real one.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::cluster::Endpoint;
use windlass_source::diag::Setting;

/// A value that is used where the input has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placeholder {
    /// What it is, in the words of reports.
    pub name: &'static str,
    /// The value.
    pub value: String,
    /// The setting that gives the real one; `None` when a further file does.
    pub setting: Option<Setting>,
}

impl Placeholder {
    /// Where it comes in a list: what decides most comes first.
    pub fn rank(&self) -> usize {
        const ORDER: [Setting; 6] = [
            Setting::Role,
            Setting::KubernetesVersion,
            Setting::ClusterName,
            Setting::Endpoint,
            Setting::Token,
            Setting::CaCertHash,
        ];
        ORDER
            .iter()
            .position(|setting| Some(*setting) == self.setting)
            .unwrap_or(ORDER.len())
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "placeholder: {} {}",
            self.name,
            shortened(&self.value)
        )
    }
}

/// A long value with its middle left out; words stay.
fn shortened(value: &str) -> String {
    const LONGEST: usize = 40;
    if value.len() <= LONGEST || !value.is_ascii() || value.contains(' ') {
        return value.to_owned();
    }
    format!("{}…{}", &value[..11], &value[value.len() - 4..])
}

pub(crate) fn cluster_name() -> Placeholder {
    Placeholder {
        name: "cluster name",
        value: "example".to_owned(),
        setting: Some(Setting::ClusterName),
    }
}

/// The endpoint of the API server: a name that never resolves (RFC 6761).
pub(crate) fn endpoint() -> (Endpoint, Placeholder) {
    let endpoint = Endpoint {
        host: "example.invalid".to_owned(),
        port: 6443,
    };
    let placeholder = Placeholder {
        name: "endpoint",
        value: endpoint.to_string(),
        setting: Some(Setting::Endpoint),
    };
    (endpoint, placeholder)
}

/// The Kubernetes version: the newest that the newest profile was run with.
pub(crate) fn kubernetes_version() -> Placeholder {
    Placeholder {
        name: "kubernetes version",
        value: "v1.36.0".to_owned(),
        setting: Some(Setting::KubernetesVersion),
    }
}

/// The token that the provider would make: of the form that kubeadm demands, known to everybody.
pub(crate) fn token() -> Placeholder {
    Placeholder {
        name: "token",
        value: "abcdef.0123456789abcdef".to_owned(),
        setting: Some(Setting::Token),
    }
}

/// The hash of the key of the CA.
pub(crate) fn ca_cert_hash() -> Placeholder {
    Placeholder {
        name: "ca cert hash",
        value: format!("sha256:{:064}", 0),
        setting: Some(Setting::CaCertHash),
    }
}

pub(crate) fn certificates() -> Placeholder {
    Placeholder {
        name: "certificates",
        value: "dummies of real length".to_owned(),
        setting: Some(Setting::CertsDir),
    }
}

/// The content that a key of a Secret or ConfigMap gives.
pub(crate) fn content(kind: &'static str, namespace: &str, name: &str, key: &str) -> Placeholder {
    Placeholder {
        name: kind,
        value: format!("{namespace}/{name} key {key}"),
        setting: None,
    }
}

/// Variables of a template without a value, which nothing that is rendered needs.
pub(crate) fn variables(names: &str) -> Placeholder {
    Placeholder {
        name: "variables that nothing here needs:",
        value: names.to_owned(),
        setting: Some(Setting::Var),
    }
}

/// A role that nothing in the input says.
pub(crate) fn role(role: super::role::Role) -> Placeholder {
    Placeholder {
        name: "role",
        value: role.to_string(),
        setting: Some(Setting::Role),
    }
}

/// What the lines of dummies are made of.
const DUMMY: &str = "STAND+IN/NO+KEY/";

/// Data in which the dummies of PEM blocks are letters without a pattern, always the same: it
/// compresses as it would with real keys.
pub fn without_pattern(data: &[u8]) -> Vec<u8> {
    // As they stand, and as data URLs escape them.
    let finders = [
        DUMMY.to_owned(),
        DUMMY.replace('+', "%2B").replace('/', "%2F"),
    ];
    finders.iter().fold(data.to_vec(), |data, dummy| {
        let mut out = Vec::with_capacity(data.len());
        let mut rest = 0;
        for (count, at) in memchr::memmem::find_iter(&data, dummy.as_bytes()).enumerate() {
            out.extend_from_slice(&data[rest..at]);
            let random = Sha256::digest(count.to_be_bytes());
            out.extend_from_slice(&STANDARD.encode(random).as_bytes()[..DUMMY.len()]);
            rest = at + dummy.len();
        }
        out.extend_from_slice(&data[rest..]);
        out
    })
}

/// The characters that Cluster API draws for the names of what a topology makes.
pub fn drawn(characters: &str) -> Placeholder {
    Placeholder {
        name: "end of names",
        value: characters.to_owned(),
        setting: None,
    }
}

/// A PEM block that looks like one and is none: `bytes` long, each line says so.
pub(crate) fn pem(label: &str, bytes: usize) -> String {
    let line = DUMMY.repeat(4);
    let (begin, end) = (
        format!("-----BEGIN {label}-----\n"),
        format!("-----END {label}-----\n"),
    );
    let mut text = begin;
    while text.len() + end.len() < bytes {
        let room = bytes - text.len() - end.len();
        text.push_str(&line[..line.len().min(room.saturating_sub(1).max(1))]);
        text.push('\n');
    }
    text + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_shortened_in_the_middle() {
        assert_eq!(
            ca_cert_hash().to_string(),
            "placeholder: ca cert hash sha256:0000…0000"
        );
        assert_eq!(
            endpoint().1.to_string(),
            "placeholder: endpoint example.invalid:6443"
        );
    }

    /// Base64 has six bits a letter: what is without a pattern keeps three quarters of its size.
    #[test]
    fn dummies_without_a_pattern_compress_as_keys_do() {
        let text = pem("PRIVATE KEY", 1704);
        let gzip = |bytes: &[u8]| windlass_source::gzip::compress(bytes).len();
        let real = without_pattern(text.as_bytes());
        assert_eq!(real.len(), text.len());
        assert!(
            gzip(text.as_bytes()) < 200 && gzip(&real) > text.len() * 70 / 100,
            "{}",
            gzip(&real)
        );
        assert_eq!(without_pattern(b"no dummy"), b"no dummy");
    }

    #[test]
    fn dummies_have_the_length_of_the_real_thing() {
        let text = pem("CERTIFICATE", 1099);
        assert!((1098..=1100).contains(&text.len()), "{}", text.len());
        assert!(text.lines().all(|line| line.len() <= 64));
    }
}
