//! Fields that v1beta2 rejects when they are empty: optional objects, lists and strings with a
//! minimum size, and ports of 0.
//!
//! Source: `minProperties`, `minItems` and `minLength` of optional fields in the CRDs of Cluster
//! API v1.14; those of configs are in our own.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::table::{Form, Move};
use windlass_source::diag::{FieldPath, Segment};

/// The parts of the spec of a machine.
const MACHINE: [&str; 8] = [
    "bootstrap.configRef",
    "deletion",
    "failureDomain",
    "providerID",
    "readinessGates",
    "taints",
    "taints[].value",
    "version",
];
const HEALTH_CHECK: [&str; 6] = [
    "checks",
    "checks.unhealthyMachineConditions",
    "checks.unhealthyNodeConditions",
    "remediation",
    "remediation.triggerIf",
    "remediation.triggerIf.unhealthyInRange",
];
const ROLLOUT: [&str; 3] = [
    "rollout",
    "rollout.strategy",
    "rollout.strategy.rollingUpdate",
];
/// What remains of the remediation of v1beta1 without its only field, which has moved.
const OLD_REMEDIATION: &str = "rollout.strategy.remediation";
const NAMING: [&str; 2] = ["naming", "naming.template"];
const MACHINE_NAMING: [&str; 2] = ["machineNaming", "machineNaming.template"];
/// What the machines of a topology or a class have, whoever makes them.
const MACHINES: [&str; 4] = ["deletion", "metadata", "taints", "taints[].value"];
const VARIABLES: [&str; 2] = ["variables", "variables.overrides"];
const WORKERS: [&str; 3] = [
    "workers",
    "workers.machineDeployments",
    "workers.machinePools",
];
const CLUSTER: [&str; 14] = [
    "availabilityGates",
    "clusterNetwork",
    "clusterNetwork.apiServerPort",
    "clusterNetwork.pods",
    "clusterNetwork.pods.cidrBlocks",
    "clusterNetwork.serviceDomain",
    "clusterNetwork.services",
    "clusterNetwork.services.cidrBlocks",
    "controlPlaneEndpoint",
    "controlPlaneEndpoint.host",
    "controlPlaneEndpoint.port",
    "controlPlaneRef",
    "infrastructureRef",
    "topology.classRef.namespace",
];
const CLASS: [&str; 15] = [
    "availabilityGates",
    "kubernetesVersions",
    "patches",
    "patches[].definitions[].jsonPatches[].valueFrom.template",
    "patches[].definitions[].jsonPatches[].valueFrom.variable",
    "patches[].description",
    "patches[].enabledIf",
    "patches[].external.discoverVariablesExtension",
    "patches[].external.generatePatchesExtension",
    "patches[].external.validateTopologyExtension",
    "upgrade",
    "upgrade.external",
    "upgrade.external.generateUpgradePlanExtension",
    "variables",
    "variables[].deprecatedV1Beta1Metadata",
];
/// The schema of a variable of a class; below its properties the CRD leaves all open.
const VARIABLE_SCHEMA: [&str; 9] = [
    "description",
    "format",
    "pattern",
    "required",
    "x-kubernetes-validations",
    "x-kubernetes-validations[].fieldPath",
    "x-kubernetes-validations[].message",
    "x-kubernetes-validations[].messageExpression",
    "x-metadata",
];

/// Fields of v1beta2 that may not be empty, with `.` between and `[]` for the items of a list.
#[derive(Default)]
pub(super) struct NeverEmpty(BTreeSet<String>);

impl NeverEmpty {
    /// Those of a kind; its configs apart.
    pub(super) fn of(kind: &str) -> Self {
        let mut fields = Self::default();
        match kind {
            "Cluster" => fields.cluster(),
            "ClusterClass" => fields.class(),
            "Machine" => fields.add("spec", &MACHINE),
            "MachineHealthCheck" => fields.add("spec", &HEALTH_CHECK),
            "MachineDeployment" | "MachineSet" | "MachinePool" => fields.set(kind),
            "KubeadmConfigTemplate" | "WindlassConfigTemplate" => {
                fields.add("spec.template", &["metadata"])
            }
            "KubeadmControlPlane" => fields.control_plane("spec"),
            "KubeadmControlPlaneTemplate" => {
                fields.control_plane("spec.template.spec");
                fields.add(
                    "spec.template",
                    &[
                        "metadata",
                        "spec",
                        "spec.machineTemplate",
                        "spec.machineTemplate.spec",
                    ],
                );
            }
            _ => {}
        }
        fields
    }

    /// Those that are references, which stand at the same place in v1beta1: an empty one there is
    /// none at all.
    pub(super) fn references(&self, moves: &[Move]) -> Self {
        let is_same = |row: &&Move| {
            row.form == Form::Reference && row.old == row.new && self.0.contains(&row.new)
        };
        Self(
            moves
                .iter()
                .filter(is_same)
                .map(|row| row.new.clone())
                .collect(),
        )
    }

