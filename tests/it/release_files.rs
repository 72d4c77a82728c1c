//! What is said of the files of a release by those who take it (`repository add`) and by who makes
//! it (`release check`): of each fault the words, the file and what to do.

use std::path::Path;

use serde_json::Value;

use crate::support::windlass;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

const COMPONENTS: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system, labels: {cluster.x-k8s.io/provider: bootstrap-foo}}\n---\n\
                          apiVersion: apps/v1\nkind: Deployment\n\
                          metadata: {name: m, namespace: foo-system, labels: {cluster.x-k8s.io/provider: bootstrap-foo}}\nspec:\n  selector: {}\n  \
                          template:\n    spec:\n      containers:\n      - {name: sidecar, image: \"ghcr.io/foo/s:v9.9.9\"}\n      \
                          - {name: manager, image: \"ghcr.io/foo/m:v0.1.0\"}\n";

/// A change of a file of a release: its name, and what takes the place of what; of nothing, all of
/// it; nothing by nothing removes it.
type Change = (&'static str, &'static str, &'static str);

/// A folder with a release in `out`, of which some files are changed.
fn release(changes: &[Change]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("metadata.yaml"), METADATA).unwrap();
    std::fs::write(out.join("bootstrap-components.yaml"), COMPONENTS).unwrap();
    for (name, from, to) in changes {
        let path = out.join(name);
        match (*from, *to) {
            ("", "") => std::fs::remove_file(path).unwrap(),
            ("", text) => std::fs::write(path, text).unwrap(),
            (from, to) => std::fs::write(
                &path,
                std::fs::read_to_string(&path).unwrap().replace(from, to),
            )
            .unwrap(),
        }
    }
    folder
}

/// `RULE FILE MESSAGE | HELP` of each finding.
fn found(report: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("-").to_owned();
    let told = |finding: &Value| {
        format!(
            "{} {} {} | {}",
            text(finding, "rule"),
            text(finding, "file"),
            text(finding, "message"),
            text(finding, "help")
        )
    };
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(told)
        .collect()
}

/// What somebody who takes the release is told: exit code, and `RULE FILE MESSAGE | HELP` of each
/// finding.
fn taken(folder: &Path, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let mut command = windlass(folder);
    let output = command
        .args(["repository", "add", "out", "--to", "r"])
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(
        folder.join("r").exists(),
        output.status.success(),
        "only what is sound is laid out"
    );
    let mut found: Vec<[String; 4]> = Vec::new();
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        if let Some((rule, message)) = line
            .strip_prefix("error[")
            .and_then(|rest| rest.split_once("]: "))
        {
            found.push([rule, "-", message, "-"].map(str::to_owned));
        } else if let (Some(file), Some(last)) =
            (line.trim_start().strip_prefix("--> "), found.last_mut())
        {
            last[1] = file.split(':').next().unwrap().to_owned();
        } else if let (Some(help), Some(last)) =
            (line.trim_start().strip_prefix("= help: "), found.last_mut())
        {
            help.clone_into(&mut last[3]);
        }
    }
    (
        output.status.code(),
        found
            .into_iter()
            .map(|[rule, file, message, help]| format!("{rule} {file} {message} | {help}"))
            .collect(),
    )
}

