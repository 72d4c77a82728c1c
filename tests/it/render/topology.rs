//! `render` of Clusters with a topology: every machine of what the topology controller would
//! create.

use std::path::Path;

use serde_json::Value;
use windlass::objects::Pool;
use windlass::ops::render::{Selection, run, with_topologies};
use windlass::ops::topology;
use windlass::render::Request;
use windlass::text::budget::Budget;
use windlass::text::source::Source;

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
    assert!(talk.contains("stand-in: end of names xxxxx"), "{talk}");
}

#[test]
fn without_all_the_line_to_write_is_said() {
    let (code, out, talk) = render_text(&example(), &["render", "-"]);
    assert_eq!((code, out.as_str()), (1, ""), "{talk}");
    assert!(
        talk.contains("error[render-machine-ambiguous]")
            && talk.contains("add `--all`, or one of `--select pier-xxxxx:init`"),
        "{talk}"
    );
    let (code, out, _) = render_text(&example(), &["render", "-", "--select", "pier-gpu-xxxxx"]);
    assert!(code == 0 && out.contains("vm.nr_hugepages = 1024"), "{out}");
    // By its name a template of the class is rendered as it is, which is said.
    let (code, out, talk) = render_text(&example(), &["render", "-", "--select", "harbour-worker"]);
    assert!(
        code == 0
            && !out.contains("nr_hugepages")
            && talk.contains("clusterclass-patch-not-applied"),
        "{talk}"
    );
}

/// Templates of files see the control plane that the Cluster refers to, and it is the plan that
/// refers.
#[test]
fn templates_of_files_see_the_control_plane_of_the_plan() {
    let from = "      - path: /etc/motd\n        content: \"harbour\\n\"\n";
    let text = changed(
        from,
        "      - path: /etc/motd\n        contentFormat: Template\n        content: \"cp {{ .controlPlane.version }}\\n\"\n",
    );
    let (code, out, talk) = render_text(&text, &["render", "-", "--select", "pier-gpu-xxxxx"]);
    assert!(code == 0 && out.contains("cp v1.36.0"), "{out}{talk}");
}

