//! The release through the real clusterctl: installed, upgraded, deleted, from other registries,
//! into other namespaces.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::api_server::ApiServer;
use crate::harness::clusterctl::{CERT_MANAGER_VERSION, Clusterctl};
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{installation, shared, wait, windlass};

const DELETE: &[&str] = &[
    "delete",
    "--bootstrap",
    "windlass",
    "--include-crd",
    "--include-namespace",
];
const SOON: Duration = Duration::from_secs(60);

/// With clusterctl and Cluster API of contract v1beta2's first years.
pub(crate) fn init_upgrade_delete_v1_12(context: &Context) {
    init_upgrade_delete(context, "v1.12.0", "v1.12.0");
}

/// With a later clusterctl and Cluster API.
pub(crate) fn init_upgrade_delete_v1_14(context: &Context) {
    init_upgrade_delete(context, "v1.14.2", "v1.14.0");
}

/// `init` of the older version in `releases/` beside Cluster API, `upgrade plan` and `upgrade
/// apply` to the newer one, `delete` and `init` again, and `delete`, which leaves nothing of ours;
/// a WindlassConfig lives through all but the last.
fn init_upgrade_delete(context: &Context, clusterctl_version: &str, cluster_api: &str) {
    let plane = context.control_plane();
    let clusterctl = Clusterctl::new(clusterctl_version, &plane, cluster_api);
    init(&clusterctl, cluster_api);
    assert_eq!(
        installed_version(&plane.api, windlass::NAMESPACE).as_deref(),
        Some("v0.1.0")
    );
    assert_eq!(
        manager_image(&plane.api, windlass::NAMESPACE),
        "ghcr.io/windlass-dev/windlass-manager:v0.1.0"
    );
    assert_all_labelled(&plane.api);

    let port = plane.serve(windlass::routes());
    windlass::redirect_webhooks(&plane, windlass::NAMESPACE, port);
    let config = json!({
        "apiVersion": "bootstrap.windlass.dev/v1beta1", "kind": "WindlassConfig",
        "metadata": {"name": "old", "namespace": "default"}, "spec": {"preKubeadmCommands": ["true"]},
    });
    wait::until("a WindlassConfig to be taken", SOON, || {
        plane
            .api
            .create(&config)
            .map_err(|rejection| rejection.to_string())
    });

    upgrade(&plane, &clusterctl, port);
    let old = expect_config(&plane, &config);
    reinstall(&plane, &clusterctl, port);
    assert_eq!(
        expect_config(&plane, &config)["metadata"]["uid"],
        old["metadata"]["uid"]
    );

    let rejected = clusterctl.run(DELETE);
    assert!(
        rejected
            .stderr
            .contains("found existing objects for provider CRDs"),
        "{}",
        rejected.stderr
    );
    plane.api.delete(&old).unwrap();
    clusterctl.succeed(DELETE);
    assert_remaining(&plane.api, &[windlass::NAMESPACE], &[]);
}

/// To a release v0.2.0, which cannot be installed beside the other: components are made anew, what
/// was set in them by hand is gone; namespace and CRDs stay.
fn upgrade(plane: &ControlPlane, clusterctl: &Clusterctl<'_>, port: u16) {
    let before = stays(&plane.api);
    let mut arguments = manager(&plane.api, windlass::NAMESPACE)["args"].clone();
    arguments.as_array_mut().unwrap().push(json!("--by-hand"));
    let by_hand = json!({"spec": {"template": {"spec": {"containers": [{"name": "manager", "args": arguments}]}}}});
    let path = plane
        .api
        .path_of(&deployment(&plane.api, windlass::NAMESPACE));
    plane
        .api
        .request(
            "PATCH",
            &path,
            "application/strategic-merge-patch+json",
            Some(&by_hand),
        )
        .unwrap();

    let twice = clusterctl.run(&["init", "--bootstrap", "windlass:v0.2.0"]);
    assert!(
        twice.code != Some(0) && twice.stderr.contains("there is already an instance"),
        "{}",
        twice.stderr
    );
    let plan = clusterctl.succeed(&["upgrade", "plan"]);
    let row = plan
        .stdout
        .lines()
        .find(|line| line.starts_with(windlass::LABEL))
        .unwrap_or_else(|| panic!("{}", plan.stdout))
        .to_owned();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        words,
        [
            windlass::LABEL,
            windlass::NAMESPACE,
            "BootstrapProvider",
            "v0.1.0",
            "v0.2.0"
        ],
        "{}",
        plan.stdout
    );
    windlass::restore_webhooks(plane, windlass::NAMESPACE, port);
    clusterctl.succeed(&[
        "upgrade",
        "apply",
        "--bootstrap",
        "windlass:v0.2.0",
        "--wait-providers",
    ]);
    windlass::redirect_webhooks(plane, windlass::NAMESPACE, port);
    assert_eq!(
        installed_version(&plane.api, windlass::NAMESPACE).as_deref(),
        Some("v0.2.0")
    );
    assert_eq!(
        manager_image(&plane.api, windlass::NAMESPACE),
        "ghcr.io/windlass-dev/windlass-manager:v0.2.0"
    );
    arguments.as_array_mut().unwrap().pop();
    // What the newer release adds.
    arguments
        .as_array_mut()
        .unwrap()
        .insert(3, json!("--kinds=WindlassConfig"));
    assert_eq!(manager(&plane.api, windlass::NAMESPACE)["args"], arguments);
    assert_eq!(stays(&plane.api), before);
}

