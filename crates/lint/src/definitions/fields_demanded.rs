//! The fields that the contract demands of a kind, looked for in the schemas of the versions that
//! are labelled for it.

use std::collections::BTreeSet;

use super::kind::{Definition, Version, definitions};
use super::unmet::{Fault, Wrong, faults, fix};
use crate::{Extent, Scope};
use windlass_capi::contract::{ContractVersion, Role, book};
use windlass_source::diag::{Diagnostic, Report, rules};

rules! {
    /// a CRD lacks a field that the core reads
    MISSING = error("crd-contract-field-missing"), url(book::CONTRACTS), catalogue("R16 R17 R18 R19 R20 R21");
    /// a field that the core reads has a different type than the contract defines
    TYPE_WRONG = error("crd-contract-field-type-wrong"), url(book::CONTRACTS), catalogue("R16 R17 R18 R19 R20 R21 R23");
    /// a template does not contain the spec of its objects at the path of the contract
    TEMPLATE_SHAPE = error("crd-template-shape-wrong"), url(book::INFRA_MACHINE_TEMPLATE), catalogue("R10");
    /// a version lacks fields of the contract that it is labelled with
    INCOMPLETE = warning("crd-contract-incomplete"), url(book::CONTRACTS), catalogue("R16 R17 R18 R19 R20 R21 R23");
}

/// Checks the schemas of all kinds that have a role.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let definitions = definitions(scope);
    let kinds: BTreeSet<(&str, &str)> = definitions
        .iter()
        .map(|definition| (definition.group(), definition.kind()))
        .collect();
    let mut report = Report::new();
    for definition in &definitions {
        let Some(role) = definition.role else {
            continue;
        };
        let has_template = kinds.contains(&(
            definition.group(),
            format!("{}Template", definition.kind()).as_str(),
        ));
        let classes = match scope.extent {
            _ if has_template => Classes::Can,
            Extent::Whole => Classes::Cannot,
            Extent::Part => Classes::May,
        };
        for promised in promised(definition) {
            report.extend(judge(definition, role, &promised, classes));
        }
    }
    report
}

/// Whether a ClusterClass can use a kind, for which it needs the template.
#[derive(Clone, Copy, PartialEq)]
enum Classes {
    Can,
    /// The template may be elsewhere.
    May,
    Cannot,
}

/// A version that somebody says to fulfil a contract.
struct Promised<'a> {
    contract: ContractVersion,
    version: Version<'a>,
    /// Whether it is the one that the core takes.
    is_taken: bool,
}

/// The served versions that are labelled; of the core's own kinds, which have no labels, those that
/// are called like a contract.
fn promised<'a>(definition: &Definition<'a>) -> Vec<Promised<'a>> {
    let served = definition.served();
    let promised = |contract, name: &str, is_taken| {
        Some(Promised {
            contract,
            version: *served.get(name)?,
            is_taken,
        })
    };
    if definition.looked_up().is_none() {
        return ContractVersion::ALL
            .into_iter()
            .filter_map(|contract| promised(contract, contract.as_str(), false))
            .collect();
    }
    let newest = definition.newest_promise().map(|promise| promise.contract);
    let mut found = Vec::new();
    for promise in definition.promises() {
        let taken = promise.taken();
        let is_taken = |name: &str| newest == Some(promise.contract) && name == taken;
        found.extend(
            promise
                .versions
                .iter()
                .filter_map(|name| promised(promise.contract, name, is_taken(name))),
        );
    }
    found
}

fn judge(
    definition: &Definition<'_>,
    role: Role,
    promised: &Promised<'_>,
    classes: Classes,
) -> Vec<Diagnostic> {
    let Some(schema) = promised.version.schema() else {
        return Vec::new();
    };
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for fault in faults(schema, role, promised.contract) {
        match fault
            .effect(classes == Classes::Can)
            .filter(|_| promised.is_taken)
        {
            Some(effect) => found.push(broken(definition, role, promised, &fault, effect)),
            // In the version that it takes the core reads what is left of the older contract; who
            // asks for the newer one is reported.
            None if promised.is_taken && fault.wrong == Wrong::Left => {}
            None => unread.push(fault),
        }
    }
    found.extend(incomplete(definition, promised, &unread, classes));
    found
}

