//! `repository …`: local repositories of clusterctl.

mod add;
mod bundle;
mod configmap;
mod doctor;
mod given;
mod images;
mod laying;
mod list;
mod oci;
mod pull;
mod push;
mod trust;

pub(super) use add::ADD;
pub(super) use bundle::BUNDLE;
pub(super) use configmap::{CONFIGMAP, ConfigMapReport};
pub(super) use doctor::{DOCTOR, DoctorReport};
pub(super) use images::{IMAGES, ImagesReport};
pub(super) use list::{LIST, ListReport};
pub(super) use pull::PULL;
pub(super) use push::PUSH;

use semver::Version;

use super::context::To;
use super::{Context, Exit};
use crate::diag::Report;
use crate::ops::release_build;
use crate::report::Sources;
use crate::text::source::Source;
use crate::text::tree::Tree;

/// What the overview says of all these verbs.
const FAMILY: &str = "fill, show, explain and pack a local repository, or hand it to the operator";

/// The text files of a release, as findings name them.
pub(in crate::cli) fn texts(shown: &str, files: &Tree) -> Vec<Source> {
    let text = |(path, bytes): (&String, &Vec<u8>)| {
        let text = std::str::from_utf8(bytes).ok()?;
        Some(Source::new(
            format!("{}/{path}", shown.trim_end_matches('/')),
            text,
        ))
    };
    files.iter().filter_map(text).collect()
}

/// The version that `--release` says. One that is none is told, and ends the run: nothing could be
/// judged by it.
fn release_flag(given: Option<&str>, context: &mut Context<'_>) -> Result<Option<Version>, Exit> {
    given
        .map(release_build::version)
        .transpose()
        .map_err(|finding| {
            let report = Report::from_iter([*finding]);
            context.findings(&report, &Sources::new(), To::Stderr);
            context.summary("", &report, "nothing written", To::Stderr);
            Exit::Findings
        })
}
