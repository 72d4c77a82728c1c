//! What all checks of a run share: the clusters, the provider, its samples, and how long they wait.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::api::{Api, Kind, Rejection};
use crate::core_objects::Core;
use crate::environment::process::Provided;
use crate::provider::Provider;
use crate::sample::{Role, Sample};

/// The label of every namespace that a run makes; its value is the run's.
const RUN_LABEL: &str = "conformance.windlass.dev/run";

/// How long checks wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// The longest time until the provider acts on a change.
    pub(crate) patience: Duration,
    /// The time in which a provider that must not act does nothing.
    pub(crate) quiet: Duration,
}

/// The endpoint of every Cluster: an address for documentation (RFC 5737), so that it is found in
/// data and never reached.
pub(crate) const ENDPOINT: (&str, u16) = ("198.51.100.77", 6443);

pub(crate) struct Bench {
    pub(crate) api: Api,
    /// Requests as another user, for checks of rights.
    pub(crate) config: kube::Config,
    pub(crate) provider: Provider,
    pub(crate) core: Core,
    pub(crate) samples: Vec<Sample>,
    pub(crate) times: Times,
    /// The kubeconfig of a workload cluster, which joining machines need.
    pub(crate) workload: Option<String>,
    pub(crate) kubernetes_version: String,
    /// The provider's process, if this program runs it.
    pub(crate) process: Option<tokio::sync::Mutex<Provided>>,
    /// Distinguishes the namespaces of this run.
    pub(crate) run: String,
    /// The namespaces made so far.
    pub(crate) namespaces: Mutex<Vec<String>>,
    /// The sample for checks that need any machine; set after the base cases.
    pub(crate) primary: std::sync::OnceLock<Role>,
}

impl Bench {
    pub(crate) fn sample(&self, role: Role) -> Option<&Sample> {
        self.samples.iter().find(|sample| sample.role == role)
    }

    /// The role of checks that work with any machine.
    pub(crate) fn primary(&self) -> Role {
        self.primary.get().copied().unwrap_or(Role::Worker)
    }

    pub(crate) fn namespaces_kind() -> Kind {
        Kind::new("v1", "Namespace", "namespaces")
    }

    /// The namespace of a check.
    pub(crate) fn namespace_of(&self, check: &str) -> String {
        format!("conformance-{}-{check}", self.run)
    }

    /// Makes the namespace of a check.
    pub(crate) async fn make_namespace(&self, check: &str) -> Result<String, Rejection> {
        let namespace = self.namespace_of(check);
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {RUN_LABEL: self.run}}});
        // Before the request: an interrupted run does not see the answer.
        self.namespaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(namespace.clone());
        self.api
            .create(&Bench::namespaces_kind(), None, &object)
            .await?;
        Ok(namespace)
    }

    /// Deletes every namespace of the run, configs first, and waits for their end.
    ///
    /// Returns the namespaces that still exist after the limit.
    pub(crate) async fn clean_up(&self, limit: Duration) -> Vec<String> {
        let namespaces = self
            .namespaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let deadline = tokio::time::Instant::now() + limit;
        let mut were_left = true;
        loop {
            let mut left = Vec::new();
            for namespace in &namespaces {
                if !self.is_gone(namespace).await {
                    left.push(namespace.clone());
                }
            }
            // The API server may create a namespace after the request for it was interrupted, so
            // all have to be gone twice.
            let is_clean = left.is_empty() && !were_left;
            if is_clean || tokio::time::Instant::now() >= deadline {
                return left;
            }
            were_left = !left.is_empty();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Whether a namespace does not exist; deletes it, unless that was done before.
    async fn is_gone(&self, namespace: &str) -> bool {
        let path = Bench::namespaces_kind().path(None, namespace);
        match self.api.read(&path).await {
            Ok(object) if object["metadata"]["deletionTimestamp"].is_null() => {
                self.delete_namespace(namespace).await;
                false
            }
            answer => matches!(answer, Err(rejection) if rejection.is_missing()),
        }
    }

    /// Deletes the objects of a namespace and asks for the end of the namespace itself.
    pub(crate) async fn delete_namespace(&self, namespace: &str) {
        // A pause would keep finalizers.
        let unpaused = json!({"spec": {"paused": false}});
        let cluster = self
            .core
            .clusters()
            .path(Some(namespace), crate::world::CLUSTER);
        // What is gone already needs no deletion, and the caller lists what is left.
        drop(self.api.merge(&cluster, &unpaused).await);
        let kinds = [
            self.provider.config.clone(),
            self.core.machines(),
            self.core.machine_pools(),
            self.core.clusters(),
        ];
        for kind in kinds {
            drop(self.api.delete(&kind.collection(Some(namespace))).await);
        }
        drop(
            self.api
                .delete(&Bench::namespaces_kind().path(None, namespace))
                .await,
        );
    }
}
