//! The short provider.yaml of `init`: what kustomize built of real providers stays as it is.

use std::fs;

use serde_json::Value;

use crate::support::{documents, run, shared};

/// What kustomize built, and the repository with its metadata.yaml.
const RENDERED: &[(&str, &str)] = &[
    (
        "k3s-io+cluster-api-k3s/bootstrap-components.yaml",
        "k3s-io+cluster-api-k3s",
    ),
    (
        "k3s-io+cluster-api-k3s/control-plane-components.yaml",
        "k3s-io+cluster-api-k3s",
    ),
    (
        "kubernetes-sigs+cluster-api-ipam-provider-in-cluster/ipam-components.yaml",
        "kubernetes-sigs+cluster-api-ipam-provider-in-cluster",
    ),
    (
        "kubernetes-sigs+cluster-api-provider-vsphere/infrastructure-components.yaml",
        "kubernetes-sigs+cluster-api-provider-vsphere",
    ),
    (
        "metal3-io+cluster-api-provider-metal3/infrastructure-components.yaml",
        "metal3-io+cluster-api-provider-metal3",
    ),
];

/// An object without the labels that the contract requires, and without the tag of the image.
fn bare(mut object: Value) -> Value {
    if let Some(Value::Object(labels)) = object.pointer_mut("/metadata/labels") {
        labels.retain(|key, _| {
            key != "cluster.x-k8s.io/provider" && !key.starts_with("cluster.x-k8s.io/v1")
        });
    }
    let containers = object.pointer_mut("/spec/template/spec/containers");
    for container in containers
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some((name, _)) = container["image"]
            .as_str()
            .and_then(|image| image.rsplit_once(':'))
        {
            container["image"] = name.into();
        }
    }
    object
}

#[test]
fn keeps_every_object_of_real_providers() {
    for (rendered, repository) in RENDERED {
        let (Some(built), Some(metadata)) = (
            shared(&format!("corpus/rendered/{rendered}")),
            shared(&format!("corpus/{repository}/metadata.yaml")),
        ) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let text = fs::read(built).unwrap();
        fs::write(folder.path().join("kustomized.yaml"), &text).unwrap();
        fs::copy(metadata, folder.path().join("metadata.yaml")).unwrap();
        let said = run(folder.path(), "init --from-kustomize kustomized.yaml")
            .ok()
            .stderr;
        let provider = fs::read_to_string(folder.path().join("provider.yaml")).unwrap();
        let lines = provider
            .lines()
            .filter(|line| !line.starts_with('#'))
            .count();
        assert!((6..=16).contains(&lines), "{rendered}: {provider}");
        let build = said
            .rsplit('`')
            .nth(1)
            .unwrap()
            .trim_start_matches("windlass ");
        // Upstream patches a webhook into all CRDs of metal3 but one.
        let allowed = ["", " --allow crd-conversion-missing"];
        let allowed = allowed[usize::from(rendered.contains("metal3"))];
        run(folder.path(), &format!("{build}{allowed}")).ok();
        let components = rendered.rsplit('/').next().unwrap();
        let ours = documents(&fs::read(folder.path().join("out").join(components)).unwrap());
        let theirs = documents(&text);
        assert_eq!(ours.len(), theirs.len(), "{rendered}");
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            assert_eq!(bare(ours), bare(theirs), "{rendered}");
        }
        run(folder.path(), "init --verify kustomized.yaml").ok();
    }
}
