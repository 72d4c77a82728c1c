//! Roles and bindings: what the manager may do, what the core may do with our kinds, and the lease
//! for leader election (book: "All resources: API group", "RBAC"; checklist OP-12, OP-13, OP-14,
//! BC-13, BC-14).

use serde_json::{Value, json};

use super::names::{DEFAULT_SERVICE_ACCOUNT, Names};
use windlass_capi::contract::rights::Right;
use windlass_capi::contract::{AGGREGATED_VERBS, ProviderType, SPONSORED_GROUPS, labels};
use windlass_objects::fields;
use windlass_provider::PolicyRule;

/// A kind of the provider, as its CRD names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    /// Whether it has a status subresource; templates have none.
    pub(crate) has_status: bool,
    /// Whether stored objects may have to be written in another version.
    pub(crate) has_several_versions: bool,
}

const ALL_VERBS: &[&str] = AGGREGATED_VERBS;
const READ: &[&str] = &["get", "list", "watch"];
/// What it takes to make objects and to keep them as they should be.
const KEEP: &[&str] = &["create", "get", "list", "patch", "update", "watch"];
/// What it takes to read objects, and to write finalizers, spec, or another version.
const READ_AND_WRITE: &[&str] = &["get", "list", "patch", "update", "watch"];
const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// The rules of the manager's ClusterRole, made from what the provider provides: what the contract
/// of its type needs and no more. Rights on leases are in the namespaced leader election role.
/// `has_metrics` is for reviews of who reads metrics.
pub(crate) fn manager_rules(
    provider: ProviderType,
    kinds: &[Kind],
    has_metrics: bool,
) -> Vec<PolicyRule> {
    let mut rules = Vec::new();
    match provider {
        // They make the Secrets that the contract wants, and make them again; owners take them
        // away.
        ProviderType::BootstrapProvider | ProviderType::ControlPlaneProvider => {
            rules.push(rule(&[""], &["secrets"], KEEP))
        }
        // Bootstrap data and kubeconfigs are read.
        ProviderType::InfrastructureProvider
        | ProviderType::CoreProvider
        | ProviderType::AddonProvider => {
            rules.push(rule(&[""], &["secrets"], READ));
        }
        ProviderType::IPAMProvider | ProviderType::RuntimeExtensionProvider => {}
    }
    rules.push(events());
    let migrates: Vec<&Kind> = kinds
        .iter()
        .filter(|kind| kind.has_several_versions)
        .collect();
    // Whoever makes objects of other providers looks their versions up in the CRDs.
    if provider == ProviderType::ControlPlaneProvider || !migrates.is_empty() {
        rules.push(rule(
            &["apiextensions.k8s.io"],
            &["customresourcedefinitions"],
            READ,
        ));
    }
    rules.extend(own_crds_rule(&migrates));
    if has_metrics {
        rules.push(rule(
            &["authentication.k8s.io"],
            &["tokenreviews"],
            &["create"],
        ));
        rules.push(rule(
            &["authorization.k8s.io"],
            &["subjectaccessreviews"],
            &["create"],
        ));
    }
    rules.extend(own_kinds_rules(kinds));
    rules.extend(core_rules(provider));
    rules
}

/// The rules of a role that allows what a table lists.
pub(crate) fn rules_of(rights: &[Right]) -> Vec<PolicyRule> {
    rights
        .iter()
        .map(|right| rule(&[right.group], &[right.resource], right.verbs))
        .collect()
}

/// The rules of the role for leader election of a manager that is not known: leases, and events
/// about them.
pub(crate) fn leader_election_rules() -> Vec<PolicyRule> {
    vec![
        events(),
        rule(&["coordination.k8s.io"], &["leases"], ALL_VERBS),
    ]
}

/// Events of both API groups: client-go's older recorder writes the core's, its newer one and that
/// of kube `events.k8s.io`.
fn events() -> PolicyRule {
    rule(&["", "events.k8s.io"], &["events"], &["create", "patch"])
}

/// The manager migrates stored objects of its own CRDs to the storage version and records it on
/// them.
fn own_crds_rule(kinds: &[&Kind]) -> Option<PolicyRule> {
    let names: Vec<String> = kinds
        .iter()
        .map(|kind| format!("{}.{}", kind.plural, kind.group))
        .collect();
    let rule = rule(
        &["apiextensions.k8s.io"],
        &[
            "customresourcedefinitions",
            "customresourcedefinitions/status",
        ],
        &["patch", "update"],
    );
    (!names.is_empty()).then_some(PolicyRule {
        resource_names: names,
        ..rule
    })
}

