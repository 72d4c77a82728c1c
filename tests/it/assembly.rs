//! How the components of a provider are put together: which objects are made when, in which order
//! they stand, and whose the roles are.

use serde_json::{Value, json};
use windlass_provider::{self as provider, Inputs, Matched};
use windlass_release::commands::release_build::{self, Order, version};
use windlass_release::emit::release::Release;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support;

const HEAD: &str =
    "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\nnamespace: foo-system\n";
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
const MANAGER: &str = "manager: {image: ghcr.io/a/b}\n";

/// The release of a provider with the lines of a `provider.yaml` behind its head, and files by the
/// patterns that name them.
pub(crate) fn release(lines: &str, files: &[(&str, &str)]) -> Release {
    release_of(&format!("{HEAD}{lines}"), files)
}

pub(crate) fn release_of(text: &str, files: &[(&str, &str)]) -> Release {
    let (providers, report) =
        provider::parse(&Source::new("provider.yaml", text), &Budget::default());
    assert!(report.is_empty(), "{report:?}");
    let mut inputs = Inputs::new();
    for (name, text) in files.iter().chain(&[("metadata.yaml", METADATA)]) {
        inputs.insert(
            *name,
            Matched {
                files: vec![Source::new(*name, *text)],
                ..Matched::default()
            },
        );
    }
    release_build::run(
        &providers,
        report,
        &inputs,
        Order::of(&version("v0.1.0").unwrap()),
    )
}

pub(crate) fn objects_of(release: &Release) -> Vec<Value> {
    let file = release
        .files
        .paths()
        .find(|path| path.ends_with("components.yaml"))
        .unwrap();
    support::documents(release.files.get(file).unwrap())
}

/// The objects of an add-on, whose kinds nobody checks.
fn addon(lines: &str, files: &[(&str, &str)]) -> Vec<Value> {
    objects_of(&release(&format!("type: AddonProvider\n{lines}"), files))
}

/// `Kind/name` of objects.
pub(crate) fn titles(objects: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    objects
        .iter()
        .map(|object| {
            format!(
                "{}/{}",
                text(&object["kind"]),
                text(&object["metadata"]["name"])
            )
        })
        .collect()
}

fn of_kinds(objects: &[Value], kinds: &[&str]) -> Vec<String> {
    titles(objects)
        .into_iter()
        .filter(|title| kinds.contains(&title.split('/').next().unwrap()))
        .collect()
}

pub(crate) fn object<'o>(objects: &'o [Value], title: &str) -> &'o Value {
    let at = titles(objects).iter().position(|other| other == title);
    &objects[at.unwrap_or_else(|| panic!("{title} is not among {:?}", titles(objects)))]
}

pub(crate) fn crd(group: &str, kind: &str, versions: &[&str], has_status: bool) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let status = if has_status {
        ", subresources: {status: {}}"
    } else {
        ""
    };
    // The newest version, which is the last one, is stored.
    let version = |name: &&str| {
        let stored = versions.last() == Some(name);
        format!(
            "  - {{name: {name}, served: true, storage: {stored}{status}, schema: {{openAPIV3Schema: {{type: object}}}}}}\n"
        )
    };
    let versions: String = versions.iter().map(version).collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.{group}}}\nspec:\n  group: {group}\n  \
         names: {{kind: {kind}, plural: {plural}}}\n  scope: Namespaced\n  versions:\n{versions}"
    )
}

fn role(kind: &str, name: &str, labels: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, labels: {{{labels}}}}}\nrules: []\n---\n"
    )
}

/// A binding of a ClusterRole.
fn binding(kind: &str, name: &str, role: &str, account: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, \
         kind: ClusterRole, name: {role}}}\nsubjects: [{{kind: ServiceAccount, name: {account}, namespace: system}}]\n---\n"
    )
}

const ACCOUNT: &str = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: manager}\n---\n";

