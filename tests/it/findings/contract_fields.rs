//! Fields that the contract demands of a kind: what is told of a schema without them, where, and
//! what there is to write.

use serde_json::{Value, json};

use super::{found, notes, text};

/// A schema from paths and types, such as `status.conditions[].type:string`; `+` stands for any
/// fields, `*` for any values.
fn schema(paths: &str) -> Value {
    let mut root = json!({"type": "object"});
    for line in paths.split_whitespace() {
        let (path, of_type) = line.split_once(':').unwrap();
        let mut at = &mut root;
        for step in path.split('.') {
            let name = step.trim_end_matches("[]");
            at = &mut at["properties"][name];
            if step != name {
                at = &mut at["items"];
            }
        }
        match of_type {
            "+" => at["x-kubernetes-preserve-unknown-fields"] = true.into(),
            "-" => at["x-kubernetes-preserve-unknown-fields"] = false.into(),
            "*" => at["additionalProperties"] = json!({"type": "string"}),
            "" => at["x-kubernetes-int-or-string"] = true.into(),
            of_type => at["type"] = of_type.into(),
        }
    }
    root
}

/// The CRD of a kind with one version, v1, of a contract.
fn crd(group: &str, kind: &str, contract: &str, paths: &str) -> Value {
    let (plural, full) = (
        format!("{}s", kind.to_lowercase()),
        format!("{group}.cluster.x-k8s.io"),
    );
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{full}"), "labels": {format!("cluster.x-k8s.io/{contract}"): "v1"}},
        "spec": {"group": full, "scope": "Namespaced", "names": {"kind": kind, "plural": plural}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema(paths)}, "subresources": {"status": {}}},
        ]},
    })
}

/// What is told of the contract's fields: rule, path, message, help and notes, `PAGE` for the
/// address of the book.
fn of(crds: &[Value], arguments: &[&str]) -> Vec<String> {
    let components: String = crds.iter().map(|crd| format!("---\n{crd}\n")).collect();
    let found = found(&[("components.yaml", &components)], arguments, "crd-");
    let rules = [
        "crd-contract-field",
        "crd-contract-incomplete",
        "crd-contract-outdated",
        "crd-template-shape",
    ];
    let judged = found.iter().filter(|finding| {
        rules
            .iter()
            .any(|rule| text(finding, "rule").starts_with(rule))
    });
    let page = |note: &str| match note.split_once("https://") {
        Some((start, _)) => format!("{start}PAGE"),
        None => note.to_owned(),
    };
    let line = |finding: &Value| {
        let path = text(finding, "path")
            .trim_start_matches("spec.versions[0].schema.openAPIV3Schema")
            .trim_start_matches('.');
        let rule = text(finding, "rule").trim_start_matches("crd-");
        [
            rule,
            path,
            text(finding, "message"),
            text(finding, "help"),
            &page(&notes(finding)),
        ]
        .join(" | ")
    };
    judged.map(line).collect()
}

const MACHINE: &str = "spec.providerID:string status.initialization.provisioned:boolean";
const CLUSTER: &str = "status.initialization.provisioned:boolean";
const PLANE: &str = "status.initialization.controlPlaneInitialized:boolean";

/// Book, "InfraMachine" and "InfraCluster": what is missing is told at the nearest thing that is
/// there.
#[test]
fn what_is_missing_is_to_be_written_under_its_parent() {
    let machine = |paths: &str| {
        of(
            &[crd("infrastructure", "FooMachine", "v1beta2", paths)],
            &[],
        )
    };
    assert_eq!(machine(MACHINE), [""; 0]);
    let waits = "a Machine waits for its infrastructure for ever; InfraMachine: PAGE";
    let missing = |at: &str, path: &str, write: &str, effect: &str| {
        format!(
            "contract-field-missing | {at} | v1 of FooMachine has no `{path}`, which contract v1beta2 demands | write {write} | {effect}"
        )
    };
    assert_eq!(
        machine("spec.size:string status.ready:boolean"),
        [
            missing(
                "properties[spec]",
                "spec.providerID",
                "`providerID: {type: string}` under `spec`",
                waits
            ),
            missing(
                "properties[status]",
                "status.initialization.provisioned",
                "`provisioned: {type: boolean}` under `status.initialization`",
                waits
            ),
        ]
    );
    let empty = "a Machine waits for its infrastructure for ever; InfraMachine: PAGE";
    assert_eq!(
        machine("status.initialization.provisioned:boolean"),
        [missing(
            "",
            "spec.providerID",
            "`providerID: {type: string}` under `spec`",
            empty
        )]
    );
    let addresses = machine(&format!("{MACHINE} status.addresses[].type:string"));
    let write = "`address: {type: string}` under `status.addresses[]`";
    let expected = missing(
        "properties[status].properties[addresses].items",
        "status.addresses[].address",
        write,
        "addresses of a Machine are empty; InfraMachine: PAGE",
    );
    assert_eq!(addresses, [expected]);
}

