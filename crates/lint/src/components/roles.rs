//! Roles and bindings: what they refer to, and what they allow (book: clusterctl, "Links to
//! external objects"; checklist CC-28).

use serde_json::Value;

use crate::Scope;
use windlass_capi::contract::book;
use windlass_objects::references::{Reference, references};
use windlass_objects::{Object, fields};
use windlass_source::diag::{Diagnostic, FieldPath, Report, Segment, rules};
use windlass_source::nearest::nearest;

rules! {
    /// a binding refers to a role or service account that the components do not contain
    pub LINK_MISSING = warning("components-binding-link-missing"), catalogue("C18"), url(book::COMPONENTS_YAML);
    /// a role grants all verbs on all resources
    ROLE_UNLIMITED = warning("components-role-unlimited"), catalogue("C19");
    /// a binding grants rights to the namespace's default service account
    ACCOUNT_DEFAULT = info("components-account-default"), catalogue("C20");
}

const GROUP: &str = "rbac.authorization.k8s.io";

/// Roles that every cluster has (Kubernetes, "Using RBAC Authorization", default roles), beside
/// those that begin with `system:`.
const GIVEN_ROLES: [&str; 5] = [
    "admin",
    "cluster-admin",
    "edit",
    "extension-apiserver-authentication-reader",
    "view",
];

/// The account that every namespace has.
const DEFAULT_ACCOUNT: &str = "default";

/// Checks the roles and bindings of all objects. That the default account has rights is reported
/// once.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let mut report = Report::new();
    let mut of_default = Vec::new();
    for object in scope
        .objects
        .iter()
        .filter(|object| object.group() == GROUP)
    {
        match object.kind() {
            "ClusterRole" | "Role" => report.extend(unlimited(object)),
            "ClusterRoleBinding" | "RoleBinding" if scope.is_whole() => {
                let references = references(object.value()).0;
                report.extend(
                    references
                        .iter()
                        .filter_map(|to| missing(scope, object, to)),
                );
                let default = references
                    .into_iter()
                    .find(|to| to.kind == "ServiceAccount" && to.name == DEFAULT_ACCOUNT);
                of_default.extend(default.map(|to| (object, to.path)));
            }
            _ => {}
        }
    }
    report.extend(default_account(&of_default));
    report
}

fn missing(scope: &Scope<'_>, binding: &Object, to: &Reference<'_>) -> Option<Diagnostic> {
    let (group, is_given) = match to.kind {
        "ClusterRole" | "Role" => (
            GROUP,
            GIVEN_ROLES.contains(&to.name) || to.name.starts_with("system:"),
        ),
        "ServiceAccount" => ("", to.name == DEFAULT_ACCOUNT),
        _ => return None,
    };
    if is_given || scope.named(group, to.kind, to.name).is_some() {
        return None;
    }
    let path = &to.path;
    let message = format!(
        "{path} of {} is {} {}, which the components do not contain",
        binding.title(),
        to.kind,
        to.name
    );
    let finding = Diagnostic::of(&LINK_MISSING, message).at(binding.place(path));
    let finding = match nearest(to.name, scope.names_of(group, to.kind)) {
        Some(near) => finding.help(format!("write `name: {near}`")),
        None => finding.help(format!(
            "add {} {} to the file, or remove the binding",
            to.kind, to.name
        )),
    };
    Some(
        finding.note(
            "until something else brings it, the binding gives no rights; if that is another provider, document it and allow this rule",
        ),
    )
}

fn default_account(bindings: &[(&Object, FieldPath)]) -> Option<Diagnostic> {
    let ((first, path), others) = bindings.split_first()?;
    let titles: Vec<String> = bindings
        .iter()
        .map(|(binding, _)| binding.title())
        .collect();
    let verb = if others.is_empty() { "gives" } else { "give" };
    let message = format!(
        "{} {verb} rights to the namespace's account `{DEFAULT_ACCOUNT}`",
        titles.join(", ")
    );
    let finding = Diagnostic::of(&ACCOUNT_DEFAULT, message).at(first.place(path));
    let finding = others.iter().fold(finding, |finding, (binding, path)| {
        finding.related(binding.place(path), "")
    });
    Some(
        finding
            .help(
                "add a ServiceAccount, write its name here and as `serviceAccountName` of the pod",
            )
            .note("every pod of the namespace without an account of its own has these rights"),
    )
}

