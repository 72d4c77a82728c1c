//! Components files: what of them is installed into a control plane, and where webhooks lead.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::api::{Api, Kind};

const ESTABLISHED: Duration = Duration::from_secs(30);

/// The provider's webhook server.
pub(crate) struct Webhooks {
    pub(crate) port: u16,
    /// PEM.
    pub(crate) authority: String,
}

/// Whether an object is installed where no Pod runs: not what the cluster would run, and nothing of
/// cert-manager, whose part this program plays.
pub(crate) fn is_installed(object: &Value, has_webhooks: bool) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    let is_of_cert_manager = object["apiVersion"]
        .as_str()
        .is_some_and(|version| version.starts_with("cert-manager.io/"));
    let is_webhook = kind.ends_with("WebhookConfiguration");
    !is_of_cert_manager
        && !matches!(kind, "Deployment" | "Service")
        && (has_webhooks || !is_webhook)
}

/// Points every webhook and conversion of an object to the provider's process.
pub(crate) fn redirect(object: &mut Value, webhooks: &Webhooks) {
    let mut configs: Vec<&mut Value> = Vec::new();
    match object["kind"].as_str() {
        Some("CustomResourceDefinition") => {
            configs.extend(object.pointer_mut("/spec/conversion/webhook/clientConfig"));
        }
        _ => {
            let all = object["webhooks"].as_array_mut().into_iter().flatten();
            configs.extend(all.filter_map(|webhook| webhook.get_mut("clientConfig")));
        }
    }
    for config in configs {
        let path = config["service"]["path"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        *config = json!({
            "url": format!("https://127.0.0.1:{}{path}", webhooks.port),
            "caBundle": STANDARD.encode(&webhooks.authority),
        });
    }
}

pub(crate) fn crds() -> Kind {
    Kind::new(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    )
}

/// Creates objects; returns the names of the CRDs that did not exist before.
///
/// # Errors
/// The message for the user, if the API server rejects one.
pub(crate) async fn install(api: &Api, objects: &[Value]) -> Result<Vec<String>, String> {
    let mut created = Vec::new();
    for object in objects {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind, name) = (
            text(&object["apiVersion"]),
            text(&object["kind"]),
            text(&object["metadata"]["name"]),
        );
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{}ies", stem.to_lowercase()),
            None => format!("{}s", kind.to_lowercase()),
        };
        let kind = Kind::new(&api_version, &kind, &plural);
        match api
            .create(&kind, object["metadata"]["namespace"].as_str(), object)
            .await
        {
            Ok(_) if kind == crds() => created.push(name),
            Ok(_) => {}
            Err(rejection) if rejection.code == 409 => {}
            Err(rejection) => return Err(format!("{} {name}: {rejection}", kind.kind)),
        }
    }
    until_established(api, objects).await?;
    Ok(created)
}

async fn until_established(api: &Api, objects: &[Value]) -> Result<(), String> {
    let names = objects
        .iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition");
    for name in names.filter_map(|crd| crd["metadata"]["name"].as_str()) {
        let deadline = tokio::time::Instant::now() + ESTABLISHED;
        loop {
            let crd = api
                .read(&crds().path(None, name))
                .await
                .map_err(|rejection| format!("{name}: {rejection}"))?;
            let conditions = crd["status"]["conditions"].as_array();
            if conditions.into_iter().flatten().any(|condition| {
                condition["type"] == "Established" && condition["status"] == "True"
            }) {
                break;
            }
            if tokio::time::Instant::now() >= deadline {
                return Err(format!(
                    "the CustomResourceDefinition {name} is not established after {} s",
                    ESTABLISHED.as_secs()
                ));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhooks_lead_to_the_process() {
        let webhooks = Webhooks {
            port: 9443,
            authority: "PEM".to_owned(),
        };
        let service = json!({"service": {"name": "a", "namespace": "b", "path": "/convert"}});
        let mut crd = json!({"kind": "CustomResourceDefinition", "spec": {"conversion": {"webhook": {"clientConfig": service}}}});
        redirect(&mut crd, &webhooks);
        assert_eq!(
            crd["spec"]["conversion"]["webhook"]["clientConfig"]["url"],
            "https://127.0.0.1:9443/convert"
        );
        let mut validating = json!({"kind": "ValidatingWebhookConfiguration", "webhooks": [{"clientConfig": service}]});
        redirect(&mut validating, &webhooks);
        assert_eq!(
            validating["webhooks"][0]["clientConfig"]["caBundle"],
            "UEVN"
        );
    }

    #[test]
    fn nothing_that_runs_in_pods_is_installed() {
        let of = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind});
        assert!(!is_installed(&of("apps/v1", "Deployment"), true));
        assert!(!is_installed(&of("cert-manager.io/v1", "Issuer"), true));
        assert!(!is_installed(
            &of(
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration"
            ),
            false
        ));
        assert!(is_installed(
            &of("rbac.authorization.k8s.io/v1", "ClusterRole"),
            false
        ));
    }
}
