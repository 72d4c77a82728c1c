//! The step from one release to the next, as `release check --previous` judges it: what a version
//! of a CRD takes no more and where that stands, and what is told once.

use serde_json::{Value, json};

use crate::support::{root, windlass};

/// Files, by name.
type Files<'f> = [(&'f str, String)];

/// Findings about the step from a release with some files to one with others, each beside a
/// metadata.yaml, unless there is one.
fn step_of(old: &Files<'_>, new: &Files<'_>) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in [("previous", old), ("out", new)] {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::copy(
            root().join("tests/gate/base/metadata.yaml"),
            folder.join("metadata.yaml"),
        )
        .unwrap();
        files
            .iter()
            .for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    }
    let arguments = [
        "release",
        "check",
        "v0.2.0",
        "out",
        "--previous",
        "previous",
        "-o",
        "json",
    ];
    let output = windlass(folder.path()).args(arguments).output().unwrap();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|found| found["rule"].as_str().unwrap().starts_with("upgrade-"))
        .cloned()
        .collect()
}

/// Components with a Namespace and some objects.
fn components(objects: &[Value]) -> (&'static str, String) {
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "foo-system"}});
    let documents: Vec<String> = std::iter::once(&namespace)
        .chain(objects)
        .map(Value::to_string)
        .collect();
    ("infrastructure-components.yaml", documents.join("\n---\n"))
}

/// Findings about the step from components to others.
fn step(old: &[Value], new: &[Value]) -> Vec<Value> {
    step_of(&[components(old)], &[components(new)])
}

/// Of each finding its rule, without `upgrade-`, and its message.
fn told(findings: &[Value]) -> Vec<String> {
    let text =
        |finding: &Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
    findings
        .iter()
        .map(|found| {
            format!(
                "{}: {}",
                text(found, "rule").trim_start_matches("upgrade-"),
                text(found, "message")
            )
        })
        .collect()
}

fn crd(versions: &[Value]) -> Value {
    let names = json!({"kind": "Foo", "listKind": "FooList", "plural": "foos", "singular": "foo"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.foo.dev"},
        "spec": {"group": "foo.dev", "names": names, "scope": "Namespaced", "versions": versions},
    })
}

/// A CRD in which each version has one of the schemas for its `spec`.
fn of_schemas<'v>(schemas: impl Iterator<Item = &'v Value>) -> Value {
    let version = |(at, spec): (usize, &Value)| {
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
        json!({"name": format!("v{}", at + 1), "served": true, "storage": at == 0, "schema": schema})
    };
    crd(&schemas.enumerate().map(version).collect::<Vec<_>>())
}

/// For each pair of schemas of a `spec`, what the new one takes less than the old one, and where in
/// it that stands: each pair is a version of one CRD.
fn narrowed(pairs: &[(Value, Value)]) -> Vec<Option<(String, String)>> {
    let mut told = vec![None; pairs.len()];
    for found in step(
        &[of_schemas(pairs.iter().map(|(old, _)| old))],
        &[of_schemas(pairs.iter().map(|(_, new)| new))],
    ) {
        assert_eq!(found["rule"], "upgrade-schema-narrowed", "{found}");
        let path = found["path"]
            .as_str()
            .unwrap()
            .strip_prefix("spec.versions[")
            .unwrap();
        let (at, path) = path
            .split_once("].schema.openAPIV3Schema.properties.")
            .unwrap();
        let at: usize = at.parse().unwrap();
        let before = format!(
            "v{} of CustomResourceDefinition/foos.foo.dev takes less than before: ",
            at + 1
        );
        let what = found["message"]
            .as_str()
            .unwrap()
            .strip_prefix(before.as_str())
            .unwrap();
        assert!(told[at].is_none(), "one finding for each version");
        told[at] = Some((what.to_owned(), path.to_owned()));
    }
    told
}

/// A schema as YAML has it.
fn read(schema: &str) -> Value {
    serde_yaml::from_str(schema).unwrap()
}

