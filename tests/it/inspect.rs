//! `inspect`: bootstrap data read back, and nothing secret shown.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use windlass_debugging::commands::inspect::{self as ops, Inspecting};
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::{files_below, root, runs, vectors, windlass};
use crate::untrusted::harmless;

/// Runs `inspect -` on bytes.
fn inspect(bytes: &[u8], arguments: &[&str]) -> Output {
    let mut command = windlass(root());
    command
        .args(["inspect", "-", "--at", "2026-11-23T10:00:00Z"])
        .args(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that ends early reads nothing.
    let _ = stdin.write_all(bytes);
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn json(bytes: &[u8], arguments: &[&str]) -> Value {
    let output = inspect(bytes, &[arguments, &["-o", "json"]].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Rules of the findings.
fn rules(report: &Value) -> Vec<&str> {
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect()
}

const DATA: &str = "## template: jinja\n#cloud-config\n\nwrite_files:\n-   path: /etc/a\n    owner: root:root\n    permissions: '0600'\n    \
    content: |\n      hunter2-content\nusers:\n  - name: ops\n    passwd: hunter2-password\nruncmd:\n  - \"curl -u admin:hunter2 https://x\"\n  \
    - kubeadm join --config /k --token abcdef.hunter2hunter2hu && echo success > /run/cluster-api/bootstrap-success.complete\n";

/// The values of the Secrets of a vector that nobody could take for something else, in the forms in
/// which data holds them.
pub(crate) fn canaries(input: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(input).into_owned();
    let parsed = yaml::parse(&Source::new("input.yaml", text), &Budget::default());
    let objects = parsed
        .documents
        .into_iter()
        .map(|document| document.root.into_json());
    let secrets = objects.filter(|object| object["kind"] == "Secret");
    let data = secrets.flat_map(|secret| secret["data"].as_object().cloned().unwrap_or_default());
    let texts = data.filter_map(|(_, value)| {
        String::from_utf8(STANDARD.decode(value.as_str()?.trim()).ok()?).ok()
    });
    // Of PEM the lines of the body; certificates are public, and their subjects are shown.
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    lines
        .filter(|line| {
            line.trim().len() >= 8 && !line.starts_with("-----") && !line.starts_with("#!")
        })
        .collect()
}

/// Every vector's data is read without a failure, and no value of a Secret that went into it comes
/// out.
#[test]
fn data_of_every_vector_is_read_and_no_secret_comes_out() {
    let folder = vectors("render");
    let expected = |path: &std::path::Path| {
        path.file_name()
            .is_some_and(|name| name == "expected.cloud-config" || name == "expected.ignition.json")
    };
    let files: Vec<_> = files_below(&folder)
        .into_iter()
        .filter(|path| expected(path))
        .collect();
    assert!(files.len() > 200, "{}", files.len());
    let (mut with_canaries, mut steps, mut whole) = (0, 0, 0);
    for file in &files {
        let data = std::fs::read(file).unwrap();
        let name = file.display();
        let inspecting = Inspecting {
            name: "data",
            bytes: &data,
            log: None,
            is_log_alone: false,
            now: 1_795_428_000,
            show_secrets: false,
        };
        let (inspected, report, _) = ops::run(&inspecting, &Budget::default());
        assert_eq!(inspected.documents.len(), 1, "{name}");
        steps += inspected.documents[0].steps.len();
        // What a shell does with commands out of every sign that there is, nobody knows.
        let is_broken =
            |rule: &str| rule.starts_with("yaml-") || rule == "inspect-command-unclosed";
        let is_whole = !report
            .findings()
            .iter()
            .any(|finding| is_broken(finding.rule.id));
        whole += usize::from(is_whole);
        if is_whole {
            assert!(
                inspected
                    .sentinel
                    .as_ref()
                    .is_some_and(|sentinel| sentinel.conditional),
                "{name}"
            );
        }
        let printed = format!(
            "{}{}{report:?}",
            serde_json::to_string(&inspected).unwrap(),
            ops::text(&inspected, false)
        );
        let input = std::fs::read(file.with_file_name("input.yaml")).unwrap();
        let canaries = canaries(&input);
        with_canaries += usize::from(!canaries.is_empty());
        // Paths and users of the config are not secrets, even where a Secret holds the same words.
        let input = String::from_utf8_lossy(&input);
        let config = input
            .split("kind: KubeadmConfig")
            .nth(1)
            .unwrap_or_default();
        for canary in canaries
            .iter()
            .filter(|canary| !config.contains(canary.trim()))
        {
            assert!(!printed.contains(canary.trim()), "{name}: {canary}");
        }
        assert!(
            !printed.contains("0123456789abcdef"),
            "{name} shows a token"
        );
    }
    assert!(
        with_canaries > 50 && steps > 2000 && whole + 20 > files.len(),
        "{with_canaries} {steps} {whole}"
    );
}

#[test]
fn nothing_secret_is_shown_unless_it_is_wished() {
    for packed in [
        DATA.as_bytes().to_vec(),
        gzip(DATA.as_bytes()),
        STANDARD.encode(DATA).into_bytes(),
    ] {
        for arguments in [&[][..], &["-o", "json"], &["-v", "5"]] {
            let shown = harmless(&inspect(&packed, arguments));
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(
                shown.contains("/etc/a") && shown.contains("ops") && shown.contains("abcdef"),
                "{shown}"
            );
        }
        let shown = harmless(&inspect(&packed, &["--show-secrets"]));
        assert!(
            shown.contains("==> /etc/a <==\nhunter2-content\n") && shown.contains("admin:hunter2"),
            "{shown}"
        );
    }
}

/// Many keys that a later part has too are told by their count.
#[test]
fn of_many_replaced_keys_the_first_are_told_and_the_others_counted() {
    let part = |value: &str| {
        (0..60).fold("#cloud-config\n".to_owned(), |part, at| {
            format!("{part}k{at}: {value}\n")
        })
    };
    let message = format!(
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n{}\n--b\n\n{}\n--b--\n",
        part("x"),
        part("y")
    );
    let report = json(message.as_bytes(), &[]);
    let told: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "inspect-key-replaced")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    assert_eq!(told.len(), 51, "{told:?}");
    assert_eq!(
        told.iter()
            .filter(|told| told.starts_with("10 more keys never take effect either"))
            .count(),
        1,
        "{told:?}"
    );
}

/// Bombs, nesting, control characters and noise: a report, in time.
#[test]
fn hostile_data_neither_panics_nor_hangs() {
    let mut bomb = gzip(&vec![b'a'; 32 << 20]);
    for _ in 0..3 {
        bomb = gzip(&bomb);
    }
    let mut nested = "x".to_owned();
    for depth in 0..100 {
        nested = format!(
            "Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n{nested}\n--b{depth}--\n"
        );
    }
    let endless = "Content-Type: multipart/mixed; boundary=b\n\n".repeat(10_000);
    let aliases = format!(
        "#cloud-config\na: &a [x,x,x,x,x,x,x,x,x]\n{}",
        (0..9)
            .map(|n| format!("b{n}: &b{n} [{}]\n", ["*a"; 9].join(",")))
            .collect::<String>()
    );
    // Commands in which everything that hides a secret begins and nothing ends.
    let begun = [
        "mysql ",
        "'",
        "\"",
        "password ",
        "password=\"",
        "\\\"",
        "-u a",
        "<<A ",
        "<<A\n",
        "docker login '-p",
        "https://",
        "((<<a",
    ];
    let begun: Vec<String> = begun
        .iter()
        .map(|part| part.repeat(30_000 / part.len()))
        .collect();
    let data: Vec<Vec<u8>> = vec![
        Vec::new(),
        format!("#cloud-config\nruncmd: {}\n", serde_json::to_string(&begun).unwrap()).into_bytes(),
        bomb,
        nested.into_bytes(),
        endless.into_bytes(),
        aliases.into_bytes(),
        "[".repeat(100_000).into_bytes(),
        format!("{{\"ignition\":{}", "[".repeat(100_000)).into_bytes(),
        b"#cloud-config\nruncmd: [\"a\x1b[2J\xe2\x80\xae\"]\nusers: [{name: \"::stop-commands::x\"}]\n".to_vec(),
        b"#cloud-config\nruncmd:\n- \"a\\e[2J\\n::stop-commands::x\"\nwrite_files: [{path: \"/\\e]0;x\\a\"}, {path: 1}, 3, null]\n".to_vec(),
        (0..=255).collect(),
        format!("#cloud-config\nruncmd:\n{}", "- a || true\n".repeat(20_000)).into_bytes(),
        format!("#cloud-config\nruncmd: [\"{}\"]\n", "f() { ".repeat(20_000)).into_bytes(),
        format!(
            "#cloud-config\nruncmd:\n{}{}",
            "- if a; then\n".repeat(4_500),
            "- touch /run/cluster-api/bootstrap-success.complete\n".repeat(4_500)
        )
        .into_bytes(),
        format!("#cloud-config\nruncmd: [\"{}\"]\n", "( { a || ".repeat(20_000)).into_bytes(),
        b"{\"ignition\":{\"version\":\"3.4.0\"},\"storage\":{\"files\":[{\"path\":7,\"mode\":99999999999,\"contents\":[]}]},\"systemd\":[]}".to_vec(),
    ];
    for bytes in data {
        let started = std::time::Instant::now();
        let output = inspect(&bytes, &[]);
        let shown = harmless(&output);
        let begin = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{begin}: {shown}"
        );
        assert!(!shown.contains("internal error"), "{begin}: {shown}");
        assert!(
            started.elapsed().as_secs() < 20,
            "{begin}: {:?}",
            started.elapsed()
        );
        assert!(
            serde_json::from_slice::<Value>(&inspect(&bytes, &["-o", "json"]).stdout).is_ok(),
            "{begin}"
        );
    }
}

/// Commands in which `a` fails, with and without `set -e`, in dash and bash: whether the next
/// command runs, and what the script ends with, is what the step says.
#[test]
fn shells_do_with_a_failure_what_the_step_says() {
    const COMMANDS: [&str; 23] = [
        "a",
        "a && true",
        "true && a",
        "a || true",
        "a || :",
        "a || exit 1",
        "a || { echo no; exit 2; }",
        "a || exit 0",
        "a; true",
        "{ a; }",
        "{ a; true; } || true",
        "{ a; } || exit 3",
        "(a)",
        "(a) || true",
        "if true; then a; fi",
        "if true; then a || true; fi",
        "true | a",
        "for i in 1; do a; done",
        "case x in x) a;; esac",
        "a &",
        "x=$(a)",
        "{ echo 1; a; } > /dev/null",
        "set +e; a",
    ];
    for shell in ["dash", "bash"] {
        if !runs(&[shell, "-c", "true"]) {
            continue;
        }
        for (command, is_strict) in COMMANDS
            .iter()
            .flat_map(|command| [(*command, false), (*command, true)])
        {
            let set = if is_strict { "set -e" } else { "set +e" };
            for (last, ends) in [("echo REACHED", false), ("", true)] {
                let commands: Vec<&str> = ["a() { return 3; }", set, command, last]
                    .into_iter()
                    .filter(|line| !line.is_empty())
                    .collect();
                let data = format!(
                    "#cloud-config\nruncmd: {}\n",
                    serde_json::to_string(&commands).unwrap()
                );
                let report = json(data.as_bytes(), &[]);
                let failure = report["documents"][0]["steps"][2]["failure"]
                    .as_str()
                    .unwrap();
                let output = Command::new(shell)
                    .args(["-c", &commands.join("\n")])
                    .output()
                    .unwrap();
                let reached = String::from_utf8_lossy(&output.stdout).contains("REACHED");
                let is_success = output.status.success();
                let is_right = match (failure, ends) {
                    ("ends-script", false) => !reached,
                    ("ends-script" | "reported", true) => !is_success || command.contains("exit 0"),
                    ("goes-on" | "swallowed", false) => reached || command.contains("exit 0"),
                    ("goes-on" | "swallowed", true) => is_success,
                    _ => false,
                };
                assert!(
                    is_right,
                    "{shell}: {set}: {command:?}: {failure}, reached: {reached}, success: {is_success}"
                );
            }
        }
    }
}

/// What dash and bash say of scripts that they cannot read, in their own words.
#[test]
fn what_shells_say_of_a_script_that_they_cannot_read_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    for (shell, script) in [
        ("dash", "echo 'a"),
        ("bash", "echo 'a"),
        ("dash", "if true; then"),
        ("bash", "if true; then"),
        ("dash", "done"),
        ("bash", "done"),
    ] {
        if !runs(&[shell, "-c", "true"]) {
            continue;
        }
        let path = folder.path().join("runcmd");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        let said = Command::new(shell).arg(&path).output().unwrap().stderr;
        std::fs::write(&log, &said).unwrap();
        let report = json(
            b"#cloud-config\nruncmd: [a && touch /run/cluster-api/bootstrap-success.complete]\n",
            &["--log", log.to_str().unwrap()],
        );
        let told = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(rules(&report), ["inspect-log-cause"], "{told}");
        assert!(
            report["findings"][0]["message"]
                .as_str()
                .unwrap()
                .contains("cannot read"),
            "{told}"
        );
    }
}

/// cloud-init's own code says what it takes documents for.
#[test]
fn documents_are_what_cloud_init_takes_them_for() {
    const PYTHON: &str = "/usr/bin/python3";
    const ASK: &str = "import sys,json\nfrom cloudinit import handlers, templater\nout=[]\nfor text in json.load(sys.stdin):\n    kind = handlers.type_from_starts_with(text)\n    \
        if kind == 'text/jinja2':\n        try:\n            engine, _, body = templater.detect_template(text)\n            kind = handlers.type_from_starts_with(body) if engine == 'jinja' else None\n            \
        kind = kind if kind in ('text/cloud-config', 'text/x-shellscript', 'text/cloud-boothook') else None\n        except ValueError:\n            kind = None\n    \
        out.append(kind)\njson.dump(out, sys.stdout)\n";
    if !runs(&[PYTHON, "-c", "import cloudinit, jinja2"]) {
        return;
    }
    let words = [
        "#cloud-config",
        "#Cloud-Config",
        "#cloud-config-jsonp",
        "#cloud-boothook",
        "#CLOUD-BOOTHOOK",
        "#include",
        "#Include-Once",
        "#!/bin/sh",
        "#part-handler",
        "# cloud-config",
        "cloud-config",
    ];
    let before = [
        "",
        " ",
        "\n",
        "\u{feff}",
        "\u{a0}",
        "\u{1c}",
        "## template: jinja\n",
        "## Template: JINJA\r\n",
        "## template: jinja \n\n ",
        "\n## template: jinja\n",
        "##template: jinja\n",
        "## template: jinja2\n",
        "## template:jinja\n",
    ];
    let texts: Vec<String> = before
        .iter()
        .flat_map(|before| {
            words
                .iter()
                .map(move |word| format!("{before}{word}\nruncmd: [a]\n"))
        })
        .collect();
    let mut child = Command::new(PYTHON)
        .args(["-c", ASK])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&serde_json::to_vec(&texts).unwrap())
        .unwrap();
    let answers: Vec<Option<String>> =
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let mut known = 0;
    for (text, answer) in texts.iter().zip(answers) {
        let expected = match answer.as_deref() {
            Some("text/cloud-config") => "cloud-config",
            Some("text/x-shellscript") => "shell script",
            Some("text/cloud-boothook") => "boothook",
            Some("text/x-include-url" | "text/x-include-once-url") => "include",
            _ => "unknown",
        };
        known += usize::from(expected != "unknown");
        let inspecting = Inspecting {
            name: "data",
            bytes: text.as_bytes(),
            log: None,
            is_log_alone: false,
            now: 0,
            show_secrets: false,
        };
        let (inspected, ..) = ops::run(&inspecting, &Budget::default());
        assert_eq!(inspected.documents[0].form, expected, "{text:?}");
    }
    assert!(known > 40, "{known}");
}
