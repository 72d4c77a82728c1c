//! `manager.patch` of provider.yaml: what the Deployment of the manager has beyond what is made, in
//! Kubernetes' own terms.

use serde_json::Value;

use windlass_objects::strategic_merge;
use windlass_provider::{Declared, Manager, Object};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// a patch in provider.yaml cannot be parsed or applied
    pub(super) PATCH_REJECTED = error("provider-patch-rejected");
}

/// What a patch must not change, and what does.
const FIXED: [(&str, &str); 4] = [
    ("apiVersion", "it is that of a Deployment"),
    ("kind", "it is that of a Deployment"),
    ("metadata.name", "names begin with `namePrefix`"),
    ("metadata.namespace", "all objects are in `namespace`"),
];

/// Applies the patch to the Deployment. When it cannot be applied, the Deployment is as it was.
pub(crate) fn patch(declared: &Declared, manager: &Manager, deployment: &mut Value) -> Report {
    let mut report = Report::new();
    let (Some(patch), Value::Object(original)) = (&manager.patch, &mut *deployment) else {
        return report;
    };
    let at = FieldPath::root().field("manager").field("patch");
    let rejected = |message: String, at: &FieldPath| {
        Diagnostic::of(&PATCH_REJECTED, message).at(declared.place(at))
    };
    for (field, path, why) in changed_identity(patch, original) {
        let message = format!("`manager.patch` changes `{field}` of the Deployment: {why}");
        report.push(rejected(message, &at.join(&path)).help("remove the line"));
    }
    let mut patched = original.clone();
    if let Err(fault) = strategic_merge::merge(
        strategic_merge::merge_keys("Deployment"),
        &mut patched,
        patch,
        &at,
    ) {
        let finding = rejected(
            format!("`{}` cannot be applied: {}", fault.path, fault.kind),
            &fault.path,
        );
        report
            .push(finding.help("write the patch as `kubectl patch` takes a strategic merge patch"));
    }
    let patched = Value::Object(patched);
    if !report.has_errors() && !selects_its_pods(&patched) {
        let message = "with `manager.patch` the selector of the Deployment does not match the labels of its pods";
        let finding = rejected(message.to_owned(), &at);
        report.push(finding.help("give the pods under `spec.template.metadata.labels` what `spec.selector.matchLabels` wants"));
    }
    if !report.has_errors() {
        *deployment = patched;
    }
    report
}

/// The fields of a patch that would make another object of the Deployment.
fn changed_identity(
    patch: &Object,
    original: &Object,
) -> Vec<(&'static str, FieldPath, &'static str)> {
    let (patch, original) = (
        Value::Object(patch.clone()),
        Value::Object(original.clone()),
    );
    let pointer = |field: &str| format!("/{}", field.replace('.', "/"));
    let changes = |field: &str| {
        patch
            .pointer(&pointer(field))
            .is_some_and(|value| Some(value) != original.pointer(&pointer(field)))
    };
    FIXED
        .into_iter()
        .filter(|(field, _)| changes(field))
        .map(|(field, why)| (field, FieldPath::of_fields(field), why))
        .collect()
}

fn selects_its_pods(deployment: &Value) -> bool {
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    let wanted = deployment["spec"]["selector"]["matchLabels"].as_object();
    wanted.is_some_and(|wanted| {
        wanted
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value))
    })
}
