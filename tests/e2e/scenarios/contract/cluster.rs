//! A Cluster whose infrastructure provider the scenario plays, spoken of in the version that a core
//! manager has.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_capi::api::names::{GROUP, Version};

use super::infrastructure;
use crate::harness::control_plane::ControlPlane;
use crate::harness::wait;

const SOON: Duration = Duration::from_secs(60);
pub(super) const CLUSTER: &str = "harbour";

/// Cluster API as one core manager speaks it.
pub(super) struct Cluster<'a> {
    pub(super) plane: &'a ControlPlane,
    /// `v1beta1` or `v1beta2`: of Cluster and Machine, and the contract.
    pub(super) version: &'a str,
}

impl Cluster<'_> {
    pub(super) fn api_version(&self) -> String {
        format!("cluster.x-k8s.io/{}", self.version)
    }

    /// A reference as this version writes it.
    fn reference(&self, api_version: &str, kind: &str, name: &str) -> Value {
        match self.version {
            "v1beta1" => {
                json!({"apiVersion": api_version, "kind": kind, "name": name, "namespace": "default"})
            }
            _ => {
                json!({"apiGroup": api_version.split('/').next().unwrap(), "kind": kind, "name": name})
            }
        }
    }

    /// A reference to an object of ours. A manager of contract v1beta1 takes the version that
    /// fulfils it.
    fn config_reference(&self, kind: &str, name: &str) -> Value {
        self.reference(&format!("{GROUP}/{}", self.version), kind, name)
    }

    fn object(&self, kind: &str, name: &str, labels: &Value, spec: &Value) -> Value {
        let mut labels = labels.clone();
        labels["cluster.x-k8s.io/cluster-name"] = json!(CLUSTER);
        json!({"apiVersion": self.api_version(), "kind": kind, "metadata": {"name": name, "namespace": "default", "labels": labels}, "spec": spec})
    }

    /// Creates, and waits for the webhooks if need be.
    pub(super) fn create(&self, object: &Value) -> Value {
        let created = wait::until("webhooks", SOON, || match self.plane.api.create(object) {
            Err(rejection) if rejection.code == 500 => Err(rejection.to_string()),
            answer => Ok(answer),
        });
        created.unwrap_or_else(|rejection| panic!("{rejection}\n{object}"))
    }

    /// The Cluster with its infrastructure and its kubeconfig; our API server is its own workload
    /// cluster.
    pub(super) fn create_cluster(&self) {
        let port: u16 = self.plane.url.rsplit(':').next().unwrap().parse().unwrap();
        let endpoint = json!({"host": "127.0.0.1", "port": port});
        let kubeconfig = std::fs::read(&self.plane.kubeconfig).unwrap();
        self.create(&self.secret(&format!("{CLUSTER}-kubeconfig"), &kubeconfig));
        let spec = json!({
            "controlPlaneEndpoint": endpoint, "infrastructureRef": self.reference(infrastructure::API_VERSION, "BerthCluster", CLUSTER),
        });
        self.create(&infrastructure::object(
            "BerthCluster",
            CLUSTER,
            &json!({"controlPlaneEndpoint": endpoint}),
        ));
        self.create(&self.object("Cluster", CLUSTER, &json!({}), &spec));
        infrastructure::provision(self.plane, "BerthCluster", CLUSTER, &json!({}), &json!({}));
    }

    /// A Machine with objects of its own.
    pub(super) fn create_machine(&self, name: &str, labels: &Value) {
        let spec = self.machine_spec("WindlassConfig", "BerthMachine", name);
        self.create(&infrastructure::object("BerthMachine", name, &json!({})));
        self.create(&self.object("Machine", name, labels, &spec));
    }

    /// A MachineDeployment whose templates have the same name.
    pub(super) fn create_machine_deployment(&self, name: &str, replicas: usize) {
        self.create(&infrastructure::object(
            "BerthMachineTemplate",
            name,
            &json!({"template": {"spec": {}}}),
        ));
        let labels = json!({"pier": name});
        let template = json!({"metadata": {"labels": labels}, "spec": self.machine_spec("WindlassConfigTemplate", "BerthMachineTemplate", name)});
        let spec = json!({"clusterName": CLUSTER, "replicas": replicas, "selector": {"matchLabels": labels}, "template": template});
        self.create(&self.object("MachineDeployment", name, &json!({}), &spec));
    }

    /// A MachinePool with objects of its own.
    pub(super) fn create_machine_pool(&self, name: &str, replicas: usize) {
        self.create(&infrastructure::object(
            "BerthMachinePool",
            name,
            &json!({}),
        ));
        let template =
            json!({"spec": self.machine_spec("WindlassConfig", "BerthMachinePool", name)});
        self.create(&self.object(
            "MachinePool",
            name,
            &json!({}),
            &json!({"clusterName": CLUSTER, "replicas": replicas, "template": template}),
        ));
    }

    fn machine_spec(&self, config: &str, infrastructure: &str, name: &str) -> Value {
        json!({
            "clusterName": CLUSTER, "version": "v1.34.4",
            "bootstrap": {"configRef": self.config_reference(config, name)},
            "infrastructureRef": self.reference(infrastructure::API_VERSION, infrastructure, name),
        })
    }

    /// A Secret as Cluster API's are.
    fn secret(&self, name: &str, value: &[u8]) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
            "metadata": {"name": name, "namespace": "default", "labels": {"cluster.x-k8s.io/cluster-name": CLUSTER}},
            "data": {"value": STANDARD.encode(value)},
        })
    }

    /// Waits until our manager has written the Secret of a config and its status, for both
    /// contracts; gives the data.
    pub(super) fn expect_data(&self, config: &str) -> String {
        let in_version = |version: Version| {
            let found = self.plane.api.get(
                &version.api_version(),
                "WindlassConfig",
                Some("default"),
                config,
            );
            found
                .map(|found| found["status"].clone())
                .map_err(|rejection| rejection.to_string())
        };
        wait::until(
            &format!("the data of WindlassConfig {config}"),
            SOON,
            || {
                self.plane.assert_running();
                let status = in_version(Version::V1Beta2)?;
                let is_done = status["initialization"]["dataSecretCreated"] == true
                    && status["dataSecretName"] == config;
                if is_done {
                    Ok(())
                } else {
                    Err(status.to_string())
                }
            },
        );
        let older = in_version(Version::V1Beta1).unwrap();
        assert!(
            older["ready"] == true && older["dataSecretName"] == config,
            "{older}"
        );
        assert!(
            older["conditions"]
                .as_array()
                .unwrap()
                .iter()
                .all(|condition| condition["status"] == "True"),
            "{older}"
        );
        let secret = self
            .plane
            .api
            .get("v1", "Secret", Some("default"), config)
            .unwrap();
        String::from_utf8(
            STANDARD
                .decode(secret["data"]["value"].as_str().unwrap())
                .unwrap(),
        )
        .unwrap()
    }

    /// Does what an infrastructure provider and a kubelet do.
    pub(super) fn boot(&self, machine: &str) {
        let provider_id = format!("berth://{machine}");
        let addresses = json!([{"type": "InternalIP", "address": "10.0.0.1"}]);
        infrastructure::provision(
            self.plane,
            "BerthMachine",
            machine,
            &json!({"providerID": provider_id}),
            &json!({"addresses": addresses}),
        );
        self.join(machine, &provider_id);
    }

    /// A Node.
    pub(super) fn join(&self, name: &str, provider_id: &str) {
        let node = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "spec": {"providerID": provider_id},
        });
        self.create(&node);
    }

    /// One of our objects, in the newest version.
    pub(super) fn config(&self, name: &str) -> Value {
        self.plane
            .api
            .get(
                &Version::V1Beta2.api_version(),
                "WindlassConfig",
                Some("default"),
                name,
            )
            .unwrap()
    }

    /// Waits until an object of Cluster API is as it should be.
    pub(super) fn expect(
        &self,
        kind: &str,
        name: &str,
        what: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Value {
        wait::until(&format!("{kind} {name}: {what}"), SOON, || {
            self.plane.assert_running();
            let found = self
                .plane
                .api
                .get(&self.api_version(), kind, Some("default"), name)
                .map_err(|rejection| rejection.to_string())?;
            if is(&found) {
                Ok(found)
            } else {
                Err(format!("spec {} status {}", found["spec"], found["status"]))
            }
        })
    }
}
