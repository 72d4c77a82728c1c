//! What `render`, `generate components` and `topology plan` print and write, where it is compared with
//! another run.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{METADATA, TWO, copy, root, run};

/// The examples.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples"), &folder.path().join("examples"));
    folder
}

/// Standard output and standard error of a run that succeeds.
fn done(folder: &Path, command: &str) -> (String, String) {
    let run = run(folder, command).ok();
    (run.stdout, run.stderr)
}

fn last(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

/// The first of the names that Cluster API draws, and how many more there are.
#[test]
fn names_that_are_drawn_are_counted() {
    let folder = site();
    let path = folder.path();
    let text = fs::read_to_string(path.join("examples/topology/harbour.yaml")).unwrap();
    let (head, rest) = text
        .rsplit_once("    workers:\n      machineDeployments:\n")
        .unwrap();
    let (machines, variables) = rest.rsplit_once("    variables:\n").unwrap();
    let second = machines.replace("name: gpu", "name: cpu");
    for (workers, others) in [
        (String::new(), ""),
        (
            format!("    workers:\n      machineDeployments:\n{machines}"),
            " and 1 other",
        ),
        (
            format!("    workers:\n      machineDeployments:\n{machines}{second}"),
            " and 2 others",
        ),
    ] {
        fs::write(
            path.join("c.yaml"),
            format!("{head}{workers}    variables:\n{variables}"),
        )
        .unwrap();
        let (_, stderr) = done(path, "topology plan c.yaml");
        let line = format!(
            "placeholder: the end of the name pier-xxxxx{others}: Cluster API draws five characters\n"
        );
        assert!(stderr.contains(&line), "{stderr}");
    }
}

#[test]
fn machines_are_printed_one_after_the_other() {
    let folder = site();
    let path = folder.path();
    let both = "render --all examples/control-plane.yaml";
    let (stdout, stderr) = done(path, both);
    let marks: Vec<&str> = stdout
        .lines()
        .filter(|line| line.starts_with("==> "))
        .collect();
    assert_eq!(
        marks,
        [
            "==> example-control-plane init <==",
            "==> example-control-plane control-plane-join <=="
        ]
    );
    assert!(
        stdout.starts_with("==> ") && stdout.contains("\n\n==> ") && !stdout.contains("\n\n\n==> "),
        "{stdout}"
    );
    let init =
        "KubeadmControlPlane/example-control-plane: init, cloud-config as CAPI v1.14.2 writes it, ";
    let size = stderr
        .strip_prefix(init)
        .unwrap_or_else(|| panic!("{stderr}"))
        .split(' ')
        .next()
        .unwrap();
    assert_eq!(
        last(&stderr),
        format!("2 machine kinds; largest example-control-plane init, {size} bytes")
    );
    assert_eq!(done(path, &format!("{both} -q")), (stdout, String::new()));
    let (secrets, _) = done(path, &format!("{both} -o secret"));
    assert!(
        secrets.starts_with("apiVersion: v1\n")
            && secrets.matches("\n---\napiVersion: v1\n").count() == 1,
        "{secrets}"
    );
    // One machine is data and nothing else, however it is asked for.
    let worker = "render examples/worker.yaml";
    let (one, stderr) = done(path, worker);
    assert!(
        one.starts_with("## template: jinja\n") && !stderr.contains("machine kind"),
        "{stderr}"
    );
    let (all, stderr) = done(path, &format!("{worker} --all"));
    assert_eq!(all, format!("==> gpu-worker worker-join <==\n{one}"));
    assert!(!stderr.contains("machine kind"), "{stderr}");
    assert!(!done(path, &format!("{worker} -o secret")).0.contains("---"));
}

/// A folder of certificates is a secret of who has the cluster's keys in the data: of control
/// planes, and not of workers.
#[test]
fn whose_data_holds_what_is_in_the_folder_of_certificates() {
    let folder = site();
    let path = folder.path();
    fs::create_dir(path.join("pki")).unwrap();
    for name in ["sa.key", "sa.pub"] {
        fs::write(
            path.join("pki").join(name),
            "-----BEGIN X-----\nAAAA\n-----END X-----\n",
        )
        .unwrap();
    }
    let stderr = run(path, "render examples/worker.yaml --certs-dir pki").stderr;
    assert!(!stderr.contains("the data holds"), "{stderr}");
    let all = run(
        path,
        "render --all examples/control-plane.yaml --certs-dir pki",
    );
    let stderr = &all.stderr;
    assert!(
        all.code == 1 || stderr.contains("note: the data holds ") && stderr.contains("pki"),
        "{stderr}"
    );
}

/// Data that holds a secret is shown where it is asked for, and hidden in reports.
#[test]
fn secrets_are_in_the_data_and_not_in_reports() {
    let folder = site();
    let path = folder.path();
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: correcthorse}\n---\n\
                apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: w}\n\
                spec: {files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]}\n";
    fs::write(path.join("s.yaml"), text).unwrap();
    let (data, stderr) = done(path, "render s.yaml");
    assert!(
        data.contains("correcthorse") && stderr.contains("\nnote: the data holds "),
        "{stderr}"
    );
    // The note is more than talk.
    assert!(
        done(path, "render s.yaml -q")
            .1
            .starts_with("note: the data holds ")
    );
    let of = |command: &str| {
        let report = run(path, command).ok().json();
        report["machines"][0]["data"].as_str().unwrap().to_owned()
    };
    assert_eq!(of("render s.yaml -o json"), "<redacted>");
    assert_eq!(of("render s.yaml -o json --show-secrets"), data);
    // Of files a report shows no content, and of commands no secret.
    let report = of("render examples/worker.yaml -o json");
    assert!(
        report.contains("content: <redacted>")
            && report.contains("sysctl --system")
            && !report.contains("nr_hugepages"),
        "{report}"
    );
    assert_eq!(
        of("render examples/worker.yaml -o json --show-secrets"),
        done(path, "render examples/worker.yaml").0
    );
}

