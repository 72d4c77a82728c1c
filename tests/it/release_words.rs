//! What `release image`, `release check` and `release diff` say, in each format and with each exit
//! code.

use std::fs;

use serde_json::{Value, json};

use crate::image::{AMD64, ARM64, program};
use crate::told::{METADATA, told};

/// A folder with binaries of a manager.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, machine) in [("manager", AMD64), ("manager-arm64", ARM64)] {
        fs::write(folder.path().join(file), program(machine)).unwrap();
    }
    folder
}

const ONE: &str = "release image v0.1.0 --binary linux/amd64=manager --to i";
const NOBODYS: &str = "note: no provider.yaml in this folder: the image says its version, but neither whose it is nor its license\n";
const NEXT: &str = "next: `skopeo copy --all --preserve-digests oci:i:v0.1.0 docker://REGISTRY/NAME:v0.1.0`\n\
    then: `windlass release build v0.1.0 --image-layout i --to DIR`\n";

#[test]
fn an_image_is_named_by_its_digest_and_the_next_commands_are_told() {
    let folder = site();
    let path = folder.path();
    let (code, digest, stderr) = told(path, ONE);
    let from = format!("{NOBODYS}linux/amd64 {} from manager\n", digest.trim_end());
    assert_eq!(
        (code, digest.len(), stderr),
        (0, "sha256:\n".len() + 64, format!("{from}{NEXT}"))
    );
    assert_eq!(
        told(path, ONE),
        (0, digest.clone(), format!("{from}{NEXT}"))
    );
    assert_eq!(
        told(path, &format!("{ONE} -q")),
        (0, digest.clone(), String::new())
    );
    // It is compared, and there is nothing to do next.
    assert_eq!(
        told(path, &format!("{ONE} --check")),
        (0, digest.clone(), from.clone())
    );
    let layout = |file: &str| path.join("i").join(file);
    let checked = |differ: &str| {
        let said = format!("{from}i is not this image: {differ} more\n");
        assert_eq!(
            told(path, &format!("{ONE} --check")),
            (1, String::new(), said)
        );
    };
    fs::write(layout("x"), "").unwrap();
    checked("0 of 5 files differ, 1 file");
    fs::write(layout("oci-layout"), "").unwrap();
    checked("1 of 5 files differ, 1 file");
    fs::remove_file(layout("index.json")).unwrap();
    fs::write(layout("y"), "").unwrap();
    checked("2 of 5 files differ, 2 files");
    let (code, stdout, _) = told(path, &format!("{ONE} --check -o json"));
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, &report["written"], &report["digest"]),
        (1, &json!(false), &json!(digest.trim_end()))
    );
    assert_eq!(
        told(path, &format!("{ONE} --force")),
        (
            0,
            digest.clone(),
            format!("{from}note: i also holds x, y\n{NEXT}")
        )
    );
    // Other formats have the digest in them, or no place for it.
    let (code, stdout, stderr) = told(path, &format!("{ONE} --force -o github"));
    assert_eq!(
        (code, stdout.as_str(), stderr),
        (0, "", format!("{from}note: i also holds x, y\n{NEXT}"))
    );
    let none = format!("{from}n is not this image: 5 of 5 files differ, 0 files more\n");
    assert_eq!(
        told(
            path,
            &format!("{} --check", ONE.replace("--to i", "--to n"))
        ),
        (1, String::new(), none)
    );
    assert!(!path.join("n").exists());
}

#[test]
fn an_image_in_json_says_what_was_made_of_which_file() {
    let folder = site();
    let path = folder.path();
    let both = "release image v0.1.0 --binary linux/amd64=manager --binary linux/arm64=manager-arm64 --to i -o json";
    let (code, stdout, stderr) = told(path, both);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let manifests: Vec<(&str, &str)> = report["manifests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made| {
            (
                made["platform"].as_str().unwrap(),
                made["binary"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        (code, manifests),
        (
            0,
            vec![("linux/amd64", "manager"), ("linux/arm64", "manager-arm64")]
        )
    );
    assert_eq!(
        json!([report["version"], report["to"], report["written"]]),
        json!(["v0.1.0", "i", true])
    );
    for (made, line) in report["manifests"]
        .as_array()
        .unwrap()
        .iter()
        .zip(stderr.lines().skip(1))
    {
        let (platform, digest) = (
            made["platform"].as_str().unwrap(),
            made["digest"].as_str().unwrap(),
        );
        assert_eq!(
            line,
            format!(
                "{platform} {digest} from {}",
                made["binary"].as_str().unwrap()
            )
        );
    }
    let files: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file.as_str().unwrap())
        .collect();
    assert!(
        files.contains(&"index.json")
            && files.contains(&"oci-layout")
            && files.iter().all(|file| path.join("i").join(file).is_file())
    );
    // Of a version that is none there is no image.
    let (code, stdout, stderr) = told(
        path,
        &both.replace("v0.1.0", "0.1.0").replace("--to i", "--to n"),
    );
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, stderr),
        (1, format!("{NOBODYS}1 error; nothing written\n"))
    );
    assert_eq!(
        json!([
            report["digest"],
            report["written"],
            report["manifests"],
            report["files"],
            report["findings"][0]["rule"]
        ]),
        json!([null, false, [], [], "release-version-malformed"])
    );
    let twice =
        "release image v0.1.0 --binary linux/amd64=manager --binary linux/amd64=manager --to n";
    let words = "error: `--binary` names two files for linux/amd64\n  help: name one\n".to_owned();
    assert_eq!(told(path, twice), (2, String::new(), words));
    let words = "error: no image can be made for `plan9/mips`\n  help: use `linux/amd64`, `linux/arm64`, `linux/ppc64le`, `linux/riscv64` or `linux/s390x`\n";
    assert_eq!(
        told(path, &twice.replace("linux/amd64", "plan9/mips")),
        (2, String::new(), words.to_owned())
    );
    assert!(!path.join("n").exists());
}

