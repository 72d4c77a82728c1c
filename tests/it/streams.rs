//! Which stream gets what of a verb, in each of its formats: what was asked for, findings, what is
//! told, and the last line.

use std::fs;

use serde_json::Value;

use crate::support::{copy, root, windlass};
use crate::told::told;

/// The examples, and files that are faulty in one way each.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("examples"), &folder.path().join("examples"));
    for (file, text) in [
        (
            "foo.yaml",
            "apiVersion: foo.example/v1\nkind: Foo\nmetadata: {name: c}\n",
        ),
        ("v1/metadata.yaml", &METADATA.replace("Metadata", "Meta")),
        ("v2/metadata.yaml", METADATA),
    ] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

/// The last line of a text.
fn last(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

#[test]
fn lint_counts_what_it_judged() {
    let folder = site();
    let path = folder.path();
    for (command, code, line) in [
        ("lint examples/worker.yaml", 0, "1 object"),
        ("lint v2", 0, "1 metadata file"),
        (
            "lint v1 v2",
            1,
            "2 metadata files; 1 error; 1 can be mended with `--fix`",
        ),
        ("lint foo.yaml", 0, "1 object"),
        (
            "lint v1 examples/worker.yaml",
            1,
            "1 metadata file, 1 object; 1 error; 1 can be mended with `--fix`",
        ),
        ("lint -", 1, "nothing judged; 1 error"),
        (
            "lint v1 --as metadata --deny warnings",
            1,
            "1 metadata file; 1 error; 1 can be mended with `--fix`",
        ),
    ] {
        let (ended, stdout, stderr) = told(path, command);
        assert_eq!(
            (ended, last(&stdout), stderr.as_str()),
            (code, line, ""),
            "{command}: {stdout}"
        );
        let (ended, stdout, stderr) = told(path, &format!("{command} -q"));
        assert!(
            ended == code && last(&stdout) != line && stderr.is_empty(),
            "{command}: {stdout}"
        );
        for format in ["json", "sarif", "junit", "github"] {
            let (ended, _, stderr) = told(path, &format!("{command} -o {format}"));
            assert_eq!(
                (ended, stderr),
                (code, format!("{line}\n")),
                "{command} -o {format}"
            );
        }
    }
    // A metadata.yaml on standard input cannot be mended, and nobody is told that it could.
    let output = windlass(path)
        .args(["lint", "-", "--as", "metadata"])
        .stdin(fs::File::open(path.join("v1/metadata.yaml")).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.ends_with("\n1 metadata file; 1 error\n"), "{said}");
    // With `-v` what holds nothing of a provider is named, and nothing else is.
    let (_, _, stderr) = told(path, "lint examples/github examples/worker.yaml v2 -v 1 -q");
    let workflow = "examples/github/release.yaml";
    let read = ["examples/worker.yaml", "v2/metadata.yaml"]
        .map(|file| format!("read {file}\n"))
        .concat();
    assert_eq!(
        stderr,
        format!("{workflow} holds nothing of a provider\nread {workflow}\n{read}")
    );
    assert_eq!(
        told(path, "lint examples/github examples/worker.yaml").2,
        ""
    );
}

#[test]
fn lint_says_what_it_mended() {
    let folder = site();
    let path = folder.path();
    let difference = "--- a/v1/metadata.yaml\n+++ b/v1/metadata.yaml\n@@ -1,4 +1,4 @@\n apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\n\
                      -kind: Meta\n+kind: Metadata\n releaseSeries:\n - {major: 0, minor: 1, contract: v1beta2}\n";
    let would = "1 metadata file; 1 finding in 1 file would be mended; nothing written\n";
    assert_eq!(
        told(path, "lint v1 --fix --check"),
        (1, difference.to_owned(), would.to_owned())
    );
    assert_eq!(
        told(path, "lint v1 --fix --check -q"),
        (1, difference.to_owned(), String::new())
    );
    let (code, stdout, stderr) = told(path, "lint v1 --fix --check -o json");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, stderr.as_str(), &report["findings"]),
        (1, would, &serde_json::json!([]))
    );
    assert_eq!(
        told(path, "lint v2 --fix --check"),
        (
            0,
            String::new(),
            "1 metadata file; nothing mended\n".to_owned()
        )
    );
    let mended = "2 metadata files; 1 finding in 1 file mended\n";
    assert_eq!(
        told(path, "lint v1 v2 --fix"),
        (0, mended.to_owned(), String::new())
    );
    assert_eq!(
        fs::read_to_string(path.join("v1/metadata.yaml")).unwrap(),
        METADATA
    );
    assert_eq!(
        told(path, "lint v1 v2 --fix"),
        (
            0,
            "2 metadata files; nothing mended\n".to_owned(),
            String::new()
        )
    );
    let both = path.join("v1/metadata.yaml");
    fs::write(
        &both,
        METADATA
            .replace("Metadata", "Meta")
            .replace("v1alpha3", "v1alpha9"),
    )
    .unwrap();
    let (code, stdout, stderr) = told(path, "lint v1 --fix -o json");
    let findings = serde_json::from_str::<Value>(&stdout).unwrap()["findings"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(
        (code, stderr.starts_with("1 metadata file; "), findings > 0),
        (i32::from(findings > 0), true, code == 1),
        "{stdout}{stderr}"
    );
}

