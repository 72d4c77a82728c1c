//! Bootstrap data: the bytes, or the refusal, of CAPI's own kubeadm bootstrap provider for each of the shared vectors.
//!
//! The vectors hold what the provider's code wrote when it was run.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use windlass::diag::{Diagnostic, Severity};
use windlass::render::cloud_config::Encoder;
use windlass::render::{self, FeatureGates, Notes, Pool, Profile, Request};
use windlass::text::source::Source;

use crate::support::{shared, windlass};

/// One vector.
struct Case {
    name: String,
    profile: String,
    exact: bool,
    normalized: Option<String>,
    ignition_gate: bool,
    folder: std::path::PathBuf,
    expected: String,
}

fn cases(root: &Path) -> Vec<Case> {
    let index: Value = serde_json::from_slice(&std::fs::read(root.join("index.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of_index = |case: &Value| Case {
        name: text(&case["name"]),
        profile: text(&case["profile"]),
        exact: case["error"]["exactText"].as_bool().unwrap_or(true),
        normalized: case["error"]["normalizedText"].as_str().map(str::to_owned),
        ignition_gate: case["featureGates"]["KubeadmBootstrapFormatIgnition"].as_bool().unwrap_or_default(),
        folder: root.join(text(&case["name"])),
        expected: text(&case["expected"]),
    };
    let cases = index["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["format"] == "cloud-config").map(of_index).collect()
}

/// Renders the only config of a vector as the provider would.
fn rendered(case: &Case) -> (Option<Vec<u8>>, Vec<Diagnostic>) {
    rendered_by(case, Encoder::Capi)
}

fn rendered_by(case: &Case, encoder: Encoder) -> (Option<Vec<u8>>, Vec<Diagnostic>) {
    let input = std::fs::read_to_string(case.folder.join("input.yaml")).unwrap();
    let (pool, report) = Pool::read(&[Source::new("input.yaml", input)]);
    let request = Request {
        profile: Profile::parse(case.profile.split("-ae7ff").next().unwrap()).unwrap(),
        stand_ins: false,
        token: Some("abcdef.0123456789abcdef".into()),
        show_secrets: true,
        encoder: Some(encoder),
        feature_gates: FeatureGates { ignition: case.ignition_gate, machine_pool: true },
        ..Request::new()
    };
    let mut notes = Notes { report, ..Notes::default() };
    let targets: Vec<_> = render::targets(&pool).into_iter().filter(|target| target.config.kind() == "KubeadmConfig").collect();
    assert!(targets.len() <= 1, "{}: several configs", case.name);
    let data = targets.first().and_then(|target| render::render(&pool, target, &request, &mut notes));
    let findings = notes.report.into_findings();
    (data.map(|rendered| rendered.data.into_inner()), findings)
}

fn check(case: &Case) -> Result<(), String> {
    let expected = std::fs::read(case.folder.join(&case.expected)).unwrap();
    let (data, findings) = rendered(case);
    let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let shown = || errors.iter().map(|finding| format!("{finding:?}")).collect::<Vec<_>>().join("\n");
    if case.expected != "expected.error.txt" {
        return match data {
            Some(data) if data == expected && errors.is_empty() => Ok(()),
            Some(data) => Err(format!("{}\n{}", first_difference(&data, &expected), shown())),
            None => Err(format!("refused: {}", shown())),
        };
    }
    let expected = String::from_utf8(expected).unwrap();
    if data.is_some() || errors.is_empty() {
        return Err(format!("not refused; expected {expected:?}\n{}", shown()));
    }
    let upstream: Vec<&str> = errors.iter().filter_map(|finding| finding.upstream.as_deref()).collect();
    let passes = match &case.normalized {
        Some(normalized) => upstream.iter().any(|text| without_positions(text) == *normalized),
        None if case.exact => upstream.contains(&expected.as_str()),
        None => true,
    };
    if passes { Ok(()) } else { Err(format!("expected {expected:?}\n{}", shown())) }
}

/// What a reader of YAML 1.1 finds in a document; `None` when it finds none.
fn read_back(data: &[u8]) -> Option<Value> {
    let source = Source::new("user-data", std::str::from_utf8(data).ok()?);
    let parsed = windlass::text::yaml::parse(&source, &Default::default());
    let readable = !parsed.report.has_errors() && parsed.documents.len() == 1;
    readable.then(|| parsed.documents[0].root.to_json())
}

/// The typed encoder gives the same bytes wherever they are read back as they were meant, and always gives what can be read.
#[test]
fn typed_differs_only_where_a_text_is_misread() {
    let Some(root) = shared("vectors/render") else { return };
    let mut same = 0;
    for case in cases(&root).iter().filter(|case| case.expected == "expected.cloud-config") {
        let (capi, typed) = (rendered_by(case, Encoder::Capi).0.unwrap(), rendered_by(case, Encoder::Typed).0.unwrap());
        if capi == typed {
            same += 1;
            continue;
        }
        let difference = first_difference(&typed, &capi);
        let read = read_back(&typed);
        assert!(read.is_some(), "{}: cannot be read: {difference}", case.name);
        assert_ne!(read, read_back(&capi), "{}: differs without need: {difference}", case.name);
    }
    assert!(same > 250, "only {same} vectors are the same");
}

/// The numbers after `line` and `column` replaced by `*`.
fn without_positions(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for index in 1..words.len() {
        if words[index - 1] == "line" || words[index - 1] == "column" {
            let rest = words[index].trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
            words[index] = format!("*{rest}");
        }
    }
    words.join(" ")
}

fn first_difference(ours: &[u8], theirs: &[u8]) -> String {
    let (ours, theirs) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(theirs));
    let lines = ours.lines().zip(theirs.lines()).enumerate();
    let differing = lines
        .filter(|(_, (ours, theirs))| ours != theirs)
        .map(|(at, (ours, theirs))| format!("line {}:\n  ours   {ours:?}\n  theirs {theirs:?}", at + 1));
    differing.take(1).next().unwrap_or_else(|| format!("lengths {} and {}", ours.len(), theirs.len()))
}

#[test]
fn cloud_config_vectors() {
    let Some(root) = shared("vectors/render") else { return };
    let cases = cases(&root);
    let with_data = cases.iter().filter(|case| case.expected == "expected.cloud-config").count();
    assert!(
        with_data >= 324 && cases.len() - with_data >= 64,
        "the shared set has become smaller: {with_data} of {}",
        cases.len()
    );
    let failures: Vec<_> =
        cases.iter().filter_map(|case| check(case).err().map(|difference| format!("{}: {difference}", case.name))).collect();
    assert!(failures.is_empty(), "{} of {} vectors differ:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// Runs `windlass render` on a text from standard input: exit code, standard output, standard error.
fn render_text(text: &str, flags: &[&str]) -> (i32, String, String) {
    let mut command = windlass(Path::new("."));
    let mut child = command.args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let string = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), string(output.stdout), string(output.stderr))
}

const WORKER: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  files:\n  - {path: /etc/a, content: x}\n";

#[test]
fn data_is_all_of_standard_output_and_stand_ins_are_named() {
    let (code, data, talk) = render_text(WORKER, &["render", "-"]);
    assert_eq!(code, 0, "{talk}");
    assert!(
        data.starts_with("## template: jinja\n#cloud-config\n\nwrite_files:\n-   path: /etc/a\n    content: |\n      x\n"),
        "{data}"
    );
    for flag in ["--role", "--kubernetes-version", "--endpoint", "--token", "--ca-cert-hash"] {
        assert_eq!(talk.matches(&format!("({flag})")).count(), 1, "{talk}");
    }
    let given = ["render", "-", "--role", "worker-join", "--kubernetes-version", "v1.34.1", "--endpoint", "10.0.0.1:6443"];
    let given = [&given[..], &["--token", "abcdef.0123456789abcdef", "--ca-cert-hash", "sha256:aa"]].concat();
    let (code, data, talk) = render_text(WORKER, &given);
    assert_eq!(code, 0);
    assert!(!talk.contains("stand-in"), "{talk}");
    assert!(data.contains("apiServerEndpoint: 10.0.0.1:6443\n"), "{data}");
}

#[test]
fn every_fault_is_in_one_report_at_its_place() {
    let text = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec:\n  preKubeadmCommand: [a]\n  files:\n  - path: /a\n    permissions: 0644\n";
    let (code, data, talk) = render_text(text, &["render", "-"]);
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    assert!(
        talk.contains("error[config-field-unknown]: unknown field `spec.preKubeadmCommand`\n  --> <stdin>:5:3"),
        "{talk}"
    );
    assert!(talk.contains("did you mean `preKubeadmCommands`?"), "{talk}");
    assert!(talk.contains("error[config-value-refused]: spec.files[0].permissions is the number 420"), "{talk}");
    assert!(talk.ends_with("2 errors; no data written\n"), "{talk}");
}

#[test]
fn findings_stand_in_the_template_that_was_substituted() {
    let text = WORKER.replace("name: w", "name: \"${NAME}\"").replace("content: x", "contnt: x");
    let (code, _, talk) = render_text(&text, &["render", "-", "--template", "--var", "NAME=a-long-name"]);
    assert_eq!(code, 1);
    assert!(talk.contains("unknown field `spec.files[0].contnt`\n  --> <stdin>:6:20"), "{talk}");
    let (code, _, talk) = render_text(&text, &["render", "-", "--template"]);
    assert_eq!(code, 1);
    assert!(
        talk.contains("error[template-not-substituted]: variable NAME has no value and no default\n  --> <stdin>:3:"),
        "{talk}"
    );
}

#[test]
fn quirks_that_change_the_meaning_are_warnings() {
    let text = WORKER
        .replace("  files:", "  users:\n  - {name: ops, gecos: 'Ops #2'}\n  files:")
        .replace("content: x", "content: '{{ .Values.x }}'");
    let (code, data, talk) = render_text(&text, &["render", "-"]);
    assert_eq!(code, 0, "{talk}");
    assert!(talk.contains("warning[cloud-config-value-cut]: spec.users[0].gecos reaches cloud-init as `Ops`"), "{talk}");
    assert!(talk.contains("warning[cloud-config-jinja]: spec.files[0]"), "{talk}");
    assert!(data.contains("    gecos: Ops #2\n"), "{data}");
    assert_eq!(render_text(&text, &["render", "-", "--deny", "warnings"]).0, 1);
    let (_, typed, _) = render_text(&text, &["render", "-", "--encoder", "typed"]);
    assert!(typed.contains("    gecos: \"Ops #2\"\n"), "{typed}");
}

#[test]
fn extracted_files_stay_inside_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("node");
    let text = WORKER.replace("/etc/a", "/../../etc/../up");
    let (code, _, talk) = render_text(&text, &["render", "-", "--extract", target.to_str().unwrap()]);
    assert_eq!(code, 0, "{talk}");
    assert_eq!(std::fs::read(target.join("etc/up")).unwrap(), b"x\n");
    assert!(target.join(".windlass/user-data").is_file());
    assert!(target.join("run/kubeadm/kubeadm-join-config.yaml").is_file());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn json_is_printed_on_a_fault_too() {
    let (code, text, _) = render_text(WORKER, &["render", "-", "-o", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["kind"]), (0, &Value::from("Render")));
    assert_eq!(report["machines"][0]["plan"]["files"][0]["from"], "spec.files[0]");
    let (code, text, _) = render_text(&WORKER.replace("content", "contnt"), &["render", "-", "-o", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["machines"][0]["data"]), (1, &Value::Null));
    assert_eq!(report["findings"][0]["rule"], "config-field-unknown");
}
