//! `release image VERSION`: the image of a provider's manager, from static binaries.

use semver::Version;

use crate::oci::elf::{self, ARCHITECTURES, Architecture};
use crate::oci::image::Facts;
use crate::oci::layout::{self, Layout, Program};
use crate::oci::read;
use windlass_provider::{About, Declared};
use windlass_source::diag::{Diagnostic, Report, rules};
use windlass_source::tree::Tree;

rules! {
    /// the version has build metadata, which a tag of an image cannot contain
    TAG_IMPOSSIBLE = error("image-version-untaggable"), url("https://semver.org/#spec-item-10");
}

/// How many bytes a binary, or a file of a layout, may have.
pub const MOST_BYTES: u64 = 512 << 20;

/// A binary and what it is to run on.
#[derive(Debug)]
pub struct Binary {
    /// The architecture that its ELF header names.
    pub architecture: &'static Architecture,
    /// Its file, as findings show it.
    pub shown: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// An order for an image.
pub struct Request<'a> {
    /// The version of the release.
    pub version: &'a Version,
    /// The binaries, one for each platform.
    pub binaries: &'a [Binary],
    /// The providers whose manager it is; without any the image has a version alone.
    pub providers: &'a [Declared],
    /// `SOURCE_DATE_EPOCH`, in seconds since 1970.
    pub epoch: Option<i64>,
}

/// The manifest of one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// `linux/amd64`.
    pub platform: String,
    /// The file of its binary, as findings show it.
    pub binary: String,
    /// `sha256:…` of the manifest.
    pub digest: String,
}

/// An image as a layout in memory.
#[derive(Debug, Default)]
pub struct Made {
    /// The files; none on a fault.
    pub files: Tree,
    /// `sha256:…` of the image.
    pub digest: String,
    /// The manifests, one for each platform.
    pub manifests: Vec<Manifest>,
    /// Findings about binaries and providers.
    pub report: Report,
}

/// The architecture of `linux/amd64`.
pub fn architecture(platform: &str) -> Option<&'static Architecture> {
    let name = platform.strip_prefix("linux/")?;
    ARCHITECTURES.iter().find(|known| known.name == name)
}

/// All platforms: `linux/amd64` and so on.
pub fn platforms() -> impl Iterator<Item = String> {
    ARCHITECTURES
        .iter()
        .map(|known| format!("linux/{}", known.name))
}

/// Checks the binaries and makes the image. Nothing of it depends on clock or machine.
pub fn run(request: &Request<'_>) -> Made {
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
    let manifest = |(binary, made): (&Binary, crate::oci::Descriptor)| Manifest {
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
pub fn digest_of(files: &Tree, shown: &str, version: &Version) -> Result<String, Box<Diagnostic>> {
    read::digest_of(files, shown, &format!("v{version}"))
}
