//! One program as an image: a layer with the file, the configuration that starts it, the manifest
//! over both.

use serde::Serialize;

use super::archive::{Entry, tar};
use super::{Annotations, CONFIG, Descriptor, LAYER, MANIFEST, Platform};
use windlass_source::gzip;

/// Where the program is in its image: where kubebuilder's Deployments look for it.
pub(crate) const PROGRAM: &str = "/manager";
/// Who runs it: the user `nonroot` of the images that providers build upon.
pub(crate) const USER: &str = "65532:65532";

/// When and from whom an image is.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// `org.opencontainers.image.…`: labels of the configuration, annotations of manifests and
    /// index.
    pub annotations: Annotations,
    /// Seconds since 1970 of the sources; without it the image has no date.
    pub epoch: Option<i64>,
}

pub(crate) struct Image {
    /// What the manifest is, for an index.
    pub(crate) manifest: Descriptor,
    /// Manifest, configuration and layer.
    pub(crate) blobs: [Vec<u8>; 3],
}

/// image-spec, "Image Manifest".
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest<'a> {
    schema_version: u8,
    media_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<&'static str>,
    config: Descriptor,
    layers: &'a [Descriptor],
    annotations: &'a Annotations,
}

impl<'a> Manifest<'a> {
    /// The manifest of an image, or of an artifact of some type.
    pub(super) fn of(
        artifact_type: Option<&'static str>,
        config: Descriptor,
        layers: &'a [Descriptor],
        annotations: &'a Annotations,
    ) -> Self {
        Manifest {
            schema_version: 2,
            media_type: MANIFEST,
            artifact_type,
            config,
            layers,
            annotations,
        }
    }
}

/// image-spec, "Image Configuration".
#[derive(Serialize)]
struct Configuration<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(flatten)]
    platform: &'a Platform,
    config: Execution<'a>,
    rootfs: RootFilesystem,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Execution<'a> {
    user: &'static str,
    entrypoint: [&'static str; 1],
    working_dir: &'static str,
    labels: &'a Annotations,
}

#[derive(Serialize)]
struct RootFilesystem {
    #[serde(rename = "type")]
    kind: &'static str,
    diff_ids: [String; 1],
}

/// The image of a program. The layer is compressed: who pushes a plain one compresses it on the
/// way, and the digests are others then.
pub(crate) fn image(program: &[u8], platform: Platform, facts: &Facts) -> Image {
    let epoch = facts.epoch.unwrap_or_default();
    let entry = Entry {
        path: PROGRAM.trim_start_matches('/'),
        mode: 0o755,
        bytes: program,
    };
    let content = tar([entry], u64::try_from(epoch).unwrap_or_default());
    let layer = gzip::compress(&content);
    let configuration = json(&Configuration {
        created: facts
            .epoch
            .and_then(|epoch| jiff::Timestamp::from_second(epoch).ok())
            .map(|date| date.to_string()),
        platform: &platform,
        config: Execution {
            user: USER,
            entrypoint: [PROGRAM],
            working_dir: "/",
            labels: &facts.annotations,
        },
        rootfs: RootFilesystem {
            kind: "layers",
            diff_ids: [super::digest(&content)],
        },
    });
    let config = descriptor(CONFIG, &configuration);
    let manifest = json(&Manifest::of(
        None,
        config,
        &[descriptor(LAYER, &layer)],
        &facts.annotations,
    ));
    let described = Descriptor {
        platform: Some(platform),
        ..descriptor(MANIFEST, &manifest)
    };
    Image {
        manifest: described,
        blobs: [manifest, configuration, layer],
    }
}

pub(super) fn descriptor(media_type: &str, bytes: &[u8]) -> Descriptor {
    let (digest, size) = (super::digest(bytes), bytes.len() as u64);
    Descriptor {
        media_type: media_type.to_owned(),
        digest,
        size,
        artifact_type: None,
        platform: None,
        annotations: Annotations::new(),
    }
}

/// A document of a layout, in one line.
pub(super) fn json(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("internal error: these types have a form in JSON")
}
