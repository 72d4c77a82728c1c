//! Points webhooks and conversions, which name a Service that nothing stands behind here, to
//! processes on loopback.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::control_plane::ControlPlane;
use super::wait;

/// Port on 127.0.0.1 by namespace and name of the Service.
pub(crate) type Ports = BTreeMap<(String, String), u16>;

/// Redirects every client configuration that names one of the Services, and gives their number.
pub(crate) fn services(plane: &ControlPlane, ports: &Ports) -> usize {
    let authority = STANDARD.encode(&plane.certificates.authority);
    rewrite(plane, |config| redirected(config, ports, &authority))
}

/// Changes every client configuration of webhooks and conversions that the function changes, and
/// gives their number.
fn rewrite(plane: &ControlPlane, change: impl Fn(&mut Value) -> Option<()>) -> usize {
    let kinds = [
        (
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
        ),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
        ),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ];
    let mut count = 0;
    for (api_version, kind) in kinds {
        for object in plane.api.list(api_version, kind, None) {
            let name = object["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            // The API server itself writes the status of CRDs, so a replacement may meet a
            // conflict.
            count += wait::until(
                &format!("{kind} {name} rewritten"),
                Duration::from_secs(20),
                || {
                    let mut object = plane
                        .api
                        .get(api_version, kind, None, &name)
                        .map_err(|rejection| rejection.to_string())?;
                    let changed = client_configs(&mut object)
                        .into_iter()
                        .filter_map(&change)
                        .count();
                    if changed > 0 {
                        plane
                            .api
                            .replace(&object)
                            .map_err(|rejection| rejection.to_string())?;
                    }
                    Ok(changed)
                },
            );
        }
    }
    count
}

/// Points what was redirected to a port back to a Service: clusterctl patches, and a client
/// configuration that then names both a URL and a Service is invalid.
pub(crate) fn back_to_service(
    plane: &ControlPlane,
    port: u16,
    namespace: &str,
    name: &str,
) -> usize {
    let origin = format!("https://127.0.0.1:{port}");
    rewrite(plane, |config| {
        let path = config
            .get("url")?
            .as_str()?
            .strip_prefix(&origin)?
            .to_owned();
        *config = json!({"service": {"namespace": namespace, "name": name, "path": path}});
        Some(())
    })
}

/// The client configurations of a webhook configuration or of a CRD.
fn client_configs(object: &mut Value) -> Vec<&mut Value> {
    if object["kind"] == "CustomResourceDefinition" {
        return object
            .pointer_mut("/spec/conversion/webhook/clientConfig")
            .into_iter()
            .collect();
    }
    let webhooks = object["webhooks"]
        .as_array_mut()
        .map(|webhooks| webhooks.iter_mut())
        .into_iter()
        .flatten();
    webhooks
        .filter_map(|webhook| webhook.get_mut("clientConfig"))
        .collect()
}

fn redirected(config: &mut Value, ports: &Ports, authority: &str) -> Option<()> {
    let service = config.get("service")?;
    let text = |key: &str| service[key].as_str().unwrap_or_default().to_owned();
    let port = ports.get(&(text("namespace"), text("name")))?;
    *config = json!({ "url": format!("https://127.0.0.1:{port}{}", text("path")), "caBundle": authority });
    Some(())
}
