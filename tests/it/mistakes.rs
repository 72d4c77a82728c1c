//! Command lines that ask for what cannot be done: what is said, what to type, and that nothing
//! else is printed.

use std::path::Path;

use crate::support::{copy, root, windlass};

/// A folder with the examples, and files whose names look like something else.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples"), &folder.path().join("examples"));
    std::fs::create_dir(folder.path().join("a:b")).unwrap();
    for name in ["a:b/worker.yaml", "c:d"] {
        std::fs::copy(
            root().join("examples/worker.yaml"),
            folder.path().join(name),
        )
        .unwrap();
    }
    folder
}

/// Runs commands, of which each ends with 2, prints nothing, and says this message and this help.
fn refused(folder: &Path, cases: &[(&str, &str, &str)]) {
    for (command, message, help) in cases {
        let output = windlass(folder)
            .args(command.split_whitespace())
            .output()
            .unwrap();
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(
            stderr,
            format!("error: {message}\n  help: {help}\n"),
            "{command}"
        );
        assert_eq!(
            (output.status.code(), stdout.as_ref()),
            (Some(2), ""),
            "{command}"
        );
    }
}

/// Runs commands, of which each is taken: whatever comes of it, the command line is not what is
/// wrong.
fn taken(folder: &Path, commands: &[&str]) {
    for command in commands {
        let output = windlass(folder)
            .args(command.split_whitespace())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() < Some(2) && !stderr.starts_with("error: "),
            "{command}: {stderr}"
        );
    }
}

#[test]
fn the_sides_of_a_comparison() {
    let folder = site();
    let sides = "name NEW, or two versions of OLD: `--kubernetes-version v1.33.4..v1.34.1`, `--capi-version v1.13..v1.14`";
    let worker = "examples/worker.yaml";
    refused(
        folder.path(),
        &[
            (&format!("diff {worker}"), "`diff` needs two sides", sides),
            (
                &format!("diff {worker} --capi-version v1.13"),
                "`diff` needs two sides",
                sides,
            ),
            (
                "diff - -",
                "standard input is one side only",
                "save one of the two into a file",
            ),
            (
                &format!("diff main:{worker} {worker}"),
                &format!("`main:{worker}` is no file, and revisions of git are not read"),
                &format!("write `git show main:{worker} > /tmp/worker.yaml`, and name that file"),
            ),
            (
                &format!("diff {worker} v1:w.yaml"),
                "`v1:w.yaml` is no file, and revisions of git are not read",
                "write `git show v1:w.yaml > /tmp/w.yaml`, and name that file",
            ),
        ],
    );
    // What is there is taken by its name.
    taken(
        folder.path(),
        &[
            "diff a:b c:d",
            "diff c:d a:b --exit-code",
            &format!("diff - {worker}"),
            &format!("diff {worker} -"),
        ],
    );
    // Neither half of a revision may be missing.
    for side in [":x", "x:"] {
        let output = windlass(folder.path())
            .args(["diff", side, worker])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            format!("error: {side}: no such file\n")
        );
    }
}

#[test]
fn ranges_of_versions() {
    let folder = site();
    for flag in ["capi-version", "kubernetes-version"] {
        for range in ["..v1.14", "v1.14..", ".."] {
            let command = format!("diff examples/worker.yaml --{flag} {range}");
            let help = format!("write `--{flag} A..B` with both versions");
            refused(
                folder.path(),
                &[(&command, &format!("`--{flag} {range}` is no range"), &help)],
            );
        }
    }
    let ranges = [
        "--capi-version v1.13..v1.14",
        "--kubernetes-version v1.33.4..v1.34.1",
    ];
    let worker = "diff examples/worker.yaml";
    let both = format!("{worker} {} {}", ranges[0], ranges[1]);
    taken(
        folder.path(),
        &[
            &format!("{worker} {}", ranges[0]),
            &format!("{worker} {}", ranges[1]),
            &both,
        ],
    );
}

