//! What CAPI v1.10 reads of a spec of v1beta1 and v1beta2 cannot say. That release works on v1beta1
//! itself.

use serde_json::Value;

use super::kubeadm::{ClusterValues, Durations};
use windlass_capi::api::time::GoDuration;
use windlass_objects::fields::text as text_at;

/// Values of v1beta1 that have no place in v1beta2, or not the same one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Legacy {
    /// Values of `clusterConfiguration` that win over those of Cluster and Machine; empty: not
    /// given.
    pub(crate) values: ClusterValues,
    /// `clusterConfiguration.apiServer.timeoutForControlPlane`, which counts for all machines of
    /// the control plane.
    api_server_timeout: Option<GoDuration>,
    /// `joinConfiguration.discovery.timeout`.
    discovery_timeout: Option<GoDuration>,
    /// `initConfiguration.bootstrapTokens[].ttl`.
    pub(crate) token_lifetimes: Vec<Option<GoDuration>>,
    /// `useExperimentalRetryJoin`.
    pub(crate) retry_join: bool,
    /// Whether `clusterConfiguration` or `initConfiguration` is there; without both the first
    /// machine waits.
    pub(crate) can_init: bool,
}

impl Legacy {
    /// Reads a spec of v1beta1.
    pub(crate) fn read(spec: &Value) -> Self {
        let cluster = &spec["clusterConfiguration"];
        let text = |path: &[&str]| text_at(cluster, path).to_owned();
        let duration = |value: &Value| value.as_str().and_then(|text| GoDuration::parse(text).ok());
        let tokens = spec["initConfiguration"]["bootstrapTokens"].as_array();
        Legacy {
            values: ClusterValues {
                cluster_name: text(&["clusterName"]),
                control_plane_endpoint: text(&["controlPlaneEndpoint"]),
                kubernetes_version: text(&["kubernetesVersion"]),
                dns_domain: text(&["networking", "dnsDomain"]),
                service_subnet: text(&["networking", "serviceSubnet"]),
                pod_subnet: text(&["networking", "podSubnet"]),
            },
            api_server_timeout: duration(&cluster["apiServer"]["timeoutForControlPlane"]),
            discovery_timeout: duration(&spec["joinConfiguration"]["discovery"]["timeout"]),
            token_lifetimes: tokens
                .into_iter()
                .flatten()
                .map(|token| duration(&token["ttl"]))
                .collect(),
            retry_join: spec["useExperimentalRetryJoin"]
                .as_bool()
                .unwrap_or_default(),
            can_init: cluster.is_object() || spec["initConfiguration"].is_object(),
        }
    }

    pub(crate) fn init_timeouts(&self) -> Durations {
        Durations {
            control_plane_component_health_check: self.api_server_timeout,
            ..Durations::default()
        }
    }

    /// The timeouts of `kubeadm join`; that of the control plane does not count for workers.
    pub(crate) fn join_timeouts(&self, is_control_plane: bool) -> Durations {
        let common = if is_control_plane {
            self.init_timeouts()
        } else {
            Durations::default()
        };
        Durations {
            tls_bootstrap: self.discovery_timeout,
            ..common
        }
    }
}
