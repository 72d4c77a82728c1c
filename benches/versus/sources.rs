//! Where the programs and their inputs are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub(crate) fn checkout() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// `PEER-VERSION/PROGRAM` in the cache that `tests/peers/build` fills.
pub(crate) fn peer(name: &str) -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("WINDLASS_PEERS")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("windlass-peers")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/windlass-peers")));
    let program = cache
        .expect("one of WINDLASS_PEERS, XDG_CACHE_HOME, HOME is set")
        .join(name);
    assert!(
        program.is_file(),
        "{} is not there; build the peers with: tests/peers/build",
        program.display()
    );
    program
}

/// A file or folder of the shared data: below `WINDLASS_SHARED`, else `../shared` beside the
/// checkout.
pub(crate) fn shared(relative: &str) -> PathBuf {
    let root = std::env::var_os("WINDLASS_SHARED")
        .map_or_else(|| checkout().join("../shared"), PathBuf::from);
    let path = root.join(relative);
    assert!(
        path.exists(),
        "{} is not there; set WINDLASS_SHARED to the folder of the shared data",
        path.display()
    );
    path
}

/// A copy of the source of Cluster API v1.12.0, from the Go module that the peers are built of.
pub(crate) fn cluster_api(to: &Path) {
    let module = checkout().join("tests/peers/cluster-api-v1.12.0");
    let output = Command::new("go")
        .args(["mod", "download", "-json", "sigs.k8s.io/cluster-api"])
        .current_dir(module)
        .output();
    let output = output.expect("go is on the PATH");
    let told: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("go mod download -json prints JSON");
    let folder = told["Dir"]
        .as_str()
        .unwrap_or_else(|| panic!("go mod download: {told}"));
    copy(Path::new(folder), to);
}

/// Content and folders only: a module cache is read-only.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder can be written");
    for entry in std::fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::write(
                &target,
                std::fs::read(entry.path()).expect("the file can be read"),
            )
            .expect("the folder can be written");
        }
    }
}
