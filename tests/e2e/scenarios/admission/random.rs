//! Random objects of all kinds, made from the schemas of a release: most are accepted, the others
//! have a fault or two.

use serde_json::{Map, Value, json};

use super::release::{DEFINITIONS, Release};
use crate::harness::random::Random;
use crate::scenarios::render;
use crate::scenarios::render::KUBERNETES;

/// Values for fields by their names: the first one is good, others need not be.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "version",
        &[
            "v1.34.1",
            "1.33.0",
            "v1.34",
            "v1.34.1_x",
            "v01.2.3",
            "v1.34.1-rc.0+a.1",
            "x",
        ],
    ),
    ("clusterName", &["c", "other", "a b"]),
    (
        "apiGroup",
        &["infrastructure.cluster.x-k8s.io", "Bad Group"],
    ),
    (
        "apiVersion",
        &["infrastructure.cluster.x-k8s.io/v1beta2", "a/b/c", "v1"],
    ),
    ("kind", &["DevMachineTemplate", "Machine", "bad kind"]),
    ("name", &["a-name", "x_y", "a.b"]),
    ("namespace", &["default", "Bad"]),
    ("class", &["worker", "absent"]),
    (
        "key",
        &[
            "example.com/key",
            "node.kubernetes.io/x",
            "node-role.kubernetes.io/control-plane",
            "node-role.kubernetes.io/master",
            "node.kubernetes.io/out-of-service",
            "node.cloudprovider.kubernetes.io/x",
            "node.cluster.x-k8s.io/uninitialized",
            "bad key",
        ],
    ),
    ("conditionType", &["Infrastructure", "Ready", "bad type"]),
    ("host", &["10.0.0.1", ""]),
    ("serviceDomain", &["cluster.local"]),
    ("nodeStartupTimeout", &["10m", "5s", "0s", "x"]),
    ("nodeDrainTimeout", &["1m30s", "bad"]),
    ("nodeVolumeDetachTimeout", &["5m", "7"]),
    ("nodeDeletionTimeout", &["10s", "-"]),
    ("timeout", &["5m", "x"]),
    ("minHealthyPeriod", &["1h", "x"]),
    ("retryPeriod", &["10m", "y"]),
    ("unhealthyRange", &["[1-3]", "1-3"]),
    ("unhealthyInRange", &["[1-3]", "1-3"]),
    (
        "template",
        &[
            "{{ .cluster.name }}-{{ .random }}",
            "{{ .cluster.name }}",
            "x_{{ .random }}",
            "{{ .absent }}-{{ .random }}",
            "{{",
        ],
    ),
    ("dataSecretName", &["data", ""]),
    ("providerID", &["a://b"]),
    ("failureDomain", &["zone"]),
    ("deletePolicy", &["Random", "Newest", "Never"]),
    ("order", &["Random", "Newest", "Never"]),
    (
        "operator",
        &["In", "NotIn", "Exists", "DoesNotExist", "Like"],
    ),
    ("fieldPath", &["spec"]),
    ("uid", &["1"]),
    ("resourceVersion", &["1"]),
];
/// Numbers or percentages.
const SHARES: &[&str] = &["1", "0", "10%", "x", "x%", "2"];
const LABELS: &[(&str, &str)] = &[
    ("example.com/a", "b"),
    ("cluster.x-k8s.io/cluster-name", "c"),
    ("cluster.x-k8s.io/cluster-name", "other"),
    ("bad key", "b"),
    ("k", "bad value!"),
];
const ANNOTATIONS: &[(&str, &str)] = &[
    ("example.com/a", "b"),
    (
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
        "1",
    ),
    (
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
        "x",
    ),
    (
        "machineset.cluster.x-k8s.io/skip-preflight-checks",
        "All, None",
    ),
    ("topology.cluster.x-k8s.io/upgrade-concurrency", "0"),
    ("a//b", "c"),
];

