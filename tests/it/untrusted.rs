//! Documents and file names of somebody else: they read nothing of this machine, and give no
//! commands to terminals and CI systems.

use std::path::Path;
use std::process::Output;

use crate::support::{copy, root, windlass};

/// What the run printed, which holds no character that does something to a terminal, and no line
/// that is a workflow command.
pub(crate) fn harmless(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8(bytes.clone()).unwrap())
        .concat();
    let unsafe_character = text.chars().find(|c| {
        *c != '\n'
            && (c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'))
    });
    assert_eq!(unsafe_character, None, "{text:?}");
    // As GitHub's runner and Azure's agent find commands.
    let is_command = |line: &str| {
        line.trim_start().starts_with("::stop-commands")
            || line.contains("##[")
            || line.contains("##vso[")
    };
    assert!(!text.lines().any(is_command), "{text}");
    text
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    windlass(folder)
        .args(arguments)
        .env("TOKEN", "hunter2")
        .output()
        .unwrap()
}

/// A provider whose file names these CRDs, beside a `secret.yaml` outside its folder, and a hidden
/// one in it.
fn provider(crds: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    std::fs::create_dir_all(folder.path().join("p/.git")).unwrap();
    let text = std::fs::read_to_string(root().join("examples/harbour/provider.yaml")).unwrap();
    write(
        "p/provider.yaml",
        &text.replace("- config/crd/*.yaml", &format!("- {crds}")),
    );
    for path in ["secret.yaml", "p/.git/config", "p/.env.yaml", "p/notes.txt"] {
        write(path, "TOKEN=hunter2\n[a\n");
    }
    write("p/quoted.txt", "TOKEN: [a] it's hunter2\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret.yaml", folder.path().join("p/link.yaml")).unwrap();
    folder
}

#[test]
fn a_provider_file_reads_only_below_its_folder() {
    let judged = |crds: &str, more: &[&str]| {
        let folder = provider(crds);
        let arguments = [
            &[
                "release",
                "build",
                "v0.1.0",
                "--to",
                "out",
                "--provider",
                "p/provider.yaml",
            ],
            more,
        ]
        .concat();
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1));
        let text = harmless(&output);
        assert!(!text.contains("hunter2"), "{text}");
        text
    };
    let outside = "does not lie below the folder of provider.yaml, so it is not read";
    let hidden = "is hidden, or is in a hidden folder, so it is not read";
    let cases = [
        ("/proc/self/environ", outside),
        ("../secret.yaml", outside),
        ("'../*.yaml'", outside),
        (".git/config", hidden),
        (".env.yaml", hidden),
    ];
    for (crds, expected) in cases {
        let text = judged(crds, &[]);
        assert!(
            text.contains("error[provider-file-outside]") && text.contains(expected),
            "{crds}: {text}"
        );
        // Read when that is asked for, and even then no line of it is shown.
        let text = judged(crds, &["--allow-outside"]);
        assert!(
            !text.contains("provider-file-outside") && text.contains("error[object-incomplete]"),
            "{crds}: {text}"
        );
    }
    #[cfg(unix)]
    assert!(judged("link.yaml", &[]).contains(outside));
    // A file of the folder that is by its name no YAML is checked, without an excerpt.
    assert!(judged("notes.txt", &[]).contains("p/notes.txt:1:"));
    // Nor is the line shown as it would be right.
    assert!(judged("quoted.txt", &[]).contains("put the whole value in one pair of quotes: `'…'`"));
}

/// A name that gives commands to a terminal and to GitHub.
#[cfg(unix)]
const HOSTILE: &str = "cluster-template-a##[warning]\n::stop-commands::x\x1b[2J\u{9b}\u{202e}.yaml";

