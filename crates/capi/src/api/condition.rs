//! Conditions of both contracts. Own types, because those of `k8s-openapi` carry no limits into the
//! schema.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enumeration::string_enum;
use super::time::Timestamp;

/// An observation of the state of an object (Kubernetes `Condition` of meta/v1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What is observed, in CamelCase or as `domain/CamelCase`.
    #[schemars(
        length(max = 316),
        regex(
            pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
        )
    )]
    pub type_: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// The `metadata.generation` that the observation is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// When `status` changed last.
    pub last_transition_time: Timestamp,
    /// Why, for programs, in CamelCase.
    #[schemars(
        length(min = 1, max = 1024),
        regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    )]
    pub reason: String,
    /// Details for people; may be empty.
    #[schemars(length(max = 32768))]
    pub message: String,
}

/// An observation in the older form of Cluster API, with a severity (contract v1beta1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct V1Beta1Condition {
    /// What is observed, in CamelCase.
    #[schemars(length(min = 1, max = 256))]
    pub type_: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    pub status: String,
    /// How bad it is when the status is `False`: `Error`, `Warning` or `Info`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub severity: Option<String>,
    /// When `status` changed last.
    pub last_transition_time: Timestamp,
    /// Why, for programs, in CamelCase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub reason: Option<String>,
    /// Details for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10240))]
    pub message: Option<String>,
}

string_enum! {
    /// Whether a condition holds.
    #[derive(Default)]
    pub enum ConditionStatus {
        /// It holds.
        True = "True",
        /// It does not hold.
        False = "False",
        /// It is not known.
        #[default]
        Unknown = "Unknown",
    }
}
