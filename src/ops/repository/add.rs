//! `repository add`: a release laid out as clusterctl looks for it, the configuration, and the command to go on with.

use crate::contract::ProviderType;
use crate::diag::Report;
use crate::text::source::Source;
use crate::text::tree::Tree;

use super::assets::Assets;
use super::configuration::{Entry, merge};

/// Where a release goes.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// What urls in the configuration begin with: the absolute path of the repository, or a variable that stands for it.
    pub base: &'a str,
    /// The configuration as it is, if there is one.
    pub configuration: Option<&'a Source>,
}

/// The folder of one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The provider.
    pub assets: Assets,
    /// The folder below the repository: `bootstrap-windlass/v0.1.0`.
    pub folder: String,
    /// Its files.
    pub files: Tree,
}

/// What is to be written.
#[derive(Debug, Clone, Default)]
pub struct Added {
    /// The folders.
    pub placements: Vec<Placement>,
    /// The new text of the configuration; `None` when it cannot be extended.
    pub configuration: Option<String>,
    /// Findings about the configuration.
    pub report: Report,
}

/// Lays out a release. Each provider gets all files but the components files of the others.
pub fn add(files: &Tree, providers: &[Assets], to: Destination<'_>) -> Added {
    let placements: Vec<Placement> = providers.iter().map(|assets| placement(files, providers, assets)).collect();
    let entries: Vec<Entry> = providers.iter().map(|assets| Entry::of(assets, to.base)).collect();
    let (configuration, report) = merge(to.configuration, &entries);
    Added { placements, configuration, report }
}

fn placement(files: &Tree, providers: &[Assets], assets: &Assets) -> Placement {
    let foreign = |path: &str| providers.iter().any(|other| other.components == path && other.label != assets.label);
    let own = files.iter().filter(|(path, _)| !foreign(path)).map(|(path, bytes)| (path.clone(), bytes.clone()));
    Placement { assets: assets.clone(), folder: format!("{}/v{}", assets.label, assets.version), files: own.collect() }
}

/// The arguments of `clusterctl init` for some providers: `--bootstrap windlass:v0.1.0`. Of several versions of one provider the newest.
pub fn init_arguments(providers: &[Assets]) -> String {
    let is_newest = |one: &&Assets| !providers.iter().any(|other| other.label == one.label && other.version > one.version);
    let flag = |assets: &Assets| format!("--{} {}:v{}", assets.provider_type.word(), assets.name, assets.version);
    providers.iter().filter(is_newest).map(flag).collect::<Vec<_>>().join(" ")
}

/// What `clusterctl init` also installs, unless it is told otherwise, and takes from GitHub when the repository lacks it.
pub fn also_installed(providers: &[Assets]) -> Vec<&'static str> {
    let has = |wanted: ProviderType| providers.iter().any(|assets| assets.provider_type == wanted);
    [
        (ProviderType::CoreProvider, "cluster-api"),
        (ProviderType::BootstrapProvider, "bootstrap kubeadm"),
        (ProviderType::ControlPlaneProvider, "control plane kubeadm"),
    ]
    .into_iter()
    .filter(|(provider_type, _)| !has(*provider_type))
    .map(|(_, name)| name)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn init_takes_each_provider_once() {
        let assets = |name: &str, version: &str| Assets {
            label: format!("bootstrap-{name}"),
            name: name.to_owned(),
            provider_type: ProviderType::BootstrapProvider,
            components: "bootstrap-components.yaml".to_owned(),
            version: version.parse().unwrap(),
            contract: "v1beta2".to_owned(),
        };
        let providers = [assets("a", "0.9.0"), assets("a", "0.10.0"), assets("b", "1.0.0")];
        assert_eq!(init_arguments(&providers), "--bootstrap a:v0.10.0 --bootstrap b:v1.0.0");
    }
}
