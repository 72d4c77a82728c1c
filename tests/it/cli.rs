//! The program as a whole: versions, help and colours on a terminal, streams that cannot be written,
//! panics, and its use as a plugin of clusterctl.

use std::process::{Command, Output};

use windlass::cli::verbs::VERBS;
use windlass::io::environment::Environment;
use windlass::io::stdio::{Stdio, Stream};

use crate::support::{root, run, windlass};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs the program on a terminal of a width; returns the exit code and both streams.
fn seen(arguments: &[&str], columns: usize, environment: &[(&str, &str)]) -> (u8, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| std::fs::File::create(folder.path().join(name)).unwrap();
    let stdio = Stdio {
        stdin: Box::new(std::io::empty()),
        stdout: Stream::new("standard output", file("out")).as_terminal(columns),
        stderr: Stream::new("standard error", file("err")).as_terminal(columns),
    };
    let arguments = std::iter::once("windlass")
        .chain(arguments.iter().copied())
        .map(Into::into);
    let code = windlass::cli::run(
        arguments,
        stdio,
        &environment.iter().copied().collect::<Environment>(),
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    (code.code(), read("out"), read("err"))
}

#[test]
fn prints_the_version_in_the_formats_of_clusterctl() {
    let version = format!("v{}", env!("CARGO_PKG_VERSION"));
    let text = format!("windlass version: {version}\n");
    assert_eq!(run(root(), "version").ok().stdout, text);
    assert_eq!(
        run(root(), "version -o short").ok().stdout,
        format!("{version}\n")
    );
    let json = run(root(), "version -o json").ok().json();
    assert_eq!(json["windlass"]["gitVersion"], version);
    let yaml: serde_json::Value =
        serde_yaml::from_str(&run(root(), "version -o yaml").ok().stdout).unwrap();
    assert_eq!(yaml, json);
}

#[test]
fn reports_unknown_help_topics_above_the_overview() {
    let overview = run(root(), "").ok().stdout;
    for (topics, shown) in [
        ("zzz", "`zzz`"),
        ("release zzz", "`release` `zzz`"),
        ("zzz build", "`zzz` `build`"),
    ] {
        let help = run(root(), &format!("help {topics}")).ok();
        assert_eq!(
            help.stderr,
            format!("Unknown help topic [{shown}]\n{overview}")
        );
        assert_eq!(help.stdout, "");
    }
}

/// A line of a text is as long as it may be, and no longer: its next word would not have fitted.
#[test]
fn help_fills_the_columns_of_the_terminal() {
    for verb in VERBS {
        let mut words = verb.words.to_vec();
        words.push("-h");
        let text = seen(&words, 72, &[]).1;
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("Usage: ") && !line.starts_with("Example: "))
            .collect();
        // A word that is too long by itself is not broken.
        let fits =
            |line: &&str| line.chars().count() <= 72 || line.trim_start().split(' ').count() == 1;
        assert!(lines.iter().all(fits), "{text}");
        let left = lines
            .iter()
            .find_map(|line| line.find("No notes, placeholders"))
            .unwrap();
        for pair in lines.windows(2) {
            let Some(further) = pair[1].strip_prefix(&" ".repeat(left)) else {
                continue;
            };
            // The meaning of a flag that has a line of its own.
            let is_flag = pair[0].chars().count() <= left || !pair[0].contains("   ");
            let first = further.split(' ').next().unwrap();
            assert!(
                is_flag || pair[0].chars().count() + 1 + first.chars().count() > 72,
                "{}\n{}",
                pair[0],
                pair[1]
            );
        }
    }
    // However wide it is, help has 100 columns at most.
    assert_eq!(
        seen(&["vars", "-h"], 300, &[]).1,
        run(root(), "vars -h").stdout
    );
}

