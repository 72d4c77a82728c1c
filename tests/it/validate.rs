//! `validate` reports what Cluster API's own code, the kubelet, kubeadm, cloud-init and shells
//! reject, and nothing else. Its messages are in `tests/cases/validate`.
//!
//! The vectors say what Cluster API and cloud-init's schema reject; `bash -n` says what no
//! shell reads.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use windlass_bootstrap::render::{FeatureGates, Origins, Pool, Profile, Request, Variables};
use windlass_checks::commands::validate;
use windlass_debugging::commands::render;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Setting, Severity};

use crate::support::{self, Run, files_below, run, runs, shared};

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
        false => (
            sources,
            Origins::default(),
            windlass_source::diag::Report::new(),
        ),
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
            placeholders: false,
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
fn the_schema_of_cloud_init_rejects_the_same() {
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
            !of_document.contains(&"cloud-config-schema-rejected")
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
        let request = Request {
            feature_gates: FeatureGates {
                ignition: false,
                machine_pool: true,
                machine_taints: true,
            },
            ..Request::new()
        };
        let (is_rendered, findings) = judged(&shown, text, &request, true);
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

/// Blocks as people write them, whole and without each of their words: bash rejects what is called
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

/// Validates a text; `flags` are words.
fn validated(text: &str, flags: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    run(
        folder.path(),
        &format!("validate a.yaml {}", flags.join(" ")),
    )
}

fn config(spec: &str) -> String {
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    )
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
        let Run {
            code,
            stdout: report,
            stderr: talk,
        } = validated(&text, &["-o", format, "--kubernetes-version", "v1.34.1"]);
        assert_eq!(code, 1, "{format}: {talk}");
        assert!(report.starts_with(start), "{format}: {report}");
        assert!(report.contains("command-unclosed"), "{format}: {report}");
    }
    let json: Value = validated(&text, &["-o", "json"]).json();
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
        let Run {
            stdout: report,
            stderr: talk,
            ..
        } = validated(&text, &["-o", format]);
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

/// Each finding shows its line: of very many the first are told, and the rest counted. Blocks
/// within blocks cost no more than their text.
#[test]
fn of_many_commands_the_first_are_told() {
    let report = validated(
        &config(&format!(
            "  preKubeadmCommands:\n{}",
            "  - a && b || true\n".repeat(300)
        )),
        &[],
    )
    .stdout;
    assert_eq!(
        report.matches("[command-failure-hidden]").count(),
        20,
        "{report}"
    );
    assert!(
        report.contains("280 more parts of it have such faults"),
        "{report}"
    );
    let report = validated(
        &config(&format!(
            "  preKubeadmCommands: [\"{}\"]\n",
            "{ ".repeat(40_000)
        )),
        &[],
    )
    .stdout;
    assert!(report.contains("error[command-unclosed]"), "{report}");
}
