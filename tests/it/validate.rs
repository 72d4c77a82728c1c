//! `validate`: it finds what Cluster API's own code, the kubelet, kubeadm, cloud-init and shells
//! refuse, and nothing else.
//!
//! The vectors say what Cluster API and cloud-init's schema refuse; `bash -n` says what no
//! shell reads.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use windlass::diag::{Diagnostic, Setting, Severity};
use windlass::ops::{render, validate};
use windlass::render::{FeatureGates, Origins, Pool, Profile, Request, Variables};
use windlass::text::source::Source;

use crate::support::{self, files_below, runs, shared, windlass};

/// What is found in a text, and whether all its machines can be rendered.
fn judged(
    name: &str,
    text: String,
    request: &Request,
    is_template: bool,
) -> (bool, Vec<Diagnostic>) {
    let sources = vec![Source::new(name, text)];
    let given = |_: &str| None;
    let (texts, origins, mut report) = match is_template {
        true => Origins::substitute(
            sources,
            Variables {
                given: &given,
                request,
            },
            &request.budget,
        ),
        false => (sources, Origins::default(), windlass::diag::Report::new()),
    };
    let (pool, unreadable) = Pool::read(&texts, &request.budget);
    report.extend(unreadable);
    let judged = validate::Judged::new(pool, request);
    let mut rendering = judged.render(request);
    let own = rendering.report.clone();
    let of_render = render::settle(&mut rendering, own, &origins);
    let is_rendered =
        !report.has_errors() && !of_render.has_errors() && !rendering.machines.is_empty();
    let is_version_said = !origins.stands_in(Setting::KubernetesVersion);
    report.extend(validate::run(&judged, request, &mut rendering, is_version_said).report);
    (
        is_rendered,
        render::settle(&mut rendering, report, &origins).into_findings(),
    )
}

fn errors(findings: &[Diagnostic]) -> Vec<&Diagnostic> {
    findings
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
        .collect()
}

/// The vectors with what is found in each, as the provider would meet it.
fn vectors() -> Vec<(Value, Vec<Diagnostic>)> {
    let root = support::vectors("render");
    let index: Value = serde_json::from_slice(&fs::read(root.join("index.json")).unwrap()).unwrap();
    let of_case = |case: &Value| {
        let text = fs::read_to_string(root.join(case["name"].as_str().unwrap()).join("input.yaml"))
            .unwrap();
        let request = Request {
            profile: Profile::parse(
                case["profile"]
                    .as_str()
                    .unwrap()
                    .split("-ae7ff")
                    .next()
                    .unwrap(),
            )
            .unwrap(),
            stand_ins: false,
            token: Some("abcdef.0123456789abcdef".into()),
            feature_gates: FeatureGates {
                ignition: case["featureGates"]["KubeadmBootstrapFormatIgnition"]
                    .as_bool()
                    .unwrap_or_default(),
                ..FeatureGates::default()
            },
            ..Request::new()
        };
        (case.clone(), judged("input.yaml", text, &request, false).1)
    };
    index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(of_case)
        .collect()
}

#[test]
fn the_fault_of_every_error_vector_is_found() {
    let vectors = vectors();
    let (mut faulty, mut missed) = (0, Vec::new());
    for (case, findings) in &vectors {
        if case["expected"] == "expected.error.txt" {
            faulty += 1;
            missed.extend(errors(findings).is_empty().then(|| case["name"].clone()));
        }
    }
    assert!(faulty >= 90, "only {faulty} vectors have an error");
    assert!(missed.is_empty(), "{missed:?}");
}

/// What people run: the only errors are of versions that the vectors chose.
#[test]
fn real_configs_have_no_errors() {
    let vectors = vectors();
    let (mut sound, mut faulty) = (0, Vec::new());
    for (case, findings) in vectors
        .iter()
        .filter(|(case, _)| case["class"] == "real" && case["expected"] != "expected.error.txt")
    {
        sound += 1;
        let of_version = ["component-flag-removed", "kubeadm-gate-unknown"];
        let others: Vec<_> = errors(findings)
            .into_iter()
            .filter(|finding| !of_version.contains(&finding.rule.id))
            .collect();
        faulty.extend(
            others
                .first()
                .map(|finding| format!("{}: {}", case["name"], finding.message)),
        );
    }
    assert!(sound >= 20, "{sound}");
    assert!(faulty.is_empty(), "{}", faulty.join("\n"));
}

