//! `spec.ignition`.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::boot::IgnitionVersion;
use crate::api::rules;
use crate::api::secret::Sensitive;

/// Options of the format `ignition`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
#[x_kube(validation = rules::CONTAINER_LINUX_CONFIG)]
#[x_kube(validation = rules::ADDITIONAL_CONFIG)]
pub struct Ignition {
    /// Further configuration for Ignition 2.3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_linux_config: Option<ContainerLinuxConfig>,
    /// Version of the Ignition specification that is written. Absent: `2.3`. An addition of
    /// WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<IgnitionVersion>,
    /// Further Ignition 3 configuration in JSON, merged by the node; its values win. Needs
    /// `version: "3.4"`. An addition of WindlassConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32768))]
    pub additional_config: Option<Sensitive<String>>,
}

/// Further configuration for Ignition 2.3.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct ContainerLinuxConfig {
    /// Container Linux Config in YAML that is merged into the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32768))]
    pub additional_config: Option<Sensitive<String>>,
    /// Whether warnings about `additionalConfig` are errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}
