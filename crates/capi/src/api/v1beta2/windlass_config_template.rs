//! The kind WindlassConfigTemplate in v1beta2 (storage).

#![allow(
    clippy::duplicated_attributes,
    reason = "printer columns repeat keys such as `type_`"
)]

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::windlass_config::WindlassConfigSpec;
use crate::api::absent::absent_as_empty;
use crate::api::metadata::ObjectMeta;

/// What a template holds.
#[derive(CustomResource, Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "bootstrap.windlass.dev",
    version = "v1beta2",
    kind = "WindlassConfigTemplate",
    plural = "windlassconfigtemplates",
    shortname = "wlct",
    category = "cluster-api",
    namespaced,
    schema = "disabled",
    doc = "The pattern from which the WindlassConfigs of a set of machines are made.",
    derive = "Default",
    derive = "PartialEq",
    printcolumn(
        name = "ClusterClass",
        type_ = "string",
        json_path = r#".metadata.ownerReferences[?(@.kind=="ClusterClass")].name"#,
        description = "ClusterClass that owns the template"
    ),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r#".metadata.ownerReferences[?(@.kind=="Cluster")].name"#,
        description = "Cluster that owns the template"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp",
        description = "Time since the WindlassConfigTemplate was made"
    )
)]
#[serde(remote = "Self")]
#[serde(rename_all = "camelCase")]
pub struct WindlassConfigTemplateSpec {
    /// The future WindlassConfig.
    pub template: WindlassConfigTemplateResource,
}

absent_as_empty!(WindlassConfigTemplateSpec);

/// A WindlassConfig to be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1))]
pub struct WindlassConfigTemplateResource {
    /// Labels and annotations of the future object. Left out when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minProperties" = 1))]
    pub metadata: Option<ObjectMeta>,
    /// Spec of the future object; may leave out what suits one machine only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<WindlassConfigSpec>,
}
