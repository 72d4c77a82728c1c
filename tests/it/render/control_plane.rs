//! KubeadmControlPlane and its template as a whole: the schema is upstream's, and what stands
//! beside the config is checked.

use serde_json::Value;
use windlass_capi::api::control_plane;
use windlass_capi::api::names::Version;
use windlass_schema::structural;
use windlass_source::budget::Budget;

use crate::support::{documents, shared};

/// A schema without what it says to people, with the config and the status left open as ours has
/// them.
fn comparable(mut crd: Value, template: bool) -> Value {
    fn strip(schema: &mut Value) {
        if let Some(map) = schema.as_object_mut() {
            map.remove("description");
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "properties" => value.as_object_mut().unwrap().values_mut().for_each(strip),
                    "items" | "additionalProperties" => strip(value),
                    _ => {}
                }
            }
        }
    }
    let open = serde_json::json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let spec = if template {
        "/properties/spec/properties/template/properties/spec"
    } else {
        "/properties/spec"
    };
    *crd.pointer_mut(&format!("{spec}/properties/kubeadmConfigSpec"))
        .unwrap() = open.clone();
    crd["properties"]["status"] = open;
    strip(&mut crd);
    crd
}

#[test]
fn the_schemas_are_those_of_upstreams_crds() {
    let mut compared = 0;
    for (release, taints) in [("v1.10.10", false), ("v1.12.0", false), ("v1.14.0", true)] {
        let path = format!(
            "corpus/rendered/kubernetes-sigs+cluster-api@{release}/control-plane-components.yaml"
        );
        let Some(path) = shared(&path) else { return };
        for crd in documents(&std::fs::read(path).unwrap())
            .into_iter()
            .filter(|object| object["kind"] == "CustomResourceDefinition")
        {
            let template = crd["spec"]["names"]["kind"] == "KubeadmControlPlaneTemplate";
            for entry in crd["spec"]["versions"].as_array().unwrap() {
                let Some(version) = entry["name"].as_str().and_then(Version::parse) else {
                    continue;
                };
                let theirs = comparable(entry["schema"]["openAPIV3Schema"].clone(), template);
                assert_eq!(
                    control_plane::schema(template, version, taints),
                    theirs,
                    "{release} {version} {template}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 + 4 + 4);
}

#[test]
fn the_schemas_are_structural() {
    for template in [false, true] {
        for version in Version::ALL {
            let schema = serde_json::json!({"openAPIV3Schema": control_plane::schema(template, version, true)});
            let version = serde_json::json!({"name": version.as_str(), "served": true, "storage": true, "schema": schema});
            let crd = serde_json::json!({"spec": {"versions": [version]}});
            assert_eq!(structural::check(&crd, &Budget::default()), []);
        }
    }
}
