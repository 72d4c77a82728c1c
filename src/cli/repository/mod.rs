//! `repository …`: local repositories of clusterctl.

mod add;
mod authors;
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
use windlass_release::commands::release_build;
use windlass_report::Sources;
use windlass_repository::{CONFIGURATION_FILE, site};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;
use windlass_source::tree::Tree;

/// What the overview says of all these verbs.
const FAMILY: &str = "fill, show, explain and pack a local repository, or hand it to the operator";

/// The text files of a release or a repository, as findings name them and excerpts show them.
pub(in crate::cli) fn texts(shown: &str, files: &Tree) -> Vec<Source> {
    let text = |(path, bytes): (&String, &Vec<u8>)| {
        let text = std::str::from_utf8(bytes).ok()?;
        let source = Source::new(format!("{}/{path}", shown.trim_end_matches('/')), text);
        Some(match path.as_str() {
            CONFIGURATION_FILE => masked(&source),
            _ => source,
        })
    };
    files.iter().filter_map(text).collect()
}

/// A configuration as excerpts show it: without credentials.
fn masked(source: &Source) -> Source {
    site::masked(source, &Budget::default())
}

/// The name of a provider, as clusterctl's flags have it.
fn provider_name(text: &str) -> Result<String, String> {
    let is_ours = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.is_empty() || !text.bytes().all(is_ours) {
        return Err("a name has lower-case letters, digits and hyphens".to_owned());
    }
    Ok(text.to_owned())
}

/// The version that `--release` says. One that is none is reported, and ends the run: nothing could
/// be checked by it.
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
