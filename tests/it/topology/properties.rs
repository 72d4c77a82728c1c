//! What holds of every plan, whatever the patches.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_topology::{Desired, Options, plan};

use crate::support::root;

/// The objects of the example, its class first and its Cluster last, with these patches.
fn documents(patches: &[Value]) -> Vec<Value> {
    let text = std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap();
    let mut documents: Vec<Value> = text
        .split("\n---\n")
        .map(|document| serde_yaml::from_str(document).unwrap())
        .collect();
    assert_eq!(
        (&documents[0]["kind"], &documents.last().unwrap()["kind"]),
        (&json!("ClusterClass"), &json!("Cluster"))
    );
    documents[0]["spec"]["patches"] = patches.into();
    documents
}

/// What a plan of objects gives; it must give something.
fn planned(documents: &[Value]) -> Vec<Desired> {
    let text = json!({"apiVersion": "v1", "kind": "List", "items": documents}).to_string();
    let (pool, report) = Pool::read(&[Source::new("t.json", text)], &Budget::default());
    assert!(!report.has_errors(), "{report:?}");
    // Selectors that match nothing are rejected before they are tried.
    let planned = plan(
        &pool,
        &Options {
            skips_admission: true,
            ..Options::default()
        },
        &Budget::default(),
    );
    assert!(
        !planned.report.has_errors() && planned.objects.len() == 7,
        "{:?}",
        planned.report
    );
    planned.objects
}

/// The objects without where they stand, which a further patch changes.
fn values(planned: Vec<Desired>) -> Vec<Value> {
    planned.into_iter().map(|desired| desired.object).collect()
}

fn patch(name: &str, selector: &Value, operations: &Value) -> Value {
    json!({"name": name, "definitions": [{"selector": selector, "jsonPatches": operations}]})
}

/// The selector of the bootstrap template of the example's only MachineDeployment.
fn of_workers() -> Value {
    let resources = json!({"machineDeploymentClass": {"names": ["work*"]}});
    json!({"apiVersion": "bootstrap.windlass.dev/v1beta2", "kind": "WindlassConfigTemplate", "matchResources": resources})
}

/// Selectors that differ from that of the workers in one thing, and so match none of the templates.
fn of_nobody() -> impl Strategy<Value = Value> {
    let all = [
        ("apiVersion", json!("bootstrap.windlass.dev/v1beta1")),
        ("apiVersion", json!("bootstrap.cluster.x-k8s.io/v1beta2")),
        ("kind", json!("WindlassConfig")),
        ("kind", json!("KubeadmConfigTemplate")),
        (
            "matchResources",
            json!({"controlPlane": true, "infrastructureCluster": true}),
        ),
        (
            "matchResources",
            json!({"machineDeploymentClass": {"names": ["worker-*", "*s", "gpu", ""]}}),
        ),
        (
            "matchResources",
            json!({"machinePoolClass": {"names": ["*"]}}),
        ),
        ("matchResources", json!({})),
    ];
    proptest::sample::select(all.to_vec()).prop_map(|(field, value)| {
        let mut selector = of_workers();
        selector[field] = value;
        selector
    })
}

/// Operations that apply, and such that would fail or give nothing.
fn operations() -> impl Strategy<Value = Value> {
    let all = [
        json!({"op": "add", "path": "/spec/template/spec/files/-", "value": {"path": "/a"}}),
        json!({"op": "remove", "path": "/spec/template/spec/files"}),
        json!({"op": "replace", "path": "/spec/template", "value": 7}),
        json!({"op": "add", "path": "/spec/nowhere/below", "value": 1}),
        json!({"op": "add", "path": "/spec/x", "valueFrom": {"variable": "nobody"}}),
        json!({"op": "add", "path": "/spec/x", "valueFrom": {"template": "{{ fail \"x\" }}"}}),
        json!({"op": "add", "path": "/metadata/labels/x", "value": "y"}),
    ];
    proptest::collection::vec(proptest::sample::select(all.to_vec()), 1..4).prop_map(Value::from)
}

/// Patches that each put a file of their name at the end or the beginning.
fn files() -> impl Strategy<Value = Vec<bool>> {
    proptest::collection::vec(any::<bool>(), 0..8)
}

fn patches_of(files: &[bool]) -> Vec<Value> {
    let one = |(at, is_first): (usize, &bool)| {
        let path = format!(
            "/spec/template/spec/files/{}",
            if *is_first { "0" } else { "-" }
        );
        patch(
            &format!("p{at}"),
            &of_workers(),
            &json!([{"op": "add", "path": path, "value": {"path": format!("/p{at}")}}]),
        )
    };
    files.iter().enumerate().map(one).collect()
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, cases: 64, ..Config::default() })]

    /// It is neither applied nor rendered: what would fail in it does not.
    #[test]
    fn a_patch_that_matches_nothing_changes_nothing(files in files(), at in 0_usize..9, selector in of_nobody(), operations in operations()) {
        let mut patches = patches_of(&files);
        let before = values(planned(&documents(&patches)));
        patches.insert(at.min(patches.len()), patch("other", &selector, &operations));
        prop_assert_eq!(values(planned(&documents(&patches))), before);
    }

    #[test]
    fn patches_are_applied_in_their_order(files in files()) {
        let mut expected = std::collections::VecDeque::from(["/etc/motd".to_owned()]);
        for (at, is_first) in files.iter().enumerate() {
            let path = format!("/p{at}");
            if *is_first { expected.push_front(path) } else { expected.push_back(path) }
        }
        let objects = planned(&documents(&patches_of(&files)));
        let worker = objects.iter().find(|desired| desired.topology.as_deref() == Some("md/gpu")).unwrap();
        let written: Vec<String> = worker.writes.iter().map(|write| write.patch.clone()).collect();
        prop_assert_eq!(written, (0..files.len()).map(|at| format!("p{at}")).collect::<Vec<_>>());
        let found = worker.object["spec"]["template"]["spec"]["files"].as_array().unwrap();
        let found: Vec<&str> = found.iter().map(|file| file["path"].as_str().unwrap()).collect();
        prop_assert_eq!(found, expected.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// The Cluster as a plan has it, with its references and labels, gives the same plan.
    #[test]
    fn a_plan_of_what_was_planned_is_the_same(files in files()) {
        let mut documents = documents(&patches_of(&files));
        let first = values(planned(&documents));
        *documents.last_mut().unwrap() = first[0].clone();
        prop_assert_eq!(values(planned(&documents)), first);
    }
}
