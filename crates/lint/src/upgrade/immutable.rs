//! Fields of objects other than CRDs that the API server never lets change.

use serde_json::Value;

use windlass_objects::{Object, fields};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// an immutable field of an object changes
    IMMUTABLE = warning("upgrade-field-immutable");
}

/// Kinds, and the fields of theirs that never change (Kubernetes' validation of updates).
const FIELDS: &[(&str, &str, &[&str])] = &[
    ("apps", "DaemonSet", &["spec.selector"]),
    ("apps", "Deployment", &["spec.selector"]),
    (
        "apps",
        "StatefulSet",
        &[
            "spec.selector",
            "spec.serviceName",
            "spec.volumeClaimTemplates",
            "spec.podManagementPolicy",
        ],
    ),
    ("batch", "Job", &["spec.selector", "spec.template"]),
    (
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        &["roleRef"],
    ),
    ("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"]),
];

/// Checks an object that both releases have.
pub fn check(old: &Object, new: &Object) -> Report {
    let fields = FIELDS
        .iter()
        .find(|(group, kind, _)| new.is(group, kind))
        .map_or(&[] as &[&str], |(_, _, fields)| fields);
    let changed = fields
        .iter()
        .map(|field| FieldPath::of_fields(field))
        .filter(|path| value(old, path) != value(new, path));
    let finding = |path: FieldPath| {
        Diagnostic::of(&IMMUTABLE, format!("{path} of {} changes, which the API server rejects", new.title()))
            .at(new.place(&path))
            .related(old.place(&path), "the previous release")
            .help("keep the old value, or give the object a new name")
            .note("clusterctl deletes and creates the object; `kubectl apply` and GitOps tools end with an error: field is immutable")
    };
    changed.map(finding).collect()
}

/// The value, or the one that the API server fills in. The types of these fields leave out what is
/// empty (`omitempty`).
fn value(object: &Object, path: &FieldPath) -> Option<Value> {
    let mut value = object
        .at(path)
        .filter(|value| !fields::is_empty(value))
        .cloned();
    match path.to_string().as_str() {
        "roleRef" => fill_in_group(value.as_mut()),
        "spec.podManagementPolicy" => value = value.or_else(|| Some(Value::from("OrderedReady"))),
        _ => {}
    }
    value
}

/// A role is of the group of RBAC where nothing else is said.
fn fill_in_group(role: Option<&mut Value>) {
    let Some(role) = role.and_then(Value::as_object_mut) else {
        return;
    };
    let group = role.entry("apiGroup").or_insert(Value::Null);
    if group.is_null() || group.as_str() == Some("") {
        *group = Value::from("rbac.authorization.k8s.io");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(api_version: &str, kind: &str, old: Value, new: Value) -> Vec<String> {
        let of = |rest: Value| {
            let mut value =
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
            value
                .as_object_mut()
                .unwrap()
                .extend(rest.as_object().unwrap().clone());
            Object::made(value)
        };
        check(&of(old), &of(new))
            .findings()
            .iter()
            .map(|finding| finding.place.path.to_string())
            .collect()
    }

    const NONE: [&str; 0] = [];

    /// Kubernetes, pkg/apis/rbac/v1/defaults.go: `apiGroup` of a role.
    #[test]
    fn roles_are_of_their_group_by_default() {
        let role =
            |group: Value| json!({"roleRef": {"kind": "Role", "name": "r", "apiGroup": group}});
        let told =
            |old: Value, new: Value| told("rbac.authorization.k8s.io/v1", "RoleBinding", old, new);
        let without = json!({"roleRef": {"kind": "Role", "name": "r"}});
        for same in [
            role("rbac.authorization.k8s.io".into()),
            role("".into()),
            role(Value::Null),
        ] {
            assert_eq!(told(without.clone(), same.clone()), NONE);
            assert_eq!(told(same, without.clone()), NONE);
        }
        assert_eq!(
            told(
                without.clone(),
                json!({"roleRef": {"kind": "Role", "name": "other"}})
            ),
            ["roleRef"]
        );
    }

    /// Kubernetes, staging/src/k8s.io/api/apps/v1/types.go: `omitempty` of the fields of a
    /// StatefulSet.
    #[test]
    fn what_is_empty_is_not_there() {
        let told = |old: Value, new: Value| {
            told(
                "apps/v1",
                "StatefulSet",
                json!({"spec": old}),
                json!({"spec": new}),
            )
        };
        let empty = json!({"serviceName": "", "volumeClaimTemplates": [], "selector": {}});
        assert_eq!(told(json!({}), empty.clone()), NONE);
        assert_eq!(told(empty.clone(), json!({})), NONE);
        let full = json!({"serviceName": "a", "volumeClaimTemplates": [{}], "selector": {"matchLabels": {}}});
        assert_eq!(
            told(empty, full),
            [
                "spec.selector",
                "spec.serviceName",
                "spec.volumeClaimTemplates"
            ]
        );
    }

    /// Kubernetes, pkg/apis/apps/v1/defaults.go: `podManagementPolicy` of a StatefulSet.
    #[test]
    fn pods_come_in_their_order_by_default() {
        let policy = |policy: Value| json!({"spec": {"podManagementPolicy": policy}});
        let told = |old: Value, new: Value| told("apps/v1", "StatefulSet", old, new);
        assert_eq!(
            told(json!({"spec": {}}), policy("OrderedReady".into())),
            NONE
        );
        assert_eq!(
            told(policy("OrderedReady".into()), policy(Value::Null)),
            NONE
        );
        assert_eq!(
            told(json!({"spec": {}}), policy("Parallel".into())),
            ["spec.podManagementPolicy"]
        );
    }
}
