//! Patches and whole projects beside the real kustomize: the same objects, or the same rejection.

mod patches;
mod projects;

use std::path::Path;
use std::time::Duration;

use crate::harness::peers;
use crate::harness::process::{Finished, Start};

pub(crate) use patches::random_patches_are_equal;
pub(crate) use projects::projects_keep_every_object;

const LIMIT: Duration = Duration::from_secs(120);

/// What `kustomize build` of a folder gives.
fn build(folder: &Path, below: &str) -> Finished {
    let program = peers::program(peers::KUSTOMIZE);
    Start {
        name: "kustomize",
        program: &program,
        arguments: vec!["build".to_owned(), folder.join(below).display().to_string()],
        environment: Vec::new(),
        folder,
    }
    .finish(LIMIT)
}
