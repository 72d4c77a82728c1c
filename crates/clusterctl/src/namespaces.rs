//! Puts all objects into one namespace, as clusterctl does with components and templates. What is
//! decided by kind looks at the kind alone, whatever the API group.

use rayon::prelude::*;
use serde_json::Value;

use super::Rejection;
use super::typed::{self, CLUSTER_ROLE_BINDING, ROLE_BINDING, WEBHOOK_CARRIERS};
use windlass_capi::contract::labels::INJECT_CA_FROM;
use windlass_objects::fields;

/// Kinds without a namespace. The list is clusterctl's: kinds that it does not know get one.
const CLUSTER_WIDE: [&str; 16] = [
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "CertificateSigningRequest",
    "ClusterRoleBinding",
    "ClusterRole",
    "VolumeAttachment",
    "StorageClass",
    "CSIDriver",
    "CSINode",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "CustomResourceDefinition",
    "PriorityClass",
    "RuntimeClass",
];

/// Whether clusterctl gives objects of a kind a namespace.
pub(super) fn is_namespaced(kind: &str) -> bool {
    !CLUSTER_WIDE.contains(&kind)
}

/// Moves all objects into a namespace, on all cores. The first object that cannot be moved decides.
pub(super) fn move_all(objects: Vec<Value>, namespace: &str) -> Result<Vec<Value>, Rejection> {
    let moved: Vec<Result<Value, Rejection>> = objects
        .into_par_iter()
        .with_max_len(1)
        .map(|object| enforce(object, namespace))
        .collect();
    moved.into_iter().collect()
}

/// Moves an object into a namespace, with what in it names the namespace.
///
/// # Errors
/// When an object that is converted on the way does not fit its type.
pub(super) fn enforce(mut object: Value, namespace: &str) -> Result<Value, Rejection> {
    let kind = fields::kind(&object).to_owned();
    if kind == "Namespace" {
        fields::set_metadata(&mut object, "name", namespace.into());
    }
    let original = fields::namespace(&object).to_owned();
    if is_namespaced(&kind) {
        fields::set_metadata(&mut object, "namespace", namespace.into());
    }
    match kind.as_str() {
        "ClusterRoleBinding" => {
            binding(typed::round_trip(object, &CLUSTER_ROLE_BINDING)?, namespace)
        }
        "RoleBinding" => binding(typed::round_trip(object, &ROLE_BINDING)?, namespace),
        "MutatingWebhookConfiguration"
        | "ValidatingWebhookConfiguration"
        | "CustomResourceDefinition" => webhook_carrier(object, &kind, namespace),
        "Certificate" => certificate(object, &original, namespace),
        _ => Ok(object),
    }
}

fn binding(mut object: Value, namespace: &str) -> Result<Value, Rejection> {
    let subjects = object.get_mut("subjects").and_then(Value::as_array_mut);
    for subject in subjects.into_iter().flatten() {
        // After the conversion a namespace is there only when it is not empty.
        if let Some(subject) = subject.get_mut("namespace") {
            *subject = namespace.into();
        }
    }
    Ok(object)
}

fn webhook_carrier(mut object: Value, kind: &str, namespace: &str) -> Result<Value, Rejection> {
    if let Some(mut annotations) = fields::metadata_texts(&object, "annotations")
        && let Some(secret) = annotations.get(INJECT_CA_FROM).and_then(Value::as_str)
    {
        let parts: Vec<&str> = secret.split('/').collect();
        let [_, name] = parts.as_slice() else {
            let name = fields::name(&object);
            return Err(Rejection::new(format!(
                "object {kind} {name} does not have a correct value for {INJECT_CA_FROM}"
            )));
        };
        let moved = format!("{namespace}/{name}");
        annotations.insert(INJECT_CA_FROM.to_owned(), moved.into());
        fields::set_metadata(&mut object, "annotations", annotations.into());
    }
    let version = fields::group_version(&object).1;
    let Some(known) = typed::find(&WEBHOOK_CARRIERS, kind, version) else {
        return Err(Rejection::new(format!("failed to patch {version} {kind}")));
    };
    let path: &[&str] = match (kind, version) {
        ("CustomResourceDefinition", "v1") => &["spec", "conversion", "webhook", "clientConfig"],
        ("CustomResourceDefinition", _) => &["spec", "conversion", "webhookClientConfig"],
        _ => &["webhooks"],
    };
    let mut object = typed::round_trip(object, known)?;
    let found = path
        .iter()
        .try_fold(&mut object, |value, name| value.get_mut(*name));
    match found {
        Some(Value::Array(webhooks)) => {
            webhooks
                .iter_mut()
                .filter_map(|webhook| webhook.get_mut("clientConfig"))
                .for_each(|client| point_to(client, namespace));
        }
        Some(client) => point_to(client, namespace),
        None => {}
    }
    Ok(object)
}

/// Sets the namespace of a webhook's Service, where there is one.
fn point_to(client_config: &mut Value, namespace: &str) {
    if let Some(Value::Object(service)) = client_config.get_mut("service") {
        service.insert("namespace".to_owned(), namespace.into());
    }
}

