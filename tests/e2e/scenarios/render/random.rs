//! Random configs, made from the schema of a release, with the texts that are hard to write down.

use serde_json::{Map, Value, json};

use super::{Role, Subject};
use crate::harness::random::{Random, TEXTS};

/// Keys of maps and names of arguments. Mixed digits and letters are left out where upstream's own
/// order changes from run to run.
const NAMES: &[&str] = &[
    "v",
    "v2",
    "v10",
    "cloud-provider",
    "feature-gates",
    "A",
    "a_b",
    "node.labels",
    "x y",
    "ümlaut",
    "true",
];

/// Makes configs.
pub(crate) struct Generator {
    random: Random,
    schemas: Vec<(&'static str, Value)>,
    kubernetes: &'static [&'static str],
    made: usize,
}

impl Generator {
    /// With the schemas of `spec` in the versions of a release, the one that most configs have
    /// first, and for versions of Kubernetes.
    pub(crate) fn new(
        random: Random,
        schemas: Vec<(&'static str, Value)>,
        kubernetes: &'static [&'static str],
    ) -> Generator {
        Generator {
            random,
            schemas,
            kubernetes,
            made: 0,
        }
    }

    /// The next config, its role and version.
    pub(crate) fn subject(&mut self) -> Subject {
        self.made += 1;
        let role = self.random.of(&[
            Role::Init,
            Role::ControlPlaneJoin,
            Role::WorkerJoin,
            Role::MachinePool,
        ]);
        let (version, schema) =
            self.schemas[usize::from(self.random.percent(30)) % self.schemas.len()].clone();
        let mut spec = self.value("spec", &schema);
        self.sensible(&mut spec, role);
        Subject::new(
            &format!("random config {} {spec}", self.made),
            version,
            &spec,
            role,
            self.random.of(self.kubernetes),
        )
    }

    fn text(&mut self, least: usize, most: usize) -> String {
        let mut text: String = self.random.of(TEXTS).to_owned();
        while text.chars().count() < least || self.random.percent(15) {
            text.push_str(self.random.of(TEXTS));
        }
        text.chars().take(most).collect()
    }

    /// A value of a schema. The path names fields without indices.
    fn value(&mut self, path: &str, schema: &Value) -> Value {
        if let Some(value) = self.known(path) {
            return value;
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.random.of(values);
        }
        if schema["x-kubernetes-int-or-string"] == true {
            return json!(
                self.random
                    .of(&["1", "1Mi", "1000m", "0.5", "1e3", "2048Ki", "0"])
            );
        }
        let size = |keyword: &str, otherwise: usize| {
            schema[keyword]
                .as_u64()
                .map_or(otherwise, |size| usize::try_from(size).unwrap())
        };
        match schema["type"].as_str() {
            Some("object") if schema["properties"].is_object() => self.object(path, schema),
            Some("object") => {
                let count = self.random.below(3).max(size("minProperties", 0));
                (0..count)
                    .map(|_| {
                        (
                            self.random.of(NAMES).to_owned(),
                            self.entry(path, &schema["additionalProperties"]),
                        )
                    })
                    .collect()
            }
            Some("array") => {
                let count =
                    (size("minItems", 0) + self.random.below(3)).min(size("maxItems", usize::MAX));
                Value::Array(self.list(path, schema, count))
            }
            Some("string") if schema["format"] == "date-time" => json!("2026-01-02T03:04:05Z"),
            Some("string") if schema["format"] == "byte" => json!("Y2VydGlmaWNhdGU="),
            Some("string") => json!(self.text(size("minLength", 0), size("maxLength", 300))),
            Some("integer") => json!(size("minimum", 0) + self.random.below(9)),
            Some("boolean") => json!(self.random.percent(50)),
            other => panic!("no value of type {other:?} at {path}"),
        }
    }

    fn entry(&mut self, path: &str, schema: &Value) -> Value {
        if schema.is_object() {
            self.value(&format!("{path}.*"), schema)
        } else {
            json!(self.text(0, 50))
        }
    }

    fn object(&mut self, path: &str, schema: &Value) -> Value {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema["properties"]
            .as_object()
            .expect("an object has properties");
        let mut object = Map::new();
        for (name, property) in properties {
            if required.contains(&name.as_str()) || self.random.percent(40) {
                object.insert(
                    name.clone(),
                    self.value(&format!("{path}.{name}"), property),
                );
            }
        }
        if object.is_empty() && schema["minProperties"].as_u64().unwrap_or(0) > 0 {
            let names: Vec<&String> = properties.keys().collect();
            let name = self.random.of(&names).clone();
            let value = self.value(&format!("{path}.{name}"), &properties[&name]);
            object.insert(name, value);
        }
        Value::Object(object)
    }

