//! Ctrl-C while files are written: in a process of its own, because it ends.

#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass::shell::WorldError;
use windlass::shell::files::Privacy;
use windlass::shell::trees::{Mode, write_tree};
use windlass::text::tree::Tree;

const FOLDER: &str = "WINDLASS_TEST_FOLDER";

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// What the test does in the process that ends.
fn write_until_ctrl_c(folder: &Path) {
    let out = folder.join("out").to_str().unwrap().to_owned();
    let tree: Tree = (0..50_000).map(|n| (format!("{n}/file"), vec![0; 100])).collect();
    let watched = folder.to_path_buf();
    let presser = std::thread::spawn(move || {
        while entries(&watched).is_empty() {
            std::thread::yield_now();
        }
        signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap();
    });
    assert_eq!(write_tree(&out, &tree, Mode::Create, Privacy::Public, "test"), Err(WorldError::Interrupted));
    presser.join().unwrap();
    assert_eq!(entries(folder), Vec::<PathBuf>::new());
    std::fs::write(folder.join("cleaned"), "").unwrap();
    // With nothing staged, Ctrl-C ends the process as ever.
    signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    // The test starts itself again, and that process is the one that ends.
    if let Some(folder) = std::env::var_os(FOLDER) {
        return write_until_ctrl_c(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "shell::ctrl_c_leaves_nothing_behind"]).env(FOLDER, folder.path());
    let output = command.output().unwrap();
    assert_eq!(entries(folder.path()), [folder.path().join("cleaned")], "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.signal(), Some(2), "ended by the signal itself");
}
