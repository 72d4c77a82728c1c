//! The kinds of the harbour infrastructure provider, as kube-rs derives them: `HarbourCluster`,
//! `HarbourMachine` and their templates, which fulfil contract v1beta2 (book: "InfraCluster",
//! "InfraMachine").

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All CRDs of the provider.
pub fn crds() -> [CustomResourceDefinition; 4] {
    [
        HarbourCluster::crd(),
        HarbourClusterTemplate::crd(),
        HarbourMachine::crd(),
        HarbourMachineTemplate::crd(),
    ]
}

/// The harbour that the machines of a cluster lie in.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "infrastructure.harbour.example",
    version = "v1alpha1",
    kind = "HarbourCluster",
    namespaced,
    category = "cluster-api"
)]
#[kube(doc = "The harbour that the machines of a cluster lie in.")]
#[kube(status = "HarbourClusterStatus", derive = "PartialEq")]
#[kube(printcolumn(
    name = "Endpoint",
    type_ = "string",
    json_path = ".spec.controlPlaneEndpoint.host"
))]
#[kube(printcolumn(
    name = "Age",
    type_ = "date",
    json_path = ".metadata.creationTimestamp"
))]
#[serde(rename_all = "camelCase")]
pub struct HarbourClusterSpec {
    /// Where the API server of the cluster is reached. The controller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<ApiEndpoint>,
    /// The port in which the harbour is.
    #[schemars(length(min = 1, max = 253))]
    pub port_of_call: String,
}

/// Address of an API server.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[schemars(extend("minProperties" = 1))]
pub struct ApiEndpoint {
    /// Host name or address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub host: Option<String>,
    /// TCP port.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
}

/// What was observed of a harbour.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HarbourClusterStatus {
    /// What the contract wants to know about the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// The piers that machines can lie at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub failure_domains: Vec<FailureDomain>,
    /// The state in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Whether an object is there for the first time.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[schemars(extend("minProperties" = 1))]
pub struct Initialization {
    /// True when everything that the object stands for is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioned: Option<bool>,
}

/// A pier.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct FailureDomain {
    /// Its name.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// Whether control plane machines may lie there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<bool>,
    /// Anything else about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

/// What HarbourClusters of a ClusterClass are made from.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "infrastructure.harbour.example",
    version = "v1alpha1",
    kind = "HarbourClusterTemplate",
    namespaced
)]
#[kube(doc = "What HarbourClusters of a ClusterClass are made from.")]
#[kube(category = "cluster-api", derive = "PartialEq")]
pub struct HarbourClusterTemplateSpec {
    /// The HarbourCluster to be.
    pub template: HarbourClusterTemplateResource,
}

/// A HarbourCluster to be.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct HarbourClusterTemplateResource {
    /// Its labels and annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMeta>,
    /// Its spec.
    pub spec: HarbourClusterSpec,
}

/// Labels and annotations of an object to be.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[schemars(extend("minProperties" = 1))]
pub struct TemplateMeta {
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A machine that lies in a harbour.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "infrastructure.harbour.example",
    version = "v1alpha1",
    kind = "HarbourMachine",
    namespaced,
    category = "cluster-api"
)]
#[kube(doc = "A machine that lies in a harbour.")]
#[kube(status = "HarbourMachineStatus", derive = "PartialEq")]
#[kube(printcolumn(name = "Provider ID", type_ = "string", json_path = ".spec.providerID"))]
#[kube(printcolumn(
    name = "Age",
    type_ = "date",
    json_path = ".metadata.creationTimestamp"
))]
#[serde(rename_all = "camelCase")]
pub struct HarbourMachineSpec {
    /// The provider id of its Node, such as `harbour:///rotterdam/berth-7`. The controller fills
    /// it in.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub provider_id: Option<String>,
    /// How much it carries.
    pub tonnage: Tonnage,
    /// The image that it starts from.
    #[schemars(length(min = 1, max = 512))]
    pub image: String,
}

/// Size of a machine.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tonnage {
    /// Two cores.
    #[default]
    Barge,
    /// Eight cores.
    Freighter,
}

/// What was observed of a machine.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HarbourMachineStatus {
    /// What the contract wants to know about the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// The addresses of the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub addresses: Vec<MachineAddress>,
    /// The pier at which it lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub failure_domain: Option<String>,
    /// The state in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// An address of a machine.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct MachineAddress {
    /// What kind of address it is.
    #[serde(rename = "type")]
    pub kind: MachineAddressType,
    /// The address.
    #[schemars(length(min = 1, max = 256))]
    pub address: String,
}

/// The kinds of addresses that the contract knows.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineAddressType {
    Hostname,
    ExternalIP,
    InternalIP,
    ExternalDNS,
    InternalDNS,
}

/// What the machines of a set are made from.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "infrastructure.harbour.example",
    version = "v1alpha1",
    kind = "HarbourMachineTemplate",
    namespaced
)]
#[kube(doc = "What the machines of a set are made from.")]
#[kube(category = "cluster-api", derive = "PartialEq")]
pub struct HarbourMachineTemplateSpec {
    /// The HarbourMachine to be.
    pub template: HarbourMachineTemplateResource,
}

/// A HarbourMachine to be.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct HarbourMachineTemplateResource {
    /// Its labels and annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMeta>,
    /// Its spec.
    pub spec: HarbourMachineSpec,
}
