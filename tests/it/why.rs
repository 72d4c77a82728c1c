//! `why`: the way from a thing on a node back to the line that somebody wrote, and why something is
//! not there.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::{root, windlass};

fn why(arguments: &[&str]) -> Output {
    windlass(root())
        .arg("why")
        .args(arguments)
        .output()
        .unwrap()
}

/// Asks about a document on standard input.
fn ask(what: &str, text: &str, flags: &[&str]) -> (Option<i32>, Value) {
    let mut command = windlass(root());
    command.args(["why", what, "-", "-o", "json"]).args(flags);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), report)
}

/// The steps of a list, as `KIND@LINE TEXT (VALUE)`.
fn steps(list: &Value) -> Vec<String> {
    let step = |step: &Value| {
        let line = step["line"]
            .as_u64()
            .map(|line| format!("@{line}"))
            .unwrap_or_default();
        let value = step["value"]
            .as_str()
            .map(|value| format!(" ({value})"))
            .unwrap_or_default();
        format!(
            "{}{line} {}{value}",
            step["kind"].as_str().unwrap(),
            step["text"].as_str().unwrap()
        )
    };
    list.as_array().unwrap().iter().map(step).collect()
}

/// The only thing that a machine has of what was asked for, and its steps.
fn only(report: &Value, machine: usize) -> (String, Vec<String>) {
    let things = report["machines"][machine]["things"].as_array().unwrap();
    assert_eq!(things.len(), 1, "{report:#}");
    let text = |key: &str| things[0][key].as_str().unwrap();
    (
        format!("{} {} = {}", text("kind"), text("name"), text("value")),
        steps(&things[0]["steps"]),
    )
}

/// Why a machine has nothing.
fn absent(report: &Value, machine: usize) -> Vec<String> {
    assert_eq!(
        report["machines"][machine]["things"],
        serde_json::json!([]),
        "{report:#}"
    );
    steps(&report["machines"][machine]["absent"])
}

const HEAD: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n";

fn config(spec: &str) -> String {
    format!("{HEAD}{spec}")
}

