//! Where a manager is measured: an API server and etcd, the kinds of Cluster API's core, Clusters
//! that run, and their Machines.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::side::{CLUSTER_API, Running, Side};
use crate::harness::control_plane::ControlPlane;
use crate::harness::{audit, components, shared, wait, windlass};

const CORE: &str = "cluster.x-k8s.io/v1beta2";
const NAMESPACE: &str = "machines";
/// The account that both managers have at the workload cluster, which is the same API server.
pub(super) const WORKLOAD: &str = "workload";
/// Threads that make objects.
const MAKERS: usize = 8;
const SOON: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);
const SHORT: Duration = Duration::from_millis(2);
/// Secrets that each Cluster has before there is a Machine.
const SECRETS: usize = 2;

pub(super) struct Site {
    pub(super) plane: ControlPlane,
    clusters: usize,
    side: Side,
}

impl Site {
    /// For one side, with so many Clusters whose control planes are there.
    pub(super) fn new(folder: &Path, runtime: &Runtime, side: Side, clusters: usize) -> Site {
        let plane = ControlPlane::start_servers(folder, runtime.handle(), audit::ALL, &[]);
        let core = shared::cluster_api(CLUSTER_API);
        components::apply(&plane, &core.join("core-components.yaml"));
        let release = shared::checkout()
            .join("releases")
            .join(windlass::LABEL)
            .join(windlass::VERSION);
        match side {
            Side::Windlass => components::apply(&plane, &release.join("bootstrap-components.yaml")),
            Side::Kubeadm => components::apply(&plane, &core.join("bootstrap-components.yaml")),
        }
        // The manager is off while objects are made.
        for kind in [
            "ValidatingWebhookConfiguration",
            "MutatingWebhookConfiguration",
        ] {
            for object in plane
                .api
                .list("admissionregistration.k8s.io/v1", kind, None)
            {
                plane.api.delete(&object).expect("it was listed");
            }
        }
        let site = Site {
            plane,
            clusters,
            side,
        };
        site.make_clusters();
        site
    }

