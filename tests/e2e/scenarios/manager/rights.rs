//! Least rights: each verb of the release's roles is needed, and no other is asked for. The API
//! server's audit log is the witness.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::uncontrolled::{
    BOOTSTRAP, CORE, Machine, a_cluster_in, a_cluster_without_control_plane, give_config,
};
use crate::harness::api_server::ApiServer;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{audit, components, installation, ports, shared, windlass, windlass_manager};

const LONG: Duration = Duration::from_secs(150);
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
const CLUSTER_ROLE: &str = "windlass-system-manager-role";
const ROLE: &str = "windlass-leader-election-role";

/// A verb on a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Right {
    group: String,
    resource: String,
    verb: String,
}

/// A manager with its own service account and namespace: the release's, or one that lacks a right.
struct Manager {
    account: String,
    namespace: String,
    /// Where its Lease is.
    home: String,
    lacks: Option<Right>,
    metrics: ApiServer,
}

/// One manager has the release's roles, and for each verb of them another one lacks just that. In a
/// namespace each they meet all that a role is for. The first is rejected nothing and uses every
/// right; each other one is rejected what it lacks, and nothing else.
pub(crate) fn each_right_is_needed_and_no_other(context: &Context) {
    // The garbage collector would take the owner that is not there from the config of `pooled`,
    // sooner than a manager sees it.
    let plane = context.servers_alone();
    installation::kinds_alone(&plane);
    install_control_plane_kind(&plane);
    windlass::serve_webhooks(&plane, windlass::NAMESPACE);
    let everywhere = plane
        .api
        .get(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            None,
            CLUSTER_ROLE,
        )
        .unwrap()["rules"]
        .clone();
    let at_home = plane
        .api
        .get(
            "rbac.authorization.k8s.io/v1",
            "Role",
            Some(windlass::NAMESPACE),
            ROLE,
        )
        .unwrap()["rules"]
        .clone();
    let rights: BTreeSet<Right> = [rights_of(&everywhere), rights_of(&at_home)]
        .concat()
        .into_iter()
        .collect();
    println!("  {} rights", rights.len());
    let mut managers = vec![start(
        &plane,
        windlass_manager::SERVICE_ACCOUNT,
        windlass::NAMESPACE,
        "whole",
        None,
    )];
    for (at, right) in rights.iter().enumerate() {
        let name = format!("without-{at:02}");
        namespace(&plane, &name);
        give_roles(
            &plane,
            &name,
            &without(&everywhere, right),
            &without(&at_home, right),
        );
        managers.push(start(&plane, &name, &name, &name, Some(right.clone())));
    }
    let began = Instant::now();
    while let Some(missing) = missing(&plane, &managers, &rights) {
        assert!(began.elapsed() < LONG, "not met: {missing}");
        managers
            .iter()
            .for_each(|manager| meet_again(&plane, manager));
        std::thread::sleep(Duration::from_millis(500));
    }
    for asked in audit::asked(&plane) {
        let manager = managers
            .iter()
            .find(|manager| manager.account == asked.account)
            .unwrap();
        assert!(
            asked.is_allowed || manager.lacks.as_ref() == Some(&right_of(&asked)),
            "{} was rejected something else",
            asked.account
        );
        // Reviews are of no namespace.
        let is_review = asked.resource.ends_with("reviews");
        assert!(
            is_review || [&manager.namespace, &manager.home].contains(&&asked.namespace),
            "{asked:?} is not its affair"
        );
    }
}

