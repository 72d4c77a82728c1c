//! Cluster API's own core manager and ours: each reads what the other writes, in the version of the
//! contract that the core knows.

mod cluster;
mod infrastructure;

use std::time::Duration;

use serde_json::{Value, json};
use windlass_capi::api::names::Version;

use crate::harness::control_plane::ControlPlane;
use crate::harness::managers::{self, CORE};
use crate::harness::process::Process;
use crate::harness::runner::Context;
use crate::harness::{
    components, ports, redirect, shared, wait, windlass as ours, windlass_manager,
};
use cluster::{CLUSTER, Cluster};

const SOON: Duration = Duration::from_secs(60);

/// Core v1.12.0, contract v1beta2.
pub(crate) fn core_v1_12(context: &Context) {
    core(context, "v1.12.0", "v1beta2");
}

/// Core v1.14.0, contract v1beta2.
pub(crate) fn core_v1_14(context: &Context) {
    core(context, "v1.14.0", "v1beta2");
}

/// Core v1.10.10 knows contract v1beta1 only, and reads our objects in v1beta1 through the
/// conversion.
pub(crate) fn core_v1_10(context: &Context) {
    core(context, "v1.10.10", "v1beta1");
}

/// The core goes from v1.10.10 to v1.12.0 under our manager, which has read it in v1beta1 so far,
/// and reads it in v1beta2 then: what has data keeps it, and a further Machine of the same
/// MachineDeployment gets its own.
pub(crate) fn core_is_upgraded(context: &Context) {
    const OLD: &str = "v1.10.10";
    const NEW: &str = "v1.12.0";
    let plane = plane_with(context, OLD);
    let mut manager =
        windlass_manager::start(&plane, "windlass-manager", &["--leader-elect"]).process;
    let (mut old, port) = start_core(&plane, OLD);
    let cluster = Cluster {
        plane: &plane,
        version: "v1beta1",
    };
    cluster.create_cluster();
    machine_moves_on(&cluster);
    machine_deployment_clones_the_template(&cluster);
    let secrets = data_secrets(&plane);
    assert_eq!(secrets.len(), 3, "{secrets:?}");

    old.stop();
    redirect::back_to_service(&plane, port, CORE.namespace, CORE.service);
    components::apply(
        &plane,
        &shared::cluster_api(NEW).join("core-components.yaml"),
    );
    let (new, _) = start_core(&plane, NEW);
    plane.adopt(new);
    manager.until_it_says(SOON, "is read in another version from now on");
    let cluster = Cluster {
        version: "v1beta2",
        ..cluster
    };
    let deployment = cluster.expect("MachineDeployment", "md", "has its workers", |deployment| {
        deployment["status"]["readyReplicas"] == 2
    });
    plane
        .api
        .merge(&deployment, &json!({"spec": {"replicas": 3}}))
        .unwrap();
    for clone in clones(&cluster, "md", 3) {
        assert!(
            cluster
                .expect_data(clone["metadata"]["name"].as_str().unwrap())
                .contains("kubeadm join")
        );
    }
    let after = data_secrets(&plane);
    assert!(
        after.len() == 4 && secrets.iter().all(|known| after.contains(known)),
        "{secrets:?} became {after:?}"
    );
    manager.assert_running();
    plane.adopt(manager);
    deletion_takes_our_objects_along(&cluster);
}

/// Uids and versions of the Secrets with data.
fn data_secrets(plane: &ControlPlane) -> Vec<(String, String)> {
    let secrets = plane.api.list("v1", "Secret", Some("default")).into_iter();
    let of_configs = secrets
        .filter(|secret| secret["metadata"]["ownerReferences"][0]["kind"] == "WindlassConfig");
    of_configs
        .map(|secret| {
            (
                secret["metadata"]["uid"].to_string(),
                secret["metadata"]["resourceVersion"].to_string(),
            )
        })
        .collect()
}

/// The core's manager, and the port of its webhooks.
fn start_core(plane: &ControlPlane, release: &str) -> (Process, u16) {
    let [webhooks, health] = [ports::free(), ports::free()];
    let mut process = managers::spawn(
        plane,
        release,
        &CORE,
        &CORE.program(release),
        [webhooks, health],
        &["--leader-elect=false"],
    );
    wait::until("the core", SOON, || {
        process.assert_running();
        managers::healthy(health)
    });
    managers::redirect(plane, &[(&CORE, webhooks)]);
    (process, webhooks)
}

