//! What is distributed beside the binaries: krew manifest, Homebrew formula, notes, the workflows,
//! and the versions that documents name. `.ci/full` checks their form with Ruby, actionlint and
//! shellcheck.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use regex::Regex;
use serde_json::Value;

use crate::support::{documents, files_below, root, runs, windlass};
use crate::tidy::{code, shown, sources};

const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));
const TARGETS: [(&str, &str); 2] = [
    ("amd64", "x86_64-unknown-linux-musl"),
    ("arm64", "aarch64-unknown-linux-musl"),
];

/// Runs a script of `dist` in a folder.
fn script(name: &str, arguments: &[&str], folder: &Path) -> Output {
    let path = root().join("dist").join(name);
    Command::new("bash")
        .arg(path)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap()
}

fn archive(target: &str) -> String {
    format!("windlass-{VERSION}-{target}.tar.gz")
}

/// The checksum of an archive: as many of a letter as it has.
fn sum(letter: char) -> String {
    letter.to_string().repeat(64)
}

/// Sums as `dist/build` writes them, of our archives and of others.
fn sums() -> String {
    let [(_, first), (_, second)] = TARGETS;
    let manager = archive(first).replace("windlass-v", "windlass-manager-v");
    format!(
        "{}  {manager}\n{}  {}\n{}  {}\n",
        sum('e'),
        sum('a'),
        archive(first),
        sum('b'),
        archive(second)
    )
}

#[test]
fn manifests_name_each_archive_with_its_checksum() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sums"), sums()).unwrap();
    let output = script("manifests", &[VERSION, "sums", "made"], folder.path());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join("made").join(name)).unwrap();
    let (krew, formula) = (read("krew-windlass.yaml"), read("windlass.rb"));
    let manifest = documents(krew.as_bytes()).remove(0);
    assert_eq!(manifest["spec"]["version"], VERSION);
    // https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ and .../best-practices/: a short description of one line, below 50 characters.
    assert_eq!(
        [
            &manifest["apiVersion"],
            &manifest["kind"],
            &manifest["metadata"]["name"]
        ],
        [
            "krew.googlecontainertools.github.com/v1alpha2",
            "Plugin",
            "windlass"
        ]
    );
    let short = manifest["spec"]["shortDescription"].as_str().unwrap();
    assert!(
        short.len() < 50 && !short.ends_with('.') && !short.contains('\n'),
        "{short}"
    );
    let platforms = manifest["spec"]["platforms"].as_array().unwrap();
    assert!(
        platforms
            .iter()
            .all(|platform| platform["bin"] == "windlass"
                && platform["selector"]["matchLabels"]["os"] == "linux")
    );
    assert_eq!(platforms.len(), TARGETS.len());
    for ((platform, (arch, target)), letter) in platforms.iter().zip(TARGETS).zip(['a', 'b']) {
        let url = format!(
            "https://github.com/windlass-dev/windlass/releases/download/{VERSION}/{}",
            archive(target)
        );
        let of_platform = [
            &platform["selector"]["matchLabels"]["arch"],
            &platform["uri"],
            &platform["sha256"],
        ];
        assert_eq!(
            of_platform,
            [arch, url.as_str(), sum(letter).as_str()]
                .map(Value::from)
                .each_ref()
        );
        assert!(
            platform["files"][0]["from"]
                .as_str()
                .unwrap()
                .starts_with(archive(target).trim_end_matches(".tar.gz"))
        );
        assert!(
            formula.contains(&format!(
                "    url \"{url}\"\n    sha256 \"{}\"\n",
                sum(letter)
            )),
            "{formula}"
        );
    }
    assert!(!Regex::new("@[A-Z]").unwrap().is_match(&(krew + &formula)));
}

#[test]
fn no_manifest_is_made_of_checksums_that_are_not_there() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    let [(_, first), (_, second)] = TARGETS;
    let twice = format!("{}{}  {}\n", sums(), sum('c'), archive(second));
    for (sums, version, said) in [
        (
            sums().replace(&archive(second), "x"),
            VERSION,
            format!("of {}", archive(second)),
        ),
        (
            sums().replace(&sum('a'), "abc"),
            VERSION,
            format!("of {}", archive(first)),
        ),
        (twice, VERSION, "or several".to_owned()),
        (sums(), "v9.9.9", "of windlass-v9.9.9-".to_owned()),
        (sums(), "0.2.0", "0.2.0 is not a version such as".to_owned()),
        (sums(), "v1.0.0;x", "is not a version such as".to_owned()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sums"), sums).unwrap();
        let output = script("manifests", &[version, "sums", "made"], folder.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && stderr.contains(&said),
            "{stderr}"
        );
        assert!(!folder.path().join("made").exists(), "{said}");
    }
}