/// The digest of a layout and that of `--image` may both be said where they are one.
#[test]
fn a_digest_that_is_said_twice_is_one() {
    let folder = site();
    let path = folder.path();
    let provider = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: h\ntype: InfrastructureProvider\nnamespace: h\n\
                    manager: {image: ghcr.io/h/m}\n";
    fs::write(path.join("provider.yaml"), provider).unwrap();
    fs::write(path.join("metadata.yaml"), METADATA).unwrap();
    let digest = told(path, ONE).1.trim_end().to_owned();
    let build = |image: &str| {
        format!("release build v0.1.0 --image-layout i --image {image} --to out --force -q")
    };
    for (image, built) in [
        (
            format!("ghcr.io/a/b@{digest}"),
            format!("ghcr.io/a/b@{digest}"),
        ),
        ("ghcr.io/a/c:v1".to_owned(), format!("ghcr.io/a/c@{digest}")),
    ] {
        assert_eq!(told(path, &build(&image)).0, 0, "{image}");
        assert_eq!(
            fs::read_to_string(path.join("out/images.txt")).unwrap(),
            format!("{built}\n")
        );
    }
    let other = format!("ghcr.io/a/b@sha256:{}", "a".repeat(64));
    let help = "leave the digest out of `--image`, or leave `--image-layout` out";
    let words = format!(
        "error: `--image {other}` has a digest, and `--image-layout` gives another one\n  help: {help}\n"
    );
    assert_eq!(told(path, &build(&other)), (2, String::new(), words));
    let words = "error: `--image-layout x-h=i` is for `x-h`, which is no provider here\n  help: provider.yaml has infrastructure-h\n";
    assert_eq!(
        told(path, "release build v0.1.0 --image-layout x-h=i --to o"),
        (2, String::new(), words.to_owned())
    );
    // Of a release that cannot be made its faults are told, and not what its images would have
    // been.
    fs::remove_file(path.join("metadata.yaml")).unwrap();
    let (code, _, stderr) = told(path, &build(&other));
    assert!(
        code == 1 && stderr.starts_with("error[provider-file-missing]: "),
        "{stderr}"
    );
    // Without a manager nothing runs the image.
    fs::write(path.join("metadata.yaml"), METADATA).unwrap();
    fs::write(
        path.join("provider.yaml"),
        provider.replace("manager: {image: ghcr.io/h/m}\n", ""),
    )
    .unwrap();
    let (code, _, stderr) = told(path, "release build v0.1.0 --image-layout i --to o -q");
    let words =
        format!("error: no manager in the release runs the image {digest} of `--image-layout`\n");
    assert!(
        code == 1 || code == 2 && stderr.starts_with(&words),
        "{stderr}"
    );
}

