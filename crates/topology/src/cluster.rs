//! Clusters with a managed topology, of core v1beta1 and v1beta2: `Cluster` of Cluster API's
//! `api/core`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::part::Part;
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::Object;

/// Values by the names of variables.
pub(super) type Values = BTreeMap<String, Value>;

/// A Cluster with `spec.topology`.
#[derive(Debug)]
pub(super) struct Cluster<'o> {
    pub(super) object: &'o Object,
    pub(super) topology: Part<'o>,
    /// The name of its class.
    pub(super) class: Part<'o>,
    /// `spec.topology.version`, with the `v` that the webhook adds.
    pub(super) version: String,
    pub(super) control_plane: Part<'o>,
    pub(super) deployments: Vec<Worker<'o>>,
    pub(super) pools: Vec<Worker<'o>>,
}

/// A MachineDeployment or MachinePool of a topology.
#[derive(Debug)]
pub(super) struct Worker<'o> {
    pub(super) part: Part<'o>,
    pub(super) name: &'o str,
    pub(super) class: &'o str,
}

impl<'o> Cluster<'o> {
    pub(super) fn is_one(object: &Object) -> bool {
        object.is(CORE_GROUP, "Cluster")
            && object
                .field(&["spec", "topology"])
                .is_some_and(Value::is_object)
    }

    /// Without admission nothing adds the `v` that a version lacks.
    pub(super) fn of(object: &'o Object, is_admitted: bool) -> Self {
        let topology = Part::whole(object).at("spec.topology");
        let version = topology.field("version").text();
        let workers = |list| {
            topology
                .at("workers")
                .field(list)
                .items()
                .map(Worker::of)
                .collect()
        };
        Cluster {
            object,
            class: topology.either(&["classRef.name", "class"]),
            version: if version.starts_with('v') || !is_admitted {
                version.to_owned()
            } else {
                format!("v{version}")
            },
            control_plane: topology.field("controlPlane"),
            deployments: workers("machineDeployments"),
            pools: workers("machinePools"),
            topology,
        }
    }

    pub(super) fn name(&self) -> &'o str {
        self.object.name()
    }

    pub(super) fn namespace(&self) -> &'o str {
        self.object.namespace_or_default()
    }

    pub(super) fn class_namespace(&self) -> &'o str {
        match self
            .topology
            .either(&["classRef.namespace", "classNamespace"])
            .text()
        {
            "" => self.namespace(),
            namespace => namespace,
        }
    }
}

impl<'o> Worker<'o> {
    fn of(part: Part<'o>) -> Self {
        Worker {
            name: part.field("name").text(),
            class: part.field("class").text(),
            part,
        }
    }
}
