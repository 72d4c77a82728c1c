//! Images and artifacts as OCI has them (image-spec 1.1.1): written and read as a layout on disk,
//! the programs and the files that go into one.

pub mod archive;
pub mod artifact;
pub mod elf;
pub mod image;
mod images;
pub mod layout;
pub mod read;
pub mod reference;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use windlass_source::hex::hex;

/// Keys and values in byte order: the same annotations are the same bytes.
pub type Annotations = BTreeMap<String, String>;

/// image-spec, "Image Layout": the tag of what a descriptor of `index.json` points to.
pub(crate) const REF_NAME: &str = "org.opencontainers.image.ref.name";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of manifests of images and artifacts (image-spec, "Image Manifest").
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
/// The file that says of a folder that it is a layout, and its version.
const LAYOUT_FILE: &str = "oci-layout";
const INDEX_FILE: &str = "index.json";
const LAYOUT_VERSION: &str = "1.0.0";

/// image-spec, "Content Descriptors": what a blob is, and its checksum.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    #[serde(default)]
    pub(crate) media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    /// `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// Bytes.
    pub(crate) size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<Platform>,
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub(crate) annotations: Annotations,
}

/// What an index or a manifest points to.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pointers {
    #[serde(default)]
    manifests: Vec<Descriptor>,
    #[serde(default)]
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// What an image runs on, in Go's words: `linux`, `amd64`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Platform {
    pub(crate) architecture: String,
    pub(crate) os: String,
}

/// `sha256:…` of a blob.
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Where a layout has the blob of a digest; `None` when that is not SHA-256.
fn blob_path(digest: &str) -> Option<String> {
    let hex = digest.strip_prefix("sha256:")?;
    let is_hex = hex.len() == 64
        && hex
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_hex.then(|| format!("blobs/sha256/{hex}"))
}
