//! `repository configmap`: the objects that the Cluster API operator reads.

use std::path::Path;

use serde_json::{Value, json};
use windlass_source::gzip;

use crate::support::{Run, copy, documents, root, run};

const RELEASE: &str = "releases/bootstrap-windlass/v0.2.0";

fn configmap(folder: &Path, arguments: &str) -> Run {
    run(folder, &format!("repository configmap {arguments}")).ok()
}

/// The objects that a run prints.
fn printed(folder: &Path, arguments: &str) -> Vec<Value> {
    documents(configmap(folder, arguments).stdout.as_bytes())
}

fn file(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn our_release_is_a_config_map_as_the_operator_makes_it() {
    let objects = printed(root(), RELEASE);
    let expected = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "bootstrap-windlass-v0.2.0",
            "namespace": "windlass-system",
            "labels": {
                "managed-by.operator.cluster.x-k8s.io": "true",
                "provider.cluster.x-k8s.io/name": "windlass",
                "provider.cluster.x-k8s.io/type": "bootstrap",
                "provider.cluster.x-k8s.io/version": "v0.2.0",
            },
        },
        "data": {
            "metadata": file(&format!("{RELEASE}/metadata.yaml")),
            "components": file(&format!("{RELEASE}/bootstrap-components.yaml")),
        },
    });
    assert_eq!(objects, [expected]);
    let again = configmap(root(), RELEASE).stdout;
    assert_eq!(configmap(root(), RELEASE).stdout, again);
}

#[test]
fn the_object_that_refers_to_it_is_printed_on_demand() {
    let objects = printed(root(), &format!("{RELEASE} --with-providers -n capi"));
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["metadata"]["namespace"], "capi");
    let provider = json!({
        "apiVersion": "operator.cluster.x-k8s.io/v1alpha2",
        "kind": "BootstrapProvider",
        "metadata": {"name": "windlass", "namespace": "capi"},
        "spec": {
            "version": "v0.2.0",
            "fetchConfig": {"selector": {"matchLabels": {
                "provider.cluster.x-k8s.io/name": "windlass",
                "provider.cluster.x-k8s.io/type": "bootstrap",
            }}},
        },
    });
    assert_eq!(objects[1], provider);
    // The selector takes the ConfigMap.
    for (key, value) in provider["spec"]["fetchConfig"]["selector"]["matchLabels"]
        .as_object()
        .unwrap()
    {
        assert_eq!(&objects[0]["metadata"]["labels"][key], value);
    }
}

/// A release with a comment of so many bytes in its components.
fn padded(bytes: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join(RELEASE), &folder.path().join("release"));
    let path = folder.path().join("release/bootstrap-components.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let comment = format!("# {}\n", "a".repeat(97)).repeat(bytes / 100);
    std::fs::write(path, format!("{comment}{text}")).unwrap();
    std::fs::remove_file(folder.path().join("release/SHA256SUMS")).unwrap();
    folder
}

#[test]
fn large_components_are_compressed() {
    let folder = padded(1_100_000);
    let map = printed(folder.path(), "release").remove(0);
    assert_eq!(
        map["metadata"]["annotations"],
        json!({"provider.cluster.x-k8s.io/compressed": "true"})
    );
    assert!(map["data"].get("components").is_none());
    let report = configmap(folder.path(), "release -o json").json();
    assert_eq!(report["configMaps"][0]["compressed"], true);
    assert_eq!(report["configMaps"][0]["configMap"], map);
    let components =
        std::fs::read(folder.path().join("release/bootstrap-components.yaml")).unwrap();
    let base64 = map["binaryData"]["components"].as_str().unwrap();
    assert_eq!(
        gzip::decompress(&base64_decoded(base64), components.len()).unwrap(),
        components
    );
}

/// RFC 4648, section 4.
fn base64_decoded(text: &str) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for value in text.chars().map_while(|letter| LETTERS.find(letter)) {
        bits = (bits << 6) | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap());
        }
    }
    bytes
}

/// A local repository of one release is as good as the folder of the release.
#[test]
fn a_repository_of_one_release_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    copy(
        &root().join(RELEASE),
        &folder.path().join("repository/bootstrap-windlass/v0.2.0"),
    );
    assert_eq!(
        printed(folder.path(), "repository"),
        printed(root(), RELEASE)
    );
}
