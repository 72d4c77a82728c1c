//! What still has an older contract than the wanted one, and in which release of Cluster API
//! it stops working (book: "Cluster API release vs contract versions").

use super::kind::{Definition, Promise, Version, definitions};
use super::unmet::{fixes, path_to};
use crate::Scope;
use windlass_capi::contract::labels::CONTRACT_PREFIX;
use windlass_capi::contract::{CORE_GROUP, ContractVersion, Role, book};
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Report, rules};

rules! {
    /// a kind fulfils an older contract than the requested one
    CONTRACT_OUTDATED = warning("crd-contract-outdated"), url(book::CONTRACT_VERSIONS);
    /// a kind that fulfils the requested contract still has status fields of the older one
    FIELD_OUTDATED = warning("crd-contract-field-outdated"), url(book::CONTRACT_VERSIONS);
    /// an object uses an older API version of a Cluster API type
    OBJECT_OUTDATED = warning("object-api-version-outdated"), url(book::CONTRACT_VERSIONS);
}

/// Checks by the contract that is wanted; without one there is nothing to say.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let Some(wanted) = scope.wanted_contract else {
        return Report::new();
    };
    let mut report: Report = scope
        .objects
        .iter()
        .filter_map(|object| object_outdated(object, wanted, Object::title))
        .collect();
    for (definition, role, promise, version) in promised(scope) {
        if promise.contract < wanted {
            report.push(contract_outdated(
                &definition,
                role,
                &promise,
                &version,
                wanted,
            ));
        } else if wanted == ContractVersion::V1Beta2 {
            report.extend(fields_outdated(&definition, role, &version));
        }
    }
    report
}

/// The kinds that Cluster API looks up by contract, each with its role, the newest contract that it
/// promises, and the version that Cluster API takes.
fn promised<'a>(
    scope: &Scope<'a>,
) -> impl Iterator<Item = (Definition<'a>, Role, Promise<'a>, Version<'a>)> {
    definitions(scope).into_iter().filter_map(|definition| {
        let (role, promise) = (definition.looked_up()?, definition.newest_promise()?);
        let version = definition.served().remove(promise.taken())?;
        Some((definition, role, promise, version))
    })
}

/// The kinds whose newest contract is older than `wanted`: the contract, and the finding with the
/// way to the newer one.
pub fn contracts_outdated(
    scope: &Scope<'_>,
    wanted: ContractVersion,
) -> Vec<(ContractVersion, Diagnostic)> {
    promised(scope)
        .filter(|(_, _, promise, _)| promise.contract < wanted)
        .map(|(definition, role, promise, version)| {
            let finding = contract_outdated(&definition, role, &promise, &version, wanted);
            (promise.contract, finding)
        })
        .collect()
}

/// The release that reads a contract no more.
fn end(contract: ContractVersion) -> String {
    contract.ends_with().map_or_else(String::new, |release| {
        format!(
            "{} ({}) no longer reads contract {}",
            release.name(),
            release.month(),
            contract.as_str()
        )
    })
}

fn contract_outdated(
    definition: &Definition<'_>,
    role: Role,
    promise: &Promise<'_>,
    version: &Version<'_>,
    wanted: ContractVersion,
) -> Diagnostic {
    let (kind, crd, contract) = (definition.kind(), definition.crd, promise.contract);
    let place = crd.place(&FieldPath::of_fields("metadata.labels").key(contract.label()));
    let message = format!(
        "{kind} fulfils contract {}, not {}",
        contract.as_str(),
        wanted.as_str()
    );
    let label = format!(
        "label {} `{}: {}`",
        crd.title(),
        wanted.label(),
        version.name
    );
    let fixes = version
        .schema()
        .map(|schema| fixes(schema, role, wanted))
        .unwrap_or_default();
    let help = if fixes.is_empty() {
        label
    } else {
        format!("in {} {fixes}; then {label}", version.name)
    };
    Diagnostic::of(&CONTRACT_OUTDATED, message)
        .at(place)
        .help(help)
        .note(end(contract))
}

/// That the labels which a kustomization puts on CRDs are of an older contract: in sources they
/// stand there and not in the CRDs.
pub fn labels_outdated<'l>(
    labels: impl IntoIterator<Item = (&'l str, Place)>,
    wanted: ContractVersion,
) -> Option<Diagnostic> {
    let promised = |(key, place): (&str, Place)| {
        Some((
            ContractVersion::parse(key.strip_prefix(CONTRACT_PREFIX)?)?,
            place,
        ))
    };
    let (contract, place) = labels
        .into_iter()
        .filter_map(promised)
        .max_by_key(|(contract, _)| *contract)?;
    if contract >= wanted {
        return None;
    }
    let message = format!(
        "the kustomization labels its CRDs for contract {}, not {}",
        contract.as_str(),
        wanted.as_str()
    );
    let help = format!(
        "once the CRDs fulfil it, add `{}: VERSION` beside this label",
        wanted.label()
    );
    Some(
        Diagnostic::of(&CONTRACT_OUTDATED, message)
            .at(place)
            .help(help)
            .note(end(contract)),
    )
}

