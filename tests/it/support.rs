//! What several tests share.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

/// A path below `tests/vectors`: inputs, and what the real programs answered to each.
pub(crate) fn vectors(path: &str) -> PathBuf {
    root().join("tests/vectors").join(path)
}

/// A path below the shared data: the corpus of real providers' files (`tests/corpus.md`), which is
/// not part of the repository.
///
/// Without the data the caller's test is skipped, which is said on stderr; with
/// `WINDLASS_REQUIRE_SHARED=1` that is a failure.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("WINDLASS_SHARED").map_or_else(
        || Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).to_path_buf(),
        PathBuf::from,
    );
    let found = root.join(path);
    if found.exists() {
        return Some(found);
    }
    let required = std::env::var("WINDLASS_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(!required, "shared data not found: {}", found.display());
    eprintln!("SKIPPED: shared data not found: {}", found.display());
    None
}

/// The schema of a kind of Cluster API's core, as upstream's CRD of v1.14 has it, without `status`
/// and what each object has.
pub(crate) fn core_schema(kind: &str, version: &str) -> Value {
    let table =
        std::fs::read_to_string(root().join("crates/capi/src/admission/core/kinds.txt")).unwrap();
    let row = format!("{kind} {version} ");
    let schema = table.lines().find_map(|line| line.strip_prefix(&row));
    serde_json::from_str(schema.unwrap()).unwrap()
}

/// Whether a program that a test needs can be run. One that is missing is said; where everything is
/// required it is a failure.
pub(crate) fn runs(command: &[&str]) -> bool {
    let silent = |command: &mut Command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
    };
    let found =
        silent(Command::new(command[0]).args(&command[1..])).is_ok_and(|status| status.success());
    let required = std::env::var("WINDLASS_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(found || !required, "this does not run here: {command:?}");
    if !found {
        eprintln!("SKIPPED: this does not run here: {command:?}");
    }
    found
}

/// The file that a recorded invocation of clusterctl names in its `case.json`: one of its folder, or
/// one of the corpus, which may be missing.
pub(crate) fn recorded_source(
    folder: &Path,
    source: &str,
    corpus: Option<&Path>,
) -> Option<PathBuf> {
    match source.strip_prefix(CORPUS_OF_CASES) {
        Some(path) => corpus.map(|corpus| corpus.join(path)),
        None => Some(folder.join(source)),
    }
}

/// How a `case.json` spells the folder of the corpus.
pub(crate) const CORPUS_OF_CASES: &str = "../../../corpus/";

/// All files below a folder, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}

/// Copies a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = (
            entry.as_ref().unwrap().path(),
            entry.as_ref().unwrap().file_name(),
        );
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::write(to.join(name), std::fs::read(path).unwrap()).unwrap();
        }
    }
}

/// The project's root folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The built program, in a folder, with an empty environment and nothing on standard input.
pub(crate) fn windlass(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command
}

/// A finished run of the program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Requires exit code 0.
    pub(crate) fn ok(self) -> Run {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs the program in a folder; the words of the command line are separated by blanks.
pub(crate) fn run(folder: &Path, command_line: &str) -> Run {
    let output = windlass(folder)
        .args(command_line.split_whitespace())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The documents of a YAML text without faults, as JSON.
pub(crate) fn documents(text: &[u8]) -> Vec<Value> {
    let parsed = yaml::parse(
        &Source::new("text", std::str::from_utf8(text).unwrap()),
        &Budget::default(),
    );
    assert!(parsed.report.is_empty(), "{:?}", parsed.report);
    parsed
        .documents
        .iter()
        .map(|document| document.root.to_json())
        .collect()
}

/// Compares a committed file with what the program gives; `UPDATE=1` rewrites the file instead.
pub(crate) fn golden(path: &str, actual: &str) {
    let file = root().join(path);
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, actual).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == actual,
        "{path} is out of date: `UPDATE=1 cargo test --test it` rewrites it; then look at the difference"
    );
}

/// A provider.yaml with two providers of one release.
pub(crate) const TWO: &str = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: BootstrapProvider\nnamespace: b\n\
    manager: {image: ghcr.io/foo/b}\n---\napiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: ControlPlaneProvider\n\
    namespace: c\nmanager: {image: ghcr.io/foo/c}\n";

/// A metadata.yaml with the series 0.1.
pub(crate) const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- major: 0\n  minor: 1\n  contract: v1beta2\n";
