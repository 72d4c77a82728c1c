//! Contract versions: the generations of the agreement between core and providers (book: "Cluster
//! API release vs contract versions").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::endings::{self, Release, Subject};
use super::labels;

/// A generation of the contract that the current core still accepts. What differs between them is a
/// predicate here, and nowhere else.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ContractVersion {
    /// `status.ready`; `endings` has the release that ends it.
    V1Beta1,
    /// `status.initialization`; the current one.
    V1Beta2,
}

impl ContractVersion {
    /// All generations, oldest first.
    pub const ALL: [ContractVersion; 2] = [ContractVersion::V1Beta1, ContractVersion::V1Beta2];

    /// The generation as metadata.yaml and labels spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            ContractVersion::V1Beta1 => "v1beta1",
            ContractVersion::V1Beta2 => "v1beta2",
        }
    }

    /// Returns the generation by its name; `None` for one that the current core does not accept.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
    }

    /// The release of Cluster API that no longer accepts the generation, and when it is expected;
    /// `None` while nobody knows (book: "Cluster API release vs contract versions").
    pub fn ends_with(self) -> Option<&'static Release> {
        endings::ending(Subject::Contract, self.as_str()).map(|ending| ending.release)
    }

    /// The label by which a CRD says which of its versions fulfil this contract.
    pub fn label(self) -> String {
        format!("{}{}", labels::CONTRACT_PREFIX, self.as_str())
    }
}
