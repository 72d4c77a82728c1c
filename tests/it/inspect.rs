//! `inspect`: bootstrap data read back, and nothing secret shown.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use windlass::ops::inspect::{self as ops, Inspecting};
use windlass::text::budget::Budget;
use windlass::text::source::Source;
use windlass::text::yaml;

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

fn text(bytes: &[u8]) -> String {
    harmless(&inspect(bytes, &[]))
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
        // Paths and users of the config are no secrets, even where a Secret holds the same words.
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

/// A fault in the document is told with its line, and its words are not quoted.
#[test]
fn what_does_not_parse_has_a_line_and_a_column_and_is_not_quoted() {
    for broken in [
        "a: hunter2: x",
        "hunter2: [",
        "*hunter2",
        "a: \"hunter2\\q\"",
        "hunter2: 1\nhunter2: 2",
        "!hunter2 x",
    ] {
        let data = format!("#cloud-config\nruncmd: [a]\n{broken}\n");
        let report = json(data.as_bytes(), &[]);
        let finding = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|finding| finding["rule"].as_str().unwrap().starts_with("yaml-"));
        let finding = finding.unwrap_or_else(|| panic!("{broken}: {report}"));
        assert!(
            finding["line"].as_u64().is_some_and(|line| line >= 3) && finding["column"].is_u64(),
            "{broken}: {finding}"
        );
        let shown = text(data.as_bytes());
        assert!(
            !shown.contains("hunter2") && !report.to_string().contains("hunter2"),
            "{broken}: {shown}"
        );
    }
    let report = json(
        b"{\n \"ignition\": {\"version\": \"3.4.0\"},\n \"a\": hunter2}\n",
        &[],
    );
    assert_eq!(
        (
            report["findings"][0]["rule"].as_str(),
            report["findings"][0]["line"].as_u64()
        ),
        (Some("inspect-document-invalid"), Some(3))
    );
    assert!(!report.to_string().contains("hunter2"));
}

/// A manifest as `kubectl get secret -o yaml` prints it, with the key `format` and its age.
#[test]
fn a_secret_is_read_as_kubectl_prints_it() {
    let manifest = format!(
        "apiVersion: v1\ndata:\n  format: {}\n  value: {}\nkind: Secret\nmetadata:\n  creationTimestamp: \"2026-11-23T08:00:00Z\"\n  name: md-0\n  \
         namespace: prod\ntype: cluster.x-k8s.io/secret\n",
        STANDARD.encode("cloud-config"),
        STANDARD.encode(gzip(DATA.as_bytes()))
    );
    let report = json(manifest.as_bytes(), &[]);
    let secret = &report["secrets"][0];
    assert_eq!(
        (secret["name"].as_str(), secret["format"].as_str()),
        (Some("prod/md-0"), Some("cloud-config"))
    );
    assert_eq!(secret["ageSeconds"], 7200);
    assert_eq!(
        report["documents"][0]["packing"],
        serde_json::json!(["Secret md-0, value", "gzip"])
    );
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}",
        manifest.trim_end().replace('\n', "\n  ")
    );
    assert_eq!(
        json(list.as_bytes(), &[])["documents"][0]["form"],
        "cloud-config"
    );
}

