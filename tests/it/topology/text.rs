//! What `topology` prints for people: the variables of classes as tables, and what differs from an
//! earlier plan, object by object.

use std::path::Path;

use crate::support::{root, windlass};

/// Two classes of two namespaces, with variables that several patches, one patch twice, a condition
/// and nobody use.
const CLASSES: &str = r#"apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: b, namespace: two}
spec:
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerClusterTemplate, name: t}
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: t}
  variables:
  - name: both
    required: true
    schema: {openAPIV3Schema: {type: string, default: "a b"}}
  - name: plain
    required: true
    schema: {openAPIV3Schema: {type: object, properties: {x: {type: boolean}}}}
  - name: alone
    schema: {openAPIV3Schema: {type: boolean, default: false}}
  patches:
  - name: first
    enabledIf: "{{ .alone }}"
    definitions:
    - selector: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, matchResources: {controlPlane: true}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/a, valueFrom: {variable: both}}
      - {op: add, path: /spec/template/spec/b, valueFrom: {variable: both}}
  - name: second
    definitions:
    - selector: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, matchResources: {controlPlane: true}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/c, valueFrom: {variable: both}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: a}
spec:
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerClusterTemplate, name: t}
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: t}
  variables:
  - name: lone
    schema: {openAPIV3Schema: {type: integer}}
"#;

/// Exit code, standard output and standard error of a verb of `topology`.
fn told(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = windlass(folder)
        .arg("topology")
        .args(arguments.split(' '))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn variables_are_a_table_for_each_class() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), CLASSES).unwrap();
    let expected = "\
ClusterClass two/b
VARIABLE   TYPE                 DEFAULT   USED BY
both       string    required   \"a b\"     first, second
plain      object    required             no patch
alone      boolean              false     first
ClusterClass default/a
VARIABLE   TYPE         DEFAULT   USED BY
lone       integer                no patch
";
    let (code, text, talk) = told(folder.path(), "variables c.yaml");
    assert_eq!(
        (code, text.as_str(), talk.as_str()),
        (0, expected, "4 variables\n")
    );
}

/// What a default gives need not be given; each use has its path and its line, and a condition has
/// no path.
#[test]
fn schemas_and_uses_are_those_of_the_class() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), CLASSES).unwrap();
    let (_, text, _) = told(folder.path(), "variables c.yaml -o json");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let classes = report["classes"].as_array().unwrap();
    let required: Vec<&serde_json::Value> = classes
        .iter()
        .map(|class| &class["schema"]["required"])
        .collect();
    assert_eq!(
        required,
        [&serde_json::json!(["plain"]), &serde_json::json!([])]
    );
    let uses = |variable: usize| -> Vec<String> {
        let uses = classes[0]["variables"][variable]["uses"]
            .as_array()
            .unwrap()
            .iter();
        let used = |used: &serde_json::Value| {
            assert_eq!(used["file"], "c.yaml");
            format!(
                "{} {} {}",
                used["patch"].as_str().unwrap(),
                used["path"].as_str().unwrap_or("-"),
                used["line"]
            )
        };
        uses.map(used).collect()
    };
    let line = |what: &str| CLASSES[..CLASSES.find(what).unwrap()].matches('\n').count() + 1;
    let of_both = ["first", "first", "second"]
        .into_iter()
        .zip(["a", "b", "c"]);
    let of_both: Vec<String> = of_both
        .map(|(patch, field)| {
            format!(
                "{patch} /spec/template/spec/{field} {}",
                line(&format!("/spec/template/spec/{field},"))
            )
        })
        .collect();
    assert_eq!(
        (uses(0), uses(1), uses(2)),
        (
            of_both,
            vec![],
            vec![format!("first - {}", line("enabledIf"))]
        )
    );
}

/// The example, and what it becomes with other words in it.
fn harbour(changes: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// The workers of the example's Cluster.
const WORKERS: &str = "    workers:\n      machineDeployments:\n      - class: worker\n        name: gpu\n        replicas: 2\n        \
                       variables:\n          overrides:\n          - {name: hugePages, value: 1024}\n";

#[test]
fn differences_are_told_object_by_object() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("old.yaml", harbour(&[]));
    write(
        "more.yaml",
        harbour(&[("replicas: 2", "replicas: 3"), ("harbour\\n", "pier\\n")]),
    );
    write("less.yaml", harbour(&[(WORKERS, "")]));
    let of_workers = |effect: &str| {
        format!(
            "IN PLACE   Cluster/pier                            cluster of pier\n  spec.topology.workers\n\
             {effect}    MachineDeployment/pier-gpu-xxxxx        md/gpu of pier\n\
             {effect}    WindlassConfigTemplate/pier-gpu-xxxxx   md/gpu of pier\n\
             {effect}    DockerMachineTemplate/pier-gpu-xxxxx    md/gpu of pier\n"
        )
    };
    let changed = "\
IN PLACE    Cluster/pier                            cluster of pier
  spec.topology.workers.machineDeployments[0].replicas
ROLLS OUT   MachineDeployment/pier-gpu-xxxxx        md/gpu of pier
  spec.replicas
ROTATED     WindlassConfigTemplate/pier-gpu-xxxxx   md/gpu of pier
  spec.template.spec.files[0].content
";
    for (new, old, expected, count) in [
        ("more.yaml", "old.yaml", changed.to_owned(), "3 differences"),
        (
            "less.yaml",
            "old.yaml",
            of_workers("REMOVED"),
            "4 differences; 1 info",
        ),
        (
            "old.yaml",
            "less.yaml",
            of_workers("CREATED"),
            "4 differences; 1 info",
        ),
        ("old.yaml", "old.yaml", String::new(), "0 differences"),
    ] {
        let (code, text, talk) = told(folder.path(), &format!("plan {new} --against {old}"));
        assert_eq!(
            (code, text, talk.lines().last()),
            (0, expected, Some(count)),
            "{new} {old}"
        );
    }
}

