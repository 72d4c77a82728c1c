//! CRDs in a release: which are taken, and which contract labels they get.

use serde_json::{Value, json};

use crate::assembly::{crd, object, objects_of, release};
use crate::support::{root, run};

const HEAD: &str = "type: InfrastructureProvider\ngroup: foo.dev\n";

fn things() -> String {
    crd("foo.dev", "FooThing", &["v1alpha1", "v1"], true)
}

fn others() -> String {
    crd("foo.dev", "FooOther", &["v1"], true)
}

#[test]
fn takes_crds_of_the_groups_of_the_provider_only() {
    let release = release(
        &format!(
            "{HEAD}groups: [bar.dev]\ncontracts: {{v1beta2: [v1]}}\ncrds: [a.yaml, b.yaml, c.yaml]\n"
        ),
        &[
            ("a.yaml", &things()),
            ("b.yaml", &crd("baz.dev", "Baz", &["v1"], true)),
            ("c.yaml", &crd("bar.dev", "Bar", &["v1"], true)),
        ],
    );
    let groups: Vec<Value> = objects_of(&release)
        .iter()
        .map(|object| object["spec"]["group"].clone())
        .filter(Value::is_string)
        .collect();
    assert_eq!(groups, [json!("foo.dev"), json!("bar.dev")]);
}

/// The last entry of `crdMetadata` that names contracts for a kind counts; an entry without kinds
/// is for all.
#[test]
fn metadata_of_crds_is_for_the_kinds_that_are_named() {
    let of = |entries: &str| {
        let lines = format!(
            "{HEAD}contracts: {{v1beta2: [v1]}}\ncrds: [a.yaml, b.yaml]\ncrdMetadata: [{entries}]\n"
        );
        release(&lines, &[("a.yaml", &things()), ("b.yaml", &others())])
    };
    let own = "{kinds: [FooThing], contracts: {v1beta1: [v1alpha1]}}";
    for (entries, first, second) in [
        (
            own.to_owned(),
            json!({"v1beta1": "v1alpha1"}),
            json!({"v1beta2": "v1"}),
        ),
        (
            format!("{{contracts: {{v1beta1: [v1]}}}}, {own}"),
            json!({"v1beta1": "v1alpha1"}),
            json!({"v1beta1": "v1"}),
        ),
        (
            format!("{own}, {{contracts: {{v1beta1: [v1]}}}}"),
            json!({"v1beta1": "v1"}),
            json!({"v1beta1": "v1"}),
        ),
        (
            format!("{own}, {{labels: {{a: b}}}}"),
            json!({"v1beta1": "v1alpha1", "a": "b"}),
            json!({"v1beta2": "v1", "a": "b"}),
        ),
        (
            "{kinds: [FooOther], labels: {a: b}}".to_owned(),
            json!({"v1beta2": "v1"}),
            json!({"v1beta2": "v1", "a": "b"}),
        ),
    ] {
        let objects = objects_of(&of(&entries));
        for (kind, expected) in [("foothings", first), ("fooothers", second)] {
            let labels = object(
                &objects,
                &format!("CustomResourceDefinition/{kind}.foo.dev"),
            )["metadata"]["labels"]
                .as_object()
                .unwrap();
            let others = labels
                .iter()
                .filter(|(key, _)| *key != "cluster.x-k8s.io/provider");
            let short: serde_json::Map<String, Value> = others
                .map(|(key, value)| (key.replace("cluster.x-k8s.io/", ""), value.clone()))
                .collect();
            assert_eq!(Value::Object(short), expected, "{entries}: {kind}");
        }
    }
}

/// Editors get the schema of the file: required fields, and nothing that the program rejects.
#[test]
fn the_schema_of_provider_yaml_says_what_is_required() {
    let schema = run(root(), "schema provider").ok().json();
    assert_eq!(schema["title"], "provider.yaml of windlass");
    assert_eq!(
        schema["required"],
        json!(["apiVersion", "kind", "name", "type", "namespace"])
    );
    assert_eq!(schema["additionalProperties"], json!(false));
    assert!(
        schema["properties"]["crds"].is_object() && schema["properties"]["patches"].is_object()
    );
}
