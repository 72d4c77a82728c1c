//! Fields of objects other than CRDs that the API server never lets change.

use serde_json::Value;

use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::objects::Object;

rules! {
    /// a field changes that the API server never lets change
    IMMUTABLE = warning("upgrade-field-immutable"), page(r"
`clusterctl upgrade` deletes these objects and creates them again, so it does not notice. `kubectl apply`, Flux, Argo CD and whoever else changes
objects in place end with an error, often in the middle of the upgrade.

Keep the value, or give the object a new name.

## Bad

```yaml infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: foo-controller-manager
  namespace: foo-system
spec:
  selector:
    matchLabels:
      app: foo
  template:
    metadata:
      labels:
        app: foo
```

```yaml previous/infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: foo-controller-manager
  namespace: foo-system
spec:
  replicas: 1
```

## Good

```yaml infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: foo-controller-manager
  namespace: foo-system
spec:
  replicas: 2
```
");
}

/// Kinds, and the fields of theirs that never change (Kubernetes' validation of updates).
const FIELDS: &[(&str, &str, &[&str])] = &[
    ("apps", "DaemonSet", &["spec.selector"]),
    ("apps", "Deployment", &["spec.selector"]),
    (
        "apps",
        "StatefulSet",
        &["spec.selector", "spec.serviceName", "spec.volumeClaimTemplates", "spec.podManagementPolicy"],
    ),
    ("batch", "Job", &["spec.selector", "spec.template"]),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &["roleRef"]),
    ("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"]),
];

/// Judges an object that both releases have.
pub(super) fn check(old: &Object, new: &Object) -> Report {
    let fields = FIELDS.iter().find(|(group, kind, _)| new.is(group, kind)).map_or(&[] as &[&str], |(_, _, fields)| fields);
    let changed = fields.iter().map(|field| FieldPath::of_fields(field)).filter(|path| value(old, path) != value(new, path));
    let finding = |path: FieldPath| {
        Diagnostic::of(&IMMUTABLE, format!("{path} of {} changes, which the API server refuses", new.title()))
            .at(new.place(&path))
            .related(old.place(&path), "the release before")
            .help("keep the old value, or give the object a new name")
            .note("clusterctl deletes and creates the object; `kubectl apply` and GitOps tools end with an error: field is immutable")
    };
    changed.map(finding).collect()
}

/// The value; the API server fills in the group of a role.
fn value(object: &Object, path: &FieldPath) -> Option<Value> {
    let mut value = object.at(path)?.clone();
    if let Some(group) = value.get_mut("apiGroup").filter(|group| group.as_str() == Some("")) {
        *group = Value::from("rbac.authorization.k8s.io");
    }
    Some(value)
}