    fn make_clusters(&self) {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": WORKLOAD, "namespace": "kube-system"}});
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": WORKLOAD},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": WORKLOAD, "namespace": "kube-system"}],
        });
        self.make(
            &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
        );
        self.make(&account);
        self.make(&binding);
        let (_, kubeconfig) = self.plane.service_account("kube-system", WORKLOAD);
        let kubeconfig = STANDARD.encode(std::fs::read(kubeconfig).expect("the harness wrote it"));
        let authority = STANDARD.encode(&self.plane.certificates.authority);
        at_once(self.clusters, |index| {
            self.make_cluster(&cluster_name(index), &kubeconfig, &authority)
        });
    }

    fn make_cluster(&self, name: &str, kubeconfig: &str, authority: &str) {
        let labels = json!({"cluster.x-k8s.io/cluster-name": name});
        for (purpose, data) in [
            ("kubeconfig", json!({"value": kubeconfig})),
            (
                "ca",
                json!({"tls.crt": authority, "tls.key": STANDARD.encode("key")}),
            ),
        ] {
            self.make(&json!({
                "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "data": data,
                "metadata": {"name": format!("{name}-{purpose}"), "namespace": NAMESPACE, "labels": labels},
            }));
        }
        let cluster = self.make(&json!({
            "apiVersion": CORE, "kind": "Cluster", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "controlPlaneEndpoint": {"host": "10.0.0.1", "port": 6443},
                "clusterNetwork": {"pods": {"cidrBlocks": ["192.168.0.0/16"]}},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Any", "name": name},
            },
        }));
        let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "Made", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let status = json!({
            "initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true},
            "conditions": [condition("ControlPlaneInitialized")],
        });
        self.plane
            .api
            .merge_status(&cluster, &status)
            .expect("the Cluster was made");
    }

    /// Makes so many Machines with their configs, in all Clusters as many.
    pub(super) fn make_machines(&self, machines: usize, are_nodes: bool) {
        at_once(machines, |index| {
            self.make_machine(
                &machine_name(index),
                &cluster_name(index % self.clusters),
                are_nodes,
            )
        });
    }

    /// Makes so many in one Cluster.
    pub(super) fn make_machines_of(&self, cluster: usize, machines: usize) {
        at_once(machines, |index| {
            self.make_machine(&machine_name(index), &cluster_name(cluster), false)
        });
    }

    /// Makes a Machine and its config, as the core leaves them.
    pub(super) fn make_machine(&self, name: &str, cluster: &str, is_node: bool) {
        let [group, kind] = self.side.config();
        let labels = json!({"cluster.x-k8s.io/cluster-name": cluster, "cluster.x-k8s.io/deployment-name": format!("{cluster}-md-0")});
        let machine = self.make(&json!({
            "apiVersion": CORE, "kind": "Machine", "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
            "spec": {
                "clusterName": cluster, "version": "v1.34.1",
                "bootstrap": {"configRef": {"apiGroup": group, "kind": kind, "name": name}},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Any", "name": name},
            },
        }));
        if is_node {
            self.plane
                .api
                .merge_status(&machine, &json!({"nodeRef": {"name": name}}))
                .expect("the Machine was made");
        }
        let owner = json!({"apiVersion": CORE, "kind": "Machine", "name": name, "uid": machine["metadata"]["uid"], "controller": true});
        self.make(&json!({
            "apiVersion": format!("{group}/v1beta2"), "kind": kind,
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels, "ownerReferences": [owner]},
            "spec": spec(),
        }));
    }

    fn make(&self, object: &Value) -> Value {
        wait::until(
            &format!("{} {}", object["kind"], object["metadata"]["name"]),
            SOON,
            || match self.plane.api.create(object) {
                Err(rejection) if rejection.passes() || rejection.code == 0 => {
                    Err(rejection.to_string())
                }
                answer => Ok(answer.unwrap_or_else(|rejection| panic!("{rejection}"))),
            },
        )
    }

    /// Waits until so many Machines have their data.
    pub(super) fn wait_for_data(&self, running: &mut Running, machines: usize, limit: Duration) {
        let deadline = Instant::now() + limit;
        loop {
            running.process.assert_running();
            let count = self.secrets().saturating_sub(SECRETS * self.clusters);
            if count >= machines {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{count} of {machines} after {} s; {}",
                limit.as_secs(),
                running.process.last_words()
            );
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until a Machine has its data, and gives when that was, in seconds since 1970, to some
    /// milliseconds.
    pub(super) fn wait_for_secret(
        &self,
        running: &mut Running,
        name: &str,
        limit: Duration,
    ) -> f64 {
        let (path, deadline) = (
            format!("/api/v1/namespaces/{NAMESPACE}/secrets/{name}"),
            Instant::now() + limit,
        );
        loop {
            if self.plane.api.read(&path).is_ok() {
                return super::account::now();
            }
            running.process.assert_running();
            assert!(
                Instant::now() < deadline,
                "{name} has no data after {} s; {}",
                limit.as_secs(),
                running.process.last_words()
            );
            std::thread::sleep(SHORT);
        }
    }

    fn secrets(&self) -> usize {
        let list = self
            .plane
            .api
            .read(&format!("/api/v1/namespaces/{NAMESPACE}/secrets?limit=1"))
            .expect("Secrets can be listed");
        let rest = list["metadata"]["remainingItemCount"]
            .as_u64()
            .unwrap_or_default();
        list["items"].as_array().map_or(0, Vec::len) + usize::try_from(rest).unwrap_or_default()
    }
}

pub(super) fn cluster_name(index: usize) -> String {
    format!("cluster-{index}")
}

pub(super) fn machine_name(index: usize) -> String {
    format!("machine-{index:05}")
}

/// Whether a Secret of that name is the data of a Machine.
pub(super) fn is_data(name: &str) -> bool {
    name.starts_with("machine-")
}

/// A worker of some size.
fn spec() -> Value {
    json!({
        "joinConfiguration": {"nodeRegistration": {
            "name": "{{ ds.meta_data.local_hostname }}", "criSocket": "unix:///run/containerd/containerd.sock",
            "kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}, {"name": "node-labels", "value": "pool=workers"}],
        }},
        "files": [{
            "path": "/etc/sysctl.d/90-kubernetes.conf", "owner": "root:root", "permissions": "0644",
            "content": "net.ipv4.ip_forward = 1\nnet.bridge.bridge-nf-call-iptables = 1\nfs.inotify.max_user_watches = 524288\n".repeat(3),
        }],
        "preKubeadmCommands": ["hostnamectl set-hostname \"{{ ds.meta_data.hostname }}\"", "sysctl --system"],
        "users": [{"name": "capi", "sudo": "ALL=(ALL) NOPASSWD:ALL", "sshAuthorizedKeys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE capi@example"]}],
    })
}

/// Does so many things on some threads.
fn at_once(count: usize, make: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..MAKERS.min(count) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    make(index);
                }
            });
        }
    });
}
