//! One namespace with a Cluster, its machines and their configs, in which this program plays the
//! part of Cluster API's core.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::api::{Api, Kind, Refusal};
use crate::bench::{Bench, ENDPOINT};
use crate::certificates::{self, Authority};
use crate::core_objects::Machine;
use crate::history::{self, History, Subject};
use crate::outcome::{Evidence, Outcome};
use crate::sample::{Objects, Role, merge};
use crate::watching::Watching;

/// The name of every Cluster.
pub(crate) const CLUSTER: &str = "harbour";
/// The name of the first machine and of its config.
pub(crate) const MACHINE: &str = "machine-0";

/// The state in which a world begins.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) role: Role,
    pub(crate) has_cluster: bool,
    pub(crate) has_owner: bool,
    pub(crate) has_infrastructure: bool,
    pub(crate) has_endpoint: bool,
    pub(crate) is_initialized: bool,
    pub(crate) is_cluster_paused: bool,
    pub(crate) is_config_paused: bool,
    /// The value of the label that `--watch-filter` selects.
    pub(crate) filter: Option<&'static str>,
    /// Secrets are rejected by a quota.
    pub(crate) is_secret_refused: bool,
}

impl Plan {
    /// Everything that a config of the role needs.
    pub(crate) fn complete(role: Role) -> Plan {
        Plan {
            role,
            has_cluster: true,
            has_owner: true,
            has_infrastructure: true,
            has_endpoint: true,
            is_initialized: role != Role::Init,
            is_cluster_paused: false,
            is_config_paused: false,
            filter: None,
            is_secret_refused: false,
        }
    }
}

pub(crate) struct World {
    pub(crate) bench: Arc<Bench>,
    pub(crate) namespace: String,
    pub(crate) watching: Watching,
    plan: Plan,
}

/// A config whose completion is reported, and its Secret.
pub(crate) struct Done {
    pub(crate) config: Value,
    pub(crate) secret: Value,
}

impl Done {
    /// The bootstrap data.
    pub(crate) fn data(&self) -> Vec<u8> {
        history::secret_value(&self.secret, "value").unwrap_or_default()
    }
}

impl World {
    /// Makes a namespace and all that the plan contains.
    pub(crate) async fn begin(
        bench: &Arc<Bench>,
        check: &str,
        plan: Plan,
    ) -> Result<World, Refusal> {
        let namespace = bench.make_namespace(check).await?;
        let kinds = [
            (Subject::Config, bench.provider.config.clone()),
            (Subject::Secret, secrets()),
            (Subject::Event, Kind::new("v1", "Event", "events")),
        ];
        let watching = Watching::begin(&bench.api, &namespace, &kinds).await?;
        let world = World {
            bench: bench.clone(),
            namespace,
            watching,
            plan,
        };
        if world.plan.role != Role::Init {
            world.create_workload_secrets().await?;
        }
        if world.plan.has_cluster {
            world.create_cluster().await?;
        }
        if world.plan.is_secret_refused {
            world.refuse_secrets().await?;
        }
        world.add(world.plan.role, MACHINE).await?;
        Ok(world)
    }

    pub(crate) fn api(&self) -> &Api {
        &self.bench.api
    }

    /// A config as the MachineSet controller creates it, then its Machine, then the references that
    /// the Machine controller sets.
    pub(crate) async fn add(&self, role: Role, name: &str) -> Result<(), Refusal> {
        let objects = self.objects(role, name)?;
        self.create_others(&objects).await?;
        self.create_config(&objects, name).await?;
        let is_pool = role == Role::MachinePool;
        let machine = Machine {
            namespace: &self.namespace,
            cluster: CLUSTER,
            name,
            version: &self.bench.kubernetes_version,
            config: &self.bench.provider.config,
            is_control_plane: role.is_control_plane(),
            is_pool,
        };
        let core = self.bench.core;
        let (kind, mut object) = match is_pool {
            true => (core.machine_pools(), core.machine_pool(&machine)),
            false => (core.machines(), core.machine(&machine)),
        };
        adopt_sample(&mut object, &objects);
        self.api()
            .create(&kind, Some(&self.namespace), &object)
            .await?;
        match self.plan.has_owner {
            true => self.own(name).await,
            false => Ok(()),
        }
    }

    fn objects(&self, role: Role, name: &str) -> Result<Objects, Refusal> {
        let sample = self
            .bench
            .sample(role)
            .ok_or_else(|| refusal(format!("no sample of the role {}", role.name())))?;
        sample
            .objects(&self.namespace, CLUSTER, name)
            .map_err(refusal)
    }

