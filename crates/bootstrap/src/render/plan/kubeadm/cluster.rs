//! kubeadm's ClusterConfiguration.

use serde_json::Value;

use super::fields::Fields;
use super::{Durations, KubeadmApi};
use windlass_capi::api::node::Dns;
use windlass_capi::api::v1beta2::{
    ApiServer, ClusterConfiguration, ControlPlaneComponent, Etcd, ExternalEtcd, LocalEtcd,
};

/// What the document says of the cluster that does not come from `clusterConfiguration` alone;
/// empty texts are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClusterValues {
    pub(crate) cluster_name: String,
    /// Host and port of the control plane.
    pub(crate) control_plane_endpoint: String,
    /// The Kubernetes version, as it is written in the Machine.
    pub(crate) kubernetes_version: String,
    /// Domain of Services.
    pub(crate) dns_domain: String,
    /// Ranges of Services, with commas between.
    pub(crate) service_subnet: String,
    /// Ranges of Pods, with commas between.
    pub(crate) pod_subnet: String,
}

/// The document for `kubeadm init`. `init` are the timeouts of `initConfiguration`, one of which
/// v1beta3 has here.
pub(crate) fn cluster_configuration(
    config: &ClusterConfiguration,
    values: &ClusterValues,
    init: &Durations,
    api: KubeadmApi,
) -> Value {
    let ClusterConfiguration {
        etcd,
        control_plane_endpoint: _, // decided by the caller, together with that of the Cluster
        api_server,
        controller_manager,
        scheduler,
        dns,
        certificates_dir,
        image_repository,
        feature_gates,
        certificate_validity_period_days,
        ca_certificate_validity_period_days,
        encryption_algorithm,
    } = config;
    let mut fields = Fields::default();
    fields.always("apiVersion", api.as_str());
    fields.always("kind", "ClusterConfiguration");
    fields.always("etcd", etcd_fields(etcd.as_ref(), api));
    fields.always("networking", networking(values));
    fields.text("clusterName", Some(&values.cluster_name));
    fields.text("kubernetesVersion", Some(&values.kubernetes_version));
    fields.text("controlPlaneEndpoint", Some(&values.control_plane_endpoint));
    fields.always(
        "apiServer",
        api_server_fields(api_server.as_ref(), init, api),
    );
    fields.always(
        "controllerManager",
        component(controller_manager.as_ref(), api),
    );
    fields.always("scheduler", component(scheduler.as_ref(), api));
    fields.always("dns", dns_fields(dns.as_ref()));
    fields.text("certificatesDir", certificates_dir.as_deref());
    fields.text("imageRepository", image_repository.as_deref());
    let gates = feature_gates.as_ref().filter(|gates| !gates.is_empty());
    fields.set(
        "featureGates",
        gates.map(|gates| {
            gates
                .iter()
                .map(|(name, on)| (name.clone(), Value::Bool(*on)))
                .collect::<Value>()
        }),
    );
    if api >= KubeadmApi::V1Beta4 {
        fields.always("proxy", Fields::default());
        fields.set(
            "certificateValidityPeriod",
            certificate_validity_period_days.map(days),
        );
        fields.set(
            "caCertificateValidityPeriod",
            ca_certificate_validity_period_days.map(days),
        );
        fields.set(
            "encryptionAlgorithm",
            encryption_algorithm.map(|algorithm| algorithm.as_str()),
        );
    }
    fields.into()
}

/// Days as Go prints the duration.
fn days(days: i32) -> String {
    format!("{}h0m0s", i64::from(days) * 24)
}

fn networking(values: &ClusterValues) -> Fields {
    let mut fields = Fields::default();
    fields.text("dnsDomain", Some(&values.dns_domain));
    fields.text("serviceSubnet", Some(&values.service_subnet));
    fields.text("podSubnet", Some(&values.pod_subnet));
    fields
}

fn dns_fields(dns: Option<&Dns>) -> Fields {
    let mut fields = Fields::default();
    if let Some(Dns {
        image_repository,
        image_tag,
    }) = dns
    {
        fields.text("imageRepository", image_repository.as_deref());
        fields.text("imageTag", image_tag.as_deref());
    }
    fields
}

fn api_server_fields(api_server: Option<&ApiServer>, init: &Durations, api: KubeadmApi) -> Fields {
    let mut fields = Fields::default();
    if let Some(ApiServer {
        extra_args,
        extra_volumes,
        extra_envs,
        cert_sans,
    }) = api_server
    {
        fields.args("extraArgs", extra_args.as_ref(), api);
        fields.volumes("extraVolumes", extra_volumes.as_ref());
        fields.envs("extraEnvs", extra_envs.as_ref(), api);
        fields.texts("certSANs", cert_sans.as_ref());
    }
    if api < KubeadmApi::V1Beta4 {
        fields.set(
            "timeoutForControlPlane",
            init.control_plane_component_health_check
                .map(|timeout| timeout.to_string()),
        );
    }
    fields
}

fn component(component: Option<&ControlPlaneComponent>, api: KubeadmApi) -> Fields {
    let mut fields = Fields::default();
    if let Some(ControlPlaneComponent {
        extra_args,
        extra_volumes,
        extra_envs,
    }) = component
    {
        fields.args("extraArgs", extra_args.as_ref(), api);
        fields.volumes("extraVolumes", extra_volumes.as_ref());
        fields.envs("extraEnvs", extra_envs.as_ref(), api);
    }
    fields
}

fn etcd_fields(etcd: Option<&Etcd>, api: KubeadmApi) -> Fields {
    let mut fields = Fields::default();
    if let Some(Etcd { local, external }) = etcd {
        fields.set("local", local.as_ref().map(|local| local_etcd(local, api)));
        fields.set("external", external.as_ref().map(external_etcd));
    }
    fields
}

fn local_etcd(local: &LocalEtcd, api: KubeadmApi) -> Fields {
    let LocalEtcd {
        image_repository,
        image_tag,
        data_dir,
        extra_args,
        extra_envs,
        server_cert_sans,
        peer_cert_sans,
    } = local;
    let mut fields = Fields::default();
    fields.text("imageRepository", image_repository.as_deref());
    fields.text("imageTag", image_tag.as_deref());
    match api {
        KubeadmApi::V1Beta2 => fields.text("dataDir", data_dir.as_deref()),
        KubeadmApi::V1Beta3 | KubeadmApi::V1Beta4 => {
            fields.always("dataDir", data_dir.as_deref().unwrap_or_default())
        }
    }
    fields.args("extraArgs", extra_args.as_ref(), api);
    fields.envs("extraEnvs", extra_envs.as_ref(), api);
    fields.texts("serverCertSANs", server_cert_sans.as_ref());
    fields.texts("peerCertSANs", peer_cert_sans.as_ref());
    fields
}

fn external_etcd(external: &ExternalEtcd) -> Fields {
    let ExternalEtcd {
        endpoints,
        ca_file,
        cert_file,
        key_file,
    } = external;
    let mut fields = Fields::default();
    fields.always("endpoints", endpoints.as_slice());
    fields.always("caFile", ca_file.as_str());
    fields.always("certFile", cert_file.as_str());
    fields.always("keyFile", key_file.as_str());
    fields
}