/// `delete` without more leaves namespace, CRDs and objects, and `init` finds them again.
fn reinstall(plane: &ControlPlane, clusterctl: &Clusterctl<'_>, port: u16) {
    let before = stays(&plane.api);
    windlass::restore_webhooks(plane, windlass::NAMESPACE, port);
    clusterctl.succeed(&["delete", "--bootstrap", "windlass"]);
    wait::until("our manager to be gone", SOON, || {
        let found = plane
            .api
            .list("apps/v1", "Deployment", Some(windlass::NAMESPACE));
        if found.is_empty() {
            Ok(())
        } else {
            Err(format!("{} Deployments", found.len()))
        }
    });
    assert_eq!(installed_version(&plane.api, windlass::NAMESPACE), None);
    assert_eq!(stays(&plane.api), before);
    clusterctl.succeed(&["init", "--bootstrap", "windlass:v0.2.0", "--wait-providers"]);
    windlass::redirect_webhooks(plane, windlass::NAMESPACE, port);
    assert_eq!(stays(&plane.api), before);
}

/// Who namespace and CRDs are.
fn stays(api: &ApiServer) -> Vec<Value> {
    let crd = |name: &str| {
        api.get(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            None,
            &format!("{name}.bootstrap.windlass.dev"),
        )
    };
    let objects = [
        api.get("v1", "Namespace", None, windlass::NAMESPACE),
        crd("windlassconfigs"),
        crd("windlassconfigtemplates"),
    ];
    objects
        .map(|object| object.unwrap()["metadata"]["uid"].clone())
        .to_vec()
}

/// Waits until a WindlassConfig can be read in the newest version, with the spec that it was
/// created with.
fn expect_config(plane: &ControlPlane, created: &Value) -> Value {
    let name = created["metadata"]["name"].as_str().unwrap();
    let found = wait::until("the WindlassConfig", SOON, || {
        let answer = plane.api.get(
            "bootstrap.windlass.dev/v1beta2",
            "WindlassConfig",
            Some("default"),
            name,
        );
        answer.map_err(|rejection| rejection.to_string())
    });
    assert_eq!(found["spec"], created["spec"]);
    found
}

/// Another registry, another namespace, and a repository laid out by `windlass repository add`, one
/// after the other.
pub(crate) fn variants(context: &Context) {
    let plane = context.control_plane();
    let cluster_api = installation::CLUSTER_API;
    let mut clusterctl = Clusterctl::new(cluster_api, &plane, cluster_api);
    beside_what_clusterctl_adds(&plane, &clusterctl);
    from_another_registry(&plane, &mut clusterctl);
    into_another_namespace(&plane, &clusterctl);
    clusterctl.succeed(&["delete", "--all", "--include-crd", "--include-namespace"]);
    // What is installed into a namespace that is still going, goes with it.
    for namespace in ["capi-system", "capi-kubeadm-control-plane-system"] {
        wait::until(&format!("{namespace} to be gone"), SOON, || {
            match plane.api.get("v1", "Namespace", None, namespace) {
                Err(rejection) if rejection.code == 404 => Ok(()),
                other => Err(format!("{other:?}")),
            }
        });
    }
    remove_cert_manager(&plane);
    from_an_added_repository(&plane, &clusterctl);
}