/// A field of another type; where the schema says no type, or takes any fields, the API server
/// keeps what a controller writes.
#[test]
fn types_are_told_where_the_schema_has_others() {
    let machine = |paths: &str| {
        of(
            &[crd(
                "infrastructure",
                "FooMachine",
                "v1beta2",
                &format!("{MACHINE} {paths}"),
            )],
            &[],
        )
    };
    let wrong = "contract-field-type-wrong | properties[spec].properties[failureDomain] | `spec.failureDomain` of FooMachine v1 is of type number; contract v1beta2 demands string | write `failureDomain: {type: string}` under `spec` | the core fails on any other type; InfraMachine: PAGE";
    assert_eq!(machine("spec.failureDomain:number"), [wrong]);
    assert_eq!(machine("spec.failureDomain:"), [""; 0]);
    assert_eq!(
        machine("status.conditions:array"),
        [""; 0],
        "a list that says nothing of its items takes any"
    );
    for (paths, told) in [
        ("spec:+ status:+", 0),
        ("spec:* status:*", 0),
        ("spec:+ status:-", 1),
        ("spec:- status:-", 2),
        ("spec:object status:*", 1),
        ("spec:* status.initialization:*", 0),
        ("spec:* status.initialization:object", 1),
    ] {
        assert_eq!(
            of(
                &[crd("infrastructure", "FooMachine", "v1beta2", paths)],
                &[]
            )
            .len(),
            told,
            "{paths}"
        );
    }
    let plane = |of_type: &str| {
        let counters = [
            "replicas",
            "readyReplicas",
            "availableReplicas",
            "upToDateReplicas",
        ]
        .map(|name| format!("status.{name}:{of_type}"));
        let paths = format!(
            "{PLANE} spec.replicas:integer status.selector:string {}",
            counters.join(" ")
        );
        of(
            &[crd("controlplane", "FooControlPlane", "v1beta2", &paths)],
            &[],
        )
        .len()
    };
    assert_eq!(
        (plane("integer"), plane("number"), plane("string")),
        (0, 0, 4),
        "a whole number is a number"
    );
}

/// Book, "InfraCluster: control plane endpoint" and "InfraMachineTemplate": parts are due where the
/// whole is there, and are not told beside it.
#[test]
fn parts_follow_the_whole() {
    let cluster = |paths: &str| {
        of(
            &[crd(
                "infrastructure",
                "FooCluster",
                "v1beta2",
                &format!("{CLUSTER} {paths}"),
            )],
            &[],
        )
    };
    assert_eq!(cluster("spec.region:string"), [""; 0]);
    let endpoint = "spec.controlPlaneEndpoint";
    let place = "properties[spec].properties[controlPlaneEndpoint]";
    let effect = "a Cluster gets no endpoint of its control plane; InfraCluster: PAGE";
    assert_eq!(
        cluster(&format!("{endpoint}.host:string")),
        [format!(
            "contract-field-missing | {place} | v1 of FooCluster has no `{endpoint}.port`, which contract v1beta2 demands | write `port: {{type: integer}}` under `{endpoint}` | {effect}"
        )]
    );
    assert_eq!(
        cluster(&format!("{endpoint}:string")),
        [format!(
            "contract-field-type-wrong | {place} | `{endpoint}` of FooCluster v1 is of type string; contract v1beta2 demands object | write `controlPlaneEndpoint: {{type: object}}` under `spec` | the core fails on any other type; InfraCluster: PAGE"
        )]
    );
    let template = |paths: &str| {
        of(
            &[crd(
                "infrastructure",
                "FooMachineTemplate",
                "v1beta2",
                paths,
            )],
            &[],
        )
    };
    let shape = |at: &str, path: &str, write: &str| {
        format!(
            "template-shape-wrong | {at} | v1 of FooMachineTemplate has no `{path}`, which contract v1beta2 demands | write {write} | objects that are made from the template have no spec; InfraMachineTemplate: PAGE"
        )
    };
    assert_eq!(template(""), [""; 0]);
    assert_eq!(
        template("spec.size:string"),
        [shape(
            "properties[spec]",
            "spec.template",
            "`template: {type: object}` under `spec`"
        )]
    );
    assert_eq!(
        template("spec.template.size:string"),
        [shape(
            "properties[spec].properties[template]",
            "spec.template.spec",
            "`spec: {type: object}` under `spec.template`"
        )]
    );
}

