//! The Secret that holds the data of a machine, as far as offline rendering and the controller
//! share it (book: "Bootstrap provider contract: bootstrap data Secret").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::rendered::Rendered;
use windlass_capi::api::boot::Format;
use windlass_capi::api::names::{GROUP, Version};
use windlass_capi::contract::{SECRET_TYPE, labels};
use windlass_objects::Object;

/// The Secret, controlled by the config of that reference, if one is given.
pub fn secret(config: &Object, rendered: &Rendered, controller: Option<Value>) -> Value {
    let mut secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": SECRET_TYPE,
        "metadata": {
            "name": config.name(),
            "namespace": config.namespace_or_default(),
            "labels": {labels::CLUSTER_NAME: rendered.cluster_name},
        },
        "data": data(config, rendered),
    });
    if let Some(controller) = controller {
        secret["metadata"]["ownerReferences"] = json!([controller]);
    }
    secret
}

/// The reference that makes a config the controller of its Secret, in the version in which it is
/// stored.
pub fn controller_reference(config: &Object, stored: Version) -> Value {
    let api_version = format!("{}/{stored}", config.group());
    let mut reference = json!({"apiVersion": api_version, "kind": config.kind(), "name": config.name(), "controller": true});
    let uid = config.text(&["metadata", "uid"]);
    if !uid.is_empty() {
        reference["uid"] = uid.into();
    }
    reference
}

/// The keys of the Secret. The contract knows `value` alone; the kubeadm provider always adds
/// `format`, which infrastructure providers that know Ignition read, so it is there when the data
/// is not cloud-config.
fn data(config: &Object, rendered: &Rendered) -> Map<String, Value> {
    let mut data = Map::from_iter([(
        "value".to_owned(),
        STANDARD.encode(rendered.data.expose()).into(),
    )]);
    if config.group() != GROUP || rendered.format != Format::CloudConfig {
        data.insert(
            "format".to_owned(),
            STANDARD.encode(rendered.format.as_str()).into(),
        );
    }
    data
}