/// The targets of the templates are those that are built.
#[test]
fn manifests_are_of_the_targets_that_are_built() {
    let build = std::fs::read_to_string(root().join("dist/build")).unwrap();
    let built = build.lines().find_map(|line| {
        line.split_once("targets=(x86")
            .map(|(_, rest)| format!("x86{}", rest.trim_end_matches(')')))
    });
    assert_eq!(
        built.as_deref(),
        Some(TARGETS.map(|(_, target)| target).join(" ").as_str())
    );
    let placeholder = Regex::new("@SHA256 ([^@]+)@").unwrap();
    for template in ["krew.yaml.in", "windlass.rb.in"] {
        let text = std::fs::read_to_string(root().join("dist").join(template)).unwrap();
        let named: Vec<&str> = placeholder
            .captures_iter(&text)
            .map(|found| found.get(1).unwrap().as_str())
            .collect();
        assert_eq!(named, TARGETS.map(|(_, target)| target), "{template}");
    }
    let archive = std::fs::read_to_string(root().join("dist/archive")).unwrap();
    assert!(
        archive.contains("name=\"$package-v$version-$target\"")
            && archive.contains("\"$out/$name.tar.gz\"")
    );
    assert!(build.contains("dist/archive \"$package\" \"$target\""));
}

/// What depends on the place of a build: `dist/build` maps all of it away, and looks whether it
/// did.
#[test]
fn builds_map_the_paths_of_their_machine_away() {
    let build = std::fs::read_to_string(root().join("dist/build")).unwrap();
    for mapped in [
        "--remap-path-prefix=$PWD=",
        "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=",
    ] {
        assert!(build.contains(mapped), "{mapped}");
    }
    assert!(build.contains("for path in \"$PWD/\" \"${CARGO_HOME:-$HOME/.cargo}/\"; do"));
    assert!(build.contains("export SOURCE_DATE_EPOCH") && build.contains("CARGO_INCREMENTAL=0"));
}

/// A changelog with this heading, and an older section behind ours.
fn notes_of(heading: &str, version: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let changelog = format!(
        "# Changelog\n\n{heading}\n\n### One\n\n- ours\n\n## v0.0.1 (2020-01-01)\n\n- theirs\n"
    );
    std::fs::write(folder.path().join("changes"), changelog).unwrap();
    script("notes", &[version, "changes"], folder.path())
}

#[test]
fn notes_have_our_changes_alone_and_the_command_that_installs_them() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    let output = notes_of(&format!("## {VERSION} (2026-11-30)"), VERSION);
    let notes = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && notes.starts_with("### One\n\n- ours\n"),
        "{notes}"
    );
    assert!(!notes.contains("theirs"), "{notes}");
    // The command is the one that `repository add` prints, without the local configuration.
    let folder = tempfile::tempdir().unwrap();
    let release = root().join("releases/bootstrap-windlass").join(VERSION);
    let added = windlass(folder.path())
        .args(["repository", "add", release.to_str().unwrap(), "--to", "r"])
        .output()
        .unwrap();
    let printed = String::from_utf8(added.stdout).unwrap();
    let (_, providers) = printed.trim_end().split_once("clusterctl.yaml ").unwrap();
    assert!(
        notes.contains(&format!("\nclusterctl init {providers}")),
        "{providers}\n{notes}"
    );
    // What clusterctl reads of a GitHub repository: https://github.com/OWNER/NAME/releases/VERSION/FILE.
    let url = format!(
        "  url: https://github.com/windlass-dev/windlass/releases/{VERSION}/bootstrap-components.yaml\n  type: BootstrapProvider\n"
    );
    assert!(
        notes.contains(&url) && release.join("bootstrap-components.yaml").is_file(),
        "{notes}"
    );
    assert!(
        notes.contains("\nsha256sum --check --ignore-missing SHA256SUMS SHA256SUMS.archives\n"),
        "{notes}"
    );
}

#[test]
fn notes_of_what_is_not_ready_are_rejected() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    for (heading, version, said) in [
        (
            format!("## {VERSION} (unreleased)"),
            VERSION,
            "is unreleased: write the day",
        ),
        (
            "## v9.9.9 (2026-11-30)".to_owned(),
            VERSION,
            "has no section of",
        ),
        (
            "## v9.9.9 (2026-11-30)".to_owned(),
            "v9.9.9",
            "and not v9.9.9",
        ),
    ] {
        let output = notes_of(&heading, version);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && output.stdout.is_empty() && stderr.contains(said),
            "{stderr}"
        );
    }
}