#[test]
fn a_file_comes_from_its_field() {
    let text =
        config("  files:\n  - {path: /a, content: x}\n  - path: /etc/motd\n    content: hi\n");
    let (code, report) = ask("/etc/motd", &text, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(
        only(&report, 0),
        (
            "file /etc/motd = 2 bytes".to_owned(),
            vec!["field@7 spec.files[1] of KubeadmConfig/w".to_owned()]
        )
    );
    assert_eq!(
        (
            report["machines"][0]["things"][0]["steps"][0]["column"].clone(),
            report["what"].clone()
        ),
        (5.into(), "/etc/motd".into())
    );
}

/// A folder is asked about with all that is in it; a name alone is the end of a path.
#[test]
fn a_folder_stands_for_what_is_in_it() {
    let text = config(
        "  files:\n  - {path: /etc/a/x, content: x}\n  - {path: /etc/a/y, content: x}\n  - {path: /etc/ab, content: x}\n",
    );
    let names = |what: &str| -> Vec<String> {
        let (_, report) = ask(what, &text, &[]);
        report["machines"][0]["things"]
            .as_array()
            .unwrap()
            .iter()
            .map(|thing| thing["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("/etc/a"), ["/etc/a/x", "/etc/a/y"]);
    assert_eq!(names("/etc/a/"), ["/etc/a/x", "/etc/a/y"]);
    assert_eq!(names("file:y"), ["/etc/a/y"]);
}

#[test]
fn contents_are_followed_into_secrets_and_configmaps_and_not_shown() {
    let text = config(
        "  files:\n  - path: /etc/kubernetes/azure.json\n    contentFrom: {secret: {name: azure, key: j}}\n  - path: /m\n    contentFrom: {secret: {name: gone, key: k}}\n",
    ) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: azure}\nstringData:\n  other: x\n  j: hunter2hunter2\n";
    let (_, report) = ask("/etc/kubernetes/azure.json", &text, &[]);
    let (_, found) = only(&report, 0);
    assert_eq!(
        found,
        [
            "field@6 spec.files[0] of KubeadmConfig/w",
            "secret@16 key `j` of Secret/azure"
        ]
    );
    let (_, report) = ask("/m", &text, &["--show-secrets"]);
    assert_eq!(
        only(&report, 0).1[1],
        "secret key `k` of Secret/gone, which the input does not hold; something stands in for it"
    );
    assert!(!report.to_string().contains("hunter2"));
}

#[test]
fn the_provider_says_why_it_writes_a_file() {
    let (_, report) = ask(
        "/run/kubeadm/kubeadm-join-config.yaml",
        &config("  format: cloud-config\n"),
        &[],
    );
    assert!(
        only(&report, 0).1[0]
            .starts_with("provider the provider writes what kubeadm reads into it"),
        "{report}"
    );
    let (_, report) = ask(
        "/run/cluster-api/placeholder",
        &config("  format: cloud-config\n"),
        &[],
    );
    assert!(
        only(&report, 0).1[0].contains("so that the folder of bootstrap-success.complete is there"),
        "{report}"
    );
}

/// The certificates of the first machine are those of Secrets named after the Cluster.
#[test]
fn a_certificate_comes_from_the_secret_of_the_cluster() {
    let text = config("  clusterConfiguration: {imageRepository: r}\n")
        + "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: prod}\nspec: {}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: prod-ca}\nstringData: {tls.crt: hunter2, tls.key: hunter2}\n";
    let (_, report) = ask("/etc/kubernetes/pki/ca.crt", &text, &["--role", "init"]);
    assert_eq!(
        only(&report, 0).1,
        ["secret@15 Secret/prod-ca: a certificate of the cluster"]
    );
    let (_, report) = ask("/etc/kubernetes/pki/sa.key", &text, &["--role", "init"]);
    assert!(
        only(&report, 0).1[0].contains("Secret/prod-sa")
            && only(&report, 0).1[0].contains("a dummy stands in"),
        "{report}"
    );
}

#[test]
fn commands_are_found_by_any_part_and_shown_without_secrets() {
    let text = config(
        "  preKubeadmCommands: [modprobe nf, 'curl -u a:hunter2 https://x']\n  postKubeadmCommands: [echo done]\n",
    );
    let (_, report) = ask("command:curl", &text, &[]);
    assert_eq!(
        only(&report, 0),
        (
            "command curl -u <redacted> https://x = pre-kubeadm".to_owned(),
            vec!["field@5 spec.preKubeadmCommands[1] of KubeadmConfig/w".to_owned()]
        )
    );
    let (_, shown) = ask("command:curl", &text, &["--show-secrets"]);
    assert!(shown.to_string().contains("a:hunter2"));
    let (_, report) = ask("command:kubeadm join", &text, &[]);
    assert!(
        only(&report, 0).1[0].starts_with("provider the provider runs kubeadm"),
        "{report}"
    );
}

#[test]
fn users_labels_taints_and_arguments_have_their_fields() {
    let text = config(
        "  users:\n  - {name: ops, shell: /bin/sh}\n  joinConfiguration:\n    nodeRegistration:\n      taints: [{key: gpu, effect: NoSchedule}]\n      kubeletExtraArgs:\n      - {name: v, value: \"4\"}\n      - {name: node-labels, value: \"a.b/c=d,e=f\"}\n",
    );
    let answer = |what: &str| {
        let (code, report) = ask(what, &text, &[]);
        assert_eq!(code, Some(0), "{what}");
        only(&report, 0)
    };
    assert_eq!(
        answer("user:ops"),
        (
            "user ops = shell /bin/sh".to_owned(),
            vec!["field@6 spec.users[0] of KubeadmConfig/w".to_owned()]
        )
    );
    let path = "spec.joinConfiguration.nodeRegistration";
    let of = |line: u32, rest: &str| vec![format!("field@{line} {path}.{rest} of KubeadmConfig/w")];
    assert_eq!(
        answer("label:a.b/c"),
        (
            "label a.b/c = d".to_owned(),
            of(12, "kubeletExtraArgs[1].value")
        )
    );
    assert_eq!(
        answer("taint:gpu"),
        ("taint gpu = NoSchedule".to_owned(), of(9, "taints[0]"))
    );
    assert_eq!(
        answer("argument:--v"),
        (
            "argument v = 4".to_owned(),
            of(11, "kubeletExtraArgs[0].value")
        )
    );
    let (_, found) = answer("taint:node.cluster.x-k8s.io/uninitialized");
    assert!(
        found[0].starts_with("provider every worker has the taint until"),
        "{found:?}"
    );
}

/// In v1beta1 arguments are a map; kubeadm's newest API has a list.
#[test]
fn an_argument_of_v1beta1_is_found_by_its_name() {
    let text = config(
        "  joinConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs:\n        z: \"1\"\n        cloud-provider: external\n",
    )
    .replace("v1beta2", "v1beta1");
    let (_, report) = ask("argument:cloud-provider", &text, &[]);
    assert_eq!(
        only(&report, 0).1,
        [
            "field@9 spec.joinConfiguration.nodeRegistration.kubeletExtraArgs.cloud-provider of KubeadmConfig/w"
        ]
    );
    let (_, report) = ask(
        "argument:cloud-provider",
        &text,
        &["--kubernetes-version", "v1.30.0"],
    );
    assert_eq!(only(&report, 0).1.len(), 1, "kubeadm v1beta3 has a map");
}

const CLUSTER: &str = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: prod}\nspec:\n  controlPlaneEndpoint: {host: api.example, port: 6443}\n  clusterNetwork:\n    pods: {cidrBlocks: [10.0.0.0/16]}\n---\n";

#[test]
fn what_the_config_leaves_open_comes_from_the_cluster() {
    let text = format!(
        "{CLUSTER}{}",
        config("  clusterConfiguration: {imageRepository: r}\n")
    );
    let (_, report) = ask(
        "field:clusterConfiguration.controlPlaneEndpoint",
        &text,
        &["--role", "init"],
    );
    assert_eq!(
        only(&report, 0),
        (
            "field clusterConfiguration.controlPlaneEndpoint = api.example:6443".to_owned(),
            vec!["cluster@5 spec.controlPlaneEndpoint of Cluster/prod: the provider takes it where the config leaves it open".to_owned()]
        )
    );
    let (_, report) = ask("podSubnet", &text, &["--role", "init"]);
    assert!(
        only(&report, 0).1[0]
            .starts_with("cluster@7 spec.clusterNetwork.pods.cidrBlocks of Cluster/prod"),
        "{report}"
    );
    let (_, report) = ask("field:apiServerEndpoint", &text, &["--role", "worker-join"]);
    assert!(
        only(&report, 0).1[0].starts_with("cluster@5 spec.controlPlaneEndpoint"),
        "{report}"
    );
    let own = text.replace("{imageRepository: r}", "{controlPlaneEndpoint: \"own:1\"}");
    let (_, report) = ask("controlPlaneEndpoint", &own, &["--role", "init"]);
    assert_eq!(
        only(&report, 0).1,
        ["field@13 spec.clusterConfiguration.controlPlaneEndpoint of KubeadmConfig/w"]
    );
    let (code, report) = ask(
        "field:clusterConfiguration.networking.dnsDomain",
        &text,
        &["--role", "init"],
    );
    assert_eq!(code, Some(1));
    assert_eq!(
        absent(&report, 0),
        [
            "cluster@6 neither the config says it nor spec.clusterNetwork.serviceDomain of Cluster/prod"
        ]
    );
}

#[test]
fn what_was_given_or_stands_in_says_so() {
    let (_, report) = ask(
        "field:discovery.bootstrapToken.apiServerEndpoint",
        &config("  format: cloud-config\n"),
        &["--endpoint", "e:1"],
    );
    assert_eq!(only(&report, 0).1, ["setting given with `--endpoint`"]);
    let (_, report) = ask(
        "field:bootstrapToken.token",
        &config("  format: cloud-config\n"),
        &[],
    );
    let (title, found) = only(&report, 0);
    assert!(title.ends_with("= <redacted>"), "{title}");
    assert!(
        found[0].starts_with("stand-in nothing in the input says the token")
            && found[0].ends_with("(`--token`)"),
        "{found:?}"
    );
}

/// Labels of Machines reach the Node only in three namespaces (book: "Metadata propagation").
#[test]
fn labels_of_machines_reach_the_node_or_not() {
    let machine = "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata:\n  name: m\n  labels:\n    node-role.kubernetes.io/gpu: \"\"\n    team: blue\nspec: {clusterName: c, bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: w}}}\n";
    let text = config("  format: cloud-config\n") + machine;
    let (_, report) = ask("label:node-role.kubernetes.io/gpu", &text, &[]);
    assert_eq!(
        only(&report, 0).1,
        ["label@12 a label of the machines of Machine/m, which Cluster API copies to their Nodes"]
    );
    let (code, report) = ask("label:team", &text, &[]);
    assert_eq!(code, Some(1));
    assert!(
        absent(&report, 0)[0].starts_with(
            "label@13 it is a label of the machines of Machine/m, and Cluster API copies only"
        ),
        "{report}"
    );
}

#[test]
fn what_only_another_role_gets_is_told() {
    let text = config("  clusterConfiguration:\n    imageRepository: r.example\n");
    let (code, report) = ask("field:imageRepository", &text, &["--role", "worker-join"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        absent(&report, 0),
        [
            "no-effect@6 spec.clusterConfiguration.imageRepository counts only for `kubeadm init`, and this machine joins (worker-join)"
        ]
    );
    let text = config(
        "  clusterConfiguration: {imageRepository: r}\n  joinConfiguration:\n    nodeRegistration: {name: node}\n",
    );
    let (_, report) = ask(
        "field:joinConfiguration.nodeRegistration.name",
        &text,
        &["--role", "init"],
    );
    assert_eq!(
        absent(&report, 0),
        [
            "no-effect@7 spec.joinConfiguration.nodeRegistration.name counts only for `kubeadm join`, and this machine is the first one (init)"
        ]
    );
}

#[test]
fn what_kubernetes_makes_by_itself_is_known() {
    let worker = config("  format: cloud-config\n");
    for (what, expected) in [
        (
            "/var/lib/kubelet/config.yaml",
            "known kubeadm writes it while it runs",
        ),
        (
            "/run/cluster-api/bootstrap-success.complete",
            "known kubeadm's command writes it when kubeadm has succeeded",
        ),
        (
            "label:kubernetes.io/os",
            "known the kubelet sets it by itself",
        ),
        (
            "/etc/kubernetes/admin.conf",
            "role only nodes of the control plane have it",
        ),
    ] {
        let (code, report) = ask(what, &worker, &[]);
        assert_eq!(code, Some(1), "{what}");
        assert!(
            absent(&report, 0)[0].starts_with(expected),
            "{what}: {report}"
        );
    }
}

const IGNITION: [&str; 2] = ["--feature-gates", "KubeadmBootstrapFormatIgnition=true"];

/// With Ignition kubeadm reads another file, and a command may make what no file of the data is.
#[test]
fn what_the_format_or_a_command_has_to_do_with_it_is_told() {
    let text = config("  format: ignition\n  preKubeadmCommands: [touch /etc/made]\n");
    let (_, report) = ask("/run/kubeadm/kubeadm-join-config.yaml", &text, &IGNITION);
    assert!(
        absent(&report, 0)[0]
            .starts_with("format@5 the provider writes this file with cloud-config alone"),
        "{report}"
    );
    let (_, report) = ask("/etc/made", &text, &IGNITION);
    assert_eq!(
        absent(&report, 0),
        ["command@6 no file of the data, but a command names it (pre-kubeadm) (touch /etc/made)"]
    );
}

#[test]
fn near_names_are_proposed() {
    let text = config("  users: [{name: ops}]\n  files: [{path: /etc/motd, content: x}]\n");
    let help = |what: &str| {
        let (code, report) = ask(what, &text, &[]);
        assert_eq!(code, Some(1), "{what}");
        let finding = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|finding| finding["rule"] == "why-not-there")
            .unwrap()
            .clone();
        finding["help"].as_str().unwrap().to_owned()
    };
    assert_eq!(help("/etc/mtod"), "did you mean `/etc/motd`?");
    assert_eq!(help("user:opps"), "did you mean `user:ops`?");
    assert_eq!(help("mtod"), "did you mean `/etc/motd`?");
    assert_eq!(help("lable:a"), "did you mean `label:a`?");
    assert_eq!(help("user:somebody"), "the machines have ops");
    assert_eq!(help("discovery"), "did you mean `field:discovery`?");
    assert!(help("/nowhere/at/all").contains("compared as a whole"));
}

fn harbour() -> String {
    std::fs::read_to_string(root().join("examples/topology/harbour.yaml")).unwrap()
}

#[test]
fn a_patch_its_condition_and_its_variables_are_named() {
    let (code, report) = ask("/etc/sysctl.d/90-huge-pages.conf", &harbour(), &[]);
    assert_eq!(code, Some(0));
    let (_, found) = only(&report, 2);
    assert_eq!(
        found[..3],
        [
            "patch@52 patch `huge-pages` of ClusterClass/harbour adds `/spec/template/spec/files/-`",
            "condition@41 which is on, because this is true ({{ gt (int .hugePages) 0 }})",
            "variable@106 variable `hugePages`: an override of md/gpu in Cluster/pier (1024)",
        ]
    );
    assert!(
        found[3]
            .starts_with("owner@101 MachineDeployment/pier-gpu-xxxxx makes its machines from it"),
        "{found:?}"
    );
    assert_eq!(
        absent(&report, 0),
        [
            "selector@45 patch `huge-pages` writes it for others: the `kind` of its selector is not that of this machine's template, KubeadmControlPlaneTemplate"
        ]
    );
    let (_, report) = ask("/etc/motd", &harbour(), &[]);
    assert_eq!(
        only(&report, 2).1[0],
        "template@87 spec.template.spec.files[0] of WindlassConfigTemplate/harbour-worker, of which the class makes it"
    );
}

/// A variable's value is written in the topology, in an override, or in the class as default.
#[test]
fn a_variable_says_who_gives_its_value() {
    let variable = |text: &str| {
        let (_, report) = ask("imageRepository", text, &[]);
        only(&report, 0)
            .1
            .into_iter()
            .find(|step| step.starts_with("variable"))
            .unwrap()
    };
    let given = harbour();
    assert_eq!(
        variable(&given),
        "variable@108 variable `registry`: a variable of the topology of Cluster/pier (registry.example/k8s)"
    );
    let overridden = given.replace(
        "controlPlane: {replicas: 3}",
        "controlPlane: {replicas: 3, variables: {overrides: [{name: registry, value: own.example}]}}",
    );
    assert_eq!(
        variable(&overridden),
        "variable@98 variable `registry`: an override of controlPlane in Cluster/pier (own.example)"
    );
    let default = given
        .replace(
            "{type: string, pattern",
            "{type: string, default: default.example, pattern",
        )
        .replace(
            "    - {name: registry, value: registry.example/k8s}",
            "    - {name: hugePages, value: 0}",
        );
    assert_eq!(
        variable(&default),
        "variable@28 variable `registry`: the default of the class (default.example)"
    );
}

#[test]
fn a_patch_that_is_off_says_what_its_condition_gave() {
    let text = harbour()
        .replace("value: 1024", "value: 0")
        .replace("content: \"vm.nr_hugepages", "content: \"x");
    let (code, report) = ask("/etc/sysctl.d/90-huge-pages.conf", &text, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(
        absent(&report, 2),
        [
            "disabled@49 patch `huge-pages` would write it, but is off",
            "condition@41 its condition gives `false`, and not `true` ({{ gt (int .hugePages) 0 }})",
            "variable@106 variable `hugePages`: an override of md/gpu in Cluster/pier (0)",
        ]
    );
}

/// A later patch takes away what the template and an earlier patch have written.
#[test]
fn what_a_later_patch_replaced_is_told() {
    let selector = "      - selector:\n          apiVersion: bootstrap.windlass.dev/v1beta2\n          kind: WindlassConfigTemplate\n          matchResources: {machineDeploymentClass: {names: [worker]}}\n";
    let patch = format!(
        "  - name: last\n    definitions:\n{}        jsonPatches:\n        - {{op: replace, path: /spec/template/spec/files, value: [{{path: /last, content: x}}]}}\n---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: DockerClusterTemplate",
        selector
    );
    let text = harbour().replacen(
        "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta2\nkind: DockerClusterTemplate",
        &patch,
        1,
    );
    let (_, report) = ask("/etc/sysctl.d/90-huge-pages.conf", &text, &[]);
    let found = absent(&report, 2);
    assert!(
        found[0].contains(
            "patch `last` replaces `/spec/template/spec/files`, where patch `huge-pages` had it"
        ),
        "{found:?}"
    );
    assert_eq!(found[1], "was@52 patch `huge-pages` wrote it here");
    let (_, report) = ask("/etc/motd", &text, &[]);
    let found = absent(&report, 2);
    assert!(
        found[0].contains("where WindlassConfigTemplate/harbour-worker had it"),
        "{found:?}"
    );
    let (_, report) = ask("/last", &text, &[]);
    let (_, found) = only(&report, 2);
    assert!(
        found
            .iter()
            .any(|step| step.starts_with("replaced") && step.contains("in place of what")),
        "{found:?}"
    );
}

#[test]
fn a_patch_for_another_class_of_machines_is_named() {
    let text = harbour().replace("names: [\"*\"]", "names: [other]").replace(
        "  variables:\n  - name: hugePages",
        "    - class: other\n      bootstrap:\n        templateRef: {apiVersion: bootstrap.windlass.dev/v1beta2, kind: WindlassConfigTemplate, name: harbour-worker}\n      infrastructure:\n        templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerMachineTemplate, name: harbour}\n  variables:\n  - name: hugePages",
    );
    let (code, report) = ask("/etc/sysctl.d/90-huge-pages.conf", &text, &[]);
    assert_eq!(code, Some(1), "{report:#}");
    assert!(
        absent(&report, 2)[0]
            .contains("`matchResources.machineDeploymentClass.names` of its selector has no pattern for the class `worker`"),
        "{report:#}"
    );
}

/// Places are those of the user's template, not of what clusterctl makes of it.
#[test]
fn places_are_those_of_a_template() {
    let text = config(
        "  files:\n  - {path: \"${A_VERY_LONG_NAME}\", content: \"${B}\"}\n  - {path: /b, content: x}\n",
    );
    let (_, report) = ask(
        "/b",
        &text,
        &[
            "--template",
            "--var",
            "A_VERY_LONG_NAME=/a\n",
            "--var",
            "B=b",
        ],
    );
    assert_eq!(
        only(&report, 0).1,
        ["field@7 spec.files[1] of KubeadmConfig/w"]
    );
}

#[test]
fn a_config_that_cannot_be_rendered_is_a_finding() {
    let text = config("  filez: []\n");
    let (code, report) = ask("/a", &text, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(
        (
            report["machines"][0]["rendered"].clone(),
            report["machines"][0]["absent"].clone()
        ),
        (false.into(), serde_json::json!([]))
    );
    let rules: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert_eq!(
        rules,
        ["config-field-unknown"],
        "what is not rendered is not missing"
    );
}

#[test]
fn a_question_that_names_nothing_is_refused() {
    for (what, message) in [
        ("", "nothing is asked for"),
        ("user:", "`user:` names no user"),
        ("label:  ", "names no label"),
    ] {
        let output = why(&[what, "examples/worker.yaml"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && told.contains(message) && told.contains("KIND:NAME"),
            "{what}: {told}"
        );
    }
}

/// kubeadm v1beta4 has the waiting times of v1beta1 elsewhere, and so has a config of v1beta2 those
/// of v1beta3.
#[test]
fn waiting_times_are_found_under_either_name() {
    let old =
        config("  clusterConfiguration:\n    apiServer: {timeoutForControlPlane: 20m}\n  joinConfiguration: {discovery: {timeout: 3m}}\n")
            .replace("v1beta2", "v1beta1");
    let health = "timeouts.controlPlaneComponentHealthCheck";
    for (role, what, line, field) in [
        (
            "init",
            health,
            6,
            "clusterConfiguration.apiServer.timeoutForControlPlane",
        ),
        (
            "control-plane-join",
            health,
            6,
            "clusterConfiguration.apiServer.timeoutForControlPlane",
        ),
        (
            "worker-join",
            "timeouts.tlsBootstrap",
            7,
            "joinConfiguration.discovery.timeout",
        ),
    ] {
        let (_, report) = ask(
            &format!("field:{what}"),
            &old,
            &["--role", role, "--kubernetes-version", "v1.33.1"],
        );
        assert_eq!(
            only(&report, 0).1,
            [format!("field@{line} spec.{field} of KubeadmConfig/w")],
            "{role}"
        );
    }
    let (_, report) = ask(
        "field:timeoutForControlPlane",
        &old,
        &["--role", "init", "--kubernetes-version", "v1.33.1"],
    );
    let becomes = format!("becomes initConfiguration.{health} of kubeadm's document");
    assert_eq!(
        absent(&report, 0),
        [format!(
            "renamed@6 spec.clusterConfiguration.apiServer.timeoutForControlPlane {becomes}"
        )]
    );
}

/// kubeadm downloads the ClusterConfiguration when a control plane joins, and marks its node;
/// workers get neither.
#[test]
fn what_a_joining_control_plane_gets_of_the_cluster_is_told() {
    let text = config(
        "  clusterConfiguration:\n    apiServer:\n      extraArgs: [{name: audit-log-path, value: /a}]\n",
    );
    let (_, report) = ask(
        "argument:audit-log-path",
        &text,
        &["--role", "control-plane-join"],
    );
    let found = absent(&report, 0);
    assert!(
        found[0].starts_with("configMap@7 ")
            && found[0].contains("from the ConfigMap kubeadm-config"),
        "{found:?}"
    );
    let (_, report) = ask("argument:audit-log-path", &text, &["--role", "worker-join"]);
    assert!(
        absent(&report, 0)[0].contains("counts only for `kubeadm init`"),
        "{report}"
    );
    for (role, expected) in [
        ("init", "known kubeadm sets it"),
        ("worker-join", "role only nodes of the control plane"),
    ] {
        let (_, report) = ask(
            "taint:node-role.kubernetes.io/control-plane",
            &text,
            &["--role", role],
        );
        assert!(
            absent(&report, 0)[0].starts_with(expected),
            "{role}: {report}"
        );
    }
}

#[test]
fn mounts_disks_volumes_and_time_are_named_by_their_sections() {
    let text = config(
        "  mounts: [[LABEL=etcd_disk, /var/lib/etcddisk]]\n  diskSetup:\n    partitions: [{device: /dev/sdb, layout: true}]\n  ntp: {servers: [t.example]}\n  clusterConfiguration:\n    apiServer:\n      extraVolumes: [{name: a, hostPath: /etc/audit, mountPath: /in}]\n",
    );
    for (what, expected) in [
        (
            "/var/lib/etcddisk",
            "section@5 spec.mounts[0][1] has it: the node mounts it",
        ),
        (
            "/dev/sdb",
            "section@7 spec.diskSetup.partitions[0].device has it: the node makes partitions",
        ),
        (
            "ntp",
            "section@8 spec.ntp has it: the node sets up its time service",
        ),
        (
            "/etc/audit",
            "section@11 spec.clusterConfiguration.apiServer.extraVolumes[0].hostPath has it: kubeadm mounts it",
        ),
    ] {
        let (_, report) = ask(what, &text, &["--role", "init"]);
        assert!(
            absent(&report, 0)[0].starts_with(expected),
            "{what}: {report:#}"
        );
    }
}

/// Labels of planned machines stand in the topology, or in the class.
#[test]
fn labels_of_a_topology_have_their_own_lines() {
    let label = "node-role.kubernetes.io/gpu";
    let given = harbour();
    let class = given.replacen(
        "    - class: worker\n",
        &format!("    - class: worker\n      metadata: {{labels: {{{label}: a}}}}\n"),
        1,
    );
    assert_ne!(class, given);
    let line_of =
        |text: &str, what: &str| 1 + text.lines().position(|line| line.contains(what)).unwrap();
    let (_, report) = ask(&format!("label:{label}"), &class, &[]);
    let of_class = &report["machines"][2]["things"][0]["steps"][0];
    assert_eq!(of_class["line"], line_of(&class, label), "{report:#}");
    let both = class.replacen(
        "        name: gpu\n",
        &format!("        name: gpu\n        metadata: {{labels: {{{label}: b, team: x}}}}\n"),
        1,
    );
    assert_ne!(both, class);
    let (_, report) = ask(&format!("label:{label}"), &both, &[]);
    assert_eq!(
        report["machines"][2]["things"][0]["steps"][0]["line"],
        line_of(&both, ": b, team"),
        "{report:#}"
    );
    let (_, report) = ask("label:team", &both, &[]);
    let found = absent(&report, 2);
    assert!(
        found.len() == 1
            && found[0].starts_with(&format!(
                "label@{} it is a label of the machines",
                line_of(&both, ": b, team")
            )),
        "{found:?}"
    );
}

#[test]
fn standard_input_twice_and_a_file_in_place_of_the_question_are_refused() {
    let absolute = root().join("examples/worker.yaml");
    for (arguments, message) in [
        (["argument:v", "-", "-"].as_slice(), "only once"),
        (
            &["examples/worker.yaml", "argument:v"],
            "stands where the question belongs",
        ),
        (
            &["examples/worker.yaml", "/etc/hosts"],
            "stands where the question belongs",
        ),
        (
            &[absolute.to_str().unwrap(), "argument:v"],
            "stands where the question belongs",
        ),
        (
            &["-", "examples/worker.yaml"],
            "stands where the question belongs",
        ),
    ] {
        let output = why(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && told.contains(message),
            "{arguments:?}: {told}"
        );
    }
    let output = why(&[absolute.to_str().unwrap(), "examples/worker.yaml"]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "a path of the node that this machine has too is a question"
    );
}

/// Whatever a document has in its names, the terminal gets none of its control characters.
#[test]
fn hostile_documents_neither_reach_the_terminal_nor_take_long() {
    let text = config(
        "  files:\n  - {path: \"/a\\e[2J\\u202e\", content: x}\n  preKubeadmCommands: [\"a\\e]0;x\\a\"]\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.yaml");
    std::fs::write(&file, text).unwrap();
    for what in ["/", "command:a", "a"] {
        let output = why(&[what, file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            !output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let many: String = (0..150)
        .map(|at| format!("  - {{path: /f/{at}, content: x}}\n"))
        .collect();
    let begin = std::time::Instant::now();
    let (code, report) = ask("/f", &config(&format!("  files:\n{many}")), &[]);
    assert_eq!(
        (
            code,
            report["machines"][0]["things"].as_array().unwrap().len()
        ),
        (Some(0), 100)
    );
    assert!(report.to_string().contains("why-cut") && begin.elapsed().as_secs() < 60);
}

/// A worker with one of each, in a file.
fn one_of_each() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = config(
        "  files:\n  - {path: /a, content: xy}\n  users:\n  - {name: ops, groups: wheel}\n  - {name: bare}\n  joinConfiguration: {nodeRegistration: \
         {kubeletExtraArgs: [{name: v, value: \"4\"}]}}\n  preKubeadmCommands: [sysctl --system]\n",
    );
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    folder
}

/// Machine, role, thing and value in a line; below it each step with its place.
#[test]
fn the_text_has_the_thing_its_value_and_the_places_of_its_steps() {
    let folder = one_of_each();
    for (what, expected) in [
        (
            "/a",
            "w worker-join: file /a (2 bytes)\n  field   c.yaml:6:5   spec.files[0] of KubeadmConfig/w\n",
        ),
        (
            "user:ops",
            "w worker-join: user ops (groups wheel)\n  field   c.yaml:8:5   spec.users[0] of KubeadmConfig/w\n",
        ),
        (
            "user:bare",
            "w worker-join: user bare\n  field   c.yaml:9:5   spec.users[1] of KubeadmConfig/w\n",
        ),
        (
            "argument:v",
            "w worker-join: argument v = 4\n  field   c.yaml:10:78   spec.joinConfiguration.nodeRegistration.kubeletExtraArgs[0].value of \
             KubeadmConfig/w\n",
        ),
        (
            "command:sysctl",
            "w worker-join: pre-kubeadm command `sysctl --system`\n  field   c.yaml:11:24   spec.preKubeadmCommands[0] of KubeadmConfig/w\n",
        ),
    ] {
        let output = windlass(folder.path())
            .args(["why", what, "c.yaml"])
            .output()
            .unwrap();
        assert_eq!(
            (
                output.status.code(),
                String::from_utf8_lossy(&output.stdout).as_ref()
            ),
            (Some(0), expected),
            "{what}"
        );
    }
    // What nobody wrote has no place; what is not there has its reasons.
    let of = |what: &str| String::from_utf8(why(&[what, "examples/worker.yaml"]).stdout).unwrap();
    let join = of("/run/kubeadm/kubeadm-join-config.yaml");
    assert!(
        join.starts_with(
            "gpu-worker worker-join: file /run/kubeadm/kubeadm-join-config.yaml (0640, root:root, "
        ),
        "{join}"
    );
    assert!(
        join.contains("\n  provider   -   the provider writes what kubeadm reads into it"),
        "{join}"
    );
}

/// One machine or several, a word or a name of a kind: the sentence says which.
#[test]
fn what_is_not_there_is_said_of_the_machine_or_of_all() {
    let general = "paths, users, keys and names are compared as a whole, and commands in parts; `windlass render` shows all that a machine gets";
    for (file, what, message, help) in [
        (
            "examples/worker.yaml",
            "user:ops",
            "the machine of the input has no user `ops`",
            general,
        ),
        (
            "examples/worker.yaml",
            "/srv/nothing/at/all",
            "the machine of the input has no `/srv/nothing/at/all`",
            general,
        ),
        (
            "examples/worker.yaml",
            "argument:cloud-provider",
            "the machine of the input has no argument `cloud-provider`",
            "the machines have node-labels",
        ),
        (
            "examples/control-plane.yaml",
            "user:ops",
            "none of the 2 machines of the input has user `ops`",
            general,
        ),
        (
            "examples/worker.yaml",
            "cmd:nothing at all",
            "the machine of the input has no `cmd:nothing at all`",
            "`cmd` is no kind; there are file, directory, command, user, label, taint, argument, field",
        ),
        (
            "examples/worker.yaml",
            "https://nothing.at/all",
            "the machine of the input has no `https://nothing.at/all`",
            general,
        ),
        (
            "examples/worker.yaml",
            r"C:\nothing\at\all",
            r"the machine of the input has no `C:\nothing\at\all`",
            general,
        ),
    ] {
        let output = why(&[what, file, "-o", "json"]);
        assert_eq!(output.status.code(), Some(1), "{what}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let finding = |key: &str| report["findings"][0][key].as_str().unwrap().to_owned();
        assert_eq!(
            (finding("message").as_str(), finding("help").as_str()),
            (message, help)
        );
    }
}

/// A hundred are told; of more the finding says that they are cut.
#[test]
fn of_more_than_a_hundred_things_the_rest_is_cut_and_told() {
    for (count, is_cut) in [(100, false), (101, true), (150, true)] {
        let commands: String = (0..count).map(|at| format!("  - say {at}\n")).collect();
        let (code, report) = ask(
            "command:say",
            &config(&format!("  preKubeadmCommands:\n{commands}")),
            &[],
        );
        assert_eq!(code, Some(0), "{report:#}");
        assert_eq!(
            report["machines"][0]["things"].as_array().unwrap().len(),
            100
        );
        let messages: Vec<&str> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["message"].as_str().unwrap())
            .collect();
        let expected: &[&str] = if is_cut {
            &["w worker-join has more than 100 things that `command:say` means"]
        } else {
            &[]
        };
        assert_eq!(messages, expected);
    }
}