#[test]
fn what_only_a_cluster_would_know() {
    let folder = site();
    let render = |flags: &str| format!("render examples/worker.yaml {flags}");
    for endpoint in ["a", ":1", "a:0", "a:65536", "a:b", "[]:1"] {
        let message = format!("`--endpoint {endpoint}` is not a host and a port");
        let command = render(&format!("--endpoint {endpoint}"));
        refused(
            folder.path(),
            &[(
                &command,
                &message,
                "write it such as `--endpoint 10.0.0.1:6443`",
            )],
        );
    }
    for hash in ["sha256:", "sha256:xyz", "sha256:ab:cd", "abcd", "md5:abcd"] {
        let message = format!("`--ca-cert-hash {hash}` is not the hash of a key");
        let help = "write `sha256:` and the hash in hexadecimal digits, as `kubeadm token create --print-join-command` prints it";
        refused(
            folder.path(),
            &[(&render(&format!("--ca-cert-hash {hash}")), &message, help)],
        );
    }
    let token =
        "write it such as `--token abcdef.0123456789abcdef`, or run `kubeadm token generate`";
    let effects = "the gates with an effect are KubeadmBootstrapFormatIgnition, MachinePool, MachineTaintPropagation";
    let pki = "name a folder with `ca.crt` and `ca.key`, such as /etc/kubernetes/pki";
    for (flags, message, help) in [
        (
            "--token a",
            "the value of `--token` is not a bootstrap token",
            token,
        ),
        (
            "--certs-dir examples/",
            "`--certs-dir examples` holds no certificate",
            pki,
        ),
        (
            "--feature-gates MachinePool",
            "`--feature-gates MachinePool` is not NAME=true or NAME=false",
            "write `--feature-gates MachinePool=true`",
        ),
        (
            "--feature-gates Zzzzzz=true",
            "CAPI has no feature gate `Zzzzzz`",
            effects,
        ),
        (
            "--feature-gates MachinePol=true",
            "CAPI has no feature gate `MachinePol`",
            "did you mean `MachinePool`?",
        ),
        (
            "--feature-gates MachinePool=true,X",
            "`--feature-gates X` is not NAME=true or NAME=false",
            "write `--feature-gates X=true`",
        ),
        (
            "--feature-gates X=yes",
            "`--feature-gates X=yes` is not NAME=true or NAME=false",
            "write `--feature-gates X=true`",
        ),
        (
            "--capi-version v1.9",
            "CAPI v1.9 is not known",
            "use `--capi-version` v1.10, v1.11, v1.12, v1.13, v1.14 or main",
        ),
        (
            "--template --var A",
            "`--var A` has no value",
            "write `--var A=VALUE`",
        ),
    ] {
        refused(folder.path(), &[(&render(flags), message, help)]);
    }
}

