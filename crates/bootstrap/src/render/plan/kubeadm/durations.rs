//! Timeouts with the precision that each provider has: from v1.11 on whole seconds, before that
//! anything.

use super::fields::Fields;
use windlass_capi::api::time::GoDuration;
use windlass_capi::api::v1beta2::Timeouts;

/// The timeouts of a kubeadm run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Durations {
    /// How long to wait for the components of the control plane.
    pub(crate) control_plane_component_health_check: Option<GoDuration>,
    pub(crate) kubelet_health_check: Option<GoDuration>,
    /// How long to wait for the API server to answer.
    pub(crate) kubernetes_api_call: Option<GoDuration>,
    /// How long to wait for etcd to answer.
    pub(crate) etcd_api_call: Option<GoDuration>,
    /// How long the kubelet may take for its certificate.
    pub(crate) tls_bootstrap: Option<GoDuration>,
    pub(crate) discovery: Option<GoDuration>,
}

impl From<&Timeouts> for Durations {
    fn from(timeouts: &Timeouts) -> Self {
        let Timeouts {
            control_plane_component_health_check_seconds,
            kubelet_health_check_seconds,
            kubernetes_api_call_seconds,
            etcd_api_call_seconds,
            tls_bootstrap_seconds,
            discovery_seconds,
        } = timeouts;
        let duration = |seconds: &Option<i32>| seconds.map(GoDuration::from_seconds);
        Durations {
            control_plane_component_health_check: duration(
                control_plane_component_health_check_seconds,
            ),
            kubelet_health_check: duration(kubelet_health_check_seconds),
            kubernetes_api_call: duration(kubernetes_api_call_seconds),
            etcd_api_call: duration(etcd_api_call_seconds),
            tls_bootstrap: duration(tls_bootstrap_seconds),
            discovery: duration(discovery_seconds),
        }
    }
}

impl Durations {
    /// The object `timeouts` of v1beta4.
    pub(super) fn fields(&self) -> Fields {
        let Durations {
            control_plane_component_health_check,
            kubelet_health_check,
            kubernetes_api_call,
            etcd_api_call,
            tls_bootstrap,
            discovery,
        } = self;
        let mut fields = Fields::default();
        for (name, duration) in [
            (
                "controlPlaneComponentHealthCheck",
                control_plane_component_health_check,
            ),
            ("kubeletHealthCheck", kubelet_health_check),
            ("kubernetesAPICall", kubernetes_api_call),
            ("etcdAPICall", etcd_api_call),
            ("tlsBootstrap", tls_bootstrap),
            ("discovery", discovery),
        ] {
            fields.set(name, duration.map(|duration| duration.to_string()));
        }
        fields
    }
}
