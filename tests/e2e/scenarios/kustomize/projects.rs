//! Real projects through the short provider.yaml: every object is as kustomize builds it, except
//! for what the contract of clusterctl requires.

use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_provider::{self as provider, Inputs, Matched};
use windlass_release::commands::init::{self, Form, Given};
use windlass_release::commands::release_build::{self, Order, version};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::tree::Tree;

use crate::harness::runner::Context;
use crate::harness::{components, shared};

/// Repository below the shared folder, and the folder there that has `config`.
const PROJECTS: &[(&str, &str)] = &[
    (
        "corpus-review3/kubernetes-sigs+cluster-api-provider-cloudstack",
        "",
    ),
    (
        "corpus-review3/kubernetes-sigs+cluster-api-provider-ibmcloud",
        "",
    ),
    ("corpus-review3/linode+cluster-api-provider-linode", ""),
    ("corpus/k3s-io+cluster-api-k3s", "bootstrap"),
    ("corpus/k3s-io+cluster-api-k3s", "controlplane"),
    (
        "corpus/kubernetes-sigs+cluster-api-ipam-provider-in-cluster",
        "",
    ),
    ("corpus/kubernetes-sigs+cluster-api-provider-aws", ""),
    ("corpus/kubernetes-sigs+cluster-api-provider-vsphere", ""),
    ("corpus/metal3-io+cluster-api-provider-metal3", ""),
    (
        "corpus/nutanix-cloud-native+cluster-api-provider-nutanix",
        "",
    ),
];

/// What is wrong with the sources of a project: the build reports it, and the objects are compared
/// all the same.
const UNSOUND: &[(&str, &str)] = &[
    // The label of all its CRDs names a version that one of them does not have.
    (
        "corpus-review3/kubernetes-sigs+cluster-api-provider-cloudstack",
        "cloudstackzones.infrastructure.cluster.x-k8s.io names v1beta3",
    ),
    (
        "corpus-review3/kubernetes-sigs+cluster-api-provider-ibmcloud",
        "crd-ca-bundle-present: ",
    ),
    // `self.import`: rules in CEL must write such a name `__import__`.
    (
        "corpus-review3/kubernetes-sigs+cluster-api-provider-ibmcloud",
        "properties[image].x-kubernetes-validations[1].rule",
    ),
    // A webhook is patched into all CRDs but one.
    (
        "corpus-review3/kubernetes-sigs+cluster-api-provider-ibmcloud",
        "IBMPowerVSClusterTemplate have other fields, and no webhook",
    ),
    (
        "corpus/metal3-io+cluster-api-provider-metal3",
        "Metal3ClusterTemplate have other fields, and no webhook",
    ),
    // metadata.yaml promises a contract, and config/crd does not have its label.
    (
        "corpus-review3/linode+cluster-api-provider-linode",
        "metadata.yaml promises contract v1beta2",
    ),
];