/// How much was planned, and which names are not those that Cluster API would draw: each once.
#[test]
fn what_was_planned_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let cluster = |name: &str| {
        let text = harbour(&[("name: pier", &format!("name: {name}"))]);
        let (_, cluster) = text.rsplit_once("---\n").unwrap();
        format!("---\n{cluster}")
    };
    write(
        "none.yaml",
        harbour(&[]).rsplit_once("---\n").unwrap().0.to_owned(),
    );
    write("less.yaml", harbour(&[(WORKERS, "")]));
    write("one.yaml", harbour(&[]));
    write("two.yaml", format!("{}{}", harbour(&[]), cluster("quay")));
    let names = |more: &str| {
        format!("stand-in: the end of the name pier-xxxxx{more}: Cluster API draws five characters")
    };
    for (file, stand_in, count) in [
        ("none.yaml", None, "1 error; no objects written"),
        ("less.yaml", Some(names("")), "1 cluster, 4 objects; 1 info"),
        (
            "one.yaml",
            Some(names(" and 1 other")),
            "1 cluster, 7 objects",
        ),
        (
            "two.yaml",
            Some(names(" and 3 others")),
            "2 clusters, 14 objects",
        ),
    ] {
        let (_, _, talk) = told(folder.path(), &format!("plan {file}"));
        let told = talk.lines().find(|line| line.starts_with("stand-in"));
        assert_eq!(
            (
                told.map(str::to_owned),
                talk.lines().last().unwrap().starts_with(count)
            ),
            (stand_in, true),
            "{file}: {talk}"
        );
    }
}

/// What a runtime extension makes cannot be planned: the plan fails, unless it is passed over by
/// its rule.
#[test]
fn a_patch_of_an_extension_is_passed_over_when_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let patch =
        "  patches:\n  - name: other\n    external: {generatePatchesExtension: generate.example}\n";
    std::fs::write(
        folder.path().join("c.yaml"),
        harbour(&[("  patches:\n", patch)]),
    )
    .unwrap();
    let (code, text, talk) = told(folder.path(), "plan c.yaml");
    assert!(
        code == 1 && text.is_empty() && talk.contains("error[topology-patch-external]"),
        "{talk}"
    );
    let (code, text, talk) = told(folder.path(), "plan c.yaml --allow topology-patch-external");
    assert!(
        code == 0
            && text.contains("kind: MachineDeployment\n")
            && talk.ends_with("1 cluster, 7 objects\n"),
        "{talk}"
    );
    let (code, _, talk) = told(folder.path(), "plan c.yaml --allow topology-patch-unused");
    assert!(
        code == 1 && talk.contains("error[topology-patch-external]"),
        "{talk}"
    );
}

/// The JSON of a plan has the names that are drawn, each once, and of each difference what the text
/// has.
#[test]
fn the_json_of_a_plan_has_what_its_text_has() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("old.yaml", harbour(&[]));
    write(
        "new.yaml",
        harbour(&[("replicas: 2", "replicas: 3"), ("harbour\\n", "pier\\n")]),
    );
    let (_, text, _) = told(folder.path(), "plan new.yaml --against old.yaml");
    let (code, json, _) = told(folder.path(), "plan new.yaml --against old.yaml -o json");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (code, &report["standIns"]),
        (0, &serde_json::json!(["pier-xxxxx", "pier-gpu-xxxxx"]))
    );
    let word = |change: &serde_json::Value, key: &str| change[key].as_str().unwrap().to_owned();
    let lines = report["changes"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|change| {
            let head = format!(
                "{} {}/{} {} of {}",
                word(change, "effect").to_uppercase(),
                word(change, "kind"),
                word(change, "name"),
                word(change, "partOf"),
                word(change, "cluster")
            );
            let paths = change["paths"]
                .as_array()
                .unwrap()
                .iter()
                .map(|path| path.as_str().unwrap().to_owned());
            std::iter::once(head).chain(paths).collect::<Vec<_>>()
        });
    let shown: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(lines.collect::<Vec<_>>(), shown);
    // Without earlier files there is nothing that differs.
    let (_, json, _) = told(folder.path(), "plan new.yaml -o json");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["changes"], serde_json::json!([]));
    let objects: Vec<String> = report["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| format!("{} {}", word(object, "partOf"), word(object, "kind")))
        .collect();
    let expected = [
        "cluster Cluster",
        "cluster DockerCluster",
        "controlPlane KubeadmControlPlane",
        "controlPlane DockerMachineTemplate",
        "md/gpu MachineDeployment",
        "md/gpu WindlassConfigTemplate",
        "md/gpu DockerMachineTemplate",
    ];
    assert_eq!(objects, expected);
}
