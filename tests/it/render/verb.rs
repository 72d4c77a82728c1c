//! `windlass render`: streams, findings, flags, what it writes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{WORKER, render_text};

#[test]
fn data_is_all_of_standard_output_and_stand_ins_are_named() {
    let (code, data, talk) = render_text(WORKER, &["render", "-"]);
    assert_eq!(code, 0, "{talk}");
    assert!(
        data.starts_with("## template: jinja\n#cloud-config\n\nwrite_files:\n-   path: /etc/a\n    content: |\n      x\n"),
        "{data}"
    );
    for flag in [
        "--role",
        "--kubernetes-version",
        "--endpoint",
        "--token",
        "--ca-cert-hash",
    ] {
        assert_eq!(talk.matches(&format!("({flag})")).count(), 1, "{talk}");
    }
    let given = [
        "render",
        "-",
        "--role",
        "worker-join",
        "--kubernetes-version",
        "v1.34.1",
        "--endpoint",
        "10.0.0.1:6443",
    ];
    let given = [
        &given[..],
        &[
            "--token",
            "abcdef.0123456789abcdef",
            "--ca-cert-hash",
            "sha256:aa",
        ],
    ]
    .concat();
    let (code, data, talk) = render_text(WORKER, &given);
    assert_eq!(code, 0);
    assert!(!talk.contains("stand-in"), "{talk}");
    assert!(
        data.contains("apiServerEndpoint: 10.0.0.1:6443\n"),
        "{data}"
    );
}

#[test]
fn every_fault_is_in_one_report_at_its_place() {
    let text = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  preKubeadmCommand: [a]\n  files:\n  - path: /a\n    permissions: 0644\n";
    let (code, data, talk) = render_text(text, &["render", "-"]);
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    assert!(
        talk.contains(
            "error[config-field-unknown]: unknown field `spec.preKubeadmCommand`\n  --> <stdin>:5:3"
        ),
        "{talk}"
    );
    assert!(
        talk.contains("did you mean `preKubeadmCommands`?"),
        "{talk}"
    );
    assert!(
        talk.contains("error[config-value-refused]: spec.files[0].permissions is the number 420"),
        "{talk}"
    );
    assert!(talk.ends_with("2 errors; no data written\n"), "{talk}");
}

#[test]
fn findings_stand_in_the_template_that_was_substituted() {
    let text = WORKER
        .replace("name: w", "name: \"${NAME}\"")
        .replace("content: x", "contnt: x");
    let (code, _, talk) = render_text(
        &text,
        &["render", "-", "--template", "--var", "NAME=a-long-name"],
    );
    assert_eq!(code, 1);
    assert!(
        talk.contains("unknown field `spec.files[0].contnt`\n  --> <stdin>:6:20"),
        "{talk}"
    );
    let text = WORKER.replace("content: x", "content: \"${NAME}\"");
    let (code, _, talk) = render_text(&text, &["render", "-", "--template"]);
    assert_eq!(code, 1);
    assert!(
        talk.contains("error[template-not-substituted]: variable NAME has no value and no default\n  --> <stdin>:6:"),
        "{talk}"
    );
}

/// What a server converts from v1beta1 it does not validate again; the provider renders it.
#[test]
fn what_conversion_leaves_behind_is_taken_from_read_back_objects() {
    let text = WORKER.replace("  files:", "  ntp: {}\n  mounts: [[]]\n  files:");
    let (code, _, talk) = render_text(&text, &["render", "-"]);
    assert_eq!(code, 1, "{talk}");
    assert!(
        talk.contains("spec.ntp should have at least 1 properties"),
        "{talk}"
    );
    let (code, data, talk) = render_text(
        &text.replace("name: w", "name: w, uid: 0-1"),
        &["render", "-"],
    );
    assert_eq!(code, 0, "{talk}");
    assert!(data.contains("\nmounts:\n  - \n"), "{data}");
    assert!(!data.contains("ntp:"), "{data}");
}

