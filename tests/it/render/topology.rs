//! `render` of Clusters with a topology: every machine of what the topology controller would
//! create.

use std::path::Path;

use serde_json::Value;
use windlass_bootstrap::render::Request;
use windlass_debugging::commands::render::{Selection, run, with_topologies};
use windlass_objects::Pool;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_topology::commands::topology;

use super::render_text;
use crate::support::{root, vectors, windlass};

fn example() -> String {
    std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap()
}

/// The example with one thing changed.
fn changed(from: &str, to: &str) -> String {
    let text = example();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

fn json(text: &str, more: &[&str]) -> Value {
    let (_, out, talk) = render_text(text, &[&["render", "-", "-o", "json"], more].concat());
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{talk}"))
}

fn line_of(text: &str, what: &str) -> usize {
    text[..text.find(what).unwrap_or_else(|| panic!("{what}"))]
        .matches('\n')
        .count()
        + 1
}

#[test]
fn every_machine_of_a_topology_is_rendered() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, talk) = render_text(
        &example(),
        &[
            "render",
            "-",
            "--all",
            "--to",
            folder.path().join("nodes").to_str().unwrap(),
        ],
    );
    assert_eq!((code, out.lines().count()), (0, 3), "{talk}");
    let read =
        |name: &str| std::fs::read_to_string(folder.path().join("nodes").join(name)).unwrap();
    let (init, join) = (
        read("pier-xxxxx.init.cloud-config"),
        read("pier-xxxxx.control-plane-join.cloud-config"),
    );
    assert!(init.contains("kubeadm init") && join.contains("kubeadm join"));
    assert!(
        init.contains("imageRepository: registry.example/k8s\n")
            && init.contains("kubernetesVersion: v1.36.0\n"),
        "{init}"
    );
    let worker = read("pier-gpu-xxxxx.worker-join.cloud-config");
    assert!(
        worker.contains("vm.nr_hugepages = 1024") && worker.contains("harbour"),
        "{worker}"
    );
    assert!(talk.contains("placeholder: end of names xxxxx"), "{talk}");
}

/// The machines of a text: object, role, version, and the hash of the data.
fn machines(text: &str) -> Vec<[String; 4]> {
    let (pool, report) = Pool::read(&[Source::new("input.yaml", text)], &Budget::default());
    assert!(!report.has_errors(), "{report:?}");
    let (pool, topologies) = with_topologies(pool, true, &Budget::default());
    let rendering = run(&pool, &topologies, &Request::default(), &Selection::All);
    let row = |machine: &windlass_debugging::commands::render::Machine<'_>| {
        let (version, data) = match &machine.rendered {
            Some(rendered) => (
                rendered.kubernetes_version.clone(),
                rendered.data.expose().escape_ascii().to_string(),
            ),
            None => Default::default(),
        };
        [machine.name(), machine.role.to_string(), version, data]
    };
    let mut rows: Vec<_> = rendering.machines.iter().map(row).collect();
    rows.sort();
    rows
}