/// kustomize's order of kinds; kinds that it does not know stand before the webhook configurations,
/// and those of one kind as the files have them.
#[test]
fn objects_stand_in_the_order_of_kustomize() {
    let own = |group: &str, kind: &str, name: &str| {
        format!("apiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    };
    let files: Vec<String> = [
        (
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "v",
        ),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "m",
        ),
        ("policy/v1", "PodDisruptionBudget", "p"),
        ("cert-manager.io/v1", "Issuer", "i"),
        ("cert-manager.io/v1", "Certificate", "c"),
        ("apps/v1", "StatefulSet", "s"),
        ("apps/v1", "DaemonSet", "d"),
        ("v1", "Secret", "s"),
        ("v1", "ConfigMap", "z"),
        ("v1", "ConfigMap", "a"),
        ("v1", "Service", "s"),
    ]
    .map(|(group, kind, name)| own(group, kind, name))
    .into();
    let lines = "group: foo.dev\ncrds: [crd.yaml]\nobjects: [own.yaml]\nrbac: {aggregateTo: [x/aggregate-to-y]}\nmanager: {image: ghcr.io/a/b, conversion: true}\n";
    let definition = crd("foo.dev", "FooThing", &["v1alpha1", "v1"], true);
    let objects = addon(
        lines,
        &[
            ("own.yaml", &files.join("---\n")),
            ("crd.yaml", &definition),
        ],
    );
    assert_eq!(
        titles(&objects),
        [
            "Namespace/foo-system",
            "CustomResourceDefinition/foothings.foo.dev",
            "ServiceAccount/foo-manager",
            "Role/foo-leader-election-role",
            "ClusterRole/foo-system-manager-role",
            "ClusterRole/foo-system-aggregated-manager-role",
            "RoleBinding/foo-leader-election-rolebinding",
            "ClusterRoleBinding/foo-system-manager-rolebinding",
            "ConfigMap/foo-z",
            "ConfigMap/foo-a",
            "Secret/foo-s",
            "Service/foo-s",
            "Service/foo-webhook-service",
            "Deployment/foo-controller-manager",
            "DaemonSet/foo-d",
            "StatefulSet/foo-s",
            "Certificate/foo-c",
            "Certificate/foo-serving-cert",
            "Issuer/foo-i",
            "Issuer/foo-selfsigned-issuer",
            "PodDisruptionBudget/foo-p",
            "MutatingWebhookConfiguration/foo-m",
            "ValidatingWebhookConfiguration/foo-v",
        ]
    );
}

/// What webhooks need is there as soon as one of four fields wants webhooks, and not before.
#[test]
fn service_and_certificate_are_made_for_webhooks_alone() {
    let crds = [
        crd("foo.dev", "FooThing", &["v1alpha1", "v1"], true),
        crd("foo.dev", "FooOther", &["v1"], true),
    ];
    let hooks = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: own}\nwebhooks: []\n";
    let (mutating, validating) = (
        "MutatingWebhookConfiguration/foo-mutating-webhook-configuration",
        "ValidatingWebhookConfiguration/foo-validating-webhook-configuration",
    );
    let parts = [
        "Service/foo-webhook-service",
        "Certificate/foo-serving-cert",
        "Issuer/foo-selfsigned-issuer",
    ];
    let kinds = [
        "Service",
        "Certificate",
        "Issuer",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ];
    for (field, configurations) in [
        ("args: [a]", None),
        ("conversion: true", Some(&[][..])),
        ("converts: [FooThing]", Some(&[])),
        ("validates: [FooThing]", Some(&[validating])),
        ("defaults: [FooOther]", Some(&[mutating])),
        (
            "validates: [FooThing], defaults: [FooOther]",
            Some(&[mutating, validating]),
        ),
        (
            "webhooks: [hooks.yaml]",
            Some(&["ValidatingWebhookConfiguration/foo-own"]),
        ),
    ] {
        let lines = format!(
            "group: foo.dev\ncrds: [a.yaml, b.yaml]\nmanager: {{image: ghcr.io/a/b, {field}}}\n"
        );
        let objects = addon(
            &lines,
            &[
                ("a.yaml", &crds[0]),
                ("b.yaml", &crds[1]),
                ("hooks.yaml", hooks),
            ],
        );
        let expected: Vec<&str> = configurations
            .into_iter()
            .flat_map(|more| parts.into_iter().chain(more.iter().copied()))
            .collect();
        assert_eq!(of_kinds(&objects, &kinds), expected, "{field}");
        let pod =
            &object(&objects, "Deployment/foo-controller-manager")["spec"]["template"]["spec"];
        assert_eq!(
            pod["volumes"].is_array(),
            configurations.is_some(),
            "{field}"
        );
    }
}