fn workflow(file: &Path) -> Value {
    documents(&std::fs::read(file).unwrap()).remove(0)
}

/// Each job has its own rights, every action is pinned, and no script contains a part of an event.
#[test]
fn workflows_use_pinned_actions_and_their_own_rights() {
    let pinned = Regex::new("^[a-z/-]+@[0-9a-f]{40}$").unwrap();
    let files = files_below(&root().join(".github/workflows"));
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let workflow = workflow(&file);
        assert_eq!(workflow["permissions"], serde_json::json!({}));
        assert!(workflow["concurrency"]["group"].is_string());
        for job in workflow["jobs"].as_object().unwrap().values() {
            assert!(job["permissions"].is_object(), "{}", file.display());
            for step in job["steps"].as_array().unwrap() {
                let run = step["run"].as_str().unwrap_or_default();
                assert!(!run.contains("${{"), "{run}");
                let uses = step["uses"].as_str();
                assert!(uses.is_none_or(|uses| pinned.is_match(uses)), "{step}");
                let is_checkout = uses.is_some_and(|uses| uses.starts_with("actions/checkout@"));
                assert!(
                    !is_checkout || step["with"]["persist-credentials"] == false,
                    "{step}"
                );
            }
        }
    }
}

#[test]
fn the_workflow_calls_scripts_of_the_repository() {
    let workflow = workflow(&root().join(".github/workflows/release.yml"));
    let steps = workflow["jobs"]["release"]["steps"].as_array().unwrap();
    let mut called = BTreeSet::new();
    for step in steps {
        let run = step["run"].as_str().unwrap_or_default();
        called.extend(
            run.split_whitespace()
                .next()
                .and_then(|word| word.strip_prefix("dist/")),
        );
    }
    assert_eq!(
        called,
        BTreeSet::from(["build", "manifests", "notes", "push", "sign"])
    );
    for name in called
        .into_iter()
        .chain(["archive", "licences", "reproduce", "sbom"])
    {
        let file = root().join("dist").join(name);
        assert!(file.is_file(), "{}", file.display());
        #[cfg(unix)]
        assert!(
            std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions())
                & 0o111
                == 0o111,
            "{name} is executable"
        );
    }
}

/// What the program embeds is in its package; a build of the package would tell too, and takes
/// minutes.
#[test]
fn the_package_holds_what_the_program_embeds() {
    let manifest: toml::Table = std::fs::read_to_string(root().join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let included: Vec<&str> = manifest["package"]["include"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(toml::Value::as_str)
        .collect();
    let is_included = |path: &str| {
        included.iter().any(|pattern| {
            path == pattern.trim_start_matches('/')
                || path.starts_with(pattern.trim_matches(['/', '*']))
        })
    };
    let embeds = Regex::new(r#"include_(?:str|bytes)!\(\s*"([^"]+)""#).unwrap();
    let mut count = 0;
    for file in sources()
        .into_iter()
        .filter(|file| !file.ends_with("tests.rs"))
    {
        let code = code(&file);
        let code = code.split("#[cfg(test)]\nmod tests").next().unwrap();
        for found in embeds.captures_iter(code) {
            count += 1;
            let path = std::fs::canonicalize(file.parent().unwrap().join(&found[1])).unwrap();
            // A crate includes its `src`, and its README if it has one.
            let is_beside = shown(&file).strip_prefix("crates/").is_some_and(|rest| {
                let folder = root().join("crates").join(rest.split('/').next().unwrap());
                path.starts_with(folder.join("src")) || path == folder.join("README.md")
            });
            assert!(
                is_beside || is_included(&shown(&path)),
                "{} embeds {}, which `include` of Cargo.toml lacks",
                shown(&file),
                shown(&path)
            );
        }
    }
    assert!(count > 10, "only {count} were found");
    assert!(is_included("templates/a.yaml") && !is_included("tests/it/main.rs"));
}

/// Who copies an example gets the version that it was written for.
#[test]
fn documents_pin_this_version() {
    let of_action = Regex::new(r"windlass-dev/windlass@(v[0-9.]+)|rev: (v[0-9.]+)").unwrap();
    let documents = files_below(&root().join("docs"))
        .into_iter()
        .chain(files_below(&root().join("examples")))
        .chain([root().join("README.md")]);
    let mut count = 0;
    for file in documents {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        for found in of_action.captures_iter(&text) {
            count += 1;
            assert_eq!(
                found.get(1).or(found.get(2)).unwrap().as_str(),
                VERSION,
                "{}",
                file.display()
            );
        }
    }
    assert!(count >= 4, "only {count} were found");
}
