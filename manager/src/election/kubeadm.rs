//! The Lease of the kubeadm bootstrap provider: of it and us, whoever works on KubeadmConfigs holds
//! it. The other stands by, and the provider's webhooks, which all KubeadmConfigs go through,
//! answer meanwhile.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject};
use kube::discovery::ApiResource;
use kube::{Client, ResourceExt};
use serde_json::Value;
use windlass_capi::contract::crd_name;

use super::Leadership;
use super::elector::{Candidacy, Elector};
use crate::fault::{Fault, told};
use crate::flags::{ConfigKind, LeaseTimes};
use crate::metrics::Metrics;
use crate::shutdown::Shutdown;

/// `LeaderElectionID` of `bootstrap/kubeadm/main.go`.
const LEASE: &str = "kubeadm-bootstrap-manager-leader-election-capi";

/// Where its components put it.
const NAMESPACE: &str = "capi-kubeadm-bootstrap-system";

/// How long the provider may be missing before it is looked for again.
const PROVIDER_AGAIN: Duration = Duration::from_secs(5);

/// Our candidacy for it.
pub(crate) struct KubeadmLease {
    client: Client,
    /// All replicas of an installation hold it under one name. Their own Lease says which of them
    /// works. A replica that follows another has it at once; the provider would take over a Lease
    /// that is given back. Another installation has another name, and waits as the
    /// provider does.
    identity: String,
    times: LeaseTimes,
    metrics: Metrics,
    leadership: Leadership,
}

impl KubeadmLease {
    /// A candidate that has not tried yet, of the installation in a namespace.
    pub(crate) fn new(client: Client, home: &str, times: LeaseTimes, metrics: Metrics) -> Self {
        let identity = format!("{home}/windlass-manager");
        KubeadmLease {
            client,
            identity,
            times,
            metrics,
            leadership: Leadership::of_candidate(),
        }
    }

    /// The answer to whether this process may write, as far as the provider is concerned.
    pub(crate) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Waits until the provider does not work any more, and keeps it from working until the
    /// shutdown begins. Only the leader of our own replicas may call this.
    ///
    /// # Errors
    /// When the Lease is lost. From then on nothing may be written.
    pub(crate) async fn keep(&self, shutdown: &Shutdown) -> Result<(), Fault> {
        let Some(namespace) = self.namespace(shutdown).await else {
            return Ok(());
        };
        let candidacy = Candidacy {
            lease: LEASE,
            namespace,
            identity: self.identity.clone(),
            waiting: "the holder works on KubeadmConfigs, so this manager does not; it takes over when the Deployment of the kubeadm bootstrap \
                      provider is scaled to 0, and the provider stands by when it is scaled up again",
        };
        let mut elector = Elector::new(
            self.client.clone(),
            candidacy,
            self.times,
            self.metrics.clone(),
        )
        .answering(self.leadership.clone());
        if elector.acquire(shutdown).await {
            elector.keep(shutdown).await
        } else {
            Ok(())
        }
    }

    /// The namespace of the provider; `None` when the shutdown begins before it is there.
    async fn namespace(&self, shutdown: &Shutdown) -> Option<String> {
        let mut said = None;
        loop {
            let found = tokio::select! {
                found = self.look() => found,
                () = shutdown.begun() => return None,
            };
            match found {
                Ok(namespace) => return Some(namespace),
                Err(cause) if said.as_ref() == Some(&cause) => {}
                Err(cause) => {
                    tracing::warn!(err = %cause, "KubeadmConfigs cannot be worked on yet");
                    said = Some(cause);
                }
            }
            tokio::select! {
                () = shutdown.begun() => return None,
                () = tokio::time::sleep(PROVIDER_AGAIN) => {}
            }
        }
    }

    async fn look(&self) -> Result<String, String> {
        // What is read of it is little; the whole is large.
        let definitions = Api::<DynamicObject>::all_with(
            self.client.clone(),
            &ApiResource::erase::<CustomResourceDefinition>(&()),
        );
        let name = crd_name(ConfigKind::Kubeadm.group(), ConfigKind::Kubeadm.as_str());
        let definition = definitions
            .get_opt(&name)
            .await
            .map_err(|fault| told(&fault))?;
        namespace_of(
            &definition.ok_or(
                "there is no KubeadmConfig: the kubeadm bootstrap provider is not installed",
            )?,
        )
    }
}

/// Where the provider is that a CustomResourceDefinition belongs to: where its conversion webhook
/// is.
fn namespace_of(definition: &DynamicObject) -> Result<String, String> {
    let versions = definition
        .data
        .pointer("/spec/versions")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if !versions
        .iter()
        .any(|version| version["name"] == "v1beta2" && version["served"] == true)
    {
        return Err(format!(
            "{} has no v1beta2: Cluster API is older than v1.11",
            definition.name_any()
        ));
    }
    let service = definition
        .data
        .pointer("/spec/conversion/webhook/clientConfig/service/namespace")
        .and_then(Value::as_str);
    Ok(service.unwrap_or(NAMESPACE).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(version: &str, is_served: bool, conversion: Value) -> DynamicObject {
        let versions =
            json!([{"name": "v1beta1", "served": true}, {"name": version, "served": is_served}]);
        let metadata = json!({"name": "kubeadmconfigs.bootstrap.cluster.x-k8s.io"});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
            "spec": {"versions": versions, "conversion": conversion},
        });
        serde_json::from_value(definition).unwrap()
    }

    /// `clusterctl init --target-namespace` puts the provider elsewhere, and its Lease with it.
    #[test]
    fn the_lease_is_where_the_provider_is() {
        let service = json!({"webhook": {"clientConfig": {"service": {"namespace": "elsewhere", "name": "x"}}}});
        assert_eq!(
            namespace_of(&definition("v1beta2", true, service)),
            Ok("elsewhere".to_owned())
        );
        let url = json!({"webhook": {"clientConfig": {"url": "https://x"}}});
        assert_eq!(
            namespace_of(&definition("v1beta2", true, url)),
            Ok(NAMESPACE.to_owned())
        );
    }

    #[test]
    fn a_provider_that_is_too_old_is_told() {
        for old in [
            definition("v1alpha4", true, json!(null)),
            definition("v1beta2", false, json!(null)),
        ] {
            let cause = "kubeadmconfigs.bootstrap.cluster.x-k8s.io has no v1beta2: Cluster API is older than v1.11";
            assert_eq!(namespace_of(&old), Err(cause.to_owned()));
        }
    }
}
