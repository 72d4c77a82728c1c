//! What counts as a default of Kubernetes, and patches that are written.

use super::*;
use windlass_provider as provider;
use windlass_source::Source;
use windlass_source::budget::Budget;

#[test]
fn only_what_kubernetes_fills_in_is_a_default() {
    for (path, wanted, expected) in [
        ("ports.protocol", json!("TCP"), true),
        ("ports.protocol", json!("UDP"), false),
        ("env.value", json!("TCP"), false),
        ("probe.periodSeconds", json!(10), true),
        ("probe.periodSeconds", json!(11), false),
        ("probe.other", json!(10), false),
    ] {
        assert_eq!(
            is_default(&FieldPath::of_fields(path), &wanted),
            expected,
            "{path}: {wanted}"
        );
    }
}

#[test]
fn only_names_of_the_release_stand_for_others() {
    for (path, found, wanted, expected) in [
        (
            "secret.secretName",
            "foo-webhook-service-cert",
            "webhook-server-cert",
            true,
        ),
        ("secret.secretName", "mine", "webhook-server-cert", false),
        (
            "secret.other",
            "foo-webhook-service-cert",
            "webhook-server-cert",
            false,
        ),
        (
            "container.image",
            "ghcr.io/a/b:v1",
            "controller:latest",
            true,
        ),
        (
            "container.command",
            "ghcr.io/a/b:v1",
            "controller:latest",
            false,
        ),
        ("metadata.x", "foo", "$(NAMESPACE)/foo", true),
    ] {
        assert_eq!(
            is_placeholder(
                &Names::of_foo(),
                &FieldPath::of_fields(path),
                &json!(found),
                &json!(wanted)
            ),
            expected,
            "{path} {found}"
        );
    }
}

/// A patch without a name is for all objects of a kind. What a run does not get to is reported.
#[test]
fn what_is_not_compared_is_told() {
    let provider = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: InfrastructureProvider\nnamespace: foo-system\nobjects: [x.yaml]\n";
    let (declared, report) =
        provider::parse(&Source::new("provider.yaml", provider), &Budget::default());
    assert!(report.is_empty(), "{report:?}");
    let text = "patches:\n- patch: |-\n    - {op: add, path: /data, value: {a: b}}\n  target: {kind: ConfigMap}\n";
    let object = |at: usize| {
        Object::made(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c{at}")}}),
        )
    };
    let objects: Vec<Object> = (0..50).map(object).collect();
    let told = |steps: u64| {
        let budget = std::sync::Arc::new(Budget::of(steps));
        let mut inputs = Inputs::within(std::sync::Arc::clone(&budget));
        inputs.add_kustomization(Kustomization::read(
            &Source::new("config/default/kustomization.yaml", text),
            &budget,
        ));
        let mut report = not_applied(&declared[0], &inputs, &Names::of_foo(), &objects);
        budget.tell(&mut report);
        report
            .findings()
            .iter()
            .map(|finding| finding.message.to_string())
            .collect::<Vec<_>>()
    };
    assert!(
        told(40_000)
            .last()
            .is_some_and(|message| message.contains("what follows is not compared"))
    );
    let enough = told(100_000);
    assert!(
        enough.len() == 1 && enough[0].contains("which the release does not have"),
        "{enough:?}"
    );
}
