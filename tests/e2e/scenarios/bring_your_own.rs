//! Other people's providers, released by `windlass release build` and installed by the real
//! clusterctl.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::harness::clusterctl::Clusterctl;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{components, installation, managers, shared, wait, windlass};

const SOON: Duration = Duration::from_secs(30);

/// The k3s bootstrap provider through `components:`.
pub(super) const K3S: &str = "\
apiVersion: windlass.dev/v1alpha1
kind: Provider
name: k3s
type: BootstrapProvider
group: bootstrap.cluster.x-k8s.io
contracts: {v1beta1: [v1beta1, v1beta2]}
namespace: capi-k3s-bootstrap-system
components: built.yaml
";

/// Our releases of upstream's kubeadm bootstrap provider, of the k3s bootstrap provider and of the
/// infrastructure provider in `examples/` are installed and become available; upstream's own
/// manager runs in ours, as its service account, and answers; the template of the example is taken.
pub(crate) fn releases_are_installed(context: &Context) {
    let plane = context.control_plane();
    let mut clusterctl =
        Clusterctl::new(installation::CLUSTER_API, &plane, installation::CLUSTER_API);
    let repository = plane.folder().join("repository");
    for (folder, version) in [
        (kubeadm(plane.folder()), "v1.12.0"),
        (k3s(plane.folder()), "v0.3.0"),
        (harbour(plane.folder()), "v0.1.0"),
    ] {
        windlass::run(&folder, &["release", "build", version, "--to", "out"]);
        windlass::run(
            &folder,
            &[
                "repository",
                "add",
                "out",
                "--to",
                repository.to_str().unwrap(),
            ],
        );
    }
    for (name, kind, file) in [
        (
            "kubeadm",
            "BootstrapProvider",
            "bootstrap-kubeadm/latest/bootstrap-components.yaml",
        ),
        (
            "k3s",
            "BootstrapProvider",
            "bootstrap-k3s/latest/bootstrap-components.yaml",
        ),
        (
            "harbour",
            "InfrastructureProvider",
            "infrastructure-harbour/latest/infrastructure-components.yaml",
        ),
    ] {
        clusterctl.provider(name, kind, &repository.join(file).display().to_string());
    }
    let mut arguments = vec![
        "init",
        "--wait-providers",
        "--core",
        "cluster-api:v1.12.0",
        "--control-plane",
        "kubeadm:v1.12.0",
    ];
    arguments.extend([
        "--bootstrap",
        "kubeadm:v1.12.0",
        "--bootstrap",
        "k3s:v0.3.0",
        "--infrastructure",
        "harbour:v0.1.0",
    ]);
    clusterctl.succeed(&arguments);
    for (namespace, name) in [
        (
            "capi-kubeadm-bootstrap-system",
            "capi-kubeadm-bootstrap-controller-manager",
        ),
        (
            "capi-k3s-bootstrap-system",
            "capi-k3s-bootstrap-controller-manager",
        ),
        ("harbour-system", "harbour-controller-manager"),
    ] {
        let deployment = plane
            .api
            .get("apps/v1", "Deployment", Some(namespace), name)
            .unwrap();
        assert_eq!(
            deployment["status"]["availableReplicas"], 1,
            "{name}: {}",
            deployment["status"]
        );
    }

    let all = [
        managers::CORE,
        managers::KUBEADM_BOOTSTRAP,
        managers::KUBEADM_CONTROL_PLANE,
    ];
    managers::start(&plane, installation::CLUSTER_API, &all);
    clusterctl.set("HARBOUR_PORT_OF_CALL", json!("Rotterdam"));
    let mut arguments = vec![
        "generate",
        "cluster",
        "prod",
        "--infrastructure",
        "harbour:v0.1.0",
        "--target-namespace",
        "default",
    ];
    arguments.extend([
        "--kubernetes-version",
        "v1.34.2",
        "--control-plane-machine-count",
        "1",
        "--worker-machine-count",
        "1",
    ]);
    let printed = clusterctl.succeed(&arguments).stdout;
    for document in components::documents("the template of harbour", printed) {
        wait::until(&format!("{} to be taken", document["kind"]), SOON, || {
            plane
                .api
                .apply(&document)
                .map_err(|rejection| rejection.to_string())
        });
    }
    the_control_plane_clones_machines(&plane);
    let config = |api: &str, spec| {
        json!({
            "apiVersion": format!("bootstrap.cluster.x-k8s.io/{api}"), "kind": "KubeadmConfig", "metadata": {"name": "k", "namespace": "default"}, "spec": spec,
        })
    };
    let twice = config(
        "v1beta2",
        json!({"files": [{"path": "/a", "content": "x"}, {"path": "/a", "content": "y"}]}),
    );
    wait::until("upstream's webhook to reject", SOON, || {
        match plane.api.try_create(&twice) {
            Err(rejection) if rejection.message().contains("spec.files[1].path") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    // Arguments are a map in v1beta1 and a list in v1beta2: upstream's conversion has been asked.
    let arguments =
        |value| json!({"joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": value}}});
    plane
        .api
        .create(&config("v1beta1", arguments(json!({"v": "4"}))))
        .unwrap();
    let stored = plane
        .api
        .get(
            "bootstrap.cluster.x-k8s.io/v1beta2",
            "KubeadmConfig",
            Some("default"),
            "k",
        )
        .unwrap();
    assert_eq!(
        stored["spec"],
        arguments(json!([{"name": "v", "value": "4"}]))
    );
}

/// The kubeadm control plane, as its own service account, makes a HarbourMachine from the template:
/// the role that our release aggregates to it allows that. The harbour is ready because we say so,
/// in place of its controller.
fn the_control_plane_clones_machines(plane: &ControlPlane) {
    const HARBOUR: &str = "infrastructure.harbour.example/v1alpha1";
    let cluster = wait::until("the HarbourCluster to be owned", SOON, || {
        let found = plane
            .api
            .get(HARBOUR, "HarbourCluster", Some("default"), "prod")
            .map_err(|rejection| rejection.to_string())?;
        if found["metadata"]["ownerReferences"].is_array() {
            Ok(found)
        } else {
            Err("no owner".to_owned())
        }
    });
    plane
        .api
        .merge(
            &cluster,
            &json!({"spec": {"controlPlaneEndpoint": {"host": "127.0.0.1", "port": 6443}}}),
        )
        .unwrap();
    let status = json!({"status": {"initialization": {"provisioned": true}}});
    let path = format!("{}/status", plane.api.path_of(&cluster));
    plane
        .api
        .request(
            "PATCH",
            &path,
            "application/merge-patch+json",
            Some(&status),
        )
        .unwrap();
    let machine = wait::until(
        "a HarbourMachine of the control plane",
        Duration::from_secs(90),
        || {
            let machines = plane.api.list(HARBOUR, "HarbourMachine", Some("default"));
            let of_control_plane = machines.into_iter().find(|machine| {
                machine["metadata"]["labels"]
                    .get("cluster.x-k8s.io/control-plane")
                    .is_some()
            });
            of_control_plane.ok_or_else(|| {
                let found = plane.api.get(
                    "controlplane.cluster.x-k8s.io/v1beta2",
                    "KubeadmControlPlane",
                    Some("default"),
                    "prod-control-plane",
                );
                format!(
                    "{:?}",
                    found.map(|found| found["status"]["conditions"].clone())
                )
            })
        },
    );
    assert_eq!(machine["spec"]["tonnage"], "Freighter");
}

fn kubeadm(root: &Path) -> PathBuf {
    let folder = root.join("kubeadm");
    copy(
        &shared::path("corpus/kubernetes-sigs+cluster-api@v1.12.0/bootstrap/kubeadm/config"),
        &folder.join("config"),
    );
    copy_file(
        &shared::cluster_api("v1.12.0").join("metadata.yaml"),
        &folder.join("metadata.yaml"),
    );
    copy_file(
        &shared::checkout().join("tests/it/kubeadm/provider.yaml"),
        &folder.join("provider.yaml"),
    );
    folder
}

fn k3s(root: &Path) -> PathBuf {
    let folder = root.join("k3s");
    std::fs::create_dir_all(&folder).unwrap();
    copy_file(
        &shared::path("corpus/rendered/k3s-io+cluster-api-k3s/bootstrap-components.yaml"),
        &folder.join("built.yaml"),
    );
    copy_file(
        &shared::path("corpus/k3s-io+cluster-api-k3s/metadata.yaml"),
        &folder.join("metadata.yaml"),
    );
    std::fs::write(folder.join("provider.yaml"), K3S).unwrap();
    folder
}

fn harbour(root: &Path) -> PathBuf {
    let folder = root.join("harbour");
    copy(&shared::checkout().join("examples/harbour"), &folder);
    folder
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = (
            entry.as_ref().unwrap().path(),
            entry.as_ref().unwrap().file_name(),
        );
        if path.is_dir() {
            copy(&path, &to.join(name))
        } else {
            copy_file(&path, &to.join(name))
        }
    }
}

/// The content only: the data may be read-only.
pub(super) fn copy_file(from: &Path, to: &Path) {
    std::fs::write(to, std::fs::read(from).unwrap()).unwrap();
}
