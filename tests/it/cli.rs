//! The built program: streams, exit codes and words.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{root, windlass};

/// Runs the program and compares both streams and the exit code.
fn check(arguments: &[&str], code: i32, stdout: &str, stderr: &str) {
    let output = windlass(root()).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(
        (text(&output.stdout).as_str(), text(&output.stderr).as_str()),
        (stdout, stderr),
        "{arguments:?}"
    );
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn bare_program_and_its_help_give_the_overview() {
    let bare = windlass(root()).output().unwrap();
    let text = stdout(&bare);
    assert!(
        text.starts_with(
            "Everything between a Cluster API provider and the machines that boot from it.\nUsage: windlass COMMAND [FLAGS]\n"
        )
    );
    let global = "Global: --config FILE (clusterctl's)  --settings FILE  -q, --quiet  -v, --v N  --color auto|always|never  -h, --help  -V, --version\n\
                  Exit: 0 clean, 1 findings or a faulty document, 2 the world failed.    Try: windlass ";
    assert!(text.contains(global), "{text}");
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["help"],
        &["-q"],
        &["--color", "never", "-v", "3"],
    ] {
        check(arguments, 0, &text, "");
    }
}

#[test]
fn unknown_first_word_is_answered_as_clusterctl_does() {
    check(
        &["foo"],
        1,
        "",
        "Error: unknown command \"foo\" for \"windlass\"\nRun 'windlass --help' for usage.\n",
    );
    let near = "Error: unknown command \"versoin\" for \"windlass\"\n\nDid you mean this?\n\tversion\n\nRun 'windlass --help' for usage.\n";
    check(&["versoin", "worker.yaml"], 1, "", near);
    check(
        &["-q", "foo"],
        1,
        "",
        "Error: unknown command \"foo\" for \"windlass\"\nRun 'windlass --help' for usage.\n",
    );
    check(
        &["-v", "5", "foo"],
        1,
        "",
        "Error: flags cannot be placed before plugin name: -v\n",
    );
}

#[test]
fn wrong_flags_of_clusterctls_verbs_are_answered_as_clusterctl_does() {
    check(&["--bogus"], 1, "", "Error: unknown flag: --bogus\n");
    check(
        &["version", "--bogus"],
        1,
        "",
        "Error: unknown flag: --bogus\n",
    );
    check(
        &["version", "-z"],
        1,
        "",
        "Error: unknown shorthand flag: 'z' in -z\n",
    );
    check(
        &["version", "-o"],
        1,
        "",
        "Error: flag needs an argument: 'o' in -o\n",
    );
    check(
        &["version", "--output"],
        1,
        "",
        "Error: flag needs an argument: --output\n",
    );
    check(
        &["version", "-v", "abc"],
        1,
        "",
        "Error: invalid argument \"abc\" for \"-v, --v\" flag: parse error\n",
    );
    check(
        &["version", "-o", "xml"],
        1,
        "",
        "Error: invalid output format: xml\n",
    );
    check(
        &["completion", "tcsh"],
        1,
        "",
        "Error: unsupported shell type \"tcsh\"\n",
    );
    let output = windlass(root()).arg("completion").output().unwrap();
    assert_eq!(
        (stderr(&output).as_str(), output.status.code()),
        ("Error: please specify a shell\n\n", Some(1))
    );
    assert!(stdout(&output).contains("Usage: windlass completion SHELL"));
}

#[test]
fn wrong_flags_of_our_verbs_are_answered_with_what_to_type() {
    let all = "`windlass schema -h` lists all flags";
    let unknown = format!(
        "error: unknown flag `--colour` for `windlass schema`\n  help: did you mean `--color`? {all}\n"
    );
    check(
        &["schema", "--colour", "always", "finding"],
        2,
        "",
        &unknown,
    );
    check(
        &["schema", "--zzz", "finding"],
        2,
        "",
        &format!("error: unknown flag `--zzz` for `windlass schema`\n  help: {all}\n"),
    );
    let usage = "  help: usage: windlass schema KIND [FLAGS]\n";
    check(
        &["schema"],
        2,
        "",
        &format!("error: `windlass schema` needs `KIND`\n{usage}"),
    );
    check(
        &["schema", "finding", "x"],
        2,
        "",
        &format!("error: unexpected argument `x` for `windlass schema`\n{usage}"),
    );
    check(
        &["schema", "finding", "--config"],
        2,
        "",
        &format!("error: `--config` needs a value\n{usage}"),
    );
    let colours =
        "error: unknown value `pink` for `--color`\n  help: use `auto`, `always` or `never`\n";
    check(&["schema", "finding", "--color", "pink"], 2, "", colours);
}

