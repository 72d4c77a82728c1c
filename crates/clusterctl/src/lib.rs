//! clusterctl's offline behaviour: configuration, repositories, components and templates, with
//! clusterctl's output and messages (Cluster API main of August 2026, series 1.15; v1.14 differs
//! only in the list of providers).
//!
//! This crate reads no files and no network: the caller passes a [`World`]. A [`Rejection`] is
//! clusterctl's error.

mod cert_manager;
mod cluster_class;
pub mod commands;
mod components;
mod config;
mod dns;
mod documents;
mod files;
mod generate_cluster;
mod github;
mod judge;
mod kubeconfig;
mod log;
mod metadata;
mod namespaces;
mod network;
mod provider;
mod rejection;
pub mod repository;
mod source;
mod template;
mod typed;

use serde_json::json;

pub use cert_manager::{CERT_MANAGER, CertManager, MANIFEST_FILE};
pub use components::{Components, ComponentsOptions, RunImage, run_images};
pub use config::Config;
pub use documents::ReadBefore;
pub use files::{Entry, EntryKind, FileFault, Files};
pub use generate_cluster::{ClusterOptions, ClusterSource, generate_cluster};
pub use judge::{
    components_rejection, dropped_fields, gets_namespace, installed, metadata_rejection,
    raw_components_rejection, version_rejection,
};
pub use log::Log;
pub use network::{Network, NetworkFault, Request, Token};
pub use provider::Provider;
pub use rejection::Rejection;
pub use repository::{Explanation, LayeredFile, Reason, Skipped, explain, fetch};
pub use source::TemplateSource;
pub use template::Template;

use provider::ProviderName;
use repository::Repository;
use windlass_capi::contract::{ContractVersion, ProviderType, VersionFault, parse_semantic};
use windlass_go_text as go;
use windlass_go_text::tabwriter::Columns;
use windlass_go_yaml::goyaml;
use windlass_source::budget::Budget;
use windlass_source::url::without_credentials;

/// The files, environment and network that a run may read.
#[derive(Clone, Copy)]
pub struct World<'w> {
    /// Folders and files.
    pub files: &'w dyn Files,
    /// The value of an environment variable; `Some("")` when it is set to nothing.
    pub environment: &'w dyn Fn(&str) -> Option<String>,
    /// The network, when the user allowed it.
    pub network: Option<&'w dyn Network>,
    /// What the run may still spend.
    pub budget: &'w Budget,
}

impl World<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }
}

impl std::fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold tokens.
        f.write_str("World")
    }
}

/// `generate yaml`: a template with its variables replaced, or its variables; no namespace, no
/// types.
///
/// # Errors
/// The message of clusterctl.
pub fn generate_yaml(
    config: &Config<'_>,
    source: &TemplateSource,
    list_only: bool,
) -> Result<Template, Rejection> {
    let text = match source {
        TemplateSource::Url(url) if url.with_credentials().is_empty() => {
            return Err(Rejection::new(
                "unable to read custom template. Please specify a template source",
            ));
        }
        source => source.read(config)?,
    };
    template::process(config, &source.shown(), &text, "", list_only)
}

/// `generate provider`: the components of `name[:version]`.
///
/// # Errors
/// The message of clusterctl.
pub fn generate_provider(
    config: &Config<'_>,
    name: &str,
    provider_type: ProviderType,
    options: &ComponentsOptions,
    log: &mut Log,
) -> Result<Components, Rejection> {
    let wanted = ProviderName::parse(name)?;
    let repository = Repository::open(config, config.provider_of(&wanted.name, provider_type)?)?;
    let version = wanted
        .version
        .unwrap_or_else(|| repository.default_version().to_owned());
    let metadata = repository.metadata(&version, log)?;
    let number = parse_semantic(&version).map_err(|fault| not_semantic(&version, &fault))?;
    let Some(series) = metadata.series_of(&number) else {
        return Err(Rejection::new(format!(
            "invalid provider metadata: version {version} for the provider {} does not match any release series",
            wanted.name
        )));
    };
    if ContractVersion::parse(&series.contract).is_none() {
        // clusterctl prints the contracts in an order that changes from run to run.
        let known = ContractVersion::ALL.map(ContractVersion::as_str).join(", ");
        return Err(Rejection::new(format!(
            "current version of clusterctl is only compatible with provider implementing {known} contract versions, detected {} for provider {}",
            series.contract, wanted.name
        )));
    }
    let text = repository.components(&version, log)?;
    components::process(
        config,
        repository.provider().clone(),
        &version,
        &text,
        options,
        None,
    )
}

