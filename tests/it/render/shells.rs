//! `onFailure` on Linux, run in real shells: the items of `runcmd` in one script, as cloud-init
//! writes them, with a kubeadm that does what the test says. `/run` and the console are moved into
//! a folder of the test, so that it needs no rights.

use std::fs;
use std::path::Path;
use std::process::Command;

use windlass_bootstrap::render::write::cloud_config::run_items;
use windlass_bootstrap::render::{self, Notes, Pool, Request};
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::support::runs;

/// The shells that `/bin/sh` is on the systems that people boot: Debian and Ubuntu, Red Hat and
/// SUSE, Alpine.
const SHELLS: [&[&str]; 4] = [
    &["dash"],
    &["bash"],
    &["bash", "--posix"],
    &["busybox", "sh"],
];

/// In place of the code of a script that was killed.
const KILLED: i32 = -9;

/// What a script left behind.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    code: i32,
    /// The steps that ran, by what they wrote.
    ran: String,
    /// Whether the success sentinel is there.
    sentinel: bool,
    /// The file that reports a failure.
    report: Option<String>,
    /// What was said on standard output by the lines that watch.
    said: Vec<String>,
    /// The same on the console.
    console: Vec<String>,
}

/// The shells that are there.
fn shells() -> Vec<&'static [&'static str]> {
    SHELLS
        .iter()
        .filter(|shell| runs(&[*shell, &["-c", "exit 0"][..]].concat()))
        .copied()
        .collect()
}

