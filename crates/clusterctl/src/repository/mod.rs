//! Repositories of providers, and the overrides layer that lies over them.

mod explain;
mod local;
mod remote;
mod versions;

use super::cert_manager::{CERT_MANAGER, MANIFEST_FILE};
use super::config::{Config, overrides_folder};
use super::files::FileFault;
use super::metadata::{self, METADATA_FILE, Metadata};
use super::provider::Provider;
use super::{Log, Rejection};
use windlass_capi::contract::parse_semantic;
use windlass_go_text as go;
use windlass_go_text::path::join;
use windlass_go_text::url::Url;

pub use explain::{Explanation, LayeredFile, Skipped, explain};
use local::LocalRepository;
use remote::RemoteRepository;
pub use versions::Reason;
use versions::{FileRejection, Releases};

const HTTPS: &str = "https";

/// A provider's repository, as one run uses it.
pub(super) struct Repository<'c, 'w> {
    config: &'c Config<'w>,
    provider: Provider,
    releases: Box<dyn Releases + 'w>,
}

impl<'c, 'w> Repository<'c, 'w> {
    /// # Errors
    /// When the URL leads nowhere that this program goes.
    pub(super) fn open(config: &'c Config<'w>, provider: Provider) -> Result<Self, Rejection> {
        let releases = releases(config, &provider).map_err(|rejection| {
            let step = format!(
                "failed to get repository client for the {} with name {}",
                provider.provider_type.as_str(),
                provider.name
            );
            rejection.within(step)
        })?;
        Ok(Repository {
            config,
            provider,
            releases,
        })
    }

    pub(super) fn provider(&self) -> &Provider {
        &self.provider
    }

    pub(super) fn default_version(&self) -> &str {
        self.releases.default_version()
    }

    /// The metadata of a version, checked.
    pub(super) fn metadata(&self, version: &str, log: &mut Log) -> Result<Metadata, Rejection> {
        let label = self.provider.label();
        let bytes = self.metadata_file(version, log)?;
        let metadata =
            metadata::decode(&bytes, self.config.world().budget).map_err(|rejection| {
                rejection.within(format!(
                    "error decoding \"{METADATA_FILE}\" for provider {}",
                    go::quote(&label)
                ))
            })?;
        metadata.check(&label)?;
        Ok(metadata)
    }

    fn metadata_file(&self, version: &str, log: &mut Log) -> Result<Vec<u8>, Rejection> {
        let label = self.provider.label();
        if let Some(bytes) = self.overriding(version, METADATA_FILE)? {
            log.using_override(1, METADATA_FILE, &label, version);
            return Ok(bytes);
        }
        self.releases
            .file(version, METADATA_FILE)
            .map_err(|FileRejection { rejection, .. }| {
                rejection.within(format!(
                    "failed to read \"{METADATA_FILE}\" from the repository for provider {}",
                    go::quote(&label)
                ))
            })
    }

    /// The components file of a version, and its name.
    pub(super) fn components(&self, version: &str, log: &mut Log) -> Result<Vec<u8>, Rejection> {
        self.file(version, self.releases.components_file(), 0, log)
    }

    /// A template or ClusterClass of a version.
    pub(super) fn template(
        &self,
        version: &str,
        name: &str,
        log: &mut Log,
    ) -> Result<Vec<u8>, Rejection> {
        self.file(version, name, 1, log)
    }

    fn file(
        &self,
        version: &str,
        name: &str,
        level: i32,
        log: &mut Log,
    ) -> Result<Vec<u8>, Rejection> {
        let label = self.provider.label();
        if let Some(bytes) = self.overriding(version, name)? {
            log.using_override(level, name, &label, version);
            return Ok(bytes);
        }
        self.releases
            .file(version, name)
            .map_err(|FileRejection { rejection, .. }| {
                let step = format!(
                    "failed to read {} from provider's repository {}",
                    go::quote(name),
                    go::quote(&label)
                );
                rejection.within(step)
            })
    }

