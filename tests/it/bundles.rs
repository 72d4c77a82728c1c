//! Credentials stay where they are: none gets into a bundle, a repository at another site, or a
//! message.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::{METADATA, TWO, files_below, run, runs, windlass};

const CANARY: &str = "cAnArY";

/// What a site's configuration may hold: credentials under known and unknown keys, in lists, in
/// comments, in several lines, and in URLs.
const CONFIGURATION: &str = "# cAnArY
GITHUB_TOKEN: cAnArY # cAnArY
GITLAB_ACCESS_TOKEN: \"cAnArY\"
AWS_B64ENCODED_CREDENTIALS: |
  cAnArY
  cAnArY
AZURE_CLIENT_SECRET: >-
  cAnArY
MINE: {nested: {deep: [cAnArY, {more: cAnArY}]}}
anchored: &anchor cAnArY
aliased: *anchor
overridesFolder: /home/cAnArY
providers:
- {name: foo, type: BootstrapProvider, url: /srv/bootstrap-foo/latest/bootstrap-components.yaml}
- name: far
  type: InfrastructureProvider
  url: https://user:cAnArY@gitlab.example/api/v4/projects/a/packages/generic/a/v1.0.0/infrastructure-components.yaml?private_token=cAnArY&x=y
  token: cAnArY
- {name: bar, type: AddonProvider, url: 'https://cAnArY@github.com/a/b/releases/latest/addon-components.yaml'}
images:
  all: {repository: 'user:cAnArY@r.example/x', password: cAnArY}
  infrastructure-far: {tag: v1, repository: r.example/y}
cert-manager:
  url: https://user:cAnArY@c.example/cert-manager/v1.0.0/cert-manager.yaml?X-Amz-Signature=cAnArY
  auth: cAnArY
---
GITHUB_TOKEN: cAnArY
";

/// A folder with a repository `r` that has this configuration.
fn site(configuration: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("provider.yaml"), TWO).unwrap();
    std::fs::write(path.join("metadata.yaml"), METADATA).unwrap();
    run(path, "release build v0.1.0 --to out").ok();
    run(path, "repository add out --to r").ok();
    std::fs::write(path.join("r/clusterctl.yaml"), configuration).unwrap();
    folder
}

/// Runs a script with `windlass` as a command.
fn script(folder: &Path, script: &str) -> std::process::Output {
    let script = format!(
        "windlass() {{ {} \"$@\"; }}\n{script}",
        env!("CARGO_BIN_EXE_windlass")
    );
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(folder);
    command.output().unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn assert_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    assert!(!text.contains(&CANARY.to_lowercase()), "{what}: {text}");
}

fn assert_clean_folder(folder: &Path) {
    for file in files_below(folder) {
        assert_clean(&file.display().to_string(), &std::fs::read(&file).unwrap());
    }
}

#[test]
fn no_credential_reaches_a_bundle_or_a_message() {
    let folder = site(CONFIGURATION);
    let path = folder.path();
    let commands = [
        "repository bundle r --write-to b.tar",
        "repository bundle r --write-to b.tar -q -v 5",
        "repository add b.tar --to site --trust-configuration",
        "repository add b.tar --to untrusted",
        "repository add out --to r",
        "repository add out --to r -v 5",
        "repository add out --to r --mirror m.example",
        "repository doctor r",
        "repository doctor r -o json",
        "repository doctor r -o sarif -v 5",
        "repository doctor --config r/clusterctl.yaml -o github",
        "repository images r",
        "repository images r -o json",
        "repository list r -o json",
        "config repositories --config r/clusterctl.yaml",
        "config repositories --config r/clusterctl.yaml -o yaml",
        "generate provider --bootstrap foo --describe --config r/clusterctl.yaml",
        "generate provider --infrastructure far --config r/clusterctl.yaml",
        "generate provider --addon bar --config r/clusterctl.yaml -v 5",
    ];
    for command in commands {
        let output = windlass(path).args(command.split(' ')).output().unwrap();
        assert_clean(command, &[output.stdout, output.stderr].concat());
    }
    assert_clean("b.tar", &std::fs::read(path.join("b.tar")).unwrap());
    assert_clean_folder(&path.join("site"));
    let configuration = std::fs::read_to_string(path.join("site/clusterctl.yaml")).unwrap();
    let url = "https://gitlab.example/api/v4/projects/a/packages/generic/a/v1.0.0/infrastructure-components.yaml?x=y";
    assert!(configuration.contains(url), "{configuration}");
    let printed = run(path, "repository bundle r --write-to b.tar")
        .ok()
        .stderr;
    for key in [
        "GITHUB_TOKEN",
        "AWS_B64ENCODED_CREDENTIALS",
        "MINE",
        "providers[1].token",
    ] {
        assert_eq!(printed.matches(key).count(), 1, "{printed}");
    }
}

