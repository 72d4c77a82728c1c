//! Random Clusters with their classes: variables of all types, patches of all kinds, overrides.

use serde_json::{Map, Value, json};

use crate::harness::random::Random;

const TEXTS: &[&str] = &["plain", "yes", "010", "1e3", "a b", "ä", "x: y", "", "null"];
const CONTROL_PLANE: [&str; 2] = [
    "controlplane.cluster.x-k8s.io/v1beta2",
    "KubeadmControlPlaneTemplate",
];
const BOOTSTRAP: [&str; 2] = [
    "bootstrap.cluster.x-k8s.io/v1beta2",
    "KubeadmConfigTemplate",
];
const MACHINE: [&str; 2] = [
    "infrastructure.cluster.x-k8s.io/v1beta2",
    "DevMachineTemplate",
];
const POOL: [&str; 2] = [
    "infrastructure.cluster.x-k8s.io/v1beta2",
    "DevMachinePoolTemplate",
];
const CLUSTER: [&str; 2] = [
    "infrastructure.cluster.x-k8s.io/v1beta2",
    "DevClusterTemplate",
];

/// Makes inputs from random numbers.
pub(super) struct Generator {
    random: Random,
}

/// A variable that a class defines.
struct Variable {
    name: String,
    kind: &'static str,
    required: bool,
    has_default: bool,
}

impl Generator {
    pub(super) fn new(random: Random) -> Self {
        Generator { random }
    }

    /// A class, its templates, and a Cluster.
    pub(super) fn objects(&mut self) -> Vec<Value> {
        let variables: Vec<Variable> = (0..1 + self.random.below(6))
            .map(|at| self.variable(at))
            .collect();
        let classes: Vec<String> = (0..1 + self.random.below(2))
            .map(|at| format!("worker-{at}"))
            .collect();
        let pools: Vec<String> = if self.random.percent(40) {
            vec!["pool-0".to_owned()]
        } else {
            Vec::new()
        };
        let mut objects = vec![self.class(&variables, &classes, &pools)];
        let templates = [
            (CLUSTER, "c"),
            (CONTROL_PLANE, "cp"),
            (BOOTSTRAP, "b"),
            (MACHINE, "m"),
            (POOL, "p"),
        ];
        objects.extend(templates.map(|(kind, name)| self.template(kind, name)));
        objects.push(self.cluster(&variables, &classes, &pools));
        objects
    }

    fn variable(&mut self, at: usize) -> Variable {
        let kind = self
            .random
            .of(&["string", "integer", "number", "boolean", "object", "array"]);
        let has_default = self.random.percent(50);
        Variable {
            name: format!("v{at}"),
            kind,
            required: !has_default && self.random.percent(50),
            has_default,
        }
    }

    fn value(&mut self, kind: &str) -> Value {
        match kind {
            "string" => self.random.of(TEXTS).into(),
            "integer" => self
                .random
                .of(&[0_i64, 1, -7, 65_535, 1_000_000, 21_000_000])
                .into(),
            "number" => self.random.of(&[0.5, 2.0, -1.25, 1e7]).into(),
            "boolean" => self.random.percent(50).into(),
            "array" => (0..self.random.below(3))
                .map(|_| Value::from(self.random.of(TEXTS)))
                .collect(),
            _ => {
                let mut entries = Map::new();
                for key in ["a", "b"] {
                    if self.random.percent(60) {
                        entries.insert(key.to_owned(), self.random.of(TEXTS).into());
                    }
                }
                entries.into()
            }
        }
    }

    fn definition(&mut self, variable: &Variable) -> Value {
        let mut schema = json!({"type": variable.kind});
        match variable.kind {
            "object" => {
                schema["properties"] =
                    json!({"a": {"type": "string", "default": "nested"}, "b": {"type": "string"}})
            }
            "array" => schema["items"] = json!({"type": "string"}),
            _ => {}
        }
        if variable.has_default {
            schema["default"] = self.value(variable.kind);
        }
        json!({"name": variable.name, "required": variable.required, "schema": {"openAPIV3Schema": schema}})
    }

