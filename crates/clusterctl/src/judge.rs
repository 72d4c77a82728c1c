//! What clusterctl does to objects, asked before it does it: for findings about releases.

use serde_json::{Value, json};

use super::components::{self, ComponentsOptions};
use super::documents::ReadBefore;
use super::provider::Provider;
use super::{Config, Rejection, World, metadata, namespaces, typed};
use windlass_envsubst as envsubst;
use windlass_objects::fields;
use windlass_objects::substituted::SAMPLE;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;
use windlass_source::tree::Tree;

/// Whether clusterctl gives objects of a kind a namespace. It decides by the kind alone.
pub fn gets_namespace(kind: &str) -> bool {
    namespaces::is_namespaced(kind)
}

/// What clusterctl says of an object whose kind it converts, when it does not know the version.
pub fn version_rejection(value: &Value) -> Option<Rejection> {
    let bare = json!({"apiVersion": value["apiVersion"], "kind": value["kind"]});
    match fields::kind(value) {
        "Deployment" | "DaemonSet" => typed::of_components(&bare)
            .and_then(|known| typed::round_trip(bare.clone(), known).err()),
        _ => namespaces::enforce(bare, "x").err(),
    }
}

/// The fields of an object that vanish, because clusterctl converts it into a type that lacks them.
pub fn dropped_fields(value: &Value) -> Vec<FieldPath> {
    typed::of_components(value)
        .map(|known| typed::unknown_fields(value, known))
        .unwrap_or_default()
}

/// What clusterctl says of a components file, if it rejects it; variables are replaced by their
/// defaults or by a sample.
pub fn components_rejection(
    config: &Config<'_>,
    provider: &Provider,
    version: &str,
    text: &[u8],
    before: Option<ReadBefore<'_>>,
) -> Option<Rejection> {
    let mut config = config.clone();
    if let Ok(template) = envsubst::parse(text) {
        let required = template
            .variables()
            .into_iter()
            .filter(|(_, default)| default.is_none());
        required.for_each(|(name, _)| config.set(&name, SAMPLE));
    }
    let options = ComponentsOptions {
        namespace: String::new(),
        raw: false,
    };
    components::process(&config, provider.clone(), version, text, &options, before).err()
}

/// What clusterctl says of a components file, if it rejects it with its variables in it, as `--raw`
/// and `--describe` leave them.
pub fn raw_components_rejection(
    config: &Config<'_>,
    provider: &Provider,
    version: &str,
    text: &[u8],
    before: Option<ReadBefore<'_>>,
) -> Option<Rejection> {
    let options = ComponentsOptions {
        namespace: String::new(),
        raw: true,
    };
    components::process(config, provider.clone(), version, text, &options, before).err()
}

/// What `generate provider` prints of a components file for somebody without a configuration:
/// variables get their defaults.
///
/// # Errors
/// The message of clusterctl.
pub fn installed(
    provider: Provider,
    version: &str,
    text: &[u8],
    before: Option<ReadBefore<'_>>,
    budget: &Budget,
) -> Result<String, Rejection> {
    let files = Tree::new();
    let config = Config::empty(World {
        files: &files,
        environment: &|_| None,
        network: None,
        budget,
    });
    components::process(
        &config,
        provider,
        version,
        text,
        &ComponentsOptions::default(),
        before,
    )?
    .into_yaml()
}

/// What clusterctl says of a metadata.yaml, if it rejects it.
pub fn metadata_rejection(label: &str, bytes: &[u8], budget: &Budget) -> Option<Rejection> {
    metadata::decode(bytes, budget)
        .and_then(|metadata| metadata.check(label))
        .err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(api_version: &str, kind: &str) -> Option<String> {
        version_rejection(&json!({"apiVersion": api_version, "kind": kind, "spec": 1}))
            .map(|rejection| rejection.message().to_owned())
    }

    #[test]
    fn versions_are_those_that_clusterctl_converts() {
        assert_eq!(rejection("apps/v1", "Deployment"), None);
        assert_eq!(rejection("v1", "ConfigMap"), None);
        assert_eq!(
            rejection("apps/v1beta1", "Deployment").as_deref(),
            Some("converting (v1beta1.Deployment) to (v1.Deployment): unknown conversion")
        );
        assert_eq!(
            rejection("apiextensions.k8s.io/v2", "CustomResourceDefinition").as_deref(),
            Some("failed to patch v2 CustomResourceDefinition")
        );
    }
}