#[test]
fn flags_may_stand_anywhere_and_the_last_one_wins() {
    let version = format!("v{}\n", env!("CARGO_PKG_VERSION"));
    check(
        &["--config", "version", "version", "-o", "short"],
        0,
        &version,
        "",
    );
    check(&["version", "-o", "json", "-o=short"], 0, &version, "");
    check(
        &["-q", "-v", "3", "version", "--output=short"],
        0,
        &version,
        "",
    );
}

#[test]
fn versions_have_clusterctls_formats() {
    let version = env!("CARGO_PKG_VERSION");
    check(
        &["version"],
        0,
        &format!("windlass version: v{version}\n"),
        "",
    );
    check(&["-V"], 0, &format!("windlass version: v{version}\n"), "");
    check(
        &["schema", "--version"],
        0,
        &format!("windlass version: v{version}\n"),
        "",
    );
    let json = windlass(root())
        .args(["version", "-o", "json"])
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["windlass"]["gitVersion"], format!("v{version}"));
    let yaml = windlass(root())
        .args(["version", "-o", "yaml"])
        .output()
        .unwrap();
    let yaml: serde_json::Value = serde_yaml::from_slice(&yaml.stdout).unwrap();
    assert_eq!(yaml, json);
}

#[cfg(unix)]
#[test]
fn as_a_plugin_the_program_speaks_of_itself_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("clusterctl-windlass");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_windlass"), &link).unwrap();
    let run = |arguments: &[&str]| {
        Command::new(&link)
            .args(arguments)
            .env_clear()
            .output()
            .unwrap()
    };
    assert!(stdout(&run(&[])).contains("Usage: clusterctl windlass COMMAND [FLAGS]\n"));
    assert!(
        stdout(&run(&["schema", "-h"]))
            .contains("Usage: clusterctl windlass schema KIND [FLAGS]\n")
    );
    let unknown = stderr(&run(&["schema", "--zzz", "finding"]));
    assert_eq!(
        unknown,
        "error: unknown flag `--zzz` for `clusterctl windlass schema`\n  help: `clusterctl windlass schema -h` lists all flags\n"
    );
    assert!(stderr(&run(&["foo"])).contains("Run 'clusterctl windlass --help' for usage."));
    assert!(
        stdout(&run(&["repository"]))
            .starts_with("Usage: clusterctl windlass repository COMMAND [FLAGS]\n")
    );
    assert!(
        stdout(&run(&["generate", "provider", "-h"]))
            .contains("Usage: clusterctl windlass generate provider [FLAGS]\n")
    );
    assert!(stdout(&run(&["vars", "--help"])).contains("  clusterctl windlass vars templates\n"));
    let remote = stderr(&run(&["generate", "provider", "--core", "cluster-api"]));
    assert!(
        remote.contains("run `clusterctl windlass repository add DIR --to REPOSITORY`"),
        "{remote}"
    );
}

/// Found on the path by the name that clusterctl looks for, as a file of its own and not a link.
#[cfg(unix)]
#[test]
fn a_copy_that_is_installed_as_a_plugin_works() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(
        env!("CARGO_BIN_EXE_windlass"),
        folder.path().join("clusterctl-windlass"),
    )
    .unwrap();
    std::fs::write(folder.path().join("t.yaml"), "a: ${B:=c}\n").unwrap();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "clusterctl-windlass generate yaml --from t.yaml && clusterctl-windlass repository doctor",
    ]);
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let output = command
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "a: c\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("name a repository, or a configuration with `--config FILE`"),
        "{}",
        stderr(&output)
    );
}

/// Book, "v1.12 to v1.13" and "v1.10 to v1.11": what clusterctl took away is not imitated, and
/// nothing is done in its place.
#[test]
fn what_clusterctl_no_longer_has_is_unknown() {
    let said = |arguments: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let output = windlass(folder.path()).args(arguments).output().unwrap();
        assert_eq!(
            (output.status.code(), stdout(&output).as_str()),
            (Some(1), ""),
            "{arguments:?}"
        );
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            0,
            "{arguments:?}"
        );
        stderr(&output)
    };
    for gone in [&["backup"][..], &["restore"], &["alpha", "rollout", "undo"]] {
        assert!(
            said(gone).starts_with(&format!(
                "Error: unknown command \"{}\" for \"windlass\"",
                gone[0]
            )),
            "{gone:?}"
        );
    }
    for gone in ["--disable-grouping", "--skip-crd-migration"] {
        assert_eq!(
            said(&["generate", "cluster", "c", gone]),
            format!("Error: unknown flag: {gone}\n")
        );
    }
}

