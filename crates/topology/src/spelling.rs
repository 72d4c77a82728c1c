//! How the API of a control plane spells its fields: as the contract wants it that its version
//! fulfils (`GetContractVersionForVersion` of Cluster API's `contract`, which reads the labels of
//! the CRD).

use super::CONTRACT_ASSUMED;
use super::defaults::DEFINITION;
use windlass_capi::contract::labels::CONTRACT_VERSIONS_SEPARATOR;
use windlass_capi::contract::{ContractVersion, crd_name};
use windlass_objects::{Object, Pool};
use windlass_source::diag::{Diagnostic, FieldPath};

/// The spelling of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// That of contract v1beta1.
    Old,
    /// That of contract v1beta2.
    New,
}

/// Control planes whose contract is known without their CRDs: kind, version (each without one),
/// spelling. As their providers' releases of 2026 label them.
const KNOWN: &[(&str, &str, Option<Spelling>)] = &[
    ("KubeadmControlPlane", "", None),
    ("K0sControlPlane", "", None),
    ("K0smotronControlPlane", "", None),
    ("RKE2ControlPlane", "v1beta1", Some(Spelling::New)),
    ("RKE2ControlPlane", "v1beta2", Some(Spelling::New)),
    ("KThreesControlPlane", "v1beta1", Some(Spelling::Old)),
    ("KThreesControlPlane", "v1beta2", Some(Spelling::Old)),
];

impl Spelling {
    /// That of a version that fulfils the contract of its name.
    pub(super) fn of(api_version: &str) -> Self {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        if version == "v1beta1" || version.contains("alpha") {
            Spelling::Old
        } else {
            Spelling::New
        }
    }

    /// That of what is made of a template, by its CRD where the input holds it; whether it had to
    /// be assumed.
    pub(super) fn of_control_plane(pool: &Pool, template: &Object) -> (Self, bool) {
        let (kind, version) = (made_of(template), template.version());
        if let Some(spelling) = labelled(pool, template.group(), kind, version) {
            return (spelling, false);
        }
        let known = KNOWN
            .iter()
            .find(|(known, of, _)| *known == kind && (of.is_empty() || *of == version));
        let spelling = known
            .and_then(|(_, _, spelling)| *spelling)
            .unwrap_or_else(|| Spelling::of(template.api_version()));
        (spelling, known.is_none())
    }

    /// A field below `spec.machineTemplate`.
    pub(super) fn path(self, field: &'static str) -> Vec<&'static str> {
        match self {
            Spelling::Old => vec!["spec", "machineTemplate", field],
            Spelling::New => vec!["spec", "machineTemplate", "spec", field],
        }
    }

    fn contract(self) -> ContractVersion {
        match self {
            Spelling::Old => ContractVersion::V1Beta1,
            Spelling::New => ContractVersion::V1Beta2,
        }
    }

    /// That nothing says which contract the control plane fulfils.
    pub(super) fn assumed(self, template: &Object) -> Diagnostic {
        let (kind, contract) = (made_of(template), self.contract().as_str());
        let message = format!(
            "{kind} {} is taken to fulfil contract {contract}, by the name of its version",
            template.version()
        );
        let help = format!(
            "name the file that holds the CRD {} too: its labels say which one it is",
            crd_name(template.group(), kind)
        );
        Diagnostic::of(&CONTRACT_ASSUMED, message)
            .at(template.place(&FieldPath::of_fields("apiVersion")))
            .help(help)
    }
}

fn made_of(template: &Object) -> &str {
    template
        .kind()
        .strip_suffix("Template")
        .unwrap_or(template.kind())
}

/// The contract under whose label the CRD lists the version.
fn labelled(pool: &Pool, group: &str, kind: &str, version: &str) -> Option<Spelling> {
    let definition = pool.named(DEFINITION[0], DEFINITION[1], &crd_name(group, kind))?;
    let lists = |spelling: &Spelling| {
        let versions = definition.label(&spelling.contract().label());
        versions.is_some_and(|versions| {
            versions
                .split(CONTRACT_VERSIONS_SEPARATOR)
                .any(|listed| listed == version)
        })
    };
    [Spelling::Old, Spelling::New].into_iter().find(lists)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_of_the_crd_say_the_contract_and_then_what_is_known() {
        let template = |kind: &str, version: &str| {
            Object::made(
                json!({"apiVersion": format!("controlplane.cluster.x-k8s.io/{version}"), "kind": format!("{kind}Template")}),
            )
        };
        let crd = |label: &str, versions: &str| {
            Object::made(json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "foocontrolplanes.controlplane.cluster.x-k8s.io", "labels": {label: versions}},
            }))
        };
        let check =
            |kind: &str, version: &str, definitions: Vec<Object>, expected: (Spelling, bool)| {
                let found =
                    Spelling::of_control_plane(&Pool::of(definitions), &template(kind, version));
                assert_eq!(found, expected, "{kind} {version}");
            };
        check(
            "FooControlPlane",
            "v1beta2",
            vec![crd("cluster.x-k8s.io/v1beta1", "v1beta1_v1beta2")],
            (Spelling::Old, false),
        );
        check(
            "FooControlPlane",
            "v1beta1",
            vec![crd("cluster.x-k8s.io/v1beta2", "v1beta1_v1beta2")],
            (Spelling::New, false),
        );
        check(
            "FooControlPlane",
            "v1alpha1",
            vec![crd("cluster.x-k8s.io/v1beta2", "v1beta1_v1beta2")],
            (Spelling::Old, true),
        );
        check(
            "FooControlPlane",
            "v1beta2",
            Vec::new(),
            (Spelling::New, true),
        );
        check(
            "KubeadmControlPlane",
            "v1beta1",
            Vec::new(),
            (Spelling::Old, false),
        );
        check(
            "KThreesControlPlane",
            "v1beta2",
            Vec::new(),
            (Spelling::Old, false),
        );
        check(
            "RKE2ControlPlane",
            "v1beta1",
            Vec::new(),
            (Spelling::New, false),
        );
    }
}