    async fn create_others(&self, objects: &Objects) -> Result<(), Refusal> {
        for object in &objects.others {
            let kind = self.kind_of(object).await?;
            let created = self
                .api()
                .create(&kind, Some(&self.namespace), object)
                .await;
            // Samples of two machines may need the same object.
            if !matches!(&created, Err(refusal) if refusal.code == 409) {
                created?;
            }
        }
        Ok(())
    }

    async fn create_config(&self, objects: &Objects, name: &str) -> Result<(), Refusal> {
        let mut config = objects.config.clone();
        config["metadata"]["name"] = json!(name);
        config["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] = json!(CLUSTER);
        if let Some(filter) = self.plan.filter {
            config["metadata"]["labels"]["cluster.x-k8s.io/watch-filter"] = json!(filter);
        }
        if self.plan.is_config_paused {
            config["metadata"]["annotations"]["cluster.x-k8s.io/paused"] = json!("true");
        }
        let written = Kind {
            api_version: config["apiVersion"].as_str().unwrap_or_default().to_owned(),
            ..self.bench.provider.config.clone()
        };
        self.api()
            .create_patiently(
                &written,
                Some(&self.namespace),
                &config,
                self.bench.times.patience,
            )
            .await
            .map(drop)
    }

    /// The kind of an object that a sample contains.
    async fn kind_of(&self, object: &Value) -> Result<Kind, Refusal> {
        let text = |key: &str| object[key].as_str().unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let listed = Kind::new(api_version, kind, "");
        let resources = self
            .api()
            .read(listed.collection(None).trim_end_matches('/'))
            .await?;
        let found = resources["resources"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|resource| {
                resource["kind"] == kind
                    && resource["name"]
                        .as_str()
                        .is_some_and(|name| !name.contains('/'))
            });
        let plural = found.and_then(|resource| resource["name"].as_str());
        let plural = plural.ok_or_else(|| {
            refusal(format!(
                "the API server does not serve {kind} of {api_version}"
            ))
        })?;
        Ok(Kind::new(api_version, kind, plural))
    }

    /// Creates the Cluster and its status.
    pub(crate) async fn create_cluster(&self) -> Result<(), Refusal> {
        let core = self.bench.core;
        let endpoint = self.plan.has_endpoint.then_some(ENDPOINT);
        let mut cluster = core.cluster(&self.namespace, CLUSTER, endpoint);
        adopt_sample(&mut cluster, &self.objects(self.plan.role, MACHINE)?);
        if !self.plan.has_endpoint
            && let Some(spec) = cluster["spec"].as_object_mut()
        {
            spec.remove("controlPlaneEndpoint");
        }
        if self.plan.is_cluster_paused {
            cluster["spec"]["paused"] = json!(true);
        }
        if let Some(filter) = self.plan.filter {
            cluster["metadata"]["labels"]["cluster.x-k8s.io/watch-filter"] = json!(filter);
        }
        self.api()
            .create(&core.clusters(), Some(&self.namespace), &cluster)
            .await?;
        self.set_cluster_status(self.plan.has_infrastructure, self.plan.is_initialized)
            .await
    }

    pub(crate) async fn set_cluster_status(
        &self,
        infrastructure: bool,
        initialized: bool,
    ) -> Result<(), Refusal> {
        let status = self.bench.core.cluster_status(infrastructure, initialized);
        let path = format!("{}/status", self.cluster_path());
        self.api()
            .merge(&path, &json!({"status": status}))
            .await
            .map(drop)
    }

    /// The kubeconfig of the workload cluster and its authorities, which exist when machines join.
    async fn create_workload_secrets(&self) -> Result<(), Refusal> {
        let failed = |error: rcgen::Error| refusal(error.to_string());
        let mut all: Vec<(&str, Value)> = Vec::new();
        if let Some(kubeconfig) = &self.bench.workload {
            all.push(("kubeconfig", json!({"value": STANDARD.encode(kubeconfig)})));
        }
        for purpose in ["ca", "etcd", "proxy"] {
            let pair = Authority::new("kubernetes").map_err(failed)?.pair;
            all.push((purpose, json!({"tls.crt": STANDARD.encode(pair.certificate), "tls.key": STANDARD.encode(pair.key)})));
        }
        let [private, public] = certificates::signing_key().map_err(failed)?;
        all.push((
            "sa",
            json!({"tls.crt": STANDARD.encode(public), "tls.key": STANDARD.encode(private)}),
        ));
        for (purpose, data) in all {
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
                "metadata": {
                    "name": format!("{CLUSTER}-{purpose}"), "namespace": self.namespace,
                    "labels": {"cluster.x-k8s.io/cluster-name": CLUSTER},
                },
                "data": data,
            });
            self.api()
                .create(&secrets(), Some(&self.namespace), &secret)
                .await?;
        }
        Ok(())
    }

    /// Lets the API server reject every further Secret of the namespace.
    async fn refuse_secrets(&self) -> Result<(), Refusal> {
        let quotas = Kind::new("v1", "ResourceQuota", "resourcequotas");
        let hard = json!({"count/secrets": "0"});
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-secrets"}, "spec": {"hard": hard}});
        self.api()
            .create(&quotas, Some(&self.namespace), &quota)
            .await?;
        // Without a controller manager the status is missing, and the API server knows no limit.
        let path = format!(
            "{}/status",
            quotas.path(Some(&self.namespace), "no-secrets")
        );
        let status = json!({"status": {"hard": hard, "used": {"count/secrets": "99"}}});
        self.api().merge(&path, &status).await?;
        let probe = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "probe"}});
        for _ in 0..50 {
            let path = format!("{}?dryRun=All", secrets().collection(Some(&self.namespace)));
            match self
                .api()
                .request("POST", &path, "application/json", Some(&probe))
                .await
            {
                Err(refused) if refused.code == 403 => return Ok(()),
                _ => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
        Err(refusal(
            "the API server creates Secrets in spite of a ResourceQuota".to_owned(),
        ))
    }

    /// Lets the API server accept Secrets again.
    pub(crate) async fn accept_secrets(&self) -> Result<(), Refusal> {
        let quotas = Kind::new("v1", "ResourceQuota", "resourcequotas");
        self.api()
            .delete(&quotas.path(Some(&self.namespace), "no-secrets"))
            .await
            .map(drop)
    }

    fn cluster_path(&self) -> String {
        self.bench
            .core
            .clusters()
            .path(Some(&self.namespace), CLUSTER)
    }

    pub(crate) async fn merge_cluster(&self, patch: &Value) -> Result<(), Refusal> {
        self.api()
            .merge(&self.cluster_path(), patch)
            .await
            .map(drop)
    }

    pub(crate) fn config_path(&self, name: &str) -> String {
        self.bench.provider.config.path(Some(&self.namespace), name)
    }

    pub(crate) fn secret_path(&self, name: &str) -> String {
        secrets().path(Some(&self.namespace), name)
    }

    pub(crate) fn owner_path(&self, name: &str) -> String {
        let core = self.bench.core;
        match self.plan.role {
            Role::MachinePool => core.machine_pools().path(Some(&self.namespace), name),
            _ => core.machines().path(Some(&self.namespace), name),
        }
    }

    /// Sets the controlling owner reference, as the Machine controller does.
    pub(crate) async fn own(&self, name: &str) -> Result<(), Refusal> {
        let owner = self.api().read(&self.owner_path(name)).await?;
        let reference = json!({
            "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name,
            "uid": owner["metadata"]["uid"], "controller": true,
        });
        self.merge_config(name, &json!({"metadata": {"ownerReferences": [reference]}}))
            .await
    }

    pub(crate) async fn merge_config(&self, name: &str, patch: &Value) -> Result<(), Refusal> {
        self.api()
            .merge(&self.config_path(name), patch)
            .await
            .map(drop)
    }

    /// Changes an annotation that means nothing, so that the controller sees the config again.
    pub(crate) async fn touch(&self, name: &str, value: &str) -> Result<(), Refusal> {
        self.merge_config(
            name,
            &json!({"metadata": {"annotations": {"conformance.windlass.dev/touched": value}}}),
        )
        .await
    }

    /// Removes the whole status, and waits until the history has seen that.
    pub(crate) async fn erase_status(&self, name: &str) -> Result<(), Refusal> {
        let path = format!("{}/status", self.config_path(name));
        let erased = self.api().merge(&path, &json!({"status": null})).await?;
        let version = erased["metadata"]["resourceVersion"].clone();
        let is_seen = |history: &History| {
            let mut versions = history.of(Subject::Config, name);
            versions
                .any(|seen| seen.object["metadata"]["resourceVersion"] == version)
                .then_some(())
        };
        let seen = self
            .watching
            .until(self.bench.times.patience, is_seen)
            .await;
        seen.ok_or_else(|| {
            refusal("the watch does not deliver a change of this program".to_owned())
        })
    }

    /// Copies of the Cluster's Secrets, as clusterctl creates them elsewhere, without one of them.
    pub(crate) async fn cluster_secrets(&self, except: &Value) -> Result<Vec<Value>, Refusal> {
        let path = secrets().collection(Some(&self.namespace));
        let list = self
            .api()
            .read(&format!(
                "{path}?labelSelector=cluster.x-k8s.io%2Fcluster-name%3D{CLUSTER}"
            ))
            .await?;
        let items = list["items"].as_array().into_iter().flatten();
        let others =
            items.filter(|secret| secret["metadata"]["name"] != except["metadata"]["name"]);
        Ok(others.map(bare).collect())
    }

    /// The config as the API server has it now.
    pub(crate) async fn config(&self, name: &str) -> Result<Value, Refusal> {
        self.api().read(&self.config_path(name)).await
    }

    /// What a history says about a config whose completion is reported and whose Secret exists.
    fn done(&self, history: &History, name: &str) -> Option<Done> {
        let config = history.newest(Subject::Config, name)?;
        let secret_name = history::data_secret_name(config)?;
        if !self.bench.provider.completion().is_reported(config) {
            return None;
        }
        let secret = history.newest(Subject::Secret, secret_name)?;
        history::secret_value(secret, "value").filter(|value| !value.is_empty())?;
        Some(Done {
            config: config.clone(),
            secret: secret.clone(),
        })
    }

    /// Waits until completion is reported and the Secret has data.
    pub(crate) async fn until_done(&self, name: &str) -> Option<Done> {
        self.until_done_within(name, self.bench.times.patience)
            .await
    }

    pub(crate) async fn until_done_within(&self, name: &str, limit: Duration) -> Option<Done> {
        self.watching
            .until(limit, |history| self.done(history, name))
            .await
    }

    /// The first sign of data in a history: a Secret that the config controls, its name, or
    /// completion.
    pub(crate) fn sign_of_data(&self, history: &History, name: &str) -> Option<String> {
        let completion = self.bench.provider.completion();
        let configs: Vec<&Value> = history
            .of(Subject::Config, name)
            .map(|seen| &seen.object)
            .collect();
        for config in &configs {
            if completion.is_reported(config) {
                return Some(format!("{} is true", completion.field()));
            }
            if let Some(secret) = history::data_secret_name(config) {
                return Some(format!("status.dataSecretName is {secret}"));
            }
        }
        let uids: Vec<&Value> = configs
            .iter()
            .map(|config| &config["metadata"]["uid"])
            .collect();
        let secret = history.all(Subject::Secret).find(|seen| {
            uids.iter()
                .any(|uid| history::is_controlled_by(&seen.object, uid))
        });
        secret.map(|seen| {
            format!(
                "the Secret {} exists, controlled by the config",
                seen.name()
            )
        })
    }

    /// Waits for the quiet time; returns the sign of data that must not have appeared.
    pub(crate) async fn quiet_sign_of_data(&self, name: &str) -> Option<String> {
        self.watching
            .until(self.bench.times.quiet, |history| {
                self.sign_of_data(history, name)
            })
            .await
    }

    /// Evidence about the config of a machine, with the history so far.
    pub(crate) fn evidence(
        &self,
        name: &str,
        field: Option<&str>,
        observed: impl Into<String>,
    ) -> Evidence {
        Evidence {
            object: format!(
                "{} {}/{name}",
                self.bench.provider.config.kind, self.namespace
            ),
            field: field.map(str::to_owned),
            observed: observed.into(),
            history: self
                .watching
                .with(|history| history.timeline(self.bench.provider.completion())),
        }
    }

    /// The outcome of a check whose second half did not happen.
    pub(crate) fn never_done(&self, name: &str, after: &str) -> Outcome {
        let seconds = self.bench.times.patience.as_secs();
        Outcome::fail(
            format!("no completed config {after}"),
            self.evidence(
                name,
                Some(self.bench.provider.completion().field()),
                format!("not true within {seconds} s"),
            ),
        )
    }

    /// Deletes everything of the world, without waiting.
    pub(crate) async fn end(self) {
        self.bench.delete_namespace(&self.namespace).await;
    }
}

/// A Secret as clusterctl creates it elsewhere, without owners.
pub(crate) fn bare(secret: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": secret["type"], "data": secret["data"],
        "metadata": {
            "name": secret["metadata"]["name"], "labels": secret["metadata"]["labels"],
            "annotations": secret["metadata"]["annotations"],
        },
    })
}

pub(crate) fn secrets() -> Kind {
    Kind::new("v1", "Secret", "secrets")
}

pub(crate) fn refusal(message: String) -> Refusal {
    Refusal { code: 0, message }
}

/// Merges the sample's document of the same kind into an object of the core.
fn adopt_sample(object: &mut Value, objects: &Objects) {
    let kind = object["kind"].clone();
    for document in objects
        .core
        .iter()
        .filter(|document| document["kind"] == kind)
    {
        for key in ["spec", "metadata"] {
            if let Some(mut patch) = document.get(key).cloned() {
                if let Some(metadata) = patch.as_object_mut().filter(|_| key == "metadata") {
                    metadata.retain(|key, _| key == "labels" || key == "annotations");
                }
                merge(&mut object[key], &patch);
            }
        }
    }
}
