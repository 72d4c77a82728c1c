//! What every object of a release gets: the provider label, the namespace, a name with the right prefix; and the references that
//! follow such names (book: clusterctl, "Labels", "Target namespace").

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::names::Names;
use super::object::Object;
use crate::contract::labels;

/// Kinds that exist outside namespaces. clusterctl knows only some of them and gives all others a namespace.
const CLUSTER_WIDE: &[&str] = &[
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterIssuer",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "FlowSchema",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "RuntimeClass",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
];

/// Whether objects of a kind live in a namespace.
pub fn is_namespaced(kind: &str) -> bool {
    CLUSTER_WIDE.binary_search(&kind).is_err()
}

/// Puts the provider label on an object; it replaces one that is there.
pub fn label(object: &mut Value, provider: &str) {
    set_label(object, labels::PROVIDER, provider);
}

/// Puts a label on an object.
pub fn set_label(object: &mut Value, key: &str, value: &str) {
    let metadata = &mut object["metadata"];
    if !metadata["labels"].is_object() {
        metadata["labels"] = Value::Object(Map::new());
    }
    metadata["labels"][key] = json!(value);
}

/// Names before and after stamping, by kind.
#[derive(Debug, Default)]
pub struct Renames(BTreeMap<(String, String), String>);

impl Renames {
    fn get(&self, kind: &str, name: &str) -> Option<&str> {
        self.0.get(&(kind.to_owned(), name.to_owned())).map(String::as_str)
    }
}

/// Gives objects that were read from files their namespace and their prefixed names. Returns the names, so that references can follow.
/// CRDs keep their names, which the contract fixes.
pub fn place_and_name(names: &Names, objects: &mut [Object]) -> Renames {
    let mut renames = Renames::default();
    for object in objects {
        let kind = object.kind().to_owned();
        if kind == "CustomResourceDefinition" || kind == "Namespace" {
            continue;
        }
        if is_namespaced(&kind) {
            object.value["metadata"]["namespace"] = json!(names.namespace);
        }
        let old = object.name().to_owned();
        let new = names.stamped(&kind, &old);
        object.value["metadata"]["name"] = json!(new);
        renames.0.insert((kind, old), new);
    }
    renames
}

/// Lets references between objects follow the new names, and subjects of bindings the namespace.
pub fn follow(names: &Names, renames: &Renames, objects: &mut [Object]) {
    for object in objects {
        let value = &mut object.value;
        match value["kind"].as_str().unwrap_or_default() {
            "RoleBinding" | "ClusterRoleBinding" => follow_binding(names, renames, value),
            "Certificate" => rename(renames, "Issuer", &mut value["spec"]["issuerRef"]["name"]),
            "Deployment" | "DaemonSet" | "StatefulSet" => follow_pod(renames, &mut value["spec"]["template"]["spec"]),
            _ => {}
        }
    }
}

fn follow_binding(names: &Names, renames: &Renames, binding: &mut Value) {
    let kind = binding["roleRef"]["kind"].as_str().unwrap_or_default().to_owned();
    rename(renames, &kind, &mut binding["roleRef"]["name"]);
    for subject in binding["subjects"].as_array_mut().into_iter().flatten() {
        if subject["kind"] == "ServiceAccount" {
            rename(renames, "ServiceAccount", &mut subject["name"]);
            subject["namespace"] = json!(names.namespace);
        }
    }
}