/// So that the next `init` has to install it.
fn remove_cert_manager(plane: &ControlPlane) {
    let crds = ["certificates", "issuers", "certificaterequests"];
    let crds = crds.map(|plural| {
        (
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            format!("{plural}.cert-manager.io"),
        )
    });
    let objects = crds
        .into_iter()
        .chain([("v1", "Namespace", "cert-manager".to_owned())]);
    for (version, kind, name) in objects {
        let object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
        plane.api.delete(&object).unwrap();
        wait::until(&format!("{name} to be gone"), SOON, || {
            match plane.api.get(version, kind, None, &name) {
                Err(rejection) if rejection.code == 404 => Ok(()),
                other => Err(format!("{other:?}")),
            }
        });
    }
}

/// Into an empty cluster, with nothing named but us: clusterctl adds the core and the kubeadm
/// control plane, and no other bootstrap provider; `init list-images` knows the images of all
/// three.
fn beside_what_clusterctl_adds(plane: &ControlPlane, clusterctl: &Clusterctl<'_>) {
    let images = clusterctl
        .succeed(&["init", "list-images", "--bootstrap", "windlass:v0.2.0"])
        .stdout;
    for image in [
        "ghcr.io/windlass-dev/windlass-manager:v0.2.0",
        "/cluster-api-controller",
        "/kubeadm-control-plane-controller",
    ] {
        assert!(images.contains(image), "no {image} in\n{images}");
    }
    clusterctl.succeed(&["init", "--bootstrap", "windlass:v0.2.0", "--wait-providers"]);
    let inventory = plane
        .api
        .list("clusterctl.cluster.x-k8s.io/v1alpha3", "Provider", None);
    let installed: BTreeSet<&str> = inventory
        .iter()
        .filter_map(|provider| provider["metadata"]["name"].as_str())
        .collect();
    assert_eq!(
        installed,
        ["cluster-api", "control-plane-kubeadm", windlass::LABEL].into()
    );
    clusterctl.succeed(DELETE);
    assert_remaining(&plane.api, &[windlass::NAMESPACE], &[]);
}

fn from_another_registry(plane: &ControlPlane, clusterctl: &mut Clusterctl<'_>) {
    clusterctl.set(
        "images",
        json!({windlass::LABEL: {"repository": "registry.example.com/mirror", "tag": "v9.9.9"}}),
    );
    clusterctl.succeed(&["init", "--bootstrap", "windlass:v0.2.0"]);
    assert_eq!(
        manager_image(&plane.api, windlass::NAMESPACE),
        "registry.example.com/mirror/windlass-manager:v9.9.9"
    );
    clusterctl.set("images", json!({}));
    clusterctl.succeed(DELETE);
    assert_remaining(&plane.api, &[windlass::NAMESPACE], &[]);
}