/// Fields by which a kind reports as contract v1beta1 has it, and what takes their place. The core
/// reads them as long as it reads v1beta1.
const OLD_FIELDS: &[(&str, &str)] = &[
    (
        "status.conditions[].severity",
        "conditions as Kubernetes has them (`metav1.Condition`), without severity",
    ),
    (
        "status.failureReason",
        "a condition with a documented type and reason",
    ),
    (
        "status.failureMessage",
        "a condition with a documented type and reason",
    ),
];

const OLD_FIELDS_OF: &[(Role, &str, &str)] = &[(
    Role::InfraMachine,
    "spec.failureDomain",
    "`status.failureDomain`, for where the machine was placed",
)];

fn fields_outdated(
    definition: &Definition<'_>,
    role: Role,
    version: &Version<'_>,
) -> Vec<Diagnostic> {
    let Some(schema) = version.schema().filter(|_| role.has_status()) else {
        return Vec::new();
    };
    let of_role = OLD_FIELDS_OF
        .iter()
        .filter(|(of, ..)| *of == role)
        .map(|(_, path, instead)| (*path, *instead));
    let old = OLD_FIELDS
        .iter()
        .copied()
        .chain(of_role)
        .filter_map(|(path, instead)| Some((path, instead, path_to(schema, path)?)));
    let finding = |(path, instead, at): (&str, &str, FieldPath)| {
        let message = format!(
            "{} {} still has `{path}` of contract v1beta1",
            definition.kind(),
            version.name
        );
        Diagnostic::of(&FIELD_OUTDATED, message)
            .at(definition.crd.key_place(&version.schema_path().join(&at)))
            .help(format!("use {instead}"))
            .note(end(ContractVersion::V1Beta1))
    };
    old.map(finding).collect()
}

/// Groups of Cluster API's own types, and how their kinds begin; empty when all kinds of the group
/// are its own.
const OWN_TYPES: [(&str, &str); 6] = [
    (CORE_GROUP, ""),
    ("addons.cluster.x-k8s.io", "ClusterResourceSet"),
    ("bootstrap.cluster.x-k8s.io", "Kubeadm"),
    ("controlplane.cluster.x-k8s.io", "Kubeadm"),
    ("ipam.cluster.x-k8s.io", "IPAddress"),
    ("runtime.cluster.x-k8s.io", "ExtensionConfig"),
];

/// Versions of Cluster API's types are called like contracts, and end with them (book: "Cluster API
/// release vs API versions").
pub(crate) fn object_outdated(
    object: &Object,
    wanted: ContractVersion,
    title: impl FnOnce(&Object) -> String,
) -> Option<Diagnostic> {
    OWN_TYPES
        .iter()
        .find(|(group, kind)| *group == object.group() && object.kind().starts_with(kind))?;
    let version = ContractVersion::parse(object.version());
    let is_older = version.is_some_and(|version| version < wanted) || is_alpha_of(object, wanted);
    if !is_older {
        return None;
    }
    let message = format!("{} is written in {}", title(object), object.api_version());
    let finding = Diagnostic::of(&OBJECT_OUTDATED, message)
        .at(object.place(&FieldPath::of_fields("apiVersion")));
    let finding = finding.help(format!(
        "write it in `apiVersion: {}/{}`",
        object.group(),
        wanted.as_str()
    ));
    let end = version.and_then(|version| Some((version, version.ends_with()?)));
    Some(
        finding.note(end.map_or_else(String::new, |(version, release)| {
            format!(
                "{} ({}) no longer serves {}",
                release.name(),
                release.month(),
                version.as_str()
            )
        })),
    )
}

/// Types that began as v1alpha1 after the contracts of that name were over, and the first version
/// after it.
const ALPHAS: [(&str, ContractVersion); 2] = [
    ("ipam.cluster.x-k8s.io", ContractVersion::V1Beta1),
    ("runtime.cluster.x-k8s.io", ContractVersion::V1Beta2),
];