fn broken(
    definition: &Definition<'_>,
    role: Role,
    promised: &Promised<'_>,
    fault: &Fault,
    effect: &str,
) -> Diagnostic {
    let (kind, version, contract, path) = (
        definition.kind(),
        promised.version.name,
        promised.contract,
        fault.demand.path,
    );
    let (rule, message) = match &fault.wrong {
        Wrong::Type(found) => {
            let wanted = fault.demand.of_type;
            (
                &TYPE_WRONG,
                format!(
                    "`{path}` of {kind} {version} is of type {found}; contract {} demands {wanted}",
                    contract.as_str()
                ),
            )
        }
        _ => (
            &MISSING,
            format!(
                "{version} of {kind} has no `{path}`, which contract {} demands",
                contract.as_str()
            ),
        ),
    };
    let place = definition
        .crd
        .key_place(&promised.version.schema_path().join(&fault.at));
    Diagnostic::of(
        if role.is_template() {
            &TEMPLATE_SHAPE
        } else {
            rule
        },
        message,
    )
    .at(place)
    .help(format!("write {}", fault.line()))
    .note(effect)
    .note(format!("{}: {}", role.as_str(), fault.demand.url(contract)))
}

/// What the core does not read, of one version, or perhaps reads.
fn incomplete(
    definition: &Definition<'_>,
    promised: &Promised<'_>,
    faults: &[Fault],
    classes: Classes,
) -> Option<Diagnostic> {
    let first = faults.first()?;
    let (version, label) = (promised.version, promised.contract.label());
    let message = format!(
        "{} of {} does not fulfil contract {} as a whole: {}",
        version.name,
        definition.kind(),
        promised.contract.as_str(),
        told(faults)
    );
    let fixes = fix(faults);
    let place = definition
        .crd
        .key_place(&version.schema_path().join(&first.at));
    let finding = Diagnostic::of(&INCOMPLETE, message).at(place);
    let finding = if promised.is_taken || definition.looked_up().is_none() {
        let is_perhaps_read = |fault: &Fault| {
            promised.is_taken && classes == Classes::May && fault.effect(true).is_some()
        };
        finding
            .help(fixes)
            .note(match faults.iter().any(is_perhaps_read) {
                true => "the core reads it in Clusters of a ClusterClass",
                false => "the core does not read it today",
            })
    } else {
        let help = format!(
            "take {} out of the label `{label}`, or {fixes}",
            version.name
        );
        finding
            .help(help)
            .note("Cluster API uses another version; only clients of this one are affected")
    };
    Some(finding.note(first.demand.url(promised.contract)))
}