/// What only Clusters of a ClusterClass need weighs less where nobody can make one; a field that
/// does as well as another will do.
#[test]
fn what_classes_need_is_due_with_a_template() {
    let plane = |paths: &str| {
        let kind = |kind, paths: &str| crd("controlplane", kind, "v1beta2", paths);
        of(
            &[
                kind("FooControlPlane", &format!("{PLANE} {paths}")),
                kind("FooControlPlaneTemplate", ""),
            ],
            &[],
        )
    };
    let write = "write `version: {type: string}` under `status`";
    assert_eq!(
        plane("spec.version:string"),
        [format!(
            "contract-field-missing | properties[status] | v1 of FooControlPlane has no `status.version`, which contract v1beta2 demands | {write} | a Cluster of a ClusterClass takes its control plane for one that is not provisioned yet, and never upgrades it; ControlPlane: PAGE"
        )]
    );
    let alone = |form: &[&str]| {
        of(
            &[crd(
                "controlplane",
                "FooControlPlane",
                "v1beta2",
                &format!("{PLANE} spec.version:string"),
            )],
            form,
        )
    };
    for (form, read) in [
        (
            &["--as", "components"][..],
            "the core does not read it today",
        ),
        (
            &["--as", "objects"],
            "the core reads it in Clusters of a ClusterClass",
        ),
    ] {
        assert_eq!(
            alone(form),
            [format!(
                "contract-incomplete | properties[status] | v1 of FooControlPlane does not fulfil contract v1beta2 as a whole: it has no `status.version` | {write} | {read}; PAGE"
            )]
        );
    }
    assert_eq!(plane("spec.version:string status.versions:array"), [""; 0]);
    assert_eq!(plane("spec.version:string status:+"), [""; 0]);
    let wrong = plane("spec.version:string status.versions:string");
    assert!(
        wrong.len() == 1
            && wrong[0].contains("`status.versions` of FooControlPlane v1 is of type string"),
        "{wrong:?}"
    );
    let counters = "spec.replicas:integer status.replicas:integer status.readyReplicas:integer status.availableReplicas:integer status.upToDateReplicas:integer";
    for (selector, what) in [
        ("", "it has no `status.selector`"),
        (
            "status.selector:integer",
            "`status.selector` is of type integer",
        ),
    ] {
        assert_eq!(
            plane(&format!("{counters} {selector}")),
            [format!(
                "contract-incomplete | properties[status]{} | v1 of FooControlPlane does not fulfil contract v1beta2 as a whole: {what} | write `selector: {{type: string}}` under `status` | the core does not read it today; PAGE",
                if selector.is_empty() {
                    ""
                } else {
                    ".properties[selector]"
                }
            )],
            "the core does not look at it"
        );
    }
}

