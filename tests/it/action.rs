//! The action for GitHub's workflows, the hooks for pre-commit, and the workflow that uses them.
//! `.ci/full` checks their form with actionlint and the schemas of GitHub and pre-commit; here their
//! scripts are run.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use regex::Regex;
use serde_json::Value;
use windlass::cli::verbs::VERBS;

use crate::support::{documents, root, runs};

fn read(path: &str) -> Value {
    documents(&std::fs::read(root().join(path)).unwrap()).remove(0)
}

/// A file with the error metadata-kind-wrong in its second line, and one with the same error
/// waived.
const WRONG: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Meta\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
const WAIVED: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\n\
                      kind: Meta # windlass: ignore[metadata-kind-wrong] because it is a test\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

/// Runs a step of the action in a folder, with inputs in place of their defaults.
fn step(name: &str, folder: &Path, inputs: &[(&str, &str)]) -> Output {
    let action = read("action.yml");
    let step = action["runs"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["name"] == name)
        .unwrap();
    let value = |expression: &str| {
        let name = expression
            .trim_start_matches("${{ ")
            .trim_end_matches(" }}");
        let input = name.strip_prefix("inputs.");
        let given = inputs
            .iter()
            .find(|(input, _)| Some(*input) == name.strip_prefix("inputs."));
        match (given, input, name) {
            (Some((_, value)), ..) => (*value).to_owned(),
            (None, Some(input), _) => action["inputs"][input]["default"]
                .as_str()
                .unwrap()
                .to_owned(),
            (None, None, "steps.program.outputs.binary") => {
                env!("CARGO_BIN_EXE_windlass").to_owned()
            }
            (None, None, "github.action_path") => root().display().to_string(),
            other => panic!("{other:?}"),
        }
    };
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc", "-c", step["run"].as_str().unwrap()])
        .current_dir(folder)
        .env_clear();
    for (name, expression) in step["env"].as_object().unwrap() {
        command.env(name, value(expression.as_str().unwrap()));
    }
    let files = ["GITHUB_OUTPUT", "GITHUB_PATH"].map(|name| (name, folder.join(name)));
    // Programs of a test stand before those of the machine.
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    command
        .env("PATH", path)
        .envs(files)
        .env("RUNNER_TEMP", folder)
        .output()
        .unwrap()
}

fn judge(files: &[(&str, &str)], inputs: &[(&str, &str)]) -> (i32, String, Option<Value>) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let output = step("Judge", folder.path(), inputs);
    let sarif = std::fs::read(folder.path().join("x.sarif"))
        .ok()
        .map(|text| serde_json::from_slice(&text).unwrap());
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        sarif,
    )
}

#[test]
fn the_action_judges_annotates_and_leaves_the_report_to_be_uploaded() {
    if !runs(&["bash", "--version"]) || !runs(&["jq", "--version"]) {
        return;
    }
    let wrong = "::error file=a b/metadata.yaml,line=2,col=7,title=metadata-kind-wrong::kind is `Meta`, but clusterctl reads only `Metadata`";
    let files = [("a b/metadata.yaml", WRONG), ("c/metadata.yaml", WAIVED)];
    let (code, stdout, sarif) = judge(&files, &[("paths", "a b\n\nc\n"), ("sarif", "x.sarif")]);
    assert!(code == 1 && stdout.starts_with(wrong), "{stdout}");
    let results = sarif.unwrap()["runs"][0]["results"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(results.len(), 1, "what is waived is not in it");
    let (code, stdout, sarif) = judge(&files, &[("paths", "c")]);
    assert_eq!((code, stdout.as_str(), sarif), (0, "", None));
    // What the arguments cannot be is said, and ends the step.
    for inputs in [
        &[("command", "rm -rf")][..],
        &[("deny", "no-such-rule")],
        &[("paths", "none"), ("sarif", "x.sarif")],
        &[("command", "release check")],
    ] {
        let (code, _, sarif) = judge(&files, inputs);
        assert!(code != 0 && sarif.is_none(), "{inputs:?}");
    }
}

#[test]
fn the_action_checks_releases() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    let release = root().join("releases/bootstrap-windlass");
    let [new, old] =
        ["v0.2.0", "v0.1.0"].map(|version| release.join(version).display().to_string());
    let check = |inputs: &[(&str, &str)]| {
        judge(
            &[],
            &[
                &[("command", "release check"), ("paths", new.as_str())],
                inputs,
            ]
            .concat(),
        )
    };
    let (code, stdout, _) = check(&[("version", "v0.2.0"), ("previous", &old)]);
    assert_eq!(code, 0, "{stdout}");
    let (code, stdout, _) = check(&[("version", "v9.0.0")]);
    assert!(
        code == 1 && stdout.contains("title=metadata-series-missing::"),
        "{stdout}"
    );
}