fn told(faults: &[Fault]) -> String {
    let paths = |wrong: &Wrong| {
        let paths: Vec<&str> = faults
            .iter()
            .filter(|fault| fault.wrong == *wrong)
            .map(|fault| fault.demand.path)
            .collect();
        (!paths.is_empty()).then(|| format!("`{}`", paths.join("`, `")))
    };
    let missing = paths(&Wrong::Missing).map(|paths| format!("it has no {paths}"));
    let left = paths(&Wrong::Left).map(|paths| format!("it still has {paths}"));
    let other = faults.iter().filter_map(|fault| match &fault.wrong {
        Wrong::Type(found) => Some(format!("`{}` is of type {found}", fault.demand.path)),
        _ => None,
    });
    missing
        .into_iter()
        .chain(left)
        .chain(other)
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use windlass_objects::{Object, Pool};
    use windlass_source::budget::Budget;

    /// A schema from paths and types: `status.conditions[].type: string`.
    fn schema(paths: &str) -> Value {
        let mut root = json!({"type": "object", "properties": {}});
        for line in paths.split_whitespace() {
            let (path, of_type) = line.split_once(':').unwrap();
            let mut at = &mut root;
            for step in path.split('.') {
                let name = step.trim_end_matches("[]");
                at = &mut at["properties"][name];
                if step != name {
                    at = &mut at["items"];
                }
            }
            at["type"] = of_type.into();
        }
        root
    }

    fn crd(kind: &str, labels: Value, versions: &[(&str, &str)]) -> Object {
        let version = |(name, paths): &(&str, &str)| json!({"name": name, "served": true, "schema": {"openAPIV3Schema": schema(paths)}});
        let versions: Vec<Value> = versions.iter().map(version).collect();
        Object::made(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x", "labels": labels},
            "spec": {"group": "infrastructure.cluster.x-k8s.io", "names": {"kind": kind}, "versions": versions},
        }))
    }

    fn findings(objects: &[Object]) -> Vec<Diagnostic> {
        let budget = Budget::default();
        check(&Scope::of(&Pool::of(objects.to_vec()), None, &budget)).into_findings()
    }

    fn told_of(kind: &str, contract: &str, paths: &str) -> Vec<String> {
        let mut labels = serde_json::Map::new();
        labels.insert(format!("cluster.x-k8s.io/{contract}"), "v1".into());
        let found = findings(&[crd(kind, labels.into(), &[("v1", paths)])]);
        found
            .into_iter()
            .map(|finding| format!("{}: {}", finding.rule.id, finding.message))
            .collect()
    }

    const NONE: [&str; 0] = [];

    /// Book, "InfraMachine: provider ID", "InfraMachine: initialization completed" (v1beta2), and
    /// the same of release 1.10 (v1beta1).
    #[test]
    fn each_contract_has_its_fields() {
        let (old, new) = (
            "spec.providerID:string status.ready:boolean",
            "spec.providerID:string status.initialization.provisioned:boolean",
        );
        assert_eq!(told_of("FooMachine", "v1beta1", old), NONE);
        assert_eq!(told_of("FooMachine", "v1beta2", new), NONE);
        assert_eq!(
            told_of("FooMachine", "v1beta2", old),
            [
                "crd-contract-field-missing: v1 of FooMachine has no `status.initialization.provisioned`, which contract v1beta2 demands"
            ]
        );
        assert_eq!(
            told_of("FooMachine", "v1beta1", new),
            [
                "crd-contract-field-missing: v1 of FooMachine has no `status.ready`, which contract v1beta1 demands"
            ]
        );
        assert_eq!(told_of("FooMachine", "v1beta2", "").len(), 2);
        assert_eq!(told_of("FooIdentity", "v1beta2", ""), NONE);
        assert_eq!(told_of("FooMachinePoolMachine", "v1beta2", old).len(), 1);
    }

    /// Book, "InfraCluster: failure domains": a map with v1beta1, a list of objects with names with
    /// v1beta2.
    #[test]
    fn types_are_those_of_the_contract() {
        let (old, new) = (
            "status.ready:boolean",
            "status.initialization.provisioned:boolean",
        );
        let (map, list) = (
            "status.failureDomains:object",
            "status.failureDomains:array status.failureDomains[].name:string",
        );
        assert_eq!(
            told_of("FooCluster", "v1beta1", &format!("{old} {map}")),
            NONE
        );
        assert_eq!(
            told_of("FooCluster", "v1beta2", &format!("{new} {list}")),
            NONE
        );
        assert_eq!(
            told_of("FooCluster", "v1beta2", &format!("{new} {map}")),
            [
                "crd-contract-field-type-wrong: `status.failureDomains` of FooCluster v1 is of type object; contract v1beta2 demands array"
            ]
        );
        assert_eq!(
            told_of(
                "FooCluster",
                "v1beta2",
                &format!("{new} status.failureDomains:array status.failureDomains[].x:string")
            ),
            [
                "crd-contract-field-missing: v1 of FooCluster has no `status.failureDomains[].name`, which contract v1beta2 demands"
            ]
        );
        assert_eq!(
            told_of("FooCluster", "v1beta1", &format!("{old} {list}")).len(),
            1
        );
        assert_eq!(
            told_of(
                "FooCluster",
                "v1beta2",
                "status.initialization.provisioned:string"
            )
            .len(),
            1
        );
    }

    /// Book, "InfraCluster: control plane endpoint": host and port.
    #[test]
    fn parts_are_demanded_where_the_whole_is() {
        let provisioned = "status.initialization.provisioned:boolean";
        let of = |endpoint: &str| {
            told_of(
                "FooCluster",
                "v1beta2",
                &format!("{provisioned} {endpoint}"),
            )
            .len()
        };
        assert_eq!(of("spec.region:string"), 0);
        assert_eq!(
            of("spec.controlPlaneEndpoint.host:string spec.controlPlaneEndpoint.port:integer"),
            0
        );
        assert_eq!(of("spec.controlPlaneEndpoint.host:string"), 1);
        assert_eq!(
            of("spec.controlPlaneEndpoint:string"),
            1,
            "the parts are not told"
        );
    }

    /// Book, "InfraMachine: failure domain" and "InfraMachine: addresses".
    #[test]
    fn places_of_machines_are_texts() {
        let machine = "spec.providerID:string status.initialization.provisioned:boolean";
        let of = |paths: &str| told_of("FooMachine", "v1beta2", &format!("{machine} {paths}"));
        assert_eq!(
            of("spec.failureDomain:string status.failureDomain:string"),
            NONE
        );
        for wrong in ["spec.failureDomain:object", "status.failureDomain:array"] {
            let found = of(wrong);
            assert!(
                found.len() == 1 && found[0].starts_with("crd-contract-field-type-wrong: "),
                "{wrong}: {found:?}"
            );
        }
        assert_eq!(
            of("status.addresses[].type:string status.addresses[].address:string"),
            NONE
        );
        assert_eq!(of("status.addresses[].type:string").len(), 1);
    }

    #[test]
    fn open_schemas_may_hold_every_field() {
        let mut open = schema("spec.providerID:string");
        open["properties"]["status"] =
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        assert!(faults(&open, Role::InfraMachine, ContractVersion::V1Beta2).is_empty());
        open["properties"]["status"] = json!({"type": "object"});
        assert_eq!(
            faults(&open, Role::InfraMachine, ContractVersion::V1Beta2).len(),
            1,
            "the API server prunes"
        );
    }

    /// Book, "ControlPlane: replicas", "ControlPlane: version"; what the core does without them
    /// only touches ClusterClasses.
    #[test]
    fn control_planes_report_what_they_support() {
        let objects = |paths: &str, class: bool| {
            let labels = json!({"cluster.x-k8s.io/v1beta2": "v1"});
            let paths = format!("status.initialization.controlPlaneInitialized:boolean {paths}");
            let mut objects = vec![crd(
                "FooControlPlane",
                labels.clone(),
                &[("v1", paths.as_str())],
            )];
            objects.extend(class.then(|| crd("FooControlPlaneTemplate", labels, &[("v1", "")])));
            findings(&objects)
                .into_iter()
                .map(|finding| finding.rule.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(objects("", true), NONE);
        assert_eq!(
            objects("spec.version:string status.version:string", true),
            NONE
        );
        assert_eq!(
            objects("spec.version:string status.versions:array", true),
            NONE
        );
        assert_eq!(
            objects("spec.version:string", true),
            ["crd-contract-field-missing"]
        );
        assert_eq!(
            objects("spec.version:string", false),
            ["crd-contract-incomplete"]
        );
        let counters =
            "status.replicas:integer status.readyReplicas:integer status.availableReplicas:integer";
        let replicas = format!("spec.replicas:integer status.selector:string {counters}");
        assert_eq!(
            objects(&format!("{replicas} status.upToDateReplicas:integer"), true),
            NONE
        );
        assert_eq!(
            objects(&format!("{replicas} status.updatedReplicas:integer"), true),
            ["crd-contract-field-missing"]
        );
        let moved = "spec.machineTemplate.infrastructureRef:object";
        assert_eq!(objects(moved, true), ["crd-contract-field-missing"]);
        assert_eq!(
            objects("spec.machineTemplate.spec.infrastructureRef:object", true),
            NONE
        );
    }

    /// The template of a kind, without which no ClusterClass can use it, may be in another folder.
    #[test]
    fn what_is_elsewhere_may_have_classes() {
        let labels = json!({"cluster.x-k8s.io/v1beta2": "v1"});
        let paths = "status.initialization.controlPlaneInitialized:boolean spec.version:string";
        let (pool, budget) = (
            Pool::of(vec![crd("FooControlPlane", labels, &[("v1", paths)])]),
            Budget::default(),
        );
        let note = |extent| {
            let [finding] = check(&Scope {
                extent,
                ..Scope::of(&pool, None, &budget)
            })
            .into_findings()
            .try_into()
            .unwrap();
            (finding.rule.id, finding.notes[0].to_string())
        };
        assert_eq!(
            note(Extent::Whole),
            (INCOMPLETE.id, "the core does not read it today".to_owned())
        );
        assert_eq!(
            note(Extent::Part),
            (
                INCOMPLETE.id,
                "the core reads it in Clusters of a ClusterClass".to_owned()
            )
        );
    }

    /// Book, "InfraMachineTemplate, InfraMachineTemplateList resource definition".
    #[test]
    fn templates_hold_the_spec() {
        let of = |paths| told_of("FooMachineTemplate", "v1beta2", paths);
        assert_eq!(
            of("spec.template.spec:object spec.template.metadata:object"),
            NONE
        );
        assert_eq!(of(""), NONE, "there is nothing to lose");
        assert_eq!(of("spec.size:string").len(), 1);
        assert!(of("spec.template.size:string")[0].starts_with(
            "crd-template-shape-wrong: v1 of FooMachineTemplate has no `spec.template.spec`"
        ));
    }

    /// What the core does not read weighs less: versions that it does not take, and
    /// `status.initialization` of pools up to v1.14.
    #[test]
    fn what_the_core_does_not_read_is_incomplete() {
        let (old, new) = (
            "spec.providerID:string status.ready:boolean",
            "spec.providerID:string status.initialization.provisioned:boolean",
        );
        let machine = crd(
            "FooMachine",
            json!({"cluster.x-k8s.io/v1beta2": "v1alpha1_v1"}),
            &[("v1alpha1", old), ("v1", new)],
        );
        let found = findings(&[machine]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].rule.id, "crd-contract-incomplete");
        assert_eq!(
            found[0].message,
            "v1alpha1 of FooMachine does not fulfil contract v1beta2 as a whole: it has no `status.initialization.provisioned`"
        );
        let old = format!(
            "{new} status.conditions[].type:string status.conditions[].status:string status.conditions[].severity:string"
        );
        let machine = crd(
            "FooMachine",
            json!({"cluster.x-k8s.io/v1beta2": "v1alpha1_v1"}),
            &[("v1alpha1", &old), ("v1", &old)],
        );
        let found: Vec<String> = findings(&[machine])
            .into_iter()
            .map(|finding| finding.message.to_string())
            .collect();
        assert_eq!(
            found,
            [
                "v1alpha1 of FooMachine does not fulfil contract v1beta2 as a whole: it still has `status.conditions[].severity`"
            ],
            "in v1 the core reads it"
        );
        let pool = "spec.providerIDList:array status.replicas:integer";
        let rules = |paths: &str| told_of("FooMachinePool", "v1beta2", &format!("{pool} {paths}"));
        assert!(rules("status.ready:boolean")[0].starts_with("crd-contract-incomplete"));
        assert!(
            rules("status.initialization.provisioned:boolean")[0]
                .starts_with("crd-contract-field-missing")
        );
        assert_eq!(
            rules("status.ready:boolean status.initialization.provisioned:boolean"),
            NONE
        );
    }

    /// Book, "IPAM Provider Specification": the kinds have no labels, and the core serves them in
    /// versions that are called like contracts.
    #[test]
    fn kinds_of_the_core_are_judged_by_their_version() {
        let of = |paths| {
            let mut claim = crd("IPAddressClaim", json!({}), &[("v1beta2", paths)]).into_value();
            claim["spec"]["group"] = "ipam.cluster.x-k8s.io".into();
            findings(&[Object::made(claim)]).len()
        };
        assert_eq!(of("spec.poolRef:object status.addressRef:object"), 0);
        assert_eq!(of("spec.poolRef:object"), 1);
    }
}
