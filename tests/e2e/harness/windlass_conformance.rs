//! `windlass-conformance` and the provider that violates rules on request, as this checkout has
//! them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use super::peers;
use super::process::{Finished, Start};
use super::shared::checkout;

/// A run against a real provider takes five minutes, more beside other scenarios.
const LIMIT: Duration = Duration::from_secs(900);

/// The folder with the program and, below `examples`, the provider; built when not up to date.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        // As `cargo test --workspace`: the same features, so that nothing is built twice.
        build
            .args(["build", "--quiet", "--workspace"])
            .args(["--bin", "windlass-conformance"])
            .args(["--example", "switchable-provider"])
            .current_dir(checkout());
        assert!(
            build.status().expect("cargo started us").success(),
            "windlass-conformance does not build"
        );
        let test = std::env::current_exe().expect("a running program has a path");
        let folder = test.parent().and_then(Path::parent);
        folder.expect("tests are in deps/").to_path_buf()
    })
}

/// A folder with the programs of a control plane, as `--assets` takes it.
pub(crate) fn assets(folder: &Path) -> PathBuf {
    let assets = folder.join("assets");
    std::fs::create_dir_all(&assets).expect("the folder can be written");
    for program in [peers::ETCD, peers::KUBE_APISERVER] {
        let program = peers::program(program);
        let link = assets.join(program.file_name().expect("a program has a name"));
        if !link.exists() {
            std::os::unix::fs::symlink(&program, link).expect("the folder can be written");
        }
    }
    assets
}

/// Runs the program to its end.
pub(crate) fn run(folder: &Path, name: &str, arguments: Vec<String>) -> Finished {
    let program = self::folder().join("windlass-conformance");
    Start {
        name,
        program: &program,
        arguments,
        environment: Vec::new(),
        folder,
    }
    .finish(LIMIT)
}

/// The report of a run with `-o json`. Panics when the run did not get that far.
pub(crate) fn report(finished: &Finished) -> Value {
    assert!(
        matches!(finished.code, Some(0 | 1)),
        "exit {:?}\n{}",
        finished.code,
        finished.stderr
    );
    serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", finished.stderr))
}

/// Check, verdict and reason of each result.
pub(crate) fn verdicts(report: &Value) -> Vec<[&str; 3]> {
    let results = report["results"].as_array().expect("a report has results");
    results
        .iter()
        .map(|result| {
            ["check", "verdict", "reason"].map(|key| result[key].as_str().unwrap_or_default())
        })
        .collect()
}
