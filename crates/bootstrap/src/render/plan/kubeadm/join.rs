//! kubeadm's JoinConfiguration.

use serde_json::Value;

use super::fields::Fields;
use super::registration::{local_api_endpoint, phases, registration};
use super::{Durations, KubeadmApi};
use windlass_capi::api::v1beta2::{
    BootstrapTokenDiscovery, Discovery, FileDiscovery, JoinConfiguration, JoinControlPlane,
};

pub(crate) fn join_configuration(
    config: &JoinConfiguration,
    timeouts: &Durations,
    api: KubeadmApi,
) -> Value {
    let JoinConfiguration {
        node_registration,
        ca_cert_path,
        discovery,
        control_plane,
        skip_phases,
        patches,
        timeouts: _,
    } = config;
    let mut fields = Fields::default();
    fields.always("apiVersion", api.as_str());
    fields.always("kind", "JoinConfiguration");
    fields.always(
        "nodeRegistration",
        registration(node_registration.as_ref(), api),
    );
    fields.text("caCertPath", ca_cert_path.as_deref());
    fields.always(
        "discovery",
        discovery_fields(discovery.as_ref(), timeouts, api),
    );
    fields.set(
        "controlPlane",
        control_plane.as_ref().map(join_control_plane),
    );
    phases(&mut fields, patches.as_ref(), skip_phases.as_ref(), api);
    if api >= KubeadmApi::V1Beta4 {
        fields.unless_empty("timeouts", timeouts.fields());
    }
    fields.into()
}

fn join_control_plane(control_plane: &JoinControlPlane) -> Fields {
    let mut fields = Fields::default();
    fields.always(
        "localAPIEndpoint",
        local_api_endpoint(control_plane.local_api_endpoint.as_ref()),
    );
    fields
}

fn discovery_fields(
    discovery: Option<&Discovery>,
    timeouts: &Durations,
    api: KubeadmApi,
) -> Fields {
    let mut fields = Fields::default();
    if let Some(Discovery {
        bootstrap_token,
        file,
        tls_bootstrap_token,
    }) = discovery
    {
        fields.set(
            "bootstrapToken",
            bootstrap_token.as_ref().map(token_discovery),
        );
        fields.set("file", file.as_ref().map(file_discovery));
        fields.text(
            "tlsBootstrapToken",
            tls_bootstrap_token
                .as_ref()
                .map(|token| token.expose().as_str()),
        );
    }
    if api < KubeadmApi::V1Beta4 {
        fields.set(
            "timeout",
            timeouts.tls_bootstrap.map(|timeout| timeout.to_string()),
        );
    }
    fields
}

fn token_discovery(discovery: &BootstrapTokenDiscovery) -> Fields {
    let BootstrapTokenDiscovery {
        token,
        api_server_endpoint,
        ca_cert_hashes,
        unsafe_skip_ca_verification,
    } = discovery;
    let mut fields = Fields::default();
    fields.always("token", token.as_ref().map_or("", |token| token.expose()));
    fields.text("apiServerEndpoint", api_server_endpoint.as_deref());
    fields.texts("caCertHashes", ca_cert_hashes.as_ref());
    fields.flag("unsafeSkipCAVerification", *unsafe_skip_ca_verification);
    fields
}

fn file_discovery(discovery: &FileDiscovery) -> Fields {
    let FileDiscovery {
        kube_config_path,
        kube_config: _,
    } = discovery;
    let mut fields = Fields::default();
    fields.always("kubeConfigPath", kube_config_path.as_str());
    fields
}