/// The webhooks that are made are for the kinds that are named, in the version that is stored.
#[test]
fn webhooks_see_the_stored_version_of_the_kinds_that_are_named() {
    let of = |kind: &str, versions: &[&str]| crd("foo.dev", kind, versions, true);
    let crds = [
        of("FooThing", &["v1alpha1", "v1"]),
        of("FooOther", &["v1beta1"]),
        of("FooMore", &["v1"]),
    ];
    let files = [
        ("a.yaml", crds[0].as_str()),
        ("b.yaml", crds[1].as_str()),
        ("c.yaml", crds[2].as_str()),
    ];
    let lines = "group: foo.dev\ncrds: [a.yaml, b.yaml, c.yaml]\nmanager: {image: ghcr.io/a/b, defaults: [FooOther], validates: [FooThing, FooMore, FooOther]}\n";
    let objects = addon(lines, &files);
    let webhooks = |title: &str| -> Vec<Value> {
        let webhooks = object(&objects, title)["webhooks"]
            .as_array()
            .unwrap()
            .iter();
        let shown = |webhook: &Value| {
            let (path, rule) = (
                &webhook["clientConfig"]["service"]["path"],
                &webhook["rules"][0],
            );
            json!([
                webhook["name"],
                path,
                rule["apiVersions"],
                rule["resources"]
            ])
        };
        webhooks.map(shown).collect()
    };
    assert_eq!(
        webhooks("MutatingWebhookConfiguration/foo-mutating-webhook-configuration"),
        [json!([
            "default.fooother.foo.dev",
            "/mutate-foo-dev-v1beta1-fooother",
            ["v1beta1"],
            ["fooothers"]
        ])]
    );
    assert_eq!(
        webhooks("ValidatingWebhookConfiguration/foo-validating-webhook-configuration"),
        [
            json!([
                "validation.foothing.foo.dev",
                "/validate-foo-dev-v1-foothing",
                ["v1"],
                ["foothings"]
            ]),
            json!([
                "validation.foomore.foo.dev",
                "/validate-foo-dev-v1-foomore",
                ["v1"],
                ["foomores"]
            ]),
            json!([
                "validation.fooother.foo.dev",
                "/validate-foo-dev-v1beta1-fooother",
                ["v1beta1"],
                ["fooothers"]
            ]),
        ]
    );
    let hosts = &object(&objects, "Certificate/foo-serving-cert")["spec"]["dnsNames"];
    assert_eq!(
        hosts,
        &json!([
            "foo-webhook-service.foo-system.svc",
            "foo-webhook-service.foo-system.svc.cluster.local"
        ])
    );
}

/// A CRD of one version has nothing to convert, and `converts` names those that do.
#[test]
fn definitions_of_several_versions_convert_through_the_manager() {
    let of = |kind: &str, versions: &[&str]| crd("foo.dev", kind, versions, true);
    let crds = [
        of("FooThing", &["v1alpha1", "v1"]),
        of("FooOther", &["v1"]),
        of("FooMore", &["v1alpha1", "v1beta1", "v1"]),
    ];
    for (field, converted) in [
        ("args: [a]", &[][..]),
        ("conversion: true", &["FooThing", "FooMore"]),
        ("converts: [FooMore]", &["FooMore"]),
        ("converts: [FooOther]", &[]),
        ("converts: [FooMore], conversion: true", &["FooMore"]),
    ] {
        let lines = format!(
            "group: foo.dev\ncrds: [a.yaml, b.yaml, c.yaml]\nmanager: {{image: ghcr.io/a/b, {field}}}\n"
        );
        let objects = addon(
            &lines,
            &[
                ("a.yaml", &crds[0]),
                ("b.yaml", &crds[1]),
                ("c.yaml", &crds[2]),
            ],
        );
        let converts = objects
            .iter()
            .filter(|object| object["spec"]["conversion"]["strategy"] == "Webhook");
        assert_eq!(
            converts
                .map(|crd| crd["spec"]["names"]["kind"].as_str().unwrap())
                .collect::<Vec<_>>(),
            converted,
            "{field}"
        );
    }
}

