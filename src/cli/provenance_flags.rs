//! The flags of `release build` that say where a release comes from.

use std::path::Path;

use clap::Args;

use super::Failure;
use crate::io::WorldError;
use crate::io::files;
use crate::io::input::Limits;
use crate::io::trees::Mode;
use windlass_release::commands::release_provenance::{self, Origin};
use windlass_source::diag::Report;

#[derive(Args)]
pub(super) struct ProvenanceFlags {
    /// Also write where the release comes from: an in-toto statement with SLSA provenance over
    /// SHA256SUMS
    ///
    /// It is not signed, claims no level, and holds no time: the same input gives the same bytes.
    /// It is written beside the release, not into it.
    #[arg(long, value_name = "FILE", requires_all = ["builder_id", "source", "source_commit"], conflicts_with = "check")]
    pub(super) provenance: Option<String>,
    /// The URI of who builds, for --provenance
    #[arg(long, value_name = "URI", requires = "provenance")]
    builder_id: Option<String>,
    /// The URI of the sources, such as git+https://github.com/owner/name@v0.2.0, for --provenance
    #[arg(long, value_name = "URI", requires = "provenance")]
    source: Option<String>,
    /// The commit of the sources, for --provenance
    #[arg(long, value_name = "SHA", requires = "provenance")]
    source_commit: Option<String>,
}

impl ProvenanceFlags {
    /// Who builds and of what, when a statement is asked for. What has another form is in the
    /// report.
    ///
    /// # Errors
    /// The statement would be among the files that it speaks of.
    pub(super) fn origin(&self, to: &str, report: &mut Report) -> Result<Option<Origin>, Failure> {
        let Some(file) = &self.provenance else {
            return Ok(None);
        };
        let absolute = |path: &str| {
            std::path::absolute(path).map_err(|error| WorldError::reading(path, &error))
        };
        if absolute(file)?.starts_with(absolute(to)?) {
            let message = format!("`{file}` is in {to}, of whose files the statement speaks");
            return Err(Failure::usage(
                message,
                "choose a file beside that folder, such as `--provenance provenance.intoto.json`",
            ));
        }
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        match release_provenance::origin(
            &text(&self.builder_id),
            &text(&self.source),
            &text(&self.source_commit),
        ) {
            Ok(origin) => Ok(Some(origin)),
            Err(found) => {
                report.extend(found);
                Ok(None)
            }
        }
    }

    /// Whether the statement may be written: another file that is there needs `--force`.
    ///
    /// # Errors
    /// It may not.
    pub(super) fn is_free(&self, statement: &str, mode: Mode) -> Result<(), Failure> {
        let Some(file) = self
            .provenance
            .as_ref()
            .filter(|file| mode != Mode::Force && files::is_file(Path::new(file)))
        else {
            return Ok(());
        };
        if files::read_file(file, Limits::default())
            .is_ok_and(|there| there == statement.as_bytes())
        {
            return Ok(());
        }
        Err(Failure::usage(
            format!("{file} is there with other content"),
            "choose another name or pass `--force`",
        ))
    }
}
