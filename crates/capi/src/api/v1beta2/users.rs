//! `spec.users` and `spec.ntp`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::node::PasswordSource;
use crate::api::secret::Sensitive;

/// A user of the node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Login name.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Real name or comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub gecos: Option<String>,
    /// Further groups, with commas between.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub groups: Option<String>,
    /// Home directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub home_dir: Option<String>,
    /// Whether the account is made inactive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inactive: Option<bool>,
    /// Login shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub shell: Option<String>,
    /// Hashed password. Excludes `passwdFrom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub passwd: Option<Sensitive<String>>,
    /// Source of the hashed password when it is not given inline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passwd_from: Option<PasswordSource>,
    /// Primary group. Absent: one named as the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub primary_group: Option<String>,
    /// Whether login with the password is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_password: Option<bool>,
    /// Rule for sudo, such as `ALL=(ALL) NOPASSWD:ALL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub sudo: Option<String>,
    /// Public keys with which the user may log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 2048)), extend("x-kubernetes-list-type" = "atomic"))]
    pub ssh_authorized_keys: Option<Vec<String>>,
}

/// Time synchronisation of the node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct Ntp {
    /// Time servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 512)), extend("x-kubernetes-list-type" = "atomic"))]
    pub servers: Option<Vec<String>>,
    /// Whether the time service runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}
