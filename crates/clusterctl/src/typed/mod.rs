//! The round trip of objects through Go's types. clusterctl converts some kinds into typed objects
//! and back; on the way unknown fields vanish, fields with a zero value vanish or appear, numbers
//! are cut to their width, quantities take their canonical form.
//!
//! The types are a table (`types.txt`), so that a new Kubernetes release is new data.

mod convert;
mod encodings;
mod table;
mod unknown;

use serde_json::Value;

use super::Rejection;
use table::TABLE;
use windlass_objects::fields;
use windlass_source::diag::FieldPath;

/// A type that clusterctl knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    name: &'static str,
}

const fn known(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    name: &'static str,
) -> Known {
    Known {
        group,
        version,
        kind,
        name,
    }
}

const ADMISSION: &str = "admissionregistration.k8s.io";
const EXTENSIONS: &str = "apiextensions.k8s.io";
const CLUSTER_API: &str = "cluster.x-k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) const DEPLOYMENT: Known = known("apps", "v1", "Deployment", "apps.v1.Deployment");
pub(super) const DAEMON_SET: Known = known("apps", "v1", "DaemonSet", "apps.v1.DaemonSet");
pub(super) const CLUSTER_ROLE_BINDING: Known = known(
    RBAC,
    "v1",
    "ClusterRoleBinding",
    "rbac.v1.ClusterRoleBinding",
);
pub(super) const ROLE_BINDING: Known = known(RBAC, "v1", "RoleBinding", "rbac.v1.RoleBinding");

/// Both webhook configurations and CRDs, in the versions that clusterctl patches.
pub(super) const WEBHOOK_CARRIERS: [Known; 6] = [
    known(
        ADMISSION,
        "v1",
        "MutatingWebhookConfiguration",
        "admissionregistration.v1.MutatingWebhookConfiguration",
    ),
    known(
        ADMISSION,
        "v1",
        "ValidatingWebhookConfiguration",
        "admissionregistration.v1.ValidatingWebhookConfiguration",
    ),
    known(
        ADMISSION,
        "v1beta1",
        "MutatingWebhookConfiguration",
        "admissionregistration.v1beta1.MutatingWebhookConfiguration",
    ),
    known(
        ADMISSION,
        "v1beta1",
        "ValidatingWebhookConfiguration",
        "admissionregistration.v1beta1.ValidatingWebhookConfiguration",
    ),
    known(
        EXTENSIONS,
        "v1",
        "CustomResourceDefinition",
        "apiextensions.v1.CustomResourceDefinition",
    ),
    known(
        EXTENSIONS,
        "v1beta1",
        "CustomResourceDefinition",
        "apiextensions.v1beta1.CustomResourceDefinition",
    ),
];

/// `Cluster` in the versions in which clusterctl looks for a ClusterClass.
pub(super) const CLUSTERS: [Known; 2] = [
    known(CLUSTER_API, "v1beta1", "Cluster", "core.v1beta1.Cluster"),
    known(CLUSTER_API, "v1beta2", "Cluster", "core.v1beta2.Cluster"),
];

/// Versions of the kinds above that clusterctl's scheme holds too, but has no conversion for.
const UNCONVERTIBLE: [(&str, &str, &str); 11] = [
    ("apps", "v1beta1", "Deployment"),
    ("apps", "v1beta2", "Deployment"),
    ("apps", "v1beta2", "DaemonSet"),
    ("extensions", "v1beta1", "Deployment"),
    ("extensions", "v1beta1", "DaemonSet"),
    (RBAC, "v1beta1", "ClusterRoleBinding"),
    (RBAC, "v1beta1", "RoleBinding"),
    (RBAC, "v1alpha1", "ClusterRoleBinding"),
    (RBAC, "v1alpha1", "RoleBinding"),
    (CLUSTER_API, "v1beta1", "Cluster"),
    (CLUSTER_API, "v1beta2", "Cluster"),
];

/// Where clusterctl's source registers its types; part of its messages.
pub(super) const SCHEME: &str =
    "sigs.k8s.io/cluster-api/cmd/clusterctl/internal/scheme/scheme.go:37";

/// The known type of an object's kind and version, group not regarded, among several.
pub(super) fn find<'k>(among: &'k [Known], kind: &str, version: &str) -> Option<&'k Known> {
    among
        .iter()
        .find(|known| known.kind == kind && known.version == version)
}

/// The type into which clusterctl converts an object of a provider's components, if it does.
pub(super) fn of_components(object: &Value) -> Option<&'static Known> {
    const CONVERTED: [&Known; 4] = [
        &DEPLOYMENT,
        &DAEMON_SET,
        &CLUSTER_ROLE_BINDING,
        &ROLE_BINDING,
    ];
    let kind = fields::kind(object);
    let fixed = CONVERTED.into_iter().find(|known| known.kind == kind);
    fixed.or_else(|| find(&WEBHOOK_CARRIERS, kind, fields::group_version(object).1))
}

/// Where an object has fields that its type does not have: the conversion drops them.
pub(super) fn unknown_fields(object: &Value, of: &Known) -> Vec<FieldPath> {
    unknown::fields(&TABLE, of.name, object)
}

/// Converts an object into a type and back.
///
/// # Errors
/// In the words of Kubernetes' conversion.
pub(super) fn round_trip(object: Value, into: &Known) -> Result<Value, Rejection> {
    let (group, version) = fields::group_version(&object);
    let kind = fields::kind(&object).to_owned();
    let (group, version) = (group.to_owned(), version.to_owned());
    if version.is_empty() {
        return Err(Rejection::new(
            "Object 'apiVersion' is missing in 'unstructured object has no version'",
        ));
    }
    if group != into.group || version != into.version {
        let api_version = if group.is_empty() {
            version.clone()
        } else {
            format!("{group}/{version}")
        };
        return Err(Rejection::new(
            if UNCONVERTIBLE.contains(&(&group, &version, &kind)) {
                format!(
                    "converting ({version}.{kind}) to ({}.{kind}): unknown conversion",
                    into.version
                )
            } else {
                format!(
                    "no kind \"{kind}\" is registered for version \"{api_version}\" in scheme \"{SCHEME}\""
                )
            },
        ));
    }
    let converted = convert::object(&TABLE, into.name, object);
    converted.map_err(|fault| {
        Rejection::new(format!(
            "unable to convert unstructured object to {group}/{version}, Kind={kind}: {fault}"
        ))
    })
}