/// The paths of written data, and null for data that was not written.
#[test]
fn reports_paths_of_written_data_as_json() {
    let folder = site();
    let paths = |command: &str| -> Vec<Value> {
        let report = run(folder.path(), &format!("{command} -o json")).json();
        let machines = report["machines"].as_array().unwrap();
        machines.iter().map(|one| one["path"].clone()).collect()
    };
    assert_eq!(
        paths("render --all examples/control-plane.yaml -q --to c/"),
        [
            "c/example-control-plane.init.cloud-config",
            "c/example-control-plane.control-plane-join.cloud-config"
        ]
    );
    let machines = "tests/cases/render/writes-no-data-with-errors/in/m.yaml";
    fs::copy(root().join(machines), folder.path().join("m.yaml")).unwrap();
    for flags in ["", " --allow config-admission-rejected"] {
        let rejected = paths(&format!("render m.yaml --all --to n{flags}"));
        assert_eq!(rejected, [Value::Null, Value::Null]);
    }
}

#[test]
fn prints_components_with_the_image_of_the_release() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let provider = TWO.split("---\n").next().unwrap();
    fs::write(path.join("provider.yaml"), provider).unwrap();
    fs::write(path.join("metadata.yaml"), METADATA).unwrap();
    for (flags, image) in [
        ("", "ghcr.io/foo/b:v0.1.0"),
        (" --release v0.1.7", "ghcr.io/foo/b:v0.1.7"),
        (" --image ghcr.io/a/b:v0.1.0", "ghcr.io/a/b:v0.1.0"),
    ] {
        let (stdout, stderr) = done(path, &format!("generate components{flags}"));
        assert!(stdout.contains(&format!("image: {image}\n")), "{stdout}");
        assert_eq!(stderr, "");
    }
}

#[test]
fn reports_differences_of_topologies_as_json() {
    let folder = root().join("tests/cases/topology-plan/reports-differences/in");
    let old = root().join("examples/topology/harbour.yaml");
    let against = format!(
        "topology plan scaled.yaml --against {} -o json",
        old.display()
    );
    let changes = run(&folder, &against).ok().json();
    assert_eq!(changes["changes"].as_array().map(Vec::len), Some(2));
}
