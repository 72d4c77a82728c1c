//! `topology plan`: the JSON report has what the text has, which is in `tests/cases/topology-plan`.

use crate::support::{root, run};

/// The example, and what it becomes with other words in it.
fn harbour(changes: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
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
    let plan = |arguments: &str| run(folder.path(), &format!("topology plan {arguments}")).ok();
    let text = plan("new.yaml --against old.yaml").stdout;
    let report = plan("new.yaml --against old.yaml -o json").json();
    assert_eq!(
        report["placeholders"],
        serde_json::json!(["pier-xxxxx", "pier-gpu-xxxxx"])
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
    let report = plan("new.yaml -o json").json();
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
