//! A cluster whose objects nobody controls: what the core would do is done once, and only our
//! manager works.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_capi::api::names::{GROUP, KUBEADM_GROUP};

use crate::harness::api_server::Rejection;
use crate::harness::control_plane::ControlPlane;
use crate::harness::wait;

const LONG: Duration = Duration::from_secs(180);
pub(in crate::scenarios) const CORE: &str = "cluster.x-k8s.io/v1beta2";
pub(in crate::scenarios) const BOOTSTRAP: &str = "bootstrap.windlass.dev/v1beta2";
pub(in crate::scenarios) const NAMESPACE: &str = "default";

/// A Cluster whose control plane is there; our API server is its own workload cluster.
pub(in crate::scenarios) fn a_cluster(plane: &ControlPlane) {
    a_cluster_in(plane, NAMESPACE, &json!({}));
}

/// The same in a namespace, with more in its spec.
pub(in crate::scenarios) fn a_cluster_in(plane: &ControlPlane, namespace: &str, more: &Value) {
    let secret = |name: &str, data: Value| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": {"name": name, "namespace": namespace},
            "data": data,
        })
    };
    let kubeconfig = STANDARD.encode(std::fs::read(&plane.kubeconfig).unwrap());
    plane
        .api
        .create(&secret("c-kubeconfig", json!({"value": kubeconfig})))
        .unwrap();
    let authority = STANDARD.encode(&plane.certificates.authority);
    plane
        .api
        .create(&secret(
            "c-ca",
            json!({"tls.crt": authority, "tls.key": STANDARD.encode("key")}),
        ))
        .unwrap();
    let mut cluster = json!({
        "apiVersion": CORE, "kind": "Cluster", "metadata": {"name": "c", "namespace": namespace},
        "spec": {
            "controlPlaneEndpoint": {"host": "10.0.0.1", "port": 6443},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Any", "name": "c"},
        },
    });
    cluster["spec"]
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let cluster = plane.api.create(&cluster).unwrap();
    let initialized = json!({
        "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let status =
        json!({"initialization": {"infrastructureProvisioned": true}, "conditions": [initialized]});
    plane.api.merge_status(&cluster, &status).unwrap();
}

/// A Cluster that has no control plane yet.
pub(super) fn a_cluster_without_control_plane(plane: &ControlPlane, namespace: &str) {
    let metadata = json!({"name": "d", "namespace": namespace});
    let spec = json!({
        "controlPlaneEndpoint": {"host": "10.0.0.2", "port": 6443},
        "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Any", "name": "d"},
    });
    let cluster = plane
        .api
        .create(&json!({"apiVersion": CORE, "kind": "Cluster", "metadata": metadata, "spec": spec}))
        .unwrap();
    plane
        .api
        .merge_status(
            &cluster,
            &json!({"initialization": {"infrastructureProvisioned": true}}),
        )
        .unwrap();
}

/// A worker and its config, as the core leaves them; the rejection, when the API server takes no such
/// config.
pub(in crate::scenarios) fn a_machine(
    plane: &ControlPlane,
    name: &str,
    kubernetes: &str,
    version: &str,
    spec: &Value,
) -> Result<(), Rejection> {
    Machine {
        namespace: NAMESPACE,
        cluster: "c",
        kubernetes,
        version,
        labels: json!({}),
    }
    .give(plane, name, spec)
}

/// A kind of configs that our manager serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenarios) struct ConfigKind {
    group: &'static str,
    pub(in crate::scenarios) kind: &'static str,
    pub(in crate::scenarios) resource: &'static str,
}

pub(in crate::scenarios) const WINDLASS_CONFIG: ConfigKind = ConfigKind {
    group: GROUP,
    kind: "WindlassConfig",
    resource: "windlassconfigs",
};
pub(in crate::scenarios) const KUBEADM_CONFIG: ConfigKind = ConfigKind {
    group: KUBEADM_GROUP,
    kind: "KubeadmConfig",
    resource: "kubeadmconfigs",
};

impl ConfigKind {
    pub(in crate::scenarios) fn list(&self, plane: &ControlPlane, namespace: &str) -> Vec<Value> {
        plane
            .api
            .list(&self.api_version("v1beta2"), self.kind, Some(namespace))
    }

    pub(in crate::scenarios) fn get(
        &self,
        plane: &ControlPlane,
        namespace: &str,
        name: &str,
    ) -> Value {
        plane
            .api
            .get(
                &self.api_version("v1beta2"),
                self.kind,
                Some(namespace),
                name,
            )
            .unwrap()
    }

    pub(in crate::scenarios) fn api_version(&self, version: &str) -> String {
        format!("{}/{version}", self.group)
    }
}

/// What machines of one kind have in common.
pub(in crate::scenarios) struct Machine<'a> {
    pub(in crate::scenarios) namespace: &'a str,
    pub(in crate::scenarios) cluster: &'a str,
    /// The version of Kubernetes.
    pub(in crate::scenarios) kubernetes: &'a str,
    /// The version of the config.
    pub(in crate::scenarios) version: &'a str,
    /// Labels of the Machine.
    pub(in crate::scenarios) labels: Value,
}

impl Machine<'_> {
    /// Makes one, and its WindlassConfig.
    pub(in crate::scenarios) fn give(
        &self,
        plane: &ControlPlane,
        name: &str,
        spec: &Value,
    ) -> Result<(), Rejection> {
        self.give_with(WINDLASS_CONFIG, plane, name, spec)
    }

    /// Makes one, and its config of a kind.
    pub(in crate::scenarios) fn give_with(
        &self,
        of: ConfigKind,
        plane: &ControlPlane,
        name: &str,
        spec: &Value,
    ) -> Result<(), Rejection> {
        let Machine {
            namespace,
            cluster,
            kubernetes,
            version,
            labels,
        } = self;
        let reference =
            |group: &str, kind: &str| json!({"apiGroup": group, "kind": kind, "name": name});
        let machine = json!({
            "apiVersion": CORE, "kind": "Machine", "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {
                "clusterName": cluster, "version": kubernetes,
                "bootstrap": {"configRef": reference(of.group, of.kind)},
                "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "Any"),
            },
        });
        let machine = plane.api.create(&machine).unwrap();
        let owner = json!({"apiVersion": CORE, "kind": "Machine", "name": name, "uid": machine["metadata"]["uid"], "controller": true});
        let config = json!({
            "apiVersion": of.api_version(version), "kind": of.kind,
            "metadata": {
                "name": name, "namespace": namespace, "labels": {"cluster.x-k8s.io/cluster-name": cluster}, "ownerReferences": [owner],
            },
            "spec": spec,
        });
        give_config(plane, &config)
    }
}

/// Makes a config. The API server may not have heard yet where the webhooks are, and while a
/// manager is exchanged nobody serves them.
pub(in crate::scenarios) fn give_config(
    plane: &ControlPlane,
    config: &Value,
) -> Result<(), Rejection> {
    let name = &config["metadata"]["name"];
    wait::until(
        &format!("{name} to be taken or rejected"),
        LONG,
        || match plane.api.create(config) {
            Err(rejection) if rejection.passes() => Err(rejection.to_string()),
            answer => Ok(answer.map(drop)),
        },
    )
}
