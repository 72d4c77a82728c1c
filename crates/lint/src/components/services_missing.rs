//! Services that are called and are not there: those of webhooks, and of conversions of CRDs.

use super::called::{Called, called};
use crate::Scope;
use windlass_source::diag::{Diagnostic, Report, rules};
use windlass_source::nearest::nearest;

rules! {
    /// a webhook or a conversion calls a Service that the components do not contain
    SERVICE_MISSING = error("components-webhook-service-missing"), catalogue("C11");
    /// an optional webhook, or an unused conversion, calls a Service that the components do not
    /// contain
    SERVICE_ABSENT = warning("components-webhook-service-absent"), catalogue("C11");
}

/// Checks whom the API server calls.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    called(scope)
        .filter_map(|called| missing_service(scope, &called))
        .collect()
}

fn missing_service(scope: &Scope<'_>, called: &Called<'_>) -> Option<Diagnostic> {
    if !scope.is_whole() || scope.named("", "Service", called.service).is_some() {
        return None;
    }
    let services = scope.names_of("", "Service");
    let near = nearest(called.service, services.clone());
    let help = match near.or_else(|| services.clone().next()) {
        Some(name) => format!(
            "write `name: {name}`, or add Service {} to the file",
            called.service
        ),
        None => format!("add Service {} to the file", called.service),
    };
    let rule = if called.is_needed() {
        &SERVICE_MISSING
    } else {
        &SERVICE_ABSENT
    };
    let finding = Diagnostic::of(
        rule,
        format!(
            "{} calls Service {}, which the components do not contain",
            called.title(),
            called.service
        ),
    );
    let finding = finding
        .at(called.object.place(&called.path.field("name")))
        .help(help);
    Some(match called.is_needed() {
        true => finding
            .note("the API server rejects each request for which it has to call it")
            .upstream(format!("service \"{}\" not found", called.service)),
        false => finding.note("nothing fails and nothing is reported: the webhook has no effect"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::components::tests::{of, rules_and_fields};
    use windlass_objects::Object;

    fn configuration(webhook: Value) -> Object {
        of(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "w",
            json!({"webhooks": [webhook]}),
        )
    }

    fn service() -> Object {
        of("v1", "Service", "foo-webhook-service", json!({}))
    }

    fn crd(plural: &str, versions: Value) -> Object {
        let spec = json!({"group": "a.io", "names": {"kind": "Foo", "plural": plural}, "versions": versions, "conversion": {"webhook": {"clientConfig": {"service": {"name": "foo-webhook-service"}}}}});
        of(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            plural,
            json!({"spec": spec}),
        )
    }

    /// API reference, WebhookClientConfig.service; `failurePolicy` defaults to Fail.
    #[test]
    fn called_services_are_there() {
        let call = |policy: Value| {
            configuration(
                json!({"name": "n", "clientConfig": {"service": {"name": "webhook-service"}}, "failurePolicy": policy}),
            )
        };
        for (policy, rule) in [
            (Value::Null, SERVICE_MISSING.id),
            ("Fail".into(), SERVICE_MISSING.id),
            ("Ignore".into(), SERVICE_ABSENT.id),
        ] {
            assert_eq!(
                rules_and_fields(&[call(policy), service()], check),
                [format!("{rule} webhooks[0].clientConfig.service.name")]
            );
        }
        let url =
            configuration(json!({"name": "n", "clientConfig": {"url": "https://example.com"}}));
        assert_eq!(rules_and_fields(&[url], check), [""; 0]);
        let versions = |count: usize| {
            (0..count)
                .map(|at| json!({"name": format!("v{at}"), "served": true}))
                .collect::<Value>()
        };
        let place = "spec.conversion.webhook.clientConfig.service.name";
        assert_eq!(
            rules_and_fields(&[crd("foos", versions(2))], check),
            [format!("{} {place}", SERVICE_MISSING.id)]
        );
        assert_eq!(
            rules_and_fields(&[crd("foos", versions(1))], check),
            [format!("{} {place}", SERVICE_ABSENT.id)]
        );
        assert_eq!(
            rules_and_fields(&[crd("foos", versions(2)), service()], check),
            [""; 0]
        );
    }
}
