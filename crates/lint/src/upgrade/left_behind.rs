//! Objects of the release before that nobody removes.

use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, rules};

rules! {
    /// an upgrade does not delete a cluster-scoped role of the previous release
    ROLE = warning("upgrade-role-left-behind");
}

/// Checks an object that only the old release has, in the namespace of that release. clusterctl's
/// `components.go`: CRDs, Namespaces and webhook configurations have rules of their own.
pub(super) fn check(old: &Object, namespace: &str) -> Option<Diagnostic> {
    if !matches!(old.kind(), "ClusterRole" | "ClusterRoleBinding") {
        return None;
    }
    (!old.name().starts_with(&format!("{namespace}-"))).then(|| {
        Diagnostic::of(
            &ROLE,
            format!(
                "{} is not in the new release, and `clusterctl upgrade` leaves it in place",
                old.title()
            ),
        )
        .at(old.place(&FieldPath::of_fields("metadata.name")))
        .help(format!(
            "keep the name, or tell users to run `kubectl delete {} {}`",
            old.kind().to_lowercase(),
            old.name()
        ))
        .note(format!(
            "clusterctl deletes only roles whose names begin with {namespace}-"
        ))
    })
}