/// Old, new, what is told and where it stands in the schema.
const PLACES: &[[&str; 4]] = &[
    [
        "{type: string}",
        "{type: string, maxLength: 3}",
        "spec has a lower maxLength",
        "spec",
    ],
    [
        "{type: object, properties: {size: {type: string}}}",
        "{type: object, properties: {size: {type: string, maxLength: 3}}}",
        "spec.size has a lower maxLength",
        "spec.properties.size",
    ],
    [
        "{type: array, items: {type: string}}",
        "{type: array, items: {type: string, maxLength: 3}}",
        "spec[] has a lower maxLength",
        "spec.items",
    ],
    [
        "{type: object, additionalProperties: {type: string}}",
        "{type: object, additionalProperties: {type: string, maxLength: 3}}",
        "spec.* has a lower maxLength",
        "spec.additionalProperties",
    ],
    [
        "{type: object, properties: {disks: {type: array, items: {type: object, properties: {size: {type: string}}}}}}",
        "{type: object, properties: {disks: {type: array, items: {type: object, properties: {size: {type: integer}}}}}}",
        "spec.disks[].size is integer and was string",
        "spec.properties.disks.items.properties.size",
    ],
    [
        "{type: object, properties: {pools: {type: object, additionalProperties: {type: array, items: {type: string}}}}}",
        "{type: object, properties: {pools: {type: object, additionalProperties: {type: array, items: {type: integer}}}}}",
        "spec.pools.*[] is integer and was string",
        "spec.properties.pools.additionalProperties.items",
    ],
    [
        "{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}}",
        "{type: object, properties: {a: {type: string}, b: {type: boolean}, c: {type: integer}}}",
        "spec.b is boolean and was string, spec.c is integer and was string",
        "spec.properties.b",
    ],
];

/// The place is that of the first field that takes less, in lists and maps too.
#[test]
fn what_takes_less_stands_where_the_schema_has_it() {
    let pairs: Vec<(Value, Value)> = PLACES
        .iter()
        .map(|[old, new, ..]| (read(old), read(new)))
        .collect();
    let expected: Vec<_> = PLACES
        .iter()
        .map(|[.., what, path]| Some(((*what).to_owned(), (*path).to_owned())))
        .collect();
    assert_eq!(narrowed(&pairs), expected);
}

