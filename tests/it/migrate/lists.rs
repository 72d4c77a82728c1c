//! Documents of kind List, as `kubectl get -o yaml` prints them: each item is converted by itself.

use super::{NEW, OLD, migrated, migrated_beside, told};

const OLD_LIST: &str = r#"apiVersion: v1
# what was printed
items:
# the first
- apiVersion: cluster.x-k8s.io/v1beta1   # core
  kind: Machine
  metadata: {name: m}
  spec:
    # how long
    nodeDrainTimeout: 1m0s # one
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
-
  kind: MachineDeployment
  apiVersion: cluster.x-k8s.io/v1beta1
  spec:
    template:
      spec:
        infrastructureRef:
          apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
          kind: DockerMachineTemplate
          name: d
- {kind: Machine, apiVersion: cluster.x-k8s.io/v1beta1, spec: {nodeDrainTimeout: 1h0m0s}}
- apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
  kind: DockerMachineTemplate
kind: List
# the end
"#;

const NEW_LIST: &str = r#"apiVersion: v1
# what was printed
items:
# the first
- apiVersion: cluster.x-k8s.io/v1beta2   # core
  kind: Machine
  metadata: {name: m}
  spec:
    deletion:
      # how long
      nodeDrainTimeoutSeconds: 60 # one
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
-
  kind: MachineDeployment
  apiVersion: cluster.x-k8s.io/v1beta2
  spec:
    template:
      spec:
        infrastructureRef:
          apiGroup: infrastructure.cluster.x-k8s.io
          kind: DockerMachineTemplate
          name: d
- {kind: Machine, apiVersion: cluster.x-k8s.io/v1beta2, spec: {deletion: {nodeDrainTimeoutSeconds: 3600}}}
- apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
  kind: DockerMachineTemplate
kind: List
# the end
"#;

/// The way back takes the version of a kind from an item.
#[test]
fn items_are_converted_and_all_else_stays() {
    let above = |text: &str| {
        text.replace(
            "    deletion:\n      # how long\n",
            "    # how long\n    deletion:\n",
        )
    };
    assert_eq!(migrated(OLD_LIST, NEW), (above(NEW_LIST), vec![]));
    assert_eq!(migrated(NEW_LIST, OLD), (OLD_LIST.to_owned(), vec![]));
    let windows = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(
        migrated(&windows(NEW_LIST), OLD),
        (windows(OLD_LIST), vec![])
    );
}

#[test]
fn a_list_in_json_stays_json() {
    let list = r#"{"apiVersion": "v1", "items": [{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "spec": {"nodeDrainTimeout": "1m0s"}}], "kind": "List"}"#;
    let (text, findings) = migrated(list, NEW);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (
            value["items"][0]["spec"]["deletion"]["nodeDrainTimeoutSeconds"].as_i64(),
            findings
        ),
        (Some(60), vec![])
    );
    assert_eq!(migrated(&text, OLD), (list.to_owned(), vec![]));
}

/// What is wrong with one item is told at its place, and the others are converted.
#[test]
fn items_that_cannot_be_carried_are_told() {
    let item = |rest: &str| format!("- apiVersion: cluster.x-k8s.io/{rest}\n");
    let machine = |timeout: &str| {
        item(&format!(
            "v1beta1\n  kind: Machine\n  metadata: {{name: m}}\n  spec: {{nodeDrainTimeout: {timeout}}}"
        ))
    };
    let older = item("v1alpha4\n  kind: Machine");
    let lost = item(
        "v1beta1\n  kind: MachineDeployment\n  spec:\n    clusterName: c\n    revisionHistoryLimit: 1 # c",
    );
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n{}{older}{lost}{}",
        machine("soon"),
        machine("1m")
    );
    let (text, findings) = migrated(&list, NEW);
    let expected = [
        ("migrate-not-converted", 7),
        ("migrate-document-skipped", 8),
        ("migrate-field-unused", 14),
        ("migrate-comment-dropped", 14),
    ];
    assert_eq!(told(&findings), expected);
    assert_eq!(findings[0].place.object.as_deref(), Some("Machine/m"));
    let lost = lost
        .replace("v1beta1", "v1beta2")
        .replace("\n    revisionHistoryLimit: 1 # c", "");
    let last = machine("1m").replace("v1beta1", "v1beta2").replace(
        "nodeDrainTimeout: 1m",
        "deletion: {nodeDrainTimeoutSeconds: 60}",
    );
    assert_eq!(
        text,
        format!(
            "apiVersion: v1\nkind: List\nitems:\n{}{older}{lost}{last}",
            machine("soon")
        )
    );
}