/// cloud-init 22.4.2 was asked about each document.
#[test]
fn the_schema_of_cloud_init_refuses_the_same() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    let mut invalid = 0;
    for (case, findings) in &vectors {
        let Some(said) = case["cloudInitSchema"].as_str() else {
            continue;
        };
        let of_document: Vec<&str> = findings
            .iter()
            .map(|finding| finding.rule.id)
            .filter(|rule| rule.starts_with("cloud-config-"))
            .collect();
        invalid += usize::from(said != "valid");
        let is_right = if said == "valid" {
            !of_document.contains(&"cloud-config-schema-refused")
        } else {
            !of_document.is_empty()
        };
        if !is_right {
            wrong.push(format!("{}: {said}: {of_document:?}", case["name"]));
        }
    }
    assert!(invalid >= 20, "{invalid}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_renders_of_the_corpus_has_no_error() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let mut rendered = 0;
    for path in files_below(&corpus) {
        let is_yaml = path
            .extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml");
        let Some(text) = is_yaml.then(|| fs::read_to_string(&path).ok()).flatten() else {
            continue;
        };
        if !["kind: KubeadmConfig", "kind: KubeadmControlPlane"]
            .iter()
            .any(|kind| text.contains(kind))
        {
            continue;
        }
        let shown = path
            .strip_prefix(&corpus)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let (is_rendered, findings) = judged(&shown, text, &Request::new(), true);
        rendered += usize::from(is_rendered);
        if is_rendered && let Some(first) = errors(&findings).first() {
            panic!("{shown}: {}: {}", first.rule.id, first.message);
        }
    }
    assert!(rendered >= 70, "only {rendered} files render");
}

/// Whether bash reads a script to its end.
fn bash_reads(script: &str) -> bool {
    use std::io::Write;
    let mut bash = Command::new("bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    bash.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let output = bash.wait_with_output().unwrap();
    // Of a here-document that ends with the file, and of what stands in `[[ … ]]`, bash only
    // complains.
    output.status.success() && output.stderr.is_empty()
}

fn is_unclosed(script: &str) -> bool {
    let text = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  preKubeadmCommands:\n  - {}\n",
        Value::from(script)
    );
    judged("w.yaml", text, &Request::new(), false)
        .1
        .iter()
        .any(|finding| finding.rule.id == "command-unclosed")
}

