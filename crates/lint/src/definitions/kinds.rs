//! What belongs to a kind beside its fields: its scope, its list, its template, its subresources.

use std::collections::BTreeSet;

use serde_json::Value;

use super::kind::{Definition, Version, definitions};
use crate::{Extent, Scope};
use windlass_capi::contract::{Role, book};
use windlass_objects::fields;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// a kind that the core refers to is cluster-scoped
    SCOPE_CLUSTER = error("crd-scope-cluster"), url(book::ALL_RESOURCES_SCOPE), catalogue("R07");
    /// the list kind of a CRD is not its kind followed by `List`
    LIST_KIND_WRONG = error("crd-list-kind-wrong"), url(book::INFRA_CLUSTER_KIND), catalogue("R08");
    /// an InfraMachine or a BootstrapConfig has no template kind
    TEMPLATE_MISSING = warning("crd-template-kind-missing"), url(book::INFRA_MACHINE_TEMPLATE), catalogue("R09");
    /// a kind has no template, so a ClusterClass cannot use it
    CLASS_TEMPLATE_MISSING = info("crd-class-template-missing"), url(book::INFRA_CLUSTER_TEMPLATE), catalogue("R09");
    /// a kind that reports status has no status subresource
    STATUS_MISSING = warning("crd-status-subresource-missing"), url(book::INFRA_MACHINE_KIND), catalogue("R15");
    /// a control plane with replicas lacks the scale subresource of the contract
    SCALE_MISSING = warning("crd-scale-subresource-missing"), url(book::CONTROL_PLANE_REPLICAS), catalogue("R22");
}

pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let definitions = definitions(scope);
    let kinds: BTreeSet<(&str, &str)> = definitions
        .iter()
        .map(|definition| (definition.group(), definition.kind()))
        .collect();
    let mut report = Report::new();
    for definition in &definitions {
        report.extend(list_kind(definition));
        let Some(role) = definition.looked_up() else {
            continue;
        };
        report.extend(cluster_scoped(definition));
        if scope.extent == Extent::Whole {
            report.extend(without_template(definition, role, &kinds));
        }
        report.extend(without_status(definition, role));
        if role == Role::ControlPlane {
            let labelled = definition.labelled();
            let versions = definition
                .versions()
                .filter(|version| version.is_served() && labelled.contains(version.name));
            report.extend(versions.filter_map(|version| without_scale(definition, &version)));
        }
    }
    report
}

fn cluster_scoped(definition: &Definition<'_>) -> Option<Diagnostic> {
    let (crd, kind) = (definition.crd, definition.kind());
    (crd.text(&["spec", "scope"]) == "Cluster").then(|| {
        Diagnostic::of(&SCOPE_CLUSTER, format!("{kind} is cluster-scoped, but belongs to a Cluster in a namespace"))
            .at(crd.place(&FieldPath::of_fields("spec.scope")))
            .help("write `scope: Namespaced`; the API server does not let a CRD that is installed change it")
            .upstream("cluster-scoped resource must not have a namespace-scoped owner, owner's namespace default")
    })
}

/// Without the field the API server fills in the right name.
fn list_kind(definition: &Definition<'_>) -> Option<Diagnostic> {
    let (crd, kind) = (definition.crd, definition.kind());
    let found = crd.text(&["spec", "names", "listKind"]);
    let expected = format!("{kind}List");
    (!found.is_empty() && !kind.is_empty() && found != expected).then(|| {
        let stored = definition.versions().find(Version::is_stored).map_or("", |version| version.name);
        let asked = found.strip_suffix("List").unwrap_or(found);
        Diagnostic::of(&LIST_KIND_WRONG, format!("the list kind of {kind} is {found}, not {expected}"))
            .at(crd.place(&FieldPath::of_fields("spec.names.listKind")))
            .help(format!("write `listKind: {expected}`"))
            .note("clusterctl does not find the objects when an upgrade needs to store them in another version")
            .upstream(format!("no matches for kind {asked:?} in version {:?}", format!("{}/{stored}", definition.group())))
    })
}

