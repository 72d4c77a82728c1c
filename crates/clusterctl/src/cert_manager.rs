//! cert-manager, which `clusterctl init` installs before all providers: where its manifest is, and
//! which version (book: clusterctl configuration, "Cert-Manager configuration").

use super::config::Config;
use super::config::Setting;
use super::provider::Provider;
use super::{Rejection, World};
use windlass_capi::contract::ProviderType;
use windlass_go_text as go;
use windlass_source::url::{UrlText, without_credentials};

/// What clusterctl calls it: its setting, its folder in a local repository, and its key among the
/// overrides of images.
pub const CERT_MANAGER: &str = "cert-manager";

/// The name of its manifest among the assets of its releases.
pub const MANIFEST_FILE: &str = "cert-manager.yaml";

/// The version that clusterctl v1.14.2 installs when nobody names one.
const DEFAULT_VERSION: &str = "v1.21.1";

/// cert-manager as the configuration has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertManager {
    /// Where its manifest is, variables replaced.
    pub url: UrlText,
    /// The version.
    pub version: String,
}

impl CertManager {
    /// As a provider, which it is not: clusterctl takes its manifest from a repository like those
    /// of providers.
    pub fn provider(&self) -> Provider {
        Provider {
            name: CERT_MANAGER.to_owned(),
            provider_type: ProviderType::CoreProvider,
            url: self.url.clone(),
        }
    }
}

impl Config<'_> {
    /// cert-manager as clusterctl installs it.
    ///
    /// # Errors
    /// When the setting has another form, or its url holds what is not a variable.
    pub fn cert_manager(&self) -> Result<CertManager, Rejection> {
        let section = self.setting(CERT_MANAGER).unwrap_or(Setting::Null);
        let field = |name: &str| match section.get(name).map(Setting::to_field) {
            None => Ok(None),
            Some(Some(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(None) => {
                let fault = format!("'{name}' expected type 'string'");
                Err(Rejection::new(fault).within(
                    "failed to unmarshal certManager from the clusterctl configuration file",
                ))
            }
        };
        let default = format!(
            "https://github.com/cert-manager/cert-manager/releases/{DEFAULT_VERSION}/cert-manager.yaml"
        );
        let url = field("url")?.unwrap_or(default);
        let url = expand(self.world(), &url)?;
        Ok(CertManager {
            url: url.into(),
            version: field("version")?.unwrap_or_else(|| DEFAULT_VERSION.to_owned()),
        })
    }
}

fn expand(world: World<'_>, url: &str) -> Result<String, Rejection> {
    world.expand(url).map_err(|error| {
        Rejection::new(error.to_string()).within(format!(
            "unable to evaluate url: {}",
            go::quote(&without_credentials(url))
        ))
    })
}