/// Changes of a release, flags, and what is found then.
const CASES: &[(&[Change], &[&str], &[&str])] = &[
    (&[], &[], &[]),
    (
        &[("bootstrap-components.yaml", "", "")],
        &[],
        &[
            "release-components-missing - out holds no components file | give the folder of a release, or its files: bootstrap-components.yaml (or \
           that of another type) and metadata.yaml",
        ],
    ),
    // One run tells both.
    (
        &[
            ("bootstrap-components.yaml", "", ""),
            ("metadata.yaml", "minor: 1", "minor: 7"),
        ],
        &["--release", "v0.1.0"],
        &[
            "release-components-missing - out holds no components file | give the folder of a release, or its files: bootstrap-components.yaml \
             (or that of another type) and metadata.yaml",
            "metadata-series-missing out/metadata.yaml out/metadata.yaml does not list series 0.1 of v0.1.0 | add these lines, or run `windlass \
             release bump v0.1.0`",
        ],
    ),
    (
        &[("metadata.yaml", "", "")],
        &[],
        &[
            "release-asset-metadata-missing - out holds no metadata.yaml, without which clusterctl takes no release | add the metadata.yaml of the \
           same release",
        ],
    ),
    (
        &[("metadata.yaml", "minor: 1", "minor: 7")],
        &[],
        &[
            "metadata-series-missing out/metadata.yaml out/metadata.yaml does not list series 0.1 of v0.1.0 | add these lines, or run `windlass \
           release bump v0.1.0`",
        ],
    ),
    (
        &[(
            "metadata.yaml",
            "\n- {major: 0, minor: 1, contract: v1beta2}",
            " []",
        )],
        &[],
        &[
            "metadata-series-empty out/metadata.yaml releaseSeries is empty | add an entry with major, minor and contract for each series of \
           releases",
        ],
    ),
    (
        &[(
            "bootstrap-components.yaml",
            "cluster.x-k8s.io/provider",
            "x",
        )],
        &[],
        &[
            "release-provider-label-missing out/bootstrap-components.yaml no object of out/bootstrap-components.yaml has the label \
           cluster.x-k8s.io/provider of a BootstrapProvider | label the objects `cluster.x-k8s.io/provider: bootstrap-NAME`",
        ],
    ),
    (
        &[
            ("bootstrap-components.yaml", "m:v0.1.0", "m:stable"),
            (
                "metadata.yaml",
                "v1beta2}\n",
                "v1beta2}\n- {major: 0, minor: 2, contract: v1beta2}\n",
            ),
        ],
        &[],
        &[
            "release-version-unknown - out does not say which version of bootstrap-foo it is | name it: `--release v0.2.0`",
        ],
    ),
    (
        &[("a\tb", "", "x")],
        &[],
        &[
            "release-asset-name-control out/a b the file name \"a\\tb\" has a control character | rename the file, or leave it out",
        ],
    ),
];

#[test]
fn who_takes_a_release_is_told_why_it_is_none() {
    for (changes, arguments, expected) in CASES {
        let folder = release(changes);
        let (code, found) = taken(folder.path(), arguments);
        assert_eq!(
            (code, found),
            (
                Some(i32::from(!expected.is_empty())),
                expected.iter().map(|told| (*told).to_owned()).collect()
            )
        );
    }
}

/// SHA-256 of `x`.
const SUMS: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  notes.txt\n\
                    2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  gone.txt\n";

/// Of its own checksums only those files count that are others: a part of a release, and more files
/// beside it, are none of their business.
#[test]
fn files_that_are_not_those_of_the_checksums_are_told() {
    let folder = release(&[
        ("SHA256SUMS", "", SUMS),
        ("notes.txt", "", "x"),
        ("more.txt", "", "x"),
    ]);
    assert_eq!(taken(folder.path(), &[]), (Some(0), vec![]));
    let folder = release(&[("SHA256SUMS", "", SUMS), ("notes.txt", "", "changed")]);
    let help = "download the release again; if the change is meant, write the file's sum into SHA256SUMS: `sha256sum notes.txt`";
    let expected = format!(
        "release-checksum-wrong out/notes.txt out/notes.txt is not the file whose checksum SHA256SUMS has | {help}"
    );
    assert_eq!(taken(folder.path(), &[]), (Some(1), vec![expected]));
}

