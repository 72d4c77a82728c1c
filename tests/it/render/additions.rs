//! What WindlassConfig adds to cloud-config.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use windlass_source::gzip;

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

fn rejected(text: &str) -> String {
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

/// The data in JSON.
fn data_of(text: &str) -> Vec<u8> {
    let (code, report, talk) = render_text(text, &["render", "-", "-o", "json", "--show-secrets"]);
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
    use windlass::io::stdio::{Stdio, Stream};
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
            &windlass::io::environment::Environment::default(),
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
fn too_much_data_is_rejected_and_says_what_is_large() {
    let content = "x".repeat(3000);
    let spec = |rest: &str| {
        windlass_config(&format!(
            "files: [{{path: /a, content: {content}}}, {{path: /b, content: b}}]\n{rest}"
        ))
    };
    let talk = rejected(&spec("maxDataBytes: 2000"));
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
