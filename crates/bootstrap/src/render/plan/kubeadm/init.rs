//! kubeadm's InitConfiguration.

use serde_json::Value;

use super::fields::Fields;
use super::registration::{local_api_endpoint, phases, registration};
use super::{Durations, KubeadmApi};
use windlass_capi::api::time::GoDuration;
use windlass_capi::api::v1beta2::{BootstrapToken, InitConfiguration};

/// The document for `kubeadm init`. `lifetimes` replaces the lifetimes of the tokens, one by one,
/// where it has one.
pub(crate) fn init_configuration(
    config: &InitConfiguration,
    lifetimes: &[Option<GoDuration>],
    timeouts: &Durations,
    api: KubeadmApi,
) -> Value {
    let InitConfiguration {
        bootstrap_tokens,
        node_registration,
        local_api_endpoint: endpoint,
        skip_phases,
        patches,
        timeouts: _,
    } = config;
    let mut fields = Fields::default();
    fields.always("apiVersion", api.as_str());
    fields.always("kind", "InitConfiguration");
    if let Some(tokens) = bootstrap_tokens
        .as_ref()
        .filter(|tokens| !tokens.is_empty())
    {
        let lifetimes = lifetimes.iter().copied().chain(std::iter::repeat(None));
        fields.always(
            "bootstrapTokens",
            tokens
                .iter()
                .zip(lifetimes)
                .map(|(token, lifetime)| bootstrap_token(token, lifetime))
                .collect::<Value>(),
        );
    }
    fields.always(
        "nodeRegistration",
        registration(node_registration.as_ref(), api),
    );
    fields.always("localAPIEndpoint", local_api_endpoint(endpoint.as_ref()));
    phases(&mut fields, patches.as_ref(), skip_phases.as_ref(), api);
    if api >= KubeadmApi::V1Beta4 {
        fields.unless_empty("timeouts", timeouts.fields());
    }
    fields.into()
}

fn bootstrap_token(token: &BootstrapToken, lifetime: Option<GoDuration>) -> Value {
    let BootstrapToken {
        token,
        description,
        ttl_seconds,
        expires,
        usages,
        groups,
    } = token;
    let mut fields = Fields::default();
    let text = Some(token.expose().as_str()).filter(|token| !token.is_empty());
    fields.always("token", text.map_or(Value::Null, Value::from));
    fields.text("description", description.as_deref());
    fields.set(
        "ttl",
        lifetime
            .or(ttl_seconds.map(GoDuration::from_seconds))
            .map(|ttl| ttl.to_string()),
    );
    match expires {
        // Go writes its zero time as null; a pointer to it is not absent.
        Some(time) if time.is_zero() => fields.always("expires", Value::Null),
        time => fields.set("expires", time.map(|time| time.to_string())),
    }
    fields.texts("usages", usages.as_ref());
    fields.texts("groups", groups.as_ref());
    fields.into()
}