fn is_alpha_of(object: &Object, wanted: ContractVersion) -> bool {
    object.version() == "v1alpha1"
        && ALPHAS
            .iter()
            .any(|(group, next)| *group == object.group() && *next <= wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use windlass_objects::Pool;
    use windlass_source::budget::Budget;

    fn crd(kind: &str, labels: Value, properties: Value) -> Object {
        Object::made(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x", "labels": labels},
            "spec": {"group": "infrastructure.cluster.x-k8s.io", "names": {"kind": kind}, "versions": [
                {"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"properties": properties}}},
            ]},
        }))
    }

    fn told(object: Object, wanted: Option<ContractVersion>) -> Vec<String> {
        let (objects, budget) = ([object], Budget::default());
        let found = check(&Scope {
            wanted_contract: wanted,
            ..Scope::of(&Pool::of(objects.to_vec()), None, &budget)
        });
        found
            .into_iter()
            .map(|finding| {
                format!(
                    "{}: {}: {}",
                    finding.rule.id,
                    finding.message,
                    finding
                        .notes
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join(" ")
                )
            })
            .collect()
    }

    const WANTED: Option<ContractVersion> = Some(ContractVersion::V1Beta2);
    const NONE: [&str; 0] = [];

    /// Book, "Cluster API release vs contract versions": v1beta1 is over in v1.16.
    #[test]
    fn kinds_of_the_older_contract_are_told() {
        let of =
            |label: &str, wanted| told(crd("FooMachine", json!({label: "v1"}), json!({})), wanted);
        assert_eq!(
            of("cluster.x-k8s.io/v1beta1", WANTED),
            [
                "crd-contract-outdated: FooMachine fulfils contract v1beta1, not v1beta2: Cluster API v1.16 (April 2027) no longer reads contract v1beta1"
            ]
        );
        assert_eq!(of("cluster.x-k8s.io/v1beta1", None), NONE);
        assert_eq!(
            of("cluster.x-k8s.io/v1beta1", Some(ContractVersion::V1Beta1)),
            NONE
        );
        assert_eq!(of("cluster.x-k8s.io/v1beta2", WANTED), NONE);
    }

    /// Book, "InfraMachine: conditions", "terminal failures", "failure domain": what is read until
    /// v1beta1 is over.
    #[test]
    fn fields_of_the_older_contract_are_told() {
        let of = |properties| {
            let found = told(
                crd(
                    "FooMachine",
                    json!({"cluster.x-k8s.io/v1beta2": "v1"}),
                    properties,
                ),
                WANTED,
            );
            found
                .into_iter()
                .map(|text| text.split('`').nth(1).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let conditions = |field: &str| json!({"status": {"properties": {"conditions": {"items": {"properties": {field: {}}}}}}});
        assert_eq!(of(conditions("severity")), ["status.conditions[].severity"]);
        assert_eq!(of(conditions("reason")), NONE);
        assert_eq!(
            of(json!({"status": {"properties": {"failureReason": {}}}})),
            ["status.failureReason"]
        );
        assert_eq!(
            of(json!({"spec": {"properties": {"failureDomain": {}}}})),
            ["spec.failureDomain"]
        );
        assert_eq!(
            of(json!({"status": {"properties": {"failureDomain": {}, "deprecated": {}}}})),
            NONE
        );
    }

    #[test]
    fn objects_of_older_versions_are_told() {
        let of = |api_version, kind| {
            told(
                Object::made(
                    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}),
                ),
                WANTED,
            )
        };
        assert_eq!(
            of("cluster.x-k8s.io/v1beta1", "Cluster"),
            [
                "object-api-version-outdated: Cluster/x is written in cluster.x-k8s.io/v1beta1: Cluster API v1.16 (April 2027) no longer serves v1beta1"
            ]
        );
        assert_eq!(
            of(
                "bootstrap.cluster.x-k8s.io/v1beta1",
                "KubeadmConfigTemplate"
            )
            .len(),
            1
        );
        assert_eq!(
            of("bootstrap.cluster.x-k8s.io/v1beta1", "FooConfigTemplate"),
            NONE
        );
        assert_eq!(of("cluster.x-k8s.io/v1beta2", "Cluster"), NONE);
        assert_eq!(
            of("runtime.cluster.x-k8s.io/v1alpha1", "ExtensionConfig"),
            [
                "object-api-version-outdated: ExtensionConfig/x is written in runtime.cluster.x-k8s.io/v1alpha1: "
            ]
        );
        assert_eq!(
            of("ipam.cluster.x-k8s.io/v1alpha1", "IPAddressClaim").len(),
            1
        );
        assert_eq!(of("ipam.cluster.x-k8s.io/v1alpha1", "FooPool"), NONE);
    }

    /// ExtensionConfig has no v1beta1 (Cluster API, api/runtime).
    #[test]
    fn the_first_version_is_not_old_before_the_second() {
        let object = Object::made(
            json!({"apiVersion": "runtime.cluster.x-k8s.io/v1alpha1", "kind": "ExtensionConfig"}),
        );
        assert_eq!(told(object, Some(ContractVersion::V1Beta1)), NONE);
    }
}
