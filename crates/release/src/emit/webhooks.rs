//! Webhooks and what they need: Service, Certificate, Issuer, CA injection, the conversion clause
//! of CRDs (book: "Webhooks"; checklist OP-16, OP-17, OP-18, OP-19).

use serde_json::{Value, json};

use super::crds::conversion_clause;
use super::names::Names;
use super::rbac::Kind;
use windlass_capi::contract::{labels, manager as face};
use windlass_objects::{Misfit, Object, Shape, select};
use windlass_source::diag::{Diagnostic, FieldPath};

/// Admission review versions that every webhook takes: API servers since 1.16 send `v1`.
const REVIEW_VERSIONS: &[&str] = &["v1"];

/// The two kinds of webhook configurations, in the order in which they stand in components.
pub(crate) const CONFIGURATION_KINDS: [&str; 2] = [
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// The Service in front of the webhooks, which selects the pods by the provider label.
pub fn service(names: &Names, label: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": names.webhook_service(), "namespace": names.namespace},
        "spec": {
            "ports": [{"port": 443, "targetPort": face::WEBHOOK.name}],
            "selector": {labels::PROVIDER: label},
        },
    })
}

/// The Issuer that signs the certificate of the webhooks with itself.
pub fn issuer(names: &Names) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Issuer",
        "metadata": {"name": names.issuer(), "namespace": names.namespace},
        "spec": {"selfSigned": {}},
    })
}

/// The Certificate of the webhooks. Its DNS names hold the namespace, so that clusterctl can move
/// it to another one.
pub fn certificate(names: &Names) -> Value {
    let host = format!("{}.{}.svc", names.webhook_service(), names.namespace);
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": names.certificate(), "namespace": names.namespace},
        "spec": {
            "dnsNames": [host, format!("{host}.cluster.local")],
            "issuerRef": {"kind": "Issuer", "name": names.issuer()},
            "secretName": names.certificate_secret(),
        },
    })
}

/// A webhook configuration for some kinds, at the paths at which controller-runtime serves them
/// (`/validate-bootstrap-windlass-dev-v1beta2-windlassconfig`). Beside each kind stands the API
/// version that its webhook sees; with `matchPolicy: Equivalent` the API server converts requests
/// in other versions.
pub(crate) fn configuration(
    names: &Names,
    configuration_kind: &str,
    kinds: &[(&Kind, String)],
) -> Value {
    let (verb, adjective, short) = match configuration_kind {
        "MutatingWebhookConfiguration" => ("mutate", "mutating", "default"),
        _ => ("validate", "validating", "validation"),
    };
    let webhooks: Vec<Value> = kinds
        .iter()
        .map(|(kind, version)| {
            let singular = kind.kind.to_lowercase();
            let path = face::admission_path(verb, &kind.group, version, &kind.kind);
            json!({
                "admissionReviewVersions": REVIEW_VERSIONS,
                "clientConfig": {"service": service_reference(names, Some(&path.into()))},
                "failurePolicy": "Fail",
                "matchPolicy": "Equivalent",
                "name": format!("{short}.{singular}.{}", kind.group),
                "rules": [{
                    "apiGroups": [kind.group],
                    "apiVersions": [version],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": [kind.plural],
                }],
                "sideEffects": "None",
            })
        })
        .collect();
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": configuration_kind,
        "metadata": {
            "name": names.made(&format!("{adjective}-webhook-configuration")),
            "annotations": {labels::INJECT_CA_FROM: names.inject_ca_from()},
        },
        "webhooks": webhooks,
    })
}

fn service_reference(names: &Names, path: Option<&Value>) -> Value {
    let reference =
        json!({"name": names.webhook_service(), "namespace": names.namespace, "path": path});
    Value::Object(
        reference
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect(),
    )
}