fn unlimited(role: &Object) -> Option<Diagnostic> {
    let has = |rule: &Value, field: &str, wanted: &[&str]| {
        fields::items(rule, &[field])
            .iter()
            .filter_map(Value::as_str)
            .any(|text| wanted.contains(&text))
    };
    let is_unlimited = |rule: &Value| {
        has(rule, "verbs", &["*"])
            && has(rule, "resources", &["*"])
            && has(rule, "apiGroups", &["*", ""])
    };
    let at = role.items(&["rules"]).iter().position(is_unlimited)?;
    let path = FieldPath::root().field("rules").with(Segment::Index(at));
    let finding = Diagnostic::of(
        &ROLE_UNLIMITED,
        format!(
            "{path} of {} allows every verb on every resource",
            role.title()
        ),
    );
    Some(
        finding
            .at(role.place(&path))
            .help("list the resources and verbs that the controllers use: `resources: [secrets]`, `verbs: [get, list, watch]`")
            .note("anybody who gets into the manager's pod controls the management cluster"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{of, rules_and_fields};

    const RBAC: &str = "rbac.authorization.k8s.io/v1";

    fn binding(role: &str, account: &str) -> Object {
        let subjects = json!([{"kind": "ServiceAccount", "name": account, "namespace": "ns"}, {"kind": "Group", "name": "g"}]);
        of(
            RBAC,
            "ClusterRoleBinding",
            "b",
            json!({"roleRef": {"kind": "ClusterRole", "name": role}, "subjects": subjects}),
        )
    }

    /// Kubernetes, "Using RBAC Authorization": default roles; every namespace has the account
    /// `default`.
    #[test]
    fn bindings_name_what_is_there() {
        let rest = || {
            [
                of(RBAC, "ClusterRole", "manager", json!({})),
                of("v1", "ServiceAccount", "manager", json!({})),
            ]
        };
        let all = |role: &str, account: &str| {
            let [a, b] = rest();
            rules_and_fields(&[binding(role, account), a, b], check)
        };
        for role in ["manager", "view", "system:auth-delegator"] {
            assert_eq!(all(role, "manager"), [""; 0], "{role}");
        }
        assert_eq!(
            all("other", "manager"),
            [format!("{} roleRef.name", LINK_MISSING.id)]
        );
        assert_eq!(
            all("manager", "other"),
            [format!("{} subjects[0].name", LINK_MISSING.id)]
        );
        assert_eq!(
            all("manager", "default"),
            [format!("{} subjects[0].name", ACCOUNT_DEFAULT.id)]
        );
        // A Role is not a ClusterRole.
        let role = of(RBAC, "Role", "manager", json!({}));
        let [_, account] = rest();
        assert_eq!(
            rules_and_fields(&[binding("manager", "manager"), role, account], check),
            [format!("{} roleRef.name", LINK_MISSING.id)]
        );
    }

    #[test]
    fn everything_on_everything_is_too_much() {
        let rule = |groups: Value, resources: Value, verbs: Value| {
            let first = json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]});
            let rules =
                json!([first, {"apiGroups": groups, "resources": resources, "verbs": verbs}]);
            rules_and_fields(&[of(RBAC, "Role", "r", json!({"rules": rules}))], check)
        };
        let found = [format!("{} rules[1]", ROLE_UNLIMITED.id)];
        assert_eq!(rule(json!(["*"]), json!(["*"]), json!(["*"])), found);
        assert_eq!(
            rule(
                json!(["", "apps"]),
                json!(["pods", "*"]),
                json!(["get", "*"])
            ),
            found
        );
        assert_eq!(rule(json!(["*"]), json!(["*"]), json!(["get"])), [""; 0]);
        assert_eq!(
            rule(json!(["*"]), json!(["*/status"]), json!(["*"])),
            [""; 0]
        );
        assert_eq!(
            rule(
                json!(["infrastructure.cluster.x-k8s.io"]),
                json!(["*"]),
                json!(["*"])
            ),
            [""; 0],
            "as the core has it of its own"
        );
    }
}
