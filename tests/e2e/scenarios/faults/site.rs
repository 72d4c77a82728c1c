//! A Cluster in a namespace of its own: no machine runs, and the scenario does what the core would
//! do. The API server is its own workload cluster; both are asked through a proxy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::api_server::Rejection;
use crate::harness::control_plane::ControlPlane;
use crate::harness::process::Process;
use crate::harness::{wait, windlass, windlass_manager};
use crate::scenarios::manager::uncontrolled::{
    CORE, ConfigKind, KUBEADM_CONFIG, Machine, WINDLASS_CONFIG,
};

/// The account as which the manager works in workload clusters.
const WORKLOAD: &str = "workload";

/// The Machine that begins the cluster.
const FIRST: &str = "cp-0";

const SOON: Duration = Duration::from_secs(60);
/// For the data of many workers.
const DATA: Duration = Duration::from_secs(120);
/// The garbage collector takes its time.
const LONG: Duration = Duration::from_secs(180);

pub(super) struct Site<'a> {
    pub(super) plane: &'a ControlPlane,
    pub(super) namespace: String,
    /// What its configs are.
    pub(super) kind: ConfigKind,
    control_planes: usize,
    workers: usize,
    /// Workers that were there and are not any more.
    gone: usize,
    /// Tokens that were there before.
    earlier: Vec<String>,
}

/// The kubeconfigs that lead to the API server by a URL: the manager's, and one for a workload
/// cluster.
pub(super) struct Ways {
    pub(super) manager: PathBuf,
    pub(super) workload: PathBuf,
}

impl Ways {
    pub(super) fn by(plane: &ControlPlane, url: &str) -> Ways {
        let metadata = json!({"name": WORKLOAD, "namespace": windlass::NAMESPACE});
        plane
            .api
            .apply(&json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}))
            .unwrap();
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": WORKLOAD},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": WORKLOAD, "namespace": windlass::NAMESPACE}],
        });
        plane.api.apply(&binding).unwrap();
        let of = |account| plane.service_account_at(url, windlass::NAMESPACE, account);
        Ways {
            manager: of(windlass_manager::SERVICE_ACCOUNT),
            workload: of(WORKLOAD),
        }
    }
}