    fn add(&mut self, at: &str, fields: &[&str]) {
        self.0
            .extend(fields.iter().map(|field| format!("{at}.{field}")));
    }

    fn set(&mut self, kind: &str) {
        self.add("spec.template.spec", &MACHINE);
        self.add("spec.template", &["metadata"]);
        if kind != "MachinePool" {
            self.add("spec", &MACHINE_NAMING);
            self.add("spec", &["deletion"]);
        }
        if kind == "MachineDeployment" {
            self.add("spec", &ROLLOUT);
            self.add("spec", &["remediation", OLD_REMEDIATION]);
        }
    }

    fn health_check(&mut self, at: &str) {
        self.add(at, &["healthCheck"]);
        self.add(&format!("{at}.healthCheck"), &HEALTH_CHECK);
    }

    /// The control plane, deployments and pools of a topology or a class.
    fn machines(&mut self, at: &str, own: &[&str]) {
        let deployments = format!("{at}.workers.machineDeployments[]");
        let [control_plane, pools] = [
            format!("{at}.controlPlane"),
            format!("{at}.workers.machinePools[]"),
        ];
        for at in [&control_plane, &deployments, &pools] {
            self.add(at, &MACHINES);
            self.add(at, own);
        }
        for at in [&control_plane, &deployments] {
            self.health_check(at);
            self.add(at, &["readinessGates"]);
        }
        self.add(&deployments, &ROLLOUT);
        self.add(&deployments, &["failureDomain", OLD_REMEDIATION]);
        self.add(at, &WORKERS);
    }

    fn cluster(&mut self) {
        self.add("spec", &CLUSTER);
        self.machines("spec.topology", &VARIABLES);
        self.add(
            "spec.topology",
            &[
                "controlPlane",
                "controlPlane.rollout",
                "variables",
                "workers.machinePools[].failureDomains",
            ],
        );
    }

    fn class(&mut self) {
        self.add("spec", &CLASS);
        self.add("spec.variables[].schema.openAPIV3Schema", &VARIABLE_SCHEMA);
        self.add("spec.infrastructure", &NAMING);
        self.machines("spec", &NAMING);
    }

    fn control_plane(&mut self, at: &str) {
        self.add(at, &MACHINE_NAMING);
        self.add(at, &ROLLOUT);
        self.add(at, &["remediation", "rollout.before"]);
        self.add(
            &format!("{at}.machineTemplate"),
            &[
                "metadata",
                "spec.deletion",
                "spec.readinessGates",
                "spec.taints",
                "spec.taints[].value",
            ],
        );
    }

    /// Those of a schema that are texts, below a place.
    pub(super) fn texts_of(schema: &Value, at: &str) -> Self {
        let mut fields = Self::default();
        fields.add_texts(schema, at);
        fields
    }

    /// The depth is that of the schema.
    fn add_texts(&mut self, schema: &Value, at: &str) {
        if let Some(items) = schema.get("items") {
            self.add_texts(items, &format!("{at}[]"));
        }
        let required = |name: &str| {
            schema["required"]
                .as_array()
                .is_some_and(|names| names.iter().any(|required| required == name))
        };
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let field = format!("{at}.{name}");
            self.add_texts(inner, &field);
            if inner["minLength"].as_u64().is_some_and(|least| least > 0) && !required(name) {
                self.0.insert(field);
            }
        }
    }

    /// Takes the fields that are empty out of an object, and those that become so, innermost first;
    /// gives the places of the former. The depth is that of the document.
    pub(super) fn take_from(&self, object: &mut Value) -> Vec<FieldPath> {
        let mut taken = Vec::new();
        if !self.0.is_empty() {
            self.take(object, "", &mut FieldPath::root(), &mut taken);
        }
        taken
    }

    fn take(
        &self,
        value: &mut Value,
        field: &str,
        path: &mut FieldPath,
        taken: &mut Vec<FieldPath>,
    ) {
        match value {
            Value::Object(fields) => fields.retain(|name, inner| {
                let field = if field.is_empty() {
                    name.clone()
                } else {
                    format!("{field}.{name}")
                };
                let was_empty = holds_nothing(inner);
                path.push(Segment::Field(name.clone()));
                self.take(inner, &field, path, taken);
                let goes = holds_nothing(inner) && self.0.contains(&field);
                if goes && was_empty {
                    taken.push(path.clone());
                }
                path.pop();
                !goes
            }),
            Value::Array(items) => {
                let field = format!("{field}[]");
                for (index, item) in items.iter_mut().enumerate() {
                    path.push(Segment::Index(index));
                    self.take(item, &field, path, taken);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}

/// Whether Go omits a value: a port of 0 is not specified.
fn holds_nothing(value: &Value) -> bool {
    value.as_i64() == Some(0)
        || value.as_object().is_some_and(Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_str() == Some("")
}
