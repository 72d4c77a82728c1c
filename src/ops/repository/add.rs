//! `repository add`: a release laid out as clusterctl looks for it, the configuration, and the command to go on with.

use crate::contract::ProviderType;
use crate::diag::Report;
use crate::text::budget::Budget;
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
pub fn add(files: &Tree, providers: &[Assets], to: Destination<'_>, budget: &Budget) -> Added {
    let placements: Vec<Placement> = providers.iter().map(|assets| placement(files, providers, assets)).collect();
    let entries: Vec<Entry> = providers.iter().map(|assets| Entry::of(assets, to.base)).collect();
    let (configuration, report) = merge(to.configuration, &entries, budget);
    Added { placements, configuration, report }
}

fn placement(files: &Tree, providers: &[Assets], assets: &Assets) -> Placement {
    let foreign = |path: &str| providers.iter().any(|other| other.components == path && other.label != assets.label);
    let own = files.iter().filter(|(path, _)| !foreign(path)).map(|(path, bytes)| (path.clone(), bytes.clone()));
    Placement { assets: assets.clone(), folder: format!("{}/v{}", assets.label, assets.version), files: own.collect() }
}

/// The arguments of `clusterctl init` for some providers: `--bootstrap kubeadm,windlass:v0.1.0 --control-plane kubeadm`. Of several versions
/// of one provider the newest.
///
/// Where no bootstrap provider is named, clusterctl adds kubeadm's, and where no control plane provider is named, kubeadm's again, whose Machines
/// need KubeadmConfig. So a bootstrap provider without a control plane provider is named together with kubeadm's (clusterctl init,
/// "Provider defaulting").
pub fn init_arguments(providers: &[Assets]) -> String {
    let is_newest = |one: &&Assets| !providers.iter().any(|other| other.label == one.label && other.version > one.version);
    let mut named: Vec<(ProviderType, Vec<String>)> = Vec::new();
    if needs_kubeadm(providers) {
        named.push((ProviderType::BootstrapProvider, vec![KUBEADM.to_owned()]));
        named.push((ProviderType::ControlPlaneProvider, vec![KUBEADM.to_owned()]));
    }
    for assets in providers.iter().filter(is_newest) {
        let provider = format!("{}:v{}", assets.name, assets.version);
        match named.iter_mut().find(|(provider_type, _)| *provider_type == assets.provider_type) {
            Some((_, of_type)) => of_type.push(provider),
            None => named.push((assets.provider_type, vec![provider])),
        }
    }
    let flags = named.iter().map(|(provider_type, of_type)| format!("--{} {}", provider_type.word(), of_type.join(",")));
    flags.collect::<Vec<_>>().join(" ")
}

const KUBEADM: &str = "kubeadm";

/// Whether kubeadm's providers have to be named beside these: a bootstrap provider is among them, and none that brings a control plane.
pub fn needs_kubeadm(providers: &[Assets]) -> bool {
    let has = |wanted: ProviderType| providers.iter().any(|assets| assets.provider_type == wanted);
    let is_kubeadm = |assets: &Assets| assets.provider_type == ProviderType::BootstrapProvider && assets.name == KUBEADM;
    has(ProviderType::BootstrapProvider) && !has(ProviderType::ControlPlaneProvider) && !providers.iter().any(is_kubeadm)
}

/// What `clusterctl init` also installs, unless it is told otherwise, and takes from GitHub when the repository lacks it.
pub fn also_installed(providers: &[Assets]) -> Vec<&'static str> {
    let has = |wanted: ProviderType| providers.iter().any(|assets| assets.provider_type == wanted);
    let kubeadm = needs_kubeadm(providers);
    [
        (ProviderType::CoreProvider, "cluster-api", false),
        (ProviderType::BootstrapProvider, "bootstrap kubeadm", kubeadm),
        (ProviderType::ControlPlaneProvider, "control plane kubeadm", kubeadm),
    ]
    .into_iter()
    .filter(|(provider_type, _, named)| *named || !has(*provider_type))
    .map(|(_, name, _)| name)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn init_takes_each_provider_once() {
        let of = |provider_type: ProviderType, name: &str, version: &str| Assets {
            label: provider_type.label(name),
            name: name.to_owned(),
            provider_type,
            components: "bootstrap-components.yaml".to_owned(),
            version: version.parse().unwrap(),
            contract: "v1beta2".to_owned(),
        };
        let bootstrap = |name: &str, version: &str| of(ProviderType::BootstrapProvider, name, version);
        let providers = [bootstrap("a", "0.9.0"), bootstrap("a", "0.10.0"), bootstrap("b", "1.0.0")];
        assert_eq!(init_arguments(&providers), "--bootstrap kubeadm,a:v0.10.0,b:v1.0.0 --control-plane kubeadm");
        assert_eq!(also_installed(&providers), ["cluster-api", "bootstrap kubeadm", "control plane kubeadm"]);

        let kubeadm = [bootstrap("kubeadm", "1.12.0"), bootstrap("a", "1.0.0")];
        assert_eq!(init_arguments(&kubeadm), "--bootstrap kubeadm:v1.12.0,a:v1.0.0");
        let with_control_plane = [bootstrap("k3s", "1.0.0"), of(ProviderType::ControlPlaneProvider, "k3s", "1.0.0")];
        assert_eq!(init_arguments(&with_control_plane), "--bootstrap k3s:v1.0.0 --control-plane k3s:v1.0.0");
        assert_eq!(also_installed(&with_control_plane), ["cluster-api"]);
        let infrastructure = [of(ProviderType::InfrastructureProvider, "harbour", "0.1.0")];
        assert_eq!(init_arguments(&infrastructure), "--infrastructure harbour:v0.1.0");
    }
}
