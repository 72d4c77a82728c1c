//! `--sbom`: what the images of managers contain.

use super::Failure;
use super::release::kept;
use crate::io::files;
use crate::io::input::Limits;
use windlass_provider::Declared;
use windlass_release::commands::release_build::{self, Part};
use windlass_source::diag::Report;

/// The documents, `FILE` or `LABEL=FILE`. What is wrong with them goes into the report.
///
/// # Errors
/// A file cannot be read, or no provider has the label.
pub(super) fn parts(
    given: &[String],
    providers: &[Declared],
    report: &mut Report,
) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    for given in given {
        let (label, file) = labelled("--sbom", given, providers)?;
        let bytes = files::read_file(file, Limits::default())?;
        if let Some((part, found)) = kept(release_build::part(label, file, &bytes), report) {
            report.extend(found);
            parts.push(part);
        }
    }
    Ok(parts)
}

/// `VALUE` or `LABEL=VALUE` of a flag that is for one provider or for all.
///
/// # Errors
/// No provider has the label.
pub(super) fn labelled<'g>(
    flag: &str,
    given: &'g str,
    providers: &[Declared],
) -> Result<(Option<String>, &'g str), Failure> {
    let Some((label, value)) = given.split_once('=') else {
        return Ok((None, given));
    };
    let labels: Vec<String> = providers
        .iter()
        .map(|declared| declared.provider.label())
        .collect();
    if labels.iter().any(|known| known == label) {
        return Ok((Some(label.to_owned()), value));
    }
    Err(Failure::usage(
        format!("`{flag} {given}` is for `{label}`, which is not a provider here"),
        format!("provider.yaml has {}", labels.join(", ")),
    ))
}