/// Scripts of the corpus and of ours, whole and cut at each quote: what bash cannot read is found,
/// and nothing else.
#[test]
fn bash_reads_what_we_read() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    let mut scripts: Vec<String> = [
        "systemctl restart containerd && sleep 5",
        "cat > /etc/a <<EOF\nit's \"here\nEOF\n",
        "cat <<-'E O'\n\tx $(\n\tE O\necho done",
        "for f in /a /b; do echo \"${f##*/}\" '\"'; done",
        "export A=\"$(hostname -I | awk '{print $1}')\" B=`date +\"%s\"`",
        "if [ \"$(cat /x)\" = \"a'b\" ]; then echo 1; else echo 2; fi # it's",
        "echo $((1 << 2)) ${A:-\"b c\"} ${#A} $'it\\'s' a#b",
        "(cd /tmp && tar xf - ) < /a.tar || exit 1",
        "sed -i 's/a\\/b/\"/' /etc/c; echo \\' \\\" \\`",
        "case \"$1\" in a|b) echo x;; *) echo \")\";; esac",
        "while read -r line; do echo \"$line\"; done <<< \"$(ls)\"",
    ]
    .map(str::to_owned)
    .to_vec();
    scripts.extend(commands_of_the_corpus());
    let (mut compared, mut wrong) = (0, Vec::new());
    for script in &scripts {
        let cuts = script
            .match_indices(['\'', '"', '`', '<', '}'])
            .map(|(at, _)| format!("{}{}", &script[..at], &script[at + 1..]));
        for text in std::iter::once(script.clone()).chain(cuts.take(12)) {
            compared += 1;
            let (reads, found) = (bash_reads(&format!("{text}\n")), is_unclosed(&text));
            // Bash also knows its keywords; of those nothing is said here.
            if found && reads {
                wrong.push(format!("bash reads it: {text:?}"));
            }
            if !found && !reads && is_of_quotes(&text) {
                wrong.push(format!("bash does not read it: {text:?}"));
            }
        }
    }
    assert!(compared > 60, "{compared}");
    assert!(
        wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Whether what bash says of a script is about something that opens and does not close.
fn is_of_quotes(script: &str) -> bool {
    use std::io::Write;
    let mut bash = Command::new("bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    bash.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let said = String::from_utf8_lossy(&bash.wait_with_output().unwrap().stderr).into_owned();
    said.contains("looking for matching") || said.contains("here-document")
}

/// Random scripts out of the signs and words that mean something: what we call unclosed, bash does
/// not read either.
#[test]
fn no_script_that_bash_reads_is_called_unclosed() {
    const SIGNS: [&str; 24] = [
        "'", "\"", "`", "$", "(", ")", "{", "}", "<<", "A", "\n", "\\", " ", "#", "a", ";", "&&",
        "|", "\nA\n", "$(", "${", "<", "-", "=",
    ];
    const WORDS: [&str; 24] = [
        "if ", "then ", "else ", "fi\n", "while ", "do ", "done\n", "for x ", "in ", "case a ",
        "esac\n", "a) ", ";; ", "{ ", "} ", "( ", ") ", "a ", "; ", "&& ", "f() ", "[[ ", "]] ",
        "! ",
    ];
    if !runs(&["bash", "--version"]) {
        return;
    }
    let mut state = 7_u64;
    let mut next = |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    for (words, rounds) in [(SIGNS, 600), (WORDS, 900)] {
        let (mut found, mut read, mut wrong) = (0, 0, Vec::new());
        for _ in 0..rounds {
            let length = 2 + next(14);
            let script: String = (0..length).map(|_| words[next(words.len())]).collect();
            if script.trim().is_empty() {
                continue;
            }
            let reads = bash_reads(&format!("{script}\n"));
            read += usize::from(reads);
            if is_unclosed(&script) {
                found += 1;
                wrong.extend(reads.then(|| format!("{script:?}")));
            }
        }
        assert!(found > 100 && read > 4, "{found} {read}");
        assert!(
            wrong.is_empty(),
            "{} of {found}: {}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}

/// Blocks as people write them, whole and without each of their words: bash refuses what is called
/// unclosed, and reads what is not cut.
#[test]
fn blocks_are_closed_where_bash_says_so() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    for script in [
        "if a ; then b ; elif c ; then d ; else e ; fi > f",
        "while read -r x ; do case $x in a|b) c ;; *) d ;; esac ; done < f",
        "for x in if do done ; do { a ; ( b ; c ) ; } ; done | d",
        "f() { if [[ $1 =~ ^(a|b)$ && -n $2 ]] ; then return 1 ; fi ; } ; until f ; do sleep 1 ; done",
        "for (( i=0; i<3; i++ )) ; do a ; done ; select x in a ; do b ; done",
        "case a in (a) if b ; then c ; fi ;; esac ; ! { a ; } && b",
    ] {
        assert!(
            bash_reads(&format!("{script}\n")) && !is_unclosed(script),
            "{script}"
        );
        let words: Vec<&str> = script.split(' ').collect();
        for at in 0..words.len() {
            let cut = [&words[..at], &words[at + 1..]].concat().join(" ");
            assert!(
                !is_unclosed(&cut) || !bash_reads(&format!("{cut}\n")),
                "{cut}"
            );
        }
        let without_end = words[..words.len() - 1]
            .join(" ")
            .trim_end_matches(['>', '<', '|', '&', ' ', ';'])
            .to_owned();
        assert!(
            is_unclosed(&without_end) || bash_reads(&format!("{without_end}\n")),
            "{without_end}"
        );
    }
}

/// The kernel looks for an interpreter whose name ends with the carriage return.
#[test]
fn a_script_with_crlf_is_not_started() {
    let report = run(
        &config("  files: [{path: /a, content: \"#!/bin/bash\\r\\nif a; then\\r\\n\"}]\n"),
        &[],
    )
    .1;
    assert!(
        report.contains("error[script-interpreter-carriage-return]")
            && report.contains("/bin/bash\\r"),
        "{report}"
    );
    assert!(!report.contains("command-unclosed"), "{report}");
}

fn commands_of_the_corpus() -> BTreeSet<String> {
    let Some(corpus) = shared("corpus") else {
        return BTreeSet::new();
    };
    let texts = files_below(&corpus)
        .into_iter()
        .filter(|path| path.to_str().unwrap().ends_with(".yaml"));
    let texts = texts
        .filter_map(|path| fs::read_to_string(path).ok())
        .filter(|text| text.contains("KubeadmCommands:"));
    let mut commands = BTreeSet::new();
    for text in texts {
        let lines: Vec<&str> = text.lines().collect();
        for (at, _) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.trim_end().ends_with("KubeadmCommands:"))
        {
            let items = lines[at + 1..]
                .iter()
                .map(|line| line.trim())
                .take_while(|line| line.starts_with("- "));
            let plain = items
                .map(|line| &line[2..])
                .filter(|command| !command.starts_with(['|', '>', '"', '\'', '{', '[']));
            commands.extend(plain.map(str::to_owned));
        }
    }
    commands.into_iter().take(60).collect()
}

fn run(text: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["validate", "a.yaml"])
        .args(flags)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn config(spec: &str) -> String {
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    )
}

/// users.md 9: a fault of the schema, one of the webhook, one of the kubelet and one of the shell
/// are all in the first report, each at its line.
#[test]
fn one_run_reports_everything_at_its_line() {
    let text = config(
        "  joinConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs:\n      - {name: network-plugin, value: cni}\n  files:\n  - {path: /a, content: a, contentFrom: {secret: {name: s, key: k}}}\n  preKubeadmCommands:\n  - echo \"a\n",
    );
    let (code, report, _) = run(&text, &["--kubernetes-version", "v1.34.1"]);
    assert_eq!(code, Some(1), "{report}");
    for (rule, line) in [
        ("component-flag-removed", 8),
        ("config-admission-refused", 10),
        ("command-unclosed", 12),
    ] {
        let found = report.split("\n\n").any(|_| {
            report.contains(&format!("error[{rule}]"))
                && report.contains(&format!("--> a.yaml:{line}:"))
        });
        assert!(found, "{rule} at {line}:\n{report}");
    }
}

/// Nobody is condemned by a version that we filled in.
#[test]
fn a_stand_in_for_the_version_condemns_nothing() {
    let text = config(
        "  joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: network-plugin, value: cni}]}}\n",
    );
    let (code, report, _) = run(&text, &[]);
    assert_eq!(code, Some(0), "{report}");
    assert!(
        report.contains("info[validate-version-unknown]")
            && report.contains("--kubernetes-version"),
        "{report}"
    );
    assert_eq!(run(&text, &["--kubernetes-version", "v1.23.5"]).0, Some(0));
    assert_eq!(run(&text, &["--kubernetes-version", "v1.24.0"]).0, Some(1));
}

/// cloud-init writes all commands into one script: what the next command closes is closed.
#[test]
fn commands_of_a_list_are_one_script() {
    let of = |commands: &str| {
        run(
            &config(&format!("  preKubeadmCommands:\n{commands}")),
            &["--kubernetes-version", "v1.34.1"],
        )
    };
    assert_eq!(of("  - cat > /a <<EOF\n  - text\n  - EOF\n").0, Some(0));
    let (code, report, _) = of("  - cat > /a <<EOF\n  - text\n");
    assert_eq!(code, Some(1));
    assert!(
        report.contains("a.yaml:6:5") && report.contains("preKubeadmCommands[0] opens `<<`"),
        "{report}"
    );
    assert_eq!(
        run(
            &config("  preKubeadmCommands: [\"echo 'a\"]\n  postKubeadmCommands: [\"b'\"]\n"),
            &[]
        )
        .0,
        Some(1),
        "kubeadm would be text"
    );
}

#[test]
fn reports_have_the_formats_of_lint() {
    let text = config("  preKubeadmCommands: [\"echo 'a\"]\n");
    for (format, start) in [
        ("json", "{"),
        ("sarif", "{"),
        ("junit", "<?xml"),
        ("github", "::error file=a.yaml,line=5"),
    ] {
        let (code, report, talk) = run(&text, &["-o", format, "--kubernetes-version", "v1.34.1"]);
        assert_eq!(code, Some(1), "{format}: {talk}");
        assert!(report.starts_with(start), "{format}: {report}");
        assert!(report.contains("command-unclosed"), "{format}: {report}");
    }
    let json: Value = serde_json::from_str(&run(&text, &["-o", "json"]).1).unwrap();
    assert_eq!(
        (&json["kind"], &json["machines"][0]["kubernetesVersion"]),
        (&Value::from("Validate"), &Value::Null)
    );
}

/// A token or a password that stands in a faulty command or field is not printed.
#[test]
fn secrets_are_not_shown() {
    let text = config(
        "  users: [{name: a, passwd: canary-1, inactive: true}]\n  joinConfiguration: {discovery: {bootstrapToken: {token: canary-2}}}\n",
    );
    for format in ["text", "json", "sarif", "junit", "github"] {
        let (_, report, talk) = run(&text, &["-o", format]);
        assert!(
            !report.contains("canary") && !talk.contains("canary"),
            "{format}: {report}"
        );
    }
}

/// Numbers, depths and signs that nobody writes.
#[test]
fn hostile_commands_end() {
    let deep = "$(".repeat(20_000) + "\"'`";
    let many = "a && ".repeat(20_000);
    let here = "cat <<A\n".repeat(5_000);
    for script in [
        deep,
        many,
        here,
        "'".repeat(30_001),
        "\\".repeat(9_999),
        "\u{0}\u{1b}[2J'".to_owned(),
    ] {
        let script: String = script.chars().take(10_000).collect();
        assert!(
            is_unclosed(&script)
                || script.starts_with('\\')
                || script.contains('\u{0}')
                || script.starts_with('\''),
            "{}",
            &script[..20]
        );
    }
}

/// What is found for a spec, as `rule` words.
fn found(spec: &str, flags: &[&str]) -> String {
    run(&config(spec), flags).1
}

/// kubernetes-sigs/cluster-api#13339 and #13853: an argument of the kubelet twice, found by the API
/// server after the upgrade to v1beta2.
#[test]
fn cluster_api_13339_kubelet_arguments_twice() {
    let spec = "  joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: v, value: \"1\"}, {name: v, value: \"2\"}]}}\n";
    let report = found(spec, &[]);
    assert!(
        report.contains("error[config-rule-broken]")
            && report.contains("kubeletExtraArgs name must be unique"),
        "{report}"
    );
}

/// kubernetes-sigs/cluster-api#1883 and kubernetes/kubeadm#2509: a role as a label of the kubelet,
/// which then does not start.
#[test]
fn cluster_api_1883_role_as_a_label_of_the_kubelet() {
    let spec = "  joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: node-labels, value: \"node-role.kubernetes.io/gpu=\"}]}}\n";
    let report = found(spec, &[]);
    assert!(
        report.contains("error[node-label-restricted]")
            && report.contains("Cluster API copies to their nodes"),
        "{report}"
    );
}

/// The book, "Use kubeadm's kubeletconfiguration patch target": the name of the file says what is
/// patched.
#[test]
fn files_that_kubeadm_takes_for_no_patch_are_told() {
    let spec = "  files:\n  - {path: /etc/kubernetes/patches/kubelet.yaml, content: a}\n\
                \x20 - {path: /etc/kubernetes/patches/sub/kubeletconfiguration0+patch.yaml, content: a}\n\
                \x20 - {path: /etc/kubernetes/patches/kubeletconfiguration0+strategic.json, content: a}\n\
                \x20 - {path: /etc/kubernetes/patches-of-others/kubelet.yaml, content: a}\n\
                \x20 joinConfiguration: {patches: {directory: /etc/kubernetes/patches/}}\n";
    let report = found(spec, &[]);
    assert!(
        report.contains(
            "warning[kubeadm-patch-ignored]: kubeadm leaves the patch `kubelet.yaml` out"
        ) && report.contains("a.yaml:6:"),
        "{report}"
    );
    assert!(
        report.contains("error[kubeadm-patch-refused]: kubeadm ends at the patch `kubeletconfiguration0+patch.yaml`")
            && report.contains("a.yaml:7:"),
        "{report}"
    );
    assert_eq!(report.matches("[kubeadm-patch-").count(), 2, "{report}");
    assert_eq!(
        found(
            &spec.replace("/etc/kubernetes/patches/}", "/elsewhere}"),
            &[]
        )
        .matches("[kubeadm-patch-")
        .count(),
        0
    );
}

/// The book, "KubeadmConfigSpec": init or join; a control plane's template holds both, and the
/// machine's part says which of them counts.
#[test]
fn of_a_spec_with_both_sides_the_role_takes_one() {
    let spec = "  clusterConfiguration: {apiServer: {certSANs: [a.example.com]}}\n  initConfiguration: {nodeRegistration: {name: of-init}}\n\
                \x20 joinConfiguration: {nodeRegistration: {name: of-join}}\n";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), config(spec)).unwrap();
    for (role, here, not_here) in [
        (
            "init",
            ["kubeadm init ", "of-init", "a.example.com"],
            ["kubeadm join ", "of-join"],
        ),
        (
            "control-plane-join",
            ["kubeadm join ", "of-join", "JoinConfiguration"],
            ["kubeadm init ", "of-init"],
        ),
        (
            "worker-join",
            ["kubeadm join ", "of-join", "JoinConfiguration"],
            ["a.example.com", "of-init"],
        ),
    ] {
        let arguments = [
            "render",
            "a.yaml",
            "--kubernetes-version",
            "v1.34.1",
            "--role",
            role,
        ];
        let output = windlass(folder.path()).args(arguments).output().unwrap();
        let data = String::from_utf8(output.stdout).unwrap();
        assert!(
            here.iter().all(|text| data.contains(text)),
            "{role}: {data}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            not_here.iter().all(|text| !data.contains(text)),
            "{role}: {data}"
        );
    }
}

