//! CRDs: their contract labels, versions, lists, subresources, and the rights of the core on their
//! kinds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{found, notes, text};

const GROUP: &str = "infrastructure.cluster.x-k8s.io";

/// The CRD of a kind; each change is a path as JSON Pointer has it, and the value that is put
/// there.
fn crd(kind: &str, changes: &Value) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let mut crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}"), "labels": {"cluster.x-k8s.io/v1beta2": "v1"}, "annotations": {}},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "conversion": null,
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": [version("v1", true, true, json!({}))],
        },
    });
    for (pointer, value) in changes.as_object().unwrap() {
        *crd.pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{pointer}")) = value.clone();
    }
    crd
}

/// A version with some fields of its spec.
fn version(name: &str, served: bool, storage: bool, fields: Value) -> Value {
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
    json!({"name": name, "served": served, "storage": storage, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}})
}

/// What is told of objects by a rule: the paths of its places, then message, help, notes and words
/// of others, as far as there are any.
fn of(objects: &[Value], rule: &str) -> Vec<String> {
    let components: String = objects
        .iter()
        .map(|object| format!("---\n{object}\n"))
        .collect();
    let line = |finding: &Value| {
        let related = finding["related"].as_array().unwrap().iter();
        let paths: Vec<&str> = std::iter::once(finding)
            .chain(related)
            .map(|at| text(at, "path"))
            .collect();
        let parts = [
            paths.join(" & "),
            text(finding, "message").into(),
            text(finding, "help").into(),
            notes(finding),
            text(finding, "upstream").into(),
        ];
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" | ")
    };
    found(
        &[("infrastructure-components.yaml", &components)],
        &[],
        rule,
    )
    .iter()
    .map(line)
    .collect()
}

/// The same of one CRD of machines, which is called CRD.
fn of_machine(changes: &Value, rule: &str) -> Vec<String> {
    let title = format!("CustomResourceDefinition/foomachines.{GROUP}");
    of(&[crd("FooMachine", changes)], rule)
        .iter()
        .map(|line| line.replace(&title, "CRD"))
        .collect()
}

fn named(name: &str, served: bool, storage: bool) -> Value {
    version(name, served, storage, json!({}))
}

/// apiextensions-apiserver: exactly one version is stored.
#[test]
fn one_version_of_a_kind_is_stored() {
    let of = |versions: Value| of_machine(&json!({"/spec/versions": versions}), "crd-storage");
    let refused = "write `storage: true` at one version, and `storage: false` at all others | the API server refuses the CRD: `must have exactly one version marked as storage version`";
    assert_eq!(
        of(json!([
            named("a1", true, true),
            named("a2", true, false),
            named("a3", false, true),
            named("v1", true, true)
        ])),
        [format!(
            "spec.versions[2].storage | a1, a3, v1 of CRD are all marked as the one in which objects are stored | {refused}"
        )]
    );
    assert_eq!(
        of(json!([named("v1", true, false)])),
        [format!(
            "spec.versions | no version of CRD is the one in which objects are stored | {refused}"
        )]
    );
    assert_eq!(
        (
            of(json!([named("a1", true, false), named("v1", true, true)])),
            of(json!([]))
        ),
        (vec![], vec![])
    );
}