#[test]
fn validate_and_topology_say_what_they_judged() {
    let folder = site();
    let path = folder.path();
    let (code, stdout, stderr) = told(path, "validate foo.yaml examples/worker.yaml -v 1 -q");
    let read = ["examples/worker.yaml", "foo.yaml"]
        .map(|file| format!("read {file}\n"))
        .concat();
    assert_eq!(
        (code, stdout, stderr),
        (
            0,
            String::new(),
            format!("Foo/c is of no kind that is judged here\n{read}")
        )
    );
    let (_, stdout, stderr) = told(path, "validate foo.yaml examples/worker.yaml");
    let line = "1 machine kind, 1 other object not judged; 1 info";
    assert_eq!((last(&stdout), stderr.as_str()), (line, ""));
    assert_eq!(
        told(path, "validate foo.yaml examples/worker.yaml -o github").2,
        format!("{line}\n")
    );

    let harbour = "examples/topology/harbour.yaml";
    let (code, plan, stderr) = told(path, &format!("topology plan {harbour}"));
    let stand_in =
        "stand-in: the end of the name pier-xxxxx and 1 other: Cluster API draws five characters\n";
    assert_eq!(
        (code, stderr),
        (0, format!("{stand_in}1 cluster, 7 objects\n"))
    );
    assert_eq!(
        told(path, &format!("topology plan {harbour} -q")),
        (0, plan, String::new())
    );
    let (code, stdout, stderr) = told(path, "topology plan foo.yaml");
    let missing =
        "error[topology-cluster-missing]: the input holds no Cluster with `spec.topology`\n";
    assert!(
        (code, stdout.as_str()) == (1, "") && stderr.starts_with(missing),
        "{stderr}"
    );
    assert_eq!(last(&stderr), "1 error; no objects written");
    let against = |new: &str| told(path, &format!("topology plan {new} --against {harbour}"));
    assert_eq!(
        against(harbour),
        (0, String::new(), "0 differences\n".to_owned())
    );
    let text = fs::read_to_string(path.join(harbour)).unwrap();
    fs::write(
        path.join("n.yaml"),
        text.replace("controlPlane: {replicas: 3}", "controlPlane: {replicas: 5}"),
    )
    .unwrap();
    let (code, stdout, stderr) = against("n.yaml");
    let changed = "IN PLACE   Cluster/pier                     cluster of pier\n  spec.topology.controlPlane.replicas\n\
                   IN PLACE   KubeadmControlPlane/pier-xxxxx   controlPlane of pier\n  spec.replicas\n";
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (0, changed, "2 differences\n")
    );
    let (code, stdout, stderr) = told(
        path,
        &format!("topology plan n.yaml --against {harbour} -o json"),
    );
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (
            code,
            stderr.as_str(),
            report["changes"].as_array().map(Vec::len)
        ),
        (0, "", Some(2))
    );

    assert_eq!(
        told(path, &format!("topology variables {harbour}")).2,
        "2 variables\n"
    );
    let (code, _, stderr) = told(path, "topology variables foo.yaml");
    assert_eq!((code, last(&stderr)), (1, "0 variables; 1 error"));
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
        let (code, _, stderr) = told(path, "topology plan c.yaml");
        let line = format!(
            "stand-in: the end of the name pier-xxxxx{others}: Cluster API draws five characters\n"
        );
        assert!(code == 0 && stderr.contains(&line), "{stderr}");
    }
}

