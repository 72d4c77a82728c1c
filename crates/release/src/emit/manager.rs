//! The Namespace and the Deployment of the manager (book: clusterctl, "Target namespace",
//! "Controllers & Watching namespace"; ports and probes from `windlass_capi::contract::manager`).

use serde_json::{Map, Value, json};

use super::names::Names;
use windlass_capi::contract::{MANAGER_CONTAINER, labels, manager as face};
use windlass_provider::{EnvVar, Manager, ManagerPorts, Object, ObjectMetadata};

const SELECTOR: &str = "controller-manager";
const CERTIFICATE_VOLUME: &str = "cert";

/// The Namespace of the components, with further labels and annotations. The provider's own label
/// is put on it like on everything else.
pub fn namespace(names: &Names, own: Option<&ObjectMetadata>) -> Value {
    let mut metadata =
        json!({"name": names.namespace, "labels": {labels::KUBEBUILDER_CONTROL_PLANE: SELECTOR}});
    for (key, value) in own.into_iter().flat_map(|own| &own.labels) {
        metadata["labels"][key] = json!(value);
    }
    let annotations = own
        .map(|own| &own.annotations)
        .filter(|annotations| !annotations.is_empty());
    insert_some(
        &mut metadata,
        "annotations",
        annotations.map(|annotations| json!(annotations)),
    );
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
}

/// The Deployment of the manager: container `manager`, restricted Pod Security, probes, ports,
/// tolerations for control plane nodes. `label` is the provider label, `image` the image with tag
/// or digest, `with_webhooks` mounts the certificate and opens its port.
pub fn deployment(
    names: &Names,
    label: &str,
    manager: &Manager,
    image: &str,
    with_webhooks: bool,
) -> Value {
    let pod_labels = json!({labels::PROVIDER: label, labels::KUBEBUILDER_CONTROL_PLANE: SELECTOR});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": names.deployment(),
            "namespace": names.namespace,
            "labels": {labels::KUBEBUILDER_CONTROL_PLANE: SELECTOR},
        },
        "spec": {
            "replicas": manager.replicas.unwrap_or(1),
            "selector": {"matchLabels": pod_labels},
            "template": {
                "metadata": {"labels": pod_labels},
                "spec": pod(names, manager, image, with_webhooks),
            },
        },
    })
}

fn pod(names: &Names, manager: &Manager, image: &str, with_webhooks: bool) -> Value {
    let mut containers = vec![container(manager, image, with_webhooks)];
    containers.extend(manager.sidecars.iter().cloned().map(Value::Object));
    let mut pod = json!({
        "containers": containers,
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "serviceAccountName": names.service_account,
        "terminationGracePeriodSeconds": 10,
        "tolerations": tolerations(&manager.tolerations),
    });
    let mut volumes = Vec::new();
    if with_webhooks {
        volumes.push(json!({"name": CERTIFICATE_VOLUME, "secret": {"secretName": names.certificate_secret()}}));
    }
    volumes.extend(manager.volumes.iter().cloned().map(Value::Object));
    insert_list(&mut pod, "volumes", volumes);
    insert_some(
        &mut pod,
        "affinity",
        manager.affinity.clone().map(Value::Object),
    );
    pod
}

fn container(manager: &Manager, image: &str, with_webhooks: bool) -> Value {
    let ports = ports(manager.ports.unwrap_or_default(), with_webhooks);
    let mut container = json!({
        "name": MANAGER_CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": environment(&manager.env),
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "privileged": false,
            "runAsGroup": face::USER,
            "runAsUser": face::USER,
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
    });
    if ports.iter().any(|port| port["name"] == face::HEALTH.name) {
        let probe = |path: &str| json!({"httpGet": {"path": path, "port": face::HEALTH.name}});
        container["livenessProbe"] = probe(face::LIVENESS_PATH);
        container["readinessProbe"] = probe(face::READINESS_PATH);
    }
    insert_list(
        &mut container,
        "command",
        manager.command.iter().map(|word| json!(word)).collect(),
    );
    insert_list(
        &mut container,
        "args",
        manager.args.iter().map(|word| json!(word)).collect(),
    );
    insert_list(&mut container, "ports", ports);
    insert_some(
        &mut container,
        "resources",
        manager.resources.clone().map(Value::Object),
    );
    let mut mounts = Vec::new();
    if with_webhooks {
        mounts.push(json!({"mountPath": face::CERTIFICATE_FOLDER, "name": CERTIFICATE_VOLUME, "readOnly": true}));
    }
    mounts.extend(manager.volume_mounts.iter().cloned().map(Value::Object));
    insert_list(&mut container, "volumeMounts", mounts);
    container
}