/// A bundle of an earlier version has the sender's whole configuration.
#[test]
fn no_credential_is_taken_from_a_bundle_of_an_earlier_version() {
    let folder = site("");
    let path = folder.path();
    run(path, "repository bundle r --write-to b.tar").ok();
    let configuration = CONFIGURATION.replace("/srv/", "${WINDLASS_REPOSITORY}/");
    std::fs::write(path.join("theirs.yaml"), configuration).unwrap();
    let packed = script(
        path,
        "mkdir old && tar -xf b.tar -C old && cp theirs.yaml old/clusterctl.yaml && cd old && rm SHA256SUMS \
         && find * -type f | LC_ALL=C sort | xargs sha256sum > ../sums && mv ../sums SHA256SUMS && tar -cf ../old.tar *",
    );
    assert!(packed.status.success(), "{packed:?}");
    let added = windlass(path)
        .args([
            "repository",
            "add",
            "old.tar",
            "--to",
            "site",
            "--trust-configuration",
        ])
        .output()
        .unwrap();
    assert!(added.status.success(), "{added:?}");
    assert_clean("add", &[added.stdout, added.stderr].concat());
    assert_clean_folder(&path.join("site"));
    let configuration = std::fs::read_to_string(path.join("site/clusterctl.yaml")).unwrap();
    let site = path.join("site").canonicalize().unwrap();
    let url = format!(
        "{}/bootstrap-foo/latest/bootstrap-components.yaml",
        site.display()
    );
    assert!(configuration.contains(&url), "{configuration}");
}

#[test]
fn modes_of_files_do_not_depend_on_the_umask() {
    for (umask, public) in [("000", 0o644), ("022", 0o644), ("077", 0o600)] {
        let folder = site("GITHUB_TOKEN: x\n");
        let path = folder.path();
        let run = script(
            path,
            &format!(
                "umask {umask}; windlass repository bundle r --write-to b.tar && windlass repository add b.tar --to site"
            ),
        );
        assert!(run.status.success(), "{run:?}");
        assert_eq!(mode(&path.join("b.tar")), public, "{umask}");
        assert_eq!(mode(&path.join("site/clusterctl.yaml")), 0o600, "{umask}");
        let file = "site/bootstrap-foo/v0.1.0/metadata.yaml";
        assert_eq!(mode(&path.join(file)), public, "{umask}");
        let listed = script(path, "tar -tvf b.tar | cut -c1-10 | sort -u");
        assert_eq!(String::from_utf8(listed.stdout).unwrap(), "-rw-r--r--\n");
    }
}

/// `ulimit -f` ends a process that has no handler of SIGXFSZ.
#[test]
fn a_write_beyond_the_size_limit_leaves_nothing() {
    let folder = site("");
    let path = folder.path();
    let before = files_below(path);
    let run = script(
        path,
        "ulimit -f 1; windlass release build v0.1.0 --to other/release; echo $?; windlass repository bundle r --write-to b.tar; echo $?",
    );
    assert_eq!(String::from_utf8_lossy(&run.stdout), "2\n2\n", "{run:?}");
    let printed = String::from_utf8_lossy(&run.stderr);
    assert_eq!(printed.matches("file too large").count(), 2, "{printed}");
    assert_eq!(files_below(path), before);
}