#[test]
fn variables_are_a_list_with_a_count_beside_it() {
    let folder = site();
    let path = folder.path();
    fs::write(path.join("t.yaml"), "a: ${B:=c}\nd: ${E}\n").unwrap();
    assert_eq!(
        told(path, "vars foo.yaml"),
        (0, String::new(), "1 file, 0 variables\n".to_owned())
    );
    let (code, stdout, stderr) = told(path, "vars t.yaml foo.yaml");
    assert_eq!(
        (code, stderr.as_str(), stdout.contains("t.yaml:2:4")),
        (0, "2 files, 2 variables\n", true),
        "{stdout}"
    );
    let (code, stdout, stderr) = told(path, "vars t.yaml --short -q");
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (0, "B   defaults to \"c\"\nE   required\n", "")
    );
    let (code, stdout, stderr) = told(path, "vars t.yaml -o json");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (
            code,
            stderr.as_str(),
            report["variables"].as_array().map(Vec::len)
        ),
        (0, "", Some(2))
    );
    fs::write(path.join("t.yaml"), "a: ${B\n").unwrap();
    let (code, _, stderr) = told(path, "vars t.yaml");
    assert_eq!((code, last(&stderr)), (1, "1 file, 0 variables; 1 error"));
}

#[test]
fn machines_are_printed_one_after_the_other() {
    let folder = site();
    let path = folder.path();
    let both = "render --all examples/control-plane.yaml";
    let (code, stdout, stderr) = told(path, both);
    let marks: Vec<&str> = stdout
        .lines()
        .filter(|line| line.starts_with("==> "))
        .collect();
    assert_eq!(
        (code, marks),
        (
            0,
            vec![
                "==> example-control-plane init <==",
                "==> example-control-plane control-plane-join <=="
            ]
        )
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
    assert_eq!(
        told(path, &format!("{both} -q")),
        (0, stdout, String::new())
    );
    let (_, secrets, _) = told(path, &format!("{both} -o secret"));
    assert!(
        secrets.starts_with("apiVersion: v1\n")
            && secrets.matches("\n---\napiVersion: v1\n").count() == 1,
        "{secrets}"
    );
    // One machine is data and nothing else, however it is asked for.
    let worker = "render examples/worker.yaml";
    let (_, one, stderr) = told(path, worker);
    assert!(
        one.starts_with("## template: jinja\n") && !stderr.contains("machine kind"),
        "{stderr}"
    );
    let (_, all, stderr) = told(path, &format!("{worker} --all"));
    assert_eq!(all, format!("==> gpu-worker worker-join <==\n{one}"));
    assert!(!stderr.contains("machine kind"), "{stderr}");
    assert!(!told(path, &format!("{worker} -o secret")).1.contains("---"));
}

#[test]
fn machines_are_written_under_their_names() {
    let folder = site();
    let path = folder.path();
    let names = [
        "example-control-plane.control-plane-join.cloud-config",
        "example-control-plane.init.cloud-config",
    ];
    let listed = |to: &str, end: &str| names.map(|name| format!("{to}/{name}{end}\n")).concat();
    let all = "render --all examples/control-plane.yaml -q";
    for (command, paths) in [
        ("--to a", listed("a", "")),
        ("--to a/", listed("a", "")),
        ("--to a --force", listed("a", "")),
        ("--to b -o secret", listed("b", ".yaml")),
    ] {
        assert_eq!(
            told(path, &format!("{all} {command}")),
            (0, paths, String::new()),
            "{command}"
        );
    }
    let (code, stdout, _) = told(path, &format!("{all} --to c/ -o json"));
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let written: Vec<&str> = report["machines"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|machine| machine["path"].as_str())
        .collect();
    assert_eq!(
        (code, written),
        (
            0,
            vec![
                format!("c/{}", names[1]).as_str(),
                format!("c/{}", names[0]).as_str()
            ]
        )
    );
    let extract = "render examples/worker.yaml -q --extract d";
    let (code, stdout, _) = told(path, extract);
    assert!(
        code == 0
            && stdout.starts_with("d/.windlass/commands\n")
            && stdout.contains("\nd/etc/sysctl.d/90-gpu.conf\n"),
        "{stdout}"
    );
    assert_eq!(
        told(path, &format!("{extract}/ --force")),
        (0, stdout, String::new())
    );
    // With nothing to show there is a page all the same, and it has failed.
    for (file, code) in [("foo.yaml", 1), ("examples/worker.yaml", 0)] {
        for format in ["html", "json"] {
            let (ended, stdout, stderr) = told(path, &format!("render {file} -o {format}"));
            assert_eq!(
                (ended, stdout.is_empty(), stderr.as_str()),
                (code, false, ""),
                "{file} {format}"
            );
        }
    }
    let (code, stdout, stderr) = told(path, "render foo.yaml");
    assert_eq!(
        (code, stdout.as_str(), last(&stderr)),
        (1, "", "1 error; no data written")
    );
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
    let (_, _, stderr) = told(path, "render examples/worker.yaml --certs-dir pki");
    assert!(!stderr.contains("the data holds"), "{stderr}");
    let (code, _, stderr) = told(
        path,
        "render --all examples/control-plane.yaml --certs-dir pki",
    );
    assert!(
        code == 1 || stderr.contains("note: the data holds ") && stderr.contains("pki"),
        "{stderr}"
    );
}

const GOOD_AND_BAD: &str = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: bad}\nspec: {format: ignition}\n---\n\
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: good}\nspec: {users: [{name: ops, gecos: \"Ops #2\"}]}\n";

/// One machine that cannot be rendered keeps all from being printed and written, whatever is
/// allowed; so does a warning that is denied.
#[test]
fn what_is_incomplete_or_denied_is_neither_printed_nor_written() {
    let folder = site();
    let path = folder.path();
    fs::write(path.join("m.yaml"), GOOD_AND_BAD).unwrap();
    for flags in [
        "--all",
        "--all --allow config-admission-refused",
        "--select good --deny warnings",
    ] {
        let command = format!("render m.yaml {flags}");
        let (code, stdout, stderr) = told(path, &command);
        assert_eq!(
            (
                code,
                stdout.as_str(),
                last(&stderr).ends_with("no data written")
            ),
            (1, "", true),
            "{command}: {stderr}"
        );
        let is_told = stderr.contains("KubeadmConfig/bad: Cluster API makes no data of it, also where `--allow` or a comment takes");
        assert_eq!(is_told, flags.contains("--allow"), "{command}: {stderr}");
        for format in ["json", "html"] {
            assert_eq!(
                told(path, &format!("{command} -o {format}")).0,
                1,
                "{command} -o {format}"
            );
        }
        if flags.starts_with("--all") {
            let (code, stdout, _) = told(path, &format!("{command} --to n -o json"));
            let report: Value = serde_json::from_str(&stdout).unwrap();
            let paths: Vec<&Value> = report["machines"]
                .as_array()
                .unwrap()
                .iter()
                .map(|machine| &machine["path"])
                .collect();
            assert_eq!(
                (code, paths),
                (1, vec![&Value::Null, &Value::Null]),
                "{command}"
            );
            assert_eq!(told(path, &format!("{command} --to n")).0, 1, "{command}");
        }
        assert!(!path.join("n").exists(), "{command}");
    }
    fs::write(
        path.join("g.yaml"),
        GOOD_AND_BAD.split_once("---\n").unwrap().1,
    )
    .unwrap();
    for to in ["--to n", "--to n -o json", "--extract n"] {
        let all = if to.starts_with("--to") { "--all " } else { "" };
        assert_eq!(
            told(path, &format!("render g.yaml {all}{to} --deny warnings")).0,
            1,
            "{to}"
        );
        assert!(!path.join("n").exists(), "{to}");
        assert_eq!(told(path, &format!("render g.yaml {all}{to}")).0, 0, "{to}");
        fs::remove_dir_all(path.join("n")).unwrap();
    }
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
    let (code, data, stderr) = told(path, "render s.yaml");
    assert!(
        code == 0 && data.contains("correcthorse") && stderr.contains("\nnote: the data holds "),
        "{stderr}"
    );
    // The note is more than talk.
    assert!(
        told(path, "render s.yaml -q")
            .2
            .starts_with("note: the data holds ")
    );
    let of = |command: &str| {
        let report: Value = serde_json::from_str(&told(path, command).1).unwrap();
        report["machines"][0]["data"].as_str().unwrap().to_owned()
    };
    assert_eq!(of("render s.yaml -o json"), "<redacted>");
    assert_eq!(of("render s.yaml -o json --show-secrets"), data);
    // Where nothing is secret there is nothing to hide.
    assert_eq!(
        of("render examples/worker.yaml -o json"),
        told(path, "render examples/worker.yaml").1
    );
}

#[test]
fn one_artifact_is_printed_or_it_is_said_that_none_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let provider = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: BootstrapProvider\nnamespace: foo\n\
                    manager: {image: ghcr.io/foo/manager}\n";
    fs::write(path.join("provider.yaml"), provider).unwrap();
    fs::write(path.join("metadata.yaml"), METADATA).unwrap();
    assert_eq!(
        told(path, "generate metadata"),
        (0, METADATA.to_owned(), String::new())
    );
    let (code, stdout, stderr) = told(path, "generate components --release v0.1.7");
    assert!(
        (code, stderr.as_str()) == (0, "")
            && stdout.contains("image: ghcr.io/foo/manager:v0.1.7\n"),
        "{stdout}"
    );
    assert!(
        told(path, "generate components")
            .1
            .contains("image: ghcr.io/foo/manager:v0.1.0\n")
    );
    assert!(
        told(path, "generate components --image ghcr.io/a/b:v9")
            .1
            .contains("image: ghcr.io/a/b:v9\n")
    );
    for (command, rule) in [
        ("generate clusterclass x", "provider-artifact-missing"),
        ("generate template", "provider-artifact-missing"),
        ("generate template x", "provider-artifact-missing"),
        ("generate components --image x", "release-image-malformed"),
        ("generate rbac --release nope", "release-version-malformed"),
    ] {
        let (code, stdout, stderr) = told(path, command);
        assert!(
            (code, stdout.as_str()) == (1, "") && stderr.starts_with(&format!("error[{rule}]: ")),
            "{command}: {stderr}"
        );
        assert_eq!(last(&stderr), "1 error; nothing printed", "{command}");
    }
}

#[test]
fn the_last_line_of_a_comparison_and_of_an_inspection_stands_with_its_text() {
    let folder = site();
    let path = folder.path();
    let worker = fs::read_to_string(path.join("examples/worker.yaml")).unwrap();
    fs::write(
        path.join("n.yaml"),
        worker.replace("vm.nr_hugepages", "vm.nr_other"),
    )
    .unwrap();
    let notes = "note: bootstrap tokens, hashes of the CA's key and the cluster's certificates are not compared\n\
                 note: filled in alike on both sides: ca cert hash, endpoint, kubernetes version, role, token\n";
    for (new, line, code) in [
        ("n.yaml", "1 machine kind changed", 1),
        ("examples/worker.yaml", "1 machine kind the same", 0),
    ] {
        let command = format!("diff examples/worker.yaml {new} --exit-code");
        let (ended, stdout, stderr) = told(path, &command);
        assert_eq!(
            (ended, last(&stdout), stderr.as_str()),
            (code, line, notes),
            "{stdout}"
        );
        let (ended, stdout, stderr) = told(path, &format!("{command} -q"));
        assert!(
            (ended, stderr.as_str()) == (code, "") && last(&stdout) != line,
            "{stdout}"
        );
        for format in ["json", "github", "html"] {
            assert_eq!(
                told(path, &format!("{command} -o {format}")).2,
                format!("{notes}{line}\n"),
                "{command} -o {format}"
            );
        }
        assert_eq!(told(path, command.trim_end_matches(" --exit-code")).0, 0);
    }
    let data = "inspect examples/user-data.txt";
    let (code, stdout, stderr) = told(path, data);
    assert_eq!(
        (code, last(&stdout), stderr.as_str()),
        (0, "2 documents, 6 steps; 1 info", ""),
        "{stdout}"
    );
    assert_ne!(
        last(&told(path, &format!("{data} -q")).1),
        "2 documents, 6 steps; 1 info"
    );
    for format in ["json", "html"] {
        let (code, stdout, stderr) = told(path, &format!("{data} -o {format}"));
        assert!(
            (code, stderr.as_str()) == (0, "") && !stdout.contains("2 documents, 6 steps; 1 info"),
            "{stdout}"
        );
    }
    let (code, stdout, _) = told(path, "inspect examples");
    assert_eq!((code, last(&stdout)), (1, "0 documents, 0 steps; 1 error"));
    assert!(
        stdout.contains("error[inspect-data-unreadable]: it is a folder: "),
        "{stdout}"
    );
}

/// A template that nobody declared is one finding, and nothing of it is judged: what is wrong with
/// it only its variables would tell.
#[test]
fn undeclared_templates_are_not_judged_and_broken_files_do_not_hide_others() {
    let folder = site();
    let path = folder.path();
    let text = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {name: \"${CLUSTER_NAME}-w\"}\n\
                spec: {files: [{path: /a, content: x, permissions: 420}]}\n";
    fs::write(path.join("t.yaml"), text).unwrap();
    fs::write(path.join("b.yaml"), "a: [\n").unwrap();
    for (command, line) in [
        ("validate", "nothing judged; 1 error"),
        ("size", "0 machines; 1 error"),
        ("render", "1 error; no data written"),
        ("why /a", "0 machines; 1 error"),
    ] {
        let (code, stdout, stderr) = told(path, &format!("{command} t.yaml"));
        let both = stdout + &stderr;
        let found: Vec<&str> = both
            .lines()
            .filter(|line| line.starts_with("error["))
            .collect();
        assert_eq!(
            (code, last(&both), found.len()),
            (1, line, 1),
            "{command}: {both}"
        );
        assert!(
            found[0]
                .ends_with("]: this is a template of clusterctl, whose variables are not replaced"),
            "{command}: {both}"
        );
        assert!(
            both.contains("\n  --> t.yaml:3:18\n") && both.contains("= help: add `--template`\n"),
            "{command}: {both}"
        );
        let (_, stdout, stderr) = told(path, &format!("{command} b.yaml"));
        let both = stdout + &stderr;
        assert_eq!(
            (last(&both), both.matches("error[").count()),
            (line, 1),
            "{command}: {both}"
        );
    }
    for (command, line) in [
        ("validate", "1 machine kind; 1 error, 1 info"),
        ("size", "1 machine; 1 error"),
        ("why /etc/sysctl.d/90-gpu.conf", "1 machine; 1 error"),
    ] {
        let (code, stdout, stderr) = told(path, &format!("{command} b.yaml examples/worker.yaml"));
        let end = if command.starts_with("why") {
            &stderr
        } else {
            &stdout
        };
        assert_eq!((code, last(end)), (1, line), "{command}: {stdout}{stderr}");
    }
    // An input that is sound and holds nothing is told as such.
    let (code, _, stderr) = told(path, "render foo.yaml");
    assert!(
        code == 1 && stderr.starts_with("error[render-config-missing]: "),
        "{stderr}"
    );
    assert!(
        told(path, "size foo.yaml")
            .1
            .starts_with("error[render-config-missing]: ")
    );
}
