//! Components applied without clusterctl, for releases of Cluster API that no clusterctl of today
//! installs beside ours.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

use super::api_server::Rejection;
use super::control_plane::ControlPlane;
use super::wait;

const LIMIT: Duration = Duration::from_secs(30);

/// Applies a components file with the defaults of its variables. What is for cert-manager is left
/// out: the harness plays that part.
pub(crate) fn apply(plane: &ControlPlane, file: &Path) {
    let text =
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let template =
        envsubst::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let substituted = template
        .substitute(|_| None::<String>, &Budget::default())
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let text = substituted
        .text()
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    for object in documents(&file.display().to_string(), text.to_owned()) {
        if object["apiVersion"] == "cert-manager.io/v1" {
            continue;
        }
        give(plane, &object, LIMIT, |_| false);
    }
}

/// Applies an object; waits for a server that is not ready, and for what else is expected to pass.
pub(crate) fn give(
    plane: &ControlPlane,
    object: &Value,
    limit: Duration,
    passes: impl Fn(&Rejection) -> bool,
) {
    let shown = format!("{} {}", object["kind"], object["metadata"]["name"]);
    wait::until(&format!("{shown} to be taken"), limit, || {
        match plane.api.apply(object) {
            Ok(_) => Ok(()),
            Err(rejection) if rejection.passes() || passes(&rejection) => {
                Err(rejection.to_string())
            }
            Err(rejection) => panic!("{shown}: {rejection}"),
        }
    });
}

/// The documents of a YAML text.
pub(crate) fn documents(name: &str, text: String) -> Vec<Value> {
    let parsed = yaml::parse(&Source::new(name, text), &Budget::default());
    assert!(!parsed.report.has_errors(), "{name} is not YAML");
    parsed
        .documents
        .iter()
        .map(|document| document.root.to_json())
        .filter(|value| !value.is_null())
        .collect()
}
