//! Changes of configs and owners, as the core and users make them.

use serde_json::{Value, json};

use super::{CLUSTER, World, bare, rejection, secrets};
use crate::api::Rejection;
use crate::history::{History, Subject};
use crate::sample::Role;

impl World {
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
    pub(crate) async fn own(&self, name: &str) -> Result<(), Rejection> {
        let owner = self.api().read(&self.owner_path(name)).await?;
        let reference = json!({
            "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name,
            "uid": owner["metadata"]["uid"], "controller": true,
        });
        self.merge_config(name, &json!({"metadata": {"ownerReferences": [reference]}}))
            .await
    }

    pub(crate) async fn merge_config(&self, name: &str, patch: &Value) -> Result<(), Rejection> {
        self.api()
            .merge(&self.config_path(name), patch)
            .await
            .map(drop)
    }

    /// Changes an annotation that means nothing, so that the controller sees the config again.
    pub(crate) async fn touch(&self, name: &str, value: &str) -> Result<(), Rejection> {
        self.merge_config(
            name,
            &json!({"metadata": {"annotations": {"conformance.windlass.dev/touched": value}}}),
        )
        .await
    }

    /// Removes the whole status, and waits until the history has seen that.
    pub(crate) async fn erase_status(&self, name: &str) -> Result<(), Rejection> {
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
            rejection("the watch does not deliver a change of this program".to_owned())
        })
    }

    /// Copies of the Cluster's Secrets, as clusterctl creates them elsewhere, without one of them.
    pub(crate) async fn cluster_secrets(&self, except: &Value) -> Result<Vec<Value>, Rejection> {
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
    pub(crate) async fn config(&self, name: &str) -> Result<Value, Rejection> {
        self.api().read(&self.config_path(name)).await
    }
}
