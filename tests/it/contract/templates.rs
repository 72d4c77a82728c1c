//! Cluster templates and ClusterClasses (CC-33 to CC-45, OP-32), in our release.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_envsubst as envsubst;
use windlass_source::budget::Budget;

use super::{RELEASE, items};
use crate::support::{documents, files_below, root};

/// The variables that clusterctl sets.
const COMMON: [(&str, &str); 5] = [
    ("CLUSTER_NAME", "c"),
    ("NAMESPACE", "given"),
    ("KUBERNETES_VERSION", "v1.34.0"),
    ("CONTROL_PLANE_MACHINE_COUNT", "3"),
    ("WORKER_MACHINE_COUNT", "2"),
];

/// Those that AWS' template has no default for.
const AWS: [(&str, &str); 3] = [
    ("AWS_REGION", "eu-central-1"),
    ("AWS_SSH_KEY_NAME", "key"),
    ("AWS_S3_BUCKET_NAME", "bucket"),
];

/// The text of each template or class of the release whose name begins so.
fn files(prefix: &str) -> BTreeMap<String, String> {
    let texts = RELEASE
        .files
        .iter()
        .filter(|(path, _)| path.starts_with(prefix));
    texts
        .map(|(path, bytes)| (path.clone(), String::from_utf8(bytes.clone()).unwrap()))
        .collect()
}

/// The objects of a template after substitution.
fn substituted(text: &str) -> Vec<Value> {
    let value = |name: &str| {
        COMMON
            .iter()
            .chain(&AWS)
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    };
    let substituted = envsubst::parse(text)
        .unwrap()
        .substitute(value, &Budget::default())
        .unwrap();
    documents(substituted.text().unwrap().as_bytes())
}

/// CC-02, CC-03, CC-35: files that clusterctl looks for, beside the components.
#[test]
fn templates_and_classes_have_the_names_that_clusterctl_looks_for() {
    let names: Vec<String> = files("cluster").into_keys().collect();
    let expected = [
        "cluster-template-flatcar-aws.yaml",
        "cluster-template-ignition.yaml",
        "cluster-template-machinepool.yaml",
        "cluster-template-standalone-control-plane.yaml",
        "cluster-template-topology.yaml",
        "cluster-template.yaml",
        "clusterclass-windlass.yaml",
    ];
    assert_eq!(names, expected);
}

/// CC-36.
#[test]
fn templates_take_the_namespace_as_given() {
    for (path, text) in files("cluster-template") {
        for object in substituted(&text) {
            assert_ne!(object["kind"], "Namespace", "{path}");
            assert_eq!(
                object["metadata"]["namespace"], "given",
                "{path} {}",
                object["kind"]
            );
        }
    }
}

/// CC-37: each common variable is used, but for the one that a template without a control plane
/// provider cannot use.
#[test]
fn templates_use_the_common_variables() {
    for (path, text) in files("cluster-template") {
        let used: BTreeSet<String> = envsubst::parse(&text)
            .unwrap()
            .variables()
            .into_keys()
            .collect();
        for (name, _) in COMMON {
            let unused = path == "cluster-template-standalone-control-plane.yaml"
                && name == "CONTROL_PLANE_MACHINE_COUNT";
            assert_eq!(used.contains(name), !unused, "{path} {name}");
        }
    }
}

/// Group and kind that a reference of contract v1beta2 or a template reference of a class names.
fn referred(reference: &Value) -> (String, String, String) {
    let text = |field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    let group = match text("apiVersion").split_once('/') {
        Some((group, _)) => group.to_owned(),
        None => text("apiGroup"),
    };
    (group, text("kind"), text("name"))
}

/// Calls `check` with everything that looks like a reference to an object by kind and name.
fn each_reference(value: &Value, check: &mut dyn FnMut(&Value)) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if key.ends_with("Ref") && value["kind"].is_string() {
                    check(value);
                }
                each_reference(value, check);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, check)),
        _ => {}
    }
}

fn identity(object: &Value) -> (String, String, String) {
    let group = object["apiVersion"]
        .as_str()
        .unwrap()
        .split_once('/')
        .map_or("", |(group, _)| group);
    (
        group.to_owned(),
        object["kind"].as_str().unwrap().to_owned(),
        object["metadata"]["name"].as_str().unwrap().to_owned(),
    )
}

/// CC-28: a template brings every object that it refers to.
#[test]
fn references_of_templates_lead_to_objects_of_the_file() {
    for (path, text) in files("cluster") {
        let objects = substituted(&text);
        let there: BTreeSet<_> = objects.iter().map(identity).collect();
        for object in &objects {
            each_reference(object, &mut |reference| {
                assert!(
                    there.contains(&referred(reference)),
                    "{path}: no {reference}"
                );
            });
        }
    }
}