/// What a topology gives is what the objects of its plan give, read from a file: our example, our
/// class, and the vectors.
#[test]
fn data_is_that_of_the_planned_objects() {
    let mut inputs = vec![("example".to_owned(), example())];
    let folder = vectors("topology");
    let index: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("index.json")).unwrap()).unwrap();
    let input = |name: &str| std::fs::read_to_string(folder.join(name).join("input.yaml")).unwrap();
    let cases = index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["name"].as_str().unwrap());
    // Each tenth is as good as all, and the real ones are all there.
    let cases = cases
        .enumerate()
        .filter(|(at, name)| at % 10 == 0 || name.starts_with("real-"))
        .map(|(_, name)| name);
    inputs.extend(cases.map(|name| (name.to_owned(), input(name))));
    let mut compared = 0;
    for (name, input) in &inputs {
        let (pool, _) = Pool::read(
            &[Source::new("input.yaml", input.as_str())],
            &Budget::default(),
        );
        let plan = topology::plan(&pool, None, true, &Budget::default());
        if plan.objects.is_empty() {
            continue;
        }
        let beside: Vec<&str> = input
            .split("\n---\n")
            .filter(|document| {
                ["kind: Secret\n", "kind: ConfigMap\n"]
                    .iter()
                    .any(|kind| document.contains(kind))
            })
            .collect();
        let direct = format!(
            "{}\n---\n{}",
            topology::yaml(plan.objects),
            beside.join("\n---\n")
        );
        let (found, expected) = (machines(input), machines(&direct));
        let titles = |rows: &[[String; 4]]| {
            rows.iter()
                .map(|row| row[..3].join(" "))
                .collect::<Vec<_>>()
        };
        assert_eq!(titles(&found), titles(&expected), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            let mut lines = found[3].split("\\n").zip(expected[3].split("\\n"));
            assert!(
                found == expected,
                "{name}: {:?} differs at {:?}",
                &found[..3],
                lines.find(|(a, b)| a != b)
            );
        }
        compared += expected.iter().filter(|row| !row[3].is_empty()).count();
    }
    assert!(
        compared >= if inputs.len() > 1 { 30 } else { 3 },
        "only {compared} machines of {} inputs",
        inputs.len()
    );
}

#[test]
fn what_generate_cluster_prints_is_rendered() {
    let arguments = [
        "generate",
        "cluster",
        "prod",
        "-n",
        "default",
        "--from",
        "templates/cluster-template-topology.yaml",
    ];
    let more = [
        "--kubernetes-version",
        "v1.34.2",
        "--control-plane-machine-count",
        "1",
        "--worker-machine-count",
        "2",
    ];
    let generated = windlass(root())
        .args([&arguments[..], &more].concat())
        .output()
        .unwrap();
    let text = String::from_utf8(generated.stdout).unwrap();
    assert!(
        generated.status.success(),
        "{}",
        String::from_utf8_lossy(&generated.stderr)
    );
    let class = Path::new("templates/clusterclass-windlass.yaml");
    let text = if text.contains("kind: ClusterClass") {
        text
    } else {
        format!(
            "{text}\n---\n{}",
            std::fs::read_to_string(root().join(class)).unwrap()
        )
    };
    let report = json(&text, &["--all"]);
    let roles: Vec<&str> = report["machines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|machine| machine["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["init", "control-plane-join", "worker-join"],
        "{}",
        report["findings"]
    );
    assert!(
        report["machines"]
            .as_array()
            .unwrap()
            .iter()
            .all(|machine| machine["kubernetesVersion"] == "v1.34.2")
    );
}

#[test]
fn origins_tell_which_patch_wrote_which_path() {
    let report = json(&example(), &["--all"]);
    let topology = |at: usize| report["machines"][at]["topology"].clone();
    assert_eq!(
        (
            topology(0)["cluster"].as_str(),
            topology(0)["partOf"].as_str()
        ),
        (Some("pier"), Some("controlPlane"))
    );
    let only = &topology(0)["origins"][0];
    assert_eq!(
        only["path"],
        "spec.kubeadmConfigSpec.clusterConfiguration.imageRepository"
    );
    assert_eq!(
        (&only["patch"], &only["variables"][0]),
        (&Value::from("registry"), &Value::from("registry"))
    );
    assert_eq!(
        only["line"].as_u64().unwrap() as usize,
        line_of(&example(), "valueFrom: {variable: registry}")
    );
    let worker = topology(2);
    assert_eq!(
        (
            worker["partOf"].as_str(),
            worker["origins"][0]["path"].as_str()
        ),
        (Some("md/gpu"), Some("spec.template.spec.files[1]"))
    );
    let alone = json(
        &std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap(),
        &[],
    );
    assert!(alone["machines"][0]["topology"].is_null());
}

