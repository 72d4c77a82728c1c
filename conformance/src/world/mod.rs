//! One namespace with a Cluster, its machines and their configs, in which this program plays the
//! part of Cluster API's core.

mod acts;
mod secrets;
mod seen;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{Api, Kind, Rejection};
use crate::bench::{Bench, ENDPOINT};
use crate::core_objects::Machine;
use crate::history::Subject;
use crate::sample::{Objects, Role, merge};
use crate::watching::Watching;

pub(crate) use seen::Done;

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
    pub(crate) is_secret_rejected: bool,
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
            is_secret_rejected: false,
        }
    }
}

pub(crate) struct World {
    pub(crate) bench: Arc<Bench>,
    pub(crate) namespace: String,
    pub(crate) watching: Watching,
    plan: Plan,
}

impl World {
    /// Makes a namespace and all that the plan contains.
    pub(crate) async fn begin(
        bench: &Arc<Bench>,
        check: &str,
        plan: Plan,
    ) -> Result<World, Rejection> {
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
        if world.plan.is_secret_rejected {
            world.reject_secrets().await?;
        }
        world.add(world.plan.role, MACHINE).await?;
        Ok(world)
    }

    pub(crate) fn api(&self) -> &Api {
        &self.bench.api
    }

    /// A config as the MachineSet controller creates it, then its Machine, then the references that
    /// the Machine controller sets.
    pub(crate) async fn add(&self, role: Role, name: &str) -> Result<(), Rejection> {
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

    fn objects(&self, role: Role, name: &str) -> Result<Objects, Rejection> {
        let sample = self
            .bench
            .sample(role)
            .ok_or_else(|| rejection(format!("no sample of the role {}", role.name())))?;
        sample
            .objects(&self.namespace, CLUSTER, name)
            .map_err(rejection)
    }

    async fn create_others(&self, objects: &Objects) -> Result<(), Rejection> {
        for object in &objects.others {
            let kind = self.kind_of(object).await?;
            let created = self
                .api()
                .create(&kind, Some(&self.namespace), object)
                .await;
            // Samples of two machines may need the same object.
            if !matches!(&created, Err(rejection) if rejection.code == 409) {
                created?;
            }
        }
        Ok(())
    }

    async fn create_config(&self, objects: &Objects, name: &str) -> Result<(), Rejection> {
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
    async fn kind_of(&self, object: &Value) -> Result<Kind, Rejection> {
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
            rejection(format!(
                "the API server does not serve {kind} of {api_version}"
            ))
        })?;
        Ok(Kind::new(api_version, kind, plural))
    }

    /// Creates the Cluster and its status.
    pub(crate) async fn create_cluster(&self) -> Result<(), Rejection> {
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
    ) -> Result<(), Rejection> {
        let status = self.bench.core.cluster_status(infrastructure, initialized);
        let path = format!("{}/status", self.cluster_path());
        self.api()
            .merge(&path, &json!({"status": status}))
            .await
            .map(drop)
    }

    fn cluster_path(&self) -> String {
        self.bench
            .core
            .clusters()
            .path(Some(&self.namespace), CLUSTER)
    }

    pub(crate) async fn merge_cluster(&self, patch: &Value) -> Result<(), Rejection> {
        self.api()
            .merge(&self.cluster_path(), patch)
            .await
            .map(drop)
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

pub(crate) fn rejection(message: String) -> Rejection {
    Rejection { code: 0, message }
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
