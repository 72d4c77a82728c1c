//! What several tests share.

use std::path::{Path, PathBuf};

/// A path below the shared data (corpus, vectors, contract), which lies beside the project and is not part of it.
///
/// Without the data the caller's test is skipped, which is said on stderr; with `WINDLASS_REQUIRE_SHARED=1` that is a failure.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("WINDLASS_SHARED")
        .map_or_else(|| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).to_path_buf(), PathBuf::from);
    let found = root.join(path);
    if found.exists() {
        return Some(found);
    }
    let required = std::env::var("WINDLASS_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(!required, "shared data not found: {}", found.display());
    eprintln!("SKIPPED: shared data not found: {}", found.display());
    None
}

/// All files below a folder, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
