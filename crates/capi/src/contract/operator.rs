//! The Cluster API operator (kubernetes-sigs/cluster-api-operator v0.28): what it calls providers,
//! their ConfigMaps and their files.

use super::ProviderType;

/// The group and version of its kinds, which are called as the types of providers are.
pub const API_VERSION: &str = "operator.cluster.x-k8s.io/v1alpha2";
/// The label with the version of a release.
pub const VERSION_LABEL: &str = "provider.cluster.x-k8s.io/version";
/// The label with the operator's word for the type.
pub const TYPE_LABEL: &str = "provider.cluster.x-k8s.io/type";
/// The label with the name of the provider's object.
pub const NAME_LABEL: &str = "provider.cluster.x-k8s.io/name";
/// The label of what the operator would have made itself.
pub const MANAGED_LABEL: &str = "managed-by.operator.cluster.x-k8s.io";
/// The annotation of a ConfigMap whose components are compressed.
pub const COMPRESSED_ANNOTATION: &str = "provider.cluster.x-k8s.io/compressed";
/// The key of metadata.yaml in a ConfigMap.
pub const METADATA_KEY: &str = "metadata";
/// The key of the components in a ConfigMap.
pub const COMPONENTS_KEY: &str = "components";
/// The contracts that it installs (`validateRepoCAPIVersion`).
pub const CONTRACTS: [&str; 2] = ["v1beta1", "v1beta2"];

/// Its word for a type, in labels, names and files (`GetType`): clusterctl's, but for one.
pub fn word(provider_type: ProviderType) -> &'static str {
    match provider_type {
        ProviderType::RuntimeExtensionProvider => "runtimeextension",
        other => other.word(),
    }
}

/// The name of the components file that it looks for in an artifact: `bootstrap-components.yaml`.
pub fn components_file(provider_type: ProviderType) -> String {
    format!("{}-components.yaml", word(provider_type))
}
