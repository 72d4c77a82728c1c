//! What `latest` stands for.

use semver::Version;

use super::local::LocalRepository;
use crate::clusterctl::Refusal;
use crate::clusterctl::metadata::{self, METADATA_FILE};
use crate::contract::{ContractVersion, parse_semantic};

/// The newest release.
pub(super) fn latest(repository: &LocalRepository<'_>) -> Result<String, Refusal> {
    latest_among(repository, |_| true)
}

/// The newest release of the newest series that fulfils the current contract, as the metadata of the newest release tells; the newest
/// release when that tells nothing.
pub(super) fn latest_of_contract(repository: &LocalRepository<'_>) -> Result<String, Refusal> {
    let latest = latest(repository)?;
    let Some(metadata) = repository.file(&latest, METADATA_FILE).ok().and_then(|bytes| metadata::decode(&bytes).ok()) else {
        return Ok(latest);
    };
    let series = metadata.series_of_contract(ContractVersion::V1Beta2.as_str());
    let (Some(series), Ok(version)) = (series, parse_semantic(&latest)) else { return Ok(latest) };
    if series.is_of(&version) {
        return Ok(latest);
    }
    latest_among(repository, |version| series.is_of(version))
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