/// Objects of kinds with a status are the manager's work. People and the core make and remove them,
/// but for the machines of a pool, which the provider makes.
fn own_kinds_rules(kinds: &[Kind]) -> Vec<PolicyRule> {
    let mut groups: Vec<&str> = kinds.iter().map(|kind| kind.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut rules = Vec::new();
    for group in groups {
        let of_group = || kinds.iter().filter(move |kind| kind.group == group);
        let has_pools = of_group().any(|kind| kind.kind.ends_with("MachinePool"));
        let is_made = |kind: &Kind| {
            has_pools
                && (kind.kind.ends_with("Machine") || kind.kind.ends_with("MachinePoolMachine"))
        };
        let (made, others): (Vec<&Kind>, Vec<&Kind>) = of_group().partition(|kind| is_made(kind));
        let plurals = |kinds: &[&Kind]| {
            kinds
                .iter()
                .map(|kind| kind.plural.clone())
                .collect::<Vec<_>>()
        };
        let parts = |part: &str| {
            of_group()
                .filter(|kind| kind.has_status)
                .map(|kind| format!("{}/{part}", kind.plural))
                .collect::<Vec<_>>()
        };
        for (resources, verbs) in [
            (plurals(&made), ALL_VERBS),
            (plurals(&others), READ_AND_WRITE),
            (parts("finalizers"), &["update"][..]),
            (parts("status"), &["get", "patch", "update"][..]),
        ] {
            let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
            if !resources.is_empty() {
                rules.push(rule(&[group], &resources, verbs));
            }
        }
    }
    rules
}

/// What a provider of a type reads of the core, and of the kinds that its objects refer to.
fn core_rules(provider: ProviderType) -> Vec<PolicyRule> {
    let core = &["cluster.x-k8s.io"][..];
    match provider {
        // Of each config and each machine the owner is looked up, and the Cluster.
        ProviderType::BootstrapProvider | ProviderType::InfrastructureProvider => {
            vec![rule(core, &["clusters", "machinepools", "machines"], READ)]
        }
        // It makes Machines, with objects of whatever bootstrap and infrastructure providers there
        // are.
        ProviderType::ControlPlaneProvider => vec![
            rule(core, &["clusters"], READ),
            rule(core, &["machines"], ALL_VERBS),
            rule(core, &["machines/status"], &["get", "patch", "update"]),
            rule(
                &[
                    "bootstrap.cluster.x-k8s.io",
                    "infrastructure.cluster.x-k8s.io",
                ],
                &["*"],
                ALL_VERBS,
            ),
        ],
        ProviderType::IPAMProvider => vec![
            rule(core, &["clusters"], READ),
            rule(
                &["ipam.cluster.x-k8s.io"],
                &["ipaddressclaims"],
                READ_AND_WRITE,
            ),
            rule(
                &["ipam.cluster.x-k8s.io"],
                &["ipaddressclaims/status", "ipaddressclaims/finalizers"],
                &["get", "patch", "update"],
            ),
            rule(&["ipam.cluster.x-k8s.io"], &["ipaddresses"], ALL_VERBS),
        ],
        ProviderType::CoreProvider
        | ProviderType::RuntimeExtensionProvider
        | ProviderType::AddonProvider => {
            vec![rule(core, &["clusters"], READ)]
        }
    }
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    PolicyRule {
        api_groups: owned(groups),
        resources: owned(resources),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

pub(crate) fn manager_role(names: &Names, rules: &[PolicyRule]) -> Value {
    json!({
        "apiVersion": format!("{RBAC_GROUP}/v1"),
        "kind": "ClusterRole",
        "metadata": {"name": names.made_cluster_wide("manager-role")},
        "rules": rules,
    })
}

/// The namespaced role for leader election.
pub(crate) fn leader_election_role(names: &Names, rules: &[PolicyRule]) -> Value {
    json!({
        "apiVersion": format!("{RBAC_GROUP}/v1"),
        "kind": "Role",
        "metadata": {"name": names.made("leader-election-role"), "namespace": names.namespace},
        "rules": rules,
    })
}

/// The role that other managers take over by aggregation: the core, for an infrastructure provider
/// the kubeadm control plane, and those of the further labels. `None` when the group is one that
/// they may use anyway, there are no kinds, or the type is one whose kinds nobody refers to.
pub(crate) fn aggregated_role(
    names: &Names,
    provider: ProviderType,
    further: &[String],
    kinds: &[Kind],
) -> Option<Value> {
    let foreign: Vec<&Kind> = kinds
        .iter()
        .filter(|kind| !SPONSORED_GROUPS.contains(&kind.group.as_str()))
        .collect();
    let mut groups: Vec<&str> = foreign.iter().map(|kind| kind.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    // The core refers to kinds of the types that have a contract; of others it needs no rights.
    if groups.is_empty() || (!provider.has_contract() && further.is_empty()) {
        return None;
    }
    let rules: Vec<PolicyRule> = groups
        .into_iter()
        .map(|group| {
            let plurals: Vec<&str> = foreign
                .iter()
                .filter(|kind| kind.group == group)
                .map(|kind| kind.plural.as_str())
                .collect();
            rule(&[group], &plurals, AGGREGATED_VERBS)
        })
        .collect();
    let control_plane = (provider == ProviderType::InfrastructureProvider)
        .then_some(labels::AGGREGATE_TO_KUBEADM_CONTROL_PLANE);
    let labels = [labels::AGGREGATE_TO_MANAGER]
        .into_iter()
        .chain(control_plane)
        .chain(further.iter().map(String::as_str));
    Some(json!({
        "apiVersion": format!("{RBAC_GROUP}/v1"),
        "kind": "ClusterRole",
        "metadata": {
            "name": names.made_cluster_wide("aggregated-manager-role"),
            "labels": labels.map(|label| (label.to_owned(), json!("true"))).collect::<serde_json::Map<_, _>>(),
        },
        "rules": rules,
    }))
}

/// The ServiceAccount; `None` when it is the one that every namespace has.
pub(crate) fn service_account(names: &Names) -> Option<Value> {
    (names.service_account != DEFAULT_SERVICE_ACCOUNT).then(|| {
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": names.service_account, "namespace": names.namespace},
        })
    })
}

/// The binding of a Role or ClusterRole to the manager's ServiceAccount; `None` for any other
/// object and for roles that are aggregated into another one.
pub(crate) fn binding(names: &Names, role: &Value) -> Option<Value> {
    let kind = role["kind"].as_str()?;
    let name = role["metadata"]["name"].as_str()?;
    let binding_kind = match kind {
        "Role" => "RoleBinding",
        "ClusterRole" if !is_aggregated(role) => "ClusterRoleBinding",
        _ => return None,
    };
    let mut metadata = json!({"name": names.binding(name)});
    if kind == "Role" {
        metadata["namespace"] = json!(names.namespace);
    }
    Some(json!({
        "apiVersion": format!("{RBAC_GROUP}/v1"),
        "kind": binding_kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": names.service_account, "namespace": names.namespace}],
    }))
}

/// Whether a role is taken over by the core's manager.
pub(crate) fn is_aggregated_to_core(role: &Value) -> bool {
    fields::text(role, &["metadata", "labels", labels::AGGREGATE_TO_MANAGER]) == "true"
}

/// Whether a role only feeds other roles: it carries a label of an aggregation, such as that of the
/// core or of Kubernetes' own `view`, that says so.
pub(crate) fn is_aggregated(role: &Value) -> bool {
    let labels = fields::field(role, &["metadata", "labels"]).and_then(Value::as_object);
    labels.is_some_and(|labels| {
        labels
            .iter()
            .any(|(key, value)| key.contains("/aggregate-to-") && value == "true")
    })
}

/// Whether a role is for people, by the names that kubebuilder's scaffolds give such roles: "not
/// used by the project itself", but "to allow the cluster admin to help manage permissions for
/// users", and the one for Prometheus.
pub(crate) fn is_for_people(names: &Names, role: &Value) -> bool {
    const ENDINGS: [&str; 4] = [
        "-admin-role",
        "-editor-role",
        "-viewer-role",
        "metrics-reader",
    ];
    let name = fields::name(role);
    let name = name.strip_suffix(names.suffix.as_str()).unwrap_or(name);
    matches!(fields::kind(role), "Role" | "ClusterRole")
        && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(group: &str) -> Vec<Kind> {
        let kind = |kind: &str, plural: &str, has_status| Kind {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            has_status,
            has_several_versions: false,
        };
        vec![
            kind("FooConfig", "fooconfigs", true),
            kind("FooConfigTemplate", "fooconfigtemplates", false),
        ]
    }

    /// Book, "All resources: API group": both plurals, seven verbs; only the sponsored groups are
    /// covered from the start.
    #[test]
    fn core_gets_seven_verbs_on_kinds_of_a_foreign_group_only() {
        let role = |group: &str| {
            aggregated_role(
                &Names::of_foo(),
                ProviderType::BootstrapProvider,
                &[],
                &kinds(group),
            )
        };
        assert_eq!(role("bootstrap.cluster.x-k8s.io"), None);
        let role = role("bootstrap.foo.dev").expect("a foreign group");
        assert_eq!(
            role["metadata"]["labels"],
            json!({"cluster.x-k8s.io/aggregate-to-manager": "true"})
        );
        assert_eq!(
            role["rules"][0]["resources"],
            json!(["fooconfigs", "fooconfigtemplates"])
        );
        assert_eq!(
            role["rules"][0]["verbs"],
            json!([
                "create", "delete", "get", "list", "patch", "update", "watch"
            ])
        );
        assert_eq!(binding(&Names::of_foo(), &role), None, "the core binds it");
    }

    /// Kubernetes, "Aggregated ClusterRoles": the selectors of `view`, `edit`, `admin` and of the
    /// core ask for `true`.
    #[test]
    fn a_label_of_an_aggregation_says_so() {
        let role = |key: &str, value: &str| json!({"metadata": {"labels": {key: value}}});
        assert!(is_aggregated(&role(
            "rbac.authorization.k8s.io/aggregate-to-view",
            "true"
        )));
        assert!(!is_aggregated(&role(
            "rbac.authorization.k8s.io/aggregate-to-view",
            "false"
        )));
        assert!(
            !is_aggregated(&role("example.dev/aggregated", "true")) && !is_aggregated(&json!({}))
        );
    }

    /// The kubeadm control plane clones machine templates, of whatever group, and its role selects
    /// this label (its components of v1.14).
    #[test]
    fn control_planes_may_clone_machine_templates() {
        let further = ["rke2.controlplane.cluster.x-k8s.io/aggregate-to-manager".to_owned()];
        let provider = ProviderType::InfrastructureProvider;
        let role = aggregated_role(
            &Names::of_foo(),
            provider,
            &further,
            &kinds("infrastructure.foo.dev"),
        )
        .expect("a foreign group");
        let expected = json!({
            "cluster.x-k8s.io/aggregate-to-manager": "true",
            "kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager": "true",
            "rke2.controlplane.cluster.x-k8s.io/aggregate-to-manager": "true",
        });
        assert_eq!(role["metadata"]["labels"], expected);
    }

    /// kubebuilder gives such labels to roles for people; the core does not take those over.
    #[test]
    fn only_the_cores_label_feeds_the_core() {
        let role =
            |label: &str| json!({"kind": "ClusterRole", "metadata": {"labels": {label: "true"}}});
        assert!(is_aggregated_to_core(&role(
            "cluster.x-k8s.io/aggregate-to-manager"
        )));
        assert!(!is_aggregated_to_core(&role(
            "rbac.authorization.k8s.io/aggregate-to-view"
        )));
    }

    /// The verbs on each resource.
    fn verbs(rules: &[PolicyRule]) -> impl Fn(&str) -> Option<String> {
        move |resource: &str| {
            let mut found = rules
                .iter()
                .filter(|rule| rule.resources.iter().any(|named| named == resource));
            let verbs = found.next().map(|rule| rule.verbs.join(","));
            assert!(found.next().is_none(), "{resource} is in one rule");
            verbs
        }
    }

    const ALL: &str = "create,delete,get,list,patch,update,watch";

    /// Book, "Contract rules for BootstrapConfig": it sees the owner and the Cluster of its
    /// configs, makes data Secrets, and reports.
    #[test]
    fn manager_of_a_bootstrap_provider_has_what_its_contract_needs() {
        let rules = manager_rules(
            ProviderType::BootstrapProvider,
            &kinds("bootstrap.foo.dev"),
            true,
        );
        let of = verbs(&rules);
        for (resource, verbs) in [
            ("fooconfigs", Some("get,list,patch,update,watch")),
            ("fooconfigs/status", Some("get,patch,update")),
            ("fooconfigs/finalizers", Some("update")),
            ("fooconfigtemplates", Some("get,list,patch,update,watch")),
            ("fooconfigtemplates/status", None),
            ("secrets", Some("create,get,list,patch,update,watch")),
            ("configmaps", None),
            ("machines", Some("get,list,watch")),
            ("machinesets", None),
            ("machines/status", None),
            ("clusters", Some("get,list,watch")),
            ("events", Some("create,patch")),
            ("customresourcedefinitions", None),
            ("tokenreviews", Some("create")),
            ("subjectaccessreviews", Some("create")),
            ("leases", None),
        ] {
            assert_eq!(of(resource).as_deref(), verbs, "{resource}");
        }
        assert!(
            rules.iter().all(|rule| !rule
                .verbs
                .iter()
                .chain(&rule.resources)
                .any(|word| word == "*")),
            "no wildcards"
        );
        assert!(
            rules
                .iter()
                .all(|rule| rule.api_groups != ["controlplane.cluster.x-k8s.io"]),
            "nobody refers to control planes"
        );
        let rules = manager_rules(
            ProviderType::BootstrapProvider,
            &kinds("bootstrap.foo.dev"),
            false,
        );
        assert_eq!(verbs(&rules)("tokenreviews"), None, "nobody reads metrics");
    }

    /// Book, "Contract rules for ControlPlane": a control plane provider makes and deletes the
    /// Machines of its control planes.
    #[test]
    fn manager_of_a_control_plane_provider_makes_machines() {
        let rules = manager_rules(
            ProviderType::ControlPlaneProvider,
            &kinds("controlplane.foo.dev"),
            true,
        );
        let of = verbs(&rules);
        assert_eq!(of("machines").as_deref(), Some(ALL));
        assert_eq!(of("machines/status").as_deref(), Some("get,patch,update"));
        assert_eq!(of("clusters").as_deref(), Some("get,list,watch"));
        assert_eq!(
            of("secrets").as_deref(),
            Some("create,get,list,patch,update,watch")
        );
        assert_eq!(
            of("customresourcedefinitions").as_deref(),
            Some("get,list,watch")
        );
    }

    /// Book, "Contract rules for InfraMachinePool": the machines of a pool are made by the
    /// provider; and all others by people and the core.
    #[test]
    fn managers_of_infrastructure_make_machines_of_pools_alone() {
        let of = |names: &[&str]| {
            let kind = |name: &&str| Kind {
                group: "g".to_owned(),
                kind: (*name).to_owned(),
                plural: format!("{}s", name.to_lowercase()),
                has_status: true,
                has_several_versions: true,
            };
            manager_rules(
                ProviderType::InfrastructureProvider,
                &names.iter().map(kind).collect::<Vec<_>>(),
                true,
            )
        };
        let rules = of(&["FooMachine", "FooMachinePool"]);
        assert_eq!(verbs(&rules)("foomachines").as_deref(), Some(ALL));
        assert_eq!(
            verbs(&rules)("foomachinepools").as_deref(),
            Some("get,list,patch,update,watch")
        );
        let rules = of(&["FooMachine", "FooCluster"]);
        assert_eq!(
            verbs(&rules)("foomachines").as_deref(),
            Some("get,list,patch,update,watch")
        );
        assert_eq!(verbs(&rules)("secrets").as_deref(), Some("get,list,watch"));
        // Stored objects are written in another version, which is noted in the CRD.
        let migration = rules
            .iter()
            .find(|rule| !rule.resource_names.is_empty())
            .expect("a rule for the own CRDs");
        assert_eq!(
            (
                migration.resource_names.join(","),
                migration.verbs.join(",")
            ),
            ("foomachines.g,fooclusters.g".into(), "patch,update".into())
        );
    }

    #[test]
    fn managers_that_need_no_secrets_see_none() {
        for provider in [
            ProviderType::IPAMProvider,
            ProviderType::RuntimeExtensionProvider,
        ] {
            assert_eq!(
                verbs(&manager_rules(provider, &[], true))("secrets"),
                None,
                "{provider:?}"
            );
        }
        assert_eq!(
            verbs(&manager_rules(ProviderType::AddonProvider, &[], true))("secrets").as_deref(),
            Some("get,list,watch")
        );
        let rules = manager_rules(ProviderType::IPAMProvider, &[], true);
        assert_eq!(verbs(&rules)("ipaddresses").as_deref(), Some(ALL));
    }

    #[test]
    fn bindings_are_called_after_their_role() {
        let binding = binding(
            &Names::of_foo(),
            &leader_election_role(&Names::of_foo(), &leader_election_rules()),
        )
        .expect("a Role is bound");
        assert_eq!(
            binding["metadata"],
            json!({"name": "foo-leader-election-rolebinding", "namespace": "foo-system"})
        );
        assert_eq!(binding["roleRef"]["name"], "foo-leader-election-role");
    }
}
