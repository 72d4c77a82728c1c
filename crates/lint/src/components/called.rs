//! The Services that the API server calls: those of webhooks, and of conversions of CRDs.

use serde_json::Value;

use super::placeholders;
use crate::Scope;
use windlass_objects::references::references;
use windlass_objects::{Object, fields};
use windlass_source::diag::{FieldPath, Segment};

/// The port of a Service that the API server calls when none is named.
const DEFAULT_PORT: i64 = 443;

/// One place where an object names a Service to call.
pub(super) struct Called<'o> {
    pub(super) object: &'o Object,
    /// The mapping that names the Service: `webhooks[0].clientConfig.service`.
    pub(super) path: FieldPath,
    pub(super) service: &'o str,
}

impl Called<'_> {
    pub(super) fn port(&self) -> i64 {
        self.object
            .at(&self.path.field("port"))
            .and_then(Value::as_i64)
            .unwrap_or(DEFAULT_PORT)
    }

    /// Whether requests fail when the Service does not answer: of a webhook unless it says
    /// otherwise, of a conversion when there are two versions to convert between.
    pub(super) fn is_needed(&self) -> bool {
        match self.object.kind() {
            "CustomResourceDefinition" => self.object.items(&["spec", "versions"]).len() > 1,
            _ => self
                .webhook()
                .is_none_or(|webhook| webhook["failurePolicy"] != "Ignore"),
        }
    }

    /// The webhook; of a CRD there is none.
    fn webhook(&self) -> Option<&Value> {
        let [list @ Segment::Field(name), at @ Segment::Index(_), ..] = self.path.segments() else {
            return None;
        };
        fields::at(self.object.value(), &[list.clone(), at.clone()]).filter(|_| name == "webhooks")
    }

    /// What calls: `webhook x of Kind/name`, `webhooks[0] of Kind/name` where it has no name, or
    /// `the conversion of Kind/name`.
    pub(super) fn title(&self) -> String {
        match self.webhook() {
            Some(webhook) => match webhook["name"].as_str().filter(|name| !name.is_empty()) {
                Some(name) => format!("webhook {name} of {}", self.object.title()),
                None => {
                    let nth = self.path.segments()[..2]
                        .iter()
                        .fold(FieldPath::root(), |path, segment| {
                            path.with(segment.clone())
                        });
                    format!("{nth} of {}", self.object.title())
                }
            },
            None => format!("the conversion of {}", self.object.title()),
        }
    }
}

/// The Services that objects name, in their order, those with a placeholder of kustomize apart.
pub(super) fn called<'o>(scope: &Scope<'o>) -> impl Iterator<Item = Called<'o>> {
    let calls = |object: &&Object| {
        matches!(
            object.kind(),
            "CustomResourceDefinition"
                | "MutatingWebhookConfiguration"
                | "ValidatingWebhookConfiguration"
        )
    };
    scope.objects.iter().filter(calls).flat_map(|object| {
        let services = references(object.value())
            .0
            .into_iter()
            .filter(|to| to.kind == "Service" && !placeholders::is_in(to.name));
        services.filter_map(|to| {
            Some(Called {
                object,
                path: to.path.parent()?,
                service: to.name,
            })
        })
    })
}
