//! What webhooks are for: the resources of their rules, beside what the CRDs serve.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::webhooks::{self, Webhook};
use crate::{Scope, definitions};
use windlass_objects::fields;
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_source::nearest::nearest;

rules! {
    /// a webhook names a resource or version that no CRD of the components serves
    RESOURCE_UNKNOWN = warning("components-webhook-resource-unknown"), catalogue("C14");
}

pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let mut report = Report::new();
    let served = Served::by(scope);
    for webhook in webhooks::all(scope) {
        match webhook.unknown_resources(&served, scope.budget) {
            Ok(found) => report.extend(found),
            Err(_) => return report,
        }
    }
    report
}

/// The resources that the CRDs of a scope serve, and in which versions.
struct Served<'o> {
    /// Group and plural to the versions.
    versions: BTreeMap<(&'o str, &'o str), BTreeSet<&'o str>>,
    /// Group and kind, in lower case, to the plural.
    kinds: BTreeMap<(&'o str, String), &'o str>,
    /// Groups to their plurals.
    plurals: BTreeMap<&'o str, BTreeSet<&'o str>>,
    /// Whether these are all CRDs of the provider.
    is_whole: bool,
}

impl<'o> Served<'o> {
    fn by(scope: &Scope<'o>) -> Self {
        let mut served = Served {
            versions: BTreeMap::new(),
            kinds: BTreeMap::new(),
            plurals: BTreeMap::new(),
            is_whole: scope.is_whole(),
        };
        for crd in definitions::of(scope.objects) {
            let versions = crd
                .items(&["spec", "versions"])
                .iter()
                .filter(|version| version["served"] != false);
            let (group, plural) = (
                crd.text(&["spec", "group"]),
                crd.text(&["spec", "names", "plural"]),
            );
            served.versions.insert(
                (group, plural),
                versions
                    .filter_map(|version| version["name"].as_str())
                    .collect(),
            );
            served.kinds.insert(
                (group, crd.text(&["spec", "names", "kind"]).to_lowercase()),
                plural,
            );
            served.plurals.entry(group).or_default().insert(plural);
        }
        served
    }
}

/// What a rule of a webhook is for, apart from its resources.
struct Ruled<'o> {
    /// The groups, all of which have CRDs here.
    groups: BTreeSet<&'o str>,
    versions: BTreeSet<&'o str>,
}

impl<'o> Ruled<'o> {
    /// None for a rule with a group that has no CRD here, such as `*`: its resources may be those
    /// of that group.
    fn of(rule: &'o Value, served: &Served<'o>) -> Option<Self> {
        let texts = |field: &str| {
            fields::items(rule, &[field])
                .iter()
                .filter_map(Value::as_str)
                .collect::<BTreeSet<&str>>()
        };
        let ruled = Ruled {
            groups: texts("apiGroups"),
            versions: texts("apiVersions"),
        };
        let is_own = !ruled.groups.is_empty()
            && ruled
                .groups
                .iter()
                .all(|group| served.plurals.contains_key(group));
        is_own.then_some(ruled)
    }

    fn plurals<'s>(&'s self, served: &'s Served<'o>) -> impl Iterator<Item = &'o str> + 's {
        self.groups
            .iter()
            .filter_map(|group| served.plurals.get(group))
            .flatten()
            .copied()
    }

    /// For each of the groups that has a resource, the versions in which it serves it.
    fn served<'s>(&self, plural: &'s str, served: &'s Served<'o>) -> Vec<&'s BTreeSet<&'o str>> {
        self.groups
            .iter()
            .filter_map(|group| served.versions.get(&(*group, plural)))
            .collect()
    }

    /// Whether the rule names one of some versions.
    fn has_any(&self, versions: &BTreeSet<&str>) -> bool {
        self.versions.contains("*")
            || self
                .versions
                .iter()
                .any(|version| versions.contains(version))
    }

    /// The steps that looking for one resource takes.
    fn steps(&self) -> usize {
        self.groups.len() * (1 + self.versions.len())
    }

    /// The steps that looking for a plural takes that is like one.
    fn steps_of_nearest(&self, served: &Served<'o>) -> usize {
        const EACH: usize = 128;
        self.groups
            .iter()
            .filter_map(|group| served.plurals.get(group))
            .map(BTreeSet::len)
            .sum::<usize>()
            * EACH
    }
}

const MOST_NAMED: usize = 8;

