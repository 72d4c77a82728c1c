//! Test data: the vectors of the checkout, and the corpus of real providers' files, which is not
//! part of the repository (`tests/corpus.md`).

use std::path::{Path, PathBuf};

/// What a scenario panics with that needs the corpus where there is none: it was not checked.
pub(crate) struct NoCorpus;

/// A file or folder of the shared data, which has the corpus: below `WINDLASS_SHARED`, else
/// `../shared` beside the checkout.
///
/// Without the corpus the scenario ends as not checked; with `WINDLASS_REQUIRE_SHARED=1`, or where
/// there is a part of it, what is missing is a failure.
pub(crate) fn path(relative: &str) -> PathBuf {
    let root = std::env::var_os("WINDLASS_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| checkout().join("../shared"));
    let required = std::env::var("WINDLASS_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    if !required && !root.join("corpus").is_dir() {
        std::panic::panic_any(NoCorpus);
    }
    let path = root.join(relative);
    assert!(
        path.exists(),
        "shared data not found: {} (set WINDLASS_SHARED to its folder)",
        path.display()
    );
    path.canonicalize().expect("the path exists")
}

/// A folder below `tests/vectors`: inputs, and the answers of the real programs.
pub(crate) fn vectors(folder: &str) -> PathBuf {
    let path = checkout().join("tests/vectors").join(folder);
    path.canonicalize().expect("the checkout has the vectors")
}

/// The root of the checkout.
pub(crate) fn checkout() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The components of a release of Cluster API, for example of `v1.12.0`.
pub(crate) fn cluster_api(version: &str) -> PathBuf {
    path(&format!(
        "corpus/rendered/kubernetes-sigs+cluster-api@{version}"
    ))
}

/// All YAML files below a folder, in order.
pub(crate) fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the corpus can be read") {
            let path = entry.expect("the corpus can be read").path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
    });
    found.sort();
    found
}