/// kubernetes/kubeadm#1690: a flag that the API server does not have, found by a timeout of four
/// minutes.
#[test]
fn kubeadm_1690_a_flag_that_the_api_server_lost() {
    let spec = "  clusterConfiguration: {apiServer: {extraArgs: [{name: insecure-port, value: \"0\"}]}}\n  initConfiguration: {}\n";
    let report = found(spec, &["--kubernetes-version", "v1.34.1"]);
    assert!(
        report.contains("error[component-flag-removed]") && report.contains("a.yaml:5:"),
        "{report}"
    );
}

/// jitsi/jitsi-meet-infrastructure's `${#ARR[@]}` (users' report jitsi#902): `{#` begins a comment
/// of jinja, and the document ends there.
#[test]
fn jitsi_902_the_length_of_an_array_is_a_comment_of_jinja() {
    let report = found("  preKubeadmCommands: [\"echo ${#ARR[@]}\"]\n", &[]);
    assert!(
        report.contains("[cloud-config-jinja]") && report.contains("a.yaml:5:"),
        "{report}"
    );
}

/// metal3-io/metal3-dev-env#955: a command before kubeadm that failed and said nothing.
#[test]
fn metal3_dev_env_955_a_failure_that_nobody_sees() {
    let report = found(
        "  preKubeadmCommands: [\"apt-get update && apt-get install -y a || true\", \"curl -L x | sh\"]\n",
        &[],
    );
    assert_eq!(
        report.matches("warning[command-failure-hidden]").count(),
        2,
        "{report}"
    );
    let meant = found(
        "  preKubeadmCommands: [\"modprobe a || true\", \"[ -f /a ] && . /a || true\", \"echo a | tee /b\"]\n",
        &[],
    );
    assert!(!meant.contains("command-failure-hidden"), "{meant}");
}