/// The API server fills in the name as an empty text, which Go leaves out.
#[test]
fn empty_names_in_sources_of_variables_are_left_out() {
    let env = "{name: A, valueFrom: {secretKeyRef: {key: k, name: \"\"}}}";
    let text = WORKER.replace(
        "  files:",
        &format!("  clusterConfiguration: {{apiServer: {{extraEnvs: [{env}]}}}}\n  files:"),
    );
    let (code, data, talk) = render_text(&text, &["render", "-", "--role", "init"]);
    assert_eq!(code, 0, "{talk}");
    assert!(
        data.contains("          valueFrom:\n            secretKeyRef:\n              key: k\n      apiVersion:"),
        "{data}"
    );
}

#[test]
fn quirks_that_change_the_meaning_are_warnings() {
    let text = WORKER
        .replace(
            "  files:",
            "  users:\n  - {name: ops, gecos: 'Ops #2'}\n  files:",
        )
        .replace("content: x", "content: '{{ .Values.x }}'");
    let (code, data, talk) = render_text(&text, &["render", "-"]);
    assert_eq!(code, 0, "{talk}");
    assert!(
        talk.contains(
            "warning[cloud-config-value-cut]: spec.users[0].gecos reaches cloud-init as `Ops`"
        ),
        "{talk}"
    );
    assert!(
        talk.contains("warning[cloud-config-jinja]: spec.files[0]"),
        "{talk}"
    );
    assert!(data.contains("    gecos: Ops #2\n"), "{data}");
    assert_eq!(
        render_text(&text, &["render", "-", "--deny", "warnings"]).0,
        1
    );
    assert_eq!(render_text(&text, &["render", "-", "-o", "json"]).0, 0);
    assert_eq!(
        render_text(&text, &["render", "-", "-o", "json", "--deny", "warnings"]).0,
        1
    );
    let (_, typed, _) = render_text(&text, &["render", "-", "--encoder", "typed"]);
    assert!(typed.contains("    gecos: \"Ops #2\"\n"), "{typed}");
}

#[test]
fn extracted_files_stay_inside_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("node");
    let text = WORKER.replace("/etc/a", "/../../etc/../up");
    let (code, _, talk) = render_text(
        &text,
        &["render", "-", "--extract", target.to_str().unwrap()],
    );
    assert_eq!(code, 0, "{talk}");
    assert_eq!(std::fs::read(target.join("etc/up")).unwrap(), b"x\n");
    assert!(target.join(".windlass/user-data").is_file());
    assert!(
        target
            .join("run/kubeadm/kubeadm-join-config.yaml")
            .is_file()
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn json_is_printed_on_a_fault_too() {
    let (code, text, _) = render_text(WORKER, &["render", "-", "-o", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["kind"]), (0, &Value::from("Render")));
    assert_eq!(
        report["machines"][0]["plan"]["files"][0]["from"],
        "spec.files[0]"
    );
    let (code, text, _) = render_text(
        &WORKER.replace("content", "contnt"),
        &["render", "-", "-o", "json"],
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["machines"][0]["data"]), (1, &Value::Null));
    assert_eq!(report["findings"][0]["rule"], "config-field-unknown");
}

#[test]
fn files_of_machines_are_named_after_object_role_and_format() {
    let template = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/templates/cluster-template-ignition.yaml"
    );
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("nodes");
    let variables = [
        "CLUSTER_NAME=c",
        "NAMESPACE=n",
        "KUBERNETES_VERSION=v1.34.0",
        "CONTROL_PLANE_MACHINE_COUNT=1",
        "WORKER_MACHINE_COUNT=1",
    ];
    let mut arguments = vec![
        "render",
        template,
        "--template",
        "--all",
        "--to",
        to.to_str().unwrap(),
    ];
    arguments.extend(variables.iter().flat_map(|variable| ["--var", variable]));
    let (code, _, talk) = render_text("", &arguments);
    assert_eq!(code, 0, "{talk}");
    let mut names: Vec<_> = std::fs::read_dir(&to)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    // Bootstrap data holds tokens and keys.
    #[cfg(unix)]
    for name in &names {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(to.join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600,
            "{name}"
        );
    }
    let expected = [
        "c-control-plane.control-plane-join.cloud-config",
        "c-control-plane.init.cloud-config",
        "c-md-0.worker-join.ignition",
    ];
    assert_eq!(names, expected);
}