fn without_template(
    definition: &Definition<'_>,
    role: Role,
    kinds: &BTreeSet<(&str, &str)>,
) -> Option<Diagnostic> {
    let (crd, kind) = (definition.crd, definition.kind());
    let template = format!("{kind}Template");
    role.template()
        .filter(|_| !kinds.contains(&(definition.group(), template.as_str())))?;
    let finding = if role.needs_template() {
        let finding = Diagnostic::of(
            &TEMPLATE_MISSING,
            format!("there is no {template}, from which sets of machines get their {kind}"),
        );
        finding.note("a kind that no set of machines uses needs none")
    } else {
        Diagnostic::of(
            &CLASS_TEMPLATE_MISSING,
            format!("there is no {template}, so no ClusterClass can use {kind}"),
        )
    };
    let path = FieldPath::of_fields("spec.names.kind");
    Some(finding.at(crd.place(&path)).help(format!(
        "add the CRD of {template}, with the {kind} under `spec.template`"
    )))
}

/// One finding for all versions: generators write the subresource for all of them or for none.
fn without_status(definition: &Definition<'_>, role: Role) -> Option<Diagnostic> {
    let lacks = |version: &Version<'_>| {
        version.is_served() && fields::field(version.value, &["subresources", "status"]).is_none()
    };
    let lacking: Vec<Version<'_>> = definition
        .versions()
        .filter(|version| role.has_status() && lacks(version))
        .collect();
    let first = lacking.first()?;
    let names: Vec<&str> = lacking.iter().map(|version| version.name).collect();
    let have = if names.len() == 1 { "has" } else { "have" };
    let message = format!(
        "{} of {} {have} no status subresource",
        names.join(", "),
        definition.kind()
    );
    let finding = Diagnostic::of(&STATUS_MISSING, message)
        .at(definition.crd.place(&first.path().field("name")));
    Some(finding.help("add `subresources: {status: {}}` to the version; for controller-gen `// +kubebuilder:subresource:status`"))
}

/// The subresource as the contract spells it.
const SCALE: [(&str, &str); 3] = [
    ("specReplicasPath", ".spec.replicas"),
    ("statusReplicasPath", ".status.replicas"),
    ("labelSelectorPath", ".status.selector"),
];