#[test]
fn a_group_on_a_terminal_is_broken_between_words() {
    let expected = "Usage: windlass config COMMAND [FLAGS]
  config repositories   the providers that
                        clusterctl knows,
                        and where they are
Global: --config FILE (clusterctl's)
        --settings FILE  -q, --quiet
        -v, --v N
        --color auto|always|never
        -h, --help  -V, --version
`windlass config repositories -h` lists
the flags of one command
";
    assert_eq!(
        seen(&["config"], 42, &[]),
        (0, expected.to_owned(), String::new())
    );
    let overview = seen(&[], 100, &[]).1;
    for lines in [
        "\n  release build VERSION   write the whole release: components, metadata, templates, checksums,\n                          images, SBOM\n",
        "\n  release check VERSION DIR…    check a release before it is published, and whether users can\n                          upgrade to it\n",
        "\n  repository add|list|images|doctor|bundle|configmap|push|pull    fill, show, explain and pack a\n                          local",
        "\n  generate crds|rbac|components|metadata|template|clusterclass    print one artifact\n",
        "\n  render FILE…            bootstrap data of a KubeadmConfig or WindlassConfig, without a cluster\n",
    ] {
        assert!(overview.contains(lines), "{lines} is not in\n{overview}");
    }
    // In a pipe, and in a wider terminal, lines have at most 100 columns.
    assert_eq!(run(root(), "config").stdout, seen(&["config"], 1000, &[]).1);
    assert_eq!(run(root(), "config").stdout, seen(&["config"], 100, &[]).1);
}

/// A flag and its value stay on one line, and each line is indented like the first one.
#[test]
fn wraps_the_overview_between_flags() {
    let text = seen(&[], 30, &[]).1;
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

/// A dumb terminal, and one that a person asked to be left plain.
#[test]
fn colours_are_those_of_the_terminal() {
    let unknown = ["schema", "finding", "extra"];
    let is_coloured =
        |environment: &[(&str, &str)]| seen(&unknown, 80, environment).2.contains("\x1b[");
    for (environment, expected) in [
        (&[][..], true),
        (&[("TERM", "xterm")], true),
        (&[("TERM", "dumb")], false),
        (&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true),
        (&[("NO_COLOR", "1")], false),
    ] {
        assert_eq!(is_coloured(environment), expected, "{environment:?}");
    }
    // Of several flags the last counts, also where the rest is faulty; behind `--` there are no
    // flags.
    for (flags, expected) in [
        (&["--color", "always"][..], true),
        (&["--color=always"], true),
        (&["--color", "always", "--color", "never"], false),
        (&["--", "--color", "always"], false),
        (&["--", "--color=always"], false),
        (&["--quiet", "always"], false),
    ] {
        let output = windlass(root()).args(unknown).args(flags).output().unwrap();
        assert_eq!(output.stderr.contains(&0x1b), expected, "{flags:?}");
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

#[test]
fn formats_pages_of_rules_on_a_terminal() {
    let (_, formatted, _) = seen(
        &["explain", "metadata-series-missing"],
        80,
        &[("NO_COLOR", "1")],
    );
    assert!(
        formatted.starts_with("metadata-series-missing\n\n") && !formatted.contains("```"),
        "{formatted}"
    );
    let (_, coloured, _) = seen(&["explain", "metadata-series-missing"], 80, &[]);
    assert!(
        coloured.starts_with("\x1b[1mmetadata-series-missing\x1b[0m\n\n"),
        "{coloured}"
    );
}

#[cfg(target_os = "linux")]
fn full_device() -> std::process::Stdio {
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

/// What the test does in the process that dies.
fn panic_as_the_program_would() -> ! {
    let code = windlass::cli::report_panics(|| {
        assert!(
            std::panic::catch_unwind(|| panic!("internal error: a cloud fell")).is_err(),
            "what is caught is not a bug"
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
        text.contains("has a bug at tests/it/cli.rs:")
            && ["sky", "cloud"].iter().all(|word| !text.contains(word)),
        "{text}"
    );
    assert!(
        text.contains("\n  help: report it with the command that you ran: https://"),
        "{text}"
    );
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
            .contains("Usage: clusterctl windlass schema [KIND] [FLAGS]\n")
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
