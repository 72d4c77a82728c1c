//! Objects as they are read, changed and asked for references.

use serde_json::{Value, json};

use super::references::references;
use super::{Misfit, Object, Shape, documents, pods, read, select};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

fn objects(text: &str) -> Vec<Object> {
    let (objects, report) = documents(&Source::new("o.yaml", text), &Budget::default());
    assert!(report.is_empty(), "{report:?}");
    objects
}

#[test]
fn what_is_no_object_is_a_finding_and_the_rest_is_there() {
    let text = "a: 1\n---\napiVersion: v1\nkind: List\nitems: []\n---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";
    let (objects, report) = read(&Source::new("o.yaml", text), &Budget::default());
    let found: Vec<_> = report
        .findings()
        .iter()
        .map(|f| (f.rule.id, f.place.span.map(|span| span.start.line)))
        .collect();
    assert_eq!(
        found,
        [
            ("object-incomplete", Some(1)),
            ("object-list-unexpanded", Some(4))
        ]
    );
    assert_eq!(
        objects.iter().map(Object::title).collect::<Vec<_>>(),
        ["ConfigMap/x"]
    );
    assert_eq!(objects[0].document(), Some(4));
}

#[test]
fn items_of_lists_keep_their_places() {
    let list =
        objects("kind: List\nitems:\n- kind: A\n- kind: B\n  metadata: {name: b}\n").remove(0);
    let items = list.into_items();
    let place = items[1].place(&FieldPath::of_fields("metadata.name"));
    assert_eq!(
        (place.path.to_string().as_str(), place.object.as_deref()),
        ("metadata.name", Some("B/b"))
    );
    assert_eq!(
        place.span.map(|span| (span.start.line, span.start.column)),
        Some((5, 20))
    );
    let single = Object::made(json!({"kind": "Box", "items": [1]}));
    assert_eq!(single.clone().into_items(), [single]);
}

#[test]
fn quotes_of_variables_are_remembered() {
    let object = objects("a: ${A}\nb: \"${B}\"\nc: ['${C}', x]\nd: \"d\"\n").remove(0);
    let quoted: Vec<String> = object
        .quoted_variables()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(quoted, ["b", "c[0]"]);
    assert_eq!(Object::made(json!({"a": "${A}"})).quoted_variables(), None);
}

#[test]
fn debug_shows_no_values() {
    let secret = Object::made(
        json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "dG9wc2VjcmV0"}}),
    );
    assert_eq!(format!("{secret:?}"), "Object(Secret/s)");
}

/// Each edit, and what the object is afterwards, or what is in its way.
#[test]
fn edits_make_only_what_they_are_for() {
    type Edit = fn(&mut Object) -> Result<(), Misfit>;
    let label: Edit = |object| object.set_label("k", "v");
    let service: Edit = |object| {
        object.set(
            &FieldPath::of_fields("spec.list").index(1).field("name"),
            "n".into(),
        )
    };
    for (edit, before, after) in [
        (
            label,
            json!({"metadata": {}}),
            Ok(json!({"metadata": {"labels": {"k": "v"}}})),
        ),
        (
            label,
            json!({"metadata": {"labels": null}}),
            Ok(json!({"metadata": {"labels": {"k": "v"}}})),
        ),
        (
            label,
            json!({"metadata": {"labels": {"k": 1, "l": "m"}}}),
            Ok(json!({"metadata": {"labels": {"k": "v", "l": "m"}}})),
        ),
        (
            label,
            json!({"metadata": {"labels": "x"}}),
            Err(("metadata.labels", Shape::Mapping, Shape::Text)),
        ),
        (
            label,
            json!({}),
            Err(("metadata", Shape::Mapping, Shape::Absent)),
        ),
        (
            service,
            json!({"spec": {"list": [1, {"a": 2}]}}),
            Ok(json!({"spec": {"list": [1, {"a": 2, "name": "n"}]}})),
        ),
        (
            service,
            json!({"spec": {"list": [{}]}}),
            Err(("spec.list[1]", Shape::Mapping, Shape::Absent)),
        ),
        (
            service,
            json!({"spec": {"list": {}}}),
            Err(("spec.list", Shape::List, Shape::Mapping)),
        ),
        (
            service,
            json!({"spec": null}),
            Err(("spec", Shape::Mapping, Shape::Absent)),
        ),
        (
            service,
            json!(["spec"]),
            Err(("", Shape::Mapping, Shape::List)),
        ),
    ] {
        let mut object = Object::made(before.clone());
        let done = edit(&mut object)
            .map_err(|misfit| (misfit.path.to_string(), misfit.wanted, misfit.found));
        match after {
            Ok(after) => assert_eq!((done, object.value()), (Ok(()), &after)),
            Err((path, wanted, found)) => {
                assert_eq!(
                    (done, object.value()),
                    (Err((path.to_owned(), wanted, found)), &before)
                );
            }
        }
    }
}

