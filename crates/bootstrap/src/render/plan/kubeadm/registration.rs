//! `nodeRegistration`, `localAPIEndpoint` and `patches`, which both ways into a cluster share.

use serde_json::Value;

use super::KubeadmApi;
use super::fields::Fields;
use windlass_capi::api::node::{Patches, Taint};
use windlass_capi::api::v1beta2::{ApiEndpoint, NodeRegistration};

/// The object `nodeRegistration`. `taints` is null when it is not set, but in v1beta2, where it is
/// left out.
pub(super) fn registration(node: Option<&NodeRegistration>, api: KubeadmApi) -> Fields {
    let mut fields = Fields::default();
    let taints = node.and_then(|node| node.taints.as_ref());
    if api > KubeadmApi::V1Beta2 || taints.is_some_and(|taints| !taints.is_empty()) {
        fields.always(
            "taints",
            taints.map_or(Value::Null, |taints| taints.iter().map(taint).collect()),
        );
    }
    let Some(node) = node else { return fields };
    let NodeRegistration {
        name,
        cri_socket,
        taints: _,
        kubelet_extra_args,
        ignore_preflight_errors,
        image_pull_policy,
        image_pull_serial,
    } = node;
    fields.text("name", name.as_deref());
    fields.text("criSocket", cri_socket.as_deref());
    fields.args("kubeletExtraArgs", kubelet_extra_args.as_ref(), api);
    fields.texts("ignorePreflightErrors", ignore_preflight_errors.as_ref());
    if api > KubeadmApi::V1Beta2 {
        fields.set(
            "imagePullPolicy",
            image_pull_policy.map(|policy| policy.as_str()),
        );
    }
    if api >= KubeadmApi::V1Beta4 {
        fields.set("imagePullSerial", *image_pull_serial);
    }
    fields
}

fn taint(taint: &Taint) -> Value {
    let Taint {
        key,
        value,
        effect,
        time_added,
    } = taint;
    let mut fields = Fields::default();
    fields.always("key", key.as_str());
    fields.text("value", value.as_deref());
    fields.always("effect", effect.as_str());
    // Go writes its zero time as null.
    fields.set(
        "timeAdded",
        time_added.map(|time| {
            if time.is_zero() {
                Value::Null
            } else {
                time.to_string().into()
            }
        }),
    );
    fields.into()
}

pub(super) fn local_api_endpoint(endpoint: Option<&ApiEndpoint>) -> Fields {
    let mut fields = Fields::default();
    if let Some(ApiEndpoint {
        advertise_address,
        bind_port,
    }) = endpoint
    {
        fields.text("advertiseAddress", advertise_address.as_deref());
        fields.set("bindPort", bind_port.filter(|port| *port != 0));
    }
    fields
}

/// `patches` and `skipPhases`, which v1beta2 does not have.
pub(super) fn phases(
    fields: &mut Fields,
    patches: Option<&Patches>,
    skip_phases: Option<&Vec<String>>,
    api: KubeadmApi,
) {
    if api == KubeadmApi::V1Beta2 {
        return;
    }
    fields.texts("skipPhases", skip_phases);
    if let Some(Patches { directory }) = patches {
        let mut object = Fields::default();
        object.text("directory", directory.as_deref());
        fields.always("patches", object);
    }
}