fn follow_pod(renames: &Renames, pod: &mut Value) {
    if pod["serviceAccountName"].is_string() {
        rename(renames, "ServiceAccount", &mut pod["serviceAccountName"]);
    }
    for volume in pod["volumes"].as_array_mut().into_iter().flatten() {
        rename_if_present(renames, "ConfigMap", volume, &["configMap", "name"]);
        rename_if_present(renames, "Secret", volume, &["secret", "secretName"]);
    }
    for list in ["containers", "initContainers"] {
        for container in pod[list].as_array_mut().into_iter().flatten() {
            for variable in container["env"].as_array_mut().into_iter().flatten() {
                rename_if_present(renames, "ConfigMap", variable, &["valueFrom", "configMapKeyRef", "name"]);
                rename_if_present(renames, "Secret", variable, &["valueFrom", "secretKeyRef", "name"]);
            }
            for source in container["envFrom"].as_array_mut().into_iter().flatten() {
                rename_if_present(renames, "ConfigMap", source, &["configMapRef", "name"]);
                rename_if_present(renames, "Secret", source, &["secretRef", "name"]);
            }
        }
    }
}

fn rename_if_present(renames: &Renames, kind: &str, value: &mut Value, path: &[&str]) {
    let found = path.iter().try_fold(value, |value, key| value.get_mut(*key));
    if let Some(name) = found {
        rename(renames, kind, name);
    }
}

fn rename(renames: &Renames, kind: &str, name: &mut Value) {
    if let Some(new) = name.as_str().and_then(|old| renames.get(kind, old)) {
        *name = json!(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, name: &str, rest: Value) -> Object {
        let mut value = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
        for (key, part) in rest.as_object().into_iter().flatten() {
            value[key] = part.clone();
        }
        Object::made(value)
    }

    #[test]
    fn cluster_wide_kinds_are_sorted() {
        assert!(CLUSTER_WIDE.is_sorted(), "the look-up is a binary search");
    }

    #[test]
    fn bindings_follow_the_names_of_roles_and_accounts() {
        let mut objects = [
            object("ClusterRole", "manager-role", json!({})),
            object("ServiceAccount", "manager", json!({})),
            object(
                "ClusterRoleBinding",
                "manager-rolebinding",
                json!({
                    "roleRef": {"kind": "ClusterRole", "name": "manager-role"},
                    "subjects": [{"kind": "ServiceAccount", "name": "manager", "namespace": "system"}],
                }),
            ),
        ];
        let renames = place_and_name(&Names::of_foo(), &mut objects);
        follow(&Names::of_foo(), &renames, &mut objects);
        let binding = &objects[2].value;
        assert_eq!(binding["metadata"], json!({"name": "foo-system-manager-rolebinding"}));
        assert_eq!(binding["roleRef"]["name"], "foo-system-manager-role");
        assert_eq!(binding["subjects"][0], json!({"kind": "ServiceAccount", "name": "foo-manager", "namespace": "foo-system"}));
    }

    #[test]
    fn pods_follow_the_names_of_config_maps_and_secrets_of_the_release_only() {
        let pod = json!({"spec": {"template": {"spec": {
            "volumes": [{"name": "a", "configMap": {"name": "settings"}}, {"name": "b", "secret": {"secretName": "from-the-user"}}],
            "containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "settings"}}]}],
        }}}});
        let mut objects = [object("ConfigMap", "settings", json!({})), object("Deployment", "d", pod)];
        let renames = place_and_name(&Names::of_foo(), &mut objects);
        follow(&Names::of_foo(), &renames, &mut objects);
        let pod = &objects[1].value["spec"]["template"]["spec"];
        assert_eq!(pod["volumes"][0]["configMap"]["name"], "foo-settings");
        assert_eq!(pod["volumes"][1]["secret"]["secretName"], "from-the-user");
        assert_eq!(pod["containers"][0]["envFrom"][0]["configMapRef"]["name"], "foo-settings");
        assert_eq!(objects[1].namespace(), "foo-system");
    }

    #[test]
    fn label_replaces_what_is_there() {
        let mut object = json!({"metadata": {"labels": {"cluster.x-k8s.io/provider": "x", "a": "b"}}});
        label(&mut object, "bootstrap-foo");
        assert_eq!(object["metadata"]["labels"], json!({"a": "b", "cluster.x-k8s.io/provider": "bootstrap-foo"}));
    }
}