/// Whether the error of a faulty command line is coloured; standard error is a pipe.
fn is_coloured(environment: &[(&str, &str)], flags: &[&str]) -> bool {
    let mut command = windlass(root());
    command
        .args(["schema", "finding", "extra"])
        .args(flags)
        .envs(environment.iter().copied());
    stderr(&command.output().unwrap()).contains('\x1b')
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    assert!(!is_coloured(&[], &[]));
    assert!(is_coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "0")], &[]));
    assert!(!is_coloured(
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        &[]
    ));
    assert!(is_coloured(
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")],
        &[]
    ));
    assert!(is_coloured(&[("NO_COLOR", "1")], &["--color", "always"]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1")], &["--color=never"]));
}

#[cfg(target_os = "linux")]
fn full_device() -> Stdio {
    std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap()
        .into()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_a_closed_pipe_is_not() {
    let full = windlass(root())
        .args(["schema", "finding"])
        .stdout(full_device())
        .output()
        .unwrap();
    assert_eq!(
        stderr(&full),
        "error: standard output: cannot be written: no space left on device\n"
    );
    assert_eq!(full.status.code(), Some(2));

    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let closed = windlass(root())
        .args(["completion", "bash"])
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(
        (stderr(&closed).as_str(), closed.status.code()),
        ("", Some(0))
    );
}

#[test]
fn completions_name_the_real_verbs() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(
            &windlass(root())
                .args(["completion", shell])
                .output()
                .unwrap(),
        );
        for word in ["windlass", "schema", "completion", "color"] {
            assert!(script.contains(word), "{shell} lacks `{word}`");
        }
    }
    if !Path::new("/bin/bash").exists() {
        eprintln!("SKIPPED: no bash to try the completion in");
        return;
    }
    let script = stdout(
        &windlass(root())
            .args(["completion", "bash"])
            .output()
            .unwrap(),
    );
    let mut bash = Command::new("/bin/bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    bash.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn completions_have_the_values_that_are_known() {
    let script = stdout(
        &windlass(root())
            .args(["completion", "bash"])
            .output()
            .unwrap(),
    );
    // What bash offers behind a flag, or as an operand, of a verb.
    let offered = |verb: &str, flag: &str| {
        let (_, of_verb) = script
            .split_once(&format!("        windlass__subcmd__{verb})"))
            .unwrap_or_else(|| panic!("no {verb}"));
        let of_verb = of_verb
            .split_once("\n        windlass__")
            .map_or(of_verb, |(of_verb, _)| of_verb);
        let Some(values) = of_verb.split_once(&format!("                {flag})\n")) else {
            return of_verb.lines().nth(1).unwrap().to_owned();
        };
        values.1.lines().next().unwrap().to_owned()
    };
    for (verb, flag, values) in [
        ("render", "--deny", &["warnings", "input-not-utf8"][..]),
        ("render", "--capi-version", &["v1.10", "v1.14", "main"]),
        ("render", "--role", &["worker-join"]),
        ("generate__subcmd__cluster", "--flavor", &["topology"]),
        ("generate__subcmd__template", "", &["topology", "ignition"]),
        ("generate__subcmd__clusterclass", "", &["windlass"]),
        ("schema", "", &["finding"]),
    ] {
        let offered = offered(verb, flag);
        for value in values {
            let is_word = offered.split([' ', '"', '\'']).any(|word| word == *value);
            assert!(is_word, "{verb} {flag} lacks {value}: {offered}");
        }
    }
    // They are offered, and others are taken: a flavor may be anybody's.
    assert_eq!(
        windlass(root())
            .args(["generate", "template", "foreign"])
            .output()
            .unwrap()
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    let config = |verb: &str| {
        format!(
            "error: `windlass {verb}` does not read clusterctl's configuration\n  help: leave `--config` out\n"
        )
    };
    check(
        &["vars", "templates", "--config", "x"],
        2,
        "",
        &config("vars"),
    );
    check(
        &["release", "build", "v0.1.0", "--to", "out", "--config", "x"],
        2,
        "",
        &config("release build"),
    );
    let words = "error: `--config` has values of variables, and none is replaced\n  help: pass `--template` too, or leave `--config` out\n";
    check(
        &["render", "examples/worker.yaml", "--config", "x"],
        2,
        "",
        words,
    );
    let words = "error: `--force` overwrites a folder, and none is written\n  help: name it: `--extract DIR`, or `--all --to DIR`\n";
    check(&["render", "examples/worker.yaml", "--force"], 2, "", words);
    let output = windlass(root())
        .args(["vars", "templates", "--short", "-o", "json"])
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn variables_of_render_come_from_flag_environment_and_configuration_in_clusterctls_order() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("c.yaml", "A: file\n");
    write(
        "t.yaml",
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\nspec: {files: [{path: /a, content: \"got ${A}\"}]}\n",
    );
    let rendered = |more: &[&str], environment: &[(&str, &str)]| {
        let arguments = ["render", "t.yaml", "--template", "--config", "c.yaml"];
        stdout(
            &windlass(folder.path())
                .args(arguments)
                .args(more)
                .envs(environment.iter().copied())
                .output()
                .unwrap(),
        )
    };
    assert!(rendered(&[], &[]).contains("got file"));
    // Every verb that replaces variables takes the file.
    for verb in [
        &["size"][..],
        &["validate"],
        &["why", "/a"],
        &["diff", "t.yaml"],
    ] {
        let flags = ["t.yaml", "--template", "--config", "c.yaml"];
        let output = windlass(folder.path())
            .args(verb)
            .args(flags)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{verb:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(rendered(&[], &[("A", "environment")]).contains("got environment"));
    assert!(rendered(&["--var", "A=flag"], &[("A", "environment")]).contains("got flag"));
}

#[test]
fn completions_say_what_each_verb_does() {
    for shell in ["zsh", "fish"] {
        let script = stdout(
            &windlass(root())
                .args(["completion", shell])
                .output()
                .unwrap(),
        );
        assert!(
            script.contains("add a release series to metadata.yaml")
                && !script.contains("flags of every verb"),
            "{shell}"
        );
        // What a first word stands for are the verbs below it, whoever's they are.
        let groups = [
            "build, bump, check, diff",
            "add, list, ",
            "template, clusterclass, yaml, provider, cluster",
        ];
        groups
            .into_iter()
            .for_each(|seconds| assert!(script.contains(seconds), "{shell} lacks {seconds}"));
    }
    // A flag that a verb refuses is not offered for it.
    let fish = stdout(
        &windlass(root())
            .args(["completion", "fish"])
            .output()
            .unwrap(),
    );
    let takes = |verb: &str, flag: &str| {
        fish.lines().any(|line| {
            line.contains(&format!("using_subcommand {verb}\""))
                && line.contains(&format!("-l {flag} "))
        })
    };
    assert!(
        takes("render", "config")
            && takes("init", "force")
            && !takes("init", "config")
            && !takes("vars", "config")
    );
}

/// What the test does in the process that dies.
fn panic_as_the_program_would() -> ! {
    let code = windlass::cli::report_panics(|| {
        assert!(
            std::panic::catch_unwind(|| panic!("internal error: a cloud fell")).is_err(),
            "what is caught is no bug"
        );
        panic!("internal error: the sky fell")
    });
    std::process::exit(code.into());
}

#[test]
fn a_panic_is_our_bug() {
    const CHILD: &str = "WINDLASS_TEST_PANIC";
    // The test starts itself again, and that process is the one that dies.
    if std::env::var_os(CHILD).is_some() {
        panic_as_the_program_would();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command
        .args(["--exact", "--nocapture", "cli::a_panic_is_our_bug"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(101));
    let text = stderr(&output);
    assert!(
        text.contains("has a bug: the sky fell (tests/it/cli.rs:") && !text.contains("cloud"),
        "{text}"
    );
    assert!(
        text.contains("\n  help: report it with the command and its input: https://"),
        "{text}"
    );
}

/// A flag with its value is never broken, however narrow the terminal is, and stands behind what
/// begins its line.
#[test]
fn the_overview_of_a_narrow_terminal_breaks_between_parts() {
    use windlass::shell::environment::Environment;
    use windlass::shell::stdio::Stream;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let stdout =
        Stream::new("standard output", std::fs::File::create(&out).unwrap()).as_terminal(30);
    let stderr = Stream::new("standard error", std::io::sink());
    let stdio = windlass::shell::stdio::Stdio {
        stdin: Box::new(std::io::empty()),
        stdout,
        stderr,
    };
    let code = windlass::cli::run(["windlass".into()], stdio, &Environment::default());
    assert_eq!(code.code(), 0);
    let text = std::fs::read_to_string(out).unwrap();
    for line in [
        "Global: --config FILE (clusterctl's)",
        "        -q, --quiet  -v, --v N",
        "        -h, --help",
    ] {
        assert!(
            text.lines().any(|found| found.starts_with(line)),
            "{line:?} is not in\n{text}"
        );
    }
    assert!(
        text.lines()
            .all(|line| !line.is_empty() && line == line.trim_end()),
        "{text}"
    );
}