/// Eight changes are named, of more the rest is counted.
#[test]
fn many_changes_are_counted() {
    let fields = |count: usize| -> Value {
        let properties: Value = (0..count)
            .map(|at| (format!("f{at:02}"), json!({"type": "string"})))
            .collect();
        json!({"type": "object", "properties": properties})
    };
    let pairs: Vec<(Value, Value)> = [1, 7, 8, 9, 10, 20]
        .iter()
        .map(|count| (fields(*count), fields(0)))
        .collect();
    let gone = |count: usize| {
        (0..count)
            .map(|at| format!("spec.f{at:02} is gone"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let expected = [
        gone(1),
        gone(7),
        gone(8),
        gone(8) + ", and 1 more",
        gone(8) + ", and 2 more",
        gone(8) + ", and 12 more",
    ];
    let told: Vec<String> = narrowed(&pairs)
        .into_iter()
        .map(|told| told.unwrap().0)
        .collect();
    assert_eq!(told, expected);
}

/// Old, new, and what is told of them.
const CHANGES: &[[&str; 3]] = &[
    ["{type: string}", "{}", ""],
    ["{}", "{type: string}", "is string and was anything"],
    // The order of an enumeration says nothing.
    [
        "{type: string, enum: [a, b]}",
        "{type: string, enum: [b, a]}",
        "",
    ],
    [
        "{type: string, enum: [a]}",
        "{type: string, enum: [a, b]}",
        "",
    ],
    [
        "{type: string, enum: [a, b, c]}",
        "{type: string, enum: [c]}",
        "does not take \"a\", \"b\" any more",
    ],
    [
        "{type: string, pattern: ^a$}",
        "{type: string, pattern: ^a$}",
        "",
    ],
    [
        "{type: string, pattern: ^a$}",
        "{type: string, pattern: ^b$}",
        "has another pattern",
    ],
    [
        "{type: string, maxLength: 4}",
        "{type: string, maxLength: 3}",
        "has a lower maxLength",
    ],
    [
        "{type: string, maxLength: 4}",
        "{type: string, maxLength: 4}",
        "",
    ],
    ["{type: string, maxLength: 4}", "{type: string}", ""],
    [
        "{type: string, minLength: 1}",
        "{type: string, minLength: 2}",
        "has a higher minLength",
    ],
    ["{type: string}", "{type: string, minLength: 0}", ""],
    [
        "{type: object, maxProperties: 2}",
        "{type: object, maxProperties: 1}",
        "has a lower maxProperties",
    ],
    [
        "{type: object, minProperties: 2}",
        "{type: object, minProperties: 2}",
        "",
    ],
    [
        "{type: integer}",
        "{type: integer, minimum: -5}",
        "has a higher minimum",
    ],
    [
        "{type: integer, minimum: -5}",
        "{type: integer, minimum: -6}",
        "",
    ],
    [
        "{type: integer, maximum: 0}",
        "{type: integer, maximum: -1}",
        "has a lower maximum",
    ],
    [
        "{type: integer, maximum: 5}",
        "{type: integer, maximum: 5, exclusiveMaximum: true}",
        "does not take its maximum any more",
    ],
    [
        "{type: integer, maximum: 5, exclusiveMaximum: true}",
        "{type: integer, maximum: 5, exclusiveMaximum: true}",
        "",
    ],
    [
        "{type: string, nullable: true}",
        "{type: string, nullable: true}",
        "",
    ],
    ["{type: string}", "{type: string, nullable: true}", ""],
    // Only formats of texts are checked.
    [
        "{type: string, format: ipv4}",
        "{type: string, format: ipv4}",
        "",
    ],
    [
        "{type: string, format: ipv4}",
        "{type: string, format: ipv6}",
        "has the format ipv6",
    ],
    ["{type: integer}", "{type: integer, format: byte}", ""],
    [
        "{type: string}",
        "{type: string, anyOf: [{type: string, maxLength: 1}]}",
        "has another anyOf",
    ],
    [
        "{type: string, anyOf: [{maxLength: 1}, {minLength: 3}]}",
        "{type: string, anyOf: [{maxLength: 1}]}",
        "has another anyOf",
    ],
    [
        "{type: string, allOf: [{maxLength: 1}]}",
        "{type: string, allOf: [{maxLength: 1}]}",
        "",
    ],
    [
        "{type: string, not: {enum: [a]}}",
        "{type: string, not: {enum: [a]}}",
        "",
    ],
    // A map has any field; one that is none any more is told once, not field by field.
    [
        "{type: object, properties: {a: {type: string}}}",
        "{type: object, additionalProperties: {type: string}}",
        "",
    ],
    [
        "{type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}",
        "{type: object, properties: {b: {type: string}}}",
        "is no map any more",
    ],
];

/// API reference, JSONSchemaProps.
#[test]
fn what_takes_the_same_or_more_is_not_told() {
    let pairs: Vec<(Value, Value)> = CHANGES
        .iter()
        .map(|[old, new, _]| (read(old), read(new)))
        .collect();
    for ([old, new, expected], told) in CHANGES.iter().zip(narrowed(&pairs)) {
        let expected =
            (!expected.is_empty()).then(|| (format!("spec {expected}"), "spec".to_owned()));
        assert_eq!(told, expected, "{old} {new}");
    }
}

/// Versions of a CRD in the old release, in the new one, and what is told: the one that stores has
/// to stay, those that were served are deprecated first.
const VERSIONS: &[[&str; 3]] = &[
    [
        "{name: v1, served: true, storage: true}",
        "{name: v1, served: true, storage: true}",
        "",
    ],
    [
        "{name: v1, served: true, storage: true}",
        "{name: v2, served: true, storage: true}",
        "stored-version-removed: CustomResourceDefinition/foos.foo.dev has no version v1 any more, in which the release before stores",
    ],
    [
        "{name: v1, served: true, storage: true}",
        "{name: v2, served: true, storage: true}, {name: v1, served: false, storage: false}",
        "served-version-removed: CustomResourceDefinition/foos.foo.dev does not serve v1 any more",
    ],
    [
        "{name: v1, served: false, storage: true}",
        "{name: v2, served: true, storage: true}, {name: v1, served: false, storage: false}",
        "",
    ],
    [
        "{name: v1, served: true, storage: false}, {name: v2, served: true, storage: true}",
        "{name: v2, served: true, storage: true}",
        "served-version-removed: CustomResourceDefinition/foos.foo.dev does not serve v1 any more",
    ],
    [
        "{name: v1, served: true, storage: false, deprecated: true}, {name: v2, served: true, storage: true}",
        "{name: v2, served: true, storage: true}",
        "",
    ],
    [
        "{name: v1, served: false, storage: false}, {name: v2, served: true, storage: true}",
        "{name: v2, served: true, storage: true}",
        "",
    ],
    [
        "{name: v1, served: true, storage: true, deprecated: true}, {name: v2, served: true, storage: false}",
        "{name: v2, served: true, storage: true}",
        "stored-version-removed: CustomResourceDefinition/foos.foo.dev has no version v1 any more, in which the release before stores",
    ],
];

/// Kubernetes, "Versions in CustomResourceDefinitions".
#[test]
fn versions_go_as_users_can_follow() {
    let read =
        |versions: &str| serde_yaml::from_str::<Vec<Value>>(&format!("[{versions}]")).unwrap();
    for [old, new, expected] in VERSIONS {
        let expected: Vec<&str> = if expected.is_empty() {
            vec![]
        } else {
            vec![expected]
        };
        assert_eq!(
            told(&step(&[crd(&read(old))], &[crd(&read(new))])),
            expected,
            "{old} {new}"
        );
    }
}

/// What the API server says of it is in the note, and where the old release has it is beside it.
#[test]
fn what_a_crd_never_changes_is_told_with_both_values() {
    let old = crd(&[json!({"name": "v1", "served": true, "storage": true})]);
    let changed = |changes: &[(&str, &str)]| {
        let mut new = old.clone();
        for (path, value) in changes {
            *new.pointer_mut(path).unwrap() = json!(value);
        }
        step(std::slice::from_ref(&old), &[new])
    };
    let scope = changed(&[("/spec/scope", "Cluster")]);
    let place =
        "spec.scope of CustomResourceDefinition/foos.foo.dev changes from Namespaced to Cluster";
    assert_eq!(told(&scope), [format!("crd-immutable: {place}")]);
    assert_eq!(
        scope[0]["upstream"],
        "spec.scope: Invalid value: \"Cluster\": field is immutable"
    );
    assert_eq!(
        scope[0]["help"],
        "write `Namespaced`, or give the new kind another name"
    );
    assert_eq!(
        scope[0]["related"][0]["file"],
        "previous/infrastructure-components.yaml"
    );
    let both = told(&changed(&[
        ("/spec/scope", "Cluster"),
        ("/spec/names/kind", "Bar"),
    ]));
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.contains(&"crd-immutable: spec.names.kind of CustomResourceDefinition/foos.foo.dev changes from Foo to Bar".to_owned()));
    assert_eq!(
        told(&changed(&[
            ("/spec/names/singular", "bar"),
            ("/spec/names/listKind", "BarList")
        ])),
        [""; 0]
    );
}

fn named(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}

/// clusterctl deletes what is in the namespace, and of what is not only roles that are called after
/// it; CRDs stay.
#[test]
fn what_nobody_deletes_is_told() {
    let rbac = "rbac.authorization.k8s.io/v1";
    let gone = [
        crd(&[json!({"name": "v1", "served": true, "storage": true})]),
        named("v1", "ServiceAccount", "foo-manager"),
        named(rbac, "Role", "foo-viewer"),
        named(rbac, "ClusterRole", "foo-viewer"),
        named(rbac, "ClusterRole", "foo-system"),
        named(rbac, "ClusterRole", "foo-system-viewer"),
        named(rbac, "ClusterRoleBinding", "foo-systems-viewer"),
    ];
    let found = step(&gone, &[]);
    let left = |object: &str| {
        format!(
            "role-left-behind: {object} is not in the new release, and `clusterctl upgrade` leaves it in place"
        )
    };
    let expected = [
        "crd-removed: CustomResourceDefinition/foos.foo.dev is not in the new release".to_owned(),
        left("ClusterRole/foo-viewer"),
        left("ClusterRole/foo-system"),
        left("ClusterRoleBinding/foo-systems-viewer"),
    ];
    assert_eq!(told(&found), expected);
    assert_eq!(
        found[3]["help"],
        "keep the name, or tell users to run `kubectl delete clusterrolebinding foo-systems-viewer`"
    );
    assert_eq!(told(&step(&gone, &gone)), [""; 0]);
    // Without a Namespace nobody knows which names clusterctl takes for its own.
    let alone = |objects: &[Value]| {
        (
            "infrastructure-components.yaml",
            objects
                .iter()
                .map(|object| format!("{object}\n---\n"))
                .collect(),
        )
    };
    assert_eq!(
        told(&step_of(&[alone(&gone[1..])], &[alone(&gone[1..2])])),
        [""; 0]
    );
}

/// Kinds, a field of theirs, and whether it is one that never changes.
const FIELDS: &[(&str, &str, &str, bool)] = &[
    ("apps/v1", "DaemonSet", "spec.selector", true),
    ("apps/v1", "Deployment", "spec.selector", true),
    ("apps/v1", "Deployment", "spec.replicas", false),
    ("apps/v1", "StatefulSet", "spec.selector", true),
    ("apps/v1", "StatefulSet", "spec.serviceName", true),
    ("apps/v1", "StatefulSet", "spec.volumeClaimTemplates", true),
    ("apps/v1", "StatefulSet", "spec.podManagementPolicy", true),
    ("batch/v1", "CronJob", "spec.selector", false),
    ("batch/v1", "Job", "spec.selector", true),
    ("batch/v1", "Job", "spec.template", true),
    ("foo.dev/v1", "Deployment", "spec.selector", false),
    (
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        "roleRef",
        true,
    ),
    (
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "roleRef",
        true,
    ),
    (
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "subjects",
        false,
    ),
];

/// Kubernetes' validation of updates. Other fields of these kinds, and these fields of other kinds,
/// may change.
#[test]
fn fields_that_never_change_are_told() {
    let object = |(at, (api_version, kind, path, _)): (usize, &(&str, &str, &str, bool)),
                  value: Option<&str>| {
        let mut object = named(api_version, kind, &format!("a{at}"));
        if let Some(value) = value {
            let fields = path
                .rsplit('.')
                .fold(json!({"name": value}), |value, field| json!({field: value}));
            object
                .as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
        }
        object
    };
    let all = |value: Option<&str>| {
        FIELDS
            .iter()
            .enumerate()
            .map(|field| object(field, value))
            .collect::<Vec<_>>()
    };
    let never = FIELDS
        .iter()
        .enumerate()
        .filter(|(_, (.., is_told))| *is_told);
    let message = |(at, (_, kind, path, _)): (usize, &(&str, &str, &str, bool))| {
        format!("field-immutable: {path} of {kind}/a{at} changes, which the API server refuses")
    };
    let expected: Vec<String> = never.map(message).collect();
    assert_eq!(expected.len(), 10);
    assert_eq!(told(&step(&all(Some("x")), &all(Some("y")))), expected);
    assert_eq!(
        told(&step(&all(None), &all(Some("y")))),
        expected,
        "it was not there"
    );
    assert_eq!(told(&step(&all(Some("x")), &all(Some("x")))), [""; 0]);
}

/// What users call by name, and what they have to set: files, flavors, classes, variables, series.
#[test]
fn what_users_name_is_kept() {
    let text = |text: &str| format!("a: \"{text}\"\n");
    let old = [
        components(&[]),
        ("cluster-template.yaml", text("${A}")),
        ("cluster-template-small.yaml", text("${A} ${B:=x} ${C}")),
        ("cluster-template-large.yaml", text("${A}")),
        ("clusterclass-quick.yaml", text("${A}")),
    ];
    let new = [
        components(&[]),
        (
            "cluster-template-small.yaml",
            text("${A} ${B} ${C:=y} ${D} ${D} ${E:=z}"),
        ),
    ];
    let found = step_of(&old, &new);
    let mut told: Vec<[&str; 3]> = found
        .iter()
        .map(|found| {
            [
                found["rule"].as_str().unwrap(),
                found["message"].as_str().unwrap(),
                found["notes"][0].as_str().unwrap_or_default(),
            ]
        })
        .collect();
    let (gone, required) = ("upgrade-template-removed", "upgrade-variable-required");
    let mut expected = [
        [
            gone,
            "cluster-template.yaml is not in the new release",
            "`clusterctl generate cluster` without `--flavor` finds nothing any more",
        ],
        [
            gone,
            "cluster-template-large.yaml is not in the new release",
            "`clusterctl generate cluster --flavor large` finds nothing any more",
        ],
        [
            gone,
            "clusterclass-quick.yaml is not in the new release",
            "a topology of class quick finds nothing any more",
        ],
        [
            required,
            "variable B of cluster-template-small.yaml has no default any more",
            "",
        ],
        [
            required,
            "variable D of cluster-template-small.yaml is new and has no default",
            "",
        ],
    ];
    expected.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, expected);
    let place = |name: &str| {
        let found = found
            .iter()
            .find(|found| {
                found["message"]
                    .as_str()
                    .unwrap()
                    .starts_with(&format!("variable {name} "))
            })
            .unwrap();
        (
            found["line"].as_u64().unwrap(),
            found["column"].as_u64().unwrap(),
            found["help"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(
        place("B"),
        (
            1,
            10,
            "give it the default that keeps what was: `${B:=…}`".to_owned()
        )
    );
    assert_eq!(
        place("D"),
        (
            1,
            23,
            "give it the default that keeps what was: `${D:=…}`".to_owned()
        ),
        "its first use"
    );
}

/// `clusterctl upgrade` looks up the series that is installed in the newest metadata.yaml.
#[test]
fn series_that_were_listed_stay_listed() {
    let metadata = |minors: &[u32]| {
        let series: String = minors
            .iter()
            .map(|minor| format!("- {{major: 0, minor: {minor}, contract: v1beta2}}\n"))
            .collect();
        let head =
            "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n";
        [
            components(&[]),
            ("metadata.yaml", format!("{head}{series}")),
        ]
    };
    let found = step_of(&metadata(&[0, 1, 2]), &metadata(&[2, 3]));
    assert_eq!(
        told(&found),
        [
            "series-lost: series 0.0 is not listed any more",
            "series-lost: series 0.1 is not listed any more"
        ]
    );
    assert_eq!(
        found[1]["help"],
        "add `- {major: 0, minor: 1, contract: v1beta2}`"
    );
    assert_eq!(found[1]["related"][0]["line"], 5);
    assert_eq!(
        told(&step_of(&metadata(&[1, 2]), &metadata(&[2, 1, 3]))),
        [""; 0]
    );
}
