//! Fields that a version of kubeadm's API cannot hold. The provider drops them in silence.

use super::KubeadmApi;
use crate::api::v1beta2::{Timeouts, WindlassConfigSpec};
use crate::diag::FieldPath;
use crate::render::input::role::Role;

/// The fields of a spec that do not reach the machine, below the spec.
pub fn dropped(spec: &WindlassConfigSpec, role: Role, api: KubeadmApi) -> Vec<FieldPath> {
    if api >= KubeadmApi::V1Beta4 {
        return Vec::new();
    }
    let mut found = if role == Role::Init { of_cluster(spec) } else { Vec::new() };
    let (name, registration, timeouts) = match role {
        Role::Init => {
            let init = spec.init_configuration.as_ref();
            (
                "initConfiguration",
                init.and_then(|init| init.node_registration.as_ref()),
                init.and_then(|init| init.timeouts.as_ref()),
            )
        }
        _ => {
            let join = spec.join_configuration.as_ref();
            (
                "joinConfiguration",
                join.and_then(|join| join.node_registration.as_ref()),
                join.and_then(|join| join.timeouts.as_ref()),
            )
        }
    };
    let root = FieldPath::root().field(name);
    if registration.is_some_and(|registration| registration.image_pull_serial.is_some()) {
        found.push(root.field("nodeRegistration").field("imagePullSerial"));
    }
    let kept = if role == Role::Init { "controlPlaneComponentHealthCheckSeconds" } else { "tlsBootstrapSeconds" };
    let timeouts = timeouts.map(set_timeouts).unwrap_or_default();
    found.extend(timeouts.into_iter().filter(|timeout| *timeout != kept).map(|timeout| root.field("timeouts").field(timeout)));
    found
}

fn of_cluster(spec: &WindlassConfigSpec) -> Vec<FieldPath> {
    let Some(config) = &spec.cluster_configuration else { return Vec::new() };
    let root = FieldPath::root().field("clusterConfiguration");
    let envs = [
        (root.field("apiServer"), config.api_server.as_ref().and_then(|component| component.extra_envs.as_ref())),
        (
            root.field("controllerManager"),
            config.controller_manager.as_ref().and_then(|component| component.extra_envs.as_ref()),
        ),
        (root.field("scheduler"), config.scheduler.as_ref().and_then(|component| component.extra_envs.as_ref())),
        (
            root.field("etcd").field("local"),
            config.etcd.as_ref().and_then(|etcd| etcd.local.as_ref()?.extra_envs.as_ref()),
        ),
    ];
    let envs = envs.into_iter().filter(|(_, envs)| envs.is_some_and(|envs| !envs.is_empty())).map(|(path, _)| path.field("extraEnvs"));
    let values = [
        ("certificateValidityPeriodDays", config.certificate_validity_period_days.is_some()),
        ("encryptionAlgorithm", config.encryption_algorithm.is_some()),
    ];
    let values = values.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| root.field(name));
    envs.chain(values).collect()
}

fn set_timeouts(timeouts: &Timeouts) -> Vec<&'static str> {
    let all = [
        ("controlPlaneComponentHealthCheckSeconds", timeouts.control_plane_component_health_check_seconds),
        ("kubeletHealthCheckSeconds", timeouts.kubelet_health_check_seconds),
        ("kubernetesAPICallSeconds", timeouts.kubernetes_api_call_seconds),
        ("etcdAPICallSeconds", timeouts.etcd_api_call_seconds),
        ("tlsBootstrapSeconds", timeouts.tls_bootstrap_seconds),
        ("discoverySeconds", timeouts.discovery_seconds),
    ];
    all.into_iter().filter(|(_, seconds)| seconds.is_some()).map(|(name, _)| name).collect()
}
