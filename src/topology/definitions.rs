//! The CRDs of ClusterClass and Cluster, as far as topologies break them.
//!
//! Source: `spec` of ClusterClass and `spec.topology` of Cluster in `api/core/v1beta2` of Cluster
//! API v1.14. What v1beta1 takes and v1beta2 does not: lists and objects that are there and hold
//! nothing.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::objects::Object;
use crate::schema::Schema;

/// The schema of a class, in its version. What Clusters use has its templates.
pub(super) fn of_class(class: &Object, is_used: bool) -> &'static Schema {
    static SCHEMAS: [OnceLock<Schema>; 4] = [const { OnceLock::new() }; 4];
    let is_new = class.version() != "v1beta1";
    SCHEMAS[usize::from(is_new) + 2 * usize::from(is_used)].get_or_init(|| {
        let mut schema = class_schema();
        if is_used {
            let demanded = if is_new { DEMANDED } else { DEMANDED_OF_OLD };
            for (path, names) in demanded {
                let part = path.split('.').fold(&mut schema, field_of);
                let object = if part["type"] == "array" {
                    &mut part["items"]
                } else {
                    part
                };
                object["type"] = "object".into();
                object["required"] = json!(names);
            }
        }
        compiled(schema, is_new, &["spec"], CLASS, CLASS_PARTS)
    })
}

/// The fields that parts of a class must have, beside those that a patch for a class has too.
type Demanded = &'static [(&'static str, &'static [&'static str])];

const DEMANDED: Demanded = &[
    ("spec", &["controlPlane", "infrastructure"]),
    ("spec.infrastructure", &["templateRef"]),
    ("spec.infrastructure.templateRef", REFERENCE),
    ("spec.controlPlane", &["templateRef"]),
    ("spec.controlPlane.templateRef", REFERENCE),
    ("spec.controlPlane.machineInfrastructure", &["templateRef"]),
    (
        "spec.controlPlane.machineInfrastructure.templateRef",
        REFERENCE,
    ),
    (
        "spec.workers.machineDeployments",
        &["bootstrap", "class", "infrastructure"],
    ),
    (
        "spec.workers.machineDeployments.bootstrap",
        &["templateRef"],
    ),
    (
        "spec.workers.machineDeployments.bootstrap.templateRef",
        REFERENCE,
    ),
    (
        "spec.workers.machineDeployments.infrastructure",
        &["templateRef"],
    ),
    (
        "spec.workers.machineDeployments.infrastructure.templateRef",
        REFERENCE,
    ),
    (
        "spec.workers.machinePools",
        &["bootstrap", "class", "infrastructure"],
    ),
    ("spec.workers.machinePools.bootstrap", &["templateRef"]),
    ("spec.workers.machinePools.bootstrap.templateRef", REFERENCE),
    ("spec.workers.machinePools.infrastructure", &["templateRef"]),
    (
        "spec.workers.machinePools.infrastructure.templateRef",
        REFERENCE,
    ),
];
const DEMANDED_OF_OLD: Demanded = &[
    ("spec.infrastructure", &["ref"]),
    ("spec.controlPlane", &["ref"]),
    ("spec.controlPlane.machineInfrastructure", &["ref"]),
    ("spec.workers.machineDeployments", &["class", "template"]),
    (
        "spec.workers.machineDeployments.template",
        &["bootstrap", "infrastructure"],
    ),
    (
        "spec.workers.machineDeployments.template.bootstrap",
        &["ref"],
    ),
    (
        "spec.workers.machineDeployments.template.infrastructure",
        &["ref"],
    ),
    ("spec.workers.machinePools", &["class", "template"]),
    (
        "spec.workers.machinePools.template",
        &["bootstrap", "infrastructure"],
    ),
    ("spec.workers.machinePools.template.bootstrap", &["ref"]),
    (
        "spec.workers.machinePools.template.infrastructure",
        &["ref"],
    ),
];
const REFERENCE: &[&str] = &["apiVersion", "kind", "name"];