#[test]
fn every_machine_has_a_file_of_its_own() {
    let config = |name: &str, namespace: &str| {
        WORKER.replace("name: w", &format!("name: {name}, namespace: {namespace}"))
    };
    let written = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("nodes");
        let (code, _, talk) = render_text(
            text,
            &["render", "-", "--all", "--to", to.to_str().unwrap()],
        );
        let entries = std::fs::read_dir(to).into_iter().flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        (code, names, talk)
    };
    let text = config("w", "a") + "---\n" + &config("w", "b") + "---\n" + &config("x", "a");
    let (code, names, talk) = written(&text);
    assert_eq!(code, 0, "{talk}");
    assert_eq!(
        names,
        [
            "a_w.worker-join.cloud-config",
            "b_w.worker-join.cloud-config",
            "x.worker-join.cloud-config"
        ]
    );
    let (code, _, talk) = render_text(&text, &["render", "-", "--select", "b/w"]);
    assert_eq!(code, 0, "{talk}");
    let (code, names, talk) = written(&(config("w", "a") + "---\n" + &config("w", "a")));
    assert_eq!((code, names.len()), (1, 0), "{talk}");
    assert!(
        talk.contains("error[render-file-twice]: KubeadmConfig/w and KubeadmConfig/w would both be written to the file"),
        "{talk}"
    );
}

#[test]
fn json_says_which_file_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("nodes").to_str().unwrap().to_owned();
    let (code, text, talk) =
        render_text(WORKER, &["render", "-", "-o", "json", "--all", "--to", &to]);
    assert_eq!(code, 0, "{talk}");
    let report: Value = serde_json::from_str(&text).unwrap();
    let machine = &report["machines"][0];
    let path = machine["path"].as_str().unwrap();
    assert!(path.starts_with(&format!("{to}/")), "{path}");
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        machine["data"].as_str().unwrap()
    );

    let other = folder.path().join("none").to_str().unwrap().to_owned();
    let broken = WORKER.replace("content", "contnt");
    let (code, text, _) = render_text(
        &broken,
        &["render", "-", "-o", "json", "--all", "--to", &other],
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["machines"][0]["path"]), (1, &Value::Null));
    assert!(!std::path::Path::new(&other).exists());
}

#[test]
fn a_closed_feature_gate_is_opened_by_what_the_finding_says() {
    let text = WORKER
        .replace("spec:\n", "spec:\n  format: ignition\n")
        .replace("content: x", "content: x, permissions: \"0644\"");
    let (code, _, talk) = render_text(&text, &["render", "-"]);
    assert_eq!(code, 1, "{talk}");
    let flag = "--feature-gates KubeadmBootstrapFormatIgnition=true";
    assert!(talk.contains(&format!("= help: add `{flag}`")), "{talk}");
    let opened = ["render", "-"]
        .into_iter()
        .chain(flag.split(' '))
        .collect::<Vec<_>>();
    let (code, data, talk) = render_text(&text, &opened);
    assert_eq!(code, 0, "{talk}");
    assert!(data.starts_with("{\"ignition\":"), "{data}");
}

#[test]
fn extracted_files_never_follow_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (node, outside) = (folder.path().join("node"), folder.path().join("outside"));
    std::fs::create_dir_all(&node).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, node.join("etc")).unwrap();
    let (code, _, talk) = render_text(
        WORKER,
        &[
            "render",
            "-",
            "--extract",
            node.to_str().unwrap(),
            "--force",
        ],
    );
    assert_eq!(code, 2, "{talk}");
    assert!(
        talk.contains("is a link, which leads out of the folder"),
        "{talk}"
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn extracted_files_are_decoded_and_appended() {
    let folder = tempfile::tempdir().unwrap();
    let node = folder.path().join("node");
    let files = "  - {path: /etc/a, content: one}\n  - {path: /etc//a, append: true, content: two}\n  - {path: /etc/b, encoding: base64, content: aGVsbG8=}\n";
    let text = WORKER.replace("  - {path: /etc/a, content: x}\n", files);
    let (code, _, talk) = render_text(&text, &["render", "-", "--extract", node.to_str().unwrap()]);
    assert_eq!(code, 0, "{talk}");
    assert_eq!(
        std::fs::read_to_string(node.join("etc/a")).unwrap(),
        "one\ntwo\n"
    );
    assert_eq!(
        std::fs::read_to_string(node.join("etc/b")).unwrap(),
        "hello"
    );
    let listed = std::fs::read_to_string(node.join(".windlass/files")).unwrap();
    let lines: Vec<Vec<&str>> = listed
        .lines()
        .take(4)
        .map(|line| line.split('\t').collect())
        .collect();
    let header = ["path", "permissions", "owner", "encoding", "bytes", "from"];
    let b = ["/etc/b", "-", "-", "base64", "8", "spec.files[2]"];
    assert!(
        lines.len() == 4 && lines[0] == header && lines[3][0] == b[0] && lines[3][3..] == b[3..],
        "{listed}"
    );
    let commands = std::fs::read_to_string(node.join(".windlass/commands")).unwrap();
    assert!(
        commands.starts_with("1\tkubeadm\t-\t\"kubeadm join --config "),
        "{commands}"
    );
}

#[test]
fn examples_have_nothing_to_be_warned_of() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<_> = files
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        let (code, report, talk) = render_text(
            "",
            &[
                "render",
                "--all",
                file.to_str().unwrap(),
                "-o",
                "json",
                "--deny",
                "warnings",
            ],
        );
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(
            (code, &report["findings"]),
            (0, &serde_json::json!([])),
            "{}: {talk}",
            file.display()
        );
    }
}

