//! `release build VERSION`: the whole release of the providers that a `provider.yaml` describes.

use std::collections::BTreeSet;

use semver::Version;

use crate::emit::release::{self, ImageOverride, Plan, Release, Replacement};
use crate::emit::sbom;
pub use crate::emit::sbom::part::Part;
use windlass_capi::admission::metadata_types::METADATA_REJECTED;
use windlass_capi::contract::{Image, VersionFault, parse_semantic};
use windlass_checks::object_check;
use windlass_lint::templates::is_template;
use windlass_objects::misfit::FIELD_TYPE;
use windlass_provider::{Declared, Inputs, missing_files};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};

rules! {
    /// the version is not a semantic version with a leading `v`
    VERSION_FAULT = error("release-version-malformed"), url("https://semver.org");
    /// `--image` is not an image reference with a registry and a tag or digest
    IMAGE_FAULT = error("release-image-malformed");
    /// a document for the SBOM of a release is neither SPDX nor CycloneDX
    SBOM_FAULT = error("release-sbom-malformed");
    /// a document is only partly included in the SBOM, or lacks NTIA's minimum elements
    SBOM_IN_PART = info("release-sbom-partial"), url("https://www.ntia.gov/report/2021/minimum-elements-software-bill-materials-sbom");
}

/// The date of releases when `SOURCE_DATE_EPOCH` is not set: 1980-01-01, the earliest that every
/// archive format can hold.
pub const FIXED_EPOCH: i64 = 315_532_800;

/// What is asked for beside what `provider.yaml` says.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The version that is built.
    pub version: &'a Version,
    /// Images of managers in place of those in `provider.yaml`.
    pub images: &'a [ImageOverride],
    /// What the images of managers contain, by documents of their builds.
    pub parts: &'a [Part],
    /// Seconds since 1970 for dates in the release.
    pub epoch: i64,
}

impl<'a> Order<'a> {
    /// The version alone.
    pub fn of(version: &'a Version) -> Self {
        Order {
            version,
            images: &[],
            parts: &[],
            epoch: FIXED_EPOCH,
        }
    }
}

/// What an image contains, by a document of its build: `FILE` or `LABEL=FILE` of `--sbom`, and its
/// bytes. `shown` is the file.
///
/// # Errors
/// The finding that it is no such document.
pub fn part(
    label: Option<String>,
    shown: &str,
    bytes: &[u8],
) -> Result<(Part, Report), Box<Diagnostic>> {
    let fault = |why: String| {
        let finding = Diagnostic::of(&SBOM_FAULT, format!("{shown} {why}")).at(Place::file(shown));
        Box::new(finding.help(
            "have it written by the build of the image: `syft IMAGE -o spdx-json`, `cargo cyclonedx -f json`, `cyclonedx-gomod app -json`",
        ))
    };
    let part = sbom::part::read(label, bytes).map_err(fault)?;
    let mut report = Report::new();
    if part.lacking > 0 || !part.dropped.is_empty() {
        let lacking = (part.lacking > 0).then(|| {
            format!(
                "packages without supplier or version, which NTIA's minimum elements ask for: {}",
                part.lacking
            )
        });
        let dropped = (!part.dropped.is_empty()).then(|| format!("left out are {}", part.dropped));
        let message = format!(
            "of {shown} in the SBOM: {}",
            [lacking, dropped]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; ")
        );
        report.push(Diagnostic::of(&SBOM_IN_PART, message).at(Place::file(shown)));
    }
    Ok((part, report))
}

/// The version that is asked for: semantic, with `v`.
///
/// # Errors
/// The finding, which says what to write instead.
pub fn version(text: &str) -> Result<Version, Box<Diagnostic>> {
    let fault = match parse_semantic(text) {
        Ok(version) if text.starts_with('v') => return Ok(version),
        Ok(version) => (
            format!("the version `{text}` has no `v`"),
            format!("write v{version}"),
        ),
        Err(VersionFault::LeadingZero(number)) => (
            format!("the version `{text}` has the number {number} with a leading zero"),
            "write it without the zero".to_owned(),
        ),
        Err(VersionFault::Suffix(suffix)) => (
            format!("the version `{text}` ends in `{suffix}`, which is not a pre-release"),
            "write it as in v1.2.3-rc.1".to_owned(),
        ),
        Err(VersionFault::NotThreeNumbers | VersionFault::NotAVersion) => (
            format!("`{text}` is not a semantic version"),
            "write three numbers, as in v0.1.0".to_owned(),
        ),
    };
    Err(Box::new(
        Diagnostic::of(&VERSION_FAULT, fault.0).help(fault.1),
    ))
}

