//! Objects of the release before that nobody removes.

use crate::diag::{Diagnostic, FieldPath, rules};
use crate::objects::Object;

rules! {
    /// an upgrade leaves a cluster-scoped role of the release before in place
    ROLE = warning("upgrade-role-left-behind"), page(r"
`clusterctl upgrade` deletes the components of the old release before it creates the new ones, but of cluster-scoped objects only those whose name
begins with the namespace and a dash. A role that has another name and is called differently in the new release, or is gone, stays with all its
rights, and so does its binding.

Keep the name, or tell users which role to delete after the upgrade.

## Bad

```yaml previous/infrastructure-components.yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: foo-viewer
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
rules:
- apiGroups: [infrastructure.cluster.x-k8s.io]
  resources: [foomachines]
  verbs: [get, list, watch]
```

```yaml infrastructure-components.yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: foo-viewer
$patch: delete
```

## Good

```yaml previous/infrastructure-components.yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: foo-system-viewer
  labels:
    cluster.x-k8s.io/provider: infrastructure-foo
rules:
- apiGroups: [infrastructure.cluster.x-k8s.io]
  resources: [foomachines]
  verbs: [get, list, watch]
```

```yaml infrastructure-components.yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: foo-system-viewer
$patch: delete
```
");
}

/// Judges an object that only the old release has, in the namespace of that release. clusterctl's
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
