//! What verbs that write say at their end: what was made and counted, what was there already, what
//! was left alone, and how to go on.

use std::fs;

use serde_json::Value;

use crate::told::{METADATA, TWO, done, told};

/// The files of their release.
const FILES: [&str; 7] = [
    "SHA256SUMS",
    "bootstrap-components.yaml",
    "control-plane-components.yaml",
    "images.txt",
    "install.yaml",
    "metadata.yaml",
    "sbom.spdx.json",
];
const HEADLINE: &str =
    "bootstrap-foo + control-plane-foo v0.1.0, contract v1beta2 (provider.yaml)\n";
const BUILD: &str = "release build v0.1.0 --to out";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("provider.yaml"), TWO).unwrap();
    fs::write(folder.path().join("metadata.yaml"), METADATA).unwrap();
    folder
}

/// Lines.
fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

#[test]
fn a_release_is_counted_and_the_next_command_named() {
    let folder = project();
    let paths = lines(FILES.map(|file| format!("out/{file}")));
    let said = |counts: &str| {
        format!(
            "{HEADLINE}7 files, 14 objects, 2 images{counts}\nnext: windlass repository add out --to DIR\n"
        )
    };
    assert_eq!(done(folder.path(), BUILD), (paths.clone(), said("")));
    assert_eq!(
        done(folder.path(), BUILD),
        (paths.clone(), said("; unchanged"))
    );
    assert_eq!(
        done(folder.path(), &format!("{BUILD} -q")),
        (paths.clone(), String::new())
    );
    // A slash at its end is not doubled.
    let (stdout, stderr) = done(folder.path(), "release build v0.1.0 --to out/");
    assert_eq!(
        (stdout, stderr.lines().last()),
        (
            paths.clone(),
            Some("next: windlass repository add out/ --to DIR")
        )
    );
    for (foreign, note) in [
        (&["y"][..], "1 file that the release does not have: y"),
        (&["y", "z"], "2 files that the release does not have: y, z"),
    ] {
        foreign
            .iter()
            .for_each(|file| fs::write(folder.path().join("out").join(file), "").unwrap());
        let note = format!("\nnote: out also holds {note}\nnext: ");
        let (stdout, stderr) = done(folder.path(), &format!("{BUILD} --force"));
        assert_eq!(
            (stdout, stderr),
            (paths.clone(), said("").replace("\nnext: ", &note))
        );
    }
    let (stdout, stderr) = done(folder.path(), "release build v0.1.0 --to other -o json");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(stderr, said("").replace(" out ", " other "));
    assert_eq!(report["files"], serde_json::json!(FILES));
    assert_eq!(
        serde_json::json!([
            report["providers"],
            report["version"],
            report["contract"],
            report["to"],
            report["written"],
            report["objects"]
        ]),
        serde_json::json!([
            ["bootstrap-foo", "control-plane-foo"],
            "v0.1.0",
            "v1beta2",
            "other",
            true,
            14
        ])
    );
}

/// The files that differ, those that are more, or neither: each has a sentence.
#[test]
fn a_release_that_is_checked_is_compared_file_by_file() {
    let folder = project();
    done(folder.path(), BUILD);
    let out = |file: &str| folder.path().join("out").join(file);
    let checked = |code: i32, sentences: &[&str]| {
        let (ended, stdout, stderr) = told(folder.path(), &format!("{BUILD} --check"));
        let sentences: String = sentences
            .iter()
            .map(|sentence| format!("{sentence}\n"))
            .collect();
        assert_eq!(
            (ended, stderr),
            (code, format!("{HEADLINE}{sentences}")),
            "{stdout}"
        );
        let (_, json, _) = told(folder.path(), &format!("{BUILD} --check -o json"));
        let report: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (
                report["written"].as_bool(),
                report["files"].as_array().unwrap().is_empty()
            ),
            (Some(code == 0), code != 0),
            "{json}"
        );
        stdout
    };
    assert_eq!(checked(0, &["out is what provider.yaml gives"]), "");
    fs::write(out("x"), "").unwrap();
    let foreign =
        "out also holds 1 file that provider.yaml does not give: remove it, `--force` does not";
    let stdout = checked(1, &[foreign]);
    assert!(
        stdout.starts_with(
            "error[release-file-foreign]: out/x is there, but provider.yaml does not give it\n"
        ),
        "{stdout}"
    );
    fs::remove_file(out("images.txt")).unwrap();
    let run = "run `windlass release build v0.1.0 --to out --force`";
    checked(
        1,
        &[
            &format!("out is not what provider.yaml gives: 1 of 7 files differs; {run}"),
            foreign,
        ],
    );
    fs::write(out("metadata.yaml"), "").unwrap();
    fs::write(out("y"), "").unwrap();
    let two =
        "out also holds 2 files that provider.yaml does not give: remove them, `--force` does not";
    checked(
        1,
        &[
            &format!("out is not what provider.yaml gives: 2 of 7 files differ; {run}"),
            two,
        ],
    );
    ["x", "y"]
        .iter()
        .for_each(|file| fs::remove_file(out(file)).unwrap());
    checked(
        1,
        &[&format!(
            "out is not what provider.yaml gives: 2 of 7 files differ; {run}"
        )],
    );
}

