//! What `latest` stands for.

use semver::Version;

use crate::Rejection;
use crate::metadata::{self, METADATA_FILE};
use windlass_capi::contract::{ContractVersion, parse_semantic};
use windlass_source::budget::Budget;

/// The version that stands for the latest one.
pub(super) const LATEST: &str = "latest";

/// A repository of one provider, wherever it is.
pub(super) trait Releases {
    /// The version in the URL, or what `latest` stands for.
    fn default_version(&self) -> &str;

    /// The last part of the URL.
    fn components_file(&self) -> &str;

    /// All versions that are semantic ones.
    ///
    /// # Errors
    /// When they cannot be listed.
    fn versions(&self) -> Result<Vec<String>, Rejection>;

    /// The bytes of a file of a version.
    ///
    /// # Errors
    /// When it is not there, or cannot be read.
    fn file(&self, version: &str, name: &str) -> Result<Vec<u8>, FileRejection>;
}

/// Why a file of a release cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileRejection {
    pub(super) rejection: Rejection,
    /// Whether the network says that there is none. Then an older release is tried; a file that a
    /// folder lacks ends the search.
    pub(super) is_not_found: bool,
}

impl FileRejection {
    pub(super) fn of(rejection: Rejection) -> Self {
        FileRejection {
            rejection,
            is_not_found: false,
        }
    }
}

/// How many of the newest releases are tried for metadata.
const MOST_TRIED: usize = 5;

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
    /// It is the newest release with metadata; pre-releases count only after all releases.
    Newest,
    /// It is the newest one of the newest series of the current contract that the metadata of the
    /// newest release lists.
    SeriesOfContract {
        /// The newest release, whose metadata lists the series.
        newest: String,
        /// Major and minor number of the series.
        series: (i32, i32),
    },
}

pub(super) fn latest(repository: &dyn Releases) -> Result<String, Rejection> {
    latest_among(repository, |_| true)
}

/// The newest release of the newest series that fulfils the current contract, as the metadata of
/// the newest release tells; the newest release when that tells nothing.
pub(super) fn latest_of_contract(repository: &dyn Releases) -> Result<Choice, Rejection> {
    let newest = latest(repository)?;
    // The file is taken from the run when it is read for itself.
    let metadata = repository
        .file(&newest, METADATA_FILE)
        .ok()
        .and_then(|bytes| metadata::decode(&bytes, &Budget::default()).ok());
    let series = metadata
        .as_ref()
        .and_then(|metadata| metadata.series_of_contract(ContractVersion::V1Beta2.as_str()));
    match (series, parse_semantic(&newest)) {
        (Some(series), Ok(version)) if !series.is_of(&version) => {
            let version = latest_among(repository, |version| series.is_of(version))?;
            Ok(Choice {
                version,
                reason: Reason::SeriesOfContract {
                    newest,
                    series: series.numbers(),
                },
            })
        }
        _ => Ok(Choice {
            version: newest,
            reason: Reason::Newest,
        }),
    }
}

/// Releases come before pre-releases, whatever their numbers. The winner must have metadata.
fn latest_among(
    repository: &dyn Releases,
    wanted: impl Fn(&Version) -> bool,
) -> Result<String, Rejection> {
    let versions = repository
        .versions()
        .map_err(|rejection| rejection.within("failed to get repository versions"))?;
    let versions = versions.iter().filter_map(|name| parse_semantic(name).ok());
    let mut versions: Vec<Version> = versions.filter(wanted).collect();
    versions.sort_by(|a, b| {
        a.pre
            .is_empty()
            .cmp(&b.pre.is_empty())
            .reverse()
            .then_with(|| b.cmp_precedence(a))
    });
    if versions.is_empty() {
        return Err(Rejection::new(
            "failed to find releases tagged with a valid semantic version number",
        ));
    }
    for version in versions.iter().take(MOST_TRIED) {
        let name = format!("v{version}");
        match repository.file(&name, METADATA_FILE) {
            Ok(_) => return Ok(name),
            Err(FileRejection {
                is_not_found: true, ..
            }) => {}
            Err(FileRejection { rejection, .. }) => return Err(rejection),
        }
    }
    Err(Rejection::new(
        "failed to find releases tagged with a valid semantic version number",
    ))
}