/// Makes objects.
pub(super) struct Generator {
    random: Random,
    configs: render::random::Generator,
    /// By kind: the schema of each version.
    schemas: Vec<(&'static str, Vec<(String, Value)>)>,
    made: usize,
}

impl Generator {
    pub(super) fn new(release: Release) -> Generator {
        let specs = release.schemas("KubeadmConfig");
        let spec = |name: &'static str| {
            let (_, schema) = specs
                .iter()
                .find(|(version, _)| version == name)
                .expect("it is served");
            (name, schema["properties"]["spec"].clone())
        };
        let specs = ["v1beta2", "v1beta1"].map(spec).to_vec();
        Generator {
            random: Random::announced(),
            configs: render::random::Generator::new(Random::announced(), specs, &KUBERNETES),
            schemas: DEFINITIONS
                .map(|(kind, _)| (kind, release.schemas(kind)))
                .to_vec(),
            made: 0,
        }
    }

    /// The next object.
    pub(super) fn object(&mut self) -> Value {
        self.made += 1;
        let (kind, versions) = self.random.of(&self.schemas);
        let mut object = match kind {
            "KubeadmConfig"
            | "KubeadmConfigTemplate"
            | "KubeadmControlPlane"
            | "KubeadmControlPlaneTemplate" => self.kubeadm(kind, &versions),
            _ => {
                let (version, schema) = self.random.of(&versions);
                self.core(kind, &version, &schema)
            }
        };
        object["metadata"]["name"] = format!("o-{}", self.made).into();
        object["metadata"]["namespace"] = "default".into();
        if self.random.percent(4) {
            object["metadata"]["name"] = format!("o-{}-{}", self.made, "x".repeat(64)).into();
        }
        for (field, entries) in [("labels", LABELS), ("annotations", ANNOTATIONS)] {
            if self.random.percent(12) {
                let entries = self.entries(entries);
                object["metadata"][field] = entries;
            }
        }
        if self.random.percent(25) {
            self.spoil(&mut object);
        }
        object
    }

    fn kubeadm(&mut self, kind: &str, versions: &[(String, Value)]) -> Value {
        let subject = self.configs.subject();
        let group = match kind {
            "KubeadmConfig" | "KubeadmConfigTemplate" => "bootstrap",
            _ => "controlplane",
        };
        let (_, schema) = versions
            .iter()
            .find(|(version, _)| version == subject.version)
            .expect("both versions are served");
        let mut spec = match kind {
            "KubeadmConfig" => subject.spec,
            "KubeadmConfigTemplate" => json!({"template": {"spec": subject.spec}}),
            "KubeadmControlPlane" => {
                let mut spec = self.value("spec", &schema["properties"]["spec"]);
                spec["kubeadmConfigSpec"] = subject.spec;
                spec
            }
            _ => {
                let template = &schema["properties"]["spec"]["properties"]["template"];
                let mut template = self.value("spec.template", template);
                if !template["spec"].is_object() {
                    template["spec"] = json!({});
                }
                template["spec"]["kubeadmConfigSpec"] = subject.spec;
                json!({"template": template})
            }
        };
        if kind == "KubeadmControlPlane" && self.random.percent(70) {
            spec["replicas"] = self.random.of(&[1, 3, 5]).into();
        }
        json!({
            "apiVersion": format!("{group}.cluster.x-k8s.io/{}", subject.version), "kind": kind,
            "metadata": {}, "spec": spec,
        })
    }

    fn core(&mut self, kind: &str, version: &str, schema: &Value) -> Value {
        let mut spec = self.value("spec", &schema["properties"]["spec"]);
        match kind {
            "Machine" => self.machine(&mut spec),
            "MachineDeployment" | "MachineSet" | "MachinePool" => {
                let mut inner = spec["template"]["spec"].take();
                self.machine(&mut inner);
                if self.random.percent(92) {
                    inner["clusterName"] = spec["clusterName"].clone();
                }
                spec["template"]["spec"] = inner;
                if kind != "MachinePool" {
                    self.selector(&mut spec, kind);
                }
            }
            "MachineHealthCheck" => self.selector(&mut spec, kind),
            "Cluster" => self.cluster(&mut spec, version),
            "ClusterClass" => self.class(&mut spec, version),
            _ => {}
        }
        json!({"apiVersion": format!("cluster.x-k8s.io/{version}"), "kind": kind, "metadata": {}, "spec": spec})
    }