#[test]
fn a_value_of_the_wrong_type_is_one_finding_that_says_the_right_one() {
    let check = |line: &str, expected: &str| {
        let (code, data, talk) = render_text(
            &WORKER.replace("spec:\n", &format!("spec:\n  {line}\n")),
            &["render", "-"],
        );
        assert_eq!((code, data.as_str()), (1, ""), "{talk}");
        assert!(
            talk.contains(&format!(
                "error[config-value-refused]: {expected}\n  --> <stdin>:5:"
            )),
            "{talk}"
        );
        assert!(talk.ends_with("1 error; no data written\n"), "{talk}");
    };
    check(
        "verbosity: 3.5",
        "spec.verbosity is the number 3.5, not a whole number of 32 bits",
    );
    check(
        "verbosity: 99999999999",
        "spec.verbosity is the number 99999999999, not a whole number of 32 bits",
    );
    check(
        "verbosity: high",
        "spec.verbosity is `high`, not a whole number",
    );
    check("ntp: servers", "spec.ntp is `servers`, not a mapping");
    check(
        "initConfiguration: {bootstrapTokens: [{token: abcdef.0123456789abcdef, expires: tomorrow}]}",
        "spec.initConfiguration.bootstrapTokens[0].expires is `tomorrow`, not a time such as 2026-01-31T12:00:00Z",
    );
    let (code, _, talk) = render_text(
        &WORKER.replace(
            "spec:\n",
            "spec:\n  initConfiguration: {bootstrapTokens: [{token: abcdef.0123456789abcdef, expires: 9999-12-31T23:59:59-01:00}]}\n",
        ),
        &["render", "-", "--role", "init"],
    );
    assert_eq!(code, 1);
    let expected = "error[config-value-not-convertible]: spec.initConfiguration.bootstrapTokens[0].expires is `9999-12-31T23:59:59-01:00`";
    assert!(talk.starts_with(expected), "{talk}");
}

/// What the API server refuses as a name is said, also where YAML could not carry it; the data
/// alone needs no name.
#[test]
fn names_that_no_secret_can_have_are_findings() {
    let check = |name: &str, arguments: &[&str], expected: &str| {
        let text = WORKER.replace("{name: w}", &format!("{{name: \"{name}\"}}"));
        assert_eq!(render_text(&text, &["render", "-"]).0, 0);
        let (code, data, talk) = render_text(
            &text,
            &[&["render", "-", "-o", "secret"], arguments].concat(),
        );
        assert_eq!((code, data.as_str()), (1, ""), "{talk}");
        assert!(
            talk.contains(&format!("error[secret-name-refused]: {expected}")),
            "{talk}"
        );
        assert!(
            talk.chars().all(|c| c == '\n' || !c.is_control()),
            "{talk:?}"
        );
    };
    check(
        "w\\x7f",
        &[],
        "metadata.name is `w␡`, with which Kubernetes takes no Secret\n  --> <stdin>:3:",
    );
    check("a B", &[], "metadata.name is `a B`");
    check("${NAME}-w", &[], "metadata.name is `${NAME}-w`");
    check(
        "w",
        &["--cluster-name", "a b"],
        "the name of the cluster is `a b`",
    );
    let (_, _, talk) = render_text(
        &WORKER.replace("{name: w}", "{name: \"\\e[31mw\"}"),
        &["render", "-"],
    );
    assert!(talk.starts_with("KubeadmConfig/␛[31mw: "), "{talk}");
}