/// The order is that of cloud-init, the numbers count through all documents, and each step says
/// what follows when it fails.
#[test]
fn steps_are_numbered_and_say_what_follows_when_they_fail() {
    let report = json(DATA.as_bytes(), &[]);
    let steps = report["documents"][0]["steps"].as_array().unwrap();
    let shown: Vec<_> = steps
        .iter()
        .map(|step| {
            (
                step["by"].as_str().unwrap(),
                step["failure"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("write_files[0]", "goes-on"),
        ("users", "goes-on"),
        ("runcmd[0]", "goes-on"),
        ("runcmd[1]", "reported"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(
        steps
            .iter()
            .map(|step| step["number"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert_eq!(
        (
            report["sentinel"]["by"].as_str(),
            report["sentinel"]["conditional"].as_bool()
        ),
        (Some("runcmd[1]"), Some(true))
    );
    assert_eq!(report["tokens"], serde_json::json!(["abcdef"]));
}

/// Messages as cloud-init's own tool and as Terraform write them.
#[test]
fn messages_of_the_wild_are_read() {
    let terraform = format!(
        "Content-Type: multipart/mixed; boundary=\"MIMEBOUNDARY\"\nMIME-Version: 1.0\r\n\r\n--MIMEBOUNDARY\r\nContent-Disposition: attachment; \
         filename=\"init.cfg\"\r\nContent-Transfer-Encoding: 7bit\r\nContent-Type: text/cloud-config\r\nMime-Version: 1.0\r\n\r\n{}\r\n--MIMEBOUNDARY\r\n\
         Content-Transfer-Encoding: base64\r\nContent-Type: text/x-shellscript\r\n\r\n{}\r\n--MIMEBOUNDARY--\r\n",
        "#cloud-config\nruncmd: [a]\n",
        STANDARD.encode("#!/bin/sh\nb\n")
    );
    for packed in [
        terraform.clone().into_bytes(),
        gzip(terraform.as_bytes()),
        STANDARD.encode(gzip(terraform.as_bytes())).into_bytes(),
    ] {
        let report = json(&packed, &[]);
        let forms: Vec<_> = report["documents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|document| document["form"].as_str().unwrap())
            .collect();
        assert_eq!(forms, ["cloud-config", "shell script"]);
    }
    // What cloud-init keeps in /var/lib/cloud/instance/user-data.txt.i: a part of a type that its
    // beginning tells.
    let kept = "Content-Type: multipart/mixed; boundary=\"===============7743428956453402397==\"\nMIME-Version: 1.0\nNumber-Attachments: 1\n\n\
        --===============7743428956453402397==\nMIME-Version: 1.0\nContent-Type: text/plain; charset=\"utf-8\"\n\
        Content-Disposition: attachment; filename=\"part-001\"\n\n#cloud-config\nruncmd: [a]\n\n--===============7743428956453402397==--\n";
    assert_eq!(
        json(kept.as_bytes(), &[])["documents"][0]["form"],
        "cloud-config"
    );
}

#[test]
fn certificates_are_judged_as_of_the_time_that_is_named() {
    let mut parameters = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters
        .distinguished_name
        .push(rcgen::DnType::CommonName, "kubernetes");
    parameters.not_after = rcgen::date_time_ymd(2026, 12, 1);
    let pem = parameters
        .self_signed(&rcgen::KeyPair::generate().unwrap())
        .unwrap()
        .pem();
    let body = pem
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect::<String>();
    let data = format!(
        "#cloud-config\nwrite_files:\n- path: /ca.crt\n  content: |\n{body}runcmd:\n- a && touch /run/cluster-api/bootstrap-success.complete\n"
    );
    let at = |time: &str| {
        let report = json(data.as_bytes(), &["--at", time]);
        let certificate = report["certificates"][0].clone();
        assert_eq!(
            (
                certificate["subject"].as_str(),
                certificate["notAfter"].as_str()
            ),
            (Some("CN=kubernetes"), Some("2026-12-01T00:00:00Z"))
        );
        (
            rules(&report).first().map(|rule| (*rule).to_owned()),
            certificate["expired"].as_bool().unwrap(),
        )
    };
    assert_eq!(at("2026-10-01T00:00:00Z"), (None, false));
    assert_eq!(
        at("2026-11-23T00:00:00Z"),
        (Some("inspect-certificate-expiring".to_owned()), false)
    );
    assert_eq!(
        at("2026-12-02T00:00:00Z"),
        (Some("inspect-certificate-expired".to_owned()), true)
    );
    assert_eq!(
        inspect(data.as_bytes(), &["--at", "yesterday"])
            .status
            .code(),
        Some(2)
    );
}

/// The log names a line of the script; the step is the command that stands there.
#[test]
fn a_log_leads_to_the_command_and_to_the_report_of_others() {
    let output = windlass(root())
        .args([
            "inspect",
            "examples/user-data.txt",
            "--log",
            "examples/cloud-init-output.log",
            "-o",
            "json",
        ])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = report["log"]["found"].as_array().unwrap();
    let shown: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["line"].as_u64().unwrap(),
                line["step"].as_u64(),
                line["report"].as_str(),
            )
        })
        .collect();
    let expected = [
        (2, Some(3), None),
        (
            4,
            Some(5),
            Some("https://github.com/kubernetes/kubeadm/issues/668"),
        ),
        (
            7,
            None,
            Some("https://github.com/kubernetes-sigs/cluster-api/issues/11427"),
        ),
    ];
    assert_eq!(shown, expected);
    assert_eq!(
        report["documents"][0]["steps"][2]["what"],
        "modprobe br_netfilter"
    );
}

#[test]
fn a_log_shows_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    std::fs::write(&log, "error execution phase preflight: token abcdef.hunter2hunter2hu\x1b[2J\n::stop-commands::x\n").unwrap();
    let shown = harmless(&inspect(DATA.as_bytes(), &["--log", log.to_str().unwrap()]));
    assert!(
        !shown.contains("hunter2") && shown.contains("error execution phase"),
        "{shown}"
    );
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

/// RKE2's provider makes the sentinel whatever became of the commands before it, because runcmd
/// goes on after errors.
#[test]
fn a_sentinel_that_comes_whatever_happens_is_told() {
    let data = "#cloud-config\nruncmd:\n- systemctl start rke2-server.service\n- mkdir -p /run/cluster-api\n\
        - echo success > /run/cluster-api/bootstrap-success.complete\n";
    let report = json(data.as_bytes(), &[]);
    assert_eq!(
        (rules(&report), report["sentinel"]["conditional"].as_bool()),
        (vec!["inspect-sentinel-unconditional"], Some(false))
    );
    assert_eq!(report["findings"][0]["line"], 5);
}

/// A file of that name is there before any command has run; and PowerShell has words of its own.
#[test]
fn the_sentinel_may_be_a_file_or_come_from_powershell() {
    let windows = r"C:\run\cluster-api\bootstrap-success.complete";
    let file = |path: &str, content: &str| {
        format!(
            "#cloud-config\nwrite_files: [{{path: '{path}', content: '{content}'}}]\nruncmd: [kubeadm join]\n"
        )
    };
    for (data, by, conditional) in [
        (
            file("/run/cluster-api/bootstrap-success.complete", "success"),
            "write_files[0]",
            false,
        ),
        (file(windows, "success"), "write_files[0]", false),
        (
            file(
                r"C:\k\join.ps1",
                &format!("kubeadm join; if ($?) {{ New-Item {windows} }}"),
            ),
            r"C:\k\join.ps1",
            true,
        ),
        (
            file(r"C:\k\a.yaml", "").replace(
                "[kubeadm join]",
                &format!("[kubeadm join, 'if errorlevel 1 exit /b 1', 'echo success > {windows}']"),
            ),
            "runcmd[2]",
            true,
        ),
        (
            file(r"c:/run/cluster-api/Bootstrap-Success.complete", "success"),
            "write_files[0]",
            false,
        ),
        (
            file("/run//cluster-api/./bootstrap-success.complete", "success"),
            "write_files[0]",
            false,
        ),
        (
            file(
                "/k/join.sh",
                "kubeadm join && echo success >| /run/cluster-api/bootstrap-success.complete",
            ),
            "/k/join.sh",
            true,
        ),
        (
            file(
                r"C:\k\join.ps1",
                &format!("kubeadm join; Set-Content {windows} success"),
            ),
            r"C:\k\join.ps1",
            false,
        ),
        (
            file(
                "/k/join.sh",
                "kubeadm join && touch /run/cluster-api/bootstrap-success.complete",
            ),
            "/k/join.sh",
            true,
        ),
        (
            file(r"C:\k\a.yaml", "").replace(
                "kubeadm join",
                &format!("'powershell -Command \"kubeadm join; if ($?) {{ ni {windows} }}\"'"),
            ),
            "runcmd[0]",
            true,
        ),
    ] {
        let report = json(data.as_bytes(), &[]);
        let found = (
            report["sentinel"]["by"].as_str(),
            report["sentinel"]["conditional"].as_bool(),
        );
        assert_eq!(found, (Some(by), Some(conditional)), "{data}");
        let expected: &[&str] = if conditional {
            &[]
        } else {
            &["inspect-sentinel-unconditional"]
        };
        assert_eq!(rules(&report), expected, "{data}");
        let help = match by {
            "write_files[0]" => {
                "leave the file out, and let the command that joins write it behind `&&`"
            }
            _ => {
                "write it behind `if ($LASTEXITCODE -eq 0)` in PowerShell, and behind `|| exit /b 1` in a batch file"
            }
        };
        assert!(
            conditional || report["findings"][0]["help"] == help,
            "{report}"
        );
    }
    // Another file of that name is none.
    for path in [
        "/tmp/bootstrap-success.complete",
        r"C:\run\bootstrap-success.complete",
        "run/cluster-api/bootstrap-success.complete",
    ] {
        assert_eq!(
            rules(&json(file(path, "success").as_bytes(), &[])),
            ["inspect-sentinel-missing"],
            "{path}"
        );
    }
    let other = file(
        "/k/join.sh",
        "kubeadm join && touch /run/cluster-api/bootstrap-success.complete.tmp",
    );
    assert_eq!(
        rules(&json(other.as_bytes(), &[])),
        ["inspect-sentinel-missing"]
    );
}

/// The book names one file for Linux and one for Windows (bootstrap contract, "Sentinel File").
#[test]
fn the_sentinel_that_is_missing_is_that_of_the_platform() {
    for (path, sentinel) in [
        ("/etc/a", "/run/cluster-api/bootstrap-success.complete"),
        (
            "C:/k/a.yaml",
            r"C:\run\cluster-api\bootstrap-success.complete",
        ),
    ] {
        let report = json(
            format!("#cloud-config\nwrite_files: [{{path: '{path}', content: a}}]\nruncmd: [kubeadm join]\n").as_bytes(),
            &[],
        );
        let finding = &report["findings"][0];
        assert_eq!(finding["rule"], "inspect-sentinel-missing");
        assert_eq!(finding["message"], format!("nothing writes {sentinel}"));
        assert_eq!(
            finding["help"],
            format!("add `&& echo success > {sentinel}` behind the command that joins")
        );
    }
}

#[test]
fn a_file_that_is_missing_is_of_the_world() {
    let output = windlass(root())
        .args(["inspect", "examples/user-dat.txt"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
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

/// A quote that nothing closes: the step, its line, and that nothing behind it runs, the sentinel
/// least of all.
#[test]
fn a_quote_that_nothing_closes_is_found_and_what_follows_never_runs() {
    let data = "#cloud-config\nruncmd:\n- echo a\n- echo \"it's\n- kubeadm join && touch /run/cluster-api/bootstrap-success.complete\n";
    let report = json(data.as_bytes(), &[]);
    assert_eq!(
        rules(&report),
        ["inspect-sentinel-missing", "inspect-command-unclosed"]
    );
    let finding = &report["findings"][1];
    assert_eq!(
        (finding["line"].as_u64(), finding["severity"].as_str()),
        (Some(4), Some("error")),
        "{finding}"
    );
    assert!(
        finding["message"]
            .as_str()
            .unwrap()
            .starts_with("runcmd[1] opens `\"`"),
        "{finding}"
    );
    let failures: Vec<_> = report["documents"][0]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["failure"].clone())
        .collect();
    assert_eq!(failures, ["goes-on", "ends-script", "never-runs"]);
    assert_eq!(inspect(data.as_bytes(), &[]).status.code(), Some(1));
}

/// Scripts in files and as user data; what cloud-init mends itself (`dos2unix`) is not told.
#[test]
fn scripts_that_no_shell_reads_or_no_kernel_starts_are_found() {
    let script = "#!/bin/sh\r\necho a\r\n";
    let file = format!(
        "#cloud-config\nwrite_files:\n- path: /a.sh\n  content: {}\nruncmd: [/a.sh]\n",
        Value::from(script)
    );
    let report = json(file.as_bytes(), &[]);
    assert_eq!(
        rules(&report),
        [
            "inspect-sentinel-missing",
            "inspect-interpreter-carriage-return"
        ]
    );
    assert!(
        report["findings"][1]["message"]
            .as_str()
            .unwrap()
            .contains("the interpreter will not be found"),
        "{report}"
    );
    assert_eq!(
        rules(&json(script.as_bytes(), &[])),
        ["inspect-sentinel-missing"]
    );
    let report = json(b"#!/bin/bash\nif true; then\n  echo a\n", &[]);
    assert_eq!(
        rules(&report),
        ["inspect-sentinel-missing", "inspect-command-unclosed"]
    );
    assert_eq!(report["findings"][1]["line"], 2);
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

/// What is no bootstrap data ends with an error that says what it is, and what to do.
#[test]
fn what_is_no_bootstrap_data_is_an_error_that_says_what_to_do() {
    let packed = gzip(DATA.as_bytes());
    let encoded = STANDARD.encode(DATA);
    let secret = |data: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{data}\n").into_bytes()
    };
    let cases: [(Vec<u8>, &str, &str); 9] = [
        (Vec::new(), "it is empty", "kubectl get secret"),
        (b" \n\n".to_vec(), "it is empty", "kubectl get secret"),
        (
            b"Error from server (NotFound): secrets \"x\" not found\n".to_vec(),
            "message of kubectl",
            "kubectl get secret",
        ),
        (
            std::fs::read(root().join("examples/control-plane.yaml")).unwrap(),
            "manifest of kind KubeadmControlPlane",
            "windlass render",
        ),
        (
            b"apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: m}\n".to_vec(),
            "manifest of kind Machine",
            "dataSecretName",
        ),
        (
            encoded.as_bytes()[..encoded.len() / 8 * 4 + 2].to_vec(),
            "breaks off",
            "copy it again",
        ),
        (
            packed[..packed.len() / 2].to_vec(),
            "no gzip",
            "copy it again",
        ),
        (
            secret("data: {other: YQ==}"),
            "has no key `value`",
            "dataSecretName",
        ),
        (
            "\u{feff}#cloud-config\nruncmd: [a]\n".as_bytes().to_vec(),
            "byte order mark",
            "without byte order mark",
        ),
    ];
    for (bytes, message, help) in cases {
        let output = inspect(&bytes, &[]);
        let shown = harmless(&output);
        assert_eq!(output.status.code(), Some(1), "{message}: {shown}");
        assert!(
            shown.contains("error[inspect-data-unreadable]")
                && shown.contains(message)
                && shown.contains(help),
            "{message}: {shown}"
        );
    }
    let output = windlass(root())
        .args(["inspect", "examples"])
        .output()
        .unwrap();
    let shown = harmless(&output);
    assert!(
        output.status.code() == Some(1)
            && shown.contains("it is a folder")
            && shown.contains("user-data.txt"),
        "{shown}"
    );
}

/// A list of Secrets is a machine each: their keys do not replace each other, and each has its own
/// sentinel and tokens.
#[test]
fn each_secret_of_a_list_is_a_machine() {
    let secret = |name: &str, data: &str| {
        let value = STANDARD.encode(data);
        format!(
            "- apiVersion: v1\n  kind: Secret\n  metadata: {{name: {name}, namespace: prod}}\n  data: {{value: {value}}}\n"
        )
    };
    let sound = "#cloud-config\nruncmd:\n- kubeadm join --token abcdef.0123456789abcdef && touch /run/cluster-api/bootstrap-success.complete\n";
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n{}{}{}",
        secret("a", sound),
        secret("b", "#cloud-config\nruncmd: [kubeadm join]\n"),
        secret("c", sound)
    );
    let report = json(list.as_bytes(), &[]);
    assert_eq!(rules(&report), ["inspect-sentinel-missing"], "{report}");
    assert!(
        report["findings"][0]["file"]
            .as_str()
            .unwrap()
            .contains("Secret b"),
        "{report}"
    );
    let machines = report["machines"].as_array().unwrap();
    let shown: Vec<_> = machines
        .iter()
        .map(|machine| {
            (
                machine["name"].as_str().unwrap(),
                machine["sentinel"]["by"].as_str(),
                machine["tokens"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("prod/a", Some("runcmd[0]"), 1),
            ("prod/b", None, 0),
            ("prod/c", Some("runcmd[0]"), 1)
        ]
    );
    let documents = report["documents"].as_array().unwrap();
    assert_eq!(
        documents
            .iter()
            .map(|document| document["machine"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert!(
        documents
            .iter()
            .all(|document| document["steps"][0]["failure"] == "reported"),
        "{report}"
    );
    let shown = text(list.as_bytes());
    assert!(
        shown.contains("\nprod/b\n")
            && shown.matches("writes bootstrap-success.complete").count() == 3,
        "{shown}"
    );
}

/// An archive is a list of documents, each as its type or its beginning says.
#[test]
fn an_archive_is_taken_apart() {
    let data = "#cloud-config-archive\n- \"#!/bin/sh\\necho a\"\n- type: text/cloud-config\n  content: |\n    runcmd: [a]\n- content: \"ntp: {}\"\n";
    let report = json(data.as_bytes(), &[]);
    let forms: Vec<_> = report["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|document| document["form"].as_str().unwrap())
        .collect();
    assert_eq!(
        forms,
        ["shell script", "cloud-config", "cloud-config"],
        "{report}"
    );
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
            now: 0,
            show_secrets: false,
        };
        let (inspected, ..) = ops::run(&inspecting, &Budget::default());
        assert_eq!(inspected.documents[0].form, expected, "{text:?}");
    }
    assert!(known > 40, "{known}");
}
