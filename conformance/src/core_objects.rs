//! The objects that Cluster API's core creates, in the API version that the management cluster
//! stores, with the fields that a bootstrap provider reads.

use serde_json::{Value, json};

use crate::api::Kind;

/// The group of references to infrastructure, which no controller follows here.
const INFRASTRUCTURE: &str = "infrastructure.conformance.windlass.dev";

/// The generation of the core's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Core {
    V1Beta1,
    V1Beta2,
}

impl Core {
    /// The generation that the CRD of Cluster stores, or a version without conversion.
    pub(crate) fn of_crd(crd: &Value) -> Option<Core> {
        let versions = crd["spec"]["versions"].as_array()?;
        let stored = versions.iter().find(|version| version["storage"] == true)?;
        match stored["name"].as_str()? {
            "v1beta1" => Some(Core::V1Beta1),
            "v1beta2" => Some(Core::V1Beta2),
            _ => None,
        }
    }

    pub(crate) const fn version(self) -> &'static str {
        match self {
            Core::V1Beta1 => "v1beta1",
            Core::V1Beta2 => "v1beta2",
        }
    }

    fn api_version(self) -> String {
        format!("cluster.x-k8s.io/{}", self.version())
    }

    fn kind(self, kind: &str) -> Kind {
        Kind::new(
            &self.api_version(),
            kind,
            &format!("{}s", kind.to_lowercase()),
        )
    }

    pub(crate) fn clusters(self) -> Kind {
        self.kind("Cluster")
    }

    pub(crate) fn machines(self) -> Kind {
        self.kind("Machine")
    }

    pub(crate) fn machine_pools(self) -> Kind {
        self.kind("MachinePool")
    }

    fn reference(self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Value {
        match self {
            Core::V1Beta1 => {
                json!({"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name})
            }
            Core::V1Beta2 => {
                let group = api_version.split('/').next();
                json!({"apiGroup": group, "kind": kind, "name": name})
            }
        }
    }

    fn infrastructure(self, kind: &str, namespace: &str, name: &str) -> Value {
        self.reference(&format!("{INFRASTRUCTURE}/v1"), kind, namespace, name)
    }

    /// A Cluster, with the endpoint of its control plane if that is known.
    pub(crate) fn cluster(
        self,
        namespace: &str,
        name: &str,
        endpoint: Option<(&str, u16)>,
    ) -> Value {
        let mut spec = json!({
            "clusterNetwork": {
                "pods": {"cidrBlocks": ["192.168.0.0/16"]},
                "services": {"cidrBlocks": ["10.96.0.0/12"]},
                "serviceDomain": "cluster.local",
            },
            "infrastructureRef": self.infrastructure("ConformanceCluster", namespace, name),
        });
        if let Some((host, port)) = endpoint {
            spec["controlPlaneEndpoint"] = json!({"host": host, "port": port});
        }
        self.object("Cluster", namespace, name, name, spec)
    }

    /// A Machine whose bootstrap config is `config`.
    pub(crate) fn machine(self, machine: &Machine<'_>) -> Value {
        let Machine {
            namespace,
            cluster,
            name,
            version,
            ..
        } = *machine;
        let mut object = self.object(
            "Machine",
            namespace,
            name,
            cluster,
            self.machine_spec(machine),
        );
        object["spec"]["version"] = json!(version);
        if machine.is_control_plane {
            object["metadata"]["labels"]["cluster.x-k8s.io/control-plane"] = json!("");
        }
        object
    }

    /// A MachinePool whose bootstrap config is `config`.
    pub(crate) fn machine_pool(self, machine: &Machine<'_>) -> Value {
        let Machine {
            namespace,
            cluster,
            name,
            version,
            ..
        } = *machine;
        let mut template = self.machine_spec(machine);
        template["version"] = json!(version);
        let spec = json!({"clusterName": cluster, "replicas": 1, "template": {"spec": template}});
        self.object("MachinePool", namespace, name, cluster, spec)
    }

    fn machine_spec(self, machine: &Machine<'_>) -> Value {
        let Machine {
            namespace,
            cluster,
            name,
            config,
            is_pool,
            ..
        } = *machine;
        let infrastructure = if is_pool {
            "ConformanceMachinePool"
        } else {
            "ConformanceMachine"
        };
        json!({
            "clusterName": cluster,
            "bootstrap": {"configRef": self.reference(&config.api_version, &config.kind, namespace, name)},
            "infrastructureRef": self.infrastructure(infrastructure, namespace, name),
        })
    }

    fn object(self, kind: &str, namespace: &str, name: &str, cluster: &str, spec: Value) -> Value {
        json!({
            "apiVersion": self.api_version(), "kind": kind,
            "metadata": {
                "namespace": namespace, "name": name,
                "labels": {"cluster.x-k8s.io/cluster-name": cluster},
            },
            "spec": spec,
        })
    }

    /// The status of a Cluster whose infrastructure is or is not ready, and whose control plane is
    /// or is not initialised, in the order of the core's conditions.
    pub(crate) fn cluster_status(self, infrastructure: bool, initialized: bool) -> Value {
        let conditions = [
            ("InfrastructureReady", infrastructure),
            ("ControlPlaneInitialized", initialized),
        ];
        let conditions: Vec<Value> = conditions
            .iter()
            .map(|(kind, holds)| self.condition(kind, *holds))
            .collect();
        match self {
            Core::V1Beta1 => json!({
                "infrastructureReady": infrastructure, "controlPlaneReady": initialized,
                "conditions": conditions,
            }),
            Core::V1Beta2 => json!({
                "initialization": {
                    "infrastructureProvisioned": infrastructure,
                    "controlPlaneInitialized": initialized,
                },
                "conditions": conditions,
            }),
        }
    }

    fn condition(self, kind: &str, holds: bool) -> Value {
        let status = if holds { "True" } else { "False" };
        let time = "2026-01-01T00:00:00Z";
        match (self, holds) {
            (Core::V1Beta1, true) => {
                json!({"type": kind, "status": status, "lastTransitionTime": time})
            }
            (Core::V1Beta1, false) => json!({
                "type": kind, "status": status, "lastTransitionTime": time, "severity": "Info",
                "reason": format!("WaitingFor{kind}"),
            }),
            (Core::V1Beta2, _) => json!({
                "type": kind, "status": status, "lastTransitionTime": time, "message": "",
                "reason": if holds { kind.to_owned() } else { format!("Not{kind}") },
            }),
        }
    }
}

/// What a Machine or MachinePool consists of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) cluster: &'a str,
    /// Also of its config.
    pub(crate) name: &'a str,
    /// Of Kubernetes.
    pub(crate) version: &'a str,
    pub(crate) config: &'a Kind,
    pub(crate) is_control_plane: bool,
    pub(crate) is_pool: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_follow_the_generation_of_the_core() {
        let config = Kind::new(
            "bootstrap.example.com/v1",
            "HarbourConfig",
            "harbourconfigs",
        );
        let machine = Machine {
            namespace: "n",
            cluster: "c",
            name: "m",
            version: "v1.34.1",
            config: &config,
            is_control_plane: true,
            is_pool: false,
        };
        let reference =
            |core: Core| core.machine(&machine)["spec"]["bootstrap"]["configRef"].clone();
        assert_eq!(
            reference(Core::V1Beta2),
            json!({"apiGroup": "bootstrap.example.com", "kind": "HarbourConfig", "name": "m"})
        );
        assert_eq!(
            reference(Core::V1Beta1)["apiVersion"],
            "bootstrap.example.com/v1"
        );
        let labels = &Core::V1Beta2.machine(&machine)["metadata"]["labels"];
        assert_eq!(labels["cluster.x-k8s.io/control-plane"], "");
    }

    #[test]
    fn generation_is_the_stored_one() {
        let crd = json!({"spec": {"versions": [{"name": "v1beta1"}, {"name": "v1beta2", "storage": true}]}});
        assert_eq!(Core::of_crd(&crd), Some(Core::V1Beta2));
        assert_eq!(Core::of_crd(&json!({})), None);
    }
}
