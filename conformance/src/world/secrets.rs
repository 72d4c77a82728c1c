//! The Secrets of a workload cluster, and an API server that rejects Secrets.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{CLUSTER, World, rejection, secrets};
use crate::api::{Kind, Rejection};
use crate::certificates::{self, Authority};

impl World {
    /// The kubeconfig of the workload cluster and its authorities, which exist when machines join.
    pub(super) async fn create_workload_secrets(&self) -> Result<(), Rejection> {
        let failed = |error: rcgen::Error| rejection(error.to_string());
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
    pub(super) async fn reject_secrets(&self) -> Result<(), Rejection> {
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
                Err(rejected) if rejected.code == 403 => return Ok(()),
                _ => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
        Err(rejection(
            "the API server creates Secrets in spite of a ResourceQuota".to_owned(),
        ))
    }

    /// Lets the API server accept Secrets again.
    pub(crate) async fn accept_secrets(&self) -> Result<(), Rejection> {
        let quotas = Kind::new("v1", "ResourceQuota", "resourcequotas");
        self.api()
            .delete(&quotas.path(Some(&self.namespace), "no-secrets"))
            .await
            .map(drop)
    }
}
