//! `release image VERSION`: the image of a provider's manager, from static binaries.

use semver::Version;

use windlass_release::oci::elf::{self, ARCHITECTURES, Architecture};
use windlass_release::oci::image::Facts;
use windlass_release::oci::layout::{self, Layout, Program};
use windlass_release::oci::read;
use windlass_release::provider::{About, Declared};
use windlass_source::diag::{Diagnostic, Report, rules};
use windlass_source::tree::Tree;

rules! {
    /// the version has build metadata, which a tag of an image cannot contain
    TAG_IMPOSSIBLE = error("image-version-untaggable"), url("https://semver.org/#spec-item-10");
}

/// How many bytes a binary, or a file of a layout, may have.
pub(crate) const MOST_BYTES: u64 = 512 << 20;

/// A binary and what it is to run on.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) architecture: &'static Architecture,
    /// Its file, as findings show it.
    pub(crate) shown: String,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) struct Request<'a> {
    pub(crate) version: &'a Version,
    pub(crate) binaries: &'a [Binary],
    /// The providers whose manager it is; without any the image has a version alone.
    pub(crate) providers: &'a [Declared],
    /// `SOURCE_DATE_EPOCH`, in seconds since 1970.
    pub(crate) epoch: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// `linux/amd64`.
    pub(crate) platform: String,
    pub(crate) binary: String,
    /// `sha256:…` of the manifest.
    pub(crate) digest: String,
}

/// An image as a layout in memory.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// The files; none on a fault.
    pub(crate) files: Tree,
    /// `sha256:…` of the image.
    pub(crate) digest: String,
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) report: Report,
}

/// The architecture of `linux/amd64`.
pub(crate) fn architecture(platform: &str) -> Option<&'static Architecture> {
    let name = platform.strip_prefix("linux/")?;
    ARCHITECTURES.iter().find(|known| known.name == name)
}

/// All platforms: `linux/amd64` and so on.
pub(crate) fn platforms() -> impl Iterator<Item = String> {
    ARCHITECTURES
        .iter()
        .map(|known| format!("linux/{}", known.name))
}

/// Checks the binaries and makes the image. Nothing of it depends on clock or machine.
pub(crate) fn run(request: &Request<'_>) -> Made {
    let mut report: Report = request
        .binaries
        .iter()
        .filter_map(|binary| elf::check(&binary.bytes, binary.architecture, &binary.shown))
        .collect();
    if !request.version.build.is_empty() {
        let finding = Diagnostic::of(
            &TAG_IMPOSSIBLE,
            format!(
                "v{} is not a tag of an image: it has a `+`",
                request.version
            ),
        );
        report.push(finding.help("leave the build metadata out"));
    }
    if report.has_errors() {
        return Made {
            report,
            ..Made::default()
        };
    }
    let tag = format!("v{}", request.version);
    let programs: Vec<Program<'_>> = request
        .binaries
        .iter()
        .map(|binary| Program {
            architecture: binary.architecture.name,
            bytes: &binary.bytes,
        })
        .collect();
    let Layout {
        files,
        digest,
        manifests,
    } = layout::layout(&programs, &tag, &facts(request, &tag));
    let manifest = |(binary, made): (&Binary, windlass_release::oci::Descriptor)| Manifest {
        platform: format!("linux/{}", binary.architecture.name),
        binary: binary.shown.clone(),
        digest: made.digest,
    };
    Made {
        files,
        digest,
        manifests: request
            .binaries
            .iter()
            .zip(manifests)
            .map(manifest)
            .collect(),
        report,
    }
}

/// image-spec, "Pre-Defined Annotation Keys". Of several providers the first that says something of
/// itself speaks for all.
fn facts(request: &Request<'_>, tag: &str) -> Facts {
    let labels: Vec<String> = request
        .providers
        .iter()
        .map(|declared| declared.provider.label())
        .collect();
    let title = (!labels.is_empty()).then(|| labels.join("+"));
    let About {
        supplier,
        license,
        url,
    } = request
        .providers
        .iter()
        .find_map(|declared| declared.provider.about.clone())
        .unwrap_or_default();
    let known = [
        ("title", title),
        ("version", Some(tag.to_owned())),
        ("vendor", supplier),
        ("licenses", license),
        ("source", url.clone()),
        ("url", url),
    ];
    let annotations = known
        .into_iter()
        .filter_map(|(key, value)| Some((format!("org.opencontainers.image.{key}"), value?)));
    Facts {
        annotations: annotations.collect(),
        epoch: request.epoch,
    }
}

/// The digest of the image that a layout has for a version. `shown` is its folder.
///
/// # Errors
/// The finding: it is not a layout, it has no such image, or a blob of it is not what its digest says.
pub(crate) fn digest_of(
    files: &Tree,
    shown: &str,
    version: &Version,
) -> Result<String, Box<Diagnostic>> {
    read::digest_of(files, shown, &format!("v{version}"))
}
