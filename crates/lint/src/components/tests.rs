//! What the tests of the families share: objects in few words, and findings in few.

use semver::Version;
use serde_json::{Value, json};

use crate::{Extent, Scope};
use windlass_capi::contract::ProviderType;
use windlass_capi::contract::labels::PROVIDER;
use windlass_objects::{Object, Pool};
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

type Family = fn(&Scope<'_>) -> Report;

/// An object; `rest` is what it has beside its names, or instead of them.
pub(super) fn of(api_version: &str, kind: &str, name: &str, rest: Value) -> Object {
    let mut value = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    value
        .as_object_mut()
        .unwrap()
        .extend(rest.as_object().unwrap().clone());
    Object::made(value)
}

/// An object with a provider label, or without.
pub(super) fn labelled(kind: &str, name: &str, provider: Option<&str>) -> Object {
    let labels = provider.map(|provider| json!({PROVIDER: provider}));
    of(
        "v1",
        kind,
        name,
        json!({"metadata": {"name": name, "labels": labels}}),
    )
}

fn judged(
    objects: &[Object],
    provider_type: Option<ProviderType>,
    version: Option<&Version>,
    extent: Extent,
    family: Family,
) -> Report {
    let pool = Pool::of(objects.to_vec());
    family(&Scope {
        extent,
        version,
        ..Scope::of(&pool, provider_type, &Budget::default())
    })
}

/// What a family finds in all objects of a components file.
pub(super) fn found_in(
    objects: &[Object],
    provider_type: Option<ProviderType>,
    family: Family,
) -> Report {
    judged(objects, provider_type, None, Extent::Whole, family)
}

/// What a family finds in the components of a release.
pub(super) fn released(objects: &[Object], version: &Version, family: Family) -> Vec<String> {
    lines(&judged(objects, None, Some(version), Extent::Whole, family))
}

/// Rule and field of what a family finds.
pub(super) fn rules_and_fields(objects: &[Object], family: Family) -> Vec<String> {
    lines(&found_in(objects, None, family))
}

fn lines(report: &Report) -> Vec<String> {
    report
        .findings()
        .iter()
        .map(|finding| format!("{} {}", finding.rule.id, finding.place.path))
        .collect()
}

/// The fields at which a family finds something.
pub(super) fn paths(objects: &[Object], family: Family) -> Vec<String> {
    found_in(objects, None, family)
        .findings()
        .iter()
        .map(|finding| finding.place.path.to_string())
        .collect()
}

/// The objects in which a family finds something.
pub(super) fn titles(objects: &[Object], family: Family) -> Vec<String> {
    found_in(objects, None, family)
        .findings()
        .iter()
        .map(|finding| finding.place.object.clone().unwrap_or_default().to_string())
        .collect()
}

/// Of a folder of sources, in which the rest is elsewhere, only what is wrong by itself is
/// reported.
#[test]
fn parts_miss_nothing() {
    let rule = json!({"apiGroups": ["a.io"], "apiVersions": ["v1"], "resources": ["bars", "foo"]});
    let webhook = json!({"name": "n", "sideEffects": "Some", "clientConfig": {"service": {"name": "svc"}}, "rules": [rule]});
    let names = json!({"kind": "Foo", "plural": "foos"});
    let annotations = json!({"cert-manager.io/inject-ca-from": "$(NS)/$(NAME)"});
    let objects = [
        of(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "w",
            json!({"metadata": {"name": "w", "annotations": annotations}, "webhooks": [webhook]}),
        ),
        of(
            "v1",
            "Service",
            "other",
            json!({"spec": {"selector": {"a": "b"}}}),
        ),
        of(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "b",
            json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "ServiceAccount", "name": "default"}]}),
        ),
        of(
            "apps/v1",
            "Deployment",
            "d",
            json!({"spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "ghcr.io/a/b:dev"}]}}}}),
        ),
        of("policy/v1beta1", "PodDisruptionBudget", "p", json!({})),
        of(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "c",
            json!({"spec": {"group": "a.io", "names": names}}),
        ),
    ];
    let families = [
        super::certificates::check,
        super::images::check,
        super::labels::check,
        super::managers::check,
        super::placeholders::check,
        super::removed::check,
        super::roles::check,
        super::services::check,
        super::services_missing::check,
        super::webhook_resources::check,
        super::webhooks::check,
        super::workloads::check,
    ];
    let rules_and_fields: Vec<String> = families
        .iter()
        .flat_map(|family| lines(&judged(&objects, None, None, Extent::Part, *family)))
        .collect();
    let expected = [
        "components-object-version-removed apiVersion",
        "components-webhook-resource-unknown webhooks[0].rules[0].resources[1]",
        "components-webhook-rejected webhooks[0].sideEffects",
    ];
    assert_eq!(rules_and_fields, expected);
}