impl<'a> Site<'a> {
    /// A Cluster whose infrastructure is there. Its first Machine of the control plane and its
    /// workers are there as well, the other ones of the control plane come when the cluster has
    /// begun.
    pub(super) fn begin(
        plane: &'a ControlPlane,
        ways: &Ways,
        namespace: &str,
        control_planes: usize,
        workers: usize,
    ) -> Site<'a> {
        Site::begin_with(
            WINDLASS_CONFIG,
            plane,
            ways,
            namespace,
            [control_planes, workers],
        )
    }

    /// The same with configs of a kind; its machines are those of the control plane, and workers.
    pub(super) fn begin_with(
        kind: ConfigKind,
        plane: &'a ControlPlane,
        ways: &Ways,
        namespace: &str,
        machines: [usize; 2],
    ) -> Site<'a> {
        let [control_planes, workers] = machines;
        let site = Site {
            kind,
            control_planes,
            workers,
            ..Site::empty(plane, namespace)
        };
        site.give_cluster("c", &ways.workload);
        site.give_machine("c", FIRST, true, &begins()).unwrap();
        (0..workers).for_each(|index| site.give_worker("c", &format!("w-{index:02}")));
        site
    }

    /// A namespace with nothing in it.
    pub(super) fn empty(plane: &'a ControlPlane, namespace: &str) -> Site<'a> {
        plane
            .api
            .create(
                &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
            )
            .unwrap();
        let kind = WINDLASS_CONFIG;
        Site {
            plane,
            namespace: namespace.to_owned(),
            kind,
            control_planes: 0,
            workers: 0,
            gone: 0,
            earlier: tokens(plane),
        }
    }

    /// A Cluster whose control plane runs.
    pub(super) fn give_running_cluster(&self, name: &str, kubeconfig: &Path) {
        let cluster = self.give_cluster(name, kubeconfig);
        let authority = STANDARD.encode(&self.plane.certificates.authority);
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
            "metadata": {"name": format!("{name}-ca"), "namespace": self.namespace},
            "data": {"tls.crt": authority, "tls.key": STANDARD.encode("key")},
        });
        self.plane.api.create(&secret).unwrap();
        self.initialize(&cluster);
    }

    /// A Cluster and the kubeconfig of its workload cluster.
    pub(super) fn give_cluster(&self, name: &str, kubeconfig: &Path) -> Value {
        let metadata = |name: &str| json!({"name": name, "namespace": self.namespace});
        let value = STANDARD.encode(std::fs::read(kubeconfig).unwrap());
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": metadata(&format!("{name}-kubeconfig")),
            "data": {"value": value},
        });
        self.plane.api.create(&secret).unwrap();
        let cluster = json!({
            "apiVersion": CORE, "kind": "Cluster", "metadata": metadata(name),
            "spec": {
                "controlPlaneEndpoint": {"host": "10.0.0.1", "port": 6443},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Any", "name": name},
            },
        });
        let cluster = self.plane.api.create(&cluster).unwrap();
        self.plane
            .api
            .merge_status(
                &cluster,
                &json!({"initialization": {"infrastructureProvisioned": true}}),
            )
            .unwrap();
        cluster
    }

    pub(super) fn give_worker(&self, cluster: &str, name: &str) {
        self.give_machine(cluster, name, false, &joins()).unwrap();
    }

    /// A Machine and its config; the rejection, when the API server takes no such config.
    pub(super) fn give_machine(
        &self,
        cluster: &str,
        name: &str,
        is_control_plane: bool,
        spec: &Value,
    ) -> Result<(), Rejection> {
        let labels = if is_control_plane {
            json!({"cluster.x-k8s.io/control-plane": ""})
        } else {
            json!({})
        };
        let machine = Machine {
            namespace: &self.namespace,
            cluster,
            kubernetes: "v1.34.1",
            version: "v1beta2",
            labels,
        };
        machine.give_with(self.kind, self.plane, name, spec)
    }

    /// More of the same.
    pub(super) fn more_workers(&mut self, count: usize) {
        let next = self.gone + self.workers;
        (next..next + count).for_each(|index| self.give_worker("c", &format!("w-{index:02}")));
        self.workers += count;
    }

    /// Deletes so many of them, the oldest first.
    pub(super) fn fewer_workers(&mut self, count: usize) {
        (self.gone..self.gone + count)
            .for_each(|index| self.take_machine(&format!("w-{index:02}")));
        self.workers -= count;
        self.gone += count;
    }

    /// Deletes a Machine and its config.
    pub(super) fn take_machine(&self, name: &str) {
        for (api_version, kind) in [
            (self.kind.api_version("v1beta2").as_str(), self.kind.kind),
            (CORE, "Machine"),
        ] {
            let metadata = json!({"name": name, "namespace": self.namespace});
            self.plane
                .api
                .delete(&json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}))
                .unwrap();
        }
    }

    /// Deletes the Cluster with its machines, and waits until all that was made for them has gone
    /// with it.
    pub(super) fn end(self) {
        let clusters = self.plane.api.list(CORE, "Cluster", Some(&self.namespace));
        for object in self
            .configs()
            .iter()
            .chain(&self.machines())
            .chain(&clusters)
        {
            self.plane.api.delete(object).unwrap();
        }
        let metadata = json!({"name": "c-kubeconfig", "namespace": self.namespace});
        self.plane
            .api
            .delete(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata}))
            .unwrap();
        wait::until(
            &format!("the Secrets of {} to be gone", self.namespace),
            LONG,
            || {
                let left = self
                    .plane
                    .api
                    .list("v1", "Secret", Some(&self.namespace))
                    .len();
                if left == 0 {
                    Ok(())
                } else {
                    Err(format!("{left} are there"))
                }
            },
        );
        self.plane.api.delete(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})).unwrap();
    }

    /// Deletes the machines that are there, with their configs, and makes others of the same names.
    pub(super) fn replace_machines(&self) {
        let configs = self.configs();
        for object in configs.iter().chain(&self.machines()) {
            self.plane.api.delete(object).unwrap();
        }
        wait::until("the machines to be gone", SOON, || {
            if self.configs().is_empty() && self.machines().is_empty() {
                Ok(())
            } else {
                Err("some are there".to_owned())
            }
        });
        let is_initialized = self.is_initialized();
        for config in configs {
            let name = config["metadata"]["name"].as_str().unwrap();
            let spec = if name == FIRST && !is_initialized {
                begins()
            } else {
                joins()
            };
            self.give_machine("c", name, name.starts_with("cp-"), &spec)
                .unwrap();
        }
    }

    /// Makes an object again, as a backup has it: with another uid, without status but that of the
    /// Cluster, which the core would write, and without owners but the Machine, which the core
    /// would set. The first worker's Machine has not read the name of its Secret.
    pub(super) fn restore(&self, object: &Value) {
        let mut new = object.clone();
        let name = object["metadata"]["name"].as_str().unwrap();
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "managedFields",
            "generation",
            "ownerReferences",
        ] {
            new["metadata"].as_object_mut().unwrap().remove(field);
        }
        new.as_object_mut().unwrap().remove("status");
        match object["kind"].as_str().unwrap() {
            kind if kind == self.kind.kind => {
                let machine = self
                    .plane
                    .api
                    .get(CORE, "Machine", Some(&self.namespace), name)
                    .unwrap();
                let owner = json!({"apiVersion": CORE, "kind": "Machine", "name": name, "uid": machine["metadata"]["uid"], "controller": true});
                new["metadata"]["ownerReferences"] = json!([owner]);
            }
            "Machine" if name == "w-00" => {
                new["spec"]["bootstrap"]
                    .as_object_mut()
                    .unwrap()
                    .remove("dataSecretName");
            }
            _ => {}
        }
        let new = self.plane.api.create(&new).unwrap();
        if object["kind"] == "Cluster" {
            self.plane
                .api
                .merge_status(&new, &object["status"])
                .unwrap();
        }
    }

    /// A manager of this namespace alone, for its kind of configs.
    pub(super) fn manager(&self, ways: &Ways, more: &[&str]) -> Process {
        let [namespace, kinds] = [
            format!("--namespace={}", self.namespace),
            format!("--kinds={}", self.kind.kind),
        ];
        let mut arguments = vec![namespace.as_str(), kinds.as_str()];
        if self.kind == KUBEADM_CONFIG {
            arguments.push("--leader-elect");
            self.free_lease();
        }
        arguments.extend(more);
        windlass_manager::spawn_alone(self.plane, &ways.manager, &self.namespace, &[], &arguments)
    }

    /// What one that was killed holds for some seconds more is nobody's at once. The kubeadm
    /// provider's Lease stays as it is.
    fn free_lease(&self) {
        if let Ok(lease) = self.plane.api.get(
            "coordination.k8s.io/v1",
            "Lease",
            Some(windlass::NAMESPACE),
            windlass_manager::LEASE,
        ) {
            self.plane
                .api
                .merge(&lease, &json!({"spec": {"holderIdentity": ""}}))
                .unwrap();
        }
    }

    pub(super) fn configs(&self) -> Vec<Value> {
        self.kind.list(self.plane, &self.namespace)
    }

    fn machines(&self) -> Vec<Value> {
        self.plane.api.list(CORE, "Machine", Some(&self.namespace))
    }

    fn is_initialized(&self) -> bool {
        let cluster = self
            .plane
            .api
            .get(CORE, "Cluster", Some(&self.namespace), "c")
            .unwrap();
        cluster["status"]["conditions"].is_array()
    }

    /// All configs of the whole bring-up.
    pub(super) fn count(&self) -> usize {
        self.control_planes + self.workers
    }

    /// Does what the core does next: gives Machines the names of their Secrets, says that the
    /// control plane has begun, and makes its other Machines.
    pub(super) fn play(&self) {
        for config in self.configs() {
            let (name, secret) = (
                &config["metadata"]["name"],
                &config["status"]["dataSecretName"],
            );
            if secret.is_null() {
                continue;
            }
            let machine = self
                .plane
                .api
                .get(
                    CORE,
                    "Machine",
                    Some(&self.namespace),
                    name.as_str().unwrap(),
                )
                .unwrap();
            if machine["spec"]["bootstrap"]["dataSecretName"].is_null() {
                self.plane
                    .api
                    .merge(
                        &machine,
                        &json!({"spec": {"bootstrap": {"dataSecretName": secret}}}),
                    )
                    .unwrap();
                if name == FIRST && !self.is_initialized() {
                    let cluster = self
                        .plane
                        .api
                        .get(CORE, "Cluster", Some(&self.namespace), "c")
                        .unwrap();
                    self.initialize(&cluster);
                    (1..self.control_planes).for_each(|index| {
                        self.give_machine("c", &format!("cp-{index}"), true, &joins())
                            .unwrap();
                    });
                }
            }
        }
    }

    fn initialize(&self, cluster: &Value) {
        let condition = json!({
            "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        self.plane
            .api
            .merge_status(cluster, &json!({ "conditions": [condition] }))
            .unwrap();
    }

    /// Whether all is there and said; what is missing if not.
    pub(super) fn done(&self) -> Result<(), String> {
        let configs = self.configs();
        if configs.len() < self.count() {
            return Err(format!("{} of {} configs", configs.len(), self.count()));
        }
        let open: Vec<&Value> = configs.iter().filter(|config| !is_done(config)).collect();
        if let Some(first) = open.first() {
            return Err(format!(
                "{} of {}: {} {}",
                open.len(),
                configs.len(),
                first["metadata"]["name"],
                first["status"]
            ));
        }
        match self
            .plane
            .api
            .get("v1", "ConfigMap", Some(&self.namespace), "c-lock")
        {
            Ok(_) => Err("the lock is there".to_owned()),
            Err(_) => Ok(()),
        }
    }

    /// How long it takes until workers of a cluster have their data, in whole seconds upwards. Each
    /// is asked for by itself, and when it was done its condition says: a list of thousands,
    /// again and again, would be part of what is measured, and to ask for hundreds takes longer
    /// than to make them.
    pub(super) fn time_until_done(&self, manager: &mut Process, names: &[String]) -> Duration {
        let (began, deadline) = (SystemTime::now(), Instant::now() + DATA);
        let done = names.iter().enumerate().map(|(at, name)| {
            let left = deadline.saturating_duration_since(Instant::now());
            wait::until(
                &format!("{name}, after {at} of {}", names.len()),
                left,
                || {
                    manager.assert_running();
                    let config = self.kind.get(self.plane, &self.namespace, name);
                    if is_done(&config) {
                        Ok(ready_since(&config))
                    } else {
                        Err(config["status"].to_string())
                    }
                },
            )
        });
        let began = began
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs()
            % DAY;
        let taken = done.map(|second| (DAY + second + 1 - began) % DAY).max();
        Duration::from_secs(taken.expect("there are workers"))
    }

    /// All that a manager writes, without what is different each time.
    pub(super) fn objects(&self) -> BTreeMap<String, Value> {
        let of = |api_version: &str, kind: &str| {
            self.plane
                .api
                .list(api_version, kind, Some(&self.namespace))
        };
        let all = [of("v1", "Secret"), of("v1", "ConfigMap"), self.configs()].concat();
        let all = all
            .into_iter()
            .filter(|object| object["metadata"]["name"] != "kube-root-ca.crt");
        all.map(|object| {
            (
                format!("{} {}", object["kind"], object["metadata"]["name"]),
                unvarying(object),
            )
        })
        .collect()
    }

    /// The names of the bootstrap tokens that the workload cluster has since this site is there,
    /// and those that its configs name.
    pub(super) fn tokens(&self) -> [Vec<String>; 2] {
        let there: Vec<String> = tokens(self.plane)
            .into_iter()
            .filter(|name| !self.earlier.contains(name))
            .collect();
        let id = |config: &Value| {
            let token = config["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"]
                .as_str()?;
            Some(format!("bootstrap-token-{}", token.split_once('.')?.0))
        };
        let mut named: Vec<String> = self.configs().iter().filter_map(id).collect();
        named.sort();
        [there, named]
    }

    /// Takes the tokens of this site away, so that the next one has none but its own.
    pub(super) fn leave(&self) {
        self.take_tokens(&self.tokens()[0]);
    }

    /// Takes all tokens away but those of this site's configs, as the cluster does with those that
    /// have expired.
    pub(super) fn keep_tokens(&self) {
        let [there, named] = self.tokens();
        self.take_tokens(
            &there
                .into_iter()
                .filter(|name| !named.contains(name))
                .collect::<Vec<_>>(),
        );
    }

    fn take_tokens(&self, names: &[String]) {
        for name in names {
            let metadata = json!({"name": name, "namespace": "kube-system"});
            self.plane
                .api
                .delete(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata}))
                .unwrap();
        }
    }
}

