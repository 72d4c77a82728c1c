//! What `clusterctl init` is told of a repository, and what it installs although nobody names it.

use windlass_capi::contract::{CORE_PROVIDER, ProviderType};
use windlass_clusterctl::CERT_MANAGER;
use windlass_release::assets::Assets;

/// The arguments of `clusterctl init` for some providers: `--bootstrap kubeadm,windlass:v0.1.0
/// --control-plane kubeadm`. Of several versions of one provider the newest.
///
/// Where no bootstrap provider is named, clusterctl adds kubeadm's, and where no control plane
/// provider is named, kubeadm's again, whose Machines need KubeadmConfig. So a bootstrap provider
/// without a control plane provider is named together with kubeadm's (clusterctl init,
/// "Provider defaulting").
pub fn init_arguments(providers: &[Assets]) -> String {
    let is_newest = |one: &&Assets| {
        !providers
            .iter()
            .any(|other| other.label == one.label && other.version > one.version)
    };
    let mut named: Vec<(ProviderType, Vec<String>)> = Vec::new();
    if needs_kubeadm(providers) {
        named.push((ProviderType::BootstrapProvider, vec![KUBEADM.to_owned()]));
        named.push((ProviderType::ControlPlaneProvider, vec![KUBEADM.to_owned()]));
    }
    for assets in providers.iter().filter(is_newest) {
        let provider = format!("{}:v{}", assets.name, assets.version);
        match named
            .iter_mut()
            .find(|(provider_type, _)| *provider_type == assets.provider_type)
        {
            Some((_, of_type)) => of_type.push(provider),
            None => named.push((assets.provider_type, vec![provider])),
        }
    }
    let flags = named.iter().map(|(provider_type, of_type)| {
        format!("--{} {}", provider_type.word(), of_type.join(","))
    });
    flags.collect::<Vec<_>>().join(" ")
}

const KUBEADM: &str = "kubeadm";

/// Whether kubeadm's providers have to be named beside these: a bootstrap provider is among them,
/// and none that brings a control plane.
pub fn needs_kubeadm(providers: &[Assets]) -> bool {
    let has = |wanted: ProviderType| {
        providers
            .iter()
            .any(|assets| assets.provider_type == wanted)
    };
    let is_kubeadm = |assets: &Assets| {
        assets.provider_type == ProviderType::BootstrapProvider && assets.name == KUBEADM
    };
    has(ProviderType::BootstrapProvider)
        && !has(ProviderType::ControlPlaneProvider)
        && !providers.iter().any(is_kubeadm)
}

/// What `clusterctl init` installs although nobody names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implied {
    /// A provider of this type and name.
    Provider(ProviderType, &'static str),
    /// cert-manager, unless it is there already.
    CertManager,
}

impl Implied {
    /// Its folder in a repository.
    pub fn label(self) -> String {
        match self {
            Implied::Provider(provider_type, name) => provider_type.label(name),
            Implied::CertManager => CERT_MANAGER.to_owned(),
        }
    }
}

/// What `clusterctl init` also installs, unless it is told otherwise, and takes from GitHub when
/// the repository lacks it.
pub fn implied(providers: &[Assets]) -> Vec<Implied> {
    let has = |wanted: ProviderType| {
        providers
            .iter()
            .any(|assets| assets.provider_type == wanted)
    };
    let kubeadm = needs_kubeadm(providers);
    let providers = [
        (ProviderType::CoreProvider, CORE_PROVIDER, false),
        (ProviderType::BootstrapProvider, KUBEADM, kubeadm),
        (ProviderType::ControlPlaneProvider, KUBEADM, kubeadm),
    ];
    let implied = providers
        .into_iter()
        .filter(|(provider_type, _, named)| *named || !has(*provider_type));
    implied
        .map(|(provider_type, name, _)| Implied::Provider(provider_type, name))
        .chain([Implied::CertManager])
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
        let bootstrap =
            |name: &str, version: &str| of(ProviderType::BootstrapProvider, name, version);
        let providers = [
            bootstrap("a", "0.9.0"),
            bootstrap("a", "0.10.0"),
            bootstrap("b", "1.0.0"),
        ];
        assert_eq!(
            init_arguments(&providers),
            "--bootstrap kubeadm,a:v0.10.0,b:v1.0.0 --control-plane kubeadm"
        );
        let labels = |providers: &[Assets]| {
            implied(providers)
                .into_iter()
                .map(Implied::label)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            labels(&providers),
            [
                "cluster-api",
                "bootstrap-kubeadm",
                "control-plane-kubeadm",
                "cert-manager"
            ]
        );

        let kubeadm = [bootstrap("kubeadm", "1.12.0"), bootstrap("a", "1.0.0")];
        assert_eq!(
            init_arguments(&kubeadm),
            "--bootstrap kubeadm:v1.12.0,a:v1.0.0"
        );
        let with_control_plane = [
            bootstrap("k3s", "1.0.0"),
            of(ProviderType::ControlPlaneProvider, "k3s", "1.0.0"),
        ];
        assert_eq!(
            init_arguments(&with_control_plane),
            "--bootstrap k3s:v1.0.0 --control-plane k3s:v1.0.0"
        );
        assert_eq!(labels(&with_control_plane), ["cluster-api", "cert-manager"]);
        let infrastructure = [of(ProviderType::InfrastructureProvider, "harbour", "0.1.0")];
        assert_eq!(
            init_arguments(&infrastructure),
            "--infrastructure harbour:v0.1.0"
        );
    }
}