/// What is lost on the way to the stored version, on the way back, and what has another type: each
/// is enough, and said for itself.
#[test]
fn versions_that_differ_are_converted() {
    let text = || json!({"type": "string"});
    let of = |other: Value, stored: Value| {
        let versions = json!([
            version("v1alpha1", true, false, other),
            version("v1", true, true, stored)
        ]);
        of_machine(&json!({"/spec/versions": versions}), "crd-conversion")
    };
    let told = |note: &str| {
        [format!(
            "spec.versions[0].name | v1 and v1alpha1 of FooMachine have other fields, and no webhook converts between them | convert them: `spec.conversion: {{strategy: Webhook, …}}`; or serve one of the two only: `served: false` at v1alpha1 | {note}"
        )]
    };
    let fields =
        |count: usize| Value::Object((0..count).map(|at| (format!("f{at}"), text())).collect());
    let all = "spec.f0, spec.f1, spec.f2, spec.f3, spec.f4";
    for (other, stored, note) in [
        (
            fields(1),
            json!({}),
            "what is written as v1alpha1 loses spec.f0".to_owned(),
        ),
        (
            json!({}),
            fields(1),
            "what is read as v1alpha1, and lost when it is written back, lacks spec.f0".to_owned(),
        ),
        (
            json!({"a": text()}),
            json!({"a": {"type": "integer"}}),
            "other types, of v1alpha1 and v1: spec.a (string, then integer)".to_owned(),
        ),
        (
            fields(5),
            json!({}),
            format!("what is written as v1alpha1 loses {all}"),
        ),
        (
            fields(6),
            json!({}),
            format!("what is written as v1alpha1 loses {all} and 1 more"),
        ),
        (
            json!({"kind": text(), "b": {"type": "array", "items": {"type": "object", "properties": {"c": text()}}}}),
            json!({"b": {"type": "array", "items": {"type": "object"}}}),
            "what is written as v1alpha1 loses spec.b[].c, spec.kind".to_owned(),
        ),
    ] {
        assert_eq!(of(other, stored), told(&note));
    }
    let map = |values: Value| json!({"a": {"type": "object", "additionalProperties": values}});
    let open = json!({"a": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    for (other, stored) in [
        (fields(1), fields(1)),
        (map(text()), open.clone()),
        (open, map(text())),
    ] {
        assert_eq!(of(other, stored), [""; 0]);
    }
    let inner = of(
        map(json!({"type": "object", "properties": {"b": text()}})),
        map(json!({"type": "object"})),
    );
    assert_eq!(inner, told("what is written as v1alpha1 loses spec.a.*.b"));
}

/// A webhook that converts gets its CA; with one version it has nothing to do.
#[test]
fn webhooks_that_convert_are_trusted() {
    let of = |client: Value, annotations: Value, versions: Value| {
        let conversion = json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}});
        let changes = json!({"/spec/conversion": conversion, "/metadata/annotations": annotations, "/spec/versions": versions});
        of_machine(&changes, "crd-conversion")
    };
    let two = || {
        json!([
            version("v1alpha1", true, false, json!({})),
            version("v1", true, true, json!({"a": {"type": "string"}}))
        ])
    };
    let service = || json!({"service": {"name": "s", "namespace": "n"}});
    assert_eq!(
        of(service(), json!({"other": "x"}), two()),
        [
            "spec.conversion.webhook.clientConfig | nothing gives CRD the CA of its conversion webhook | annotate it `cert-manager.io/inject-ca-from: NAMESPACE/CERTIFICATE` | the API server does not trust the webhook without a CA, and then refuses every request that needs a conversion"
        ]
    );
    assert_eq!(of(json!({"url": "https://x"}), json!({}), two()), [""; 0]);
    for annotation in [
        "cert-manager.io/inject-ca-from",
        "cert-manager.io/inject-ca-from-secret",
        "cert-manager.io/inject-apiserver-ca",
        "service.beta.openshift.io/inject-cabundle",
    ] {
        assert_eq!(
            of(service(), json!({annotation: "x"}), two()),
            [""; 0],
            "{annotation}"
        );
    }
    assert_eq!(
        of(
            json!({"url": "https://x"}),
            json!({}),
            json!([named("v1", true, true)])
        ),
        [
            "spec.conversion | CRD has one version, v1, and a webhook that converts between versions | remove `spec.conversion` until there is a second version"
        ]
    );
}

