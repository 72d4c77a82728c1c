//! Variables that users did not have to set so far.

use std::collections::BTreeMap;

use super::Side;
use crate::Components;
use windlass_capi::contract::book;
use windlass_envsubst as envsubst;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, rules};

rules! {
    /// a file requires a variable that the previous release did not require
    REQUIRED = warning("upgrade-variable-required"), url(book::VARIABLES);
}

/// The files with variables, by their names in the release.
fn files(side: &Side) -> BTreeMap<&str, &Source> {
    side.components
        .iter()
        .map(Components::source)
        .chain(&side.templates)
        .map(|source| (source.file_name(), source))
        .collect()
}

/// Checks the variables of the files that both releases have.
pub(super) fn check(old: &Side, new: &Side) -> Vec<Diagnostic> {
    let before = files(old);
    files(new)
        .into_iter()
        .filter_map(|(name, source)| Some(newly_required(before.get(name)?, source)))
        .flatten()
        .collect()
}

fn newly_required(old: &Source, new: &Source) -> Vec<Diagnostic> {
    // What cannot be read is reported by the check of the file.
    let (Ok(before), Ok(after)) = (envsubst::parse(old.text()), envsubst::parse(new.text())) else {
        return Vec::new();
    };
    let known = before.variables();
    let uses = after.uses();
    // From the last one, so that the first use stays.
    let first: BTreeMap<&str, _> = uses
        .iter()
        .rev()
        .map(|used| (used.name, &used.span))
        .collect();
    let is_new = |name: &str| known.get(name).is_none_or(Option::is_some);
    let required = after
        .variables()
        .into_iter()
        .filter(|(name, default)| default.is_none() && is_new(name));
    let finding = |(name, _): (String, Option<String>)| {
        let had = if known.contains_key(&name) {
            "has no default any more"
        } else {
            "is new and has no default"
        };
        let finding = Diagnostic::of(
            &REQUIRED,
            format!("variable {name} of {} {had}", new.file_name()),
        );
        let at = first
            .get(name.as_str())
            .map_or_else(|| new.place(), |span| new.place_at((*span).clone()));
        finding.at(at).help(format!(
            "give it the default that keeps what was: `${{{name}:=…}}`"
        ))
    };
    required.map(finding).collect()
}