/// The names of all bootstrap tokens of the workload cluster, in order.
fn tokens(plane: &ControlPlane) -> Vec<String> {
    let secrets = plane
        .api
        .list("v1", "Secret", Some("kube-system"))
        .into_iter();
    let tokens = secrets.filter(|secret| secret["type"] == "bootstrap.kubernetes.io/token");
    let mut names: Vec<String> = tokens
        .map(|secret| secret["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

const DAY: u64 = 24 * 60 * 60;

/// The second of the day in which a config became ready.
fn ready_since(config: &Value) -> u64 {
    let conditions = config["status"]["conditions"]
        .as_array()
        .expect("a config that is done has conditions");
    let ready = conditions
        .iter()
        .find(|condition| condition["type"] == "Ready")
        .expect("it is ready");
    let (_, clock) = ready["lastTransitionTime"]
        .as_str()
        .unwrap()
        .trim_end_matches('Z')
        .split_once('T')
        .expect("a time of RFC 3339");
    clock.split(':').fold(0, |all, part| {
        all * 60 + part.parse::<u64>().expect("hours, minutes and seconds")
    })
}

/// Whether a config has its data and says so of what it is now.
pub(super) fn is_done(config: &Value) -> bool {
    let status = &config["status"];
    let is_ready =
        |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    status["initialization"]["dataSecretCreated"] == true
        && status["dataSecretName"] == config["metadata"]["name"]
        && status["observedGeneration"] == config["metadata"]["generation"]
        && status["conditions"]
            .as_array()
            .is_some_and(|all| all.iter().any(is_ready))
}

/// The config of the machine that begins the cluster.
fn begins() -> Value {
    json!({"clusterConfiguration": {"encryptionAlgorithm": "ECDSA-P256"}, "initConfiguration": {"nodeRegistration": {"taints": []}}})
}

/// The config of a machine that joins.
fn joins() -> Value {
    json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}})
}

fn unvarying(mut object: Value) -> Value {
    for field in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "managedFields",
        "namespace",
    ] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    for owner in object["metadata"]["ownerReferences"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        owner.as_object_mut().unwrap().remove("uid");
    }
    // Of Secrets the keys alone: what is in those of configs is compared with what is rendered.
    for value in object["data"].as_object_mut().into_iter().flatten() {
        *value.1 = Value::Null;
    }
    if [WINDLASS_CONFIG, KUBEADM_CONFIG]
        .iter()
        .any(|config| object["kind"] == config.kind)
    {
        let token = object.pointer_mut("/spec/joinConfiguration/discovery/bootstrapToken");
        for (field, value) in token.and_then(Value::as_object_mut).into_iter().flatten() {
            if ["token", "caCertHashes"].contains(&field.as_str()) {
                *value = Value::Null;
            }
        }
        for path in [
            "/status/conditions",
            "/status/deprecated/v1beta1/conditions",
        ] {
            for condition in object
                .pointer_mut(path)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                condition
                    .as_object_mut()
                    .unwrap()
                    .remove("lastTransitionTime");
            }
        }
    }
    object
}
