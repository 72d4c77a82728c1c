//! The Secret that holds the data of a machine, as far as offline rendering and the controller share it (book: "Bootstrap provider
//! contract: bootstrap data Secret").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::rendered::Rendered;
use crate::api::boot::Format;
use crate::api::names::GROUP;
use crate::contract::labels;
use crate::objects::Object;

/// Name, namespace and labels.
pub(crate) fn metadata(config: &Object, rendered: &Rendered) -> Value {
    json!({
        "name": config.name(),
        "namespace": config.namespace_or_default(),
        "labels": {labels::CLUSTER_NAME: rendered.cluster_name},
    })
}

/// The keys of the Secret. The contract knows `value` alone; the kubeadm provider always adds `format`, which infrastructure providers
/// that know Ignition read, so it is there when the data is not cloud-config.
pub(crate) fn data(config: &Object, rendered: &Rendered) -> Map<String, Value> {
    let mut data = Map::from_iter([("value".to_owned(), STANDARD.encode(rendered.data.expose()).into())]);
    if config.group() != GROUP || rendered.format != Format::CloudConfig {
        data.insert("format".to_owned(), STANDARD.encode(rendered.format.as_str()).into());
    }
    data
}
