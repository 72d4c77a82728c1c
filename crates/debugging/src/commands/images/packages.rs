//! The images as the input of programs that carry them to a site without a network.

use serde_json::{Value, json};

use super::Images;
use windlass_go_yaml::goyaml;

/// The name of both packages.
const NAME: &str = "first-boot-images";

/// A package definition of Zarf (`zarf.dev/v1alpha1`, kind ZarfPackageConfig), with a component for
/// each role.
pub fn zarf(images: &Images) -> String {
    let mut components: Vec<Value> = Vec::new();
    let roles = ["init", "control-plane-join", "worker-join", "machinepool"];
    for role in roles {
        let of_role = images
            .machines
            .iter()
            .filter(|machine| machine.role == role);
        let mut names: Vec<&str> = of_role
            .flat_map(|machine| &machine.images)
            .map(|image| image.image.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            components.push(json!({"name": role, "required": true, "images": names}));
        }
    }
    let package = json!({
        "apiVersion": "zarf.dev/v1alpha1",
        "kind": "ZarfPackageConfig",
        "metadata": {
            "name": NAME,
            "description": "The images that machines of Cluster API pull at their first boot",
        },
        "components": components,
    });
    yaml(&package)
}

/// A manifest of Hauler (`content.hauler.cattle.io/v1`, kind Images).
pub fn hauler(images: &Images) -> String {
    let names: Vec<Value> = images
        .names()
        .into_iter()
        .map(|name| json!({"name": name}))
        .collect();
    let manifest = json!({
        "apiVersion": "content.hauler.cattle.io/v1",
        "kind": "Images",
        "metadata": {"name": NAME},
        "spec": {"images": names},
    });
    yaml(&manifest)
}

fn yaml(value: &Value) -> String {
    goyaml::to_string(value).expect("internal error: names and texts can be written")
}