/// Patches of a class in a List are those of the templates in a List.
#[test]
fn templates_within_lists_are_known() {
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let template = "- apiVersion: controlplane.cluster.x-k8s.io/v1beta1\n  kind: KubeadmControlPlaneTemplate\n  spec: {template: {spec: {kubeadmConfigSpec: {clusterConfiguration: {apiServer: {extraArgs: {v: \"1\"}}}}}}}\n";
    let class = "- apiVersion: cluster.x-k8s.io/v1beta1\n  kind: ClusterClass\n  spec:\n    patches:\n    - definitions:\n      - selector: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlaneTemplate}\n        jsonPatches:\n        - {op: add, path: /spec/template/spec/kubeadmConfigSpec/clusterConfiguration/apiServer/extraArgs/v, value: \"2\"}\n";
    let (_, findings) = migrated_beside(&list(class), &list(template), NEW);
    assert_eq!(
        told(&findings),
        [("migrate-not-converted", 11)],
        "{findings:?}"
    );
    assert!(
        findings[0].message.contains("has the argument `v` already"),
        "{}",
        findings[0].message
    );
    let (_, findings) = migrated_beside(
        &list(class),
        &list(&template.replace("v: \"1\"", "w: \"1\"")),
        NEW,
    );
    assert_eq!(told(&findings), []);
}

/// A List of more than a document holds, within another one or of one kind, is said and not
/// silently passed over.
#[test]
fn lists_within_lists_and_of_one_kind_are_told() {
    let inner = "- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine}\n";
    let of_one_kind = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineList\nitems:\n- {spec: {nodeDrainTimeout: 1m}}\n";
    for (text, line) in [
        (format!("apiVersion: v1\nkind: List\nitems:\n{inner}"), 5),
        (of_one_kind.to_owned(), 2),
    ] {
        let (migrated, findings) = migrated(&text, NEW);
        assert_eq!(
            (migrated, told(&findings)),
            (text, vec![("migrate-document-skipped", line)])
        );
    }
}

/// Anchors that lead from one item to another, items that are not objects, and a great many of them.
#[test]
fn hostile_lists_end() {
    let head = "apiVersion: v1\nkind: List\nitems:\n";
    let shared = "- apiVersion: cluster.x-k8s.io/v1beta1\n  kind: Machine\n  spec: &s {nodeDrainTimeout: 1m0s}\n- apiVersion: cluster.x-k8s.io/v1beta1\n  kind: Machine\n  spec: *s\n";
    let text = format!("{head}{shared}");
    let (after, findings) = migrated(&text, NEW);
    match told(&findings).as_slice() {
        [] => assert!(
            after.contains("&s {deletion: {nodeDrainTimeoutSeconds: 60}}"),
            "{after}"
        ),
        told => assert_eq!((after, told), (text, &[("migrate-text-differs", 4)][..])),
    }
    for items in [
        "- 1\n- null\n- [a]\n- \"\\u0007\"\n",
        "  a: b\n",
        "[]\n",
        "\"x\"\n",
    ] {
        let (after, findings) = migrated(&format!("{head}{items}"), NEW);
        assert_eq!(
            (after, told(&findings).len()),
            (format!("{head}{items}"), 1),
            "{items}: {findings:?}"
        );
    }
    let many = format!(
        "{head}{}",
        "- {apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine, spec: {nodeDrainTimeout: 1m}}\n"
            .repeat(3000)
    );
    let (after, findings) = migrated(&many, NEW);
    assert_eq!(
        (
            after.matches("nodeDrainTimeoutSeconds: 60").count(),
            findings
        ),
        (3000, vec![])
    );
}
