//! What the core may do with a provider's kinds (book: "All resources: API group").

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::kind::{Definition, definitions};
use crate::scope::unchecked;
use crate::{Extent, Scope};
use windlass_capi::contract::{AGGREGATED_VERBS, Role, SPONSORED_GROUPS, book, labels};
use windlass_objects::{Object, fields};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// no role grants the core access to the kinds of a provider's own API group
    CORE_RIGHTS_MISSING = error("rbac-core-rights-missing"), url(book::ALL_RESOURCES_GROUP), catalogue("R24");
}

/// Checks the rights of the core on kinds of foreign groups.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    // In sources the roles may be elsewhere.
    if scope.extent == Extent::Part {
        return Report::new();
    }
    let definitions = definitions(scope);
    let mut groups: BTreeMap<&str, Vec<(&Definition<'_>, Role)>> = BTreeMap::new();
    for definition in &definitions {
        if let Some(role) = definition
            .looked_up()
            .filter(|_| !SPONSORED_GROUPS.contains(&definition.group()))
        {
            groups
                .entry(definition.group())
                .or_default()
                .push((definition, role));
        }
    }
    let rules = aggregated_rules(scope.objects);
    let mut report = Report::new();
    for (group, kinds) in groups {
        // Each kind is held against each rule.
        let work = kinds.len().saturating_mul(
            rules
                .iter()
                .map(|rule| texts(rule, "resources").count() + 1)
                .sum(),
        );
        match scope.budget.charge(work) {
            Ok(()) => report.extend(without_rights(group, &kinds, &rules)),
            Err(spent) => return [unchecked(spent, scope.budget)].into_iter().collect(),
        }
    }
    report
}

/// The rules of roles that become a part of the core's.
fn aggregated_rules(objects: &[Object]) -> Vec<&Value> {
    let roles = objects
        .iter()
        .filter(|object| object.kind() == "ClusterRole");
    let aggregated = roles.filter(|role| role.label(labels::AGGREGATE_TO_MANAGER) == Some("true"));
    aggregated.flat_map(|role| role.items(&["rules"])).collect()
}

/// What the core does with kinds of a role: of templates of Clusters and control planes it makes
/// none, of machines of a pool neither.
fn verbs(role: Role) -> impl Iterator<Item = &'static str> {
    let left_out: &[&str] = match role {
        Role::InfraClusterTemplate | Role::ControlPlaneTemplate => &["create", "delete"],
        Role::MachinePoolMachine => &["create"],
        _ => &[],
    };
    AGGREGATED_VERBS
        .iter()
        .copied()
        .filter(move |verb| !left_out.contains(verb))
}