/// Each finding shows its line: of very many the first are told, and the rest counted. Blocks
/// within blocks cost no more than their text.
#[test]
fn of_many_commands_the_first_are_told() {
    let report = found(
        &format!(
            "  preKubeadmCommands:\n{}",
            "  - a && b || true\n".repeat(300)
        ),
        &[],
    );
    assert_eq!(
        report.matches("[command-failure-hidden]").count(),
        20,
        "{report}"
    );
    assert!(
        report.contains("280 more parts of it have such faults"),
        "{report}"
    );
    let report = found(
        &format!("  preKubeadmCommands: [\"{}\"]\n", "{ ".repeat(40_000)),
        &[],
    );
    assert!(report.contains("error[command-unclosed]"), "{report}");
}

/// A list of v1beta2 in an object of v1beta1, and the other way round: one finding, which names the
/// version and writes the value.
#[test]
fn arguments_in_the_form_of_another_version_are_told_so() {
    let of = |version: &str, arguments: &str| {
        let spec = format!(
            "  joinConfiguration: {{nodeRegistration: {{kubeletExtraArgs: {arguments}}}}}\n"
        );
        run(
            &config(&spec).replace("v1beta2", version),
            &["--kubernetes-version", "v1.34.1"],
        )
        .1
    };
    for (version, arguments, other, form) in [
        (
            "v1beta1",
            "[{name: node-labels, value: a=b}]",
            "v1beta2",
            "write a mapping: `{node-labels: \"a=b\"}`",
        ),
        ("v1beta2", "{node-labels: a=b}", "v1beta1", "write a list"),
    ] {
        let report = of(version, arguments);
        assert_eq!(report.matches("error[").count(), 1, "{report}");
        assert!(
            report.contains(&format!("it has the form of {other}")) && report.contains(form),
            "{report}"
        );
        assert!(
            report.contains(&format!("`apiVersion: bootstrap.cluster.x-k8s.io/{other}`"))
                && !report.contains("move `"),
            "{report}"
        );
    }
}

