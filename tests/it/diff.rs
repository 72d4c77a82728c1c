//! `diff`: nothing differs from itself, releases of Cluster API differ in what is known to differ,
//! and the verdict is Cluster API's.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use windlass_bootstrap::render::{FeatureGates, Profile, Request};
use windlass_debugging::commands::diff::{self, Change, Comparison, Side};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

use crate::support::{self, Run, run};

fn request(profile: &str, ignition: bool) -> Request {
    Request {
        profile: Profile::parse(profile).unwrap(),
        placeholders: false,
        token: Some("abcdef.0123456789abcdef".into()),
        feature_gates: FeatureGates {
            ignition,
            ..FeatureGates::default()
        },
        ..Request::new()
    }
}

fn side(name: &str, text: &[u8], request: Request) -> Side {
    Side::new(
        name,
        vec![Source::new(
            name,
            String::from_utf8_lossy(text).into_owned(),
        )],
        Report::new(),
        None,
        request,
    )
}

fn compared(old: &Side, new: &Side) -> Comparison {
    diff::run(
        old,
        new,
        diff::Comparing::default(),
        &Arc::new(Budget::default()),
    )
}

/// A vector with data: its name, release, input and expected data, and whether it is of Ignition.
struct Vector {
    name: String,
    profile: String,
    input: Vec<u8>,
    expected: Vec<u8>,
    ignition: bool,
}

