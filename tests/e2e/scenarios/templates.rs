//! Each flavor through the real clusterctl, and what comes out to the real API server.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{components, installation, shared, wait, windlass};

/// Every template and ClusterClass of the release, as `clusterctl generate` prints it, is taken by
/// server-side dry run with all webhooks, strictly.
pub(crate) fn every_flavor_is_taken(context: &Context) {
    let plane = context.installed();
    let mut clusterctl =
        Clusterctl::new(installation::CLUSTER_API, &plane, installation::CLUSTER_API);
    for (variable, value) in [
        ("AWS_REGION", "eu-central-1"),
        ("AWS_SSH_KEY_NAME", "key"),
        ("AWS_S3_BUCKET_NAME", "bucket"),
    ] {
        clusterctl.set(variable, json!(value));
    }
    add_kinds_of_later_releases(&plane);
    let mut count = 0;
    for (flavor, path) in templates() {
        for document in generate(&clusterctl, &path.display().to_string(), "default") {
            count += 1;
            assert_eq!(
                document["metadata"]["namespace"], "default",
                "{flavor}: {document}"
            );
            take(&plane, &flavor, &document);
        }
    }
    println!("  {count} objects");
    assert!(count > 20, "the templates have only {count} objects");
}

/// The kinds that flavors need beyond what is installed: AWS', and DevMachinePool of Cluster API
/// v1.14. Without the webhooks of their managers.
fn add_kinds_of_later_releases(plane: &ControlPlane) {
    let aws = shared::path("corpus/kubernetes-sigs+cluster-api-provider-aws/config/crd/bases");
    let crds = |kind: &str| format!("infrastructure.cluster.x-k8s.io_{kind}.yaml");
    let mut files: Vec<PathBuf> = ["awsclusters", "awsmachinetemplates"]
        .map(|kind| aws.join(crds(kind)))
        .into();
    files.push(shared::cluster_api("v1.14.0").join("infrastructure-components-development.yaml"));
    let wanted = ["AWSCluster", "AWSMachineTemplate", "DevMachinePool"];
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for mut crd in components::documents(&file.display().to_string(), text) {
            if crd["kind"] != "CustomResourceDefinition"
                || !wanted
                    .iter()
                    .any(|kind| crd["spec"]["names"]["kind"] == *kind)
            {
                continue;
            }
            crd["spec"].as_object_mut().unwrap().remove("conversion");
            plane.api.apply(&crd).unwrap();
            count += 1;
        }
    }
    assert_eq!(count, wanted.len());
}

/// Every object of the examples is taken as it stands there.
pub(crate) fn examples_are_taken(context: &Context) {
    let plane = context.installed();
    let folder = shared::checkout().join("examples");
    let files = std::fs::read_dir(folder.canonicalize().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    }) {
        let shown = path.display().to_string();
        for document in components::documents(&shown, std::fs::read_to_string(&path).unwrap()) {
            count += 1;
            take(&plane, &shown, &document);
        }
    }
    assert!(count > 2, "the examples have only {count} objects");
}

/// Templates and ClusterClasses of the release by file name.
pub(crate) fn templates() -> Vec<(String, PathBuf)> {
    let release = shared::checkout()
        .join("releases")
        .join(windlass::LABEL)
        .join(windlass::VERSION);
    let files = std::fs::read_dir(release.canonicalize().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let named = files.map(|path| {
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            path,
        )
    });
    let mut found: Vec<_> = named
        .filter(|(name, _)| {
            name.starts_with("cluster-template") || name.starts_with("clusterclass-")
        })
        .collect();
    found.sort();
    assert!(
        found.len() >= 7,
        "six flavors and a ClusterClass, found {found:?}"
    );
    found
}

/// The objects that `clusterctl generate cluster` prints for a template.
pub(crate) fn generate(clusterctl: &Clusterctl<'_>, template: &str, namespace: &str) -> Vec<Value> {
    let mut arguments = vec![
        "generate",
        "cluster",
        "prod",
        "--from",
        template,
        "--target-namespace",
        namespace,
    ];
    arguments.extend([
        "--kubernetes-version",
        "v1.34.2",
        "--control-plane-machine-count",
        "3",
        "--worker-machine-count",
        "2",
    ]);
    let printed = clusterctl.succeed(&arguments);
    components::documents(template, printed.stdout)
}

fn take(plane: &ControlPlane, flavor: &str, document: &Value) {
    wait::until(
        &format!("{flavor} to be taken"),
        Duration::from_secs(20),
        || match plane.api.try_apply(document) {
            Err(rejection) if rejection.passes() => Err(rejection.to_string()),
            Err(rejection) => panic!("{flavor}: {rejection}\n{document}"),
            Ok(_) => Ok(()),
        },
    );
}