/// The newest version that is served is the one to label; versions beside it that no label names
/// are told together.
#[test]
fn labels_name_what_is_served() {
    let of = |labels: Value, versions: &[(&str, bool)], rule: &str| {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, served)| named(name, *served, false))
            .collect();
        of_machine(
            &json!({"/metadata/labels": labels, "/spec/versions": versions}),
            rule,
        )
    };
    for (versions, label) in [
        (&[("v1beta1", true), ("v1", true), ("v2", false)][..], "v1"),
        (&[("v1", true), ("v1beta1", true)], "v1"),
        (&[("v1beta1", false)], "VERSION"),
    ] {
        let told = of(json!({}), versions, "crd-contract-unlabelled");
        let expected = format!(
            "metadata.labels | CRD has no contract label, but the core refers to FooMachine | label it `cluster.x-k8s.io/v1beta2: {label}` | by group and name the kind is what the contract calls InfraMachine | cannot find any versions matching contract versions [\"v1beta2\" \"v1beta1\"] for CRD foomachines.{GROUP} as contract version label(s) are either missing or empty (see https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview.html#api-version-labels)"
        );
        assert_eq!(told, [expected]);
    }
    let newest = json!({"cluster.x-k8s.io/v1beta2": "v1"});
    assert_eq!(
        of(
            newest,
            &[
                ("v1alpha1", true),
                ("v1alpha2", false),
                ("v1beta1", true),
                ("v1", true)
            ],
            "crd-version-unlabelled"
        ),
        [
            "spec.versions[0].name & spec.versions[2].name | CRD serves v1alpha1, v1beta1, which no contract label names | set `served: false` at v1alpha1, v1beta1, or add it to the label of the contract that it fulfils"
        ]
    );
    let wrong = |contract: &str, version: &str| {
        format!(
            "metadata.labels[cluster.x-k8s.io/{contract}] | label cluster.x-k8s.io/{contract} of CRD names {version}, which the CRD does not serve | name versions that it serves: v1, v1beta2"
        )
    };
    let labels = json!({"cluster.x-k8s.io/v1beta1": "v2_v1beta1", "cluster.x-k8s.io/v1beta2": "v1_v2__v1beta1"});
    let served = [("v1", true), ("v1beta1", false), ("v1beta2", true)];
    assert_eq!(
        of(
            labels.clone(),
            &served,
            "crd-contract-label-version-unknown"
        ),
        [wrong("v1beta2", "v2")],
        "the one that the core takes"
    );
    assert_eq!(
        of(labels, &served, "crd-contract-label-version-stale"),
        [
            wrong("v1beta1", "v2"),
            wrong("v1beta1", "v1beta1"),
            wrong("v1beta2", "v1beta1")
        ]
    );
}

/// Its list, its scope, its template and the subresource of its status belong to a kind.
#[test]
fn what_belongs_to_a_kind_is_there() {
    let list = |list: &str, asked: &str| {
        let versions = json!([named("v1alpha1", true, false), named("v1", true, true)]);
        let told = of(
            &[crd(
                "FooIdentity",
                &json!({"/spec/names/listKind": list, "/spec/versions": versions}),
            )],
            "crd-list",
        );
        let expected = format!(
            "spec.names.listKind | the list kind of FooIdentity is {list}, not FooIdentityList | write `listKind: FooIdentityList` | clusterctl does not find the objects when an upgrade needs to store them in another version | no matches for kind \"{asked}\" in version \"{GROUP}/v1\""
        );
        assert_eq!(told, [expected]);
    };
    list("FooIdentities", "FooIdentities");
    list("FoosList", "Foos");
    assert_eq!(
        of_machine(&json!({"/spec/scope": "Cluster"}), "crd-scope"),
        [
            "spec.scope | FooMachine is cluster-scoped, but belongs to a Cluster in a namespace | write `scope: Namespaced`; the API server does not let a CRD that is installed change it | cluster-scoped resource must not have a namespace-scoped owner, owner's namespace default"
        ]
    );
    assert_eq!(
        of_machine(&json!({}), "crd-template-kind"),
        [
            "spec.names.kind | there is no FooMachineTemplate, from which sets of machines get their FooMachine | add the CRD of FooMachineTemplate, with the FooMachine under `spec.template` | a kind that no set of machines uses needs none"
        ]
    );
    assert_eq!(
        of(
            &[
                crd("FooCluster", &json!({})),
                crd("FooMachineTemplate", &json!({}))
            ],
            "crd-class-template"
        ),
        [
            "spec.names.kind | there is no FooClusterTemplate, so no ClusterClass can use FooCluster | add the CRD of FooClusterTemplate, with the FooCluster under `spec.template`"
        ]
    );
    let foreign = crd(
        "FooClusterTemplate",
        &json!({"/spec/group": "infra.foo.dev"}),
    );
    assert_eq!(
        of(
            &[crd("FooCluster", &json!({})), foreign],
            "crd-class-template"
        )
        .len(),
        1,
        "a kind of another group"
    );
    let bare = |name: &str, served: bool| json!({"name": name, "served": served, "storage": false, "subresources": {"scale": {}}});
    let told = of_machine(
        &json!({"/spec/versions": [named("a1", true, true), bare("a2", true), bare("a3", false)]}),
        "crd-status",
    );
    let add = "add `subresources: {status: {}}` to the version; for controller-gen `// +kubebuilder:subresource:status`";
    assert_eq!(
        told,
        [format!(
            "spec.versions[1].name | a2 of FooMachine has no status subresource | {add}"
        )]
    );
    let told = of_machine(
        &json!({"/spec/versions": [named("a1", true, true), bare("a2", true), bare("a3", true)]}),
        "crd-status",
    );
    assert_eq!(
        told,
        [format!(
            "spec.versions[1].name | a2, a3 of FooMachine have no status subresource | {add}"
        )]
    );
}