/// The bill of materials says the version, else the tag of the manager's image; no other image
/// does.
#[test]
fn a_release_says_its_version_itself() {
    for (sbom, expected) in [
        (None, "v0.1.0"),
        (
            Some("{\"packages\": [{\"versionInfo\": \"v0.1.9\"}]}"),
            "v0.1.9",
        ),
        (Some("{\"packages\": []}"), "v0.1.0"),
        (Some("no JSON"), "v0.1.0"),
    ] {
        let folder = release(
            &sbom
                .map(|text| ("sbom.spdx.json", "", text))
                .into_iter()
                .collect::<Vec<_>>(),
        );
        let output = windlass(folder.path())
            .args(["repository", "add", "out", "--to", "r"])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let files = 2 + usize::from(sbom.is_some());
        assert!(
            told.starts_with(&format!(
                "bootstrap-foo {expected}: {files} files into r/bootstrap-foo/{expected}\n"
            )),
            "{told}"
        );
    }
}

/// A components file under another name is told to who makes the release, unless the name that is
/// meant is there.
#[test]
fn components_that_clusterctl_does_not_look_for_are_told() {
    let of = |name: &'static str, is_alone: bool| {
        let own: &[Change] = if is_alone {
            &[("bootstrap-components.yaml", "", "")]
        } else {
            &[]
        };
        let folder = release(&[&[(name, "", COMPONENTS)][..], own].concat());
        let output = windlass(folder.path())
            .args(["release", "check", "v0.1.0", "out", "-o", "json"])
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        found(&report)
            .into_iter()
            .filter(|told| told.starts_with("release-components-misnamed"))
            .collect::<Vec<_>>()
    };
    let told = |name: &str, meant: &str| {
        let message = format!("clusterctl looks for {meant}, and not for {name}");
        vec![format!(
            "release-components-misnamed out/{name} {message} | rename it: `mv {name} {meant}`"
        )]
    };
    for (name, meant) in [
        (
            "controlplane-components.yaml",
            "control-plane-components.yaml",
        ),
        (
            "control-plane-components.yml",
            "control-plane-components.yaml",
        ),
        (
            "infrastructre-components.yaml",
            "infrastructure-components.yaml",
        ),
    ] {
        assert_eq!(of(name, false), told(name, meant), "{name}");
    }
    for fine in [
        "bootstrap-component.yaml",
        "bootstrap-components-development.yaml",
        "notes.yaml",
        "bootstrap-components.yaml.orig",
    ] {
        assert_eq!(of(fine, false), [] as [&str; 0], "{fine}");
    }
    assert_eq!(
        of("bootstrap-component.yaml", true),
        told("bootstrap-component.yaml", "bootstrap-components.yaml")
    );
    assert_eq!(
        of("bootstrap-components-development.yaml", true),
        [] as [&str; 0]
    );
}

/// What clusterctl refuses of any of its providers is told although its rule is allowed, and
/// nothing is laid out.
#[test]
fn a_release_with_a_refused_provider_is_refused() {
    let of = |label: &str, image: &str| {
        COMPONENTS
            .replace("bootstrap-foo", label)
            .replace("ghcr.io/foo/m:v0.1.0", image)
    };
    let (sound, refused) = ("ghcr.io/foo/m:v0.1.0", "nginx:1.0");
    for (first, second, count) in [
        (sound, sound, 0),
        (refused, sound, 1),
        (sound, refused, 1),
        (refused, refused, 2),
    ] {
        let folder = release(&[]);
        let write = |file: &str, text: String| {
            std::fs::write(folder.path().join("out").join(file), text).unwrap()
        };
        write("bootstrap-components.yaml", of("bootstrap-foo", first));
        write(
            "control-plane-components.yaml",
            of("control-plane-foo", second),
        );
        let (code, found) = taken(
            folder.path(),
            &[
                "--release",
                "v0.1.0",
                "--allow",
                "components-image-not-canonical",
            ],
        );
        assert_eq!(
            (code, found.len()),
            (Some(i32::from(count > 0)), count),
            "{found:?}"
        );
        assert!(
            found
                .iter()
                .all(|told| told.starts_with("components-image-not-canonical out/")),
            "{found:?}"
        );
    }
}
