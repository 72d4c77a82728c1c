//! The seven types of providers that clusterctl knows (book: clusterctl, "Components YAML" and
//! "Labels").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a provider provides. The order is the one in which clusterctl lists and installs them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum ProviderType {
    /// Cluster API itself.
    CoreProvider,
    /// Turns a config into bootstrap data.
    BootstrapProvider,
    /// Runs the control plane of a workload cluster.
    ControlPlaneProvider,
    /// Provides machines and networks.
    InfrastructureProvider,
    /// Hands out IP addresses.
    IPAMProvider,
    /// Serves runtime hooks.
    RuntimeExtensionProvider,
    /// Installs add-ons into workload clusters.
    AddonProvider,
}

/// The name of the core provider, which no other provider has (clusterctl, `validateProviderName`).
pub const CORE_PROVIDER: &str = "cluster-api";

impl ProviderType {
    /// All types, in clusterctl's order.
    pub const ALL: [ProviderType; 7] = [
        ProviderType::CoreProvider,
        ProviderType::BootstrapProvider,
        ProviderType::ControlPlaneProvider,
        ProviderType::InfrastructureProvider,
        ProviderType::IPAMProvider,
        ProviderType::RuntimeExtensionProvider,
        ProviderType::AddonProvider,
    ];

    /// The type as clusterctl's configuration spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            ProviderType::CoreProvider => "CoreProvider",
            ProviderType::BootstrapProvider => "BootstrapProvider",
            ProviderType::ControlPlaneProvider => "ControlPlaneProvider",
            ProviderType::InfrastructureProvider => "InfrastructureProvider",
            ProviderType::IPAMProvider => "IPAMProvider",
            ProviderType::RuntimeExtensionProvider => "RuntimeExtensionProvider",
            ProviderType::AddonProvider => "AddonProvider",
        }
    }

    /// The word in labels, file names and flags: `bootstrap`. Labels of the core provider have no
    /// such prefix.
    pub fn word(self) -> &'static str {
        match self {
            ProviderType::CoreProvider => "core",
            ProviderType::BootstrapProvider => "bootstrap",
            ProviderType::ControlPlaneProvider => "control-plane",
            ProviderType::InfrastructureProvider => "infrastructure",
            ProviderType::IPAMProvider => "ipam",
            ProviderType::RuntimeExtensionProvider => "runtime-extension",
            ProviderType::AddonProvider => "addon",
        }
    }

    /// The value of the label `cluster.x-k8s.io/provider`, which is also the folder of a local
    /// repository: `bootstrap-windlass`.
    pub fn label(self, name: &str) -> String {
        match self {
            ProviderType::CoreProvider => name.to_owned(),
            other => format!("{}-{name}", other.word()),
        }
    }

    /// The type that a value of that label begins with; `None` for one without, as the core
    /// provider's is.
    pub fn of_label(label: &str) -> Option<ProviderType> {
        ProviderType::ALL.into_iter().find(|known| {
            *known != ProviderType::CoreProvider && label.starts_with(&known.label(""))
        })
    }

    /// Whether the core looks up the kinds of such providers by contract (book: "All resources:
    /// version").
    pub fn has_contract(self) -> bool {
        matches!(
            self,
            ProviderType::BootstrapProvider
                | ProviderType::ControlPlaneProvider
                | ProviderType::InfrastructureProvider
        )
    }

    /// The name of the components file of a release: `bootstrap-components.yaml`.
    pub fn components_file(self) -> String {
        format!("{}-components.yaml", self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Book, clusterctl contract: "Components YAML" names the files, "Labels" the label values; the
    /// core provider has no prefix.
    #[test]
    fn files_and_labels_follow_the_contract() {
        let expected = [
            ("core-components.yaml", "x"),
            ("bootstrap-components.yaml", "bootstrap-x"),
            ("control-plane-components.yaml", "control-plane-x"),
            ("infrastructure-components.yaml", "infrastructure-x"),
            ("ipam-components.yaml", "ipam-x"),
            ("runtime-extension-components.yaml", "runtime-extension-x"),
            ("addon-components.yaml", "addon-x"),
        ];
        for (provider, (file, label)) in ProviderType::ALL.iter().zip(expected) {
            assert_eq!(
                (
                    provider.components_file().as_str(),
                    provider.label("x").as_str()
                ),
                (file, label)
            );
            assert_eq!(
                ProviderType::of_label(label),
                (*provider != ProviderType::CoreProvider).then_some(*provider)
            );
        }
    }
}