    /// A machine needs something to boot from; taints for workers are rare.
    fn machine(&mut self, spec: &mut Value) {
        if self.random.percent(90) {
            spec["bootstrap"] = json!({"dataSecretName": "data"});
        }
        if self.random.percent(70) {
            spec.as_object_mut().map(|spec| spec.remove("taints"));
        }
    }

    fn selector(&mut self, spec: &mut Value, kind: &str) {
        let labels = json!({"example.com/a": "b"});
        let selector = match self.random.below(8) {
            0 => json!({}),
            1 => json!({"matchLabels": {"example.com/a": "c"}}),
            2 => {
                json!({"matchExpressions": [{"key": "example.com/a", "operator": "In", "values": ["b", "c"]}]})
            }
            3 => json!({"matchExpressions": [{"key": "x", "operator": "Exists", "values": ["b"]}]}),
            4 => {
                json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}], "matchLabels": {"cluster.x-k8s.io/cluster-name": "other"}})
            }
            5 => json!({"matchLabels": {"example.com/a": "bad value!"}}),
            _ => json!({"matchLabels": labels}),
        };
        let is_good = self.random.percent(75);
        spec["selector"] = if is_good {
            json!({"matchLabels": labels})
        } else {
            selector
        };
        if kind != "MachineHealthCheck" && self.random.percent(90) {
            spec["template"]["metadata"]["labels"] = labels;
        }
    }

    fn cluster(&mut self, spec: &mut Value, version: &str) {
        if self.random.percent(85) {
            let networks = |block: &str| json!({"cidrBlocks": [block]});
            let block = self.random.of(&[
                "10.0.0.0/8",
                "10.0.0.0/8",
                "10.0.0.0/8",
                "fd00::/64",
                "bad",
                "10.0.0.0",
                "10.0.0.0/33",
            ]);
            spec["clusterNetwork"] =
                json!({"pods": networks(block), "services": networks("10.96.0.0/12")});
        }
        if self.random.percent(60) {
            spec.as_object_mut().map(|spec| spec.remove("topology"));
            return;
        }
        if !spec["topology"].is_object() {
            return;
        }
        let topology = &mut spec["topology"];
        let class = self.random.of(&[
            "random-class",
            "random-class",
            "random-class",
            "plain-class",
        ]);
        topology["version"] = self
            .random
            .of(&[
                "v1.34.1",
                "v1.34.1",
                "v1.34.1",
                "1.34.1",
                "v1.35",
                "v1.34.1_x",
            ])
            .into();
        if version == "v1beta1" {
            topology["class"] = class.into();
        } else {
            topology["classRef"] = json!({"name": class});
        }
        topology
            .as_object_mut()
            .map(|topology| topology.remove("classNamespace"));
        topology["variables"] = json!([{"name": "count", "value": self.random.of(&[json!(4), json!(4), json!(1), json!("x"), json!(null)])}]);
        if self.random.percent(15) {
            topology["variables"] = json!([
                {"name": self.random.of(&["tier", "absent"]), "value": self.random.of(&[json!("small"), json!("huge"), json!(1)])},
                {"name": "count", "value": 3},
            ]);
        }
        for list in ["machineDeployments", "machinePools"] {
            let workers = topology["workers"][list].as_array_mut();
            for (number, worker) in workers.into_iter().flatten().enumerate() {
                worker["name"] = format!("w{number}").into();
                worker
                    .as_object_mut()
                    .map(|worker| worker.remove("variables"));
                if self.random.percent(90) {
                    worker["class"] = "worker".into();
                }
            }
        }
        topology["controlPlane"]
            .as_object_mut()
            .map(|part| part.remove("variables"));
    }

    fn class(&mut self, spec: &mut Value, version: &str) {
        let variables: Vec<Value> = (0..self.random.below(3))
            .map(|number| {
                let name = self.random.of(&["alpha", "beta", "gamma", "builtin", "a.b"]);
                let name = if self.random.percent(85) { format!("v{number}") } else { name.to_owned() };
                json!({"name": name, "required": self.random.percent(50), "schema": {"openAPIV3Schema": self.variable(0)}})
            })
            .collect();
        let patches: Vec<Value> = (0..self.random.below(3))
            .map(|number| self.patch(number))
            .collect();
        for (field, values) in [("variables", variables), ("patches", patches)] {
            if values.is_empty() {
                spec.as_object_mut().map(|spec| spec.remove(field));
            } else {
                spec[field] = values.into();
            }
        }
        let reference = |kind: &str| json!({"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": kind, "name": "t"});
        let (slot, old) = match version {
            "v1beta1" => ("ref", true),
            _ => ("templateRef", false),
        };
        for part in ["infrastructure", "controlPlane"] {
            if self.random.percent(93) {
                spec[part][slot] = reference("DevTemplate");
            }
        }
        if self.random.percent(50) {
            spec["controlPlane"]["machineInfrastructure"] =
                json!({slot: reference("DevMachineTemplate")});
        }
        if self.random.percent(80) {
            spec["kubernetesVersions"] = self.random.of(&[
                json!(["v1.33.1", "v1.34.0"]),
                json!(["v1.34.0", "v1.33.1"]),
                json!(["v1.31.0", "v1.34.0"]),
                json!(["v1.34.0"]),
            ]);
        }
        if old {
            spec.as_object_mut()
                .map(|spec| spec.remove("kubernetesVersions"));
        }
        for list in ["machineDeployments", "machinePools"] {
            let workers = spec["workers"][list].as_array_mut();
            for (number, worker) in workers.into_iter().flatten().enumerate() {
                worker["class"] = format!("w{number}").into();
                let holder = if old { &mut worker["template"] } else { worker };
                holder["bootstrap"] = json!({slot: reference("KubeadmConfigTemplate")});
                holder["infrastructure"] = json!({slot: reference("DevMachineTemplate")});
            }
        }
    }

    /// The schema of a variable.
    fn variable(&mut self, depth: usize) -> Value {
        let kind = self
            .random
            .of(&["string", "integer", "number", "boolean", "object", "array"]);
        let mut schema = json!({"type": kind});
        match kind {
            "string" => {
                self.maybe(&mut schema, "minLength", &[json!(1), json!(4)]);
                self.maybe(&mut schema, "maxLength", &[json!(5), json!(9)]);
                self.maybe(
                    &mut schema,
                    "enum",
                    &[json!(["small", "large"]), json!(["xl", "small"])],
                );
                self.maybe(&mut schema, "pattern", &[json!("^[a-z]+$"), json!("(")]);
                self.maybe(&mut schema, "format", &[json!("ipv4"), json!("date-time")]);
                self.rule(
                    &mut schema,
                    &[
                        "self.size() > 3",
                        "self == 'small'",
                        "self.startsWith('s')",
                        "self >",
                    ],
                );
            }
            "integer" | "number" => {
                self.maybe(&mut schema, "minimum", &[json!(1), json!(3)]);
                self.maybe(&mut schema, "maximum", &[json!(9), json!(2)]);
                self.maybe(&mut schema, "exclusiveMinimum", &[json!(true)]);
                self.rule(&mut schema, &["self > 2", "self < 100", "self in [1, 4]"]);
            }
            "object" if depth < 2 => {
                let properties: Map<String, Value> = ["a", "b"]
                    .into_iter()
                    .map(|name| (name.to_owned(), self.variable(depth + 1)))
                    .collect();
                match self.random.below(4) {
                    0 => schema["additionalProperties"] = self.variable(depth + 1),
                    1 => {
                        schema["properties"] = properties.into();
                        self.maybe(
                            &mut schema,
                            "additionalProperties",
                            &[json!({"type": "string"})],
                        );
                    }
                    _ => schema["properties"] = properties.into(),
                }
                self.maybe(&mut schema, "required", &[json!(["a"]), json!(["c"])]);
                self.maybe(
                    &mut schema,
                    "x-kubernetes-preserve-unknown-fields",
                    &[json!(true), json!(false)],
                );
                self.maybe(&mut schema, "minProperties", &[json!(1)]);
                self.rule(
                    &mut schema,
                    &["has(self.a)", "has(self.zz)", "size(self) > 0"],
                );
            }
            "array" => {
                if self.random.percent(95) {
                    schema["items"] = if depth < 2 {
                        self.variable(depth + 1)
                    } else {
                        json!({"type": "string"})
                    };
                }
                self.maybe(&mut schema, "maxItems", &[json!(3)]);
                self.maybe(&mut schema, "uniqueItems", &[json!(true)]);
                self.rule(&mut schema, &["self.size() > 0", "size(self) < 3"]);
            }
            _ => {}
        }
        for field in ["default", "example"] {
            self.maybe(
                &mut schema,
                field,
                &[
                    json!("small"),
                    json!("xl"),
                    json!(1),
                    json!(5),
                    json!(1.5),
                    json!(true),
                    json!({"a": "small"}),
                    json!({}),
                    json!(["small"]),
                    json!([]),
                ],
            );
        }
        if self.random.percent(4) {
            schema[self.random.of(&["allOf", "anyOf", "oneOf"])] =
                json!([{"minimum": 1}, {"type": "string"}]);
        }
        if self.random.percent(3) {
            schema["type"] = self.random.of(&["text", "null"]).into();
        }
        if self.random.percent(4) {
            schema["x-metadata"] = json!({"labels": self.entries(LABELS)});
        }
        schema
    }

    fn maybe(&mut self, schema: &mut Value, field: &str, values: &[Value]) {
        if self.random.percent(18) {
            schema[field] = self.random.of(values);
        }
    }

    fn rule(&mut self, schema: &mut Value, rules: &[&str]) {
        if self.random.percent(18) {
            let mut rule = json!({"rule": self.random.of(rules)});
            self.maybe(
                &mut rule,
                "message",
                &[json!("no"), json!(" "), json!("a\nb")],
            );
            self.maybe(
                &mut rule,
                "reason",
                &[json!("FieldValueForbidden"), json!("Other")],
            );
            self.maybe(&mut rule, "messageExpression", &[json!("'no'"), json!(" ")]);
            schema["x-kubernetes-validations"] = json!([rule]);
        }
    }

    fn patch(&mut self, number: usize) -> Value {
        let matching = self.random.of(&[
            json!({"controlPlane": true}),
            json!({"infrastructureCluster": true}),
            json!({"controlPlane": false}),
            json!({"machineDeploymentClass": {"names": ["w0"]}}),
            json!({"machineDeploymentClass": {"names": ["w*"]}}),
            json!({"machinePoolClass": {"names": ["*w*"]}}),
        ]);
        let kind = self
            .random
            .of(&["DevTemplate", "DevTemplate", "DevMachineTemplate", "Other"]);
        let mut operation = json!({"op": self.random.of(&["add", "replace", "remove"]), "path": self.random.of(&["/spec/a", "/spec/a/0", "/spec/a/-", "/metadata/a"])});
        match self.random.below(6) {
            0 => operation["value"] = json!(1),
            1 => {
                operation["valueFrom"] = json!({"variable": self.random.of(&["v0", "absent", "builtin.cluster.name", "builtin.x", "v0.a"])})
            }
            2 => {
                operation["valueFrom"] =
                    json!({"template": self.random.of(&["{{ .v0 }}", "{{ if }}"])})
            }
            3 => operation["valueFrom"] = json!({"template": "a", "variable": "v0"}),
            _ => {
                operation["op"] = json!("add");
                operation["path"] = json!("/spec/a");
                operation["value"] = json!("x");
            }
        }
        let mut patch = json!({"name": format!("p{number}"), "definitions": [{
            "selector": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": kind, "matchResources": matching},
            "jsonPatches": [operation],
        }]});
        self.maybe(&mut patch, "enabledIf", &[json!("{{ true }}"), json!("{{")]);
        if self.random.percent(5) {
            patch["name"] = self.random.of(&["p0", "inline"]).into();
        }
        patch
    }

    fn entries(&mut self, all: &[(&str, &str)]) -> Value {
        let count = 1 + self.random.below(2);
        let is_good = self.random.percent(60);
        (0..count)
            .map(|_| if is_good { all[0] } else { self.random.of(all) })
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect()
    }

    /// A value of a schema, most often a good one.
    fn value(&mut self, path: &str, schema: &Value) -> Value {
        let field = path
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .trim_end_matches("[]");
        if field == "labels" {
            return self.entries(LABELS);
        }
        if field == "annotations" {
            return self.entries(ANNOTATIONS);
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.random.of(values);
        }
        if schema["x-kubernetes-int-or-string"] == true {
            let share = if self.random.percent(70) {
                "1"
            } else {
                self.random.of(SHARES)
            };
            return share
                .parse::<i64>()
                .map_or_else(|_| json!(share), |number| json!(number));
        }
        let bound = |keyword: &str, otherwise: i64| schema[keyword].as_i64().unwrap_or(otherwise);
        match schema["type"].as_str() {
            Some("object") if schema["properties"].is_object() => self.fields(path, schema),
            Some("object") => self.entries(LABELS),
            Some("array") => {
                let count = bound("minItems", 0).max(i64::from(self.random.percent(60)));
                (0..count)
                    .map(|_| self.value(&format!("{path}[]"), &schema["items"]))
                    .collect()
            }
            Some("string") if schema["format"] == "date-time" => json!("2026-01-02T03:04:05Z"),
            Some("string") => {
                let known = KNOWN.iter().find(|(name, _)| *name == field);
                let values = known.map_or(&["text"][..], |(_, values)| *values);
                let is_good = self.random.percent(93);
                json!(if is_good {
                    values[0]
                } else {
                    self.random.of(values)
                })
            }
            Some("integer") if field == "replicas" => json!(self.random.of(&[1, 1, 1, 3, 3, 2, 0])),
            Some("integer") if field == "nodeStartupTimeoutSeconds" => {
                json!(self.random.of(&[600, 600, 600, 0, 10, 29]))
            }
            Some("integer") => {
                json!(bound("minimum", 0) + i64::try_from(self.random.below(9)).unwrap_or(0))
            }
            Some("boolean") => json!(self.random.percent(50)),
            _ => json!(null),
        }
    }

    fn fields(&mut self, path: &str, schema: &Value) -> Value {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut fields = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            // What is an object of the whole API is made by others.
            if ["kubeadmConfigSpec", "patches"].contains(&name.as_str()) {
                continue;
            }
            if required.contains(&name.as_str()) || self.random.percent(35) {
                let value = self.value(&format!("{path}.{name}"), property);
                fields.insert(name.clone(), value);
            }
        }
        if fields.is_empty() && schema["minProperties"].as_u64().unwrap_or(0) > 0 {
            let names: Vec<String> = schema["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect();
            let name = self.random.of(&names);
            let value = self.value(&format!("{path}.{name}"), &schema["properties"][&name]);
            fields.insert(name, value);
        }
        Value::Object(fields)
    }

    /// Changes a field somewhere: removed, of another type, empty, or with another name.
    fn spoil(&mut self, object: &mut Value) {
        let mut value = &mut object["spec"];
        loop {
            let count = value.as_array().map_or(0, Vec::len);
            if count > 0 {
                value = &mut value[self.random.below(count)];
                continue;
            }
            let fields = value.as_object().into_iter().flatten();
            let keys: Vec<String> = fields.map(|(name, _)| name.clone()).collect();
            if keys.is_empty() {
                return;
            }
            let key = self.random.of(&keys);
            let is_inner = value[&key].is_object() || value[&key].is_array();
            if is_inner && self.random.percent(70) {
                value = &mut value[&key];
                continue;
            }
            let fields = value.as_object_mut().expect("it has keys");
            match self.random.below(6) {
                0 => drop(fields.remove(&key)),
                1 => drop(fields.insert(key, json!({}))),
                2 => drop(fields.insert(key, json!([]))),
                3 => drop(
                    fields.insert(
                        key,
                        self.random
                            .of(&[json!(1), json!(true), json!("x"), json!("")]),
                    ),
                ),
                4 => drop(fields.insert(format!("{key}X"), json!("x"))),
                _ => drop(fields.insert(key, json!(null))),
            }
            return;
        }
    }
}