/// The objects of a Cluster that is there already are rendered as they are, not planned once more.
#[test]
fn objects_of_a_live_cluster_are_not_planned_again() {
    let planned = windlass(root())
        .args(["topology", "plan", "examples/topology/harbour.yaml"])
        .output()
        .unwrap();
    let live = String::from_utf8(planned.stdout).unwrap().replace(
        "imageRepository: registry.example/k8s",
        "imageRepository: live.example",
    );
    let class = example().split("---\n").next().unwrap().to_owned();
    let report = json(
        &format!("{live}\n---\n{class}"),
        &["--all", "--show-secrets"],
    );
    let machines = report["machines"].as_array().unwrap();
    assert_eq!(machines.len(), 3, "{}", report["findings"]);
    assert!(
        machines[0]["data"]
            .as_str()
            .unwrap()
            .contains("imageRepository: live.example")
    );
    assert!(machines.iter().all(|machine| machine["topology"].is_null()));
}

#[test]
fn several_clusters_of_a_class_are_all_rendered() {
    let cluster = example()
        .rsplit("---\n")
        .next()
        .unwrap()
        .replace("name: pier", "name: quay")
        .replace("v1.36.0", "v1.35.0");
    let report = json(&format!("{}\n---\n{cluster}", example()), &["--all"]);
    let versions: Vec<&str> = report["machines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|machine| machine["kubernetesVersion"].as_str().unwrap())
        .collect();
    assert_eq!(
        versions,
        [
            "v1.36.0", "v1.36.0", "v1.36.0", "v1.35.0", "v1.35.0", "v1.35.0"
        ]
    );
    let broken = format!("{}\n---\n{cluster}", changed("value: 1024", "value: -1"));
    let (code, _, talk) = render_text(&broken, &["render", "-", "--all"]);
    assert!(
        code == 1 && talk.contains("error[topology-variable-rejected]"),
        "{talk}"
    );
}

/// The Cluster of the example, with other words in it.
fn cluster(changes: &[(&str, &str)]) -> String {
    let mut text = example().rsplit("---\n").next().unwrap().to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// Machines of which no two have a name are made of what nobody shares; of two that have the same
/// one each is of its own MachineDeployment.
#[test]
fn namesakes_are_made_by_their_own_machine_deployments() {
    let class = example().rsplit_once("---\n").unwrap().0.to_owned();
    let of = |clusters: &[&str]| -> Vec<[Value; 4]> {
        let report = json(
            &format!("{class}---\n{}", clusters.join("---\n")),
            &["--all"],
        );
        let machines = report["machines"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|machine| machine["role"] == "worker-join");
        let row = |machine: &Value| {
            let topology = &machine["topology"];
            [
                &machine["owner"],
                &machine["kubernetesVersion"],
                &topology["cluster"],
                &topology["partOf"],
            ]
            .map(Clone::clone)
        };
        machines.map(row).collect()
    };
    let first = cluster(&[("name: gpu\n", "name: gpu-a\n")]);
    let second = cluster(&[
        ("name: pier\n", "name: pier-gpu\n"),
        ("name: gpu\n", "name: a\n"),
        ("v1.36.0", "v1.35.0"),
    ]);
    let owner = Value::from("MachineDeployment/pier-gpu-a-xxxxx");
    let row = |owner: &Value, version: &str, cluster: &str, part: &str| {
        [owner.clone(), version.into(), cluster.into(), part.into()]
    };
    let alone = row(&Value::Null, "v1.36.0", "pier", "md/gpu-a");
    assert_eq!(of(&[&first]), std::slice::from_ref(&alone));
    assert_eq!(
        of(&[&first, &second]),
        [
            row(&owner, "v1.36.0", "pier", "md/gpu-a"),
            row(&owner, "v1.35.0", "pier-gpu", "md/a")
        ]
    );
    // What has the name in another namespace is not a namesake.
    let elsewhere = first.replace("name: pier\n", "name: pier\n  namespace: other\n");
    let elsewhere = elsewhere.replace("{name: harbour}", "{name: harbour, namespace: default}");
    assert_eq!(of(&[&first, &elsewhere]), [alone.clone(), alone]);
}
