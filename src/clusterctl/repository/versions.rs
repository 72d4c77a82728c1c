//! What `latest` stands for.

use semver::Version;

use super::local::LocalRepository;
use crate::clusterctl::Refusal;
use crate::clusterctl::metadata::{self, METADATA_FILE};
use crate::contract::{ContractVersion, parse_semantic};

/// A version, and why it is the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) version: String,
    pub(super) reason: Reason,
}

/// Why clusterctl takes a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The URL in the configuration names it.
    Pinned,
    /// It is the newest release.
    Newest,
    /// It is the newest one of the newest series of the current contract that the metadata of the newest release lists.
    SeriesOfContract {
        /// The newest release.
        newest: String,
        /// Major and minor number of the series.
        series: (i32, i32),
    },
}

/// The newest release.
pub(super) fn latest(repository: &LocalRepository<'_>) -> Result<String, Refusal> {
    latest_among(repository, |_| true)
}

/// The newest release of the newest series that fulfils the current contract, as the metadata of the newest release tells; the newest
/// release when that tells nothing.
pub(super) fn latest_of_contract(repository: &LocalRepository<'_>) -> Result<Choice, Refusal> {
    let newest = latest(repository)?;
    let metadata = repository.file(&newest, METADATA_FILE).ok().and_then(|bytes| metadata::decode(&bytes).ok());
    let series = metadata.as_ref().and_then(|metadata| metadata.series_of_contract(ContractVersion::V1Beta2.as_str()));
    match (series, parse_semantic(&newest)) {
        (Some(series), Ok(version)) if !series.is_of(&version) => {
            let version = latest_among(repository, |version| series.is_of(version))?;
            Ok(Choice { version, reason: Reason::SeriesOfContract { newest, series: series.numbers() } })
        }
        _ => Ok(Choice { version: newest, reason: Reason::Newest }),
    }
}

/// Releases come before pre-releases, whatever their numbers. The winner must have metadata.
fn latest_among(repository: &LocalRepository<'_>, wanted: impl Fn(&Version) -> bool) -> Result<String, Refusal> {
    let versions = repository.versions().map_err(|refusal| refusal.within("failed to get repository versions"))?;
    let versions = versions.iter().filter_map(|name| parse_semantic(name).ok());
    let mut versions: Vec<Version> = versions.filter(wanted).collect();
    versions.sort_by(|a, b| a.pre.is_empty().cmp(&b.pre.is_empty()).reverse().then_with(|| b.cmp_precedence(a)));
    match versions.first() {
        // On the network the reference tries five; a file that a folder lacks ends its search.
        Some(newest) => {
            let name = format!("v{newest}");
            repository.file(&name, METADATA_FILE)?;
            Ok(name)
        }
        None => Err(Refusal::new("failed to find releases tagged with a valid semantic version number")),
    }
}