/// The command that is named makes the same release: with the provider and the images that were
/// compared with.
#[test]
fn the_command_for_a_stale_release_has_its_flags() {
    let folder = project();
    fs::rename(
        folder.path().join("provider.yaml"),
        folder.path().join("my provider.yaml"),
    )
    .unwrap();
    let flags = "--provider 'my provider.yaml' --image bootstrap-foo=ghcr.io/x/y:v1";
    let run = |arguments: &[&str]| {
        crate::support::windlass(folder.path())
            .args(arguments)
            .output()
            .unwrap()
    };
    let given = [
        "--provider",
        "my provider.yaml",
        "--image",
        "bootstrap-foo=ghcr.io/x/y:v1",
    ];
    let build = |more: &[&str]| {
        run(&[
            &["release", "build", "v0.1.0", "--to", "out"],
            &given[..],
            more,
        ]
        .concat())
    };
    assert_eq!(
        build(&[]).status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&build(&[]).stderr)
    );
    fs::write(folder.path().join("out/metadata.yaml"), "").unwrap();
    let said = String::from_utf8(build(&["--check"]).stderr).unwrap();
    let command = format!("run `windlass release build v0.1.0 --to out {flags} --force`");
    assert!(said.contains(&command), "{said}");
    assert_eq!(
        (
            build(&["--force"]).status.code(),
            build(&["--check"]).status.code()
        ),
        (Some(0), Some(0))
    );
}

/// Without a release of it, its name and its version are all that is known.
#[test]
fn a_release_that_cannot_be_has_no_contract_and_writes_nothing() {
    let folder = project();
    for (version, rule, objects) in [
        ("v0.2.0", "metadata-series-missing", 14),
        ("0.1.0", "release-version-malformed", 0),
    ] {
        let command = format!("release build {version} --to out");
        let (code, stdout, stderr) = told(folder.path(), &command);
        let headline =
            format!("bootstrap-foo + control-plane-foo {version} (provider.yaml)\nerror[{rule}]: ");
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        assert!(
            stderr.starts_with(&headline) && stderr.ends_with("\n1 error; nothing written\n"),
            "{stderr}"
        );
        let (code, stdout, _) = told(folder.path(), &format!("{command} -o json"));
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(
            (
                code,
                report["objects"].as_u64(),
                report["findings"][0]["rule"].as_str()
            ),
            (1, Some(objects), Some(rule))
        );
        assert_eq!(
            serde_json::json!([report["contract"], report["written"], report["files"]]),
            serde_json::json!([null, false, []])
        );
        assert!(!folder.path().join("out").exists());
    }
    fs::write(folder.path().join("provider.yaml"), "kind: Nothing\n").unwrap();
    let (code, _, stderr) = told(folder.path(), BUILD);
    assert!(
        code == 1 && stderr.starts_with("release v0.1.0 (provider.yaml)\n"),
        "{stderr}"
    );
}

#[test]
fn a_statement_of_provenance_is_listed_and_not_replaced_unasked() {
    let folder = project();
    let by = "--builder-id https://b.example/x --source git+https://s.example/s@v1 --source-commit 0123456789012345678901234567890123456789";
    let build = format!("{BUILD} --provenance p.json {by}");
    let paths = lines(
        FILES
            .map(|file| format!("out/{file}"))
            .into_iter()
            .chain(["p.json".to_owned()]),
    );
    assert_eq!(done(folder.path(), &build).0, paths);
    let statement = fs::read_to_string(folder.path().join("p.json")).unwrap();
    // What is there already is as good as what would be written.
    assert_eq!(done(folder.path(), &build).0, paths);
    fs::write(folder.path().join("p.json"), "{}").unwrap();
    let refused = format!(
        "{HEADLINE}error: p.json is there with other content\n  help: choose another name or pass `--force`\n"
    );
    assert_eq!(told(folder.path(), &build), (2, String::new(), refused));
    assert_eq!(done(folder.path(), &format!("{build} --force")).0, paths);
    assert_eq!(
        fs::read_to_string(folder.path().join("p.json")).unwrap(),
        statement
    );
    // Beside the folder, whatever its name begins with.
    assert!(
        done(folder.path(), &build.replace("p.json", "out.json"))
            .0
            .ends_with("\nout.json\n")
    );
}

#[test]
fn a_series_is_added_once() {
    let folder = project();
    for (command, line) in [
        (
            "release bump v0.2.0",
            "metadata.yaml lists series 0.2 now\n",
        ),
        (
            "release bump v0.2.7",
            "metadata.yaml lists series 0.2 already; unchanged\n",
        ),
        (
            "release bump v1.3.0 --metadata ./metadata.yaml",
            "./metadata.yaml lists series 1.3 now\n",
        ),
        ("release bump v1.4.0 -q", ""),
    ] {
        let file = if command.contains("--metadata") {
            "./metadata.yaml\n"
        } else {
            "metadata.yaml\n"
        };
        assert_eq!(
            done(folder.path(), command),
            (file.to_owned(), line.to_owned()),
            "{command}"
        );
    }
    let (code, stdout, stderr) = told(folder.path(), "release bump 2");
    assert!(
        (code, stdout.as_str()) == (1, "") && stderr.ends_with("\n1 error; nothing written\n"),
        "{stderr}"
    );
}