/// A version that the core does not take breaks its promise for those who use it: all that is wrong
/// is said at once.
#[test]
fn versions_that_the_core_does_not_take_may_leave_the_label() {
    let mut crd = crd("infrastructure", "FooMachine", "v1beta2", "");
    let version = |name: &str, paths: &str| json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": schema(paths)}, "subresources": {"status": {}}});
    let old = "spec.failureDomain:integer status.ready:boolean status.conditions[].type:string status.conditions[].status:string status.conditions[].severity:string";
    crd["metadata"]["labels"] = json!({"cluster.x-k8s.io/v1beta2": "v1alpha1_v1"});
    crd["spec"]["versions"] = json!([version("v1alpha1", old), version("v1", MACHINE)]);
    let mends = "write `providerID: {type: string}` under `spec`, `provisioned: {type: boolean}` under `status.initialization`, `failureDomain: {type: string}` under `spec`; drop `severity` under `status.conditions[]`";
    assert_eq!(
        of(&[crd], &[]),
        [format!(
            "contract-incomplete | properties[status].properties[conditions].items.properties[severity] | v1alpha1 of FooMachine does not fulfil contract v1beta2 as a whole: it has no `spec.providerID`, `status.initialization.provisioned`; it still has `status.conditions[].severity`; `spec.failureDomain` is of type integer | take v1alpha1 out of the label `cluster.x-k8s.io/v1beta2`, or {mends} | the core takes another version, so that this hurts only who uses the old one; PAGE"
        )]
    );
}

/// Who asks for the newer contract is told all that there is to do in the schema, and then to label
/// the CRD.
#[test]
fn the_way_to_the_newer_contract_is_told() {
    let paths = "spec.providerID:string status.ready:boolean status.conditions[].type:string status.conditions[].severity:string";
    let name = "CustomResourceDefinition/foomachines.infrastructure.cluster.x-k8s.io";
    let machine = |paths: &str| {
        of(
            &[crd("infrastructure", "FooMachine", "v1beta1", paths)],
            &["--contract", "v1beta2"],
        )
    };
    let outdated = |help: &str| {
        format!(
            "contract-outdated | metadata.labels[cluster.x-k8s.io/v1beta1] | FooMachine fulfils contract v1beta1, not v1beta2 | {help} | Cluster API v1.16 (April 2027) no longer reads contract v1beta1"
        )
    };
    let label = format!("label {name} `cluster.x-k8s.io/v1beta2: v1`");
    let mends = "write `status: {type: string}` under `status.conditions[]`, `provisioned: {type: boolean}` under `status.initialization`; drop `severity` under `status.conditions[]`";
    let found = machine(paths);
    assert!(
        found.contains(&outdated(&format!("in v1 {mends}; then {label}"))),
        "{found:#?}"
    );
    assert_eq!(
        machine(&format!("{MACHINE} status.ready:boolean")),
        [outdated(&label)]
    );
    let old = |at: &str, path: &str, instead: &str| {
        format!(
            "contract-field-outdated | {at} | FooMachine v1 still has `{path}` of contract v1beta1 | use {instead} | Cluster API v1.16 (April 2027) no longer reads contract v1beta1"
        )
    };
    let fields = format!("{MACHINE} spec.failureDomain:string status.failureReason:string");
    assert_eq!(
        of(
            &[crd("infrastructure", "FooMachine", "v1beta2", &fields)],
            &["--contract", "v1beta2"]
        ),
        [
            old(
                "properties[spec].properties[failureDomain]",
                "spec.failureDomain",
                "`status.failureDomain`, for where the machine was placed"
            ),
            old(
                "properties[status].properties[failureReason]",
                "status.failureReason",
                "a condition with a documented type and reason"
            ),
        ]
    );
}

/// Cluster API's own types in versions that end with a contract; kinds of others in its groups are
/// not its own.
#[test]
fn objects_of_older_versions_are_told() {
    let objects = |api_version: &str, kind: &str| {
        let object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}).to_string();
        found(
            &[("objects.yaml", &object)],
            &["--as", "objects", "--contract", "v1beta2"],
            "object-api-version",
        )
        .len()
    };
    for (api_version, kind, told) in [
        ("ipam.cluster.x-k8s.io/v1alpha1", "IPAddress", 1),
        ("addons.cluster.x-k8s.io/v1alpha1", "ClusterResourceSet", 0),
        ("addons.cluster.x-k8s.io/v1beta1", "ClusterResourceSet", 1),
        ("addons.cluster.x-k8s.io/v1beta1", "HelmChartProxy", 0),
        ("ipam.cluster.x-k8s.io/v1beta2", "IPAddress", 0),
    ] {
        assert_eq!(objects(api_version, kind), told, "{api_version} {kind}");
    }
}
