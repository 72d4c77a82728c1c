//! The release through the real clusterctl: installed, upgraded, deleted, from other registries, into other namespaces.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::api_server::ApiServer;
use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{installation, shared, wait, windlass};

const DELETE: &[&str] = &["delete", "--bootstrap", "windlass", "--include-crd", "--include-namespace"];
const SOON: Duration = Duration::from_secs(60);

/// With clusterctl and Cluster API of contract v1beta2's first years.
pub(crate) fn init_upgrade_delete_v1_12(context: &Context) {
    init_upgrade_delete(context, "v1.12.0", "v1.12.0");
}

/// With a later clusterctl and Cluster API.
pub(crate) fn init_upgrade_delete_v1_14(context: &Context) {
    init_upgrade_delete(context, "v1.14.2", "v1.14.0");
}

/// `init` from `releases/` beside Cluster API, `upgrade plan` and `upgrade apply` to a release that we build now, and `delete`, which
/// leaves nothing of ours; a WindlassConfig lives through the upgrade.
fn init_upgrade_delete(context: &Context, clusterctl_version: &str, cluster_api: &str) {
    let plane = context.control_plane();
    let mut clusterctl = Clusterctl::new(clusterctl_version, &plane, cluster_api);
    init(&clusterctl, cluster_api);
    assert_eq!(installed_version(&plane.api, windlass::NAMESPACE).as_deref(), Some("v0.1.0"));
    assert_eq!(manager_image(&plane.api, windlass::NAMESPACE), "ghcr.io/windlass-dev/windlass-manager:v0.1.0");
    assert_all_labelled(&plane.api);

    let port = plane.serve(windlass::routes());
    windlass::redirect_webhooks(&plane, windlass::NAMESPACE, port);
    let config = json!({
        "apiVersion": "bootstrap.windlass.dev/v1beta1", "kind": "WindlassConfig",
        "metadata": {"name": "old", "namespace": "default"}, "spec": {"preKubeadmCommands": ["true"]},
    });
    wait::until("a WindlassConfig to be taken", SOON, || plane.api.create(&config).map_err(|refusal| refusal.to_string()));

    clusterctl.set_windlass_repository(&newer_repository(plane.folder()));
    let plan = clusterctl.succeed(&["upgrade", "plan"]);
    let row = plan.stdout.lines().find(|line| line.starts_with(windlass::LABEL)).unwrap_or_else(|| panic!("{}", plan.stdout)).to_owned();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, [windlass::LABEL, windlass::NAMESPACE, "BootstrapProvider", "v0.1.0", "v0.1.1"], "{}", plan.stdout);
    windlass::restore_webhooks(&plane, windlass::NAMESPACE, port);
    clusterctl.succeed(&["upgrade", "apply", "--bootstrap", "windlass:v0.1.1", "--wait-providers"]);
    assert_eq!(installed_version(&plane.api, windlass::NAMESPACE).as_deref(), Some("v0.1.1"));
    assert_eq!(manager_image(&plane.api, windlass::NAMESPACE), "ghcr.io/windlass-dev/windlass-manager:v0.1.1");
    windlass::redirect_webhooks(&plane, windlass::NAMESPACE, port);
    let old = wait::until("the WindlassConfig", SOON, || {
        plane.api.get("bootstrap.windlass.dev/v1beta2", "WindlassConfig", Some("default"), "old").map_err(|refusal| refusal.to_string())
    });
    assert_eq!(old["spec"], config["spec"]);

    let refused = clusterctl.run(DELETE);
    assert!(refused.stderr.contains("found existing objects for provider CRDs"), "{}", refused.stderr);
    plane.api.delete(&old).unwrap();
    clusterctl.succeed(DELETE);
    assert_remaining(&plane.api, &[windlass::NAMESPACE], &[]);
}

/// Another registry, another namespace, and a repository laid out by `windlass repository add`, one after the other.
pub(crate) fn variants(context: &Context) {
    let plane = context.control_plane();
    let cluster_api = installation::CLUSTER_API;
    let mut clusterctl = Clusterctl::new(cluster_api, &plane, cluster_api);
    clusterctl.succeed(&["init", "--core", "cluster-api:v1.12.0", "--bootstrap", "kubeadm:v1.12.0", "--control-plane", "kubeadm:v1.12.0"]);
    from_another_registry(&plane, &mut clusterctl);
    into_another_namespace(&plane, &clusterctl);
    from_an_added_repository(&plane, &clusterctl);
}

