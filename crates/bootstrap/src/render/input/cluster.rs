//! What rendering reads of a Cluster: the same fields in core v1beta1 and v1beta2.

use std::fmt;

use serde_json::Value;

use windlass_objects::Object;
use windlass_objects::fields::text as text_at;

/// Host and port of an API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: i64,
}

impl fmt::Display for Endpoint {
    /// As Go's `net.JoinHostPort`: an address of IPv6 gets brackets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Endpoint { host, port } = self;
        if host.contains([':', '%']) {
            write!(formatter, "[{host}]:{port}")
        } else {
            write!(formatter, "{host}:{port}")
        }
    }
}

/// The fields of a Cluster that reach the node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterFacts {
    /// `metadata.name`.
    pub(crate) name: String,
    /// `spec.controlPlaneEndpoint`, when it has a host and a port.
    pub(crate) endpoint: Option<Endpoint>,
    /// `spec.clusterNetwork.serviceDomain`.
    pub(crate) service_domain: String,
    /// `spec.clusterNetwork.services.cidrBlocks`, all of them, with commas between.
    pub(crate) services: String,
    /// `spec.clusterNetwork.pods.cidrBlocks`, all of them, with commas between.
    pub(crate) pods: String,
    /// `spec.topology.version`.
    pub(crate) topology_version: String,
    /// `spec.controlPlaneRef`.
    pub control_plane: Option<Reference>,
    /// Whether the infrastructure is there: `status.initialization.infrastructureProvisioned`,
    /// before v1beta2 `status.infrastructureReady`.
    pub infrastructure_provisioned: bool,
    /// Whether the first control-plane machine is up: the condition `ControlPlaneInitialized`.
    pub control_plane_initialized: bool,
    /// `spec.paused`.
    pub paused: bool,
    /// Whether the Cluster itself is there.
    pub(crate) is_read: bool,
}

/// A reference to another object of the same namespace (`controlPlaneRef`, `ownerReferences`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reference {
    /// The API group, without the version; empty for the core group.
    pub group: String,
    /// The kind of the object that is referred to; empty when it is absent.
    pub kind: String,
    /// The name of the object that is referred to; [`Reference::read`] requires one.
    pub name: String,
}

impl Reference {
    /// A reference of core v1beta1 (`apiVersion`) or v1beta2 (`apiGroup`).
    pub fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| text_at(value, &[name]);
        let group = value
            .get("apiGroup")
            .and_then(Value::as_str)
            .unwrap_or_else(|| {
                text("apiVersion")
                    .rsplit_once('/')
                    .map_or("", |(group, _)| group)
            });
        let reference = Reference {
            group: group.to_owned(),
            kind: text("kind").to_owned(),
            name: text("name").to_owned(),
        };
        (!reference.name.is_empty()).then_some(reference)
    }
}

impl ClusterFacts {
    /// Reads a Cluster. `legacy`: CAPI v1.10 looks at the conditions of v1beta1 alone.
    pub fn read(cluster: &Object, legacy: bool) -> Self {
        let spec = &cluster.value()["spec"];
        let status = &cluster.value()["status"];
        let network = &spec["clusterNetwork"];
        let old = cluster.version() == "v1beta1";
        let conditions = if old && !legacy {
            &status["v1beta2"]["conditions"]
        } else {
            &status["conditions"]
        };
        let provisioned = if old {
            &status["infrastructureReady"]
        } else {
            &status["initialization"]["infrastructureProvisioned"]
        };
        ClusterFacts {
            name: cluster.name().to_owned(),
            endpoint: endpoint(&spec["controlPlaneEndpoint"]),
            service_domain: text_at(network, &["serviceDomain"]).to_owned(),
            services: joined(&network["services"]["cidrBlocks"]),
            pods: joined(&network["pods"]["cidrBlocks"]),
            topology_version: text_at(spec, &["topology", "version"]).to_owned(),
            control_plane: Reference::read(&spec["controlPlaneRef"]),
            infrastructure_provisioned: provisioned.as_bool().unwrap_or_default(),
            control_plane_initialized: is_true(conditions, "ControlPlaneInitialized"),
            paused: spec["paused"].as_bool().unwrap_or_default(),
            is_read: true,
        }
    }
}

fn endpoint(value: &Value) -> Option<Endpoint> {
    let host = text_at(value, &["host"]);
    let port = value["port"].as_i64().unwrap_or_default();
    (!host.is_empty() && port != 0).then(|| Endpoint {
        host: host.to_owned(),
        port,
    })
}

fn joined(blocks: &Value) -> String {
    let blocks: Vec<_> = blocks
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    blocks.join(",")
}

fn is_true(conditions: &Value, name: &str) -> bool {
    let condition = conditions
        .as_array()
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == name);
    condition.is_some_and(|condition| condition["status"] == "True")
}
