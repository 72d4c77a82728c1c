//! Webhooks: what the API server takes and what it calls them with (book: clusterctl, "Components
//! YAML").

use serde_json::Value;

use crate::Scope;
use windlass_objects::{Object, fields};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// the API server rejects the `sideEffects` or `admissionReviewVersions` of a webhook
    REJECTED = error("components-webhook-rejected"), catalogue("C15");
    /// a webhook does not accept AdmissionReview v1
    REVIEW_OLD = warning("components-webhook-review-old"), catalogue("C15");
}

pub(crate) fn check(scope: &Scope<'_>) -> Report {
    all(scope)
        .flat_map(|webhook| webhook.rejected().into_iter().chain(webhook.old()))
        .collect()
}

pub(super) struct Webhook<'o> {
    /// The configuration.
    pub(super) object: &'o Object,
    /// Location in the configuration: `webhooks[0]`.
    pub(super) path: FieldPath,
    pub(super) value: &'o Value,
}

/// The webhooks of all configurations, in their order.
pub(super) fn all<'o>(scope: &Scope<'o>) -> impl Iterator<Item = Webhook<'o>> {
    scope
        .objects
        .iter()
        .filter(|object| is_configuration(object))
        .flat_map(|object| {
            let webhook = move |(at, value)| Webhook {
                object,
                path: FieldPath::root().field("webhooks").index(at),
                value,
            };
            object.items(&["webhooks"]).iter().enumerate().map(webhook)
        })
}

fn is_configuration(object: &Object) -> bool {
    let is_kind = matches!(
        object.kind(),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"
    );
    is_kind && object.group() == "admissionregistration.k8s.io"
}

impl<'o> Webhook<'o> {
    fn texts(&self, field: &str) -> Vec<&'o str> {
        fields::items(self.value, &[field])
            .iter()
            .filter_map(Value::as_str)
            .collect()
    }

    fn finding(
        &self,
        rule: &'static windlass_source::diag::Rule,
        field: &str,
        is: &str,
    ) -> Diagnostic {
        let path = self.path.field(field);
        Diagnostic::of(rule, format!("{path} of {} is {is}", self.object.title()))
            .at(self.object.place(&path))
    }

    /// What the API server rejects. That one of the fields is not there is a finding of its own.
    fn rejected(&self) -> Vec<Diagnostic> {
        let (effects, versions) = (
            fields::text(self.value, &["sideEffects"]),
            self.texts("admissionReviewVersions"),
        );
        let mut found = Vec::new();
        if !matches!(effects, "" | "None" | "NoneOnDryRun") {
            let said = format!(
                "{}.sideEffects: Unsupported value: \"{effects}\": supported values: \"None\", \"NoneOnDryRun\"",
                self.path
            );
            let finding = self.finding(
                &REJECTED,
                "sideEffects",
                &format!("`{effects}`, which the API server rejects"),
            );
            found.push(finding.help("write `sideEffects: None`").upstream(said));
        }
        if !versions.is_empty()
            && !versions
                .iter()
                .any(|version| matches!(*version, "v1" | "v1beta1"))
        {
            let finding = self.finding(
                &REJECTED,
                "admissionReviewVersions",
                "without a version that the API server knows",
            );
            found.push(
                finding
                    .help("write `admissionReviewVersions: [v1]`")
                    .upstream("must include at least one of v1, v1beta1"),
            );
        }
        found
    }

    fn old(&self) -> Option<Diagnostic> {
        let versions = self.texts("admissionReviewVersions");
        let is_old = versions.contains(&"v1beta1") && !versions.contains(&"v1");
        is_old.then(|| {
            self.finding(&REVIEW_OLD, "admissionReviewVersions", "without v1")
                .help("write `admissionReviewVersions: [v1, v1beta1]`, and serve both")
                .note("v1beta1 is deprecated since Kubernetes 1.16; the library of the webhook must serve v1 before the list names it")
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{of, rules_and_fields};

    fn configuration(webhook: Value) -> Object {
        of(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "w",
            json!({"webhooks": [webhook]}),
        )
    }

    /// Kubernetes, pkg/apis/admissionregistration/validation: supported values.
    #[test]
    fn what_the_api_server_rejects_is_found() {
        let webhook = |effects: &str, versions: Value| {
            rules_and_fields(
                &[configuration(
                    json!({"name": "n", "sideEffects": effects, "admissionReviewVersions": versions}),
                )],
                check,
            )
        };
        let found = |rule: &windlass_source::diag::Rule, field: &str| {
            [format!("{} webhooks[0].{field}", rule.id)]
        };
        assert_eq!(webhook("None", json!(["v1"])), [""; 0]);
        assert_eq!(webhook("NoneOnDryRun", json!(["v1beta1", "v1"])), [""; 0]);
        assert_eq!(
            webhook("Some", json!(["v1"])),
            found(&REJECTED, "sideEffects")
        );
        assert_eq!(
            webhook("Unknown", json!(["v1"])),
            found(&REJECTED, "sideEffects")
        );
        assert_eq!(
            webhook("None", json!(["v2"])),
            found(&REJECTED, "admissionReviewVersions")
        );
        assert_eq!(
            webhook("None", json!(["v1beta1"])),
            found(&REVIEW_OLD, "admissionReviewVersions")
        );
    }

    /// Types of others that are called so, and others of that group, have webhooks of their own.
    #[test]
    fn only_configurations_of_the_api_server_are_judged() {
        let found = |api_version: &str, kind: &str| {
            rules_and_fields(
                &[of(
                    api_version,
                    kind,
                    "w",
                    json!({"webhooks": [{"name": "n", "sideEffects": "Some"}]}),
                )],
                check,
            )
            .len()
        };
        for kind in [
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ] {
            assert_eq!(found("admissionregistration.k8s.io/v1", kind), 1, "{kind}");
            assert_eq!(found("example.com/v1", kind), 0, "{kind}");
        }
        assert_eq!(
            found(
                "admissionregistration.k8s.io/v1",
                "ValidatingAdmissionPolicy"
            ),
            0
        );
    }
}
