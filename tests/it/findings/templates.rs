//! Templates and classes: variables, references, kinds, fields, names and namespaces, each finding
//! with its place and words.

use serde_json::Value;

use super::{found, places, text, told};

const NAME: &str = "metadata: {name: \"${CLUSTER_NAME}\"}\n";

/// What is told of a template whose fourth line and those below it are given.
fn of(lines: &str, rule: &str) -> Vec<String> {
    told(
        &[(
            "cluster-template.yaml",
            &format!("apiVersion: v1\nkind: X\n{NAME}{lines}"),
        )],
        rule,
    )
}

/// drone/envsubst: signs that a shell has too, with another meaning.
#[test]
fn operators_are_told_where_they_stand() {
    let required = |name: &str| format!("write `${{{name}}}`, which is required");
    let optional = |place: &str, sign: &str, name: &str| {
        format!(
            "{place}: `{sign}` makes variable {name} optional: nothing is refused when it is not set: use `${{{name}}}` before it, so that it is required"
        )
    };
    assert_eq!(
        of("a: ${A:?must be set}\nb: ${A:+x}\nc: ${B:=${C}}${D:=${C}}\n", "template-"),
        [
            format!("4:4-21: `:?` gives variable A a default here, and no message when it is not set: {}", required("A")),
            "5:4-11: `:+` is a default of variable A here, and no text for when it is set: write `${A:=default}`".to_owned(),
            "6:9-13: variable C is used in defaults only: `clusterctl generate cluster --list-variables` does not show it: use `${C}` outside of a default too, or document it".to_owned(),
        ]
    );
    assert_eq!(
        of(
            "a: ${B%x} ${C/a/b} ${D,,} ${E^} ${F:0:1} ${G##x} ${#H}\n",
            "template-"
        ),
        [
            optional("4:4-10", "%", "B"),
            optional("4:11-19", "/", "C"),
            optional("4:33-41", ":", "F"),
            optional("4:42-49", "##", "G")
        ]
    );
    for sound in [
        "a: ${A=-x}\n",
        "a: ${A:=:?x}\n",
        "a: ${A=:?x}\n",
        "a: ${B:=x}\nb: ${A:=${B#v}}\n",
        "a: ${A} ${A%x}\n",
        "a: ${A:=${B}} ${B}\n",
    ] {
        assert_eq!(of(sound, "template-"), [""; 0], "{sound}");
    }
}

/// Every place of a variable is shown with the first one at which something is wrong.
#[test]
fn places_of_a_variable_stand_together() {
    assert_eq!(
        of("a: ${b} ${Cd}\nb: ${b} ${b}\n", "template-variable-lower"),
        [
            "4:4-8 & 5:4-8 & 5:9-13: clusterctl looks for variable b as B in the environment: write `${B}`; where a script means its own variable, `$${b}`",
            "4:9-14: clusterctl looks for variable Cd as CD in the environment: write `${CD}`; where a script means its own variable, `$${Cd}`",
        ]
    );
    let text = "a: ${A:=x} ${A} ${A}\nb: ${A:-y} ${A=z} ${A:0:3}\n";
    assert_eq!(
        of(text, "template-variable-blank"),
        [
            "4:12-16 & 4:4-11 the first place & 4:17-21: variable A may be left out because of its default `x`, and then nothing stands here: write `${A:=x}`, or leave the default out at the first place"
        ]
    );
    assert_eq!(
        of(text, "template-variable-defaults"),
        [
            "5:4-11 & 4:4-11 the first one, which is listed: variable A has the default `y` here and `x` elsewhere: write `${A:=x}`, or give one of them a variable of its own"
        ]
    );
    assert_eq!(
        of("a: ${A} ${A:=x} ${A}\n", "template-variable-"),
        [""; 0],
        "the first place requires it"
    );
    assert_eq!(
        of(
            "a: ${A#x} ${A:=x}\nb: ${B:=y}${B:=y}\n",
            "template-variable-d"
        ),
        [""; 0]
    );
}

