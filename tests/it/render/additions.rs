//! What WindlassConfig adds to cloud-config.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use windlass::render::write::gzip;

use super::{WORKER, render_text};

/// A WindlassConfig with this spec, given as lines without indentation.
fn windlass_config(spec: &str) -> String {
    let spec: String = spec.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    )
}

fn rendered(spec: &str) -> String {
    let (code, data, talk) = render_text(&windlass_config(spec), &["render", "-"]);
    assert_eq!(code, 0, "{talk}");
    data
}

fn refused(text: &str) -> String {
    let (code, data, talk) = render_text(text, &["render", "-"]);
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    talk
}

#[test]
fn without_additions_the_bytes_are_those_of_a_kubeadm_config() {
    let ours = WORKER
        .replace("bootstrap.cluster.x-k8s.io", "bootstrap.windlass.dev")
        .replace("KubeadmConfig", "WindlassConfig");
    let expected = render_text(WORKER, &["render", "-"]).1;
    assert_eq!(render_text(&ours, &["render", "-"]).1, expected);
    for nothing in [
        "platform: linux",
        "compression: none",
        "onFailure: Continue",
        "cloudConfig: {templating: jinja}",
        "maxDataBytes: 100000",
    ] {
        assert_eq!(
            rendered(&format!(
                "files:\n- {{path: /etc/a, content: x}}\n{nothing}"
            )),
            expected,
            "{nothing}"
        );
    }
}

#[test]
fn templating_can_be_turned_off() {
    let data = rendered("cloudConfig: {templating: none}\npreKubeadmCommands: ['echo {{ x }}']");
    assert!(
        data.starts_with("#cloud-config\n\nwrite_files:\n"),
        "{data}"
    );
    let spec = windlass_config(
        "cloudConfig: {templating: none}\npreKubeadmCommands: ['echo {{ .x }} {{ ds.y }}']",
    );
    let (code, _, talk) = render_text(&spec, &["render", "-"]);
    assert_eq!(code, 0);
    assert!(!talk.contains("cloud-config-jinja"), "{talk}");
    let expected = "warning[config-field-without-effect]: spec.preKubeadmCommands[0]: `{{ ds.` is not replaced with spec.cloudConfig.templating \"none\"\n  --> <stdin>:6:";
    assert!(talk.contains(expected), "{talk}");
}

#[test]
fn defaults_of_files_are_for_the_users_files_alone() {
    let data = rendered(
        "fileDefaults: {owner: 'a:b', permissions: '0600'}\nfiles:\n- {path: /a, content: x}\n- {path: /b, content: b, permissions: '0755'}\n- {path: /c, content: z, owner: root}",
    );
    let expected = "-   path: /a\n    owner: a:b\n    permissions: '0600'\n    content: |\n      x\n\
                    -   path: /b\n    owner: a:b\n    permissions: '0755'\n    content: |\n      b\n\
                    -   path: /c\n    owner: root\n    permissions: '0600'\n    content: |\n      z\n\
                    -   path: /run/kubeadm/kubeadm-join-config.yaml\n    owner: root:root\n    permissions: '0640'\n";
    assert!(data.contains(expected), "{data}");
    assert!(
        rendered("fileDefaults: {permissions: '644'}\nfiles: [{path: /a, content: x}]")
            .contains("-   path: /a\n    permissions: '644'\n    content")
    );
}

#[test]
fn content_is_encoded_for_the_way() {
    let data = rendered(
        "files:\n- {path: /a, transferEncoding: base64, content: \"{{ x }}\\r\\n\"}\n- {path: /b, transferEncoding: gzip+base64, content: hello}",
    );
    assert!(
        data.contains(
            "-   path: /a\n    encoding: \"base64\"\n    content: |\n      e3sgeCB9fQ0K\n"
        ),
        "{data}"
    );
    let (_, rest) = data
        .split_once("    encoding: \"gzip+base64\"\n    content: |\n      ")
        .unwrap();
    let (line, _) = rest.split_once('\n').unwrap();
    assert_eq!(
        gzip::decompress(&STANDARD.decode(line).unwrap(), 100).unwrap(),
        b"hello"
    );
}