/// A KubeadmConfig with this spec.
fn with_spec(spec: &str) -> String {
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
    )
}

/// What is expected is what PyYAML 6.0 and cloud-init 23.4 make of the text without quotes.
#[test]
fn it_is_warned_where_the_node_gets_something_else_and_nowhere_else() {
    let check = |spec: &str, expected: &[&str]| {
        let (code, _, talk) = render_text(&with_spec(spec), &["render", "-", "--role", "init"]);
        assert_eq!(code, 0, "{talk}");
        let told: BTreeSet<_> = talk
            .lines()
            .filter_map(|line| line.split_once("warning["))
            .map(|(_, told)| told)
            .collect();
        assert_eq!(told, expected.iter().copied().collect(), "{spec}\n{talk}");
    };
    check(
        r#"mounts: [["/dev/sdb", /x, "0644", "1_000", "1000", "y", "1e3", "2001-12-14"]]"#,
        &[
            "cloud-config-value-cut]: spec.mounts[0][2] reaches cloud-init as `420`",
            "cloud-config-value-cut]: spec.mounts[0][3] reaches cloud-init as `1000`",
        ],
    );
    check(
        r#"ntp: {servers: ["0x1F", "10.0.0.1", "08"]}"#,
        &["cloud-config-value-cut]: spec.ntp.servers[0] reaches cloud-init as `31`"],
    );
    check(
        r#"users: [{name: a, groups: "1_", gecos: "12", passwd: "+1", shell: "a #b", homeDir: "65534:10"}]"#,
        &[
            "cloud-config-value-cut]: spec.users[0].passwd reaches cloud-init as another text",
            "cloud-config-value-cut]: spec.users[0].gecos reaches cloud-init as the value 12, where it wants a text",
            "cloud-config-value-cut]: spec.users[0].groups reaches cloud-init as `1`",
            "cloud-config-value-cut]: spec.users[0].shell reaches cloud-init as `a`",
            "cloud-config-value-cut]: spec.users[0].homeDir reaches cloud-init as `3932050`",
        ],
    );
    check(
        r#"files: [{path: /x, owner: "190:20:30.15", content: b}, {path: "=", content: c}]"#,
        &[
            "cloud-config-value-cut]: spec.files[0].owner reaches cloud-init as `a number`",
            "cloud-config-document-broken]: spec.files[1].path breaks the document, because CAPI writes it without quotes",
        ],
    );
    check(
        r#"clusterConfiguration: {certificatesDir: "a : b"}, mounts: [["a\tb", /x]]"#,
        &[
            "cloud-config-document-broken]: spec.clusterConfiguration.certificatesDir breaks the document, because CAPI writes it without quotes",
            "cloud-config-document-broken]: spec.mounts[0][0] breaks the document, because CAPI writes it without quotes",
        ],
    );
    check(
        r#"files: [{path: /a, content: "a\r\nb\r\n"}, {path: /b, content: "a\rb"}, {path: /c, content: "\x1b[0m"}, {path: /d, content: "a\tb"}]"#,
        &[
            "cloud-config-value-cut]: spec.files[0].content has line ends CR LF, which reach the node as LF",
            "cloud-config-document-broken]: spec.files[1].content holds a line end that only some programs know, which breaks the document",
            "cloud-config-document-broken]: spec.files[2].content holds a control character, which breaks the document",
        ],
    );
    check(
        "diskSetup: {partitions: [{device: /dev/a, layout: true}, {device: /dev/b, layout: true}, {device: /dev/a, layout: false}]}",
        &[
            "cloud-config-device-repeated]: spec.diskSetup.partitions[0] is lost: spec.diskSetup.partitions[2] is of the same device, and cloud-init keeps the last",
        ],
    );
    check(
        r#"preKubeadmCommands: ["echo {{ local_hostname }} {{ ds.meta_data.x }}"]"#,
        &[],
    );
    check(
        r#"preKubeadmCommands: ["echo {{ ds.meta_data.hostname }", "echo {{ .Values.x }}"]"#,
        &[
            "cloud-config-jinja]: spec.preKubeadmCommands[0] begins an expression of jinja that does not end, so cloud-init reads nothing of the document",
            "cloud-config-jinja]: spec.preKubeadmCommands[1] holds `{{` or `{%`, which cloud-init evaluates as jinja",
        ],
    );
}