/// The schema of a Cluster, in its version.
pub(super) fn of_cluster(cluster: &Object) -> &'static Schema {
    static SCHEMAS: [OnceLock<Schema>; 2] = [const { OnceLock::new() }; 2];
    let is_new = cluster.version() != "v1beta1";
    SCHEMAS[usize::from(is_new)].get_or_init(|| {
        compiled(
            cluster_schema(),
            is_new,
            &["spec", "topology"],
            TOPOLOGY,
            TOPOLOGY_PARTS,
        )
    })
}

/// Fields that must hold something: a list up to a number of items, or without one an object.
type Filled = &'static [(&'static str, Option<u32>)];

const CLASS: Filled = &[
    ("availabilityGates", Some(32)),
    ("kubernetesVersions", Some(100)),
    ("patches", Some(1000)),
    ("upgrade", None),
    ("upgrade.external", None),
    ("variables", Some(1000)),
    ("workers", None),
    ("workers.machineDeployments", Some(100)),
    ("workers.machinePools", Some(100)),
    ("infrastructure.naming", None),
];
// Empty ones of `controlPlane` and `workers` are left out by whatever goes through Cluster API's
// types.
const TOPOLOGY: Filled = &[
    ("variables", Some(1000)),
    ("workers.machineDeployments", Some(2000)),
    ("workers.machinePools", Some(2000)),
    ("controlPlane.rollout", None),
    ("workers.machinePools.failureDomains", Some(100)),
];
/// Of everything that machines come of.
const MACHINES: Filled = &[("deletion", None), ("metadata", None), ("taints", Some(64))];
/// Of what has health checks.
const CHECKED: Filled = &[
    ("healthCheck", None),
    ("healthCheck.checks", None),
    ("healthCheck.checks.unhealthyMachineConditions", Some(100)),
    ("healthCheck.checks.unhealthyNodeConditions", Some(100)),
    ("healthCheck.remediation", None),
    ("healthCheck.remediation.triggerIf", None),
    ("readinessGates", Some(32)),
];
const ROLLOUT: Filled = &[
    ("rollout", None),
    ("rollout.strategy", None),
    ("rollout.strategy.rollingUpdate", None),
];
const NAMING: Filled = &[("naming", None)];
const OVERRIDES: Filled = &[("variables", None), ("variables.overrides", Some(1000))];

/// What parts have, by their paths.
type Parts = &'static [(&'static str, &'static [Filled])];

const CLASS_PARTS: Parts = &[
    ("controlPlane", &[MACHINES, CHECKED, NAMING]),
    (
        "workers.machineDeployments",
        &[MACHINES, CHECKED, ROLLOUT, NAMING],
    ),
    ("workers.machinePools", &[MACHINES, NAMING]),
];
const TOPOLOGY_PARTS: Parts = &[
    ("controlPlane", &[MACHINES, CHECKED, OVERRIDES]),
    (
        "workers.machineDeployments",
        &[MACHINES, CHECKED, ROLLOUT, OVERRIDES],
    ),
    ("workers.machinePools", &[MACHINES, OVERRIDES]),
];

fn compiled(mut schema: Value, is_new: bool, root: &[&str], own: Filled, parts: Parts) -> Schema {
    if is_new {
        let of_parts = parts.iter().flat_map(|(part, lists)| {
            lists
                .iter()
                .flat_map(move |list| list.iter().map(move |row| (*part, row)))
        });
        for (part, (field, most)) in own.iter().map(|row| ("", row)).chain(of_parts) {
            let steps = root
                .iter()
                .copied()
                .chain(part.split('.'))
                .chain(field.split('.'))
                .filter(|step| !step.is_empty());
            fill(steps.fold(&mut schema, field_of), *most);
        }
    }
    Schema::from_json(&schema).expect("internal error: the schema is one")
}

/// The schema of a field, or of that of the items where the path is a list's; made where it is not
/// yet.
fn field_of<'s>(schema: &'s mut Value, name: &str) -> &'s mut Value {
    let object = if schema["type"] == "array" {
        &mut schema["items"]
    } else {
        schema
    };
    object["type"] = "object".into();
    &mut object["properties"][name]
}