/// The ServiceAccount is made unless a file has that very object; without a manager and `rbac`
/// there is nobody to have rights.
#[test]
fn the_account_is_made_unless_a_file_has_it() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: manager}\n---\n";
    let other = ACCOUNT.replace("manager", "other");
    let made = [
        "Role/foo-leader-election-role",
        "ClusterRole/foo-system-manager-role",
    ];
    for (lines, own, accounts, roles) in [
        (
            MANAGER,
            map.to_owned(),
            &["ServiceAccount/foo-manager"][..],
            &made[..],
        ),
        (
            MANAGER,
            format!("{map}{other}"),
            &["ServiceAccount/foo-manager", "ServiceAccount/foo-other"],
            &made,
        ),
        (
            MANAGER,
            ACCOUNT.to_owned(),
            &["ServiceAccount/foo-manager"],
            &made,
        ),
        (
            "rbac: {serviceAccount: default}\nmanager: {image: ghcr.io/a/b}\n",
            map.to_owned(),
            &[],
            &made,
        ),
        (
            "rbac: {}\n",
            map.to_owned(),
            &["ServiceAccount/foo-manager"],
            &made,
        ),
        ("", map.to_owned(), &[], &[]),
    ] {
        let objects = addon(
            &format!("objects: [own.yaml]\n{lines}"),
            &[("own.yaml", &own)],
        );
        assert_eq!(
            of_kinds(&objects, &["ServiceAccount"]),
            accounts,
            "{lines}{own}"
        );
        assert_eq!(
            of_kinds(&objects, &["Role", "ClusterRole"]),
            roles,
            "{lines}{own}"
        );
    }
}

/// Roles among `objects` are the manager's if one of their bindings is for it, or if nothing binds
/// them.
#[test]
fn roles_among_objects_are_the_managers_if_it_is_bound_to_them() {
    let own = ["ClusterRole/foo-system-own"];
    let made = [
        "Role/foo-leader-election-role",
        "ClusterRole/foo-system-manager-role",
        "ClusterRole/foo-system-own",
    ];
    let bound = |kind: &str, name: &str, account: &str| binding(kind, name, "own", account);
    for (bindings, roles) in [
        (String::new(), &own[..]),
        (bound("ClusterRoleBinding", "a", "manager"), &own),
        (bound("ClusterRoleBinding", "a", "other"), &made),
        (
            bound("ClusterRoleBinding", "a", "other") + &bound("RoleBinding", "b", "other"),
            &made,
        ),
        (
            bound("ClusterRoleBinding", "a", "manager") + &bound("RoleBinding", "b", "manager"),
            &own,
        ),
        (
            bound("ClusterRoleBinding", "a", "manager") + &bound("RoleBinding", "b", "other"),
            &own,
        ),
        (
            bound("ClusterRoleBinding", "a", "other") + &bound("RoleBinding", "b", "manager"),
            &own,
        ),
        (binding("ClusterRoleBinding", "a", "another", "other"), &own),
    ] {
        let files = format!(
            "{ACCOUNT}{}{}{bindings}",
            ACCOUNT.replace("manager", "other"),
            role("ClusterRole", "own", "")
        );
        let objects = addon(
            &format!("objects: [own.yaml]\n{MANAGER}"),
            &[("own.yaml", &files)],
        );
        assert_eq!(
            of_kinds(&objects, &["Role", "ClusterRole"]),
            roles,
            "{bindings}"
        );
    }
}