/// A control plane with the kinds of a release of the core, ours, and those of an infrastructure.
fn plane_with(context: &Context, release: &str) -> ControlPlane {
    let plane = context.control_plane();
    components::apply(
        &plane,
        &shared::cluster_api(release).join("core-components.yaml"),
    );
    let our_release = shared::checkout()
        .join("releases")
        .join(ours::LABEL)
        .join(ours::VERSION);
    components::apply(&plane, &our_release.join("bootstrap-components.yaml"));
    infrastructure::install(&plane);
    plane
}

fn core(context: &Context, release: &str, version: &str) {
    let plane = plane_with(context, release);
    plane.adopt(windlass_manager::start(&plane, "windlass-manager", &["--leader-elect"]).process);
    managers::start(&plane, release, &[CORE]);

    let cluster = Cluster {
        plane: &plane,
        version,
    };
    cluster.create_cluster();
    machine_moves_on(&cluster);
    machine_deployment_clones_the_template(&cluster);
    machine_pool_moves_on(&cluster);
    deletion_takes_our_objects_along(&cluster);
}

/// A control plane Machine with a config of its own.
fn machine_moves_on(cluster: &Cluster<'_>) {
    cluster.create(&config(
        "WindlassConfig",
        "cp",
        json!({"initConfiguration": {"nodeRegistration": {"name": "cp"}}}),
    ));
    cluster.create_machine("cp", &json!({"cluster.x-k8s.io/control-plane": ""}));
    let config = owned(cluster, "cp", "Machine", "cp");
    assert_eq!(
        config["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"],
        CLUSTER
    );
    assert!(cluster.expect_data("cp").contains("kubeadm init"));
    cluster.expect("Machine", "cp", "takes the name of the Secret", |machine| {
        machine["spec"]["bootstrap"]["dataSecretName"] == "cp"
    });
    cluster.boot("cp");
    cluster.expect("Machine", "cp", "runs", |machine| {
        machine["status"]["phase"] == "Running" && machine["status"]["nodeRef"]["name"] == "cp"
    });
    cluster.expect("Cluster", CLUSTER, "is provisioned", |cluster| {
        cluster["status"]["phase"] == "Provisioned"
    });
}

fn machine_deployment_clones_the_template(cluster: &Cluster<'_>) {
    let spec = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}, "preKubeadmCommands": ["true"]});
    let metadata =
        json!({"labels": {"from": "template"}, "annotations": {"note": "from template"}});
    cluster.create(&config(
        "WindlassConfigTemplate",
        "md",
        json!({"template": {"metadata": metadata, "spec": spec}}),
    ));
    cluster.create_machine_deployment("md", 2);
    for clone in clones(cluster, "md", 2) {
        let name = clone["metadata"]["name"].as_str().unwrap();
        let data = cluster.expect_data(name);
        let mut own = cluster.config(name)["spec"].clone();
        let token = own["joinConfiguration"]
            .as_object_mut()
            .unwrap()
            .remove("discovery")
            .unwrap();
        assert!(
            data.contains("kubeadm join")
                && data.contains(token["bootstrapToken"]["token"].as_str().unwrap()),
            "{data}"
        );
        assert_eq!(own, spec, "nothing else is written into it");
        let (labels, annotations) = (
            &clone["metadata"]["labels"],
            &clone["metadata"]["annotations"],
        );
        assert_eq!(
            annotations["cluster.x-k8s.io/cloned-from-groupkind"],
            "WindlassConfigTemplate.bootstrap.windlass.dev"
        );
        assert_eq!(labels["cluster.x-k8s.io/cluster-name"], CLUSTER);
        assert_eq!(labels["cluster.x-k8s.io/deployment-name"], "md");
        assert_eq!(
            labels["pier"], "md",
            "labels of the MachineDeployment's template"
        );
        assert_eq!(labels["from"], "template", "metadata of our template");
        assert_eq!(annotations["note"], "from template");
        // Machines are called as their configs since v1.5 or so; the owner says it for certain.
        let machine = machine_of(cluster, name);
        let infrastructure = cluster.expect("Machine", &machine, "has infrastructure", |machine| {
            machine["spec"]["infrastructureRef"]["name"].is_string()
        });
        cluster.expect(
            "Machine",
            &machine,
            "takes the name of the Secret",
            |machine| machine["spec"]["bootstrap"]["dataSecretName"] == name,
        );
        cluster.boot(
            infrastructure["spec"]["infrastructureRef"]["name"]
                .as_str()
                .unwrap(),
        );
        cluster.expect("Machine", &machine, "runs", |machine| {
            machine["status"]["phase"] == "Running"
        });
    }
    cluster.expect("MachineDeployment", "md", "is complete", |deployment| {
        deployment["status"]["readyReplicas"] == 2
    });
    let template = cluster
        .plane
        .api
        .get(
            &Version::V1Beta2.api_version(),
            "WindlassConfigTemplate",
            Some("default"),
            "md",
        )
        .unwrap();
    assert_eq!(
        template["metadata"]["ownerReferences"][0]["kind"], "Cluster",
        "so that `clusterctl move` takes it along"
    );
}