/// The script that cloud-init makes of `runcmd`: one item below the other.
fn script(spec: &str) -> String {
    let text = format!(
        "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    );
    let (pool, _) = Pool::read(&[Source::new("w.yaml", text)], &Budget::default());
    let mut notes = Notes::default();
    let rendered = render::render(
        &pool,
        &render::targets(&pool)[0],
        &Request::new(),
        &mut notes,
    )
    .rendered();
    let rendered = rendered.unwrap_or_else(|| panic!("{:?}", notes.report));
    let items = run_items(&rendered.plan)
        .iter()
        .map(|item| format!("{}\n", item.command))
        .collect::<String>();
    format!("#!/bin/sh\n{items}")
}

/// Runs the script; kubeadm ends with the given code.
fn run(shell: &[&str], script: &str, kubeadm: i32) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let moved = |path: &str| at(path).display().to_string();
    fs::create_dir_all(at("run/cluster-api")).unwrap();
    fs::create_dir_all(at("bin")).unwrap();
    let stub = |name: &str, text: String| {
        fs::write(at("bin").join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        make_executable(&at("bin").join(name));
    };
    stub(
        "kubeadm",
        format!("echo kubeadm >> {}; exit {kubeadm}", moved("ran")),
    );
    stub(
        "ran",
        format!("echo $1 >> {}; exit ${{2:-0}}", moved("ran")),
    );
    stub("chown", "exit 0".to_owned());
    let script = script
        .replace("/run/", &format!("{}/", moved("run")))
        .replace("/dev/console", &moved("console"));
    let script = script.replace("'/made/", &format!("'{}/", moved("made")));
    fs::write(at("runcmd"), script).unwrap();
    let path = format!("{}:{}", moved("bin"), std::env::var("PATH").unwrap());
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .arg(at("runcmd"))
        .env("PATH", path)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let read = |name: &str| fs::read_to_string(at(name)).ok();
    let spoken = |text: String| {
        text.lines()
            .filter_map(|line| line.strip_prefix("windlass: "))
            .map(str::to_owned)
            .collect()
    };
    Outcome {
        code: output.status.code().unwrap_or(KILLED),
        ran: read("ran")
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
        sentinel: read("run/cluster-api/bootstrap-success.complete")
            .is_some_and(|text| text == "success\n"),
        report: read("run/windlass/bootstrap-failure"),
        said: spoken(String::from_utf8(output.stdout).unwrap()),
        console: spoken(last_line_only(read("console"))),
    }
}

/// The console is a device; a file in its place holds what was written last.
fn last_line_only(text: Option<String>) -> String {
    text.unwrap_or_default()
        .lines()
        .last()
        .unwrap_or_default()
        .to_owned()
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What is expected of a script in all shells.
struct Expected<'a> {
    code: i32,
    ran: &'a str,
    sentinel: bool,
    report: Option<(&'a str, i32)>,
}

fn check(spec: &str, kubeadm: i32, expected: &Expected<'_>) -> Vec<Outcome> {
    let script = script(spec);
    let outcomes: Vec<Outcome> = shells()
        .into_iter()
        .map(|shell| run(shell, &script, kubeadm))
        .collect();
    for (outcome, shell) in outcomes.iter().zip(shells()) {
        let shown = format!("{shell:?}: {outcome:?}\n{script}");
        assert_eq!(
            (outcome.code, outcome.ran.as_str(), outcome.sentinel),
            (expected.code, expected.ran, expected.sentinel),
            "{shown}"
        );
        let report = expected
            .report
            .map(|(step, code)| format!("step={step}\nexitCode={code}\n"));
        assert_eq!(outcome.report, report, "{shown}");
        if let Some((step, code)) = expected.report {
            let line = format!("bootstrap failed at {step}, exit code {code}");
            assert!(outcome.said.contains(&line), "{shown}");
        }
        assert_eq!(outcome.said.last(), outcome.console.last(), "{shown}");
    }
    outcomes
}

fn spec(on_failure: &str, before: &[&str], after: &[&str]) -> String {
    let list = |name: &str, commands: &[&str]| match commands {
        [] => String::new(),
        commands => format!(
            "  {name}:\n{}",
            commands
                .iter()
                .map(|command| format!("  - {}\n", serde_json::to_string(command).unwrap()))
                .collect::<String>()
        ),
    };
    format!(
        "  onFailure: {on_failure}\n{}{}",
        list("preKubeadmCommands", before),
        list("postKubeadmCommands", after)
    )
}

#[test]
fn a_boot_without_a_failure_leaves_no_report() {
    for on_failure in ["Abort", "Report"] {
        let expected = Expected {
            code: 0,
            ran: "one kubeadm two",
            sentinel: true,
            report: None,
        };
        let outcomes = check(&spec(on_failure, &["ran one"], &["ran two"]), 0, &expected);
        let steps = [
            "preKubeadmCommands[0] started",
            "kubeadm join started",
            "postKubeadmCommands[0] started",
        ];
        assert!(
            outcomes.iter().all(|outcome| outcome.said == steps),
            "{outcomes:?}"
        );
    }
}

/// BC-78: cloud-init shows what a command says only when it has returned; what hangs was named
/// before, on the console too.
#[test]
fn a_step_that_never_ends_is_the_last_that_was_said() {
    for on_failure in ["Abort", "Report"] {
        let expected = Expected {
            code: KILLED,
            ran: "one",
            sentinel: false,
            report: None,
        };
        let outcomes = check(
            &spec(on_failure, &["ran one", "kill -9 $$"], &["ran two"]),
            0,
            &expected,
        );
        for outcome in outcomes {
            assert_eq!(
                outcome.console,
                ["preKubeadmCommands[1] started"],
                "{outcome:?}"
            );
        }
    }
}

#[test]
fn abort_ends_with_the_first_command_that_fails() {
    let check = |before: &[&str], after: &[&str], kubeadm, expected| {
        check(&spec("Abort", before, after), kubeadm, &expected)
    };
    let expected = |code, ran, sentinel, step| Expected {
        code,
        ran,
        sentinel,
        report: Some((step, code)),
    };
    check(
        &["ran one", "ran two 3", "ran three"],
        &[],
        0,
        expected(3, "one two", false, "preKubeadmCommands[1]"),
    );
    check(
        &["ran one"],
        &["ran two"],
        5,
        expected(5, "one kubeadm", false, "kubeadm join"),
    );
    // A user's own `set +e` does not lead past a failed kubeadm.
    check(
        &["set +e", "ran one 1"],
        &["ran two"],
        5,
        expected(5, "one kubeadm", false, "kubeadm join"),
    );
    check(
        &[],
        &["ran two 7", "ran three"],
        0,
        expected(7, "kubeadm two", true, "postKubeadmCommands[0]"),
    );
    // A command that ends the script is reported, also when it ends well.
    check(
        &["exit 0"],
        &[],
        0,
        expected(0, "", false, "preKubeadmCommands[0]"),
    );
    check(
        &["exit 9"],
        &[],
        0,
        expected(9, "", false, "preKubeadmCommands[0]"),
    );
    // `set -e` has its usual meaning.
    let fine = |ran| Expected {
        code: 0,
        ran,
        sentinel: true,
        report: None,
    };
    check(
        &["[ -f /no/such/file ] && ran never", "ran one 1 || true"],
        &[],
        0,
        fine("one kubeadm"),
    );
}

#[test]
fn report_goes_on_and_ends_as_kubeadm_did() {
    let check = |before: &[&str], after: &[&str], kubeadm, expected| {
        check(&spec("Report", before, after), kubeadm, &expected)
    };
    let noted = check(
        &["ran one 3"],
        &["ran two 4"],
        0,
        Expected {
            code: 0,
            ran: "one kubeadm two",
            sentinel: true,
            report: None,
        },
    );
    for outcome in noted {
        assert!(
            outcome
                .said
                .contains(&"preKubeadmCommands[0] returned 3, continuing".to_owned()),
            "{outcome:?}"
        );
        assert!(
            outcome
                .said
                .contains(&"postKubeadmCommands[0] returned 4, continuing".to_owned()),
            "{outcome:?}"
        );
    }
    let failed = Expected {
        code: 5,
        ran: "one kubeadm two",
        sentinel: false,
        report: Some(("kubeadm join", 5)),
    };
    check(&["ran one"], &["ran two"], 5, failed);
    check(
        &["exit 7"],
        &[],
        0,
        Expected {
            code: 7,
            ran: "",
            sentinel: false,
            report: Some(("preKubeadmCommands[0]", 7)),
        },
    );
}

#[test]
fn continue_is_upstreams_script() {
    let outcomes = check(
        &spec("Continue", &["ran one 3"], &["ran two"]),
        5,
        &Expected {
            code: 0,
            ran: "one kubeadm two",
            sentinel: false,
            report: None,
        },
    );
    assert!(outcomes.iter().all(|outcome| outcome.said.is_empty()));
}

#[test]
fn directories_are_made_and_a_failing_one_is_a_step() {
    let directories = "  directories:\n  - {path: \"/made/it's\", permissions: \"0750\"}\n";
    let spec_with = |before: &[&str]| format!("{}{directories}", spec("Abort", before, &[]));
    let here = "[ -d \"made/it's\" ] && ran made";
    check(
        &spec_with(&[here]),
        0,
        &Expected {
            code: 0,
            ran: "made kubeadm",
            sentinel: true,
            report: None,
        },
    );
    let script = script(&spec_with(&[]));
    let lines = "windlass_step 'directories[0]'\nmkdir -p '/made/it'\\''s'\nchmod 0750 '/made/it'\\''s'\nchown root:root '/made/it'\\''s'\n";
    assert!(script.contains(lines), "{script}");
    let broken = "  directories:\n  - {path: /dev/null/x, permissions: \"0750\"}\n";
    let script = self::script(&format!("{}{broken}", spec("Abort", &["ran never"], &[])));
    for shell in shells() {
        let outcome = run(shell, &script, 0);
        assert!(outcome.code != 0 && outcome.ran.is_empty(), "{outcome:?}");
        assert!(outcome.report.unwrap().starts_with("step=directories[0]\n"));
    }
}