#[test]
fn typed_quotes_times_and_line_ends() {
    let spec = r#"users: [{name: a, gecos: "2001-12-14 21:59:43.10 -5"}], files: [{path: /x, permissions: "06\n40", content: a}]"#;
    let (code, data, talk) = render_text(&with_spec(spec), &["render", "-", "--encoder", "typed"]);
    assert_eq!(code, 0, "{talk}");
    assert!(
        data.contains("\n    gecos: \"2001-12-14 21:59:43.10 -5\"\n")
            && data.contains("\n    permissions: \"06\\n40\"\n"),
        "{data}"
    );
}

/// The help names what there is.
#[test]
fn a_machine_that_is_not_there_is_told_with_those_that_are() {
    let two = format!("{WORKER}---\n{}", WORKER.replace("{name: w}", "{name: v}"));
    let (code, _, talk) = render_text(&two, &["render", "-", "--select", "nobody"]);
    assert!(
        code == 1
            && talk.contains("no machine is called `nobody`")
            && talk.contains("`--select` one of w, v"),
        "{talk}"
    );
    let control_plane =
        std::fs::read_to_string(crate::support::root().join("examples/control-plane.yaml"))
            .unwrap();
    let (_, _, talk) = render_text(
        &control_plane,
        &[
            "render",
            "-",
            "--select",
            "example-control-plane:worker-join",
        ],
    );
    assert!(
        talk.contains(
            "`--select` one of example-control-plane:init, example-control-plane:control-plane-join"
        ),
        "{talk}"
    );
    let (code, _, talk) = render_text(&control_plane, &["render", "-", "--role", "worker-join"]);
    assert!(
        code == 1 && talk.contains("no machine has that role"),
        "{talk}"
    );
    for role in ["init", "control-plane-join"] {
        let (code, _, talk) = render_text(
            &control_plane,
            &["render", "-", "--role", role, "-o", "json"],
        );
        assert_eq!(code, 0, "of {role}: {talk}");
    }
}

/// What leads nowhere is told of the whole input, and not to who asks for one machine.
#[test]
fn a_reference_that_leads_nowhere_is_told_unless_one_machine_is_asked_for() {
    let machine = "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: m}\nspec: {clusterName: c, bootstrap: {configRef: \
                   {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: gone}}}\n";
    let text = format!("{WORKER}{machine}");
    let (_, _, talk) = render_text(&text, &["render", "-"]);
    assert!(
        talk.contains("Machine/m names KubeadmConfig gone"),
        "{talk}"
    );
    let (code, _, talk) = render_text(&text, &["render", "-", "--select", "w"]);
    assert!(code == 0 && !talk.contains("gone"), "{talk}");
}

/// Of what cannot be rendered the note says what it is, and only what was rendered already is for
/// `inspect`.
#[test]
fn an_input_without_a_config_is_described() {
    let inspect =
        "bootstrap data that was rendered already is read back by `windlass inspect FILE`";
    let object = |kind: &str, more: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: o}}\n{more}")
    };
    for (text, note, is_data) in [
        (
            object("Secret", "data: {value: YQ==}\n"),
            "it holds Secret/o",
            true,
        ),
        (
            object("Secret", "stringData: {value: a}\n"),
            "it holds Secret/o",
            true,
        ),
        (
            object("Secret", "data: {other: YQ==}\n"),
            "it holds Secret/o",
            false,
        ),
        (
            object("ConfigMap", "data: {value: a}\n"),
            "it holds ConfigMap/o",
            false,
        ),
        (
            "runcmd: [a]\n".to_owned(),
            "<stdin> holds no object, which would have a `kind`",
            true,
        ),
        (
            "# a\n".to_owned(),
            "<stdin> holds only comments or empty documents",
            false,
        ),
        (String::new(), "<stdin> is empty", false),
        (
            ["a", "b", "c", "d", "e", "f", "g"]
                .map(|name| object("Service", "").replace("name: o", &format!("name: {name}")))
                .join("---\n"),
            "it holds Service/a, Service/b, Service/c, Service/d, Service/e and 2 more",
            false,
        ),
    ] {
        let (code, _, talk) = render_text(&text, &["render", "-"]);
        assert!(
            code == 1 && talk.contains(&format!("= note: {note}\n")),
            "{note}: {talk}"
        );
        assert_eq!(talk.contains(inspect), is_data, "{text}{talk}");
    }
}

