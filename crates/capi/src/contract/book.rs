//! The pages of the Cluster API book on which rules stand.

/// clusterctl provider contract: metadata.yaml.
pub const METADATA_YAML: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#metadata-yaml";
/// clusterctl provider contract: the components file.
pub const COMPONENTS_YAML: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#components-yaml";
/// clusterctl provider contract: one Namespace, and everything in it.
pub const TARGET_NAMESPACE: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#target-namespace";
/// clusterctl provider contract: the manager's container and canonical images.
pub const CONTROLLERS: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#controllers--watching-namespace";
/// clusterctl provider contract: variables.
pub const VARIABLES: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#variables";
/// clusterctl provider contract: the provider label.
pub const LABELS: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#labels";
/// clusterctl provider contract: cluster templates.
pub const TEMPLATES: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#workload-cluster-templates";
/// clusterctl provider contract: ClusterClass files.
pub const CLUSTER_CLASSES: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#clusterclass-definitions";
/// Provider contracts: the labels by which a CRD says which of its versions fulfil a contract.
pub const CONTRACT_LABELS: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview#api-version-labels";
/// The name of a CRD that Cluster API computes.
pub const CRD_NAME: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/bootstrap-config";
/// Contract rules for InfraCluster: all kinds are namespaced.
pub const ALL_RESOURCES_SCOPE: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster#all-resources-scope";
/// Contract rules for InfraCluster: who may use kinds of other groups.
pub const ALL_RESOURCES_GROUP: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster#all-resources-api-group";
/// Contract rules for InfraCluster: the kind and its list.
pub const INFRA_CLUSTER_KIND: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster#infracluster-infraclusterlist-resource-definition";
/// Contract rules for InfraCluster: its template.
pub const INFRA_CLUSTER_TEMPLATE: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster#infraclustertemplate-infraclustertemplatelist-resource-definition";
/// Contract rules for InfraMachine: the kind and its list.
pub const INFRA_MACHINE_KIND: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-machine#inframachine-inframachinelist-resource-definition";
/// Contract rules for InfraMachine: its template.
pub const INFRA_MACHINE_TEMPLATE: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-machine#inframachinetemplate-inframachinetemplatelist-resource-definition";
/// Contract rules for ControlPlane: replicas and the scale subresource.
pub const CONTROL_PLANE_REPLICAS: &str = "https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane#controlplane-replicas";
/// Provider contracts: the rules for each role.
pub const CONTRACTS: &str =
    "https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview";
/// Which releases read which contract, and until when.
pub const CONTRACT_VERSIONS: &str =
    "https://cluster-api.sigs.k8s.io/reference/versions#cluster-api-release-vs-contract-versions";
/// Kubernetes: versions of a CRD, and how objects are converted between them.
pub const CRD_VERSIONS: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/";