/// What is not a semantic version, in the words of Kubernetes' parser.
fn not_semantic(text: &str, fault: &VersionFault) -> Rejection {
    let shown = go::quote(text);
    let begins_with_number = text
        .trim()
        .trim_start_matches('v')
        .starts_with(|c: char| c.is_ascii_digit());
    Rejection::new(match fault {
        VersionFault::LeadingZero(part) => format!(
            "illegal zero-prefixed version component {} in {shown}",
            go::quote(part)
        ),
        VersionFault::Suffix(suffix) => {
            format!("could not parse pre-release/metadata ({suffix}) in version {shown}")
        }
        VersionFault::NotThreeNumbers => format!("illegal version string {shown}"),
        VersionFault::NotAVersion if begins_with_number => {
            format!("illegal version string {shown}")
        }
        VersionFault::NotAVersion => format!("could not parse {shown} as version"),
    })
}

impl Components {
    /// The objects as YAML.
    ///
    /// # Errors
    /// When a text holds characters that YAML does not allow.
    pub fn into_yaml(self) -> Result<String, Rejection> {
        documents::to_yaml(self.objects)
    }

    /// What `--describe` prints.
    pub fn describe(&self) -> String {
        let (folder, file) = self.provider.url_and_file();
        let folder = folder.strip_suffix('/').unwrap_or(&folder);
        let base = &folder[..folder.rfind('/').map_or(0, |at| at + 1)];
        let mut text = format!(
            "Name:               {}\nType:               {}\nURL:                {base}\nVersion:            {}\nFile:               {file}\n\
             TargetNamespace:    {}\n",
            self.provider.name,
            self.provider.provider_type.as_str(),
            self.version,
            self.namespace
        );
        for (title, items) in [
            ("Variables:\n", &self.variables),
            ("Images:\n", &self.images),
        ] {
            if !items.is_empty() {
                text.push_str(title);
                items.iter().for_each(|item| {
                    text.push_str(&format!("  - {}\n", without_credentials(item)))
                });
            }
        }
        text.push('\n');
        text
    }
}

/// What `generate yaml --list-variables` prints.
pub fn list_names(template: &Template) -> String {
    if template.variables.is_empty() {
        return "\n".to_owned();
    }
    let names = template
        .variables
        .keys()
        .map(|name| format!("  - {name}\n"));
    std::iter::once("Variables:\n".to_owned())
        .chain(names)
        .collect()
}

/// What `config repositories` prints as a table.
pub fn providers_table(providers: &[Provider]) -> String {
    let rows = providers.iter().map(|provider| {
        let (url, file) = provider.url_and_file();
        format!(
            "{}\t{}\t{url}\t{file}\n",
            provider.name,
            provider.provider_type.as_str()
        )
    });
    let text: String = std::iter::once("NAME\tTYPE\tURL\tFILE\n".to_owned())
        .chain(rows)
        .collect();
    Columns {
        min_width: 10,
        padding: 3,
        html: false,
    }
    .align(&text)
}

/// What `config repositories -o yaml` prints.
///
/// # Errors
/// When a URL holds characters that YAML does not allow.
pub(crate) fn providers_yaml(providers: &[Provider]) -> Result<String, Rejection> {
    let items = providers.iter().map(|provider| {
        let (url, file) = provider.url_and_file();
        json!({"Name": provider.name, "ProviderType": provider.provider_type.as_str(), "URL": url, "File": file})
    });
    goyaml::to_string(&items.collect())
        .map_err(|_| Rejection::new("yaml: control characters are not allowed"))
}
