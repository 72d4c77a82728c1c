//! The pages of the Cluster API book on which rules stand.

/// clusterctl provider contract: metadata.yaml.
pub const METADATA_YAML: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#metadata-yaml";
/// clusterctl provider contract: the components file.
pub const COMPONENTS_YAML: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#components-yaml";
/// clusterctl provider contract: one Namespace, and everything in it.
pub const TARGET_NAMESPACE: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#target-namespace";
/// clusterctl provider contract: the manager's container and canonical images.
pub const CONTROLLERS: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#controllers--watching-namespace";
/// clusterctl provider contract: variables.
pub const VARIABLES: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#variables";
/// clusterctl provider contract: the provider label.
pub const LABELS: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#labels";
/// clusterctl provider contract: cluster templates.
pub const TEMPLATES: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#workload-cluster-templates";
/// clusterctl provider contract: ClusterClass files.
pub const CLUSTER_CLASSES: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#clusterclass-definitions";
/// Provider contracts: the labels by which a CRD says which of its versions fulfil a contract.
pub const CONTRACT_LABELS: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview#api-version-labels";
/// The name of a CRD that Cluster API computes.
pub const CRD_NAME: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/bootstrap-config";