fn fill(schema: &mut Value, most: Option<u32>) {
    match most {
        Some(most) => {
            schema["type"] = "array".into();
            schema["minItems"] = 1.into();
            schema["maxItems"] = most.into();
            if schema["items"].is_null() {
                schema["items"] = json!({"x-kubernetes-preserve-unknown-fields": true});
            }
        }
        None => {
            schema["type"] = "object".into();
            schema["minProperties"] = 1.into();
        }
    }
}

fn text(least: u32, most: u32) -> Value {
    json!({"type": "string", "minLength": least, "maxLength": most})
}

/// The part of the CRD of ClusterClasses that bounds what patches and variables may be.
fn class_schema() -> Value {
    let names = json!({"type": "object", "properties": {"names": {"type": "array", "maxItems": 100, "items": text(1, 256)}}});
    let match_resources = json!({"type": "object", "minProperties": 1, "properties": {
        "controlPlane": {"type": "boolean"}, "infrastructureCluster": {"type": "boolean"},
        "machineDeploymentClass": names, "machinePoolClass": names,
    }});
    let operation = json!({"type": "object", "required": ["op", "path"], "properties": {
        "op": {"type": "string", "enum": ["add", "replace", "remove"]},
        "path": text(1, 512),
        "valueFrom": {"type": "object", "properties": {"template": text(1, 10240), "variable": text(1, 256)}},
    }});
    let definition = json!({"type": "object", "required": ["jsonPatches", "selector"], "properties": {
        "jsonPatches": {"type": "array", "minItems": 1, "maxItems": 100, "items": operation},
        "selector": {"type": "object", "required": ["apiVersion", "kind", "matchResources"], "properties": {"matchResources": match_resources}},
    }});
    let patch = json!({"type": "object", "required": ["name"], "properties": {
        "name": text(1, 256), "enabledIf": text(1, 256), "definitions": {"type": "array", "maxItems": 100, "items": definition},
    }});
    let variable = json!({"type": "object", "required": ["name", "required", "schema"], "properties": {
        "name": text(1, 256), "required": {"type": "boolean"},
    }});
    let workers = json!({"type": "array", "maxItems": 100, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["class"],
        "items": {"type": "object", "required": ["class"], "properties": {"class": text(1, 256)}}});
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "patches": {"type": "array", "maxItems": 1000, "items": patch},
        "variables": {"type": "array", "maxItems": 1000, "items": variable},
        "workers": {"type": "object", "properties": {"machineDeployments": workers, "machinePools": workers}},
    }}}})
}

/// The part of the CRD of Clusters that a topology breaks.
fn cluster_schema() -> Value {
    let number = json!({"type": "integer", "format": "int32"});
    let workers = json!({"type": "array", "maxItems": 2000, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "required": ["class", "name"], "properties": {
        "class": text(1, 256), "name": text(1, 63), "replicas": number, "minReadySeconds": number,
    }}});
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"topology": {"type": "object", "properties": {
        "controlPlane": {"type": "object", "properties": {"replicas": number}},
        "workers": {"type": "object", "properties": {"machineDeployments": workers, "machinePools": workers}},
    }}}}}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(api_version: &str, topology: Value) -> Vec<String> {
        let cluster = json!({"apiVersion": api_version, "kind": "Cluster", "metadata": {"name": "c"}, "spec": {"topology": topology}});
        let violations = of_cluster(&Object::made(cluster.clone())).validate(&cluster);
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_there_and_holds_nothing_is_refused_of_the_new_version() {
        let empty = json!({
            "workers": {"machineDeployments": [{"class": "a", "name": "b", "rollout": {}, "taints": []}], "machinePools": []},
            "controlPlane": {"healthCheck": {"checks": {}}},
        });
        let found = refused("cluster.x-k8s.io/v1beta2", empty.clone());
        let field = "spec.topology.workers.machineDeployments[0].taints";
        assert!(
            found.contains(&format!(
                "{field}: Invalid value: 0: {field} in body should have at least 1 items"
            )),
            "{found:?}"
        );
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(refused("cluster.x-k8s.io/v1beta1", empty).is_empty());
        let full = json!({"workers": {"machineDeployments": [{"class": "a", "name": "b", "taints": [{"key": "k"}]}]}});
        assert!(refused("cluster.x-k8s.io/v1beta2", full).is_empty());
    }
}