#[test]
fn the_next_command_can_be_pasted_and_moves_no_terminal() {
    let folder = site("");
    let path = folder.path();
    let add = |name: &str| {
        let mut command = windlass(path);
        command.args(["repository", "add", "out", "--to", name]);
        command.output().unwrap()
    };
    for name in [
        "a b",
        "it's",
        "x\u{202e}y'\\",
        "\u{200b}",
        "##[x]",
        "$(id)",
        "e\u{301}",
    ] {
        let output = add(name);
        let line = String::from_utf8(output.stdout).unwrap();
        assert!(!line.contains(['\u{202e}', '\u{200b}']), "{line:?}");
        if !runs(&["bash", "--version"]) {
            continue;
        }
        let printed = script(
            path,
            &format!("clusterctl() {{ printf %s \"$3\"; }}\n{line}"),
        );
        let config = path
            .canonicalize()
            .unwrap()
            .join(name)
            .join("clusterctl.yaml");
        assert_eq!(
            String::from_utf8(printed.stdout).unwrap(),
            config.to_str().unwrap(),
            "{line}"
        );
    }
    for name in ["a\u{1b}[2J", "a\nb", "a\u{9b}b"] {
        let output = add(name);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(printed.contains("control character"), "{printed}");
        assert!(
            !printed.trim_end().contains(['\u{1b}', '\u{9b}']),
            "{printed:?}"
        );
        assert!(!path.join(name).exists());
    }
}

/// Wherever a URL is named, also where a path is expected.
#[test]
fn urls_are_shown_without_credentials() {
    let folder = site("");
    let path = folder.path();
    let urls = [
        "https://user:cAnArY@h.example/a/x.yaml",
        "https://cAnArY@h.example/x.yaml",
        "http://user:cAnArY@h.example/x.yaml",
        "https://user:cAnArY@h.example:port/x.yaml",
        "https://user:cAn/cAnArY@h.example/x.yaml",
        "https://user:cAnArY@github.com/x/y",
        "https://h.example/x.yaml?access_token=cAnArY&a=b",
        "https://h.example/x.yaml?X-Amz-Credential=cAnArY&X-Amz-Signature=cAnArY",
        "https://h.example/%zz?sig=cAnArY",
        "ssh://git:cAnArY@h.example/x.git",
        "user:cAnArY@h.example/x:v1",
        "oci://user:cAnArY@h.example/x:v1",
        "oci://cAnArY@h.example/x:v1",
        "oci:user:cAnArY@h.example/x:v1",
        "https:/user:cAnArY@h.example/x",
    ];
    let commands: [&[&str]; 17] = [
        &["generate", "yaml", "--from", "URL"],
        &["generate", "cluster", "c", "--from", "URL"],
        &[
            "generate",
            "provider",
            "--bootstrap",
            "foo",
            "--config",
            "URL",
        ],
        &["config", "repositories", "--config", "URL"],
        &["repository", "doctor", "--config", "URL"],
        &["repository", "doctor", "URL"],
        &["repository", "add", "URL", "--to", "s"],
        &["repository", "add", "out", "--to", "r", "--mirror", "URL"],
        &["repository", "pull", "URL", "--to", "s"],
        &["repository", "push", "out", "URL"],
        &["repository", "bundle", "URL", "--write-to", "b.tar"],
        &["repository", "images", "URL"],
        &["render", "URL"],
        &["lint", "URL", "-o", "json"],
        &["init", "URL"],
        &["list", "URL"],
        &["URL"],
    ];
    for url in urls {
        for command in commands {
            let words = command
                .iter()
                .map(|word| if *word == "URL" { url } else { word });
            let words: Vec<&str> = words.collect();
            let output = windlass(path).args(&words).output().unwrap();
            assert_ne!(output.status.code(), Some(0), "{words:?}");
            assert_clean(&words.join(" "), &[output.stdout, output.stderr].concat());
        }
    }
}