fn from_another_registry(plane: &ControlPlane, clusterctl: &mut Clusterctl<'_>) {
    clusterctl.set("images", json!({windlass::LABEL: {"repository": "registry.example.com/mirror", "tag": "v9.9.9"}}));
    clusterctl.succeed(&["init", "--bootstrap", "windlass:v0.1.0"]);
    assert_eq!(manager_image(&plane.api, windlass::NAMESPACE), "registry.example.com/mirror/windlass-manager:v9.9.9");
    clusterctl.set("images", json!({}));
    clusterctl.succeed(DELETE);
    assert_remaining(&plane.api, &[windlass::NAMESPACE], &[]);
}

/// clusterctl puts everything into the namespace. On deletion it takes cluster-wide roles only when their names begin with that
/// namespace, so ours, which begin with our own, stay.
fn into_another_namespace(plane: &ControlPlane, clusterctl: &Clusterctl<'_>) {
    clusterctl.succeed(&["init", "--bootstrap", "windlass:v0.1.0", "--target-namespace", "elsewhere", "--wait-providers"]);
    assert_eq!(installed_version(&plane.api, "elsewhere").as_deref(), Some("v0.1.0"));
    let certificate = plane.api.get("cert-manager.io/v1", "Certificate", Some("elsewhere"), "windlass-serving-cert").unwrap();
    let names = json!(["windlass-webhook-service.elsewhere.svc", "windlass-webhook-service.elsewhere.svc.cluster.local"]);
    assert_eq!(certificate["spec"]["dnsNames"], names);
    // All that a namespace is named in follows: webhooks and conversions can be redirected under the new one.
    windlass::serve_webhooks(plane, "elsewhere");
    let binding = plane.api.get("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", None, "windlass-system-manager-rolebinding").unwrap();
    assert_eq!(binding["subjects"][0]["namespace"], "elsewhere");

    clusterctl.succeed(DELETE);
    let roles = [
        "ClusterRole windlass-system-aggregated-manager-role",
        "ClusterRole windlass-system-manager-role",
        "ClusterRoleBinding windlass-system-manager-rolebinding",
    ];
    assert_remaining(&plane.api, &["elsewhere", windlass::NAMESPACE], &roles);
    for object in ours(&plane.api, &[]) {
        plane.api.delete(&object).unwrap();
    }
}

/// `release build`, `repository add`, and then the command that `repository add` prints, to the letter. What was installed before has
/// to be in the repository too, or clusterctl asks GitHub for it.
fn from_an_added_repository(plane: &ControlPlane, clusterctl: &Clusterctl<'_>) {
    let folder = clusterctl.folder();
    let manifest = manifest();
    windlass::run(folder, &["release", "build", "v0.1.0", "--to", "out", "--provider", &manifest]);
    let cluster_api = shared::cluster_api(installation::CLUSTER_API).display().to_string();
    windlass::run(
        folder,
        &["repository", "add", &cluster_api, "--release", installation::CLUSTER_API, "--to", "repository-added"],
    );
    let added = windlass::run(folder, &["repository", "add", "out", "--to", "repository-added"]);
    let words: Vec<&str> = added.stdout.split_whitespace().collect();
    let config = folder.join("repository-added/clusterctl.yaml").canonicalize().unwrap();
    let expected = ["clusterctl", "init", "--config", config.to_str().unwrap(), "--bootstrap", "windlass:v0.1.0"];
    assert_eq!(words, expected, "{}", added.stdout);
    let finished = clusterctl.run_as_given(&words[1..]);
    finished.assert_success(&added.stdout);
    assert_eq!(installed_version(&plane.api, windlass::NAMESPACE).as_deref(), Some("v0.1.0"));
    let released =
        std::fs::read(Path::new(&manifest).with_file_name("releases/bootstrap-windlass/v0.1.0/bootstrap-components.yaml")).unwrap();
    let built = std::fs::read(folder.join("repository-added/bootstrap-windlass/v0.1.0/bootstrap-components.yaml")).unwrap();
    assert!(released == built, "releases/ is not what provider.yaml gives");
}

