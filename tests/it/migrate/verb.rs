//! The verb: streams, exit codes, files.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::support::windlass;

const MACHINE: &str = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\nmetadata:\n  name: m # m\nspec:\n  nodeDrainTimeout: 1m\n";

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files
        .iter()
        .for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

fn migrate(folder: &tempfile::TempDir, arguments: &[&str]) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = windlass(folder.path())
        .arg("migrate")
        .args(arguments)
        .output()
        .unwrap();
    (
        status.code().unwrap(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

#[test]
fn the_text_of_one_file_is_printed_and_nothing_is_written() {
    let folder = folder(&[("m.yaml", MACHINE)]);
    let (code, stdout, stderr) = migrate(&folder, &["--to-version", "v1beta2", "m.yaml"]);
    let expected = MACHINE.replace("v1beta1", "v1beta2").replace(
        "  nodeDrainTimeout: 1m",
        "  deletion:\n    nodeDrainTimeoutSeconds: 60",
    );
    assert_eq!((code, stdout), (0, expected), "{stderr}");
    assert_eq!(
        fs::read_to_string(folder.path().join("m.yaml")).unwrap(),
        MACHINE
    );
    assert_eq!(stderr, "1 document migrated\n");
}

#[test]
fn check_shows_the_difference_and_writes_nothing() {
    let folder = folder(&[("m.yaml", MACHINE)]);
    let (code, stdout, stderr) =
        migrate(&folder, &["--to-version", "v1beta2", "--check", "m.yaml"]);
    assert_eq!(
        (code, stderr.as_str()),
        (1, "1 document in 1 file would change; nothing written\n")
    );
    assert!(
        stdout.contains(
            "\n-apiVersion: cluster.x-k8s.io/v1beta1\n+apiVersion: cluster.x-k8s.io/v1beta2\n"
        ),
        "{stdout}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("m.yaml")).unwrap(),
        MACHINE
    );
    let (code, stdout, _) = migrate(&folder, &["--to-version", "v1beta1", "--check", "m.yaml"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
}

#[test]
fn write_changes_the_files_of_a_folder() {
    let folder = folder(&[
        ("a.yaml", MACHINE),
        ("b.yaml", "a: b\n"),
        ("c.yaml", MACHINE),
    ]);
    let (code, stdout, stderr) = migrate(&folder, &["--to-version", "v1beta2", "--write", "."]);
    assert_eq!(
        (code, stdout.as_str()),
        (0, "2 documents in 2 files migrated\n"),
        "{stderr}"
    );
    for (name, is_new) in [("a.yaml", true), ("b.yaml", false), ("c.yaml", true)] {
        assert_eq!(
            fs::read_to_string(folder.path().join(name))
                .unwrap()
                .contains("TimeoutSeconds: 60"),
            is_new,
            "{name}"
        );
    }
}

/// A document that cannot be migrated keeps all files from being written: others refer to it.
#[test]
fn with_an_error_nothing_is_written() {
    let faulty = MACHINE.replace("1m", "${DRAIN}");
    let folder = folder(&[("a.yaml", MACHINE), ("b.yaml", &faulty)]);
    for arguments in [
        &["--write", "."][..],
        &["--write", "--allow", "migrate-not-converted", "."],
    ] {
        let (code, stdout, _) =
            migrate(&folder, &[&["--to-version", "v1beta2"], arguments].concat());
        assert_eq!(code, 1);
        assert!(
            stdout.contains("--> ./b.yaml:6:3") || stdout.contains("--> b.yaml:6:3"),
            "{stdout}"
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("a.yaml")).unwrap(),
            MACHINE
        );
    }
    let (code, stdout, stderr) = migrate(&folder, &["--to-version", "v1beta2", "b.yaml"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("error[migrate-not-converted]"), "{stderr}");
}

#[test]
fn what_is_lost_is_dropped_only_where_that_is_allowed() {
    let config = "apiVersion: bootstrap.windlass.dev/v1beta2\nkind: WindlassConfig\nmetadata: {name: w}\nspec:\n  compression: gzip\n  verbosity: 1\n";
    let folder = folder(&[("w.yaml", config)]);
    let (code, stdout, stderr) = migrate(&folder, &["--to-kind", "KubeadmConfig", "w.yaml"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("`--allow migrate-field-lost`"), "{stderr}");
    let (code, stdout, _) = migrate(
        &folder,
        &[
            "--to-kind",
            "KubeadmConfig",
            "--allow",
            "migrate-field-lost",
            "w.yaml",
        ],
    );
    assert_eq!(
        (
            code,
            stdout.contains("kind: KubeadmConfig\n"),
            stdout.contains("compression")
        ),
        (0, true, false)
    );
}

/// It is known, and not as it is wanted.
#[test]
fn a_document_that_is_skipped_is_unfinished() {
    let machine = MACHINE
        .replace("v1beta1", "v1beta2")
        .replace("  nodeDrainTimeout: 1m", "  clusterName: c");
    let older = "apiVersion: cluster.x-k8s.io/v1alpha4\nkind: Machine\n";
    let list = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineList\nitems: []\n";
    let foreign = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n";
    for (text, expected) in [(older, 1), (list, 1), (foreign, 0)] {
        let folder = folder(&[("m.yaml", &machine), ("o.yaml", text)]);
        let (code, stdout, stderr) = migrate(&folder, &["--to-version", "v1beta2", "--check", "."]);
        assert_eq!(
            (code, stderr.contains("migrate-document-skipped")),
            (expected, expected == 1),
            "{stdout}{stderr}"
        );
        fs::remove_file(folder.path().join("m.yaml")).unwrap();
        let (code, _, stderr) = migrate(&folder, &["--to-version", "v1beta2", "--check", "."]);
        assert_eq!(
            (code, stderr.contains("migrate-nothing-known")),
            (1, expected == 0),
            "{stderr}"
        );
    }
}

#[test]
fn mistakes_are_answered_with_what_to_write() {
    let folder = folder(&[
        ("m.yaml", MACHINE),
        ("n.yaml", MACHINE),
        ("e.yaml", ""),
        ("c.yaml", "apiVersion: v1\nkind: ConfigMap\n"),
    ]);
    let cases: [(&[&str], i32, &str); 9] = [
        (&["m.yaml"], 2, "add `--to-version v1beta2`"),
        (&["--to-version", "v1beta2"], 2, "FILE"),
        (&["--to-version", "v1beta3", "m.yaml"], 2, "v1beta2"),
        (
            &["--to-version", "v1beta2", "m.yaml", "n.yaml"],
            2,
            "add `--write`",
        ),
        (
            &["--to-version", "v1beta2", "-o", "json", "m.yaml"],
            2,
            "add `--check`",
        ),
        (
            &["--to-version", "v1beta2", "--write", "-"],
            2,
            "leave `--write` out",
        ),
        (&["--to-version", "v1beta2", "mm.yaml"], 2, "no such file"),
        (
            &["--to-version", "v1beta2", "e.yaml"],
            1,
            "name files with a KubeadmConfig",
        ),
        (
            &["--to-version", "v1beta2", "c.yaml"],
            1,
            "name files with a KubeadmConfig",
        ),
    ];
    for (arguments, expected, help) in cases {
        let (code, stdout, stderr) = migrate(&folder, arguments);
        assert_eq!(
            (code, stdout.as_str()),
            (expected, ""),
            "{arguments:?}: {stderr}"
        );
        assert!(stderr.contains(help), "{arguments:?}: {stderr}");
    }
}

#[test]
fn the_report_names_documents_and_what_they_become() {
    let folder = folder(&[("m.yaml", MACHINE)]);
    let (code, stdout, _) = migrate(
        &folder,
        &["--to-version", "v1beta2", "--check", "-o", "json", "m.yaml"],
    );
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let document = &report["files"][0]["documents"][0];
    assert_eq!(
        (code, report["kind"].as_str(), report["written"].as_bool()),
        (1, Some("Migrate"), Some(false))
    );
    assert_eq!(
        (document["object"].as_str(), document["document"].as_u64()),
        (Some("Machine/m"), Some(1))
    );
    assert_eq!(document["to"], "cluster.x-k8s.io/v1beta2 Machine");
}

/// The stream of the last line is that of the text, where a text is what was asked for.
#[test]
fn what_was_done_is_said_beside_what_was_asked_for() {
    let faulty = MACHINE.replace("1m", "${DRAIN}");
    let sound = [("a.yaml", MACHINE), ("c.yaml", MACHINE)];
    let broken = [("a.yaml", MACHINE), ("b.yaml", faulty.as_str())];
    let report = |stdout: &str| {
        let report: Value = serde_json::from_str(stdout).unwrap();
        let files: Vec<usize> = report["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["documents"].as_array().unwrap().len())
            .collect();
        (report["written"].as_bool().unwrap(), files)
    };
    for (flags, files, code, done, is_written, documents) in [
        (
            "--write",
            &sound,
            0,
            "2 documents in 2 files migrated",
            true,
            vec![1, 1],
        ),
        (
            "--check",
            &sound,
            1,
            "2 documents in 2 files would change; nothing written",
            false,
            vec![1, 1],
        ),
        (
            "--write",
            &broken,
            1,
            "nothing written; 1 error",
            false,
            vec![1, 0],
        ),
        (
            "--check",
            &broken,
            1,
            "1 document in 1 file would change; nothing written; 1 error",
            false,
            vec![1, 0],
        ),
    ] {
        let text = folder(files);
        let (ended, stdout, stderr) = migrate(&text, &["--to-version", "v1beta2", flags, "."]);
        let with_line = if flags == "--write" { &stdout } else { &stderr };
        assert_eq!(
            (ended, with_line.lines().last()),
            (code, Some(done)),
            "{flags}: {stdout}{stderr}"
        );
        assert_eq!(stderr.is_empty(), flags == "--write", "{flags}: {stderr}");
        let json = folder(files);
        let (ended, stdout, stderr) = migrate(
            &json,
            &["--to-version", "v1beta2", flags, "-o", "json", "."],
        );
        assert_eq!((ended, stderr), (code, format!("{done}\n")), "{flags}");
        assert_eq!(
            report(&stdout),
            (is_written, documents),
            "{flags}: {stdout}"
        );
        for written in [&text, &json] {
            let is_new = fs::read_to_string(written.path().join("a.yaml")).unwrap() != MACHINE;
            assert_eq!(is_new, is_written, "{flags}");
        }
        // What has been done need not be done again.
        if is_written {
            let again = migrate(&text, &["--to-version", "v1beta2", flags, "."]);
            assert_eq!(
                again,
                (
                    0,
                    "0 documents in 0 files migrated\n".to_owned(),
                    String::new()
                )
            );
        }
    }
}

/// A file that cannot be read is a part that is lacking, whatever is allowed, and with other faults
/// it is still one.
#[test]
fn files_that_cannot_be_read_keep_the_others_from_being_written() {
    for (other, allowed) in [
        (MACHINE.to_owned(), &["input-not-utf8"][..]),
        (
            MACHINE.replace("1m", "${D}"),
            &["input-not-utf8", "migrate-not-converted"],
        ),
    ] {
        let folder = folder(&[("a.yaml", MACHINE), ("b.yaml", &other)]);
        fs::write(folder.path().join("x.yaml"), [0xff]).unwrap();
        let allow = allowed.iter().flat_map(|rule| ["--allow", rule]);
        let arguments: Vec<&str> = ["--to-version", "v1beta2", "--write", "."]
            .into_iter()
            .chain(allow)
            .collect();
        let (code, stdout, _) = migrate(&folder, &arguments);
        assert!(
            code == 1
                && stdout.contains("error[input-not-utf8]: x.yaml is not UTF-8 text: byte 0xff\n"),
            "{stdout}"
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("a.yaml")).unwrap(),
            MACHINE
        );
    }
}

#[test]
fn standard_input_is_printed_and_nothing_else_can_be_done_with_it() {
    let folder = folder(&[("m.yaml", MACHINE), ("-", MACHINE)]);
    let migrate = |arguments: &[&str]| {
        let stdin = fs::File::open(folder.path().join("m.yaml")).unwrap();
        let output = windlass(folder.path())
            .args(["migrate", "--to-version", "v1beta2"])
            .args(arguments)
            .stdin(stdin)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, stdout, stderr) = migrate(&["-"]);
    assert_eq!(
        (
            code,
            stdout.contains("nodeDrainTimeoutSeconds: 60\n"),
            stderr.as_str()
        ),
        (Some(0), true, "1 document migrated\n")
    );
    assert_eq!(migrate(&["-", "-q"]), (Some(0), stdout, String::new()));
    // Also where a file has the name.
    let refused =
        "error: `--write` changes files, and standard input is none\n  help: leave `--write` out\n";
    assert_eq!(
        migrate(&["-", "--write"]),
        (Some(2), String::new(), refused.to_owned())
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("-")).unwrap(),
        MACHINE
    );
    assert_eq!(
        migrate(&["./-", "--write"]),
        (
            Some(0),
            "1 document in 1 file migrated\n".to_owned(),
            String::new()
        )
    );
    for (arguments, message, help) in [
        (
            &["m.yaml", "./-"][..],
            "the text of one file can be printed, and here are 2 files",
            "add `--write`, or `--check`",
        ),
        (
            &["m.yaml", "-o", "json"],
            "a report takes the place of the text",
            "add `--check`, or `--write`",
        ),
    ] {
        assert_eq!(
            migrate(arguments),
            (
                Some(2),
                String::new(),
                format!("error: {message}\n  help: {help}\n")
            )
        );
    }
}