/// What is assumed of a version is said, once, and only then.
#[test]
fn a_version_without_patch_number_is_told() {
    let text = config("  joinConfiguration: {nodeRegistration: {name: a}}\n");
    let of = |version: &str| run(&text, &["--kubernetes-version", version]).1;
    assert!(
        of("v1.33").contains("v1.33.0 is assumed") && !of("v1.33.1").contains("assumed"),
        "{}",
        of("v1.33")
    );
}

/// A Cluster alone: that its control plane is not judged, and nothing of the kind when it is there.
#[test]
fn a_cluster_without_its_control_plane_is_told() {
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec:\n  \
        controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: cp}\n";
    let report = run(cluster, &[]).1;
    assert!(
        report.contains("info[validate-control-plane-absent]") && report.contains("a.yaml:5:"),
        "{report}"
    );
    let control_plane = "---\napiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: KubeadmControlPlane\nmetadata: {name: cp}\nspec: {}\n";
    assert!(
        !run(&format!("{cluster}{control_plane}"), &[])
            .1
            .contains("validate-control-plane-absent")
    );
}

/// Data that was rendered already is for `inspect`.
#[test]
fn rendered_data_is_sent_to_inspect() {
    for text in [
        "#cloud-config\nruncmd: [a]\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {value: YQ==}\n",
    ] {
        let report = run(text, &[]).1;
        assert!(
            report.contains("error[render-config-missing]") && report.contains("windlass inspect"),
            "{report}"
        );
    }
}