/// DNS names of Services contain the namespace.
fn certificate(mut object: Value, original: &str, namespace: &str) -> Result<Value, Rejection> {
    let shown = (
        fields::namespace(&object).to_owned(),
        fields::name(&object).to_owned(),
    );
    let fault = |message: String| {
        Rejection::new(format!(".spec.dnsNames accessor error: {message}")).within(format!(
            "failed to get .spec.dnsNames from Certificate {}/{}",
            shown.0, shown.1
        ))
    };
    let spec = match object.get_mut("spec") {
        None | Some(Value::Null) => return Ok(object),
        Some(spec) => spec,
    };
    if !spec.is_object() {
        return Err(fault(format!(
            "{} is of the type {}, expected map[string]interface{{}}",
            go_text(spec),
            go_type(spec)
        )));
    }
    let Some(names) = spec.get_mut("dnsNames") else {
        return Ok(object);
    };
    let Some(names) = names.as_array_mut() else {
        return Err(fault(format!(
            "{} is of the type {}, expected []interface{{}}",
            go_text(names),
            go_type(names)
        )));
    };
    let (old, new) = (format!(".{original}."), format!(".{namespace}."));
    for name in names {
        let Value::String(text) = name else {
            return Err(fault(format!(
                "contains non-string key in the slice: {} is of the type {}, expected string",
                go_text(name),
                go_type(name)
            )));
        };
        *text = text.replacen(&old, &new, 1);
    }
    Ok(object)
}

/// `%v` of a decoded JSON value.
fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(number) => windlass_go_text::float(number.as_f64().unwrap_or_default()),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(go_text).collect::<Vec<_>>().join(" ")
        ),
        Value::Object(entries) => {
            format!(
                "map[{}]",
                entries
                    .iter()
                    .map(|(key, value)| format!("{key}:{}", go_text(value)))
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        }
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(object: Value, expected: Value) {
        assert_eq!(enforce(object.clone(), "target"), Ok(expected), "{object}");
    }

    #[test]
    fn kinds_decide_about_the_namespace() {
        check(
            json!({"kind": "Namespace", "metadata": {"name": "a"}}),
            json!({"kind": "Namespace", "metadata": {"name": "target"}}),
        );
        check(
            json!({"kind": "X"}),
            json!({"kind": "X", "metadata": {"namespace": "target"}}),
        );
        check(
            json!({"kind": "X", "metadata": {"namespace": "a"}}),
            json!({"kind": "X", "metadata": {"namespace": "target"}}),
        );
        check(
            json!({"kind": "ClusterRole", "metadata": {"namespace": "a"}}),
            json!({"kind": "ClusterRole", "metadata": {"namespace": "a"}}),
        );
        check(json!({}), json!({"metadata": {"namespace": "target"}}));
    }

    #[test]
    fn bindings_and_webhooks_follow() {
        check(
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
                   "roleRef": {"apiGroup": "g", "kind": "ClusterRole", "name": "r", "extra": 1},
                   "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "a"}, {"kind": "User", "name": "u"}]}),
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
                   "roleRef": {"apiGroup": "g", "kind": "ClusterRole", "name": "r"},
                   "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "target"}, {"kind": "User", "name": "u"}]}),
        );
        check(
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                   "metadata": {"annotations": {"cert-manager.io/inject-ca-from": "a/c"}},
                   "webhooks": [{"name": "w", "clientConfig": {"service": {"name": "s", "namespace": "a"}}, "sideEffects": "None"}]}),
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                   "metadata": {"annotations": {"cert-manager.io/inject-ca-from": "target/c"}},
                   "webhooks": [{"name": "w", "clientConfig": {"service": {"name": "s", "namespace": "target"}}, "sideEffects": "None",
                                 "admissionReviewVersions": null}]}),
        );
    }

    #[test]
    fn certificates_are_renamed_once_per_name() {
        check(
            json!({"kind": "Certificate", "metadata": {"namespace": "a"}, "spec": {"dnsNames": ["s.a.svc.a.x", "b"]}}),
            json!({"kind": "Certificate", "metadata": {"namespace": "target"}, "spec": {"dnsNames": ["s.target.svc.a.x", "b"]}}),
        );
        let rejected = enforce(
            json!({"kind": "Certificate", "metadata": {"name": "c"}, "spec": {"dnsNames": [1.2]}}),
            "target",
        );
        assert_eq!(
            rejected.unwrap_err().message(),
            "failed to get .spec.dnsNames from Certificate target/c: .spec.dnsNames accessor error: contains non-string key in the slice: 1.2 is \
             of the type float64, expected string"
        );
    }

    #[test]
    fn other_versions_are_rejected() {
        let rejected = |object: Value| enforce(object, "target").unwrap_err().message().to_owned();
        assert_eq!(
            rejected(
                json!({"apiVersion": "apiextensions.k8s.io/v2", "kind": "CustomResourceDefinition"})
            ),
            "failed to patch v2 CustomResourceDefinition"
        );
        assert_eq!(
            rejected(
                json!({"apiVersion": "rbac.authorization.k8s.io/v1beta1", "kind": "RoleBinding"})
            ),
            "converting (v1beta1.RoleBinding) to (v1.RoleBinding): unknown conversion"
        );
    }
}
