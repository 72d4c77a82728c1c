//! One config: what the contract wants, and what its switch makes of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::api::{Kind, Rejection};
use crate::{Provider, World, configs, secrets};

const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
const ENOUGH: std::time::Duration = std::time::Duration::from_millis(300);

/// A config with all that belongs to it.
struct Config<'a> {
    object: &'a Value,
    namespace: &'a str,
    name: &'a str,
    switch: &'a str,
    machine: Option<&'a Value>,
    cluster: Option<&'a Value>,
}

impl<'a> Config<'a> {
    fn new(object: &'a Value, world: &'a World) -> Option<Self> {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str()?;
        let is_named = |other: &&Value, name: &Value| {
            other["metadata"]["namespace"] == namespace && other["metadata"]["name"] == *name
        };
        let owner = metadata["ownerReferences"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|owner| owner["controller"] == true);
        let machine = owner.and_then(|owner| {
            world
                .machines
                .iter()
                .find(|machine| machine["metadata"]["uid"] == owner["uid"])
        });
        Some(Config {
            object,
            namespace,
            name: metadata["name"].as_str()?,
            switch: object["spec"]["switch"].as_str().unwrap_or_default(),
            machine,
            cluster: world
                .clusters
                .iter()
                .find(|cluster| is_named(cluster, &metadata["labels"][CLUSTER_NAME])),
        })
    }

    fn has(&self, switch: &str) -> bool {
        self.switch == switch
    }

    fn cluster(&self, pointer: &str) -> &Value {
        self.cluster
            .and_then(|cluster| cluster.pointer(pointer))
            .unwrap_or(&Value::Null)
    }

    /// Whether the Cluster was written after the config.
    fn cluster_is_newer(&self) -> bool {
        let version = |object: &Value| {
            object["metadata"]["resourceVersion"]
                .as_str()?
                .parse::<u64>()
                .ok()
        };
        self.cluster.and_then(version) > version(self.object)
    }

    fn is_control_plane(&self) -> bool {
        let labels = self.machine.map(|machine| &machine["metadata"]["labels"]);
        labels.is_some_and(|labels| labels["cluster.x-k8s.io/control-plane"].is_string())
    }

    fn status_path(&self) -> String {
        format!("{}/status", configs().path(Some(self.namespace), self.name))
    }

    fn uid(&self) -> String {
        self.object["metadata"]["uid"].to_string()
    }

    fn secret_name(&self) -> String {
        match self.has("random-name") {
            true => format!("{}-{}", self.name, &self.uid()[1..9]),
            false => self.name.to_owned(),
        }
    }

    /// The name that the owner has from the status.
    fn taken_name(&self) -> bool {
        let paths = [
            "/spec/bootstrap/dataSecretName",
            "/spec/template/spec/bootstrap/dataSecretName",
        ];
        paths.iter().any(|path| {
            self.machine
                .is_some_and(|machine| machine.pointer(path).is_some_and(Value::is_string))
        })
    }

    fn condition(&self, kind: &str, holds: bool, message: &str) -> Value {
        let status = match (holds, self.has("bad-condition")) {
            (_, true) => "Maybe",
            (true, _) => "True",
            (false, _) => "False",
        };
        json!({
            "type": kind, "status": status, "reason": if holds { kind } else { "Waiting" }, "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": self.object["metadata"]["generation"],
        })
    }
}

impl Provider {
    pub(crate) async fn reconcile(
        &mut self,
        object: &Value,
        world: &World,
    ) -> Result<(), Rejection> {
        let Some(config) = Config::new(object, world) else {
            return Ok(());
        };
        if !self.is_ours(&config) {
            return Ok(());
        }
        if config.object["metadata"]["deletionTimestamp"].is_string() {
            return Ok(());
        }
        if config.has("keeps-finalizer") && config.object["metadata"]["finalizers"].is_null() {
            let finalizer = json!({"metadata": {"finalizers": ["conformance.windlass.dev/kept"]}});
            self.api
                .merge(
                    &configs().path(Some(config.namespace), config.name),
                    &finalizer,
                )
                .await?;
        }
        if config.has("sleeps-on-clusters") && config.cluster_is_newer() {
            return Ok(());
        }
        if config.has("sets-owner") && config.object["metadata"]["ownerReferences"].is_null() {
            return self.set_owner(&config, world).await;
        }
        match self.obstacle(&config).await? {
            Some(obstacle) => self.wait(&config, obstacle).await,
            None => self.complete(&config, world).await,
        }
    }