#[cfg(unix)]
#[test]
fn names_with_control_characters_give_no_commands_and_are_in_no_release() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples/harbour"), folder.path());
    std::fs::write(
        folder.path().join("templates").join(HOSTILE),
        "a: ${B:=1}\n",
    )
    .unwrap();
    for format in ["text", "json", "sarif", "junit", "github"] {
        let output = run(
            folder.path(),
            &["release", "build", "v0.1.0", "--to", "out", "-o", format],
        );
        assert_eq!(output.status.code(), Some(1));
        assert!(
            harmless(&output).contains("template-name-control"),
            "{format}"
        );
        assert!(!folder.path().join("out").exists());
    }
    let hostile = format!("templates/{HOSTILE}");
    for arguments in [
        &["vars", "templates"][..],
        &["vars", "templates", "-o", "json"],
        &["render", &hostile],
        &["generate", "yaml", "--from", &hostile],
    ] {
        harmless(&run(folder.path(), arguments));
    }
}

#[cfg(unix)]
#[test]
fn a_repository_gives_no_commands_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("releases"), &folder.path().join("r"));
    let release = folder.path().join("r/bootstrap-windlass/v0.1.0");
    std::fs::write(release.join(HOSTILE), "a: 1\n").unwrap();
    std::fs::create_dir(folder.path().join("r/bootstrap-\x1b[2J\u{9b}")).unwrap();
    let configuration = "providers:\n- name: foo\n  type: \"\\e]0;PWNED\\a\\e[2J\"\n  url: \"https://github.com/o/r/releases/\\n::stop-commands::x/c.yaml\"\n";
    std::fs::write(folder.path().join("c.yaml"), configuration).unwrap();
    for format in ["text", "json"] {
        for arguments in [
            &["repository", "list", "r"][..],
            &["repository", "doctor", "r"],
            &["repository", "doctor", "--config", "c.yaml"],
        ] {
            harmless(&run(folder.path(), &[arguments, &["-o", format]].concat()));
        }
    }
    for arguments in [
        &["config", "repositories", "--config", "c.yaml"][..],
        &[
            "generate",
            "provider",
            "--bootstrap",
            "foo",
            "--config",
            "c.yaml",
        ],
    ] {
        harmless(&run(folder.path(), arguments));
    }
    let output = run(
        folder.path(),
        &[
            "repository",
            "add",
            "r/bootstrap-windlass/v0.1.0",
            "--to",
            "other",
        ],
    );
    assert!(harmless(&output).contains("error[release-asset-name-control]"));
    assert_eq!(output.status.code(), Some(1));
    // What is not clean text on the command line itself.
    for arguments in [
        &["\x1b[2J\n::stop-commands::x"][..],
        &["render", "\x1b[2J"],
        &["render", "--\x1b[2J"],
        &["generate", "yaml", "--from", "\x1b[2J"],
    ] {
        harmless(&run(folder.path(), arguments));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_told_with_their_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join(OsStr::from_bytes(b"w\xff.yaml")), "a: [\n").unwrap();
    // Where only the name is wrong, the content is checked.
    let text = harmless(&run(folder.path(), &["render", "in"]));
    assert!(text.contains("in/w\\xff.yaml:"), "{text}");
    // A release names its files, and this name it cannot.
    copy(&root().join("releases/bootstrap-windlass/v0.1.0"), &path);
    let output = run(folder.path(), &["repository", "add", "in", "--to", "r"]);
    assert!(
        harmless(&output).contains("in/w\\xff.yaml: cannot be read: its name is not UTF-8"),
        "{}",
        harmless(&output)
    );
    assert_eq!(output.status.code(), Some(2));
    let provider = provider("'*.yaml'");
    std::fs::write(
        provider
            .path()
            .join("p")
            .join(OsStr::from_bytes(b"w\xff.yaml")),
        "",
    )
    .unwrap();
    let output = run(
        provider.path(),
        &[
            "release",
            "build",
            "v0.1.0",
            "--to",
            "out",
            "--provider",
            "p/provider.yaml",
        ],
    );
    assert!(
        harmless(&output).contains("p/w\\xff.yaml: cannot be read: its name is not UTF-8"),
        "{}",
        harmless(&output)
    );
    let output = windlass(folder.path())
        .arg("render")
        .arg(OsStr::from_bytes(b"w\xff.yaml"))
        .output()
        .unwrap();
    assert!(
        harmless(&output).contains("w\\xff.yaml"),
        "{}",
        harmless(&output)
    );
}