fn listed<'t>(names: impl IntoIterator<Item = &'t str>) -> String {
    let mut names = names.into_iter();
    let first: Vec<&str> = names.by_ref().take(MOST_NAMED).collect();
    let more = if names.next().is_some() { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Resources of groups of Cluster API for which providers of the same group have webhooks, although
/// their CRDs are the core's.
const CORE_RESOURCES: [(&str, &str); 2] = [
    ("ipam.cluster.x-k8s.io", "ipaddressclaims"),
    ("ipam.cluster.x-k8s.io", "ipaddresses"),
];

impl<'o> Webhook<'o> {
    /// Resources of the file's own groups that no CRD of the file has or serves. What is of other
    /// groups may be there.
    fn unknown_resources(
        &self,
        served: &Served<'o>,
        budget: &Budget,
    ) -> Result<Vec<Diagnostic>, Exceeded> {
        let mut found = Vec::new();
        for (at, rule) in fields::items(self.value, &["rules"]).iter().enumerate() {
            let Some(ruled) = Ruled::of(rule, served) else {
                continue;
            };
            let path = self.path.field("rules").index(at).field("resources");
            for (at, resource) in fields::items(rule, &["resources"]).iter().enumerate() {
                budget.charge(ruled.steps())?;
                let plural = resource
                    .as_str()
                    .and_then(|resource| resource.split('/').next())
                    .unwrap_or("*");
                let path = path.index(at);
                let versions = ruled.served(plural, served);
                if versions.is_empty() {
                    budget.charge(ruled.steps_of_nearest(served))?;
                    found.extend(self.unknown(&path, &ruled, plural, served));
                } else if !versions.iter().any(|versions| ruled.has_any(versions)) {
                    found.push(self.unserved(&path, plural, &versions));
                }
            }
        }
        Ok(found)
    }

    /// A resource that no CRD has. Where CRDs may be elsewhere, only one that is called like a kind
    /// of those that are here.
    fn unknown(
        &self,
        path: &FieldPath,
        ruled: &Ruled<'o>,
        plural: &str,
        served: &Served<'o>,
    ) -> Option<Diagnostic> {
        let kind = plural.to_lowercase();
        let of_kind = ruled
            .groups
            .iter()
            .find_map(|group| served.kinds.get(&(*group, kind.clone())).copied());
        let is_of_core = ruled
            .groups
            .iter()
            .any(|group| CORE_RESOURCES.contains(&(*group, plural)));
        if plural == "*" || is_of_core || !served.is_whole && of_kind.is_none() {
            return None;
        }
        let groups = if ruled.groups.len() == 1 {
            "group"
        } else {
            "groups"
        };
        let message = format!(
            "{path} of {} is {plural}, which no CRD of {groups} {} has",
            self.object.title(),
            listed(ruled.groups.iter().copied())
        );
        let finding = Diagnostic::of(&RESOURCE_UNKNOWN, message).at(self.object.place(path));
        let finding =
            finding.note("the API server never calls the webhook for it, and says nothing");
        Some(
            match of_kind.or_else(|| nearest(plural, ruled.plurals(served))) {
                Some(right) => finding.help(format!("write `{right}`")),
                None => finding.help(format!(
                    "name resources by their plural: {}",
                    listed(ruled.plurals(served))
                )),
            },
        )
    }

    fn unserved(&self, path: &FieldPath, plural: &str, versions: &[&BTreeSet<&str>]) -> Diagnostic {
        let some: BTreeSet<&str> = versions
            .iter()
            .flat_map(|versions| versions.iter().copied().take(MOST_NAMED + 1))
            .collect();
        let message = format!(
            "{path} of {} is {plural}, which is served in no version of the rule",
            self.object.title()
        );
        Diagnostic::of(&RESOURCE_UNKNOWN, message)
            .at(self.object.place(path))
            .help(format!(
                "write `apiVersions: [{}]` in the rule",
                listed(some)
            ))
            .note("the API server never calls the webhook for it, and says nothing")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{found_in, of, rules_and_fields};
    use windlass_objects::Object;

    fn configuration(webhook: Value) -> Object {
        of(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "w",
            json!({"webhooks": [webhook]}),
        )
    }

    fn service() -> Object {
        of("v1", "Service", "foo-webhook-service", json!({}))
    }

    fn crd(plural: &str, versions: Value) -> Object {
        let spec = json!({"group": "a.io", "names": {"kind": "Foo", "plural": plural}, "versions": versions, "conversion": {"webhook": {"clientConfig": {"service": {"name": "foo-webhook-service"}}}}});
        of(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            plural,
            json!({"spec": spec}),
        )
    }

    /// API reference, RuleWithOperations: `resources` are plurals, with subresources behind a
    /// slash; `*` stands for all.
    #[test]
    fn rules_name_resources_and_versions_of_the_crds() {
        let versions = json!([{"name": "v1", "served": true}, {"name": "v0", "served": false}]);
        let rules = |group: &str, version: &str, resource: &str| {
            let rule =
                json!({"apiGroups": [group], "apiVersions": [version], "resources": [resource]});
            rules_and_fields(
                &[
                    configuration(json!({"name": "n", "rules": [rule]})),
                    crd("foos", versions.clone()),
                    service(),
                ],
                check,
            )
        };
        let place = format!("{} webhooks[0].rules[0].resources[0]", RESOURCE_UNKNOWN.id);
        assert_eq!(rules("a.io", "v1", "foo"), [place.as_str()]);
        assert_eq!(rules("a.io", "v1", "bars"), [place.as_str()]);
        assert_eq!(rules("a.io", "v0", "foos"), [place.as_str()]);
        for (group, version, resource) in [
            ("a.io", "v1", "foos"),
            ("a.io", "v1", "foos/scale"),
            ("a.io", "*", "foos"),
            ("a.io", "v1", "*"),
            ("a.io", "v1", "*/*"),
            ("b.io", "v1", "foo"),
            ("", "v1", "pods"),
            ("*", "*", "*"),
        ] {
            assert_eq!(
                rules(group, version, resource),
                [""; 0],
                "{group} {version} {resource}"
            );
        }
    }

    /// A rule is for each pair of its groups and resources: that one of the groups has the resource
    /// is enough.
    #[test]
    fn rules_of_several_groups_are_judged_once() {
        let crd = |group: &str, plural: &str| {
            let spec = json!({"group": group, "names": {"kind": "Foo", "plural": plural}, "versions": [{"name": "v1", "served": true}]});
            of(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                plural,
                json!({"spec": spec}),
            )
        };
        let rules = |groups: &[&str], versions: &str, resources: &[&str]| {
            let rule =
                json!({"apiGroups": groups, "apiVersions": [versions], "resources": resources});
            rules_and_fields(
                &[
                    configuration(json!({"name": "n", "rules": [rule]})),
                    crd("a.io", "foos"),
                    crd("b.io", "bars"),
                ],
                check,
            )
        };
        let place = |at: usize| {
            format!(
                "{} webhooks[0].rules[0].resources[{at}]",
                RESOURCE_UNKNOWN.id
            )
        };
        assert_eq!(rules(&["a.io", "b.io"], "v1", &["foos", "bars"]), [""; 0]);
        assert_eq!(
            rules(&["a.io", "b.io", "a.io"], "v1", &["foos", "foo"]),
            [place(1)]
        );
        assert_eq!(rules(&["a.io", "b.io"], "v2", &["foos"]), [place(0)]);
        let message = |groups: &[&str]| {
            let rule = json!({"apiGroups": groups, "apiVersions": ["v1"], "resources": ["foo"]});
            let objects = [
                configuration(json!({"name": "n", "rules": [rule]})),
                crd("a.io", "foos"),
                crd("b.io", "bars"),
            ];
            found_in(&objects, None, check).findings()[0]
                .message
                .clone()
        };
        assert!(
            message(&["a.io"]).ends_with("is foo, which no CRD of group a.io has"),
            "{}",
            message(&["a.io"])
        );
        assert!(
            message(&["a.io", "b.io"]).ends_with("is foo, which no CRD of groups a.io, b.io has")
        );
        for other in ["*", "c.io"] {
            assert_eq!(
                rules(&["a.io", other], "v2", &["foo", "foos"]),
                [""; 0],
                "{other}"
            );
        }
    }

    /// 300 groups and 300 resources are 90,000 pairs, and one finding for each resource.
    #[test]
    fn the_work_is_bounded() {
        let crd = |at: usize| {
            let spec = json!({"group": format!("g{at}.io"), "names": {"kind": format!("Foo{at}"), "plural": format!("foo{at}s")}});
            of(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "c",
                json!({"spec": spec}),
            )
        };
        let named = |name: &str| (0..300).map(|at| format!("{name}{at}")).collect::<Vec<_>>();
        let groups: Vec<String> = named("g").iter().map(|name| format!("{name}.io")).collect();
        let rule =
            json!({"apiGroups": groups, "apiVersions": ["v1"], "resources": named("unheard-of-")});
        let mut objects: Vec<Object> = (0..300).map(crd).collect();
        objects.push(configuration(json!({"name": "n", "rules": [rule]})));
        let pool = windlass_objects::Pool::of(objects);
        let found = |budget: &Budget| check(&Scope::of(&pool, None, budget)).findings().len();
        assert_eq!(found(&Budget::default()), 300);
        assert_eq!(
            found(&Budget::of(1000)),
            0,
            "the steps are those of the run"
        );
    }

    /// A step for each group and each of its versions, and 128 for each name that may have been
    /// meant.
    #[test]
    fn what_is_looked_up_is_charged() {
        let crd = |group: &str, plural: &str| {
            let spec = json!({"group": group, "names": {"kind": plural, "plural": plural}, "versions": [{"name": "v9"}]});
            of(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "c",
                json!({"spec": spec}),
            )
        };
        let found = |resource: &str, steps: u64| {
            let rule = json!({"apiGroups": ["a.io", "b.io"], "apiVersions": ["v1", "v2", "v3"], "resources": [resource]});
            let webhook = configuration(json!({"name": "n", "rules": [rule]}));
            let pool = windlass_objects::Pool::of(vec![
                webhook,
                crd("a.io", "foos"),
                crd("a.io", "bars"),
                crd("b.io", "bazes"),
            ]);
            check(&Scope::of(&pool, None, &Budget::of(steps)))
                .findings()
                .len()
        };
        let (resource, nearest) = (2 * (1 + 3), 3 * 128);
        for (name, steps) in [("foos", resource), ("unheard-of", resource + nearest)] {
            assert_eq!(
                (found(name, steps), found(name, steps - 1)),
                (1, 0),
                "{name}"
            );
        }
    }
}