#[test]
fn paths_go_through_lists_and_stop_at_what_does_not_fit() {
    let value = json!({"l": [{"n": "a"}, {"n": 1}, "x", {}, null, "${ANY}", {"n": "b"}]});
    let selection = select(&value, "l[].n", Shape::Text);
    let found: Vec<(String, &Value)> = selection
        .found
        .iter()
        .map(|(path, value)| (path.to_string(), *value))
        .collect();
    assert_eq!(
        found,
        [
            ("l[0].n".to_owned(), &json!("a")),
            ("l[6].n".to_owned(), &json!("b"))
        ]
    );
    let misfits: Vec<_> = selection
        .misfits
        .iter()
        .map(|misfit| (misfit.path.to_string(), misfit.wanted, misfit.found))
        .collect();
    assert_eq!(
        misfits,
        [
            ("l[1].n".to_owned(), Shape::Text, Shape::Number),
            ("l[2]".to_owned(), Shape::Mapping, Shape::Text)
        ]
    );
    assert_eq!(
        select(&json!({"l": {}}), "l[].n", Shape::Text).misfits[0].wanted,
        Shape::List
    );
    assert_eq!(
        select(&json!({"l": "${LIST:=[]}"}), "l[].n", Shape::Text).misfits,
        []
    );
}

fn named(value: &Value) -> Vec<(String, String, String)> {
    references(value)
        .0
        .into_iter()
        .map(|to| (to.path.to_string(), to.kind.to_owned(), to.name.to_owned()))
        .collect()
}

#[test]
fn bindings_name_what_stands_beside_the_name() {
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "b"},
        "roleRef": {"kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "s"}, {"kind": "Group", "name": "g"}]});
    let row =
        |path: &str, kind: &str, name: &str| (path.to_owned(), kind.to_owned(), name.to_owned());
    let all = [
        row("roleRef.name", "ClusterRole", "r"),
        row("subjects[0].name", "ServiceAccount", "s"),
        row("subjects[1].name", "Group", "g"),
    ];
    assert_eq!(named(&binding), all);
    let certificate = |reference: Value| json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "spec": {"issuerRef": reference}});
    assert_eq!(
        named(&certificate(json!({"name": "i"}))),
        [row("spec.issuerRef.name", "Issuer", "i")]
    );
    assert_eq!(
        named(&certificate(json!({"name": "i", "kind": "ClusterIssuer"}))),
        [row("spec.issuerRef.name", "ClusterIssuer", "i")]
    );
}

/// `n` is false in YAML 1.1, and a number is not a name.
#[test]
fn a_name_that_is_no_text_is_told_as_what_it_is() {
    for (name, said) in [
        ("n", "metadata.name is read as `false`, not as text"),
        ("0x10", "metadata.name is read as `16`, not as text"),
    ] {
        let text = format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n");
        let (_, report) = super::read(&Source::new("n.yaml", text), &Budget::default());
        let [finding] = report.findings() else {
            panic!("{report:?}")
        };
        assert_eq!(
            (finding.rule.id, finding.message.as_str()),
            ("object-incomplete", said)
        );
        assert_eq!(
            finding
                .place
                .span
                .map(|span| (span.start.line, span.start.column)),
            Some((4, 9))
        );
    }
}

#[test]
fn only_kinds_of_their_group_have_references() {
    let binding = json!({"apiVersion": "authorization.example.com/v1", "kind": "RoleBinding", "roleRef": "x"});
    assert_eq!(references(&binding), (Vec::new(), Vec::new()));
}

#[test]
fn containers_are_those_of_all_lists_wherever_the_pod_is() {
    let pod = json!({"initContainers": [{"image": "b"}], "containers": [{"image": "a"}, "x", {}], "ephemeralContainers": [{"image": "c"}]});
    for object in [
        json!({"kind": "Pod", "spec": pod}),
        json!({"kind": "StatefulSet", "spec": {"template": {"spec": pod}}}),
        json!({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": pod}}}}}),
    ] {
        assert_eq!(
            pods::images(&object).collect::<Vec<_>>(),
            ["a", "b", "c"],
            "{object}"
        );
    }
    assert_eq!(
        pods::images(&json!({"kind": "ConfigMap", "spec": pod})).count(),
        0
    );
}

#[test]
fn shapes_are_told_in_words() {
    let values = [
        json!(null),
        json!(true),
        json!(1),
        json!("a"),
        json!([]),
        json!({}),
    ];
    let words = values.map(|value| Shape::of(&value).to_string());
    assert_eq!(
        words,
        [
            "not there",
            "a boolean",
            "a number",
            "a text",
            "a list",
            "a mapping"
        ]
    );
}