/// A file that has no name on the node, or that of our own lists, is not written among them.
#[test]
fn extracted_files_leave_our_lists_alone() {
    let folder = tempfile::tempdir().unwrap();
    let node = folder.path().join("node");
    let files = "  - {path: /.windlass/user-data, content: mine}\n  - {path: /.., content: none}\n  - {path: /etc/a, content: x}\n";
    let text = WORKER.replace("  - {path: /etc/a, content: x}\n", files);
    let (code, _, talk) = render_text(&text, &["render", "-", "--extract", node.to_str().unwrap()]);
    assert_eq!(code, 0, "{talk}");
    let (_, data, _) = render_text(&text, &["render", "-"]);
    assert_eq!(
        std::fs::read_to_string(node.join(".windlass/user-data")).unwrap(),
        data
    );
    assert_eq!(std::fs::read_to_string(node.join("etc/a")).unwrap(), "x\n");
}

/// A config that a template or a control plane gives has another name in the cluster: its Secret
/// has no owner here.
#[test]
fn the_secret_of_what_is_made_of_a_template_has_no_owner() {
    let template = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfigTemplate\nmetadata: {name: t, namespace: team}\nspec: {template: \
                    {spec: {files: [{path: /etc/a, content: x}]}}}\n";
    let control_plane =
        std::fs::read_to_string(crate::support::root().join("examples/control-plane.yaml"))
            .unwrap();
    for (text, flags) in [(template, &[][..]), (&control_plane, &["--role", "init"])] {
        let (code, secret, talk) =
            render_text(text, &[&["render", "-", "-o", "secret"], flags].concat());
        assert!(
            code == 0 && secret.contains("kind: Secret") && !secret.contains("ownerReferences"),
            "{secret}{talk}"
        );
    }
    let report = |text: &str| {
        serde_json::from_str::<Value>(&render_text(text, &["render", "-", "-o", "json"]).1).unwrap()
    };
    assert_eq!(report(template)["machines"][0]["namespace"], "team");
    assert_eq!(report(WORKER)["machines"][0]["namespace"], Value::Null);
}

/// The one object or the one file that was given is where a config is missing; of several none is
/// the place.
#[test]
fn an_input_without_a_config_is_told_where_it_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let service =
        |name: &str| format!("apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\n");
    for (name, text) in [
        ("one.yaml", service("a")),
        ("two.yaml", service("b")),
        ("none.yaml", "# nothing\n".to_owned()),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let of_none = "none.yaml holds only comments or empty documents";
    for (files, place, note) in [
        (
            &["one.yaml"][..],
            "one.yaml 2 7",
            "it holds Service/a".to_owned(),
        ),
        (&["none.yaml"], "none.yaml - -", of_none.to_owned()),
        (
            &["one.yaml", "two.yaml"],
            "- - -",
            "it holds Service/a, Service/b".to_owned(),
        ),
        (
            &["one.yaml", "none.yaml"],
            "- - -",
            format!("it holds Service/a; {of_none}"),
        ),
    ] {
        let output = crate::support::windlass(folder.path())
            .arg("render")
            .args(files)
            .args(["-o", "json"])
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let finding = &report["findings"][0];
        let part = |key: &str| {
            if finding[key].is_null() {
                "-".to_owned()
            } else {
                finding[key].to_string().replace('"', "")
            }
        };
        assert_eq!(
            ["file", "line", "column"].map(part).join(" "),
            place,
            "{report}"
        );
        assert_eq!(
            (&finding["rule"], &finding["notes"]),
            (&"render-config-missing".into(), &serde_json::json!([note]))
        );
        assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    }
}