#[test]
fn the_action_takes_a_program_that_is_there() {
    if !runs(&["bash", "--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = step(
        "Get windlass",
        folder.path(),
        &[("binary", env!("CARGO_BIN_EXE_windlass"))],
    );
    assert!(output.status.success(), "{output:?}");
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_windlass")).unwrap();
    let written = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        written("GITHUB_OUTPUT"),
        format!("binary={}\n", program.display())
    );
    assert_eq!(
        written("GITHUB_PATH"),
        format!("{}\n", program.parent().unwrap().display())
    );
    assert!(
        !step(
            "Get windlass",
            folder.path(),
            &[("binary", "/none/windlass")]
        )
        .status
        .success()
    );
}

/// Stands for curl: gives the files of the folder `served`, and writes down what was asked for.
const CURL: &str = r#"#!/bin/bash
while [ $# -gt 0 ]; do case "$1" in --output) to="$2"; shift ;; https://*) url="$1" ;; esac; shift; done
echo "$url" >>asked
[ -f "served/${url##*/}" ] && cp "served/${url##*/}" "$to" || { echo "404" >&2; exit 22; }
"#;
/// Stands for cargo: what it would install is a windlass of its own.
const CARGO: &str = "#!/bin/bash\nfor last; do :; done\nmkdir -p \"$last/bin\"\nprintf '#!/bin/bash\\necho built\\n' >\"$last/bin/windlass\"\nchmod +x \"$last/bin/windlass\"\n";

#[cfg(all(unix, target_os = "linux"))]
#[test]
fn the_action_takes_the_released_archive_or_builds() {
    use std::os::unix::fs::PermissionsExt;

    if !runs(&["bash", "--version"])
        || !runs(&["tar", "--version"])
        || !runs(&["sha256sum", "--version"])
    {
        return;
    }
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    let name = format!(
        "windlass-{version}-{}-unknown-linux-musl",
        std::env::consts::ARCH
    );
    let program = |path: &Path, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let run = |is_released: bool, sums: Option<&str>, sha256: Option<&str>| {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        program(&folder.join("bin/curl"), CURL);
        program(&folder.join("bin/cargo"), CARGO);
        std::fs::create_dir(folder.join("served")).unwrap();
        let archive = format!("{name}.tar.gz");
        program(
            &folder.join(&name).join("windlass"),
            "#!/bin/bash\necho released\n",
        );
        let packed = Command::new("tar")
            .args([
                "--create",
                "--gzip",
                "--file",
                &format!("served/{archive}"),
                &name,
            ])
            .current_dir(folder)
            .status();
        assert!(packed.unwrap().success());
        std::fs::remove_dir_all(folder.join(&name)).unwrap();
        let sum = Command::new("sha256sum")
            .arg(folder.join("served").join(&archive))
            .output()
            .unwrap();
        let sum = String::from_utf8(sum.stdout)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_owned();
        if !is_released {
            std::fs::remove_file(folder.join("served").join(&archive)).unwrap();
        }
        if let Some(sums) = sums {
            std::fs::write(
                folder.join("served/SHA256SUMS.archives"),
                sums.replace("SUM", &sum).replace("NAME", &archive),
            )
            .unwrap();
        }
        let asked = sha256.map(|sha256| sha256.replace("SUM", &sum));
        let inputs: Vec<(&str, &str)> = asked
            .iter()
            .map(|sha256| ("sha256", sha256.as_str()))
            .collect();
        let output = step("Get windlass", folder, &inputs);
        let urls = std::fs::read_to_string(folder.join("asked")).unwrap_or_default();
        let below =
            format!("https://github.com/windlass-dev/windlass/releases/download/{version}/");
        assert!(urls.lines().all(|url| url.starts_with(&below)), "{urls}");
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let other = "0".repeat(64);
    let released = (Some(0), "released\n".to_owned());
    assert_eq!(run(true, Some("SUM  NAME\n"), None), released);
    assert_eq!(run(true, None, Some("SUM")), released);
    // A checksum that is wrong, or not there, is no reason to build.
    for (sums, sha256) in [
        (Some(format!("{other}  NAME\n")), None),
        (Some("SUM  another\n".to_owned()), None),
        (Some("SUM  NAME\n".to_owned()), Some(other.as_str())),
    ] {
        let (code, stdout) = run(true, sums.as_deref(), sha256);
        assert!(
            code == Some(1) && stdout.contains("::error::") && !stdout.contains("built"),
            "{stdout}"
        );
    }
    let (code, stdout) = run(false, Some("SUM  NAME\n"), None);
    assert!(
        code == Some(0) && stdout.starts_with("::notice::") && stdout.ends_with("built\n"),
        "{stdout}"
    );
    let (code, stdout) = run(false, None, Some("SUM"));
    assert!(code == Some(1) && stdout.contains("::error::"), "{stdout}");
}

#[test]
fn no_input_is_a_part_of_a_script_and_nothing_is_taken_that_is_not_pinned() {
    let action = read("action.yml");
    let declared: BTreeSet<&str> = action["inputs"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let text = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let used: BTreeSet<&str> = Regex::new(r"inputs\.([a-z0-9]+)")
        .unwrap()
        .captures_iter(&text)
        .map(|used| used.get(1).unwrap().as_str())
        .collect();
    assert_eq!(used, declared);
    let workflow = read("examples/github/release.yaml");
    let steps = workflow["jobs"]["release"]["steps"].as_array().unwrap();
    let mut taken = Vec::new();
    for step in action["runs"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .chain(steps)
    {
        assert!(
            !step["run"].as_str().unwrap_or_default().contains("${{"),
            "{step}"
        );
        taken.extend(step["uses"].as_str());
        if step["uses"]
            .as_str()
            .is_some_and(|uses| uses.starts_with("windlass-dev/windlass@v"))
        {
            let given = step["with"].as_object().unwrap().keys();
            assert!(
                given.clone().all(|input| declared.contains(input.as_str())),
                "{step}"
            );
        }
    }
    let ours = regex::escape(concat!(
        "windlass-dev/windlass@v",
        env!("CARGO_PKG_VERSION")
    ));
    let pinned = Regex::new(&format!("^({ours}|[a-z/-]+@[0-9a-f]{{40}})$")).unwrap();
    assert!(
        taken.len() == 4 && taken.iter().all(|uses| pinned.is_match(uses)),
        "{taken:?}"
    );
    assert!(
        text.contains("cargo install --quiet --locked --features signatures --path \"$SOURCE\"")
    );
}

#[test]
fn hooks_call_verbs_that_are_there() {
    let hooks = read(".pre-commit-hooks.yaml");
    for hook in hooks.as_array().unwrap() {
        let words: Vec<&str> = hook["entry"]
            .as_str()
            .unwrap()
            .split(' ')
            .skip(1)
            .filter(|word| !word.starts_with('-'))
            .collect();
        assert!(VERBS.iter().any(|verb| verb.words == words), "{hook}");
        assert_eq!(
            (&hook["language"], &hook["pass_filenames"]),
            (&"rust".into(), &false.into())
        );
    }
    assert_eq!(hooks.as_array().unwrap().len(), 2);
}