/// Builds each project with the provider.yaml of `init`.
pub(crate) fn projects_keep_every_object(context: &Context) {
    let mut faults = Vec::new();
    for (repository, part) in PROJECTS {
        let root = shared::path(repository);
        let name = format!("{repository}/{part}").replace('/', "_");
        let folder = context.folder().join(name);
        copy(&root.join(part).join("config"), &folder.join("config"));
        for file in ["metadata.yaml", "PROJECT"] {
            let from = [root.join(part).join(file), root.join(file)];
            if let Some(from) = from.iter().find(|path| path.is_file()) {
                std::fs::copy(from, folder.join(file)).expect("it can be copied");
            }
        }
        // cloudstack's Makefile makes this copy.
        let image = folder.join("config/default/manager_image_patch.yaml");
        let edited = folder.join("config/default/manager_image_patch_edited.yaml");
        if image.is_file() && !edited.exists() {
            std::fs::copy(&image, &edited).expect("it can be copied");
        }
        let found = compared(&folder);
        let found = found.into_iter().filter(|fault| {
            !UNSOUND
                .iter()
                .any(|(of, text)| of == repository && fault.contains(text))
        });
        faults.extend(found.map(|fault| format!("{repository} {part}: {fault}")));
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// What differs, and what keeps the release back.
fn compared(folder: &Path) -> Vec<String> {
    let kustomized = super::build(folder, "config/default");
    kustomized.assert_success("kustomize build");
    let tree = tree(folder);
    let made = init::run(&tree, &Given::default(), &Budget::default());
    let mut faults = Vec::new();
    let text = String::from_utf8_lossy(made.files.get("provider.yaml").unwrap_or_default());
    let lines = text.lines().filter(|line| !line.starts_with('#')).count();
    if made.form != Form::Short || !(6..=16).contains(&lines) || !made.left.is_empty() {
        faults.push(format!(
            "provider.yaml has {lines} lines, left: {:?}",
            made.left
        ));
    }
    let metadata = made
        .files
        .get("metadata.yaml")
        .or(tree.get("metadata.yaml"));
    let metadata = String::from_utf8_lossy(metadata.unwrap_or_default()).into_owned();
    let (providers, report) = provider::parse(
        &Source::new("provider.yaml", text.as_ref()),
        &Budget::default(),
    );
    let mut inputs = Inputs::new();
    for (name, text) in [
        ("-", kustomized.stdout.as_str()),
        ("metadata.yaml", &metadata),
    ] {
        let matched = Matched {
            files: vec![Source::new(name, text)],
            ..Matched::default()
        };
        inputs.insert(name, matched);
    }
    let version = version(&made.next).expect("init names a version");
    let release = release_build::run(&providers, report, &inputs, Order::of(&version));
    for finding in release.report.findings() {
        if finding.rule.severity == windlass_source::diag::Severity::Error {
            faults.push(format!("{}: {}", finding.rule.id, finding.message));
        }
    }
    let file = release
        .files
        .paths()
        .find(|path| path.ends_with("-components.yaml"))
        .map(str::to_owned);
    let ours = file.and_then(|file| release.files.get(&file).map(<[u8]>::to_vec));
    let ours = String::from_utf8_lossy(&ours.unwrap_or_default()).into_owned();
    let ours = components::documents("ours", ours);
    let theirs = components::documents("theirs", kustomized.stdout.clone());
    if ours.len() != theirs.len() {
        faults.push(format!("{} objects of {}", ours.len(), theirs.len()));
    }
    for (ours, theirs) in ours.iter().zip(&theirs) {
        if bare(ours) != bare(theirs) {
            faults.push(format!(
                "{}/{} differs",
                theirs["kind"].as_str().unwrap_or_default(),
                theirs["metadata"]["name"].as_str().unwrap_or_default()
            ));
        }
    }
    faults
}

/// An object without what the contract requires: contract labels, the label of the provider, and
/// the tag of the manager's image.
fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(labels) = object
        .pointer_mut("/metadata/labels")
        .and_then(Value::as_object_mut)
    {
        labels.retain(|key, _| {
            !(key.starts_with("cluster.x-k8s.io/v1") || key == "cluster.x-k8s.io/provider")
        });
        if labels.is_empty()
            && let Some(metadata) = object["metadata"].as_object_mut()
        {
            metadata.remove("labels");
        }
    }
    let containers = object.pointer_mut("/spec/template/spec/containers");
    for container in containers
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if container["name"] == "manager"
            && let Some(image) = container["image"].as_str()
        {
            let name = image.rsplit_once(':').map_or(image, |(name, _)| name);
            container["image"] = name.trim_start_matches("docker.io/library/").into();
        }
    }
    object
}

/// The files of a project as `init` gets them.
fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("the folder can be read") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(below) = path.strip_prefix(folder) {
                let bytes = std::fs::read(&path).expect("the file can be read");
                tree.insert(below.display().to_string(), bytes);
            }
        }
    }
    tree
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder can be written");
    for entry in
        std::fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()))
    {
        let entry = entry.expect("it can be read");
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            let bytes = std::fs::read(&path).expect("the file can be read");
            std::fs::write(target, bytes).expect("the file can be written");
        }
    }
}