/// Name, namespace and uid go into the Secret; what is refused of each is told at its field, with a
/// help that fits.
#[test]
fn each_field_that_the_secret_takes_over_is_judged() {
    let help = "use lower case letters, digits and `-` alone";
    let variables = "add `--template` and `--var NAME=VALUE`, so that variables are replaced";
    for (metadata, field, given, column, help) in [
        ("name: w, namespace: A_b", "namespace", "A_b", 32, help),
        ("name: w, uid: \"a b\"", "uid", "a b", 26, help),
        ("name: \"${N}\"", "name", "${N}", 18, variables),
    ] {
        let text = WORKER.replace("{name: w}", &format!("{{{metadata}}}"));
        let (code, _, talk) = render_text(&text, &["render", "-", "-o", "secret"]);
        let finding = format!(
            "error[secret-name-refused]: metadata.{field} is `{given}`, with which Kubernetes takes no Secret\n"
        );
        assert!(
            code == 1 && talk.starts_with(&format!("{finding}  --> <stdin>:3:{column}\n")),
            "{talk}"
        );
        assert!(
            talk.contains(&format!("\n  = help: {help}\n")) && talk.matches("error[").count() == 1,
            "{talk}"
        );
    }
    let sound = WORKER.replace("{name: w}", "{name: w, namespace: a-b, uid: 0a-b}");
    assert_eq!(render_text(&sound, &["render", "-", "-o", "secret"]).0, 0);
}

/// A name that two machines have is asked for with its role, or with `--role`.
#[test]
fn one_of_two_machines_of_a_name_is_taken_by_its_role() {
    let control_plane =
        std::fs::read_to_string(crate::support::root().join("examples/control-plane.yaml"))
            .unwrap();
    let of = |flags: &[&str]| {
        let (code, out, talk) = render_text(
            &control_plane,
            &[&["render", "-", "-o", "json"], flags].concat(),
        );
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{talk}"));
        let roles = report["machines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|machine| machine["role"].as_str().unwrap().to_owned());
        let rules = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["rule"].as_str().unwrap().to_owned());
        (code, roles.chain(rules).collect::<Vec<_>>().join(" "))
    };
    let name = "example-control-plane";
    for (flags, code, expected) in [
        (&["--select", "example-control-plane:init"][..], 0, "init"),
        (
            &["--select", "example-control-plane:control-plane-join"],
            0,
            "control-plane-join",
        ),
        (
            &["--select", "default/example-control-plane:init"],
            0,
            "init",
        ),
        (&["--select", name, "--role", "init"], 0, "init"),
        (
            &["--all", "--role", "control-plane-join"],
            0,
            "control-plane-join",
        ),
        (&["--all"], 0, "init control-plane-join"),
        (&["--select", name], 1, "render-machine-ambiguous"),
        (&[], 1, "render-machine-ambiguous"),
        (
            &["--select", "example-control-plane:worker-join"],
            1,
            "render-machine-not-found",
        ),
        (
            &["--select", "other/example-control-plane"],
            1,
            "render-machine-not-found",
        ),
    ] {
        assert_eq!(of(flags), (code, expected.to_owned()), "{flags:?}");
    }
}

/// Two machines of one config share its faults: each is told once, and two of one message at two
/// places are two.
#[test]
fn faults_that_machines_share_are_told_once() {
    let control_plane =
        std::fs::read_to_string(crate::support::root().join("examples/control-plane.yaml"))
            .unwrap();
    let faulty = control_plane.replacen(
        "  kubeadmConfigSpec:\n",
        "  kubeadmConfigSpec:\n    filez: []\n",
        1,
    );
    assert_ne!(faulty, control_plane);
    let count = |text: &str| {
        let (code, out, _) = render_text(text, &["render", "-", "--all", "-o", "json"]);
        let report: Value = serde_json::from_str(&out).unwrap();
        let unknown = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["rule"] == "config-field-unknown");
        (code, unknown.count())
    };
    assert_eq!(count(&faulty), (1, 1));
    let broken = WORKER.replace("files:", "filez:");
    assert_eq!(
        count(&format!(
            "{broken}---\n{}",
            broken.replace("{name: w}", "{name: v}")
        )),
        (1, 2)
    );
}