#[test]
fn a_check_counts_the_providers_that_it_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    ["e1", "e2"]
        .iter()
        .for_each(|empty| fs::create_dir(path.join(empty)).unwrap());
    let provider = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: h\ntype: InfrastructureProvider\nnamespace: h\n\
                    manager: {image: ghcr.io/h/m}\n";
    fs::write(path.join("provider.yaml"), provider).unwrap();
    fs::write(path.join("metadata.yaml"), METADATA).unwrap();
    for (version, to) in [("v0.1.0", "older"), ("v0.1.1", "newer")] {
        assert_eq!(
            told(path, &format!("release build {version} --to {to}")).0,
            0
        );
    }
    let missing = "--allow release-components-missing";
    for (arguments, code, line) in [
        ("v0.1.1 newer".to_owned(), 0, "1 provider v0.1.1"),
        (
            "v0.1.1 newer --previous older".to_owned(),
            0,
            "1 provider v0.1.1",
        ),
        ("v0.1.0 older older".to_owned(), 0, "2 providers v0.1.0"),
        ("nope newer".to_owned(), 1, "0 providers nope; 1 error"),
        // Of what nobody has judged nothing can be allowed, however many there are.
        (
            format!("v0.1.0 e1 {missing}"),
            1,
            "0 providers v0.1.0; 1 error",
        ),
        (
            format!("v0.1.0 e1 e2 {missing}"),
            1,
            "0 providers v0.1.0; 2 errors",
        ),
        (
            format!("v0.1.0 e1 older {missing}"),
            1,
            "1 provider v0.1.0; 1 error",
        ),
        (
            format!("v0.1.0 older e1 {missing}"),
            1,
            "1 provider v0.1.0; 1 error",
        ),
    ] {
        let command = format!("release check {arguments}");
        let (ended, stdout, stderr) = told(path, &command);
        assert_eq!(
            (ended, stdout.lines().last(), stderr.as_str()),
            (code, Some(line), ""),
            "{command}"
        );
        for format in ["json", "sarif", "junit", "github"] {
            let (ended, stdout, stderr) = told(path, &format!("{command} -o {format}"));
            assert_eq!(
                (ended, stderr),
                (code, format!("{line}\n")),
                "{command} -o {format}"
            );
            if format == "json" {
                let report: Value = serde_json::from_str(&stdout).unwrap();
                let is_judged = !line.starts_with("0 ");
                let contract = if is_judged {
                    json!("v1beta2")
                } else {
                    json!(null)
                };
                assert_eq!(
                    (
                        &report["contract"],
                        report["providers"].as_array().unwrap().is_empty()
                    ),
                    (&contract, !is_judged),
                    "{command}"
                );
                let previous = if arguments.contains("--previous") {
                    json!("older")
                } else {
                    json!(null)
                };
                assert_eq!(
                    (&report["previous"], &report["version"]),
                    (&previous, &json!(arguments.split(' ').next()))
                );
            }
        }
    }
    let refused = "error: nowhere is no folder\n  help: name the folder of a release\n".to_owned();
    assert_eq!(
        told(path, "release check v0.1.1 newer --previous nowhere"),
        (2, String::new(), refused)
    );
}

#[test]
fn the_summary_of_a_difference_stands_beside_what_programs_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let object = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns}}\n")
    };
    for (side, text) in [
        ("a", object("one")),
        ("b", format!("{}---\n{}", object("one"), object("two"))),
    ] {
        fs::write(path.join(format!("{side}.yaml")), text).unwrap();
    }
    let summary = "1 object added, 1 object unchanged";
    let added = "added    ConfigMap/two in ns\n";
    let (code, stdout, stderr) = told(path, "release diff a.yaml b.yaml");
    assert!(
        code == 0 && stdout.starts_with(added) && stdout.ends_with(&format!("{summary}\n")),
        "{stdout}{stderr}"
    );
    assert_eq!(stderr, "");
    for (format, begin) in [
        ("json", "{\n"),
        (
            "github",
            "### <code>a.yaml</code> → <code>b.yaml</code>\n\n1 object added",
        ),
    ] {
        for (flags, code) in [("", 0), (" --exit-code", 1)] {
            let (ended, stdout, stderr) = told(
                path,
                &format!("release diff a.yaml b.yaml -o {format}{flags}"),
            );
            assert_eq!(
                (ended, stderr),
                (code, format!("{summary}\n")),
                "{format}{flags}"
            );
            assert!(stdout.starts_with(begin), "{stdout}");
        }
        assert_eq!(
            told(
                path,
                &format!("release diff a.yaml a.yaml -o {format} --exit-code")
            )
            .0,
            0
        );
    }
    // A side that is nothing: findings, and nothing that could be taken for a comparison.
    fs::create_dir_all(path.join("r/bootstrap-x/v0.1.0")).unwrap();
    fs::create_dir_all(path.join("r/bootstrap-x/v0.2.0")).unwrap();
    for version in ["v0.1.0", "v0.2.0"] {
        let to = path.join("r/bootstrap-x").join(version);
        fs::write(to.join("bootstrap-components.yaml"), object("one")).unwrap();
        fs::write(to.join("metadata.yaml"), "a: b\n").unwrap();
    }
    for format in ["text", "github"] {
        let (code, stdout, stderr) = told(path, &format!("release diff a.yaml r -o {format}"));
        assert_eq!(
            (code, stdout.as_str(), stderr.lines().last()),
            (1, "", Some("1 error")),
            "{stderr}"
        );
    }
    let (code, stdout, stderr) = told(path, "release diff a.yaml r -o json");
    assert_eq!(
        (
            code,
            stderr.as_str(),
            &serde_json::from_str::<Value>(&stdout).unwrap()["difference"]
        ),
        (1, "1 error\n", &json!(null))
    );
}