/// clusterctl puts everything into the namespace. On deletion it takes cluster-wide roles only when
/// their names begin with that namespace, so ours, which begin with our own, stay.
fn into_another_namespace(plane: &ControlPlane, clusterctl: &Clusterctl<'_>) {
    clusterctl.succeed(&[
        "init",
        "--bootstrap",
        "windlass:v0.2.0",
        "--target-namespace",
        "elsewhere",
        "--wait-providers",
    ]);
    assert_eq!(
        installed_version(&plane.api, "elsewhere").as_deref(),
        Some("v0.2.0")
    );
    let certificate = plane
        .api
        .get(
            "cert-manager.io/v1",
            "Certificate",
            Some("elsewhere"),
            "windlass-serving-cert",
        )
        .unwrap();
    let names = json!([
        "windlass-webhook-service.elsewhere.svc",
        "windlass-webhook-service.elsewhere.svc.cluster.local"
    ]);
    assert_eq!(certificate["spec"]["dnsNames"], names);
    // All that a namespace is named in follows: webhooks and conversions can be redirected under
    // the new one.
    windlass::serve_webhooks(plane, "elsewhere");
    let binding = plane
        .api
        .get(
            "rbac.authorization.k8s.io/v1",
            "ClusterRoleBinding",
            None,
            "windlass-system-manager-rolebinding",
        )
        .unwrap();
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

/// `release build`, `repository add` of Cluster API, cert-manager and ours, `repository bundle`,
/// and at the other site `repository add` and then the command that it prints, to the letter, into
/// an empty cluster: cert-manager, core, both providers of kubeadm and ours are there and become
/// available, and nothing of it comes from a network.
fn from_an_added_repository(plane: &ControlPlane, clusterctl: &Clusterctl<'_>) {
    let folder = clusterctl.folder();
    let manifest = manifest();
    windlass::run(
        folder,
        &[
            "release",
            "build",
            "v0.2.0",
            "--to",
            "out",
            "--provider",
            &manifest,
        ],
    );
    let cluster_api = shared::cluster_api(installation::CLUSTER_API)
        .display()
        .to_string();
    let cert_manager = clusterctl.cert_manager().display().to_string();
    for (what, version) in [
        (&cluster_api, installation::CLUSTER_API),
        (&cert_manager, CERT_MANAGER_VERSION),
    ] {
        windlass::run(
            folder,
            &[
                "repository",
                "add",
                what,
                "--release",
                version,
                "--to",
                "repository-packed",
            ],
        );
    }
    windlass::run(
        folder,
        &["repository", "add", "out", "--to", "repository-packed"],
    );
    let packed = windlass::run(
        folder,
        &[
            "repository",
            "bundle",
            "repository-packed",
            "--write-to",
            "b.tar",
            "--deny",
            "bundle-implied-missing",
        ],
    );
    assert_eq!(packed.stdout, "b.tar\n");
    let added = windlass::run(
        folder,
        &["repository", "add", "b.tar", "--to", "repository-added"],
    );
    assert!(
        !added.stderr.contains("takes them from GitHub"),
        "{}",
        added.stderr
    );
    let words: Vec<&str> = added.stdout.split_whitespace().collect();
    let config = folder
        .join("repository-added/clusterctl.yaml")
        .canonicalize()
        .unwrap();
    let config = ["clusterctl", "init", "--config", config.to_str().unwrap()];
    assert_eq!(words[..4], config, "{}", added.stdout);
    for flag in [
        "--core cluster-api:v1.12.0",
        "--bootstrap kubeadm:v1.12.0,windlass:v0.2.0",
        "--control-plane kubeadm:v1.12.0",
    ] {
        assert!(added.stdout.contains(flag), "{}", added.stdout);
    }
    let listed = clusterctl.run_as_given(&[&["init", "list-images"], &words[2..]].concat());
    listed.assert_success("list-images");
    let theirs: BTreeSet<&str> = listed.stdout.lines().collect();
    let ours = windlass::run(folder, &["repository", "images", "repository-added"]);
    assert_eq!(ours.stdout.lines().collect::<BTreeSet<_>>(), theirs);
    let finished = clusterctl.run_as_given(&[&words[1..], &["--wait-providers"]].concat());
    finished.assert_success(&added.stdout);
    assert!(
        finished.stderr.contains("Installing cert-manager")
            && finished.stderr.contains(CERT_MANAGER_VERSION),
        "{}",
        finished.stderr
    );
    let inventory = plane
        .api
        .list("clusterctl.cluster.x-k8s.io/v1alpha3", "Provider", None);
    let installed: BTreeSet<&str> = inventory
        .iter()
        .filter_map(|provider| provider["metadata"]["name"].as_str())
        .collect();
    assert_eq!(
        installed,
        [
            "cluster-api",
            "bootstrap-kubeadm",
            "control-plane-kubeadm",
            "infrastructure-docker",
            windlass::LABEL
        ]
        .into()
    );
    assert_eq!(
        installed_version(&plane.api, windlass::NAMESPACE).as_deref(),
        Some("v0.2.0")
    );
    let released = std::fs::read(
        Path::new(&manifest)
            .with_file_name("releases/bootstrap-windlass/v0.2.0/bootstrap-components.yaml"),
    )
    .unwrap();
    let built = std::fs::read(
        folder.join("repository-added/bootstrap-windlass/v0.2.0/bootstrap-components.yaml"),
    )
    .unwrap();
    assert!(
        released == built,
        "releases/ is not what provider.yaml gives"
    );
}

fn init(clusterctl: &Clusterctl<'_>, cluster_api: &str) {
    let core = format!("cluster-api:{cluster_api}");
    let (control_plane, docker) = (
        format!("kubeadm:{cluster_api}"),
        format!("docker:{cluster_api}"),
    );
    let arguments = [
        "init",
        "--core",
        &core,
        "--bootstrap",
        "windlass:v0.1.0",
        "--control-plane",
        &control_plane,
        "--infrastructure",
        &docker,
    ];
    let finished = clusterctl.succeed(&[&arguments[..], &["--wait-providers"]].concat());
    assert!(
        finished.stderr.contains("initialized successfully"),
        "{}",
        finished.stderr
    );
}

fn manifest() -> String {
    shared::checkout()
        .join("provider.yaml")
        .canonicalize()
        .unwrap()
        .display()
        .to_string()
}

/// The version in clusterctl's inventory.
pub(super) fn installed_version(api: &ApiServer, namespace: &str) -> Option<String> {
    let found = api
        .get(
            "clusterctl.cluster.x-k8s.io/v1alpha3",
            "Provider",
            Some(namespace),
            windlass::LABEL,
        )
        .ok()?;
    Some(found["version"].as_str()?.to_owned())
}

fn deployment(api: &ApiServer, namespace: &str) -> Value {
    api.get(
        "apps/v1",
        "Deployment",
        Some(namespace),
        "windlass-controller-manager",
    )
    .unwrap()
}

/// The container of our manager.
fn manager(api: &ApiServer, namespace: &str) -> Value {
    let container = deployment(api, namespace)["spec"]["template"]["spec"]["containers"][0].clone();
    assert_eq!(container["name"], "manager");
    container
}

fn manager_image(api: &ApiServer, namespace: &str) -> String {
    manager(api, namespace)["image"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Everything in our namespace and everything that is called after us carries the labels that
/// clusterctl works with.
fn assert_all_labelled(api: &ApiServer) {
    let made_by_kubernetes = [
        "APIService",
        "Endpoints",
        "EndpointSlice",
        "Event",
        "Lease",
        "Pod",
        "ReplicaSet",
        "ControllerRevision",
    ];
    let of_namespace = ["ServiceAccount default", "ConfigMap kube-root-ca.crt"];
    for object in ours(api, &[windlass::NAMESPACE]) {
        let shown = shown(&object);
        if made_by_kubernetes
            .iter()
            .any(|kind| object["kind"] == *kind)
            || of_namespace.contains(&shown.as_str())
        {
            continue;
        }
        let labels = &object["metadata"]["labels"];
        assert_eq!(
            labels["cluster.x-k8s.io/provider"],
            windlass::LABEL,
            "{shown}: {labels}"
        );
        assert!(
            labels.get("clusterctl.cluster.x-k8s.io").is_some(),
            "{shown}: {labels}"
        );
    }
}

/// Waits until nothing is left of us but the given objects.
fn assert_remaining(api: &ApiServer, namespaces: &[&str], expected: &[&str]) {
    let expected: BTreeSet<&str> = expected.iter().copied().collect();
    wait::until("what clusterctl deletes to be gone", SOON, || {
        let left: BTreeSet<String> = ours(api, namespaces).iter().map(shown).collect();
        let left: BTreeSet<&str> = left.iter().map(String::as_str).collect();
        if left == expected {
            Ok(())
        } else {
            Err(format!("left: {left:?}"))
        }
    });
}

/// Every object of the cluster that is in one of the namespaces, or carries our label, or has our
/// name in its own.
fn ours(api: &ApiServer, namespaces: &[&str]) -> Vec<Value> {
    let is_ours = |object: &Value| {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str().unwrap_or_default();
        let name = metadata["name"].as_str().unwrap_or_default();
        let is_namespace = object["kind"] == "Namespace" && namespaces.contains(&name);
        let labelled = metadata["labels"]["cluster.x-k8s.io/provider"] == windlass::LABEL;
        // Events outlive what they are about.
        object["kind"] != "Event"
            && (is_namespace
                || labelled
                || namespaces.contains(&namespace)
                || name.contains("windlass"))
    };
    api.everything().into_iter().filter(is_ours).collect()
}

fn shown(object: &Value) -> String {
    format!(
        "{} {}",
        object["kind"].as_str().unwrap_or_default(),
        object["metadata"]["name"].as_str().unwrap_or_default()
    )
}
