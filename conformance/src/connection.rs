//! The way to an API server.

use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig};

/// The configuration and a client of the current context of a kubeconfig, or as kubectl finds it.
///
/// # Errors
/// The message for the user, without anything of the kubeconfig's contents.
pub(crate) async fn client(
    kubeconfig: Option<&Path>,
) -> Result<(kube::Config, kube::Client), String> {
    let shown = kubeconfig.map_or_else(
        || "KUBECONFIG".to_owned(),
        |path| path.display().to_string(),
    );
    let unreadable =
        |_| format!("{shown}: it cannot be read as a kubeconfig: kubectl config view shows why");
    let read = match kubeconfig {
        Some(path) => Kubeconfig::read_from(path).map_err(unreadable)?,
        None => Kubeconfig::read().map_err(unreadable)?,
    };
    let config = kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .map_err(unreadable)?;
    let client = client_of(config.clone(), &shown)?;
    Ok((config, client))
}

/// A client of a configuration.
///
/// # Errors
/// The message for the user, if its credentials cannot be used.
pub(crate) fn client_of(config: kube::Config, shown: &str) -> Result<kube::Client, String> {
    kube::Client::try_from(config).map_err(|error| format!("{shown}: {error}"))
}
