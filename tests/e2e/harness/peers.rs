//! Where the real programs are. They are built by `tests/peers/build`; a missing one fails the
//! suite, it never skips.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::browser;
use crate::selection;

/// Each peer that scenarios use: folder of `tests/peers`, which is also the folder in the cache,
/// and its programs.
const NEEDED: &[(&str, &[&str])] = &[
    (
        "bootstrap-data-v1.10.10",
        &["bootstrap-data", "kubeadmconfigs.yaml"],
    ),
    (
        "bootstrap-data-v1.11.7",
        &["bootstrap-data", "kubeadmconfigs.yaml"],
    ),
    (
        "bootstrap-data-v1.12.10",
        &["bootstrap-data", "kubeadmconfigs.yaml"],
    ),
    (
        "bootstrap-data-v1.13.6",
        &["bootstrap-data", "kubeadmconfigs.yaml"],
    ),
    (
        "bootstrap-data-v1.14.2",
        &["bootstrap-data", "kubeadmconfigs.yaml"],
    ),
    ("cluster-api-docker-v1.12.0", &["docker"]),
    ("cluster-api-operator-v0.28.0", &["capioperator"]),
    ("cluster-api-v1.10.10", &["core"]),
    (
        "cluster-api-v1.12.0",
        &["core", "kubeadm-bootstrap", "kubeadm-control-plane"],
    ),
    (
        "cluster-api-v1.14.0",
        &["core", "kubeadm-bootstrap", "kubeadm-control-plane"],
    ),
    ("clusterctl-v1.12.0", &["clusterctl"]),
    ("clusterctl-v1.14.2", &["clusterctl"]),
    ("cosign-v3.1.3", &["cosign"]),
    ("etcd-v3.6.5", &["etcd"]),
    ("ignition-v2.20.0", &["ignition-validate"]),
    (
        "kubernetes-v1.34.4",
        &[
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kubectl",
        ],
    ),
    ("kustomize-v5.8.1", &["kustomize"]),
    ("kwok-v0.7.0", &["kwok"]),
    ("object-admission-v1.12.10", &["object-admission"]),
    ("object-admission-v1.14.2", &["object-admission"]),
    ("operator-phases-v0.28.0", &["operator-phases"]),
    ("registry-v0.22.1", &["registry"]),
];

pub(crate) const CLUSTERCTL: &str = "clusterctl-v1.12.0/clusterctl";
pub(crate) const COSIGN: &str = "cosign-v3.1.3/cosign";
pub(crate) const ETCD: &str = "etcd-v3.6.5/etcd";
pub(crate) const KUBE_APISERVER: &str = "kubernetes-v1.34.4/kube-apiserver";
pub(crate) const KUBE_CONTROLLER_MANAGER: &str = "kubernetes-v1.34.4/kube-controller-manager";
pub(crate) const KUBE_SCHEDULER: &str = "kubernetes-v1.34.4/kube-scheduler";
pub(crate) const KUBECTL: &str = "kubernetes-v1.34.4/kubectl";
pub(crate) const KUSTOMIZE: &str = "kustomize-v5.8.1/kustomize";
pub(crate) const KWOK: &str = "kwok-v0.7.0/kwok";
pub(crate) const REGISTRY: &str = "registry-v0.22.1/registry";

/// The cache that `tests/peers/build` fills: `WINDLASS_PEERS`, else `windlass-peers` in the user's
/// cache folder.
fn cache() -> PathBuf {
    if let Some(folder) = std::env::var_os("WINDLASS_PEERS") {
        return PathBuf::from(folder);
    }
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base =
        base.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    base.expect("one of WINDLASS_PEERS, XDG_CACHE_HOME, HOME is set")
        .join("windlass-peers")
}

thread_local! {
    /// The group whose scenario this thread runs.
    static GROUP: Cell<Option<&'static selection::Group>> = const { Cell::new(None) };
}

/// From now on this thread runs a scenario of the group, which may use the group's peers alone.
pub(crate) fn enter(group: &'static selection::Group) {
    GROUP.set(Some(group));
}

/// The program `PEER-VERSION/NAME`, of a peer that the scenario's group declares: undeclared ones
/// would not be built where few scenarios are selected.
pub(crate) fn program(name: &str) -> PathBuf {
    if let Some(group) = GROUP.get() {
        let peer = name.split('/').next().unwrap_or_default();
        assert!(
            selection::peers(group).any(|declared| declared == peer),
            "the group {} of tests/e2e/selection/groups.in does not declare the peer {peer}",
            group.module
        );
    }
    cache().join(name)
}

/// Every program of these peers and packages that is missing, with the remedy; `None` when all are
/// there.
pub(crate) fn missing(peers: &BTreeSet<&str>, packages: &BTreeSet<&str>) -> Option<String> {
    let is_known = |peer: &&str| NEEDED.iter().any(|(known, _)| known == peer);
    assert!(
        peers.iter().all(is_known),
        "NEEDED has a row for each of {peers:?}"
    );
    let absent: Vec<String> = NEEDED
        .iter()
        .filter(|(peer, _)| peers.contains(peer))
        .flat_map(|(peer, programs)| {
            programs
                .iter()
                .map(move |program| format!("{peer}/{program}"))
        })
        .filter(|name| !cache().join(name).is_file())
        .collect();
    let built = (!absent.is_empty()).then(|| {
        format!(
            "not in {}: {}\nThe suite runs the real programs; build them with: tests/peers/build",
            cache().display(),
            absent.join(", ")
        )
    });
    let absent: Vec<&str> = browser::PROGRAMS
        .into_iter()
        .filter(|name| packages.contains("chromium") && browser::on_path(name).is_none())
        .collect();
    let installed = (!absent.is_empty()).then(|| {
        format!(
            "not on the PATH: {}\nDebian has them as: apt-get install chromium chromium-driver",
            absent.join(", ")
        )
    });
    built
        .into_iter()
        .chain(installed)
        .reduce(|one, other| format!("{one}\n{other}"))
}