/// Book, "ControlPlane: replicas": the subresource in each version that is served and labelled.
#[test]
fn scale_is_that_of_the_contract() {
    let version = |name: &str, served: bool, scale: Value| {
        let mut version = version(
            name,
            served,
            name == "v1",
            json!({"replicas": {"type": "integer"}}),
        );
        version["subresources"]["scale"] = scale;
        version
    };
    let of = |versions: Value| {
        of(
            &[crd("FooControlPlane", &json!({"/spec/versions": versions}))],
            "crd-scale",
        )
    };
    let write = "write `scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}`";
    let told = |what: &str| {
        [format!(
            "spec.versions[0].subresources.scale | v1 of FooControlPlane has `spec.replicas` and {what} | {write}"
        )]
    };
    let scale = |paths: [&str; 3]| json!({"specReplicasPath": paths[0], "statusReplicasPath": paths[1], "labelSelectorPath": paths[2]});
    let right = [".spec.replicas", ".status.replicas", ".status.selector"];
    assert_eq!(of(json!([version("v1", true, scale(right))])), [""; 0]);
    assert_eq!(
        of(json!([version("v1", true, Value::Null)])),
        told("no scale subresource")
    );
    assert_eq!(
        of(json!([version(
            "v1",
            true,
            scale([right[0], ".status.r", right[2]])
        )])),
        told("a scale subresource with another statusReplicasPath")
    );
    assert_eq!(
        of(json!([version(
            "v1",
            true,
            scale([".spec.r", right[1], ".status.s"])
        )])),
        told("a scale subresource with another specReplicasPath and labelSelectorPath")
    );
    assert_eq!(
        of(json!([
            version("v1", false, Value::Null),
            version("v1alpha1", true, Value::Null)
        ])),
        [""; 0]
    );
}

/// A version of a control plane in the labels of two contracts.
#[test]
fn versions_of_control_planes_fulfil_one_contract() {
    let labels = json!({"cluster.x-k8s.io/v1beta1": "v1alpha1_v1beta1_v1", "cluster.x-k8s.io/v1beta2": "v1beta1_v1"});
    let told = |version: &str| {
        format!(
            "metadata.labels[cluster.x-k8s.io/v1beta1] & metadata.labels[cluster.x-k8s.io/v1beta2] | labels cluster.x-k8s.io/v1beta1 and cluster.x-k8s.io/v1beta2 of CustomResourceDefinition/foocontrolplanes.{GROUP} both name {version} | take {version} out of `cluster.x-k8s.io/v1beta1`: each version fulfils one contract | the core takes the one or the other by chance in Clusters of a ClusterClass, and reads the fields of that contract"
        )
    };
    let plane = crd("FooControlPlane", &json!({"/metadata/labels": labels}));
    assert_eq!(
        of(&[plane], "crd-contract-version-ambiguous"),
        [told("v1beta1"), told("v1")]
    );
}