/// What is missing, and what to do about it.
fn missing_reference(finding: &Value) -> String {
    assert_eq!(
        text(finding, "path"),
        "spec.template.spec.infrastructureRef.name"
    );
    format!(
        "{}: {}",
        text(finding, "message").split(" is ").nth(1).unwrap(),
        text(finding, "help")
    )
}

/// Book, "Links to external objects": a MachineDeployment whose template of machines is not in the
/// file.
#[test]
fn objects_that_are_named_are_in_the_file() {
    let names = |group: &str, kind: &str, name: &str| {
        format!(
            "apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDeployment\n{NAME}spec: {{replicas: \"${{WORKER_MACHINE_COUNT}}\", template: {{spec: {{version: \"${{KUBERNETES_VERSION}}\", infrastructureRef: {{{group}, kind: {kind}, name: \"{name}\"}}}}}}}}\n"
        )
    };
    let object = |group: &str, kind: &str, name: &str| {
        format!("---\napiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: \"{name}\"}}\n")
    };
    let help = |text: &str| {
        let found = found(&[("cluster-template.yaml", text)], &[], "template-");
        found.iter().map(missing_reference).collect::<Vec<_>>()
    };
    let missing =
        |what: &str, help: &str| [format!("{what}, which the file does not contain: {help}")];
    let (md, foo) = ("${CLUSTER_NAME}-md", "Foo/${CLUSTER_NAME}-md");
    let reference = names("apiGroup: i.io", "Foo", md);
    assert_eq!(
        help(&reference),
        missing(foo, "add a Foo with `name: ${CLUSTER_NAME}-md`")
    );
    assert_eq!(
        help(&(reference.clone() + &object("i.io", "Foo", md))),
        [""; 0]
    );
    for (others, near) in [
        (
            [
                object("i.io", "Foo", "z"),
                object("i.io", "Foo", "${CLUSTER_NAME}-mb"),
            ],
            "${CLUSTER_NAME}-mb",
        ),
        (
            [object("i.io", "Foo", "y"), object("i.io", "Foo", "z")],
            "y",
        ),
        ([object("i.io", "Bar", md), object("i.io", "Foo", "x")], "x"),
        ([object("j.io", "Foo", md), object("i.io", "Foo", "x")], "x"),
    ] {
        assert_eq!(
            help(&(reference.clone() + &others.concat())),
            missing(foo, &format!("write `name: {near}`"))
        );
    }
    let versioned = names("apiGroup: i.io/v1", "Foo", md) + &object("i.io", "Foo", md);
    assert_eq!(
        help(&versioned),
        missing(foo, "write `apiGroup: i.io`, without a version")
    );
    let old = names("apiVersion: i.io/v1", "Foo", "a");
    assert_eq!(help(&old), missing("Foo/a", "add a Foo with `name: a`"));
    for open in [
        names("x: y", "Foo", "a"),
        names("apiGroup: i.io", "\"\"", "a"),
        reference.replace("cluster.x-k8s.io/", "foo.io/"),
    ] {
        assert_eq!(help(&open), [""; 0], "{open}");
    }
}