/// The rights of a role's rules, of which each has one group and one resource.
fn rights_of(rules: &Value) -> Vec<Right> {
    let texts = |list: &Value| {
        list.as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let of_rule = |rule: &Value| {
        let ([group], [resource]) = (
            &texts(&rule["apiGroups"])[..],
            &texts(&rule["resources"])[..],
        ) else {
            panic!("{rule}")
        };
        let right = |verb| Right {
            group: group.clone(),
            resource: resource.clone(),
            verb,
        };
        texts(&rule["verbs"])
            .into_iter()
            .map(right)
            .collect::<Vec<_>>()
    };
    rules.as_array().unwrap().iter().flat_map(of_rule).collect()
}

fn right_of(asked: &audit::Asked) -> Right {
    Right {
        group: asked.group.clone(),
        resource: asked.resource.clone(),
        verb: asked.verb.clone(),
    }
}

/// The rules without one of their rights.
fn without(rules: &Value, right: &Right) -> Value {
    let mut rules = rules.clone();
    for rule in rules.as_array_mut().unwrap() {
        if rule["apiGroups"][0] == right.group && rule["resources"][0] == right.resource {
            rule["verbs"]
                .as_array_mut()
                .unwrap()
                .retain(|verb| *verb != right.verb);
        }
    }
    // A rule needs a verb.
    rules.as_array_mut().unwrap().retain(|rule| {
        rule["verbs"]
            .as_array()
            .is_some_and(|verbs| !verbs.is_empty())
    });
    rules
}

/// A service account of a name, and its roles, those for its home in the namespace of that name.
fn give_roles(plane: &ControlPlane, name: &str, everywhere: &Value, at_home: &Value) {
    const RBAC: &str = "rbac.authorization.k8s.io";
    let metadata = json!({"name": name, "namespace": windlass::NAMESPACE});
    plane
        .api
        .create(&json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}))
        .unwrap();
    let account = json!({"kind": "ServiceAccount", "name": name, "namespace": windlass::NAMESPACE});
    for (role, rules, namespace) in [
        ("ClusterRole", everywhere, None),
        ("Role", at_home, Some(name)),
    ] {
        let mut metadata = json!({ "name": name });
        if let Some(namespace) = namespace {
            metadata["namespace"] = json!(namespace);
        }
        plane.api.create(&json!({"apiVersion": format!("{RBAC}/v1"), "kind": role, "metadata": metadata, "rules": rules})).unwrap();
        let binding = json!({
            "apiVersion": format!("{RBAC}/v1"), "kind": format!("{role}Binding"), "metadata": metadata,
            "roleRef": {"apiGroup": RBAC, "kind": role, "name": name}, "subjects": [account],
        });
        plane.api.create(&binding).unwrap();
    }
}

fn start(
    plane: &ControlPlane,
    account: &str,
    home: &str,
    namespace_name: &str,
    lacks: Option<Right>,
) -> Manager {
    if lacks.is_none() {
        namespace(plane, namespace_name);
    }
    fill(plane, namespace_name);
    let port = ports::free();
    let arguments = [
        "--leader-elect".to_owned(),
        format!("--namespace={namespace_name}"),
        "--webhook-port=0".to_owned(),
        "--health-addr=".to_owned(),
        format!("--diagnostics-address=127.0.0.1:{port}"),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    plane.adopt(windlass_manager::spawn(
        plane,
        namespace_name,
        account,
        home,
        &arguments,
    ));
    let metrics = metrics_of(plane, account, port);
    Manager {
        account: account.to_owned(),
        namespace: namespace_name.to_owned(),
        home: home.to_owned(),
        lacks,
        metrics,
    }
}

fn namespace(plane: &ControlPlane, name: &str) {
    plane
        .api
        .create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
        .unwrap();
}

/// Somebody with a token who asks for metrics.
fn metrics_of(plane: &ControlPlane, account: &str, port: u16) -> ApiServer {
    let (_, kubeconfig) = plane.service_account(windlass::NAMESPACE, account);
    let mut document: Value = serde_json::from_slice(&std::fs::read(&kubeconfig).unwrap()).unwrap();
    document["clusters"][0]["cluster"] =
        json!({"server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true});
    let file = plane.folder().join(format!("metrics-{account}"));
    std::fs::write(&file, document.to_string()).unwrap();
    plane.client(&file)
}

/// The kind of a control plane, in the version that is stored.
fn install_control_plane_kind(plane: &ControlPlane) {
    let file = shared::cluster_api(installation::CLUSTER_API).join("control-plane-components.yaml");
    let all = components::documents(
        "control-plane-components.yaml",
        std::fs::read_to_string(file).unwrap(),
    );
    let is_it = |crd: &&Value| {
        crd["kind"] == "CustomResourceDefinition"
            && crd["spec"]["names"]["kind"] == "KubeadmControlPlane"
    };
    let mut crd = all.iter().find(is_it).unwrap().clone();
    crd["spec"].as_object_mut().unwrap().remove("conversion");
    plane.api.create(&crd).unwrap();
}

/// Everything that a right is for, in a namespace.
fn fill(plane: &ControlPlane, namespace: &str) {
    let control_plane =
        json!({"apiGroup": CONTROL_PLANE, "kind": "KubeadmControlPlane", "name": "kcp"});
    a_cluster_in(plane, namespace, &json!({"controlPlaneRef": control_plane}));
    let machines = json!({"infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Any", "name": "any"}});
    components::give(
        plane,
        &json!({
            "apiVersion": format!("{CONTROL_PLANE}/v1beta2"), "kind": "KubeadmControlPlane",
            "metadata": {"name": "kcp", "namespace": namespace},
            "spec": {"replicas": 1, "version": "v1.34.1", "kubeadmConfigSpec": {"format": "cloud-config"}, "machineTemplate": {"spec": machines}},
        }),
        LONG,
        |_| false,
    );
    let worker = |cluster| Machine {
        namespace,
        cluster,
        kubernetes: "v1.34.1",
        version: "v1beta2",
        labels: json!({}),
    };
    let give = |machine: Machine<'_>, name: &str, spec: Value| {
        machine
            .give(plane, name, &spec)
            .unwrap_or_else(|rejection| panic!("{rejection}"))
    };
    // Its file names the version of the control plane.
    let template = json!({"path": "/a", "content": "{{ .ControlPlane.Version }}", "contentFormat": "Template"});
    let joins = json!({"joinConfiguration": {"nodeRegistration": {"taints": []}}});
    let mut with_template = joins.clone();
    with_template["files"] = json!([template]);
    give(worker("c"), "w", with_template);
    // A restored Secret, which nobody controls, and one that has no data.
    data_secret(plane, namespace, "restored", json!({"value": "eA=="}));
    give(worker("c"), "restored", joins.clone());
    data_secret(plane, namespace, "empty", json!({}));
    give(worker("c"), "empty", joins.clone());
    // Machines and MachinePools and Clusters that are not there (yet).
    give(worker("nowhere"), "lost", joins.clone());
    pooled(plane, namespace, &joins);
    a_cluster_without_control_plane(plane, namespace);
    leave_a_lock(plane, namespace);
    let labels = json!({"cluster.x-k8s.io/control-plane": ""});
    let init = json!({"clusterConfiguration": {"encryptionAlgorithm": "ECDSA-P256"}, "initConfiguration": {"nodeRegistration": {"taints": []}}});
    give(
        Machine {
            labels,
            ..worker("d")
        },
        "first",
        init,
    );
}

pub(super) fn data_secret(plane: &ControlPlane, namespace: &str, name: &str, data: Value) {
    let metadata = json!({"name": name, "namespace": namespace});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": metadata, "data": data});
    plane.api.create(&secret).unwrap();
}

/// A config of a MachinePool that is not there.
fn pooled(plane: &ControlPlane, namespace: &str, spec: &Value) {
    let owner = json!({"apiVersion": CORE, "kind": "MachinePool", "name": "nobody", "uid": "11111111-1111-1111-1111-111111111111", "controller": true});
    let config = json!({
        "apiVersion": BOOTSTRAP, "kind": "WindlassConfig", "spec": spec,
        "metadata": {"name": "pooled", "namespace": namespace, "ownerReferences": [owner]},
    });
    give_config(plane, &config).unwrap_or_else(|rejection| panic!("{rejection}"));
}

/// A lock of the Cluster without control plane, of a machine that is gone.
fn leave_a_lock(plane: &ControlPlane, namespace: &str) {
    let lock = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d-lock", "namespace": namespace},
        "data": {"lock-information": json!({"machineName": "gone"}).to_string()},
    });
    plane.api.create(&lock).unwrap();
}