/// `--image REF` or `--image LABEL=REF`.
///
/// # Errors
/// The finding, when the reference is not canonical or has neither tag nor digest.
pub fn image_override(text: &str) -> Result<ImageOverride, Box<Diagnostic>> {
    let (label, image) = match text.split_once('=') {
        Some((label, image)) => (Some(label.to_owned()), image),
        None => (None, text),
    };
    let pinned = Image::parse(image).is_ok_and(|image| image.is_pinned());
    if pinned {
        return Ok(ImageOverride {
            label,
            by: Replacement::Image(image.to_owned()),
        });
    }
    let finding = Diagnostic::of(
        &IMAGE_FAULT,
        format!("`{image}` is not an image with registry and tag or digest"),
    );
    Err(Box::new(
        finding.help(
            Remedy::new("write ")
                .set(Setting::Image, "ghcr.io/owner/manager:v0.1.0")
                .then(", or with `@sha256:…` in place of the tag"),
        ),
    ))
}

/// Builds the release. `parsed` are the findings of reading `provider.yaml`; with an error among
/// them nothing is built, but the files that it names are looked for all the same, so that one run
/// reports everything.
pub fn run(providers: &[Declared], parsed: Report, inputs: &Inputs, order: Order<'_>) -> Release {
    let mut missing = Report::new();
    for declared in providers {
        missing.extend(missing_files(declared, inputs));
    }
    let Order {
        version,
        images,
        parts,
        epoch,
    } = order;
    let mut release = release::build(&Plan {
        providers,
        inputs,
        version,
        images,
        parts,
        epoch,
    });
    let mut report = parsed;
    report.extend(missing);
    release.is_incomplete |= report.has_errors();
    report.extend(std::mem::take(&mut release.report));
    // The build reports the same field when it cannot edit it.
    let reported = report.starts(|finding| finding.rule == &FIELD_TYPE);
    let is_new = |finding: &Diagnostic| {
        finding.rule != &METADATA_REJECTED
            || finding
                .place
                .start()
                .is_none_or(|start| !reported.contains(&start))
    };
    let mut report: Report = report.into_findings().into_iter().filter(is_new).collect();
    let folders = providers
        .iter()
        .flat_map(|declared| &declared.provider.templates);
    let folders: BTreeSet<&String> = folders.collect();
    let templates = folders.into_iter().flat_map(|folder| inputs.files(folder));
    let templates: Vec<Source> = templates
        .filter(|source| is_template(source.file_name()))
        .cloned()
        .collect();
    let of_objects = object_check::check_whole(&templates, &[], &report, inputs.budget());
    report.extend(of_objects);
    release.report = report;
    release
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_semantic_with_v() {
        assert_eq!(
            version("v0.1.0").map(|v| v.to_string()),
            Ok("0.1.0".to_owned())
        );
        for (text, help) in [
            ("0.3.0", "write v0.3.0"),
            ("v1", "write three numbers, as in v0.1.0"),
            ("v1.2.3-", "write it as in v1.2.3-rc.1"),
        ] {
            assert_eq!(
                version(text).err().and_then(|f| f.help),
                Some(help.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn image_overrides_are_pinned() {
        assert!(image_override("ghcr.io/a/b").is_err());
        let given = image_override("bootstrap-foo=ghcr.io/a/b:v1").expect("pinned");
        assert_eq!(
            given,
            ImageOverride {
                label: Some("bootstrap-foo".to_owned()),
                by: Replacement::Image("ghcr.io/a/b:v1".to_owned())
            }
        );
    }
}