    fn is_ours(&self, config: &Config<'_>) -> bool {
        let is_in_namespace = self
            .namespace
            .as_deref()
            .is_none_or(|namespace| namespace == config.namespace);
        let label = &config.object["metadata"]["labels"]["cluster.x-k8s.io/watch-filter"];
        let is_selected = self
            .watch_filter
            .as_deref()
            .is_none_or(|value| *label == value);
        (is_in_namespace || config.has("ignores-namespace"))
            && (is_selected || config.has("ignores-watch-filter"))
    }

    async fn set_owner(&self, config: &Config<'_>, world: &World) -> Result<(), Rejection> {
        let machine = world
            .machines
            .iter()
            .find(|machine| machine["metadata"]["namespace"] == config.namespace);
        let Some(machine) = machine else {
            return Ok(());
        };
        let owner = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": machine["metadata"]["name"], "uid": machine["metadata"]["uid"]});
        let patch = json!({"metadata": {"ownerReferences": [owner]}});
        self.api
            .merge(&configs().path(Some(config.namespace), config.name), &patch)
            .await
            .map(drop)
    }

    /// Why there is no data yet; an empty text for what no status reports.
    async fn obstacle(&self, config: &Config<'_>) -> Result<Option<&'static str>, Rejection> {
        if config.machine.is_none() && !config.has("needs-no-owner") {
            return Ok(Some(""));
        }
        if config
            .machine
            .is_some_and(|machine| machine["spec"]["replicas"].is_number())
            && config.has("ignores-pools")
        {
            return Ok(Some(""));
        }
        if config.cluster.is_none() {
            return Ok((!config.has("needs-no-cluster")).then_some(""));
        }
        let is_cluster_paused =
            *config.cluster("/spec/paused") == true && !config.has("ignores-paused-cluster");
        let annotation = &config.object["metadata"]["annotations"]["cluster.x-k8s.io/paused"];
        if is_cluster_paused || (annotation.is_string() && !config.has("ignores-annotation")) {
            return Ok(Some("Paused"));
        }
        if *config.cluster("/status/initialization/infrastructureProvisioned") != true
            && !config.has("needs-no-infrastructure")
        {
            return Ok(Some("Waiting for infrastructure"));
        }
        if config.cluster("/spec/controlPlaneEndpoint").is_null()
            && !config.has("needs-no-endpoint")
        {
            return Ok(Some("Waiting for the endpoint"));
        }
        if config.object["spec"]["invalid"] == true {
            return Ok(Some("spec.invalid is true"));
        }
        let is_initialized =
            *config.cluster("/status/initialization/controlPlaneInitialized") == true;
        if is_initialized {
            return Ok(None);
        }
        if !config.is_control_plane() {
            return Ok((!config.has("worker-first")).then_some("Waiting for the control plane"));
        }
        let is_first = config.has("two-inits") || self.holds_lock(config).await?;
        Ok((!is_first).then_some("Waiting for the first control plane machine"))
    }

    /// Changes the status, unless it is so already.
    async fn set_status(&self, config: &Config<'_>, status: &Value) -> Result<(), Rejection> {
        let current = &config.object["status"];
        let is_so = status
            .as_object()
            .into_iter()
            .flatten()
            .all(|(key, value)| current[key] == *value);
        if is_so {
            return Ok(());
        }
        let patch = json!({"status": status});
        self.api
            .merge(&config.status_path(), &patch)
            .await
            .map(drop)
    }

    /// Takes the lock of the Cluster for this config, or looks whose it is.
    async fn holds_lock(&self, config: &Config<'_>) -> Result<bool, Rejection> {
        let locks = Kind::new("v1", "ConfigMap", "configmaps");
        let lock = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "lock"}, "data": {"holder": config.name}});
        match self.api.create(&locks, Some(config.namespace), &lock).await {
            Ok(_) => Ok(true),
            Err(rejection) if rejection.code == 409 => {
                let lock = self
                    .api
                    .read(&locks.path(Some(config.namespace), "lock"))
                    .await?;
                Ok(lock["data"]["holder"] == config.name)
            }
            Err(rejection) => Err(rejection),
        }
    }

    async fn wait(&self, config: &Config<'_>, obstacle: &str) -> Result<(), Rejection> {
        let is_paused = obstacle == "Paused";
        let is_invalid = obstacle.starts_with("spec.");
        if obstacle.is_empty()
            || (is_invalid && config.has("silent-failure"))
            || (is_paused && config.has("hides-pause"))
        {
            return Ok(());
        }
        // A forged status of a paused config stays as it is.
        if is_paused && config.has("trusts-conditions") {
            return Ok(());
        }
        let mut conditions = vec![config.condition("Paused", is_paused, "")];
        if !is_paused {
            conditions.push(config.condition("Ready", false, obstacle));
        }
        let mut status = json!({"conditions": conditions});
        if is_invalid {
            status["failureMessage"] = json!(obstacle);
        }
        if is_invalid && config.has("loops-on-failure") {
            for _ in 0..6 {
                status["attempt"] = json!(now());
                self.set_status(config, &status).await?;
            }
        }
        self.set_status(config, &status).await
    }

    async fn complete(&mut self, config: &Config<'_>, world: &World) -> Result<(), Rejection> {
        let name = config.secret_name();
        let existing = world.secrets.iter().find(|secret| {
            secret["metadata"]["namespace"] == config.namespace
                && secret["metadata"]["name"] == name.as_str()
        });
        let is_forged = config.has("trusts-conditions")
            && existing.is_none()
            && config.object["status"]["conditions"].is_array();
        let is_restored = config.has("forgets-restored")
            && existing.is_some()
            && config.object["status"]["dataSecretName"].is_null()
            && config.taken_name();
        if is_forged || is_restored {
            return Ok(());
        }
        if config.has("status-first") {
            self.report(config, &name).await?;
            tokio::time::sleep(ENOUGH).await;
        }
        let written = match existing {
            None => self.create(config, &name).await,
            Some(secret) => self.keep(config, secret).await,
        };
        match written {
            Err(rejection) if rejection.code == 409 => return Ok(()),
            Err(_) if config.has("ignores-rejection") => {}
            written => written?,
        }
        self.memory.completed.insert(config.uid());
        self.report(config, &name).await
    }

    async fn create(&self, config: &Config<'_>, name: &str) -> Result<(), Rejection> {
        let mut owner = json!({
            "apiVersion": configs().api_version, "kind": "SwitchableConfig", "name": config.name,
            "uid": config.object["metadata"]["uid"], "controller": true,
        });
        if config.has("no-controller") {
            owner["controller"] = json!(false);
        }
        let mut secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
            "metadata": {
                "name": name, "ownerReferences": [owner],
                "labels": {CLUSTER_NAME: config.object["metadata"]["labels"][CLUSTER_NAME]},
            },
            "data": {"value": STANDARD.encode(data(config))},
        });
        match config.switch {
            "no-label" => secret["metadata"]["labels"] = json!({}),
            "opaque-type" => secret["type"] = json!("Opaque"),
            "null-value" => secret["data"] = json!({"value": STANDARD.encode("null")}),
            "other-key" => secret["data"] = json!({"userdata": secret["data"]["value"]}),
            "owner-later" => secret["metadata"]["ownerReferences"] = json!([]),
            _ => {}
        }
        self.api
            .create(&secrets(), Some(config.namespace), &secret)
            .await?;
        if config.has("owner-later") {
            let later = json!({"metadata": {"ownerReferences": [owner]}});
            self.api
                .merge(&secrets().path(Some(config.namespace), name), &later)
                .await?;
        }
        Ok(())
    }

    /// Restores the owner, and does to the data what a switch wants.
    async fn keep(&mut self, config: &Config<'_>, secret: &Value) -> Result<(), Rejection> {
        let name = secret["metadata"]["name"].as_str().unwrap_or_default();
        let path = secrets().path(Some(config.namespace), name);
        let version = config.object["metadata"]["resourceVersion"].clone();
        let is_changed = self
            .memory
            .seen
            .insert(config.uid(), version.clone())
            .is_some_and(|seen| seen != version);
        let status = &config.object["status"];
        let is_new = match config.switch {
            "regenerates" => status["dataSecretName"].is_null(),
            "regenerates-after-move" => status["dataSecretName"].is_null() && config.taken_name(),
            "regenerates-after-restart" => !self.memory.completed.contains(&config.uid()),
            "rewrites" => is_changed,
            "regenerates-on-labels" => {
                config.object["metadata"]["labels"]["example.com/pier"].is_string() && is_changed
            }
            "regenerates-on-spec" => config.object["metadata"]["generation"] != 1 && is_changed,
            _ => false,
        };
        if is_new {
            let data = json!({"data": {"value": STANDARD.encode(data(config))}});
            self.api.merge(&path, &data).await?;
        }
        if secret["metadata"]["ownerReferences"].is_null()
            && !config.has("leaves-owner-lost")
            && !config.has("no-controller")
        {
            let owner = json!({
                "apiVersion": configs().api_version, "kind": "SwitchableConfig", "name": config.name,
                "uid": config.object["metadata"]["uid"], "controller": true,
            });
            self.api
                .merge(&path, &json!({"metadata": {"ownerReferences": [owner]}}))
                .await?;
        }
        Ok(())
    }

    async fn report(&self, config: &Config<'_>, name: &str) -> Result<(), Rejection> {
        let token = if config.has("leaks-secret") {
            "the token is abcdef.0123456789abcdef"
        } else {
            ""
        };
        let mut status = json!({
            "dataSecretName": name, "ready": true, "initialization": {"dataSecretCreated": true},
            "failureMessage": null,
            "conditions": [config.condition("Paused", false, ""), config.condition("Ready", !config.has("never-ready"), token)],
        });
        match config.switch {
            "no-name" => status["dataSecretName"] = Value::Null,
            "wrong-name" => status["dataSecretName"] = json!("missing"),
            "no-completion" => {
                status["ready"] = json!(false);
                status["initialization"] = Value::Null;
            }
            "no-conditions" => status["conditions"] = Value::Null,
            "keeps-failure" => {
                if let Some(status) = status.as_object_mut() {
                    status.remove("failureMessage");
                }
            }
            "writes-endlessly" => status["attempt"] = json!(now()),
            "completion-before-name" if config.object["status"]["ready"] != true => {
                status["dataSecretName"] = Value::Null;
            }
            _ => {}
        }
        self.set_status(config, &status).await
    }
}

/// Nanoseconds, which differ each time.
fn now() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap_or_default().as_nanos().to_string()
}

fn data(config: &Config<'_>) -> String {
    let host = config
        .cluster("/spec/controlPlaneEndpoint/host")
        .as_str()
        .unwrap_or_default();
    let sentinel = match config.has("no-sentinel") {
        true => "true",
        false => "touch /run/cluster-api/bootstrap-success.complete",
    };
    let taint = match config.is_control_plane() && !config.has("taints-control-plane") {
        true => "",
        false => "taint: node.cluster.x-k8s.io/uninitialized:NoSchedule\n",
    };
    format!(
        "#cloud-config\n# {}\ntoken: abcdef.0123456789abcdef\nserver: {host}\n{taint}runcmd:\n- {sentinel}\n",
        now()
    )
}