    fn class(&mut self, variables: &[Variable], classes: &[String], pools: &[String]) -> Value {
        let reference = |[api_version, kind]: [&str; 2], name: &str| json!({"templateRef": {"apiVersion": api_version, "kind": kind, "name": name}});
        let mut worker = |class: &String, machine: Value| {
            let mut worker = json!({"class": class, "bootstrap": reference(BOOTSTRAP, "b"), "infrastructure": machine});
            if self.random.percent(40) {
                worker["metadata"] =
                    json!({"labels": {"of": "class"}, "annotations": {"note": "class"}});
            }
            worker
        };
        let deployments: Vec<Value> = classes
            .iter()
            .map(|class| worker(class, reference(MACHINE, "m")))
            .collect();
        let machine_pools: Vec<Value> = pools
            .iter()
            .map(|class| worker(class, reference(POOL, "p")))
            .collect();
        let mut control_plane = reference(CONTROL_PLANE, "cp");
        control_plane["machineInfrastructure"] = reference(MACHINE, "m");
        if self.random.percent(30) {
            control_plane["naming"] = json!({"template": "{{ .cluster.name }}-cp-{{ .random }}"});
        }
        let definitions: Vec<Value> = variables
            .iter()
            .map(|variable| self.definition(variable))
            .collect();
        let patches: Vec<Value> = (0..1 + self.random.below(5))
            .map(|at| self.patch(at, variables, classes))
            .collect();
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": {"name": "class"},
            "spec": {
                "infrastructure": reference(CLUSTER, "c"), "controlPlane": control_plane,
                "workers": without_empty(json!({"machineDeployments": deployments, "machinePools": machine_pools})),
                "variables": definitions, "patches": patches,
            },
        })
    }

    fn patch(&mut self, at: usize, variables: &[Variable], classes: &[String]) -> Value {
        let ([api_version, kind], resources, base) = match self.random.below(4) {
            0 => (
                CONTROL_PLANE,
                json!({"controlPlane": true}),
                "/spec/template/spec/kubeadmConfigSpec",
            ),
            1 => (
                CLUSTER,
                json!({"infrastructureCluster": true}),
                "/spec/template/spec",
            ),
            2 => (
                MACHINE,
                json!({"controlPlane": true, "machineDeploymentClass": {"names": ["*-0"]}}),
                "/spec/template/spec",
            ),
            _ => {
                let name = self
                    .random
                    .of(&["*", "worker-*", classes[0].as_str()])
                    .to_owned();
                (
                    BOOTSTRAP,
                    json!({"machineDeploymentClass": {"names": [name]}}),
                    "/spec/template/spec",
                )
            }
        };
        let operations: Vec<Value> = (0..1 + self.random.below(3))
            .map(|number| self.operation(base, at, number, variables))
            .collect();
        let selector =
            json!({"apiVersion": api_version, "kind": kind, "matchResources": resources});
        let mut patch = json!({"name": format!("p{at}"), "definitions": [{"selector": selector, "jsonPatches": operations}]});
        if self.random.percent(30) {
            let name = &self.random.of(&variables
                .iter()
                .map(|variable| variable.name.clone())
                .collect::<Vec<_>>());
            patch["enabledIf"] = self
                .random
                .of(&[
                    format!("{{{{ hasKey . \"{name}\" }}}}"),
                    "{{ ne .builtin.cluster.name \"other\" }}".to_owned(),
                    "no".to_owned(),
                ])
                .into();
        }
        patch
    }

    fn operation(
        &mut self,
        base: &str,
        patch: usize,
        number: usize,
        variables: &[Variable],
    ) -> Value {
        let path = match self.random.below(6) {
            0 => format!("{base}/files/-"),
            1 => format!("{base}/files/0"),
            2 => format!("{base}/old"),
            3 => format!("{base}/deep/a~1b"),
            _ => format!("{base}/new{patch}{number}"),
        };
        if path.ends_with("/old") {
            let op = self.random.of(&["remove", "replace"]);
            return if op == "remove" {
                json!({"op": op, "path": path})
            } else {
                json!({"op": op, "path": path, "value": "replaced"})
            };
        }
        let names: Vec<String> = variables
            .iter()
            .filter(|one| one.required || one.has_default)
            .map(|one| one.name.clone())
            .collect();
        match self.random.below(4) {
            0 => json!({"op": "add", "path": path, "value": self.value("object")}),
            1 if !names.is_empty() => {
                json!({"op": "add", "path": path, "valueFrom": {"variable": self.random.of(&names)}})
            }
            2 => {
                json!({"op": "add", "path": path, "valueFrom": {"variable": "builtin.cluster.topology.version"}})
            }
            _ => {
                let name = self.random.of(&variables
                    .iter()
                    .map(|variable| variable.name.clone())
                    .collect::<Vec<_>>());
                let template = self.random.of(&[
                    format!("{{{{ .{name} }}}}"),
                    format!("path: /etc/x\ncontent: \"{{{{ .{name} | toJson | b64enc }}}}\"\n"),
                    format!("[{{{{ .{name} | quote }}}}, {{{{ .builtin.cluster.name }}}}]"),
                    "{{ range until 3 }}- n{{ . }}\n{{ end }}".to_owned(),
                ]);
                json!({"op": "add", "path": path, "valueFrom": {"template": template}})
            }
        }
    }

    fn template(&mut self, [api_version, kind]: [&str; 2], name: &str) -> Value {
        let spec = json!({"files": [{"path": "/etc/a", "content": self.random.of(TEXTS)}], "old": "old", "deep": {"x": 1}});
        let spec = if kind == CONTROL_PLANE[1] {
            json!({"kubeadmConfigSpec": spec})
        } else {
            spec
        };
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": {"template": {"spec": spec}}})
    }

    fn cluster(&mut self, variables: &[Variable], classes: &[String], pools: &[String]) -> Value {
        let mut given = Vec::new();
        for variable in variables {
            // Now and then one that is required is missing, or has a value of another type.
            if variable.required && !self.random.percent(4) || self.random.percent(40) {
                let kind = if self.random.percent(2) {
                    "object"
                } else {
                    variable.kind
                };
                given.push(json!({"name": variable.name, "value": self.value(kind)}));
            }
        }
        let mut machines = |classes: &[String], prefix: &str, most: usize| -> Vec<Value> {
            let count = if classes.is_empty() {
                0
            } else {
                self.random.below(most + 1)
            };
            let one = |at: usize| {
                let mut one =
                    json!({"class": self.random.of(classes), "name": format!("{prefix}{at}")});
                if self.random.percent(60) {
                    one["replicas"] = self.random.below(3).into();
                }
                if self.random.percent(40) {
                    let variable = &variables[self.random.below(variables.len())];
                    one["variables"] = json!({"overrides": [{"name": variable.name, "value": self.value(variable.kind)}]});
                }
                if self.random.percent(40) {
                    one["metadata"] =
                        json!({"labels": {"of": "topology"}, "annotations": {"more": "topology"}});
                }
                one
            };
            (0..count).map(one).collect()
        };
        let (deployments, machine_pools) = (machines(classes, "md-", 3), machines(pools, "mp-", 1));
        let mut topology = json!({
            "classRef": {"name": "class"}, "version": "v1.34.1", "controlPlane": {"replicas": 1 + 2 * self.random.below(2)},
            "workers": {"machineDeployments": deployments, "machinePools": machine_pools}, "variables": given,
        });
        // Lists without items are rejected; now and then there is one.
        if !self.random.percent(5) {
            topology["workers"] = without_empty(topology["workers"].take());
            topology = without_empty(topology);
        }
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "some", "labels": {"a": "b"}},
            "spec": {"clusterNetwork": {"pods": {"cidrBlocks": ["10.1.0.0/16"]}}, "topology": topology},
        })
    }
}

/// An object without its empty lists and objects.
fn without_empty(mut value: Value) -> Value {
    let is_empty = |value: &Value| {
        value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
    };
    if let Some(entries) = value.as_object_mut() {
        entries.retain(|_, value| !is_empty(value));
    }
    value
}
