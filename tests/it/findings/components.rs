//! Components: names and namespaces, scalars, variables and texts that do not reach the cluster as
//! they are written.

use serde_json::Value;

use super::{found, notes, places, text, told};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n";

/// An object of four lines, the first of which is `---`; more may follow.
fn object(api_version: &str, kind: &str, metadata: &str, more: &str) -> String {
    format!("---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{{metadata}}}\n{more}")
}

/// What is told of objects behind a Namespace, whose first line is the fourth.
fn of(objects: &[String], rule: &str) -> Vec<String> {
    told(
        &[(
            "infrastructure-components.yaml",
            &format!("{NAMESPACE}{}", objects.concat()),
        )],
        rule,
    )
}

const ROLES: &str = "rbac.authorization.k8s.io/v1";

/// clusterctl moves all objects into the target namespace, and takes roles away by the beginning of
/// their names.
#[test]
fn objects_follow_the_namespace() {
    let map = |metadata: &str| object("v1", "ConfigMap", metadata, "");
    assert_eq!(
        of(
            &[
                map("name: a, namespace: kube-system"),
                map("name: b"),
                map("name: c, namespace: foo-system"),
                map("name: d, namespace: ''")
            ],
            "components-namespace"
        ),
        [
            "7:32-43: ConfigMap/a is in namespace kube-system, and clusterctl moves it into foo-system: write `namespace: foo-system`, or install the object in another way"
        ]
    );
    assert_eq!(
        of(
            &[
                object("policy/v1beta1", "PodSecurityPolicy", "name: p", ""),
                object(
                    "admissionregistration.k8s.io/v1",
                    "ValidatingAdmissionPolicy",
                    "name: v",
                    ""
                ),
                map("name: a")
            ],
            "components-cluster-wide"
        ),
        [
            "10:7-32: clusterctl gives ValidatingAdmissionPolicy/v a namespace, although ValidatingAdmissionPolicy has none: install the object in another way, such as from the controller"
        ]
    );
    let role = |kind: &str, name: &str| object(ROLES, kind, &format!("name: {name}"), "");
    assert_eq!(
        of(
            &[
                role("ClusterRole", "a"),
                role("ClusterRole", "foo-system-b"),
                role("ClusterRoleBinding", "foo-systemc"),
                role("Role", "d")
            ],
            "components-role-left"
        ),
        [
            "7:18-19 & 15:18-29: `clusterctl delete` leaves ClusterRole/a, ClusterRoleBinding/foo-systemc behind: begin their names with foo-system-"
        ]
    );
    let subjects = "subjects:\n- {kind: ServiceAccount, name: a, namespace: foo-system}\n- {kind: User, name: u}\n- {kind: ServiceAccount, name: a, namespace: bar}\n";
    for (kind, count) in [
        ("ClusterRoleBinding", 1),
        ("RoleBinding", 1),
        ("FooBinding", 0),
    ] {
        let found = of(
            &[object(ROLES, kind, "name: b", subjects)],
            "components-subject",
        );
        let expected = format!(
            "11:46-49: subjects[2].namespace of {kind}/b is bar, and clusterctl writes foo-system there: bind a service account of foo-system"
        );
        assert_eq!(found, vec![expected; count]);
    }
}