fn without_rights(
    group: &str,
    kinds: &[(&Definition<'_>, Role)],
    rules: &[&Value],
) -> Option<Diagnostic> {
    let plural =
        |definition: &Definition<'_>| definition.crd.text(&["spec", "names", "plural"]).to_owned();
    let lacking = kinds.iter().filter_map(|(definition, role)| {
        let resource = plural(definition);
        let allowed: BTreeSet<&str> = rules
            .iter()
            .filter(|rule| covers(rule, group, &resource))
            .flat_map(|rule| texts(rule, "verbs"))
            .collect();
        let missing: Vec<&str> = verbs(*role)
            .filter(|verb| !allowed.contains(verb) && !allowed.contains("*"))
            .collect();
        (!missing.is_empty()).then_some((*definition, resource, missing))
    });
    let lacking: Vec<_> = lacking.collect();
    let ((first, ..), others) = lacking.split_first()?;
    let resources: Vec<&str> = lacking
        .iter()
        .map(|(_, resource, _)| resource.as_str())
        .collect();
    let missing: Vec<String> = lacking
        .iter()
        .map(|(_, resource, missing)| format!("{resource}: {}", missing.join(", ")))
        .collect();
    let place =
        |definition: &Definition<'_>| definition.crd.place(&FieldPath::of_fields("spec.group"));
    let message = format!(
        "Cluster API's core has no rights on {} of {group}",
        resources.join(", ")
    );
    let finding = Diagnostic::of(&CORE_RIGHTS_MISSING, message).at(place(first)).help(format!(
        "add a ClusterRole with the label `{}: \"true\"` and the rule `{{apiGroups: [{group}], resources: [{}], verbs: [{}]}}`",
        labels::AGGREGATE_TO_MANAGER,
        resources.join(", "),
        AGGREGATED_VERBS.join(", ")
    ));
    let finding = finding.note(format!(
        "no role that is aggregated to the core's allows {}",
        missing.join("; ")
    ));
    Some(others.iter().fold(finding, |finding, (definition, ..)| {
        finding.related(place(definition), "")
    }))
}

fn covers(rule: &Value, group: &str, resource: &str) -> bool {
    let has = |field, wanted: &str| texts(rule, field).any(|text| text == wanted || text == "*");
    has("apiGroups", group)
        && has("resources", resource)
        && fields::items(rule, &["resourceNames"]).is_empty()
}

fn texts<'v>(rule: &'v Value, field: &str) -> impl Iterator<Item = &'v str> {
    fields::items(rule, &[field])
        .iter()
        .filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use windlass_objects::Pool;
    use windlass_source::budget::Budget;

    fn crd(group: &str, kind: &str) -> Object {
        Object::made(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"},
            "spec": {"group": group, "names": {"kind": kind, "plural": format!("{}s", kind.to_lowercase())}},
        }))
    }

    fn role(label: &str, resources: &[&str], verbs: &[&str]) -> Object {
        Object::made(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "r", "labels": {"cluster.x-k8s.io/aggregate-to-manager": label}},
            "rules": [{"apiGroups": ["infrastructure.foo.dev"], "resources": resources, "verbs": verbs}],
        }))
    }

    fn notes(objects: &[Object], extent: Extent) -> Vec<String> {
        let budget = Budget::default();
        let found = check(&Scope {
            extent,
            ..Scope::of(&Pool::of(objects.to_vec()), None, &budget)
        });
        found
            .into_iter()
            .flat_map(|finding| finding.notes)
            .map(String::from)
            .collect()
    }

    const ALL: [&str; 7] = [
        "create", "delete", "get", "list", "patch", "update", "watch",
    ];
    const NONE: [&str; 0] = [];

    /// Book, "All resources: API group": the verbs of the examples of InfraCluster and
    /// InfraMachine.
    #[test]
    fn the_core_may_use_kinds_of_foreign_groups() {
        let kinds = || {
            vec![
                crd("infrastructure.foo.dev", "FooCluster"),
                crd("infrastructure.foo.dev", "FooClusterTemplate"),
            ]
        };
        let with = |role: Object| notes(&[kinds(), vec![role]].concat(), Extent::Whole);
        let start = "no role that is aggregated to the core's allows ";
        assert_eq!(
            notes(&kinds(), Extent::Whole),
            [format!(
                "{start}fooclusters: {}; fooclustertemplates: get, list, patch, update, watch",
                ALL.join(", ")
            )]
        );
        assert_eq!(
            with(role("true", &["fooclusters", "fooclustertemplates"], &ALL)),
            NONE
        );
        assert_eq!(with(role("true", &["*"], &["*"])), NONE);
        assert_eq!(
            with(role("true", &["fooclusters"], &ALL)),
            [format!(
                "{start}fooclustertemplates: get, list, patch, update, watch"
            )]
        );
        assert_eq!(
            with(role("true", &["*"], &ALL[2..])),
            [format!("{start}fooclusters: create, delete")]
        );
        assert_eq!(with(role("false", &["*"], &ALL)).len(), 1);
        assert_eq!(notes(&kinds(), Extent::Part), NONE);
    }

    #[test]
    fn groups_that_the_core_knows_need_no_role() {
        assert_eq!(
            notes(
                &[crd("infrastructure.cluster.x-k8s.io", "FooCluster")],
                Extent::Whole
            ),
            NONE
        );
        assert_eq!(
            notes(
                &[crd("vmware.infrastructure.cluster.x-k8s.io", "FooCluster")],
                Extent::Whole
            )
            .len(),
            1
        );
        assert_eq!(
            notes(
                &[crd("infrastructure.foo.dev", "FooIdentity")],
                Extent::Whole
            ),
            NONE
        );
    }
}
