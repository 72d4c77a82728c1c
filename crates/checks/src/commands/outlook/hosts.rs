//! Registries of images and servers of packages that get nothing new or are shut down.

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use super::strings::{self, Line};
use windlass_capi::contract::endings::{self, Ending, Subject};
use windlass_source::diag::rules;

rules! {
    /// an image or a package comes from a server that has no new versions or is shut down
    HOST = warning("outlook-host");
}

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    let subjects = [
        Subject::RegistryFrozen,
        Subject::RegistryGone,
        Subject::RepositoryGone,
    ];
    strings::find(document, |line| {
        let mut facts = subjects.into_iter().flat_map(endings::endings);
        let ending = facts.find(|ending| is_named(line, ending))?;
        let (what, help) = words(ending);
        let message = format!("{} names {}, which {what}", line.path, ending.what[0]);
        Some(Ends::of(ending).predict(&HOST, message, line.place(document), help))
    })
}

/// Whether a line names something of a server: an image begins with the registry, and a repository of
/// packages is a URL. A registry alone is a field, or the name of a mirror.
fn is_named(line: &Line<'_>, ending: &Ending) -> bool {
    let host = ending.what[0];
    if line.is_whole && line.text == host {
        return true;
    }
    let is_url = ending.subject == Subject::RepositoryGone;
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
    line.text.match_indices(host).any(|(at, _)| {
        let (before, behind) = (&line.text[..at], &line.text[at + host.len()..]);
        let is_path =
            behind.starts_with('/') && behind[1..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if is_url {
            before.ends_with("//")
        } else {
            is_path && !before.ends_with(is_inner)
        }
    })
}

/// What is the matter with a server, and what to do.
fn words(ending: &Ending) -> (String, String) {
    let when = ending.release.when();
    match (ending.subject, ending.instead) {
        (Subject::RegistryFrozen, Some(instead)) => (
            format!("has received no new images {when}"),
            format!("write `{instead}`, which has the same images"),
        ),
        (_, Some(instead)) => (
            format!("has been shut down {when}"),
            format!(
                "use the packages of `{instead}`, which has a repository for each minor version"
            ),
        ),
        (_, None) => (
            format!("has been shut down {when}"),
            "name a registry that has the image".to_owned(),
        ),
    }
}