    /// The file that lies over the one of the repository, if there is one.
    fn overriding(&self, version: &str, name: &str) -> Result<Option<Vec<u8>>, Rejection> {
        let path = join(&[&overrides_of(self.config, &self.provider, version)?, name]);
        match self.config.world().files.read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FileFault::Missing) => Ok(None),
            Err(fault) => {
                let reason = format!(
                    "{} {path}: {}",
                    if fault == FileFault::IsFolder {
                        "read"
                    } else {
                        "open"
                    },
                    fault.reason()
                );
                Err(Rejection::new(reason)
                    .within(format!("failed to read local override for {path}")))
            }
        }
    }
}

/// What `clusterctl init` reads of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The version, as clusterctl names it (`v1.2.3`).
    pub version: String,
    /// The files, by their names.
    pub files: Vec<(String, Vec<u8>)>,
}

/// The files of a release that `clusterctl init` reads, called as releases call them: those of a
/// version, or of the one that clusterctl picks.
///
/// # Errors
/// In clusterctl's words; and when the version is none that a local repository can have.
pub fn fetch(
    config: &Config<'_>,
    provider: Provider,
    version: Option<&str>,
) -> Result<Fetched, Rejection> {
    let mut log = Log::default();
    let repository = Repository::open(config, provider)?;
    let version = version
        .unwrap_or_else(|| repository.default_version())
        .to_owned();
    parse_semantic(&version).map_err(|_| {
        Rejection::new(format!("{} is not a semantic version", go::quote(&version)))
    })?;
    let components = repository.components(&version, &mut log)?;
    // cert-manager is not a provider: it has a manifest and nothing beside it.
    let files = if repository.provider.name == CERT_MANAGER {
        vec![(MANIFEST_FILE.to_owned(), components)]
    } else {
        let metadata = repository.metadata_file(&version, &mut log)?;
        vec![
            (
                repository.provider.provider_type.components_file(),
                components,
            ),
            (METADATA_FILE.to_owned(), metadata),
        ]
    };
    Ok(Fetched { version, files })
}

/// The folder of the overrides layer for a version of a provider.
fn overrides_of(
    config: &Config<'_>,
    provider: &Provider,
    version: &str,
) -> Result<String, Rejection> {
    let world = config.world();
    let folder = match config
        .variable("overridesFolder")
        .filter(|folder| !folder.trim().is_empty())
    {
        None => overrides_folder(&world),
        Some(folder) => world.expand(&folder).map_err(|error| {
            Rejection::new(error.to_string()).within("unable to evaluate overridesFolder: \"\"")
        })?,
    };
    Ok(join(&[&folder, &provider.label(), version]))
}

/// The repository that a provider's URL names.
fn releases<'w>(
    config: &Config<'w>,
    provider: &Provider,
) -> Result<Box<dyn Releases + 'w>, Rejection> {
    match url_of(provider)? {
        url if url.scheme == HTTPS => Ok(Box::new(RemoteRepository::open(config, provider, &url)?)),
        url => {
            let local = LocalRepository::open(config.world(), provider, &url);
            Ok(Box::new(local.map_err(|rejection| {
                rejection.within("error creating the local filesystem repository client")
            })?))
        }
    }
}

/// The URL of a provider, on the network or in a folder.
///
/// # Errors
/// When it is not a URL, or leads elsewhere.
fn url_of(provider: &Provider) -> Result<Url, Rejection> {
    let parse = || {
        format!(
            "failed to parse repository url {}",
            go::quote(&provider.url.to_string())
        )
    };
    let url = Url::parse(provider.url.with_credentials()).map_err(|_| Rejection::new(parse()))?;
    match url.scheme.as_str() {
        HTTPS | "file" | "" => Ok(url),
        scheme => Err(Rejection::new(format!(
            "invalid provider url. there are no provider implementation for {} schema",
            go::quote(scheme)
        ))),
    }
}

/// The version that the folder of a local repository is called by: `bootstrap-windlass/v0.2.0`.
pub fn version_of_folder(folder: &str) -> Option<semver::Version> {
    parse_semantic(
        folder
            .trim_end_matches('/')
            .rsplit('/')
            .next()?
            .strip_prefix('v')?,
    )
    .ok()
}
