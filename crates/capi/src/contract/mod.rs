//! What the Cluster API contract fixes: versions, names, labels, files. Facts with their place in
//! the book, no decisions.
//!
//! "Book" is the Cluster API book; its contract pages are below `developer/providers/contracts/`.

mod api_version;
pub mod book;
mod demands;
pub mod endings;
mod image;
pub mod labels;
pub mod manager;
mod metadata;
pub mod operator;
mod plural;
mod plural_words;
mod provider_type;
pub mod rights;
mod roles;
pub mod rollout;
mod version;
mod version_number;

pub use api_version::ApiVersion;
pub use demands::{Demand, Need, Reading, demands};
pub use image::{Image, ImageFault, without_tag};
pub use metadata::{METADATA_API_VERSION, METADATA_FILE, METADATA_KIND, Metadata, ReleaseSeries};
pub use plural::crd_name;
pub use provider_type::{CORE_PROVIDER, ProviderType};
pub use roles::{KindFacts, Role, Roles, STANDARD_ROLES};
pub use version::ContractVersion;
pub use version_number::{VersionFault, parse_semantic, parse_tolerant};

/// Files of a release that hold a cluster template begin so: `cluster-template.yaml`,
/// `cluster-template-{flavor}.yaml` (book: clusterctl, "Workload cluster templates").
pub const CLUSTER_TEMPLATE_PREFIX: &str = "cluster-template";

/// Files of a release that hold a ClusterClass: `clusterclass-{name}.yaml` (book: clusterctl,
/// "ClusterClass definitions").
pub const CLUSTER_CLASS_PREFIX: &str = "clusterclass-";

/// The container that runs the controllers; `clusterctl init --wait-providers` looks at no other
/// (book: clusterctl, "Controllers").
pub const MANAGER_CONTAINER: &str = "manager";

/// The API group of Cluster, Machine and MachinePool.
pub const CORE_GROUP: &str = "cluster.x-k8s.io";

/// The type of the Secrets that Cluster API's providers write (book: "Bootstrap provider contract:
/// bootstrap data Secret").
pub const SECRET_TYPE: &str = "cluster.x-k8s.io/secret";

/// API groups that the core manager may use without an aggregated role (book: "All resources: API
/// group").
pub const SPONSORED_GROUPS: &[&str] = &[
    "bootstrap.cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
    "infrastructure.cluster.x-k8s.io",
];

/// The verbs that the core manager needs on the kinds of a provider (book: "All resources: API
/// group").
pub const AGGREGATED_VERBS: &[&str] = &[
    "create", "delete", "get", "list", "patch", "update", "watch",
];

/// The variables that `clusterctl generate cluster` sets itself, so that no default of a template
/// applies.
pub const SET_BY_GENERATE_CLUSTER: [&str; 4] = [
    "CLUSTER_NAME",
    "CONTROL_PLANE_MACHINE_COUNT",
    "NAMESPACE",
    "WORKER_MACHINE_COUNT",
];

/// The flavor of a cluster template by its file name: `""` for the default one; `None` when it is
/// no cluster template.
pub fn template_flavor(file: &str) -> Option<&str> {
    let stem = file
        .strip_suffix(".yaml")?
        .strip_prefix(CLUSTER_TEMPLATE_PREFIX)?;
    if stem.is_empty() {
        Some("")
    } else {
        stem.strip_prefix('-').filter(|flavor| !flavor.is_empty())
    }
}

/// The name of a ClusterClass by its file name; `None` when it is no such file.
pub fn cluster_class_name(file: &str) -> Option<&str> {
    file.strip_suffix(".yaml")?
        .strip_prefix(CLUSTER_CLASS_PREFIX)
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_files_tell_their_flavor() {
        assert_eq!(template_flavor("cluster-template.yaml"), Some(""));
        assert_eq!(
            template_flavor("cluster-template-machinepool.yaml"),
            Some("machinepool")
        );
        assert_eq!(template_flavor("cluster-template-.yaml"), None);
        assert_eq!(template_flavor("cluster-templates.yaml"), None);
        assert_eq!(
            cluster_class_name("clusterclass-windlass.yaml"),
            Some("windlass")
        );
        assert_eq!(cluster_class_name("clusterclass-.yaml"), None);
    }
}