    /// Items whose names differ: most lists want that.
    fn list(&mut self, path: &str, schema: &Value, count: usize) -> Vec<Value> {
        let mut items: Vec<Value> = (0..count)
            .map(|_| self.value(&format!("{path}[]"), &schema["items"]))
            .collect();
        let start = self.random.below(NAMES.len());
        for (index, item) in items
            .iter_mut()
            .enumerate()
            .filter(|(_, item)| item["name"].is_string() && item["value"].is_string())
        {
            item["name"] = json!(NAMES[(start + index) % NAMES.len()]);
        }
        items
    }

    /// Fields that mean more than their schema says.
    fn known(&mut self, path: &str) -> Option<Value> {
        let field = path.rsplit('.').next().unwrap_or_default();
        Some(match field {
            "token" => json!(format!("abcde{}.0123456789abcdef", self.random.below(10))),
            "ttl" | "timeout" | "timeoutForControlPlane" => {
                json!(self.random.of(&["1m30s", "1h0m0s", "0s"]))
            }
            "format" => json!(
                self.random
                    .of(&["cloud-config", "cloud-config", "ignition"])
            ),
            "additionalConfig" => {
                json!("systemd:\n  units:\n  - name: a.service\n    enabled: true\n")
            }
            // An empty list is lost between v1beta1 and storage, and then the config is not one of
            // the API any more.
            "endpoints" => json!([self.text(1, 60)]),
            "permissions" => json!(self.random.of(&["0640", "0600", "755", "rw"])),
            "partitionType" => json!("Linux"),
            "apiVersion" if !path.contains("exec") => return None,
            "name" if path.ends_with("secret.name") => {
                json!(self.random.of(&["source-a", "source-b"]))
            }
            "key" if path.ends_with("secret.key") => json!(self.random.of(&["k1", "k2"])),
            "path" if path.ends_with("files[].path") => {
                json!(format!(
                    "/etc/{}-{}",
                    self.random.of(&["a", "b c", "ü"]),
                    self.random.below(1_000_000)
                ))
            }
            _ => return None,
        })
    }

    /// Leaves out what the webhooks reject most, so that most configs get through.
    fn sensible(&mut self, spec: &mut Value, role: Role) {
        let either = |random: &mut Random, object: &mut Value, fields: [&str; 2]| {
            if fields.iter().all(|field| !object[*field].is_null()) {
                object
                    .as_object_mut()
                    .expect("it has fields")
                    .remove(random.of(&fields));
            }
        };
        let random = &mut self.random;
        items(spec, "/files").for_each(|file| either(random, file, ["content", "contentFrom"]));
        items(spec, "/users").for_each(|user| either(random, user, ["passwd", "passwdFrom"]));
        if let Some(etcd) = spec.pointer_mut("/clusterConfiguration/etcd") {
            either(random, etcd, ["local", "external"]);
        }
        if let Some(user) = spec.pointer_mut("/joinConfiguration/discovery/file/kubeConfig/user") {
            either(random, user, ["authProvider", "exec"]);
        }
        if let Some(discovery) = spec.pointer_mut("/joinConfiguration/discovery") {
            either(random, discovery, ["bootstrapToken", "file"]);
            // A token that is not in the cluster is drawn anew for pools, and then two were there
            // in turns.
            if let Some(token) = discovery
                .get_mut("bootstrapToken")
                .filter(|_| role == Role::MachinePool)
            {
                token
                    .as_object_mut()
                    .expect("it has fields")
                    .remove("token");
            }
            if discovery["bootstrapToken"]
                .as_object()
                .is_some_and(Map::is_empty)
            {
                discovery["bootstrapToken"] = json!({"unsafeSkipCAVerification": true});
            }
        }
        if matches!(role, Role::WorkerJoin | Role::MachinePool) && random.percent(90) {
            remove(spec, "joinConfiguration", "controlPlane");
        }
        if spec["format"] != "ignition" {
            let _ = spec.as_object_mut().map(|spec| spec.remove("ignition"));
        } else if random.percent(90) {
            let _ = spec.as_object_mut().map(|spec| spec.remove("bootCommands"));
            let _ = spec.as_object_mut().map(|spec| spec.remove("diskSetup"));
            items(spec, "/files").for_each(|file| file["encoding"] = json!("base64"));
            items(spec, "/files")
                .filter(|file| !file["content"].is_null())
                .for_each(|file| file["content"] = json!("dGV4dA=="));
            items(spec, "/users")
                .for_each(|user| drop(user.as_object_mut().map(|user| user.remove("inactive"))));
        }
    }
}

fn items<'a>(spec: &'a mut Value, path: &str) -> impl Iterator<Item = &'a mut Value> {
    spec.pointer_mut(path)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}

/// Takes a field out, and the object with it when nothing else is in it.
fn remove(spec: &mut Value, object: &str, field: &str) {
    let Some(inner) = spec.get_mut(object).and_then(Value::as_object_mut) else {
        return;
    };
    inner.remove(field);
    if inner.is_empty() {
        spec.as_object_mut().expect("it has fields").remove(object);
    }
}
