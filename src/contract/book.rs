//! The pages of the Cluster API book on which rules stand.

/// clusterctl provider contract: metadata.yaml.
pub(crate) const METADATA_YAML: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#metadata-yaml";
/// clusterctl provider contract: the components file.
pub(crate) const COMPONENTS_YAML: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#components-yaml";
/// clusterctl provider contract: one Namespace, and everything in it.
pub(crate) const TARGET_NAMESPACE: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#target-namespace";
/// clusterctl provider contract: the manager's container and canonical images.
pub(crate) const CONTROLLERS: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#controllers--watching-namespace";
/// clusterctl provider contract: variables.
pub(crate) const VARIABLES: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#variables";
/// clusterctl provider contract: the provider label.
pub(crate) const LABELS: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#labels";
/// clusterctl provider contract: cluster templates.
pub(crate) const TEMPLATES: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#workload-cluster-templates";
/// clusterctl provider contract: ClusterClass files.
pub(crate) const CLUSTER_CLASSES: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#clusterclass-definitions";
/// Provider contracts: the labels by which a CRD says which of its versions fulfil a contract.
pub(crate) const CONTRACT_LABELS: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview#api-version-labels";
/// The name of a CRD that Cluster API computes.
pub(crate) const CRD_NAME: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/bootstrap-config";