/// Kinds of Cluster API in versions that it does not serve, and kinds that it does not have.
#[test]
fn kinds_of_the_core_are_those_that_it_serves() {
    for (api_version, kind, expected) in [
        (
            "cluster.x-k8s.io/v1alpha4",
            "Cluster",
            "1:13-38: Cluster/${CLUSTER_NAME} is of version v1alpha4, which Cluster API does not serve: write `apiVersion: cluster.x-k8s.io/v1beta2`, and the fields as that version has them",
        ),
        (
            "runtime.cluster.x-k8s.io/v1beta1",
            "ExtensionConfig",
            "1:13-45: ExtensionConfig/${CLUSTER_NAME} is of version v1beta1, which Cluster API does not serve: write `apiVersion: runtime.cluster.x-k8s.io/v1beta2`, and the fields as that version has them",
        ),
        (
            "cluster.x-k8s.io/v1beta2",
            "MachineDeploymnet",
            "2:7-24: MachineDeploymnet/${CLUSTER_NAME} is of a kind that Cluster API does not have: write `kind: MachineDeployment`",
        ),
        (
            "cluster.x-k8s.io/v1beta2",
            "Zebra",
            "2:7-12: Zebra/${CLUSTER_NAME} is of a kind that Cluster API does not have: remove the object, or correct its group in `apiVersion`",
        ),
        (
            "cluster.x-k8s.io/v1beta2",
            "KubeadmControlPlan",
            "2:7-25: KubeadmControlPlan/${CLUSTER_NAME} is of a kind that Cluster API does not have: remove the object, or correct its group in `apiVersion`",
        ),
    ] {
        let found = found(
            &[(
                "cluster-template.yaml",
                &format!("apiVersion: {api_version}\nkind: {kind}\n{NAME}"),
            )],
            &[],
            "template-object",
        );
        let [finding] = &found[..] else {
            panic!("{kind}: {found:#?}")
        };
        assert_eq!(
            format!(
                "{}: {}: {}",
                places(finding),
                text(finding, "message"),
                text(finding, "help")
            ),
            expected
        );
        assert_eq!(
            text(finding, "upstream"),
            format!("no matches for kind \"{kind}\" in version \"{api_version}\"")
        );
    }
    for (api_version, kind) in [
        ("addons.cluster.x-k8s.io/v1", "Foo"),
        ("ipam.cluster.x-k8s.io/v1alpha1", "IPAddress"),
        ("foo.io/v1", "Cluster"),
    ] {
        assert_eq!(
            told(
                &[(
                    "cluster-template.yaml",
                    &format!("apiVersion: {api_version}\nkind: {kind}\n{NAME}")
                )],
                "template-object"
            ),
            [""; 0]
        );
    }
}

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.foo.io}
spec:
  group: foo.io
  names: {kind: Foo, plural: foos, singular: foo, listKind: FooList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: string, enum: [small, large]}
              map: {type: object, minProperties: 1, additionalProperties: {type: string}}
              list: {type: array, minItems: 1, items: {type: string}}
              text: {type: string, minLength: 1}
              port: {type: integer, minimum: 1}
  - {name: v2, served: false, storage: false, schema: *schema}
  - {name: v3, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
";

const WEBHOOK: &str = "---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: w}
webhooks:
- {name: a.foo.io, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {}, rules: [{apiGroups: [foo.io], apiVersions: [v1], operations: [CREATE], resources: [foos]}]}
";

/// Objects are held against the CRDs beside the template: a webhook may write what is missing or
/// empty, and nothing else.
#[test]
fn fields_are_those_of_the_crd_beside_them() {
    let of = |crds: &str, version: &str, spec: &str| {
        let template = format!("apiVersion: foo.io/{version}\nkind: Foo\n{NAME}spec: {{{spec}}}\n");
        let found = found(
            &[("crds.yaml", crds), ("cluster-template.yaml", &template)],
            &[],
            "template-",
        );
        found
            .iter()
            .map(|finding| format!("{} {}", places(finding), text(finding, "message")))
            .collect::<Vec<_>>()
    };
    let mutated = format!("{CRD}{WEBHOOK}");
    let alone = |spec: &str| of(CRD, "v1", spec);
    let unknown = "4:21-26 unknown field `spec.color` in Foo/${CLUSTER_NAME}";
    assert_eq!(alone("size: large, color: 1"), [unknown]);
    assert_eq!(of(&mutated, "v1", "size: large, color: 1"), [unknown]);
    assert_eq!(
        of(&mutated, "v1", "size: large, color: ''"),
        [unknown],
        "nobody fills in a field that there is not"
    );
    let missing = "4:1-5 spec.size is missing in Foo/${CLUSTER_NAME}";
    assert_eq!(
        (alone("port: 3"), of(&mutated, "v1", "port: 3")),
        (vec![missing.to_owned()], vec![])
    );
    let refused = "4:14-18 spec.size is `huge` in Foo/${CLUSTER_NAME}";
    assert_eq!(
        (alone("size: huge"), of(&mutated, "v1", "size: huge")),
        (vec![refused.to_owned()], vec![refused.to_owned()])
    );
    for empty in ["map: {}", "list: []", "text: ''"] {
        let spec = format!("size: large, {empty}");
        assert_eq!(
            (alone(&spec).len(), of(&mutated, "v1", &spec).len()),
            (1, 0),
            "{empty}"
        );
    }
    for full in [
        "map: {a: b}, list: [a], text: a",
        "port: ${PORT}",
        "port: ${PORT:=1}",
        "text: \"${TEXT:=}${MORE}\"",
    ] {
        assert_eq!(alone(&format!("size: large, {full}")), [""; 0], "{full}");
    }
    assert_eq!(alone("size: large, port: ${PORT:=0}").len(), 1);
    assert_eq!(
        of(&mutated, "v1", "size: large, port: 0").len(),
        1,
        "not empty"
    );
    let unserved = |version: &str| {
        [format!(
            "1:13-22 Foo/${{CLUSTER_NAME}} is of version {version}, which the CRD of the release does not serve"
        )]
    };
    assert_eq!(
        (of(CRD, "v2", "size: huge"), of(CRD, "v4", "size: huge")),
        (unserved("v2").into(), unserved("v4").into())
    );
    assert_eq!(
        of(CRD, "v3", "size: huge"),
        ["4:1-5 unknown field `spec` in Foo/${CLUSTER_NAME}"]
    );
}

/// Of two CRDs of one kind nobody knows which one counts: a version is served when one of them
/// serves it, and its fields are open.
#[test]
fn of_two_crds_what_they_share_counts() {
    let template = format!("apiVersion: foo.io/v1\nkind: Foo\n{NAME}spec: {{size: huge}}\n");
    let of = |first: &str, second: &str| {
        let files = [
            ("a/crds.yaml", first),
            ("b/crds.yaml", second),
            ("a/cluster-template.yaml", &template),
        ];
        found(&files, &[], "template-")
            .iter()
            .map(|finding| text(finding, "rule").to_owned())
            .collect::<Vec<_>>()
    };
    let (other, unserved) = (
        CRD.replace("large]", "huge]"),
        CRD.replacen("served: true", "served: false", 1),
    );
    assert_eq!(of(CRD, CRD), ["template-field-refused"]);
    assert_eq!(of(CRD, "a: b\n"), ["template-field-refused"]);
    let both = |first: &str, second: &str| {
        let crds = format!("{first}---\n{second}");
        let found = found(
            &[("crds.yaml", &crds), ("cluster-template.yaml", &template)],
            &[],
            "template-",
        );
        found
            .iter()
            .map(|finding| text(finding, "rule").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (both(CRD, CRD), both(CRD, &other)),
        (vec!["template-field-refused".to_owned()], vec![])
    );
    assert_eq!(
        (both(&unserved, CRD), both(CRD, &unserved)),
        (vec![], vec![])
    );
    assert_eq!(both(&unserved, &unserved), ["template-object-unserved"]);
}

/// Book, clusterctl contract, "Common variables": the fields for which flags of `clusterctl
/// generate cluster` are.
#[test]
fn fields_of_flags_use_their_variables() {
    let object = |api_version: &str, kind: &str, spec: &str| {
        told(
            &[(
                "cluster-template.yaml",
                &format!("apiVersion: {api_version}\nkind: {kind}\n{NAME}spec: {{{spec}}}\n"),
            )],
            "template-flag",
        )
    };
    let (core, plane) = (
        "cluster.x-k8s.io/v1beta2",
        "controlplane.cluster.x-k8s.io/v1beta2",
    );
    for (api_version, kind, spec, path, variable) in [
        (
            core,
            "Cluster",
            "topology: {version: v1.34.0}",
            "spec.topology.version",
            "KUBERNETES_VERSION",
        ),
        (
            core,
            "MachineDeployment",
            "template: {spec: {version: v1.34.0}}",
            "spec.template.spec.version",
            "KUBERNETES_VERSION",
        ),
        (
            core,
            "MachinePool",
            "template: {spec: {version: v1.34.0}}",
            "spec.template.spec.version",
            "KUBERNETES_VERSION",
        ),
        (
            plane,
            "FooControlPlane",
            "version: v1.34.0",
            "spec.version",
            "KUBERNETES_VERSION",
        ),
        (
            core,
            "Cluster",
            "topology: {controlPlane: {replicas: 3}}",
            "spec.topology.controlPlane.replicas",
            "CONTROL_PLANE_MACHINE_COUNT",
        ),
        (
            plane,
            "FooControlPlane",
            "replicas: 3",
            "spec.replicas",
            "CONTROL_PLANE_MACHINE_COUNT",
        ),
        (
            core,
            "MachinePool",
            "replicas: 3",
            "spec.replicas",
            "WORKER_MACHINE_COUNT",
        ),
        (
            core,
            "MachineDeployment",
            "replicas: 3",
            "spec.replicas",
            "WORKER_MACHINE_COUNT",
        ),
    ] {
        let (value, name) = (
            if spec.contains('v') && spec.contains("v1.34") {
                "v1.34.0"
            } else {
                "3"
            },
            path.rsplit('.').next().unwrap(),
        );
        let column = "spec: {".len() + spec.find(value).unwrap() + 1;
        let expected = format!(
            "4:{column}-{}: {path} of {kind}/${{CLUSTER_NAME}} is not {variable}, so the flag of clusterctl that sets it has no effect: write `{name}: ${{{variable}:={value}}}`",
            column + value.len()
        );
        assert_eq!(object(api_version, kind, spec), [expected]);
    }
    for (api_version, kind, spec) in [
        (core, "MachineSet", "replicas: 3"),
        ("foo.io/v1", "MachinePool", "replicas: 3"),
        (core, "Cluster", "replicas: 3"),
    ] {
        assert_eq!(
            object(api_version, kind, spec),
            [""; 0],
            "{api_version} {kind}"
        );
    }
}

/// clusterctl writes the target namespace into all objects of a template.
#[test]
fn namespaces_of_templates_are_those_of_the_caller() {
    let object = |kind: &str, name: &str, namespace: &str| {
        format!("---\nkind: {kind}\nmetadata: {{name: \"{name}\"{namespace}}}\n")
    };
    let template = object("Namespace", "x", ", namespace: y")
        + &object("A", "${CLUSTER_NAME}-a", ", namespace: z")
        + &object("B", "b", ", namespace: \"${NAMESPACE}\"")
        + &object("C", "c", "")
        + &object("D", "d", ", namespace: z");
    assert_eq!(
        told(&[("cluster-template.yaml", &template)], ""),
        [
            "2:7-16: the template holds a Namespace, which clusterctl renames to the target namespace: remove it: the namespace of a cluster exists already",
            "6:50-51 & 15:34-35: `clusterctl generate cluster` replaces the namespace of A/${CLUSTER_NAME}-a, D/d: write `namespace: \"${NAMESPACE}\"`, which `clusterctl generate yaml` replaces too",
        ]
    );
}

/// The class of a topology is in the release, under the name of its file.
#[test]
fn classes_are_found_by_their_names() {
    let cluster = |class: &str| {
        format!(
            "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\n{NAME}spec: {{topology: {{{class}, version: \"${{KUBERNETES_VERSION}}\"}}}}\n"
        )
    };
    let class = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: foo}\n";
    let of = |topology: &str| {
        told(
            &[
                ("cluster-template.yaml", &cluster(topology)),
                ("clusterclass-foo.yaml", class),
            ],
            "template-class",
        )
    };
    for sound in [
        "classRef: {name: foo}",
        "class: foo",
        "classRef: {name: \"${CLASS:=bar}\"}",
        "classRef: {namespace: x}",
    ] {
        assert_eq!(of(sound), [""; 0], "{sound}");
    }
    for (topology, place, path) in [
        (
            "classRef: {name: bar}",
            "4:36-39",
            "spec.topology.classRef.name",
        ),
        ("class: bar", "4:26-29", "spec.topology.class"),
    ] {
        assert_eq!(
            of(topology),
            [format!(
                "{place}: {path} is `bar`, but the release has no clusterclass-bar.yaml: add clusterclass-bar.yaml to a folder of `templates`"
            )]
        );
    }
    let file = |text: &str| told(&[("clusterclass-a.yaml", text)], "clusterclass-");
    assert_eq!(
        file(
            "kind: ClusterClass\nmetadata: {name: b, namespace: c}\n---\nkind: Foo\nmetadata: {name: d}\n---\nkind: Foo\nmetadata: {name: e, namespace: f}\n"
        ),
        [
            "2:18-19: the ClusterClass of clusterclass-a.yaml is called `b`: rename the class to `a`, or the file to clusterclass-b.yaml",
            "2:32-33: ClusterClass/b names a namespace: remove the line: clusterctl sets the namespace of a class and its templates",
            "8:32-33: Foo/e names a namespace: remove the line: clusterctl sets the namespace of a class and its templates",
        ]
    );
    assert_eq!(
        file("kind: ClusterClass\nmetadata: {}\n"),
        ["2:1-9: the ClusterClass of clusterclass-a.yaml is called ``: call the class `a`"]
    );
    assert_eq!(
        file("kind: ClusterClass\nmetadata: {name: a}\nx: ${B}\ny: ${C}\n"),
        [
            "3:4-8: clusterclass-a.yaml uses the variable B: declare a variable of the class under `spec.variables` and patch the templates with it"
        ]
    );
}

/// What Cluster API's webhook refuses of a class is told of the class that clusterctl takes; of
/// sources the rest may be elsewhere.
#[test]
fn classes_are_refused_as_a_whole() {
    let class = |kind: &str| {
        format!(
            "apiVersion: cluster.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n\
             \x20 infrastructure: {{templateRef: {{apiVersion: i.io/v1, kind: FooClusterTemplate, name: a}}}}\n\
             \x20 controlPlane: {{templateRef: {{apiVersion: c.io/v1, kind: FooControlPlaneTemplate, name: a}}}}\n\
             \x20 patches:\n  - name: p\n    definitions:\n\
             \x20   - selector: {{apiVersion: i.io/v1, kind: FooClusterTemplate, matchResources: {{infrastructureCluster: true}}}}\n\
             \x20     jsonPatches:\n      - {{op: add, path: /spec/template/spec/a, valueFrom: {{variable: unknown}}}}\n"
        )
    };
    let refused = |files: &[(&str, &str)]| told(files, "topology-class-refused").len();
    let (of_class, of_other) = (class("ClusterClass"), class("MachineDeployment"));
    assert_eq!(refused(&[("clusterclass-a.yaml", &of_class)]), 1);
    assert_eq!(
        refused(&[(
            "clusterclass-a.yaml",
            &of_class.replace("cluster.x-k8s.io", "foo.io")
        )]),
        0
    );
    assert_eq!(refused(&[("clusterclass-a.yaml", &of_other)]), 0);
    assert_eq!(
        refused(&[
            ("clusterclass-a.yaml", &of_class),
            ("kustomization.yaml", "resources: [clusterclass-a.yaml]\n")
        ]),
        0
    );
}

/// Of a template that a kustomization is made of, other files may bring what is not there.
#[test]
fn parts_of_templates_lack_nothing() {
    let cluster = format!(
        "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\n{NAME}spec:\n  topology: {{classRef: {{name: foo}}, version: v1.34.0}}\n  infrastructureRef: {{apiGroup: foo.io, kind: Foo, name: x}}\n\
         ---\napiVersion: foo.io/v1\nkind: Foo\nmetadata: {{name: z}}\nspec: {{color: red}}\n"
    );
    let rules = |more: &[(&str, &str)]| {
        let files = [
            &[
                ("crds/crds.yaml", CRD),
                ("t/cluster-template.yaml", &cluster),
            ],
            more,
        ]
        .concat();
        let mut rules: Vec<String> = found(&files, &[], "template-")
            .iter()
            .map(|finding| text(finding, "rule").to_owned())
            .collect();
        rules.sort();
        rules
    };
    let due = [
        "template-class-missing",
        "template-field-missing",
        "template-field-unknown",
        "template-flag-ignored",
        "template-reference-missing",
    ];
    assert_eq!(rules(&[]), due);
    assert_eq!(
        rules(&[(
            "t/kustomization.yaml",
            "resources: [cluster-template.yaml]\n"
        )]),
        ["template-field-unknown"]
    );
}

/// drone/envsubst: what cannot be read stands where it begins.
#[test]
fn variables_that_cannot_be_read_are_told() {
    for (text, place, said) in [
        ("a: ok\nb: ${BROKEN\n", "2:4-12", "missing closing brace"),
        ("a: ${A-x}\n", "1:4-7", "missing closing brace"),
        ("a: ${ A:=x}\n", "1:4-6", "unable to parse variable name"),
    ] {
        let [finding] = &found(&[("cluster-template.yaml", text)], &[], "")[..] else {
            panic!("{text}")
        };
        assert_eq!(
            (places(finding), super::text(finding, "upstream")),
            (place.to_owned(), said)
        );
        assert_eq!(
            super::text(finding, "message"),
            "clusterctl cannot substitute the variables of cluster-template.yaml"
        );
    }
}

/// Clusters of Cluster API with a version that YAML takes for a number, and two of one class.
#[test]
fn clusters_of_a_template_are_told_apart() {
    let cluster = |api_version: &str, kind: &str, topology: &str| {
        format!(
            "---\napiVersion: {api_version}\nkind: {kind}\n{NAME}spec: {{topology: {{{topology}}}}}\n"
        )
    };
    let core = "cluster.x-k8s.io/v1beta2";
    let of = |clusters: &[String]| {
        let mut found = told(
            &[("cluster-template.yaml", &clusters.concat())],
            "template-version-unquoted",
        );
        found.extend(told(
            &[("cluster-template.yaml", &clusters.concat())],
            "template-class-repeated",
        ));
        found
    };
    assert_eq!(
        of(&[cluster(core, "Cluster", "version: 1.30")]),
        [
            "5:28-32: spec.topology.version is a number, and clusterctl wants a text: write the whole version, such as \"v1.34.2\""
        ]
    );
    for (api_version, kind, topology) in [
        (core, "Cluster", "version: \"1.30\""),
        ("foo.io/v1", "Cluster", "version: 1.30"),
        (core, "Machine", "version: 1.30"),
    ] {
        assert_eq!(
            of(&[cluster(api_version, kind, topology)]),
            [""; 0],
            "{api_version} {kind} {topology}"
        );
    }
    let twice = "a second Cluster uses class c: clusterctl prints the class twice: put one Cluster into a template";
    let named = |class: &str| cluster(core, "Cluster", class);
    assert_eq!(
        of(&[named("classRef: {name: c}"), named("class: c")]),
        [format!("10:26-27: {twice}")]
    );
    assert_eq!(
        of(&[
            named("class: c"),
            named("class: d"),
            named("classRef: {name: c}")
        ]),
        [format!("15:36-37: {twice}")]
    );
    assert_eq!(
        of(&[
            named("class: c"),
            named("class: d"),
            cluster("foo.io/v1", "Cluster", "class: c")
        ]),
        [""; 0]
    );
}
