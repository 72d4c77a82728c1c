//! Objects that no rule covers: what `lint` reads and says nothing about.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::object_check;
use windlass_bootstrap::preflight::core_kinds;
use windlass_bootstrap::render::input::target::ConfigKind;
use windlass_lint::templates::Known;
use windlass_objects::Object;

/// Objects of a kind whose content was not checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UncheckedKind {
    /// The API group; empty for the core group of Kubernetes.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// How many objects of the kind there are.
    pub objects: usize,
}

/// Groups whose kinds all have rules about releases.
const GROUPS: [&str; 4] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apps",
    "rbac.authorization.k8s.io",
];

/// Kinds of other groups that rules cover.
const KINDS: [(&str, &str); 8] = [
    ("", "Namespace"),
    ("", "Pod"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("cert-manager.io", "Certificate"),
    ("cert-manager.io", "Issuer"),
    ("cert-manager.io", "ClusterIssuer"),
    ("clusterctl.cluster.x-k8s.io", "Metadata"),
];

/// Counts of objects by group and kind.
#[derive(Debug, Default)]
pub(super) struct Unchecked(BTreeMap<(String, String), usize>);

impl Unchecked {
    /// Counts the objects that neither a rule nor a known CRD covers.
    pub(super) fn add(&mut self, objects: &[Object], known: &[&Known]) {
        for object in objects.iter().filter(|object| !object.kind().is_empty()) {
            let (group, kind) = (object.group(), object.kind());
            if !is_covered(object) && !known.iter().any(|known| known.has(group, kind)) {
                *self
                    .0
                    .entry((group.to_owned(), kind.to_owned()))
                    .or_default() += 1;
            }
        }
    }

    pub(super) fn into_kinds(self) -> Vec<UncheckedKind> {
        let kind = |((group, kind), objects)| UncheckedKind {
            group,
            kind,
            objects,
        };
        self.0.into_iter().map(kind).collect()
    }
}

fn is_covered(object: &Object) -> bool {
    let (group, kind) = (object.group(), object.kind());
    let is_of_cluster_api = object_check::is_checked(object)
        && (core_kinds::is_judged(object) || ConfigKind::of(object).is_some());
    is_of_cluster_api
        || ConfigKind::of(object).is_some()
        || GROUPS.contains(&group)
        || KINDS.contains(&(group, kind))
}

/// What was not checked: `2 objects (ConfigMap, InfrastructureProvider)`.
pub fn counted(kinds: &[UncheckedKind]) -> Option<String> {
    const SHOWN: usize = 6;
    let objects: usize = kinds.iter().map(|kind| kind.objects).sum();
    let mut names: Vec<&str> = kinds.iter().map(|kind| kind.kind.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more kinds"),
    };
    names.truncate(SHOWN);
    let objects = windlass_report::text::plural(objects, "object");
    (!kinds.is_empty()).then(|| format!("{objects} ({}{more})", names.join(", ")))
}