/// What a run judged, and what of the input nobody looks at.
#[test]
fn a_line_says_what_was_judged_and_what_was_not() {
    let object = |kind: &str, more: &str| {
        format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: o}}\n{more}")
    };
    let worker = config("  preKubeadmCommands: [\"true\"]\n");
    let cluster = "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec: {controlPlaneEndpoint: {host: h, port: 6443}}\n";
    let foreign = "---\napiVersion: example.org/v1\nkind: Foo\nmetadata: {name: f}\n";
    for (text, expected) in [
        (worker.clone(), "1 machine kind; 1 info\n"),
        (
            format!(
                "{worker}{}{}",
                object("Secret", ""),
                object("ConfigMap", "")
            ),
            "1 machine kind; 1 info\n",
        ),
        (
            format!("{worker}{}", object("Service", "")),
            "1 machine kind, 1 other object not judged; 1 info\n",
        ),
        (
            format!("{worker}{cluster}"),
            "1 machine kind, 1 cluster object; 1 info\n",
        ),
        (
            format!("{worker}{cluster}{foreign}{}", object("Service", "")),
            "1 machine kind, 1 cluster object, 2 other objects not judged; 1 info\n",
        ),
        (
            object("Service", ""),
            "1 other object not judged; 1 error\n",
        ),
        ("# nothing\n".to_owned(), "nothing judged; 1 error\n"),
    ] {
        let report = run(&text, &[]).1;
        assert!(
            report.ends_with(&format!("\n{expected}")),
            "{expected}{report}"
        );
    }
}

