//! `release build` with the sources of published providers: the release is the published one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::{self, run};

type Objects = BTreeMap<String, Value>;

/// The objects of a components file by `Kind/name`.
fn objects(file: &Path) -> Objects {
    let parsed = yaml::parse(
        &Source::new(
            file.to_string_lossy().as_ref(),
            std::fs::read_to_string(file).unwrap(),
        ),
        &Budget::default(),
    );
    assert!(!parsed.report.has_errors(), "{:?}", parsed.report);
    let documents = parsed
        .documents
        .iter()
        .map(|document| document.root.to_json())
        .filter(|value| !value.is_null());
    documents
        .map(|object| {
            (
                format!(
                    "{}/{}",
                    object["kind"].as_str().unwrap(),
                    object["metadata"]["name"].as_str().unwrap()
                ),
                object,
            )
        })
        .collect()
}

/// The paths at which two values differ, with list items by number.
fn differences(ours: &Value, theirs: &Value, path: &str, found: &mut BTreeSet<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                differences(
                    a.get(key).unwrap_or(&Value::Null),
                    b.get(key).unwrap_or(&Value::Null),
                    &format!("{path}.{key}"),
                    found,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                differences(x, y, &format!("{path}[{i}]"), found);
            }
        }
        _ if ours != theirs => {
            found.insert(path.to_owned());
        }
        _ => {}
    }
}

/// Where our release of upstream's provider differs on purpose: the object, the path, the reason.
const KUBEADM_DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "ClusterRole/capi-kubeadm-bootstrap-system-manager-role",
        ".metadata.name",
        "begins with the namespace, so that `clusterctl delete` takes it",
    ),
    (
        "ClusterRoleBinding/capi-kubeadm-bootstrap-system-manager-rolebinding",
        ".metadata.name",
        "as its role",
    ),
    (
        "ClusterRoleBinding/capi-kubeadm-bootstrap-system-manager-rolebinding",
        ".roleRef.name",
        "as its role",
    ),
    (
        "CustomResourceDefinition/kubeadmconfigs.bootstrap.cluster.x-k8s.io",
        ".spec.conversion.webhook.conversionReviewVersions",
        "API servers since 1.16 send v1",
    ),
    (
        "CustomResourceDefinition/kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io",
        ".spec.conversion.webhook.conversionReviewVersions",
        "API servers since 1.16 send v1",
    ),
    (
        "Certificate/capi-kubeadm-bootstrap-serving-cert",
        ".spec.subject",
        "no client reads the organisation of a self-signed certificate",
    ),
];

#[test]
fn builds_kubeadm_provider_as_published() {
    let (Some(sources), Some(published)) = (
        support::shared("corpus/kubernetes-sigs+cluster-api@v1.12.0/bootstrap/kubeadm/config"),
        support::shared("corpus/published/kubernetes-sigs+cluster-api@v1.12.0"),
    ) else {
        return;
    };
    let provider = include_str!("kubeadm/provider.yaml");
    assert!(provider.lines().count() <= 40);
    let folder = tempfile::tempdir().unwrap();
    support::copy(&sources, &folder.path().join("config"));
    std::fs::write(folder.path().join("provider.yaml"), provider).unwrap();
    std::fs::write(
        folder.path().join("metadata.yaml"),
        std::fs::read(published.join("metadata.yaml")).unwrap(),
    )
    .unwrap();
    run(folder.path(), "release build v1.12.0 --to out").ok();

    let ours = objects(&folder.path().join("out/bootstrap-components.yaml"));
    let theirs = objects(&published.join("bootstrap-components.yaml"));
    assert_eq!(ours.len(), theirs.len());
    let mut found = BTreeSet::new();
    for (title, object) in &ours {
        let renamed = title.replace("bootstrap-system-manager-role", "bootstrap-manager-role");
        let other = theirs
            .get(title)
            .or_else(|| theirs.get(&renamed))
            .unwrap_or_else(|| panic!("{title} is not published"));
        let mut paths = BTreeSet::new();
        differences(&after_clusterctl(object), other, "", &mut paths);
        found.extend(paths.into_iter().map(|path| (title.clone(), path)));
    }
    let expected = KUBEADM_DIFFERENCES
        .iter()
        .map(|(object, path, _)| ((*object).to_owned(), (*path).to_owned()))
        .collect();
    assert_eq!(found, expected);
}

/// Descriptions as they are once clusterctl has halved the `$$` that we double so that they
/// survive.
fn after_clusterctl(object: &Value) -> Value {
    match object {
        Value::String(text) => text.replace("$$$$", "$$").into(),
        Value::Array(items) => items.iter().map(after_clusterctl).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), after_clusterctl(value)))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn stamps_built_components_only() {
    let (Some(built), Some(metadata)) = (
        support::shared("corpus/rendered/k3s-io+cluster-api-k3s/bootstrap-components.yaml"),
        support::shared("corpus/k3s-io+cluster-api-k3s/metadata.yaml"),
    ) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("built.yaml", &std::fs::read(&built).unwrap());
    write("metadata.yaml", &std::fs::read(metadata).unwrap());
    write(
        "provider.yaml",
        b"apiVersion: windlass.dev/v1alpha1
kind: Provider
name: k3s
type: BootstrapProvider
group: bootstrap.cluster.x-k8s.io
contracts: {v1beta1: [v1beta1, v1beta2]}
namespace: capi-k3s-bootstrap-system
components: built.yaml
",
    );
    let stderr = run(folder.path(), "release build v0.3.0 --to out")
        .ok()
        .stderr;
    assert!(
        stderr.contains("info[components-image-tag-stamped]"),
        "{stderr}"
    );

    let (ours, theirs) = (
        objects(&folder.path().join("out/bootstrap-components.yaml")),
        objects(&built),
    );
    let mut found = BTreeSet::new();
    for (title, object) in &ours {
        differences(object, &theirs[title], title, &mut found);
    }
    assert_eq!(ours.len(), theirs.len());
    // The published file has label and contract labels already; its image tag stands for whatever
    // was built last.
    let image =
        "Deployment/capi-k3s-bootstrap-controller-manager.spec.template.spec.containers[0].image";
    assert_eq!(found, BTreeSet::from([image.to_owned()]));
}