fn vectors() -> Vec<Vector> {
    let root = support::vectors("render");
    let index: Value = serde_json::from_slice(&fs::read(root.join("index.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    // A control plane that is only referred to is not a whole object there.
    let is_whole = |case: &&Value| {
        case["expected"] != "expected.error.txt"
            && !["cpref", "template-version"]
                .iter()
                .any(|part| text(&case["name"]).contains(part))
    };
    let of_case = |case: &Value| Vector {
        name: text(&case["name"]),
        profile: text(&case["profile"])
            .split("-ae7ff")
            .next()
            .unwrap()
            .to_owned(),
        input: fs::read(root.join(text(&case["name"])).join("input.yaml")).unwrap(),
        expected: fs::read(root.join(text(&case["name"])).join(text(&case["expected"]))).unwrap(),
        ignition: case["format"] == "ignition",
    };
    index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(is_whole)
        .map(of_case)
        .collect()
}

/// What we render, and what Cluster API's own code wrote, also as the Secret in which a cluster has
/// it.
#[test]
fn nothing_differs_from_itself() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    for vector in &vectors {
        let request = || request(&vector.profile, vector.ignition);
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ntype: cluster.x-k8s.io/secret\ndata: {{value: {}}}\n",
            STANDARD.encode(&vector.expected)
        );
        let sides = [
            side("input.yaml", &vector.input, request()),
            side("secret.yaml", secret.as_bytes(), request()),
        ];
        for (old, new) in [(0, 0), (1, 1), (0, 1)] {
            let comparison = compared(&sides[old], &sides[new]);
            let is_same =
                comparison.machines.len() == 1 && comparison.machines[0].change == Change::Same;
            let digests = comparison
                .machines
                .first()
                .map(|machine| machine.old_digest == machine.new_digest);
            if !is_same || digests != Some(true) || comparison.differs() {
                wrong.push(format!(
                    "{} {old} {new}: {:?}",
                    vector.name, comparison.machines
                ));
            }
        }
    }
    assert!(vectors.len() > 380, "{}", vectors.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A change between two releases that is one of the known ones: a word that its line or the name of
/// its part holds, and the kind of part.
type Known = (&'static str, &'static str);

/// The lines that differ between two releases, over all vectors that both take, by what they are;
/// those that nothing explains fail.
fn between(from: &str, to: &str, known: &[Known]) -> BTreeMap<&'static str, usize> {
    let vectors = vectors();
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut both = 0;
    for vector in &vectors {
        let sides = [from, to].map(|profile| {
            side(
                "input.yaml",
                &vector.input,
                request(profile, vector.ignition),
            )
        });
        let comparison = compared(&sides[0], &sides[1]);
        both += comparison.machines.len();
        for part in comparison
            .machines
            .iter()
            .flat_map(|machine| &machine.parts)
        {
            let of_attributes = part
                .attributes
                .iter()
                .map(|change| format!("{}: {:?} {:?}", change.name, change.old, change.new));
            let of_lines = part
                .lines
                .iter()
                .filter(|line| line.starts_with(['-', '+']))
                .cloned();
            for line in of_attributes.chain(of_lines) {
                let shown = format!("{} {line}", part.name);
                match known
                    .iter()
                    .find(|(word, kind)| shown.contains(word) && part.kind == *kind)
                {
                    Some((word, _)) => *seen.entry(word).or_default() += 1,
                    None => unknown.push(format!(
                        "{}: {} {}: {line}",
                        vector.name, part.kind, part.name
                    )),
                }
            }
        }
    }
    assert!(
        both > 100,
        "{from}..{to}: only {both} inputs are taken by both"
    );
    unknown.truncate(40);
    assert!(unknown.is_empty(), "{from}..{to}\n{}", unknown.join("\n"));
    seen
}

/// cabpk.md §0: the columns v1.12, v1.13 and v1.14.0 differ in no byte for what all of them take.
#[test]
fn releases_with_the_same_bytes_do_not_differ() {
    between("v1.12.11", "v1.13.6", &[]);
    between("v1.13.6", "v1.14.0", &[]);
}

/// cabpk.md §0: the systemd unit calls the script with bash.
#[test]
fn the_unit_of_ignition_is_all_that_main_changes() {
    let seen = between("v1.14.0", "main", &[("ExecStart=", "section")]);
    assert!(seen.is_empty() || seen["ExecStart="] >= 2, "{seen:?}");
}

/// cabpk.md §0: client-go 0.34 writes no `preferences` into the kubeconfig for discovery.
#[test]
fn the_kubeconfig_is_all_that_v1_12_changes() {
    let seen = between("v1.11.10", "v1.12.11", &[("preferences: {}", "file")]);
    assert!(seen.contains_key("preferences: {}"), "{seen:?}");
}

/// cabpk.md §0, the column v1.10, and §1.4: what the conversion of v1.11 drops, restores and
/// rounds.
#[test]
fn the_first_release_with_v1beta2_changes_what_is_known() {
    const ROWS: [&str; 9] = [
        "imagePullPolicy: IfNotPresent",
        "kubernetesVersion: ",
        "clusterName: ",
        "podSubnet: ",
        "serviceSubnet: ",
        "dnsDomain: ",
        "dataDir: \"\"",
        "kubeadm-bootstrap-script",
        "append: None Some(\"false\")",
    ];
    // Of an empty `etcd.local`, of the script that tries again, of durations that become seconds,
    // and of what an annotation restores.
    const BESIDE: [&str; 10] = [
        "etcd:",
        "  local:",
        "kubeadm join --config",
        "controlPlaneComponentHealthCheck: ",
        "timeout: 1m30",
        "tlsBootstrap: 1m30",
        "ttl: 24h0m0",
        "timeouts:",
        "discovery: 1m17s",
        "kubeletHealthCheck: 11s",
    ];
    let of = |words: &[&'static str]| -> Vec<Known> {
        words
            .iter()
            .flat_map(|word| ["file", "commands", "section"].map(|kind| (*word, kind)))
            .collect()
    };
    let seen = between(
        "v1.10.10",
        "v1.11.10",
        &[
            of(&ROWS),
            of(&BESIDE),
            vec![
                ("enabled: ", "section"),
                ("inactive: ", "user"),
                ("_setup -null", "section"),
                ("servers: null", "section"),
            ],
        ]
        .concat(),
    );
    let missing: Vec<_> = ROWS.iter().filter(|row| !seen.contains_key(*row)).collect();
    assert!(missing.is_empty(), "{missing:?} of {seen:?}");
}

/// Compares two texts; `flags` are words.
fn compare(old: &str, new: &str, flags: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.yaml"), old).unwrap();
    fs::write(folder.path().join("new.yaml"), new).unwrap();
    let flags = flags.join(" ");
    run(folder.path(), &format!("diff old.yaml new.yaml {flags}"))
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Data as machines and clouds hand it out: in gzip, in base64, in both, as a file and as the value
/// of a Secret.
#[test]
fn data_is_taken_out_of_gzip_and_base64() {
    let data = |word: &str| format!("#cloud-config\nruncmd: [\"{word}\"]\n").into_bytes();
    let secret = |data: &[u8]| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("plain", &data("a"));
    for word in ["a", "b"] {
        write(&format!("{word}.gz"), &gzip(&data(word)));
        write(
            &format!("{word}.b64"),
            STANDARD.encode(data(word)).as_bytes(),
        );
        write(
            &format!("{word}.gz.b64"),
            STANDARD.encode(gzip(&data(word))).as_bytes(),
        );
        write(
            &format!("{word}.yaml"),
            secret(&gzip(&data(word))).as_bytes(),
        );
    }
    let compare = |new: &str| run(folder.path(), &format!("diff plain {new}"));
    for form in ["gz", "b64", "gz.b64", "yaml"] {
        let Run {
            code,
            stdout: report,
            stderr: talk,
        } = compare(&format!("a.{form}"));
        assert!(
            code == 0 && report.contains("same data"),
            "{form}: {report}{talk}"
        );
        let Run {
            code,
            stdout: report,
            stderr: talk,
        } = compare(&format!("b.{form}"));
        assert!(
            code == 0 && report.contains("other data") && report.contains("commands"),
            "{form}: {report}{talk}"
        );
    }
    let whole = gzip(&data("a"));
    write("cut.gz", &whole[..whole.len() - 9]);
    write("cut.yaml", secret(&whole[..whole.len() - 9]).as_bytes());
    for cut in ["cut.gz", "cut.yaml"] {
        let Run {
            code, stderr: talk, ..
        } = compare(cut);
        assert!(
            code == 1 && talk.contains("it begins as gzip and is"),
            "{cut}: {talk}"
        );
    }
}

/// A message of several parts is not taken apart: what its parts change is told all the same, and
/// as a file it is an error.
#[test]
fn no_part_of_a_packed_message_is_passed_over() {
    let message = |word: &str| {
        let part = |kind: &str, text: &str| format!("--b\nContent-Type: text/{kind}\n\n{text}\n");
        let parts = part("cloud-config", "#cloud-config\nruncmd: [a]")
            + &part("x-shellscript", &format!("#!/bin/sh\necho {word}"));
        gzip(
            format!(
                "Content-Type: multipart/mixed; boundary=b\nMIME-Version: 1.0\n\n{parts}--b--\n"
            )
            .as_bytes(),
        )
    };
    let secret = |data: &[u8]| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let Run {
        code,
        stdout: report,
        stderr: talk,
    } = compare(
        &secret(&message("a")),
        &secret(&message("b")),
        &["--exit-code"],
    );
    assert!(
        code == 1 && report.contains("Secret/w: other data"),
        "{report}{talk}"
    );
    let Run {
        code,
        stdout: report,
        stderr: talk,
    } = compare(
        &secret(&message("a")),
        &secret(&message("a")),
        &["--exit-code"],
    );
    assert!(code == 0 && report.contains("same data"), "{report}{talk}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.gz"), message("a")).unwrap();
    let packed = run(folder.path(), "diff a.gz a.gz");
    assert_eq!(packed.code, 1, "{packed:?}");
}

/// Which file came out of a Secret, made data does not tell; commands hold passwords without naming
/// them.
#[test]
fn nothing_of_files_and_no_password_is_shown_of_data_that_was_made() {
    let secret = |data: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let cloud_config = "#cloud-config\nwrite_files:\n- {path: /a, permissions: '0644', content: CANARY}\n- {path: /b, permissions: 0o600, content: CANARY}\n\
                        runcmd:\n- docker login -u x -p CANARY r\n- kubeadm join --certificate-key CANARY\nusers: [{name: u, hashed_passwd: CANARY}]\n\
                        rh_subscription: {activation-password: CANARY}\n";
    let ignition = r#"{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"core","passwordHash":"$6$s$CANARY"}]},"storage":{"files":[{"path":"/a","mode":384,"contents":{"source":"data:,CANARY"},"append":[{"source":"data:,CANARY"}]}]}}"#;
    for data in [cloud_config, ignition] {
        for format in ["text", "json"] {
            let Run {
                code,
                stdout: report,
                stderr: talk,
            } = compare(
                &secret(&data.replace("CANARY", "canary1")),
                &secret(&data.replace("CANARY", "canary2")),
                &["-o", format],
            );
            assert_eq!(code, 0, "{talk}");
            assert!(
                !report.contains("canary") && !talk.contains("canary"),
                "{report}{talk}"
            );
            assert!(report.contains("/a"), "{report}");
        }
    }
}

/// A password that the config itself holds in a file, a variable of a topology, or a value of a
/// template's variable: none comes out, in no format.
#[test]
fn secrets_of_the_input_come_out_nowhere() {
    let config = |content: &str, command: &str| {
        format!(
            "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  preKubeadmCommands: [\"{command}\"]\n  files:\n  - path: /etc/a\n    content: |\n      {content}\n"
        )
    };
    let topology = |password: &str| {
        let text =
            fs::read_to_string(support::root().join("examples/topology/harbour.yaml")).unwrap();
        let class = "  variables:\n";
        assert!(text.contains(class));
        let declared = "  variables:\n  - name: proxyPassword\n    required: false\n    schema: {openAPIV3Schema: {type: string, default: PASS}}\n";
        let patch = "  patches:\n  - name: proxy\n    definitions:\n    - selector:\n        apiVersion: bootstrap.windlass.dev/v1beta2\n        kind: WindlassConfigTemplate\n        matchResources: {machineDeploymentClass: {names: [worker]}}\n      jsonPatches:\n      - op: add\n        path: /spec/template/spec/postKubeadmCommands\n        valueFrom: {template: '[\"frob {{ .proxyPassword }}\"]'}\n";
        text.replacen(class, &declared.replace("PASS", password), 1)
            .replacen("  patches:\n", patch, 1)
    };
    let cases: [(String, String, &[&str]); 4] = [
        (
            config("password = canary-1x", "a"),
            config("password = canary-2x", "a"),
            &[],
        ),
        (
            config("url=https://u:canary-1x@h", "a"),
            config("url=https://u:canary-2x@h", "a"),
            &[],
        ),
        (
            config("hello ${REG_PASSWORD} bye", "a"),
            config("hello ${REG_PASSWORD} you", "join-it ${REG_PASSWORD}"),
            &["--template", "--var", "REG_PASSWORD=canary-3x"],
        ),
        (topology("canary-1x"), topology("canary-2x"), &[]),
    ];
    for (old, new, flags) in &cases {
        for format in ["text", "json", "github", "html"] {
            let Run {
                code,
                stdout: report,
                stderr: talk,
            } = compare(old, new, &[*flags, &["-o", format]].concat());
            assert_eq!(code, 0, "{talk}");
            assert!(
                report.contains("redacted") || report.contains("only a secret differs"),
                "{report}"
            );
            assert!(
                !report.contains("canary") && !talk.contains("canary"),
                "{report}{talk}"
            );
        }
    }
}

/// Data of somebody else: bombs, broken documents, signs for the terminal.
#[test]
fn hostile_data_is_compared_too() {
    let of = |data: &[u8]| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: w}}\ndata: {{value: {}}}\n",
            STANDARD.encode(data)
        )
    };
    let bomb = format!(
        "#cloud-config\na: &a [x]\n{}",
        (0..40)
            .map(|i| format!("b{i}: &b{i} [*a, *a]\n"))
            .collect::<String>()
    );
    let many: String = (0..30_000).map(|line| format!("# {line}\n")).collect();
    for data in [
        b"#cloud-config\n- [".to_vec(),
        b"{\"ignition\": [".to_vec(),
        bomb.into_bytes(),
        many.into_bytes(),
    ] {
        let Run {
            code,
            stdout: report,
            stderr: talk,
        } = compare(
            &of(&data),
            &of(b"#cloud-config\nruncmd: [\"a\x1b[2J\"]\n"),
            &[],
        );
        assert_eq!(code, 0, "{talk}");
        assert!(!report.contains('\u{1b}'), "{report}");
    }
    let packed = of(&gzip(
        format!("#cloud-config\n{}", "#".repeat(12 << 20)).as_bytes(),
    ));
    let Run {
        code, stderr: talk, ..
    } = compare(&format!("{packed}---\n").repeat(30), &packed, &[]);
    assert!(
        code == 1 && talk.contains("unpack to more than one run holds"),
        "{talk}"
    );
}