/// CC-39 to CC-42: the class is called as its file and as the topology says, keeps its templates to
/// itself, and names no namespace and no variable of clusterctl.
#[test]
fn class_stands_for_itself() {
    let classes = files("clusterclass-");
    assert_eq!(classes.len(), 1);
    let text = &classes["clusterclass-windlass.yaml"];
    assert!(!text.contains('$'), "no variable of clusterctl");
    let objects = documents(text.as_bytes());
    assert_eq!(class(&objects)["metadata"]["name"], "windlass");
    for object in &objects {
        assert!(
            object["metadata"]["name"]
                .as_str()
                .unwrap()
                .starts_with("windlass"),
            "{}",
            object["metadata"]["name"]
        );
        assert_eq!(object["metadata"].get("namespace"), None);
        each_reference(object, &mut |reference| {
            assert_eq!(reference.get("namespace"), None, "{reference}")
        });
    }
    let topology =
        substituted(&files("cluster-template-topology.yaml")["cluster-template-topology.yaml"]);
    assert_eq!(
        topology[0]["spec"]["topology"]["classRef"]["name"],
        "windlass"
    );
}

fn class(objects: &[Value]) -> &Value {
    objects
        .iter()
        .find(|object| object["kind"] == "ClusterClass")
        .unwrap()
}

/// CC-44, CC-45: patches use the variables that the class defines, each of them, and change only
/// what the class's own templates have. What they make is shown by `tests/e2e` with the real
/// topology controller.
#[test]
fn patches_of_the_class_use_each_variable() {
    let objects = documents(files("clusterclass-")["clusterclass-windlass.yaml"].as_bytes());
    let spec = &class(&objects)["spec"];
    let defined: BTreeSet<&str> = items(&spec["variables"])
        .iter()
        .map(|variable| variable["name"].as_str().unwrap())
        .collect();
    let kinds: BTreeSet<&str> = objects
        .iter()
        .map(|object| object["kind"].as_str().unwrap())
        .collect();
    let mut used = BTreeSet::new();
    for patch in items(&spec["patches"]) {
        let enabled_if = patch["enabledIf"].as_str().unwrap();
        used.insert(
            enabled_if
                .strip_prefix("{{ if .")
                .and_then(|rest| rest.strip_suffix(" }}true{{ end }}"))
                .unwrap(),
        );
        for definition in items(&patch["definitions"]) {
            assert!(
                kinds.contains(definition["selector"]["kind"].as_str().unwrap()),
                "{definition}"
            );
        }
    }
    assert_eq!(used, defined);
}

/// Templates are immutable: one that has changed since a release has another name.
#[test]
fn templates_of_classes_never_change_under_one_name() {
    let mut known: BTreeMap<(String, String), (String, Value)> = BTreeMap::new();
    let releases = files_below(&root().join("releases"));
    let classes = releases.iter().filter(|path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("clusterclass-")
    });
    let mut count = 0;
    for path in classes {
        count += 1;
        for object in documents(&std::fs::read(path).unwrap())
            .into_iter()
            .filter(|object| object["kind"] != "ClusterClass")
        {
            let (_, kind, name) = identity(&object);
            let shown = path.display().to_string();
            let first = known
                .entry((kind, name))
                .or_insert_with(|| (shown.clone(), object.clone()));
            assert_eq!(first.1, object, "{} and {shown}", first.0);
        }
    }
    assert!(count > 0, "no class below releases/");
}

/// Whether an object or anything in it is of our group.
fn names_windlass(value: &Value) -> bool {
    let mut found = value["apiVersion"]
        .as_str()
        .is_some_and(|version| version.starts_with("bootstrap.windlass.dev/"));
    each_reference(value, &mut |reference| {
        found |= referred(reference).0 == "bootstrap.windlass.dev"
    });
    found
}

/// OP-32: where a KubeadmControlPlane stands, windlass serves workers and pools alone.
#[test]
fn kubeadm_control_planes_get_no_windlass_configs() {
    let mut with_kubeadm = 0;
    for (path, text) in files("cluster") {
        let objects = substituted(&text);
        let is_control_plane = |object: &Value| {
            object["kind"]
                .as_str()
                .unwrap()
                .starts_with("KubeadmControlPlane")
                || object["metadata"]["labels"]
                    .get("cluster.x-k8s.io/control-plane")
                    .is_some()
        };
        if !objects.iter().any(|object| {
            object["kind"]
                .as_str()
                .unwrap()
                .starts_with("KubeadmControlPlane")
        }) {
            continue;
        }
        with_kubeadm += 1;
        for object in objects.iter().filter(|object| is_control_plane(object)) {
            assert!(!names_windlass(object), "{path} {}", object["kind"]);
        }
        for class in objects
            .iter()
            .filter(|object| object["kind"] == "ClusterClass")
        {
            assert!(!names_windlass(&class["spec"]["controlPlane"]), "{path}");
            assert_eq!(
                items(&class["spec"]["workers"]["machineDeployments"]).len(),
                1
            );
        }
    }
    assert_eq!(
        with_kubeadm, 5,
        "default, flatcar-aws, ignition, machinepool and the class"
    );
}

/// CC-33: the classes.
#[test]
fn the_book_names_the_classes() {
    let page = std::fs::read_to_string(root().join("docs/book/src/bootstrap-provider.md")).unwrap();
    for path in files("clusterclass-").into_keys() {
        assert!(
            page.contains(&format!("`{path}`")),
            "the book does not name {path}"
        );
    }
}