fn ports(given: ManagerPorts, with_webhooks: bool) -> Vec<Value> {
    let webhook = with_webhooks.then_some((face::WEBHOOK, given.webhook));
    let all = webhook
        .into_iter()
        .chain([(face::HEALTH, given.health), (face::METRICS, given.metrics)]);
    all.map(|(port, number)| (port.name, number.unwrap_or(port.number)))
        .filter(|(_, number)| *number != 0)
        .map(|(name, number)| json!({"containerPort": number, "name": name, "protocol": "TCP"}))
        .collect()
}

/// The three variables by which a manager learns who it is, then the provider's own, which win.
pub fn environment(own: &[EnvVar]) -> Vec<Value> {
    let known = [
        ("POD_NAMESPACE", "metadata.namespace"),
        ("POD_NAME", "metadata.name"),
        ("POD_UID", "metadata.uid"),
    ];
    let from_pod = known
        .into_iter()
        .filter(|(name, _)| own.iter().all(|variable| variable.name != *name))
        .map(|(name, path)| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}));
    from_pod
        .chain(own.iter().map(|variable| json!(variable)))
        .collect()
}

fn tolerations(own: &[Object]) -> Vec<Value> {
    let control_plane = [
        "node-role.kubernetes.io/master",
        "node-role.kubernetes.io/control-plane",
    ];
    control_plane
        .into_iter()
        .map(|key| json!({"effect": "NoSchedule", "key": key}))
        .chain(own.iter().cloned().map(Value::Object))
        .collect()
}

fn insert_list(object: &mut Value, key: &str, list: Vec<Value>) {
    insert_some(
        object,
        key,
        (!list.is_empty()).then_some(Value::Array(list)),
    );
}

fn insert_some(object: &mut Value, key: &str, value: Option<Value>) {
    if let (Some(map), Some(value)) = (object.as_object_mut(), value) {
        Map::insert(map, key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kubernetes, "Pod Security Standards", restricted: no root, no escalation, no capabilities,
    /// the runtime's seccomp profile.
    #[test]
    fn pod_meets_the_restricted_standard() {
        let deployment = deployment(
            &Names::of_foo(),
            "bootstrap-foo",
            &Manager::default(),
            "ghcr.io/foo/manager:v0.1.0",
            true,
        );
        let pod = &deployment["spec"]["template"]["spec"];
        assert_eq!(
            pod["securityContext"],
            json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
        );
        let container = &pod["containers"][0];
        assert_eq!(container["name"], "manager");
        assert_eq!(
            container["securityContext"]["allowPrivilegeEscalation"],
            json!(false)
        );
        assert_eq!(
            container["securityContext"]["capabilities"],
            json!({"drop": ["ALL"]})
        );
    }

    #[test]
    fn selector_matches_the_pods() {
        let deployment = deployment(
            &Names::of_foo(),
            "bootstrap-foo",
            &Manager::default(),
            "x",
            false,
        );
        let spec = &deployment["spec"];
        assert_eq!(
            spec["selector"]["matchLabels"],
            spec["template"]["metadata"]["labels"]
        );
        assert_eq!(
            spec["selector"]["matchLabels"]["cluster.x-k8s.io/provider"],
            "bootstrap-foo"
        );
    }

    #[test]
    fn port_zero_takes_the_probes_away() {
        let manager = Manager {
            ports: Some(ManagerPorts {
                health: Some(0),
                metrics: Some(8080),
                webhook: None,
            }),
            ..Manager::default()
        };
        let container = container(&manager, "x", false);
        assert_eq!(
            container["ports"],
            json!([{"containerPort": 8080, "name": "metrics", "protocol": "TCP"}])
        );
        assert_eq!(container.get("livenessProbe"), None);
    }

    #[test]
    fn own_environment_wins() {
        let own = [EnvVar {
            name: "POD_NAME".to_owned(),
            value: Some("x".to_owned()),
            value_from: None,
        }];
        let names: Vec<_> = environment(&own)
            .iter()
            .map(|v| v["name"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(
            names,
            ["POD_NAMESPACE", "POD_UID", "POD_NAME"].map(|n| Some(n.to_owned()))
        );
    }
}