#[test]
fn questions_rules_and_pages() {
    let folder = site();
    let worker = "examples/worker.yaml";
    let order =
        "write `windlass why WHAT FILE…`, or `file:NAME` for a file of that name on the node";
    let absolute = folder.path().join("c:d").to_str().unwrap().to_owned();
    let stands = |what: &str| format!("`{what}` is a file, and stands where the question belongs");
    let rules = "`windlass rules` lists all rules";
    let percent = "write a whole number from 1 to 100, such as `--fail-over 90%`";
    for (command, message, help) in [
        (format!("why {worker} {worker}"), stands(worker), order),
        (format!("why - {worker}"), stands("-"), order),
        (format!("why {absolute} file:w"), stands(&absolute), order),
        (
            "why sysctl - -".to_owned(),
            "standard input can be read only once".to_owned(),
            "name `-` once, or save the documents into files",
        ),
        (
            "explain zzzzzz".to_owned(),
            "unknown rule `zzzzzz`".to_owned(),
            rules,
        ),
        (
            "explain metadata-series-missin".to_owned(),
            "unknown rule `metadata-series-missin`".to_owned(),
            "did you mean `metadata-series-missing`?",
        ),
        (
            "lint --allow zzzzzz".to_owned(),
            "unknown rule `zzzzzz`".to_owned(),
            rules,
        ),
        (
            "man zzzzz".to_owned(),
            "`zzzzz` is no command of windlass".to_owned(),
            "`windlass --help` lists all commands",
        ),
        (
            format!("size {worker} --fail-over 0"),
            "`--fail-over 0` is not a percentage".to_owned(),
            percent,
        ),
        (
            format!("size {worker} --fail-over 101%"),
            "`--fail-over 101%` is not a percentage".to_owned(),
            percent,
        ),
        (
            format!("inspect {worker} --at yesterday"),
            "`--at yesterday` is not a time".to_owned(),
            "write it as RFC 3339 has it, such as `--at 2026-11-23T10:00:00Z`",
        ),
    ] {
        refused(folder.path(), &[(&command, &message, help)]);
    }
    // A path of the node may be one of this machine, a word the name of a folder, and a file of the
    // input one with a colon.
    let commands = [
        format!("why {absolute} {worker}"),
        format!("why {absolute} c:d"),
        format!("why {absolute} a:b"),
        format!("why a:b {worker}"),
    ];
    commands
        .iter()
        .for_each(|command| taken(folder.path(), &[command]));
    taken(
        folder.path(),
        &[
            &format!("why sysctl {worker} -"),
            &format!("size {worker} --fail-over 1"),
            &format!("size {worker} --fail-over 100%"),
        ],
    );
}

#[test]
fn releases_and_repositories() {
    let folder = site();
    let path = folder.path();
    std::fs::create_dir_all(path.join("r/bootstrap-x/v0.1.0")).unwrap();
    std::fs::write(path.join("f.pem"), "no key").unwrap();
    let no_provider = "no provider.yaml in this folder, so it is not clear whose release is meant";
    let provider = "go to the folder of provider.yaml, or pass `--provider FILE`; `--provider builtin` is windlass's own provider";
    let tar = "name it `….tar`, and compress that file where needed";
    let statement =
        "choose a file beside that folder, such as `--provenance provenance.intoto.json`";
    let by = "--builder-id https://b.example --source git+https://s.example/s@v1 --source-commit 0123456789012345678901234567890123456789";
    let provenance =
        format!("release build v0.2.0 --provider builtin --to out --provenance out/p.json {by}");
    let one = "give one of the two";
    refused(
        path,
        &[
            ("generate crds", no_provider, provider),
            ("release build v0.2.0 --to out", no_provider, provider),
            (
                "release check v0.1.0 a b --previous c",
                "`--previous` goes with one folder",
                "check each folder by itself",
            ),
            (
                "release check v0.1.0 nowhere",
                "nowhere is no folder",
                "name the folder of a release",
            ),
            (
                "release check v0.1.0 c:d",
                "c:d is no folder",
                "name the folder of a release",
            ),
            (
                &provenance,
                "`out/p.json` is in out, of whose files the statement speaks",
                statement,
            ),
            (
                "repository doctor",
                "there is nothing to examine",
                "name a repository, or a configuration with `--config FILE`",
            ),
            (
                "repository doctor r --config y",
                "`REPOSITORY` and `--config` exclude each other",
                one,
            ),
            (
                "repository bundle r --write-to b.tgz",
                "a bundle is a tar that is not compressed, and `b.tgz` ends in .tgz",
                tar,
            ),
            (
                "repository bundle r --write-to b.tar.zst",
                "a bundle is a tar that is not compressed, and `b.tar.zst` ends in .zst",
                tar,
            ),
            (
                "repository add r/bootstrap-x --to t --trusted-root f.pem",
                "`--trusted-root` says whose logs are trusted, and not who must have signed",
                "add `--key FILE`, or `--certificate-identity IDENTITY --certificate-oidc-issuer URL`",
            ),
            (
                "repository push r oci:a@sha256:0000000000000000000000000000000000000000000000000000000000000000",
                "an artifact cannot be pushed to a digest",
                "name a tag, or none: then it is the version",
            ),
        ],
    );
    assert!(!path.join("out").exists() && !path.join("t").exists());
}
