//! `repository bundle`.

use std::path::Path;

use clap::Args;

use super::FAMILY;
use crate::cli::context::To;
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use crate::ops::repository::bundle;
use crate::report::Sources;
use crate::report::text::plural;
use crate::shell::files::{self, Outcome, Privacy};
use crate::shell::input::Limits;

pub(in crate::cli) const BUNDLE: Verb = Verb {
    words: &["repository", "bundle"],
    operands: "REPOSITORY --write-to FILE",
    summary: "pack a local repository into one tar for a site without a network",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &["repository bundle repository --write-to bundle.tar"],
    action: Action::of::<Bundle>(),
};

/// The endings of compressed tars.
const COMPRESSED: [&str; 6] = [".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip"];

#[derive(Args)]
struct Bundle {
    /// The repository
    #[arg(value_name = "REPOSITORY")]
    repository: String,
    /// The tar
    ///
    /// It holds the releases, clusterctl.yaml, images.txt with all images that the releases run, and SHA256SUMS. The same repository gives
    /// the same bytes, wherever and whenever it is packed.
    #[arg(long, value_name = "FILE")]
    write_to: String,
    /// Overwrite a file with other content
    #[arg(long)]
    force: bool,
}

impl Run for Bundle {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        if let Some(ending) = COMPRESSED.iter().find(|ending| self.write_to.ends_with(*ending)) {
            let message = format!("a bundle is a tar that is not compressed, and `{}` ends in {ending}", self.write_to);
            return Err(Failure::usage(message, "name it `….tar`, and compress that file where needed"));
        }
        let tree = files::read_tree(&self.repository, Limits::default())?;
        let (packed, report) = bundle::pack(&tree, self.repository.trim_end_matches('/'), &context.budget);
        let sources: Sources = super::texts(&self.repository, &tree).into_iter().collect();
        context.findings(&report, &sources, To::Stderr);
        let Some(packed) = packed else {
            context.summary("", &report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        };
        let outcome = self.store(&packed.bytes)?;
        for provider in &packed.providers {
            context.talk(&format!("{} v{}", provider.label, provider.version));
        }
        let unchanged = if outcome == Outcome::Unchanged { ", unchanged" } else { "" };
        let (contents, images) = (plural(packed.files, "file"), plural(packed.images, "image"));
        context.talk(&format!("{}: {contents}, {images}, sha256 {}{unchanged}", self.write_to, bundle::sha256(&packed.bytes)));
        let add = context.command(&format!("repository add {} --to REPOSITORY", self.write_to));
        context.talk(&format!("next: copy it and the images of its images.txt to the site, and run `{add}` there"));
        context.paths([self.write_to.clone()]);
        Ok(Exit::Clean)
    }
}

impl Bundle {
    /// Writes the tar, unless something else is there.
    fn store(&self, bytes: &[u8]) -> Result<Outcome, Failure> {
        if files::is_file(Path::new(&self.write_to)) {
            let limits = Limits { file_bytes: bundle::MOST_BYTES, ..Limits::default() };
            if files::read_file(&self.write_to, limits).is_ok_and(|there| there == bytes) {
                return Ok(Outcome::Unchanged);
            }
            if !self.force {
                return Err(Failure::usage(
                    format!("{} is there with other content", self.write_to),
                    "choose another name or pass `--force`",
                ));
            }
        }
        files::write_file(&self.write_to, bytes, Privacy::Public)?;
        Ok(Outcome::Written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bundle may be larger than any file of a release.
    #[test]
    fn a_large_bundle_that_is_there_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let write_to = folder.path().join("b.tar").to_str().unwrap().to_owned();
        let bundle = Bundle { repository: String::new(), write_to, force: false };
        let bytes = vec![0; usize::try_from(Limits::default().file_bytes).unwrap() + 1];
        assert_eq!(bundle.store(&bytes).ok(), Some(Outcome::Written));
        assert_eq!(bundle.store(&bytes).ok(), Some(Outcome::Unchanged));
        assert!(bundle.store(&bytes[1..]).is_err(), "other content");
    }
}
