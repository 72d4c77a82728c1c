//! What windlass-manager asks of the management cluster, and hence what its roles allow: one table,
//! from which the release is made, and against which the manager's tests hold every request
//! (checklist OP-12).
//!
//! Discovery is free for whoever is known. In workload clusters the manager is whoever their
//! kubeconfig says.

use super::CORE_GROUP;

const GROUP: &str = "bootstrap.windlass.dev";

const KUBEADM_GROUP: &str = "bootstrap.cluster.x-k8s.io";

/// Verbs on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Right {
    /// The API group; empty for Kubernetes' own core group.
    pub group: &'static str,
    /// The plural resource name; of a subresource with its name behind a slash.
    pub resource: &'static str,
    /// What may be done with it.
    pub verbs: &'static [&'static str],
}

const fn right(
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
) -> Right {
    Right {
        group,
        resource,
        verbs,
    }
}

/// Rights on the kinds that are watched, and read where a watch has not brought them yet.
const READ: &[&str] = &["get", "list", "watch"];

/// Rights in all namespaces; with `--namespace` those of its namespaces are enough.
pub const RIGHTS: &[Right] = &[
    // The init lock: taken, and given back by deleting it. Contents of files are read.
    right("", "configmaps", &["create", "delete", "get"]),
    // Data and certificates are made; data is adopted (patch), and made again where it is not this
    // config's (update). Nothing lists Secrets.
    right("", "secrets", &["create", "get", "patch", "update"]),
    // An event that comes again is counted in the first one.
    right("events.k8s.io", "events", &["create", "patch"]),
    // Who reads metrics.
    right("authentication.k8s.io", "tokenreviews", &["create"]),
    right("authorization.k8s.io", "subjectaccessreviews", &["create"]),
    // The token is written into the spec.
    right(GROUP, "windlassconfigs", &["list", "patch", "watch"]),
    right(GROUP, "windlassconfigs/status", &["patch"]),
    right(CORE_GROUP, "clusters", READ),
    right(CORE_GROUP, "machinepools", READ),
    right(CORE_GROUP, "machines", READ),
    // The version of the control plane: for files that are templates, and for kubeadm, which joins
    // its own minor version only.
    right(
        "controlplane.cluster.x-k8s.io",
        "kubeadmcontrolplanes",
        &["get"],
    ),
];

/// Rights in the manager's own namespace.
pub const RIGHTS_AT_HOME: &[Right] = &[
    // Who leads.
    right(
        "coordination.k8s.io",
        "leases",
        &["create", "get", "update"],
    ),
];

/// Rights in all namespaces, for `--kinds=KubeadmConfig` besides
/// (`examples/kubeadm-configs/rbac.yaml`).
pub const RIGHTS_ON_KUBEADM_CONFIGS: &[Right] = &[
    right(KUBEADM_GROUP, "kubeadmconfigs", &["list", "patch", "watch"]),
    right(KUBEADM_GROUP, "kubeadmconfigs/status", &["patch"]),
    // The one of KubeadmConfig says where the provider is.
    right(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        &["get"],
    ),
];

/// Rights in the namespace of the kubeadm bootstrap provider, for the same.
pub const RIGHTS_AT_KUBEADM: &[Right] = &[
    // Of it and us, who works.
    right(
        "coordination.k8s.io",
        "leases",
        &["create", "get", "update"],
    ),
];