/// Book, "All resources: API group": what the core does with kinds of a group that it does not
/// know, and what a role allows.
#[test]
fn the_core_has_rights_on_foreign_groups() {
    let group = "infra.foo.dev";
    let kind = |kind: &str| crd(kind, &json!({"/spec/group": group}));
    let all = "create, delete, get, list, patch, update, watch";
    let told = |objects: &[Value]| {
        let found = of(objects, "rbac-core");
        found
            .iter()
            .map(|line| line.split(" | ").map(str::to_owned).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let kinds = ["FooMachine", "FooMachinePoolMachine", "FooClusterTemplate"].map(kind);
    assert_eq!(
        told(&kinds),
        [[
            "spec.group & spec.group & spec.group",
            "Cluster API's core has no rights on foomachines, foomachinepoolmachines, fooclustertemplates of infra.foo.dev",
            &format!(
                "add a ClusterRole with the label `cluster.x-k8s.io/aggregate-to-manager: \"true\"` and the rule `{{apiGroups: [infra.foo.dev], resources: [foomachines, foomachinepoolmachines, fooclustertemplates], verbs: [{all}]}}`"
            ),
            &format!(
                "no role that is aggregated to the core's allows foomachines: {all}; foomachinepoolmachines: delete, get, list, patch, update, watch; fooclustertemplates: get, list, patch, update, watch"
            ),
        ]]
    );
    let role = |kind: &str, label: &str, rule: Value| {
        let metadata =
            json!({"name": "r", "labels": {"cluster.x-k8s.io/aggregate-to-manager": label}});
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": [rule]})
    };
    let rule = |group: &str, resource: &str, verb: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]});
    let with = |role: Value| told(&[kind("FooMachine"), role]).len();
    for (sound, count) in [
        (
            role("ClusterRole", "true", rule(group, "foomachines", "*")),
            0,
        ),
        (role("ClusterRole", "true", rule("*", "*", "*")), 0),
        (
            role("ClusterRole", "true", rule("other.dev", "foomachines", "*")),
            1,
        ),
        (role("ClusterRole", "true", rule(group, "foos", "*")), 1),
        (
            role("ClusterRole", "false", rule(group, "foomachines", "*")),
            1,
        ),
        (role("Role", "true", rule(group, "foomachines", "*")), 1),
        (
            role(
                "ClusterRole",
                "true",
                json!({"nonResourceURLs": ["/metrics"], "verbs": ["*"]}),
            ),
            1,
        ),
    ] {
        assert_eq!(with(sound.clone()), count, "{sound}");
    }
    let mut of_names = rule(group, "foomachines", "*");
    of_names["resourceNames"] = json!(["a"]);
    assert_eq!(
        with(role("ClusterRole", "true", of_names)),
        1,
        "of some objects only"
    );
}

/// What is wrong with a CRD by itself is told of sources too; its name may still be waived there,
/// and its labels added.
#[test]
fn sources_are_judged_by_what_stands_in_them() {
    let mut crd = crd("FooThing", &json!({"/spec/group": "foo.dev"}));
    crd["metadata"] =
        json!({"name": "foothing.foo.dev", "labels": {"cluster.x-k8s.io/v1alpha4": "v1alpha4"}});
    crd["spec"]["conversion"] =
        json!({"strategy": "None", "webhook": {"clientConfig": {"caBundle": "Cg=="}}});
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] =
        json!({"properties": {"a": {"type": "string"}}});
    let of = |form: &str| {
        let found = found(
            &[("components.yaml", &crd.to_string())],
            &["--as", form],
            "crd-",
        );
        found
            .iter()
            .map(|finding| format!("{} {}", text(finding, "rule"), text(finding, "help")))
            .collect::<BTreeSet<_>>()
    };
    let both = [
        "crd-ca-bundle-present remove the field; cert-manager injects the CA",
        "crd-contract-label-version-stale name versions that it serves: v1",
        "crd-not-structural correct the type that the CRD is generated from",
    ];
    let all = |more: &[&str]| {
        both.iter()
            .chain(more)
            .map(|line| (*line).to_owned())
            .collect::<BTreeSet<_>>()
    };
    let plural = "crd-name-not-plural write `plural: foothing` in `spec.names`, or name it `foothings.foo.dev`";
    assert_eq!(of("objects"), all(&[plural]));
    let name = "crd-name-wrong name it `foothings.foo.dev` with that plural; for a kind that core objects never refer to, set the annotation `clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check`";
    assert_eq!(of("components"), all(&[name]));
}
