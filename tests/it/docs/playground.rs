//! A folder in which the commands of documents and help are run, as a user's shell would run them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::image::{AMD64, ARM64, program};
use crate::support::{files_below, root};

/// A copy of the project's root folder without its tests, whose inputs are faulty.
pub(super) struct Playground(tempfile::TempDir);

impl Playground {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(root()).unwrap() {
            let from = entry.unwrap().path();
            let name = from.file_name().unwrap().to_str().unwrap();
            // Below `tests` are inputs that are wrong on purpose.
            if ["target", "out", "tests"].contains(&name) || name.starts_with('.') {
                continue;
            }
            let files = if from.is_dir() {
                files_below(&from)
            } else {
                vec![from.clone()]
            };
            for file in files {
                let to = folder.path().join(file.strip_prefix(root()).unwrap());
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                std::fs::copy(file, to).unwrap();
            }
        }
        // What the build of somebody's manager has made.
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        for (file, machine) in [("manager", AMD64), ("manager-arm64", ARM64)] {
            std::fs::write(folder.path().join("bin").join(file), program(machine)).unwrap();
        }
        Playground(folder)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What a script does, with our program and the plain tools on the path.
    pub(super) fn output(&self, script: &str) -> Output {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_windlass"));
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        Command::new("sh")
            .args(["-euc", script])
            .current_dir(self.path())
            .env_clear()
            .env("PATH", path)
            .output()
            .unwrap()
    }

    /// Runs a script that has to end well.
    pub(super) fn run(&self, script: &str) {
        let output = self.output(script);
        assert!(
            output.status.success(),
            "`{script}` ends with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