fn init(clusterctl: &Clusterctl<'_>, cluster_api: &str) {
    let core = format!("cluster-api:{cluster_api}");
    let (control_plane, docker) = (format!("kubeadm:{cluster_api}"), format!("docker:{cluster_api}"));
    let arguments =
        ["init", "--core", &core, "--bootstrap", "windlass:v0.1.0", "--control-plane", &control_plane, "--infrastructure", &docker];
    let finished = clusterctl.succeed(&[&arguments[..], &["--wait-providers"]].concat());
    assert!(finished.stderr.contains("initialized successfully"), "{}", finished.stderr);
}

fn manifest() -> String {
    shared::checkout().join("provider.yaml").canonicalize().unwrap().display().to_string()
}

/// `releases/` and beside it a release v0.1.1, made by the program.
fn newer_repository(folder: &Path) -> PathBuf {
    let repository = folder.join("newer");
    std::fs::create_dir_all(&repository).unwrap();
    let manifest = manifest();
    for version in ["v0.1.0", "v0.1.1"] {
        windlass::run(folder, &["release", "build", version, "--to", &format!("release-{version}"), "--provider", &manifest]);
        windlass::run(folder, &["repository", "add", &format!("release-{version}"), "--to", "newer"]);
    }
    repository
}

/// The version in clusterctl's inventory.
fn installed_version(api: &ApiServer, namespace: &str) -> Option<String> {
    let found = api.get("clusterctl.cluster.x-k8s.io/v1alpha3", "Provider", Some(namespace), windlass::LABEL).ok()?;
    Some(found["version"].as_str()?.to_owned())
}

fn manager_image(api: &ApiServer, namespace: &str) -> String {
    let deployment = api.get("apps/v1", "Deployment", Some(namespace), "windlass-controller-manager").unwrap();
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["name"], "manager");
    container["image"].as_str().unwrap().to_owned()
}

/// Everything in our namespace and everything that is called after us carries the labels that clusterctl works with.
fn assert_all_labelled(api: &ApiServer) {
    let made_by_kubernetes = ["APIService", "Endpoints", "EndpointSlice", "Event", "Lease", "Pod", "ReplicaSet", "ControllerRevision"];
    let of_namespace = ["ServiceAccount default", "ConfigMap kube-root-ca.crt"];
    for object in ours(api, &[windlass::NAMESPACE]) {
        let shown = shown(&object);
        if made_by_kubernetes.iter().any(|kind| object["kind"] == *kind) || of_namespace.contains(&shown.as_str()) {
            continue;
        }
        let labels = &object["metadata"]["labels"];
        assert_eq!(labels["cluster.x-k8s.io/provider"], windlass::LABEL, "{shown}: {labels}");
        assert!(labels.get("clusterctl.cluster.x-k8s.io").is_some(), "{shown}: {labels}");
    }
}

/// Waits until nothing is left of us but the given objects.
fn assert_remaining(api: &ApiServer, namespaces: &[&str], expected: &[&str]) {
    let expected: BTreeSet<&str> = expected.iter().copied().collect();
    wait::until("what clusterctl deletes to be gone", SOON, || {
        let left: BTreeSet<String> = ours(api, namespaces).iter().map(shown).collect();
        let left: BTreeSet<&str> = left.iter().map(String::as_str).collect();
        if left == expected { Ok(()) } else { Err(format!("left: {left:?}")) }
    });
}

/// Every object of the cluster that is in one of the namespaces, or carries our label, or has our name in its own.
fn ours(api: &ApiServer, namespaces: &[&str]) -> Vec<Value> {
    let is_ours = |object: &Value| {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str().unwrap_or_default();
        let name = metadata["name"].as_str().unwrap_or_default();
        let is_namespace = object["kind"] == "Namespace" && namespaces.contains(&name);
        let labelled = metadata["labels"]["cluster.x-k8s.io/provider"] == windlass::LABEL;
        // Events outlive what they are about.
        object["kind"] != "Event" && (is_namespace || labelled || namespaces.contains(&namespace) || name.contains("windlass"))
    };
    api.everything().into_iter().filter(is_ours).collect()
}

fn shown(object: &Value) -> String {
    format!("{} {}", object["kind"].as_str().unwrap_or_default(), object["metadata"]["name"].as_str().unwrap_or_default())
}
