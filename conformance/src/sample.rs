//! Sample manifests of a provider's config: the config first, then objects that it needs.

use serde_json::Value;
use windlass::text::budget::Budget;
use windlass::text::envsubst;
use windlass::text::source::Source;
use windlass::text::yaml;

/// What the machine of a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// A worker that joins.
    Worker,
    /// The first machine of a control plane.
    Init,
    /// A further machine of a control plane.
    ControlPlane,
    /// The machines of a pool.
    MachinePool,
    /// A template, from which configs are cloned.
    Template,
    /// A worker whose config is accepted by the API server and cannot become data.
    Invalid,
}

impl Role {
    pub(crate) const ALL: [Role; 6] = [
        Role::Worker,
        Role::Init,
        Role::ControlPlane,
        Role::MachinePool,
        Role::Template,
        Role::Invalid,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Init => "init",
            Role::ControlPlane => "control-plane",
            Role::MachinePool => "machine-pool",
            Role::Template => "template",
            Role::Invalid => "invalid",
        }
    }

    /// Whether data of this role is generated for one machine or pool.
    pub(crate) const fn is_machine(self) -> bool {
        !matches!(self, Role::Template | Role::Invalid)
    }

    pub(crate) const fn is_control_plane(self) -> bool {
        matches!(self, Role::Init | Role::ControlPlane)
    }
}

/// A sample file, whose variables `NAMESPACE`, `CLUSTER_NAME` and `NAME` are replaced anew for
/// each use.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) role: Role,
    file: String,
    text: String,
}

/// The objects of a sample in one namespace.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    /// The config or template.
    pub(crate) config: Value,
    /// Merged into the objects of the core's kinds `Cluster`, `Machine`, `MachinePool`.
    pub(crate) core: Vec<Value>,
    /// Created before the config.
    pub(crate) others: Vec<Value>,
}

impl Sample {
    /// Reads a sample as `[ROLE=]FILE` names it; the text is that of the file.
    ///
    /// # Errors
    /// The message for the user, if the file cannot be a sample.
    pub(crate) fn new(role: Option<Role>, file: &str, text: String) -> Result<Sample, String> {
        let mut sample = Sample {
            role: Role::Worker,
            file: file.to_owned(),
            text,
        };
        let kind = sample.objects("namespace", "cluster", "name")?.config["kind"].clone();
        let is_template = kind.as_str().is_some_and(|kind| kind.ends_with("Template"));
        sample.role = match (role, is_template) {
            (None, true) | (Some(Role::Template), true) => Role::Template,
            (None, false) => Role::Worker,
            (Some(role), false) if role != Role::Template => role,
            (Some(role), _) => {
                return Err(format!(
                    "{file}: its first document is a {kind}, which is not a sample of the role {}",
                    role.name()
                ));
            }
        };
        Ok(sample)
    }

    /// The objects with the variables replaced.
    ///
    /// # Errors
    /// The message for the user, if the file is not YAML or does not begin with a config.
    pub(crate) fn objects(
        &self,
        namespace: &str,
        cluster: &str,
        name: &str,
    ) -> Result<Objects, String> {
        let value = |variable: &str| match variable {
            "NAMESPACE" => Some(namespace.to_owned()),
            "CLUSTER_NAME" => Some(cluster.to_owned()),
            "NAME" => Some(name.to_owned()),
            _ => None,
        };
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", self.file);
        let template = envsubst::parse(&self.text).map_err(|error| told(&error))?;
        let text = template
            .substitute(value, &Budget::default())
            .map_err(|error| told(&error))?;
        let text = text.text().map_err(|error| told(&error))?.to_owned();
        let parsed = yaml::parse(&Source::new(self.file.as_str(), text), &Budget::default());
        if parsed.report.has_errors() {
            return Err(told(&"it is not valid YAML: windlass validate shows where"));
        }
        let mut documents = parsed
            .documents
            .iter()
            .map(|document| document.root.to_json())
            .filter(|value| !value.is_null());
        let mut config = documents
            .next()
            .ok_or_else(|| told(&"it has no document"))?;
        let is_complete = ["apiVersion", "kind"]
            .iter()
            .all(|key| config[key].is_string());
        if !is_complete
            || config["apiVersion"]
                .as_str()
                .is_none_or(|version| !version.contains('/'))
        {
            return Err(told(
                &"its first document must be the provider's config, with apiVersion and kind",
            ));
        }
        config["metadata"]["namespace"] = Value::from(namespace);
        config["metadata"]["name"] = Value::from(name);
        let is_core = |object: &Value| {
            object["apiVersion"]
                .as_str()
                .is_some_and(|version| version.starts_with("cluster.x-k8s.io/"))
        };
        let (core, others) = documents.partition(is_core);
        Ok(Objects {
            config,
            core,
            others,
        })
    }
}

/// Changes an object as a merge patch (RFC 7386).
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        target.clone_from(patch);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    for (key, value) in patch {
        if value.is_null() {
            if let Some(object) = target.as_object_mut() {
                object.remove(key);
            }
        } else {
            merge(&mut target[key], value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CONFIG: &str = "apiVersion: bootstrap.example.com/v1\nkind: HarbourConfig\nspec:\n  cluster: ${CLUSTER_NAME}\n";

    #[test]
    fn variables_are_replaced_and_documents_sorted() {
        let text = format!(
            "{CONFIG}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: \"${{CLUSTER_NAME}}-token\"}}\n---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nspec: {{version: v1.33.0}}\n"
        );
        let sample = Sample::new(None, "a.yaml", text).unwrap();
        assert_eq!(sample.role, Role::Worker);
        let objects = sample.objects("n", "c", "m").unwrap();
        assert_eq!(objects.config["spec"]["cluster"], "c");
        assert_eq!(
            objects.config["metadata"],
            json!({"namespace": "n", "name": "m"})
        );
        assert_eq!(objects.others[0]["metadata"]["name"], "c-token");
        assert_eq!(objects.core[0]["kind"], "Machine");
    }

    #[test]
    fn templates_and_configs_are_told_apart() {
        let template = CONFIG.replace("HarbourConfig", "HarbourConfigTemplate");
        assert_eq!(
            Sample::new(None, "a", template.clone()).unwrap().role,
            Role::Template
        );
        assert!(Sample::new(Some(Role::Init), "a", template).is_err());
        assert!(Sample::new(Some(Role::Template), "a", CONFIG.to_owned()).is_err());
    }

    #[test]
    fn rejects_what_is_not_a_config() {
        for text in [
            "",
            "a: [",
            "apiVersion: v1\nkind: Secret\n",
            "kind: HarbourConfig\n",
        ] {
            let error = Sample::new(None, "a.yaml", text.to_owned()).unwrap_err();
            assert!(error.starts_with("a.yaml: "), "{error}");
        }
    }

    #[test]
    fn merge_patch_removes_null() {
        let mut target = json!({"a": {"b": 1, "c": 2}});
        merge(&mut target, &json!({"a": {"b": null, "d": [1]}}));
        assert_eq!(target, json!({"a": {"c": 2, "d": [1]}}));
    }
}
