//! What is new in every machine and says nothing of a change: tokens, hashes of the CA's key, the
//! cluster's certificates.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::parts::{Kind, Part};

const TOKEN: &str = "<token>";
const HASH: &str = "sha256:<hash of the CA's key>";
const CERTIFICATE: &str = "<certificate>";

/// What is not compared, for people.
pub(crate) const SAID: &str =
    "bootstrap tokens, hashes of the CA's key and the cluster's certificates are not compared";

/// The certificates and keys of a cluster, below its folder for certificates (Cluster API,
/// `util/secret`).
const CERTIFICATES: [&str; 10] = [
    "/ca.crt",
    "/ca.key",
    "/etcd/ca.crt",
    "/etcd/ca.key",
    "/front-proxy-ca.crt",
    "/front-proxy-ca.key",
    "/sa.pub",
    "/sa.key",
    "/apiserver-etcd-client.crt",
    "/apiserver-etcd-client.key",
];

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("internal error: the pattern is one of ours")
}

/// A bootstrap token (kubeadm: `BootstrapTokenPattern`).
static TOKENS: LazyLock<Regex> = LazyLock::new(|| compiled(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"));
static HASHES: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?m)^([ \t]*- )sha256:[0-9a-f]+[ \t]*$"));
static CERTIFICATE_DATA: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?m)^([ \t]*(?:certificate-authority-data|client-certificate-data|client-key-data): ).*$",
    )
});

/// The folder in which a machine has the certificates of its cluster: where the key for service
/// accounts is, or else kubeadm's own.
pub(crate) fn certificates_folder(parts: &[Part]) -> &str {
    let of_key = parts
        .iter()
        .filter(|part| part.kind == Kind::File)
        .find_map(|part| part.name.strip_suffix("/sa.key"));
    of_key.unwrap_or("/etc/kubernetes/pki")
}

/// The part with that made the same; `folder` has the cluster's certificates. Whether something of
/// it was.
pub(crate) fn made_same(part: &mut Part, folder: &str) -> bool {
    let below = part
        .name
        .strip_prefix(folder)
        .filter(|_| part.kind == Kind::File);
    if below.is_some_and(|below| CERTIFICATES.contains(&below)) {
        part.text = format!("{CERTIFICATE}\n");
        return true;
    }
    let is_kubeadm = part.text.contains("kubeadm.k8s.io/");
    let is_kubeconfig = part.text.contains("certificate-authority-data: ");
    if !is_kubeadm && !is_kubeconfig {
        return false;
    }
    let tokens = TOKENS.replace_all(&part.text, TOKEN);
    let hashes = HASHES.replace_all(&tokens, |found: &Captures<'_>| {
        format!("{}{HASH}", &found[1])
    });
    let same = CERTIFICATE_DATA
        .replace_all(&hashes, |found: &Captures<'_>| {
            format!("{}{CERTIFICATE}", &found[1])
        })
        .into_owned();
    let is_changed = same != part.text;
    part.text = same;
    is_changed
}

/// A text without the bootstrap tokens in it, for people.
pub(crate) fn without_tokens(text: &str) -> Cow<'_, str> {
    TOKENS.replace_all(text, TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(name: &str, text: &str) -> String {
        let mut part = Part {
            kind: Kind::File,
            name: name.to_owned(),
            text: text.to_owned(),
            attributes: Vec::new(),
        };
        made_same(&mut part, "/etc/kubernetes/pki");
        part.text
    }

    #[test]
    fn what_is_new_in_every_machine_is_the_same() {
        let join = "apiVersion: kubeadm.k8s.io/v1beta4\ndiscovery:\n  caCertHashes:\n  - sha256:ab12\n  token: abcdef.0123456789abcdef\n";
        assert_eq!(
            same("/run/kubeadm/kubeadm-join-config.yaml", join),
            "apiVersion: kubeadm.k8s.io/v1beta4\ndiscovery:\n  caCertHashes:\n  - sha256:<hash of the CA's key>\n  token: <token>\n"
        );
        assert_eq!(
            same("/etc/kubernetes/pki/etcd/ca.key", "a"),
            "<certificate>\n"
        );
    }

    /// The digest of an image and a hash in a file of the user are what a change is about.
    #[test]
    fn what_the_user_wrote_stays() {
        for text in [
            "image: a@sha256:ab12\n",
            "- sha256:ab12\n",
            "token: abcdef.0123456789abcdef\n",
        ] {
            assert_eq!(same("/etc/a", text), text);
        }
        let registry = "-----BEGIN CERTIFICATE-----\n";
        assert_eq!(
            same("/etc/docker/certs.d/registry/ca.crt", registry),
            registry
        );
    }
}