/// Once, with how many there are; not of machines whose version an object says.
#[test]
fn machines_without_a_version_are_counted() {
    let named = |name: &str| {
        config("  preKubeadmCommands: [\"true\"]\n")
            .replace("{name: w}", &format!("{{name: {name}}}"))
    };
    let said = "---\napiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: KubeadmControlPlane\nmetadata: {name: cp}\nspec: {version: v1.34.1, \
                machineTemplate: {spec: {infrastructureRef: {apiGroup: g.io, kind: K, name: n}}}, kubeadmConfigSpec: {}}\n";
    for (names, expected) in [
        (&["a"][..], Some("KubeadmConfig/a:")),
        (&["a", "b"], Some("KubeadmConfig/a and 1 more:")),
        (&["a", "b", "c"], Some("KubeadmConfig/a and 2 more:")),
        (&[], None),
    ] {
        let configs: String = names
            .iter()
            .map(|name| format!("---\n{}", named(name)))
            .collect();
        let report = run(&format!("{configs}{said}"), &[]).1;
        match expected {
            Some(expected) => assert!(
                report.contains(&format!(
                    "nobody says the Kubernetes version of {expected} flags"
                )),
                "{report}"
            ),
            None => assert!(!report.contains("validate-version-unknown"), "{report}"),
        }
    }
}

/// An object of that name alone, or of that kind alone, is not the control plane.
#[test]
fn a_control_plane_is_found_by_its_kind_and_its_name() {
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec:\n  \
        controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: cp}\n";
    let of_name = "---\napiVersion: v1\nkind: Service\nmetadata: {name: cp}\n";
    let of_kind = "---\napiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: KubeadmControlPlane\nmetadata: {name: other}\nspec: {}\n";
    for other in [of_name, of_kind] {
        let report = run(&format!("{cluster}{other}"), &[]).1;
        assert!(
            report.contains(
                "has the control plane KubeadmControlPlane/cp, which is not in the input"
            ),
            "{report}"
        );
    }
}

/// Of several machines of one version the first is named, and what to give is a whole version.
#[test]
fn a_version_without_patch_number_is_told_once() {
    let named = |name: &str| {
        config("  preKubeadmCommands: [\"true\"]\n")
            .replace("{name: w}", &format!("{{name: {name}}}"))
    };
    let text = format!("{}---\n{}", named("a"), named("b"));
    let told = |version: &str| -> Vec<String> {
        let report: Value =
            serde_json::from_str(&run(&text, &["-o", "json", "--kubernetes-version", version]).1)
                .unwrap();
        let short = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["rule"] == "validate-version-short");
        short
            .map(|finding| {
                format!(
                    "{}: {} | {}",
                    finding["line"], finding["message"], finding["help"]
                )
                .replace('"', "")
            })
            .collect()
    };
    let message =
        "the Kubernetes version v1.33 of KubeadmConfig/a has no patch number: v1.33.0 is assumed";
    assert_eq!(
        told("v1.33"),
        [format!(
            "1: {message} | give all of it: `--kubernetes-version v1.33.1`"
        )]
    );
    assert_eq!(told("v1.33.0"), [""; 0]);
}

/// What is no Cluster has no control plane, whatever its fields are called; a reference without a
/// name is another fault.
#[test]
fn only_clusters_have_control_planes() {
    let object = |kind: &str, name: &str| {
        format!(
            "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: c}}\nspec:\n  \
             controlPlaneRef: {{apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane{name}}}\n"
        )
    };
    for (kind, name, is_told) in [
        ("Cluster", ", name: cp", true),
        ("Foo", ", name: cp", false),
        ("Cluster", "", false),
    ] {
        let report = run(&object(kind, name), &[]).1;
        assert_eq!(
            report.contains("validate-control-plane-absent"),
            is_told,
            "{report}"
        );
    }
    let report = run(&object("Cluster", ", name: cp"), &[]).1;
    let message = "Cluster/c has the control plane KubeadmControlPlane/cp, which is not in the input: nothing of it is judged";
    assert!(
        report.contains(&format!(
            "info[validate-control-plane-absent]: {message}\n  --> a.yaml:6:95\n"
        )),
        "{report}"
    );
    assert!(
        report.contains("\n  = help: name the file that has it, too\n"),
        "{report}"
    );
    assert!(
        report.ends_with("\n1 cluster object; 1 info\n"),
        "an object of the core is enough to judge: {report}"
    );
}
