//! `repository configmap` with the built program: what the Cluster API operator reads, and what it
//! would refuse.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use windlass::text::gzip;

use crate::support::{copy, documents, root, windlass};

const RELEASE: &str = "releases/bootstrap-windlass/v0.2.0";

fn run(folder: &Path, arguments: &[&str]) -> (i32, Vec<u8>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = windlass(folder)
        .args(["repository", "configmap"])
        .args(arguments)
        .output()
        .unwrap();
    (
        status.code().unwrap(),
        stdout,
        String::from_utf8(stderr).unwrap(),
    )
}

/// The objects that a run prints.
fn printed(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let (code, stdout, stderr) = run(folder, arguments);
    assert_eq!(code, 0, "{stderr}");
    documents(&stdout)
}

fn file(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn our_release_is_a_config_map_as_the_operator_makes_it() {
    let objects = printed(root(), &[RELEASE]);
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
    assert_eq!(run(root(), &[RELEASE]).1, run(root(), &[RELEASE]).1);
}

#[test]
fn the_object_that_refers_to_it_is_printed_on_demand() {
    let objects = printed(root(), &[RELEASE, "--with-providers", "-n", "capi"]);
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
    let (_, _, said) = run(root(), &[RELEASE, "--with-providers", "-n", "capi"]);
    let next = format!(
        "repository configmap {RELEASE} --namespace capi --with-providers | kubectl apply --server-side -f -`"
    );
    assert!(
        said.contains(&next) && !said.contains("then an object of the operator"),
        "{said}"
    );
    assert!(
        run(root(), &[RELEASE, "-n", "capi"])
            .2
            .contains("then an object of the operator")
    );
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
    let map = printed(folder.path(), &["release"]).remove(0);
    assert_eq!(
        map["metadata"]["annotations"],
        json!({"provider.cluster.x-k8s.io/compressed": "true"})
    );
    assert!(map["data"].get("components").is_none());
    let report = windlass(folder.path())
        .args(["repository", "configmap", "release", "-o", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
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

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::write(folder.path().join("file"), [0xff, 0, 1]).unwrap();
    let said = |arguments: &[&str], code: i32| {
        let (ended, stdout, stderr) = run(folder.path(), arguments);
        assert_eq!((ended, stdout.len()), (code, 0), "{arguments:?}: {stderr}");
        stderr
    };
    assert!(said(&["empty"], 1).contains("release-components-missing"));
    assert!(said(&["gone"], 2).contains("gone: no such file"));
    assert!(said(&["file"], 2).contains("file"));
    assert!(said(&[], 2).contains("DIR"));
    let releases = root().join("releases");
    let several = said(&[releases.to_str().unwrap()], 2);
    assert!(
        several.contains("bootstrap-windlass/v0.1.0, bootstrap-windlass/v0.2.0")
            && several.contains("name one"),
        "{several}"
    );
    let release = root().join(RELEASE);
    let release = release.to_str().unwrap();
    assert!(said(&[release, "-n", "No_Name"], 2).contains("`No_Name` is no name of a namespace"));
    assert!(said(&[release, "--release", "0.2.0"], 1).contains("write v0.2.0"));
    assert!(said(&[release, "--release", "v0.2.0+build"], 1).contains("config-map-name-refused"));
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
        printed(folder.path(), &["repository"]),
        printed(root(), &[RELEASE])
    );
}