/// Points the webhooks of a configuration that was read from a file to our Service and has
/// cert-manager inject the CA. What has the wrong type is in the result.
pub(crate) fn connect_configuration(names: &Names, configuration: &mut Object) -> Vec<Diagnostic> {
    let services = select(
        configuration.value(),
        "webhooks[].clientConfig.service",
        Shape::Mapping,
    )
    .found;
    let edits: Vec<(Option<FieldPath>, Value)> = services
        .into_iter()
        .map(|(path, service)| {
            (
                path.parent(),
                json!({"service": service_reference(names, service.get("path"))}),
            )
        })
        .collect();
    let edits = edits
        .into_iter()
        .filter_map(|(path, client)| Some((path?, client)));
    let connected = edits
        .into_iter()
        .try_for_each(|(path, client)| configuration.set(&path, client));
    let injected = inject_ca(names, configuration);
    [connected, injected]
        .into_iter()
        .filter_map(|edit| configuration.rejected(edit))
        .collect()
}

/// Has the CRD convert through the manager, and cert-manager inject the CA. `caBundle` stays out: a
/// dummy would stop later applies.
///
/// # Errors
/// When the fields that are set cannot be.
pub(crate) fn convert_by_webhook(names: &Names, crd: &mut Object) -> Result<(), Misfit> {
    crd.set(
        &FieldPath::of_fields("spec.conversion"),
        conversion_clause(&names.webhook_service(), &names.namespace),
    )?;
    inject_ca(names, crd)
}

fn inject_ca(names: &Names, object: &mut Object) -> Result<(), Misfit> {
    object.set_annotation(labels::INJECT_CA_FROM, &names.inject_ca_from())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// controller-runtime serves `/validate-<group with dashes>-<version>-<lower-case kind>`.
    #[test]
    fn webhooks_stand_at_the_paths_of_controller_runtime() {
        let kind = Kind {
            group: "bootstrap.foo.dev".to_owned(),
            kind: "FooConfig".to_owned(),
            plural: "fooconfigs".to_owned(),
            has_status: true,
            has_several_versions: false,
        };
        let configuration = configuration(
            &Names::of_foo(),
            "ValidatingWebhookConfiguration",
            &[(&kind, "v1beta2".to_owned())],
        );
        let webhook = &configuration["webhooks"][0];
        assert_eq!(
            webhook["clientConfig"]["service"]["path"],
            "/validate-bootstrap-foo-dev-v1beta2-fooconfig"
        );
        assert_eq!(webhook["name"], "validation.fooconfig.bootstrap.foo.dev");
        assert_eq!(
            (
                webhook["failurePolicy"].as_str(),
                webhook["matchPolicy"].as_str()
            ),
            (Some("Fail"), Some("Equivalent"))
        );
        assert_eq!(
            configuration["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
            "foo-system/foo-serving-cert"
        );
        assert_eq!(
            (&webhook["sideEffects"], &webhook["admissionReviewVersions"]),
            (&json!("None"), &json!(["v1"]))
        );
    }

    #[test]
    fn configurations_from_files_are_pointed_to_our_service() {
        let mut from_file = Object::made(json!({
            "metadata": {"name": "validating-webhook-configuration"},
            "webhooks": [{"clientConfig": {"service": {"name": "webhook-service", "namespace": "system", "path": "/x"}}}],
        }));
        assert_eq!(connect_configuration(&Names::of_foo(), &mut from_file), []);
        let from_file = from_file.value();
        let service = &from_file["webhooks"][0]["clientConfig"]["service"];
        assert_eq!(
            service,
            &json!({"name": "foo-webhook-service", "namespace": "foo-system", "path": "/x"})
        );
        assert_eq!(
            from_file["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
            "foo-system/foo-serving-cert"
        );
    }

    #[test]
    fn certificate_is_for_the_service() {
        let certificate = certificate(&Names::of_foo());
        assert_eq!(
            certificate["spec"]["dnsNames"][0],
            "foo-webhook-service.foo-system.svc"
        );
    }
}