#[test]
fn config_maps_hold_content() {
    let with = |key: &str, map: &str| {
        let config = windlass_config(&format!(
            "files: [{{path: /a, contentFrom: {{configMap: {{name: m, key: {key}}}}}}}]"
        ));
        format!("{config}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\n{map}\n")
    };
    let data = |text: &str| render_text(text, &["render", "-"]).1;
    assert!(
        data(&with("k", "data: {k: text}")).contains("-   path: /a\n    content: |\n      text\n")
    );
    assert!(
        data(&with("k", "binaryData: {k: aGVsbG8=}\ndata: {other: x}"))
            .contains("-   path: /a\n    content: |\n      hello\n")
    );
    // Bytes that YAML cannot carry go as base64 by themselves.
    assert!(
        data(&with("k", "binaryData: {k: /w==}"))
            .contains("-   path: /a\n    encoding: \"base64\"\n    content: |\n      /w==\n")
    );
    let missing = refused(&with("other", "data: {k: text}"));
    assert!(missing.contains("error[config-configmap-key-missing]: WindlassConfig/w reads key `other` of ConfigMap m, which has no such key\n  --> <stdin>:5:"), "{missing}");
    let text = with("k", "data: {k: text}").replace("metadata: {name: m}", "metadata: {name: n}");
    assert!(data(&text).contains("      stand-in for configmap default/m key k\n"));
    let owner =
        "ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: m, uid: x}]";
    let machine = "---\n{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m}, spec: {clusterName: c, version: v1.34.1}}\n---\n{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: c}, spec: {controlPlaneEndpoint: {host: a, port: 1}}, status: {initialization: {infrastructureProvisioned: true}, conditions: [{type: ControlPlaneInitialized, status: \"True\"}]}}\n";
    let real = text.replace(
        "metadata: {name: w}",
        &format!("metadata: {{name: w, {owner}}}"),
    ) + machine;
    assert!(
        render_text(&real, &["render", "-", "--no-stand-ins"])
            .2
            .contains("error[config-configmap-missing]: WindlassConfig/w reads ConfigMap m, which no file holds\n  --> <stdin>:5:")
    );
    assert!(
        refused(&with("k", "binaryData: {k: '*'}"))
            .contains("error[secret-data-not-base64]: binaryData.k of ConfigMap/m is not base64")
    );
}

#[test]
fn directories_come_first() {
    let data = rendered(
        "directories:\n- {path: /d}\n- {path: /e, owner: a, permissions: '0700'}\npreKubeadmCommands: [one]",
    );
    let expected = "runcmd:\n  - \"mkdir -p '/d'\\nchmod 0755 '/d'\\nchown root:root '/d'\"\n  - \"mkdir -p '/e'\\nchmod 0700 '/e'\\nchown a '/e'\"\n  - \"one\"\n  - kubeadm join ";
    assert!(data.contains(expected), "{data}");
}

#[test]
fn steps_are_items_of_their_own() {
    let data = rendered("onFailure: Abort\npreKubeadmCommands: [one]\npostKubeadmCommands: [two]");
    let items: Vec<&str> = data.split("\nruncmd:\n").nth(1).unwrap().lines().collect();
    assert!(
        items[0].starts_with("  - \"windlass_at=start windlass_code=0\\n")
            && items[0].ends_with("\\nset -e\\n\""),
        "{}",
        items[0]
    );
    let join = "  - kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete || exit $?";
    let expected = [
        "  - \"windlass_step 'preKubeadmCommands[0]'\"",
        "  - \"one\"",
        "  - \"windlass_step 'kubeadm join'\"",
        join,
        "  - \"windlass_step 'postKubeadmCommands[0]'\"",
        "  - \"two\"",
        "  - \"windlass_at=end\"",
    ];
    assert_eq!(items[1..], expected);
}

#[test]
fn windows_has_its_own_paths() {
    let data = rendered(
        "platform: windows\ndirectories: [{path: 'C:\\k'}]\npreKubeadmCommands: ['powershell -File C:\\k\\a.ps1']\nfiles: [{path: 'C:\\k\\a.ps1', content: x}]",
    );
    for expected in [
        "-   path: C:\\k\\a.ps1\n",
        "-   path: C:\\run\\kubeadm\\kubeadm-join-config.yaml\n    owner: root:root\n",
        "-   path: C:\\run\\cluster-api\\placeholder\n",
        "  - \"if not exist \\\"C:\\\\k\\\" mkdir \\\"C:\\\\k\\\"\"\n  - \"powershell -File C:\\\\k\\\\a.ps1\"\n",
        "\n  - kubeadm join --config C:\\run\\kubeadm\\kubeadm-join-config.yaml  && echo success > C:\\run\\cluster-api\\bootstrap-success.complete\n",
        "          key: node.cluster.x-k8s.io/uninitialized\n",
    ] {
        assert!(data.contains(expected), "{expected}\n{data}");
    }
    let talk = refused(&windlass_config("platform: windows\nonFailure: Abort"));
    assert!(
        talk.contains("error[config-rule-broken]: spec.onFailure: only Continue is supported"),
        "{talk}"
    );
    assert!(rendered("platform: windows\nonFailure: Continue").contains("kubeadm join"));
    let talk = refused(&windlass_config("platform: windows\nbootCommands: [x]"));
    assert!(
        talk.contains(
            "spec.bootCommands: Forbidden: not supported when spec.platform is set to: \"windows\""
        ) || talk.contains("not supported when spec.platform"),
        "{talk}"
    );
    let (code, _, talk) = render_text(
        &windlass_config("platform: windows"),
        &["render", "-", "--role", "init"],
    );
    assert_eq!(code, 1);
    assert!(
        talk.contains(
            "error[config-windows-control-plane]: spec.platform is windows, but the machine is of the control plane\n  --> <stdin>:5:"
        ),
        "{talk}"
    );
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: aaaaaaaaaaaaaaaaaaaaa}\n";
    let user = windlass_config(
        "platform: windows\nusers: [{name: u, passwdFrom: {secret: {name: s, key: p}}}]",
    ) + secret;
    let talk = refused(&user);
    assert!(
        talk.contains("error[config-password-unfit]: spec.users[0].passwdFrom gives a password that cloudbase-init does not take"),
        "{talk}"
    );
    assert!(!talk.contains("aaaaaaaa"), "{talk}");
}