/// What happens again and again: somebody asks for metrics, and a token goes before its machine has
/// joined.
fn meet_again(plane: &ControlPlane, manager: &Manager) {
    drop(manager.metrics.read("/metrics"));
    let Ok(config) = plane
        .api
        .get(BOOTSTRAP, "WindlassConfig", Some(&manager.namespace), "w")
    else {
        return;
    };
    let token =
        config["spec"]["joinConfiguration"]["discovery"]["bootstrapToken"]["token"].as_str();
    let Some((id, _)) = token.and_then(|token| token.split_once('.')) else {
        return;
    };
    if config["status"]["dataSecretName"].is_null() {
        return;
    }
    let metadata = json!({"name": format!("bootstrap-token-{id}"), "namespace": "kube-system"});
    drop(
        plane
            .api
            .delete(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})),
    );
    let touched =
        json!({"metadata": {"annotations": {"touched": format!("{:?}", Instant::now())}}});
    drop(plane.api.merge(&config, &touched));
}

/// A right that was not used by who has it, or not missed by who lacks it.
fn missing(plane: &ControlPlane, managers: &[Manager], rights: &BTreeSet<Right>) -> Option<String> {
    let asked = audit::asked(plane);
    let of = |account: &str, is_allowed: bool| -> BTreeSet<Right> {
        asked
            .iter()
            .filter(|asked| asked.account == account && asked.is_allowed == is_allowed)
            .map(right_of)
            .collect()
    };
    let used = of(windlass_manager::SERVICE_ACCOUNT, true);
    if let Some(unused) = rights.iter().find(|right| !used.contains(right)) {
        return Some(format!("nobody used {unused:?}"));
    }
    managers.iter().find_map(|manager| {
        let lacks = manager.lacks.as_ref()?;
        (!of(&manager.account, false).contains(lacks))
            .then(|| format!("{} did not miss {lacks:?}", manager.account))
    })
}