/// One Namespace; any other object is there once, by its group, kind, namespace and name.
#[test]
fn objects_are_there_once() {
    let of_secret = |group: &str, kind: &str, namespace: &str, name: &str| {
        object(
            group,
            kind,
            &format!("name: {name}, namespace: {namespace}"),
            "",
        )
    };
    let first = of_secret("v1", "Secret", "foo-system", "a");
    for other in [
        of_secret("v1", "Secret", "foo-system", "b"),
        of_secret("v1", "Secret", "bar", "a"),
        of_secret("v1", "ConfigMap", "foo-system", "a"),
        of_secret("foo.io/v1", "Secret", "foo-system", "a"),
    ] {
        assert_eq!(
            of(&[first.clone(), other.clone()], "components-object-dup"),
            [""; 0],
            "{other}"
        );
    }
    assert_eq!(
        of(
            &[first.clone(), first.clone(), first],
            "components-object-dup"
        ),
        [
            "11:18-19 & 7:18-19 the first: Secret/a is there twice: remove one of the two",
            "15:18-19 & 7:18-19 the first: Secret/a is there twice: remove one of the two"
        ]
    );
    let namespace = |name: &str| object("v1", "Namespace", &format!("name: {name}"), "");
    let second = |place: &str, name: &str| {
        format!(
            "{place} & 3:18-28 the first: Namespace/{name} is a second Namespace, besides Namespace/foo-system: remove one of the two"
        )
    };
    assert_eq!(
        of(&[namespace("bar"), namespace("foo-system")], "components-"),
        {
            let label = of(
                &[namespace("bar"), namespace("foo-system")],
                "components-provider",
            );
            [
                label,
                vec![second("7:18-21", "bar"), second("11:18-28", "foo-system")],
            ]
            .concat()
        }
    );
    let none = found(
        &[(
            "infrastructure-components.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
        )],
        &[],
        "components-namespace",
    );
    let told: Vec<_> = none
        .iter()
        .map(|finding| {
            (
                text(finding, "message"),
                text(finding, "help"),
                finding["line"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [(
            "the components hold no Namespace, so clusterctl has no default target",
            "add a Namespace to the file",
            None
        )]
    );
}

/// clusterctl replaces `.NAMESPACE.` in the DNS names of Certificates that have a namespace.
#[test]
fn names_of_certificates_follow_the_namespace() {
    let certificate = |metadata: &str, names: &str| {
        object(
            "cert-manager.io/v1",
            "Certificate",
            metadata,
            &format!("spec: {{dnsNames: [{names}]}}\n"),
        )
    };
    assert_eq!(
        of(
            &[certificate("name: a", "b.bar.svc")],
            "components-certificate-namespace"
        ),
        [
            "7:11-20: Certificate/a has no namespace, so its DNS names stay as they are: write the namespace of the components"
        ]
    );
    let foreign = |place: &str, name: &str| {
        format!(
            "{place}: DNS name {name} of Certificate/a does not contain .foo-system.: write SERVICE.foo-system.svc"
        )
    };
    let names = "b.foo-system.svc, b.bar.svc, example.com, b.foo-system.svc.cluster.local, b.svc";
    assert_eq!(
        of(
            &[certificate("name: a, namespace: foo-system", names)],
            "components-certificate-name-foreign"
        ),
        [foreign("8:37-46", "b.bar.svc"), foreign("8:93-98", "b.svc")]
    );
    let other = object(
        "foo.io/v1",
        "Request",
        "name: a",
        "spec: {dnsNames: [b.bar.svc]}\n",
    );
    assert_eq!(of(&[other], "components-certificate"), [""; 0]);
}

/// YAML 1.1, as clusterctl reads it: bare keys that are no texts, labels that are none, numbers
/// that a double cannot hold.
#[test]
fn scalars_arrive_as_they_are_written() {
    let map = |metadata: &str, more: &str| {
        object(
            "v1",
            "ConfigMap",
            &format!("name: a, namespace: foo-system{metadata}"),
            more,
        )
    };
    for (key, becomes) in [
        ("on", "true"),
        ("Y", "true"),
        ("True", "true"),
        ("no", "false"),
        ("Off", "false"),
        ("FALSE", "false"),
    ] {
        let expected = format!(
            "8:1-{}: the bare key `{key}` becomes `{becomes}`: write `\"{key}\"`",
            key.len() + 1
        );
        assert_eq!(
            of(&[map("", &format!("{key}: 1\n"))], "components-key"),
            [expected]
        );
    }
    for key in ["true", "false", "\"on\"", "'no'", "ono", "\"true\""] {
        assert_eq!(
            of(&[map("", &format!("{key}: 1\n"))], "components-key"),
            [""; 0],
            "{key}"
        );
    }
    let inexact = |place: &str, path: &str, number: &str| {
        format!(
            "{place}: {path} is {number}, which clusterctl rounds: it is beyond 2^53: write it as a text, if the field takes one"
        )
    };
    assert_eq!(
        of(
            &[map(
                "",
                "a: [1, 9007199254740993, {b: -9007199254740993}, 18446744073709551615]\nb: [9007199254740992, -9007199254740992, 1.5]\n"
            )],
            "components-integer"
        ),
        [
            inexact("8:8-24", "a[1]", "9007199254740993"),
            inexact("8:30-47", "a[2].b", "-9007199254740993"),
            inexact("8:50-70", "a[3]", "18446744073709551615"),
        ]
    );
    let labels = ", labels: {a: 1, b: true, c: [x], d: null, e: 'x', f: &g 2, h: *g, i: \"3\"}, annotations: {j: 4}";
    let components = format!(
        "{NAMESPACE}{}",
        map(labels, "spec: {metadata: {labels: {k: 5}}}\n")
    );
    let found = found(
        &[("infrastructure-components.yaml", &components)],
        &[],
        "components-label",
    );
    let told: Vec<_> = found
        .iter()
        .map(|finding| {
            (
                text(finding, "path"),
                text(finding, "help"),
                !finding["fix"].is_null(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("metadata.labels.a", "write `a: \"1\"`", true),
            ("metadata.labels.b", "write `b: \"true\"`", true),
            ("metadata.labels.c", "write `c: \"[x]\"`", false),
            ("metadata.labels.d", "write `d: \"null\"`", false),
            ("metadata.labels.f", "write `f: \"2\"`", true),
            ("metadata.labels.h", "write `h: \"*g\"`", false),
        ]
    );
}

/// The fields of which clusterctl has types that take nothing but texts.
const UNQUOTED: &str = "spec:
  selector:
    matchLabels:
      a: ${A}
  template:
    metadata:
      labels:
        a: ${A}
      annotations:
        b: ${B:=x}
        c: \"${C}\"
        d: ${D}${E}
        e: x${F}
        f: ${F}x
    spec:
      nodeSelector:
        g: ${G}
      containers:
      - name: manager
        args:
        - --x
        - ${G}
        command:
        - ${H:=\"x y\"}
        - ${I:=x\"y\"}
        env:
        - name: J
          value: ${J:=1}
        - name: ${K}
          value: x
";

/// A variable that is all of a text, without quotes: its value may be no text.
#[test]
fn variables_stand_in_quotes_where_texts_are_due() {
    let of = |kind: &str| {
        let object = object("apps/v1", kind, "name: d, namespace: foo-system", UNQUOTED);
        found(
            &[(
                "infrastructure-components.yaml",
                &format!("{NAMESPACE}{object}"),
            )],
            &[],
            "components-variable-unquoted",
        )
    };
    let line = |finding: &Value| {
        format!(
            "{} {}: {}",
            places(finding),
            text(finding, "path"),
            text(finding, "help")
        )
    };
    let expected = [
        "11:10-14 spec.selector.matchLabels.a: write `\"${A}\"`",
        "15:12-16 spec.template.metadata.labels.a: write `\"${A}\"`",
        "17:12-19 spec.template.metadata.annotations.b: write `\"${B:=x}\"`",
        "29:11-15 spec.template.spec.containers[0].args[1]: write `\"${G}\"`",
        "31:11-22 spec.template.spec.containers[0].command[0]: write `\"${H:=x y}\"`",
        "32:11-21 spec.template.spec.containers[0].command[1]: write it in quotes that its default does not have",
        "35:18-25 spec.template.spec.containers[0].env[0].value: write `\"${J:=1}\"`",
    ];
    for kind in ["Deployment", "DaemonSet"] {
        assert_eq!(
            of(kind).iter().map(line).collect::<Vec<_>>(),
            expected,
            "{kind}"
        );
    }
    assert!(of("StatefulSet").is_empty());
    let path = "spec.selector.matchLabels.a";
    assert_eq!(
        text(&of("Deployment")[0], "message"),
        format!("{path} is a variable without quotes: the value `true` or `1` would be no text")
    );
    assert_eq!(
        notes(&of("Deployment")[0]),
        "clusterctl ends with an error on such a value"
    );
}

/// In the descriptions of CRDs nobody means a variable, nor an escape; elsewhere somebody does.
#[test]
fn descriptions_are_told_once_for_a_file() {
    let crd = |description: &str, more: &str| {
        let schema = format!(
            "      openAPIV3Schema:\n        description: {description}\n        properties:\n          description: {{type: string, default: \"${{DEFAULT}}\"{more}}}\n"
        );
        let versions = format!("  versions:\n  - name: v1\n    schema:\n{schema}");
        object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "name: foos.foo.io",
            &format!("spec:\n  group: ${{GROUP}}\n{versions}"),
        )
    };
    let of = |objects: &[String]| {
        let found = found(
            &[(
                "infrastructure-components.yaml",
                &format!("{NAMESPACE}{}", objects.concat()),
            )],
            &[],
            "crd-text",
        );
        found
            .iter()
            .map(|finding| {
                format!(
                    "{} {} {}: {}: {}",
                    places(finding),
                    finding["document"],
                    text(finding, "path"),
                    text(finding, "message"),
                    text(finding, "help")
                )
            })
            .collect::<Vec<_>>()
    };
    let path = "spec.versions[0].schema.openAPIV3Schema.description";
    assert_eq!(of(&[crd("no $ at all $$A", "")]), [""; 0]);
    assert_eq!(
        of(&[crd(
            "${B} or ${A} $$(X) $$$$(Y)",
            ", description: \"${C} $$(Z)\""
        )]),
        [
            format!(
                "14:22-26 2 {path}: clusterctl replaces variables in descriptions: A, B, C: write `$$` for `$` in descriptions"
            ),
            format!(
                "14:35-37 2 {path}: clusterctl makes one `$` of `$$` in descriptions, 2 times: write `$$$$(` for `$$(`"
            ),
        ]
    );
    assert_eq!(
        of(&[crd("x", ""), crd("x", ", description: \"a $$(Z) b\"")]),
        [
            "29:78-80 3 spec.versions[0].schema.openAPIV3Schema.properties.description.description: clusterctl makes one `$` of `$$` in descriptions, 1 time: write `$$$$(` for `$$(`"
        ]
    );
    assert_eq!(
        of(&[object(
            "v1",
            "ConfigMap",
            "name: a",
            "data: {description: \"${A} $$(B)\"}\n"
        )]),
        [""; 0]
    );
}

/// What clusterctl's Go types make of webhooks, and what they have no field for.
#[test]
fn objects_go_through_types() {
    let webhooks = "webhooks:\n- {name: a, clientConfig: {}, sideEffects: None}\n- {name: b, clientConfig: {}, admissionReviewVersions: [v1]}\n- {name: c, clientConfig: {}, admissionReviewVersions: [v1], sideEffects: None}\n- {name: d}\n";
    let missing = |place: &str, at: u32, kind: &str, field: &str, write: &str| {
        format!("{place}: webhooks[{at}] of {kind}/w has no {field}: add `{field}: {write}`")
    };
    for kind in [
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    ] {
        let told = of(
            &[object(
                "admissionregistration.k8s.io/v1",
                kind,
                "name: w",
                webhooks,
            )],
            "components-webhook-inc",
        );
        let (reviews, effects) = (("admissionReviewVersions", "[v1]"), ("sideEffects", "None"));
        let expected = [
            ("9:3-49", 0, reviews),
            ("10:3-61", 1, effects),
            ("12:3-12", 3, effects),
            ("12:3-12", 3, reviews),
        ];
        assert_eq!(
            told,
            expected.map(|(place, at, (field, write))| missing(place, at, kind, field, write))
        );
    }
    assert_eq!(
        of(
            &[object("foo.io/v1", "Webhooks", "name: w", webhooks)],
            "components-webhook-inc"
        ),
        [""; 0]
    );
    let deployment = |api_version: &str, spec: &str| {
        object(
            api_version,
            "Deployment",
            "name: d",
            &format!(
                "spec:\n  {spec}\n  template: {{spec: {{containers: [{{name: manager, image: \"ghcr.io/a/b:v1\"}}]}}}}\n"
            ),
        )
    };
    assert_eq!(
        of(
            &[deployment("apps/v1", "replica: 2")],
            "components-field-dropped"
        ),
        [
            "9:3-10: spec.replica of Deployment/d vanishes: Deployment has no such field: correct the name of the field, or remove it"
        ]
    );
    assert_eq!(
        of(&[deployment("apps/v1beta1", "replicas: 2")], "components-object-version-unknown"),
        ["5:13-25: Deployment/d is of version apps/v1beta1, which clusterctl does not convert: write the object in the current version of its API"].map(|line| line.replace("6:", "5:"))
    );
    let refused = |spec: &str| {
        let components = format!("{NAMESPACE}{}", deployment("apps/v1", spec));
        let found = found(
            &[("infrastructure-components.yaml", &components)],
            &[],
            "components-r",
        );
        found
            .iter()
            .map(|finding| format!("{}: {}", text(finding, "rule"), text(finding, "help")))
            .collect::<Vec<_>>()
    };
    assert_eq!(refused("replicas: 2"), [""; 0]);
    assert_eq!(
        refused("replicas: x"),
        ["components-refused: correct the object that the note names"]
    );
    assert_eq!(
        refused("replicas: ${R:=1}"),
        ["components-raw-refused: use variables only inside of strings, and not in images"]
    );
}

/// What a pod does not start without, and how to do without it.
#[test]
fn pods_find_what_they_need() {
    let pod = "    spec:
      serviceAccountName: sa
      volumes:
      - {name: a, configMap: {name: cfg}}
      - {name: b, secret: {secretName: ''}}
      - {name: c, persistentVolumeClaim: {claimName: claim}}
      containers:
      - {name: manager, image: 'ghcr.io/a/b:v1', envFrom: [{secretRef: {name: keys}}]}
";
    let deployment = object(
        "apps/v1",
        "Deployment",
        "name: d",
        &format!("spec:\n  template:\n{pod}"),
    );
    let components = format!(
        "{NAMESPACE}{deployment}{}",
        object("v1", "ConfigMap", "name: cfgs", "")
    );
    let found = found(
        &[("infrastructure-components.yaml", &components)],
        &[],
        "components-pod-need",
    );
    let needs = |place: &str, what: &str, label: &str, instead: &str| {
        let kind = what.split(' ').next().unwrap();
        format!(
            "{place} {label}: Deployment/d needs {what}, which the components do not contain: add the {kind}{instead}"
        )
    };
    let optional = "or write `optional: true` beside its name";
    let line = |finding: &Value| {
        format!(
            "{} {}: {}: {}",
            places(finding),
            text(finding, "label"),
            text(finding, "message"),
            text(finding, "help")
        )
    };
    assert_eq!(
        found.iter().map(line).collect::<Vec<_>>(),
        [
            needs("11:27-29", "ServiceAccount sa", "", ""),
            needs(
                "13:37-40",
                "ConfigMap cfg",
                "did you mean `cfgs`?",
                &format!(", {optional}")
            ),
            needs("15:54-59", "PersistentVolumeClaim claim", "", ""),
            needs(
                "17:79-83",
                "Secret keys",
                "",
                &format!(", let a Certificate make it, {optional}")
            ),
        ]
    );
}
