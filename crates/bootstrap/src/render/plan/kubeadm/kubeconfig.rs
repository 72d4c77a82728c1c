//! The kubeconfig that a joining node discovers its cluster with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::fields::Fields;
use windlass_capi::api::v1beta2::{
    AuthProvider, Exec, KubeConfig, KubeConfigCluster, KubeConfigUser,
};

/// The version of the plugin's protocol when none is given.
const EXEC_API_VERSION: &str = "client.authentication.k8s.io/v1";

/// The document; `preferences` is an empty line that older releases have.
pub(crate) fn discovery_kubeconfig(config: &KubeConfig, preferences: bool) -> Value {
    let mut fields = Fields::default();
    let cluster = cluster(
        config
            .cluster
            .as_ref()
            .unwrap_or(&KubeConfigCluster::default()),
    );
    fields.always(
        "clusters",
        vec![json!({"name": "default", "cluster": Value::from(cluster)})],
    );
    fields.always(
        "contexts",
        vec![json!({"name": "default", "context": {"cluster": "default", "user": "default"}})],
    );
    fields.always("current-context", "default");
    if preferences {
        fields.always("preferences", Fields::default());
    }
    fields.always(
        "users",
        vec![json!({"name": "default", "user": Value::from(user(&config.user))})],
    );
    fields.into()
}

fn cluster(cluster: &KubeConfigCluster) -> Fields {
    let KubeConfigCluster {
        server,
        tls_server_name,
        insecure_skip_tls_verify,
        certificate_authority_data,
        proxy_url,
    } = cluster;
    let mut fields = Fields::default();
    fields.always("server", server.as_deref().unwrap_or_default());
    fields.text("tls-server-name", tls_server_name.as_deref());
    fields.flag("insecure-skip-tls-verify", *insecure_skip_tls_verify);
    fields.text("proxy-url", proxy_url.as_deref());
    let ca = certificate_authority_data
        .as_ref()
        .map(|data| data.expose().as_slice())
        .filter(|data| !data.is_empty());
    fields.set(
        "certificate-authority-data",
        ca.map(|data| STANDARD.encode(data)),
    );
    fields
}

fn user(user: &KubeConfigUser) -> Fields {
    let KubeConfigUser {
        auth_provider,
        exec,
    } = user;
    let mut fields = Fields::default();
    fields.set(
        "auth-provider",
        auth_provider.as_ref().map(auth_provider_fields),
    );
    fields.set("exec", exec.as_ref().map(exec_fields));
    fields
}

fn auth_provider_fields(provider: &AuthProvider) -> Fields {
    let AuthProvider { name, config } = provider;
    let mut fields = Fields::default();
    fields.always("name", name.as_str());
    let config = config.as_ref().map(|config| {
        config
            .iter()
            .map(|(key, value)| (key.clone(), value.expose().as_str().into()))
            .collect()
    });
    fields.always("config", config.map_or(Value::Null, Value::Object));
    fields
}

fn exec_fields(exec: &Exec) -> Fields {
    let Exec {
        command,
        args,
        env,
        api_version,
        provide_cluster_info,
    } = exec;
    let mut fields = Fields::default();
    let api_version = api_version.as_deref().filter(|version| !version.is_empty());
    fields.always("apiVersion", api_version.unwrap_or(EXEC_API_VERSION));
    fields.always("command", command.as_str());
    fields.always(
        "args",
        args.as_ref()
            .map_or(Value::Null, |args| args.as_slice().into()),
    );
    let env = env.as_ref().map(|env| {
        env.iter()
            .map(|variable| json!({"name": variable.name, "value": variable.value.expose()}))
            .collect()
    });
    fields.always("env", env.map_or(Value::Null, Value::Array));
    fields.always("interactiveMode", "Never");
    fields.always(
        "provideClusterInfo",
        provide_cluster_info.unwrap_or_default(),
    );
    fields
}
