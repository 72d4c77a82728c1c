//! Kinds that the topology controller makes and that nobody works on: their CRDs take everything
//! and default nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::control_plane::ControlPlane;

/// The versions of kinds, by group and kind.
pub(crate) type Kinds = BTreeMap<(String, String), BTreeSet<String>>;

/// Creates the CRDs of all templates among some objects, and of what is made of them, with the role
/// that lets the core manager use them.
pub(super) fn install<'o>(plane: &ControlPlane, objects: impl Iterator<Item = &'o Value>) {
    let mut kinds = Kinds::new();
    for (kind, version) in objects
        .filter(|object| is_template(object))
        .flat_map(kinds_of)
    {
        kinds.entry(kind).or_default().insert(version);
    }
    allow(plane, kinds.keys().map(|(group, _)| group));
    install_kinds(plane, &kinds);
}

/// The kind of a template and that of what is made of it, by group and kind; with their version.
pub(super) fn kinds_of(template: &Value) -> [((String, String), String); 2] {
    let (group, version) = super::text(&template["apiVersion"])
        .split_once('/')
        .expect("templates have a group");
    let kind = super::text(&template["kind"]);
    [kind, kind.trim_end_matches("Template")]
        .map(|kind| ((group.to_owned(), kind.to_owned()), version.to_owned()))
}

/// Lets the core manager and the kubeadm control plane provider use what is in some groups.
pub(super) fn allow<'g>(plane: &ControlPlane, groups: impl Iterator<Item = &'g String>) {
    let groups: BTreeSet<&String> = groups.collect();
    let labels = json!({"cluster.x-k8s.io/aggregate-to-manager": "true", "kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager": "true"});
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "kinds-of-classes", "labels": labels},
        "rules": [{"apiGroups": groups, "resources": ["*"], "verbs": ["*"]}],
    });
    plane.api.apply(&role).unwrap();
}

/// Creates CRDs.
pub(crate) fn install_kinds(plane: &ControlPlane, kinds: &Kinds) {
    for ((group, kind), versions) in kinds {
        plane
            .api
            .apply(&crd(group, kind, versions))
            .unwrap_or_else(|rejection| panic!("{kind}: {rejection}"));
    }
}

/// Whether it is a template of a provider.
pub(super) fn is_template(object: &Value) -> bool {
    object["kind"]
        .as_str()
        .is_some_and(|kind| kind.ends_with("Template"))
}

/// A CRD whose versions fulfil the contract of their names.
fn crd(group: &str, kind: &str, versions: &BTreeSet<String>) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let is_old = |version: &&String| version.contains("alpha") || *version == "v1beta1";
    let joined = |all: Vec<&String>| {
        all.into_iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("_")
    };
    let contracts = [
        (
            "cluster.x-k8s.io/v1beta1",
            joined(versions.iter().filter(is_old).collect()),
        ),
        (
            "cluster.x-k8s.io/v1beta2",
            joined(versions.iter().filter(|version| !is_old(version)).collect()),
        ),
    ];
    let labels: BTreeMap<&str, String> = contracts
        .into_iter()
        .filter(|(_, versions)| !versions.is_empty())
        .collect();
    let newest = versions.iter().max();
    let version = |version: &String| {
        json!({
            "name": version, "served": true, "storage": Some(version) == newest,
            "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
        })
    };
    let plural = format!("{}s", kind.to_lowercase());
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}"), "labels": labels},
        "spec": {
            "group": group, "scope": "Namespaced", "versions": versions.iter().map(version).collect::<Vec<_>>(),
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
        },
    })
}