/// The machines of a text: object, role, version, and the hash of the data.
fn machines(text: &str) -> Vec<[String; 4]> {
    let (pool, report) = Pool::read(&[Source::new("input.yaml", text)], &Budget::default());
    assert!(!report.has_errors(), "{report:?}");
    let (pool, topologies) = with_topologies(pool, true, &Budget::default());
    let rendering = run(&pool, &topologies, &Request::default(), &Selection::All);
    let row = |machine: &windlass::ops::render::Machine<'_>| {
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

/// A fault in what a patch wrote stands in the patch, one in a template there, one in the topology
/// there.
#[test]
fn findings_stand_where_the_user_wrote_it() {
    let check = |text: &str, rule: &str, at: &str, note: &str| {
        let report = json(text, &["--all"]);
        let findings = report["findings"].as_array().unwrap();
        let found = findings
            .iter()
            .find(|finding| finding["rule"] == rule)
            .unwrap_or_else(|| panic!("{findings:?}"));
        assert_eq!(
            found["line"].as_u64().unwrap() as usize,
            line_of(text, at),
            "{found}"
        );
        assert!(found.to_string().contains(note), "{found}");
        assert!(
            report["machines"]
                .as_array()
                .unwrap()
                .iter()
                .any(|machine| machine["data"].is_null())
        );
    };
    let text = changed(
        "            content: \"vm.nr",
        "            contnt: \"vm.nr",
    );
    check(
        &text,
        "config-field-unknown",
        "template: |",
        "the patch `huge-pages` writes it from the variable `hugePages`",
    );
    let text = changed(
        "            content: \"vm.nr_hugepages",
        "            contnt: \"{{ .registry }}",
    );
    check(
        &text,
        "config-field-unknown",
        "template: |",
        "the patch `huge-pages` writes it from the variables `hugePages`, `registry`",
    );
    let text = changed(
        "clusterConfiguration/imageRepository\n        valueFrom: {variable: registry}",
        "clusterConfiguration/imgRepository\n        value: x",
    );
    check(
        &text,
        "config-field-unknown",
        "path: /spec/template/spec/kubeadmConfigSpec/clusterConfiguration/imgRepository",
        "the patch `registry` writes it",
    );
    let text = changed("      - path: /etc/motd", "      - pth: /etc/motd");
    check(
        &text,
        "config-field-unknown",
        "- pth: /etc/motd",
        "spec.template.spec.files[0].pth",
    );
    let text = changed("version: v1.36.0", "version: v1.2.0");
    check(
        &text,
        "kubernetes-version-unsupported",
        "version: v1.2.0",
        "v1.2.0",
    );
}

/// An item that a patch puts before those of the template moves them, and they keep their places.
#[test]
fn items_of_the_template_keep_their_places_behind_those_of_a_patch() {
    let text = changed(
        "path: /spec/template/spec/files/-",
        "path: /spec/template/spec/files/0",
    )
    .replace("- path: /etc/motd", "- pth: /etc/motd");
    let report = json(&text, &["--all"]);
    let found = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["rule"] == "config-field-unknown")
        .unwrap();
    assert_eq!(
        found["line"].as_u64().unwrap() as usize,
        line_of(&text, "- pth: /etc/motd")
    );
    assert!(!found.to_string().contains("the patch"), "{found}");
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

#[test]
fn what_is_not_rendered_is_said() {
    let foreign = example()
        .replace(
            "apiVersion: bootstrap.windlass.dev/v1beta2, kind: WindlassConfigTemplate",
            "apiVersion: bootstrap.other.io/v1, kind: OtherConfigTemplate",
        )
        .replace(
            "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfigTemplate",
            "apiVersion: bootstrap.other.io/v1\nkind: OtherConfigTemplate",
        )
        .replace(
            "        apiVersion: bootstrap.windlass.dev/v1beta2\n        kind: WindlassConfigTemplate",
            "        apiVersion: bootstrap.other.io/v1\n        kind: OtherConfigTemplate",
        );
    let (code, out, talk) = render_text(&foreign, &["render", "-", "--all"]);
    assert!(code == 0 && out.contains("pier-xxxxx init"), "{talk}");
    assert!(
        talk.contains("warning[render-topology-kind-unknown]: the machines of md/gpu of Cluster/pier are not rendered"),
        "{talk}"
    );
    let external = changed(
        "  patches:\n",
        "  patches:\n  - name: other\n    external: {generatePatchesExtension: generate.example}\n",
    );
    let (code, _, talk) = render_text(&external, &["render", "-", "--all"]);
    assert!(
        code == 1 && talk.contains("error[topology-patch-external]"),
        "{talk}"
    );
    assert_eq!(
        render_text(
            &external,
            &["render", "-", "--all", "--allow", "topology-patch-external"]
        )
        .0,
        0
    );
}

#[test]
fn a_class_that_is_not_there_is_said() {
    let cluster = example().rsplit("---\n").next().unwrap().to_owned();
    let (code, _, talk) = render_text(&cluster, &["render", "-", "--all"]);
    assert!(
        code == 1
            && talk.contains("error[topology-class-missing]")
            && !talk.contains("render-config-missing"),
        "{talk}"
    );
    // Beside a config it may be all that the config needs of its Cluster.
    let both = format!("{cluster}\n---\n{}", super::WORKER);
    let (code, out, talk) = render_text(&both, &["render", "-"]);
    assert!(code == 0 && out.starts_with("## template: jinja"), "{talk}");
    assert!(
        talk.contains("info[render-topology-class-missing]"),
        "{talk}"
    );
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
    let report = json(&format!("{live}\n---\n{class}"), &["--all"]);
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
        code == 1 && talk.contains("error[topology-variable-refused]"),
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
    // What has the name in another namespace is no namesake.
    let elsewhere = first.replace("name: pier\n", "name: pier\n  namespace: other\n");
    let elsewhere = elsewhere.replace("{name: harbour}", "{name: harbour, namespace: default}");
    assert_eq!(of(&[&first, &elsewhere]), [alone.clone(), alone]);
}

/// A Cluster whose class is not there is passed over beside a config, with the place that names the
/// class; one whose class is there is not.
#[test]
fn only_the_cluster_without_its_class_is_passed_over() {
    let lost = cluster(&[
        ("name: pier\n", "name: lost\n"),
        ("name: harbour", "name: gone"),
    ]);
    let text = format!("{}---\n{lost}---\n{}", example(), super::WORKER);
    let report = json(&text, &["--all"]);
    let machines: Vec<&str> = report["machines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|machine| machine["object"].as_str().unwrap())
        .collect();
    let control_plane = "KubeadmControlPlane/pier-xxxxx";
    assert_eq!(
        machines,
        [
            "KubeadmConfig/w",
            control_plane,
            control_plane,
            "WindlassConfigTemplate/pier-gpu-xxxxx"
        ]
    );
    let [finding] = report["findings"].as_array().unwrap().as_slice() else {
        panic!("{report:#}")
    };
    let message = "the input does not hold the ClusterClass of Cluster/lost, so what it makes is not rendered";
    assert_eq!(
        (finding["rule"].as_str(), finding["message"].as_str()),
        (Some("render-topology-class-missing"), Some(message))
    );
    assert_eq!(
        finding["line"].as_u64().unwrap() as usize,
        line_of(&text, "classRef: {name: gone}")
    );
    // Who names a machine that is there does not ask for the others.
    for (name, rules) in [
        ("w", &[][..]),
        ("pier-gpu-xxxxx", &[]),
        (
            "nobody",
            &["render-machine-not-found", "render-topology-class-missing"],
        ),
    ] {
        let report = json(&text, &["--select", name]);
        let mut found: Vec<&str> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["rule"].as_str().unwrap())
            .collect();
        found.sort_unstable();
        assert_eq!(found, rules, "{name}");
    }
}

/// A field that has to be there, and that a patch takes away: the finding stands in the patch, and
/// says what it does.
#[test]
fn what_a_patch_takes_away_is_told_so() {
    let patch = "  patches:\n  - name: gone\n    definitions:\n    - selector:\n        apiVersion: bootstrap.windlass.dev/v1beta2\n        \
                 kind: WindlassConfigTemplate\n        matchResources: {machineDeploymentClass: {names: [worker]}}\n      jsonPatches:\n      \
                 - {op: remove, path: /spec/template/spec/joinConfiguration/discovery/file/kubeConfigPath}\n";
    let template = "      joinConfiguration: {discovery: {file: {kubeConfigPath: /a, kubeConfig: {user: {exec: {command: c}}}}}}\n      files:\n      \
                    - path: /etc/motd";
    let text = changed("  patches:\n", patch).replacen(
        "      files:\n      - path: /etc/motd",
        template,
        1,
    );
    let report = json(&text, &["--all"]);
    let [finding] = report["findings"].as_array().unwrap().as_slice() else {
        panic!("{report:#}")
    };
    let field = "spec.template.spec.joinConfiguration.discovery.file.kubeConfigPath";
    assert_eq!(
        (finding["rule"].as_str(), finding["message"].as_str()),
        (
            Some("config-field-missing"),
            Some(format!("{field} is missing").as_str())
        )
    );
    assert_eq!(
        finding["line"].as_u64().unwrap() as usize,
        line_of(&text, "{op: remove")
    );
    assert_eq!(
        finding["notes"],
        serde_json::json!(["the patch `gone` removes it"])
    );
}
