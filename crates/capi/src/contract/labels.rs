//! Labels and annotations that the contract, clusterctl and the core controllers read or write
//! (book: "Labels and annotations").

/// Prefix of the labels by which a CRD says which of its versions fulfil a contract:
/// `cluster.x-k8s.io/v1beta2: v1beta1_v1beta2`.
pub const CONTRACT_PREFIX: &str = "cluster.x-k8s.io/";

/// Which provider a component belongs to, such as `bootstrap-windlass` (book: clusterctl,
/// "Labels").
pub const PROVIDER: &str = "cluster.x-k8s.io/provider";

/// Set by clusterctl on everything that it installs.
pub const CLUSTERCTL: &str = "clusterctl.cluster.x-k8s.io";

/// The Cluster that an object belongs to.
pub const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// A Machine with this label, whatever its value, belongs to the control plane.
pub const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";

/// A ClusterRole with this label and the value `true` becomes part of the core manager's role
/// (book: "All resources: API group").
pub const AGGREGATE_TO_MANAGER: &str = "cluster.x-k8s.io/aggregate-to-manager";

/// A ClusterRole with this label and the value `true` becomes part of the role of the kubeadm
/// control plane provider, which clones machine templates of infrastructure providers (its
/// components: `aggregationRule`).
pub const AGGREGATE_TO_KUBEADM_CONTROL_PLANE: &str =
    "kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager";

/// Annotation that stops reconciliation of one object.
pub const PAUSED: &str = "cluster.x-k8s.io/paused";

/// Annotation that names preflight checks of MachineSets which are left out, with commas between.
pub const SKIP_PREFLIGHT_CHECKS: &str = "machineset.cluster.x-k8s.io/skip-preflight-checks";

/// With `--watch-filter VALUE` a manager handles only objects whose label of this name has that
/// value.
pub const WATCH_FILTER: &str = "cluster.x-k8s.io/watch-filter";

/// Annotation of a CRD that core objects do not refer to: clusterctl then does not check its name.
pub const SKIP_CRD_NAME_CHECK: &str = "clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check";

/// Annotation by which cert-manager learns whose CA to inject, as `namespace/certificate`.
pub const INJECT_CA_FROM: &str = "cert-manager.io/inject-ca-from";

/// Label that kubebuilder projects put on the manager, its pods and the Namespace.
pub const KUBEBUILDER_CONTROL_PLANE: &str = "control-plane";

/// Separator of the versions in the value of a contract label.
pub const CONTRACT_VERSIONS_SEPARATOR: char = '_';

/// Whether Cluster API copies a label of a Machine to its Node (book: "Metadata propagation",
/// "Machine"). The manager's flag for further ones (`additional-sync-machine-labels`) is not known
/// here.
pub fn is_synced_to_nodes(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_below = |parent: &str| {
        domain == parent
            || domain
                .strip_suffix(parent)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    domain == "node-role.kubernetes.io"
        || is_below("node-restriction.kubernetes.io")
        || is_below("node.cluster.x-k8s.io")
}
