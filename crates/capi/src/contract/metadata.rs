//! `metadata.yaml` of a release: which release series fulfils which contract (book: clusterctl,
//! "Metadata YAML").

use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

/// The name of the file in a release.
pub const METADATA_FILE: &str = "metadata.yaml";

/// The `apiVersion` of the file. It names the file format and never moves with the contract.
pub const METADATA_API_VERSION: &str = "clusterctl.cluster.x-k8s.io/v1alpha3";

/// The `kind` of the file.
pub const METADATA_KIND: &str = "Metadata";

/// The document in `metadata.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Always `clusterctl.cluster.x-k8s.io/v1alpha3`: the file format.
    pub api_version: String,
    /// `Metadata`; clusterctl takes a file without it, as many providers have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// One entry for each series of releases, the one of this release included.
    pub release_series: Vec<ReleaseSeries>,
}

/// Releases that share major and minor number, and with them the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseSeries {
    /// Major number; absent means 0, as for clusterctl.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub major: i32,
    /// Minor number; absent means 0, as for clusterctl.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub minor: i32,
    /// The contract that these releases fulfil, such as `v1beta2`.
    pub contract: String,
}

impl Metadata {
    /// The series of a release: the first entry with its major and minor number, as for clusterctl.
    pub fn series_of(&self, version: &Version) -> Option<&ReleaseSeries> {
        self.release_series.iter().find(|s| {
            u64::try_from(s.major) == Ok(version.major)
                && u64::try_from(s.minor) == Ok(version.minor)
        })
    }
}
