//! A management cluster as people have it: Cluster API and windlass, installed by the real
//! clusterctl, the managers running.

use super::clusterctl::Clusterctl;
use super::control_plane::ControlPlane;
use super::{components, kubeadm_provider, managers, shared, windlass, windlass_manager};

/// The release of Cluster API that it stands on.
pub(crate) const CLUSTER_API: &str = "v1.12.0";

/// Installs everything, and starts the managers.
pub(crate) fn install(plane: &ControlPlane) {
    init(plane);
    let all = [
        managers::CORE,
        managers::KUBEADM_BOOTSTRAP,
        managers::KUBEADM_CONTROL_PLANE,
        managers::DOCKER,
    ];
    managers::start(plane, CLUSTER_API, &all);
    plane.adopt(windlass_manager::start(plane, "windlass-manager", &["--leader-elect"]).process);
}

/// The kinds of the core without its manager, whose webhooks nobody would answer, and our release.
pub(crate) fn kinds_alone(plane: &ControlPlane) {
    components::apply(
        plane,
        &shared::cluster_api(CLUSTER_API).join("core-components.yaml"),
    );
    for kind in [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ] {
        for object in plane
            .api
            .list("admissionregistration.k8s.io/v1", kind, None)
        {
            plane
                .api
                .delete(&object)
                .unwrap_or_else(|rejection| panic!("{rejection}"));
        }
    }
    let release = shared::checkout()
        .join("releases")
        .join(windlass::LABEL)
        .join(windlass::VERSION);
    components::apply(plane, &release.join("bootstrap-components.yaml"));
}

/// The kubeadm provider's kinds, without its manager and webhooks, and what the book says that ours
/// needs to work on them.
pub(crate) fn kubeadm_kinds(plane: &ControlPlane) {
    components::apply(
        plane,
        &shared::cluster_api(CLUSTER_API).join("bootstrap-components.yaml"),
    );
    delete_webhooks(plane, "bootstrap-kubeadm");
    kubeadm_provider::grant_rights(plane);
}

/// Core and a version of ours from `releases/`, by the real clusterctl. Nobody answers the core's
/// webhooks, so they are taken away.
pub(crate) fn core_and_ours<'a>(plane: &'a ControlPlane, version: &str) -> Clusterctl<'a> {
    let clusterctl = Clusterctl::new(CLUSTER_API, plane, CLUSTER_API);
    let (core, ours) = (
        format!("cluster-api:{CLUSTER_API}"),
        format!("windlass:{version}"),
    );
    clusterctl.succeed(&[
        "init",
        "--core",
        &core,
        "--bootstrap",
        &ours,
        "--control-plane",
        "-",
        "--wait-providers",
    ]);
    delete_webhooks(plane, "cluster-api");
    clusterctl
}

/// Those of a provider, by its label.
fn delete_webhooks(plane: &ControlPlane, provider: &str) {
    for kind in [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ] {
        let all = plane
            .api
            .list("admissionregistration.k8s.io/v1", kind, None);
        for object in all
            .iter()
            .filter(|object| object["metadata"]["labels"]["cluster.x-k8s.io/provider"] == provider)
        {
            plane
                .api
                .delete(object)
                .unwrap_or_else(|rejection| panic!("{rejection}"));
        }
    }
}

/// The kinds of the core and our release, with our webhooks played by the harness: managers may
/// come and go.
pub(crate) fn kinds_and_webhooks(plane: &ControlPlane) {
    kinds_alone(plane);
    windlass::serve_webhooks(plane, windlass::NAMESPACE);
}

/// Installs core, both kubeadm providers and docker of Cluster API, and windlass from `releases/`,
/// without their managers.
pub(crate) fn init(plane: &ControlPlane) {
    let clusterctl = Clusterctl::new(CLUSTER_API, plane, CLUSTER_API);
    let windlass = format!("windlass:{}", windlass::VERSION);
    let mut arguments = vec![
        "init",
        "--wait-providers",
        "--core",
        "cluster-api:v1.12.0",
        "--bootstrap",
        "kubeadm:v1.12.0",
    ];
    arguments.extend([
        "--bootstrap",
        &windlass,
        "--control-plane",
        "kubeadm:v1.12.0",
        "--infrastructure",
        "docker:v1.12.0",
    ]);
    let finished = clusterctl.succeed(&arguments);
    assert!(
        finished.stderr.contains("initialized successfully"),
        "{}",
        finished.stderr
    );
}