fn without_scale(definition: &Definition<'_>, version: &Version<'_>) -> Option<Diagnostic> {
    fields::field(
        version.schema()?,
        &["properties", "spec", "properties", "replicas"],
    )?;
    let path = version.path().field("subresources").field("scale");
    let scale = fields::field(version.value, &["subresources", "scale"]).unwrap_or(&Value::Null);
    let wrong: Vec<&str> = SCALE
        .iter()
        .filter(|(field, path)| fields::text(scale, &[field]) != *path)
        .map(|(field, _)| *field)
        .collect();
    let what = match &wrong[..] {
        [] => return None,
        _ if scale.is_null() => "no scale subresource".to_owned(),
        wrong => format!("a scale subresource with another {}", wrong.join(" and ")),
    };
    let lines: Vec<String> = SCALE
        .iter()
        .map(|(field, path)| format!("{field}: {path}"))
        .collect();
    let message = format!(
        "{} of {} has `spec.replicas` and {what}",
        version.name,
        definition.kind()
    );
    let finding = Diagnostic::of(&SCALE_MISSING, message).at(definition.crd.place(&path));
    Some(finding.help(format!("write `scale: {{{}}}`", lines.join(", "))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use windlass_objects::{Object, Pool};
    use windlass_source::budget::Budget;

    fn crd(kind: &str, change: &Value) -> Object {
        let mut crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "x", "labels": {"cluster.x-k8s.io/v1beta2": "v1"}},
            "spec": {
                "group": "infrastructure.cluster.x-k8s.io", "names": {"kind": kind, "listKind": format!("{kind}List")}, "scope": "Namespaced",
                "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}}],
            },
        });
        for (pointer, value) in change.as_object().unwrap() {
            *crd.pointer_mut(pointer).unwrap() = value.clone();
        }
        Object::made(crd)
    }

    fn rules(objects: &[Object], extent: Extent) -> Vec<&'static str> {
        let budget = Budget::default();
        let found = check(&Scope {
            extent,
            ..Scope::of(&Pool::of(objects.to_vec()), None, &budget)
        });
        found
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect()
    }

    fn changed(kind: &str, change: &Value) -> Vec<&'static str> {
        rules(&[crd(kind, change)], Extent::Part)
    }

    const NONE: [&str; 0] = [];

    /// Book, "All resources: scope": the kinds that the core refers to.
    #[test]
    fn kinds_of_the_contract_are_namespaced() {
        let cluster = json!({"/spec/scope": "Cluster"});
        assert_eq!(changed("FooMachine", &cluster), ["crd-scope-cluster"]);
        assert_eq!(changed("FooMachine", &json!({})), NONE);
        assert_eq!(changed("FooClusterIdentity", &cluster), NONE);
    }

    #[test]
    fn lists_are_called_after_their_kind() {
        let objects = [crd(
            "FooIdentity",
            &json!({"/spec/names/listKind": "FooIdentitiesList"}),
        )];
        let budget = Budget::default();
        let found = check(&Scope::of(&Pool::of(objects.to_vec()), None, &budget)).into_findings();
        assert_eq!(found[0].rule.id, "crd-list-kind-wrong");
        assert_eq!(
            found[0].upstream.as_deref(),
            Some(
                "no matches for kind \"FooIdentities\" in version \"infrastructure.cluster.x-k8s.io/v1\""
            )
        );
        assert_eq!(
            changed("FooIdentity", &json!({"/spec/names/listKind": null})),
            NONE,
            "the API server fills it in"
        );
    }

    #[test]
    fn templates_belong_to_kinds() {
        let of = |kinds: &[&str]| {
            rules(
                &kinds
                    .iter()
                    .map(|kind| crd(kind, &json!({})))
                    .collect::<Vec<_>>(),
                Extent::Whole,
            )
        };
        assert_eq!(of(&["FooMachine"]), ["crd-template-kind-missing"]);
        assert_eq!(of(&["FooMachine", "FooMachineTemplate"]), NONE);
        assert_eq!(of(&["FooCluster"]), ["crd-class-template-missing"]);
        assert_eq!(of(&["FooMachinePool", "FooMachinePoolTemplate"]), NONE);
        assert_eq!(of(&["FooMachinePoolMachine"]), NONE);
        assert_eq!(
            changed("FooMachine", &json!({})),
            NONE,
            "it may be elsewhere"
        );
    }

    #[test]
    fn what_reports_its_state_has_a_status_subresource() {
        let without = json!({"/spec/versions/0/subresources": null});
        assert_eq!(
            changed("FooMachine", &without),
            ["crd-status-subresource-missing"]
        );
        assert_eq!(changed("FooMachineTemplate", &without), NONE);
        assert_eq!(
            changed(
                "FooMachine",
                &json!({"/spec/versions/0": {"name": "v1", "served": false}})
            ),
            NONE
        );
    }

    /// Book, "ControlPlane: replicas": the signature of the subresource.
    #[test]
    fn control_planes_with_replicas_can_be_scaled() {
        let of = |replicas: bool, scale: Value| {
            let spec = if replicas {
                json!({"properties": {"replicas": {"type": "integer"}}})
            } else {
                json!({})
            };
            let version = json!({
                "name": "v1", "served": true, "subresources": {"status": {}, "scale": scale},
                "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}},
            });
            changed("FooControlPlane", &json!({"/spec/versions/0": version}))
        };
        let scale = |selector: &str| json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": selector});
        assert_eq!(of(true, Value::Null), ["crd-scale-subresource-missing"]);
        assert_eq!(
            of(true, scale(".status.labels")),
            ["crd-scale-subresource-missing"]
        );
        assert_eq!(of(true, scale(".status.selector")), NONE);
        assert_eq!(of(false, Value::Null), NONE);
    }
}