/// The data in JSON.
fn data_of(text: &str) -> Vec<u8> {
    let (code, report, talk) = render_text(text, &["render", "-", "-o", "json"]);
    assert_eq!(code, 0, "{talk}");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["machines"][0]["dataEncoding"], "base64");
    STANDARD
        .decode(report["machines"][0]["data"].as_str().unwrap())
        .unwrap()
}

#[test]
fn data_is_compressed_as_a_whole_and_the_same_each_time() {
    let plain = rendered("files: [{path: /a, content: x}]");
    let text = windlass_config("compression: gzip\nfiles: [{path: /a, content: x}]");
    let data = data_of(&text);
    // Magic, deflate, no name, no time, slowest, system unknown (RFC 1952).
    assert_eq!(data[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
    assert_eq!(gzip::decompress(&data, 1 << 20).unwrap(), plain.as_bytes());
    assert_eq!(data_of(&text), data);
    let (code, shown, _) = render_text(&text, &["render", "-", "--plain"]);
    assert_eq!((code, shown), (0, plain));
}

/// What a person's terminal gets.
#[test]
fn compressed_data_is_not_thrown_at_a_terminal() {
    use windlass::shell::stdio::{Stdio, Stream};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(
        path("w.yaml"),
        windlass_config("compression: gzip\nfiles: [{path: /a, content: x}]"),
    )
    .unwrap();
    let run = |flags: &[&str]| {
        let file = |name: &str| std::fs::File::create(path(name)).unwrap();
        let streams = (
            Stream::new("standard output", file("out")).as_terminal(80),
            Stream::new("standard error", file("err")),
        );
        let stdio = Stdio {
            stdin: Box::new(std::io::empty()),
            stdout: streams.0,
            stderr: streams.1,
        };
        let arguments = [
            "windlass".to_owned(),
            "render".to_owned(),
            path("w.yaml").to_str().unwrap().to_owned(),
        ];
        let arguments = arguments
            .into_iter()
            .chain(flags.iter().map(|flag| (*flag).to_owned()))
            .map(std::ffi::OsString::from);
        let code = windlass::cli::run(
            arguments,
            stdio,
            &windlass::shell::environment::Environment::default(),
        );
        (
            code.code(),
            std::fs::read(path("out")).unwrap(),
            std::fs::read_to_string(path("err")).unwrap(),
        )
    };
    let (code, out, err) = run(&[]);
    assert_eq!((code, out), (2, Vec::new()), "{err}");
    assert!(
        err.contains("is compressed, and standard output is a terminal") && err.contains("--plain"),
        "{err}"
    );
    let (code, out, err) = run(&["--plain"]);
    assert!(
        code == 0 && out.starts_with(b"## template: jinja\n#cloud-config"),
        "{err}"
    );
}

#[test]
fn too_much_data_is_refused_and_says_what_is_large() {
    let content = "x".repeat(3000);
    let spec = |rest: &str| {
        windlass_config(&format!(
            "files: [{{path: /a, content: {content}}}, {{path: /b, content: b}}]\n{rest}"
        ))
    };
    let talk = refused(&spec("maxDataBytes: 2000"));
    let message = talk.lines().next().unwrap();
    assert!(
        message.starts_with("error[bootstrap-data-too-large]: bootstrap data has "),
        "{message}"
    );
    assert!(
        message.contains(" bytes, spec.maxDataBytes is 2000; largest: spec.files[0] 3000, spec.files[1] 1; with compression gzip: "),
        "{message}"
    );
    assert!(talk.contains("--> <stdin>:6:"), "{talk}");
    let (code, ..) = render_text(
        &spec("maxDataBytes: 2000\ncompression: gzip"),
        &["render", "-", "-o", "json"],
    );
    assert_eq!(code, 0);
}
