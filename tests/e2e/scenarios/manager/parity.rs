//! What the manager wrote beside what `windlass render` makes of the same objects, read back.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::control_plane::ControlPlane;
use crate::harness::windlass;

const CORE: &str = "cluster.x-k8s.io/v1beta2";
const BOOTSTRAP: &str = "bootstrap.windlass.dev/v1beta2";

/// The data of every WindlassConfig of a namespace, by its name.
pub(super) fn data_of(plane: &ControlPlane, namespace: &str) -> BTreeMap<String, String> {
    let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(namespace));
    let data = |config: Value| {
        let name = config["metadata"]["name"].as_str().unwrap().to_owned();
        let secret = plane.api.get("v1", "Secret", Some(namespace), &name).ok()?;
        let bytes = STANDARD.decode(secret["data"]["value"].as_str().unwrap()).unwrap();
        Some((name, String::from_utf8(bytes).unwrap()))
    };
    configs.into_iter().filter_map(data).collect()
}

/// Every data Secret of a namespace is, byte for byte, what is rendered offline from its config, its machine, its Cluster and the Secrets; and
/// so many are there.
pub(super) fn assert_data_is_rendered(plane: &ControlPlane, folder: &Path, namespace: &str, count: usize) {
    let stored = data_of(plane, namespace);
    assert_eq!(stored.len(), count, "{:?}", stored.keys());
    let mut items = plane.api.list(CORE, "Cluster", Some(namespace));
    items.extend(plane.api.list("v1", "Secret", Some(namespace)));
    let machines = plane.api.list(CORE, "Machine", Some(namespace));
    let configs = plane.api.list(BOOTSTRAP, "WindlassConfig", Some(namespace));
    for (config, (name, stored)) in configs.iter().zip(&stored) {
        assert_eq!(config["metadata"]["name"], **name);
        let mut items = items.clone();
        let owner =
            &config["metadata"]["ownerReferences"].as_array().unwrap().iter().find(|owner| owner["kind"] == "Machine").unwrap()["name"];
        items.push(machines.iter().find(|machine| machine["metadata"]["name"] == *owner).unwrap().clone());
        items.push(config.clone());
        let file = folder.join(format!("{namespace}-{name}.json"));
        std::fs::write(&file, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
        let file = file.display().to_string();
        let mut arguments = vec!["render", &file, "--no-stand-ins", "--show-secrets", "-q"];
        // The Cluster has a control plane now, which it had not then.
        if stored.contains("kubeadm init") {
            arguments.extend(["--role", "init"]);
        }
        let rendered = windlass::run(folder, &arguments).stdout;
        assert!(rendered == *stored, "{namespace}/{name} has\n{stored}\nand render makes\n{rendered}");
    }
}