/// Waits until so many configs have been made from a template.
fn clones(cluster: &Cluster<'_>, template: &str, count: usize) -> Vec<Value> {
    wait::until(&format!("{count} configs"), SOON, || {
        let all = cluster.plane.api.list(
            &Version::V1Beta2.api_version(),
            "WindlassConfig",
            Some("default"),
        );
        let is_of_it = |config: &Value| {
            config["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-name"] == template
        };
        let clones: Vec<Value> = all.into_iter().filter(is_of_it).collect();
        if clones.len() == count {
            Ok(clones)
        } else {
            Err(format!("{} configs", clones.len()))
        }
    })
}

fn machine_pool_moves_on(cluster: &Cluster<'_>) {
    cluster.create(&config(
        "WindlassConfig",
        "mp",
        json!({"joinConfiguration": {"nodeRegistration": {"name": "mp"}}}),
    ));
    cluster.create_machine_pool("mp", 1);
    let config = owned(cluster, "mp", "MachinePool", "mp");
    assert_eq!(
        config["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"],
        CLUSTER
    );
    assert!(cluster.expect_data("mp").contains("kubeadm join"));
    let secret =
        |pool: &Value| pool["spec"]["template"]["spec"]["bootstrap"]["dataSecretName"] == "mp";
    cluster.expect("MachinePool", "mp", "takes the name of the Secret", secret);
    let (spec, status) = (
        json!({"providerIDList": ["berth://mp-0"]}),
        json!({"replicas": 1}),
    );
    cluster.join("mp-0", "berth://mp-0");
    infrastructure::provision(cluster.plane, "BerthMachinePool", "mp", &spec, &status);
    cluster.expect("MachinePool", "mp", "runs", |pool| {
        pool["status"]["phase"] == "Running"
    });
}

/// The core deletes what it cloned and what belongs to Machines: it has the verbs, and nothing of
/// ours holds it up.
fn deletion_takes_our_objects_along(cluster: &Cluster<'_>) {
    let object = json!({"apiVersion": cluster.api_version(), "kind": "Cluster", "metadata": {"name": CLUSTER, "namespace": "default"}});
    cluster.plane.api.delete(&object).unwrap();
    wait::until(
        "everything of the Cluster to be gone",
        Duration::from_secs(120),
        || {
            cluster.plane.assert_running();
            let kinds = [
                ("WindlassConfig", Version::V1Beta2.api_version()),
                ("WindlassConfigTemplate", Version::V1Beta2.api_version()),
                ("Cluster", cluster.api_version()),
            ];
            let left: Vec<String> = kinds
                .iter()
                .flat_map(|(kind, api_version)| {
                    cluster.plane.api.list(api_version, kind, Some("default"))
                })
                .map(|object| format!("{} {}", object["kind"], object["metadata"]["name"]))
                .collect();
            if left.is_empty() {
                Ok(())
            } else {
                Err(format!("left: {left:?}"))
            }
        },
    );
}

fn config(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": Version::V1Beta2.api_version(), "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec})
}

/// Waits until the config has the controller owner that the core gives it.
fn owned(cluster: &Cluster<'_>, config: &str, kind: &str, name: &str) -> Value {
    wait::until(
        &format!("{config} to be owned by {kind} {name}"),
        SOON,
        || {
            cluster.plane.assert_running();
            let found = cluster.config(config);
            let owners = found["metadata"]["ownerReferences"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let is_owner = |owner: &Value| {
                owner["kind"] == kind && owner["name"] == name && owner["controller"] == true
            };
            if owners.iter().any(is_owner) {
                Ok(found)
            } else {
                Err(format!("owners: {owners:?}"))
            }
        },
    )
}

/// The Machine that controls a config.
fn machine_of(cluster: &Cluster<'_>, config: &str) -> String {
    wait::until(&format!("{config} to be owned by a Machine"), SOON, || {
        let owners = cluster.config(config)["metadata"]["ownerReferences"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let machine = owners
            .iter()
            .find(|owner| owner["kind"] == "Machine" && owner["controller"] == true);
        machine
            .and_then(|owner| owner["name"].as_str())
            .map(str::to_owned)
            .ok_or_else(|| format!("owners: {owners:?}"))
    })
}