/// Rules of `rbac` are for roles that are made.
#[test]
fn adds_rules_to_the_role_that_is_made() {
    let lines = "type: BootstrapProvider\ngroup: bootstrap.windlass.dev\ncontracts: {v1beta1: [v1beta1], v1beta2: [v1beta2]}\ncrds: builtin\n\
                 manager: {image: ghcr.io/a/b, conversion: true}\n";
    let rules = "rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]";
    for (rbac, is_added) in [
        ("roles: [r.yaml]".to_owned(), false),
        (format!("roles: [r.yaml], {rules}"), false),
        (format!("roles: [r.yaml], {rules}, manager: builtin"), false),
        (format!("manager: builtin, {rules}"), true),
    ] {
        let release = release(
            &format!("{lines}rbac: {{{rbac}}}\n"),
            &[("r.yaml", &role("ClusterRole", "manager-role", ""))],
        );
        let last = object(&objects_of(&release), "ClusterRole/foo-system-manager-role")["rules"]
            .as_array()
            .unwrap()
            .last()
            .cloned();
        let nodes = json!({"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]});
        assert_eq!(last == Some(nodes), is_added, "{rbac}");
    }
}

/// `rule: group resources verbs` of the manager's role.
fn rules(objects: &[Value], title: &str) -> Vec<String> {
    let words = |value: &Value| {
        value.as_array().map_or(String::new(), |words| {
            words
                .iter()
                .map(|word| word.as_str().unwrap())
                .collect::<Vec<_>>()
                .join(",")
        })
    };
    let rules = object(objects, title)["rules"].as_array().unwrap();
    rules
        .iter()
        .map(|rule| {
            ["apiGroups", "resources", "resourceNames", "verbs"]
                .map(|field| words(&rule[field]))
                .join(" ")
        })
        .collect()
}

/// Book, "All resources: API group", "Contract rules for InfraMachinePool": group by group, with
/// metrics or without, in the order of groups.
#[test]
fn rights_follow_from_groups_kinds_and_versions() {
    let files = [
        (
            "a.yaml",
            crd("foo.dev", "FooMachine", &["v1alpha1", "v1"], true),
        ),
        ("b.yaml", crd("foo.dev", "FooCluster", &["v1"], false)),
        ("c.yaml", crd("bar.dev", "BarMachinePool", &["v1"], true)),
        ("d.yaml", crd("bar.dev", "BarMachine", &["v1"], false)),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let head = "type: InfrastructureProvider\ngroup: foo.dev\ngroups: [bar.dev]\ncontracts: {v1beta2: [v1]}\ncrds: [a.yaml, b.yaml, c.yaml, d.yaml]\n";
    let expected = |has_metrics: bool| {
        let metrics = [
            "authentication.k8s.io tokenreviews  create",
            "authorization.k8s.io subjectaccessreviews  create",
        ];
        let first = [
            " secrets  get,list,watch",
            ",events.k8s.io events  create,patch",
            "apiextensions.k8s.io customresourcedefinitions  get,list,watch",
            "apiextensions.k8s.io customresourcedefinitions,customresourcedefinitions/status foomachines.foo.dev patch,update",
        ];
        let own = [
            "bar.dev barmachines  create,delete,get,list,patch,update,watch",
            "bar.dev barmachinepools  get,list,patch,update,watch",
            "bar.dev barmachinepools/finalizers  update",
            "bar.dev barmachinepools/status  get,patch,update",
            "foo.dev foomachines,fooclusters  get,list,patch,update,watch",
            "foo.dev foomachines/finalizers  update",
            "foo.dev foomachines/status  get,patch,update",
            "cluster.x-k8s.io clusters,machinepools,machines  get,list,watch",
        ];
        first
            .into_iter()
            .chain(has_metrics.then_some(metrics).into_iter().flatten())
            .chain(own)
            .collect::<Vec<_>>()
    };
    for (ports, has_metrics) in [
        ("", true),
        (", ports: {health: 0}", true),
        (", ports: {metrics: 8080}", true),
        (", ports: {metrics: 0}", false),
    ] {
        let objects = objects_of(&release(
            &format!("{head}manager: {{image: ghcr.io/a/b{ports}}}\n"),
            &files,
        ));
        assert_eq!(
            rules(&objects, "ClusterRole/foo-system-manager-role"),
            expected(has_metrics),
            "{ports}"
        );
        let all = "create,delete,get,list,patch,update,watch";
        assert_eq!(
            rules(&objects, "ClusterRole/foo-system-aggregated-manager-role"),
            [
                format!("bar.dev barmachinepools,barmachines  {all}"),
                format!("foo.dev foomachines,fooclusters  {all}")
            ]
        );
    }
}

/// The core takes over the role for the kinds to which its objects refer, and others may want it
/// too; one that a file has is not made.
#[test]
fn the_role_for_others_is_made_where_somebody_wants_it() {
    let definition = crd("foo.dev", "FooThing", &["v1"], true);
    let feeds = |value: &str| {
        role(
            "ClusterRole",
            "own",
            &format!("cluster.x-k8s.io/aggregate-to-manager: \"{value}\""),
        )
    };
    let made = "ClusterRole/foo-system-aggregated-manager-role";
    for (kind, rbac, roles, expected) in [
        ("AddonProvider", "", String::new(), None),
        (
            "AddonProvider",
            "rbac: {aggregateTo: [x/aggregate-to-y]}\n",
            String::new(),
            Some(&["cluster.x-k8s.io/aggregate-to-manager", "x/aggregate-to-y"][..]),
        ),
        ("RuntimeExtensionProvider", "", String::new(), None),
        (
            "BootstrapProvider",
            "",
            String::new(),
            Some(&["cluster.x-k8s.io/aggregate-to-manager"]),
        ),
        (
            "BootstrapProvider",
            "rbac: {roles: [r.yaml]}\n",
            feeds("true"),
            None,
        ),
        (
            "BootstrapProvider",
            "rbac: {roles: [r.yaml]}\n",
            feeds("false"),
            Some(&["cluster.x-k8s.io/aggregate-to-manager"]),
        ),
        (
            "InfrastructureProvider",
            "",
            String::new(),
            Some(&[
                "cluster.x-k8s.io/aggregate-to-manager",
                "kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager",
            ]),
        ),
    ] {
        let lines = format!(
            "type: {kind}\ngroup: foo.dev\ncontracts: {{v1beta2: [v1]}}\ncrds: [a.yaml]\n{rbac}{MANAGER}"
        );
        let objects = objects_of(&release(
            &lines,
            &[("a.yaml", &definition), ("r.yaml", &roles)],
        ));
        let found = objects
            .iter()
            .zip(titles(&objects))
            .find(|(_, title)| title == made);
        let labels = found.map(|(role, _)| {
            role["metadata"]["labels"]
                .as_object()
                .unwrap()
                .iter()
                .filter(|(_, value)| *value == "true")
        });
        assert_eq!(
            labels
                .map(|labels| labels.map(|(key, _)| key.as_str()).collect::<Vec<_>>())
                .as_deref(),
            expected,
            "{kind} {rbac}{roles}"
        );
    }
    // The core has its own kinds, whoever else wants them.
    let core = HEAD.replace("name: foo\n", "name: cluster-api\n");
    let text = format!(
        "{core}type: CoreProvider\ngroup: foo.dev\ncrds: [a.yaml]\nrbac: {{aggregateTo: [x/aggregate-to-y]}}\n{MANAGER}"
    );
    let objects = objects_of(&release_of(&text, &[("a.yaml", &definition)]));
    assert!(
        !titles(&objects).contains(&made.to_owned()),
        "{:?}",
        titles(&objects)
    );
}

/// One account that the role files bind is the manager's, whoever else runs as it; of several the
/// usual one is.
#[test]
fn the_account_that_the_role_files_bind_is_the_managers() {
    let pod = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: own}\nspec: {selector: {}, template: {spec: {serviceAccountName: \
               controller-manager, containers: [{name: manager, image: \"ghcr.io/a/c:v1\"}]}}}\n";
    let bound = |account: &str| {
        role("ClusterRole", "own", "") + &binding("ClusterRoleBinding", account, "own", account)
    };
    let lines =
        format!("type: AddonProvider\nrbac: {{roles: [r.yaml]}}\nobjects: [own.yaml]\n{MANAGER}");
    for (roles, expected) in [
        (bound("controller-manager"), "foo-controller-manager"),
        (
            bound("controller-manager") + &binding("ClusterRoleBinding", "b", "own", "mine"),
            "foo-mine",
        ),
        (
            bound("proxy") + &binding("ClusterRoleBinding", "b", "own", "manager"),
            "foo-manager",
        ),
        (
            bound("proxy") + &binding("ClusterRoleBinding", "b", "own", "foo-manager"),
            "foo-manager",
        ),
    ] {
        let release = release(&lines, &[("r.yaml", &roles), ("own.yaml", pod)]);
        let objects = objects_of(&release);
        let pod =
            &object(&objects, "Deployment/foo-controller-manager")["spec"]["template"]["spec"];
        assert_eq!(pod["serviceAccountName"], expected, "{roles}");
        let mut findings = release.report.findings().iter();
        let is_ambiguous =
            findings.any(|finding| finding.rule.id == "provider-service-account-ambiguous");
        assert!(!is_ambiguous, "{roles}");
    }
}

/// A finding about what is made stands at the field of provider.yaml that describes it, and names
/// object and field.
#[test]
fn findings_about_what_is_made_name_object_and_field() {
    let lines = "type: AddonProvider\nmanager: {image: ghcr.io/a/b, sidecars: [{name: s, image: busybox}]}\n";
    let report = release(lines, &[]).report;
    let finding = report
        .findings()
        .iter()
        .find(|finding| finding.rule.id == "components-image-not-canonical")
        .unwrap();
    let place = &finding.place;
    assert_eq!(
        (
            place.file.as_deref(),
            place.span.map(|span| span.start.line),
            place.object.as_deref(),
            place.path.to_string().as_str()
        ),
        (
            Some("provider.yaml"),
            Some(6),
            Some("Deployment/foo-controller-manager"),
            "spec.template.spec.containers[1].image"
        )
    );
    assert_eq!(
        finding.notes.last().unwrap(),
        "Deployment/foo-controller-manager is made from provider.yaml; no file has it"
    );
}
