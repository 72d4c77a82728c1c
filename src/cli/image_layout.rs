//! `--image-layout`: the digests of images whose layouts are at hand.

use semver::Version;

use super::Failure;
use super::release::kept;
use super::sbom_flags::labelled;
use crate::io::input::Limits;
use crate::io::trees;
use windlass_provider::Declared;
use windlass_release::commands::release_image::{self, MOST_BYTES};
use windlass_release::emit::release::{ImageOverride, Release, Replacement};
use windlass_source::diag::Report;

/// The digest of each layout, `DIR` or `LABEL=DIR`. What is wrong with a layout goes into the
/// report.
///
/// # Errors
/// A folder cannot be read, or no provider has the label.
pub(super) fn digests(
    given: &[String],
    providers: &[Declared],
    version: &Version,
    report: &mut Report,
) -> Result<Vec<ImageOverride>, Failure> {
    let mut digests = Vec::new();
    for given in given {
        let (label, folder) = labelled("--image-layout", given, providers)?;
        let limits = Limits {
            file_bytes: MOST_BYTES,
            total_bytes: 2 * MOST_BYTES,
            ..Limits::default()
        };
        let files = trees::read_tree(folder, limits)?;
        let digest = kept(release_image::digest_of(&files, folder, version), report);
        digests.extend(digest.map(|digest| ImageOverride {
            label,
            by: Replacement::Digest(digest),
        }));
    }
    Ok(digests)
}

/// Rejects the digests if the release is complete and uses none of them.
///
/// # Errors
/// `--image` says another digest, or there is no manager in the release.
pub(super) fn are_used(images: &[ImageOverride], release: &Release) -> Result<(), Failure> {
    let is_run = |digest: &str| release.images.iter().any(|image| image.ends_with(digest));
    let has_layout = images
        .iter()
        .any(|image| matches!(image.by, Replacement::Digest(_)));
    for image in images
        .iter()
        .filter(|_| has_layout && !release.is_incomplete)
    {
        match &image.by {
            Replacement::Image(image)
                if image
                    .split_once('@')
                    .is_some_and(|(_, digest)| !is_run(digest)) =>
            {
                let message = format!(
                    "`--image {image}` has a digest, and `--image-layout` gives another one"
                );
                return Err(Failure::usage(
                    message,
                    "leave the digest out of `--image`, or leave `--image-layout` out",
                ));
            }
            Replacement::Digest(digest) if !is_run(digest) => {
                let message = format!(
                    "no manager in the release runs the image {digest} of `--image-layout`"
                );
                let help = "describe it in provider.yaml under `manager`, or name its container `manager` in the components";
                return Err(Failure::usage(message, help));
            }
            Replacement::Image(_) | Replacement::Digest(_) => {}
        }
    }
    Ok(())
}
